pub(crate) mod clawspec;
pub(crate) mod cli_bench;
pub(crate) mod compared;
pub(crate) mod kindlm;
pub(crate) mod misread;

page! {
    /// A regular expression, or another compared value, is valid but most likely does not match as intended.
    "suspicious-pattern", Warning
}

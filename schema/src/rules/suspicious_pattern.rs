pub(crate) mod cli_bench;
pub(crate) mod compared;
pub(crate) mod kindlm;

page! {
    /// A regular expression, or another value that is compared, that is valid, but most likely does not match what it should.
    "suspicious-pattern", Warning
}

pub(crate) mod clawspec;
pub(crate) mod kindlm;

page! {
    /// An assertion cannot be evaluated: the format does not define what it checks, or something it needs is missing.
    "never-evaluated", Warning
}

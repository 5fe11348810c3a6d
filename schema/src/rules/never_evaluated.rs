pub(crate) mod clawspec;
pub(crate) mod kindlm;

page! {
    /// An assertion cannot be evaluated, because its format does not define what it checks.
    "never-evaluated", Warning
}

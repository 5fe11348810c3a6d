pub(crate) mod clawspec;
pub(crate) mod kindlm;

page! {
    /// An assertion that cannot be evaluated, because nothing defines what it checks.
    "never-evaluated", Warning
}

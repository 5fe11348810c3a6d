pub(crate) mod clawspec;
pub(crate) mod cli_bench;
pub(crate) mod kindlm;

page! {
    /// An assertion cannot fail: an empty list, an empty string, a bound without effect.
    "vacuous-claim", Warning
}

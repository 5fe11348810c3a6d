pub(crate) mod cli_bench;

page! {
    /// An assertion that cannot fail: an empty list, an empty string, a bound without effect.
    "vacuous-claim", Warning
}

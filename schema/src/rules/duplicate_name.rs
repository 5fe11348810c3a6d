pub(crate) mod cli_bench;

page! {
    /// Two things that must have different names share one.
    "duplicate-name", Error
}

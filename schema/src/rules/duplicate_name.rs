pub(crate) mod cli_bench;
pub(crate) mod kindlm;

page! {
    /// Two things that must have different names share one.
    "duplicate-name", Error
}

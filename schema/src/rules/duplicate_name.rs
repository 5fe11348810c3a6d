pub(crate) mod clawspec;
pub(crate) mod cli_bench;
pub(crate) mod kindlm;

page! {
    /// Two things that must have different names have the same name.
    "duplicate-name", Error
}

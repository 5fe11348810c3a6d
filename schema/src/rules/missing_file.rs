pub(crate) mod clawspec;
pub(crate) mod cli_bench;
pub(crate) mod kindlm;

page! {
    /// A file that a spec names does not exist.
    "missing-file", Error
}

pub(crate) mod cli_bench;
pub(crate) mod kindlm;

page! {
    /// A file that a spec names cannot be found.
    "missing-file", Error
}

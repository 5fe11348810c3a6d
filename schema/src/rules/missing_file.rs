pub(crate) mod cli_bench;

page! {
    /// A file that a spec names cannot be found.
    "missing-file", Error
}

pub(crate) mod cli_bench;

page! {
    /// A path that is absolute, or leads out of the directory of the suite.
    "invalid-path", Error
}

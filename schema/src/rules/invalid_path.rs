pub(crate) mod cli_bench;
pub(crate) mod gateway;
pub(crate) mod kindlm;

page! {
    /// A path is absolute, or leads out of the directory of the suite.
    "invalid-path", Error
}

pub(crate) mod cli_bench;
pub(crate) mod kindlm;

page! {
    /// Assertions that cannot both hold.
    "contradiction", Warning
}

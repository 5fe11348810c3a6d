pub(crate) mod cli_bench;

page! {
    /// Assertions that cannot both hold.
    "contradiction", Warning
}

pub(crate) mod clawspec;
pub(crate) mod cli_bench;
pub(crate) mod kindlm;

page! {
    /// Assertions contradict each other, or cannot hold at all.
    "contradiction", Warning
}

pub(crate) mod clawspec;
pub(crate) mod cli_bench;
pub(crate) mod kindlm;
pub(crate) mod played;

page! {
    /// Assertions, or other list items, that repeat each other or ask for the same position.
    "collision", Warning
}

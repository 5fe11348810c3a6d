pub(crate) mod clawspec;
pub(crate) mod cli_bench;
pub(crate) mod kindlm;
pub(crate) mod shadowed;

page! {
    /// Assertions or other list items repeat each other or have the same position.
    "collision", Warning
}

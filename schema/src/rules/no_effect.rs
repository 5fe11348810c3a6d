pub(crate) mod cli_bench;
pub(crate) mod kindlm;

page! {
    /// Text without an effect: a key that the tool of the format ignores, or that another key replaces. Editors fade it.
    "no-effect", Hint
}

pub(crate) mod cli_bench;
pub(crate) mod gateway;
pub(crate) mod kindlm;
pub(crate) mod script;

page! {
    /// Text without an effect: a key that the tool of the format ignores, or that another key replaces. Editors fade it.
    "no-effect", Hint
}

pub(crate) mod clawspec;
pub(crate) mod gateway;
pub(crate) mod kindlm;
pub(crate) mod script;

page! {
    /// A key or value has no effect: the format's tool ignores it, or another key replaces it. Editors fade it.
    "no-effect", Hint
}

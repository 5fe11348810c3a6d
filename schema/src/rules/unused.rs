pub(crate) mod kindlm;

page! {
    /// Something is defined but never used, or a comment silences a problem that does not exist.
    "unused", Hint
}

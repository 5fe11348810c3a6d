pub(crate) mod kindlm;

page! {
    /// Something is defined and never used, or a comment allows a problem that is not there.
    "unused", Hint
}

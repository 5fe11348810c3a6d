pub(crate) mod kindlm;

page! {
    /// A file that a spec names cannot be found.
    "missing-file", Error
}

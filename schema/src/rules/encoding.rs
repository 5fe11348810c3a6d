page! {
    /// The file is not valid UTF-8, or contains a character that YAML does not allow.
    "encoding", Error
}

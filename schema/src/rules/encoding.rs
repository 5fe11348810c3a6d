page! {
    /// The bytes are not UTF-8, or hold a character that YAML does not allow.
    "encoding", Error
}

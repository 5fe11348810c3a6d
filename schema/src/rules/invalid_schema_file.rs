page! {
    /// A file that should contain JSON, or a JSON Schema, does not.
    "invalid-schema-file", Error
}

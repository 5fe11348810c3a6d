page! {
    /// An alias `*name` has no anchor `&name` before it.
    "unknown-alias", Error
}

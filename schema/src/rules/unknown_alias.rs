page! {
    /// An alias `*name` without an anchor `&name` before it.
    "unknown-alias", Error
}

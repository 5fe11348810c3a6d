page! {
    /// `*name` without `&name` before it.
    "unknown-alias", Error
}

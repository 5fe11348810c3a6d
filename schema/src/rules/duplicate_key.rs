page! {
    /// A mapping has the same key twice. Only one of the two has an effect.
    "duplicate-key", Error
}

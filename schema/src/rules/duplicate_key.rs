page! {
    /// The same key is in one mapping twice. Only one of the two has an effect.
    "duplicate-key", Error
}

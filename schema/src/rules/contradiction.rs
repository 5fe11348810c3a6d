page! {
    /// Assertions that cannot both hold.
    "contradiction", Warning
}

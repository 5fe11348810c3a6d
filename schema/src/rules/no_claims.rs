page! {
    /// A test without an assertion, which always passes.
    "no-claims", Warning
}

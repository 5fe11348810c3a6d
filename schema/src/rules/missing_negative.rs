page! {
    /// No scenario of the target is tagged `negative`. ClawSpec runs nothing without one.
    "missing-negative", Warning
}

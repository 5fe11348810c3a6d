page! {
    /// A contract whose target is not the directory that it is in.
    "target-mismatch", Warning
}

page! {
    /// A word that a fix or a snippet left to be filled in, such as `TODO`.
    "placeholder", Warning
}

page! {
    /// An assertion of a type that does not exist. It checks nothing.
    "unknown-type", Error
}

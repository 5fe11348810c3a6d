page! {
    /// All tasks work in one directory, and several run at once. They can change each other's files.
    "shared-workdir", Warning
}

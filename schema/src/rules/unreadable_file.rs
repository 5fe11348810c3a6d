page! {
    /// The file cannot be read: it is missing, a broken link, not a regular file, or not readable. The message contains
    /// the system's reason. Check the path and its permissions.
    "unreadable-file", Error
}

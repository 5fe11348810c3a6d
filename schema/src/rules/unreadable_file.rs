page! {
    /// The file cannot be read: it is missing, a broken link, not a regular file, or not readable. The message has the
    /// reason of the system. Check the path and its permissions.
    "unreadable-file", Error
}

page! {
    /// A value that breaks out of the shell quotes around its placeholder.
    "shell-quoting", Warning
}

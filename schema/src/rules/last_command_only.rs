page! {
    /// An assertion checks the output of the last command, and the task expects several commands. `ran` and `verify` see all
    /// of them.
    "last-command-only", Hint
}

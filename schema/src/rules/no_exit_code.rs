page! {
    /// No assertion checks whether the command succeeded. Add `exit_code: 0`, or a `verify`, unless the task is about an
    /// error.
    "no-exit-code", Hint
}

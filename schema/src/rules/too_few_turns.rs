page! {
    /// A task has fewer turns than its difficulty, or looking for help, requires.
    "too-few-turns", Hint
}

page! {
    /// The intent of a task contains the command that achieves it. Such a task measures whether the model can copy. Say what
    /// the model must achieve, not how.
    "revealing-intent", Hint
}

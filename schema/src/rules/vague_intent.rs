page! {
    /// The intent of a task names no outcome, as in "use the tool", so the assertions check what the model was not asked for.
    /// Say what the model must achieve, or find out.
    "vague-intent", Hint
}

page! {
    /// The number of stages that a pipeline gives differs from the length of its list.
    "stage-count", Error
}

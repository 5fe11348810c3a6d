page! {
    /// A condition on the run of a pipeline that ClawSpec does not know. The run breaks.
    "unsupported-expression", Error
}

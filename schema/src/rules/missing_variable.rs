pub(crate) mod cli_bench;

page! {
    /// `{{name}}` has no value: the run breaks, or the text is used unchanged.
    "missing-variable", Error
}

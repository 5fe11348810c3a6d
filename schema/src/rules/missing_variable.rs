pub(crate) mod cli_bench;
pub(crate) mod kindlm;

page! {
    /// `{{name}}` has no value: the run breaks, or the text is used unchanged.
    "missing-variable", Error
}

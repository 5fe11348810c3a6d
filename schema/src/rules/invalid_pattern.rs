pub(crate) mod cli_bench;
pub(crate) mod kindlm;

page! {
    /// A regular expression that is not valid, or that the tool of the format rejects.
    "invalid-pattern", Error
}

pub(crate) mod clawspec;

page! {
    /// The text is not valid YAML here. The rest of the file is still read, so other tests keep working.
    "syntax", Error
}

pub(crate) mod clawspec;
pub(crate) mod tab;

page! {
    /// The text is not valid YAML here. The rest of the file is still read, so other tests keep working.
    "syntax", Error
}

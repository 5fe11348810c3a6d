pub(crate) mod clawspec;

page! {
    /// The text is not valid YAML at this place. The text around it is still read, so the other tests keep working.
    "syntax", Error
}

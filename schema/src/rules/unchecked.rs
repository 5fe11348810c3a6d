pub(crate) mod clawspec;
pub(crate) mod kindlm;

page! {
    /// Something that the file describes is never checked: assertions that replace derived ones, an expectation about a
    /// reply that never comes, a limit that another key disables.
    "unchecked", Warning
}

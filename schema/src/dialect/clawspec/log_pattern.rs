//! The regular expression of a `log_entry`, as Python reads it.

use crate::{
    check::pattern::{PatternError, python::PythonPattern},
    spot::Spot,
    template::trimmed_placeholders,
};

/// A pattern where it is written.
pub(crate) struct LogPattern<'d> {
    /// The value.
    pub(crate) spot: Spot<'d>,
    /// Its text.
    pub(crate) written: &'d str,
    /// Whether the text is searched for as it is written, and is in the file as it reads.
    pub(crate) is_exact: bool,
    /// What it is to Python.
    pub(crate) compiled: Result<PythonPattern, PatternError>,
}

impl<'d> LogPattern<'d> {
    /// Returns the pattern of an assertion, if it has one.
    pub(crate) fn of(assertion: &Spot<'d>) -> Option<LogPattern<'d>> {
        assertion.get("type").filter(|kind| kind.text() == Some("log_entry"))?;
        let spot = assertion.get("pattern")?;
        let written = spot.text().filter(|text| !text.is_empty())?;
        // What a template stands for is a word.
        let text =
            trimmed_placeholders(written).iter().fold(written.to_owned(), |text, found| text.replace(found.text, "x"));
        let is_exact = text == written && spot.part(written, 0).len() == written.len();
        Some(LogPattern { compiled: PythonPattern::compile(&text, true), spot, written, is_exact })
    }
}

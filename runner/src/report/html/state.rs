//! The state of a test, an attempt or an assertion: a mark, a word, and a class for its color.

use speclens_schema::verdict::Status;

use super::writer::Html;
use crate::report::status;

/// Returns the class of the style sheet.
pub fn class(status: Status) -> &'static str {
    match status {
        Status::Skip => "is-skip",
        Status::Pass => "is-pass",
        Status::Warn => "is-warn",
        Status::Unknown => "is-unknown",
        Status::Fail => "is-fail",
        Status::Error => "is-error",
    }
}

/// Writes the mark of a state for the eye, and its word for a screen reader.
pub fn mark(html: &mut Html, status: Status) {
    html.leaf("span", &[("class", "mark"), ("aria-hidden", "true")], &status::mark(status).to_string());
    html.leaf("span", &[("class", "word")], status::word(status));
}

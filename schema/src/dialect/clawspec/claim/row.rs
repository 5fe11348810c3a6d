//! Row: the result of an assertion.

use super::Scope;
use crate::{
    document::Pointer,
    settings::Shortfall,
    verdict::{FilePlace, Mismatch, Outcome, Related, Verdict},
};

/// Result of an assertion: one row, as in ClawSpec's report, without the names of the assertion.
#[derive(Clone, Debug)]
pub struct AssertionRow(Box<Verdict>);

impl AssertionRow {
    fn new(field: &str, outcome: Outcome) -> AssertionRow {
        let at = if field.is_empty() { Pointer::root() } else { Pointer::root().key(field) };
        AssertionRow(Box::new(Verdict { at, ..Verdict::of("", "", outcome) }))
    }

    /// The assertion holds.
    pub fn pass(field: &str) -> AssertionRow {
        AssertionRow::new(field, Outcome::Pass)
    }

    /// The assertion does not hold.
    pub fn fail(field: &str, mismatch: Mismatch) -> AssertionRow {
        AssertionRow::new(field, Outcome::Fail(mismatch))
    }

    /// A score is below its threshold.
    pub fn short(field: &str, mismatch: Mismatch, scope: &Scope) -> AssertionRow {
        match scope.scoring.shortfall {
            Shortfall::Fail => AssertionRow::fail(field, mismatch),
            Shortfall::Warn => AssertionRow::new(field, Outcome::Warn(mismatch)),
        }
    }

    /// The assertion does not hold, which is only a warning.
    pub fn warn(field: &str, message: impl Into<String>) -> AssertionRow {
        let message: String = message.into();
        AssertionRow::new(field, Outcome::Warn(Mismatch { message, ..Mismatch::default() }))
    }

    /// The assertion does not apply.
    pub fn skip(field: &str, reason: impl Into<String>) -> AssertionRow {
        AssertionRow::new(field, Outcome::Skip(reason.into()))
    }

    /// The required evidence is missing.
    pub fn unknown(field: &str, reason: impl Into<String>) -> AssertionRow {
        AssertionRow::new(field, Outcome::Unknown(reason.into()))
    }

    /// The claim is invalid, or its subject cannot be read.
    pub fn broken(field: &str, reason: impl Into<String>) -> AssertionRow {
        AssertionRow::new(field, Outcome::Error(reason.into()))
    }

    /// Converts the row to a verdict of an assertion with these names.
    pub fn verdict(self, kind: &'static str, label: String) -> Verdict {
        Verdict { kind, label, ..*self.0 }
    }

    fn with(mut self, change: impl FnOnce(Verdict) -> Verdict) -> AssertionRow {
        *self.0 = change(*self.0);
        self
    }

    /// Returns the row at another field.
    pub fn moved_to(self, field: &str) -> AssertionRow {
        self.with(|verdict| Verdict { at: Pointer::root().key(field), ..verdict })
    }

    /// Returns the row at an item of the field's list.
    pub(crate) fn at_item(self, index: usize) -> AssertionRow {
        self.with(|verdict| Verdict { at: verdict.at.index(index), ..verdict })
    }

    /// Returns the row at a member of the field.
    pub(crate) fn at_key(self, key: &str) -> AssertionRow {
        self.with(|verdict| Verdict { at: verdict.at.key(key), ..verdict })
    }

    /// Returns the row with a score.
    pub(crate) fn with_score(self, score: f64) -> AssertionRow {
        self.with(|verdict| verdict.rated(None, Some(score)))
    }

    /// Returns the row with the first few of these locations in other files. Unknown results have none.
    pub(crate) fn with_places(self, places: impl IntoIterator<Item = (String, FilePlace)>) -> AssertionRow {
        let related = places.into_iter().map(|(message, place)| Related::in_file(message, place));
        self.with(|verdict| verdict.relating(related))
    }

    /// Returns the row with the location in another file that made it pass. Only passed rows have one.
    pub(crate) fn found_at(mut self, message: &str, place: Option<FilePlace>) -> AssertionRow {
        if self.0.outcome == Outcome::Pass {
            self.0.related.extend(place.map(|place| Related::in_file(message.to_owned(), place)));
        }
        self
    }

    /// Returns the row, or an unknown one if something unobserved could change it.
    pub fn unless(self, uncertainty: Option<&str>) -> AssertionRow {
        self.with(|verdict| verdict.unless(uncertainty))
    }
}

/// Returns a mismatch without notes and help.
pub fn mismatch(message: impl Into<String>, expected: impl Into<String>, actual: impl Into<String>) -> Mismatch {
    Mismatch { message: message.into(), expected: expected.into(), actual: actual.into(), ..Mismatch::default() }
}

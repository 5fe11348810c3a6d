//! Row: the result of a claim or of a part of it, without the names that the format's report gives it.

use speclens_yaml::Pointer;

use super::{FailureCode, FilePlace, Mismatch, Outcome, Related, Verdict};
use crate::seen::{Found, Proof, Seen, Why};

const MAX_RELATED: usize = 20;

/// The result of a claim. A row that passes or fails needs the [`Proof`] that nothing unobserved can change it.
#[derive(Clone, Debug)]
pub struct Row(Box<Verdict>);

/// A row that was reached early, at the first `?`, or at the end.
pub type Judged = Result<Row, Row>;

/// The part of a claim that a row is about: a field by its name, `""` for all of it, or any other place in it.
#[derive(Clone, Debug)]
pub struct Part(Pointer);

impl From<&str> for Part {
    fn from(field: &str) -> Part {
        Part(if field.is_empty() { Pointer::root() } else { Pointer::root().key(field) })
    }
}

impl From<Pointer> for Part {
    fn from(at: Pointer) -> Part {
        Part(at)
    }
}

impl Row {
    fn new(at: impl Into<Part>, outcome: Outcome) -> Row {
        let at = at.into().0;
        let (label, related) = (String::new(), Vec::new());
        Row(Box::new(Verdict { at, kind: "", label, code: None, score: None, outcome, related }))
    }

    pub fn pass(at: impl Into<Part>, _: Proof) -> Row {
        Row::new(at, Outcome::Pass)
    }

    pub fn fail(at: impl Into<Part>, _: Proof, mismatch: Mismatch) -> Row {
        Row::new(at, Outcome::Fail(mismatch))
    }

    /// The claim does not hold, which is only a warning.
    pub fn warn(at: impl Into<Part>, _: Proof, mismatch: Mismatch) -> Row {
        Row::new(at, Outcome::Warn(mismatch))
    }

    /// The tool refuses the claim, whatever was observed: it does not hold.
    pub fn refused(at: impl Into<Part>, mismatch: Mismatch) -> Row {
        Row::new(at, Outcome::Fail(mismatch))
    }

    pub fn not_known(at: impl Into<Part>, why: Why) -> Row {
        Row::new(at, why.into())
    }

    /// The evidence is missing.
    pub fn unknown(at: impl Into<Part>, reason: impl Into<String>) -> Row {
        Row::not_known(at, Why::unknown(reason))
    }

    /// The claim does not apply.
    pub fn skipped(at: impl Into<Part>, reason: impl Into<String>) -> Row {
        Row::not_known(at, Why::Skip(reason.into()))
    }

    /// The claim is invalid, or what it is about cannot be read.
    pub fn broken(at: impl Into<Part>, reason: impl Into<String>) -> Row {
        Row::not_known(at, Why::Error(reason.into()))
    }

    /// Something must be there.
    pub fn present<T>(at: impl Into<Part>, found: Found<T>, mismatch: impl FnOnce() -> Mismatch) -> Row {
        match found {
            Found::Yes(_, proof) => Row::pass(at, proof),
            Found::No(proof) => Row::fail(at, proof, mismatch()),
        }
    }

    /// Something must not be there.
    pub fn absent<T>(at: impl Into<Part>, found: Found<T>, mismatch: impl FnOnce(T) -> Mismatch) -> Row {
        match found {
            Found::Yes(seen, proof) => Row::fail(at, proof, mismatch(seen)),
            Found::No(proof) => Row::pass(at, proof),
        }
    }

    /// Returns the message for the user; empty for a pass.
    pub fn message(&self) -> &str {
        self.0.outcome.message()
    }

    pub fn named(self, kind: &'static str, label: impl Into<String>) -> Verdict {
        Verdict { kind, label: label.into(), ..*self.0 }
    }

    fn with(mut self, change: impl FnOnce(Verdict) -> Verdict) -> Row {
        *self.0 = change(*self.0);
        self
    }

    pub fn instead(self, why: Why) -> Row {
        self.with(|verdict| verdict.instead(why.into()))
    }

    /// Returns the row of a claim about a part: its place is relative to that part.
    pub fn within(self, part: impl Into<Part>) -> Row {
        self.with(|verdict| Verdict { at: part.into().0.join(&verdict.at), ..verdict })
    }

    pub fn below(self, at: &Pointer) -> Row {
        self.with(|verdict| Verdict { at: verdict.at.join(at), ..verdict })
    }

    pub fn at_item(self, index: usize) -> Row {
        self.below(&Pointer::root().index(index))
    }

    pub fn at_key(self, key: &str) -> Row {
        self.below(&Pointer::root().key(key))
    }

    pub fn rated(self, code: Option<FailureCode>, score: Option<f64>) -> Row {
        self.with(|verdict| verdict.rated(code, score))
    }

    pub fn relating(self, related: impl IntoIterator<Item = Related>) -> Row {
        self.with(|mut verdict| {
            if verdict.outcome.mismatch().is_some() {
                verdict.related.extend(related.into_iter().take(MAX_RELATED));
            }
            verdict
        })
    }

    pub fn with_places(self, places: impl IntoIterator<Item = (String, FilePlace)>) -> Row {
        self.relating(places.into_iter().map(|(message, place)| Related::in_file(message, place)))
    }

    pub fn found_at(self, message: &str, place: Option<FilePlace>) -> Row {
        self.with(|mut verdict| {
            if verdict.outcome == Outcome::Pass {
                verdict.related.extend(place.map(|place| Related::in_file(message.to_owned(), place)));
            }
            verdict
        })
    }
}

impl From<Why> for Row {
    fn from(why: Why) -> Row {
        Row::not_known("", why)
    }
}

pub trait At<T> {
    fn at(self, part: impl Into<Part>) -> Result<T, Row>;
}

impl<T> At<T> for Seen<T> {
    fn at(self, part: impl Into<Part>) -> Result<T, Row> {
        self.map_err(|why| Row::not_known(part, why))
    }
}

impl Verdict {
    pub fn worst(verdicts: &[Verdict]) -> Option<(&Outcome, Proof)> {
        let outcomes = verdicts.iter().map(|verdict| &verdict.outcome);
        outcomes.max_by_key(|outcome| outcome.status()).map(|outcome| (outcome, Proof::made()))
    }

    pub fn of(kind: &'static str, label: impl Into<String>, outcome: Outcome) -> Verdict {
        Row::new("", outcome).named(kind, label)
    }

    pub fn rated(self, code: Option<FailureCode>, score: Option<f64>) -> Verdict {
        Verdict { code, score, ..self }
    }

    /// Returns the verdict with another outcome, without the code, score and related locations of the previous one.
    pub fn instead(self, outcome: Outcome) -> Verdict {
        Verdict { outcome, code: None, score: None, related: Vec::new(), ..self }
    }
}

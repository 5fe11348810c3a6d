//! The supported formats. Each has a folder with everything that is specific to it, behind one trait.

pub mod clawspec;
pub mod cli_bench;
mod count;
pub(crate) mod format;
pub mod kindlm;
mod lenient;

pub use crate::document::ScalarRules;
pub use crate::finding::{Finding, MessageParts, Report};
pub use crate::relations::{CrossItemRule, Facts, Items, Topic};
pub use count::Count;
pub use format::{Directories, EffectiveDefault, Format, Gate, Lookup, Lower, Starter, Traced, Unit};
use std::{
    borrow::Cow,
    fmt,
    hash::{Hash, Hasher},
    ops::Deref,
    sync::Arc,
};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::{
    document::Pointer,
    evidence::Evidence,
    json_schema::SpecFile,
    mask::Secrets,
    suite::Subject,
    verdict::{Status, Verdict},
};

/// A format of test specs: a handle to its implementation.
#[derive(Clone, Copy)]
pub struct Dialect(&'static dyn Format);

impl Dialect {
    /// Returns the format with this implementation.
    pub const fn of(format: &'static dyn Format) -> Dialect {
        Dialect(format)
    }

    /// Returns all formats, in the order of the reference.
    pub fn all() -> impl Iterator<Item = Dialect> {
        let mut last = None;
        let formats = SpecFile::ALL.iter().filter_map(|file| file.dialect());
        formats.filter(move |dialect| last.replace(*dialect) != Some(*dialect))
    }

    /// Returns the fallback format for files that belong to none.
    pub(crate) fn first() -> Dialect {
        Dialect::all().next().expect("there are formats")
    }

    pub(crate) fn format(self) -> &'static dyn Format {
        self.0
    }

    /// Returns the name of the format in reports.
    pub fn as_str(self) -> &'static str {
        self.format().name()
    }

    /// Masks secrets with asterisks before evidence is judged, recorded or shown. Masked text stays masked.
    pub fn mask(self, evidence: &mut Evidence, secrets: &Secrets) {
        evidence.mask(secrets, |written, masked| self.format().concealed(written, masked));
    }
}

impl Deref for Dialect {
    type Target = dyn Format;

    fn deref(&self) -> &(dyn Format + 'static) {
        self.0
    }
}

impl PartialEq for Dialect {
    fn eq(&self, other: &Dialect) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Dialect {}

impl Hash for Dialect {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Debug for Dialect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl Serialize for Dialect {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Dialect {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Dialect, D::Error> {
        let name = String::deserialize(deserializer)?;
        let unknown = || D::Error::custom(format!("unknown format `{name}`"));
        Dialect::all().find(|dialect| dialect.as_str() == name).ok_or_else(unknown)
    }
}

impl JsonSchema for Dialect {
    fn schema_name() -> Cow<'static, str> {
        "Dialect".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let one = |dialect: Dialect| {
            let description = format!("The format of {}.", dialect.program());
            json_schema!({ "type": "string", "const": dialect.as_str(), "description": description })
        };
        let formats: Vec<Schema> = Dialect::all().map(one).collect();
        json_schema!({ "description": "A format of test specs.", "oneOf": formats })
    }
}

/// Conditions of a suite on its whole run. Empty for formats without gates.
#[derive(Clone, Debug, Default)]
pub struct Gates(Option<Arc<dyn Gate>>);

/// Runs of one case by subject, as input for gates.
#[derive(Clone, Debug)]
pub struct CaseOutcome<'a> {
    /// Result of the case.
    pub status: Status,
    /// One entry per attempt.
    pub runs: Vec<RunOutcome<'a>>,
    /// Subject of each attempt that was skipped because it could not have changed the result of a gate.
    pub left_out: Vec<&'a Subject>,
}

/// One attempt, as input for gates.
#[derive(Clone, Debug)]
pub struct RunOutcome<'a> {
    /// Subject of the attempt.
    pub subject: &'a Subject,
    /// Status of the attempt.
    pub status: Status,
    /// Verdicts of all claims.
    pub verdicts: Vec<&'a Verdict>,
    /// Duration in milliseconds.
    pub duration_ms: Option<f64>,
    /// Whether the attempt may have taken longer.
    pub duration_is_open: bool,
    /// Cost in US dollars.
    pub cost_usd: Option<f64>,
}

/// Result of one gate.
#[derive(Clone, Debug, PartialEq)]
pub struct GateOutcome {
    /// Name of the gate in the format.
    pub name: &'static str,
    /// Origin of the limit.
    pub source: GateSource,
    /// Pass or fail.
    pub status: Status,
    /// Limit of the gate.
    pub expected: f64,
    /// Measured value.
    pub actual: f64,
    /// Result in one sentence.
    pub message: String,
}

/// Origin of the limit of a gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GateSource {
    /// The default of the format.
    Default,
    /// `speclens.yaml`.
    Settings,
    /// This location in the suite.
    Suite(Pointer),
}

/// The limit of a gate, with its origin.
#[derive(Clone, Debug, PartialEq)]
struct Limit {
    value: f64,
    source: GateSource,
}

impl GateSource {
    /// Returns the location in the suite.
    pub fn in_suite(&self) -> Option<&Pointer> {
        match self {
            GateSource::Suite(at) => Some(at),
            GateSource::Default | GateSource::Settings => None,
        }
    }

    /// Whether the author set the limit.
    pub fn is_set(&self) -> bool {
        match self {
            GateSource::Suite(_) | GateSource::Settings => true,
            GateSource::Default => false,
        }
    }
}

/// Results of the gates for a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GateReport {
    /// All gates, in the order of the format.
    pub gates: Vec<GateOutcome>,
    /// Whether gates that the author set allow the failed cases. Never set by a default.
    pub rescued: bool,
}

impl Gates {
    /// Creates the gates of a format.
    pub fn of(gates: impl Gate + 'static) -> Gates {
        Gates(Some(Arc::new(gates)))
    }

    /// Evaluates a finished run.
    pub fn evaluate(&self, cases: &[CaseOutcome<'_>]) -> GateReport {
        self.0.as_ref().map(|gates| gates.evaluate(cases)).unwrap_or_default()
    }

    /// Whether no further attempt can change the result of the gate over the attempts of a subject's model. `made`
    /// counts the finished attempts, `planned` is the number of all. `false` if there is no such gate.
    pub fn is_decided(&self, subject: &Subject, made: Count, planned: usize) -> bool {
        self.0.as_ref().is_some_and(|gates| gates.is_decided(subject, made, planned))
    }

    /// Whether there is such a gate.
    pub fn can_be_decided(&self, subject: &Subject) -> bool {
        self.0.as_ref().is_some_and(|gates| gates.can_be_decided(subject))
    }
}

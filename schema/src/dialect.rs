//! The formats that are understood. What differs between them is in the folder of each, behind one trait.

pub mod clawspec;
pub mod cli_bench;
mod count;
pub(crate) mod format;
pub mod kindlm;
mod lenient;

pub use crate::document::ScalarRules;
pub use crate::finding::{Finding, Report, Rule, Site, Words};
pub use crate::relations::{Between, Facts, Items, Link, Said, Topic};
pub use count::Count;
pub use format::{Format, Gate, InForce, Lower, Starter, Traced, Unit};
use std::{
    borrow::Cow,
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::{
    document::{Document, Pointer},
    evidence::Evidence,
    files::Files,
    json_schema::SpecFile,
    mask::Secrets,
    suite::Subject,
    verdict::{Status, Verdict},
};

/// A format of test specs: a handle of its implementation.
#[derive(Clone, Copy)]
pub struct Dialect(&'static dyn Format);

impl Dialect {
    /// Returns the format with this implementation.
    pub const fn of(format: &'static dyn Format) -> Dialect {
        Dialect(format)
    }

    /// Returns every format, in the order of the reference.
    pub fn all() -> impl Iterator<Item = Dialect> {
        let mut last = None;
        let formats = SpecFile::ALL.iter().filter_map(|file| file.dialect());
        formats.filter(move |dialect| last.replace(*dialect) != Some(*dialect))
    }

    /// Returns the format that what has none is said to be of, where one has to be named.
    pub(crate) fn first() -> Dialect {
        Dialect::all().next().expect("there are formats")
    }

    pub(crate) fn format(self) -> &'static dyn Format {
        self.0
    }

    /// The format's name as reports write it.
    pub fn as_str(self) -> &'static str {
        self.format().name()
    }

    /// Returns the name of the program that the format comes from, as messages write it.
    pub fn program(self) -> &'static str {
        self.format().program()
    }

    /// Returns the key that names a case.
    pub fn name_key(self) -> &'static str {
        self.format().name_key()
    }

    /// Puts stars in place of secrets, before anything is judged, recorded or shown. What is masked already stays so.
    pub fn mask(self, evidence: &mut Evidence, secrets: &Secrets) {
        evidence.mask(secrets, |written, masked| self.format().concealed(written, masked));
    }

    /// Reads what a run wrote by the format's protocol.
    /// Recordings hold only the raw streams, so this is done after a run, and again whenever a recording is read.
    pub fn interpret(self, evidence: &mut Evidence) {
        self.format().interpret(evidence);
    }

    /// Returns whether what a test leaves running in the background serves the tests that follow: a KindLM test may start the
    /// server that later tests talk to. Elsewhere each test starts from its own setup.
    pub fn keeps_background(self) -> bool {
        self.format().keeps_background()
    }

    /// How plain scalars are read.
    pub fn scalar_rules(self) -> ScalarRules {
        self.format().scalar_rules()
    }

    /// Returns what files must be together for names in them to be the same thing.
    pub fn unit(self) -> Unit {
        self.format().unit()
    }

    /// Returns which of its assertions a trace can decide.
    pub fn traced(self) -> Traced {
        self.format().traced()
    }

    /// Returns what a case lacks that does nothing, as part of a sentence.
    pub fn without_action(self) -> &'static str {
        self.format().without_action()
    }

    /// Returns the suite that `speclens init` writes. `None` if there is none.
    pub fn starter(self) -> Option<Starter> {
        self.format().starter()
    }

    /// Whether the models of a suite are asked about each of its cases.
    pub fn chooses_models(self) -> bool {
        self.format().chooses_models()
    }

    /// Returns why a name of a kind cannot be renamed.
    pub fn fixed_name(self, kind: &str, name: &str) -> Option<&'static str> {
        self.format().fixed_name(kind, name)
    }

    /// Returns what counts where a key is not set.
    pub fn in_force(
        self,
        file: SpecFile,
        document: &Document,
        at: &Pointer,
        key: &str,
        files: &dyn Files,
    ) -> Option<InForce> {
        self.format().in_force(file, document, at, key, files)
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

/// The conditions that a suite puts on its whole run. A format that has none has no gates to evaluate.
#[derive(Clone, Debug, Default)]
pub struct Gates(Option<Arc<dyn Gate>>);

/// What gates look at: the runs of one case, by subject.
#[derive(Clone, Debug)]
pub struct CaseOutcome<'a> {
    /// The result of the case.
    pub status: Status,
    /// One entry per attempt.
    pub runs: Vec<RunOutcome<'a>>,
    /// One entry per attempt that was left out, because it could not have changed the answer of a gate.
    pub left_out: Vec<&'a Subject>,
}

/// One attempt, as gates look at it.
#[derive(Clone, Debug)]
pub struct RunOutcome<'a> {
    /// Who acted.
    pub subject: &'a Subject,
    /// The attempt's status.
    pub status: Status,
    /// The verdicts of all claims.
    pub verdicts: Vec<&'a Verdict>,
    /// From start to end.
    pub duration_ms: Option<f64>,
    /// Whether it may have taken longer than that.
    pub duration_is_open: bool,
    /// US dollars.
    pub cost_usd: Option<f64>,
}

/// The answer of one gate.
#[derive(Clone, Debug, PartialEq)]
pub struct GateOutcome {
    /// The gate's name in the format.
    pub name: &'static str,
    /// Where it is written; nothing when the format's default applies.
    pub at: Option<Pointer>,
    /// Pass or fail.
    pub status: Status,
    /// The limit.
    pub expected: f64,
    /// The measured value.
    pub actual: f64,
    /// The whole story in one sentence.
    pub message: String,
}

/// What the gates make of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GateReport {
    /// Every gate, in the format's order.
    pub gates: Vec<GateOutcome>,
    /// Whether gates written in the file allow the failed cases there are. Never set by a default.
    pub rescued: bool,
}

impl Gates {
    /// The gates of a format.
    pub fn of(gates: impl Gate + 'static) -> Gates {
        Gates(Some(Arc::new(gates)))
    }

    /// Judges a finished run.
    pub fn evaluate(&self, cases: &[CaseOutcome<'_>]) -> GateReport {
        self.0.as_ref().map(|gates| gates.evaluate(cases)).unwrap_or_default()
    }

    /// Returns whether the gate over the attempts of a subject's model has an answer that no further attempt can change:
    /// `made` counts those that were made, of so many that are planned. `false` where no gate is only about them.
    pub fn is_decided(&self, subject: &Subject, made: Count, planned: usize) -> bool {
        self.0.as_ref().is_some_and(|gates| gates.is_decided(subject, made, planned))
    }

    /// Returns whether such a gate exists.
    pub fn can_be_decided(&self, subject: &Subject) -> bool {
        self.0.as_ref().is_some_and(|gates| gates.can_be_decided(subject))
    }
}

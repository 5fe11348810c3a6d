//! Code that all assertions share: the scope in which they are judged, and access to the evidence.

mod scoped_evidence;

use std::{collections::BTreeMap, fmt::Debug, sync::Arc};

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{statements::Statement, template::CALLEE_RUN_ID};
use crate::{
    act::Act,
    document::NodeRef,
    evidence::{AskedModel, Context, FilesNeed, Need, ObservationTime},
    files::{FileKind, Files},
    finding::Report,
    gateway::{
        config::{Config, Price},
        log::Handoff,
    },
    lint_node::LintNode,
    mask::texts_of,
    problem::Code,
    seen::{Proof, Why},
    settings::{Settings, Shortfall},
    template::{NoValue, expand_trimmed, trimmed_placeholders},
    verdict::{Check, Judged, Mismatch, Part, Row, Verdict},
};

pub use scoped_evidence::{Fresh, ScopedEvidence, Wait};

/// An assertion type: its fields are the fields of the Rust type.
pub(crate) trait AssertionType:
    Clone + Debug + Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static
{
    /// Value of `type`.
    const NAME: &'static str;
    /// Whether `timeout` and `updated_after` have an effect.
    const WAITS: bool = false;
    /// Evidence that every assertion of the type needs.
    const NEEDS: &'static [Need] = &[];

    /// Type that checks the opposite.
    const OPPOSITE: Option<&'static str> = None;
    /// Code of the problem that an assertion about the run itself is under `given`, before the run: that it always fails,
    /// always passes, or is not checked. `None` if it is about something else.
    const BEFORE_RUN: Option<Code> = None;

    /// Reports problems of an assertion of the type that its schema cannot declare.
    fn lint(_node: &LintNode<'_>, _files: &dyn Files, _report: &mut Report) {}

    /// Returns what an assertion of the type says, to find others that deny it.
    fn says<'d>(_node: &LintNode<'d>) -> Vec<Statement<'d>> {
        Vec::new()
    }

    /// Reads values from the node that JSON cannot represent.
    fn adopt(&mut self, _node: NodeRef<'_>) {}

    /// Reads files that are part of the claim.
    fn read(&mut self, _files: &dyn Files) {}

    /// Returns the part of the label after the type's name.
    fn subject(&self) -> String {
        String::new()
    }

    /// Returns the minimum score, for types with a score.
    fn threshold(&self) -> Option<f64> {
        None
    }

    /// Returns the evidence that is needed.
    fn needs(&self, _scope: &Scope, _context: &Context) -> Vec<Need> {
        Self::NEEDS.to_vec()
    }

    /// Judges the evidence. `Err` is an early result, equivalent to `Ok`.
    fn judge(&self, seen: &ScopedEvidence<'_>) -> Judged;
}

/// Scope that the assertions of one list share.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scope {
    /// Time at which they are judged.
    pub moment: ObservationTime,
    /// Prices of models.
    pub prices: BTreeMap<String, Price>,
    /// Caller and callee, in a handoff contract.
    pub handoff: Option<(String, String)>,
    /// Source of scores, and the effect of a score below its threshold.
    pub scoring: Scoring,
}

/// Source of scores, and the effect of a score below its threshold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scoring {
    /// Model that judges. `None`: the judge of the gateway.
    pub judge: Option<AskedModel>,
    /// Effect of a score below its threshold.
    pub shortfall: Shortfall,
}

impl Scoring {
    /// Reads the values from the settings of a workspace.
    pub fn of(settings: &Settings) -> Scoring {
        Scoring { judge: settings.judge.as_deref().and_then(AskedModel::of_id), shortfall: settings.gateway.thresholds }
    }
}

impl Scope {
    /// Creates the scope for a time, in a workspace with these settings.
    pub fn new(moment: ObservationTime, config: &Config, scoring: &Scoring) -> Scope {
        Scope { moment, prices: config.prices(), handoff: None, scoring: scoring.clone() }
    }

    /// Expands the templates of a text.
    pub fn expand(&self, text: &str, context: &Context) -> Result<String, NoValue> {
        expand_trimmed(text, |name| match (name, &self.handoff) {
            ("handoff.from", Some((from, _))) => Some(from.as_str()),
            ("handoff.to", Some((_, to))) => Some(to.as_str()),
            (name, _) => {
                let templates = context.templates.as_ref()?;
                let values = match self.moment {
                    ObservationTime::Before => &templates.before,
                    ObservationTime::After => &templates.after,
                };
                values.get(name).map(String::as_str)
            }
        })
    }

    /// Returns caller and callee if a `run_id` is the run of the callee, which only the log of the run contains.
    pub(crate) fn callee(&self, run_id: Option<&String>) -> Option<Handoff<'_>> {
        let (from, to) = self.handoff.as_ref()?;
        let run_id = run_id?;
        let [placeholder] = trimmed_placeholders(run_id)[..] else { return None };
        let is_callee = placeholder.name == CALLEE_RUN_ID && placeholder.text == run_id;
        is_callee.then_some(Handoff { from, to })
    }

    /// Returns the need for the files that match a path.
    pub fn files(&self, path: &str, context: &Context) -> Option<FilesNeed> {
        let pattern = self.expand(path, context).ok()?;
        Some(FilesNeed { pattern, wildcards: true, moment: self.moment, ..FilesNeed::default() })
    }

    /// Returns the need for the content of the first file that matches a path.
    pub(crate) fn first_file(&self, path: &str, context: &Context) -> Option<FilesNeed> {
        let need = self.files(path, context)?;
        Some(FilesNeed { literal: true, content: true, ..need })
    }
}

/// An assertion and its scope.
#[derive(Clone, Debug)]
pub(crate) struct AssertionClaim<T> {
    /// Assertion to judge.
    pub assertion: T,
    /// Scope of the assertion.
    pub scope: Arc<Scope>,
}

impl<T: AssertionType> Check for AssertionClaim<T> {
    fn needs(&self, context: &Context) -> Vec<Need> {
        self.assertion.needs(&self.scope, context)
    }

    fn check(&self, act: Act<'_>) -> Vec<Verdict> {
        let seen = ScopedEvidence { act, scope: &self.scope };
        let (Ok(row) | Err(row)) = self.assertion.judge(&seen);
        let subject = self.assertion.subject();
        let label = if subject.is_empty() { T::NAME.to_owned() } else { format!("{} {subject}", T::NAME) };
        vec![row.named(T::NAME, label)]
    }

    fn threshold(&self) -> Option<f64> {
        self.assertion.threshold()
    }

    fn texts(&self) -> Vec<String> {
        let mut fields = serde_json::to_value(&self.assertion).unwrap_or_default();
        if let Value::Object(fields) = &mut fields {
            fields.retain(|_, value| !value.is_null());
        }
        texts_of(&fields)
    }
}

/// Returns the row of an assertion whose evidence is missing.
pub(crate) fn unknown(part: impl Into<Part>, reason: impl Into<String>) -> Row {
    Row::not_known(part, Why::unknown(reason))
}

/// Returns the row of an assertion that does not apply.
pub(crate) fn skipped(part: impl Into<Part>, reason: impl Into<String>) -> Row {
    Row::not_known(part, Why::Skip(reason.into()))
}

/// Returns the row of an assertion that is invalid, or whose subject cannot be read.
pub(crate) fn broken(part: impl Into<Part>, reason: impl Into<String>) -> Row {
    Row::not_known(part, Why::Error(reason.into()))
}

/// Returns the row of a score below its threshold.
pub(crate) fn short(part: impl Into<Part>, proof: Proof, mismatch: Mismatch, scope: &Scope) -> Row {
    match scope.scoring.shortfall {
        Shortfall::Fail => Row::fail(part, proof, mismatch),
        Shortfall::Warn => Row::warn(part, proof, mismatch),
    }
}

/// Returns a mismatch without notes and help.
pub(crate) fn mismatch(message: impl Into<String>, expected: impl Into<String>, actual: impl Into<String>) -> Mismatch {
    Mismatch { message: message.into(), expected: expected.into(), actual: actual.into(), ..Mismatch::default() }
}

/// Reads a number that may be in quotes, like Python's `float`.
pub(crate) fn lenient_number<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    use serde::{Deserialize, de::Error};
    let value = Value::deserialize(deserializer)?;
    let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
    number.ok_or_else(|| D::Error::custom("expected a number"))
}

/// Reads a count that may be in quotes, like Python's `int`.
pub(crate) fn lenient_count<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    use serde::{Deserialize, de::Error};
    let value = Value::deserialize(deserializer)?;
    let number = value.as_u64().or_else(|| value.as_str()?.trim().parse().ok());
    number.map(Some).ok_or_else(|| D::Error::custom("expected an integer"))
}

/// Content of a file of the suite that belongs to a claim, read when the claim was lowered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stored(pub Option<StoredFile>);

/// A file of the suite, as it was when a claim was lowered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    /// Path relative to the root of the workspace.
    pub path: String,
    /// Content of the file.
    pub text: Arc<str>,
}

impl Stored {
    /// Reads a file with a literal path; all other paths are resolved during the run.
    pub fn read(path: &str, files: &dyn Files) -> Stored {
        let path = path.strip_prefix("{{repo_root}}/").unwrap_or(path);
        let plain =
            !path.contains(['{', '*', '?', '[']) && !path.starts_with('/') && !path.split('/').any(|it| it == "..");
        let path = path.strip_prefix("./").unwrap_or(path);
        if !plain || files.kind(path) != Some(FileKind::File) {
            return Stored(None);
        }
        let text = files.read(path).ok().and_then(|bytes| String::from_utf8(bytes.to_vec()).ok());
        Stored(text.map(|text| StoredFile { path: path.to_owned(), text: Arc::from(text) }))
    }
}

/// Returns milliseconds as seconds, without trailing zeros.
pub fn seconds(ms: u64) -> String {
    if ms.is_multiple_of(1000) { (ms / 1000).to_string() } else { format!("{:.1}", ms as f64 / 1000.0) }
}

/// Returns a number without trailing zeros.
pub fn plain(number: f64) -> String {
    crate::check::json::number_text(number)
}

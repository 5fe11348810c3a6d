//! The report for programs: a versioned contract with its own schema, `schema/json/report.schema.json`.

mod evidence;
mod writer;

use schemars::JsonSchema;
use serde::Serialize;
use speclens_schema::{
    dialect::{Dialect, cli_bench::config::HelpMode},
    document::Pointer,
    evidence::Ended,
    json_schema,
    problem::{Applicability, Severity},
    suite::Subject,
    verdict::Status,
};

pub use evidence::EvidenceEntry;

use super::{ResultCounts, SuiteReport};
use writer::report;

/// Optional parts of the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// Whether the tests are listed: `speclens check` runs none.
    pub cases: bool,
    /// Whether the evidence is included.
    pub evidence: bool,
}

/// Returns the report as JSON text with a final line end.
pub fn render(reports: &[SuiteReport], failures: &[String], content: Content) -> String {
    let report = report(reports, failures, content);
    let mut text = serde_json::to_string_pretty(&report).expect("a report is plain data with text keys");
    text.push('\n');
    text
}

/// Returns the JSON Schema of the report, as the text of its committed copy.
pub fn schema_text() -> String {
    let mut schema = schemars::generate::SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<Report>();
    schema.insert("$id".to_owned(), format!("{}:report", json_schema::BASE).into());
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
    text.push('\n');
    text
}

/// Report of `speclens run --report json` and `speclens check --format json`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// Version of this format.
    speclens: u32,
    /// Errors about files and directories that cannot be read. If not empty, the exit status is 2.
    failures: Vec<String>,
    /// Suites, sorted by path.
    suites: Vec<SuiteEntry>,
    /// Number of tests by result.
    totals: ResultCounts,
}

/// A suite.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct SuiteEntry {
    /// Path of the file, relative to the working directory.
    path: String,
    /// Format of the suite.
    dialect: Dialect,
    /// Worst status of its tests and gates; `error` if the suite was refused.
    status: Status,
    /// Problems in the text.
    problems: Vec<ProblemEntry>,
    /// Conditions on the whole run; empty if nothing ran.
    gates: Vec<GateEntry>,
    /// Version of the tested program, as printed by `version_command`.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// Results by model, if models attempted the tasks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    subjects: Vec<ScoreEntry>,
    /// Tests in the order of the file. Only in reports of runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    cases: Option<Vec<CaseEntry>>,
}

/// Results of a model in one help mode. Whether it meets its threshold is a gate.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct ScoreEntry {
    /// The model and its help mode.
    subject: SubjectEntry,
    /// Number of attempts, without those that were skipped.
    runs: usize,
    /// Number of attempts that passed.
    passed: usize,
    /// Percentage of attempts that passed; null if there are no attempts.
    pass_rate: Option<f64>,
    /// Mean number of replies of the model; null if unknown.
    mean_turns: Option<f64>,
    /// Cost of the model in US dollars; null if the cost of an attempt is unknown.
    cost_usd: Option<f64>,
}

/// A problem in the text.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct ProblemEntry {
    /// Kind of problem; `speclens explain CODE` explains it.
    code: String,
    /// Severity of the problem.
    severity: Severity,
    /// Description of the problem, as one clause.
    message: String,
    /// Consequence of the problem.
    note: Option<String>,
    /// Remedy, as an imperative sentence.
    help: Option<String>,
    /// Location of the problem.
    place: Place,
    /// Other locations that the problem refers to.
    related: Vec<RelatedEntry>,
    /// Fixes that a program can apply, the best one first.
    fixes: Vec<FixEntry>,
}

/// A fix that a program can apply.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct FixEntry {
    /// Title of the fix, as in a menu.
    title: String,
    /// `safe`: the intention is clear, and `--fix` applies the fix. `suggestion`: a person must choose it.
    applicability: Applicability,
    /// Whether this is the best fix of the problem.
    preferred: bool,
    /// Edits in the order of the text, without overlaps. Apply all of them together.
    edits: Vec<EditEntry>,
    /// Files that the fix creates; empty for most fixes.
    creates: Vec<NewFileEntry>,
}

/// A replacement of text.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct EditEntry {
    /// Path of the file, relative to the working directory.
    path: String,
    /// Range of the text to replace; empty for an insertion.
    range: PlaceRange,
    /// New text, with the line endings of the file.
    text: String,
}

/// A new file.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct NewFileEntry {
    /// Path of the file, relative to the working directory.
    path: String,
    /// Initial content of the file.
    text: String,
}

/// Another location that a problem or a verdict refers to.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct RelatedEntry {
    /// Description of that location.
    message: String,
    /// The location.
    place: Place,
}

/// A condition on the whole run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct GateEntry {
    /// Name of the gate in the format.
    name: String,
    /// Location of the gate; null for a default gate.
    place: Option<Place>,
    /// `pass` or `fail`.
    status: Status,
    /// Limit of the gate.
    expected: f64,
    /// Measured value.
    actual: f64,
    /// Summary in one sentence.
    message: String,
}

/// A test.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct CaseEntry {
    /// Name of the test.
    name: String,
    /// Location of the test.
    place: Place,
    /// Worst status of its attempts.
    status: Status,
    /// Attempts; empty for a skipped test.
    runs: Vec<RunEntry>,
}

/// An attempt.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct RunEntry {
    /// Number of the repeat, counted from 0.
    run: u32,
    /// The model, agent or program that performed the attempt.
    subject: SubjectEntry,
    /// Worst status of its verdicts; without verdicts, the status that the error implies.
    status: Status,
    /// Duration in milliseconds; null if the attempt did not begin.
    duration_ms: Option<f64>,
    /// Number of replies of the model; absent without a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    turns: Option<u32>,
    /// Event that ended the attempt; absent if no end was observed.
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<Ended>,
    /// Cost of the model in US dollars; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_usd: Option<f64>,
    /// Cost of the judges in US dollars; absent if none was asked, or if the cost is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    judge_cost_usd: Option<f64>,
    /// Whether the evidence was recorded now (`fresh`), comes from a recording of this machine (`replayed`) or of
    /// another one (`foreign`), or is not on disk (`none`).
    recording: RecordingState,
    /// Reason why there are no verdicts.
    error: Option<ErrorEntry>,
    /// Results of the assertions, in the order in which the format's tool reports them.
    verdicts: Vec<VerdictEntry>,
    /// Other observations, such as output that was cut off or background processes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// Evidence of the attempt, with `--set report.evidence=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<EvidenceEntry>,
}

/// The model, agent or program that performed an attempt.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SubjectEntry {
    /// Name in reports: `command`, `gateway`, `openai:gpt-4o`, `openai:gpt-4o (injected)`.
    name: String,
    /// Id of the model; null if there is none.
    model: Option<String>,
    /// Help that the model gets about the program, in cli-bench.
    mode: Option<HelpMode>,
    /// Directory of the ClawSpec target, relative to the root of the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
}

impl SubjectEntry {
    /// Returns the entry of a subject.
    pub fn of(subject: &Subject) -> SubjectEntry {
        let entry = SubjectEntry { name: subject.to_string(), model: None, mode: None, target: None };
        match subject {
            Subject::Command | Subject::Nobody => entry,
            Subject::Model { model, mode } => SubjectEntry { model: Some(model.clone()), mode: *mode, ..entry },
            Subject::Gateway { target } => SubjectEntry { target: Some(target.clone()), ..entry },
        }
    }
}

/// Origin of the evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum RecordingState {
    /// Observed and recorded now.
    Fresh,
    /// Read from a recording.
    Replayed,
    /// Read from a recording that another machine made: programs and files outside the workspace may differ there.
    Foreign,
    /// Not stored on disk.
    None,
}

/// Reason why there are no verdicts.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct ErrorEntry {
    /// `timed-out`, `spawn`, `killed`, `missing-variable`, `workspace`, `setup`, `program`, `help`, `provider`, `key`,
    /// `rate-limit`, `script`, `gateway`, `no-spans`, `cancelled`, `unsupported`, `defect`, `no-recording`, `stale`,
    /// `failed-fast` or `decided`.
    kind: String,
    /// Description of the error, and a remedy.
    message: String,
}

/// Result of an assertion in one attempt.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct VerdictEntry {
    /// Phase in which the assertion was judged, in formats that have phases.
    phase: Option<String>,
    /// Position of the assertion within its phase.
    index: usize,
    /// JSON Pointer to the assertion.
    claim: Pointer,
    /// Name of this kind of result in the format's tool.
    r#type: String,
    /// Label of the result in the format's tool.
    label: String,
    /// Outcome of the assertion.
    outcome: Status,
    /// KindLM's failure code.
    code: Option<String>,
    /// Score in the format's tool, from 0 to 1.
    score: Option<f64>,
    /// Summary in one sentence; empty for a pass.
    message: String,
    /// Expected value, if the assertion does not hold.
    expected: Option<String>,
    /// Observed value, if the assertion does not hold.
    actual: Option<String>,
    /// Explanations of a failure, such as the closest match or a difference.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// What to do about a failure.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    help: Vec<String>,
    /// Location of the decisive part of the assertion.
    place: Place,
    /// Other locations that the result refers to.
    related: Vec<RelatedEntry>,
}

/// A location in a file.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct Place {
    /// Path of the file, relative to the working directory.
    path: String,
    /// JSON Pointer to the node; empty if the file is not a tree of values.
    pointer: Pointer,
    /// Range of the text; empty and at the beginning if the whole file is meant.
    range: PlaceRange,
}

/// A range of text. The end is exclusive.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct PlaceRange {
    /// First position of the range.
    start: Position,
    /// Position after the range.
    end: Position,
}

/// A position in a text.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct Position {
    /// Line number, counted from 0.
    line: usize,
    /// Column in UTF-16 code units, counted from 0.
    character: usize,
}

#[cfg(test)]
mod tests {
    use std::{env, fs, path::Path};

    /// The committed schema is the generated one. Stale, it is rewritten, and the test fails once.
    #[test]
    fn the_committed_schema_is_fresh() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema/json/report.schema.json");
        let generated = super::schema_text();
        let committed = fs::read_to_string(&path).unwrap_or_default();
        if committed != generated {
            fs::write(&path, generated).expect("the repository can be written");
            panic!("{} was stale and has been rewritten: commit it", path.display());
        }
    }
}

//! The report for programs: a contract with a version and a schema of its own, `schema/json/report.schema.json`.

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

use super::SuiteReport;
use writer::report;

/// What may be omitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// Whether the tests are listed: `speclens check` runs none.
    pub cases: bool,
    /// Whether what was observed is included.
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

/// What `speclens run --report json` and `speclens check --format json` print.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// The version of this format.
    speclens: u32,
    /// What could not be looked at, such as a directory that cannot be read. Not empty: the exit status is 2.
    failures: Vec<String>,
    /// Every suite, in the order of their paths.
    suites: Vec<SuiteEntry>,
    /// Number of tests by result.
    totals: Totals,
}

/// One suite.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct SuiteEntry {
    /// The file, relative to the working directory.
    path: String,
    /// Its format.
    dialect: Dialect,
    /// The worst of its tests and gates; `error` for a suite that is refused.
    status: Status,
    /// What is wrong with the text.
    problems: Vec<ProblemEntry>,
    /// The conditions on the whole run; empty when nothing ran.
    gates: Vec<GateEntry>,
    /// The version of the program that its tasks are about, where `version_command` printed one.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// What came of it by who acted, where models did; empty elsewhere.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    subjects: Vec<ScoreEntry>,
    /// The tests in the order of the file. Only in reports of runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    cases: Option<Vec<CaseEntry>>,
}

/// What came of all attempts of a model in one help mode. The threshold of the model, and whether it is met, is a gate.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct ScoreEntry {
    /// The subject that acted.
    subject: SubjectEntry,
    /// How many attempts there are. Those that were omitted are not among them.
    runs: usize,
    /// How many of them passed.
    passed: usize,
    /// Percentage of the attempts that passed; null where there are none.
    pass_rate: Option<f64>,
    /// Mean number of answers of the model; null where none are known.
    mean_turns: Option<f64>,
    /// US dollars that the model cost; null when the price of an attempt is not known.
    cost_usd: Option<f64>,
}

/// A problem in the text.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct ProblemEntry {
    /// The kind of problem; `speclens explain CODE` explains it.
    code: String,
    /// How bad it is.
    severity: Severity,
    /// The problem.
    message: String,
    /// The consequence.
    note: Option<String>,
    /// The text to write instead.
    help: Option<String>,
    /// Where.
    place: Place,
    /// Other places that belong to it.
    related: Vec<RelatedEntry>,
    /// The fixes that a program can apply, the best one first.
    fixes: Vec<FixEntry>,
}

/// A fix that a program can apply.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct FixEntry {
    /// What it does, as a menu entry.
    title: String,
    /// `safe`: it says what the author meant beyond doubt, and `--fix` applies it. `suggestion`: a person chooses it.
    applicability: Applicability,
    /// Whether it is the best fix of its problem.
    preferred: bool,
    /// The changes of the text, in its order, none overlapping another. All of them belong together.
    edits: Vec<EditEntry>,
    /// The files that it brings into being; empty for most.
    creates: Vec<NewFileEntry>,
}

/// A replacement of text.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct EditEntry {
    /// The file, relative to the working directory.
    path: String,
    /// The text that goes; empty where something is inserted.
    range: PlaceRange,
    /// What comes instead, with the line ends of the file.
    text: String,
}

/// A file that does not exist yet.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct NewFileEntry {
    /// Where, relative to the working directory.
    path: String,
    /// What it holds at first.
    text: String,
}

/// Another place that belongs to something.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct RelatedEntry {
    /// What is there.
    message: String,
    /// Where.
    place: Place,
}

/// A condition on the whole run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct GateEntry {
    /// Its name in the format.
    name: String,
    /// Where it is written; null for a default.
    place: Option<Place>,
    /// `pass` or `fail`.
    status: Status,
    /// The limit.
    expected: f64,
    /// The measured value.
    actual: f64,
    /// The story in one sentence.
    message: String,
}

/// A test.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct CaseEntry {
    /// Its name.
    name: String,
    /// Where it is written.
    place: Place,
    /// The worst of its runs.
    status: Status,
    /// Every attempt; none for a test that is switched off.
    runs: Vec<RunEntry>,
}

/// One attempt.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct RunEntry {
    /// Which repetition, from 0.
    run: u32,
    /// The subject that acted.
    subject: SubjectEntry,
    /// The worst of its verdicts, or what the reason for their absence amounts to.
    status: Status,
    /// Time that it took; null when it did not begin.
    duration_ms: Option<f64>,
    /// The number of answers of the model; absent where none acted.
    #[serde(skip_serializing_if = "Option::is_none")]
    turns: Option<u32>,
    /// The event that ended the act; absent where it was not seen to end.
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<Ended>,
    /// US dollars that the model cost; absent when the price is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_usd: Option<f64>,
    /// US dollars that judges cost; absent when none was asked, or the price of an answer is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    judge_cost_usd: Option<f64>,
    /// Whether the evidence was observed and recorded now (`fresh`), read from a recording (`replayed`), also
    /// one of another machine (`foreign`), or is not on disk (`none`).
    recording: RecordingState,
    /// Why there are no verdicts, when there are none to be had.
    error: Option<ErrorEntry>,
    /// The results of the assertions, in the order of the tool of the format.
    verdicts: Vec<VerdictEntry>,
    /// What else was noticed: cut output, processes left behind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// The observation, with `--set report.evidence=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<EvidenceEntry>,
}

/// The subject that acted.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SubjectEntry {
    /// The name in reports: `command`, `gateway`, `openai:gpt-4o`, `openai:gpt-4o (injected)`.
    name: String,
    /// The id of the model; null where none acts.
    model: Option<String>,
    /// How the model learns about the program that it is to use, in cli-bench.
    mode: Option<HelpMode>,
    /// The directory of a target of a gateway, from the root of the workspace.
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

/// Location of the evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum RecordingState {
    /// Observed and recorded now.
    Fresh,
    /// Read from a recording.
    Replayed,
    /// Read from a recording that another machine made: programs and files outside the workspace may differ there.
    Foreign,
    /// Not on disk.
    None,
}

/// Why there are no verdicts.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct ErrorEntry {
    /// `timed-out`, `spawn`, `killed`, `missing-variable`, `workspace`, `setup`, `program`, `help`, `provider`, `key`,
    /// `rate-limit`, `script`, `cancelled`, `unsupported`, `defect`, `no-recording`, `stale`, `failed-fast` or `decided`.
    kind: String,
    /// What happened and what to do.
    message: String,
}

/// The result of an assertion for an attempt.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct VerdictEntry {
    /// Time when it was judged, in formats that have phases.
    phase: Option<String>,
    /// The number of the assertion within its phase.
    index: usize,
    /// The assertion, as a JSON Pointer.
    claim: Pointer,
    /// The tool's own name for this kind of result.
    r#type: String,
    /// The tool's own label.
    label: String,
    /// The answer.
    outcome: Status,
    /// The failure code of KindLM.
    code: Option<String>,
    /// The tool's own score, 0 to 1.
    score: Option<f64>,
    /// The story in one sentence; empty for a pass.
    message: String,
    /// What the assertion expects, where it does not hold.
    expected: Option<String>,
    /// The observation, where it does not hold.
    actual: Option<String>,
    /// What helps: the nearest candidate, a difference.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    help: Vec<String>,
    /// The part of the assertion that decides.
    place: Place,
    /// Other places that belong to it.
    related: Vec<RelatedEntry>,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct Place {
    /// The file, relative to the working directory.
    path: String,
    /// The node, as a JSON Pointer; empty in a file that is no tree.
    pointer: Pointer,
    /// Its text; empty, at the beginning, where a file as a whole is meant.
    range: PlaceRange,
}

/// A range of text, the end not included.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct PlaceRange {
    /// Its start.
    start: Position,
    /// Its end.
    end: Position,
}

/// A position in a text.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct Position {
    /// The line, from 0.
    line: usize,
    /// The column in UTF-16 units, from 0.
    character: usize,
}

/// Number of tests by result.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct Totals {
    /// All of them.
    cases: usize,
    /// Every assertion holds.
    passed: usize,
    /// An assertion does not hold.
    failed: usize,
    /// The run or an assertion broke.
    errored: usize,
    /// Something was not observed.
    unknown: usize,
    /// It passes with a warning.
    warned: usize,
    /// Not run, on purpose.
    skipped: usize,
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

//! The report for programs: a contract with a version and a schema of its own, `schema/json/report.schema.json`.

use std::{collections::HashSet, ops::Range};

use schemars::JsonSchema;
use serde::Serialize;
use speclens_schema::{
    cure,
    dialect::{Dialect, GateOutcome, cli_bench::config::HelpMode},
    document::{LineColumn, Pointer},
    evidence::Ended,
    json_schema,
    judge::Judged,
    problem::{Applicability, Fix, Problem, Severity},
    suite::{Case, Subject},
    verdict::{self, FilePlace, Status},
};

mod evidence;

use super::{
    SourceText, SuiteReport, Tally,
    finding::{place_in, place_in_file},
    matrix::{Matrix, SubjectScore},
};
pub use evidence::EvidenceEntry;

use crate::event::{CaseResult, Origin, RunResult};

/// What may be left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// Whether the tests are listed: `speclens check` has none to tell about.
    pub cases: bool,
    /// Whether what was observed is included.
    pub evidence: bool,
}

/// The report as JSON text with a final line end.
pub fn render(reports: &[SuiteReport], failures: &[String], content: Content) -> String {
    let report = report(reports, failures, content);
    let mut text = serde_json::to_string_pretty(&report).expect("a report is plain data with text keys");
    text.push('\n');
    text
}

/// The JSON Schema of the report, as the text of its committed copy.
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
    /// How many tests came to which end.
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
    /// Who acted.
    subject: SubjectEntry,
    /// How many attempts there are. Those that were left out are not among them.
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
    /// What is wrong.
    message: String,
    /// What happens because of it.
    note: Option<String>,
    /// What to write instead.
    help: Option<String>,
    /// Where.
    place: Place,
    /// Other places that belong to it.
    related: Vec<RelatedEntry>,
    /// The cures that a program can apply, the best one first.
    fixes: Vec<FixEntry>,
}

/// A cure that a program can apply.
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
    /// Who acted.
    subject: SubjectEntry,
    /// The worst of its verdicts, or what the reason for their absence amounts to.
    status: Status,
    /// How long it took; null when it did not begin.
    duration_ms: Option<f64>,
    /// The number of answers of the model; absent where none acted.
    #[serde(skip_serializing_if = "Option::is_none")]
    turns: Option<u32>,
    /// What ended the act; absent where it was not seen to end.
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
    /// What was observed, with `--set report.evidence=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<EvidenceEntry>,
}

/// Who acted.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SubjectEntry {
    /// The name in reports: `command`, `gateway`, `openai:gpt-4o`, `openai:gpt-4o (injected)`.
    name: String,
    /// The id of the model; null where none acts.
    model: Option<String>,
    /// How the model learns about the program that it is to use, in cli-bench.
    mode: Option<HelpMode>,
    /// The directory of a target behind a gateway, from the root of the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
}

impl SubjectEntry {
    /// The entry of a subject.
    pub fn of(subject: &Subject) -> SubjectEntry {
        let entry = SubjectEntry { name: subject.to_string(), model: None, mode: None, target: None };
        match subject {
            Subject::Command | Subject::Nobody => entry,
            Subject::Model { model, mode } => SubjectEntry { model: Some(model.clone()), mode: *mode, ..entry },
            Subject::Gateway { target } => SubjectEntry { target: Some(target.clone()), ..entry },
        }
    }
}

/// Where the evidence is.
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
    /// When it was judged, in formats that have phases.
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
    /// What was observed, where it does not hold.
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
    /// Where it begins.
    start: Position,
    /// Where it ends.
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

/// How many tests came to which end.
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
    /// Something is worth a look.
    warned: usize,
    /// Not run, on purpose.
    skipped: usize,
}

fn report(reports: &[SuiteReport], failures: &[String], content: Content) -> Report {
    let tally = Tally::of(reports);
    // What is wrong with the settings of several suites is one mistake: it stands with the first of them.
    let mut told: HashSet<&str> = HashSet::new();
    let suites = reports.iter().map(|report| {
        let is_new = report.settings.as_ref().is_some_and(|settings| told.insert(&settings.source.path));
        Writer { report, content }.suite(is_new)
    });
    Report {
        speclens: 1,
        failures: failures.to_vec(),
        suites: suites.collect(),
        totals: Totals {
            cases: tally.cases(),
            passed: tally.passed,
            failed: tally.failed,
            errored: tally.errored,
            unknown: tally.unknown,
            warned: tally.warned,
            skipped: tally.skipped,
        },
    }
}

struct Writer<'r> {
    report: &'r SuiteReport,
    content: Content,
}

impl Writer<'_> {
    fn suite(&self, with_settings: bool) -> SuiteEntry {
        let report = self.report;
        let is_told = |(source, _): &(&SourceText, &Problem)| {
            with_settings || report.settings.as_ref().is_none_or(|settings| !std::ptr::eq(*source, &settings.source))
        };
        let problems = report.all_problems().filter(is_told);
        let result = report.result.as_deref();
        let cases = result.map_or(&[][..], |result| &result.cases);
        let gates = result.map_or(&[][..], |result| &result.gates.gates);
        SuiteEntry {
            path: report.source.path.clone(),
            dialect: report.dialect,
            status: report.status(),
            problems: problems.map(|(source, problem)| problem_entry(source, problem)).collect(),
            gates: gates.iter().map(|gate| self.gate(gate)).collect(),
            version: report.version(),
            subjects: result.map(|result| self.subjects(&Matrix::of(result))).unwrap_or_default(),
            cases: self.content.cases.then(|| cases.iter().map(|case| self.case(case)).collect()),
        }
    }

    fn subjects(&self, matrix: &Matrix<'_>) -> Vec<ScoreEntry> {
        let entry = |SubjectScore { subject, score, .. }: &SubjectScore<'_>| ScoreEntry {
            subject: SubjectEntry::of(subject),
            runs: score.runs,
            passed: score.passed,
            pass_rate: score.rate(),
            mean_turns: score.mean_turns(),
            cost_usd: score.cost.known(),
        };
        let with_models = matrix.subjects.iter().filter(|score| score.subject.model_id().is_some());
        with_models.map(entry).collect()
    }

    fn gate(&self, gate: &GateOutcome) -> GateEntry {
        GateEntry {
            name: gate.name.to_owned(),
            place: gate.at.as_ref().map(|at| self.place(at)),
            status: gate.status,
            expected: gate.expected,
            actual: gate.actual,
            message: self.report.masked(&gate.message),
        }
    }

    fn case(&self, result: &CaseResult) -> CaseEntry {
        let case = &self.report.suite.cases[result.case];
        CaseEntry {
            name: self.report.masked(&case.name),
            place: {
                let source = self.report.source_of(case);
                place_at(&source, &case.at, source.document.range_of(&case.at))
            },
            status: result.status,
            runs: result.runs.iter().map(|run| self.run(case, run)).collect(),
        }
    }

    fn run(&self, case: &Case, run: &RunResult) -> RunEntry {
        RunEntry {
            run: run.repeat,
            subject: SubjectEntry::of(&run.subject),
            status: run.status,
            duration_ms: run.figures.duration_ms,
            turns: run.figures.turns,
            stopped: run.figures.stopped,
            cost_usd: run.figures.cost_usd(),
            judge_cost_usd: run.figures.judges.and_then(|judges| judges.cost_usd),
            recording: match run.origin {
                Origin::Recorded => RecordingState::Fresh,
                Origin::Replayed => RecordingState::Replayed,
                Origin::Foreign => RecordingState::Foreign,
                Origin::Observed | Origin::Nowhere => RecordingState::None,
            },
            error: run.absence.as_ref().map(|absence| ErrorEntry {
                kind: absence.kind.as_str().to_owned(),
                message: self.report.masked(&absence.message),
            }),
            verdicts: run.verdicts.iter().map(|judged| self.verdict(case, judged)).collect(),
            notes: run.notes.iter().map(|note| self.report.masked(note)).collect(),
            evidence: self.content.evidence.then(|| run.evidence.get()).flatten().as_deref().map(EvidenceEntry::of),
        }
    }

    fn verdict(&self, case: &Case, judged: &Judged) -> VerdictEntry {
        let claim = &case.claims[judged.claim];
        let verdict = &judged.verdict;
        let mismatch = verdict.outcome.mismatch();
        let masked = |text: &str| self.report.masked(text);
        VerdictEntry {
            phase: claim.phase.map(|phase| phase.as_str().to_owned()),
            index: case.claims[..judged.claim].iter().filter(|other| other.phase == claim.phase).count(),
            claim: shown_pointer(&self.report.source, &claim.at),
            r#type: verdict.kind.to_owned(),
            label: masked(&verdict.label),
            outcome: verdict.outcome.status(),
            code: verdict.code.map(|code| code.as_str().to_owned()),
            score: verdict.score,
            message: masked(verdict.outcome.message()),
            expected: mismatch.map(|mismatch| masked(&mismatch.expected)),
            actual: mismatch.map(|mismatch| masked(&mismatch.actual)),
            help: mismatch.iter().flat_map(|mismatch| &mismatch.help).map(|help| masked(help)).collect(),
            place: self.place_in(case, &claim.at.join(&verdict.at)),
            related: verdict
                .related
                .iter()
                .map(|related| RelatedEntry {
                    message: masked(&related.message),
                    place: match &related.at {
                        verdict::Place::Claim(at) => self.place_in(case, &claim.at.join(at)),
                        verdict::Place::File(place) => self.place_in_file(place),
                    },
                })
                .collect(),
        }
    }

    fn place_in(&self, case: &Case, pointer: &Pointer) -> Place {
        let source = self.report.source_of(case);
        place_at(&source, pointer, source.range_of(pointer))
    }

    fn place_in_file(&self, place: &FilePlace) -> Place {
        let pointer = place.node.as_ref().map(|node| shown_pointer(&self.report.source, node));
        let range = place_range_of(&place_in_file(place));
        let path = self.report.masked(&self.report.root.shown(&place.path));
        Place { path, pointer: pointer.unwrap_or_default(), range }
    }

    fn place(&self, pointer: &Pointer) -> Place {
        place_at(&self.report.source, pointer, self.report.source.range_of(pointer))
    }
}

fn problem_entry(source: &SourceText, problem: &Problem) -> ProblemEntry {
    let related = problem.related.iter().map(|related| RelatedEntry {
        message: source.secrets.mask(&related.message),
        place: place_at(&source.source_of_related(related), &related.at, related.range.clone()),
    });
    ProblemEntry {
        code: problem.code.as_str().to_owned(),
        severity: problem.severity,
        message: source.secrets.mask(&problem.message),
        note: problem.note.as_ref().map(|note| source.secrets.mask(note)),
        help: problem.help.as_ref().map(|help| source.secrets.mask(help)),
        place: place_at(source, &problem.at, problem.range.clone()),
        related: related.collect(),
        fixes: problem.fixes.iter().filter(|fix| source.may_show(fix)).map(|fix| fix_entry(source, fix)).collect(),
    }
}

fn fix_entry(source: &SourceText, fix: &Fix) -> FixEntry {
    let mut edits = cure::adapted(&source.document, &fix.edits);
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let edits = edits.into_iter().map(|edit| EditEntry {
        path: source.path.clone(),
        range: place_range(source, edit.range),
        text: edit.text,
    });
    let creates =
        fix.creates.iter().map(|file| NewFileEntry { path: source.beside(&file.path), text: file.text.clone() });
    FixEntry {
        title: source.secrets.mask(&fix.title),
        applicability: fix.applicability,
        preferred: fix.preferred,
        edits: edits.collect(),
        creates: creates.collect(),
    }
}

fn place_at(source: &SourceText, pointer: &Pointer, range: Range<usize>) -> Place {
    Place { path: source.path.clone(), pointer: shown_pointer(source, pointer), range: place_range(source, range) }
}

/// A pointer with stars for the keys that hold a secret.
fn shown_pointer(source: &SourceText, pointer: &Pointer) -> Pointer {
    if !source.secrets.contains_secret(pointer.as_str()) {
        return pointer.clone();
    }
    pointer.steps().fold(Pointer::root(), |at, step| at.key(&source.secrets.mask(&step)))
}

fn place_range(source: &SourceText, range: Range<usize>) -> PlaceRange {
    place_range_of(&place_in(source, &range))
}

fn place_range_of(place: &Range<LineColumn>) -> PlaceRange {
    let position = |place: LineColumn| Position { line: place.line, character: place.column };
    PlaceRange { start: position(place.start), end: position(place.end) }
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

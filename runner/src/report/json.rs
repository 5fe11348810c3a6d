//! The report for programs: a versioned contract, described by `schema/json/report.schema.json`. Every member that is
//! written has its place there.

use std::{collections::BTreeSet, ops::Range};

use serde_json::{Value, json};
use speclens_schema::{
    document::{LineColumn, Pointer, Step},
    evidence::{ChangedFile, Evidence, Exit, Ran, ToolCall, Turn},
    fixing,
    gates::GateOutcome,
    judge::Judged,
    mask::{shown, shown_value},
    problem::{Fix, Problem},
    suite::{Case, Subject},
    verdict::{FilePlace, Related, RelatedPlace},
};

use super::{
    ResultCounts, SourceText, SuiteReport,
    finding::{place_in, place_in_file},
    matrix::{Matrix, SubjectScore},
};
use crate::event::{CaseResult, Origin, RunResult};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// Whether the tests are listed: `speclens check` runs none.
    pub cases: bool,
    pub evidence: bool,
}

pub fn render(reports: &[SuiteReport], failures: &[String], content: Content) -> String {
    let mut settings = BTreeSet::new();
    let suites: Vec<Value> = reports.iter().map(|report| suite(report, content, &mut settings)).collect();
    let totals = ResultCounts::of(reports);
    let report = json!({ "speclens": 1, "failures": failures, "suites": suites, "totals": totals });
    let mut text = serde_json::to_string_pretty(&report).expect("a report is plain data with text keys");
    text.push('\n');
    text
}

pub const SCHEMA: &str = include_str!("../../../schema/json/report.schema.json");

pub fn without_null(mut entry: Value, names: &[&str]) -> Value {
    if let Value::Object(members) = &mut entry {
        members.retain(|name, value| !(value.is_null() && names.contains(&name.as_str())));
    }
    entry
}

/// Returns a list, or null instead of an empty one.
fn listed(entries: impl Iterator<Item = impl Into<Value>>) -> Value {
    let entries: Vec<Value> = entries.map(Into::into).collect();
    if entries.is_empty() { Value::Null } else { entries.into() }
}

fn suite<'r>(report: &'r SuiteReport, content: Content, settings: &mut BTreeSet<&'r str>) -> Value {
    let result = report.result.as_deref();
    let gates = result.iter().flat_map(|result| &result.gates.gates);
    let cases = result.iter().flat_map(|result| &result.cases);
    let scores = result.map(Matrix::of).map(|matrix| matrix.subjects).unwrap_or_default();
    let of_models = scores.iter().filter(|score| score.subject.model_id().is_some());
    let entry = json!({
        "path": report.source.path,
        "dialect": report.dialect,
        "status": report.status(),
        "problems": report.new_problems(settings).map(|(source, found)| problem(source, found)).collect::<Vec<_>>(),
        "gates": gates.map(|outcome| gate(report, outcome)).collect::<Vec<_>>(),
        "version": report.version(),
        "subjects": listed(of_models.map(score)),
        "cases": content.cases.then(|| cases.map(|result| case(report, content, result)).collect::<Vec<_>>()),
    });
    without_null(entry, &["version", "subjects", "cases"])
}

fn score(SubjectScore { subject: who, score, .. }: &SubjectScore<'_>) -> Value {
    json!({
        "subject": subject(who),
        "runs": score.runs,
        "passed": score.passed,
        "pass_rate": score.rate(),
        "mean_turns": score.mean_turns(),
        "cost_usd": score.cost.known(),
    })
}

pub fn subject(subject: &Subject) -> Value {
    let (model, mode, target) = match subject {
        Subject::Command | Subject::Nobody => (None, None, None),
        Subject::Model { model, mode } => (Some(model), *mode, None),
        Subject::Gateway { target } => (None, None, Some(target)),
    };
    let entry = json!({ "name": subject.to_string(), "model": model, "mode": mode, "target": target });
    without_null(entry, &["target"])
}

fn problem(source: &SourceText, problem: &Problem) -> Value {
    let masked = |text: &str| source.secrets.mask(text);
    let related = problem.related.iter().map(|related| {
        let there = source.source_of_related(related);
        json!({ "message": masked(&related.message), "place": place(&there, &related.at, related.range.clone()) })
    });
    json!({
        "code": problem.code.as_str(),
        "severity": problem.severity,
        "message": masked(&problem.message),
        "note": problem.note.as_deref().map(masked),
        "help": problem.help.as_deref().map(masked),
        "place": place(source, &problem.at, problem.range.clone()),
        "related": related.collect::<Vec<_>>(),
        "fixes": problem.fixes.iter().filter(|one| source.may_show(one)).map(|one| fix(source, one)).collect::<Vec<_>>(),
    })
}

fn fix(source: &SourceText, fix: &Fix) -> Value {
    let mut edits = fixing::adapted(&source.document, &fix.edits);
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let edits = edits
        .into_iter()
        .map(|edit| json!({ "path": source.path, "range": range(&place_in(source, &edit.range)), "text": edit.text }));
    let creates = fix.creates.iter().map(|file| json!({ "path": source.beside(&file.path), "text": file.text }));
    json!({
        "title": source.secrets.mask(&fix.title),
        "applicability": fix.applicability,
        "preferred": fix.preferred,
        "edits": edits.collect::<Vec<_>>(),
        "creates": creates.collect::<Vec<_>>(),
    })
}

fn gate(report: &SuiteReport, gate: &GateOutcome) -> Value {
    let at = gate.source.in_suite();
    json!({
        "name": gate.name,
        "place": at.map(|at| place(&report.source, at, report.source.range_of(at))),
        "status": gate.status,
        "expected": gate.expected,
        "actual": gate.actual,
        "message": report.masked(&gate.message),
    })
}

fn case(report: &SuiteReport, content: Content, result: &CaseResult) -> Value {
    let case = &report.suite.cases[result.case];
    let source = report.source_of(case);
    json!({
        "name": report.masked(&case.name),
        "place": place(&source, &case.at, source.document.range_of(&case.at)),
        "status": result.status,
        "runs": result.runs.iter().map(|run| attempt(report, content, case, run)).collect::<Vec<_>>(),
    })
}

fn attempt(report: &SuiteReport, content: Content, case: &Case, run: &RunResult) -> Value {
    let absence = run.absence.as_ref();
    let shown = if content.evidence { run.evidence.get() } else { None };
    let entry = json!({
        "run": run.repeat,
        "subject": subject(&run.subject),
        "status": run.status,
        "duration_ms": run.figures.duration_ms,
        "turns": run.figures.turns,
        "stopped": run.figures.stopped,
        "cost_usd": run.figures.cost_usd(),
        "judge_cost_usd": run.figures.judges.and_then(|judges| judges.cost_usd),
        "recording": match run.origin {
            Origin::Recorded => "fresh",
            Origin::Replayed => "replayed",
            Origin::Foreign => "foreign",
            Origin::Observed | Origin::Present | Origin::Nowhere => "none",
        },
        "error": absence.map(|it| json!({ "kind": it.kind.as_str(), "message": report.masked(&it.message) })),
        "verdicts": verdicts(report, case, &run.verdicts),
        "notes": listed(run.notes.iter().map(|note| report.masked(note))),
        "evidence": shown.as_deref().map(evidence),
    });
    without_null(entry, &["turns", "stopped", "cost_usd", "judge_cost_usd", "notes", "evidence"])
}

pub fn verdicts(report: &SuiteReport, case: &Case, judged: &[Judged]) -> Vec<Value> {
    judged.iter().map(|judged| verdict(report, case, judged)).collect()
}

fn verdict(report: &SuiteReport, case: &Case, Judged { claim: index, verdict }: &Judged) -> Value {
    let claim = &case.claims[*index];
    let source = report.source_of(case);
    let mismatch = verdict.outcome.mismatch();
    let masked = |text: &String| report.masked(text);
    let in_case = |at: &Pointer| {
        let at = claim.at.join(at);
        place(&source, &at, source.range_of(&at))
    };
    let related = verdict.related.iter().map(|Related { at, message }| {
        let place = match at {
            RelatedPlace::Claim(at) => in_case(at),
            RelatedPlace::File(place) => place_elsewhere(report, place),
        };
        json!({ "message": report.masked(message), "place": place })
    });
    let entry = json!({
        "phase": claim.phase.map(|phase| phase.as_str()),
        "index": case.claims[..*index].iter().filter(|other| other.phase == claim.phase).count(),
        "claim": shown_pointer(&report.source, &claim.at),
        "type": verdict.kind,
        "label": report.masked(&verdict.label),
        "outcome": verdict.outcome.status(),
        "code": verdict.code.map(|code| code.as_str()),
        "score": verdict.score,
        "message": report.masked(verdict.outcome.message()),
        "expected": mismatch.map(|mismatch| masked(&mismatch.expected)),
        "actual": mismatch.map(|mismatch| masked(&mismatch.actual)),
        "notes": listed(mismatch.iter().flat_map(|mismatch| &mismatch.notes).map(masked)),
        "help": listed(mismatch.iter().flat_map(|mismatch| &mismatch.help).map(masked)),
        "place": in_case(&verdict.at),
        "related": related.collect::<Vec<_>>(),
    });
    without_null(entry, &["notes", "help"])
}

fn place(source: &SourceText, pointer: &Pointer, at: Range<usize>) -> Value {
    let pointer = shown_pointer(source, pointer);
    json!({ "path": source.path, "pointer": pointer, "range": range(&place_in(source, &at)) })
}

fn place_elsewhere(report: &SuiteReport, place: &FilePlace) -> Value {
    let pointer = place.node.as_ref().map(|node| shown_pointer(&report.source, node)).unwrap_or_default();
    let path = report.masked(&report.root.shown(&place.path));
    json!({ "path": path, "pointer": pointer, "range": range(&place_in_file(place)) })
}

fn range(place: &Range<LineColumn>) -> Value {
    let position = |at: LineColumn| json!({ "line": at.line, "character": at.column });
    json!({ "start": position(place.start), "end": position(place.end) })
}

/// Returns a pointer with stars for keys that contain a secret.
fn shown_pointer(source: &SourceText, pointer: &Pointer) -> Pointer {
    if !source.secrets.contains_secret(pointer.as_str()) {
        return pointer.clone();
    }
    pointer.steps().fold(Pointer::root(), |at, step| match step {
        Step::Key(key) => at.key(&source.secrets.mask(&key)),
        Step::Index(index) => at.index(index),
    })
}

pub fn evidence(evidence: &Evidence) -> Value {
    let output = evidence.output.as_ref();
    let exit = evidence.exit();
    let files = evidence.files.iter().flat_map(|log| &log.files);
    let entry = json!({
        "output_text": output.map(|output| shown(&output.text)),
        "output_json": output.and_then(|output| output.json.as_ref().map(shown_value)),
        "tool_calls": output.iter().flat_map(|output| &output.tool_calls).map(tool_call).collect::<Vec<_>>(),
        "commands": evidence.all_commands().map(command).collect::<Vec<_>>(),
        "exit_code": exit.and_then(Exit::recorded_code),
        "signal": exit.and_then(|exit| exit.signal),
        "stdout": evidence.stdout().map(|stream| &stream.text),
        "stderr": evidence.stderr().map(|stream| &stream.text),
        "turns": evidence.turns.iter().map(turn).collect::<Vec<_>>(),
        "files": files.map(file).collect::<Vec<_>>(),
        "stopped": evidence.ended,
        "usage": evidence.usage,
    });
    // A structured output may itself be null.
    let has_json = output.is_some_and(|output| output.json.is_some());
    without_null(entry, if has_json { &["signal"] } else { &["signal", "output_json"] })
}

fn command(ran: &Ran) -> Value {
    let entry = json!({
        "command": ran.command.text,
        "exit_code": ran.exit.and_then(Exit::recorded_code),
        "signal": ran.exit.and_then(|exit| exit.signal),
        "stdout": ran.stdout.as_ref().map(|stream| &stream.text),
        "stderr": ran.stderr.as_ref().map(|stream| &stream.text),
        "duration_ms": ran.duration_ms,
    });
    without_null(entry, &["signal"])
}

fn turn(turn: &Turn) -> Value {
    let entry = json!({
        "user": turn.user.as_ref().map(|user| &user.text),
        "text": turn.text.text,
        "tool_calls": turn.calls.iter().map(tool_call).collect::<Vec<_>>(),
        "usage": turn.usage,
        "duration_ms": turn.duration_ms,
    });
    without_null(entry, &["user"])
}

fn file(file: &ChangedFile) -> Value {
    let text = file.text.as_ref().map(|text| &text.text);
    json!({ "path": file.path, "change": file.change, "size": file.size, "text": text })
}

fn tool_call(call: &ToolCall) -> Value {
    json!({ "id": shown(&call.id), "name": shown(&call.name), "arguments": shown_value(&call.arguments) })
}

//! The lines of a spec, each with the verdicts on the assertions there.

use std::collections::{BTreeMap, BTreeSet};

use speclens_schema::{
    document::Pointer,
    suite::Case,
    verdict::{Outcome, Status},
    words::plural,
};

use super::{
    attempt::{OPEN_LINES, Room, difference, note},
    state::{class, mark},
    writer::Html,
};
use crate::{
    event::{CaseResult, RunResult, by_claim, share},
    report::{
        SourceText, SuiteReport,
        failures::{Detail, DetailKind, EvidenceReader, Failure, FailureKind, details, of_verdict},
        status::word,
        timeline::beginning,
    },
};

/// A test with more lines is shown in parts.
const MAX_LINES: usize = 60;

/// The lines around each assertion that are shown of a longer test.
const AROUND: usize = 2;

const MAX_VALUE: usize = 4000;

/// A verdict at a line.
struct Note {
    status: Status,
    /// The assertion, and how often it has this result.
    title: String,
    message: String,
    details: Vec<Detail>,
}

/// Writes the lines of a test. `failures` are those of this test.
pub(super) fn write(html: &mut Html, report: &SuiteReport, outcome: &CaseResult, failures: &[&Failure<'_>]) {
    let case = &report.suite.cases[outcome.case];
    let source = report.source_of(case);
    let mut notes: BTreeMap<usize, Vec<Note>> = BTreeMap::new();
    let mut reader = EvidenceReader::default();
    for failure in failures {
        let (at, note) = of_failure(report, case, failure, &mut reader);
        notes.entry(line_of(&source, &at)).or_default().push(note);
    }
    for (at, note) in passed(report, case, outcome) {
        notes.entry(line_of(&source, &at)).or_default().push(note);
    }
    let name = format!("{}, line by line", source.path);
    html.element("ol", &[("class", "lines"), ("aria-label", &name)], |html| {
        let mut next = None;
        for line in lines(&source, case, &notes) {
            if next.is_some_and(|next| next < line) {
                html.element("li", &[("class", "gap"), ("aria-hidden", "true")], |html| html.push_text("⋯"));
            }
            next = Some(line + 1);
            write_line(html, &source, line, notes.get(&line).map_or(&[], Vec::as_slice));
        }
    });
}

fn of_failure<'r>(
    report: &'r SuiteReport,
    case: &Case,
    failure: &Failure<'r>,
    reader: &mut EvidenceReader<'r>,
) -> (Pointer, Note) {
    let frequency = failure.frequency();
    match failure.kind {
        FailureKind::Verdict(judged) | FailureKind::Skipped(judged) => {
            let verdict = &judged.verdict;
            let evidence = reader.read(failure.run);
            let details = details(report, failure, verdict, evidence.as_deref());
            // The frequency is in the title.
            let is_new = |detail: &Detail| detail.kind != DetailKind::Note || Some(&detail.text) != frequency.as_ref();
            let note = Note {
                status: verdict.outcome.status(),
                title: report.masked(&titled(&verdict.label, frequency.as_deref())),
                message: report.masked(verdict.outcome.message()),
                details: details.into_iter().filter(is_new).collect(),
            };
            (case.claims[judged.claim].at.join(&verdict.at), note)
        }
        FailureKind::Absence(absence) => {
            let note = Note {
                status: failure.run.status,
                title: report.masked(&titled(absence.kind.as_str(), frequency.as_deref())),
                message: report.masked(&absence.message),
                details: Vec::new(),
            };
            (case.action.at().unwrap_or(&case.at).clone(), note)
        }
    }
}

fn titled(name: &str, frequency: Option<&str>) -> String {
    frequency.map_or_else(|| name.to_owned(), |frequency| format!("{name}, {frequency}"))
}

/// Returns the assertions that are not failures, with their places.
fn passed(report: &SuiteReport, case: &Case, outcome: &CaseResult) -> Vec<(Pointer, Note)> {
    let runs: Vec<&RunResult> = outcome.runs.iter().map(AsRef::as_ref).filter(|run| !run.is_left_out()).collect();
    let parts = by_claim(&runs).into_iter().filter_map(|part| {
        let (worst, _) = part.iter().max_by_key(|(judged, _)| judged.verdict.outcome.status())?;
        let verdict = &worst.verdict;
        if !matches!(verdict.outcome.status(), Status::Pass | Status::Skip) {
            return None;
        }
        let concerned: Vec<&RunResult> = part.iter().map(|(_, run)| *run).collect();
        let frequency =
            (runs.len() > 1).then(|| format!("{}{}", word(verdict.outcome.status()), share(&runs, &concerned)));
        let message = match &verdict.outcome {
            Outcome::Skip(reason) => report.masked(reason),
            Outcome::Pass | Outcome::Fail(_) | Outcome::Warn(_) | Outcome::Unknown(_) | Outcome::Error(_) => {
                String::new()
            }
        };
        let note = Note {
            status: verdict.outcome.status(),
            title: report.masked(&titled(&verdict.label, frequency.as_deref())),
            message,
            details: Vec::new(),
        };
        Some((case.claims[worst.claim].at.join(&verdict.at), note))
    });
    parts.collect()
}

fn line_of(source: &SourceText, at: &Pointer) -> usize {
    let text = source.document.text();
    text.byte_to_line(source.range_of(at).start.min(text.len_bytes()))
}

/// Returns the lines that are shown: those of the test, or if there are many, those around its assertions. Those that
/// are elsewhere, such as behind an alias, are shown as well.
fn lines(source: &SourceText, case: &Case, notes: &BTreeMap<usize, Vec<Note>>) -> BTreeSet<usize> {
    let text = source.document.text();
    let range = source.document.range_of(&case.at);
    let line = |offset: usize| text.byte_to_line(offset.min(text.len_bytes()));
    let (first, mut last) = (line(range.start), line(range.end));
    while last > first && text.line(last).chars().all(char::is_whitespace) {
        last -= 1;
    }
    let near = |at: &usize| at.saturating_sub(AROUND).max(first.min(*at))..=(at + AROUND).min(last.max(*at));
    if last - first < MAX_LINES {
        return (first..=last).chain(notes.keys().copied()).collect();
    }
    (first..=first + AROUND).chain(notes.keys().flat_map(near)).collect()
}

fn write_line(html: &mut Html, source: &SourceText, line: usize, notes: &[Note]) {
    let text = source.document.text().line(line).to_string();
    let text = source.secrets.cover(text.trim_end_matches(['\r', '\n']));
    let number = (line + 1).to_string();
    let worst = notes.iter().map(|note| note.status).max();
    html.element("li", &[("value", &number), ("class", worst.map_or("", class))], |html| {
        html.leaf("code", &[], if text.trim().is_empty() { " " } else { &text });
        notes.iter().for_each(|it| write_note(html, it));
    });
}

fn write_note(html: &mut Html, note: &Note) {
    html.element("div", &[("class", &format!("verdict {}", class(note.status)))], |html| {
        html.element("p", &[], |html| {
            mark(html, note.status);
            html.leaf("span", &[("class", "label")], &note.title);
        });
        if !note.message.is_empty() {
            html.leaf("p", &[("class", "message")], &note.message);
        }
        write_details(html, &note.details, MAX_VALUE);
    });
}

/// Writes the facts behind a verdict. `max_bytes`: the size of each.
fn write_details(html: &mut Html, details: &[Detail], max_bytes: usize) {
    let of = |kind: DetailKind| details.iter().find(|detail| detail.kind == kind).map(|detail| detail.text.as_str());
    if !details.is_empty() {
        html.element("dl", &[], |html| {
            for Detail { kind, text } in details {
                html.leaf("dt", &[], kind.as_str());
                html.element("dd", &[], |html| {
                    let (shown, left_out) = beginning(text, MAX_LINES, max_bytes);
                    match kind {
                        DetailKind::Expected | DetailKind::Actual => value(html, shown),
                        DetailKind::Note | DetailKind::Help | DetailKind::Reply => html.push_text(shown),
                    }
                    if left_out > 0 {
                        note(html, &format!("{left_out} bytes left out here; `--report json` has all of it"));
                    }
                });
            }
        });
    }
    if let (Some(expected), Some(actual)) = (of(DetailKind::Expected), of(DetailKind::Actual)) {
        difference(html, beginning(expected, MAX_LINES, max_bytes).0, beginning(actual, MAX_LINES, max_bytes).0);
    }
}

/// Writes a value. A long one is shown after a click.
fn value(html: &mut Html, text: &str) {
    let lines = text.lines().count();
    if lines <= OPEN_LINES {
        return html.leaf("pre", &[], text);
    }
    html.element("details", &[], |html| {
        html.leaf("summary", &[], &plural(lines, "line"));
        html.leaf("pre", &[], text);
    });
}

/// Writes the verdicts on one attempt.
pub(super) fn verdicts(html: &mut Html, report: &SuiteReport, run: &RunResult, room: Room) {
    if run.verdicts.is_empty() {
        return;
    }
    html.element("ul", &[("class", "verdicts"), ("aria-label", "Assertions")], |html| {
        for judged in &run.verdicts {
            let verdict = &judged.verdict;
            let status = verdict.outcome.status();
            html.element("li", &[("class", class(status))], |html| {
                mark(html, status);
                html.leaf("span", &[("class", "label")], &report.masked(&verdict.label));
                let max_bytes = room.of_text(run.status).min(MAX_VALUE);
                let message = report.masked(verdict.outcome.message());
                if !message.is_empty() {
                    html.leaf("p", &[("class", "message")], beginning(&message, MAX_LINES, max_bytes).0);
                }
                write_details(html, &of_verdict(report, verdict, None), max_bytes);
            });
        }
    });
}

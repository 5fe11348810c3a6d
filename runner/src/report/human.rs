//! The report for people: one line per test, source snippets for problems, a summary.
//!
//! The text has colors; they are removed on printing where they are not supported.

mod matrix;

use std::{collections::BTreeSet, fmt::Write, ops::Range, time::Duration};

use annotate_snippets::{Annotation, AnnotationKind, Element, Group, Level, Renderer, Snippet};
use anstyle::Style;
use speclens_schema::{
    document::Pointer,
    evidence::{Evidence, Exit, RunErrorKind},
    gates::GateSource,
    judge::Judged,
    problem::{Problem, Severity},
    suite::{Case, Needed},
    verdict::{FailureCode, FilePlace, LinePart, RelatedPlace, Status},
    words::plural,
};

use super::{
    ResultCounts, SourceText, SuiteReport,
    failures::{Detail, DetailKind, EvidenceReader, Failure, FailureKind, details, failures},
    plain::{self, BOLD, DIM, GREEN, RED, YELLOW},
};
use crate::event::{Absence, AbsenceKind, CaseResult, SuiteResult};

const MAX_VALUE_CHARACTERS: usize = 400;
const MAX_VALUE_LINES: usize = 12;
/// The place of a value that is shortened in the output of a run.
const NOTE: &str = "see `--report json` for all of it";
const MAX_LISTED: usize = 5;
const MAX_TAIL_LINES: usize = 8;

pub use matrix::dollars;
pub(super) use matrix::percent;

/// Returns the output of `speclens run`, for a terminal with this many columns.
pub fn run(reports: &[SuiteReport], width: usize) -> String {
    let mut text = String::new();
    let mut settings = BTreeSet::new();
    for report in reports {
        heading(&mut text, report);
        problems(&mut text, report, &mut settings);
        match &report.result {
            Some(result) => suite(&mut text, report, result, width),
            None => {
                let refusal = report.refusal().into_iter();
                text.extend(refusal.map(|reason| format!("{RED}refused{RED:#}: {reason}\n\n")));
            }
        }
    }
    summary(&mut text, reports);
    text
}

fn heading(text: &mut String, report: &SuiteReport) {
    let _ = match &report.suite.name {
        Some(name) => {
            let name = plain::line(&report.masked(name));
            writeln!(text, "{BOLD}{name}{BOLD:#} {DIM}({}){DIM:#}", plain::line(&report.source.path))
        }
        None => writeln!(text, "{BOLD}{}{BOLD:#}", plain::line(&report.source.path)),
    };
}

/// Prints all errors and warnings of a suite and of its parts, and those of its settings unless another suite printed
/// them.
fn problems<'r>(text: &mut String, report: &'r SuiteReport, settings: &mut BTreeSet<&'r str>) {
    let is_told = |(_, problem): &(&SourceText, &Problem)| problem.severity <= Severity::Warning;
    for (source, problem) in report.new_problems(settings).filter(is_told) {
        let _ = writeln!(text, "{}\n", problem_snippet(source, problem));
    }
}

pub fn problem_snippet(source: &SourceText, problem: &Problem) -> String {
    let level = match problem.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Information => Level::INFO.with_name(problem.severity.as_str()),
        Severity::Hint => Level::HELP.with_name(problem.severity.as_str()),
    };
    let mut marks = vec![Mark { range: problem.range.clone(), label: None, primary: true }];
    for related in problem.related.iter().filter(|related| related.file.is_none()) {
        marks.push(Mark { range: related.range.clone(), label: Some(related.message.clone()), primary: false });
    }
    let said =
        |text, limit| plain::block(&clipped(&source.secrets.mask(text), limit, "see `--format json` for all of it"));
    let mut group = level
        .primary_title(said(&problem.message, 2 * MAX_VALUE_CHARACTERS))
        .id(problem.code.as_str())
        .elements(snippets(source, &marks));
    for related in problem.related.iter().filter(|related| related.file.is_some()) {
        let mark = Mark { range: related.range.clone(), label: Some(related.message.clone()), primary: false };
        group = group.elements(snippets(&source.source_of_related(related), &[mark]));
    }
    let parts = [(Level::NOTE, &problem.note), (Level::HELP, &problem.help)];
    for (level, part) in parts.into_iter().filter_map(|(level, part)| Some((level, part.as_ref()?))) {
        group = group.element(level.message(plain::block(&source.secrets.mask(part))));
    }
    // The help is the one remedy. Without it, the best fix is.
    if let Some(fix) = problem.fixes.first().filter(|_| problem.help.is_none()) {
        group = group.element(Level::HELP.message(said(&fix.title, MAX_VALUE_CHARACTERS)));
    }
    render(group)
}

fn suite(text: &mut String, report: &SuiteReport, result: &SuiteResult, width: usize) {
    let mut details = String::new();
    for outcome in &result.cases {
        line(text, report, &report.suite.cases[outcome.case], outcome);
    }
    explain(&mut details, report, result);
    text.push('\n');
    text.push_str(&details);
    matrix::write(text, report, result, width);
    gates(text, report, result);
}

fn line(text: &mut String, report: &SuiteReport, case: &Case, outcome: &CaseResult) {
    let (mark, style) = mark(outcome.status);
    let mut details = Vec::new();
    let took: f64 = outcome.runs.iter().filter_map(|run| run.figures.duration_ms).sum();
    if took > 0.0 {
        details.push(duration(Duration::from_secs_f64(took / 1000.0)));
    }
    if outcome.runs.len() > 1 {
        let good = outcome.runs.iter().filter(|run| matches!(run.status, Status::Pass | Status::Warn)).count();
        let left_out = outcome.runs.iter().filter(|run| run.is_decided()).count();
        details.push(format!("{good} of {} passed", plural(outcome.runs.len() - left_out, "attempt")));
        details.extend((left_out > 0).then(|| format!("{left_out} not needed")));
        details.extend((case.needed == Needed::One).then(|| "1 must pass".to_owned()));
    }
    match outcome.status {
        Status::Skip => details.push("skipped".to_owned()),
        Status::Unknown => details.push("unknown".to_owned()),
        Status::Pass | Status::Warn | Status::Fail | Status::Error => {}
    }
    let details = match details.is_empty() {
        true => String::new(),
        false => format!(" {DIM}({}){DIM:#}", plain::line(&details.join(", "))),
    };
    let _ = writeln!(text, "  {style}{mark}{style:#} {}{details}", plain::line(&report.masked(&case.name)));
    // Similar attempts have the same notes.
    let mut printed = BTreeSet::new();
    for note in outcome.runs.iter().flat_map(|run| &run.notes).filter(|note| printed.insert(note.as_str())) {
        let _ = writeln!(text, "      {YELLOW}note{YELLOW:#}: {}", plain::line(&report.masked(note)));
    }
}

/// Prints the failures of a run: one block for each assertion and each error.
fn explain(text: &mut String, report: &SuiteReport, result: &SuiteResult) {
    let failures = failures(report, result);
    let mut reader = EvidenceReader::default();
    for (index, failure) in failures.iter().enumerate() {
        let case = failure.cases[0];
        let evidence = reader.read(failure.run);
        // The block of the last assertion of a test has the commands.
        let is_last = failures.get(index + 1).is_none_or(|next| !std::ptr::eq(next.cases[0], case));
        let block = match failure.kind {
            FailureKind::Absence(absence) => absence_block(report, failure, absence, evidence.as_deref()),
            FailureKind::Verdict(judged) | FailureKind::Skipped(judged) => {
                Some(verdict_block(report, failure, judged, evidence.as_deref(), is_last))
            }
        };
        text.extend(block.map(|block| format!("{block}\n\n")));
    }
}

fn absence_block(
    report: &SuiteReport,
    failure: &Failure<'_>,
    absence: &Absence,
    evidence: Option<&Evidence>,
) -> Option<String> {
    let (case, run) = (failure.cases[0], failure.run);
    // An attempt that never began has nothing to show; the line of the test says so.
    let never_began = absence.kind == AbsenceKind::RunError(RunErrorKind::Cancelled) && run.evidence.is_nowhere();
    if never_began {
        return None;
    }
    let level = match run.status {
        Status::Fail | Status::Error => Level::ERROR,
        Status::Unknown | Status::Warn | Status::Pass | Status::Skip => Level::WARNING,
    };
    let at = case.action.at().unwrap_or(&case.at);
    let (title, message) = (failure.title(report), report.masked(&absence.message));
    let mut group = level
        .primary_title(format!("{}: {}", plain::line(&title), plain::block(&message)))
        .id(absence.kind.as_str())
        .elements(snippets(&report.source_of(case), &[Mark::at(&report.source_of(case), at)]));
    if failure.cases.len() > 1 {
        let names = failure.cases.iter().map(|case| format!("`{}`", report.masked(&case.name)));
        group = group.element(note("tests", &listed(names.collect())));
    }
    group = group.elements(failure.frequency().map(|frequency| note("note", &frequency)));
    if let Some(evidence) = evidence {
        group = group.elements(transcript(evidence, true));
    }
    Some(render(group))
}

fn listed(mut names: Vec<String>) -> String {
    let more = names.len().saturating_sub(MAX_LISTED);
    names.truncate(MAX_LISTED);
    let listed = plain::line(&names.join(", "));
    if more > 0 { format!("{listed} and {more} more") } else { listed }
}

fn verdict_block(
    report: &SuiteReport,
    failure: &Failure<'_>,
    judged: &Judged,
    evidence: Option<&Evidence>,
    with_commands: bool,
) -> String {
    let verdict = &judged.verdict;
    let case = failure.cases[0];
    let claim = &case.claims[judged.claim];
    let level = match verdict.outcome.status() {
        Status::Fail | Status::Error => Level::ERROR,
        Status::Unknown | Status::Warn | Status::Skip => Level::WARNING,
        Status::Pass => Level::INFO,
    };
    let source = report.source_of(case);
    let mut main = Mark::at(&source, &claim.at.join(&verdict.at));
    main.label = Some(plain::line(&verdict.label));
    let mut marks = vec![main];
    let mut elsewhere = Vec::new();
    for related in &verdict.related {
        match &related.at {
            RelatedPlace::Claim(at) => {
                let range = source.range_of(&claim.at.join(at));
                marks.push(Mark { range, label: Some(related.message.clone()), primary: false });
            }
            RelatedPlace::File(place) => elsewhere.push(place_in_file(report, &related.message, place)),
        }
    }
    let (title, message) = (failure.title(report), report.masked(verdict.outcome.message()));
    let mut group = level
        .with_name(failure.kind.word(failure.run))
        .primary_title(format!("{}: {}", plain::line(&title), plain::block(&shortened(&message))))
        .id(verdict.code.map_or(verdict.kind, FailureCode::as_str))
        .elements(snippets(&source, &marks))
        .elements(elsewhere);
    for Detail { kind, text } in details(report, failure, verdict, evidence) {
        let text = shortened(&text);
        group = group.element(match kind {
            DetailKind::Note => Element::from(Level::NOTE.message(plain::block(&text))),
            DetailKind::Help => Element::from(Level::HELP.message(plain::block(&text))),
            DetailKind::Expected | DetailKind::Actual | DetailKind::Reply => note(kind.as_str(), &text),
        });
    }
    if let Some(evidence) = evidence.filter(|_| with_commands) {
        group = group.elements(transcript(evidence, false));
    }
    render(group)
}

/// Returns a place in another file: its line, or its name if the whole file is meant.
fn place_in_file(report: &SuiteReport, message: &str, place: &FilePlace) -> Element<'static> {
    let path = plain::line(&report.masked(&report.root.shown(&place.path)));
    let message = plain::block(&shortened(&report.masked(message)));
    let Some(line_part) = &place.line_part else { return note("place", &format!("{path}: {message}")) };
    // Masking keeps the columns.
    let line_part = LinePart { text: report.masked(&line_part.text), ..line_part.clone() };
    let annotation = AnnotationKind::Context.span(line_part.range()).label(message);
    let snippet = Snippet::source(tabless(&line_part.text)).path(path).line_start(line_part.line + 1).fold(false);
    Element::from(snippet.annotation(annotation))
}

/// Returns the end of the command, if that helps; for an agent that did not finish, its last command.
fn transcript(evidence: &Evidence, with_output: bool) -> Vec<Element<'static>> {
    let mut elements = Vec::new();
    let last = evidence.commands.as_ref().and_then(|log| log.commands.last());
    if let Some(last) = last.filter(|_| with_output) {
        elements.push(note("last command", &shortened(&last.command.text)));
        elements.extend(last.exit.map(|exit| {
            let end = exit.sentence();
            note("its result", end.strip_prefix("was ").unwrap_or(&end))
        }));
        let streams = [("its output", &last.stdout), ("its standard error", &last.stderr)];
        let streams = streams.into_iter().filter_map(|(name, stream)| Some((name, stream.as_ref()?.text.trim())));
        elements.extend(streams.filter(|(_, text)| !text.is_empty()).map(|(name, text)| note(name, &tail(text))));
    }
    if let Some(exit) = evidence.exit()
        && exit.code != Some(0)
    {
        let end = exit.sentence();
        elements.push(note("command", end.strip_prefix("was ").unwrap_or(&end)));
    }
    // The verdict already has the last one.
    if let Some(log) = evidence.commands.as_ref().filter(|log| log.commands.len() > 1) {
        let commands = log.commands.iter().map(|ran| {
            let how = ran.exit.map(Exit::sentence).unwrap_or_else(|| "did not run".to_owned());
            format!("{} ({how})", ran.command.text.replace('\n', "⏎"))
        });
        elements.push(note("commands of the agent", &tail(&commands.collect::<Vec<_>>().join("\n"))));
    }
    if let Some(stdout) = evidence.stdout().filter(|stdout| with_output && !stdout.text.trim().is_empty()) {
        elements.push(note("output so far", &tail(&stdout.text)));
    }
    if let Some(stderr) = evidence.stderr().filter(|stderr| !stderr.text.trim().is_empty()) {
        elements.push(note("standard error", &tail(&stderr.text)));
    }
    elements
}

fn gates(text: &mut String, report: &SuiteReport, result: &SuiteResult) {
    // After an error or an unknown result, a default limit decides nothing.
    let open = result.cases.iter().any(|case| matches!(case.status, Status::Error | Status::Unknown));
    let failed = result.cases.iter().any(|case| case.status == Status::Fail);
    for gate in &result.gates.gates {
        let wrong = gate.status == Status::Fail;
        if let Some(at) = gate.source.in_suite().filter(|_| wrong) {
            let group = Level::ERROR
                .with_name("gate failed")
                .primary_title(plain::block(&gate.message))
                .id(gate.name)
                .elements(snippets(&report.source, &[Mark::at(&report.source, at)]));
            let _ = writeln!(text, "{}\n", render(group));
        } else if gate.status == Status::Unknown && !open && !failed {
            let _ = writeln!(text, "{YELLOW}gate unknown{YELLOW:#}: {}\n", plain::block(&gate.message));
        } else if wrong && (!open || gate.source.is_set()) {
            let origin = match &gate.source {
                GateSource::Settings => "`thresholds` in `speclens.yaml`".to_owned(),
                GateSource::Default | GateSource::Suite(_) => format!("the default of `{}`", gate.name),
            };
            let _ = writeln!(text, "{RED}gate failed{RED:#}: {} ({origin})\n", plain::block(&gate.message));
        }
    }
    if result.gates.rescued && !result.failed {
        let _ = writeln!(text, "{GREEN}allowed{GREEN:#}: the gates permit the failures above\n");
    }
}

fn summary(text: &mut String, reports: &[SuiteReport]) {
    let counts = ResultCounts::of(reports);
    let refused = reports.iter().filter(|report| report.is_refused()).count();
    let mut parts = Vec::new();
    for (count, word, style) in [
        (counts.passed, "passed", GREEN),
        (counts.warned, "with warnings", YELLOW),
        (counts.failed, "failed", RED),
        (counts.errored, if counts.errored == 1 { "error" } else { "errors" }, RED),
        (counts.unknown, "unknown", YELLOW),
        (counts.skipped, "skipped", DIM),
    ] {
        if count > 0 {
            parts.push(format!("{style}{count} {word}{style:#}"));
        }
    }
    let results = reports.iter().filter_map(|report| report.result.as_ref());
    let runs = results.flat_map(|result| &result.cases).flat_map(|case| &case.runs);
    let skipped = runs.flat_map(|run| &run.verdicts).filter(|it| it.verdict.outcome.status() == Status::Skip).count();
    if skipped > 0 {
        parts.push(format!("{DIM}{} skipped{DIM:#}", plural(skipped, "assertion")));
    }
    if refused > 0 {
        parts.push(format!("{RED}{} refused{RED:#}", plural(refused, "suite")));
    }
    if parts.is_empty() {
        parts.push("nothing ran".to_owned());
    }
    let took: Duration = reports.iter().filter_map(|report| Some(report.result.as_ref()?.duration)).sum();
    if reports.iter().any(|report| report.result.as_ref().is_some_and(|result| result.cancelled)) {
        parts.push(format!("{YELLOW}cancelled{YELLOW:#}"));
    }
    let _ = writeln!(
        text,
        "{BOLD}{}{BOLD:#}: {} {DIM}({}){DIM:#}",
        plural(counts.cases, "test"),
        parts.join(", "),
        duration(took)
    );
}

struct Mark {
    range: Range<usize>,
    label: Option<String>,
    primary: bool,
}

impl Mark {
    fn at(source: &SourceText, pointer: &Pointer) -> Mark {
        Mark { range: source.range_of(pointer), label: None, primary: true }
    }
}

/// Returns the lines around each mark. A snippet holds only the shown lines, so long files cost nothing.
fn snippets(source: &SourceText, marks: &[Mark]) -> Vec<Element<'static>> {
    let text = source.document.text();
    let end_of = |line: usize| text.line_to_byte((line + 1).min(text.len_lines()));
    let mut elements = Vec::new();
    for mark in marks {
        let start = mark.range.start.min(text.len_bytes());
        let first = text.byte_to_line(start);
        let from = text.line_to_byte(first);
        let line = text.byte_slice(from..end_of(first)).to_string();
        let visible = line.trim_end_matches(['\r', '\n']);
        // A byte that belongs to no character has become a longer one.
        let begin = visible.floor_char_boundary((start - from).min(visible.len()));
        let end = visible.ceil_char_boundary((mark.range.end.max(start) - from).clamp(begin, visible.len()));
        let kind = if mark.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
        let annotation: Annotation<'static> =
            kind.span(begin..end).label(mark.label.as_deref().map(|label| plain::block(&source.secrets.mask(label))));
        let visible = source.secrets.cover(visible);
        elements.push(Element::from(
            Snippet::source(tabless(&visible))
                .path(plain::line(&source.path))
                .line_start(first + 1)
                .fold(false)
                .annotation(annotation),
        ));
    }
    elements
}

/// Replaces control characters, which would move the cursor, by one column each.
fn tabless(line: &str) -> String {
    let plain = |it: char| if it.is_control() && it.len_utf8() == 1 { ' ' } else { it };
    line.chars().map(plain).collect()
}

fn note(name: &str, value: &str) -> Element<'static> {
    let value = plain::block(value);
    let text = if value.contains('\n') { format!("\n{value}") } else { value };
    Element::from(Level::NOTE.with_name(name.to_owned()).message(text))
}

fn render(group: Group<'_>) -> String {
    Renderer::styled().render(&[group])
}

/// Shortens long values in the middle. The JSON report has the whole value.
fn shortened(value: &str) -> String {
    let lines = value.matches('\n').count() + 1;
    if lines > MAX_VALUE_LINES {
        let half = MAX_VALUE_LINES / 2;
        let middle = format!("[… {} more lines, {NOTE} …]", lines - 2 * half);
        let mut last: Vec<&str> = value.rsplit('\n').take(half).collect();
        last.reverse();
        let kept: Vec<&str> = value.split('\n').take(half).chain([middle.as_str()]).chain(last).collect();
        return clipped(&kept.join("\n"), 4 * MAX_VALUE_CHARACTERS, NOTE);
    }
    clipped(value, MAX_VALUE_CHARACTERS, NOTE)
}

fn clipped(value: &str, limit: usize, note: &str) -> String {
    let count = value.chars().count();
    if count <= limit {
        return value.to_owned();
    }
    let end = |from: Option<(usize, char)>| from.map_or(value.len(), |(at, _)| at);
    let head = &value[..end(value.char_indices().nth(limit / 2))];
    let tail = &value[end(value.char_indices().nth_back(limit / 2 - 1))..];
    format!("{head}[… {}, {note} …]{tail}", plural(count - 2 * (limit / 2), "more character"))
}

fn tail(text: &str) -> String {
    let text = text.trim_end();
    let lines = text.lines().count();
    let mut kept: Vec<String> =
        text.lines().rev().take(MAX_TAIL_LINES).map(|line| clipped(line, MAX_VALUE_CHARACTERS, NOTE)).collect();
    kept.reverse();
    let kept = kept.join("\n");
    let earlier = lines.saturating_sub(MAX_TAIL_LINES);
    if earlier > 0 { format!("[… {} …]\n{kept}", plural(earlier, "earlier line")) } else { kept }
}

fn mark(status: Status) -> (&'static str, Style) {
    match status {
        Status::Skip => ("○", DIM),
        Status::Pass => ("✓", GREEN),
        Status::Warn => ("⚠", YELLOW),
        Status::Unknown => ("?", YELLOW),
        Status::Fail => ("✗", RED),
        Status::Error => ("!", RED),
    }
}

pub fn duration_ms(milliseconds: f64) -> String {
    // A recording may have any number.
    duration(Duration::try_from_secs_f64(milliseconds / 1000.0).unwrap_or(Duration::MAX))
}

pub fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds < 1.0 {
        format!("{} ms", (seconds * 1000.0).round())
    } else if seconds < 60.0 {
        format!("{seconds:.1} s")
    } else {
        format!("{} min {} s", duration.as_secs() / 60, duration.as_secs() % 60)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{duration, shortened, tail};

    #[test]
    fn long_values_lose_their_middle_and_say_where_it_is() {
        assert_eq!(shortened("short"), "short");
        let long = "a".repeat(300) + &"b".repeat(300);
        let short = shortened(&long);
        assert!(short.starts_with("aaa") && short.ends_with("bbb"));
        assert!(short.contains("[… 200 more characters, see `--report json` for all of it …]"), "{short}");
        let lines: Vec<String> = (0..100).map(|line| line.to_string()).collect();
        let short = shortened(&lines.join("\n"));
        assert!(short.contains("5\n[… 88 more lines, see `--report json` for all of it …]\n94"), "{short}");
    }

    #[test]
    fn end_of_standard_error_is_shown() {
        let lines: Vec<String> = (0..10).map(|line| line.to_string()).collect();
        assert_eq!(tail(&lines.join("\n")), "[… 2 earlier lines …]\n2\n3\n4\n5\n6\n7\n8\n9");
        assert_eq!(tail("one\n"), "one");
    }

    #[test]
    fn durations_read_well() {
        assert_eq!(duration(Duration::from_millis(12)), "12 ms");
        assert_eq!(duration(Duration::from_millis(1240)), "1.2 s");
        assert_eq!(duration(Duration::from_secs(61)), "1 min 1 s");
    }
}

//! The entries of reports for code scanners: all problems and failures, one entry each.

use std::{borrow::Cow, collections::BTreeSet, ops::Range};

use speclens_schema::{
    document::{Encoding, LineColumn, Lines, Pointer},
    judge,
    problem::{Fix, Problem, Severity},
    suite::Case,
    verdict::{FailureCode, FilePlace, Related, RelatedPlace, Status},
    words::plural,
};

use super::{
    SourceText, SuiteReport,
    failures::{EvidenceReader, Failure, FailureKind, details, failures},
};
use crate::event::CaseResult;

pub(super) struct Finding<'r> {
    /// The kind: the code of a problem, or the name of the result in the format's tool.
    pub(super) rule: &'r str,
    pub(super) severity: Severity,
    pub(super) message: String,
    pub(super) source: Cow<'r, SourceText>,
    pub(super) range: Range<usize>,
    pub(super) related: Vec<RelatedLocation>,
    pub(super) fixes: Vec<&'r Fix>,
    pub(super) problem: Option<&'r Problem>,
}

pub(super) struct RelatedLocation {
    pub(super) message: String,
    pub(super) path: String,
    /// The range, with positions from 0 and columns in UTF-16 code units.
    pub(super) place: Range<LineColumn>,
}

impl Finding<'_> {
    pub(super) fn place(&self, range: &Range<usize>) -> Range<LineColumn> {
        place_in(&self.source, range)
    }
}

pub(super) fn place_in(source: &SourceText, range: &Range<usize>) -> Range<LineColumn> {
    Lines::new(source.document.text(), Encoding::Utf16).places(range.clone())
}

/// Returns the range of a part of another file; its beginning if the whole file is meant.
pub(super) fn place_in_file(place: &FilePlace) -> Range<LineColumn> {
    let (line, columns) =
        place.line_part.as_ref().map_or((0, 0..0), |line_part| (line_part.line, line_part.columns.clone()));
    LineColumn { line, column: columns.start }..LineColumn { line, column: columns.end }
}

/// Returns all entries, in the order of the suites. Settings that several suites share are reported once.
pub(super) fn findings(reports: &[SuiteReport]) -> Vec<Finding<'_>> {
    let mut settings = BTreeSet::new();
    let mut found = Vec::new();
    for report in reports {
        found.extend(report.new_problems(&mut settings).map(|(source, problem)| of_problem(source, problem)));
        let Some(result) = &report.result else { continue };
        let mut reader = EvidenceReader::default();
        found.extend(failures(report, result).iter().map(|failure| of_failure(report, failure, &mut reader)));
        for outcome in &result.cases {
            let case = &report.suite.cases[outcome.case];
            found.extend(skipped(report, case, outcome));
        }
        for gate in result.gates.gates.iter().filter(|gate| gate.status == Status::Fail) {
            let range = gate.source.in_suite().map_or(0..0, |at| report.source.range_of(at));
            let message = report.masked(&gate.message);
            found.push(simple(gate.name, Severity::Error, message, Cow::Borrowed(&report.source), range));
        }
    }
    found
}

fn of_problem<'r>(source: &'r SourceText, problem: &'r Problem) -> Finding<'r> {
    Finding {
        rule: problem.code.as_str(),
        severity: problem.severity,
        message: source.secrets.mask(&problem.text()),
        source: Cow::Borrowed(source),
        range: problem.range.clone(),
        related: problem
            .related
            .iter()
            .map(|other| {
                let there = source.source_of_related(other);
                RelatedLocation {
                    message: source.secrets.mask(&other.message),
                    place: place_in(&there, &other.range),
                    path: there.path.clone(),
                }
            })
            .collect(),
        fixes: problem.fixes.iter().filter(|fix| source.may_show(fix)).collect(),
        problem: Some(problem),
    }
}

fn of_failure<'r>(report: &'r SuiteReport, failure: &Failure<'r>, reader: &mut EvidenceReader<'r>) -> Finding<'r> {
    let case = failure.cases[0];
    let source = report.source_of(case);
    let named = |message: &str| match &failure.cases[..] {
        [case] => report.masked(&format!("`{}`: {message}", case.name)),
        cases => report.masked(&format!("{}: {message}", plural(cases.len(), "test"))),
    };
    let judged = match failure.kind {
        FailureKind::Absence(absence) => {
            let severity = match failure.run.status {
                Status::Fail | Status::Error => Severity::Error,
                Status::Unknown | Status::Warn | Status::Pass | Status::Skip => Severity::Warning,
            };
            let range = source.range_of(case.action.at().unwrap_or(&case.at));
            let frequency = failure.frequency().map(|frequency| format!("\nnote: {frequency}"));
            let message = named(&absence.message) + &frequency.unwrap_or_default();
            return simple(absence.kind.as_str(), severity, message, source, range);
        }
        FailureKind::Verdict(judged) | FailureKind::Skipped(judged) => judged,
    };
    let verdict = &judged.verdict;
    let severity = match verdict.outcome.status() {
        Status::Fail | Status::Error => Severity::Error,
        Status::Unknown | Status::Warn | Status::Pass | Status::Skip => Severity::Warning,
    };
    let claim = &case.claims[judged.claim].at;
    let range = source.range_of(&claim.join(&verdict.at));
    let rule = verdict.code.map_or(verdict.kind, FailureCode::as_str);
    let related = verdict.related.iter().map(|related| elsewhere(report, &source, claim, related)).collect();
    let evidence = reader.read(failure.run);
    let mut message = named(verdict.outcome.message());
    for detail in details(report, failure, verdict, evidence.as_deref()) {
        message.push_str(&format!("\n{}", detail.line()));
    }
    let finding = simple(rule, severity, message, source, range);
    Finding { related, ..finding }
}

fn skipped<'r>(report: &'r SuiteReport, case: &'r Case, outcome: &CaseResult) -> Option<Finding<'r>> {
    let sentence = outcome.runs.iter().find_map(|run| judge::skipped(&run.verdicts))?;
    let source = report.source_of(case);
    let range = source.range_of(&case.at.key(report.dialect.name_key()));
    let message = report.masked(&format!("`{}`: {sentence}", case.name));
    Some(simple("skipped", Severity::Information, message, source, range))
}

pub(super) fn elsewhere(
    report: &SuiteReport,
    source: &SourceText,
    claim: &Pointer,
    related: &Related,
) -> RelatedLocation {
    let (path, place) = match &related.at {
        RelatedPlace::Claim(at) => (source.path.clone(), place_in(source, &source.range_of(&claim.join(at)))),
        RelatedPlace::File(place) => (report.masked(&report.root.shown(&place.path)), place_in_file(place)),
    };
    RelatedLocation { message: report.masked(&related.message), path, place }
}

fn simple<'r>(
    rule: &'r str,
    severity: Severity,
    message: String,
    source: Cow<'r, SourceText>,
    range: Range<usize>,
) -> Finding<'r> {
    Finding { rule, severity, message, source, range, related: Vec::new(), fixes: Vec::new(), problem: None }
}

//! Fills in the entries of the report.

use std::{collections::HashSet, ops::Range};

use speclens_schema::{
    dialect::GateOutcome,
    document::{LineColumn, Pointer, Step},
    fixing,
    judge::Judged,
    problem::{Fix, Problem},
    suite::Case,
    verdict::{self, FilePlace},
};

use super::{
    CaseEntry, Content, EditEntry, ErrorEntry, EvidenceEntry, FixEntry, GateEntry, NewFileEntry, Place, PlaceRange,
    Position, ProblemEntry, RecordingState, RelatedEntry, Report, RunEntry, ScoreEntry, SubjectEntry, SuiteEntry,
    VerdictEntry,
};
use crate::{
    event::{CaseResult, Origin, RunResult},
    report::{
        ResultCounts, SourceText, SuiteReport,
        finding::{place_in, place_in_file},
        matrix::{Matrix, SubjectScore},
    },
};

pub(super) fn report(reports: &[SuiteReport], failures: &[String], content: Content) -> Report {
    // Problems in settings that several suites share are listed once, with the first suite.
    let mut listed: HashSet<&str> = HashSet::new();
    let suites = reports.iter().map(|report| {
        let is_new = report.settings.as_ref().is_some_and(|settings| listed.insert(&settings.source.path));
        Writer { report, content }.suite(is_new)
    });
    Report { speclens: 1, failures: failures.to_vec(), suites: suites.collect(), totals: ResultCounts::of(reports) }
}

impl VerdictEntry {
    /// Returns the entries of the verdicts of an attempt.
    pub fn all(report: &SuiteReport, case: &Case, judged: &[Judged]) -> Vec<VerdictEntry> {
        let writer = Writer { report, content: Content::default() };
        judged.iter().map(|judged| writer.verdict(case, judged)).collect()
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
            place: gate.source.in_suite().map(|at| self.place(at)),
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
                Origin::Observed | Origin::Present | Origin::Nowhere => RecordingState::None,
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
            notes: mismatch.iter().flat_map(|mismatch| &mismatch.notes).map(|note| masked(note)).collect(),
            help: mismatch.iter().flat_map(|mismatch| &mismatch.help).map(|help| masked(help)).collect(),
            place: self.place_in(case, &claim.at.join(&verdict.at)),
            related: verdict
                .related
                .iter()
                .map(|related| RelatedEntry {
                    message: masked(&related.message),
                    place: match &related.at {
                        verdict::RelatedPlace::Claim(at) => self.place_in(case, &claim.at.join(at)),
                        verdict::RelatedPlace::File(place) => self.place_in_file(place),
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
    let mut edits = fixing::adapted(&source.document, &fix.edits);
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

fn place_range(source: &SourceText, range: Range<usize>) -> PlaceRange {
    place_range_of(&place_in(source, &range))
}

fn place_range_of(place: &Range<LineColumn>) -> PlaceRange {
    let position = |place: LineColumn| Position { line: place.line, character: place.column };
    PlaceRange { start: position(place.start), end: position(place.end) }
}

//! What differs between two recorded runs, test by test.

use std::{collections::BTreeMap, sync::Arc};

use serde::Serialize;
use speclens_runner::{
    event::{CaseResult, RunResult},
    report::{SuiteReport, human::dollars, plain},
};
use speclens_schema::{
    evidence::{Change, Evidence, SpanKind, TraceAnswer},
    fixing,
    verdict::Status,
};

#[derive(Serialize)]
pub(super) struct SuiteDiff {
    pub(super) suite: String,
    pub(super) tests: Vec<TestDiff>,
}

#[derive(Serialize)]
pub(super) struct TestDiff {
    pub(super) name: String,
    pub(super) is_different: bool,
    /// `None` if this side does not have the test.
    pub(super) a: Option<Attempts>,
    pub(super) b: Option<Attempts>,
    pub(super) assertions: Vec<AssertionDiff>,
    /// The calls and commands of the first attempts, as a unified diff; empty if they are equal.
    pub(super) steps: String,
    /// The answers of the first attempts, as a unified diff; empty if they are equal.
    pub(super) answer: String,
    pub(super) files: Vec<FileDiff>,
    /// The attempts that `steps` and `answer` are of.
    #[serde(skip)]
    pub(super) first: [Option<Arc<RunResult>>; 2],
}

/// The attempts at a test. Numbers are means over all of them; `None` if they are not known of each.
#[derive(Clone, Serialize)]
pub(super) struct Attempts {
    pub(super) status: Status,
    pub(super) passed: usize,
    pub(super) attempts: usize,
    /// The reason why there is no recording that can be evaluated.
    pub(super) reason: Option<String>,
    pub(super) turns: Option<f64>,
    pub(super) tokens: Option<f64>,
    pub(super) cost_usd: Option<f64>,
    pub(super) duration_ms: Option<f64>,
}

#[derive(Serialize)]
pub(super) struct AssertionDiff {
    pub(super) label: String,
    pub(super) a: Option<Share>,
    pub(super) b: Option<Share>,
}

/// The number of attempts for which an assertion passes.
#[derive(Clone, Default, Serialize)]
pub(super) struct Share {
    pub(super) passed: usize,
    pub(super) attempts: usize,
    /// The message of the first attempt for which it does not pass.
    pub(super) message: Option<String>,
}

#[derive(Serialize)]
pub(super) struct FileDiff {
    pub(super) path: String,
    pub(super) a: Option<&'static str>,
    pub(super) b: Option<&'static str>,
}

/// The attempts of one side at a test.
pub(super) struct Seen {
    attempts: Attempts,
    assertions: Vec<(String, Share)>,
    steps: String,
    answer: String,
    files: BTreeMap<String, (Change, Option<String>)>,
    first: Option<Arc<RunResult>>,
}

impl Seen {
    pub(super) fn of(report: &SuiteReport, outcome: &CaseResult) -> Seen {
        let runs: Vec<&RunResult> = outcome.runs.iter().map(AsRef::as_ref).filter(|run| !run.is_left_out()).collect();
        let begun = outcome.runs.iter().filter(|run| !run.is_left_out());
        let (run, first) = begun.filter_map(|run| Some((run, run.evidence.get()?))).next().unzip();
        let reason = match (runs.iter().find_map(|run| run.absence.as_ref()), runs.is_empty()) {
            (_, true) => Some("it is skipped".to_owned()),
            (Some(absence), false) if first.is_none() => Some(report.source.secrets.mask(&absence.message)),
            (Some(_) | None, false) => None,
        };
        let usage = |run: &RunResult| run.figures.usage;
        let attempts = Attempts {
            status: outcome.status,
            passed: runs.iter().filter(|run| is_good(run.status)).count(),
            attempts: runs.len(),
            reason,
            turns: mean(&runs, |run| run.figures.turns.map(f64::from)),
            tokens: mean(&runs, |run| usage(run).map(|usage| (usage.input_tokens + usage.output_tokens) as f64)),
            cost_usd: mean(&runs, |run| run.figures.cost_usd()),
            duration_ms: mean(&runs, |run| run.figures.duration_ms),
        };
        let evidence = first.as_deref();
        let changed = evidence.and_then(|evidence| evidence.files.as_ref()).into_iter().flat_map(|log| &log.files);
        Seen {
            attempts,
            assertions: assertions(report, &runs),
            steps: evidence.map(steps).unwrap_or_default(),
            answer: evidence.map(answer).unwrap_or_default(),
            files: changed.map(|file| (file.path.clone(), (file.change, file.digest.clone()))).collect(),
            first: run.cloned(),
        }
    }
}

fn is_good(status: Status) -> bool {
    matches!(status, Status::Pass | Status::Warn)
}

fn mean(runs: &[&RunResult], value: impl Fn(&RunResult) -> Option<f64>) -> Option<f64> {
    let sum: f64 = runs.iter().map(|run| value(run)).sum::<Option<f64>>()?;
    (!runs.is_empty()).then(|| sum / runs.len() as f64)
}

/// Returns the assertions in their order, each with the attempts for which it passes. Equal labels are numbered.
fn assertions(report: &SuiteReport, runs: &[&RunResult]) -> Vec<(String, Share)> {
    let mut shares: Vec<(String, Share)> = Vec::new();
    for run in runs {
        let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
        for judged in &run.verdicts {
            let verdict = &judged.verdict;
            let uses = uses.entry(&verdict.label).or_default();
            *uses += 1;
            let label = if *uses == 1 { verdict.label.clone() } else { format!("{} ({uses})", verdict.label) };
            let label = report.source.secrets.mask(&label);
            let at = shares.iter().position(|(known, _)| *known == label).unwrap_or_else(|| {
                shares.push((label, Share::default()));
                shares.len() - 1
            });
            let share = &mut shares[at].1;
            share.attempts += 1;
            if is_good(verdict.outcome.status()) {
                share.passed += 1;
            } else if share.message.is_none() {
                share.message = Some(report.source.secrets.mask(verdict.outcome.message()));
            }
        }
    }
    shares
}

/// Returns the commands of an attempt, or else its calls, one per line.
fn steps(evidence: &Evidence) -> String {
    let commands = evidence.commands.iter().flat_map(|log| &log.commands);
    let mut lines: Vec<String> = commands.map(|ran| format!("$ {}", ran.command.text)).collect();
    let calls = match &evidence.output {
        // An agent calls a tool for each command.
        _ if !lines.is_empty() => Vec::new(),
        Some(output) => output.tool_calls.iter().collect::<Vec<_>>(),
        None => evidence.turns.iter().flat_map(|turn| &turn.calls).collect(),
    };
    lines.extend(calls.iter().map(|call| format!("{} {}", call.name, call.arguments)));
    if let Some(TraceAnswer::Found(trace)) = evidence.trace() {
        let tools = trace.spans.iter().filter(|span| span.kind == SpanKind::Tool);
        lines.extend(tools.map(|span| format!("tool {}", span.name)));
    }
    lines.iter().map(|step| format!("{}\n", plain::line(step))).collect()
}

/// Returns the last text of a model, or else the output of the command.
fn answer(evidence: &Evidence) -> String {
    let text = match (evidence.turns.last(), &evidence.output) {
        (Some(turn), _) => &turn.text.text,
        (None, Some(output)) => &output.text,
        (None, None) => return evidence.stdout().map(|stdout| stdout.text.clone()).unwrap_or_default(),
    };
    text.trim_end().lines().map(|line| format!("{line}\n")).collect()
}

impl TestDiff {
    /// Whether both sides have results.
    pub(super) fn is_compared(&self) -> bool {
        [&self.a, &self.b].into_iter().all(|side| side.as_ref().is_some_and(|attempts| attempts.reason.is_none()))
    }

    pub(super) fn of(name: String, a: Option<Seen>, b: Option<Seen>) -> TestDiff {
        let first = [&a, &b].map(|side| side.as_ref()?.first.clone());
        let (Some(a), Some(b)) = (&a, &b) else {
            let (a, b) = (a.map(|seen| seen.attempts), b.map(|seen| seen.attempts));
            let (steps, answer) = Default::default();
            return TestDiff {
                name,
                is_different: true,
                a,
                b,
                assertions: Vec::new(),
                steps,
                answer,
                files: Vec::new(),
                first,
            };
        };
        let are_known = a.attempts.reason.is_none() && b.attempts.reason.is_none();
        let unified =
            |a: &str, b: &str| if are_known { without_header(&fixing::unified("", a, b)) } else { String::new() };
        let (steps, answer) = (unified(&a.steps, &b.steps), unified(&a.answer, &b.answer));
        let labels = a.assertions.iter().chain(b.assertions.iter().filter(|(label, _)| share(a, label).is_none()));
        let assertions =
            labels.map(|(label, _)| AssertionDiff { label: label.clone(), a: share(a, label), b: share(b, label) });
        let assertions: Vec<AssertionDiff> = assertions.collect();
        let paths = a.files.keys().chain(b.files.keys().filter(|path| !a.files.contains_key(*path)));
        let change = |seen: &Seen, path: &String| seen.files.get(path).map(|(change, _)| change.as_str());
        let paths = paths.filter(|path| are_known && a.files.get(*path) != b.files.get(*path));
        let files: Vec<FileDiff> =
            paths.map(|path| FileDiff { path: path.clone(), a: change(a, path), b: change(b, path) }).collect();
        let is_different = a.attempts.differs(&b.attempts)
            || assertions.iter().any(AssertionDiff::is_different)
            || !(steps.is_empty() && answer.is_empty() && files.is_empty());
        let (a, b) = (Some(a.attempts.clone()), Some(b.attempts.clone()));
        TestDiff { name, is_different, a, b, assertions, steps, answer, files, first }
    }
}

fn share(seen: &Seen, label: &str) -> Option<Share> {
    seen.assertions.iter().find(|(known, _)| known == label).map(|(_, share)| share.clone())
}

/// Removes the two lines with the names of files.
fn without_header(diff: &str) -> String {
    diff.lines().skip(2).map(|line| format!("{line}\n")).collect()
}

impl Attempts {
    /// Whether more than the duration differs, which is never the same.
    fn differs(&self, other: &Attempts) -> bool {
        let figures = |it: &Attempts| (it.status, it.passed, it.attempts, it.turns, it.tokens, it.cost_usd);
        figures(self) != figures(other) || self.reason != other.reason
    }

    fn words(&self) -> String {
        match &self.reason {
            Some(reason) => reason.clone(),
            None => format!("{} of {} passed", self.passed, self.attempts),
        }
    }
}

impl AssertionDiff {
    pub(super) fn is_different(&self) -> bool {
        let counts = |share: &Option<Share>| share.as_ref().map(|share| (share.passed, share.attempts));
        counts(&self.a) != counts(&self.b)
    }
}

/// A value of both sides, in words.
pub(super) struct Compared {
    pub(super) name: String,
    pub(super) a: String,
    pub(super) b: String,
}

impl Compared {
    fn of<T>(name: impl Into<String>, sides: [Option<T>; 2], none: &str, shown: impl Fn(T) -> String) -> Compared {
        let [a, b] = sides.map(|value| value.map_or_else(|| none.to_owned(), &shown));
        Compared { name: name.into(), a, b }
    }

    pub(super) fn differs(&self) -> bool {
        self.a != self.b
    }
}

impl TestDiff {
    pub(super) fn outcome(&self) -> Compared {
        Compared::of("result", [self.a.as_ref(), self.b.as_ref()], "no such test", Attempts::words)
    }

    /// Returns the figures of a test that both sides have.
    pub(super) fn figures(&self) -> Vec<Compared> {
        let (Some(a), Some(b)) = (&self.a, &self.b) else { return Vec::new() };
        let figure = |name, of: fn(&Attempts) -> Option<f64>, shown: fn(f64) -> String| {
            Compared::of(name, [of(a), of(b)], "unknown", shown)
        };
        vec![
            figure("turns", |it| it.turns, |turns| format!("{}", (turns * 10.0).round() / 10.0)),
            figure("tokens", |it| it.tokens, |tokens| format!("{tokens:.0}")),
            figure("cost", |it| it.cost_usd, dollars),
            figure("duration", |it| it.duration_ms, |took| format!("{took:.0} ms")),
        ]
    }
}

impl AssertionDiff {
    pub(super) fn shares(&self) -> Compared {
        let words = |share: &Share| format!("{} of {}", share.passed, share.attempts);
        Compared::of(&self.label, [self.a.as_ref(), self.b.as_ref()], "not evaluated", words)
    }

    /// Returns the message of the second side, or else of the first one.
    pub(super) fn message(&self) -> Option<&String> {
        [&self.b, &self.a].into_iter().find_map(|share| share.as_ref()?.message.as_ref())
    }
}

impl FileDiff {
    pub(super) fn changes(&self) -> Compared {
        let words = |change: &str| match self.a == self.b {
            true => format!("{change} with other content"),
            false => change.to_owned(),
        };
        Compared::of(&self.path, [self.a, self.b], "not changed", words)
    }
}

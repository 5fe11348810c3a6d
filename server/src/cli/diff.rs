//! `speclens diff`: compares the recorded runs of two models, or of two copies of a suite, test by test.

use std::{
    collections::BTreeMap,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{anyhow, bail};
use serde::Serialize;
use serde_json::json;
use speclens_runner::{
    clock::Clock,
    event::{Absence, AbsenceKind, CaseResult, RunResult, SuiteResult},
    report::{human::dollars, plain},
    run::{Mode, Options},
};
use speclens_schema::{
    evidence::{Change, Evidence, SpanKind, TraceAnswer},
    fixing,
    verdict::Status,
    words::plural,
};
use tokio_util::sync::CancellationToken;

use super::{
    INCONCLUSIVE, INVALID, PASSED,
    discover::Wanted,
    levels::Levels,
    load::{self, Loaded},
    output::{self, Format},
    select,
};
use crate::threads;

/// Maximum number of lines of a difference that are printed.
const MAX_LINES: usize = 40;

/// The options of `speclens diff`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Two suites, or two directories with the same suites; with two models, where to search for suites
    paths: Vec<PathBuf>,
    #[command(flatten)]
    select: select::Selection,
    /// Model whose recorded attempts are compared (repeatable: two models are compared with each other)
    #[arg(long = "model", value_name = "ID")]
    models: Vec<String>,
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

/// One of the two runs.
struct Side {
    name: String,
    /// The suites, by their paths relative to what the user names.
    suites: BTreeMap<PathBuf, (Loaded, Arc<SuiteResult>)>,
    has_failures: bool,
}

#[derive(Serialize)]
struct SuiteDiff {
    suite: String,
    tests: Vec<TestDiff>,
}

#[derive(Serialize)]
struct TestDiff {
    name: String,
    is_different: bool,
    /// `None` if this side does not have the test.
    a: Option<Attempts>,
    b: Option<Attempts>,
    assertions: Vec<AssertionDiff>,
    /// The calls and commands of the first attempts, as a unified diff; empty if they are equal.
    steps: String,
    /// The answers of the first attempts, as a unified diff; empty if they are equal.
    answer: String,
    files: Vec<FileDiff>,
}

/// The attempts at a test. Numbers are means over all of them; `None` if they are not known of each.
#[derive(Clone, Serialize)]
struct Attempts {
    status: Status,
    passed: usize,
    attempts: usize,
    /// The reason why there is no recording that can be evaluated.
    reason: Option<String>,
    turns: Option<f64>,
    tokens: Option<f64>,
    cost_usd: Option<f64>,
    duration_ms: Option<f64>,
}

#[derive(Serialize)]
struct AssertionDiff {
    label: String,
    a: Option<Share>,
    b: Option<Share>,
}

/// The number of attempts for which an assertion passes.
#[derive(Clone, Default, Serialize)]
struct Share {
    passed: usize,
    attempts: usize,
    /// The message of the first attempt for which it does not pass.
    message: Option<String>,
}

#[derive(Serialize)]
struct FileDiff {
    path: String,
    a: Option<&'static str>,
    b: Option<&'static str>,
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    let [a, b] = match (&args.paths[..], &args.models[..]) {
        (paths, [a, b]) => {
            let name = |model: &String| format!("model {model}");
            [Side::read(name(a), paths, Some(a), args)?, Side::read(name(b), paths, Some(b), args)?]
        }
        ([a, b], [] | [_]) => {
            let of = |path: &PathBuf| {
                let name = path.display().to_string();
                Side::read(name, std::slice::from_ref(path), args.models.first(), args)
            };
            [of(a)?, of(b)?]
        }
        _ => bail!("expected two suites or directories, or two models (`--model A --model B`)"),
    };
    let suites = suites(&a, &b);
    let text = match args.format {
        Format::Human => human(&a, &b, &suites),
        Format::Json => output::json(&json!({ "speclens": 1, "a": a.name, "b": b.name, "suites": suites }))?,
    };
    output::print(&text)?;
    Ok(if a.has_failures || b.has_failures {
        INVALID
    } else if suites.iter().flat_map(|suite| &suite.tests).any(TestDiff::is_compared) {
        PASSED
    } else {
        INCONCLUSIVE
    })
}

impl Side {
    /// Evaluates the recordings of the selected tests.
    fn read(name: String, paths: &[PathBuf], model: Option<&String>, args: &Args) -> anyhow::Result<Side> {
        let load::Load { suites, failures, .. } = load::suites(paths, Wanted::Suites, &Levels::default());
        failures.iter().for_each(output::complain);
        let mut side = Side { name, suites: BTreeMap::new(), has_failures: !failures.is_empty() };
        let roots: Vec<PathBuf> = paths.iter().filter_map(|path| fs::canonicalize(path).ok()).collect();
        let chosen = args.select.cases(&suites)?;
        let runtime = threads::runtime()?;
        for (loaded, cases) in suites.into_iter().zip(chosen) {
            let path = &loaded.report.source.path;
            let prepared = loaded
                .prepare(&loaded.report.suite, Clock::from_environment()?, None)
                .map_err(|_| anyhow!("`{path}` cannot be evaluated; run `speclens check`"))?;
            let options = Options {
                mode: Mode::Recorded,
                cases: Some(cases),
                models: model.cloned().into_iter().collect(),
                ..Options::default()
            };
            let result = runtime.block_on(prepared.results(options, CancellationToken::new()));
            side.suites.insert(relative(&loaded.path(), &roots), (loaded, result));
        }
        Ok(side)
    }
}

fn relative(path: &Path, roots: &[PathBuf]) -> PathBuf {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let below = roots.iter().find_map(|root| path.strip_prefix(root).ok());
    below.map(Path::to_owned).unwrap_or(path)
}

fn suites(a: &Side, b: &Side) -> Vec<SuiteDiff> {
    // Two files may have different names.
    let are_single = a.suites.len() == 1 && b.suites.len() == 1;
    let mut compared: Vec<SuiteDiff> = Vec::new();
    for (path, one) in &a.suites {
        let other = if are_single { b.suites.values().next() } else { b.suites.get(path) };
        compared.push(SuiteDiff { suite: one.0.report.source.path.clone(), tests: tests(Some(one), other) });
    }
    let is_new = |path: &PathBuf| !are_single && !a.suites.contains_key(path);
    for (_, other) in b.suites.iter().filter(|(path, _)| is_new(path)) {
        compared.push(SuiteDiff { suite: other.0.report.source.path.clone(), tests: tests(None, Some(other)) });
    }
    compared
}

type Evaluated = (Loaded, Arc<SuiteResult>);

/// Returns the tests of both sides, in the order of the first one.
fn tests(a: Option<&Evaluated>, b: Option<&Evaluated>) -> Vec<TestDiff> {
    let find = |side: Option<&'_ Evaluated>, name: &str| -> Option<usize> {
        let (loaded, result) = side?;
        result.cases.iter().position(|outcome| loaded.report.suite.cases[outcome.case].name == name)
    };
    let mut names: Vec<&str> = Vec::new();
    for (loaded, result) in a.into_iter().chain(b) {
        for outcome in &result.cases {
            let name = &*loaded.report.suite.cases[outcome.case].name;
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let of = |name: &&str| {
        let seen = |side: Option<&Evaluated>| Some(Seen::of(&side?.0, &side?.1.cases[find(side, name)?]));
        let masked = a.or(b).map_or_else(String::new, |(loaded, _)| loaded.report.source.secrets.mask(name));
        TestDiff::of(masked, seen(a), seen(b))
    };
    names.iter().map(of).collect()
}

/// The attempts of one side at a test.
struct Seen {
    attempts: Attempts,
    assertions: Vec<(String, Share)>,
    steps: String,
    answer: String,
    files: BTreeMap<String, (Change, Option<String>)>,
}

impl Seen {
    fn of(loaded: &Loaded, outcome: &CaseResult) -> Seen {
        let runs: Vec<&RunResult> = outcome.runs.iter().map(AsRef::as_ref).filter(|run| !run.is_left_out()).collect();
        let first = runs.iter().find_map(|run| run.evidence.get());
        let reason = match (runs.iter().find_map(|run| run.absence.as_ref()), runs.is_empty()) {
            (_, true) => Some("it is skipped".to_owned()),
            (Some(absence), false) if first.is_none() => Some(loaded.report.source.secrets.mask(&absence.message)),
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
            assertions: assertions(loaded, &runs),
            steps: evidence.map(steps).unwrap_or_default(),
            answer: evidence.map(answer).unwrap_or_default(),
            files: changed.map(|file| (file.path.clone(), (file.change, file.digest.clone()))).collect(),
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
fn assertions(loaded: &Loaded, runs: &[&RunResult]) -> Vec<(String, Share)> {
    let mut shares: Vec<(String, Share)> = Vec::new();
    for run in runs {
        let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
        for judged in &run.verdicts {
            let verdict = &judged.verdict;
            let uses = uses.entry(&verdict.label).or_default();
            *uses += 1;
            let label = if *uses == 1 { verdict.label.clone() } else { format!("{} ({uses})", verdict.label) };
            let label = loaded.report.source.secrets.mask(&label);
            let at = shares.iter().position(|(known, _)| *known == label).unwrap_or_else(|| {
                shares.push((label, Share::default()));
                shares.len() - 1
            });
            let share = &mut shares[at].1;
            share.attempts += 1;
            if is_good(verdict.outcome.status()) {
                share.passed += 1;
            } else if share.message.is_none() {
                share.message = Some(loaded.report.source.secrets.mask(verdict.outcome.message()));
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
    fn is_compared(&self) -> bool {
        [&self.a, &self.b].into_iter().all(|side| side.as_ref().is_some_and(|attempts| attempts.reason.is_none()))
    }

    fn of(name: String, a: Option<Seen>, b: Option<Seen>) -> TestDiff {
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
        TestDiff { name, is_different, a, b, assertions, steps, answer, files }
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
    fn is_different(&self) -> bool {
        let counts = |share: &Option<Share>| share.as_ref().map(|share| (share.passed, share.attempts));
        counts(&self.a) != counts(&self.b)
    }
}

/// Returns what differs between two results of a suite, as `speclens diff` writes it; tests without a first result are
/// left out.
pub(super) fn drift(loaded: &Loaded, before: &SuiteResult, after: &SuiteResult) -> String {
    let secrets = &loaded.report.source.secrets;
    let (mut text, mut compared) = (String::new(), 0);
    for outcome in &after.cases {
        let Some(known) = before.cases.iter().find(|known| known.case == outcome.case) else { continue };
        let is_missing = |absence: &Absence| absence.kind == AbsenceKind::NoRecording;
        if known.runs.iter().all(|run| run.absence.as_ref().is_some_and(is_missing)) {
            continue;
        }
        let name = secrets.mask(&loaded.report.suite.cases[outcome.case].name);
        let test = TestDiff::of(name, Some(Seen::of(loaded, known)), Some(Seen::of(loaded, outcome)));
        compared += 1;
        if test.is_different {
            test.write(&mut text);
        }
    }
    let path = plain::line(&loaded.report.source.path);
    match text.is_empty() {
        true if compared == 0 => format!("no recordings of {path} to compare with\n"),
        true => format!("no difference from the recordings of {path}\n"),
        false => format!("differences from the recordings of {path}\n{text}\n"),
    }
}

fn human(a: &Side, b: &Side, suites: &[SuiteDiff]) -> String {
    let mut text = format!("A: {}\nB: {}\n", plain::line(&a.name), plain::line(&b.name));
    for suite in suites.iter().filter(|suite| suite.tests.iter().any(|test| test.is_different)) {
        let _ = write!(text, "\n{}\n", plain::line(&suite.suite));
        suite.tests.iter().filter(|test| test.is_different).for_each(|test| test.write(&mut text));
    }
    let tests = || suites.iter().flat_map(|suite| &suite.tests);
    let different = tests().filter(|test| test.is_different).count();
    let (count, compared) = (tests().count(), tests().filter(|test| test.is_compared()).count());
    let _ = match (compared, different) {
        (0, 0) => writeln!(text, "\nnothing was compared"),
        (_, 0) => writeln!(text, "\nno difference in {}", plural(compared, "test")),
        (_, _) => writeln!(text, "\ndifferences in {different} of {}", plural(count, "test")),
    };
    if compared < count {
        let _ = writeln!(text, "{} cannot be compared, because a result is missing", plural(count - compared, "test"));
    }
    text
}

impl TestDiff {
    fn write(&self, text: &mut String) {
        let words = |attempts: &Option<Attempts>| attempts.as_ref().map_or("no such test".to_owned(), Attempts::words);
        let (before, after) = (words(&self.a), words(&self.b));
        let outcome = if before == after { before } else { format!("{before} → {after}") };
        let _ = writeln!(text, "  {}: {}", plain::line(&self.name), plain::line(&outcome));
        for AssertionDiff { label, a, b } in self.assertions.iter().filter(|it| it.is_different()) {
            let words = |share: &Option<Share>| match share {
                Some(share) => format!("{} of {}", share.passed, share.attempts),
                None => "not evaluated".to_owned(),
            };
            let message = [b, a].into_iter().find_map(|share| share.as_ref()?.message.as_ref());
            let message = message.map(|message| format!(": {message}")).unwrap_or_default();
            let _ = writeln!(text, "    {}", plain::line(&format!("{label}: {} → {}{message}", words(a), words(b))));
        }
        if let (Some(a), Some(b)) = (&self.a, &self.b) {
            let figures = [
                figure("turns", a.turns, b.turns, |turns| format!("{}", (turns * 10.0).round() / 10.0)),
                figure("tokens", a.tokens, b.tokens, |tokens| format!("{tokens:.0}")),
                figure("cost", a.cost_usd, b.cost_usd, dollars),
                figure("duration", a.duration_ms, b.duration_ms, |took| format!("{took:.0} ms")),
            ];
            let figures: Vec<String> = figures.into_iter().flatten().collect();
            if !figures.is_empty() {
                let _ = writeln!(text, "    {}", figures.join(", "));
            }
        }
        for (title, diff) in [("calls and commands", &self.steps), ("answer", &self.answer)] {
            if diff.is_empty() {
                continue;
            }
            let are_several = [&self.a, &self.b].into_iter().flatten().any(|it| it.attempts > 1);
            let whose = if are_several { " of the first attempts" } else { "" };
            let _ = writeln!(text, "    {title}{whose}:");
            // The heading of the first hunk says nothing.
            let lines = || diff.lines().skip(1).map(|line| if line.starts_with("@@") { "..." } else { line });
            for line in lines().take(MAX_LINES) {
                let _ = writeln!(text, "      {}", plain::line(line));
            }
            let more = lines().count().saturating_sub(MAX_LINES);
            if more > 0 {
                let _ = writeln!(text, "      ({} more)", plural(more, "line"));
            }
        }
        for FileDiff { path, a, b } in &self.files {
            let words = |change: &Option<&str>| change.unwrap_or("not changed").to_owned();
            let change = match a == b {
                true => format!("{} with other content", words(a)),
                false => format!("{} → {}", words(a), words(b)),
            };
            let _ = writeln!(text, "    file {}: {change}", plain::line(path));
        }
    }
}

fn figure(name: &str, a: Option<f64>, b: Option<f64>, shown: impl Fn(f64) -> String) -> Option<String> {
    let words = |value: Option<f64>| value.map_or("unknown".to_owned(), &shown);
    let (before, after) = (words(a), words(b));
    (before != after).then(|| format!("{name} {before} → {after}"))
}

//! `speclens diff`: compares the recorded runs of two models, or of two copies of a suite, test by test.

mod comparison;
mod html;

use std::{
    collections::BTreeMap,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{anyhow, bail};
use clap::ValueEnum;
use serde_json::json;
use speclens_runner::{
    clock::Clock,
    event::{Absence, AbsenceKind, SuiteResult},
    report::plain,
    run::{Mode, Options},
};
use speclens_schema::words::plural;
use tokio_util::sync::CancellationToken;

use super::{
    INCONCLUSIVE, INVALID, PASSED,
    discover::Wanted,
    levels::Levels,
    load::{self, Loaded},
    output, select,
};
use crate::threads;
use comparison::{Compared, FileDiff, Seen, SuiteDiff, TestDiff};

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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Human,
    Json,
    /// A page for browsers, with both runs side by side
    Html,
}

/// One of the two runs.
struct Side {
    name: String,
    /// The suites, by their paths relative to what the user names.
    suites: BTreeMap<PathBuf, (Loaded, Arc<SuiteResult>)>,
    has_failures: bool,
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
    match args.format {
        Format::Human => output::print(&human(&a, &b, &suites))?,
        Format::Json => {
            let report = json!({ "speclens": 1, "a": a.name, "b": b.name, "suites": suites });
            output::print(&output::json(&report)?)?;
        }
        Format::Html => output::print_plain(&html::page([&a.name, &b.name], &suites, &summary(&suites)))?,
    }
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
        let seen = |side: Option<&Evaluated>| Some(Seen::of(&side?.0.report, &side?.1.cases[find(side, name)?]));
        let masked = a.or(b).map_or_else(String::new, |(loaded, _)| loaded.report.source.secrets.mask(name));
        TestDiff::of(masked, seen(a), seen(b))
    };
    names.iter().map(of).collect()
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
        let test = TestDiff::of(name, Some(Seen::of(&loaded.report, known)), Some(Seen::of(&loaded.report, outcome)));
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
    let _ = writeln!(text, "\n{}", summary(suites).join("\n"));
    text
}

/// Returns how many tests differ, and how many cannot be compared.
fn summary(suites: &[SuiteDiff]) -> Vec<String> {
    let tests = || suites.iter().flat_map(|suite| &suite.tests);
    let different = tests().filter(|test| test.is_different).count();
    let (count, compared) = (tests().count(), tests().filter(|test| test.is_compared()).count());
    let mut lines = vec![match (compared, different) {
        (0, 0) => "nothing was compared".to_owned(),
        (_, 0) => format!("no difference in {}", plural(compared, "test")),
        (_, _) => format!("differences in {different} of {}", plural(count, "test")),
    }];
    if compared < count {
        lines.push(format!("{} cannot be compared, because a result is missing", plural(count - compared, "test")));
    }
    lines
}

impl TestDiff {
    fn write(&self, text: &mut String) {
        let Compared { a, b, .. } = self.outcome();
        let outcome = if a == b { a } else { format!("{a} → {b}") };
        let _ = writeln!(text, "  {}: {}", plain::line(&self.name), plain::line(&outcome));
        for assertion in self.assertions.iter().filter(|it| it.is_different()) {
            let Compared { name, a, b } = assertion.shares();
            let message = assertion.message().map(|message| format!(": {message}")).unwrap_or_default();
            let _ = writeln!(text, "    {}", plain::line(&format!("{name}: {a} → {b}{message}")));
        }
        let figures = self.figures().into_iter().filter(Compared::differs);
        let figures: Vec<String> = figures.map(|Compared { name, a, b }| format!("{name} {a} → {b}")).collect();
        if !figures.is_empty() {
            let _ = writeln!(text, "    {}", figures.join(", "));
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
        for Compared { name, a, b } in self.files.iter().map(FileDiff::changes) {
            let change = if a == b { a } else { format!("{a} → {b}") };
            let _ = writeln!(text, "    file {}: {change}", plain::line(&name));
        }
    }
}

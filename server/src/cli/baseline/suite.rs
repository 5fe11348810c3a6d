//! Baselines of a KindLM suite: the outputs of a run, in KindLM's own files below `.kindlm/baselines`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context, bail, ensure};
use serde::Serialize;
use serde_json::json;
use speclens_runner::{
    clock::Clock,
    event::{CaseResult, RunResult, SuiteResult},
    report::{human::dollars, plain},
    run::{Mode, Options},
    write::{self, Readers},
};
use speclens_schema::{
    dialect::kindlm::baselines::{self, Baseline, BaselineResult, DIRECTORY, Latest},
    evidence::shown,
    format::Dialect,
    judge,
    suite::{Case, Suite},
    verdict::Status,
    words::{plural, shell_word},
};
use tokio_util::sync::CancellationToken;

use super::{
    capture::failure_reason,
    store::{chosen, did_you_mean, prepare},
};
use crate::{
    cli::{
        FAILED, INCONCLUSIVE, INTERRUPTED, PASSED,
        discover::Wanted,
        levels::Levels,
        load::{self, Loaded},
        output::{self, Format},
        run,
    },
    threads,
};

/// A difference of pass rates below this is none.
const RATE_TOLERANCE: f64 = 0.001;

/// Returns the KindLM suite that a path names: the file, or the one in the directory; `None` for anything else.
pub(super) fn suite_at(target: &str) -> anyhow::Result<Option<Loaded>> {
    let path = Path::new(target);
    let path = if path.is_dir() { path.join("kindlm.yaml") } else { path.to_owned() };
    if !path.is_file() {
        return Ok(None);
    }
    let loaded = load::suites(std::slice::from_ref(&path), Wanted::Suites, &Levels::default());
    if let Some(failure) = loaded.failures.into_iter().next() {
        return Err(failure);
    }
    let found = loaded.suites.into_iter().find(|loaded| loaded.report.suite.dialect == Dialect::KINDLM);
    let refused = found.as_ref().filter(|loaded| loaded.report.is_refused());
    ensure!(
        refused.is_none(),
        "`{}` has errors; run `speclens check {}`",
        path.display(),
        shell_word(&path.to_string_lossy())
    );
    Ok(found)
}

fn name_of(loaded: &Loaded) -> &str {
    loaded.report.suite.name.as_deref().unwrap_or_default()
}

/// Returns the baseline in use.
fn in_use(loaded: &Loaded) -> anyhow::Result<Option<Baseline>> {
    let files = loaded.workspace.files(&loaded.directory, &loaded.place);
    baselines::read(&files, name_of(loaded)).map_err(|reason| anyhow::anyhow!("the baseline {reason}"))
}

/// Runs the suite, and stores its outputs as the baseline in use.
pub(super) fn set(
    loaded: &Loaded,
    tests: &[String],
    repeat: Option<usize>,
    force: bool,
    format: Format,
) -> anyhow::Result<u8> {
    let clock = Clock::from_environment()?;
    let suite = Arc::new(without_drift(&loaded.report.suite, repeat));
    let result = match results(loaded, &suite, tests, Mode::Live, clock, format)? {
        Some(result) => result,
        None => {
            output::note("interrupted: nothing was stored");
            return Ok(INTERRUPTED);
        }
    };
    let mut found = BTreeMap::new();
    let mut left_out = BTreeMap::new();
    let mut omitted = String::new();
    for (key, tally) in measured(&suite, &result) {
        let (what, reason) = match tally.result() {
            Ok(result) => {
                found.insert(key.clone(), result);
                ("not counted", tally.open_attempts())
            }
            Err(reason) => {
                left_out.insert(key.clone(), reason.clone());
                ("left out", Some(reason))
            }
        };
        omitted.extend(reason.map(|reason| plain::line(&format!("{key}: {what}: {reason}")) + "\n"));
    }
    let passed = found.values().filter(|result| result.pass_rate > 0.0).count();
    if found.is_empty() || passed == 0 && !force {
        let (why, code) = match found.is_empty() {
            true => ("there is nothing to store", INCONCLUSIVE),
            false => ("no test passed; to store failing outputs, use `--force`", FAILED),
        };
        output::print(&format!("{omitted}nothing was stored, because {why}\n"))?;
        return Ok(code);
    }
    // What is replaced as a whole may be damaged.
    let before = match in_use(loaded) {
        Err(_) if tests.is_empty() => None,
        before => before?,
    };
    let mut stored = before.map(|baseline| baseline.results).unwrap_or_default();
    stored.retain(|key, _| !tests.is_empty() || left_out.contains_key(key));
    stored.extend(found);
    let path = store(loaded, stored.clone(), clock)?;
    let text = match format {
        Format::Human => {
            format!("{}{omitted}stored {} in {path}\n", table(&suite, &stored), plural(stored.len(), "result"))
        }
        Format::Json => output::json(&json!({ "speclens": 1, "path": path, "results": stored, "left_out": left_out }))?,
    };
    output::print(&text)?;
    Ok(if left_out.is_empty() { PASSED } else { INCONCLUSIVE })
}

/// Returns the suite without comparisons with the baseline, which is about to be replaced.
fn without_drift(suite: &Suite, repeat: Option<usize>) -> Suite {
    let case = |case: &Arc<Case>| {
        let mut case = Case::clone(case);
        case.repeat = repeat.map_or(case.repeat, |repeat| u32::try_from(repeat).unwrap_or(u32::MAX));
        case.claims.retain(|claim| claim.at.steps().last().is_none_or(|step| step != "drift"));
        Arc::new(case)
    };
    Suite { cases: suite.cases.iter().map(case).collect(), ..Suite::clone(suite) }
}

/// Runs tests, or evaluates their recordings; `None` if the run was interrupted.
fn results(
    loaded: &Loaded,
    suite: &Arc<Suite>,
    tests: &[String],
    mode: Mode,
    clock: Clock,
    format: Format,
) -> anyhow::Result<Option<Arc<SuiteResult>>> {
    let cases: BTreeSet<usize> = chosen(suite, tests)?.into_iter().map(|(index, _)| index).collect();
    let prepared = prepare(loaded, suite, clock, None)?;
    let options = Options { mode, cases: Some(cases), ..Options::default() };
    let (runtime, cancel) = (threads::runtime()?, CancellationToken::new());
    run::end_with(&runtime, &cancel);
    let secrets = Arc::clone(&loaded.report.source.secrets);
    let is_quiet = format == Format::Json || mode == Mode::Recorded;
    let result = runtime.block_on(run::run(&prepared, secrets, options, cancel.clone(), is_quiet));
    std::mem::forget(runtime);
    Ok((!cancel.is_cancelled()).then_some(result))
}

/// The attempts of a test with a subject.
struct Tally<'r> {
    /// Those that passed or failed.
    known: Vec<&'r RunResult>,
    /// Those without a result.
    open: Vec<&'r RunResult>,
}

/// Returns the attempts of each test and subject.
fn measured<'r>(suite: &Suite, result: &'r SuiteResult) -> BTreeMap<String, Tally<'r>> {
    let mut measured: BTreeMap<String, Tally<'_>> = BTreeMap::new();
    for CaseResult { case, runs, .. } in &result.cases {
        for run in runs {
            let key = baselines::key(&suite.cases[*case].name, &run.subject.to_string());
            let tally = measured.entry(key).or_insert_with(|| Tally { known: Vec::new(), open: Vec::new() });
            match run.status {
                Status::Pass | Status::Warn | Status::Fail => tally.known.push(run),
                Status::Unknown | Status::Error | Status::Skip => tally.open.push(run),
            }
        }
    }
    measured
}

fn has_passed(run: &RunResult) -> bool {
    matches!(run.status, Status::Pass | Status::Warn)
}

impl Tally<'_> {
    /// Returns the pass rates that are possible: if each attempt without a result failed, and if each passed. `None`
    /// if no attempt has a result.
    fn pass_rates(&self) -> Option<[f64; 2]> {
        let passed = self.known.iter().filter(|run| has_passed(run)).count();
        let all = (self.known.len() + self.open.len()) as f64;
        (!self.known.is_empty()).then(|| [passed, passed + self.open.len()].map(|count| count as f64 / all))
    }

    /// Returns the share of attempts with a result that passed.
    fn pass_rate(&self) -> Option<f64> {
        let passed = self.known.iter().filter(|run| has_passed(run)).count();
        (!self.known.is_empty()).then(|| passed as f64 / self.known.len() as f64)
    }

    /// Returns how many attempts have no result, and why the first one has none.
    fn open_attempts(&self) -> Option<String> {
        let all = plural(self.known.len() + self.open.len(), "attempt");
        let why = failure_reason(self.open.first()?);
        Some(format!("{} of {all} without a result: {why}", self.open.len()))
    }

    fn failure_codes(&self) -> Vec<String> {
        let mut codes: Vec<String> = Vec::new();
        for code in self.known.iter().flat_map(|run| &run.verdicts).filter_map(|judged| judged.verdict.code) {
            if !codes.iter().any(|known| known == code.as_str()) {
                codes.push(code.as_str().to_owned());
            }
        }
        codes
    }

    /// Returns what a baseline stores, or the reason why there is nothing to store.
    fn result(&self) -> Result<BaselineResult, String> {
        let runs = &self.known;
        let Some(pass_rate) = self.pass_rate() else {
            return Err(self.open_attempts().unwrap_or_default());
        };
        let chosen = runs.iter().filter(|run| pass_rate == 0.0 || has_passed(run));
        let output = chosen.map(|run| whole_output(run)).reduce(|one, other| one.or(other));
        let is_checked = runs.iter().any(|run| !run.verdicts.is_empty());
        let output = match output {
            Some(Err(reason)) if !is_checked => return Err(format!("nothing was checked, and {reason}")),
            Some(output) => output.unwrap_or_default(),
            None => String::new(),
        };
        let durations: Vec<f64> = runs.iter().filter_map(|run| run.figures.duration_ms).collect();
        Ok(BaselineResult {
            pass_rate,
            output_text: shown(&output).into_owned(),
            failure_codes: self.failure_codes(),
            latency_avg_ms: durations.iter().sum::<f64>() / durations.len().max(1) as f64,
            cost_usd: runs.iter().map(|run| run.figures.cost_usd()).sum(),
            run_count: runs.len(),
        })
    }
}

/// Returns the output of an attempt, or the reason why later outputs cannot be compared with it.
fn whole_output(run: &RunResult) -> Result<String, &'static str> {
    let evidence = run.evidence.get();
    let output = evidence.as_ref().and_then(|evidence| evidence.output.as_ref());
    let output = output.ok_or("there is no output")?;
    match output.text.trim() {
        _ if output.cut => Err("the output was cut off"),
        "" => Err("the output is empty"),
        _ => Ok(output.text.clone()),
    }
}

/// Writes a baseline beside the earlier ones, and then the file that names it. Returns its path.
fn store(loaded: &Loaded, results: BTreeMap<String, BaselineResult>, clock: Clock) -> anyhow::Result<String> {
    let suite = name_of(loaded);
    let directory = loaded.directory.join(DIRECTORY);
    fs::create_dir_all(&directory).with_context(|| format!("cannot create {}", directory.display()))?;
    let now = clock.seconds();
    let baseline = Baseline {
        version: baselines::VERSION.to_owned(),
        suite_name: suite.to_owned(),
        created_at: now.clone(),
        saved_at: now.clone(),
        results,
    };
    let text = serde_json::to_string_pretty(&baseline)? + "\n";
    let stamp: String = now.chars().filter(char::is_ascii_digit).collect();
    let digest = speclens_schema::script::digest(text.as_bytes());
    let name = format!("{}-{stamp}-{}.json", baselines::stem(suite), &digest[..6]);
    let write = |name: &str, text: &str| {
        let path = directory.join(name);
        write::replace(&path, text, Readers::Usual).with_context(|| format!("cannot write {}", path.display()))
    };
    write(&name, &text)?;
    let latest = serde_json::to_string_pretty(&Latest { latest_file: name.clone() })? + "\n";
    let pointer = loaded.directory.join(baselines::latest_of(suite));
    write::replace(&pointer, latest, Readers::Usual).with_context(|| format!("cannot write {}", pointer.display()))?;
    Ok(load::shown(&directory.join(name)))
}

/// Returns the results as text. `suite` has no comparisons with the baseline: some tests check nothing else.
fn table(suite: &Suite, results: &BTreeMap<String, BaselineResult>) -> String {
    let unchecked: Vec<&String> =
        suite.cases.iter().filter(|case| judge::unjudged(case).is_empty()).map(|case| &case.name).collect();
    let mut text = String::new();
    for (key, result) in results {
        let cost = result.cost_usd.map(|cost| format!(", {}", dollars(cost))).unwrap_or_default();
        let codes = match &result.failure_codes[..] {
            [] => String::new(),
            codes => format!(", {}", codes.join(" ")),
        };
        let attempts = plural(result.run_count, "attempt");
        let rate = match unchecked.iter().any(|test| is_of(key, test)) {
            true => format!("{attempts}, in which nothing but drift is checked"),
            false => format!("{:.0} % of {attempts} passed", result.pass_rate * 100.0),
        };
        let _ =
            writeln!(text, "{}", plain::line(&format!("{key}: {rate}, {:.0} ms{cost}{codes}", result.latency_avg_ms)));
        let first = result.output_text.lines().next().unwrap_or("no whole output is stored");
        let _ = writeln!(text, "  {}", plain::line(first));
    }
    text
}

pub(super) fn show(loaded: &Loaded, format: Format) -> anyhow::Result<u8> {
    let Some(baseline) = in_use(loaded)? else {
        output::print("no baseline is stored; run `speclens baseline set` to store one\n")?;
        return Ok(FAILED);
    };
    let text = match format {
        Format::Human => format!(
            "stored {}\n{}",
            baseline.created_at,
            table(&without_drift(&loaded.report.suite, None), &baseline.results)
        ),
        Format::Json => output::json(&json!({ "speclens": 1, "baseline": baseline }))?,
    };
    output::print(&text)?;
    Ok(PASSED)
}

/// A stored baseline of the suite.
#[derive(Serialize)]
struct Listed {
    path: String,
    created_at: String,
    outputs: usize,
    in_use: bool,
    /// Why it cannot be read.
    error: Option<String>,
}

pub(super) fn list(loaded: &Loaded, format: Format) -> anyhow::Result<u8> {
    let (suite, stem) = (name_of(loaded), baselines::stem(name_of(loaded)));
    let directory = loaded.directory.join(DIRECTORY);
    let latest = fs::read_to_string(loaded.directory.join(baselines::latest_of(suite))).ok();
    let latest = latest.and_then(|text| serde_json::from_str::<Latest>(&text).ok()).map(|latest| latest.latest_file);
    let used = latest.unwrap_or_else(|| format!("{stem}.json"));
    let mut paths: Vec<PathBuf> =
        fs::read_dir(&directory).into_iter().flatten().flatten().map(|it| it.path()).collect();
    paths.sort();
    let mut listed = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_of_suite =
            name.ends_with(".json") && (name == format!("{stem}.json") || name.starts_with(&format!("{stem}-")));
        if !is_of_suite || name == format!("{stem}-latest.json") {
            continue;
        }
        let read = fs::read_to_string(&path).map_err(|error| error.to_string());
        let read = read.and_then(|text| Baseline::parse(&text));
        if read.as_ref().is_ok_and(|baseline| baseline.suite_name != suite) {
            continue;
        }
        listed.push(Listed {
            path: load::shown(&path),
            created_at: read.as_ref().map(|baseline| baseline.created_at.clone()).unwrap_or_default(),
            outputs: read.as_ref().map(|baseline| baseline.results.len()).unwrap_or_default(),
            in_use: name == used,
            error: read.err(),
        });
    }
    let line = |it: &Listed| {
        let mark = if it.in_use { "*" } else { " " };
        let what = match &it.error {
            Some(error) => format!("damaged: {error}"),
            None => format!("{}, {}", it.created_at, plural(it.outputs, "output")),
        };
        plain::line(&format!("{mark} {} ({what})", it.path)) + "\n"
    };
    let text = match format {
        Format::Human if listed.is_empty() => {
            "no baseline is stored; run `speclens baseline set` to store one\n".to_owned()
        }
        Format::Human => listed.iter().map(line).collect(),
        Format::Json => output::json(&json!({ "speclens": 1, "baselines": listed }))?,
    };
    output::print(&text)?;
    Ok(if listed.is_empty() { FAILED } else { PASSED })
}

/// The difference of a test and subject from the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Change {
    Regression,
    Improvement,
    Unchanged,
    New,
    Removed,
    /// Results that are missing now could change it.
    Unknown,
}

#[derive(Serialize)]
struct Compared {
    key: String,
    change: Change,
    baseline_pass_rate: Option<f64>,
    pass_rate: Option<f64>,
    /// Codes of failed expectations that the baseline does not have.
    new_codes: Vec<String>,
    /// Attempts without a result now, if there are any.
    open: Option<String>,
}

/// Compares the last recorded run with the baseline in use, or a new run.
pub(super) fn compare(loaded: &Loaded, tests: &[String], is_run: bool, format: Format) -> anyhow::Result<u8> {
    let Some(baseline) = in_use(loaded)? else {
        bail!("no baseline is stored; run `speclens baseline set` to store one");
    };
    let mode = if is_run { Mode::Live } else { Mode::Recorded };
    let suite = Arc::clone(&loaded.report.suite);
    let Some(result) = results(loaded, &suite, tests, mode, Clock::from_environment()?, format)? else {
        return Ok(INTERRUPTED);
    };
    let now = measured(&suite, &result);
    let is_chosen = |key: &&String| tests.is_empty() || tests.iter().any(|test| is_of(key, test));
    let is_planned = |key: &str| {
        suite
            .cases
            .iter()
            .any(|case| case.action.subjects().iter().any(|it| baselines::key(&case.name, &it.to_string()) == key))
    };
    let keys: BTreeSet<&String> = baseline.results.keys().chain(now.keys()).filter(is_chosen).collect();
    let compared: Vec<Compared> = keys
        .into_iter()
        .map(|key| Compared::of(key, baseline.results.get(key), now.get(key), is_planned(key)))
        .collect();
    let text = match format {
        Format::Human => compared.iter().map(Compared::line).collect(),
        Format::Json => output::json(&json!({ "speclens": 1, "compared": compared }))?,
    };
    output::print(&text)?;
    let has = |change| compared.iter().any(|it| it.change == change);
    Ok(if has(Change::Regression) {
        FAILED
    } else if has(Change::Unknown) || compared.is_empty() {
        INCONCLUSIVE
    } else {
        PASSED
    })
}

impl Compared {
    fn of(key: &str, before: Option<&BaselineResult>, now: Option<&Tally<'_>>, is_planned: bool) -> Compared {
        let change_from = |before: f64, now: f64| match now - before {
            less if less < -RATE_TOLERANCE => Change::Regression,
            more if more > RATE_TOLERANCE => Change::Improvement,
            _ => Change::Unchanged,
        };
        let change = match (before, now.map(Tally::pass_rates)) {
            (Some(before), Some(Some([least, most]))) => {
                let [worst, best] = [least, most].map(|rate| change_from(before.pass_rate, rate));
                if worst == best { worst } else { Change::Unknown }
            }
            (None, Some(Some(_))) => Change::New,
            (_, Some(None)) => Change::Unknown,
            (Some(_), None) if is_planned => Change::Unknown,
            (Some(_), None) | (None, None) => Change::Removed,
        };
        let known = before.map(|before| &before.failure_codes[..]).unwrap_or_default();
        let codes = now.map(Tally::failure_codes).unwrap_or_default();
        Compared {
            key: key.to_owned(),
            change,
            baseline_pass_rate: before.map(|before| before.pass_rate),
            pass_rate: now.and_then(Tally::pass_rate),
            new_codes: codes.into_iter().filter(|code| !known.contains(code)).collect(),
            open: now.and_then(Tally::open_attempts),
        }
    }

    fn line(&self) -> String {
        let percent =
            |rate: Option<f64>| rate.map_or_else(|| "none".to_owned(), |rate| format!("{:.0} %", rate * 100.0));
        let (before, now) = (percent(self.baseline_pass_rate), percent(self.pass_rate));
        let word = match self.change {
            Change::Regression => "regression",
            Change::Improvement => "improvement",
            Change::Unchanged => "unchanged",
            Change::New => "new",
            Change::Removed => "removed",
            Change::Unknown => "unknown",
        };
        let codes = match &self.new_codes[..] {
            [] => String::new(),
            codes => format!("; new failures: {}", codes.join(", ")),
        };
        let is_unmade = self.change == Change::Unknown && self.open.is_none();
        let help = is_unmade.then_some("run the test, or use `--run`");
        let open = self.open.as_deref().or(help).map(|open| format!("; {open}")).unwrap_or_default();
        plain::line(&format!("{word:<12} {}: {before} → {now}{codes}{open}", self.key)) + "\n"
    }
}

/// Whether a key is that of a test with some subject.
fn is_of(key: &str, test: &str) -> bool {
    key.strip_prefix(test).is_some_and(|rest| rest.starts_with("::"))
}

/// Removes stored outputs of tests, or all baselines of the suite.
pub(super) fn reset(loaded: &Loaded, tests: &[String]) -> anyhow::Result<u8> {
    let Some(baseline) = in_use(loaded)? else {
        output::print("no baseline is stored\n")?;
        return Ok(FAILED);
    };
    if let Some(unknown) = tests.iter().find(|test| !baseline.results.keys().any(|key| is_of(key, test))) {
        let known = baseline.results.keys().filter_map(|key| Some(key.rsplit_once("::")?.0));
        output::print(&format!("no output of `{unknown}` is stored{}\n", did_you_mean(unknown, known)))?;
        return Ok(FAILED);
    }
    let mut kept = baseline.results;
    let count = kept.len();
    kept.retain(|key, _| !tests.is_empty() && !tests.iter().any(|test| is_of(key, test)));
    let removed = count - kept.len();
    let path = store(loaded, kept, Clock::from_environment()?)?;
    output::print(&format!("removed {}; stored the rest in {path}\n", plural(removed, "output")))?;
    Ok(PASSED)
}

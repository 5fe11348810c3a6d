//! `speclens baseline`: stores the metrics of a ClawSpec target, and compares later runs with them.

mod capture;
mod compare;

use std::{
    collections::BTreeMap,
    fmt::Write,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context, anyhow, bail, ensure};
use clap::Subcommand;
use serde_json::json;
use speclens_runner::{
    clock::Clock,
    report::plain,
    write::{self, Readers},
};
use speclens_schema::{
    dialect::clawspec::{
        baselines::{Baseline, Baselines, Distribution, Metric, Metrics},
        regression::Measuring,
        scope::{Scope, Scoring},
    },
    document::Document,
    evidence::ObservationTime,
    format::Dialect,
    gateway::workspace,
    json_schema::SpecFile,
    suite::{Case, Suite},
    words::{nearest, plural, shell_word},
};

use super::{
    FAILED, PASSED,
    clawspec::ClawSpecWorkspace,
    discover::Wanted,
    levels::Levels,
    load::{self, Loaded, shown},
    output::{self, Format},
};
use crate::{
    job::{self, Prepared, Refusal},
    read::read_text,
};

/// The options of `speclens baseline`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Run the scenarios of a target several times and store their metrics
    Capture(capture::Args),
    /// Show the stored baseline of a target
    Show {
        /// Target: its directory, its path in the workspace, or its contract
        target: String,
        /// Output format
        #[arg(long, value_enum, default_value_t = Format::Human)]
        format: Format,
    },
    /// Compare the last recorded run of each scenario with the baseline, without running anything
    Compare(compare::Args),
    /// Remove the stored baseline of a target
    Reset {
        /// Target: its directory, its path in the workspace, or its contract
        target: String,
        /// Select a scenario by name (repeatable)
        #[arg(long = "scenario", value_name = "NAME")]
        scenarios: Vec<String>,
    },
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    match &args.action {
        Action::Capture(args) => capture::perform(args),
        Action::Show { target, format } => show(target, *format),
        Action::Compare(args) => compare::perform(args),
        Action::Reset { target, scenarios } => reset(target, scenarios),
    }
}

fn show(target: &str, format: Format) -> anyhow::Result<u8> {
    let store = Store::beside(&contract_of(target)?)?;
    let baselines = &store.baselines.baselines;
    let text = match format {
        Format::Human if baselines.is_empty() => {
            format!("no baseline is stored; run `speclens baseline capture {target}` to store one\n")
        }
        Format::Human => human(baselines),
        Format::Json => output::json(&json!({ "speclens": 1, "path": store.name, "baselines": baselines }))?,
    };
    output::print(&text)?;
    Ok(if baselines.is_empty() { FAILED } else { PASSED })
}

fn reset(target: &str, scenarios: &[String]) -> anyhow::Result<u8> {
    let mut store = Store::beside(&contract_of(target)?)?;
    let stored = &mut store.baselines.baselines;
    let unknown = scenarios.iter().find(|name| !stored.contains_key(*name)).filter(|_| !stored.is_empty());
    if let Some(unknown) = unknown {
        let near = did_you_mean(unknown, stored.keys().map(String::as_str));
        output::print(&format!("no baseline of `{unknown}` is stored{near}\n"))?;
        return Ok(FAILED);
    }
    let before = stored.len();
    stored.retain(|name, _| !scenarios.is_empty() && !scenarios.contains(name));
    let removed = before - stored.len();
    if !store.exists || removed == 0 {
        output::print("no baseline is stored\n")?;
        return Ok(FAILED);
    }
    if let Err(error) = store.write() {
        bail!("{error:#}; nothing was removed");
    }
    output::print(&format!("removed {} from {}\n", plural(removed, "baseline"), store.name))?;
    Ok(PASSED)
}

fn did_you_mean<'n>(unknown: &str, names: impl Iterator<Item = &'n str>) -> String {
    nearest(unknown, names).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
}

/// The file of baselines of a target.
#[derive(Debug)]
struct Store {
    path: PathBuf,
    name: String,
    baselines: Baselines,
    exists: bool,
}

impl Store {
    /// Reads the baselines next to a contract.
    fn beside(contract: &Path) -> anyhow::Result<Store> {
        let path = contract.with_file_name("baselines.yaml");
        let name = shown(&path);
        if !path.exists() {
            let baselines = Baselines { version: "1.0".to_owned(), ..Baselines::default() };
            return Ok(Store { path, name, baselines, exists: false });
        }
        let (text, unreadable) = read_text(&path);
        if let Some(problem) = unreadable {
            bail!("{name}: {}", problem.message);
        }
        let document = Document::read(&text, SpecFile::CLAWSPEC_BASELINES.scalar_rules());
        match Baselines::read(&document) {
            Ok(baselines) => Ok(Store { path, name, baselines, exists: true }),
            Err(error) => bail!(
                "{name}: {error}; correct or remove the file (`speclens check {}` shows where)",
                shell_word(&name)
            ),
        }
    }

    /// Writes the file as a whole.
    fn write(&self) -> anyhow::Result<()> {
        write::replace(&self.path, self.baselines.to_yaml(), Readers::Usual)
            .with_context(|| format!("cannot write {}", self.path.display()))
    }
}

/// Returns the scenario contract of a target, given as a directory, a path in the workspace, or the contract itself.
fn contract_of(target: &str) -> anyhow::Result<PathBuf> {
    let path = Path::new(target);
    if path.is_file() {
        return Ok(path.to_owned());
    }
    let root = ClawSpecWorkspace::here()?.root;
    let places = [path.to_owned(), root.join(path), root.join("skills").join(path), root.join("agents").join(path)];
    let mut contracts =
        places.iter().flat_map(|place| ["tests/scenarios.yaml", "scenarios.yaml"].map(|it| place.join(it)));
    contracts.find(|contract| contract.is_file()).ok_or_else(|| {
        anyhow!(
            "no scenario contract found for `{target}`; name the contract, or the directory with `tests/scenarios.yaml`"
        )
    })
}

/// Reads the suite of a contract, as `speclens run` does.
fn suite_of(contract: &Path) -> anyhow::Result<Loaded> {
    let load::Load { suites, failures, .. } = load::suites(&[contract.to_owned()], Wanted::Suites, &Levels::default());
    if let Some(failure) = failures.into_iter().next() {
        return Err(failure);
    }
    let name = shown(contract);
    let loaded = suites.into_iter().next().ok_or_else(|| anyhow!("`{name}` is not a suite"))?;
    ensure!(loaded.report.suite.dialect == Dialect::CLAWSPEC, "`{name}` is not a ClawSpec contract");
    ensure!(!loaded.report.is_refused(), "`{name}` has errors; run `speclens check {}`", shell_word(&name));
    Ok(loaded)
}

/// Returns the scenarios with these names; all of them if no name is given.
fn chosen<'s>(suite: &'s Suite, names: &[String]) -> anyhow::Result<Vec<(usize, &'s Arc<Case>)>> {
    if let Some(unknown) = names.iter().find(|name| !suite.cases.iter().any(|case| case.name == **name)) {
        let near = did_you_mean(unknown, suite.cases.iter().map(|case| case.name.as_str()));
        bail!("unknown scenario `{unknown}`{near}");
    }
    let is_chosen = |case: &&Arc<Case>| names.is_empty() || names.contains(&case.name);
    Ok(suite.cases.iter().enumerate().filter(|(_, case)| is_chosen(case)).collect())
}

fn measuring(loaded: &Loaded) -> Arc<Measuring> {
    let files = loaded.workspace.files(&loaded.directory, &loaded.place);
    let scoring = Scoring::of(&loaded.workspace.settings);
    Arc::new(Measuring { scope: Arc::new(Scope::new(ObservationTime::After, &workspace::settings(&files), &scoring)) })
}

/// Prepares a suite to run under the settings in force.
fn prepare(loaded: &Loaded, suite: &Arc<Suite>, clock: Clock, gateway: Option<&str>) -> anyhow::Result<Prepared> {
    super::run::prepare(loaded, suite, clock, gateway).map_err(|refusal| match refusal {
        Refusal::Settings(file) => anyhow!("{}", job::settings_sentence(&file)),
        Refusal::Suite => {
            anyhow!("the contract has errors; run `speclens check {}`", shell_word(&loaded.report.source.path))
        }
        Refusal::Untrusted(directory) => anyhow!(
            "nothing was run, because `{}` is not trusted; run `speclens trust {}` if you trust it",
            directory.display(),
            shell_word(&directory.to_string_lossy())
        ),
    })
}

fn human(baselines: &BTreeMap<String, Baseline>) -> String {
    let mut text = String::new();
    for (name, Baseline { captured_at, runs, metrics }) in baselines {
        let heading = format!("{name} ({runs} runs, {})", &**captured_at);
        let _ = writeln!(text, "{}", plain::line(&heading));
        text.push_str(&table(metrics));
    }
    text
}

/// Returns the metrics as a table, one line per metric.
fn table(metrics: &Metrics) -> String {
    let mut text = String::new();
    for metric in Metric::ALL {
        let Some(Distribution { p50, p95, min, max, stddev }) = metric.of(metrics) else { continue };
        let [p50, p95, min, max, stddev] = [p50, p95, min, max, stddev].map(number);
        let name = metric.as_str();
        let _ = writeln!(text, "  {name:<26} p50 {p50}  p95 {p95}  min {min}  max {max}  stddev {stddev}");
    }
    text
}

/// Returns a number with up to six decimals, without trailing zeros.
fn number(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

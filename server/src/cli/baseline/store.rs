//! The stored baselines of a target, and its scenarios.

use std::{
    fmt::Write,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context, anyhow, bail, ensure};
use speclens_runner::{
    clock::Clock,
    write::{self, Readers},
};
use speclens_schema::{
    dialect::clawspec::{
        baselines::{Baselines, Distribution, Metric, Metrics},
        regression::Measuring,
        scope::{Scope, Scoring},
    },
    document::Document,
    evidence::ObservationTime,
    format::Dialect,
    gateway::workspace,
    json_schema::SpecFile,
    suite::{Case, Suite},
    words::{nearest, shell_word},
};

use crate::{
    clawspec::ClawSpecWorkspace,
    cli::{
        discover::Wanted,
        levels::Levels,
        load::{self, Loaded, shown},
    },
    job::{self, Prepared, Refusal},
    read::read_text,
};

pub(super) fn did_you_mean<'n>(unknown: &str, names: impl Iterator<Item = &'n str>) -> String {
    nearest(unknown, names).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
}

/// The file of baselines of a target.
#[derive(Debug)]
pub(super) struct Store {
    pub(super) path: PathBuf,
    pub(super) name: String,
    pub(super) baselines: Baselines,
    pub(super) exists: bool,
}

impl Store {
    pub(super) fn beside(contract: &Path) -> anyhow::Result<Store> {
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

    pub(super) fn write(&self) -> anyhow::Result<()> {
        write::replace(&self.path, self.baselines.to_yaml(), Readers::Usual)
            .with_context(|| format!("cannot write {}", self.path.display()))
    }
}

pub(super) fn contract_of(target: &str) -> anyhow::Result<PathBuf> {
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

pub(super) fn suite_of(contract: &Path) -> anyhow::Result<Loaded> {
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
pub(super) fn chosen<'s>(suite: &'s Suite, names: &[String]) -> anyhow::Result<Vec<(usize, &'s Arc<Case>)>> {
    if let Some(unknown) = names.iter().find(|name| !suite.cases.iter().any(|case| case.name == **name)) {
        let near = did_you_mean(unknown, suite.cases.iter().map(|case| case.name.as_str()));
        bail!("unknown scenario `{unknown}`{near}");
    }
    let is_chosen = |case: &&Arc<Case>| names.is_empty() || names.contains(&case.name);
    Ok(suite.cases.iter().enumerate().filter(|(_, case)| is_chosen(case)).collect())
}

pub(super) fn measuring(loaded: &Loaded) -> Arc<Measuring> {
    let files = loaded.workspace.files(&loaded.directory, &loaded.place);
    let scoring = Scoring::of(&loaded.workspace.settings);
    Arc::new(Measuring { scope: Arc::new(Scope::new(ObservationTime::After, &workspace::settings(&files), &scoring)) })
}

pub(in crate::cli) fn prepare(
    loaded: &Loaded,
    suite: &Arc<Suite>,
    clock: Clock,
    gateway: Option<&str>,
) -> anyhow::Result<Prepared> {
    loaded.prepare(suite, clock, gateway).map_err(|refusal| match refusal {
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

pub(super) fn table(metrics: &Metrics) -> String {
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
pub(super) fn number(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

//! `speclens baseline compare`: compares the last recorded run of each scenario with the stored baseline.

use std::{collections::BTreeSet, fmt::Write, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::json;
use speclens_runner::{
    clock::Clock,
    event::CaseResult,
    report::plain,
    run::{Mode, Options},
};
use speclens_schema::{
    act::Act,
    dialect::clawspec::{
        baselines::{Baseline, Metric},
        contracts::{Compare, Regression},
        regression::{Drift, Measuring, drift_of, is_difference},
    },
    suite::Case,
    verdict::{Check, Status},
};
use tokio_util::sync::CancellationToken;

use super::store::{Store, chosen, contract_of, measuring, number, prepare, suite_of};
use crate::{
    cli::{
        FAILED, INCONCLUSIVE, PASSED,
        load::Loaded,
        output::{self, Format},
    },
    threads,
};

/// The options of `speclens baseline compare`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// KindLM suite or its directory; or a ClawSpec target: its directory, its path in the workspace, or its contract
    #[arg(default_value = ".")]
    pub(super) target: String,
    /// Select a test or scenario by name (repeatable)
    #[arg(long = "test", alias = "scenario", value_name = "NAME")]
    pub(super) scenarios: Vec<String>,
    /// Run the tests of a KindLM suite first
    #[arg(long)]
    pub(super) run: bool,
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub(super) format: Format,
}

/// A scenario, with the difference between its last run and the baseline.
#[derive(Serialize)]
struct Compared {
    name: String,
    baseline_date: Option<String>,
    compare: Compare,
    status: Status,
    reason: Option<String>,
    checks: Vec<Checked>,
}

/// A metric, with its difference from the baseline.
#[derive(Serialize)]
struct Checked {
    metric: &'static str,
    baseline_p50: f64,
    baseline_p95: f64,
    actual: Option<f64>,
    drift: Option<f64>,
    limit: Option<f64>,
    status: Status,
    reason: Option<String>,
    #[serde(skip)]
    is_difference: bool,
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    let contract = contract_of(&args.target)?;
    let store = Store::beside(&contract)?;
    let loaded = suite_of(&contract)?;
    let suite = Arc::clone(&loaded.report.suite);
    let cases: BTreeSet<usize> = chosen(&suite, &args.scenarios)?.into_iter().map(|(index, _)| index).collect();
    let prepared = prepare(&loaded, &suite, Clock::from_environment()?, None)?;
    let options = Options { mode: Mode::Recorded, cases: Some(cases), ..Options::default() };
    let result = threads::runtime()?.block_on(prepared.results(options, CancellationToken::new()));
    let measuring = measuring(&loaded);
    let compare = |result: &CaseResult| {
        let case = &suite.cases[result.case];
        Compared::of(case, result, store.baselines.baselines.get(&case.name), &regression_of(case, &loaded), &measuring)
    };
    let scenarios: Vec<Compared> = result.cases.iter().map(compare).collect();
    let worst = scenarios.iter().map(|compared| compared.status).max();
    let text = match args.format {
        Format::Human => scenarios.iter().map(Compared::human).collect(),
        Format::Json => output::json(&json!({ "speclens": 1, "path": store.name, "scenarios": scenarios }))?,
    };
    output::print(&text)?;
    Ok(match worst {
        Some(Status::Fail | Status::Error) => FAILED,
        Some(Status::Unknown | Status::Skip) | None => INCONCLUSIVE,
        Some(Status::Pass | Status::Warn) => PASSED,
    })
}

/// Returns the limits that a scenario declares; no limits if it declares none.
fn regression_of(case: &Case, loaded: &Loaded) -> Regression {
    let node = loaded.report.source.document.find(&case.at);
    let written = node.and_then(|node| node.get("regression")?.to_value().ok());
    written.and_then(|value| Regression::deserialize(&value).ok()).unwrap_or_default()
}

impl Compared {
    fn of(
        case: &Case,
        result: &CaseResult,
        baseline: Option<&Baseline>,
        regression: &Regression,
        measuring: &Measuring,
    ) -> Compared {
        let compared = |status, reason: Option<String>, checks| Compared {
            name: case.name.clone(),
            baseline_date: baseline.map(|baseline| baseline.captured_at.to_string()),
            compare: regression.compare,
            status,
            reason,
            checks,
        };
        let Some(baseline) = baseline else {
            return compared(Status::Skip, Some("no baseline is stored".to_owned()), Vec::new());
        };
        let newest = result.runs.iter().filter(|run| !run.evidence.is_nowhere()).max_by_key(|run| run.began_us);
        let Some(evidence) = newest.and_then(|run| run.evidence.get()) else {
            let absence = result.runs.iter().find_map(|run| run.absence.as_ref());
            let reason = absence.map_or_else(|| "no run is recorded".to_owned(), |absence| absence.message.clone());
            return compared(Status::Unknown, Some(reason), Vec::new());
        };
        let drift = Drift {
            regression: regression.clone(),
            baseline: Ok(Some(baseline.clone())),
            scope: Arc::clone(&measuring.scope),
        };
        let limits = drift.limits();
        let verdicts = drift.check(Act::of(&evidence));
        let checks: Vec<Checked> = measuring
            .measure(Act::of(&evidence))
            .into_iter()
            .filter_map(|(metric, measured)| {
                let stored = metric.of(&baseline.metrics)?;
                let base = match regression.compare {
                    Compare::P50 => stored.p50,
                    Compare::P95 => stored.p95,
                };
                let verdict = verdicts.iter().find(|verdict| verdict.kind == metric.as_str());
                let (actual, reason) = match measured {
                    Ok(actual) => (Some(actual), None),
                    Err(reason) => (None, Some(reason)),
                };
                Some(Checked {
                    metric: metric.as_str(),
                    baseline_p50: stored.p50,
                    baseline_p95: stored.p95,
                    drift: actual.filter(|_| base != 0.0 || is_difference(metric)).map(|it| drift_of(metric, it, base)),
                    actual,
                    limit: limit_of(&limits, metric),
                    // Without limits, nothing fails.
                    status: verdict.map_or(if actual.is_some() { Status::Pass } else { Status::Skip }, |verdict| {
                        verdict.outcome.status()
                    }),
                    reason,
                    is_difference: is_difference(metric),
                })
            })
            .collect();
        let status = checks.iter().map(|check| check.status).max().unwrap_or(Status::Pass);
        compared(status, None, checks)
    }

    fn human(&self) -> String {
        let mut text = String::new();
        let date = self.baseline_date.as_ref().map(|date| format!(", baseline of {date}")).unwrap_or_default();
        let reason = self.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        let heading = format!("{} {}{date}{reason}", self.status.as_str(), self.name);
        let _ = writeln!(text, "{}", plain::line(&heading));
        for check in &self.checks {
            let _ = writeln!(text, "  {}", plain::line(&check.human()));
        }
        text
    }
}

fn limit_of(limits: &[(&str, Metric, f64)], metric: Metric) -> Option<f64> {
    limits.iter().find(|(_, limited, _)| *limited == metric).map(|(.., most)| *most)
}

impl Checked {
    fn human(&self) -> String {
        let Checked { metric, baseline_p50, baseline_p95, actual, drift, limit, status, reason, is_difference } = self;
        let base = format!("p50 {}, p95 {}", number(*baseline_p50), number(*baseline_p95));
        let Some(actual) = actual else {
            let reason = reason.as_deref().unwrap_or("unknown");
            return format!("{:<7} {metric:<26} unknown: {reason} ({base})", status.as_str());
        };
        let times = |value: f64| if *is_difference { format!("{value:+.2}") } else { format!("x{value:.2}") };
        let drift = drift.map(|drift| format!(", {}", times(drift))).unwrap_or_default();
        let limit = limit.map(|limit| format!(", limit {}", times(limit))).unwrap_or_default();
        format!("{:<7} {metric:<26} {} ({base}{drift}{limit})", status.as_str(), number(*actual))
    }
}

//! `speclens baseline set`: runs the scenarios of a target several times and stores their metrics.

use std::{collections::BTreeMap, fmt::Write, sync::Arc};

use anyhow::{bail, ensure};
use serde_json::json;
use speclens_runner::{
    clock::Clock,
    event::{CaseResult, RunResult, SuiteResult},
    report::plain,
    run::{Mode, Options},
};
use speclens_schema::{
    act::Act,
    dialect::clawspec::{
        baselines::{Baseline, DEFAULT_RUNS, Distribution, MIN_EXACT_RUNS, MIN_RUNS, Metric, Metrics},
        regression::Measuring,
    },
    suite::{Case, Claim, Phase, Suite},
    verdict::Status,
    words::Name,
};
use tokio_util::sync::CancellationToken;

use super::store::{Store, chosen, contract_of, measuring, prepare, suite_of, table};
use crate::{
    cli::{
        FAILED, INCONCLUSIVE, INTERRUPTED, PASSED,
        output::{self, Format},
        run,
    },
    threads,
};

/// The options of `speclens baseline set`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// KindLM suite or its directory; or a ClawSpec target: its directory, its path in the workspace, or its contract
    #[arg(default_value = ".")]
    pub(super) target: String,
    /// Number of attempts per test [default: that of the test; in ClawSpec 20, at least 5]
    #[arg(long, value_name = "N")]
    pub(super) runs: Option<usize>,
    /// Select a test or scenario by name (repeatable)
    #[arg(long = "test", alias = "scenario", value_name = "NAME")]
    pub(super) scenarios: Vec<String>,
    /// Store outputs although no test passed; in ClawSpec, replace existing baselines
    #[arg(long)]
    pub(super) force: bool,
    /// Address of the gateway; overrides `clawspec.yaml` and the environment
    #[arg(long, value_name = "URL")]
    gateway: Option<String>,
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub(super) format: Format,
}

const MAX_RUNS: usize = 1000;

struct Captured {
    name: String,
    outcome: Result<Measures, Refused>,
}

/// The metrics of a scenario's runs.
struct Measures {
    baseline: Baseline,
    missing: Vec<(Metric, String)>,
}

/// The reason why a scenario has no baseline.
struct Refused {
    status: Status,
    reason: String,
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    let runs = args.runs.unwrap_or(DEFAULT_RUNS);
    ensure!(runs >= MIN_RUNS, "a baseline needs at least {MIN_RUNS} runs; {DEFAULT_RUNS} are recommended");
    ensure!(runs <= MAX_RUNS, "`--runs` must be at most {MAX_RUNS}");
    let contract = contract_of(&args.target)?;
    let mut store = Store::beside(&contract)?;
    let loaded = suite_of(&contract)?;
    let cases = chosen(&loaded.report.suite, &args.scenarios)?;
    let known = cases.iter().find_map(|(_, case)| Some((&case.name, store.baselines.baselines.get(&case.name)?)));
    if let Some((name, baseline)) = known.filter(|_| !args.force) {
        bail!(
            "`{name}` already has a baseline, captured {} from {} runs; replace it with `--force`, or select others with `--test NAME`",
            &*baseline.captured_at,
            baseline.runs
        );
    }
    if runs < MIN_EXACT_RUNS {
        output::note(&format!("a baseline of {runs} runs is imprecise; {DEFAULT_RUNS} are recommended"));
    }
    let clock = Clock::from_environment()?;
    let measuring = measuring(&loaded);
    let suite = Arc::new(repeated(&loaded.report.suite, runs, &measuring));
    let prepared = prepare(&loaded, &suite, clock, args.gateway.as_deref())?;
    let options = Options {
        mode: Mode::Live,
        cases: Some(cases.iter().map(|(index, _)| *index).collect()),
        concurrency: Some(prepared.concurrency(None)),
        ..Options::default()
    };
    let runtime = threads::runtime()?;
    let cancel = CancellationToken::new();
    run::end_with(&runtime, &cancel);
    let secrets = Arc::clone(&loaded.report.source.secrets);
    let result = runtime.block_on(run::run(&prepared, secrets, options, cancel.clone(), args.format == Format::Json));
    let captured: Vec<Captured> =
        result.cases.iter().map(|case| Captured::of(case, &suite, &measuring, clock)).collect();
    std::mem::forget(runtime);
    if cancel.is_cancelled() {
        output::note("interrupted: nothing was stored");
        return Ok(INTERRUPTED);
    }
    let mut is_new = false;
    for Captured { name, outcome } in &captured {
        if let Ok(measures) = outcome {
            store.baselines.baselines.insert(name.clone(), measures.baseline.clone());
            is_new = true;
        }
    }
    if is_new {
        store.write()?;
    }
    let text = match args.format {
        Format::Human => human(&captured, &store.name),
        Format::Json => json(&captured, &store.name)?,
    };
    output::print(&text)?;
    Ok(exit_code(&captured, &result))
}

/// Returns the suite with each scenario repeated `runs` times and its metrics recorded. Comparisons with the stored
/// baseline are omitted because that baseline is about to be replaced.
fn repeated(suite: &Suite, runs: usize, measuring: &Arc<Measuring>) -> Suite {
    let case = |case: &Arc<Case>| {
        let mut case = Case::clone(case);
        case.repeat = u32::try_from(runs).unwrap_or(u32::MAX);
        case.claims.retain(|claim| claim.phase != Some(Phase::Regression));
        let check = Arc::clone(measuring);
        case.claims.push(Claim { at: case.at.clone(), phase: None, check });
        Arc::new(case)
    };
    Suite { cases: suite.cases.iter().map(case).collect(), ..Suite::clone(suite) }
}

impl Captured {
    fn of(result: &CaseResult, suite: &Suite, measuring: &Measuring, clock: Clock) -> Captured {
        let name = suite.cases[result.case].name.clone();
        let refused = |status| result.runs.iter().filter(move |run| run.status == status);
        for status in [Status::Fail, Status::Error] {
            if let Some(first) = refused(status).next() {
                let word = if status == Status::Fail { "failed" } else { "ended with an error" };
                let count = refused(status).count();
                let reason = format!("{count} of {} runs {word}: {}", result.runs.len(), failure_reason(first));
                return Captured { name, outcome: Err(Refused { status, reason }) };
            }
        }
        let evidence: Vec<_> = result.runs.iter().filter_map(|run| run.evidence.get()).collect();
        if evidence.len() < MIN_RUNS {
            let reason = format!("only {} runs could be measured", evidence.len());
            return Captured { name, outcome: Err(Refused { status: Status::Unknown, reason }) };
        }
        let mut values: BTreeMap<Metric, Vec<f64>> = BTreeMap::new();
        let mut missing: Vec<(Metric, String)> = Vec::new();
        for (metric, measured) in evidence.iter().flat_map(|evidence| measuring.measure(Act::of(evidence))) {
            match measured {
                Ok(value) => values.entry(metric).or_default().push(value),
                Err(reason) if !missing.iter().any(|(known, _)| *known == metric) => missing.push((metric, reason)),
                Err(_) => {}
            }
        }
        let mut metrics = Metrics::default();
        for (metric, values) in values {
            // If some runs lack a metric, the rest would describe only part of the runs.
            if let Some(distribution) = Distribution::of(&values).filter(|_| values.len() == evidence.len()) {
                metric.put(&mut metrics, distribution);
            }
        }
        let runs = u64::try_from(evidence.len()).unwrap_or(u64::MAX);
        let baseline = Baseline { captured_at: Name(clock.now()), runs, metrics };
        Captured { name, outcome: Ok(Measures { baseline, missing }) }
    }
}

pub(super) fn failure_reason(run: &RunResult) -> String {
    let absent = run.absence.as_ref().map(|absence| absence.message.clone());
    let failed = || {
        let verdicts = run.verdicts.iter().map(|judged| &judged.verdict);
        let worst = verdicts.max_by_key(|verdict| verdict.outcome.status())?;
        Some(format!("{}: {}", worst.label, worst.outcome.message()))
    };
    absent.or_else(failed).unwrap_or_else(|| run.status.as_str().to_owned())
}

fn human(captured: &[Captured], name: &str) -> String {
    let mut text = String::new();
    for Captured { name: scenario, outcome } in captured {
        match outcome {
            Ok(Measures { baseline, missing }) => {
                let line = format!("{scenario}: captured from {} runs", baseline.runs);
                let _ = writeln!(text, "{}\n{}", plain::line(&line), table(&baseline.metrics).trim_end());
                for (metric, reason) in missing {
                    let _ =
                        writeln!(text, "  {:<26} {}", metric.as_str(), plain::line(&format!("not captured: {reason}")));
                }
            }
            Err(Refused { reason, .. }) => {
                let _ = writeln!(text, "{}", plain::line(&format!("{scenario}: not captured: {reason}")));
            }
        }
    }
    if captured.iter().any(|captured| captured.outcome.is_ok()) {
        let _ = writeln!(text, "wrote {}", plain::line(name));
    }
    text
}

fn json(captured: &[Captured], path: &str) -> anyhow::Result<String> {
    let (mut stored, mut refused, mut unmeasured) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for Captured { name, outcome } in captured {
        match outcome {
            Ok(Measures { baseline, missing }) => {
                stored.insert(name, baseline);
                let reasons = missing.iter().map(|(metric, reason)| (metric.as_str(), reason.as_str()));
                unmeasured.insert(name, reasons.collect::<BTreeMap<_, _>>());
            }
            Err(reason) => drop(refused.insert(name, &reason.reason)),
        }
    }
    output::json(&json!({
        "speclens": 1,
        "path": path,
        "captured": stored,
        "refused": refused,
        "unmeasured": unmeasured,
    }))
}

fn exit_code(captured: &[Captured], result: &SuiteResult) -> u8 {
    let is = |wanted: fn(Status) -> bool| {
        captured.iter().any(|captured| captured.outcome.as_ref().is_err_and(|refused| wanted(refused.status)))
    };
    if is(|status| status == Status::Fail) {
        FAILED
    } else if is(|_| true) || result.cases.is_empty() {
        INCONCLUSIVE
    } else {
        PASSED
    }
}

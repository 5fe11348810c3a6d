//! `speclens audit`: damages recorded runs one fault at a time, and reports the faults that no assertion notices.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context, ensure};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use speclens_runner::{
    event::{CaseResult, RunResult, SuiteResult},
    report::{
        SuiteReport,
        audit::{self, AuditReport, AuditedTest},
        github, sarif,
    },
    write::{self, Readers},
};
use speclens_schema::{
    audit::{Effect, Tally, Tried, audit as audited, passes_on},
    evidence::Evidence,
    files::Inputs,
    mask::Secrets,
    suite::{Case, Suite},
    words::plural,
    write::{Remedy, remedies},
};
use tokio_util::sync::CancellationToken;

use super::{
    FAILED, INCONCLUSIVE, INTERRUPTED, INVALID, PASSED,
    discover::Wanted,
    levels::Levels,
    load::{self, Loaded},
    output,
    passing::{of_passing, passing, recorded},
    select,
};

/// The options of `speclens audit`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Suites or directories to search
    paths: Vec<PathBuf>,
    #[command(flatten)]
    select: select::Selection,
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Minimum share of the faults that must be noticed, from 0 to 1; overrides `audit.minimum` of `speclens.yaml`
    #[arg(long, value_name = "SHARE", value_parser = share)]
    minimum: Option<f64>,
    /// File with accepted faults, which are not reported
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Accept the faults that no assertion notices now, by writing them to the baseline
    #[arg(long, requires = "baseline")]
    update_baseline: bool,
}

/// Output formats of an audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Human,
    Json,
    /// JUnit's XML, for build servers
    Junit,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Workflow commands that annotate lines on GitHub
    Github,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected a number from 0 to 1".to_owned())
}

/// A survivor that the user accepts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Accepted {
    suite: String,
    test: String,
    operator: String,
    what: String,
}

impl Accepted {
    fn of(report: &SuiteReport, case: &Case, tried: &Tried) -> Accepted {
        let (operator, what) = (tried.fault.operator.as_str().to_owned(), tried.fault.what.clone());
        Accepted { suite: report.source.path.clone(), test: case.name.clone(), operator, what }
    }
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    let known = match &args.baseline {
        Some(path) => read_baseline(path, args.update_baseline)?,
        None => BTreeSet::new(),
    };
    let load::Load { suites, failures, activity } = load::suites(&args.paths, Wanted::Suites, &Levels::default());
    failures.iter().for_each(output::complain);
    if suites.is_empty() {
        return Ok(INVALID);
    }
    let chosen = args.select.cases(&suites)?;
    let minimums: Vec<Option<f64>> =
        suites.iter().map(|loaded| args.minimum.or(loaded.workspace.settings.audit.minimum)).collect();
    let cancel = CancellationToken::new();
    drop(activity);
    let mut reports = Vec::new();
    let mut refused = false;
    for (loaded, cases) in suites.into_iter().zip(chosen) {
        if loaded.report.is_refused() {
            refused = true;
            let path = &loaded.report.source.path;
            output::complain(&anyhow::anyhow!("`{path}` has errors and was not audited; run `speclens check`"));
            continue;
        }
        reports.push(audit_of(loaded, cases, &known, &cancel)?);
    }
    if cancel.is_cancelled() {
        return Ok(INTERRUPTED);
    }
    if let Some(path) = args.baseline.as_deref().filter(|_| args.update_baseline) {
        write_baseline(path, &reports)?;
    }
    print(args.format, &reports, &failures)?;
    if refused || !failures.is_empty() {
        return Ok(INVALID);
    }
    if reports.iter().all(|report| report.tally().tried() == 0) {
        return Ok(INCONCLUSIVE);
    }
    let is_below = |(report, minimum): (&AuditReport, &Option<f64>)| {
        report.tally().rate().zip(*minimum).is_some_and(|(rate, minimum)| rate < minimum)
    };
    if reports.iter().zip(&minimums).any(is_below) {
        return Ok(FAILED);
    }
    let is_open = |(report, minimum): (&AuditReport, &Option<f64>)| {
        minimum.is_some() && report.tests.iter().any(|test| test.lacks_result)
    };
    Ok(if reports.iter().zip(&minimums).any(is_open) { INCONCLUSIVE } else { PASSED })
}

/// Audits the first passing attempt of each test, by the order of its models.
fn audit_of(
    loaded: Loaded,
    cases: BTreeSet<usize>,
    known: &BTreeSet<Accepted>,
    cancel: &CancellationToken,
) -> anyhow::Result<AuditReport> {
    let (result, loaded) = recorded(loaded, cases.clone(), Some(cancel))?;
    let report = &loaded.report;
    let (suite, secrets) = (&report.suite, &report.source.secrets);
    let mut tests = Vec::new();
    for outcome in result.cases.iter().filter(|outcome| cases.contains(&outcome.case)) {
        let case = &suite.cases[outcome.case];
        let passing = passing(outcome);
        let is_one_of_several = |run: &&RunResult| outcome.runs.iter().any(|other| other.subject != run.subject);
        let subject = passing.as_ref().ok().filter(|run| is_one_of_several(run)).map(|run| run.subject.to_string());
        let audit = passing.and_then(|run| {
            let evidence = run.evidence.get().ok_or("its recording no longer exists")?;
            audited(case, suite.dialect, &evidence, secrets).ok_or_else(|| "no assertion was judged".to_owned())
        });
        let tried = audit.iter().flat_map(|audit| &audit.tried).enumerate();
        let is_accepted =
            |tried: &Tried| tried.effect == Effect::Survived && known.contains(&Accepted::of(report, case, tried));
        let accepted = tried.filter(|(_, tried)| is_accepted(tried)).map(|(index, _)| index).collect();
        let remedies = match &audit {
            Ok(audit) if Tally::of(&audit.tried).survived > 0 => remedies_of(&loaded, case, outcome),
            Ok(_) | Err(_) => Vec::new(),
        };
        let lacks_result = audit.is_err() && outcome.runs.iter().any(|run| run.absence.is_some());
        tests.push(AuditedTest {
            case: outcome.case,
            subject,
            audit,
            lacks_result,
            accepted,
            remedies,
            passes_on: Vec::new(),
        });
    }
    find_alike(suite, &result, secrets, &mut tests);
    Ok(AuditReport { report: loaded.report, tests })
}

/// Returns assertions that would notice survivors of a test.
fn remedies_of(loaded: &Loaded, case: &Case, outcome: &CaseResult) -> Vec<Remedy> {
    of_passing(loaded, case, outcome, |document, attempts, look| {
        let (dialect, secrets) = (loaded.report.suite.dialect, &loaded.report.source.secrets);
        remedies(document, case, dialect, attempts, secrets, look)
    })
    .unwrap_or_default()
}

/// Maximum number of other tests on whose runs a test is tried.
const MAX_OTHERS: usize = 50;

/// Finds the tests that also pass on the recorded run of another one.
fn find_alike(suite: &Suite, result: &SuiteResult, secrets: &Secrets, tests: &mut [AuditedTest]) {
    let evidence = |outcome: &CaseResult| Some((outcome.case, passing(outcome).ok()?.evidence.get()?));
    let recorded: Vec<(usize, Arc<Evidence>)> = result.cases.iter().filter_map(evidence).take(MAX_OTHERS).collect();
    for test in tests.iter_mut().filter(|test| test.audit.is_ok()) {
        let case = &suite.cases[test.case];
        let key = |case: &Case| {
            Some(case.action.key(suite.dialect.as_str(), case.action.subjects().first()?, &Inputs::new()))
        };
        let is_other = |other: &Case| other.action.kind() == case.action.kind() && key(other) != key(case);
        let others = recorded.iter().filter(|(other, _)| is_other(&suite.cases[*other]));
        let alike = others.filter(|(_, evidence)| passes_on(case, evidence, secrets));
        test.passes_on = alike.map(|(other, _)| suite.cases[*other].name.clone()).collect();
    }
}

fn print(format: Format, reports: &[AuditReport], failures: &[anyhow::Error]) -> anyhow::Result<()> {
    let problems = || reports.iter().map(AuditReport::as_problems).collect::<Vec<_>>();
    match format {
        Format::Human => output::print(&audit::human(reports)),
        Format::Json => {
            let failures: Vec<String> = failures.iter().map(|error| format!("{error:#}")).collect();
            output::print(&output::json(&audit::json(reports, &failures))?)
        }
        Format::Junit => output::print_plain(&audit::junit(reports)),
        Format::Sarif => output::print_plain(&sarif::render(&problems())),
        Format::Github => output::print_plain(&github::render(&problems())),
    }
}

/// Reads the accepted survivors. A file that is to be written need not exist.
fn read_baseline(path: &Path, is_written: bool) -> anyhow::Result<BTreeSet<Accepted>> {
    if is_written {
        return Ok(BTreeSet::new());
    }
    let text = fs::read_to_string(path).with_context(|| {
        format!("cannot read the baseline `{}`; write one with `--update-baseline`", path.display())
    })?;
    serde_json::from_str(&text).with_context(|| format!("`{}` is not a baseline of an audit", path.display()))
}

fn write_baseline(path: &Path, reports: &[AuditReport]) -> anyhow::Result<()> {
    let mut accepted = BTreeSet::new();
    for AuditReport { report, tests } in reports {
        for test in tests {
            let case = &report.suite.cases[test.case];
            accepted.extend(test.survivors().map(|tried| Accepted::of(report, case, tried)));
        }
    }
    let is_spec = path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
    ensure!(!is_spec, "cannot write a baseline to `{}`: suites have this extension", path.display());
    let text = output::json(&accepted)?;
    write::replace(path, text, Readers::Usual).with_context(|| format!("cannot write `{}`", path.display()))?;
    output::note(&format!("accepted {} in `{}`", plural(accepted.len(), "fault"), path.display()));
    Ok(())
}

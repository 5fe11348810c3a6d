//! `speclens run`: runs suites, or evaluates their recordings.

mod accept;
mod dry;
mod progress;
mod rerecord;
mod targets;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{bail, ensure};
use rerecord::Rerecording;
use speclens_runner::{
    clock::Clock,
    event::{AbsenceKind, CaseResult, SuiteResult},
    model::{Models, manual},
    report::{SuiteReport, compliance, github, html, human, json, junit, sarif},
    run::{Job, Mode, Options, planned},
};
use speclens_schema::{
    mask::Secrets,
    script,
    suite::{Action, Case, HelpMode, Suite, program_of},
    verdict::Status,
    words::{self, plural},
};
use targets::{ReportKind, ReportTarget};
use tokio::{runtime::Runtime, sync::mpsc};
use tokio_util::sync::CancellationToken;

use crate::{
    clawspec::ReportRequest,
    cli::{
        INCONCLUSIVE, INTERRUPTED, INVALID, PASSED,
        discover::Wanted,
        exit_code, levels,
        load::{self, Loaded},
        output, select,
        shard::ShardArg,
    },
    job::Prepared,
    processes, threads,
};

/// The options of `speclens run`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Suites or directories to search
    paths: Vec<PathBuf>,
    #[command(flatten)]
    select: select::Selection,
    /// Run only tests whose last recorded run did not pass or is stale
    #[arg(long)]
    failed: bool,
    /// Run one of N parts of the tests, which take about equally long: `1/4`, or `auto` for the part that a CI system, Bazel,
    /// Kubernetes or Slurm assigns; merge their recordings with `speclens merge`
    #[arg(long, value_name = "I/N|auto", conflicts_with_all = ["recorded", "judge_only"])]
    shard: Option<ShardArg>,
    /// Maximum number of attempts that run at the same time; overrides the suite
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Number of attempts per test, for tests without `repeat`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    repeat: Option<u32>,
    /// Time limit of one attempt in seconds; overrides the suite
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    timeout: Option<u64>,
    /// Address of the gateway that starts skills; overrides `clawspec.yaml` and the environment
    #[arg(long, value_name = "URL")]
    gateway: Option<String>,
    /// Model that attempts the tasks; replaces the models of the suite (repeatable)
    #[arg(long = "model", value_name = "ID")]
    models: Vec<String>,
    /// Help that models get about the program of a cli-bench suite; replaces the modes of the suite (repeatable)
    #[arg(long = "help-mode", value_name = "MODE", value_parser = help_mode)]
    help_modes: Vec<HelpMode>,
    /// Evaluate recordings without running anything
    #[arg(long, conflicts_with_all = ["dry_run", "jobs", "timeout", "fail_fast"])]
    recorded: bool,
    /// With `--recorded`: a missing or stale recording is a failure (exit status 1), and the report says what changed
    #[arg(long, requires = "recorded", conflicts_with_all = ["ask", "accept"])]
    strict: bool,
    /// With `--recorded`: ask judges about recordings that they have not scored yet
    #[arg(long, requires = "recorded")]
    ask: bool,
    /// Evaluate the current state of ClawSpec targets without starting or recording anything
    #[arg(long, conflicts_with_all = ["recorded", "dry_run", "failed", "keep_workdir"])]
    judge_only: bool,
    /// With `--recorded`: write what the recordings show in place of what failing assertions expect, and print the changes
    #[arg(long, requires = "recorded")]
    accept: bool,
    /// Print the changes of `--accept` as a unified diff without applying them
    #[arg(long, requires = "accept", conflicts_with = "reports")]
    diff: bool,
    /// Run the tests again, and print what differs from their recordings before these are replaced
    #[arg(long, conflicts_with_all = ["recorded", "judge_only", "dry_run"])]
    rerecord: bool,
    /// Run to evaluate with `--judge-only` (defaults to the newest recorded run) or in handoff contracts (no default)
    #[arg(long, value_name = "ID", conflicts_with = "recorded")]
    run_id: Option<String>,
    /// Show what would run and check the preconditions of ClawSpec scenarios, without running anything
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    levels: levels::LevelArgs,
    /// Start no more tests after the first failure
    #[arg(long)]
    fail_fast: bool,
    /// Keep the temporary directories of tasks and print their paths
    #[arg(long, conflicts_with_all = ["recorded", "dry_run"])]
    keep_workdir: bool,
    /// Report to write: human, html (a page for browsers), json, junit, sarif, github, compliance (of KindLM suites) or
    /// clawspec; to standard output, or to FILE (for clawspec: a directory) (repeatable)
    #[arg(long = "report", value_name = "KIND[=FILE]")]
    reports: Vec<ReportTarget>,
    /// Set an option: `report.evidence=true` adds the evidence to the JSON report
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
}

fn help_mode(text: &str) -> Result<HelpMode, String> {
    let names = || HelpMode::ALL.map(HelpMode::as_str).join(", ");
    let found = HelpMode::ALL.into_iter().find(|mode| mode.as_str() == text);
    found.ok_or_else(|| format!("unknown help mode `{text}`; choose one of {}", names()))
}

fn seconds(text: &str) -> Result<u64, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("`{text}` is not a number of seconds"))?;
    let millis = (seconds * 1000.0).round();
    if (1.0..=86_400_000.0).contains(&millis) {
        // In range, so the conversion is exact.
        Ok(millis as u64)
    } else {
        Err("expected a number of seconds from 0.001 to 86400".to_owned())
    }
}

impl Args {
    fn mode(&self) -> Mode {
        match (self.recorded, self.ask) {
            (true, true) => Mode::Asking,
            (true, false) => Mode::Recorded,
            (false, _) if self.judge_only => Mode::Present,
            (false, _) => Mode::Live,
        }
    }
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    ensure!(
        !args.dry_run || args.reports.is_empty(),
        "`--report` has no effect with `--dry-run`; remove one of the two, or use `speclens list --format json`"
    );
    let targets = targets::targets(&args.reports)?;
    let content = content(&args.settings)?;
    let clock = Clock::from_environment()?;
    let levels = args.levels.levels()?;
    let load::Load { mut suites, failures, .. } = load::suites(&args.paths, Wanted::Suites, &levels);
    load::look_at_parts(&mut suites, &args.models, &levels);
    failures.iter().for_each(output::complain);
    if suites.is_empty() && args.reports.is_empty() {
        return Ok(INVALID);
    }
    suites.iter_mut().for_each(|loaded| adjust(loaded, args));
    let mut chosen = args.select.cases(&suites)?;
    // The exit status for tests of which nothing is known.
    let mut unjudged = PASSED;
    let runtime = threads::runtime()?;
    let cancel = CancellationToken::new();
    end_with(&runtime, &cancel);
    let actors = Options { models: args.models.clone(), help_modes: args.help_modes.clone(), ..Options::default() };
    if args.failed {
        let past = runtime.block_on(LastResults::of(&suites, &chosen, clock, actors.clone()));
        if let Some(sentence) = past.nothing_failed() {
            output::note(&sentence);
        }
        if past.knows_nothing() {
            unjudged = INCONCLUSIVE;
        }
        chosen = past.failing;
    }
    if let Some(shard) = args.shard {
        let shard = shard.resolve(|name| std::env::var(name).ok())?;
        let past = runtime.block_on(LastResults::of(&suites, &chosen, clock, actors.clone()));
        let all = chosen.iter().map(BTreeSet::len).sum();
        chosen = shard.part(&suites, &chosen, |suite, case| past.durations_ms.get(&(suite, case)).copied());
        output::note(&shard.sentence(&chosen, all));
    }
    if args.accept {
        let shared = (clock, &runtime, &cancel);
        let accepted = accept::accept(&mut suites, &chosen, &actors, shared, &|loaded| adjust(loaded, args));
        let show = if is_human(&targets) { output::print } else { output::print_aside };
        show(&accepted.diff())?;
        if args.diff {
            accepted.describe("`--accept` would change");
            let bad = !failures.is_empty() || suites.iter().any(|loaded| loaded.report.is_refused());
            return Ok(if bad { INVALID } else { PASSED });
        }
        if cancel.is_cancelled() {
            return Ok(INTERRUPTED);
        }
        if !accepted.write() {
            return Ok(INVALID);
        }
        accepted.describe("accepted");
        load::look_at_parts(&mut suites, &args.models, &levels);
    }
    let narrowed = args.failed || args.shard.is_some() || !args.select.is_empty();
    if narrowed {
        suites.iter_mut().zip(&chosen).for_each(|(loaded, cases)| loaded.report.select(cases));
    }

    let prepared: Vec<Option<Prepared>> =
        suites.iter().map(|loaded| loaded.prepare(&loaded.report.suite, clock, args.gateway.as_deref()).ok()).collect();
    let described: Vec<dry::Chosen<'_>> = suites
        .iter()
        .zip(&chosen)
        .zip(&prepared)
        .map(|((loaded, cases), prepared)| dry::Chosen { loaded, cases, prepared: prepared.as_ref() })
        .collect();
    check_actors(&args.models, !args.help_modes.is_empty(), &described)?;
    let has_triggers = described.iter().any(dry::Chosen::has_triggers);
    for (option, is_given) in
        [("--judge-only", args.judge_only), ("--gateway", args.gateway.is_some()), ("--run-id", args.run_id.is_some())]
    {
        ensure!(
            !is_given || has_triggers,
            "`{option}` applies only to ClawSpec scenarios, handoffs and pipelines, and none is selected"
        );
    }
    if args.dry_run {
        let refused = !failures.is_empty() || suites.iter().any(|loaded| loaded.report.is_refused());
        return dry_run(args, &described, refused, &runtime, &cancel);
    }

    let quiet = !is_human(&targets);
    let mut reports = Vec::new();
    // The suites after a failure are still reported as not run.
    let mut given_up = false;
    let mut lost = false;
    let mut clawspec_reports = 0;
    for ((loaded, cases), prepared) in suites.into_iter().zip(chosen).zip(prepared) {
        let prepared = match prepared {
            // A suite without a chosen test is left out.
            Some(_) if narrowed && cases.is_empty() => continue,
            Some(prepared) => prepared,
            None => {
                reports.push(loaded.report);
                continue;
            }
        };
        let options = Options {
            mode: args.mode(),
            observed_run: args.run_id.clone(),
            cases: Some(cases),
            concurrency: Some(prepared.concurrency(args.jobs.map(usize::from))),
            fail_fast: args.fail_fast,
            keep_directories: args.keep_workdir,
            strict: args.strict,
            given_up,
            ..actors.clone()
        };
        let secrets = Arc::clone(&loaded.report.source.secrets);
        let rerecording = args.rerecord.then(|| Rerecording::begin(&prepared, &options, &runtime));
        let job = match &rerecording {
            Some(rerecording) => prepared.job(Arc::clone(&rerecording.store)),
            None => prepared.recording_job(),
        };
        let result = runtime.block_on(run_job(job, secrets, options, cancel.clone(), quiet));
        if let Some(rerecording) = rerecording.filter(|_| !cancel.is_cancelled())
            && let Err(error) = rerecording.finish(&prepared, &loaded, &result)
        {
            output::complain(&error);
            lost = true;
        }
        match write_clawspec(&prepared, &result, &targets, &clock.now()) {
            Ok(written) => clawspec_reports += written,
            Err(error) => {
                output::complain(&error);
                lost = true;
            }
        }
        given_up |= args.fail_fast && (result.failed || result.inconclusive);
        let mut report = loaded.report;
        report.result = Some(result);
        reports.push(report);
    }
    let cancelled = cancel.is_cancelled();
    if clawspec_reports == 0 && !lost && targets.iter().any(|target| target.kind == ReportKind::ClawSpec) {
        output::note("no ClawSpec report was written, because no ClawSpec scenario ran");
    }
    // The end of the process ends its threads: there is no need to wait for them.
    std::mem::forget(runtime);
    let failures: Vec<String> = failures.iter().map(|error| format!("{error:#}")).collect();
    lost |= !write(&targets, &reports, &failures, content, &clock.now());
    let code =
        if (lost || !failures.is_empty()) && !cancelled { INVALID } else { exit_code::of_run(&reports, cancelled) };
    let code = if code == PASSED { unjudged } else { code };
    // They may be large, and the end of the process frees them at once.
    std::mem::forget(reports);
    Ok(code)
}

/// Whether a report for people is written to standard output.
fn is_human(targets: &[ReportTarget]) -> bool {
    targets.iter().any(|target| target.kind == ReportKind::Human && target.file.is_none())
}

/// Describes what would run, and checks the preconditions of scenarios. `is_refused`: whether a suite cannot run.
fn dry_run(
    args: &Args,
    described: &[dry::Chosen<'_>],
    is_refused: bool,
    runtime: &Runtime,
    cancel: &CancellationToken,
) -> anyhow::Result<u8> {
    let checked: Vec<_> = described.iter().map(|chosen| runtime.block_on(chosen.checked(cancel.clone()))).collect();
    output::print(&dry::describe(described, &checked, &args.models, &args.help_modes))?;
    let code = checked.iter().flatten().map(|result| exit_code::of_suite(result)).max().unwrap_or(PASSED);
    Ok(match is_refused {
        _ if cancel.is_cancelled() => INTERRUPTED,
        true => INVALID,
        false => code,
    })
}

pub(super) fn end_with(runtime: &Runtime, cancel: &CancellationToken) {
    let token = cancel.clone();
    let _inside = runtime.enter();
    let ending = processes::ending();
    runtime.spawn(async move {
        ending.await;
        token.cancel();
        // After a second interrupt, commands get no time to terminate. Whatever they started ends with the program.
        processes::ending().await;
        std::process::exit(i32::from(INTERRUPTED));
    });
    runtime.spawn(processes::suspending());
}

/// Writes the ClawSpec reports of a run if they are wanted, and prints where. Returns their number.
fn write_clawspec(
    prepared: &Prepared,
    result: &SuiteResult,
    targets: &[ReportTarget],
    now: &str,
) -> anyhow::Result<usize> {
    let target = targets.iter().find(|target| target.kind == ReportKind::ClawSpec);
    let asked = match target.map(|target| target.file.as_deref()) {
        None => ReportRequest::BySettings,
        Some(None) => ReportRequest::Anywhere,
        Some(Some(directory)) => ReportRequest::In(directory),
    };
    let Some(reports) = prepared.reports(asked) else { return Ok(0) };
    let mut written = 0;
    for case in &result.cases {
        for run in &case.runs {
            written += reports.write(case.case, run, now)?;
        }
    }
    let place = load::shown(reports.directory());
    if written > 0 {
        output::note(&format!("wrote {} to `{place}`", plural(written, "report")));
    }
    Ok(written)
}

/// Writes each report to its target. Returns whether all of them were written: a failure does not prevent the others.
fn write(
    targets: &[ReportTarget],
    reports: &[SuiteReport],
    failures: &[String],
    content: json::Content,
    now: &str,
) -> bool {
    let mut all = true;
    for target in targets {
        let text = match target.kind {
            ReportKind::Human => {
                human::run(reports, if target.file.is_some() { output::PAGE_COLUMNS } else { output::columns() })
            }
            ReportKind::Html => html::run(reports, failures, now, None),
            ReportKind::Json => json::render(reports, failures, content),
            ReportKind::Junit => junit::render(reports),
            ReportKind::Sarif => sarif::render(reports),
            ReportKind::Github => github::render(reports),
            ReportKind::Compliance if target.is_json() => compliance::json(reports, now),
            ReportKind::Compliance => compliance::markdown(reports, now),
            // Written after each suite.
            ReportKind::ClawSpec => continue,
        };
        let written = match (&target.file, target.kind) {
            (Some(file), _) => output::write(file, &text),
            (None, ReportKind::Human) => output::print(&text),
            (None, _) => output::print_plain(&text),
        };
        if let Err(error) = written {
            output::complain(&error);
            all = false;
        }
    }
    all
}

fn content(settings: &[String]) -> anyhow::Result<json::Content> {
    let mut content = json::Content { cases: true, evidence: false };
    for text in settings {
        match select::setting(text)? {
            ("report.evidence", "true") => content.evidence = true,
            ("report.evidence", "false") => content.evidence = false,
            ("report.evidence", other) => bail!("expected `true` or `false` for `report.evidence`, found `{other}`"),
            (key, _) => bail!("unknown option `{key}` for `--set`; the only option is `report.evidence`"),
        }
    }
    Ok(content)
}

fn adjust(loaded: &mut Loaded, args: &Args) {
    if args.repeat.is_none() && args.timeout.is_none() {
        return;
    }
    let document = &loaded.report.source.document;
    let adjusted = |case: &Arc<Case>| {
        let mut case = Case::clone(case);
        let document = case.file.as_ref().map_or(document, |file| &file.document);
        let own = document.find(&case.at).is_some_and(|node| node.get("repeat").is_some());
        if let Some(repeat) = args.repeat.filter(|_| !own) {
            case.repeat = repeat;
        }
        match &mut case.action {
            Action::Command(command) => command.timeout_ms = args.timeout.unwrap_or(command.timeout_ms),
            Action::Agent(task) => task.timeout_ms = args.timeout.or(task.timeout_ms),
            Action::Trigger(trigger) => trigger.timeout_ms = args.timeout.unwrap_or(trigger.timeout_ms),
            Action::Prompt(prompt) => prompt.timeout_ms = args.timeout.unwrap_or(prompt.timeout_ms),
            Action::None => {}
        }
        Arc::new(case)
    };
    let cases = loaded.report.suite.cases.iter().map(adjusted).collect();
    loaded.report.suite = Arc::new(Suite { cases, ..Suite::clone(&loaded.report.suite) });
}

pub(super) async fn run(
    prepared: &Prepared,
    secrets: Arc<Secrets>,
    options: Options,
    cancel: CancellationToken,
    quiet: bool,
) -> Arc<SuiteResult> {
    run_job(prepared.recording_job(), secrets, options, cancel, quiet).await
}

async fn run_job(
    job: Job,
    secrets: Arc<Secrets>,
    options: Options,
    cancel: CancellationToken,
    quiet: bool,
) -> Arc<SuiteResult> {
    let (sender, receiver) = mpsc::unbounded_channel();
    let planned = planned(&job.suite, &options);
    let shown = tokio::spawn(progress::show(receiver, Arc::clone(&job.suite), planned, secrets, cancel.clone(), quiet));
    let result = speclens_runner::run::run(job, options, cancel, sender).await;
    // The events end with the run.
    let _ = shown.await;
    result
}

fn check_actors(models: &[String], has_help_modes: bool, suites: &[dry::Chosen<'_>]) -> anyhow::Result<()> {
    if models.is_empty() && !has_help_modes {
        return Ok(());
    }
    let may_run = || suites.iter().filter_map(|suite| Some((suite, suite.models()?)));
    // A refused suite has its own errors.
    if suites.iter().any(|suite| suite.prepared.is_none()) {
        return Ok(());
    }
    let with_tasks: Vec<_> = may_run().filter(|(suite, _)| has_tasks(suite)).collect();
    let option = if models.is_empty() { "--help-mode" } else { "--model" };
    ensure!(
        !with_tasks.is_empty(),
        "`{option}` applies only to cli-bench tasks and KindLM prompts, and none is selected"
    );
    for id in models {
        for (suite, own) in &with_tasks {
            if let Some(sentence) = unknown(id, suite, own) {
                bail!(sentence);
            }
        }
    }
    Ok(())
}

fn has_tasks(suite: &dry::Chosen<'_>) -> bool {
    let cases = &suite.loaded.report.suite.cases;
    suite.cases.iter().any(|&index| matches!(cases[index].action, Action::Agent(_) | Action::Prompt(_)))
}

fn unknown(id: &str, suite: &dry::Chosen<'_>, models: &Models) -> Option<String> {
    // For these, only a request shows whether they work: there is one terminal, and a program is any command.
    if id == manual::ID || program_of(id).is_some() {
        return None;
    }
    let is_script = id.starts_with("scripted:") || script::file_of(id).is_some();
    let error = if is_script { models.open(id).err()? } else { models.describe(id).err()? };
    let mut known: BTreeSet<String> = scripts(&suite.loaded.directory);
    for case in &suite.loaded.report.suite.cases {
        match &case.action {
            Action::Agent(agent) => known.extend(agent.surroundings.models.iter().cloned()),
            Action::Prompt(prompt) => known.extend(prompt.models.iter().map(|model| model.id.clone())),
            Action::Command(_) | Action::Trigger(_) | Action::None => {}
        }
    }
    // A suite describes its own models.
    if suite.cases.iter().any(|&index| match &suite.loaded.report.suite.cases[index].action {
        Action::Prompt(prompt) => prompt.models.iter().any(|model| model.id == id),
        Action::Command(_) | Action::Agent(_) | Action::Trigger(_) | Action::None => false,
    }) {
        return None;
    }
    known.remove(id);
    // An id without its provider means the model with this name.
    let end = |known: &&String| known.rsplit('/').next() == Some(id);
    let near = known.iter().find(end).map(String::as_str);
    let near = near.or_else(|| words::nearest(id, known.iter().map(String::as_str)));
    let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    Some(format!("`--model {id}`: {}{near}", error.message))
}

fn scripts(directory: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| script::id_of(entry.file_name().to_str()?)).collect()
}

/// The last results of the chosen tests.
pub(super) struct LastResults {
    /// The tests of each suite whose recordings do not pass, or do not match what the test does now.
    pub(super) failing: Vec<BTreeSet<usize>>,
    /// The durations of the tests in milliseconds, by suite and case.
    durations_ms: BTreeMap<(usize, usize), f64>,
    recorded: usize,
    /// Number of tests without a recording.
    unrecorded: usize,
    /// Whether a suite is refused, so that its recordings are not judged.
    refused: bool,
}

impl LastResults {
    /// Judges the recordings of the chosen tests; `options` has the models and help modes.
    pub(super) async fn of(
        suites: &[Loaded],
        chosen: &[BTreeSet<usize>],
        clock: Clock,
        options: Options,
    ) -> LastResults {
        let durations_ms = BTreeMap::new();
        let mut past = LastResults { failing: Vec::new(), durations_ms, recorded: 0, unrecorded: 0, refused: false };
        for (loaded, cases) in suites.iter().zip(chosen) {
            let Ok(prepared) = loaded.prepare(&loaded.report.suite, clock, None) else {
                past.refused = true;
                past.failing.push(BTreeSet::new());
                continue;
            };
            let options = Options { mode: Mode::Recorded, cases: Some(cases.clone()), ..options.clone() };
            let result = prepared.results(options, CancellationToken::new()).await;
            let is_unrecorded = |case: &&CaseResult| has(case, AbsenceKind::NoRecording);
            let unrecorded = result.cases.iter().filter(is_unrecorded).count();
            past.unrecorded += unrecorded;
            past.recorded += result.cases.iter().filter(|case| !case.runs.is_empty()).count() - unrecorded;
            let failing = result
                .cases
                .iter()
                .filter(|case| matches!(case.status, Status::Fail | Status::Error) || has(case, AbsenceKind::Stale));
            past.failing.push(failing.map(|case| case.case).collect());
            for case in &result.cases {
                let measured = case.runs.iter().filter_map(|run| run.figures.duration_ms);
                if let Some(duration_ms) = measured.reduce(|sum, more| sum + more) {
                    past.durations_ms.insert((past.failing.len() - 1, case.case), duration_ms);
                }
            }
        }
        past
    }

    /// Whether there is nothing to run, and nothing is known of any test: that is not a success.
    pub(super) fn knows_nothing(&self) -> bool {
        self.recorded == 0 && self.unrecorded > 0 && !self.refused
    }

    pub(super) fn nothing_failed(&self) -> Option<String> {
        if self.refused || self.failing.iter().any(|cases| !cases.is_empty()) {
            return None;
        }
        Some(match (self.recorded, self.unrecorded) {
            (0, _) => "nothing to run: these tests have no recordings; run them without `--failed`".to_owned(),
            (_, 0) => "nothing to run: no test failed in its last run".to_owned(),
            (_, 1) => "nothing to run: no test failed in its last run; 1 test has no recording".to_owned(),
            (_, count) => {
                format!("nothing to run: no test failed in its last run; {count} tests have no recordings")
            }
        })
    }
}

fn has(case: &CaseResult, kind: AbsenceKind) -> bool {
    case.runs.iter().any(|run| run.absence.as_ref().is_some_and(|absence| absence.kind == kind))
}

//! Performs the cases of a suite, or judges their recordings.

mod asking;
mod attempt;
mod budget;
mod from_evidence;
mod masked;
mod stop_repeats;
mod turn;

use std::{
    collections::BTreeSet,
    path::PathBuf,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::Instant,
};

use speclens_schema::{
    dialect::{CaseOutcome, GateReport, RunOutcome, cli_bench::config::HelpMode},
    evidence::RunErrorKind,
    mask::Secrets,
    suite::{Action, Subject, Suite},
    verdict::Status,
    words::plural,
};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

pub use from_evidence::from_evidence;

use crate::{
    clock::Clock,
    event::{CaseResult, Event, Events, RunResult, SuiteResult},
    evidence_store::EvidenceStore,
    exec::{
        agent::Version,
        process::{Background, Until},
    },
    files::DiskFiles,
    gateway::Gateway,
    model::Models,
    recording,
    trace::Traces,
};
use stop_repeats::AllAttempts;
pub use stop_repeats::left_out;

/// A suite to run, and its surroundings.
#[derive(Clone, Debug)]
pub struct Job {
    /// The suite.
    pub suite: Arc<Suite>,
    /// The directory of the suite: commands run there.
    pub directory: PathBuf,
    /// The files of the workspace on disk.
    pub files: Arc<DiskFiles>,
    /// The store of evidence.
    pub store: Arc<EvidenceStore>,
    /// The secrets, which must not be shown.
    pub secrets: Arc<Secrets>,
    /// The current time.
    pub clock: Clock,
    /// Maximum number of bytes of each output stream that are kept.
    pub output_limit: usize,
    /// The models that can be asked.
    pub models: Arc<Models>,
    /// The gateway for targets that run elsewhere; `None` if the suite has none.
    pub gateway: Option<Arc<Gateway>>,
    /// The source of traces.
    pub traces: Arc<Traces>,
    /// Whether tasks are not repeated once the gate of their model is decided.
    pub stop_repeats: bool,
}

/// Options of a run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Source of the evidence.
    pub mode: Mode,
    /// The run whose traces are judged if nothing is started; `None` for that of the newest recording.
    pub observed_run: Option<String>,
    /// The cases to run, by their place in the suite; `None` for all.
    pub cases: Option<BTreeSet<usize>>,
    /// Maximum number of concurrent attempts, instead of that of the suite.
    pub concurrency: Option<usize>,
    /// The ids of the models, instead of those of the suite; empty for those of the suite.
    pub models: Vec<String>,
    /// The help modes, instead of those of the suite; empty for those of the suite.
    pub help_modes: Vec<HelpMode>,
    /// Whether the first failure ends the run.
    pub fail_fast: bool,
    /// Whether the temporary directories of tasks are kept.
    pub keep_directories: bool,
    /// Whether an earlier failure has ended the run before it begins: every attempt is reported as not run.
    pub given_up: bool,
}

/// Source of the evidence of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The actions are performed.
    #[default]
    Live,
    /// The preconditions are observed and judged; nothing is started, and nothing is recorded.
    Preconditions,
    /// The current state of targets is observed and judged; nothing is started, and nothing is recorded.
    Present,
    /// The recordings are judged; nothing is performed.
    Recorded,
    /// The recordings are judged after models were asked the questions of claims that have no recorded answer. Nothing
    /// else is performed.
    Asking,
}

/// A planned attempt.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Unit {
    case: usize,
    subject: Subject,
    repeat: u32,
}

/// The state that all attempts of a run share.
struct Run {
    job: Job,
    mode: Mode,
    observed_run: Option<String>,
    fail_fast: bool,
    keep_directories: bool,
    run_id: String,
    cancel: CancellationToken,
    /// Whether an attempt failed and ended the run.
    stopped: AtomicBool,
    /// The standings of the models, if repeats stop.
    standings: Option<AllAttempts>,
    /// The background processes of commands, if later tests may use them.
    background: Background,
    /// Whether a recording could not be written, and this was reported.
    warned: AtomicBool,
    /// The reason why the script of the gateway is not played.
    unplayed: Option<String>,
    /// Environment variables that commands of an agent do not see.
    hidden: BTreeSet<String>,
    /// The version of the program under test.
    version: Version,
    events: Events,
}

/// Runs a suite. The events end with [`Event::Finished`], which carries the returned value. Dropping the future ends
/// every process.
pub async fn run(job: Job, options: Options, cancel: CancellationToken, events: Events) -> Arc<SuiteResult> {
    let (started, began_us) = (Instant::now(), recording::beginning_us());
    let (job, unplayed) = opened(job, options.mode).await;
    let suite = Arc::clone(&job.suite);
    let selected = selected(&suite, &options);
    let units = plan(&suite, &selected, &options);
    let mut counts = vec![0; suite.cases.len()];
    units.iter().for_each(|unit| counts[unit.case] += 1);
    let may_be_left_out = |unit: &Unit| unit.repeat > 0 && suite.gates.can_be_decided(&unit.subject);
    let stops = job.stop_repeats && units.iter().any(may_be_left_out) && !options.given_up;
    let acts = options.mode == Mode::Live;
    let standings = (stops && acts && stop_repeats::is_whole(&suite, &options)).then(|| AllAttempts::of(&units));
    let run = Arc::new(Run {
        hidden: job.models.hidden_variables(),
        job,
        mode: options.mode,
        observed_run: options.observed_run.clone(),
        fail_fast: options.fail_fast,
        keep_directories: options.keep_directories,
        run_id: new_run_id(),
        cancel,
        stopped: AtomicBool::new(options.given_up),
        standings,
        background: Background::new(Until::Suite),
        warned: AtomicBool::new(false),
        unplayed,
        version: Version::default(),
        events,
    });
    run.send(Event::Started { attempts: units.len() });
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let concurrency = match suite.gateway() {
        // They share a workspace, so they would wait for each other anyway.
        Some(_) => 1,
        None => options.concurrency.unwrap_or_else(|| suite.attempts_at_once(cores)).max(1),
    };
    // The result of an attempt is reported when it is final: if repeats stop, a replay needs all of them for that.
    let settles = stops && !acts;
    let mut runs = perform(&run, &units, concurrency, !settles).await;
    run.background.end().await;
    if settles {
        runs = run.without_spare(&units, runs, stop_repeats::whole(&suite, &options)).await;
        units.iter().zip(&runs).for_each(|(unit, result)| run.tell_result(unit, result));
    }
    let mut runs = runs.into_iter();
    if run.mode == Mode::Live {
        run.tidy(began_us).await;
    }

    let mut cases = Vec::with_capacity(selected.len());
    for index in selected {
        let case = &suite.cases[index];
        let runs: Vec<Arc<RunResult>> = runs.by_ref().take(counts[index]).collect();
        let status = match case.needed.status(runs.iter().map(|run| run.status)) {
            Some(status) => status,
            None if case.skip => Status::Skip,
            // There is no model to ask: nothing was observed.
            None => Status::Unknown,
        };
        cases.push(CaseResult { case: index, status, runs });
    }
    let gates = if options.given_up {
        // Nothing was measured.
        GateReport { gates: Vec::new(), rescued: false }
    } else {
        gates(&suite, &cases)
    };
    let sum = Summary::of(&cases, &gates);
    let result = Arc::new(SuiteResult {
        status: sum.status,
        cases,
        gates,
        failed: sum.failed,
        inconclusive: sum.inconclusive,
        cancelled: run.cancel.is_cancelled(),
        duration: started.elapsed(),
    });
    run.send(Event::Finished(Arc::clone(&result)));
    result
}

/// Starts the script that replaces the gateway, if there is one and the mode needs it.
async fn opened(mut job: Job, mode: Mode) -> (Job, Option<String>) {
    match (&job.gateway, mode) {
        (None, _) | (Some(_), Mode::Recorded) => (job, None),
        (Some(gateway), Mode::Live | Mode::Asking | Mode::Preconditions | Mode::Present) => {
            match gateway.opened(&job.directory, job.clock).await {
                Ok(gateway) => {
                    job.gateway = Some(gateway);
                    (job, None)
                }
                Err(message) => (job, Some(message)),
            }
        }
    }
}

/// Returns the subjects of a run, in the order of the file, each with its number of attempts.
pub fn planned(suite: &Suite, options: &Options) -> Vec<(Subject, usize)> {
    let mut planned: Vec<(Subject, usize)> = Vec::new();
    for unit in plan(suite, &selected(suite, options), options) {
        match planned.iter_mut().find(|(subject, _)| *subject == unit.subject) {
            Some((_, attempts)) => *attempts += 1,
            None => planned.push((unit.subject, 1)),
        }
    }
    planned
}

/// Returns the selected cases, by their place in the suite.
fn selected(suite: &Suite, options: &Options) -> Vec<usize> {
    let is_selected = |index: &usize| options.cases.as_ref().is_none_or(|cases| cases.contains(index));
    (0..suite.cases.len()).filter(is_selected).collect()
}

/// Returns the attempts in the order of the file.
fn plan(suite: &Suite, selected: &[usize], options: &Options) -> Vec<Unit> {
    let mut units = Vec::new();
    for &index in selected {
        let case = &suite.cases[index];
        if case.skip {
            continue;
        }
        let mut subjects = case.action.subjects_of(&options.models, &options.help_modes);
        if subjects.is_empty() && matches!(case.action, Action::None | Action::Agent(_)) {
            subjects.push(Subject::Nobody);
        }
        for subject in subjects {
            for repeat in 0..case.repeat {
                units.push(Unit { case: index, subject: subject.clone(), repeat });
            }
        }
    }
    units
}

/// Performs all units, a few at a time, and returns the results in the units' order.
async fn perform(run: &Arc<Run>, units: &[Unit], concurrency: usize, tells: bool) -> Vec<Arc<RunResult>> {
    let mut order: Vec<usize> = (0..units.len()).collect();
    if run.standings.is_some() {
        // By repeat, so all tasks have equally many attempts if the rest is omitted.
        order.sort_by_key(|index| units[*index].repeat);
    }
    let next = Arc::new(Mutex::new(order.into_iter()));
    let shared: Arc<[Unit]> = units.into();
    let results: Arc<[OnceLock<Arc<RunResult>>]> = units.iter().map(|_| OnceLock::new()).collect();
    let mut workers = JoinSet::new();
    for _ in 0..concurrency.min(units.len()) {
        let (run, units, next) = (Arc::clone(run), Arc::clone(&shared), Arc::clone(&next));
        let results = Arc::clone(&results);
        workers.spawn(async move {
            loop {
                let picked = {
                    let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
                    // A later repeat has a later beginning.
                    next.next().map(|index| (index, recording::beginning_us()))
                };
                let Some((index, began_us)) = picked else { break };
                let unit = &units[index];
                let result = Arc::new(run.attempt(unit, began_us).await);
                if tells {
                    run.tell_result(unit, &result);
                }
                // Each attempt has one worker.
                let _ = results[index].set(result);
            }
        });
    }
    while workers.join_next().await.is_some() {}
    // A worker that panicked leaves a gap: nothing was observed there.
    let hole = |unit: &Unit| {
        let message = "the run ended before this was evaluated; this is a bug in speclens";
        Arc::new(run.failed(unit, RunErrorKind::Defect, message))
    };
    results.iter().zip(units).map(|(result, unit)| result.get().cloned().unwrap_or_else(|| hole(unit))).collect()
}

impl Run {
    fn send(&self, event: Event) {
        // Without a listener, the result is still returned.
        let _ = self.events.send(event);
    }

    fn tell_result(&self, unit: &Unit, result: &Arc<RunResult>) {
        self.send(Event::AttemptFinished { case: unit.case, run: Arc::clone(result) });
    }
}

/// Returns the results of the gates over the selected tests. For a part of the tests they mean less than for all, and
/// say so. The attempts that an earlier failure prevented could have changed any result that is good.
fn gates(suite: &Suite, cases: &[CaseResult]) -> GateReport {
    let outcomes: Vec<CaseOutcome<'_>> =
        cases.iter().map(|case| measured(case.status, case.runs.iter().map(Arc::as_ref))).collect();
    let mut report = suite.gates.evaluate(&outcomes);
    let (chosen, all) = (cases.len(), suite.cases.len());
    if chosen < all {
        report.gates.iter_mut().for_each(|gate| gate.message.push_str(&format!(" (over {chosen} of {all} tests)")));
    }
    let prevented = cases.iter().flat_map(|case| &case.runs).filter(|run| run.is_prevented()).count();
    if prevented > 0 {
        for gate in &mut report.gates {
            gate.message.push_str(&format!(" ({} not run)", plural(prevented, "attempt")));
            if gate.status == Status::Pass {
                gate.status = Status::Unknown;
            }
        }
    }
    report
}

/// Returns the attempts of a case as gates see them.
pub fn measured<'r>(status: Status, runs: impl Iterator<Item = &'r RunResult>) -> CaseOutcome<'r> {
    // An attempt that never began has neither passed nor failed.
    let (left_out, begun): (Vec<_>, Vec<_>) = runs.partition(|run| run.is_left_out());
    let left_out = left_out.into_iter().filter(|run| run.is_decided()).map(|run| &run.subject).collect();
    let runs = begun.into_iter().map(|run| RunOutcome {
        subject: &run.subject,
        status: run.status,
        verdicts: run.verdicts.iter().map(|judged| &judged.verdict).collect(),
        duration_ms: run.figures.duration_ms,
        duration_is_open: run.figures.duration_is_open,
        cost_usd: run.figures.cost_usd(),
    });
    CaseOutcome { status, runs: runs.collect(), left_out }
}

/// The summary of all results.
struct Summary {
    status: Status,
    failed: bool,
    inconclusive: bool,
}

impl Summary {
    fn of(cases: &[CaseResult], gates: &GateReport) -> Summary {
        let statuses = || cases.iter().map(|case| case.status);
        let not_known = |status: Status| matches!(status, Status::Error | Status::Unknown);
        let inconclusive = statuses().any(not_known) || gates.gates.iter().any(|gate| not_known(gate.status));
        let failing = |run: &Arc<RunResult>| {
            let mut verdicts = run.verdicts.iter().map(|judged| judged.verdict.outcome.status());
            verdicts.any(|status| status == Status::Fail)
        };
        // Cases that did not run because of an earlier failure are not part of any gate.
        let cut_off = cases.iter().flat_map(|case| &case.runs).any(|run| run.is_prevented());
        let rescued = gates.rescued && !cut_off;
        // Where one attempt is enough, the others may fail.
        let is_met = |case: &&CaseResult| matches!(case.status, Status::Pass | Status::Warn);
        let unmet = cases.iter().filter(|case| !is_met(case));
        let claims_failed = unmet.flat_map(|case| &case.runs).any(failing) && !rescued;
        // Gates may excuse failures; other unknown results remain unknown.
        let verdicts = cases.iter().flat_map(|case| &case.runs).flat_map(|run| &run.verdicts);
        let open = verdicts.map(|judged| judged.verdict.outcome.status()).filter(|&status| not_known(status)).max();
        let open = open.filter(|_| rescued);
        let inconclusive = inconclusive || open.is_some();
        // After an error or an unknown result, a default limit has nothing to add: it would call a run failed that was
        // merely not observed.
        let gates_failed =
            gates.gates.iter().any(|gate| gate.status == Status::Fail && (!inconclusive || gate.source.is_set()));
        let worst = if rescued {
            statuses().filter(|&status| status != Status::Fail).max().unwrap_or(Status::Pass).max(Status::Pass)
        } else {
            statuses().max().unwrap_or(Status::Skip)
        };
        let worst = open.map_or(worst, |status| worst.max(status));
        let of_gates = gates.gates.iter().map(|gate| gate.status).filter(|&status| not_known(status)).max();
        let worst = of_gates.map_or(worst, |status| worst.max(status));
        let status = if gates_failed { worst.max(Status::Fail) } else { worst };
        Summary { status, failed: claims_failed || gates_failed, inconclusive }
    }
}

fn new_run_id() -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    format!("{:x}-{:x}", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed))
}

#[cfg(test)]
pub(crate) mod tests;

//! Performs the cases of a suite, or judges what was recorded of them.

mod asking;
mod attempt;
mod budget;
mod decided;
mod given;
mod masked;
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
};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

pub use given::given;

use crate::{
    book::Book,
    clock::Clock,
    event::{AbsenceKind, CaseResult, Event, Events, RunResult, SuiteResult},
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
use decided::Standings;
pub use decided::left_out;

/// What to run, and its surroundings.
#[derive(Clone, Debug)]
pub struct Job {
    /// The suite.
    pub suite: Arc<Suite>,
    /// The directory of the suite: commands run there.
    pub directory: PathBuf,
    /// The files of the workspace, as they are on the disk.
    pub files: Arc<DiskFiles>,
    /// Where evidence goes, and where it is found.
    pub book: Arc<Book>,
    /// What must not be seen.
    pub secrets: Arc<Secrets>,
    /// The current time.
    pub clock: Clock,
    /// Maximum number of bytes of each output stream that are kept.
    pub output_limit: usize,
    /// Who can be asked.
    pub models: Arc<Models>,
    /// Where targets run that are started from outside. `None`: the suite has none.
    pub gateway: Option<Arc<Gateway>>,
    /// Where traces of acts come from.
    pub traces: Arc<Traces>,
    /// Whether tasks are repeated no more once the gate of their model is decided.
    pub stop_repeats: bool,
}

/// How to run it.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Act, or judge what is recorded.
    pub mode: Mode,
    /// The run whose traces are judged where nothing is started; that of the newest recording when nothing is said.
    pub observed_run: Option<String>,
    /// The cases to run, by their place in the suite; all when nothing is said.
    pub cases: Option<BTreeSet<usize>>,
    /// Maximum number of attempts at the same time, instead of what the suite says.
    pub concurrency: Option<usize>,
    /// The ids of the models that act, instead of those that the suite names; those of the suite when empty.
    pub models: Vec<String>,
    /// How models learn about the program, instead of what the suite says; as the suite says when empty.
    pub help_modes: Vec<HelpMode>,
    /// Whether the first failure ends the run.
    pub fail_fast: bool,
    /// Whether the temporary directories of tasks stay.
    pub keep_directories: bool,
    /// Whether a failure elsewhere has ended the run before it begins: every attempt is reported as not run.
    pub given_up: bool,
}

/// Where evidence comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The actions are performed.
    #[default]
    Live,
    /// What must hold before the act is observed and judged; nothing is started, and nothing recorded.
    Preconditions,
    /// What targets have left is observed again and judged; nothing is started, and nothing recorded.
    Present,
    /// The recordings are judged; nothing is performed.
    Recorded,
    /// The recordings are judged, after models were asked what claims need to know of them and nobody has asked yet.
    /// Nothing else is performed.
    Asking,
}

/// One attempt that is planned.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Unit {
    case: usize,
    subject: Subject,
    repeat: u32,
}

/// What all attempts of a run share.
struct Run {
    job: Job,
    mode: Mode,
    observed_run: Option<String>,
    fail_fast: bool,
    keep_directories: bool,
    run_id: String,
    cancel: CancellationToken,
    /// An attempt failed, and that is to be the end.
    stopped: AtomicBool,
    /// How the models are, where repeats stop.
    standings: Option<Standings>,
    /// What the commands left running, where tests that follow may use it.
    background: Background,
    /// A recording could not be written, and this was told.
    warned: AtomicBool,
    /// Why the script of the gateway is not played.
    unplayed: Option<String>,
    /// Environment variables that commands of an agent do not see.
    keys: BTreeSet<String>,
    /// The version of the program under test.
    version: Version,
    events: Events,
}

/// Runs a suite. The events end with [`Event::Finished`], which carries what is returned. Dropping the
/// future ends every process.
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
    let standings = (stops && acts && decided::is_whole(&suite, &options)).then(|| Standings::of(&units));
    let run = Arc::new(Run {
        keys: job.models.key_variables(),
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
    run.tell(Event::Started { attempts: units.len() });
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let concurrency = match suite.gateway() {
        // They share a workspace, so they would wait for each other anyway.
        Some(_) => 1,
        None => options.concurrency.unwrap_or_else(|| suite.attempts_at_once(cores)).max(1),
    };
    // What came of an attempt is told when it is known: where repeats stop, a replay knows it from all of them.
    let settles = stops && !acts;
    let mut runs = perform(&run, &units, concurrency, !settles).await;
    run.background.end().await;
    if settles {
        runs = run.without_spare(&units, runs, decided::whole(&suite, &options)).await;
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
        let status = match runs.iter().map(|run| run.status).max() {
            Some(worst) => worst,
            None if case.skip => Status::Skip,
            // Nobody to ask: nothing was observed.
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
    let sum = Sum::of(&cases, &gates);
    let result = Arc::new(SuiteResult {
        status: sum.status,
        cases,
        gates,
        failed: sum.failed,
        broken: sum.broken,
        cancelled: run.cancel.is_cancelled(),
        duration: started.elapsed(),
    });
    run.tell(Event::Finished(Arc::clone(&result)));
    result
}

/// Starts the script that replaces the gateway, where one does and anything is asked of it.
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

/// Returns who acts in a run, in the order of the file, and in how many attempts.
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

/// Returns the cases that are run, by their place in the suite.
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

/// Performs every unit, a few at a time, and puts the results in the units' order.
async fn perform(run: &Arc<Run>, units: &[Unit], concurrency: usize, tells: bool) -> Vec<Arc<RunResult>> {
    let mut order: Vec<usize> = (0..units.len()).collect();
    if run.standings.is_some() {
        // Every task has as many attempts as any other when the rest is omitted.
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
    // A worker that panicked leaves a hole: nothing was observed there.
    let hole = |unit: &Unit| {
        let message = "the run ended before this was judged; this is a bug in speclens";
        let case = &run.job.suite.cases[unit.case];
        Arc::new(run.asked(case, unit).absent(AbsenceKind::Broke(RunErrorKind::Defect), message))
    };
    results.iter().zip(units).map(|(result, unit)| result.get().cloned().unwrap_or_else(|| hole(unit))).collect()
}

impl Run {
    fn tell(&self, event: Event) {
        // Nobody listens any more: the result is still returned.
        let _ = self.events.send(event);
    }

    fn tell_result(&self, unit: &Unit, result: &Arc<RunResult>) {
        self.tell(Event::AttemptFinished { case: unit.case, run: Arc::clone(result) });
    }
}

/// Returns what the gates make of the tests that were chosen. Over some of the tests they say less than over all: they
/// tell so.
fn gates(suite: &Suite, cases: &[CaseResult]) -> GateReport {
    let outcomes: Vec<CaseOutcome<'_>> =
        cases.iter().map(|case| measured(case.status, case.runs.iter().map(Arc::as_ref))).collect();
    let mut report = suite.gates.evaluate(&outcomes);
    let (chosen, all) = (cases.len(), suite.cases.len());
    if chosen < all {
        report.gates.iter_mut().for_each(|gate| gate.message.push_str(&format!(" (over {chosen} of {all} tests)")));
    }
    report
}

/// Returns the attempts of a case as gates look at them.
pub fn measured<'r>(status: Status, runs: impl Iterator<Item = &'r RunResult>) -> CaseOutcome<'r> {
    // What was never begun has neither passed nor failed.
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

/// All results in a few words.
struct Sum {
    status: Status,
    failed: bool,
    broken: bool,
}

impl Sum {
    fn of(cases: &[CaseResult], gates: &GateReport) -> Sum {
        let statuses = || cases.iter().map(|case| case.status);
        let not_known = |status: Status| matches!(status, Status::Error | Status::Unknown);
        let broken = statuses().any(not_known) || gates.gates.iter().any(|gate| not_known(gate.status));
        let failing = |run: &Arc<RunResult>| {
            let mut verdicts = run.verdicts.iter().map(|judged| judged.verdict.outcome.status());
            verdicts.any(|status| status == Status::Fail)
        };
        // What was never run, because of an earlier failure, is measured by no gate.
        let cut_off = cases
            .iter()
            .flat_map(|case| &case.runs)
            .any(|run| run.absence.as_ref().is_some_and(|absence| absence.kind == AbsenceKind::FailedFast));
        let rescued = gates.rescued && !cut_off;
        let claims_failed = cases.iter().flat_map(|case| &case.runs).any(failing) && !rescued;
        // What gates allow are failures; what is not known beside one of them stays so.
        let verdicts = cases.iter().flat_map(|case| &case.runs).flat_map(|run| &run.verdicts);
        let open = verdicts.map(|judged| judged.verdict.outcome.status()).filter(|&status| not_known(status)).max();
        let open = open.filter(|_| rescued);
        let broken = broken || open.is_some();
        // Where something broke or stayed unknown, a limit that nobody wrote has nothing to add: it would
        // call a run false that was merely not observed.
        let gates_failed = gates.gates.iter().any(|gate| gate.status == Status::Fail && (!broken || gate.at.is_some()));
        let worst = if rescued {
            statuses().filter(|&status| status != Status::Fail).max().unwrap_or(Status::Pass).max(Status::Pass)
        } else {
            statuses().max().unwrap_or(Status::Skip)
        };
        let worst = open.map_or(worst, |status| worst.max(status));
        let of_gates = gates.gates.iter().map(|gate| gate.status).filter(|&status| not_known(status)).max();
        let worst = of_gates.map_or(worst, |status| worst.max(status));
        let status = if gates_failed { worst.max(Status::Fail) } else { worst };
        Sum { status, failed: claims_failed || gates_failed, broken }
    }
}

fn new_run_id() -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    format!("{:x}-{:x}", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed))
}

#[cfg(test)]
mod tests;

//! Performs the cases of a suite, or judges their recordings.

mod attempt;
mod masked;
mod plan;
mod stop_repeats;
#[cfg(test)]
pub(crate) mod tests;

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use speclens_schema::{
    evidence::{Evidence, RunErrorKind},
    gates::{CaseOutcome, GateReport},
    mask::Secrets,
    suite::{Case, Subject, Suite},
    verdict::Status,
    words::plural,
};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::{
    event::{CaseResult, Event, Events, RunResult, SuiteResult, measured},
    evidence_store::AttemptRef,
    exec::{
        agent::Version,
        process::{Background, Until},
    },
    recording::{self, Recording},
};
use plan::{Unit, plan, selected};
use stop_repeats::AllAttempts;

pub use crate::job::{Job, Mode, Options};
pub use plan::planned;
pub use stop_repeats::left_out;

struct Run {
    job: Job,
    options: Options,
    run_id: String,
    cancel: CancellationToken,
    stopped: AtomicBool,
    standings: Option<AllAttempts>,
    background: Background,
    warned: AtomicBool,
    unplayed: Option<String>,
    /// The recordings in the directory of the suite, read if one is missing.
    others: OnceLock<Vec<Recording>>,
    /// The cost of the attempts so far, as far as it is known, in US dollars.
    spent_usd: Mutex<f64>,
    hidden: BTreeSet<String>,
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
    let may_be_left_out = |unit: &Unit| unit.repeat > 0 && suite.gates.can_be_decided(&unit.subject);
    let stops = job.stop_repeats && units.iter().any(may_be_left_out) && !options.given_up;
    let acts = options.mode == Mode::Live;
    let standings = (stops && acts && stop_repeats::is_whole(&suite, &options)).then(|| AllAttempts::of(&units));
    let run = Arc::new(Run {
        hidden: job.models.hidden_variables(),
        job,
        run_id: new_run_id(),
        cancel,
        stopped: AtomicBool::new(options.given_up),
        options,
        standings,
        background: Background::new(Until::Suite),
        warned: AtomicBool::new(false),
        unplayed,
        others: OnceLock::new(),
        spent_usd: Mutex::new(0.0),
        version: Version::default(),
        events,
    });
    run.send(Event::Started { attempts: units.len() });
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let concurrency = match suite.gateway() {
        // They share a workspace, so they would wait for each other anyway.
        Some(_) => 1,
        None => run.options.concurrency.unwrap_or_else(|| suite.attempts_at_once(cores)).max(1),
    };
    // The result of an attempt is reported when it is final: if repeats stop, a replay needs all of them for that.
    let settles = stops && !acts;
    let mut runs = perform(&run, &units, concurrency, !settles).await;
    run.background.end().await;
    if settles {
        runs = run.without_spare(&units, runs, stop_repeats::whole(&suite, &run.options)).await;
        units.iter().zip(&runs).for_each(|(unit, result)| run.tell_result(unit, result));
    }
    if acts {
        run.tidy(began_us).await;
    }
    let mut of_units = units.iter().zip(runs).peekable();
    let cases: Vec<CaseResult> = selected
        .into_iter()
        .map(|index| {
            let case = &suite.cases[index];
            let mut runs = Vec::new();
            while let Some((_, run)) = of_units.next_if(|(unit, _)| unit.case == index) {
                runs.push(run);
            }
            let status = match runs.iter().any(|run| run.lacks_recording()) {
                true => Some(Status::Fail),
                false => case.needed.status(runs.iter().map(|run| run.status)),
            };
            // Without a model to ask, nothing was observed.
            let status = status.unwrap_or(if case.skip { Status::Skip } else { Status::Unknown });
            CaseResult { case: index, status, runs }
        })
        .collect();
    // After an earlier failure nothing was measured.
    let gates = if run.options.given_up { no_gates() } else { gates(&suite, &cases) };
    let cancelled = run.cancel.is_cancelled();
    let result = Arc::new(SuiteResult { cancelled, duration: started.elapsed(), ..summed_up(cases, gates) });
    run.send(Event::Finished(Arc::clone(&result)));
    result
}

/// Judges the chosen cases of a suite by the same evidence, which is masked and interpreted here. Nothing is performed,
/// and nothing is recorded.
pub fn from_evidence(
    suite: &Suite,
    chosen: impl Fn(usize) -> bool,
    mut evidence: Evidence,
    secrets: &Secrets,
) -> SuiteResult {
    suite.dialect.mask(&mut evidence, secrets);
    suite.dialect.interpret(&mut evidence);
    let evidence = Arc::new(evidence);
    let judged = |(index, case): (usize, &Arc<Case>)| {
        if case.skip {
            return CaseResult { case: index, status: Status::Skip, runs: Vec::new() };
        }
        let attempt_ref = AttemptRef { suite, case, subject: &Subject::Nobody, repeat: 0 };
        let run = Arc::new(attempt_ref.judged(&evidence, secrets, Vec::new()));
        CaseResult { case: index, status: run.status, runs: vec![run] }
    };
    let cases = suite.cases.iter().enumerate().filter(|(index, _)| chosen(*index)).map(judged);
    let cases: Vec<CaseResult> = cases.collect();
    let gates = gates(suite, &cases);
    summed_up(cases, gates)
}

async fn opened(mut job: Job, mode: Mode) -> (Job, Option<String>) {
    let gateway = job.gateway.as_ref().filter(|_| mode != Mode::Recorded);
    let Some(gateway) = gateway else { return (job, None) };
    match gateway.opened(&job.directory, job.clock).await {
        Ok(gateway) => {
            job.gateway = Some(gateway);
            (job, None)
        }
        Err(message) => (job, Some(message)),
    }
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

fn no_gates() -> GateReport {
    GateReport { gates: Vec::new(), rescued: false }
}

/// Returns the results of the gates over the selected tests. For a part of the tests they mean less than for all, and
/// say so. The attempts that an earlier failure prevented could have changed any result that is good.
fn gates(suite: &Suite, cases: &[CaseResult]) -> GateReport {
    let outcomes: Vec<CaseOutcome<'_>> =
        cases.iter().map(|it| measured(&suite.cases[it.case], it.status, it.runs.iter().map(Arc::as_ref))).collect();
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

/// Returns the result of a suite with these cases and gates. Its status is the worst of what counts:
///
/// - the status of a case, but not a failure that gates in the file excuse;
/// - a verdict that is not known, where gates excuse failures: what is not known stays so;
/// - a gate that is not known;
/// - an attempt without a recording, where that is a failure: no gate excuses it;
/// - a gate that fails. A default one counts only if all else is known: it would call a run failed that was merely not
///   observed.
fn summed_up(cases: Vec<CaseResult>, gates: GateReport) -> SuiteResult {
    let not_known = |status: &Status| matches!(status, Status::Error | Status::Unknown);
    let statuses = |run: &RunResult| -> Vec<Status> {
        run.verdicts.iter().map(|judged| judged.verdict.outcome.status()).collect()
    };
    let runs = || cases.iter().flat_map(|case| &case.runs);
    // Cases that did not run because of an earlier failure are not part of any gate.
    let lacks_recording = runs().any(|run| run.lacks_recording());
    let rescued = gates.rescued && !lacks_recording && !runs().any(|run| run.is_prevented());
    let mut counted: Vec<Status> = cases.iter().map(|case| case.status).collect();
    if rescued {
        counted.retain(|status| *status != Status::Fail);
        counted.push(Status::Pass);
        counted.extend(runs().flat_map(|run| statuses(run)).filter(not_known));
    }
    counted.extend(gates.gates.iter().map(|gate| gate.status).filter(not_known));
    let inconclusive = counted.iter().any(not_known);
    let has_failed_gate =
        gates.gates.iter().any(|gate| gate.status == Status::Fail && (!inconclusive || gate.source.is_set()));
    counted.extend(has_failed_gate.then_some(Status::Fail));
    // Where one attempt is enough, the others may fail.
    let unmet = cases.iter().filter(|case| !matches!(case.status, Status::Pass | Status::Warn));
    let has_failed_claim = unmet.flat_map(|case| &case.runs).any(|run| statuses(run).contains(&Status::Fail));
    SuiteResult {
        status: counted.into_iter().max().unwrap_or(Status::Skip),
        failed: has_failed_gate || lacks_recording || (has_failed_claim && !rescued),
        inconclusive,
        cancelled: false,
        duration: Duration::ZERO,
        cases,
        gates,
    }
}

fn new_run_id() -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    format!("{:x}-{:x}", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed))
}

//! Performs the cases of a suite, or judges what was recorded of them.

use std::{
    collections::BTreeSet,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Instant,
};

use speclens_schema::{
    dialect::{CaseOutcome, GateReport, RunOutcome},
    evidence::{Context, Evidence, RunErrorKind},
    judge::{self, Judged},
    mask::Secrets,
    suite::{Action, Case, CommandAction, Suite},
    verdict::Status,
};
use tokio::{sync::mpsc, task::JoinSet};
use tokio_util::sync::CancellationToken;

use crate::{
    clock::Clock,
    event::{Absence, AbsenceKind, CaseResult, Event, Events, Origin, RunResult, SuiteResult},
    exec::{self, Attempt, inputs::Inputs, process},
    recording::{Found, Label, Recordings},
};

/// What to run, and its surroundings.
#[derive(Clone, Debug)]
pub struct Job {
    /// The suite.
    pub suite: Arc<Suite>,
    /// The directory of the suite: commands run there.
    pub directory: PathBuf,
    /// Where evidence is recorded; nothing when the settings switch that off.
    pub recordings: Option<Arc<Recordings>>,
    /// What must not be seen.
    pub secrets: Arc<Secrets>,
    /// What time it is.
    pub clock: Clock,
    /// As many bytes of each output stream are kept.
    pub output_limit: usize,
}

/// How to run it.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Act, or judge what is recorded.
    pub mode: Mode,
    /// The cases to run, by their place in the suite; all when nothing is said.
    pub cases: Option<BTreeSet<usize>>,
    /// How many attempts may be under way at once, instead of what the suite says.
    pub concurrency: Option<usize>,
    /// Whether the first failure ends the run.
    pub fail_fast: bool,
    /// Whether a failure elsewhere has ended the run before it begins: every attempt is reported as not run.
    pub given_up: bool,
}

/// Where evidence comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The actions are performed.
    #[default]
    Live,
    /// The recordings are judged; nothing is performed.
    Recorded,
}

/// One attempt that is planned.
#[derive(Clone, Debug)]
struct Unit {
    case: usize,
    subject: String,
    repeat: u32,
}

/// What all attempts of a run share.
struct Run {
    job: Job,
    mode: Mode,
    fail_fast: bool,
    run_id: String,
    cancel: CancellationToken,
    /// An attempt failed, and that is to be the end.
    stopped: AtomicBool,
    /// What the commands left running.
    background: process::Background,
    /// A recording could not be written, and this was told.
    warned: AtomicBool,
    events: Events,
}

/// Runs a suite. The events end with [`Event::Finished`], which carries what is returned. Dropping the
/// future ends every process.
pub async fn run(job: Job, options: Options, cancel: CancellationToken, events: Events) -> Arc<SuiteResult> {
    let started = Instant::now();
    let suite = Arc::clone(&job.suite);
    let selected: Vec<usize> = (0..suite.cases.len())
        .filter(|index| options.cases.as_ref().is_none_or(|cases| cases.contains(index)))
        .collect();
    let units = plan(&suite, &selected);
    let mut counts = vec![0; suite.cases.len()];
    units.iter().for_each(|unit| counts[unit.case] += 1);
    let run = Arc::new(Run {
        job,
        mode: options.mode,
        fail_fast: options.fail_fast,
        run_id: new_run_id(),
        cancel,
        stopped: AtomicBool::new(options.given_up),
        background: process::Background::default(),
        warned: AtomicBool::new(false),
        events,
    });
    run.tell(Event::Started { attempts: units.len() });
    let concurrency = options.concurrency.unwrap_or(suite.concurrency).max(1);
    let mut runs = perform(&run, &units, concurrency).await.into_iter();
    run.background.end().await;

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

/// The attempts in the order of the file.
fn plan(suite: &Suite, selected: &[usize]) -> Vec<Unit> {
    let mut units = Vec::new();
    for &index in selected {
        let case = &suite.cases[index];
        if case.skip {
            continue;
        }
        let mut subjects = case.action.subjects();
        if subjects.is_empty() && case.action == Action::None {
            subjects.push("none".to_owned());
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
async fn perform(run: &Arc<Run>, units: &[Unit], concurrency: usize) -> Vec<Arc<RunResult>> {
    let next = Arc::new(AtomicUsize::new(0));
    let shared: Arc<[Unit]> = units.into();
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let mut workers = JoinSet::new();
    for _ in 0..concurrency.min(units.len()) {
        let (run, units, next, sender) = (Arc::clone(run), Arc::clone(&shared), Arc::clone(&next), sender.clone());
        workers.spawn(async move {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(unit) = units.get(index) else { break };
                let result = Arc::new(run.attempt(unit).await);
                run.tell(Event::AttemptFinished { case: unit.case, run: Arc::clone(&result) });
                if sender.send((index, result)).is_err() {
                    break;
                }
            }
        });
    }
    drop(sender);
    let mut results: Vec<Option<Arc<RunResult>>> = vec![None; units.len()];
    while let Some((index, result)) = receiver.recv().await {
        results[index] = Some(result);
    }
    // A worker that panicked leaves a hole: nothing was observed there.
    let hole = |unit: &Unit| {
        let message = "the run ended before this was judged; this is a defect of speclens";
        Arc::new(RunResult::absent(unit, AbsenceKind::Broke(RunErrorKind::Defect), message))
    };
    results.into_iter().zip(units).map(|(result, unit)| result.unwrap_or_else(|| hole(unit))).collect()
}

impl Run {
    fn tell(&self, event: Event) {
        // Nobody listens any more: the result is still returned.
        let _ = self.events.send(event);
    }

    async fn attempt(self: &Arc<Self>, unit: &Unit) -> RunResult {
        if self.cancel.is_cancelled() {
            return RunResult::absent(unit, AbsenceKind::Broke(RunErrorKind::Cancelled), "cancelled before it began");
        }
        if self.stopped.load(Ordering::Relaxed) {
            return RunResult::absent(unit, AbsenceKind::FailedFast, "not run, because an earlier test failed");
        }
        self.tell(Event::AttemptStarted { case: unit.case, subject: unit.subject.clone(), repeat: unit.repeat });
        let case = Arc::clone(&self.job.suite.cases[unit.case]);
        let result = match (&case.action, self.mode) {
            (Action::Command(action), Mode::Live) => self.act(&case, action, unit).await,
            (Action::Command(action), Mode::Recorded) => self.replay(&case, action, unit).await,
            (Action::Prompt(_), Mode::Live | Mode::Recorded) => RunResult::absent(
                unit,
                AbsenceKind::Broke(RunErrorKind::Unsupported),
                "asking models is not supported yet: nothing was run, so nothing is known",
            ),
            (Action::Agent(_), Mode::Live | Mode::Recorded) => RunResult::absent(
                unit,
                AbsenceKind::Broke(RunErrorKind::Unsupported),
                "running cli-bench suites is not supported yet: nothing was run, so nothing is known",
            ),
            (Action::Trigger(_), Mode::Live | Mode::Recorded) => RunResult::absent(
                unit,
                AbsenceKind::Broke(RunErrorKind::Unsupported),
                "running ClawSpec contracts is not supported yet: nothing was run, so nothing is known",
            ),
            (Action::None, Mode::Live | Mode::Recorded) => RunResult::absent(
                unit,
                AbsenceKind::Broke(RunErrorKind::Unsupported),
                "the test does not say what to do",
            ),
        };
        if self.fail_fast && matches!(result.status, Status::Fail | Status::Error) {
            self.stopped.store(true, Ordering::Relaxed);
        }
        result
    }

    /// Runs a command, then masks, judges and records what it left behind.
    async fn act(self: &Arc<Self>, case: &Arc<Case>, action: &CommandAction, unit: &Unit) -> RunResult {
        let context = Context { started: self.job.clock.now(), run_id: self.run_id.clone(), templates: None };
        let directory = &self.job.directory;
        let inputs = Inputs::before(self.job.suite.dialect, action, directory).await;
        let attempt =
            exec::command(action, context, directory, self.job.output_limit, &self.background, &self.cancel).await;
        let (run, case, unit, action) = (Arc::clone(self), Arc::clone(case), unit.clone(), action.clone());
        blocking(unit.clone(), move || {
            let mut attempt = attempt;
            let (inputs, notes) = inputs.after();
            attempt.notes.extend(notes.iter().map(|note| run.job.secrets.mask(note)));
            let key = action.key_with(run.job.suite.dialect, &inputs);
            run.settle(&case, &unit, key, attempt)
        })
        .await
    }

    fn settle(&self, case: &Case, unit: &Unit, key: String, attempt: Attempt) -> RunResult {
        let Attempt { mut evidence, mut notes } = attempt;
        let secrets = &self.job.secrets;
        let streams = evidence.stdout.iter().chain(&evidence.stderr).filter(|_| !secrets.is_empty());
        let streams: Vec<String> = streams.map(|stream| stream.text.clone()).collect();
        self.job.suite.dialect.mask(&mut evidence, secrets);
        if let Some(note) = evidence.mask_note() {
            let names: Vec<String> = secrets.names_in(&streams).iter().map(|name| format!("`{name}`")).collect();
            if !names.is_empty() {
                notes.push(format!("{note} ({})", names.join(", ")));
            }
        }
        // A run that was cancelled says nothing about the action.
        let cancelled = evidence.error.as_ref().is_some_and(|error| error.kind == RunErrorKind::Cancelled);
        let recorded = !cancelled && self.record(unit, case, key.clone(), &evidence, &notes);
        self.job.suite.dialect.interpret(&mut evidence);
        let origin = if recorded { Origin::Recorded } else { Origin::Observed };
        RunResult { key: Some(key), ..self.judged(case, unit, evidence, origin, notes) }
    }

    /// Writes a recording. That it cannot be written is told once, and changes no result.
    fn record(&self, unit: &Unit, case: &Case, key: String, evidence: &Evidence, notes: &[String]) -> bool {
        let Some(recordings) = &self.job.recordings else { return false };
        let now = self.job.clock.now();
        let recording =
            recordings.recording(key, &unit.label(case, &self.job.secrets), now, evidence.clone(), notes.to_vec());
        match recordings.write(&recording) {
            Ok(_) => true,
            Err(error) => {
                if !self.warned.swap(true, Ordering::Relaxed) {
                    let message = format!(
                        "cannot record in {}: {error}; the results stand, but edited claims cannot be judged again",
                        self.job.directory.join(crate::recording::DIRECTORY).display()
                    );
                    self.tell(Event::Note { message });
                }
                false
            }
        }
    }

    /// Judges what is recorded of a command.
    async fn replay(self: &Arc<Self>, case: &Arc<Case>, action: &CommandAction, unit: &Unit) -> RunResult {
        let key = action.key(self.job.suite.dialect);
        let (run, case, unit) = (Arc::clone(self), Arc::clone(case), unit.clone());
        blocking(unit.clone(), move || {
            let found = match &run.job.recordings {
                Some(recordings) => recordings.find(&key, &unit.label(&case, &run.job.secrets)),
                None => Found::None,
            };
            let recording = match (found, &run.job.recordings) {
                (Found::Fresh(path), Some(recordings)) => {
                    recordings.read(&path, run.job.suite.dialect, &run.job.secrets)
                }
                (Found::Stale(_), _) => {
                    let message = "stale: the command, its variables, or a file that it names has changed since it \
                                   was recorded; run it again";
                    return RunResult::absent(&unit, AbsenceKind::Stale, message);
                }
                (Found::Fresh(_) | Found::None, _) => None,
            };
            match recording {
                Some(recording) => RunResult {
                    key: Some(key),
                    ..run.judged(&case, &unit, recording.evidence, Origin::Replayed, recording.notes)
                },
                None => RunResult::absent(&unit, AbsenceKind::NoRecording, "no recording: run it first"),
            }
        })
        .await
    }

    fn judged(
        &self,
        case: &Case,
        unit: &Unit,
        evidence: Evidence,
        origin: Origin,
        mut notes: Vec<String>,
    ) -> RunResult {
        // Who masked it may have said more.
        notes.extend(evidence.mask_note().filter(|note| !notes.iter().any(|known| known.starts_with(note.as_str()))));
        let verdicts = judge(case, &evidence, &self.job.secrets);
        let absence = evidence
            .error
            .as_ref()
            .map(|error| Absence { kind: AbsenceKind::Broke(error.kind), message: error.message.clone() });
        RunResult {
            subject: unit.subject.clone(),
            repeat: unit.repeat,
            status: status_of(absence.as_ref(), &verdicts),
            absence,
            verdicts,
            evidence: Some(Arc::new(evidence)),
            key: None,
            origin,
            notes,
        }
    }
}

/// Judges an attempt; one that broke has no verdicts.
pub fn judge(case: &Case, evidence: &Evidence, secrets: &Secrets) -> Vec<Judged> {
    if evidence.error.is_some() { Vec::new() } else { judge::judge(case, evidence, secrets) }
}

/// The status of an attempt: the worst of its verdicts, or what their absence amounts to.
pub fn status_of(absence: Option<&Absence>, verdicts: &[Judged]) -> Status {
    match absence {
        Some(absence) => absence.kind.status(),
        // Verdicts that do not apply are no reason to call the whole skipped.
        None => verdicts
            .iter()
            .map(|judged| judged.verdict.outcome.status())
            .max()
            .map_or(Status::Pass, |worst| worst.max(Status::Pass)),
    }
}

/// Judging may take a while: it has threads of its own.
async fn blocking(unit: Unit, work: impl FnOnce() -> RunResult + Send + 'static) -> RunResult {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => {
            tracing::error!(%error, "judging failed");
            let message = "judging failed; this is a defect of speclens";
            RunResult::absent(&unit, AbsenceKind::Broke(RunErrorKind::Defect), message)
        }
    }
}

fn gates(suite: &Suite, cases: &[CaseResult]) -> GateReport {
    let outcomes: Vec<CaseOutcome<'_>> = cases
        .iter()
        .map(|case| CaseOutcome {
            status: case.status,
            // What was never begun, because of an earlier failure, has neither passed nor failed.
            runs: case
                .runs
                .iter()
                .filter(|run| run.absence.as_ref().is_none_or(|absence| absence.kind != AbsenceKind::FailedFast))
                .map(|run| RunOutcome {
                    subject: &run.subject,
                    status: run.status,
                    verdicts: run.verdicts.iter().map(|judged| &judged.verdict).collect(),
                    duration_ms: run.evidence.as_ref().and_then(|evidence| evidence.duration_ms),
                    duration_is_open: run.evidence.as_ref().is_some_and(|evidence| evidence.duration_is_open()),
                    cost_usd: run.evidence.as_ref().and_then(|evidence| evidence.usage?.cost_usd),
                })
                .collect(),
        })
        .collect();
    suite.gates.evaluate(&outcomes)
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

impl Unit {
    /// Under what it is recorded: a name may hold a secret, too.
    fn label(&self, case: &Case, secrets: &Secrets) -> Label {
        Label { case: secrets.mask(&case.name), subject: self.subject.clone(), repeat: self.repeat }
    }
}

impl RunResult {
    fn absent(unit: &Unit, kind: AbsenceKind, message: &str) -> RunResult {
        RunResult {
            subject: unit.subject.clone(),
            repeat: unit.repeat,
            status: kind.status(),
            absence: Some(Absence { kind, message: message.to_owned() }),
            verdicts: Vec::new(),
            evidence: None,
            key: None,
            origin: Origin::Nowhere,
            notes: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests;

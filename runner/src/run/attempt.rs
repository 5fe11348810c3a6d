//! One attempt, in this order: observe the state before the act, judge the preconditions, act, mask, observe the needs
//! of claims, close the site, mask, record, judge.

use std::{
    collections::HashMap,
    fs::File,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, PoisonError, atomic::Ordering},
};

use speclens_schema::{
    evidence::{
        Context, Ended, Evidence, Need, Observation, ObservationTime, Output, PartialRun, RunError, RunErrorKind,
    },
    files::Inputs,
    gateway::trigger::session_key as session_key_of,
    judge,
    suite::{Action, Case, TriggerKind, program_of},
    verdict::Status,
};

use super::{
    Mode, Run,
    masked::{Masked, size_of},
    plan::Unit,
    stop_repeats::left_out,
};
use crate::{
    event::{AbsenceKind, Event, Origin, RunResult},
    evidence_store::{AttemptRef, Stored},
    exec::{
        self, ActionContext, ActionResult, ActionSite, Attempt,
        agent::AgentBackend,
        process::{self, Background},
        trigger::KnownRun,
    },
    lock,
    model::Model,
    observe::{self, Observations, View},
    recording::{self, Recorded},
    trace::Identity,
    watch::{Watch, log},
};

struct ExternalRun {
    identity: Identity,
    ended: Option<Ended>,
    /// The reason why it failed, according to the gateway log.
    failure: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    Act,
    /// It does not begin; the current state is observed as if it had.
    Withheld,
    /// It does not begin: a precondition does not hold, or only preconditions are checked.
    Unmet,
    Cancelled,
}

impl Run {
    pub(super) async fn attempt(self: &Arc<Self>, unit: &Unit, began_us: u64) -> RunResult {
        let action = &self.case(unit).action;
        if self.cancel.is_cancelled() {
            return self.failed(unit, RunErrorKind::Cancelled, "cancelled before it began");
        }
        if self.stopped.load(Ordering::Relaxed) {
            let message = "not run, because an earlier test failed";
            return self.attempt_ref(unit).absent(AbsenceKind::FailedFast, message);
        }
        if self.standings.as_ref().is_some_and(|standings| standings.may_skip(&self.job.suite.gates, unit)) {
            return self.attempt_ref(unit).left_out();
        }
        if let Some(budget) = self.exceeded_budget() {
            let message = format!("not run, because the run has cost more than ${budget} (`costMaxUsd`)");
            return self.attempt_ref(unit).absent(AbsenceKind::OverBudget, message);
        }
        self.send(Event::AttemptStarted { case: unit.case, subject: unit.subject.clone(), repeat: unit.repeat });
        let result = match self.options.mode {
            Mode::Preconditions | Mode::Present if !matches!(action, Action::Trigger(_)) => {
                let message = "only ClawSpec tests can be evaluated without a run";
                Ok(self.failed(unit, RunErrorKind::Unsupported, message))
            }
            Mode::Live | Mode::Asking | Mode::Preconditions | Mode::Present if self.unplayed.is_some() => {
                Ok(self.failed(unit, RunErrorKind::Script, self.unplayed.clone().unwrap_or_default()))
            }
            Mode::Preconditions => self.act(unit, None, Some(PartialRun::Preconditions), began_us).await,
            Mode::Present => self.act(unit, None, Some(PartialRun::Present), began_us).await,
            Mode::Live => match self.model(unit) {
                Ok(model) => {
                    let model = model.as_deref().map(AgentBackend::Model);
                    let backend =
                        model.or_else(|| unit.subject.model_id().and_then(program_of).map(AgentBackend::Program));
                    self.act(unit, backend, None, began_us).await
                }
                // Nothing was done, so the recording stays.
                Err(error) => Ok(self.failed(unit, error.kind, error.message)),
            },
            Mode::Recorded if self.options.strict => self.replay_strictly(unit).await,
            Mode::Recorded => self.replay(unit).await,
            Mode::Asking => self.ask(unit).await,
        };
        let result = result.unwrap_or_else(|absent| *absent);
        if self.options.fail_fast && matches!(result.status, Status::Fail | Status::Error) {
            self.stopped.store(true, Ordering::Relaxed);
        }
        *self.spent_usd.lock().unwrap_or_else(PoisonError::into_inner) += result.figures.spent_usd();
        if let Some(standings) = &self.standings {
            standings.made(unit, result.status);
        }
        result
    }

    /// Returns the limit of the cost of the run if attempts that act have exceeded it.
    fn exceeded_budget(&self) -> Option<f64> {
        let spent = *self.spent_usd.lock().unwrap_or_else(PoisonError::into_inner);
        let budget = self.job.suite.gates.budget_usd().filter(|_| self.options.mode == Mode::Live);
        budget.filter(|budget| spent > *budget)
    }

    /// Opens the model that acts; `None` for other actions and for an agent program.
    fn model(&self, unit: &Unit) -> Result<Option<Arc<dyn Model>>, RunError> {
        match (&self.case(unit).action, unit.subject.model_id()) {
            (Action::Agent(_), Some(id)) if program_of(id).is_some() => Ok(None),
            (Action::Agent(_), Some(id)) => self.job.models.open(id).map(Some),
            (Action::Agent(_), None) => Err(RunError::new(RunErrorKind::Provider, exec::NO_MODEL)),
            (Action::Prompt(_), Some(id)) if program_of(id).is_some() => Ok(None),
            (Action::Prompt(prompt), Some(id)) => self.job.models.open_for(prompt, id).map(Some),
            (Action::Prompt(_), None) => Err(RunError::new(RunErrorKind::Provider, exec::NO_MODEL)),
            (Action::Command(_) | Action::Trigger(_) | Action::None, _) => Ok(None),
        }
    }

    /// Acts, and observes before and after, or does a part of that. An internal error is returned as the result.
    async fn act(
        self: &Arc<Self>,
        unit: &Unit,
        backend: Option<AgentBackend<'_>>,
        only: Option<PartialRun>,
        began_us: u64,
    ) -> Result<RunResult, Box<RunResult>> {
        let turn = match self.turn(unit).await {
            Ok(turn) => turn,
            Err(observe::Cancelled) => {
                return Ok(self.failed(unit, RunErrorKind::Cancelled, "cancelled while waiting for another run"));
            }
        };
        // Waiting time is not a part of the attempt.
        let began_us = if turn.is_some() { recording::beginning_us() } else { began_us };
        let dialect = self.job.suite.dialect;
        let (context, external_run) = self.begun(unit, only).await?;
        let own = Arc::new(Background::default());
        let action_context = self.action_context(unit, backend, &own);
        let view = self.view(unit, &ActionSite::of_suite(&self.job), &own, None);
        let (before, start) = match only {
            Some(PartialRun::Present) => {
                let nothing = Attempt::begun(context.clone());
                (Masked::of(nothing, dialect, &self.job.secrets), Start::Withheld)
            }
            Some(PartialRun::Preconditions) => {
                let (before, start) = self.look_before(unit, context.clone(), &view).await?;
                (before, if start == Start::Act { Start::Unmet } else { start })
            }
            None => self.look_before(unit, context.clone(), &view).await?,
        };
        let ActionResult { mut attempt, inputs, mut site } = match start {
            Start::Act => exec::perform(&self.case(unit).action, context, action_context, &view).await,
            Start::Withheld => ActionResult::without_act(exec::trigger::seen_later(context, &self.job), &self.job),
            Start::Unmet => ActionResult::without_act(Attempt::begun(context), &self.job),
            Start::Cancelled => {
                let attempt = Attempt::with_error(context, RunErrorKind::Cancelled, CANCELLED);
                ActionResult::without_act(attempt, &self.job)
            }
        };
        attempt.evidence.only = only;
        if let Some(ExternalRun { identity, ended, failure }) = external_run {
            site.watch = Some(Arc::new(Watch { identity, ..Watch::default() }));
            attempt.evidence.ended = ended;
            attempt.evidence.error = attempt.evidence.error.or_else(|| failure.map(exec::trigger::failed_by_log));
        }
        // Paths are looked up unmasked. Recorded paths are masked.
        let needs = match (start, &attempt.evidence.error) {
            (Start::Act | Start::Withheld, None) => {
                self.needs(unit, ObservationTime::After, &attempt.evidence.context)?
            }
            // Further observations would not be judged.
            (Start::Act | Start::Withheld, Some(_)) | (Start::Unmet | Start::Cancelled, _) => Vec::new(),
        };
        let bytes = size_of(&mut attempt.evidence);
        let mask = {
            let (run, planned) = (Arc::clone(self), unit.clone());
            move || run.mask(&planned, attempt, inputs, before)
        };
        let (run, planned) = (Arc::clone(self), unit.clone());
        let settle = move |(masked, inputs): (Masked, Inputs), observations, left, cancelled| {
            let masked = masked.with(observations).noting(left);
            run.settle(run.attempt_ref(&planned), began_us, &inputs, masked, cancelled)
        };
        let unlocked = |turn: io::Result<File>| {
            let error = turn.err()?;
            Some(format!("other runs may interfere in this workspace, because it cannot be locked: {error}"))
        };
        if needs.is_empty() {
            let mut left = site.close(&own).await;
            left.extend(turn.and_then(unlocked));
            return self.blocking_for(unit, bytes, move || settle(mask(), Vec::new(), left, false)).await;
        }
        let (mut masked, inputs) = self.blocking_for(unit, bytes, mask).await?;
        let asks = needs.iter().any(|need| matches!(need, Need::Question(_)));
        let output = if asks { masked.output().map(Arc::new) } else { None };
        let view = self.view(unit, &site, &own, output);
        let Observations { observations, cancelled } = observe::all(needs, &view).await;
        let mut left = site.close(&own).await;
        left.extend(turn.and_then(unlocked));
        let mut observed = Evidence { observations, ..Evidence::default() };
        let bytes = masked.size() + size_of(&mut observed);
        let work = move || settle((masked, inputs), observed.observations, left, cancelled);
        self.blocking_for(unit, bytes, work).await
    }

    pub(super) fn view(
        &self,
        unit: &Unit,
        site: &ActionSite,
        own: &Arc<Background>,
        output: Option<Arc<Output>>,
    ) -> View {
        View {
            directory: std::path::absolute(&site.directory).unwrap_or_else(|_| site.directory.clone()),
            environment: site.environment.clone(),
            limit: self.job.output_limit,
            background: Arc::clone(own),
            models: Arc::clone(&self.job.models),
            secrets: Arc::clone(&self.job.secrets),
            test: self.case(unit).name.clone(),
            output,
            seen: Arc::default(),
            gateway: self.job.gateway.clone(),
            watch: site.watch.clone(),
            cancel: self.cancel.clone(),
            suspended: process::suspended,
        }
    }

    /// Returns the surroundings of an attempt. `own` owns its background processes if the format ends them with it.
    fn action_context<'w>(
        &'w self,
        unit: &'w Unit,
        backend: Option<AgentBackend<'w>>,
        own: &'w Background,
    ) -> ActionContext<'w> {
        ActionContext {
            job: &self.job,
            background: if self.job.suite.dialect.keeps_background() { &self.background } else { own },
            cancel: &self.cancel,
            test: self.case(unit),
            case: unit.case,
            subject: &unit.subject,
            repeat: unit.repeat,
            backend,
            hidden: &self.hidden,
            keep: self.options.keep_directories,
            version: &self.version,
            events: &self.events,
        }
    }

    fn needs(&self, unit: &Unit, moment: ObservationTime, context: &Context) -> Result<Vec<Need>, Box<RunResult>> {
        // This takes microseconds, but a claim may panic.
        catch_unwind(AssertUnwindSafe(|| self.case(unit).needs(moment, context))).map_err(|_| {
            tracing::error!("the needs of a test are unknown");
            self.defect(unit)
        })
    }

    /// Masks the evidence of an act, and determines the files that decided its result.
    fn mask(&self, unit: &Unit, attempt: Attempt, inputs: Option<exec::Inputs>, before: Masked) -> (Masked, Inputs) {
        let Attempt { evidence, mut notes } = attempt;
        let inputs = match inputs {
            Some(inputs) => {
                let (inputs, more) = inputs.after();
                notes.extend(more);
                inputs
            }
            None => self.job.suite.inputs(&self.case(unit).action),
        };
        let attempt = Attempt { evidence, notes };
        (Masked::of(attempt, self.job.suite.dialect, &self.job.secrets).after(before), inputs)
    }

    /// Waits until no other test runs in the workspace, if tests share one, across processes: files that targets leave
    /// in a shared workspace belong to the running test. Returns the lock, or the reason why there is none.
    async fn turn(&self, unit: &Unit) -> Result<Option<io::Result<File>>, observe::Cancelled> {
        match &self.case(unit).action {
            Action::Trigger(_) => {
                let home = recording::own_directory(&self.job.directory);
                let file = match home.and_then(|home| lock::open(&home.join("running"))) {
                    Ok(file) => file,
                    Err(error) => return Ok(Some(Err(error))),
                };
                let waits = || self.send(Event::Waiting { case: unit.case });
                let locked = lock::hold(&file, &self.cancel, waits).await.ok_or(observe::Cancelled)?;
                Ok(Some(locked.map(|()| file)))
            }
            Action::Command(_) | Action::Prompt(_) | Action::Agent(_) | Action::None => Ok(None),
        }
    }

    /// Returns the context of an attempt that begins now, and the observed run if it starts none.
    async fn begun(
        self: &Arc<Self>,
        unit: &Unit,
        only: Option<PartialRun>,
    ) -> Result<(Context, Option<ExternalRun>), Box<RunResult>> {
        let case = self.case(unit);
        let (Action::Trigger(trigger), Some(gateway)) = (&case.action, &self.job.gateway) else {
            let (run_id, subject) = (self.run_id.clone(), Some(unit.subject.to_string()));
            let context = Context { started: self.job.clock.now(), run_id, subject, ..Context::default() };
            return Ok((context, None));
        };
        let of_run = |run: Option<&KnownRun>| exec::trigger::begun(self.job.clock, &self.job.directory, gateway, run);
        let is_elsewhere = only == Some(PartialRun::Present) || trigger.kind == TriggerKind::Nothing;
        if !is_elsewhere {
            return Ok((of_run(None), None));
        }
        let (run, planned) = (Arc::clone(self), unit.clone());
        let recorded = self
            .blocking(unit, move || {
                let attempt_ref = run.attempt_ref(&planned);
                run.job
                    .store
                    .recorded(attempt_ref, run.job.clock.now(), &run.job.secrets)
                    .map(|recorded| recorded.evidence)
            })
            .await?;
        // Only a recording of this very run has its start and its end.
        let same = |evidence: &Arc<Evidence>| {
            let id = evidence.context.run_id.as_str();
            !id.is_empty() && self.options.observed_run.as_deref().is_none_or(|wanted| wanted == id)
        };
        let recorded = recorded.filter(same);
        let known = KnownRun {
            run_id: self.options.observed_run.clone().or_else(|| Some(recorded.as_ref()?.context.run_id.clone())),
            started: recorded
                .as_ref()
                .and_then(|evidence| evidence.context.templates.as_ref()?.before.get("run_started_at").cloned()),
        };
        // The gateway identifies a skill's run by its session.
        let given = recorded.as_ref().and_then(|evidence| evidence.context.templates.as_ref()?.before.get("run_id"));
        let session_key = given.filter(|_| trigger.kind == TriggerKind::Skill);
        let session_key = session_key.map(|id| session_key_of(&trigger.target, &case.name, id));
        let identity = Identity { run_id: known.run_id.clone(), session_key, ..Identity::default() };
        let seen = recorded.and_then(|evidence| evidence.ended);
        let (ended, failure) = match seen.filter(|ended| ended.is_final()) {
            Some(ended) => (Some(ended), None),
            None => {
                let (gateway, directory) = (Arc::clone(gateway), self.job.directory.clone());
                let whose = identity.clone();
                let look = move || log::of_external_run(&whose, &gateway.log_pattern, &directory);
                let log = self.blocking(unit, look).await?;
                (if log.is_done { Some(Ended::Log) } else { seen }, log.failure.filter(|_| log.is_done))
            }
        };
        Ok((of_run(Some(&known)), Some(ExternalRun { identity, ended, failure })))
    }

    async fn look_before(
        self: &Arc<Self>,
        unit: &Unit,
        context: Context,
        view: &View,
    ) -> Result<(Masked, Start), Box<RunResult>> {
        let needs = self.needs(unit, ObservationTime::Before, &context)?;
        let attempt = Attempt::begun(context);
        let Observations { observations, cancelled } = observe::all(needs, view).await;
        let dialect = self.job.suite.dialect;
        if observations.is_empty() && !cancelled && !self.case(unit).has_preconditions() {
            return Ok((Masked::of(attempt, dialect, &self.job.secrets), Start::Act));
        }
        let (run, planned) = (Arc::clone(self), unit.clone());
        self.blocking(unit, move || {
            let secrets = &run.job.secrets;
            let seen = Masked::of(attempt, dialect, secrets).with(observations);
            let start = if cancelled {
                Start::Cancelled
            } else if judge::may_begin(run.case(&planned), seen.evidence(), secrets) {
                Start::Act
            } else {
                Start::Unmet
            };
            (seen, start)
        })
        .await
    }

    fn settle(
        &self,
        attempt_ref: AttemptRef<'_>,
        began_us: u64,
        inputs: &Inputs,
        masked: Masked,
        cancelled: bool,
    ) -> RunResult {
        let (mut evidence, notes) = masked.into_parts();
        let (dialect, secrets) = (self.job.suite.dialect, &self.job.secrets);
        let action = &attempt_ref.case.action;
        let key = action.key(dialect.as_str(), attempt_ref.subject, inputs);
        if cancelled {
            evidence.error = Some(RunError::new(RunErrorKind::Cancelled, CANCELLED));
        }
        if let Some(only) = evidence.only {
            dialect.interpret(&mut evidence);
            let notes: Vec<String> = notes.into_iter().chain(looked(only, &evidence.context)).collect();
            let evidence = Arc::new(evidence);
            let judged = attempt_ref.judged(&evidence, secrets, notes.clone());
            let result = RunResult { began_us, origin: Origin::Present, ..judged };
            return match only {
                PartialRun::Present if !cancelled => {
                    let (act, now) =
                        (action.parts(dialect.as_str(), attempt_ref.subject, inputs), self.job.clock.now());
                    let seen = Recorded { key: key.clone(), act, began_us, now, evidence, notes };
                    self.job.store.keep_present(attempt_ref.label(), seen);
                    RunResult { key: Some(key), ..result }
                }
                PartialRun::Present | PartialRun::Preconditions => result,
            };
        }
        // A cancelled run is not evidence about the action.
        if evidence.error.as_ref().is_some_and(|error| error.kind == RunErrorKind::Cancelled) {
            dialect.interpret(&mut evidence);
            return RunResult { key: Some(key), began_us, ..attempt_ref.judged(&Arc::new(evidence), secrets, notes) };
        }
        let act = action.parts(dialect.as_str(), attempt_ref.subject, inputs);
        let now = self.job.clock.now();
        let evidence = Arc::new(evidence);
        self.store(attempt_ref, Recorded { key, act, began_us, now, evidence, notes })
    }

    pub(super) fn store(&self, attempt_ref: AttemptRef<'_>, recorded: Recorded) -> RunResult {
        let secrets = &self.job.secrets;
        let (key, began_us, notes) = (recorded.key.clone(), recorded.began_us, recorded.notes.clone());
        let judge = |evidence: &Arc<Evidence>| attempt_ref.judged(evidence, secrets, notes);
        let (result, stored) = self.job.store.add(attempt_ref, recorded, secrets, judge);
        let Stored { held, origin, error, .. } = stored;
        if let Some(error) = error {
            self.warn(&error);
        }
        RunResult { key: Some(key), began_us, origin, evidence: held, ..result }
    }

    /// Reports once that nothing can be recorded, which changes no result.
    fn warn(&self, error: &io::Error) {
        if self.warned.swap(true, Ordering::Relaxed) {
            return;
        }
        let message = format!(
            "cannot record in {}: {error}; the results are valid, but they are not kept",
            self.job.directory.join(recording::DIRECTORY).display()
        );
        self.send(Event::Note { message });
    }

    /// Removes texts and recordings that are no longer needed. A failure changes no result.
    pub(super) async fn tidy(&self, began_us: u64) {
        let (store, suite) = (Arc::clone(&self.job.store), Arc::clone(&self.job.suite));
        if let Ok(Some(message)) = tokio::task::spawn_blocking(move || store.tidy(&suite, began_us)).await {
            self.send(Event::Note { message });
        }
    }

    /// Replaces the results of attempts that a run of the whole suite omits, based on what is known of all of them.
    /// `results` are those of `units`, which are some of all.
    pub(super) async fn without_spare(
        self: &Arc<Self>,
        units: &[Unit],
        results: Vec<Arc<RunResult>>,
        whole: Vec<Unit>,
    ) -> Vec<Arc<RunResult>> {
        let (run, own, found) = (Arc::clone(self), units.to_vec(), results.clone());
        let settled = tokio::task::spawn_blocking(move || {
            let suite = &run.job.suite;
            let mut known: HashMap<Unit, Arc<RunResult>> = own.iter().cloned().zip(found).collect();
            for unit in &whole {
                let look = || run.job.store.result(run.attempt_ref(unit), &run.job.secrets);
                known.entry(unit.clone()).or_insert_with(|| Arc::new(look()));
            }
            let attempts: Vec<(usize, &RunResult)> = whole.iter().map(|unit| (unit.case, &*known[unit])).collect();
            let left_out = left_out(&suite.gates, &attempts);
            for (unit, is_left_out) in whole.iter().zip(left_out) {
                let attempt_ref = run.attempt_ref(unit);
                let settled = if is_left_out {
                    Some(attempt_ref.left_out())
                } else {
                    let status = known[unit].status;
                    attempt_ref.needed(&known[unit], &suite.gates).map(|needed| RunResult { status, ..needed })
                };
                known.extend(settled.map(|settled| (unit.clone(), Arc::new(settled))));
            }
            own.iter().map(|unit| Arc::clone(&known[unit])).collect()
        });
        // If they cannot be settled, the results stay.
        settled.await.unwrap_or(results)
    }

    pub(super) async fn replay(self: &Arc<Self>, unit: &Unit) -> Result<RunResult, Box<RunResult>> {
        let (run, planned) = (Arc::clone(self), unit.clone());
        self.blocking(unit, move || run.job.store.result(run.attempt_ref(&planned), &run.job.secrets)).await
    }

    /// Evaluates a recording. If none matches, the attempt fails, and the message compares it with the nearest one.
    async fn replay_strictly(self: &Arc<Self>, unit: &Unit) -> Result<RunResult, Box<RunResult>> {
        let (run, planned) = (Arc::clone(self), unit.clone());
        let replay = move || {
            let attempt_ref = run.attempt_ref(&planned);
            let result = run.job.store.result(attempt_ref, &run.job.secrets);
            let Some(absence) = result.absence.clone() else { return result };
            let message = match absence.kind {
                AbsenceKind::Stale => absence.message,
                AbsenceKind::NoRecording => {
                    let others = run.others.get_or_init(|| run.job.store.all());
                    let nearest = attempt_ref.nearest(others, &run.job.secrets);
                    let nearest = nearest.map(|nearest| format!("; {nearest}"));
                    absence.message + &nearest.unwrap_or_default()
                }
                AbsenceKind::RunError(_) | AbsenceKind::FailedFast | AbsenceKind::OverBudget | AbsenceKind::Decided => {
                    return result;
                }
            };
            RunResult { status: Status::Fail, ..attempt_ref.absent(absence.kind, message) }
        };
        self.blocking(unit, replay).await
    }

    pub(super) fn case(&self, unit: &Unit) -> &Arc<Case> {
        &self.job.suite.cases[unit.case]
    }

    pub(super) fn attempt_ref<'a>(&'a self, unit: &'a Unit) -> AttemptRef<'a> {
        AttemptRef { suite: &self.job.suite, case: self.case(unit), subject: &unit.subject, repeat: unit.repeat }
    }

    pub(super) fn failed(&self, unit: &Unit, kind: RunErrorKind, message: impl Into<String>) -> RunResult {
        self.attempt_ref(unit).absent(AbsenceKind::RunError(kind), message)
    }

    /// Runs claims or masking on a thread that may block: they may take a while, or panic.
    pub(super) async fn blocking<A: Send + 'static>(
        &self,
        unit: &Unit,
        work: impl FnOnce() -> A + Send + 'static,
    ) -> Result<A, Box<RunResult>> {
        tokio::task::spawn_blocking(work).await.map_err(|error| {
            tracing::error!(%error, "the evaluation failed");
            self.defect(unit)
        })
    }

    /// Runs work on outputs of this many bytes. Large ones wait for each other: they take several times their memory.
    async fn blocking_for<A: Send + 'static>(
        &self,
        unit: &Unit,
        bytes: usize,
        work: impl FnOnce() -> A + Send + 'static,
    ) -> Result<A, Box<RunResult>> {
        static LARGE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
        let _turn = if bytes > LARGE_OUTPUT_BYTES { Some(LARGE.lock().await) } else { None };
        self.blocking(unit, work).await
    }

    fn defect(&self, unit: &Unit) -> Box<RunResult> {
        let message = "evaluating the assertions failed; this is a bug in speclens";
        Box::new(self.failed(unit, RunErrorKind::Defect, message))
    }
}

/// Returns a note that nothing was started, and what was judged instead.
fn looked(only: PartialRun, context: &Context) -> Option<String> {
    match only {
        PartialRun::Preconditions => None,
        PartialRun::Present if context.run_id.is_empty() => {
            Some("nothing was started: the current state was evaluated, for an unknown run".to_owned())
        }
        PartialRun::Present => {
            Some(format!("nothing was started: the current state was evaluated, for the run `{}`", context.run_id))
        }
    }
}

const LARGE_OUTPUT_BYTES: usize = 4 * 1024 * 1024;

const CANCELLED: &str = "cancelled before everything was observed";

struct Unanswered {
    recorded: Recorded,
    questions: Vec<Need>,
}

impl Run {
    pub(super) async fn ask(self: &Arc<Self>, unit: &Unit) -> Result<RunResult, Box<RunResult>> {
        let (run, planned) = (Arc::clone(self), unit.clone());
        let found = self.blocking(unit, move || run.unanswered(&planned)).await?;
        let Some(Unanswered { recorded, questions }) = found else { return self.replay(unit).await };
        let site = ActionSite::of_suite(&self.job);
        let output = recorded.evidence.output.clone().map(Arc::new);
        let view = View {
            seen: Arc::new(recorded.evidence.observations.clone()),
            ..self.view(unit, &site, &Arc::default(), output)
        };
        let Observations { observations, cancelled } = observe::all(questions, &view).await;
        if cancelled {
            return Ok(self.failed(unit, RunErrorKind::Cancelled, "cancelled before the judge answered"));
        }
        let (run, planned) = (Arc::clone(self), unit.clone());
        self.blocking(unit, move || {
            let recorded = run.answered(recorded, observations);
            run.store(run.attempt_ref(&planned), recorded)
        })
        .await
    }

    fn unanswered(&self, unit: &Unit) -> Option<Unanswered> {
        let recorded = self.job.store.recorded(self.attempt_ref(unit), self.job.clock.now(), &self.job.secrets)?;
        let questions = judge::open_questions(self.case(unit), &recorded.evidence);
        (!questions.is_empty()).then_some(Unanswered { recorded, questions })
    }

    fn answered(&self, mut recorded: Recorded, observations: Vec<Observation>) -> Recorded {
        let nothing = Attempt::begun(Context::default());
        let answers = Masked::of(nothing, self.job.suite.dialect, &self.job.secrets).with(observations);
        let (answers, _) = answers.into_parts();
        Arc::make_mut(&mut recorded.evidence).observe_again(answers.observations);
        recorded
    }
}

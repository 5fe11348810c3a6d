//! Starts a skill, an agent or a pipeline, and waits for its end.

mod context;
mod program;
mod webhook;

use std::{path::Path, sync::Arc};

use speclens_schema::{
    evidence::{Address, Context, Ended, Evidence, Need, ObservationTime, RunError, RunErrorKind},
    gateway::trigger::{Filled, agent_id, session_key},
    suite::{TriggerAction, TriggerKind},
};

use super::{ActionContext, ActionResult, ActionSite, Attempt, Inputs, process};
use crate::{
    clock::{Clock, SuspendAwareTimer},
    gateway::Gateway,
    job::Job,
    observe::View,
    recording,
    trace::{self, Identity},
    watch::Watch,
};

pub(crate) use context::{KnownRun, begun};
use context::{TriggerContext, Triggered, cancelled, ended};

/// Returns the known facts of a run that was started elsewhere, before its results are observed.
pub(crate) fn seen_later(context: Context, job: &Job) -> Attempt {
    Attempt::begun(match &job.gateway {
        Some(gateway) => ended(context, None, gateway, job.clock, &job.directory),
        None => context,
    })
}

pub(super) async fn perform(
    action: &TriggerAction,
    context: Context,
    action_context: ActionContext<'_>,
    view: &View,
) -> ActionResult {
    let inputs = Inputs::before_trigger(action, &action_context.job.files).await;
    let timer = SuspendAwareTimer::begin(process::suspended);
    let (attempt, watch) = match prepared(action, &context, action_context) {
        Ok(_) if action.kind == TriggerKind::Nothing => (seen_later(context, action_context.job), None),
        Ok((filled, gateway)) => {
            let trigger = TriggerContext { action, filled: &filled, gateway, action_context, view, timer };
            started(trigger, context).await
        }
        Err(error) => (Attempt::with_error(context, error.kind, error.message), None),
    };
    let site = ActionSite { watch: watch.map(Arc::new), ..ActionSite::of_suite(action_context.job) };
    ActionResult { attempt, inputs: Some(inputs), site }
}

fn prepared<'a>(
    action: &TriggerAction,
    context: &Context,
    action_context: ActionContext<'a>,
) -> Result<(Filled, &'a Arc<Gateway>), RunError> {
    let missing = "the settings of the gateway are missing; this is a bug in speclens";
    let gateway = action_context.job.gateway.as_ref().ok_or_else(|| RunError::new(RunErrorKind::Defect, missing))?;
    let templates = context.templates.clone().unwrap_or_default();
    let filled = Filled::of(action, &templates.before)
        .map_err(|no_value| RunError::new(RunErrorKind::MissingVariable, format!("{no_value} in this run")))?;
    Ok((filled, gateway))
}

async fn started(trigger: TriggerContext<'_>, context: Context) -> (Attempt, Option<Watch>) {
    let session_key = match trigger.action.kind {
        TriggerKind::Skill => {
            Some(session_key(&trigger.action.target, &trigger.action_context.test.name, &context.run_id))
        }
        TriggerKind::Agent | TriggerKind::Pipeline | TriggerKind::Nothing => None,
    };
    let known = Some(context.run_id.clone()).filter(|id| !id.is_empty());
    let started_us = i64::try_from(recording::beginning_us()).unwrap_or(i64::MAX);
    let identity = Identity { run_id: known, session_key, agent: None, started_us, ended_us: None };
    let mut watch = Watch::begin(
        trigger.gateway,
        &trigger.action_context.job.directory,
        &trigger.action_context.job.traces,
        identity,
    )
    .await;
    if let Some(error) = without_traces(trigger, &watch, &context) {
        return (Attempt::with_error(context, error.kind, error.message), Some(watch));
    }
    if let Some(scripted_gateway) = trigger.gateway.scripted_gateway() {
        scripted_gateway.export_to(&watch.environment());
    }
    let Triggered { mut evidence, run_id, mut notes } = match trigger.action.kind {
        TriggerKind::Skill | TriggerKind::Pipeline => webhook::start(trigger, &context, &mut watch).await,
        TriggerKind::Agent => program::start(trigger, &mut watch).await,
        TriggerKind::Nothing => Triggered { evidence: Evidence::default(), run_id: None, notes: Vec::new() },
    };
    // A mistake in the script of a gateway is reported as such.
    let fault =
        trigger.gateway.scripted_gateway().and_then(|scripted_gateway| scripted_gateway.faults().into_iter().next());
    if let (Some(message), None) = (fault, &evidence.error) {
        evidence.error = Some(RunError { kind: RunErrorKind::Script, message });
    }
    if evidence.duration_ms.is_none() {
        evidence.duration_ms = Some(trigger.timer.elapsed().as_secs_f64() * 1000.0);
    }
    if evidence.error.is_none() {
        follow_log(trigger, &watch, &mut evidence).await;
    }
    if (evidence.ended, &evidence.error) == (Some(Ended::Deadline), &None) {
        notes.push(deadline_note(trigger).await);
    }
    watch.identity.ended_us = evidence.ended.filter(|ended| ended.is_final()).map(|_| trace::now_us());
    evidence.context = trigger.ended(context, run_id);
    (Attempt { evidence, notes }, Some(watch))
}

/// Follows the log to the end of the run and of the agents that it started, if the log shows that they continue.
async fn follow_log(trigger: TriggerContext<'_>, watch: &Watch, evidence: &mut Evidence) {
    if evidence.ended.is_some_and(Ended::is_final) {
        let settled = trigger.timer.within(trigger.limit(), watch.log_settled());
        match trigger.action_context.cancel.run_until_cancelled(settled).await {
            Some(Some(())) => {}
            Some(None) => evidence.ended = Some(Ended::Deadline),
            None => {
                evidence.error = Some(cancelled());
                return;
            }
        }
    }
    evidence.error = watch.read_log().await.failure.map(failed_by_log);
}

pub(crate) fn failed_by_log(reason: String) -> RunError {
    RunError::new(RunErrorKind::Gateway, format!("the gateway's log says that the run failed: {reason}"))
}

/// Returns the error of a test about a trace that cannot be received, before anything is started.
fn without_traces(trigger: TriggerContext<'_>, watch: &Watch, context: &Context) -> Option<RunError> {
    let reason = watch.trace.as_ref()?.failure()?;
    let needs = trigger.action_context.test.needs(ObservationTime::After, context);
    needs.contains(&Need::Trace).then(|| RunError::new(RunErrorKind::Gateway, reason))
}

async fn deadline_note(trigger: TriggerContext<'_>) -> String {
    let gone = webhook::unreachable(trigger.gateway).await.map(|why| {
        let shown = trigger.gateway.shown_url(&trigger.gateway.webhook);
        format!(" and the gateway at {shown} can no longer be reached ({why}),")
    });
    format!(
        "the run did not end within {} s,{} so assertions about what did not happen are unknown",
        trigger.limit().as_secs_f64(),
        gone.unwrap_or_default()
    )
}

const RUN_ID: &str = "{{run_id}}";

/// Returns the requests that would be sent, one sentence or value per line.
pub fn described(action: &TriggerAction, test: &str, gateway: &Gateway, clock: Clock, directory: &Path) -> Vec<String> {
    let known = KnownRun { run_id: Some(RUN_ID.to_owned()), started: Some(clock.seconds()) };
    let templates = begun(clock, directory, gateway, Some(&known)).templates.unwrap_or_default();
    let filled = match Filled::of(action, &templates.before) {
        Ok(filled) => filled,
        Err(no_value) => return vec![no_value.to_string()],
    };
    let post = |session: Option<String>| {
        let token = gateway.token_from().map(|source| format!(" with the token from `{source}`")).unwrap_or_default();
        let body = filled.body(action, session.as_deref());
        let address = format!("POST {}{token}", gateway.shown_url(&gateway.webhook));
        let script = gateway.script_for(&Address::Gateway(gateway.webhook.clone()));
        let instead = script
            .map(|script| format!("the scripted gateway `{script}` answers instead of `{}`", gateway.shown_url("")));
        [Some(address), Some(body.to_string()), instead].into_iter().flatten().collect()
    };
    match action.kind {
        TriggerKind::Skill => post(Some(session_key(&action.target, test, RUN_ID))),
        TriggerKind::Pipeline => post(None),
        TriggerKind::Agent => match filled.message() {
            Ok(message) => {
                let command = format!("openclaw agent --local --agent {} --json", agent_id(&action.trigger));
                let script = gateway.script_for(&Address::Gateway(String::new()));
                let instead =
                    script.map(|script| format!("the scripted gateway `{script}` answers instead of `openclaw`"));
                let beside = script.is_none().then(|| "without `--local` if the gateway is running".to_owned());
                [Some(command), Some(format!("message: {message}")), beside, instead].into_iter().flatten().collect()
            }
            Err(missing) => vec![missing],
        },
        TriggerKind::Nothing => {
            vec!["nothing is started: the contract is evaluated against the results of another run".to_owned()]
        }
    }
}

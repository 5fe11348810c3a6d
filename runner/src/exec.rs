//! Performs one action and returns the evidence.

mod action;
pub mod agent;
mod inputs;
pub mod process;
#[cfg(unix)]
pub mod program;
pub mod prompt;
mod talk;
pub(crate) mod temporary;
pub mod trigger;

use std::time::Duration;

use speclens_schema::{
    evidence::{Context, Ended, Evidence, Exit, RunErrorKind},
    suite::{Action, AgentAction, CommandAction, Subject},
};

use crate::{event::Event, observe::View};

pub(crate) use action::{ActionContext, ActionResult, ActionSite, Attempt};
pub(crate) use inputs::Inputs;

/// Performs an action; `view` is for actions that check whether they are done. This is the only place that
/// distinguishes the kinds of actions: a new kind needs its arm here, its fields in [`Action`], and nothing else in the
/// runner.
pub(crate) async fn perform(
    action: &Action,
    context: Context,
    action_context: ActionContext<'_>,
    view: &View,
) -> ActionResult {
    match action {
        Action::Command(command) => {
            let inputs = Inputs::before(command, &action_context.job.files).await;
            let attempt = self::command(command, context, action_context).await;
            ActionResult { attempt, inputs: Some(inputs), site: ActionSite::of_suite(action_context.job) }
        }
        Action::Agent(task) => match action_context.backend {
            Some(backend) => agent(task, backend, context, action_context).await,
            None => {
                let attempt = Attempt::with_error(context, RunErrorKind::Provider, NO_MODEL);
                ActionResult::without_act(attempt, action_context.job)
            }
        },
        Action::Trigger(trigger) => trigger::perform(trigger, context, action_context, view).await,
        Action::Prompt(prompt) => {
            let attempt = match action_context.backend {
                Some(agent::AgentBackend::Model(model)) => {
                    prompt::perform(prompt, model, context, action_context).await
                }
                Some(agent::AgentBackend::Program(_)) | None => {
                    Attempt::with_error(context, RunErrorKind::Provider, NO_MODEL_TO_ASK)
                }
            };
            ActionResult::without_act(attempt, action_context.job)
        }
        Action::None => {
            let message = "the test has no valid action, so nothing was run";
            let attempt = Attempt::with_error(context, RunErrorKind::Unsupported, message);
            ActionResult::without_act(attempt, action_context.job)
        }
    }
}

pub const NO_MODEL: &str = "the suite does not name a model; name models under `providers`, or with `--model`";

const NO_MODEL_TO_ASK: &str = "only a model can answer a prompt; name one of `models`";

async fn agent(
    task: &AgentAction,
    backend: agent::AgentBackend<'_>,
    context: Context,
    action_context: ActionContext<'_>,
) -> ActionResult {
    let ActionContext { job, subject, case, repeat, events, .. } = action_context;
    let task_context = agent::TaskContext {
        action: task,
        test: &action_context.test.name,
        backend,
        mode: match subject {
            Subject::Model { mode, .. } => *mode,
            Subject::Command | Subject::Gateway { .. } | Subject::Nobody => None,
        },
        suite: &job.directory,
        hidden: action_context.hidden,
        secrets: &job.secrets,
        output_limit: job.output_limit,
        keep: action_context.keep,
        version: action_context.version,
        cancel: action_context.cancel,
        // Without a listener, the result is still returned.
        notify: &|message| drop(events.send(Event::Note { message })),
        turn: &|turn| {
            let (subject, turns) = (subject.clone(), task.max_turns);
            drop(events.send(Event::TurnStarted { case, subject, repeat, turn, turns }));
        },
    };
    let inputs = Inputs::before_task(task, &job.files).await;
    let (attempt, site) = agent::perform(task_context, context).await;
    ActionResult { attempt, inputs: Some(inputs), site: site.unwrap_or_else(|| ActionSite::of_suite(job)) }
}

async fn command(action: &CommandAction, context: Context, action_context: ActionContext<'_>) -> Attempt {
    let ActionContext { job, background, cancel, .. } = action_context;
    let script = match &action.expanded {
        Ok(script) => script,
        Err(names) => return Attempt::without_values(context, names),
    };
    let (timeout, environment) = (Duration::from_millis(action.timeout_ms), process::Environment::default());
    let command = process::Command::shell(script, &job.directory, &environment, timeout, job.output_limit);
    let finished = process::run(command, background, cancel).await;
    let mut notes = finished.notes;
    notes.extend(finished.ran.exit.and_then(Exit::not_begun).map(str::to_owned));
    let evidence = Evidence {
        context,
        duration_ms: finished.ran.duration_ms,
        ended: finished.ran.exit.is_some().then_some(Ended::Exit),
        command: Some(finished.ran),
        error: finished.error,
        ..Evidence::default()
    };
    Attempt { evidence, notes }
}

//! Performs one action and returns the evidence.

pub mod agent;
mod inputs;
pub mod process;
#[cfg(unix)]
pub mod program;
pub(crate) mod temporary;
pub mod trigger;

use std::{collections::BTreeSet, path::PathBuf, sync::Arc, time::Duration};

use speclens_schema::{
    evidence::{Context, Ended, Evidence, Exit, RunError, RunErrorKind},
    format::Dialect,
    suite::{Action, ActionKind, AgentAction, Case, CommandAction, Subject},
};
use tokio_util::sync::CancellationToken;

use crate::{
    event::{Event, Events},
    job::Job,
    observe::View,
    watch::Watch,
};

pub(crate) use inputs::Inputs;

/// The evidence of an attempt, and notes about it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Attempt {
    /// The observation, neither masked nor interpreted.
    pub(crate) evidence: Evidence,
    pub(crate) notes: Vec<String>,
}

/// Returns the kind of test, in the plural, whose action this version does not perform; `None` if it does.
pub fn unsupported(dialect: Dialect, action: impl Into<ActionKind>) -> Option<&'static str> {
    match action.into() {
        ActionKind::Command | ActionKind::Agent | ActionKind::Trigger => None,
        ActionKind::Prompt => Some("prompt tests"),
        ActionKind::None => Some(dialect.without_action()),
    }
}

#[derive(Clone, Copy)]
pub(crate) struct ActionContext<'a> {
    pub(crate) job: &'a Job,
    pub(crate) background: &'a process::Background,
    pub(crate) cancel: &'a CancellationToken,
    pub(crate) test: &'a Arc<Case>,
    pub(crate) case: usize,
    pub(crate) subject: &'a Subject,
    pub(crate) repeat: u32,
    /// The backend of a task; `None` for other actions.
    pub(crate) backend: Option<agent::AgentBackend<'a>>,
    /// Environment variables that commands of an agent do not see unless the suite sets them.
    pub(crate) hidden: &'a BTreeSet<String>,
    pub(crate) keep: bool,
    pub(crate) version: &'a agent::Version,
    pub(crate) events: &'a Events,
}

/// The result of an action, and the files that decided it.
#[derive(Debug)]
pub(crate) struct ActionResult {
    pub(crate) attempt: Attempt,
    /// The inputs as they were at the beginning; `None` without inputs.
    pub(crate) inputs: Option<Inputs>,
    pub(crate) site: ActionSite,
}

/// The site of an action, for claims that need more than its evidence.
#[derive(Debug, Default)]
pub(crate) struct ActionSite {
    /// The base directory of relative paths.
    pub(crate) directory: PathBuf,
    pub(crate) environment: process::Environment,
    pub(crate) closing: Option<agent::Closing>,
    pub(crate) watch: Option<Arc<Watch>>,
}

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
        Action::Prompt(_) | Action::None => {
            let message = refusal(action_context.job.suite.dialect, action).unwrap_or_default();
            let attempt = Attempt::with_error(context, RunErrorKind::Unsupported, message);
            ActionResult::without_act(attempt, action_context.job)
        }
    }
}

/// Error message for a task without a model.
pub const NO_MODEL: &str = "the suite does not name a model; name models under `providers`, or with `--model`";

/// Lets an agent work on a task.
async fn agent(
    task: &AgentAction,
    backend: agent::AgentBackend<'_>,
    context: Context,
    action_context: ActionContext<'_>,
) -> ActionResult {
    let mode = match action_context.subject {
        Subject::Model { mode, .. } => *mode,
        Subject::Command | Subject::Gateway { .. } | Subject::Nobody => None,
    };
    let task_context = agent::TaskContext {
        suite: &action_context.job.directory,
        hidden: action_context.hidden,
        secrets: &action_context.job.secrets,
        output_limit: action_context.job.output_limit,
        keep: action_context.keep,
        version: action_context.version,
        cancel: action_context.cancel,
        // Without a listener, the result is still returned.
        notify: &|message| drop(action_context.events.send(Event::Note { message })),
        turn: &|turn| {
            let subject = action_context.subject.clone();
            let (case, repeat, turns) = (action_context.case, action_context.repeat, task.max_turns);
            drop(action_context.events.send(Event::TurnStarted { case, subject, repeat, turn, turns }));
        },
    };
    let agent = agent::TaskAgent { test: &action_context.test.name, backend, mode };
    let inputs = Inputs::before_task(task, &action_context.job.files).await;
    let (attempt, site) = agent::perform(task, agent, context, task_context).await;
    let site = site.unwrap_or_else(|| ActionSite::of_suite(action_context.job));
    ActionResult { attempt, inputs: Some(inputs), site }
}

impl ActionSite {
    /// Returns the directory of the suite with the environment of this program: the site where the act begins, and of
    /// observations before it.
    pub(crate) fn of_suite(job: &Job) -> ActionSite {
        ActionSite { directory: job.directory.clone(), ..ActionSite::default() }
    }

    /// Closes the site once all needs of claims have been observed there: releases the resources of the act and ends
    /// the processes that the attempt left running. Returns error messages.
    pub(crate) async fn close(self, background: &process::Background) -> Vec<String> {
        match self.closing {
            Some(closing) => closing.close(background).await,
            None => {
                background.end().await;
                Vec::new()
            }
        }
    }
}

impl ActionResult {
    /// Returns an attempt that ended before its act.
    pub(crate) fn without_act(attempt: Attempt, job: &Job) -> ActionResult {
        ActionResult { attempt, inputs: None, site: ActionSite::of_suite(job) }
    }
}

/// Returns the reason why an action cannot be performed, as a sentence; `None` if it can.
pub fn refusal(dialect: Dialect, action: &Action) -> Option<String> {
    let what = unsupported(dialect, action)?;
    Some(format!("{what} are not supported, so nothing was run"))
}

/// Runs the command of a test in the suite's directory.
async fn command(action: &CommandAction, context: Context, action_context: ActionContext<'_>) -> Attempt {
    let ActionContext { job, background, cancel, .. } = action_context;
    let script = match &action.expanded {
        Ok(script) => script,
        Err(names) => return Attempt::with_error(context, RunErrorKind::MissingVariable, missing(names)),
    };
    let timeout = Duration::from_millis(action.timeout_ms);
    let command = process::Command {
        program: process::Program::shell(script),
        directory: &job.directory,
        environment: &process::Environment::default(),
        input: &[],
        timeout,
        output: process::Output::Kept(job.output_limit),
    };
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

fn missing(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("missing template variables: {}; add them to `vars`", names.join(", "))
}

impl Attempt {
    /// Returns an attempt without observations.
    pub(crate) fn begun(context: Context) -> Attempt {
        Attempt { evidence: Evidence { context, ..Evidence::default() }, notes: Vec::new() }
    }

    /// Returns an attempt that ended with an error before its act.
    pub(crate) fn with_error(context: Context, kind: RunErrorKind, message: impl Into<String>) -> Attempt {
        let error = Some(RunError { kind, message: message.into() });
        Attempt { evidence: Evidence { context, error, ..Evidence::default() }, notes: Vec::new() }
    }
}

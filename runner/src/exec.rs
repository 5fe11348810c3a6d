//! Performs one action and returns the evidence.

pub mod agent;
mod inputs;
pub mod process;
#[cfg(unix)]
pub mod program;
pub(crate) mod temporary;
pub mod trigger;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use speclens_schema::{
    dialect::Dialect,
    evidence::{Context, Ended, Evidence, Exit, RunError, RunErrorKind},
    mask::Secrets,
    suite::{Action, ActionKind, AgentAction, Case, CommandAction, Subject},
};
use tokio_util::sync::CancellationToken;

use crate::{
    clock::Clock,
    event::{Event, Events},
    files::DiskFiles,
    gateway::Gateway,
    observe::View,
    trace::Traces,
    watch::Watch,
};

pub use inputs::Inputs;

/// The evidence of an attempt, and notes about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// The observation, neither masked nor interpreted.
    pub evidence: Evidence,
    /// Notes on truncated output and processes left behind.
    pub notes: Vec<String>,
}

/// Returns the kind of test, in the plural, whose action this version does not perform; `None` if it does.
pub fn unsupported(dialect: Dialect, action: impl Into<ActionKind>) -> Option<&'static str> {
    match action.into() {
        ActionKind::Command | ActionKind::Agent | ActionKind::Trigger => None,
        ActionKind::Prompt => Some("prompt tests"),
        ActionKind::None => Some(dialect.without_action()),
    }
}

/// The environment of an action.
#[derive(Clone, Copy)]
pub struct ActionContext<'a> {
    /// The format of the suite.
    pub dialect: Dialect,
    /// The directory of the suite.
    pub directory: &'a Path,
    /// The files of the workspace that decide what commands do.
    pub files: &'a Arc<DiskFiles>,
    /// Maximum number of bytes kept of each output stream.
    pub output_limit: usize,
    /// Owner of background processes.
    pub background: &'a process::Background,
    /// Ends the action early.
    pub cancel: &'a CancellationToken,
    /// The test.
    pub test: &'a Arc<Case>,
    /// The place of the test in the suite.
    pub case: usize,
    /// The subject that acts.
    pub subject: &'a Subject,
    /// Index of the repetition, from 0.
    pub repeat: u32,
    /// The backend of a task; `None` for other actions.
    pub backend: Option<agent::AgentBackend<'a>>,
    /// Environment variables that commands of an agent do not see unless the suite sets them.
    pub hidden: &'a BTreeSet<String>,
    /// The secrets, which no model may see.
    pub secrets: &'a Secrets,
    /// Whether temporary directories are kept for inspection.
    pub keep: bool,
    /// The current time.
    pub clock: Clock,
    /// The version of the program under test.
    pub version: &'a agent::Version,
    /// Receives events about waiting.
    pub events: &'a Events,
    /// The gateway for targets that run elsewhere.
    pub gateway: Option<&'a Arc<Gateway>>,
    /// The source of traces.
    pub traces: &'a Arc<Traces>,
}

/// The result of an action, and the files that decided it.
#[derive(Debug)]
pub struct ActionResult {
    /// The attempt.
    pub attempt: Attempt,
    /// The inputs as they were at the beginning; `None` without inputs.
    pub inputs: Option<Inputs>,
    /// The site of the action.
    pub site: ActionSite,
}

/// The site of an action, for claims that need more than its evidence.
#[derive(Debug, Default)]
pub struct ActionSite {
    /// The base directory of relative paths.
    pub directory: PathBuf,
    /// The environment of its commands.
    pub environment: process::Environment,
    /// Resources of the act to be released.
    pub closing: Option<agent::Closing>,
    /// The watch over a target that ran elsewhere.
    pub watch: Option<Arc<Watch>>,
}

/// Performs an action; `view` is for actions that check whether they are done. This is the only place that
/// distinguishes the kinds of actions: a new kind needs its arm here, its fields in [`Action`], and nothing else in the
/// runner.
pub async fn perform(
    action: &Action,
    context: Context,
    action_context: ActionContext<'_>,
    view: &View,
) -> ActionResult {
    match action {
        Action::Command(command) => {
            let inputs = Inputs::before(command, action_context.files).await;
            let attempt = self::command(command, context, action_context).await;
            ActionResult { attempt, inputs: Some(inputs), site: ActionSite::of_suite(action_context) }
        }
        Action::Agent(task) => match action_context.backend {
            Some(backend) => agent(task, backend, context, action_context).await,
            None => ActionResult::without_act(
                Attempt::with_error(context, RunErrorKind::Provider, NO_MODEL),
                action_context,
            ),
        },
        Action::Trigger(trigger) => trigger::perform(trigger, context, action_context, view).await,
        Action::Prompt(_) | Action::None => {
            let message = refusal(action_context.dialect, action).unwrap_or_default();
            ActionResult::without_act(Attempt::with_error(context, RunErrorKind::Unsupported, message), action_context)
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
        suite: action_context.directory,
        hidden: action_context.hidden,
        secrets: action_context.secrets,
        output_limit: action_context.output_limit,
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
    let inputs = Inputs::before_task(task, action_context.files).await;
    let (attempt, site) = agent::perform(task, agent, context, task_context).await;
    ActionResult { attempt, inputs: Some(inputs), site: site.unwrap_or_else(|| ActionSite::of_suite(action_context)) }
}

impl ActionSite {
    /// Returns the directory of the suite with the environment of this program: the site where the act begins, and of
    /// observations before it.
    pub fn of_suite(action_context: ActionContext<'_>) -> ActionSite {
        ActionSite { directory: action_context.directory.to_owned(), ..ActionSite::default() }
    }

    /// Closes the site once all needs of claims have been observed there: releases the resources of the act and ends
    /// the processes that the attempt left running. Returns error messages.
    pub async fn close(self, background: &process::Background) -> Vec<String> {
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
    pub fn without_act(attempt: Attempt, action_context: ActionContext<'_>) -> ActionResult {
        ActionResult { attempt, inputs: None, site: ActionSite::of_suite(action_context) }
    }
}

/// Returns the reason why an action cannot be performed, as a sentence; `None` if it can.
pub fn refusal(dialect: Dialect, action: &Action) -> Option<String> {
    let what = unsupported(dialect, action)?;
    Some(format!("{what} are not supported, so nothing was run"))
}

/// Runs the command of a test in the suite's directory.
async fn command(action: &CommandAction, context: Context, action_context: ActionContext<'_>) -> Attempt {
    let ActionContext { directory, output_limit: limit, background, cancel, .. } = action_context;
    let script = match &action.expanded {
        Ok(script) => script,
        Err(names) => return Attempt::with_error(context, RunErrorKind::MissingVariable, missing(names)),
    };
    let timeout = Duration::from_millis(action.timeout_ms);
    let command = process::Command {
        program: process::Program::shell(script),
        directory,
        environment: &process::Environment::default(),
        input: &[],
        timeout,
        output: process::Output::Kept(limit),
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
    pub fn begun(context: Context) -> Attempt {
        Attempt { evidence: Evidence { context, ..Evidence::default() }, notes: Vec::new() }
    }

    /// Returns an attempt that ended with an error before its act.
    pub fn with_error(context: Context, kind: RunErrorKind, message: impl Into<String>) -> Attempt {
        let error = Some(RunError { kind, message: message.into() });
        Attempt { evidence: Evidence { context, error, ..Evidence::default() }, notes: Vec::new() }
    }
}

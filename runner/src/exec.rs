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
pub struct World<'a> {
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
    /// The worker of a task; `None` for other actions.
    pub worker: Option<agent::Worker<'a>>,
    /// Environment variables that commands of an agent do not see unless the suite sets them.
    pub keys: &'a BTreeSet<String>,
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
pub struct Performed {
    /// The attempt.
    pub attempt: Attempt,
    /// The inputs as they were at the beginning; `None` without inputs.
    pub inputs: Option<Inputs>,
    /// The site of the action.
    pub site: Site,
}

/// The site of an action, for claims that need more than its evidence.
#[derive(Debug, Default)]
pub struct Site {
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
pub async fn perform(action: &Action, context: Context, world: World<'_>, view: &View) -> Performed {
    match action {
        Action::Command(command) => {
            let inputs = Inputs::before(command, world.files).await;
            let attempt = self::command(command, context, world).await;
            Performed { attempt, inputs: Some(inputs), site: Site::of_suite(world) }
        }
        Action::Agent(task) => match world.worker {
            Some(worker) => agent(task, worker, context, world).await,
            None => Performed::without_act(Attempt::with_error(context, RunErrorKind::Provider, NO_MODEL), world),
        },
        Action::Trigger(trigger) => trigger::perform(trigger, context, world, view).await,
        Action::Prompt(_) | Action::None => {
            let message = refusal(world.dialect, action).unwrap_or_default();
            Performed::without_act(Attempt::with_error(context, RunErrorKind::Unsupported, message), world)
        }
    }
}

/// Error message for a task without a model.
pub const NO_MODEL: &str = "the suite does not name a model; name models under `providers`, or with `--model`";

/// Lets an agent work on a task.
async fn agent(task: &AgentAction, worker: agent::Worker<'_>, context: Context, world: World<'_>) -> Performed {
    let mode = match world.subject {
        Subject::Model { mode, .. } => *mode,
        Subject::Command | Subject::Gateway { .. } | Subject::Nobody => None,
    };
    let around = agent::Surroundings {
        suite: world.directory,
        keys: world.keys,
        output_limit: world.output_limit,
        keep: world.keep,
        version: world.version,
        cancel: world.cancel,
        // Without a listener, the result is still returned.
        notify: &|message| drop(world.events.send(Event::Note { message })),
        turn: &|turn| {
            let subject = world.subject.clone();
            let (case, repeat, turns) = (world.case, world.repeat, task.max_turns);
            drop(world.events.send(Event::TurnStarted { case, subject, repeat, turn, turns }));
        },
    };
    let actor = agent::Actor { test: &world.test.name, worker, mode };
    let inputs = Inputs::before_task(task, world.files).await;
    let (attempt, site) = agent::perform(task, actor, context, around).await;
    Performed { attempt, inputs: Some(inputs), site: site.unwrap_or_else(|| Site::of_suite(world)) }
}

impl Site {
    /// Returns the directory of the suite with the environment of this program: the site where the act begins, and of
    /// observations before it.
    pub fn of_suite(world: World<'_>) -> Site {
        Site { directory: world.directory.to_owned(), ..Site::default() }
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

impl Performed {
    /// Returns an attempt that ended before its act.
    pub fn without_act(attempt: Attempt, world: World<'_>) -> Performed {
        Performed { attempt, inputs: None, site: Site::of_suite(world) }
    }
}

/// Returns the reason why an action cannot be performed, as a sentence; `None` if it can.
pub fn refusal(dialect: Dialect, action: &Action) -> Option<String> {
    let what = unsupported(dialect, action)?;
    Some(format!("{what} are not supported, so nothing was run"))
}

/// Runs the command of a test in the suite's directory.
async fn command(action: &CommandAction, context: Context, world: World<'_>) -> Attempt {
    let World { directory, output_limit: limit, background, cancel, .. } = world;
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
        limit,
    };
    let finished = process::run(command, background, cancel).await;
    let mut notes = finished.notes;
    notes.extend(finished.ran.exit.and_then(not_begun).map(str::to_owned));
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

/// Returns the meaning of an exit code by which a shell reports a command that it could not start. Claims about
/// absent output pass anyway, so the reader has to know.
fn not_begun(exit: Exit) -> Option<&'static str> {
    match exit.code {
        Some(126) => Some("exit code 126: the shell could not execute the command"),
        Some(127) => Some("exit code 127: the shell did not find the command"),
        Some(_) | None => None,
    }
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

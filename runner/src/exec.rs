//! Performs one action and brings back the evidence.

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

/// What an attempt left behind, and what was noticed on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// The observation, as it was: nothing is masked or interpreted yet.
    pub evidence: Evidence,
    /// Cut output, processes left behind.
    pub notes: Vec<String>,
}

/// Returns what this version would have to do for an action, and does not; `None` for one that it performs.
pub fn unsupported(dialect: Dialect, action: impl Into<ActionKind>) -> Option<&'static str> {
    match action.into() {
        ActionKind::Command | ActionKind::Agent | ActionKind::Trigger => None,
        ActionKind::Prompt => Some("asking models"),
        ActionKind::None => Some(dialect.without_action()),
    }
}

/// Where an action is performed.
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
    /// Owns what the action leaves running.
    pub background: &'a process::Background,
    /// Ends the action early.
    pub cancel: &'a CancellationToken,
    /// The test.
    pub test: &'a Arc<Case>,
    /// The place of the test in the suite.
    pub case: usize,
    /// The subject that acts.
    pub subject: &'a Subject,
    /// Which repetition, from 0.
    pub repeat: u32,
    /// Who works on a task; `None` where nobody does.
    pub worker: Option<agent::Worker<'a>>,
    /// Environment variables that commands of an agent do not see unless the suite sets them.
    pub keys: &'a BTreeSet<String>,
    /// Whether temporary directories stay, so that somebody can look into them.
    pub keep: bool,
    /// The current time.
    pub clock: Clock,
    /// The version of the program under test.
    pub version: &'a agent::Version,
    /// Receives what an attempt waits for.
    pub events: &'a Events,
    /// Where targets run that are started from outside.
    pub gateway: Option<&'a Arc<Gateway>>,
    /// Where traces of acts come from.
    pub traces: &'a Arc<Traces>,
}

/// What came of an action, and the files that decided what it did.
#[derive(Debug)]
pub struct Performed {
    /// What it left behind.
    pub attempt: Attempt,
    /// The files, as they were when it began; `None` where none decide.
    pub inputs: Option<Inputs>,
    /// Where it was performed.
    pub site: Site,
}

/// Where an action was performed: claims that need more than its evidence look there.
#[derive(Debug, Default)]
pub struct Site {
    /// The directory that relative paths begin in.
    pub directory: PathBuf,
    /// The environment of its commands.
    pub environment: process::Environment,
    /// What was made for the act and has to be given back.
    pub closing: Option<agent::Closing>,
    /// What was watched while a target ran elsewhere.
    pub watch: Option<Arc<Watch>>,
}

/// Performs an action; `view` is for those that look whether they are done. The only place where the kinds of actions part: a new kind needs its arm here, its fields in
/// [`Action`], and nothing else in the runner.
pub async fn perform(action: &Action, context: Context, world: World<'_>, view: &View) -> Performed {
    match action {
        Action::Command(command) => {
            let inputs = Inputs::before(command, world.files).await;
            let attempt = self::command(command, context, world).await;
            Performed { attempt, inputs: Some(inputs), site: Site::of_suite(world) }
        }
        Action::Agent(task) => match world.worker {
            Some(worker) => agent(task, worker, context, world).await,
            None => Performed::without_act(Attempt::broken(context, RunErrorKind::Provider, NO_MODEL), world),
        },
        Action::Trigger(trigger) => trigger::perform(trigger, context, world, view).await,
        Action::Prompt(_) | Action::None => {
            let message = refusal(world.dialect, action).unwrap_or_default();
            Performed::without_act(Attempt::broken(context, RunErrorKind::Unsupported, message), world)
        }
    }
}

/// That a task has nobody to work on it.
pub const NO_MODEL: &str = "no model attempts this task; name one under `providers`, or with `--model`";

/// Lets somebody work on a task.
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
        // Nobody listens any more: the result is still returned.
        tell: &|message| drop(world.events.send(Event::Note { message })),
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
    /// Returns the directory of the suite, with the environment of this program: where the act begins, and what is
    /// looked at before it.
    pub fn of_suite(world: World<'_>) -> Site {
        Site { directory: world.directory.to_owned(), ..Site::default() }
    }

    /// Closes the place when all that claims need was observed there: what was made for the act is given back, and what the
    /// attempt left running ends. Returns what went wrong.
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
    /// Returns an attempt that did not come to its act.
    pub fn without_act(attempt: Attempt, world: World<'_>) -> Performed {
        Performed { attempt, inputs: None, site: Site::of_suite(world) }
    }
}

/// Returns why an action is not performed, as a sentence; `None` for one that is.
pub fn refusal(dialect: Dialect, action: &Action) -> Option<String> {
    let what = unsupported(dialect, action)?;
    Some(format!("{what} is not supported yet, so nothing was run"))
}

/// Runs the command of a test in the suite's directory.
async fn command(action: &CommandAction, context: Context, world: World<'_>) -> Attempt {
    let World { directory, output_limit: limit, background, cancel, .. } = world;
    let script = match &action.expanded {
        Ok(script) => script,
        Err(names) => return Attempt::broken(context, RunErrorKind::MissingVariable, missing(names)),
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

/// Returns what a shell says by its exit status about a command that it could not begin. Claims about what the output
/// does not hold pass anyway, so the reader has to know.
fn not_begun(exit: Exit) -> Option<&'static str> {
    match exit.code {
        Some(126) => Some("exit status 126: the shell could not execute the command"),
        Some(127) => Some("exit status 127: the shell did not find the command"),
        Some(_) | None => None,
    }
}

fn missing(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("missing template variables: {}; add them to `vars`", names.join(", "))
}

impl Attempt {
    /// Returns an attempt of which nothing is known yet.
    pub fn begun(context: Context) -> Attempt {
        Attempt { evidence: Evidence { context, ..Evidence::default() }, notes: Vec::new() }
    }

    /// Returns an attempt that did not get as far as acting.
    pub fn broken(context: Context, kind: RunErrorKind, message: impl Into<String>) -> Attempt {
        let error = Some(RunError { kind, message: message.into() });
        Attempt { evidence: Evidence { context, error, ..Evidence::default() }, notes: Vec::new() }
    }
}

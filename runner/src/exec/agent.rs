//! Lets an agent work on a task, as cli-bench does.
//!
//! Directory, scaffold, `setup`, help, conversation: any error ends the attempt, and [`Closing`] releases everything
//! prepared until then. Claims are observed between the conversation and the closing.

mod changes;
mod conversation;
mod help;
mod scaffold;
mod shell;
mod task;
mod task_directory;

use std::time::Duration;

use speclens_schema::{
    evidence::{CommandLog, Context, Ended, Evidence, FileLog, RunError, RunErrorKind},
    suite::{AgentAction, AgentProgram, HelpMode},
};

use super::{
    ActionSite, Attempt,
    process::{Background, Environment},
    talk,
};
pub(crate) use conversation::tokens;
pub use conversation::{Conversation, UsageBound, assumptions, grouped};
pub(crate) use shell::Version;
use shell::{Deadline, Shell};
pub(crate) use task::{AgentBackend, TaskContext};
use task_directory::TaskDirectory;

/// The resources of an attempt: its directory and background processes. Dropping it releases both at once.
#[derive(Debug)]
pub(crate) struct Closing {
    teardown: Vec<String>,
    // Before the directory: processes end before it is removed.
    shell: Shell,
    place: TaskDirectory,
}

impl Closing {
    /// Runs `teardown`, ends background processes, including those of `observers`, and removes a temporary directory.
    /// Returns error messages.
    pub(crate) async fn close(self, observers: &Background) -> Vec<String> {
        let Closing { teardown, shell, place } = self;
        let notes = shell::teardown(&teardown, &shell).await;
        tokio::join!(shell.background.end(), observers.end());
        drop(shell);
        // Many files may have to be removed.
        let _ = tokio::task::spawn_blocking(move || drop(place)).await;
        notes
    }
}

/// Performs a task up to the point where claims are observed. There is no site if the task did not get a directory.
pub(crate) async fn perform(task: TaskContext<'_>, context: Context) -> (Attempt, Option<ActionSite>) {
    let TaskContext { action, cancel, notify, .. } = task;
    let place = match &action.surroundings.workdir {
        Some(workdir) => TaskDirectory::shared(workdir, task.suite, cancel, notify).await,
        None => TaskDirectory::temporary(task.keep).await,
    };
    let mut place = match place {
        Ok(place) => place,
        Err(error) => return (Attempt::with_error(context, error.kind, error.message), None),
    };
    let shell = Shell {
        environment: shell::environment(action, &place.directory, task.hidden),
        directory: place.directory.clone(),
        background: Background::default(),
        cancel: cancel.clone(),
    };
    let mut notes = std::mem::take(&mut place.notes);
    let evidence = match act(&task, &shell, Deadline::of(action)).await {
        Ok((conversation, files, version)) => {
            let Conversation { turns, commands, ended, error, notes: more, duration } = conversation;
            notes.extend(more);
            notes.extend(hidden_note(&commands, &shell.environment));
            if ended == Some(Ended::TurnLimit) {
                notes.push(format!("the model was stopped after {} turns (`max_turns`)", turns.len()));
            }
            Evidence {
                context: Context { version, ..context },
                usage: talk::usage(&turns),
                turns,
                commands: Some(commands),
                files,
                ended,
                duration_ms: Some(duration.as_secs_f64() * 1000.0),
                error,
                ..Evidence::default()
            }
        }
        Err(error) => Evidence { context, error: Some(error), ..Evidence::default() },
    };
    let (directory, environment) = (shell.directory.clone(), shell.environment.clone());
    let closing = Some(Closing { teardown: action.teardown.clone(), shell, place });
    (Attempt { evidence, notes }, Some(ActionSite { directory, environment, closing, watch: None }))
}

fn hidden_note(commands: &CommandLog, environment: &Environment) -> Option<String> {
    let failed = || commands.commands.iter().filter(|ran| ran.exit.is_some_and(|exit| exit.code != Some(0)));
    let is_named = |name: &&String| {
        let texts = || failed().flat_map(|ran| ran.streams().chain([&ran.command]));
        std::env::var_os(name).is_some() && texts().any(|text| text.text.contains(*name))
    };
    let names: Vec<String> = environment.removed.iter().filter(is_named).map(|name| format!("`{name}`")).collect();
    (!names.is_empty()).then(|| {
        let names = names.join(", ");
        format!("commands of tasks do not see {names}; to pass variables on, list them under `env` in `speclens.yaml`")
    })
}

/// Acts in the directory of the task. Returns the changes in it and the version of the program as well.
async fn act(
    task: &TaskContext<'_>,
    shell: &Shell,
    deadline: Deadline,
) -> Result<(Conversation, Option<FileLog>, Option<String>), RunError> {
    let action = task.action;
    if let Some(scaffold) = action.scaffold() {
        scaffold::copy(scaffold, task.suite, &shell.directory, task.cancel).await?;
    }
    shell::setup(action.surroundings.setup.iter().chain(&action.setup), shell, deadline).await?;
    let program = &action.surroundings.cli;
    shell::find_program(program, shell, deadline).await?;
    let version = match &action.surroundings.version_command {
        Some(command) => task.version.of(command, shell, deadline, task.notify).await,
        None => None,
    };
    let help = match task.mode {
        // The context of help, such as the directory and its configuration, is different for each attempt.
        Some(HelpMode::Injected) => {
            let mut captured = help::capture(program, &action.intent, shell, deadline).await?;
            captured.iter_mut().for_each(|help| help.text = task.secrets.mask(&help.text));
            Some(help::select(&captured, &action.intent))
        }
        Some(HelpMode::Discoverable | HelpMode::None) | None => None,
    };
    let help = help.as_deref();
    let before = changes::snapshot(&shell.directory).await;
    let conversation = match task.backend {
        AgentBackend::Model(model) => conversation::hold(task, model, help, shell, deadline).await,
        AgentBackend::Program(program) => {
            program_works(program, action, help, shell, deadline, task.output_limit).await
        }
    };
    let files = changes::since(before, &shell.directory).await;
    Ok((conversation, files, version))
}

#[cfg(unix)]
async fn program_works(
    program: AgentProgram<'_>,
    action: &AgentAction,
    help: Option<&str>,
    shell: &Shell,
    deadline: Deadline,
    limit: usize,
) -> Conversation {
    use crate::exec::program::{self, ProgramTask};

    const MAX_PROGRAM_DURATION: Duration = Duration::from_secs(30 * 60);

    let recorder = match std::env::current_exe() {
        Ok(recorder) => recorder,
        Err(error) => {
            let message = format!("cannot find the `speclens` program, which records the commands: {error}");
            return Conversation {
                error: Some(RunError { kind: RunErrorKind::Workspace, message }),
                ..Conversation::default()
            };
        }
    };
    let Shell { directory, environment, background, cancel } = shell;
    let timeout = deadline.left(MAX_PROGRAM_DURATION);
    let input = conversation::instructions_of_program(action, help);
    let task = ProgramTask { program, input: &input, directory, environment, timeout, limit, recorder: &recorder };
    let mut conversation = program::perform(task, background, cancel).await;
    if deadline.is_over() {
        conversation.error = Some(deadline.error());
    }
    conversation
}

#[cfg(not(unix))]
async fn program_works(
    _: AgentProgram<'_>,
    _: &AgentAction,
    _: Option<&str>,
    _: &Shell,
    _: Deadline,
    _: usize,
) -> Conversation {
    let message = "agent programs are supported only on Unix".to_owned();
    Conversation { error: Some(RunError { kind: RunErrorKind::Workspace, message }), ..Conversation::default() }
}

#[cfg(all(test, unix))]
mod tests;

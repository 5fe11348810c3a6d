//! Any agent program as the subject of a task: it gets the task on standard input, and shells that record.
//!
//! Programs called `sh`, `bash` and so on come first in its `PATH`, and `SHELL` names one of them. Each hands over to
//! [`shell`], which runs the real shell, passes everything through, and writes a log of the commands to a private
//! directory outside that of the task. Commands that the agent starts without these shells are not seen, and neither are
//! those that a shell reads from its input, so the log states what it may lack. The agent keeps the keys of providers,
//! since it asks a model by itself; the commands of these shells do not see them. A shell that starts the agent is not
//! one of its commands: see [`launcher`].

mod launcher;
mod log;
pub mod shell;
mod shims;

use std::{io, path::Path, time::Duration};

use speclens_schema::{
    evidence::{CommandGap, CommandLog, Ended, Ran, RunError, RunErrorKind, Turn},
    suite::AgentProgram,
};
use tokio_util::sync::CancellationToken;

use super::{
    agent::Conversation,
    process::{self, Background, Environment, end_of},
};
use log::{INPUT, Settings, WITHIN};
use shims::Shims;

/// Exit status of a shell that cannot start a program.
const NOT_EXECUTABLE: i32 = 126;
const NOT_FOUND: i32 = 127;

#[derive(Clone, Copy, Debug)]
pub struct ProgramTask<'a> {
    pub program: AgentProgram<'a>,
    pub input: &'a str,
    pub directory: &'a Path,
    /// The changes to the environment of its commands. The agent itself keeps the variables that are removed there.
    pub environment: &'a Environment,
    pub timeout: Duration,
    pub limit: usize,
    pub recorder: &'a Path,
}

/// Lets a program work on a task. Never fails: errors are part of the result.
pub async fn perform(task: ProgramTask<'_>, background: &Background, cancel: &CancellationToken) -> Conversation {
    let path = task.environment.set.get("PATH").cloned().or_else(|| std::env::var("PATH").ok()).unwrap_or_default();
    let shell = task.environment.set.get("SHELL").cloned().or_else(|| std::env::var("SHELL").ok());
    let recorder = task.recorder.to_owned();
    let settings = Settings {
        limit: task.limit,
        without: task.environment.removed.iter().cloned().collect(),
        task_bytes: task.input.len().min(process::FIRST_INPUT_BYTES) as u64,
        runner: std::process::id(),
    };
    let installed = {
        let path = path.clone();
        tokio::task::spawn_blocking(move || Shims::install(&recorder, &path, shell.as_deref(), &settings)).await
    };
    let shims = match installed.map_err(io::Error::other).and_then(|shims| shims) {
        Ok(shims) => shims,
        Err(error) => {
            let message = format!("cannot set up the recording shells: {error}");
            return Conversation {
                commands: CommandLog { unseen: Some(CommandGap::PastShell), ..CommandLog::default() },
                error: Some(RunError { kind: RunErrorKind::Workspace, message }),
                ..Conversation::default()
            };
        }
    };
    let environment = surroundings(&task, &shims, &path);
    let command = process::Command {
        // Its own shell is not one of the recording shells.
        shell: &shims.real,
        script: task.program.command,
        directory: task.directory,
        environment: &environment,
        input: task.input.as_bytes(),
        timeout: task.timeout,
        output: process::Output::Kept(task.limit),
    };
    let finished = process::run(command, background, cancel).await;
    let directory = shims.log();
    let limit = task.limit;
    let commands = tokio::task::spawn_blocking(move || log::read(&directory, limit)).await.unwrap_or_default();
    let error = finished.error.or_else(|| failure(&finished.ran));
    Conversation {
        ended: finished.ran.exit.filter(|_| error.is_none()).map(|_| Ended::Exit),
        duration: Duration::from_secs_f64(finished.ran.duration_ms.unwrap_or_default() / 1000.0),
        turns: vec![Turn {
            text: finished.ran.stdout.unwrap_or_default(),
            duration_ms: finished.ran.duration_ms,
            ..Turn::default()
        }],
        commands: match task.program.is_complete {
            true => commands,
            false => CommandLog { unseen: Some(CommandGap::PastShell), ..commands },
        },
        error,
        notes: finished.notes,
    }
}

fn surroundings(task: &ProgramTask<'_>, shims: &Shims, path: &str) -> Environment {
    let mut set = task.environment.set.clone();
    let removed = [WITHIN, INPUT].map(str::to_owned).into();
    set.insert("PATH".to_owned(), format!("{}:{path}", shims.programs().display()));
    set.insert("SHELL".to_owned(), shims.shell.display().to_string());
    Environment { set, removed }
}

/// Returns the reason why a program failed, if its exit code says so: a failed agent says nothing about the program
/// under test.
fn failure(ran: &Ran) -> Option<RunError> {
    let exit = ran.exit.filter(|exit| exit.code != Some(0))?;
    let end = end_of(ran);
    let (kind, message) = match exit.code {
        Some(NOT_EXECUTABLE | NOT_FOUND) => (
            RunErrorKind::Spawn,
            format!("the agent program could not be started: its command {}{end}", exit.sentence()),
        ),
        Some(_) | None => (RunErrorKind::Provider, format!("the agent program {}{end}", exit.sentence())),
    };
    Some(RunError { kind, message })
}

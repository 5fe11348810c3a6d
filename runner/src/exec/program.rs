//! Any agent program as the subject of a task: it gets the task on standard input, and shells that record.
//!
//! Programs called `sh`, `bash` and so on come first in its `PATH`, and `SHELL` names one of them. Each hands over to
//! [`shell`], which runs the real shell, passes everything through, and writes a log of the commands to a private
//! directory outside that of the task. Commands that the agent starts without these shells are not seen, so the log is
//! never complete. The agent keeps the keys of providers, since it asks a model by itself; the commands of these shells
//! do not see them.

mod log;
pub mod shell;
mod shims;

use std::{collections::BTreeSet, path::Path, time::Duration};

use speclens_schema::{
    evidence::{CommandGap, CommandLog, Ended, Ran, RunError, RunErrorKind, Turn},
    suite::AgentProgram,
};
use tokio_util::sync::CancellationToken;

use super::{
    agent::Conversation,
    process::{self, Background, Environment, end_of},
};
use shims::Shims;

/// Exit status of a shell that cannot start a program.
const NOT_EXECUTABLE: i32 = 126;
const NOT_FOUND: i32 = 127;

/// Environment variables that control the recording shells.
const LOG: &str = "SPECLENS_SHELL_LOG";
const LIMIT: &str = "SPECLENS_SHELL_LIMIT";
/// Names of the variables that recorded commands do not see, one per line.
const WITHOUT: &str = "SPECLENS_SHELL_WITHOUT";
/// Set for everything that a recorded command starts: nested commands are a part of it.
const WITHIN: &str = "SPECLENS_SHELL_WITHIN";

/// The task of an agent program.
#[derive(Clone, Copy, Debug)]
pub struct ProgramTask<'a> {
    /// The program.
    pub program: AgentProgram<'a>,
    /// The standard input.
    pub input: &'a str,
    /// The working directory.
    pub directory: &'a Path,
    /// The changes to the environment of its commands. The agent itself keeps the variables that are removed there.
    pub environment: &'a Environment,
    /// Maximum duration.
    pub timeout: Duration,
    /// Maximum number of bytes kept of each stream.
    pub limit: usize,
    /// The speclens program, which the recording shells start.
    pub recorder: &'a Path,
}

/// Lets a program work on a task. Never fails: errors are part of the result.
pub async fn perform(task: ProgramTask<'_>, background: &Background, cancel: &CancellationToken) -> Conversation {
    let path = task.environment.set.get("PATH").cloned().or_else(|| std::env::var("PATH").ok()).unwrap_or_default();
    let shell = task.environment.set.get("SHELL").cloned().or_else(|| std::env::var("SHELL").ok());
    let recorder = task.recorder.to_owned();
    let installed = {
        let path = path.clone();
        tokio::task::spawn_blocking(move || Shims::install(&recorder, &path, shell.as_deref())).await
    };
    let shims = match installed.map_err(std::io::Error::other).and_then(|shims| shims) {
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
        program: process::Program { shell: &shims.real, script: task.program.command },
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
        commands: CommandLog { unseen: (!task.program.is_complete).then_some(CommandGap::PastShell), ..commands },
        error,
        notes: finished.notes,
    }
}

/// Returns the environment of the program, with the recording shells first in `PATH`.
fn surroundings(task: &ProgramTask<'_>, shims: &Shims, path: &str) -> Environment {
    let mut set = task.environment.set.clone();
    let without: Vec<&str> = task.environment.removed.iter().map(String::as_str).collect();
    set.insert(WITHOUT.to_owned(), without.join("\n"));
    // This program may itself run within a recorded command.
    let removed = BTreeSet::from([WITHIN.to_owned()]);
    set.insert("PATH".to_owned(), format!("{}:{path}", shims.programs().display()));
    set.insert("SHELL".to_owned(), shims.shell.display().to_string());
    set.insert(LOG.to_owned(), shims.log().display().to_string());
    set.insert(LIMIT.to_owned(), task.limit.to_string());
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

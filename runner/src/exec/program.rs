//! Any agent program as the actor of a task: it gets the task on standard input, and shells that record.
//!
//! Programs called `sh`, `bash` and so on come first in its `PATH`, and `SHELL` names one of them. Each hands over to
//! [`shell`], which runs the real shell, passes everything through, and writes down what ran in a private directory outside
//! of that of the task. What the agent starts without these shells is not seen, so the log of its commands is never complete.
//! The agent keeps the keys of providers, since it asks a model by itself; the commands of these shells do not see them.

mod log;
pub mod shell;
mod shims;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::Duration,
};

use speclens_schema::{
    evidence::{CommandLog, Ended, Ran, RunError, RunErrorKind, Turn, Unseen},
    suite::AgentProgram,
};
use tokio_util::sync::CancellationToken;

use super::process::{self, Background, Environment, end_of};
use shims::Shims;

/// How a shell ends that cannot start a program.
const NOT_EXECUTABLE: i32 = 126;
const NOT_FOUND: i32 = 127;

/// Variables by which the recording shells know what to do.
const LOG: &str = "SPECLENS_SHELL_LOG";
const LIMIT: &str = "SPECLENS_SHELL_LIMIT";
/// The names of the variables that recorded commands do not see, one in each line.
const WITHOUT: &str = "SPECLENS_SHELL_WITHOUT";
/// Set for whatever a recorded command starts: commands within it are a part of it.
const WITHIN: &str = "SPECLENS_SHELL_WITHIN";

/// What an agent program works on.
#[derive(Clone, Copy, Debug)]
pub struct Work<'a> {
    /// The program.
    pub program: AgentProgram<'a>,
    /// What it reads from standard input.
    pub input: &'a str,
    /// Where it runs.
    pub directory: &'a Path,
    /// What differs in the environment of its commands from that of this program. What is removed there, the agent itself
    /// keeps.
    pub environment: &'a Environment,
    /// Maximum duration.
    pub timeout: Duration,
    /// Maximum number of bytes kept of each stream.
    pub limit: usize,
    /// The speclens program, which the recording shells start.
    pub recorder: &'a Path,
}

/// Its result.
#[derive(Debug)]
pub struct Worked {
    /// What the program printed, as one turn.
    pub turns: Vec<Turn>,
    /// The commands that it ran, as far as they were seen.
    pub commands: CommandLog,
    /// What ended the work.
    pub ended: Option<Ended>,
    /// What broke.
    pub error: Option<RunError>,
    /// What else the reader of a report should know.
    pub notes: Vec<String>,
    /// The time that it took, as far as it was observed.
    pub duration_ms: Option<f64>,
}

/// Lets a program work on a task. Never fails: what goes wrong is part of the answer.
pub async fn perform(work: Work<'_>, background: &Background, cancel: &CancellationToken) -> Worked {
    let path = work.environment.set.get("PATH").cloned().or_else(|| std::env::var("PATH").ok()).unwrap_or_default();
    let shell = work.environment.set.get("SHELL").cloned().or_else(|| std::env::var("SHELL").ok());
    let recorder = work.recorder.to_owned();
    let installed = {
        let path = path.clone();
        tokio::task::spawn_blocking(move || Shims::install(&recorder, &path, shell.as_deref())).await
    };
    let shims = match installed.map_err(std::io::Error::other).and_then(|shims| shims) {
        Ok(shims) => shims,
        Err(error) => return Worked::broken(format!("cannot set up the recording shells: {error}")),
    };
    let environment = surroundings(&work, &shims, &path);
    let command = process::Command {
        // Its own shell is not one of those that record.
        program: process::Program { shell: &shims.real, script: work.program.command },
        directory: work.directory,
        environment: &environment,
        input: work.input.as_bytes(),
        timeout: work.timeout,
        limit: work.limit,
    };
    let finished = process::run(command, background, cancel).await;
    let directory = shims.log();
    let limit = work.limit;
    let commands = tokio::task::spawn_blocking(move || log::read(&directory, limit)).await.unwrap_or_default();
    let error = finished.error.or_else(|| failure(&finished.ran));
    Worked {
        ended: finished.ran.exit.filter(|_| error.is_none()).map(|_| Ended::Exit),
        duration_ms: finished.ran.duration_ms,
        turns: vec![Turn {
            text: finished.ran.stdout.unwrap_or_default(),
            duration_ms: finished.ran.duration_ms,
            ..Turn::default()
        }],
        commands: CommandLog { unseen: (!work.program.is_complete).then_some(Unseen::PastShell), ..commands },
        error,
        notes: finished.notes,
    }
}

impl Worked {
    fn broken(message: String) -> Worked {
        Worked {
            turns: Vec::new(),
            commands: CommandLog { unseen: Some(Unseen::PastShell), ..CommandLog::default() },
            ended: None,
            error: Some(RunError { kind: RunErrorKind::Workspace, message }),
            notes: Vec::new(),
            duration_ms: None,
        }
    }
}

/// Returns the environment of the program: the shells that record come first.
fn surroundings(work: &Work<'_>, shims: &Shims, path: &str) -> Environment {
    let mut set = work.environment.set.clone();
    let without: Vec<&str> = work.environment.removed.iter().map(String::as_str).collect();
    set.insert(WITHOUT.to_owned(), without.join("\n"));
    // This program may itself run within a recorded command.
    let removed = BTreeSet::from([WITHIN.to_owned()]);
    set.insert("PATH".to_owned(), format!("{}:{path}", shims.programs().display()));
    set.insert("SHELL".to_owned(), shims.shell.display().to_string());
    set.insert(LOG.to_owned(), shims.log().display().to_string());
    set.insert(LIMIT.to_owned(), work.limit.to_string());
    Environment { set, removed }
}

/// Returns why a program that ended did not do its work, if it says so: an agent that failed tells nothing about what
/// it works with.
fn failure(ran: &Ran) -> Option<RunError> {
    let exit = ran.exit.filter(|exit| exit.code != Some(0))?;
    let end = end_of(ran);
    let (kind, message) = match exit.code {
        Some(NOT_EXECUTABLE | NOT_FOUND) => {
            (RunErrorKind::Spawn, format!("the agent program could not be started: it {}{end}", exit.sentence()))
        }
        Some(_) | None => (RunErrorKind::Provider, format!("the agent program {}{end}", exit.sentence())),
    };
    Some(RunError { kind, message })
}

/// Where this program is, for the shells that record.
pub fn recorder() -> std::io::Result<PathBuf> {
    std::env::current_exe()
}

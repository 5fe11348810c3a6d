//! The shell of a task: directory, environment and deadlines of its commands, and those before and after the agent.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    time::Duration,
};

use speclens_schema::{
    evidence::{Exit, RunError, RunErrorKind},
    suite::AgentAction,
    template,
};
use tokio_util::sync::CancellationToken;

use crate::{
    clock::SuspendAwareTimer,
    exec::process::{self, Background, Environment, Finished, end_of},
};

/// Returns the environment of a task: that of this program without hidden variables, and the variables of the suite and
/// the task.
pub(super) fn environment(action: &AgentAction, directory: &Path, hidden: &BTreeSet<String>) -> Environment {
    let directory = directory.to_string_lossy();
    // Output does not go to a terminal.
    let mut set = BTreeMap::from([("TERM".to_owned(), "dumb".to_owned())]);
    for (name, value) in action.environment() {
        set.insert(name.to_owned(), template::in_workdir(value, &directory));
    }
    let removed = hidden.iter().filter(|name| !set.contains_key(*name)).cloned().collect();
    Environment { set, removed }
}

#[derive(Debug)]
pub(super) struct Shell {
    pub(super) directory: PathBuf,
    pub(super) environment: Environment,
    pub(super) background: Background,
    pub(super) cancel: CancellationToken,
}

impl Shell {
    /// Runs a command. At most `limit` bytes of each stream are kept.
    pub(super) async fn run(&self, script: &str, timeout: Duration, limit: usize) -> Finished {
        self.run_until(script, timeout, limit, &self.cancel).await
    }

    /// Runs a command with its own cancellation token.
    pub(super) async fn run_until(
        &self,
        script: &str,
        timeout: Duration,
        limit: usize,
        cancel: &CancellationToken,
    ) -> Finished {
        let command = process::Command {
            program: process::Program::shell(script),
            directory: &self.directory,
            environment: &self.environment,
            input: &[],
            timeout,
            output: process::Output::Kept(limit),
        };
        process::run(command, &self.background, cancel).await
    }
}

/// The deadline of a task. Time in which the program is suspended does not count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline {
    limit: Option<Duration>,
    timer: SuspendAwareTimer,
}

impl Deadline {
    pub(super) fn of(action: &AgentAction) -> Deadline {
        Deadline {
            limit: action.timeout_ms.map(Duration::from_millis),
            timer: SuspendAwareTimer::begin(process::suspended),
        }
    }

    pub(super) fn elapsed(self) -> Duration {
        self.timer.elapsed()
    }

    /// Returns the remaining time, or `most` if that is less.
    pub(super) fn left(self, most: Duration) -> Duration {
        self.limit.map_or(most, |limit| limit.saturating_sub(self.elapsed()).min(most))
    }

    pub(super) fn is_over(self) -> bool {
        self.left(Duration::MAX).is_zero()
    }

    /// Waits until the deadline.
    pub(super) async fn over(self) {
        loop {
            match self.limit {
                None => std::future::pending().await,
                Some(_) if self.is_over() => return,
                Some(_) => tokio::time::sleep(self.left(Duration::MAX)).await,
            }
        }
    }

    /// Returns the error of a task that reached its deadline.
    pub(super) fn error(self) -> RunError {
        let limit = self.limit.unwrap_or_default().as_millis();
        let message = format!("the test did not end within {limit} ms and was stopped");
        RunError { kind: RunErrorKind::TimedOut, message }
    }
}

/// Maximum duration of one command of `setup`.
const SETUP_TIMEOUT: Duration = Duration::from_secs(600);

/// Maximum duration of one command of `teardown`.
const TEARDOWN_TIMEOUT: Duration = Duration::from_secs(60);

/// Maximum duration of `teardown` as a whole after the run was cancelled, also while it is running.
const CANCELLED_TEARDOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// Maximum number of bytes kept of each stream of such a command: only its end is reported.
const MAX_OUTPUT_BYTES: usize = 1024 * 1024;

/// Runs the commands of `setup` one after the other. The first one that fails is the error.
pub(super) async fn setup<'c>(
    commands: impl Iterator<Item = &'c String>,
    shell: &Shell,
    deadline: Deadline,
) -> Result<(), RunError> {
    for command in commands {
        let finished = shell.run(command, deadline.left(SETUP_TIMEOUT), MAX_OUTPUT_BYTES).await;
        if deadline.is_over() {
            return Err(deadline.error());
        }
        if let Some(RunError { kind: RunErrorKind::Cancelled, message }) = finished.error {
            return Err(RunError { kind: RunErrorKind::Cancelled, message });
        }
        if let Some(what) = failure(&finished) {
            let message = format!("the `setup` command `{command}` {what}{}", end_of(&finished.ran));
            return Err(RunError { kind: RunErrorKind::Setup, message });
        }
    }
    Ok(())
}

/// Runs all commands of `teardown`, also after a cancelled run. Returns error messages.
pub(super) async fn teardown(commands: &[String], shell: &Shell) -> Vec<String> {
    // The cancellation of the run ends these commands a moment later.
    let end = CancellationToken::new();
    let ending = async {
        shell.cancel.cancelled().await;
        tokio::time::sleep(CANCELLED_TEARDOWN_TIMEOUT).await;
        end.cancel();
        std::future::pending().await
    };
    let running = async {
        let mut notes = Vec::new();
        for command in commands {
            let finished = shell.run_until(command, TEARDOWN_TIMEOUT, MAX_OUTPUT_BYTES, &end).await;
            if let Some(what) = failure(&finished) {
                notes.push(format!("the `teardown` command `{command}` {what}{}", end_of(&finished.ran)));
            }
        }
        notes
    };
    tokio::select! {
        notes = running => notes,
        notes = ending => notes,
    }
}

/// Returns the reason why a command failed, if it did.
fn failure(finished: &Finished) -> Option<String> {
    match (&finished.error, finished.ran.exit) {
        (Some(error), _) => Some(format!("failed: {}", error.message)),
        (None, Some(Exit { code: Some(0), .. })) => None,
        (None, Some(exit)) => Some(exit.sentence()),
        (None, None) => Some("ended with an unknown status".to_owned()),
    }
}

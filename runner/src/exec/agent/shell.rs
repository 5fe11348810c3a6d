//! The shell of a task: where its commands run, with which environment, and how long.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use speclens_schema::{
    dialect::cli_bench::template,
    evidence::{RunError, RunErrorKind},
    suite::AgentAction,
};
use tokio_util::sync::CancellationToken;

use super::super::process::{self, Background, Environment, Finished};

/// Returns the environment of a task: that of this program without the keys of providers, and what the suite and the
/// task set.
pub(super) fn environment(action: &AgentAction, directory: &Path, keys: &BTreeSet<String>) -> Environment {
    let directory = directory.to_string_lossy();
    // Output goes to no terminal.
    let mut set = BTreeMap::from([("TERM".to_owned(), "dumb".to_owned())]);
    for (name, value) in action.environment() {
        set.insert(name.to_owned(), template::expand(value, &directory));
    }
    let removed = keys.iter().filter(|key| !set.contains_key(*key)).cloned().collect();
    Environment { set, removed }
}

/// Where the commands of a task run.
#[derive(Debug)]
pub(super) struct Shell {
    pub(super) directory: PathBuf,
    pub(super) environment: Environment,
    /// What the commands leave running.
    pub(super) background: Background,
    pub(super) cancel: CancellationToken,
}

impl Shell {
    /// Runs a command. At most `limit` bytes of each stream are kept.
    pub(super) async fn run(&self, script: &str, timeout: Duration, limit: usize) -> Finished {
        self.run_until(script, timeout, limit, &self.cancel).await
    }

    /// Runs a command that something else cancels.
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
            limit,
        };
        process::run(command, &self.background, cancel).await
    }
}

/// The time that a task has. Time in which the program is suspended does not count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline {
    limit: Option<Duration>,
    began: Instant,
    suspended: Duration,
}

impl Deadline {
    pub(super) fn of(action: &AgentAction) -> Deadline {
        Deadline {
            limit: action.timeout_ms.map(Duration::from_millis),
            began: Instant::now(),
            suspended: process::suspended(),
        }
    }

    /// Returns the time since the beginning.
    pub(super) fn elapsed(self) -> Duration {
        self.began.elapsed().saturating_sub(process::suspended() - self.suspended)
    }

    /// Returns what is left of the time, and of at most so much.
    pub(super) fn left(self, most: Duration) -> Duration {
        self.limit.map_or(most, |limit| limit.saturating_sub(self.elapsed()).min(most))
    }

    pub(super) fn is_over(self) -> bool {
        self.left(Duration::MAX).is_zero()
    }

    /// Waits until the time is over.
    pub(super) async fn over(self) {
        loop {
            match self.limit {
                None => std::future::pending().await,
                Some(_) if self.is_over() => return,
                Some(_) => tokio::time::sleep(self.left(Duration::MAX)).await,
            }
        }
    }

    /// That the time is over.
    pub(super) fn error(self) -> RunError {
        let limit = self.limit.unwrap_or_default().as_millis();
        RunError { kind: RunErrorKind::TimedOut, message: format!("timed out after {limit} ms: the test was stopped") }
    }
}

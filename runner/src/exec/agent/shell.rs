//! The shell of a task: directory, environment and deadlines of its commands, those before and after the agent, and the
//! program under test: whether it exists, and its version.

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
use tokio::sync::OnceCell;
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

    pub(super) async fn run_until(
        &self,
        script: &str,
        timeout: Duration,
        limit: usize,
        cancel: &CancellationToken,
    ) -> Finished {
        let command = process::Command::shell(script, &self.directory, &self.environment, timeout, limit);
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

    pub(super) fn left(self, most: Duration) -> Duration {
        self.limit.map_or(most, |limit| limit.saturating_sub(self.elapsed()).min(most))
    }

    pub(super) fn is_over(self) -> bool {
        self.left(Duration::MAX).is_zero()
    }

    pub(super) async fn over(self) {
        loop {
            match self.limit {
                None => std::future::pending().await,
                Some(_) if self.is_over() => return,
                Some(_) => tokio::time::sleep(self.left(Duration::MAX)).await,
            }
        }
    }

    pub(super) fn error(self) -> RunError {
        let limit = self.limit.unwrap_or_default().as_millis();
        let message = format!("the test did not end within {limit} ms and was stopped");
        RunError { kind: RunErrorKind::TimedOut, message }
    }
}

const SETUP_TIMEOUT: Duration = Duration::from_secs(600);

const TEARDOWN_TIMEOUT: Duration = Duration::from_secs(60);

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

fn failure(finished: &Finished) -> Option<String> {
    match (&finished.error, finished.ran.exit) {
        (Some(error), _) => Some(format!("failed: {}", error.message)),
        (None, Some(Exit { code: Some(0), .. })) => None,
        (None, Some(exit)) => Some(exit.sentence()),
        (None, None) => Some("ended with an unknown status".to_owned()),
    }
}

const PROGRAM_TIMEOUT: Duration = Duration::from_secs(30);

const MAX_PROGRAM_BYTES: usize = 64 * 1024;

const MAX_VERSION: usize = 200;

/// The version of a suite's program, determined once per run.
#[derive(Debug, Default)]
pub(crate) struct Version(OnceCell<Option<String>>);

pub(super) async fn find_program(cli: &str, shell: &Shell, deadline: Deadline) -> Result<(), RunError> {
    let Some(name) = name_of(cli) else { return Ok(()) };
    let finished = shell.run(&format!("command -v {name}"), deadline.left(PROGRAM_TIMEOUT), MAX_PROGRAM_BYTES).await;
    if deadline.is_over() {
        return Err(deadline.error());
    }
    match finished.error {
        Some(error) => Err(error),
        None if finished.ran.exit.is_some_and(|exit| exit.code == Some(0)) => Ok(()),
        None => {
            let message = format!("the shell does not find the program `{name}`; install it, or correct `cli`");
            Err(RunError { kind: RunErrorKind::Program, message })
        }
    }
}

fn name_of(cli: &str) -> Option<&str> {
    let is_plain = |word: &str| word.chars().all(|letter| letter.is_alphanumeric() || "_./+@%:,~$-{}".contains(letter));
    let is_assignment = |word: &&str| word.split_once('=').is_some_and(|(name, _)| is_plain(name) && !name.is_empty());
    let mut words = cli.split_whitespace().skip_while(is_assignment);
    words.next().filter(|word| is_plain(word))
}

impl Version {
    /// Returns the version: the first line of the command's output. If the command fails, `notify` is called once.
    pub(super) async fn of(
        &self,
        command: &str,
        shell: &Shell,
        deadline: Deadline,
        notify: &(dyn Fn(String) + Sync),
    ) -> Option<String> {
        let ask = async || {
            let finished = shell.run(command, deadline.left(PROGRAM_TIMEOUT), MAX_PROGRAM_BYTES).await;
            let is_good = finished.error.is_none() && finished.ran.exit.is_some_and(|exit| exit.code == Some(0));
            let text = finished.ran.stdout.as_ref().map(|stdout| stdout.text.trim()).unwrap_or_default();
            let line =
                text.lines().next().filter(|_| is_good).map(|line| line.trim().chars().take(MAX_VERSION).collect());
            if line.is_none() && !shell.cancel.is_cancelled() {
                let how = match (&finished.error, finished.ran.exit) {
                    (Some(error), _) => error.message.clone(),
                    (None, Some(_)) if is_good => "it printed nothing".to_owned(),
                    (None, Some(exit)) => format!("it {}", exit.sentence()),
                    (None, None) => "it could not be started".to_owned(),
                };
                notify(format!("cannot read the version of the program with `{command}`: {how}"));
            }
            line
        };
        self.0.get_or_init(ask).await.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::name_of;

    #[test]
    fn name_of_a_program_is_its_first_word_after_assignments() {
        for (cli, name) in [
            ("mycli", Some("mycli")),
            ("./bin/mycli --color", Some("./bin/mycli")),
            ("A=1 B='x' node cli.js", Some("node")),
            ("$HOME/bin/tool", Some("$HOME/bin/tool")),
            ("'my tool' x", None),
            ("(cd x; y)", None),
            ("", None),
        ] {
            assert_eq!(name_of(cli), name, "{cli}");
        }
    }
}

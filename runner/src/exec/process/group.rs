//! Unix process groups.

use std::{
    io::{self, Write},
    os::{
        fd::{AsFd, OwnedFd},
        unix::process::ExitStatusExt,
    },
    process::Stdio,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process, test_kill_process_group};
use speclens_schema::evidence::Exit;
use tokio::{
    io::AsyncWriteExt,
    process::{ChildStderr, ChildStdin, ChildStdout},
};

use super::{
    command::{Command, Output, POLL_INTERVAL},
    watchdog,
};

pub(super) struct Child {
    /// The first field, so it is dropped first: a leader that has not been reaped keeps the id of its group.
    group: Option<Group>,
    leader: tokio::process::Child,
}

/// A process group. Dropping it kills its remaining processes.
#[derive(Debug)]
pub(super) struct Group {
    id: Pid,
    /// Whether the leader has been reaped: from then on, no process of the group has its id.
    leaderless: bool,
}

/// The prefix of a script: the shell waits for a line before it begins. If the program dies before it has registered
/// the group, the line never comes, and the script does not begin. The prefix is on the first line of the script, so
/// line numbers remain those of the script, and the shell may still become its last command. (A shell that waits and
/// then starts another one costs as much again as the command itself.)
const GATE: &str = "read -r SPECLENS_GATE || exit; unset SPECLENS_GATE; ";

const GATE_WITHOUT_INPUT: &str = "read -r SPECLENS_GATE || exit; unset SPECLENS_GATE; exec </dev/null; ";

const GO: &[u8] = b"\n";

/// Maximum number of bytes of the input that are written together with the opening of the gate: every pipe has room for
/// them. Processes of the command can see whether they were read.
pub(in crate::exec) const FIRST_INPUT_BYTES: usize = 4 * 1024;

/// Maximum number of bytes of a shell's standard error about a script that it cannot read.
const MAX_ERROR_BYTES: usize = 4 * 1024;

pub(super) fn gated(script: &str, input: &[u8]) -> String {
    let gate = if input.is_empty() { GATE_WITHOUT_INPUT } else { GATE };
    format!("{gate}{script}")
}

/// Returns the script of a shell without the prefix: this program may itself be observed.
pub(in crate::exec) fn ungated(script: &str) -> &str {
    [GATE_WITHOUT_INPUT, GATE].iter().find_map(|gate| script.strip_prefix(gate)).unwrap_or(script)
}

/// Removes the prefix from the standard error of a shell: bash quotes the line that it cannot read.
pub(super) fn without_gate(stderr: &mut Vec<u8>) {
    let beginning = &stderr[..stderr.len().min(MAX_ERROR_BYTES)];
    for gate in [GATE_WITHOUT_INPUT, GATE] {
        if let Some(at) = beginning.windows(gate.len()).position(|window| window == gate.as_bytes()) {
            stderr.drain(at..at + gate.len());
            return;
        }
    }
}

pub(super) fn spawn(command: Command<'_>) -> io::Result<Child> {
    watchdog::prepare();
    let script = command.script;
    let (input, mut gate) = io::pipe()?;
    let mut process = tokio::process::Command::new(command.shell);
    process.args(["-c", &gated(script, command.input)]);
    for name in &command.environment.removed {
        process.env_remove(name);
    }
    let (stdout, stderr) = match command.output {
        Output::Kept(_) => (Stdio::piped(), Stdio::piped()),
        Output::Shown => (shown()?, shown()?),
    };
    let leader = process
        .envs(&command.environment.set)
        .current_dir(command.directory)
        .stdin(input)
        .stdout(stdout)
        .stderr(stderr)
        .process_group(0)
        .spawn()?;
    // It holds the end of the pipe that the command reads.
    drop(process);
    let group = leader.id().and_then(|id| Pid::from_raw(id.cast_signed()));
    let group = group.map(|id| {
        watchdog::begun(id);
        Group { id, leaderless: false }
    });
    let (first, rest) = command.input.split_at(command.input.len().min(FIRST_INPUT_BYTES));
    // An empty pipe has room for it. A shell that has already ended does not need it.
    let _ = gate.write_all(&[GO, first].concat());
    if !rest.is_empty() {
        let mut input = ChildStdin::from_std(OwnedFd::from(gate).into())?;
        let bytes = rest.to_vec();
        // A process that does not read it, or ends before, blocks nothing: the pipe ends with the process.
        tokio::spawn(async move { input.write_all(&bytes).await });
    }
    Ok(Child { group, leader })
}

fn shown() -> io::Result<Stdio> {
    Ok(io::stderr().as_fd().try_clone_to_owned()?.into())
}

impl Child {
    pub(super) fn stdout(&mut self) -> Option<ChildStdout> {
        self.leader.stdout.take()
    }

    pub(super) fn stderr(&mut self) -> Option<ChildStderr> {
        self.leader.stderr.take()
    }

    /// Waits for the leader. `None` if the system does not report its exit code.
    pub(super) async fn wait(&mut self) -> Option<Exit> {
        let status = self.leader.wait().await.ok();
        if let Some(group) = &mut self.group {
            group.leaderless = true;
        }
        // The id of an empty group may be reused: it is not touched again.
        self.group.take_if(|group| !group.is_alive());
        status.map(|status| Exit { code: status.code(), signal: status.signal() })
    }

    /// Returns whether the leader has ended, even if it has not been reaped.
    pub(super) fn has_ended(&mut self) -> bool {
        matches!(self.leader.try_wait(), Ok(Some(_)))
    }

    pub(super) fn terminate(&self) {
        self.group.iter().for_each(Group::terminate);
    }

    pub(super) fn kill(&self) {
        self.group.iter().for_each(Group::kill);
    }

    /// Waits until no process of a killed group runs any more, at most for `patience`: killing is a request.
    pub(super) async fn gone(&self, patience: Duration) {
        let deadline = Instant::now() + patience;
        while Instant::now() < deadline && self.group.as_ref().is_some_and(Group::is_running) {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Returns whether a process of the group is still running. One that has closed its pipes may be about to end, and
    /// gets a moment for it.
    pub(super) async fn has_leftovers(&self) -> bool {
        let Some(group) = &self.group else { return false };
        for _ in 0..20 {
            if !group.is_running() {
                return false;
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        true
    }

    pub(super) fn release(&mut self) -> Option<Group> {
        self.group.take()
    }
}

impl Group {
    pub(super) fn terminate(&self) {
        if self.is_alive() {
            // A stopped process must be woken to notice.
            let _ = kill_process_group(self.id, Signal::TERM);
            let _ = kill_process_group(self.id, Signal::CONT);
        }
    }

    pub(super) fn kill(&self) {
        if self.is_alive() {
            // Twice, for a process that was being forked during the first pass.
            let _ = kill_process_group(self.id, Signal::KILL);
            let _ = kill_process_group(self.id, Signal::KILL);
        }
    }

    /// Returns whether any process of the group exists, even one that is only waiting to be reaped.
    fn is_alive(&self) -> bool {
        // A process with the id of a reaped leader is unrelated, and so is its group.
        let reused = self.leaderless && test_kill_process(self.id) != Err(rustix::io::Errno::SRCH);
        !reused && test_kill_process_group(self.id).is_ok()
    }

    pub(super) fn is_running(&self) -> bool {
        self.is_alive() && has_running(self.id)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
        watchdog::over(self.id);
    }
}

/// Returns whether a group has a running process: one that has ended and waits to be reaped by `init` still belongs to
/// its group. Without `/proc` to distinguish them, all count.
fn has_running(group: Pid) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else { return true };
    let mut known = false;
    for process in processes.flatten() {
        let Ok(stat) = std::fs::read_to_string(process.path().join("stat")) else { continue };
        // `pid (name) state parent group ...`; the name may contain anything.
        let mut fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
        let state = fields.next();
        let number = fields.nth(1).and_then(|number| number.parse().ok());
        known = true;
        if number == Some(group.as_raw_nonzero().get()) && !matches!(state, Some("Z" | "X")) {
            return true;
        }
    }
    !known
}

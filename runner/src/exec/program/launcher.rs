//! Whether a shell is a part of the start of the agent, and not a command of the agent.
//!
//! Scripts that start an agent (`bash run-agent.sh`, `#!/usr/bin/env bash`, the shims of pyenv, `npx`) find the
//! recording shells like the agent itself. Such a shell keeps the environment of the agent, and what it runs is
//! recorded instead of itself.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use rustix::{fs::FileType, process::getppid};

use super::{
    Settings,
    invocation::{Invocation, Source},
    log,
    shims::SHELLS,
};

/// Programs that start another one and wait for it.
const WRAPPERS: [&str; 12] =
    ["busybox", "env", "timeout", "time", "flock", "nice", "nohup", "setsid", "script", "strace", "tini", "dumb-init"];

/// The script that a package manager of Node.js runs: its own `sh -c`, as for `npx` and `npm run`.
const LIFECYCLE_SCRIPT: &str = "npm_lifecycle_script";

/// Maximum number of processes between a shell and the start of the agent.
const MAX_ANCESTORS: usize = 50;

/// The place of a shell among the processes of an agent program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Only shells and wrappers are between the start and it, as the user wrote them; or it takes the place of a
    /// launcher.
    Start,
    /// A launcher started it.
    BelowLauncher,
    /// It was started by some other program.
    Elsewhere,
}

impl Place {
    pub(super) fn of_this_process(settings: &Settings, log: &Path) -> Place {
        if log::is_launcher(log, std::process::id()) {
            return Place::Start;
        }
        let mut ancestor = parent();
        for _ in 0..MAX_ANCESTORS {
            if ancestor == settings.runner {
                return Place::Start;
            }
            let Some(process) = Process::read(ancestor).filter(Process::starts_others) else { break };
            if log::is_launcher(log, ancestor) {
                return Place::BelowLauncher;
            }
            ancestor = process.parent;
        }
        Place::Elsewhere
    }
}

fn parent() -> u32 {
    getppid().map_or(0, |id| id.as_raw_nonzero().get().cast_unsigned())
}

/// Returns the nearest process that started the agent and from which this one comes.
pub(super) fn launcher_above(log: &Path) -> Option<u32> {
    let ancestors = std::iter::successors(Some(parent()), |id| Some(Process::read(*id)?.parent));
    ancestors.take(MAX_ANCESTORS).find(|id| log::is_launcher(log, *id))
}

/// The part of a shell in the work of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It starts the agent.
    Launcher,
    /// It runs a command of the agent.
    Command,
}

/// Returns the role of a shell that is not within a recorded command. `is_unread` is whether the agent has not read its
/// task yet, so that it cannot have run a command for it.
pub(super) fn role(invocation: &Invocation, place: Place, is_unread: bool) -> Role {
    let is_launcher = match invocation.source {
        Source::Text => (place == Place::Start && is_unread) || is_lifecycle_script(&invocation.text),
        Source::Script => place != Place::Elsewhere || is_unread,
        Source::Input => false,
    };
    if is_launcher { Role::Launcher } else { Role::Command }
}

fn is_lifecycle_script(text: &str) -> bool {
    env::var(LIFECYCLE_SCRIPT).is_ok_and(|script| !script.is_empty() && text.starts_with(&script))
}

pub(super) fn is_task_unread(settings: &Settings) -> bool {
    let input = io::stdin();
    let is_pipe = rustix::fs::fstat(&input).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Fifo);
    let waiting = || rustix::io::ioctl_fionread(&input).ok();
    is_pipe && settings.task_bytes > 0 && waiting().is_some_and(|bytes| bytes >= settings.task_bytes)
}

/// Returns whether the output of this process goes elsewhere than that of the process that started it, as in `$(…)`.
/// `false` if that is not known.
pub(super) fn is_captured() -> bool {
    let output = |process: &str| fs::read_link(format!("/proc/{process}/fd/1")).ok();
    matches!((output("self"), output(&parent().to_string())), (Some(own), Some(other)) if own != other)
}

#[derive(Debug)]
struct Process {
    parent: u32,
    /// The name of its program, and the name that it was started by.
    names: Vec<String>,
}

impl Process {
    fn read(id: u32) -> Option<Process> {
        if !Path::new("/proc/self/stat").exists() {
            return Process::from_ps(id);
        }
        // `pid (name) state parent ...`; the name may contain anything.
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        let (head, fields) = stat.rsplit_once(") ")?;
        let name = head.split_once('(')?.1.to_owned();
        let program = fs::read_link(format!("/proc/{id}/exe")).ok().and_then(|path| file_name(&path));
        let parent = fields.split(' ').nth(1)?.parse().ok()?;
        Some(Process { parent, names: program.into_iter().chain([name]).collect() })
    }

    fn from_ps(id: u32) -> Option<Process> {
        let output = Command::new("ps").args(["-o", "ppid=,comm=", "-p", &id.to_string()]).output().ok()?;
        let line = String::from_utf8(output.stdout).ok()?;
        let (parent, name) = line.trim().split_once(char::is_whitespace)?;
        let name = file_name(&PathBuf::from(name.trim()))?;
        Some(Process { parent: parent.parse().ok()?, names: vec![name] })
    }

    /// Returns whether it is a shell or a wrapper.
    fn starts_others(&self) -> bool {
        let mut names = self.names.iter().map(String::as_str);
        names.any(|name| SHELLS.contains(&name) || WRAPPERS.contains(&name))
    }
}

fn file_name(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_string_lossy().into_owned())
}

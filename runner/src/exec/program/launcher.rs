//! Whether a shell is a part of the start of the agent, and not a command of the agent.
//!
//! Scripts that start an agent (`bash run-agent.sh`, `#!/usr/bin/env bash`, the shims of pyenv, `npx`) find the
//! recording shells like the agent itself. Such a shell keeps the environment of the agent, and what it runs is
//! recorded instead of itself.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use rustix::{fs::FileType, process::getppid};

use super::log::{self, SHELLS, Settings};
use crate::exec::process::ungated;

const WRAPPERS: [&str; 12] =
    ["busybox", "env", "timeout", "time", "flock", "nice", "nohup", "setsid", "script", "strace", "tini", "dumb-init"];

/// The script that a package manager of Node.js runs: its own `sh -c`, as for `npx` and `npm run`.
const LIFECYCLE_SCRIPT: &str = "npm_lifecycle_script";

const MAX_ANCESTORS: usize = 50;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Only shells and wrappers are between the start and it, as the user wrote them; or it takes the place of a
    /// launcher.
    Start,
    BelowLauncher,
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

pub(super) fn launcher_above(log: &Path) -> Option<u32> {
    let ancestors = std::iter::successors(Some(parent()), |id| Some(Process::read(*id)?.parent));
    ancestors.take(MAX_ANCESTORS).find(|id| log::is_launcher(log, *id))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Launcher,
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

    fn starts_others(&self) -> bool {
        let mut names = self.names.iter().map(String::as_str);
        names.any(|name| SHELLS.contains(&name) || WRAPPERS.contains(&name))
    }
}

fn file_name(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_string_lossy().into_owned())
}

const WITH_VALUE: [&str; 4] = ["--rcfile", "--init-file", "--init-command", "-C"];

/// The option of `fish` that means `-c`.
const COMMAND: &str = "--command";

const INPUT_FILES: [&str; 3] = ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Invocation {
    /// The command line, or the text after `-c` instead.
    pub(super) text: String,
    pub(super) source: Source,
    /// Whether it is a login shell: its profile may replace `PATH`.
    pub(super) is_login: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Text,
    Script,
    Input,
}

impl Invocation {
    /// Reads the command line of a shell. The first argument of `busybox` is the name of the shell.
    pub(super) fn of(shell: &OsStr, arguments: &[OsString]) -> Invocation {
        let words: Vec<String> = arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let name = name_of(shell);
        let mut options = words.iter().skip(usize::from(name == "busybox"));
        let (mut is_command, mut is_input, mut is_login, mut first) = (false, false, false, None);
        while let Some(word) = options.next() {
            if word == "--" || word == "-" {
                first = options.next();
                break;
            }
            if let Some(text) = word.strip_prefix(COMMAND) {
                is_command = true;
                if let Some(text) = text.strip_prefix('=') {
                    return Invocation { text: text.to_owned(), source: Source::Text, is_login };
                }
            } else if WITH_VALUE.contains(&word.as_str()) {
                options.next();
            } else if word.starts_with("--") {
                is_login |= word == "--login";
            } else if let Some(letters) = word.strip_prefix(['-', '+']) {
                let is_on = |letter| word.starts_with('-') && letters.contains(letter);
                is_command |= is_on('c');
                is_input |= is_on('s');
                is_login |= is_on('l');
                // The name of such an option is a word of its own.
                letters.matches(['o', 'O']).for_each(|_| _ = options.next());
            } else {
                first = Some(word);
                break;
            }
        }
        let line = || std::iter::once(name.as_str()).chain(words.iter().map(String::as_str)).collect::<Vec<_>>();
        let (text, source) = match first {
            Some(text) if is_command => (ungated(text).to_owned(), Source::Text),
            Some(file) if !is_input && !INPUT_FILES.contains(&file.as_str()) => (line().join(" "), Source::Script),
            Some(_) | None => (line().join(" "), Source::Input),
        };
        Invocation { text, source, is_login }
    }
}

fn name_of(path: &OsStr) -> String {
    Path::new(path).file_name().unwrap_or(path).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invocation(shell: &str, line: &[&str]) -> Invocation {
        let words: Vec<OsString> = line.iter().map(OsString::from).collect();
        Invocation::of(OsStr::new(shell), &words)
    }

    #[test]
    fn commands_are_on_the_command_line_in_a_file_or_on_standard_input() {
        for (line, text, source) in [
            (&["-c", "ls -l | wc"][..], "ls -l | wc", Source::Text),
            (&["-lc", "ls", "name", "-c"], "ls", Source::Text),
            (&["-l", "-c", "ls"], "ls", Source::Text),
            (&["--login", "-euo", "pipefail", "-c", "ls"], "ls", Source::Text),
            (&["-oe", "pipefail", "-c", "ls"], "ls", Source::Text),
            (&["--rcfile", "none", "-ic", "ls"], "ls", Source::Text),
            (&["-c", "--", "ls"], "ls", Source::Text),
            (&["-c", "-", "ls"], "ls", Source::Text),
            (&["-o", "errexit", "+x", "-c", "ls"], "ls", Source::Text),
            (&["--command=ls"], "ls", Source::Text),
            (&["--command", "ls"], "ls", Source::Text),
            (&["script.sh", "-c", "a"], "bash script.sh -c a", Source::Script),
            (&["-e", "--", "script.sh"], "bash -e -- script.sh", Source::Script),
            (&["-s", "name"], "bash -s name", Source::Input),
            (&["/dev/stdin"], "bash /dev/stdin", Source::Input),
            (&["-i"], "bash -i", Source::Input),
            (&["-x"], "bash -x", Source::Input),
            (&["-c"], "bash -c", Source::Input),
            (&[], "bash", Source::Input),
        ] {
            let found = invocation("/usr/bin/bash", line);
            assert_eq!((found.text.as_str(), found.source), (text, source), "{line:?}");
        }
        assert_eq!(invocation("/bin/busybox", &["sh", "-c", "ls"]).text, "ls");
        assert_eq!(invocation("/bin/busybox", &["ash"]).source, Source::Input);
    }

    #[test]
    fn login_shells_are_known() {
        let is_login = |line: &[&str]| invocation("bash", line).is_login;
        assert!(is_login(&["-lc", "ls"]) && is_login(&["--login", "file"]) && !is_login(&["-c", "ls -l"]));
    }
}

//! The log of the recording shells: for each command one file when it begins, and one when it has ended; and empty files
//! for the facts that decide whether the log is complete.

use std::{
    ffi::OsStr,
    fs, io,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};
use speclens_schema::evidence::{CommandGap, CommandLog, Ran};

pub const SUBCOMMAND: &str = "__shell";

pub(super) const SHELLS: [&str; 11] =
    ["sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "fish", "csh", "tcsh", "yash"];

pub(super) const LOG: &str = "log";

/// Environment variables of the recording shells. This program may itself run below such shells, so they are removed.
/// The name of the recorded command; set for everything that it starts: nested commands are a part of it.
pub(super) const WITHIN: &str = "SPECLENS_SHELL_WITHIN";
pub(super) const INPUT: &str = "SPECLENS_SHELL_INPUT";

/// The facts that the recording shells need, in a file: an agent may start them with an empty environment.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Settings {
    pub(super) limit: usize,
    pub(super) without: Vec<String>,
    /// Number of bytes on the standard input of the agent that are there from the beginning.
    pub(super) task_bytes: u64,
    pub(super) runner: u32,
}

impl Settings {
    const FILE: &str = "settings.json";

    pub(super) fn write(&self, directory: &Path) -> io::Result<()> {
        fs::write(directory.join(Settings::FILE), serde_json::to_vec(self)?)
    }

    /// Reads the settings. Without them, no output is kept.
    pub(super) fn read(directory: &Path) -> Settings {
        let text = fs::read(directory.join(Settings::FILE)).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }
}

const BEGUN: &str = "begun";
const DONE: &str = "done";

/// Ending of the file of a command that may have started the agent instead.
const UNSURE: &str = "unsure";

pub(super) const NESTED: &str = "nested";

const OPEN: &str = "open";

const LAUNCHER: &str = "launcher";

const USED: &str = "used";

const MAX_COMMANDS: usize = 2000;

/// Maximum size of the file of one command: both of its streams, escaped.
const MAX_BYTES: u64 = 512 * 1024 * 1024;

#[derive(Debug)]
pub(super) struct Entry<'a> {
    directory: &'a Path,
    name: String,
}

impl<'a> Entry<'a> {
    /// Writes the beginning of a command; `None` if that fails, or if there are too many already.
    pub(super) fn begin(directory: &'a Path, ran: &Ran) -> Option<Entry<'a>> {
        let begun = fs::read_dir(directory).ok()?.flatten().filter(|entry| has_ending(&entry.path(), BEGUN));
        if begun.count() > MAX_COMMANDS {
            return None;
        }
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        // In the order of their beginnings, even if two begin at the same time.
        let entry = Entry { directory, name: format!("{since:032}-{:010}", std::process::id()) };
        entry.write(BEGUN, ran).then_some(entry)
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn is_unsure(&self) {
        mark(self.directory, &self.name, UNSURE);
    }

    pub(super) fn end(&self, ran: &Ran) {
        self.write(DONE, ran);
    }

    fn write(&self, ending: &str, ran: &Ran) -> bool {
        let draft = self.directory.join(format!("{}.draft", self.name));
        let written = serde_json::to_vec(ran).ok().and_then(|text| fs::write(&draft, text).ok());
        written.is_some() && fs::rename(&draft, self.directory.join(format!("{}.{ending}", self.name))).is_ok()
    }
}

/// Notes that a command or a launcher of this name got commands that its command line does not have.
pub(super) fn is_open(directory: &Path, name: &str) {
    mark(directory, name, OPEN);
}

pub(super) fn begin_launcher(directory: &Path, id: u32) {
    mark(directory, &id.to_string(), LAUNCHER);
}

pub(super) fn is_launcher(directory: &Path, id: u32) -> bool {
    directory.join(format!("{id}.{LAUNCHER}")).exists()
}

pub(super) fn is_used(directory: &Path, launcher: u32) {
    mark(directory, &launcher.to_string(), USED);
}

fn mark(directory: &Path, name: &str, ending: &str) {
    // A directory that cannot be written has no log either.
    let _ = fs::write(directory.join(format!("{name}.{ending}")), "");
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension() == Some(OsStr::new(ending))
}

/// Reads the commands in the order of their beginnings. Their outputs together keep at most twice `limit` bytes.
pub(super) fn read(directory: &Path, limit: usize) -> CommandLog {
    let files: Vec<_> = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    let with = |ending| files.iter().filter(move |path| has_ending(path, ending));
    let mut begun: Vec<_> = with(BEGUN).collect();
    begun.sort();
    let unseen = if with(OPEN).next().is_some() {
        Some(CommandGap::ShellInput)
    } else if with(LAUNCHER).any(|path| !path.with_extension(USED).exists())
        || with(UNSURE).any(|path| path.with_extension(NESTED).exists())
    {
        Some(CommandGap::Launcher)
    } else {
        None
    };
    let mut log = CommandLog { cut: begun.len() > MAX_COMMANDS, unseen, ..CommandLog::default() };
    let mut room = limit.saturating_mul(2);
    for path in begun.into_iter().take(MAX_COMMANDS) {
        let read = |path: &Path| -> Option<Ran> {
            let size = fs::metadata(path).ok()?.len();
            if size > MAX_BYTES { None } else { serde_json::from_slice(&fs::read(path).ok()?).ok() }
        };
        // A command that was killed, or is still running, has only begun.
        let Some(mut ran) = read(&path.with_extension(DONE)).or_else(|| read(path)) else {
            log.cut = true;
            continue;
        };
        for stream in ran.stdout.iter_mut().chain(&mut ran.stderr) {
            stream.cut_to(room);
            room -= stream.text.len();
        }
        log.commands.push(ran);
    }
    log
}

#[cfg(test)]
mod tests {
    use speclens_schema::evidence::{Capture, Exit};

    use super::*;

    fn ran(command: &str, stdout: Option<&str>) -> Ran {
        Ran { command: Capture::whole(command), stdout: stdout.map(Capture::whole), ..Ran::default() }
    }

    #[test]
    fn commands_are_read_in_the_order_in_which_they_began() {
        let directory = tempfile::tempdir().unwrap();
        let first = Entry::begin(directory.path(), &ran("first", None)).unwrap();
        let second = Entry::begin(directory.path(), &ran("second", None)).unwrap();
        second.end(&Ran { exit: Some(Exit { code: Some(1), signal: None }), ..ran("second", Some("output")) });
        let log = read(directory.path(), 100);
        let found: Vec<_> = log.commands.iter().map(|ran| (ran.command.text.as_str(), ran.exit.is_some())).collect();
        assert_eq!(found, [("first", false), ("second", true)], "a command that did not end has no exit code");
        first.end(&ran("first", Some(&"x".repeat(300))));
        let log = read(directory.path(), 100);
        let lengths: Vec<_> = log.commands.iter().map(|ran| ran.stdout.as_ref().unwrap().text.len()).collect();
        assert_eq!(lengths, [200, 0]);
        assert!(log.commands.iter().all(|ran| ran.stdout.as_ref().unwrap().cut) && !log.cut);
    }

    #[test]
    fn a_file_that_cannot_be_read_leaves_a_gap() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("1.begun"), "{").unwrap();
        assert!(read(directory.path(), 100).cut);
        assert_eq!(read(&directory.path().join("none"), 100), CommandLog::default());
    }
}

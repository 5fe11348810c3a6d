//! The commands of a shell, as its command line states them.

use std::{
    ffi::{OsStr, OsString},
    path::Path,
};

use super::super::process::ungated;

/// Options that take the next word as their value.
const WITH_VALUE: [&str; 4] = ["--rcfile", "--init-file", "--init-command", "-C"];

/// The option of `fish` that means `-c`.
const COMMAND: &str = "--command";

/// Files that are the standard input.
const INPUT_FILES: [&str; 3] = ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

/// A shell as it was called.
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
    /// The command line.
    Text,
    /// A file.
    Script,
    /// The standard input, or a terminal.
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

//! What a command writes, and whether a text is in it.

use super::observed::{brief, contains, last, near_text, of_output, row, shown};
use crate::{
    evidence::{Capture, Evidence, Ran},
    verdict::{Mismatch, Presence, Verdict},
};

/// An output stream of a command.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

impl Stream {
    /// Judges whether the last command wrote a text.
    pub(super) fn judge(self, wanted: &str, evidence: &Evidence) -> Verdict {
        let row = row(self.assertion(), format!("{} contains \"{}\"", self.name(), shown(wanted)));
        let command = match last(evidence, &row, || shown(wanted)) {
            Ok(command) => command,
            Err(verdict) => return *verdict,
        };
        let Some(written) = self.of(command) else {
            return row.unknown(format!("the {} of the last command was not recorded", self.name()));
        };
        row.found(of_output(contains(written, wanted), command), || {
            let mut notes = near_text(&written.text, wanted);
            let mut help = Vec::new();
            let other = self.other();
            if other.has(command, wanted) {
                notes.push(format!("{} contains it", other.full_name()));
                help.push(format!("use `{}` to check {}", other.assertion(), other.full_name()));
            }
            notes.extend(self.earlier(wanted, evidence));
            notes.push(format!("the last command was `{}`", brief(&command.command.text)));
            Mismatch {
                message: format!("the {} of the last command does not contain \"{}\"", self.name(), shown(wanted)),
                expected: shown(wanted),
                actual: shown(&written.text),
                notes,
                help,
            }
        })
    }

    /// Returns the earlier command that wrote a text.
    fn earlier(self, wanted: &str, evidence: &Evidence) -> Option<String> {
        let (_, before) = evidence.commands.as_ref()?.commands.split_last()?;
        let (index, command) = before.iter().enumerate().rev().find(|(_, command)| self.has(command, wanted))?;
        let text = brief(&command.command.text);
        Some(format!("command {} (`{text}`) printed it, but only the last command counts", index + 1))
    }

    fn has(self, command: &Ran, wanted: &str) -> bool {
        self.of(command).is_some_and(|written| contains(written, wanted) == Presence::Yes)
    }

    fn of(self, command: &Ran) -> Option<&Capture> {
        match self {
            Stream::Output => command.stdout.as_ref(),
            Stream::Error => command.stderr.as_ref(),
        }
    }

    fn other(self) -> Stream {
        match self {
            Stream::Output => Stream::Error,
            Stream::Error => Stream::Output,
        }
    }

    /// Returns the assertion about what it contains.
    fn assertion(self) -> &'static str {
        match self {
            Stream::Output => "output_contains",
            Stream::Error => "error_contains",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Stream::Output => "output",
            Stream::Error => "standard error",
        }
    }

    /// Returns its name where it could be taken for both streams.
    fn full_name(self) -> &'static str {
        match self {
            Stream::Output => "standard output",
            Stream::Error => "standard error",
        }
    }
}

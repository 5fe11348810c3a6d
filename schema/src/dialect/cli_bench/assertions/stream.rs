//! What a command writes, and whether a text is in it.

use super::observed::{brief, last, near_text, output, shown};
use crate::{
    act::Act,
    evidence::{Capture, Ran},
    seen::Why,
    text::Text,
    verdict::{Judged, Mismatch, Row},
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
    /// Returns the label of an assertion that the last command wrote a text.
    pub(super) fn label(self, wanted: &str) -> String {
        format!("{} contains \"{}\"", self.name(), shown(wanted))
    }

    /// Judges whether the last command wrote a text.
    pub(super) fn judge(self, wanted: &str, act: Act<'_>) -> Judged {
        let last = last(act, || shown(wanted))?;
        let command = last.command;
        let unrecorded = || Why::unknown(format!("the {} of the last command was not recorded", self.name()));
        let written = self.of(command).ok_or_else(unrecorded)?;
        let found = output(command, written).contains(wanted)?;
        Ok(Row::present("", found, || {
            let mut notes = near_text(&written.text, wanted);
            let mut help = Vec::new();
            let other = self.other();
            if other.has(command, wanted) {
                notes.push(format!("{} contains it", other.full_name()));
                help.push(format!("use `{}` to check {}", other.assertion(), other.full_name()));
            }
            notes.extend(self.earlier(wanted, last.before));
            notes.push(format!("the last command was `{}`", brief(&command.command.text)));
            Mismatch {
                message: format!("the {} of the last command does not contain \"{}\"", self.name(), shown(wanted)),
                expected: shown(wanted),
                actual: shown(&written.text),
                notes,
                help,
            }
        }))
    }

    /// Returns the earlier command that wrote a text.
    fn earlier(self, wanted: &str, before: &[Ran]) -> Option<String> {
        let (index, command) = before.iter().enumerate().rev().find(|(_, command)| self.has(command, wanted))?;
        let text = brief(&command.command.text);
        Some(format!("command {} (`{text}`) printed it, but only the last command counts", index + 1))
    }

    fn has(self, command: &Ran, wanted: &str) -> bool {
        let contains = |written: &Capture| Text::of(written).contains(wanted).is_ok_and(|found| found.is_yes());
        self.of(command).is_some_and(contains)
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

//! What the last command wrote: `output_contains`, `output_equals` and `error_contains`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::claim::{After, AssertionType, brief, last, near_text, output, shown};
use crate::{
    act::Act,
    check::text::trim,
    evidence::{Capture, Ran},
    seen::Why,
    text::Text,
    verdict::{Judged, Mismatch, Row},
    words::plural,
};

/// String that the standard output of the last command must contain.
///
/// The string is found anywhere, even inside words. It is case-sensitive and not a pattern. Only the output of the last
/// command counts; use `ran` to check which commands were used.
///
/// ```yaml
/// assert:
///   - output_contains: "Successfully created"
///   - output_contains: "user: alice"
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("x-compared" = "output", "x-seen" = "output", "examples" = ["Successfully created"]))]
#[schemars(extend("x-other-names" = ["contains", "output", "stdout", "stdout_contains"]))]
#[schemars(extend("x-problems" = [{
    "if": { "const": "" }, "code": "vacuous-claim", "help": "write what the output must contain",
    "message": "every output contains the empty string, so the output is not checked",
}]))]
pub struct OutputContains(pub String);

impl AssertionType for OutputContains {
    const NAME: &'static str = "output_contains";

    fn label(&self) -> String {
        Stream::Output.label(&self.0)
    }

    fn judge(&self, act: Act<'_>, _: &After) -> Judged {
        Stream::Output.judge(&self.0, act)
    }
}

/// String that the standard error of the last command must contain.
///
/// Use it for messages about errors, warnings and progress. The string is found anywhere. It is case-sensitive and not
/// a pattern.
///
/// ```yaml
/// assert:
///   - exit_code: 1
///   - error_contains: "file not found"
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("x-compared" = "output", "x-seen" = "errors", "examples" = ["file not found"]))]
#[schemars(extend("x-other-names" = ["stderr", "stderr_contains", "error"]))]
#[schemars(extend("x-problems" = [{
    "if": { "const": "" }, "code": "vacuous-claim", "help": "write what the output must contain",
    "message": "every output contains the empty string, so the output is not checked",
}]))]
pub struct ErrorContains(pub String);

impl AssertionType for ErrorContains {
    const NAME: &'static str = "error_contains";

    fn label(&self) -> String {
        Stream::Error.label(&self.0)
    }

    fn judge(&self, act: Act<'_>, _: &After) -> Judged {
        Stream::Error.judge(&self.0, act)
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Stream {
    Output,
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
            let (mut notes, mut help) = (Vec::new(), Vec::new());
            let other = self.other();
            if other.has(command, wanted) {
                notes.push(format!("{} contains it", other.full_name()));
                help.push(format!("use `{}` to check {}", other.assertion(), other.full_name()));
            }
            notes.extend(self.earlier(wanted, last.before));
            notes.push(format!("the last command was `{}`", brief(&command.command.text)));
            Mismatch::new(
                format!("the {} of the last command does not contain \"{}\"", self.name(), shown(wanted)),
                shown(wanted),
                shown(&written.text),
            )
            .near(near_text(&written.hidden_text(), wanted))
            .accepting_closest()
            .notes(notes)
            .help(help)
        }))
    }

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

/// Expected standard output of the last command, ignoring white space at both ends.
///
/// Inner white space must be equal. The output of most programs varies, so prefer `output_contains` unless the output
/// is meant for machines.
///
/// ```yaml
/// assert:
///   - output_equals: "OK"
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("x-compared" = "output", "x-looser" = "output_contains", "x-seen" = "whole-output", "examples" = ["OK"]))]
#[schemars(extend("x-other-names" = ["equals", "stdout_equals", "output_is"]))]
pub struct OutputEquals(pub String);

impl AssertionType for OutputEquals {
    const NAME: &'static str = "output_equals";

    fn label(&self) -> String {
        format!("output equals \"{}\"", shown(trim(&self.0)))
    }

    fn judge(&self, act: Act<'_>, _: &After) -> Judged {
        let last = last(act, || shown(trim(&self.0)))?;
        let unrecorded = || Why::unknown("the output of the last command was not recorded");
        let stdout = last.command.stdout.as_ref().ok_or_else(unrecorded)?;
        let found = output(last.command, stdout).equals(&self.0)?;
        Ok(Row::present("", found, || {
            let message = format!("the output of the last command is not \"{}\"", shown(trim(&self.0)));
            let command = format!("the last command was `{}`", brief(&last.command.command.text));
            differs(message, trim(&stdout.text), trim(&self.0)).notes([command]).accepting(trim(&stdout.hidden_text()))
        }))
    }
}

/// Returns the mismatch with the first difference of two texts.
pub(super) fn differs(message: String, actual: &str, expected: &str) -> Mismatch {
    let (mut notes, mut help) = (Vec::new(), Vec::new());
    let first = actual.lines().zip(expected.lines()).position(|(one, other)| one != other);
    let (lines, wanted) = (actual.lines().count(), expected.lines().count());
    match first {
        Some(index) => {
            let line = |text: &str| shown(text.lines().nth(index).unwrap_or_default());
            if lines > 1 || wanted > 1 {
                notes.push(format!("the first difference is in line {}: {}", index + 1, line(actual)));
                notes.push(format!("expected line: {}", line(expected)));
            }
            if actual.to_lowercase() == expected.to_lowercase() {
                notes.push("only the case differs".to_owned());
            } else if actual.split_whitespace().eq(expected.split_whitespace()) {
                notes.push("only the white space differs".to_owned());
            }
        }
        None if lines != wanted => notes.push(format!("the output has {} instead of {wanted}", plural(lines, "line"))),
        None => notes.push("only the line endings differ".to_owned()),
    }
    if !expected.is_empty() && actual.contains(expected) {
        notes.push("the output contains the expected string".to_owned());
        help.push("if other output is allowed, use `output_contains`".to_owned());
    }
    Mismatch::new(message, shown(expected), shown(actual)).notes(notes).help(help)
}

#[cfg(test)]
mod tests {
    use super::differs;

    #[test]
    fn note_about_the_case_holds_for_the_whole_text() {
        let same = "a".repeat(5_000);
        for (actual, expected, is_noted) in [
            ("Done", "done", true),
            (&*format!("{same}X"), &*format!("{same}Y"), false),
            (&*format!("{same}X"), &*format!("{same}x"), true),
            ("A\nb", "a\nc", false),
        ] {
            let notes = differs(String::new(), actual, expected).notes;
            assert_eq!(notes.iter().any(|note| note == "only the case differs"), is_noted, "{notes:?}");
        }
    }
}

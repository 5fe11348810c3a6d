//! `output_equals`: whole standard output of the last command.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    claim::Judged,
    observed::{After, brief, equals, last, of_output, row, shown},
};
use crate::{
    check::text::trim,
    evidence::Evidence,
    verdict::{Mismatch, Provisional, Verdict},
    words::plural,
};

/// Expected standard output of the last command, ignoring white space at both ends.
///
/// Inner white space must be equal. The output of most programs varies, so prefer `output_contains` unless the output
/// is meant for machines.
///
/// ```yaml
/// assert:
///   - output_equals: "OK"
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("examples" = ["OK"]))]
#[schemars(extend("x-other-names" = ["equals", "stdout_equals", "output_is"]))]
pub struct OutputEquals(pub String);

impl Judged for OutputEquals {
    const PROVISIONAL: Provisional = Provisional::Everything;

    fn judge(&self, evidence: &Evidence, _: &After) -> Verdict {
        let row = row("output_equals", format!("output equals \"{}\"", shown(trim(&self.0))));
        let command = match last(evidence, &row, || shown(trim(&self.0))) {
            Ok(command) => command,
            Err(verdict) => return *verdict,
        };
        let Some(stdout) = &command.stdout else {
            return row.unknown("the output of the last command was not recorded");
        };
        row.found(of_output(equals(stdout, &self.0), command), || {
            let mut mismatch = differs(trim(&stdout.text), trim(&self.0));
            mismatch.notes.push(format!("the last command was `{}`", brief(&command.command.text)));
            mismatch.message = format!("the output of the last command is not \"{}\"", shown(trim(&self.0)));
            mismatch
        })
    }

    fn texts(&self) -> Vec<String> {
        vec![self.0.clone()]
    }
}

/// Returns the mismatch with the first difference of two texts.
pub(super) fn differs(actual: &str, expected: &str) -> Mismatch {
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
            if line(actual).to_lowercase() == line(expected).to_lowercase() {
                notes.push("only the case differs".to_owned());
            } else if line(actual).split_whitespace().eq(line(expected).split_whitespace()) {
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
    Mismatch { message: String::new(), expected: shown(expected), actual: shown(actual), notes, help }
}

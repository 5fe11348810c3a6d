//! `output_equals`: whole standard output of the last command.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    claim::AssertionType,
    observed::{After, brief, last, output, shown},
};
use crate::{
    act::Act,
    check::text::trim,
    seen::Why,
    verdict::{Judged, Mismatch, Row},
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("x-compared" = "output", "examples" = ["OK"]))]
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
            let mut mismatch = differs(trim(&stdout.text), trim(&self.0));
            mismatch.notes.push(format!("the last command was `{}`", brief(&last.command.command.text)));
            mismatch.message = format!("the output of the last command is not \"{}\"", shown(trim(&self.0)));
            mismatch
        }))
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
    Mismatch { message: String::new(), expected: shown(expected), actual: shown(actual), notes, help }
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
            let notes = differs(actual, expected).notes;
            assert_eq!(notes.iter().any(|note| note == "only the case differs"), is_noted, "{notes:?}");
        }
    }
}

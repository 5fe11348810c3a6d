//! `exit_code`: exit code of the last command.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::Error};
use serde_json::Value;

use super::claim::{After, AssertionType, brief, last, shown};
use crate::{
    act::Act,
    seen::Why,
    verdict::{Judged, Mismatch, Row},
};

/// Exit code of the last command: `0` is success.
///
/// Only the last command that the model ran counts. If it ran none, the assertion fails. 124 means that the command
/// timed out, 126 and 127 that it could not be started, and 128 + *n* that signal *n* ended it.
///
/// ```yaml
/// assert:
///   - exit_code: 0
/// ```
///
/// Add `exit_code: 0` to every task that is not about an error: no other assertion checks that the command succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("x-seen" = "exit-codes"))]
#[schemars(extend("type" = ["integer", "string"], "pattern" = "^\\s*[+-]?\\d+\\s*$", "examples" = [0, 1]))]
#[schemars(extend("x-other-names" = ["status", "exit", "exit_status", "return_code", "code"]))]
#[schemars(extend("x-problems" = [
    {
        "if": { "anyOf": [
            { "exclusiveMaximum": 0 }, { "exclusiveMinimum": 255 },
            { "pattern": r"^\s*(-0*[1-9]\d*|\+?0*(25[6-9]|2[6-9]\d|[3-9]\d\d|[1-9]\d{3,}))\s*$" },
        ] },
        "code": "out-of-range", "severity": "warning",
        "message": "expected an integer from 0 to 255 for `exit_code`, found `{value}`",
    },
    {
        "if": { "pattern": r"^\s*[+-]?\d+\s*$" }, "code": "wrong-type", "severity": "warning",
        "message": "expected an integer for `exit_code`, found the string `{value}`", "note": "it is read as a number",
        "help": "remove the quotes", "fix": { "write": "{value}", "safe-if": r"^(0|-?[1-9]\d{0,17})$" },
    },
]))]
pub struct ExitCode(#[schemars(with = "i64")] pub i64);

impl<'de> Deserialize<'de> for ExitCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ExitCode, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let whole = |number: f64| (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64);
        let code = match &value {
            Value::Number(number) => number.as_i64().or_else(|| number.as_f64().and_then(whole)),
            Value::String(text) => text.trim().parse().ok(),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        code.map(ExitCode).ok_or_else(|| D::Error::custom("an exit code is an integer"))
    }
}

impl AssertionType for ExitCode {
    const NAME: &'static str = "exit_code";

    fn label(&self) -> String {
        format!("exit code is {}", self.0)
    }

    fn judge(&self, act: Act<'_>, _: &After) -> Judged {
        let last = last(act, || format!("exit code {}", self.0))?;
        let unrecorded = || Why::unknown("the exit code of the last command was not recorded");
        let code = last.command.exit.and_then(|exit| exit.shell_code()).ok_or_else(unrecorded)?;
        if code == self.0 {
            return Ok(Row::pass("", last.proof));
        }
        let mut notes = vec![format!("the last command was `{}`", brief(&last.command.command.text))];
        notes.extend(meaning(code).map(|meaning| format!("{code} means {meaning}")));
        let stderr = last.command.stderr.as_ref().map(|stderr| stderr.text.trim());
        if let Some(text) = stderr.filter(|text| !text.is_empty()) {
            notes.push(format!("standard error: {}", shown(text)));
        }
        let mismatch = Mismatch::new(
            format!("the last command ended with exit code {code}, not {}", self.0),
            self.0.to_string(),
            code.to_string(),
        )
        .notes(notes)
        .accepting(code);
        Ok(Row::fail("", last.proof, mismatch))
    }
}

fn meaning(code: i64) -> Option<String> {
    match code {
        124 => Some("that the command timed out".to_owned()),
        126 => Some("that the program is not executable".to_owned()),
        127 => Some("that the program was not found".to_owned()),
        129..=192 => Some(format!("that signal {} ended the command", code - 128)),
        _ => None,
    }
}

//! `file_exists`: a file or directory after the task.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    claim::AssertionType,
    observed::{After, path_need},
};
use crate::{
    act::Act,
    evidence::{Need, PathState},
    verdict::{Judged, Mismatch, Row},
    words::nearest,
};

/// Path that must exist after the task.
///
/// The path of a file or a directory; a broken link does not exist. Relative paths are resolved against the
/// working directory of the task. `{{workdir}}` is that directory; `~` and `$NAME` are not expanded.
///
/// ```yaml
/// assert:
///   - file_exists: "build/dist/bundle.js"
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("minLength" = 1, "x-template" = "workdir", "x-compared" = "name", "examples" = ["output.txt"]))]
#[schemars(extend("x-other-names" = ["file", "exists", "path_exists"], "x-problems" = taken_literally()))]
pub struct FileExists(pub String);

/// Returns the problems of a path that is not what it would be in a shell.
pub(super) fn taken_literally() -> Value {
    let literal = |pattern: &str, sign: &str| {
        json!({
            "if": { "pattern": pattern }, "code": "invalid-path", "severity": "warning",
            "message": format!("{sign} is not expanded here"), "note": "the path is taken literally",
            "help": "use `verify`, which runs a shell command",
        })
    };
    json!([
        literal("^~(/|$)", "`~`"),
        literal("^[$]", "a variable"),
        {
            "if": { "pattern": r"^(\./+|[^/]+/+\.\./+)*\.\.(/|$)" }, "code": "invalid-path", "severity": "hint",
            "message": "`{value}` is outside the working directory of the task",
            "note": "a file there may have existed before the task",
        },
        {
            "if": { "pattern": "[*?]", "not": { "pattern": r"\{\{|^~/|^\$" } }, "code": "suspicious-pattern",
            "message": "wildcards in `{value}` are not expanded", "note": "the path is taken literally",
            "help": "use `verify` with `run: ls {value}`",
        },
    ])
}

impl AssertionType for FileExists {
    const NAME: &'static str = "file_exists";

    fn label(&self) -> String {
        format!("`{}` exists", self.0)
    }

    fn needs(&self) -> Vec<Need> {
        path_need(&self.0, false)
    }

    fn judge(&self, act: Act<'_>, after: &After) -> Judged {
        let state = after.path(act, &self.0, false)?;
        let (state, proof) = state.complete()?;
        Ok(match state.as_ref() {
            PathState::Missing { beside } => Row::fail("", proof, missing(&self.0, beside)),
            PathState::Directory | PathState::File { .. } | PathState::Other => Row::pass("", proof),
        })
    }
}

/// Returns the mismatch for a missing path, with a similar name in the same directory.
pub(super) fn missing(path: &str, beside: &[String]) -> Mismatch {
    let name = path.rsplit('/').next().unwrap_or(path);
    let mut notes = Vec::new();
    match nearest(name, beside.iter().map(String::as_str)) {
        Some(near) => notes.push(format!("the same directory contains `{near}`")),
        None if beside.is_empty() => notes.push("the directory is empty, or does not exist".to_owned()),
        None => {
            notes.push(format!("the directory contains {}", crate::words::listed(beside.iter().map(String::as_str))))
        }
    }
    Mismatch {
        message: format!("`{path}` does not exist"),
        expected: format!("`{path}` exists"),
        actual: "no such file or directory".to_owned(),
        notes,
        ..Mismatch::default()
    }
}

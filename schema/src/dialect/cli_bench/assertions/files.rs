//! The working directory after the task: `file_exists` and `file_contains`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::claim::{After, AssertionType, near_text, path_need, shown};
use crate::{
    act::Act,
    evidence::{Content, Need, PathState},
    seen::Why,
    text::Text,
    verdict::{At, Judged, Mismatch, Row},
    words::{listed, nearest},
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
#[schemars(extend("minLength" = 1, "x-template" = "workdir", "x-compared" = "name", "x-seen" = "files", "examples" = ["output.txt"]))]
#[schemars(extend("x-other-names" = ["file", "exists", "path_exists"], "x-problems" = taken_literally()))]
pub struct FileExists(pub String);

/// Returns the problems of a path that is not what it would be in a shell.
fn taken_literally() -> Value {
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

fn missing(path: &str, beside: &[String]) -> Mismatch {
    let name = path.rsplit('/').next().unwrap_or(path);
    let mut notes = Vec::new();
    match nearest(name, beside.iter().map(String::as_str)) {
        Some(near) => notes.push(format!("the same directory contains `{near}`")),
        None if beside.is_empty() => notes.push("the directory is empty, or does not exist".to_owned()),
        None => notes.push(format!("the directory contains {}", listed(beside.iter().map(String::as_str)))),
    }
    Mismatch::new(format!("`{path}` does not exist"), format!("`{path}` exists"), "no such file or directory")
        .notes(notes)
}

/// File that must exist after the task and contain a string.
///
/// The string may be anywhere in the file. The assertion fails if the file is missing, is a directory, or cannot be
/// read.
///
/// ```yaml
/// assert:
///   - file_contains:
///       path: "config.json"
///       text: '"name": "my-app"'
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-other-names" = ["file_content"]))]
pub struct FileContains {
    /// Path of the file, relative to the working directory of the task.
    ///
    /// `{{workdir}}` is that directory; `~` and `$NAME` are not expanded.
    #[schemars(extend("minLength" = 1, "x-template" = "workdir", "x-compared" = "name", "x-seen" = "files", "examples" = ["config.json"]))]
    #[schemars(extend("x-other-names" = ["file", "file_path", "filename"], "x-problems" = taken_literally()))]
    pub path: String,
    /// String that the file must contain, case-sensitive.
    #[schemars(extend("x-compared" = "output", "x-seen" = { "lines": ["path"] }, "examples" = ["version: 1"]))]
    #[schemars(extend("x-other-names" = ["contains", "content", "contents", "substring", "value"]))]
    #[schemars(extend("x-problems" = [{
        "if": { "const": "" }, "code": "vacuous-claim",
        "message": "every file contains the empty string, so only its existence is checked",
        "help": "use `file_exists` to check only that the file exists",
    }]))]
    pub text: String,
}

impl AssertionType for FileContains {
    const NAME: &'static str = "file_contains";

    fn label(&self) -> String {
        format!("`{}` contains \"{}\"", self.path, shown(&self.text))
    }

    fn needs(&self) -> Vec<Need> {
        path_need(&self.path, true)
    }

    fn judge(&self, act: Act<'_>, after: &After) -> Judged {
        let FileContains { path, text } = self;
        let state = after.path(act, path, true).at("path")?;
        let (state, proof) = state.complete().at("path")?;
        let failed = |mismatch: Mismatch| Err(Row::fail("path", proof, mismatch));
        let content = match state.as_ref() {
            PathState::File { content: Some(content) } => content,
            PathState::File { content: None } => return Err(Why::unknown("its content was not recorded")).at("path"),
            PathState::Missing { beside } => return failed(missing(path, beside)),
            PathState::Directory => return failed(not_read(path, "is a directory")),
            PathState::Other => return failed(not_read(path, "is not a regular file")),
        };
        let found = match content {
            Content::Text(text) => text,
            Content::Unreadable(reason) => return failed(not_read(path, &format!("cannot be read: {reason}"))),
        };
        Ok(Row::present("text", Text::of(found).contains(text).at("text")?, || {
            Mismatch::new(format!("`{path}` does not contain \"{}\"", shown(text)), shown(text), shown(&found.text))
                .near(near_text(&found.hidden_text(), text))
                .accepting_closest()
        }))
    }
}

fn not_read(path: &str, why: &str) -> Mismatch {
    Mismatch::new(format!("`{path}` {why}"), "a file that can be read", format!("`{path}` {why}"))
}

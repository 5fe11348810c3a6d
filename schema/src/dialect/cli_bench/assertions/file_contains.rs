//! `file_contains`: content of a file after the task.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    claim::Judged,
    file_exists::missing,
    observed::{After, contains, near_text, part, path_need, row, shown},
};
use crate::{
    evidence::{Content, Evidence, Need, PathState},
    verdict::{Mismatch, Verdict},
};

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
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(extend("x-other-names" = ["file_content"]))]
pub struct FileContains {
    /// Path of the file, relative to the working directory of the task.
    ///
    /// `{{workdir}}` is that directory; `~` and `$NAME` are not expanded.
    #[schemars(extend("minLength" = 1, "x-template" = "workdir", "x-compared" = "name", "examples" = ["config.json"]))]
    #[schemars(extend("x-other-names" = ["file", "file_path", "filename"]))]
    pub path: String,
    /// String that the file must contain, case-sensitive.
    #[schemars(extend("examples" = ["version: 1"]))]
    #[schemars(extend("x-other-names" = ["contains", "content", "contents", "substring", "value"]))]
    pub text: String,
}

impl Judged for FileContains {
    fn needs(&self) -> Vec<Need> {
        path_need(&self.path, true)
    }

    fn judge(&self, evidence: &Evidence, after: &After) -> Verdict {
        let FileContains { path, text } = self;
        let row =
            row("file_contains", format!("`{path}` contains \"{}\"", shown(text))).at(part("file_contains", "path"));
        let state = after.path(evidence, path, true);
        let content = match state.as_deref() {
            Ok(PathState::File { content: Some(content) }) => content,
            Ok(PathState::File { content: None }) => return row.unknown("its content was not recorded"),
            Ok(PathState::Missing { beside }) => return row.fail(missing(path, beside)),
            Ok(PathState::Directory) => return row.fail(not_read(path, "is a directory")),
            Ok(PathState::Other) => return row.fail(not_read(path, "is not a regular file")),
            Err(reason) => return row.unknown(reason.as_str()),
        };
        let found = match content {
            Content::Text(text) => text,
            Content::Unreadable(reason) => return row.fail(not_read(path, &format!("cannot be read: {reason}"))),
        };
        row.at(part("file_contains", "text")).found(contains(found, text), || Mismatch {
            message: format!("`{path}` does not contain \"{}\"", shown(text)),
            expected: shown(text),
            actual: shown(&found.text),
            notes: near_text(&found.text, text),
            ..Mismatch::default()
        })
    }

    fn texts(&self) -> Vec<String> {
        vec![self.path.clone(), self.text.clone()]
    }
}

fn not_read(path: &str, why: &str) -> Mismatch {
    Mismatch {
        message: format!("`{path}` {why}"),
        expected: "a file that can be read".to_owned(),
        actual: format!("`{path}` {why}"),
        ..Mismatch::default()
    }
}

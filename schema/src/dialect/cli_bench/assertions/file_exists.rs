//! `file_exists`: a file or directory after the task.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    claim::Judged,
    observed::{After, path_need, row},
};
use crate::{
    evidence::{Evidence, Need, PathState},
    verdict::{Mismatch, Verdict},
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
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("minLength" = 1, "x-template" = "workdir", "x-compared" = "name", "examples" = ["output.txt"]))]
#[schemars(extend("x-other-names" = ["file", "exists", "path_exists"]))]
pub struct FileExists(pub String);

impl Judged for FileExists {
    fn needs(&self) -> Vec<Need> {
        path_need(&self.0, false)
    }

    fn judge(&self, evidence: &Evidence, after: &After) -> Verdict {
        let row = row("file_exists", format!("`{}` exists", self.0));
        match after.path(evidence, &self.0, false).as_deref() {
            Ok(PathState::Missing { beside }) => row.fail(missing(&self.0, beside)),
            Ok(PathState::Directory | PathState::File { .. } | PathState::Other) => row.pass(),
            Err(reason) => row.unknown(reason.as_str()),
        }
    }

    fn texts(&self) -> Vec<String> {
        vec![self.0.clone()]
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

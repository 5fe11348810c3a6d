//! Baselines: the outputs of an earlier run, as KindLM stores them below `.kindlm/baselines`.

use std::{collections::BTreeMap, path::Path};

use serde::{Deserialize, Serialize};

use crate::files::{FileKind, Files, Resolved};

/// Directory of the baselines, next to the suite.
pub const DIRECTORY: &str = ".kindlm/baselines";

/// Version of the files.
pub const VERSION: &str = "1";

/// Baseline of a suite: one file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Baseline {
    /// Always [`VERSION`].
    pub version: String,
    pub suite_name: String,
    /// RFC 3339.
    pub created_at: String,
    /// RFC 3339.
    #[serde(default)]
    pub saved_at: String,
    /// Results by test and model: `answers::small`, or `answers::command`.
    pub results: BTreeMap<String, BaselineResult>,
}

/// Result of a test with one model, or of a command.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BaselineResult {
    /// Share of attempts with a result that passed, from 0 to 1.
    pub pass_rate: f64,
    /// Output of the first attempt that passed; empty if no output is whole.
    #[serde(default)]
    pub output_text: String,
    /// Codes of failed expectations.
    #[serde(default)]
    pub failure_codes: Vec<String>,
    /// Mean duration in milliseconds.
    #[serde(default)]
    pub latency_avg_ms: f64,
    /// Mean cost in US dollars, if known.
    #[serde(default)]
    pub cost_usd: Option<f64>,
    /// Number of attempts with a result.
    pub run_count: usize,
}

impl Baseline {
    /// Reads a file. The error is a clause about its content.
    pub fn parse(text: &str) -> Result<Baseline, String> {
        let read: Baseline = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if read.version != VERSION {
            return Err(format!("`version` is \"{}\", and only \"{VERSION}\" can be read", read.version));
        }
        for (key, BaselineResult { pass_rate, run_count, .. }) in &read.results {
            if !(0.0..=1.0).contains(pass_rate) {
                return Err(format!("`passRate` of `{key}` is {pass_rate}, not a number from 0 to 1"));
            }
            if *run_count == 0 {
                return Err(format!("`runCount` of `{key}` is 0, so nothing was measured"));
            }
        }
        Ok(read)
    }
}

/// A file that names the baseline in use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Latest {
    pub latest_file: String,
}

/// Returns the key of the results of a test with a model.
pub fn key(test: &str, subject: &str) -> String {
    format!("{test}::{subject}")
}

/// Returns the name of a suite as it is in the names of files.
pub fn stem(suite: &str) -> String {
    suite
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() || "_-".contains(letter) { letter } else { '_' })
        .collect()
}

/// Returns the path of the file that names the baseline in use.
pub fn latest_of(suite: &str) -> String {
    format!("{DIRECTORY}/{}-latest.json", stem(suite))
}

/// Reads the baseline in use; `None` if there is none. The error is a clause that names the file.
pub fn read(files: &dyn Files, suite: &str) -> Result<Option<Baseline>, String> {
    let latest = latest_of(suite);
    let path = match text(files, &latest)? {
        Some(pointer) => {
            let pointer: Latest =
                serde_json::from_str(&pointer).map_err(|error| damaged(&latest, &error.to_string()))?;
            let name = Path::new(&pointer.latest_file).file_name().map(|name| name.to_string_lossy().into_owned());
            format!("{DIRECTORY}/{}", name.ok_or_else(|| damaged(&latest, "it names no file"))?)
        }
        None => format!("{DIRECTORY}/{}.json", stem(suite)),
    };
    let Some(content) = text(files, &path)? else {
        // Only a file that is named must exist.
        return if text(files, &latest)?.is_some() { Err(format!("`{path}` is missing")) } else { Ok(None) };
    };
    let read = Baseline::parse(&content).map_err(|reason| damaged(&path, &reason))?;
    if read.suite_name != suite {
        return Err(format!("`{path}` belongs to the suite `{}`", read.suite_name));
    }
    Ok(Some(read))
}

fn damaged(path: &str, reason: &str) -> String {
    format!("`{path}` is damaged: {reason}; restore it, or replace it with `speclens baseline set`")
}

fn text(files: &dyn Files, path: &str) -> Result<Option<String>, String> {
    if let Resolved::Nothing | Resolved::Found { kind: FileKind::Directory | FileKind::Other, .. } = files.named(path) {
        return Ok(None);
    }
    match files.read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(reason) => Err(format!("`{path}` cannot be read: {reason}")),
    }
}

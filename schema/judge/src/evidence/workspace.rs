//! Observations of a running workspace for claims: files that other programs write, addresses, variables, traces,
//! scores.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Capture, Content};

/// The moment of an observation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObservationTime {
    /// Before the act.
    Before,
    /// After the act.
    #[default]
    After,
}

/// The files at a path, or those that a path with wildcards matches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FilesNeed {
    /// The path, with templates filled. A relative path begins in the root of the workspace.
    pub pattern: String,
    /// Whether `*`, `?` and `[…]` are wildcards, as in Python's `glob.glob` without recursion. If nothing matches and
    /// `literal` is set, the text itself is tried as a path.
    pub wildcards: bool,
    /// Whether a path with wildcards that matches nothing is tried as written.
    pub literal: bool,
    /// Whether the content is needed.
    pub content: bool,
    /// The moment of the observation.
    pub moment: ObservationTime,
    /// Maximum time to wait until a file exists that was written at `since_us` or later.
    pub wait_ms: u64,
    /// Earliest time at which the file may have been written, in microseconds since the Unix epoch.
    pub since_us: Option<i64>,
    /// Texts or regular expressions of Python to search for. Of a long file, only what was found is kept then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub searches: Vec<String>,
}

/// The files found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FilesAnswer {
    /// The files and directories, sorted by path.
    pub files: Vec<SeenFile>,
    /// Time spent waiting; 0 for a single observation.
    pub waited_ms: u64,
    /// Whether there are too many to be kept.
    pub cut: bool,
    /// Names in the directory of a missing file, at most a few hundred.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<String>,
}

/// A file or directory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SeenFile {
    /// The path, as the pattern writes it.
    pub path: String,
    /// Whether it is a directory.
    pub directory: bool,
    /// Modification time, in microseconds since the Unix epoch; `None` if not observed.
    pub modified_us: Option<i64>,
    /// Time from the beginning of the wait until it was first seen in its final state.
    pub seen_after_ms: u64,
    /// The content, with secrets masked; `None` if not requested.
    pub content: Option<Content>,
    /// The results of searching all of it; empty if everything is kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub searches: Vec<FileSearch>,
}

/// The result of searching a whole file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileSearch {
    /// The text or the regular expression.
    pub pattern: String,
    /// The first match.
    pub found: Option<FoundText>,
    /// The number of lines of the file, as far as it was read.
    pub lines: usize,
    /// The reason why there may be a match anyway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<String>,
}

/// The lines of a match.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FoundText {
    /// The number of the first line, from 0.
    pub line: usize,
    /// The lines, with secrets masked; of very long ones only the match.
    pub text: Capture,
}

impl SeenFile {
    /// Returns whether it was not written between two observations, as far as they show.
    pub fn is_the_same(&self, other: &SeenFile) -> bool {
        self.path == other.path && self.modified_us.is_some() && self.modified_us == other.modified_us
    }
}

/// An address to request with GET: no redirects, no authorization, five seconds.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ResponseNeed {
    /// The address.
    pub address: Address,
    /// The moment of the observation.
    pub moment: ObservationTime,
}

/// An address, or a path at the configured gateway.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Address {
    /// A full address.
    Url(String),
    /// A path below the gateway's base address, beginning with `/`.
    Gateway(String),
}

/// The response of an address.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ResponseAnswer {
    /// The status; `None` without a response.
    pub status: Option<u16>,
    /// The body, up to a limit.
    pub body: Capture,
    /// The reason why there was no response.
    pub error: Option<String>,
}

/// Environment variables to check.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct VariablesNeed {
    /// Their names.
    pub names: Vec<String>,
    /// The moment of the observation.
    pub moment: ObservationTime,
}

/// The presence of a variable. Its value is never kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Presence {
    /// It is not set.
    Absent,
    /// It is set to the empty string.
    Empty,
    /// It is set to a non-empty string.
    Set,
}

/// The values of the templates of a dialect, frozen for an attempt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TemplateValues {
    /// By name, before the act.
    pub before: BTreeMap<String, String>,
    /// By name, after the act.
    pub after: BTreeMap<String, String>,
    /// The offset of local time from UTC in seconds, positive east of Greenwich.
    pub utc_offset_s: Option<i32>,
}

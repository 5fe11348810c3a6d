//! What claims about a running workspace need to know: files that other programs write, addresses that answer,
//! variables, traces, scores.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Capture, Content};

/// When something is observed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Moment {
    /// Before the act.
    Before,
    /// After the act.
    #[default]
    After,
}

/// The files at a path, or those that a path with wildcards matches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FilesNeed {
    /// The path, its templates filled. A relative path begins in the root of the workspace.
    pub pattern: String,
    /// Whether `*`, `?` and `[…]` stand for letters, as in Python's `glob.glob` without recursion. When nothing
    /// matches and `literal` is set, the text itself is tried as a path.
    pub wildcards: bool,
    /// Whether a path with wildcards that matches nothing is tried as written.
    pub literal: bool,
    /// Whether the content is needed, too.
    pub content: bool,
    /// When to look.
    pub moment: Moment,
    /// For how long to look again and again, until a file is there that was written at `since_us` or later.
    pub wait_ms: u64,
    /// Microseconds of the Unix epoch.
    pub since_us: Option<i64>,
    /// What is looked for in the whole of a file of which only the beginning is kept: texts or regular expressions of Python.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub searches: Vec<String>,
}

/// The files that were found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FilesAnswer {
    /// The files and directories, sorted by path.
    pub files: Vec<SeenFile>,
    /// For how long it was looked; 0 for one look.
    pub waited_ms: u64,
    /// Whether there are more than were kept.
    pub cut: bool,
    /// Names in the directory where a file should be that is not there, at most a few hundred.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<String>,
}

/// A file or directory that was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SeenFile {
    /// Its path, as the pattern writes it.
    pub path: String,
    /// Whether it is a directory.
    pub directory: bool,
    /// Time when it was last written, in microseconds of the Unix epoch. `None`: not observed.
    pub modified_us: Option<i64>,
    /// How long after the beginning of the wait it was first seen as it is.
    pub seen_after_ms: u64,
    /// What it holds, secrets masked. `None`: not asked for.
    pub content: Option<Content>,
    /// What was looked for in all of it. Empty where everything is kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub searches: Vec<FileSearch>,
}

/// What was looked for in the whole of a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileSearch {
    /// The text or the regular expression.
    pub pattern: String,
    /// The first place where it is.
    pub found: Option<FoundText>,
    /// The lines that the file has, as far as it was read.
    pub lines: usize,
    /// Why it may be there anyway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<String>,
}

/// The lines in which something was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FoundText {
    /// The number of the first of them, from 0.
    pub line: usize,
    /// The lines, secrets masked; of very long ones what was found alone.
    pub text: Capture,
}

impl SeenFile {
    /// Whether nobody wrote it between two looks, as far as they tell.
    pub fn is_the_same(&self, other: &SeenFile) -> bool {
        self.path == other.path && self.modified_us.is_some() && self.modified_us == other.modified_us
    }
}

/// An address to be asked with GET: no redirects, no authorization, five seconds.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ResponseNeed {
    /// Where.
    pub address: Address,
    /// When.
    pub moment: Moment,
}

/// An address, or a place at the configured gateway.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Address {
    /// A full address.
    Url(String),
    /// A path below the gateway's base address, beginning with `/`.
    Gateway(String),
}

/// What an address answered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ResponseAnswer {
    /// The status; nothing when there was no answer.
    pub status: Option<u16>,
    /// The body, as far as it was kept.
    pub body: Capture,
    /// Why there was no answer.
    pub error: Option<String>,
}

/// Whether variables of the environment are set.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct VariablesNeed {
    /// Their names.
    pub names: Vec<String>,
    /// When.
    pub moment: Moment,
}

/// Whether a variable is set. Its value is never kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Presence {
    /// It is not set.
    Absent,
    /// It is set to the empty text.
    Empty,
    /// It is set to some text.
    Set,
}

/// The values of the templates of a dialect, frozen for an attempt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TemplateValues {
    /// By name, before the act.
    pub before: BTreeMap<String, String>,
    /// By name, after the act.
    pub after: BTreeMap<String, String>,
    /// What is between local time and UTC, in seconds: local time is ahead of UTC where it is positive.
    pub utc_offset_s: Option<i32>,
}

//! The files that an act changed, if the directory was its own.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Capture;

/// The files that an act created, changed or removed, and the other entries of the directory: a path in neither list
/// does not exist.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileLog {
    /// The files, sorted by path.
    pub files: Vec<ChangedFile>,
    /// All other entries of the directory after the act: directories, links, unchanged files. By path, with `/` between
    /// names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rest: BTreeMap<String, EntryKind>,
    /// Whether entries are missing, because there were too many.
    pub cut: bool,
}

/// The kind of an entry, links not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// Something else: a socket, a device.
    Other,
}

/// A file that an act created, changed or removed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangedFile {
    /// The path, relative to the directory of the act, with `/` between names.
    pub path: String,
    /// The change.
    pub change: Change,
    /// The size in bytes; `None` if it no longer exists.
    pub size: Option<u64>,
    /// The SHA-256 digest of its content, in hexadecimal digits; `None` if it no longer exists, cannot be read, is too
    /// large, or has a masked secret.
    pub digest: Option<String>,
    /// The text, with secrets masked; `None` if it is not text, or too long.
    pub text: Option<Capture>,
}

/// Change of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// The file is new.
    Created,
    /// The content of the file changed.
    Modified,
    /// The file was removed.
    Removed,
}

impl Change {
    /// Returns the word used in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Change::Created => "created",
            Change::Modified => "modified",
            Change::Removed => "removed",
        }
    }
}

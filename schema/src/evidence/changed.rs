//! The files that an act changed, where the directory was its own.

use serde::{Deserialize, Serialize};

use super::Capture;

/// The files that an act created, changed or removed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileLog {
    /// The files, sorted by path.
    pub files: Vec<ChangedFile>,
    /// Whether some are missing, because there were more than are kept.
    pub cut: bool,
}

/// A file that an act created, changed or removed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangedFile {
    /// Its path from the directory of the act, `/` between names.
    pub path: String,
    /// What happened to it.
    pub change: Change,
    /// Its size in bytes. `None`: it is not there any more.
    pub size: Option<u64>,
    /// The SHA-256 digest of its content, in hexadecimal digits. `None`: it is not there any more, or cannot be read.
    pub digest: Option<String>,
    /// Its text, secrets masked. `None`: it is not a text, or longer than is kept.
    pub text: Option<Capture>,
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// It was not there before.
    Created,
    /// Its content is another one.
    Modified,
    /// It is not there any more.
    Removed,
}

//! The files that an act changed, where the directory was its own.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Capture;

/// The files that an act created, changed or removed, and what else is in the directory, so that what is in neither list
/// is not there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileLog {
    /// The files, sorted by path.
    pub files: Vec<ChangedFile>,
    /// Everything else that was in the directory after the act: directories, links, files as they were before. By path,
    /// `/` between names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rest: BTreeMap<String, Standing>,
    /// Whether some are missing, because there were more than are kept.
    pub cut: bool,
}

/// What is at a path, links not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
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
    /// Its path from the directory of the act, `/` between names.
    pub path: String,
    /// What happened to it.
    pub change: Change,
    /// Its size in bytes. `None`: it is not there any more.
    pub size: Option<u64>,
    /// The SHA-256 digest of its content, in hexadecimal digits. `None`: it is not there any more, cannot be read, is too
    /// large, or holds a secret that is masked in its text.
    pub digest: Option<String>,
    /// Its text, secrets masked. `None`: it is not a text, or longer than is kept.
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

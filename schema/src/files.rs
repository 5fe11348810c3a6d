//! Access to files for pure code. The command line and the server use the
//! file system, tests use a list.

mod glob;

pub use glob::{FileKind, Matches, python_name_matches};

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use sha2::{Digest, Sha256};

use crate::check::text::hexadecimal;

/// Files by path, each with a digest of its content.
pub type Inputs = BTreeMap<String, String>;

/// A view of the files below a suite's directory, for one document of the suite. Every path is
/// relative to that directory and uses `/`.
///
/// The directory is that of the main file; for ClawSpec, the root of the workspace (the directory of `clawspec.yaml`).
pub trait Files: Send + Sync {
    /// Returns the suite's directory, for messages.
    fn root(&self) -> &Path;
    /// Returns the kind of a path, following symbolic links.
    fn kind(&self, path: &str) -> Option<FileKind>;
    /// Returns the content of a file, or the reason why it cannot be read.
    fn read(&self, path: &str) -> Result<Arc<[u8]>, String>;
    /// Returns the time of the last change of a file, in UTC. `None` if unknown.
    fn changed(&self, _path: &str) -> Option<String> {
        None
    }
    fn digest(&self, path: &str) -> Option<String> {
        self.read(path).ok().map(|content| digest(&content))
    }
    /// Returns the digest of a file outside of the directory, given an absolute path or one that begins with `..`.
    /// `None` if there is none, or if it is outside of the workspace, which is not read.
    fn digest_beyond(&self, _path: &str) -> Option<String> {
        None
    }
    /// Returns everything in a directory that the suite names, by path, each with a digest of its content. A task that
    /// begins with a copy of the directory finds it. Empty for a directory outside of the workspace, which is not read.
    fn tree(&self, directory: &str) -> Inputs {
        let mut found = Inputs::new();
        let mut open = vec![directory.trim_end_matches('/').to_owned()];
        while let Some(directory) = open.pop() {
            for (name, kind) in self.list_named(&directory) {
                let path = format!("{directory}/{name}");
                match kind {
                    FileKind::Directory => open.push(path),
                    FileKind::File => found.extend(self.digest(&path).map(|digest| (path.clone(), digest))),
                    FileKind::Other => {}
                }
            }
        }
        found
    }
    /// Returns the files that settings declare as inputs of every command and task, by path from here.
    fn declared(&self) -> Inputs {
        Inputs::new()
    }
    /// Returns the patterns of ClawSpec's scenario contracts in the environment, which override those of the
    /// settings.
    fn scenario_patterns(&self) -> Option<Vec<String>> {
        None
    }
    /// Returns the names in a directory, sorted.
    fn list(&self, directory: &str) -> Vec<(String, FileKind)>;
    /// Resolves a path that the suite names directly: it may be outside of the directory, after `..` or a
    /// symbolic link, but not outside of the workspace.
    fn named(&self, path: &str) -> Resolved {
        let found = |kind| Resolved::Found { kind, path: path.to_owned(), is_far: false };
        self.kind(path).map_or(Resolved::Nothing, found)
    }
    /// Returns the content of such a file, or the reason why it cannot be read.
    fn read_named(&self, path: &str) -> Result<Arc<[u8]>, String> {
        self.read(path)
    }
    /// Returns the names in such a directory, sorted.
    fn list_named(&self, directory: &str) -> Vec<(String, FileKind)> {
        self.list(directory)
    }
    /// Returns the path of the document itself; empty for an unsaved one.
    fn place(&self) -> &str;
    /// Returns the main file that includes the document, if the document is only part of a suite.
    fn main(&self) -> Option<&str>;

    /// Whether the files that a main file includes are checked too, so each reports its own problems.
    fn parts_are_checked(&self) -> bool {
        false
    }

    /// Returns the files that a pattern matches: `*`, `?` and `[...]` within a name, `**` for any number of
    /// directories. Names that begin with a dot match only patterns that begin with a dot.
    ///
    /// A symbolic link to a directory is followed only if its target is below the start of the search and is not a
    /// parent of the link.
    fn glob(&self, pattern: &str) -> Matches {
        glob::glob(&|directory| self.list(directory), &|path| real(self.named(path)), pattern)
    }
    /// Returns the same for a pattern that the suite names directly: it may begin with `..`.
    fn glob_named(&self, pattern: &str) -> Matches {
        glob::glob(&|directory| self.list_named(directory), &|path| real(self.named(path)), pattern)
    }
}

/// Whether a pattern, as in [`Files::glob`], matches a path. Does not access files.
pub fn matches(pattern: &str, path: &str) -> bool {
    glob::matches(pattern, path)
}

/// Returns the first 16 digits of the SHA-256 of a content.
pub fn digest(content: &[u8]) -> String {
    short(&Sha256::digest(content))
}

/// Returns the first 16 digits of a digest.
pub fn short(digest: &[u8]) -> String {
    hexadecimal(&digest[..8])
}

/// Returns the directory above another one, such as `tests`, that contains a file. If the file is in a directory of
/// another name, returns that one.
pub fn above<'p>(place: &'p str, directory: &str) -> &'p str {
    let own = place.rsplit_once('/').map_or("", |(own, _)| own);
    match own.strip_suffix(directory) {
        Some("") => "",
        Some(above) => above.strip_suffix('/').unwrap_or(own),
        None => own,
    }
}

/// Returns a relative path without `.` and `..`. `None` if it leads out of the directory that it starts from.
pub fn inside(path: &str) -> Option<String> {
    if path.is_empty() || is_absolute(path) || path.starts_with(['~', '-']) || path.contains(['\n', '\0']) {
        return None;
    }
    without_dots(path)
}

/// Whether a path is absolute on some system.
pub(crate) fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '\\']) || matches!(path.as_bytes(), [drive, b':', ..] if drive.is_ascii_alphabetic())
}

/// Returns a relative path without `.` and `..`. `None` if it leads out of the directory that it starts from, or to
/// that directory.
pub(crate) fn without_dots(path: &str) -> Option<String> {
    steps(path).filter(|steps| !steps.is_empty()).map(|steps| steps.join("/"))
}

/// Returns the steps of a relative path without `.` and `..`. `None` where it leads out of the directory that it starts
/// from.
pub(crate) fn steps(path: &str) -> Option<Vec<&str>> {
    let mut steps = Vec::new();
    for step in path.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                steps.pop()?;
            }
            step => steps.push(step),
        }
    }
    Some(steps)
}

/// Result of resolving a path that a suite names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolved {
    /// The path does not exist.
    Nothing,
    /// The path exists.
    Found {
        /// Kind of the path.
        kind: FileKind,
        /// Path without symbolic links, relative to the suite's directory; it begins with `..` if it is outside.
        path: String,
        /// Whether it is outside of the workspace.
        is_far: bool,
    },
    /// The path is outside of the workspace and is not read.
    Unread,
}

fn real(named: Resolved) -> Option<String> {
    match named {
        Resolved::Found { path, .. } => Some(path),
        Resolved::Nothing | Resolved::Unread => None,
    }
}

/// In-memory files, for tests and for unsaved documents, which have no directory.
#[derive(Clone, Debug, Default)]
pub struct MemoryFiles {
    root: PathBuf,
    place: String,
    main: Option<String>,
    files: BTreeMap<String, Arc<[u8]>>,
}

impl MemoryFiles {
    pub fn new<'a>(root: impl Into<PathBuf>, files: impl IntoIterator<Item = (&'a str, &'a str)>) -> MemoryFiles {
        let files = files.into_iter().map(|(path, text)| (path.to_owned(), text.as_bytes().into())).collect();
        MemoryFiles { root: root.into(), files, ..MemoryFiles::default() }
    }

    /// Adds a file, or replaces one at the same path.
    pub fn add(&mut self, path: &str, text: &str) {
        self.files.insert(path.to_owned(), text.as_bytes().into());
    }

    /// Sets the path of the document.
    pub fn at(mut self, place: &str) -> MemoryFiles {
        self.place = place.to_owned();
        self
    }

    pub fn named_by(mut self, main: &str) -> MemoryFiles {
        self.main = Some(main.to_owned());
        self
    }
}

impl Files for MemoryFiles {
    fn named(&self, path: &str) -> Resolved {
        match self.kind(path) {
            Some(kind) => Resolved::Found { kind, path: path.to_owned(), is_far: false },
            None if path == ".." || path.starts_with("../") => Resolved::Unread,
            None => Resolved::Nothing,
        }
    }

    fn root(&self) -> &Path {
        &self.root
    }

    fn kind(&self, path: &str) -> Option<FileKind> {
        if self.files.contains_key(path) {
            return Some(FileKind::File);
        }
        let directory = if path.is_empty() || path == "." { String::new() } else { format!("{path}/") };
        self.files.keys().any(|file| file.starts_with(&directory)).then_some(FileKind::Directory)
    }

    fn read(&self, path: &str) -> Result<Arc<[u8]>, String> {
        self.files.get(path).cloned().ok_or_else(|| "no such file".to_owned())
    }

    fn list(&self, directory: &str) -> Vec<(String, FileKind)> {
        // As in a file system, `./a` is `a`.
        let directory = directory.strip_prefix("./").unwrap_or(directory);
        let prefix = if directory.is_empty() || directory == "." { String::new() } else { format!("{directory}/") };
        let mut entries = BTreeMap::new();
        for file in self.files.keys() {
            let Some(rest) = file.strip_prefix(&prefix) else { continue };
            match rest.split_once('/') {
                Some((name, _)) => entries.insert(name.to_owned(), FileKind::Directory),
                None => entries.insert(rest.to_owned(), FileKind::File),
            };
        }
        entries.into_iter().collect()
    }

    fn place(&self) -> &str {
        &self.place
    }

    fn main(&self) -> Option<&str> {
        self.main.as_deref()
    }
}

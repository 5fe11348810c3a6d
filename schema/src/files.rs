//! The questions about the disk that pure code may ask. The command line and the server answer from
//! the real disk, tests from a list.

mod glob;

pub use glob::python_name_matches;

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use sha2::{Digest, Sha256};

use crate::suite::Inputs;

/// A view of the files below a suite's directory, as one document of the suite sees them. Every path is
/// relative to that directory and uses `/`.
///
/// The directory is that of the main file; for ClawSpec the root of the workspace, where its `clawspec.yaml` is.
pub trait Files: Send + Sync {
    /// Returns the suite's directory, for messages.
    fn root(&self) -> &Path;
    /// Returns what is at a path, symbolic links followed.
    fn kind(&self, path: &str) -> Option<FileKind>;
    /// Returns the content of a file, or why it cannot be read.
    fn read(&self, path: &str) -> Result<Arc<[u8]>, String>;
    /// When a file was changed last, in UTC. `None` where that is not known.
    fn changed(&self, _path: &str) -> Option<String> {
        None
    }
    /// Returns the digest of the content of a file.
    fn digest(&self, path: &str) -> Option<String> {
        self.read(path).ok().map(|content| digest(&content))
    }
    /// Returns the digest of a file outside the directory, at an absolute path or one that begins with `..`. `None`
    /// where there is none, or where it is outside the workspace: what is there is not ours to read.
    fn digest_beyond(&self, _path: &str) -> Option<String> {
        None
    }
    /// Everything in a directory that the suite names, by its path from here, each with a digest of its content. A task that
    /// begins with a copy of the directory finds it. Empty for one outside of the workspace: what is there is not ours to read.
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
    /// Returns the files that settings declare as inputs of every command and task, by their paths from here.
    fn declared(&self) -> Inputs {
        Inputs::new()
    }
    /// Returns the patterns of ClawSpec's scenario contracts that the environment names instead of those of the
    /// settings.
    fn scenario_patterns(&self) -> Option<Vec<String>> {
        None
    }
    /// Returns the names in a directory, sorted.
    fn list(&self, directory: &str) -> Vec<(String, FileKind)>;
    /// Returns what is at a path that the suite names outright: it may also lead out of the directory, after `..` or a
    /// symbolic link, as far as the workspace reaches.
    fn named(&self, path: &str) -> Lead {
        let found = |kind| Lead::Found { kind, path: path.to_owned(), is_far: false };
        self.kind(path).map_or(Lead::Nothing, found)
    }
    /// Returns the content of such a file, or why it cannot be read.
    fn read_named(&self, path: &str) -> Result<Arc<[u8]>, String> {
        self.read(path)
    }
    /// Returns the names in such a directory, sorted.
    fn list_named(&self, directory: &str) -> Vec<(String, FileKind)> {
        self.list(directory)
    }
    /// Returns the path of the document itself; empty for one that is not saved.
    fn place(&self) -> &str;
    /// Returns the main file that names the document, where the document is only a part of a suite.
    fn main(&self) -> Option<&str>;

    /// Whether the files that a main file names are checked along with it, so each has its own problems.
    fn parts_are_checked(&self) -> bool {
        false
    }

    /// Returns the files that a pattern matches: `*`, `?` and `[...]` within a name, `**` for any number of
    /// directories. Names that begin with a dot are matched only by patterns that say so.
    ///
    /// A directory is entered through a symbolic link only when it is below the place where the search began, and never
    /// within itself.
    fn glob(&self, pattern: &str) -> Matches {
        glob::glob(&|directory| self.list(directory), &|path| real(self.named(path)), pattern)
    }
    /// Returns the same for a pattern that the suite names outright: it may begin with `..`.
    fn glob_named(&self, pattern: &str) -> Matches {
        glob::glob(&|directory| self.list_named(directory), &|path| real(self.named(path)), pattern)
    }
}

/// Whether a pattern, as [`Files::glob`] takes it, matches a path. Nothing is looked up.
pub fn matches(pattern: &str, path: &str) -> bool {
    glob::matches(pattern, path)
}

/// Returns the first 16 digits of the SHA-256 of a content.
pub fn digest(content: &[u8]) -> String {
    short(&Sha256::digest(content))
}

/// Returns the first 16 digits of a digest.
pub fn short(digest: &[u8]) -> String {
    const BYTES: usize = 8;
    digest.iter().take(BYTES).fold(String::with_capacity(BYTES * 2), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

/// Returns a relative path without `.` and `..`, when it stays inside the directory that it starts from.
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

/// Returns a relative path without `.` and `..`. `None` where it leads out of the directory that it starts from, or to
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

/// What is at a path that a suite names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lead {
    /// Nothing.
    Nothing,
    /// This.
    Found {
        /// Its kind.
        kind: FileKind,
        /// Its path without symbolic links, from the suite's directory; it begins with `..` when it is beyond.
        path: String,
        /// Whether it is out of the workspace.
        is_far: bool,
    },
    /// It leads out of the workspace, where nothing is read.
    Unread,
}

fn real(named: Lead) -> Option<String> {
    match named {
        Lead::Found { path, .. } => Some(path),
        Lead::Nothing | Lead::Unread => None,
    }
}

/// What a pattern matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matches {
    /// The paths of files and directories, in byte order.
    pub paths: Vec<String>,
    /// Whether there may be more: the search was given up after too many entries.
    pub cut: bool,
}

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// Anything else.
    Other,
}

/// Files kept in memory: what tests use, and what stands for "no directory" (an unsaved document).
#[derive(Clone, Debug, Default)]
pub struct MemoryFiles {
    root: PathBuf,
    place: String,
    main: Option<String>,
    files: BTreeMap<String, Arc<[u8]>>,
}

impl MemoryFiles {
    /// Files with these paths and contents.
    pub fn new<'a>(root: impl Into<PathBuf>, files: impl IntoIterator<Item = (&'a str, &'a str)>) -> MemoryFiles {
        let files = files.into_iter().map(|(path, text)| (path.to_owned(), text.as_bytes().into())).collect();
        MemoryFiles { root: root.into(), files, ..MemoryFiles::default() }
    }

    /// Another file, instead of one at the same path.
    pub fn add(&mut self, path: &str, text: &str) {
        self.files.insert(path.to_owned(), text.as_bytes().into());
    }

    /// Returns the same, seen by the document at this path.
    pub fn at(mut self, place: &str) -> MemoryFiles {
        self.place = place.to_owned();
        self
    }

    /// Returns the same, seen by a document that a main file names.
    pub fn named_by(mut self, main: &str) -> MemoryFiles {
        self.main = Some(main.to_owned());
        self
    }
}

impl Files for MemoryFiles {
    fn named(&self, path: &str) -> Lead {
        match self.kind(path) {
            Some(kind) => Lead::Found { kind, path: path.to_owned(), is_far: false },
            None if path == ".." || path.starts_with("../") => Lead::Unread,
            None => Lead::Nothing,
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
        // As on a disk, `./a` is `a`.
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

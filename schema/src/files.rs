//! The questions about the disk that pure code may ask. The command line and the server answer from
//! the real disk, tests from a list.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

/// A view of the files below a suite's directory. Every path is relative to that directory and uses `/`.
pub trait Files: Send + Sync {
    /// The suite's directory, for messages.
    fn root(&self) -> &Path;
    /// What stands at a path, symbolic links followed.
    fn kind(&self, path: &str) -> Option<FileKind>;
    /// The content of a file, or why it cannot be read.
    fn read(&self, path: &str) -> Result<Arc<[u8]>, String>;
    /// The names in a directory, sorted.
    fn list(&self, directory: &str) -> Vec<(String, FileKind)>;
}

/// What stands at a path.
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
    files: BTreeMap<String, Arc<[u8]>>,
}

impl MemoryFiles {
    /// Files with these paths and contents.
    pub fn new<'a>(root: impl Into<PathBuf>, files: impl IntoIterator<Item = (&'a str, &'a str)>) -> MemoryFiles {
        let files = files.into_iter().map(|(path, text)| (path.to_owned(), text.as_bytes().into())).collect();
        MemoryFiles { root: root.into(), files }
    }
}

impl Files for MemoryFiles {
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
}

//! Reads any file as text: with a size limit, and with a problem for bytes that are not text.

use std::{
    collections::HashMap,
    ffi::OsStr,
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use ignore::WalkBuilder;
use ropey::Rope;
use speclens_runner::files::{self, open_regular};
use speclens_schema::{
    document::{MAX_BYTES, Pointer},
    problem::{Code, Problem},
};

/// Number of bytes at the start of a file that decide its kind.
pub(crate) const MAX_HEAD_BYTES: usize = 256 * 1024;

pub(crate) fn beginning(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    open_regular(path).ok()?.take(MAX_HEAD_BYTES as u64).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Directories of dependencies and of generated files, which repositories ignore: their suites are those of others.
const FOREIGN_DIRECTORIES: [&str; 2] = ["node_modules", "target"];

/// Returns a walk over everything in a directory that version control does not ignore. Without version control,
/// directories of dependencies and of generated files are omitted.
pub(crate) fn walk(directory: &Path) -> WalkBuilder {
    let mut walk = WalkBuilder::new(directory);
    walk.require_git(false).sort_by_file_path(Ord::cmp);
    let absolute = fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
    if !absolute.ancestors().any(|above| above.join(".git").exists()) {
        let is_foreign = |name: &OsStr| FOREIGN_DIRECTORIES.iter().any(|foreign| name == *foreign);
        walk.filter_entry(move |entry| entry.depth() == 0 || !is_foreign(entry.file_name()));
    }
    walk
}

/// Returns a walk over everything in a directory except files that `.ignore` excludes. Names that begin with a dot are
/// included on request.
pub(crate) fn walk_unignored(directory: &Path, with_hidden: bool) -> WalkBuilder {
    let mut walk = walk(directory);
    walk.git_ignore(false).git_global(false).git_exclude(false).hidden(!with_hidden);
    walk.filter_entry(|entry| entry.file_name() != ".git");
    walk
}

/// Reads a text and returns the problem with its bytes, if any. The readable part is returned in any case.
pub(crate) fn read_text(path: &Path) -> (String, Option<Problem>) {
    let bytes = match read_bytes(path) {
        Ok(bytes) => bytes,
        Err(unreadable) => {
            let message = format!("cannot read the file: {}", unreadable.reason());
            let problem = Problem::new(Code::UnreadableFile, Pointer::root(), 0..0, message);
            return (String::new(), Some(problem.with_help(unreadable.help())));
        }
    };
    match String::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let bytes = error.into_bytes();
            let message = match bytes.as_slice() {
                [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "not UTF-8 but UTF-16".to_owned(),
                _ => format!("not UTF-8: byte {at} (0x{:02x}) is not part of a valid character", bytes[at]),
            };
            let problem = Problem::new(Code::Encoding, Pointer::root(), at..at + usize::from(at > 0), message);
            (String::from_utf8_lossy(&bytes).into_owned(), Some(problem.with_help("save the file as UTF-8")))
        }
    }
}

/// The reason why a file cannot be read.
enum Unreadable {
    Directory,
    /// A pipe, a device, a socket.
    Special,
    Io(io::Error),
}

impl Unreadable {
    fn reason(&self) -> String {
        match self {
            Unreadable::Directory => "it is a directory".to_owned(),
            Unreadable::Special => "not a regular file".to_owned(),
            Unreadable::Io(error) => error.to_string(),
        }
    }

    fn help(&self) -> &'static str {
        match self {
            Unreadable::Directory => "rename the directory, or put a file in its place",
            Unreadable::Special => "put a regular file in its place",
            Unreadable::Io(error) => match error.kind() {
                io::ErrorKind::PermissionDenied => "make it and its parent directories readable",
                io::ErrorKind::NotFound => "create it, or correct the link to it",
                _ => "make it readable",
            },
        }
    }
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, Unreadable> {
    let metadata = fs::metadata(path).map_err(Unreadable::Io)?;
    if metadata.is_dir() {
        return Err(Unreadable::Directory);
    }
    if !metadata.is_file() {
        return Err(Unreadable::Special);
    }
    let mut bytes = Vec::new();
    let file = open_regular(path).map_err(Unreadable::Io)?;
    // One byte more than the limit of documents, so that their reader reports that it is too large.
    file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(Unreadable::Io)?;
    if bytes.len() > MAX_BYTES {
        while bytes.last().is_some_and(|byte| byte & 0xc0 == 0x80) {
            bytes.pop();
        }
    }
    Ok(bytes)
}

/// Texts by path. The lock is internal and is never held during other work.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    texts: Mutex<HashMap<PathBuf, Rope>>,
}

impl Buffers {
    pub(crate) fn set(&self, path: &Path, text: Rope) {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), text);
    }

    pub(crate) fn holds(&self, path: &Path) -> bool {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner).contains_key(path)
    }

    /// Removes a closed document: from now on its file on disk counts.
    pub(crate) fn remove(&self, path: &Path) {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
    }
}

impl files::Buffers for Buffers {
    fn text(&self, path: &Path) -> Option<String> {
        let text = self.texts.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned();
        text.map(String::from)
    }

    fn below(&self, directory: &Path) -> Vec<PathBuf> {
        let texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        texts.keys().filter(|path| path.starts_with(directory)).cloned().collect()
    }
}

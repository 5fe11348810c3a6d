//! The changes that an agent made in its directory, from a comparison of the directory before and after.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
    time::SystemTime,
};

use sha2::{Digest, Sha256};
use speclens_schema::{
    check::text::hexadecimal,
    evidence::{Capture, Change, ChangedFile, EntryKind, FileLog},
};

const MAX_ENTRIES: usize = 50_000;

const MAX_CHANGED: usize = 2_000;
const MAX_REST: usize = 10_000;

/// Maximum size of a file, and of all files together, whose content is compared. Beyond that, size and time decide.
const MAX_READ_BYTES: u64 = 64 * 1024 * 1024;
const MAX_TOTAL_READ_BYTES: u64 = 256 * 1024 * 1024;

const MAX_TEXT_BYTES: u64 = 256 * 1024;
const MAX_TOTAL_TEXT_BYTES: usize = 8 * 1024 * 1024;

#[derive(Clone, Debug, Default)]
pub(super) struct Snapshot {
    /// The entries below it, by path, with `/` between names.
    entries: BTreeMap<String, FileState>,
    cut: bool,
}

#[derive(Clone, Debug)]
struct FileState {
    standing: EntryKind,
    size: u64,
    modified: Option<SystemTime>,
    digest: Option<String>,
}

/// Reads a directory; `None` if it cannot be read.
pub(super) async fn snapshot(directory: &Path) -> Option<Snapshot> {
    let directory = directory.to_owned();
    tokio::task::spawn_blocking(move || Snapshot::of(&directory).ok()).await.ok().flatten()
}

pub(super) async fn since(before: Option<Snapshot>, directory: &Path) -> Option<FileLog> {
    let (before, directory) = (before?, directory.to_owned());
    let look = move || Some(compared(&before, &Snapshot::of(&directory).ok()?, &directory));
    tokio::task::spawn_blocking(look).await.ok().flatten()
}

impl Snapshot {
    fn of(root: &Path) -> io::Result<Snapshot> {
        let mut snapshot = Snapshot::default();
        let mut to_read = MAX_TOTAL_READ_BYTES;
        let mut open = vec![PathBuf::new()];
        while let Some(directory) = open.pop() {
            let children = match fs::read_dir(root.join(&directory)) {
                Ok(children) => children,
                Err(error) if directory.as_os_str().is_empty() => return Err(error),
                Err(_) => {
                    snapshot.cut = true;
                    continue;
                }
            };
            for child in children.flatten() {
                if snapshot.entries.len() >= MAX_ENTRIES {
                    snapshot.cut = true;
                    return Ok(snapshot);
                }
                let path = directory.join(child.file_name());
                let Ok(metadata) = child.metadata() else { continue };
                let standing = if metadata.is_dir() {
                    open.push(path.clone());
                    EntryKind::Directory
                } else if metadata.is_symlink() {
                    EntryKind::Link
                } else if metadata.is_file() {
                    EntryKind::File
                } else {
                    EntryKind::Other
                };
                let size = metadata.len();
                let mut digest = None;
                if standing == EntryKind::File && size <= MAX_READ_BYTES.min(to_read) {
                    to_read -= size;
                    digest = digest_of(&child.path());
                }
                let seen = FileState { standing, size, modified: metadata.modified().ok(), digest };
                snapshot.entries.insert(name_of(&path), seen);
            }
        }
        Ok(snapshot)
    }
}

impl FileState {
    fn is_file(&self) -> bool {
        self.standing == EntryKind::File
    }

    fn is_same_file(&self, other: &FileState) -> bool {
        self.is_file()
            && other.is_file()
            && self.size == other.size
            && match (&self.digest, &other.digest) {
                (Some(one), Some(two)) => one == two,
                _ => self.modified == other.modified,
            }
    }
}

fn compared(before: &Snapshot, after: &Snapshot, root: &Path) -> FileLog {
    let mut log = FileLog { cut: before.cut || after.cut, ..FileLog::default() };
    let mut text_left = MAX_TOTAL_TEXT_BYTES;
    for (path, seen) in &after.entries {
        let known = before.entries.get(path);
        if !seen.is_file() || known.is_some_and(|known| known.is_same_file(seen)) {
            if log.rest.len() < MAX_REST {
                log.rest.insert(path.clone(), seen.standing);
            } else {
                log.cut = true;
            }
            continue;
        }
        if log.files.len() >= MAX_CHANGED {
            log.cut = true;
            continue;
        }
        let is_new = known.is_none_or(|known| !known.is_file());
        let text = (seen.size <= MAX_TEXT_BYTES).then(|| text_of(&root.join(path), text_left)).flatten();
        text_left -= text.as_ref().map_or(0, String::len);
        log.files.push(ChangedFile {
            path: path.clone(),
            change: if is_new { Change::Created } else { Change::Modified },
            size: Some(seen.size),
            digest: seen.digest.clone(),
            text: text.map(Capture::whole),
        });
    }
    for (path, _) in before.entries.iter().filter(|(_, known)| known.is_file()) {
        if after.entries.get(path).is_some_and(FileState::is_file) || after.cut {
            continue;
        }
        if log.files.len() >= MAX_CHANGED {
            log.cut = true;
            break;
        }
        let change = Change::Removed;
        log.files.push(ChangedFile { path: path.clone(), change, size: None, digest: None, text: None });
    }
    log.files.sort_by(|one, two| one.path.cmp(&two.path));
    log
}

fn digest_of(path: &Path) -> Option<String> {
    let mut hasher = Sha256::new();
    let mut file = fs::File::open(path).ok()?.take(MAX_READ_BYTES);
    io::copy(&mut file, &mut hasher).ok()?;
    Some(hexadecimal(&hasher.finalize()))
}

fn text_of(path: &Path, left: usize) -> Option<String> {
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(MAX_TEXT_BYTES + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 > MAX_TEXT_BYTES || bytes.len() > left {
        return None;
    }
    String::from_utf8(bytes).ok()
}

fn name_of(path: &Path) -> String {
    let names: Vec<_> = path.iter().map(|name| name.to_string_lossy()).collect();
    names.join("/")
}

//! Single questions about the disk, digests of files, and paths as text.

use std::{
    collections::HashMap,
    fs,
    io::{self, Read},
    path::{Component, Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use sha2::{Digest as _, Sha256};
use speclens_schema::files::{FileKind, short};

const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// Returns the real path of a path below a real directory, at the cost of one system call per name; `None` if it
/// contains a symbolic link, or does not only lead down.
pub(super) fn without_links(root: &Path, relative: &Path) -> Option<io::Result<PathBuf>> {
    let is_directory = relative.as_os_str().as_encoded_bytes().ends_with(b"/");
    let leads_down = relative.components().all(|component| matches!(component, Component::Normal(_)));
    if is_directory || !leads_down {
        return None;
    }
    let mut path = root.to_owned();
    for name in relative.components() {
        path.push(name);
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_symlink() => return None,
            Ok(_) => {}
            Err(error) => return Some(Err(error)),
        }
    }
    Some(Ok(path))
}

pub(super) fn kind_of(metadata: &fs::Metadata) -> FileKind {
    if metadata.is_file() {
        FileKind::File
    } else if metadata.is_dir() {
        FileKind::Directory
    } else {
        FileKind::Other
    }
}

/// Opens a regular file. Neither this nor reading from it waits: not for the writer of a pipe, and not for the next
/// message of a file of the system such as `/proc/kmsg`.
pub fn open_regular(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags);
    }
    let file = match options.open(path) {
        // Another program holds the file, and gives it up when it is asked for.
        Err(error) if error.kind() == io::ErrorKind::WouldBlock && fs::metadata(path)?.is_file() => {
            fs::File::open(path)?
        }
        opened => opened?,
    };
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

pub(super) fn read_bounded(path: &Path) -> Result<Arc<[u8]>, String> {
    let reason = |error: io::Error| error.to_string();
    let mut content = Vec::new();
    open_regular(path).map_err(reason)?.take(MAX_FILE_BYTES + 1).read_to_end(&mut content).map_err(reason)?;
    if content.len() as u64 > MAX_FILE_BYTES {
        return Err(format!("it is larger than {} MiB", MAX_FILE_BYTES / 1024 / 1024));
    }
    Ok(content.into())
}

/// Maximum size in bytes of a file whose content counts. A larger one is identified by its size and modification time.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Resolution of file times, with a margin: a file that changed within this time before it was read may have changed
/// again unnoticed.
const SETTLED: Duration = Duration::from_secs(2);

#[derive(Debug, Default)]
pub(super) struct Digests {
    known: Mutex<HashMap<PathBuf, CachedDigest>>,
}

#[derive(Debug)]
struct CachedDigest {
    size: u64,
    changed: SystemTime,
    digest: String,
}

impl Digests {
    pub(super) fn of_one(&self, path: &Path) -> Option<String> {
        self.of(path, &mut { u64::MAX })
    }

    /// Returns the digest of a regular file at a path without symbolic links; `None` if there is none, or it cannot be
    /// read. A file larger than `left` bytes is identified as too large.
    pub(super) fn of(&self, path: &Path, left: &mut u64) -> Option<String> {
        let now = SystemTime::now();
        let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        let (size, changed) = (metadata.len(), metadata.modified().ok()?);
        let rest = left.checked_sub(size).filter(|_| size <= MAX_BYTES);
        let Some(rest) = rest else {
            let since = changed.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            return Some(short(&Sha256::digest(format!("{size} {}", since.as_nanos()))));
        };
        *left = rest;
        let known = |known: &&CachedDigest| known.size == size && known.changed == changed;
        let digest = self.known().get(path).filter(known).map(|known| known.digest.clone());
        if digest.is_some() {
            return digest;
        }
        let mut hash = Sha256::new();
        // A file that grows meanwhile is read up to its first size.
        io::copy(&mut open_regular(path).ok()?.take(size), &mut hash).ok()?;
        let digest = short(&hash.finalize());
        if now.duration_since(changed).is_ok_and(|age| age > SETTLED) {
            self.known().insert(path.to_owned(), CachedDigest { size, changed, digest: digest.clone() });
        }
        Some(digest)
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, CachedDigest>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub fn slashed(path: &Path) -> String {
    let names = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_string_lossy()),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => None,
    });
    names.collect::<Vec<_>>().join("/")
}

/// Returns the relative path from a directory to a path, both absolute and without symbolic links.
pub fn relative_path(directory: &Path, path: &Path) -> Option<String> {
    let common = directory.components().zip(path.components()).take_while(|(one, other)| one == other).count();
    let up = directory.components().skip(common).map(|_| Some(".."));
    let down = path.components().skip(common).map(|name| name.as_os_str().to_str());
    Some(up.chain(down).collect::<Option<Vec<_>>>()?.join("/"))
}

pub fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            Component::Normal(_) | Component::Prefix(_) | Component::RootDir => plain.push(component),
        }
    }
    plain
}

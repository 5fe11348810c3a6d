//! The directory on disk: only its owner can read it, no symbolic link leads out of it, and a reader sees each file
//! complete or not at all.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant, SystemTime},
};

use fs::TryLockError;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use speclens_schema::check::text::hexadecimal;

use crate::{
    exec::temporary::is_alive,
    lock,
    write::{self, DRAFT, Readers},
};

pub const DIRECTORY: &str = ".speclens";

const RECORDINGS: &str = "recordings";
const TEXTS: &str = "texts";
const LOCK: &str = "lock";
const CHANGES: &str = "changes";

const IGNORE_ALL: &str = "*\n";

/// Recordings that are not for version control have the time of their attempt in the name.
const IGNORE_ALL_BUT_COMMITTED: &str = "\
# Recordings for version control are not ignored.
/*
!/.gitignore
!/recordings/
/recordings/*.????????????????.json
.*.tmp
";

#[derive(Debug)]
pub(super) struct Store {
    home: PathBuf,
    /// Whether recordings are written for version control.
    pub(super) commits: bool,
    counted: Mutex<Counted>,
}

#[derive(Debug, Default)]
struct Counted {
    changes: u64,
    /// Opened once because there may be thousands of recordings.
    file: Option<fs::File>,
}

impl Store {
    pub(super) fn beside(directory: &Path) -> Store {
        Store { home: directory.join(DIRECTORY), commits: false, counted: Mutex::default() }
    }

    fn directory(&self) -> PathBuf {
        self.home.join(RECORDINGS)
    }

    pub(super) fn path(&self, file_name: &str) -> PathBuf {
        self.directory().join(file_name)
    }

    fn texts_directory(&self) -> PathBuf {
        self.directory().join(TEXTS)
    }

    pub(super) fn text_path(&self, digest: &Digest) -> PathBuf {
        self.texts_directory().join(digest.as_str())
    }

    pub(super) fn lock_path(&self) -> PathBuf {
        self.home.join(LOCK)
    }

    fn is_own(&self) -> bool {
        is_directory(&self.home) && is_directory(&self.directory())
    }

    fn has_own_texts(&self) -> bool {
        self.is_own() && is_directory(&self.texts_directory())
    }

    /// Counts a change after it was made, by appending a byte to a file: many processes may do so at once. A change
    /// that is not counted is noticed when the directory is listed.
    pub(super) fn count_change(&self) {
        let mut counted = self.counted();
        if counted.file.as_ref().is_none_or(|file| !is_linked(file)) {
            counted.file = self.changes().ok();
        }
        if counted.file.as_mut().is_some_and(|file| file.write_all(b".").is_ok()) {
            counted.changes += 1;
        }
    }

    /// Opens the file in which changes are counted, unless it is a link.
    fn changes(&self) -> io::Result<fs::File> {
        let path = self.home.join(CHANGES);
        if path.is_symlink() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut options = fs::OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&path)
    }

    fn counted(&self) -> MutexGuard<'_, Counted> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the counter of other processes' changes; `None` if they are not counted. Unlike [`Store::changed`], it
    /// is not affected by changes of this store, which would otherwise cause needless listings of the directory.
    pub(super) fn changed_by_others(&self) -> Option<u64> {
        // Locked, so that a change is counted in both or in none.
        let counted = self.counted();
        let metadata = fs::symlink_metadata(self.home.join(CHANGES)).ok()?;
        metadata.is_file().then(|| metadata.len().wrapping_sub(counted.changes))
    }

    /// Returns the time when a file was last added or removed; `None` without a directory.
    pub(super) fn changed(&self) -> Option<SystemTime> {
        self.is_own().then(|| fs::metadata(self.directory()).ok()?.modified().ok()).flatten()
    }

    pub(super) fn list(&self) -> Vec<String> {
        if self.is_own() { names(&self.directory()) } else { Vec::new() }
    }

    pub(super) fn list_texts(&self) -> Vec<Digest> {
        let names = if self.has_own_texts() { names(&self.texts_directory()) } else { Vec::new() };
        names.iter().filter_map(|name| Digest::parse(name)).collect()
    }

    pub(super) fn text_bytes(&self, digest: &Digest) -> Option<u64> {
        Some(fs::symlink_metadata(self.text_path(digest)).ok()?.len())
    }

    pub(super) fn has_suite(&self, place: &str) -> bool {
        self.home.parent().is_some_and(|directory| directory.join(place).is_file())
    }

    /// Reads a regular file of at most `limit` bytes.
    pub(super) fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, Unusable> {
        use io::Read;

        let metadata = fs::symlink_metadata(path).map_err(|_| Unusable::Missing)?;
        let is_own = if path.starts_with(self.texts_directory()) { self.has_own_texts() } else { self.is_own() };
        if !metadata.is_file() || !is_own {
            return Err(Unusable::Missing);
        }
        if metadata.len() > limit {
            return Err(Unusable::TooLarge(metadata.len()));
        }
        let mut bytes = Vec::new();
        let file = fs::File::open(path).map_err(|_| Unusable::Missing)?;
        // It may have grown since.
        file.take(limit + 1).read_to_end(&mut bytes).map_err(|_| Unusable::Missing)?;
        if bytes.len() as u64 > limit { Err(Unusable::TooLarge(bytes.len() as u64)) } else { Ok(bytes) }
    }

    /// Writes a file that only its owner can read. The change is not counted yet.
    pub(super) fn write(&self, file_name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        let path = self.path(file_name);
        self.write_to(&path, bytes, &self.directories())?;
        Ok(path)
    }

    /// Writes a text under its digest, even if it exists: the existing one may be damaged, or about to be
    /// removed because no other recording refers to it.
    pub(super) fn write_text(&self, digest: &Digest, text: &str) -> io::Result<()> {
        let [home, recordings] = self.directories();
        self.write_to(&self.text_path(digest), text.as_bytes(), &[home, recordings, self.texts_directory()])
    }

    fn write_to(&self, path: &Path, bytes: &[u8], directories: &[PathBuf]) -> io::Result<()> {
        if !directories.iter().all(|directory| is_directory(directory)) {
            self.prepare(directories)?;
        }
        match write::replace(path, bytes, Readers::Owner) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.prepare(directories)?;
                write::replace(path, bytes, Readers::Owner)
            }
            result => result,
        }
    }

    pub(super) fn create(&self) -> io::Result<()> {
        self.prepare(&self.directories())
    }

    pub(super) fn create_home(&self) -> io::Result<&Path> {
        self.prepare(std::slice::from_ref(&self.home))?;
        Ok(&self.home)
    }

    fn directories(&self) -> [PathBuf; 2] {
        [self.home.clone(), self.directory()]
    }

    /// Removes a file. If it remains, a newer one counts, and the next attempt tries again. The change is not
    /// counted yet.
    pub(super) fn remove(&self, file_name: &str) -> io::Result<()> {
        if !self.is_own() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        match fs::remove_file(self.path(file_name)) {
            // Another process did it first.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            result => result,
        }
    }

    /// Removes a text, unless it was written after a point in time.
    pub(super) fn remove_text(&self, digest: &Digest, since: SystemTime) -> bool {
        let path = self.text_path(digest);
        let written = || fs::symlink_metadata(&path).and_then(|metadata| metadata.modified());
        self.has_own_texts() && written().is_ok_and(|written| written < since) && fs::remove_file(&path).is_ok()
    }

    pub(super) fn sweep(&self) {
        let directories = [(self.is_own(), self.directory()), (self.has_own_texts(), self.texts_directory())];
        for (_, directory) in directories.iter().filter(|(is_own, _)| *is_own) {
            for name in names(directory) {
                let draft = name.strip_suffix(&format!(".{DRAFT}")).and_then(|name| name.rsplit_once('.'));
                let writer = draft.and_then(|(_, rest)| rest.split('-').next()?.parse::<i32>().ok());
                if writer.is_some_and(|writer| !is_alive(writer)) {
                    let _ = fs::remove_file(directory.join(name));
                }
            }
        }
    }

    fn prepare(&self, directories: &[PathBuf]) -> io::Result<()> {
        for path in directories {
            match fs::symlink_metadata(path) {
                Ok(metadata) if metadata.is_symlink() => {
                    let message = format!(
                        "recordings are not written to `{}`, because it is a symbolic link; replace it with a directory",
                        path.display()
                    );
                    return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
                }
                Ok(_) => {}
                Err(_) => create_private(path)?,
            }
        }
        let ignore = self.home.join(".gitignore");
        let text = if self.commits { IGNORE_ALL_BUT_COMMITTED } else { IGNORE_ALL };
        // One that the user has edited stays.
        let is_kept = match fs::read_to_string(&ignore) {
            Ok(known) => !self.commits || known != IGNORE_ALL,
            Err(_) => ignore.exists(),
        };
        // An incomplete file, on a full disk, would never be repaired.
        if is_kept { Ok(()) } else { write::replace(&ignore, text, Readers::Owner) }
    }
}

#[cfg(unix)]
fn is_linked(file: &fs::File) -> bool {
    file.metadata().is_ok_and(|metadata| std::os::unix::fs::MetadataExt::nlink(&metadata) > 0)
}

/// Whether an open file still has a name: here, a file that is open cannot be removed.
#[cfg(not(unix))]
fn is_linked(_file: &fs::File) -> bool {
    true
}

fn is_directory(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

fn create_private(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        // Another process did it first.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        result => result,
    }
}

pub(super) const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

const PAUSE: Duration = Duration::from_millis(5);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sharing {
    Shared,
    Alone,
}

/// Locks a file, and waits for another process if necessary. Dropping the result releases the lock, and so does the
/// end of the process. `None` if another process holds it for too long, or the file system does not support locks.
pub(super) fn lock(path: &Path, sharing: Sharing, patience: Duration) -> io::Result<Option<fs::File>> {
    if path.is_symlink() {
        return Ok(None);
    }
    let file = lock::open(path)?;
    let end = Instant::now() + patience;
    loop {
        let tried = match sharing {
            Sharing::Shared => file.try_lock_shared(),
            Sharing::Alone => file.try_lock(),
        };
        match tried {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) if Instant::now() < end => thread::sleep(PAUSE),
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => return Ok(None),
        }
    }
}

const DIGEST_LENGTH: usize = 64;

/// The SHA-256 of a text, in lower-case hexadecimal digits: safe as the name of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Digest(String);

impl Digest {
    pub(super) fn of(text: &[u8]) -> Digest {
        Digest(hexadecimal(&Sha256::digest(text)))
    }

    pub(super) fn parse(text: &str) -> Option<Digest> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        (text.len() == DIGEST_LENGTH && text.bytes().all(is_digit)).then(|| Digest(text.to_owned()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Digest {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Digest, Self::Error> {
        Digest::parse(&text).ok_or("not a SHA-256 in lower-case hexadecimal digits")
    }
}

/// The reason why a recording cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// It does not exist, or cannot be read.
    Missing,
    Damaged,
    OtherVersion,
    TextMissing,
    TextChanged,
    /// It has this many bytes, and is not read.
    TooLarge(u64),
}

impl Unusable {
    pub fn sentence(&self) -> String {
        match self {
            Unusable::Missing => "no recording; run the test first".to_owned(),
            Unusable::Damaged => "the recording is damaged; run the test again".to_owned(),
            Unusable::TextMissing => "part of the recording is missing; run the test again".to_owned(),
            Unusable::TextChanged => "part of the recording was changed; run the test again".to_owned(),
            Unusable::OtherVersion => "another version of speclens made the recording; run the test again".to_owned(),
            Unusable::TooLarge(bytes) => format!(
                "the recording is {} MiB, which exceeds `limits.recording_mib`; run the test again, or raise the limit",
                bytes / 1024 / 1024
            ),
        }
    }
}

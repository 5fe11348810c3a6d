//! Evidence on disk, so an edited claim is judged again without acting again.
//!
//! There is one file per attempt in `.speclens/recordings/` next to the suite, named after the action (the key), the
//! attempt (the label) and its start: `KEY.LABEL.REPEAT.BEGAN.json`. Listing the directory is enough to know them
//! all. Those for version control are named after the test instead, and the key is in the file. Of several attempts with one label, the one that began last counts, whichever process wrote it. Texts of more
//! than 64 KiB are in `texts/`, each under its digest.

mod content;
pub mod merge;
mod name;
mod recent;
mod store;
mod tidy;

#[cfg(test)]
mod tests;

use std::{
    collections::HashSet,
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use speclens_schema::{evidence::Evidence, format::Dialect, mask::Secrets, suite::Parts};

use content::{Composed, Form, TextRef, VERSION, compose, key_of, put_back};
use name::{Index, Name};
use recent::Recent;
use store::{LOCK_TIMEOUT, Sharing, Store, lock};

pub use content::{Machine, Recording};
pub use name::Label;
pub use store::{DIRECTORY, Unusable};
pub use tidy::{Entry, InUse, PruneMode, Removed, Retention, Usefulness};

/// File times have a limited resolution: a directory that was listed within this time of its last change may have
/// changed again unnoticed.
const SETTLED: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub struct Recordings {
    store: Store,
    place: String,
    limit: u64,
    machine: fn() -> Option<Machine>,
    seen: Mutex<DirectoryListing>,
    recent: Mutex<Recent>,
}

#[derive(Debug, Default)]
struct DirectoryListing {
    index: Index,
    changed: Option<SystemTime>,
    looked: Option<SystemTime>,
    /// The recordings for version control, with the times of their last changes.
    committed: Vec<(PathBuf, Option<SystemTime>)>,
    by_others: Option<u64>,
    is_swept: bool,
    /// Whether waiting for the lock timed out.
    gave_up: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    Fresh(FoundFile),
    Stale(FoundFile),
    None,
}

impl Lookup {
    /// Time when the attempt began, in microseconds of the Unix epoch; 0 if there is none.
    pub fn began_us(&self) -> u64 {
        match self {
            Lookup::Fresh(file) | Lookup::Stale(file) => file.began_us,
            Lookup::None => 0,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFile {
    pub path: PathBuf,
    /// Time when the attempt began, in microseconds of the Unix epoch.
    pub began_us: u64,
}

#[derive(Clone, Debug)]
pub struct Recorded {
    pub key: String,
    pub act: Parts,
    /// Time when the attempt began, in microseconds of the Unix epoch.
    pub began_us: u64,
    /// The current time, RFC 3339.
    pub now: String,
    /// The observation, secrets masked.
    pub evidence: Arc<Evidence>,
    /// Notes for the report, secrets masked.
    pub notes: Vec<String>,
}

impl Recordings {
    /// Opens the recordings of the suite at a place below a directory. Recordings of more than `limit` bytes,
    /// including their texts, are neither written nor read.
    pub fn open(directory: &Path, place: &str, limit: u64) -> Recordings {
        let recordings = Recordings {
            store: Store::beside(directory),
            place: place.to_owned(),
            limit,
            machine: || None,
            seen: Mutex::default(),
            recent: Mutex::default(),
        };
        recordings.refresh();
        recordings
    }

    pub fn on(mut self, machine: fn() -> Option<Machine>) -> Recordings {
        self.machine = machine;
        self
    }

    /// Writes recordings for version control from now on.
    pub fn committing(mut self, commits: bool) -> Recordings {
        self.store.commits = commits;
        self.seen().looked = None;
        self.refresh();
        self
    }

    pub fn commits(&self) -> bool {
        self.store.commits
    }

    pub fn is_foreign(&self, machine: Option<&Machine>) -> bool {
        machine.is_some_and(|other| (self.machine)().is_some_and(|own| own != *other))
    }

    fn seen(&self) -> MutexGuard<'_, DirectoryListing> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lists the directory again if it has changed. Returns whether the recordings are different, or another process
    /// has written some again.
    pub fn refresh(&self) -> bool {
        let mut seen = self.seen();
        let changed = (self.store.changed(), self.store.changed_by_others());
        let is_settled = seen
            .changed
            .zip(seen.looked)
            .is_none_or(|(changed, looked)| looked.duration_since(changed).is_ok_and(|age| age > SETTLED));
        if seen.looked.is_some() && changed == (seen.changed, seen.by_others) && is_settled {
            return false;
        }
        self.list(&mut seen)
    }

    /// Lists the directory again if another process has changed it. The changes of this process are known.
    fn look_for_others(&self) {
        let mut seen = self.seen();
        let by_others = self.store.changed_by_others();
        if by_others.is_none() || by_others != seen.by_others {
            self.list(&mut seen);
        }
    }

    /// Lists the directory. Returns whether the recordings are different, or another process has written some again.
    fn list(&self, seen: &mut DirectoryListing) -> bool {
        // Read first, so a change in the meantime is noticed the next time.
        let by_others = self.store.changed_by_others();
        let are_rewritten = by_others.unwrap_or_default() != seen.by_others.unwrap_or_default();
        (seen.changed, seen.by_others) = (self.store.changed(), by_others);
        seen.looked = Some(SystemTime::now());
        let mut index = Index::default();
        let (committed, own): (Vec<Name>, Vec<Name>) = self.names().into_iter().partition(|name| name.title.is_some());
        let changed = |name: &Name| {
            let path = self.store.path(&name.file_name());
            let modified = fs::symlink_metadata(&path).and_then(|metadata| metadata.modified()).ok();
            (path, modified)
        };
        let mut changes: Vec<_> = committed.iter().map(changed).collect();
        changes.sort();
        committed.into_iter().for_each(|name| index.insert(name));
        for name in own {
            // What the team keeps counts: everyone sees the same results.
            if !self.store.commits || !index.has_committed(&name) {
                index.insert(name);
            }
        }
        let differs = are_rewritten || index != seen.index || changes != seen.committed;
        (seen.index, seen.committed) = (index, changes);
        differs
    }

    fn names(&self) -> Vec<Name> {
        self.store.list().iter().filter_map(|name| self.name(name)).collect()
    }

    /// Returns the name of a recording, with its key. That of a damaged one for version control is empty.
    fn name(&self, file_name: &str) -> Option<Name> {
        let name = Name::parse(file_name)?;
        if name.title.is_none() {
            return Some(name);
        }
        let bytes = self.store.read(&self.store.path(file_name), self.limit).unwrap_or_default();
        Some(name.with_key(&key_of(&bytes).unwrap_or_default()))
    }

    pub fn is_empty(&self) -> bool {
        self.seen().index.is_empty()
    }

    /// Returns the recording for a key and a label: with this label; else of the same action with another label, such
    /// as a renamed test; else with this label, but of another action.
    pub fn find(&self, key: &str, label: &Label) -> Lookup {
        self.find_in(&self.place, key, label)
    }

    pub fn find_in(&self, place: &str, key: &str, label: &Label) -> Lookup {
        let wanted = Name::of(key, place, label, 0);
        let seen = self.seen();
        let newest = seen.index.newest(&wanted);
        let fresh = newest.as_ref().filter(|newest| newest.key == wanted.key).or(seen.index.same_act(&wanted));
        match (fresh, &newest) {
            (Some(name), _) => Lookup::Fresh(self.file(name)),
            (None, Some(name)) => Lookup::Stale(self.file(name)),
            (None, None) => Lookup::None,
        }
    }

    fn file(&self, name: &Name) -> FoundFile {
        FoundFile { path: self.store.path(&name.file_name()), began_us: name.began_us }
    }

    /// Reads a recording, ready to be judged. Values that have become secrets since it was written are masked as well.
    pub fn read(&self, path: &Path, dialect: Dialect, secrets: &Arc<Secrets>) -> Result<Recording, Unusable> {
        if let Some(recording) = self.recent().get(path, dialect, secrets) {
            return Ok(recording);
        }
        let bytes = self.store.read(path, self.limit)?;
        let mut recording = Recording::parse(&bytes)?;
        // After a power failure, a file may have its new name without its new content.
        let name = path.file_name().and_then(|name| Name::parse(name.to_str()?));
        if name.is_some_and(|name| !name.is_of(&recording.key, recording.repeat, recording.began_us)) {
            return Err(Unusable::Damaged);
        }
        let texts = std::mem::take(&mut recording.texts);
        let size = texts.iter().fold(bytes.len() as u64, |sum, text| sum.saturating_add(text.bytes));
        if size > self.limit {
            return Err(Unusable::TooLarge(size));
        }
        let evidence = Arc::make_mut(&mut recording.evidence);
        put_back(evidence, &texts, |text| self.text(text, path))?;
        let usages = evidence.turns.iter().filter_map(|turn| turn.usage).chain(evidence.usage);
        let are_costs_sound = usages.filter_map(|usage| usage.cost_usd).all(|cost| cost >= 0.0);
        if !are_costs_sound || !evidence.captures_mut().iter().all(|capture| capture.is_sound()) {
            return Err(Unusable::Damaged);
        }
        dialect.mask(evidence, secrets);
        dialect.interpret(evidence);
        let texts = texts.iter().map(|text| self.store.text_path(&text.sha256));
        let files = std::iter::once(path.to_owned()).chain(texts).collect();
        self.recent().keep(files, dialect, secrets, &recording);
        Ok(recording)
    }

    fn recent(&self) -> MutexGuard<'_, Recent> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the directory. It waits for another process only once: a suspended one would delay every attempt.
    fn lock(&self, sharing: Sharing) -> io::Result<Option<fs::File>> {
        self.store.create()?;
        let patience = if self.seen().gave_up { Duration::ZERO } else { LOCK_TIMEOUT };
        let locked = lock(&self.store.lock_path(), sharing, patience)?;
        self.seen().gave_up = locked.is_none();
        Ok(locked)
    }

    fn text(&self, text: &TextRef, path: &Path) -> Result<String, Unusable> {
        let bytes = self.store.read(&self.store.text_path(&text.sha256), text.bytes).map_err(|error| match error {
            // A newer attempt has replaced the recording, and its texts were removed with it.
            Unusable::Missing if path.exists() => Unusable::TextMissing,
            Unusable::TooLarge(_) => Unusable::TextChanged,
            error => error,
        })?;
        text.check(bytes)
    }

    /// Writes a recording and removes others with the same label. If one of them is of an attempt that began later,
    /// that one stays, and this returns `None`. If it cannot be written, it is not written at all, and the others are
    /// removed all the same: they no longer show the last result.
    pub fn write(&self, label: &Label, case: &str, recorded: &mut Recorded) -> io::Result<Option<PathBuf>> {
        let name = Name::of(&recorded.key, &self.place, label, recorded.began_us);
        self.look_for_others();
        let present = now_us();
        if self.seen().index.is_overtaken(&name, present) {
            return Ok(None);
        }
        let commits = self.commits();
        let (name, form) = match commits {
            true => (name.committed(case), Form::Readable),
            false => (name, Form::Compact),
        };
        let mut recording = Recording {
            speclens_recording: VERSION,
            texts: Vec::new(),
            key: recorded.key.clone(),
            suite: self.place.clone(),
            case: case.to_owned(),
            subject: label.subject.clone(),
            repeat: label.repeat,
            began_us: name.began_us,
            recorded: if commits { String::new() } else { recorded.now.clone() },
            machine: if commits { None } else { (self.machine)() },
            act: recorded.act.clone(),
            evidence: std::mem::take(&mut recorded.evidence),
            notes: recorded.notes.clone(),
        };
        let composed = compose(&mut recording, self.limit, form).map_err(io::Error::from);
        let written = composed.and_then(|composed| {
            let written = self.write_composed(name.clone(), &composed);
            composed.restore(&mut recording);
            written
        });
        recorded.evidence = recording.evidence;
        written.map(Some).map_err(|error| match self.remove_all(name) {
            true => error,
            false => io::Error::new(error.kind(), format!("{error}; and the recordings of earlier runs remain")),
        })
    }

    /// Removes the recordings with the label of a name. Returns whether none remains. To remove a file needs no space.
    fn remove_all(&self, name: Name) -> bool {
        let mut all = self.seen().index.others(&name);
        // For version control, a recording has the name of the one before.
        all.push(name);
        let is_removed = |name: &Name| self.store.remove(&name.file_name()).is_ok();
        let (removed, remaining): (Vec<Name>, Vec<Name>) = all.into_iter().partition(is_removed);
        removed.iter().for_each(|other| self.seen().index.remove(other));
        self.store.count_change();
        remaining.is_empty()
    }

    fn write_composed(&self, name: Name, composed: &Composed) -> io::Result<PathBuf> {
        let Composed { json, texts } = composed;
        if !std::mem::replace(&mut self.seen().is_swept, true) {
            if self.commits() {
                self.store.create()?;
            }
            self.store.sweep();
        }
        // The lock prevents others from removing the texts before the recording refers to them. If it is not available,
        // writing continues: a text that was written after the other process began is not removed.
        let locked = if texts.is_empty() { None } else { self.lock(Sharing::Shared)? };
        let mut written = HashSet::new();
        for (digest, text) in texts.iter().filter(|(digest, _)| written.insert(digest)) {
            self.store.write_text(digest, text)?;
        }
        let path = self.store.path(&name.file_name());
        let is_known = name.title.is_some() && self.store.read(&path, self.limit).is_ok_and(|known| known == *json);
        if !is_known {
            self.store.write(&name.file_name(), json)?;
        }
        drop(locked);
        let replaced = {
            let mut seen = self.seen();
            let replaced = seen.index.others(&name);
            replaced.iter().for_each(|other| seen.index.remove(other));
            seen.index.insert(name);
            replaced
        };
        let own = path.file_name().unwrap_or_default();
        let replaced = replaced.iter().map(Name::file_name).filter(|other| own != other.as_str());
        // One that remains is harmless.
        replaced.for_each(|other| drop(self.store.remove(&other)));
        // Once for all changes: until then, a process that misses the older recording lists the directory.
        self.store.count_change();
        Ok(path)
    }
}

/// Returns the current time, in microseconds of the Unix epoch.
pub fn now_us() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_micros()).unwrap_or(u64::MAX)
}

pub(crate) fn own_directory(directory: &Path) -> io::Result<PathBuf> {
    Store::beside(directory).create_home().map(Path::to_owned)
}

/// Returns the start time for an attempt that begins now, in microseconds of the Unix epoch. It increases with each
/// call, so the attempts of one process have an order.
pub fn beginning_us() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let now = now_us();
    let later = |last: u64| now.max(last.saturating_add(1));
    let last = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(later(last)));
    // This always succeeds, and returns the previous value.
    last.map_or(now, later)
}

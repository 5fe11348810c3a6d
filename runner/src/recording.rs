//! Evidence on disk, so that an edited claim is judged again without acting again.
//!
//! One file per attempt in `.speclens/recordings/` beside the suite, named after what was done (the key)
//! and who did it for which case (the label): `KEY.LABEL.REPEAT.json`. One look into the directory tells
//! what there is. A file that cannot be read, or that a newer version wrote, counts as none.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
    process,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use speclens_schema::{
    dialect::Dialect,
    evidence::{Capture, Evidence},
    mask::Secrets,
};

/// The directory beside a suite that belongs to speclens.
pub const DIRECTORY: &str = ".speclens";

/// The version of the files that this program reads and writes.
/// Files of version 1 do not say where secrets were masked, so nothing can be judged by them.
const VERSION: u32 = 2;

const KEY_LENGTH: usize = 16;
const LABEL_LENGTH: usize = 12;

/// The recordings of one suite.
#[derive(Debug)]
pub struct Recordings {
    home: PathBuf,
    suite: String,
    index: Mutex<Index>,
}

/// Whose attempt it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The name of the case.
    pub case: String,
    /// Who acted: a model, or `command`.
    pub subject: String,
    /// Which repetition, from 0.
    pub repeat: u32,
}

/// What is recorded of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// This is what the case does now.
    Fresh(PathBuf),
    /// The case did something else then.
    Stale(PathBuf),
    /// Nothing.
    None,
}

/// One file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// The version of the file.
    speclens_recording: u32,
    /// What was done.
    pub key: String,
    /// The file name of the suite.
    pub suite: String,
    /// The name of the case.
    pub case: String,
    /// Who acted.
    pub subject: String,
    /// Which repetition, from 0.
    pub repeat: u32,
    /// When it was written, RFC 3339.
    pub recorded: String,
    /// What was observed, secrets masked.
    pub evidence: Evidence,
    /// What else was noticed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What the names of the files tell.
#[derive(Debug, Default)]
struct Index {
    names: BTreeSet<Name>,
    by_label: BTreeMap<(String, u32), BTreeSet<String>>,
}

/// A file name, taken apart. The order groups equal actions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Name {
    key: String,
    repeat: u32,
    label: String,
}

impl Recordings {
    /// Looks at what there is for the suite with this file name in this directory.
    pub fn open(directory: &Path, suite: &str) -> Recordings {
        let home = directory.join(DIRECTORY);
        let mut index = Index::default();
        for entry in fs::read_dir(home.join("recordings")).into_iter().flatten().flatten() {
            if let Some(name) = entry.file_name().to_str().and_then(Name::parse) {
                index.insert(name);
            }
        }
        Recordings { home, suite: suite.to_owned(), index: Mutex::new(index) }
    }

    /// Whether there is no recording at all.
    pub fn is_empty(&self) -> bool {
        self.index.lock().unwrap_or_else(PoisonError::into_inner).names.is_empty()
    }

    /// The recording for an action and a label: of this very label; else of the same action under another
    /// one (the test was renamed); else of this label, but of another action.
    pub fn find(&self, key: &str, label: &Label) -> Found {
        let wanted = self.name(key, label);
        let index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        if index.names.contains(&wanted) {
            return Found::Fresh(self.path(&wanted));
        }
        let first = Name { label: String::new(), ..wanted.clone() };
        if let Some(name) = index.names.range(first..).next()
            && (&name.key, name.repeat) == (&wanted.key, wanted.repeat)
        {
            return Found::Fresh(self.path(name));
        }
        match index.by_label.get(&(wanted.label.clone(), wanted.repeat)).and_then(|keys| keys.first()) {
            Some(key) => Found::Stale(self.path(&Name { key: key.clone(), ..wanted })),
            None => Found::None,
        }
    }

    /// What was recorded of an action, ready to be judged; nothing when there is no such file, or it cannot
    /// be used. What has become a secret since then is masked, too.
    pub fn read(&self, path: &Path, dialect: Dialect, secrets: &Secrets) -> Option<Recording> {
        if !fs::metadata(path).ok()?.is_file() {
            return None;
        }
        let bytes = fs::read(path).ok()?;
        let mut input = serde_json::Deserializer::from_slice(&bytes);
        input.disable_recursion_limit();
        let mut recording = Recording::deserialize(&mut input).ok()?;
        input.end().ok()?;
        let Evidence { stdout, stderr, .. } = &recording.evidence;
        if recording.speclens_recording != VERSION || !stdout.iter().chain(stderr).all(Capture::is_sound) {
            return None;
        }
        dialect.mask(&mut recording.evidence, secrets);
        dialect.interpret(&mut recording.evidence);
        Some(recording)
    }

    /// Writes a recording. What was recorded under the same label before goes.
    pub fn write(&self, recording: &Recording) -> io::Result<PathBuf> {
        let text = serde_json::to_vec(recording)?;
        let label =
            Label { case: recording.case.clone(), subject: recording.subject.clone(), repeat: recording.repeat };
        let name = self.name(&recording.key, &label);
        let path = self.path(&name);
        match write_whole(&path, &text) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.prepare()?;
                write_whole(&path, &text)?;
            }
            result => result?,
        }
        let replaced = {
            let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
            let replaced = index.others(&name);
            replaced.iter().for_each(|other| index.remove(other));
            index.insert(name);
            replaced
        };
        for other in replaced {
            // A leftover is harmless: it is stale, and the next attempt tries again.
            let _ = fs::remove_file(self.path(&other));
        }
        Ok(path)
    }

    /// A recording of an attempt for this suite.
    pub fn recording(
        &self,
        key: String,
        label: &Label,
        recorded: String,
        evidence: Evidence,
        notes: Vec<String>,
    ) -> Recording {
        Recording {
            speclens_recording: VERSION,
            key,
            suite: self.suite.clone(),
            case: label.case.clone(),
            subject: label.subject.clone(),
            repeat: label.repeat,
            recorded,
            evidence,
            notes,
        }
    }

    /// Creates the directory, hidden from version control.
    fn prepare(&self) -> io::Result<()> {
        fs::create_dir_all(self.home.join("recordings"))?;
        let ignore = self.home.join(".gitignore");
        // Half of it, on a full disk, would never be mended.
        if ignore.exists() { Ok(()) } else { write_whole(&ignore, b"*\n") }
    }

    fn name(&self, key: &str, label: &Label) -> Name {
        let mut hash = Sha256::new();
        for part in [&self.suite, &label.case, &label.subject] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        let digest: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Name {
            key: key.chars().take(KEY_LENGTH).collect(),
            repeat: label.repeat,
            label: digest[..LABEL_LENGTH].to_owned(),
        }
    }

    fn path(&self, name: &Name) -> PathBuf {
        self.home.join("recordings").join(format!("{}.{}.{}.json", name.key, name.label, name.repeat))
    }
}

impl Name {
    fn parse(text: &str) -> Option<Name> {
        let (key, rest) = text.strip_suffix(".json")?.split_once('.')?;
        let (label, repeat) = rest.split_once('.')?;
        (key.len() == KEY_LENGTH && label.len() == LABEL_LENGTH).then_some(Name {
            key: key.to_owned(),
            repeat: repeat.parse().ok()?,
            label: label.to_owned(),
        })
    }
}

impl Index {
    fn insert(&mut self, name: Name) {
        self.by_label.entry((name.label.clone(), name.repeat)).or_default().insert(name.key.clone());
        self.names.insert(name);
    }

    fn remove(&mut self, name: &Name) {
        self.names.remove(name);
        if let Some(keys) = self.by_label.get_mut(&(name.label.clone(), name.repeat)) {
            keys.remove(&name.key);
        }
    }

    /// The recordings of other actions under the same label.
    fn others(&self, name: &Name) -> Vec<Name> {
        let keys = self.by_label.get(&(name.label.clone(), name.repeat));
        let others = keys.into_iter().flatten().filter(|&key| *key != name.key);
        others.map(|key| Name { key: key.clone(), ..name.clone() }).collect()
    }
}

/// Writes a file so that a reader sees all of it or nothing.
fn write_whole(path: &Path, text: &[u8]) -> io::Result<()> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    let draft = path.with_extension(format!("{}-{number}.tmp", process::id()));
    fs::write(&draft, text).and_then(|()| fs::rename(&draft, path)).inspect_err(|_| {
        let _ = fs::remove_file(&draft);
    })
}

#[cfg(test)]
mod tests;

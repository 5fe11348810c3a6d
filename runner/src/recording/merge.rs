//! Recordings that were made in other copies of a directory, such as those of the shards of a run, become those of this
//! one.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use super::{
    content::{Recording, TextRef},
    name::Name,
    store::{DIRECTORY, Digest, LOCK_TIMEOUT, Sharing, Store, Unusable, lock},
};

/// The result of a merge.
#[derive(Debug, Default)]
pub struct Merged {
    /// Number of recordings that were copied.
    pub copied: usize,
    /// Number of recordings that were here already.
    pub known: usize,
    /// The recordings that were not copied, each with the reason.
    pub refused: Vec<(PathBuf, String)>,
}

/// Copies the recordings next to the suites of some directories to those next to the suites of another. `limit` is the
/// maximum size of one in bytes. A recording for version control has no time: of those that differ from the one that was
/// here before, there must be only one.
pub fn merge(from: &[PathBuf], into: &Path, limit: u64) -> io::Result<Merged> {
    let (from, into) = (from.iter().map(|directory| Store::beside(directory)), Store::beside(into));
    let mut merged = Merged::default();
    // The recordings for version control, as they were before, by file name.
    let mut before: BTreeMap<String, Option<Vec<u8>>> = BTreeMap::new();
    let mut locked = None;
    for other in from {
        for file in other.list() {
            let Some(name) = Name::parse(&file) else { continue };
            let path = other.path(&file);
            let mut copy = || -> Result<Option<()>, String> {
                let bytes = other.read(&path, limit).map_err(|unusable| unusable.sentence())?;
                let present = into.read(&into.path(&file), limit).ok();
                let original = before.entry(file.clone()).or_insert_with(|| present.clone());
                if present.as_ref() == Some(&bytes) || (name.title.is_some() && original.as_ref() == Some(&bytes)) {
                    return Ok(None);
                }
                if present != *original {
                    return Err("another directory has a different recording of the same attempt".to_owned());
                }
                let texts = texts(&other, &bytes, limit).map_err(|unusable| unusable.sentence())?;
                let mut write = || {
                    into.create()?;
                    if locked.is_none() {
                        locked = lock(&into.lock_path(), Sharing::Shared, LOCK_TIMEOUT)?;
                    }
                    for (digest, text) in &texts {
                        into.write_text(digest, text)?;
                    }
                    into.write(&file, &bytes)
                };
                write().map_err(|error| format!("cannot write it: {error}"))?;
                into.count_change();
                Ok(Some(()))
            };
            match copy() {
                Ok(Some(())) => merged.copied += 1,
                Ok(None) => merged.known += 1,
                Err(reason) => merged.refused.push((path, reason)),
            }
        }
    }
    Ok(merged)
}

/// Returns the texts that a recording refers to.
fn texts(store: &Store, bytes: &[u8], limit: u64) -> Result<Vec<(Digest, String)>, Unusable> {
    let recording = Recording::parse(bytes)?;
    let text = |text: &TextRef| {
        let read = store.read(&store.text_path(&text.sha256), limit).map_err(|_| Unusable::TextMissing)?;
        Ok((text.sha256.clone(), text.check(read)?))
    };
    recording.texts.iter().map(text).collect()
}

/// Returns the directories with recordings below a directory, relative to it.
pub fn directories(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![PathBuf::new()];
    while let Some(relative) = left.pop() {
        let Ok(entries) = root.join(&relative).read_dir() else { continue };
        // Links are not followed: they may lead out of the directory.
        let is_directory = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        for entry in entries.flatten().filter(is_directory) {
            match entry.file_name() == DIRECTORY {
                true => found.push(relative.clone()),
                false => left.push(relative.join(entry.file_name())),
            }
        }
    }
    found.sort();
    found
}

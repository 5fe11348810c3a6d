//! Removes recordings and texts that are no longer needed.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    fs, io,
    time::SystemTime,
};

use speclens_schema::suite::Subject;

use super::{
    Entry, Label, Recordings, Retention, SETTLED, Usefulness,
    lock::{Locked, Sharing},
    name::Name,
    now_us,
    texts::Digest,
};

/// The current actions of a suite's tests: recordings of other actions are removed first.
#[derive(Debug, Default)]
pub struct InUse {
    /// The key and the label of each test and subject.
    pub acts: Vec<(String, Label)>,
    /// The tests in which any model may act, whether the suite names it or not.
    pub of_any_model: Vec<String>,
}

/// The removed files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// Number of recordings.
    pub recordings: usize,
    /// Number of texts next to them.
    pub texts: usize,
    /// Total size in bytes.
    pub bytes: u64,
    /// The error message of an incomplete removal, if any.
    pub left: Option<String>,
}

/// Whether files are removed, or only counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PruneMode {
    /// They are removed.
    Remove,
    /// They are only counted.
    DryRun,
}

impl Recordings {
    /// Removes recordings beyond the limits, except for those of attempts that began at `since_us` or later, and
    /// texts that no recording refers to. Returns an error message, if any.
    pub fn tidy(&self, retention: &Retention, since_us: u64, in_use: impl FnOnce() -> InUse) -> Option<String> {
        let names: Vec<Name> = self.store.list().iter().filter_map(|name| Name::parse(name)).collect();
        let size = |name: &Name| fs::symlink_metadata(self.store.path(&name.file_name())).map_or(0, |it| it.len());
        let bytes = names.iter().map(size).sum();
        let oldest_us = names.iter().map(|name| name.began_us).min();
        let now_us = now_us();
        // In most cases the names are enough.
        if self.store.list_texts().is_empty() && retention.permits(names.len(), bytes, oldest_us, now_us) {
            return None;
        }
        let entries = self.entries();
        let standings = self.standings(&entries, since_us, &in_use());
        let judged: Vec<(&Entry, Usefulness)> = entries.iter().zip(standings).collect();
        let surplus = retention.surplus(&judged, now_us);
        self.remove(&entries, &surplus.into_iter().collect(), PruneMode::Remove).left
    }

    /// Returns the usefulness of recordings, as far as one suite shows it.
    fn standings(&self, entries: &[Entry], since_us: u64, in_use: &InUse) -> Vec<Usefulness> {
        let label = |label: &Label| Name::of("", &self.place, label, 0).label;
        let mut labels: HashSet<String> = in_use.acts.iter().map(|(_, it)| label(it)).collect();
        let abouts = || entries.iter().filter_map(|entry| entry.about.as_ref().ok());
        let models: HashSet<&Subject> =
            abouts().map(|about| &about.subject).filter(|subject| subject.model_id().is_some()).collect();
        for subject in models {
            let of_test = |case: &String| label(&Label { case: case.clone(), subject: subject.clone(), repeat: 0 });
            labels.extend(in_use.of_any_model.iter().map(of_test));
        }
        let keys: HashSet<&str> = in_use.acts.iter().map(|(key, _)| key.as_str()).collect();
        let mut suites: HashMap<&str, bool> = HashMap::new();
        let standing = |entry: &'_ Entry, is_there: bool| {
            let is_useful = match &entry.about {
                // A renamed test is judged by the recording with its former name.
                Ok(about) if about.suite == self.place => {
                    labels.contains(&entry.name.label) || keys.contains(about.key.as_str())
                }
                Ok(_) => is_there,
                // Another version, or other limits, may read it.
                Err(_) => entry.texts.is_none(),
            };
            if is_useful { Usefulness::Useful } else { Usefulness::Useless }
        };
        let mut standings = Vec::with_capacity(entries.len());
        for entry in entries {
            let suite = entry.about.as_ref().map_or("", |about| about.suite.as_str());
            let is_there = *suites.entry(suite).or_insert_with(|| self.store.has_suite(suite));
            let is_new = entry.began_us() >= since_us;
            standings.push(if is_new { Usefulness::New } else { standing(entry, is_there) });
        }
        standings
    }

    /// Removes the recordings at the indices in `goes`, and the texts that only they refer to.
    pub fn remove(&self, entries: &[Entry], goes: &BTreeSet<usize>, mode: PruneMode) -> Removed {
        let mut removed = Removed::default();
        let mut stay: Vec<&Entry> = Vec::with_capacity(entries.len());
        for (at, entry) in entries.iter().enumerate() {
            if !goes.contains(&at) {
                stay.push(entry);
                continue;
            }
            if mode == PruneMode::Remove {
                if let Err(error) = self.store.remove(&entry.name.file_name()) {
                    removed.left = Some(format!("cannot remove {}: {error}", entry.path.display()));
                    stay.push(entry);
                    continue;
                }
                self.seen().index.remove(&entry.name);
            }
            removed.recordings += 1;
            removed.bytes += entry.file_bytes;
        }
        if removed.recordings > 0 && mode == PruneMode::Remove {
            self.store.count_change();
        }
        if let Err(error) = self.remove_texts(&stay, mode, &mut removed) {
            removed.left = Some(format!("cannot remove parts of recordings: {error}"));
        }
        removed
    }

    /// Removes the texts that none of the remaining recordings refers to, except those written in the meantime.
    fn remove_texts(&self, stay: &[&Entry], mode: PruneMode, removed: &mut Removed) -> io::Result<()> {
        let since = SystemTime::now() - SETTLED;
        let Some(needed) = needed_by(stay.iter().copied()) else { return Ok(()) };
        let unneeded: Vec<Digest> = self.store.list_texts().into_iter().filter(|text| !needed.contains(text)).collect();
        if unneeded.is_empty() {
            return Ok(());
        }
        if mode == PruneMode::DryRun {
            removed.texts = unneeded.len();
            removed.bytes += unneeded.iter().filter_map(|text| self.store.text_bytes(text)).sum::<u64>();
            return Ok(());
        }
        let Locked::Yes { _file } = self.lock(Sharing::Alone)? else {
            let lock = self.store.lock_path();
            removed.left = Some(format!(
                "another process has locked {} for more than 2 seconds, so parts of old recordings were not removed",
                lock.display()
            ));
            return Ok(());
        };
        let known: HashSet<String> = stay.iter().map(|entry| entry.name.file_name()).collect();
        let others = self.store.list().into_iter().filter(|file_name| !known.contains(file_name));
        let others: Vec<Entry> =
            others.filter_map(|file_name| Name::parse(&file_name)).map(|name| self.entry(name)).collect();
        let Some(needed) = needed_by(&others) else { return Ok(()) };
        for text in unneeded.iter().filter(|text| !needed.contains(text)) {
            let bytes = self.store.text_bytes(text).unwrap_or_default();
            if self.store.remove_text(text, since) {
                removed.texts += 1;
                removed.bytes += bytes;
            }
        }
        Ok(())
    }
}

/// Returns the texts that recordings refer to; `None` if that is unknown.
fn needed_by<'e>(entries: impl IntoIterator<Item = &'e Entry>) -> Option<HashSet<&'e Digest>> {
    let mut digests = HashSet::new();
    for entry in entries {
        digests.extend(entry.texts.as_ref()?.iter().map(|text| &text.sha256));
    }
    Some(digests)
}

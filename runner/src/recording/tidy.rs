//! The recordings in a directory, and which of them are no longer needed.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, HashMap, HashSet},
    fs, io,
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime},
};

use jiff::Timestamp;
use speclens_schema::{settings::Settings, suite::Subject};

use super::{
    Recordings, SETTLED,
    content::{Recording, TextRef, VERSION, version_of},
    name::{Label, Name},
    now_us,
    store::{Digest, Sharing, Unusable},
};

#[derive(Clone, Debug)]
pub struct Entry {
    pub(super) name: Name,
    pub path: PathBuf,
    /// The content without its evidence, or the reason why it cannot be used.
    pub about: Result<Recording, Unusable>,
    /// The texts that it refers to; `None` if they are not known.
    pub(super) texts: Option<Vec<TextRef>>,
    pub(super) file_bytes: u64,
    /// Time of the last change in microseconds of the Unix epoch, if it is for version control.
    pub(super) changed_us: Option<u64>,
}

impl Entry {
    /// Returns its size with its texts, in bytes.
    pub fn bytes(&self) -> u64 {
        let texts = self.texts.iter().flatten().map(|text| text.bytes);
        texts.fold(self.file_bytes, u64::saturating_add)
    }

    /// Returns the time when the attempt began, or for a recording for version control that of its last change, in
    /// microseconds of the Unix epoch.
    pub fn began_us(&self) -> u64 {
        self.changed_us.unwrap_or(self.name.began_us)
    }

    /// Returns whether it is for version control.
    pub fn is_committed(&self) -> bool {
        self.name.title.is_some()
    }

    /// Returns the same, RFC 3339.
    pub fn began(&self) -> String {
        let began = i64::try_from(self.began_us()).ok().and_then(|began| Timestamp::from_microsecond(began).ok());
        began.unwrap_or(Timestamp::MAX).to_string()
    }

    pub fn age(&self) -> Duration {
        Duration::from_micros(now_us().saturating_sub(self.began_us()))
    }

    pub fn label(&self) -> &str {
        &self.name.label
    }
}

impl Recordings {
    pub fn label_of(place: &str, label: &Label) -> String {
        Name::of("", place, label, 0).label
    }

    pub fn entries(&self) -> Vec<Entry> {
        let mut names = self.names();
        names.sort();
        names.into_iter().map(|name| self.entry(name)).collect()
    }

    /// Returns what the recordings of the suite are about, without their evidence.
    pub fn own(&self) -> Vec<Recording> {
        let entries = self.entries().into_iter().filter_map(|entry| entry.about.ok());
        entries.filter(|about| about.suite == self.place).collect()
    }

    fn entry(&self, name: Name) -> Entry {
        let path = self.store.path(&name.file_name());
        let changed = name.title.as_ref().and_then(|_| fs::symlink_metadata(&path).ok()?.modified().ok());
        let since = changed.and_then(|changed| changed.duration_since(SystemTime::UNIX_EPOCH).ok());
        let changed_us = since.and_then(|since| u64::try_from(since.as_micros()).ok());
        let entry = |about, texts, file_bytes| Entry { name, path: path.clone(), about, texts, file_bytes, changed_us };
        let bytes = match self.store.read(&path, self.limit) {
            Ok(bytes) => bytes,
            Err(Unusable::TooLarge(bytes)) => return entry(Err(Unusable::TooLarge(bytes)), None, bytes),
            Err(error) => return entry(Err(error), Some(Vec::new()), 0),
        };
        let size = bytes.len() as u64;
        match Recording::parse(&bytes) {
            Ok(mut recording) => {
                let texts = std::mem::take(&mut recording.texts);
                entry(Ok(Recording { evidence: Arc::default(), ..recording }), Some(texts), size)
            }
            Err(error) => {
                // A newer version may refer to texts in another way.
                let has_none = version_of(&bytes).is_none_or(|version| version < VERSION);
                entry(Err(error), has_none.then(Vec::new), size)
            }
        }
    }

    /// Checks whether a recording can be used, without reading its texts.
    pub fn check(&self, entry: &Entry) -> Result<(), Unusable> {
        entry.about.as_ref().map_err(Clone::clone)?;
        if entry.bytes() > self.limit {
            return Err(Unusable::TooLarge(entry.bytes()));
        }
        for text in entry.texts.iter().flatten() {
            match fs::symlink_metadata(self.store.text_path(&text.sha256)) {
                Ok(metadata) if metadata.len() == text.bytes => {}
                Ok(_) => return Err(Unusable::TextChanged),
                Err(_) => return Err(Unusable::TextMissing),
            }
        }
        Ok(())
    }
}

/// The current actions of a suite's tests: recordings of other actions are removed first.
#[derive(Debug, Default)]
pub struct InUse {
    pub acts: Vec<(String, Label)>,
    pub of_any_model: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    pub recordings: usize,
    pub texts: usize,
    /// Total size in bytes.
    pub bytes: u64,
    pub left: Option<String>,
}

/// Whether files are removed, or only counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PruneMode {
    Remove,
    /// They are only counted.
    DryRun,
}

impl Recordings {
    /// Removes recordings beyond the limits, except for those of attempts that began at `since_us` or later, and
    /// texts that no recording refers to. Returns an error message, if any.
    pub fn tidy(&self, retention: &Retention, since_us: u64, in_use: impl FnOnce() -> InUse) -> Option<String> {
        let names = self.store.list().into_iter().filter_map(|name| Name::parse(&name));
        let names: Vec<Name> = names.filter(|name| name.title.is_none()).collect();
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
        let Some(_lock) = self.lock(Sharing::Alone)? else {
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
            others.filter_map(|file_name| self.name(&file_name)).map(|name| self.entry(name)).collect();
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

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    max_age: Duration,
    max_count: usize,
    max_bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usefulness {
    New,
    Useful,
    /// Its test no longer exists, or it cannot be read.
    Useless,
}

impl Retention {
    pub fn of(settings: &Settings) -> Retention {
        let recordings = &settings.recordings;
        Retention {
            max_age: DAY * recordings.max_age_days.max(1),
            max_count: recordings.max_count.max(1) as usize,
            max_bytes: u64::from(recordings.max_mib.max(1)) * 1024 * 1024,
        }
    }

    /// Whether `count` recordings of `bytes` bytes, the oldest of which began at `oldest_us`, are within the limits.
    pub(super) fn permits(&self, count: usize, bytes: u64, oldest_us: Option<u64>, now_us: u64) -> bool {
        count <= self.max_count
            && bytes <= self.max_bytes
            && oldest_us.is_none_or(|began_us| !self.is_too_old(began_us, now_us))
    }

    fn is_too_old(&self, began_us: u64, now_us: u64) -> bool {
        u128::from(now_us.saturating_sub(began_us)) > self.max_age.as_micros()
    }

    /// Returns the indices of the recordings to remove: those that are too old; then, while the limits are exceeded,
    /// useless ones; then the oldest. New ones stay, and the limits do not apply to those for version control.
    pub fn surplus(&self, recordings: &[(&Entry, Usefulness)], now_us: u64) -> Vec<usize> {
        let mut sum = TotalSize::default();
        let is_limited = |at: &usize| !recordings[*at].0.is_committed();
        let limited: Vec<usize> = (0..recordings.len()).filter(is_limited).collect();
        limited.iter().for_each(|&at| sum.add(recordings[at].0));
        let mut order: Vec<usize> = limited.into_iter().filter(|&at| recordings[at].1 != Usefulness::New).collect();
        order.sort_by_key(|&at| {
            let (entry, standing) = recordings[at];
            let is_too_old = self.is_too_old(entry.began_us(), now_us);
            (Reverse(is_too_old), Reverse(standing == Usefulness::Useless), entry.began_us())
        });
        let goes = |at: &usize| {
            let (entry, _) = recordings[*at];
            let goes = !self.permits(sum.count, sum.bytes, Some(entry.began_us()), now_us);
            if goes {
                sum.remove(entry);
            }
            goes
        };
        order.into_iter().take_while(goes).collect()
    }
}

impl Default for Retention {
    fn default() -> Retention {
        Retention::of(&Settings::default())
    }
}

/// The total size of recordings. A text that several of them share counts once.
#[derive(Default)]
struct TotalSize<'e> {
    count: usize,
    bytes: u64,
    sharers: HashMap<&'e Digest, usize>,
}

impl<'e> TotalSize<'e> {
    fn add(&mut self, entry: &'e Entry) {
        self.count += 1;
        self.bytes += entry.file_bytes;
        for text in entry.texts.iter().flatten() {
            let sharers = self.sharers.entry(&text.sha256).or_default();
            *sharers += 1;
            if *sharers == 1 {
                self.bytes = self.bytes.saturating_add(text.bytes);
            }
        }
    }

    fn remove(&mut self, entry: &'e Entry) {
        self.count -= 1;
        self.bytes -= entry.file_bytes;
        for text in entry.texts.iter().flatten() {
            let sharers = self.sharers.entry(&text.sha256).or_default();
            *sharers -= 1;
            if *sharers == 0 {
                self.bytes = self.bytes.saturating_sub(text.bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use speclens_schema::settings::{Recordings, Settings};

    use super::*;
    use crate::recording::{Unusable, content::TextRef, name::Name};

    const DAY_US: u64 = 24 * 60 * 60 * 1_000_000;
    const NOW: u64 = 1000 * DAY_US;
    const KIB: u64 = 1024;

    fn entry(days: u64, file_bytes: u64, texts: &[(char, u64)]) -> Entry {
        let text = |(letter, bytes): &(char, u64)| TextRef::new(Digest::parse(&letter.to_string().repeat(64)), *bytes);
        Entry {
            name: Name {
                key: String::new(),
                repeat: 0,
                began_us: NOW - days * DAY_US,
                label: String::new(),
                title: None,
            },
            path: "a.json".into(),
            about: Err(Unusable::Damaged),
            texts: Some(texts.iter().map(text).collect()),
            file_bytes,
            changed_us: None,
        }
    }

    fn retention(max_age_days: u32, max_count: u32, max_mib: u32) -> Retention {
        let recordings = Recordings { max_age_days, max_count, max_mib, ..Recordings::default() };
        Retention::of(&Settings { recordings, ..Settings::default() })
    }

    fn surplus(retention: Retention, recordings: &[(Entry, Usefulness)]) -> Vec<usize> {
        let recordings: Vec<(&Entry, Usefulness)> = recordings.iter().map(|(entry, it)| (entry, *it)).collect();
        retention.surplus(&recordings, NOW)
    }

    #[test]
    fn useless_recordings_go_before_older_ones_and_new_ones_stay() {
        use Usefulness::{New, Useful, Useless};
        let all = [(9, Useful), (5, Useless), (7, New), (6, Useless), (1, Useful), (8, Useful)];
        let all = all.map(|(days, standing)| (entry(days, KIB, &[]), standing));
        for (max_count, expected) in
            [(6, &[][..]), (5, &[3]), (4, &[3, 1]), (3, &[3, 1, 0]), (2, &[3, 1, 0, 5]), (1, &[3, 1, 0, 5, 4])]
        {
            assert_eq!(surplus(retention(90, max_count, 1), &all), expected, "{max_count}");
        }
    }

    #[test]
    fn old_recordings_go_whatever_they_are_good_for() {
        use Usefulness::{New, Useful, Useless};
        let all = [(4, Useful), (3, Useful), (5, New), (2, Useless), (6, Useless)];
        let all = all.map(|(days, standing)| (entry(days, KIB, &[]), standing));
        assert_eq!(surplus(retention(3, 10, 1), &all), [4, 0]);
        assert_eq!(surplus(retention(3, 2, 1), &all), [4, 0, 3]);
        // A clock that was ahead makes nothing old.
        let ahead = Entry { name: Name { began_us: NOW + DAY_US, ..entry(0, 1, &[]).name }, ..entry(0, 1, &[]) };
        assert_eq!(surplus(retention(1, 1, 1), &[(ahead, Useful)]), [] as [usize; 0]);
    }

    #[test]
    fn shared_text_counts_once_and_is_freed_with_the_last_that_refers_to_it() {
        use Usefulness::Useful;
        let most = 1024 * KIB - 2 * KIB;
        let all = [
            (entry(3, KIB, &[('a', most)]), Useful),
            (entry(2, KIB, &[('a', most)]), Useful),
            (entry(1, KIB, &[]), Useful),
        ];
        assert_eq!(surplus(retention(90, 10, 1), &all[1..]), [] as [usize; 0]);
        // Without the first, the rest fits: the text stays because the second needs it.
        assert_eq!(surplus(retention(90, 10, 1), &all), [0]);
        let all = [(entry(3, KIB, &[('a', most)]), Useful), (entry(2, 3 * KIB, &[('a', most)]), Useful)];
        assert_eq!(surplus(retention(90, 10, 1), &all), [0, 1]);
    }

    #[test]
    fn limit_of_nothing_still_keeps_one() {
        let all = [(entry(0, 5, &[]), Usefulness::Useful)];
        assert_eq!(surplus(retention(0, 0, 0), &all), [] as [usize; 0]);
    }
}

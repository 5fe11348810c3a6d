//! Decides which recordings to remove, so that they do not grow without bound. Pure.

use std::{cmp::Reverse, collections::HashMap, time::Duration};

use speclens_schema::settings::Settings;

use super::{Entry, texts::Digest};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The limits for one directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    max_age: Duration,
    max_count: usize,
    max_bytes: u64,
}

/// The usefulness of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usefulness {
    /// It has just been written.
    New,
    /// A test may be judged by it.
    Useful,
    /// Its test no longer exists, or it cannot be read.
    Useless,
}

impl Retention {
    /// Returns the limits of the settings.
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
    /// useless ones; then the oldest. New ones stay.
    pub fn surplus(&self, recordings: &[(&Entry, Usefulness)], now_us: u64) -> Vec<usize> {
        let mut sum = TotalSize::default();
        recordings.iter().for_each(|(entry, _)| sum.add(entry));
        let mut order: Vec<usize> = (0..recordings.len()).filter(|&at| recordings[at].1 != Usefulness::New).collect();
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
    use crate::recording::{Unusable, name::Name, texts::TextRef};

    const DAY_US: u64 = 24 * 60 * 60 * 1_000_000;
    const NOW: u64 = 1000 * DAY_US;
    const KIB: u64 = 1024;

    fn entry(days: u64, file_bytes: u64, texts: &[(char, u64)]) -> Entry {
        let text = |(letter, bytes): &(char, u64)| TextRef::new(Digest::parse(&letter.to_string().repeat(64)), *bytes);
        Entry {
            name: Name { key: String::new(), repeat: 0, began_us: NOW - days * DAY_US, label: String::new() },
            path: "a.json".into(),
            about: Err(Unusable::Damaged),
            texts: Some(texts.iter().map(text).collect()),
            file_bytes,
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

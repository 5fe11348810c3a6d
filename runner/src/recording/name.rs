//! The names of recordings: `KEY.LABEL.REPEAT.BEGAN.json`. A name contains everything that decides which recording
//! counts, so listing the directory is enough, and processes need no coordination.
//!
//! Those for version control are named `TITLE.LABEL.REPEAT.json`, so each has the same name after the test has changed;
//! their key is read from the file.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};
use speclens_schema::{check::text::hexadecimal, suite::Subject};

const KEY_LENGTH: usize = 16;
const LABEL_LENGTH: usize = 12;
const BEGAN_LENGTH: usize = 16;
const MAX_TITLE_LENGTH: usize = 40;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Label {
    pub case: String,
    pub subject: Subject,
    pub repeat: u32,
}

/// A parsed file name. The order groups equal actions, the newest last.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    pub(super) key: String,
    pub(super) repeat: u32,
    /// Time when the attempt began, in microseconds of the Unix epoch.
    pub(super) began_us: u64,
    pub(super) label: String,
    /// The beginning of the name if it is for version control; it is then of no time.
    pub(super) title: Option<String>,
}

impl Name {
    pub(super) fn of(key: &str, place: &str, label: &Label, began_us: u64) -> Name {
        let mut hash = Sha256::new();
        // Serializing plain data cannot fail.
        let subject = serde_json::to_string(&label.subject).unwrap_or_default();
        for part in [place, &label.case, &subject] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        let digest = hexadecimal(&hash.finalize());
        Name {
            key: key.chars().take(KEY_LENGTH).collect(),
            repeat: label.repeat,
            began_us,
            label: digest[..LABEL_LENGTH].to_owned(),
            title: None,
        }
    }

    /// Returns the name for version control of a test, given its masked name.
    pub(super) fn committed(self, case: &str) -> Name {
        let words = case.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let title = words.collect::<Vec<_>>().join("-").to_ascii_lowercase();
        let title = title.get(..MAX_TITLE_LENGTH).unwrap_or(&title).trim_end_matches('-');
        let title = if title.is_empty() { "test" } else { title }.to_owned();
        Name { began_us: 0, title: Some(title), ..self }
    }

    /// Parses a file name. The key of one for version control is empty.
    pub(super) fn parse(text: &str) -> Option<Name> {
        let mut parts = text.strip_suffix(".json")?.split('.');
        let (key, label, repeat) = (parts.next()?, parts.next()?, parts.next()?);
        let Some(began) = parts.next() else {
            let (repeat, title) = (repeat.parse().ok()?, Some(key.to_owned()));
            let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
            let fits = label.len() == LABEL_LENGTH && label.bytes().all(is_digit);
            return fits.then(|| Name { key: String::new(), repeat, began_us: 0, label: label.to_owned(), title });
        };
        let fits =
            parts.next().is_none() && (key.len(), label.len(), began.len()) == (KEY_LENGTH, LABEL_LENGTH, BEGAN_LENGTH);
        fits.then_some(())?;
        Some(Name {
            key: key.to_owned(),
            repeat: repeat.parse().ok()?,
            began_us: u64::from_str_radix(began, 16).ok()?,
            label: label.to_owned(),
            title: None,
        })
    }

    pub(super) fn with_key(self, key: &str) -> Name {
        Name { key: key.chars().take(KEY_LENGTH).collect(), ..self }
    }

    /// Whether this may be the name of an attempt; the test is not compared.
    pub(super) fn is_of(&self, key: &str, repeat: u32, began_us: u64) -> bool {
        key.starts_with(&self.key) && (self.repeat, self.began_us) == (repeat, began_us)
    }

    pub(super) fn file_name(&self) -> String {
        match &self.title {
            Some(title) => format!("{title}.{}.{}.json", self.label, self.repeat),
            None => format!("{}.{}.{}.{:0BEGAN_LENGTH$x}.json", self.key, self.label, self.repeat, self.began_us),
        }
    }
}

#[derive(Debug, Default, PartialEq)]
pub(super) struct Index {
    names: BTreeSet<Name>,
    by_label: BTreeMap<(String, u32), BTreeSet<Attempt>>,
}

/// When an attempt began, its key, and its title.
type Attempt = (u64, String, Option<String>);

impl Index {
    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    pub(super) fn insert(&mut self, name: Name) {
        let attempts = self.by_label.entry((name.label.clone(), name.repeat)).or_default();
        attempts.insert((name.began_us, name.key.clone(), name.title.clone()));
        self.names.insert(name);
    }

    pub(super) fn remove(&mut self, name: &Name) {
        self.names.remove(name);
        if let Some(attempts) = self.by_label.get_mut(&(name.label.clone(), name.repeat)) {
            attempts.remove(&(name.began_us, name.key.clone(), name.title.clone()));
        }
    }

    pub(super) fn newest(&self, like: &Name) -> Option<Name> {
        let (began_us, key, title) = self.by_label.get(&(like.label.clone(), like.repeat))?.last()?;
        Some(Name { key: key.clone(), began_us: *began_us, title: title.clone(), ..like.clone() })
    }

    pub(super) fn same_act(&self, like: &Name) -> Option<&Name> {
        let first = Name { began_us: 0, label: String::new(), ..like.clone() };
        let last = Name { began_us: u64::MAX, label: "~".to_owned(), ..like.clone() };
        self.names.range(first..=last).next_back()
    }

    /// Whether an attempt with the label of a name began later and not in the future: a name may come from a machine
    /// whose clock is ahead.
    pub(super) fn is_overtaken(&self, by: &Name, present_us: u64) -> bool {
        self.attempts(by).any(|(began_us, ..)| *began_us > by.began_us && *began_us <= present_us + MAX_SKEW_US)
    }

    pub(super) fn others(&self, than: &Name) -> Vec<Name> {
        let others = self.attempts(than).map(|(began_us, key, title)| Name {
            key: key.clone(),
            began_us: *began_us,
            title: title.clone(),
            ..than.clone()
        });
        others.filter(|other| other != than).collect()
    }

    /// Whether a recording for version control has the label of a name.
    pub(super) fn has_committed(&self, like: &Name) -> bool {
        self.attempts(like).any(|(.., title)| title.is_some())
    }

    fn attempts(&self, like: &Name) -> impl Iterator<Item = &Attempt> {
        self.by_label.get(&(like.label.clone(), like.repeat)).into_iter().flatten()
    }
}

/// Maximum clock skew: attempts that begin in the same microsecond get increasing times.
const MAX_SKEW_US: u64 = 1_000_000;

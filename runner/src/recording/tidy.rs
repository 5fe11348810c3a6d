//! Removes what is no longer needed.

use std::{
    collections::{HashMap, HashSet},
    io,
    time::SystemTime,
};

use serde::Deserialize;

use super::{
    Recordings, SETTLED, Unreadable, VERSION, Version,
    lock::{Locked, Sharing},
    name::Name,
    texts::{Digest, TextRef},
};

/// What a look at the beginning of a recording tells.
#[derive(Clone, Debug)]
pub(super) enum Head {
    /// This is in it.
    Known(Known),
    /// It is of no use: it is damaged, or of an older version.
    Spent,
    /// It is for another version, or larger than the limit of these settings, and may refer to any text.
    Foreign,
}

/// What a recording says about itself.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Known {
    speclens_recording: u32,
    #[serde(default)]
    pub(super) texts: Vec<TextRef>,
}

/// Which texts the recordings refer to, by the names of their files. A file never changes, so each is read once.
#[derive(Debug, Default)]
pub(super) struct Heads {
    by_name: HashMap<String, Head>,
}

impl Heads {
    /// Reads the recordings that were not read yet.
    fn read(&mut self, recordings: &Recordings) {
        let store = &recordings.store;
        for file_name in store.list().into_iter().filter(|file_name| Name::parse(file_name).is_some()) {
            if !self.by_name.contains_key(&file_name) {
                let head = recordings.head(&file_name);
                self.by_name.insert(file_name, head);
            }
        }
    }

    /// The texts that are referred to; `None` where that cannot be known.
    fn texts(&self) -> Option<HashSet<&Digest>> {
        let mut digests = HashSet::new();
        for head in self.by_name.values() {
            match head {
                Head::Known(known) => digests.extend(known.texts.iter().map(|text| &text.sha256)),
                Head::Spent => {}
                Head::Foreign => return None,
            }
        }
        Some(digests)
    }
}

impl Recordings {
    /// Reads what a recording says about itself.
    pub(super) fn head(&self, file_name: &str) -> Head {
        let bytes = match self.store.read(&self.store.path(file_name), self.limit) {
            Ok(bytes) => bytes,
            Err(Unreadable::Missing) => return Head::Spent,
            Err(Unreadable::TooLarge(_)) => return Head::Foreign,
        };
        match serde_json::from_slice::<Known>(&bytes) {
            Ok(known) if known.speclens_recording == VERSION => Head::Known(known),
            Ok(_) | Err(_) => match serde_json::from_slice::<Version>(&bytes) {
                Ok(Version { speclens_recording }) if speclens_recording > VERSION => Head::Foreign,
                Ok(_) | Err(_) => Head::Spent,
            },
        }
    }

    /// Removes the texts that no recording refers to any more, and returns what could not be done.
    pub fn tidy(&self) -> Option<String> {
        self.remove_unneeded_texts().unwrap_or_else(|error| Some(format!("cannot tidy up recordings: {error}")))
    }

    fn remove_unneeded_texts(&self) -> io::Result<Option<String>> {
        let since = SystemTime::now() - SETTLED;
        let texts = self.store.list_texts();
        if texts.is_empty() {
            return Ok(None);
        }
        let mut heads = Heads::default();
        // Most of the reading comes before the lock.
        heads.read(self);
        let is_needed = |needed: &Option<HashSet<&Digest>>, digest: &Digest| {
            needed.as_ref().is_none_or(|needed| needed.contains(digest))
        };
        let needed = heads.texts();
        if texts.iter().all(|text| is_needed(&needed, text)) {
            return Ok(None);
        }
        let Locked::Yes { _file } = self.lock(Sharing::Alone)? else {
            let message = format!(
                "another process has held {} for more than 2 seconds, so texts of former recordings were not removed",
                self.store.lock_path().display()
            );
            return Ok(Some(message));
        };
        heads.read(self);
        let needed = heads.texts();
        for text in texts.iter().filter(|text| !is_needed(&needed, text)) {
            self.store.remove_text(text, since);
        }
        Ok(None)
    }
}

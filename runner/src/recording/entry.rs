//! The description of a recording, read without the evidence.

use std::{fs, path::PathBuf, time::Duration};

use jiff::Timestamp;
use serde::Deserialize;
use speclens_schema::suite::Subject;

use super::{Label, Machine, Recording, Recordings, Unusable, VERSION, Version, name::Name, now_us, texts::TextRef};

/// A recording on the disk.
#[derive(Clone, Debug)]
pub struct Entry {
    pub(super) name: Name,
    /// The path of the file.
    pub path: PathBuf,
    /// The description, or the reason why it cannot be used.
    pub about: Result<About, Unusable>,
    /// The texts that it refers to; `None` if they are not known.
    pub(super) texts: Option<Vec<TextRef>>,
    pub(super) file_bytes: u64,
}

/// The recorded attempt.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct About {
    speclens_recording: u32,
    #[serde(default)]
    texts: Vec<TextRef>,
    /// The key of the action.
    pub key: String,
    /// The suite, relative to its directory.
    pub suite: String,
    /// The name of the case, secrets masked.
    pub case: String,
    /// The subject that acted.
    pub subject: Subject,
    /// Index of the repetition, from 0.
    pub repeat: u32,
    /// Time when it was written, RFC 3339.
    pub recorded: String,
    /// The machine that it was written on, if it has an identity.
    #[serde(default)]
    pub machine: Option<Machine>,
}

impl Entry {
    /// Returns its size with its texts, in bytes.
    pub fn bytes(&self) -> u64 {
        let texts = self.texts.iter().flatten().map(|text| text.bytes);
        texts.fold(self.file_bytes, u64::saturating_add)
    }

    /// Returns the time when the attempt began, in microseconds of the Unix epoch.
    pub fn began_us(&self) -> u64 {
        self.name.began_us
    }

    /// Returns the time when the attempt began, RFC 3339.
    pub fn began(&self) -> String {
        let began = i64::try_from(self.name.began_us).ok().and_then(|began| Timestamp::from_microsecond(began).ok());
        began.unwrap_or(Timestamp::MAX).to_string()
    }

    /// Returns the time since the attempt began.
    pub fn age(&self) -> Duration {
        Duration::from_micros(now_us().saturating_sub(self.name.began_us))
    }

    /// Returns the label of the attempt, in the form of [`Recordings::label_of`].
    pub fn label(&self) -> &str {
        &self.name.label
    }
}

impl Recordings {
    /// Returns a label of the suite at a place, in the form used in file names.
    pub fn label_of(place: &str, label: &Label) -> String {
        Name::of("", place, label, 0).label
    }

    /// Returns the recordings of all suites in the directory, those with one label by age.
    pub fn entries(&self) -> Vec<Entry> {
        let mut names: Vec<Name> = self.store.list().iter().filter_map(|name| Name::parse(name)).collect();
        names.sort();
        names.into_iter().map(|name| self.entry(name)).collect()
    }

    /// Reads the description of a recording.
    pub(super) fn entry(&self, name: Name) -> Entry {
        let path = self.store.path(&name.file_name());
        let entry = |about, texts, file_bytes| Entry { name, path: path.clone(), about, texts, file_bytes };
        let bytes = match self.store.read(&path, self.limit) {
            Ok(bytes) => bytes,
            Err(Unusable::TooLarge(bytes)) => return entry(Err(Unusable::TooLarge(bytes)), None, bytes),
            Err(error) => return entry(Err(error), Some(Vec::new()), 0),
        };
        let size = bytes.len() as u64;
        match serde_json::from_slice::<About>(&bytes) {
            Ok(mut about) if about.speclens_recording == VERSION => {
                let texts = std::mem::take(&mut about.texts);
                entry(Ok(about), Some(texts), size)
            }
            Ok(_) | Err(_) => match serde_json::from_slice::<Version>(&bytes).map(|it| it.speclens_recording) {
                // It may refer to texts in another way.
                Ok(newer) if newer > VERSION => entry(Err(Unusable::OtherVersion), None, size),
                Ok(older) if older < VERSION => entry(Err(Unusable::OtherVersion), Some(Vec::new()), size),
                Ok(_) | Err(_) => entry(Err(Unusable::Damaged), Some(Vec::new()), size),
            },
        }
    }

    /// Checks whether a recording can be used, without reading its texts.
    ///
    /// # Errors
    ///
    /// If it cannot be used.
    pub fn check(&self, entry: &Entry) -> Result<(), Unusable> {
        entry.about.as_ref().map_err(Clone::clone)?;
        let bytes = self.store.read(&entry.path, self.limit).map_err(|_| Unusable::Missing)?;
        serde_json::from_slice::<Recording>(&bytes).map_err(|_| Unusable::Damaged)?;
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

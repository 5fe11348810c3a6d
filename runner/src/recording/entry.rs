//! What a recording says about itself, read without what was observed.

use std::{fs, path::PathBuf, time::Duration};

use jiff::Timestamp;
use serde::Deserialize;
use speclens_schema::suite::Subject;

use super::{
    Label, Machine, Recording, Recordings, Unreadable, Unusable, VERSION, Version, name::Name, now_us, texts::TextRef,
};

/// A recording on the disk.
#[derive(Clone, Debug)]
pub struct Entry {
    pub(super) name: Name,
    /// Its location.
    pub path: PathBuf,
    /// What it says about itself, or why it cannot be used.
    pub about: Result<About, Unusable>,
    /// The texts that it refers to; `None` where that is not known.
    pub(super) texts: Option<Vec<TextRef>>,
    /// The size of the file.
    pub(super) file_bytes: u64,
}

/// Whose attempt was recorded.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct About {
    /// The key of what was done.
    pub key: String,
    /// The suite, from the directory that its paths start from.
    pub suite: String,
    /// The name of the case, secrets masked.
    pub case: String,
    /// The subject that acted.
    pub subject: Subject,
    /// Which repetition, from 0.
    pub repeat: u32,
    /// Time when it was written, RFC 3339.
    pub recorded: String,
    /// The machine that it was written on, where that has an identity.
    #[serde(default)]
    pub machine: Option<Machine>,
}

#[derive(Deserialize)]
struct Head {
    speclens_recording: u32,
    #[serde(default)]
    texts: Vec<TextRef>,
    #[serde(flatten)]
    about: About,
}

impl Entry {
    /// Returns its size with its texts, in bytes.
    pub fn bytes(&self) -> u64 {
        let texts = self.texts.iter().flatten().map(|text| text.bytes);
        texts.fold(self.file_bytes, u64::saturating_add)
    }

    /// When the attempt began, in microseconds of the Unix epoch.
    pub fn began_us(&self) -> u64 {
        self.name.began_us
    }

    /// When the attempt began, RFC 3339.
    pub fn began(&self) -> String {
        let began = i64::try_from(self.name.began_us).ok().and_then(|began| Timestamp::from_microsecond(began).ok());
        began.unwrap_or(Timestamp::MAX).to_string()
    }

    /// Returns how long ago the attempt began.
    pub fn age(&self) -> Duration {
        Duration::from_micros(now_us().saturating_sub(self.name.began_us))
    }

    /// Whose attempt it was, as [`Recordings::label_of`] writes it.
    pub fn label(&self) -> &str {
        &self.name.label
    }
}

impl Recordings {
    /// Returns a label of the suite at a place, as the names of files hold it.
    pub fn label_of(place: &str, label: &Label) -> String {
        Name::of("", place, label, 0).label
    }

    /// Returns the recordings of all suites in the directory, those of one label by their age.
    pub fn entries(&self) -> Vec<Entry> {
        let mut names: Vec<Name> = self.store.list().iter().filter_map(|name| Name::parse(name)).collect();
        names.sort();
        names.into_iter().map(|name| self.entry(name)).collect()
    }

    /// Reads what a recording says about itself.
    pub(super) fn entry(&self, name: Name) -> Entry {
        let path = self.store.path(&name.file_name());
        let entry = |about, texts, file_bytes| Entry { name, path: path.clone(), about, texts, file_bytes };
        let bytes = match self.store.read(&path, self.limit) {
            Ok(bytes) => bytes,
            Err(Unreadable::Missing) => return entry(Err(Unusable::Missing), Some(Vec::new()), 0),
            Err(Unreadable::TooLarge(bytes)) => return entry(Err(Unusable::TooLarge(bytes)), None, bytes),
        };
        let size = bytes.len() as u64;
        match serde_json::from_slice::<Head>(&bytes) {
            Ok(Head { speclens_recording: VERSION, texts, about }) => entry(Ok(about), Some(texts), size),
            Ok(_) | Err(_) => match serde_json::from_slice::<Version>(&bytes).map(|it| it.speclens_recording) {
                // It may refer to texts in another way.
                Ok(newer) if newer > VERSION => entry(Err(Unusable::OtherVersion), None, size),
                Ok(older) if older < VERSION => entry(Err(Unusable::OtherVersion), Some(Vec::new()), size),
                Ok(_) | Err(_) => entry(Err(Unusable::Damaged), Some(Vec::new()), size),
            },
        }
    }

    /// Looks whether a recording can be used, as far as that shows without reading its texts.
    ///
    /// # Errors
    ///
    /// Where it cannot be used.
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

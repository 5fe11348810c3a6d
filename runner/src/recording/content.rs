//! The content of a recording: JSON, with large texts beside it. Each is stored under its digest, so equal ones are
//! stored once and recordings stay small.

use std::{
    collections::HashMap,
    fs,
    hash::{BuildHasher, RandomState},
    path::Path,
    process,
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use speclens_schema::{
    evidence::{Capture, Evidence},
    suite::{Parts, Subject},
};

use super::store::{Digest, Unusable};
use crate::write::{self, Readers};

pub(super) const VERSION: u32 = 4;

/// Size in bytes above which captures are stored as separate texts.
const MIN_SEPARATE_BYTES: usize = 64 * 1024;

/// Size in bytes above which repeated captures are stored as separate texts: an agent may read a file many times.
const MIN_REPEATED_BYTES: usize = 2 * 1024;

const TRUNCATED_NOTE: &str = "the output was cut off in the recording, at `limits.recording_mib`";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    pub(super) speclens_recording: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) texts: Vec<TextRef>,
    pub key: String,
    /// The suite, relative to its directory.
    pub suite: String,
    /// The name of the case, secrets masked.
    pub case: String,
    pub subject: Subject,
    pub repeat: u32,
    /// Time when the attempt began, in microseconds of the Unix epoch; 0 if the recording is for version control.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub began_us: u64,
    /// Time when it was written, RFC 3339; empty if the recording is for version control.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub recorded: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
    pub act: Parts,
    /// The observation, secrets masked.
    pub evidence: Arc<Evidence>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The form in which a recording is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Form {
    #[default]
    Compact,
    /// For version control: one value per line, with sorted keys.
    Readable,
}

/// Returns the key of a recording; `None` if it is not a recording.
pub(super) fn key_of(bytes: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Key {
        key: String,
    }
    serde_json::from_slice(bytes).ok().map(|key: Key| key.key)
}

impl Recording {
    pub(super) fn parse(bytes: &[u8]) -> Result<Recording, Unusable> {
        match version_of(bytes) {
            Some(VERSION) => serde_json::from_slice(bytes).map_err(|_| Unusable::Damaged),
            Some(_) => Err(Unusable::OtherVersion),
            None => Err(Unusable::Damaged),
        }
    }
}

pub(super) fn version_of(bytes: &[u8]) -> Option<u32> {
    #[derive(Deserialize)]
    struct Version {
        speclens_recording: u32,
    }
    serde_json::from_slice(bytes).ok().map(|version: Version| version.speclens_recording)
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TextRef {
    capture: usize,
    pub(super) sha256: Digest,
    /// The size in bytes.
    pub(super) bytes: u64,
}

impl TextRef {
    #[cfg(test)]
    pub(super) fn new(sha256: Option<Digest>, bytes: u64) -> TextRef {
        TextRef { capture: 0, sha256: sha256.expect("the digest is valid"), bytes }
    }

    pub(super) fn check(&self, text: Vec<u8>) -> Result<String, Unusable> {
        if text.len() as u64 != self.bytes || Digest::of(&text) != self.sha256 {
            return Err(Unusable::TextChanged);
        }
        String::from_utf8(text).map_err(|_| Unusable::Damaged)
    }
}

#[derive(Debug)]
pub(super) struct Composed {
    pub(super) json: Vec<u8>,
    pub(super) texts: Vec<(Digest, String)>,
}

impl Composed {
    /// Moves the large texts out of a recording: a copy of them would take as much memory again.
    fn of(recording: &mut Recording, form: Form) -> serde_json::Result<Composed> {
        let (refs, texts) = take_out(Arc::make_mut(&mut recording.evidence));
        recording.texts = refs;
        let json = match form {
            Form::Compact => serde_json::to_vec(&recording)?,
            Form::Readable => {
                let mut value = serde_json::to_value(&recording)?;
                value.sort_all_objects();
                let mut json = serde_json::to_vec_pretty(&value)?;
                json.push(b'\n');
                json
            }
        };
        Ok(Composed { json, texts })
    }

    /// Moves the texts back into the recording that they were taken out of, if it is not written cut.
    pub(super) fn restore(self, recording: &mut Recording) {
        let refs = std::mem::take(&mut recording.texts);
        let mut captures = Arc::make_mut(&mut recording.evidence).captures_mut();
        for (reference, (_, text)) in refs.iter().zip(self.texts) {
            captures[reference.capture].text = text;
        }
    }

    fn bytes(&self) -> u64 {
        self.json.len() as u64 + self.texts.iter().map(|(_, text)| text.len() as u64).sum::<u64>()
    }
}

/// Precision in bytes of the length at which captures are truncated.
const PRECISION: usize = 256;

/// Composes the written form of a recording: at most `limit` bytes, with the longest captures truncated if necessary.
pub(super) fn compose(recording: &mut Recording, limit: u64, form: Form) -> serde_json::Result<Composed> {
    let whole = Composed::of(recording, form)?;
    if whole.bytes() <= limit {
        return Ok(whole);
    }
    whole.restore(recording);
    let mut recording = recording.clone();
    recording.notes.push(TRUNCATED_NOTE.to_owned());
    let truncated = |length: usize| {
        let mut recording = recording.clone();
        Arc::make_mut(&mut recording.evidence).cut_captures(length);
        Composed::of(&mut recording, form)
    };
    let (mut fits, mut exceeds) = (0, usize::try_from(limit).unwrap_or(usize::MAX));
    while exceeds - fits > PRECISION {
        let length = fits.midpoint(exceeds);
        match truncated(length)?.bytes() <= limit {
            true => fits = length,
            false => exceeds = length,
        }
    }
    truncated(fits)
}

fn take_out(evidence: &mut Evidence) -> (Vec<TextRef>, Vec<(Digest, String)>) {
    let captures = evidence.captures_mut();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for capture in captures.iter().filter(|capture| capture.text.len() > MIN_REPEATED_BYTES) {
        *counts.entry(&capture.text).or_default() += 1;
    }
    let is_taken = |capture: &Capture| {
        capture.text.len() > MIN_SEPARATE_BYTES || counts.get(capture.text.as_str()).is_some_and(|count| *count > 1)
    };
    let taken: Vec<bool> = captures.iter().map(|capture| is_taken(capture)).collect();
    let large = captures.into_iter().enumerate().zip(taken).filter(|(_, is_taken)| *is_taken);
    large
        .map(|((place, capture), _)| {
            let text = std::mem::take(&mut capture.text);
            let sha256 = Digest::of(text.as_bytes());
            (TextRef { capture: place, sha256: sha256.clone(), bytes: text.len() as u64 }, (sha256, text))
        })
        .unzip()
}

pub(super) fn put_back(
    evidence: &mut Evidence,
    refs: &[TextRef],
    read: impl Fn(&TextRef) -> Result<String, Unusable>,
) -> Result<(), Unusable> {
    if refs.is_empty() {
        return Ok(());
    }
    let mut captures = evidence.captures_mut();
    for reference in refs {
        let capture = captures.get_mut(reference.capture).filter(|capture| capture.text.is_empty());
        capture.ok_or(Unusable::Damaged)?.text = read(reference)?;
    }
    Ok(())
}

const FILE: &str = "machine";

const DIGITS: usize = 32;

/// The identity of a machine and a user: a random number in the user's own state directory, which reveals nothing about
/// either.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine(Arc<str>);

impl Machine {
    /// Returns the identity in a directory, which is created if necessary; `None` if that is not
    /// possible.
    pub fn of(directory: &Path) -> Option<Machine> {
        let path = directory.join(FILE);
        let read = || fs::read_to_string(&path).ok().and_then(|text| Machine::parse(text.trim_end()));
        read().or_else(|| {
            // If this fails, another process may have been first.
            let _ = fs::create_dir_all(directory).and_then(|()| write::create(&path, random(), Readers::Owner));
            read()
        })
    }

    fn parse(text: &str) -> Option<Machine> {
        let is_one = text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_one.then(|| Machine(text.into()))
    }
}

fn random() -> String {
    // Each has keys from the random source of the system.
    let number = || RandomState::new().hash_one(process::id());
    format!("{:016x}{:016x}", number(), number())
}

#[cfg(test)]
mod tests;

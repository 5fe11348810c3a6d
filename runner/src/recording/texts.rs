//! Large texts are stored next to the recordings, each under its digest, so equal ones are stored once and recordings
//! stay small. This module removes them from the evidence and restores them; [`super::store`] writes and reads.

use std::{collections::HashMap, sync::Arc};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use speclens_schema::{
    check::text::hexadecimal,
    evidence::{Capture, Evidence},
};

use super::{Recording, Unusable};

/// Size in bytes above which captures are stored as separate texts.
const MIN_SEPARATE_BYTES: usize = 64 * 1024;

/// Size in bytes above which repeated captures are stored as separate texts: an agent may read a file many times.
const MIN_REPEATED_BYTES: usize = 2 * 1024;

const DIGEST_LENGTH: usize = 64;

const TRUNCATED_NOTE: &str = "the output was cut off in the recording, at `limits.recording_mib`";

/// The SHA-256 of a text, in lower-case hexadecimal digits: safe as the name of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Digest(String);

impl Digest {
    fn of(text: &[u8]) -> Digest {
        Digest(hexadecimal(&Sha256::digest(text)))
    }

    pub(super) fn parse(text: &str) -> Option<Digest> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        (text.len() == DIGEST_LENGTH && text.bytes().all(is_digit)).then(|| Digest(text.to_owned()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Digest {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Digest, Self::Error> {
        Digest::parse(&text).ok_or("not a SHA-256 in lower-case hexadecimal digits")
    }
}

/// A reference to a text in a separate file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TextRef {
    capture: usize,
    /// The digest, which is the name of the file.
    pub(super) sha256: Digest,
    /// The size in bytes.
    pub(super) bytes: u64,
}

impl TextRef {
    #[cfg(test)]
    pub(super) fn new(sha256: Option<Digest>, bytes: u64) -> TextRef {
        TextRef { capture: 0, sha256: sha256.expect("the digest is valid"), bytes }
    }

    /// Returns the text if it matches the digest.
    pub(super) fn check(&self, text: Vec<u8>) -> Result<String, Unusable> {
        if text.len() as u64 != self.bytes || Digest::of(&text) != self.sha256 {
            return Err(Unusable::TextChanged);
        }
        String::from_utf8(text).map_err(|_| Unusable::Damaged)
    }
}

/// A recording in its written form.
#[derive(Debug)]
pub(super) struct Composed {
    /// The recording without its large texts.
    pub(super) json: Vec<u8>,
    /// The large texts.
    pub(super) texts: Vec<(Digest, String)>,
    /// Whether they are truncated; the recording still has the full texts.
    is_cut: bool,
}

impl Composed {
    /// Composes a recording and removes its large texts from it. Evidence with a single owner
    /// is not copied because it may be larger than all else in memory.
    fn of(recording: &mut Recording) -> serde_json::Result<Composed> {
        let (refs, texts) = take_out(Arc::make_mut(&mut recording.evidence));
        recording.texts = refs;
        Ok(Composed { json: serde_json::to_vec(&recording)?, texts, is_cut: false })
    }

    /// Restores the large texts of the recording.
    pub(super) fn restore(self, recording: &mut Recording) {
        if self.is_cut {
            return;
        }
        let mut captures = Arc::make_mut(&mut recording.evidence).captures_mut();
        for (reference, (_, text)) in std::mem::take(&mut recording.texts).into_iter().zip(self.texts) {
            if let Some(capture) = captures.get_mut(reference.capture) {
                capture.text = text;
            }
        }
    }

    fn bytes(&self) -> u64 {
        self.json.len() as u64 + self.texts.iter().map(|(_, text)| text.len() as u64).sum::<u64>()
    }
}

/// Composes the written form of a recording: at most `limit` bytes, with the longest captures truncated if necessary.
/// The texts must be [restored](Composed::restore).
pub(super) fn compose(recording: &mut Recording, limit: u64) -> serde_json::Result<Composed> {
    let whole = Composed::of(recording)?;
    if whole.bytes() <= limit {
        return Ok(whole);
    }
    let mut lengths: Vec<usize> = whole.texts.iter().map(|(_, text)| text.len()).collect();
    let budget = limit.saturating_sub((whole.json.len() + TRUNCATED_NOTE.len() + "\"notes\":[\"\"],".len()) as u64);
    let mut level = level(&mut lengths, usize::try_from(budget).unwrap_or(usize::MAX)).max(MIN_SEPARATE_BYTES);
    whole.restore(recording);
    let mut recording = recording.clone();
    recording.notes.push(TRUNCATED_NOTE.to_owned());
    loop {
        Arc::make_mut(&mut recording.evidence).cut_captures(level);
        let cut = Composed::of(&mut recording.clone())?;
        if cut.bytes() <= limit || level == 0 {
            return Ok(Composed { is_cut: true, ..cut });
        }
        // Smaller captures are in the JSON, where a byte may take six.
        level /= 2;
    }
}

/// Returns the largest length to which texts of these lengths can be cut so that all of them fit into the budget.
fn level(lengths: &mut [usize], budget: usize) -> usize {
    lengths.sort_unstable();
    let mut left = budget;
    for (index, &length) in lengths.iter().enumerate() {
        let share = left / (lengths.len() - index);
        if length > share {
            return share;
        }
        left -= length;
    }
    usize::MAX
}

/// Removes the large texts from evidence.
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

/// Restores texts in the evidence that they were removed from.
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

#[cfg(test)]
mod tests {
    use speclens_schema::evidence::{CommandLog, Ran};

    use super::*;

    fn capture(letter: &str, bytes: usize) -> Option<Capture> {
        Some(Capture::whole(letter.repeat(bytes)))
    }

    fn evidence() -> Evidence {
        let command = |bytes| Ran { stdout: capture("c", bytes), ..Ran::default() };
        Evidence {
            command: Some(Ran {
                stdout: capture("o", MIN_SEPARATE_BYTES + 1),
                stderr: capture("e", MIN_SEPARATE_BYTES),
                ..Ran::default()
            }),
            commands: Some(CommandLog {
                commands: vec![command(3), command(2 * MIN_SEPARATE_BYTES)],
                cut: false,
                unseen: None,
            }),
            ..Evidence::default()
        }
    }

    #[test]
    fn large_texts_are_taken_out_and_put_back() {
        let whole = evidence();
        let mut apart = whole.clone();
        let (refs, texts) = take_out(&mut apart);
        let sizes: Vec<(usize, u64)> = refs.iter().map(|text| (text.capture, text.bytes)).collect();
        assert_eq!(sizes, [(1, MIN_SEPARATE_BYTES as u64 + 1), (6, 2 * MIN_SEPARATE_BYTES as u64)]);
        assert_eq!(apart.stderr(), whole.stderr());
        let stored: HashMap<Digest, String> = texts.into_iter().collect();
        let read = |text: &TextRef| text.check(stored[&text.sha256].clone().into_bytes());
        put_back(&mut apart, &refs, read).unwrap();
        assert_eq!(apart, whole);
        // The capture already has its text, or does not exist.
        assert_eq!(put_back(&mut apart, &refs, read), Err(Unusable::Damaged));
        assert_eq!(put_back(&mut Evidence::default(), &refs, read), Err(Unusable::Damaged));
    }

    #[test]
    fn level_gives_long_texts_equal_shares_of_what_short_ones_leave() {
        for (mut lengths, budget, expected) in [
            (vec![10, 20], 30, usize::MAX),
            (vec![20, 10], 29, 19),
            (vec![100, 100, 4], 24, 10),
            (vec![5, 5], 0, 0),
            (vec![], 0, usize::MAX),
        ] {
            assert_eq!(level(&mut lengths, budget), expected, "{lengths:?} {budget}");
        }
    }

    #[test]
    fn only_digests_name_texts() {
        let digest = Digest::of(b"text");
        assert_eq!(Digest::parse(digest.as_str()), Some(digest.clone()));
        for bad in [
            "../../../../etc/passwd".to_owned(),
            "a".repeat(63),
            "A".repeat(64),
            format!("{}/", &digest.as_str()[..63]),
        ] {
            assert!(serde_json::from_value::<Digest>(bad.clone().into()).is_err(), "{bad}");
        }
    }
}

//! Secrets: they are masked before anything is judged, recorded, logged or shown.
//!
//! A known value is replaced by as many stars as it has UTF-16 units, so that lengths and positions stay, and it is
//! remembered where they stand: a claim that depends on what was there is unknown. The values come from the caller,
//! since this crate does not read the environment.

use std::borrow::Cow;

use serde_json::Value;

use crate::{
    check::text::{is_space, shortened},
    evidence::Capture,
};

/// One unit that is masked, in what a protocol makes of an output: no star, since the output may hold stars of its own.
/// Unicode has given this character to no one.
pub const HIDDEN: char = '\u{FDD0}';

/// Masked text may match a pattern that the text itself did not: masking goes on for at most so many rounds.
const ROUNDS: usize = 4;

/// What must not be shown.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    /// The longest first, so that a value inside another one does not spoil it.
    values: Vec<String>,
    patterns: Vec<regex::Regex>,
}

/// A value that was only guessed to be secret, by the name of its variable, counts from this length on.
const GUESSED_LENGTH: usize = 8;

/// A compiled pattern is not larger than this many bytes.
const SIZE_LIMIT: usize = 1 << 20;

/// Whether a variable with this name probably holds a secret.
pub fn looks_secret(name: &str) -> bool {
    const WORDS: [&str; 12] = [
        "KEY",
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "PASS",
        "PWD",
        "CREDENTIAL",
        "CREDENTIALS",
        "AUTH",
        "APIKEY",
        "COOKIE",
    ];
    /// Names that hold one of the words and no secret.
    const HARMLESS: [&str; 4] = ["PWD", "OLDPWD", "SSH_AUTH_SOCK", "XAUTHORITY"];
    let name = name.to_ascii_uppercase();
    if HARMLESS.contains(&name.as_str()) {
        return false;
    }
    name.split(|it: char| !it.is_ascii_alphanumeric()).any(|part| {
        WORDS.contains(&part) || ["APIKEY", "TOKEN", "SECRET", "PASSWORD"].iter().any(|word| part.ends_with(word))
    })
}

impl PartialEq for Secrets {
    fn eq(&self, other: &Secrets) -> bool {
        let patterns = |secrets: &Secrets| -> Vec<String> {
            secrets.patterns.iter().map(|pattern| pattern.as_str().to_owned()).collect()
        };
        self.values == other.values && patterns(self) == patterns(other)
    }
}

impl Secrets {
    /// Nothing is secret.
    pub fn none() -> Secrets {
        Secrets::default()
    }

    /// Collects the secrets among the variables of the environment: those named in the settings, and those whose
    /// names look secret. The errors are patterns that do not compile, with the reason.
    pub fn new<'e>(
        environment: impl IntoIterator<Item = (&'e str, &'e str)>,
        redact_env: &[String],
        redact_patterns: &[String],
    ) -> (Secrets, Vec<(String, String)>) {
        let mut secrets = Secrets::default();
        for (name, value) in environment {
            let guessed = || looks_secret(name) && value.chars().count() >= GUESSED_LENGTH;
            if redact_env.iter().any(|named| named == name) || guessed() {
                secrets.add(value);
            }
        }
        let mut errors = Vec::new();
        for pattern in redact_patterns {
            match regex::RegexBuilder::new(pattern).size_limit(SIZE_LIMIT).build() {
                Ok(compiled) => secrets.patterns.push(compiled),
                Err(error) => {
                    let reason = error.to_string();
                    let reason = reason.lines().next_back().unwrap_or_default();
                    errors.push((pattern.clone(), shortened(reason, 200)));
                }
            }
        }
        (secrets, errors)
    }

    /// Adds a value that is known to be secret, such as the value of an `apiKeyEnv`, as it is and as it stands in JSON.
    pub fn add(&mut self, value: &str) {
        self.insert(value);
        if let Ok(quoted) = serde_json::to_string(value) {
            self.insert(quoted.trim_matches('"'));
        }
    }

    fn insert(&mut self, value: &str) {
        // White space around it is no secret, and may be missing where the value is written.
        let value = value.trim_matches(is_space);
        if value.is_empty() || self.values.iter().any(|known| known == value) {
            return;
        }
        let place = self.values.partition_point(|known| known.len() >= value.len());
        self.values.insert(place, value.to_owned());
    }

    /// Whether there is nothing to mask.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty() && self.patterns.is_empty()
    }

    /// The text with stars in place of every secret. Line ends inside a secret stay.
    pub fn mask(&self, text: &str) -> String {
        let ranges = self.ranges(text);
        if ranges.is_empty() { text.to_owned() } else { starred(text, &ranges).0 }
    }

    /// The stream with stars in place of every secret; nothing when there is none that is not masked already.
    pub fn mask_capture(&self, capture: &Capture) -> Option<Capture> {
        let mut masked: Option<Capture> = None;
        for _ in 0..ROUNDS {
            let known = masked.as_ref().unwrap_or(capture);
            let mut ranges = self.ranges(&known.text);
            let is_known = |&(start, end): &(usize, usize)| {
                let next = known.masked.partition_point(|&(_, known_end)| known_end < end);
                known.masked.get(next).is_some_and(|&(known_start, _)| known_start <= start)
            };
            if ranges.iter().all(is_known) {
                break;
            }
            ranges.extend(&known.masked);
            let (text, stretches) = starred(&known.text, &merged(ranges));
            masked = Some(Capture { text, masked: stretches, cut: known.cut, concealed: known.concealed });
        }
        masked
    }

    /// Whether masking would change the text.
    pub fn contains_secret(&self, text: &str) -> bool {
        !self.ranges(text).is_empty()
    }

    /// Where the secrets stand, merged and in order.
    fn ranges(&self, text: &str) -> Vec<(usize, usize)> {
        let mut found: Vec<(usize, usize)> = Vec::new();
        for value in &self.values {
            let finder = memchr::memmem::Finder::new(value);
            let mut from = 0;
            while let Some(start) = text.as_bytes().get(from..).and_then(|rest| finder.find(rest)) {
                found.push((from + start, from + start + value.len()));
                // A value may overlap itself.
                from += start + 1;
            }
        }
        for pattern in &self.patterns {
            for it in pattern.find_iter(text) {
                let start = it.end() - it.as_str().trim_start_matches(is_space).len();
                let end = it.start() + it.as_str().trim_end_matches(is_space).len();
                if start < end {
                    found.push((start, end));
                }
            }
        }
        merged(found)
    }
}

/// Ranges in order, those that touch made one.
fn merged(mut ranges: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    ranges.sort_unstable();
    let mut merged: Vec<(usize, usize)> = Vec::with_capacity(ranges.len());
    for (start, end) in ranges {
        match merged.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}

/// The text with stars at the ranges, and where they stand in it.
fn starred(text: &str, ranges: &[(usize, usize)]) -> (String, Vec<(usize, usize)>) {
    let mut out = String::with_capacity(text.len());
    let mut stretches = Vec::with_capacity(ranges.len());
    let mut from = 0;
    for &(start, end) in ranges {
        out.push_str(&text[from..start]);
        let begin = out.len();
        for character in text[start..end].chars() {
            out.push_str(if character == '\n' { "\n" } else { &"**"[..character.len_utf16()] });
        }
        stretches.push((begin, out.len()));
        from = end;
    }
    out.push_str(&text[from..]);
    (out, stretches)
}

/// A text as it may be shown: stars for what is [hidden](HIDDEN).
pub fn shown(text: &str) -> Cow<'_, str> {
    if text.contains(HIDDEN) { Cow::Owned(text.replace(HIDDEN, "*")) } else { Cow::Borrowed(text) }
}

/// A value as it may be shown.
pub fn shown_value(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(shown(text).into_owned()),
        Value::Array(items) => items.iter().map(shown_value).collect(),
        Value::Object(members) => {
            Value::Object(members.iter().map(|(key, value)| (shown(key).into_owned(), shown_value(value))).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Whether something is hidden in a value, its keys included.
pub fn has_hidden(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(HIDDEN),
        Value::Array(items) => items.iter().any(has_hidden),
        Value::Object(members) => members.iter().any(|(key, value)| key.contains(HIDDEN) || has_hidden(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{Secrets, looks_secret};

    fn secrets(environment: &[(&str, &str)], named: &[&str], patterns: &[&str]) -> Secrets {
        let named: Vec<String> = named.iter().map(|it| (*it).to_owned()).collect();
        let patterns: Vec<String> = patterns.iter().map(|it| (*it).to_owned()).collect();
        let (secrets, errors) = Secrets::new(environment.iter().copied(), &named, &patterns);
        assert_eq!(errors, []);
        secrets
    }

    #[test]
    fn secrets_keep_their_length_as_stars() {
        let secrets = secrets(&[("API_KEY", "sk-é12345"), ("HOME", "/home/someone")], &[], &[]);
        assert_eq!(secrets.mask("key=sk-é12345!"), "key=*********!");
        assert_eq!(secrets.mask("/home/someone"), "/home/someone");
        assert!(secrets.contains_secret("xsk-é12345x") && !secrets.contains_secret("sk-"));
    }

    #[test]
    fn short_values_count_only_when_they_are_named() {
        let guessed = secrets(&[("TOKEN", "1234567")], &[], &[]);
        assert!(!guessed.contains_secret("1234567"));
        let named = secrets(&[("CUSTOMER", "x"), ("EMPTY", "")], &["CUSTOMER", "EMPTY"], &[]);
        assert_eq!(named.mask("axb"), "a*b");
    }

    #[test]
    fn overlapping_secrets_leave_nothing_behind() {
        let secrets = secrets(&[("A_KEY", "abcdefgh"), ("B_KEY", "efghijkl")], &[], &["kl-\\d+"]);
        assert_eq!(secrets.mask("abcdefghijkl-42."), "***************.");
    }

    #[test]
    fn secrets_are_found_in_json_too() {
        let secrets = secrets(&[("A_KEY", "ab\"cd\\ef")], &[], &[]);
        assert_eq!(secrets.mask(r#"{"x":"ab\"cd\\ef"}"#), r#"{"x":"**********"}"#);
        assert_eq!(secrets.mask("ab\"cd\\ef"), "********");
    }

    #[test]
    fn a_value_that_overlaps_itself_is_masked_whole() {
        let secrets = secrets(&[("A_KEY", "abababab")], &[], &[]);
        assert_eq!(secrets.mask("xabababababx"), "x**********x");
    }

    #[test]
    fn line_ends_inside_a_secret_stay() {
        let secrets = secrets(&[("DEPLOY_KEY", "line one\nline two")], &[], &[]);
        assert_eq!(secrets.mask("line one\nline two"), "********\n********");
    }

    #[test]
    fn names_tell_secrets() {
        for name in
            ["OPENAI_API_KEY", "GITHUB_TOKEN", "db-password", "NPM_AUTH", "MY_ACCESSTOKEN", "AWS_SECRET_ACCESS_KEY"]
        {
            assert!(looks_secret(name), "{name}");
        }
        for name in ["PATH", "PWD", "SSH_AUTH_SOCK", "KEYBOARD", "MONKEY", "AUTHOR", "TOKENIZERS_PARALLELISM"] {
            assert!(!looks_secret(name), "{name}");
        }
    }

    #[test]
    fn a_broken_pattern_is_named() {
        let (secrets, errors) = Secrets::new([], &[], &["(".to_owned()]);
        assert!(secrets.is_empty());
        assert_eq!(errors[0].0, "(");
    }
}

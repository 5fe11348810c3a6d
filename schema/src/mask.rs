//! Secrets: they are masked before anything is judged, recorded, logged or shown.
//!
//! A known value is replaced by as many stars as it has characters, so that lengths and positions stay. The
//! values come from the caller, since this crate does not read the environment.

use crate::check::text::shortened;

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

    /// The text with stars in place of every secret, one for each character. Line ends inside a secret stay.
    pub fn mask(&self, text: &str) -> String {
        let ranges = self.ranges(text);
        if ranges.is_empty() {
            return text.to_owned();
        }
        let mut masked = String::with_capacity(text.len());
        let mut from = 0;
        for (start, end) in ranges {
            masked.push_str(&text[from..start]);
            masked.extend(text[start..end].chars().map(|it| if it == '\n' { it } else { '*' }));
            from = end;
        }
        masked.push_str(&text[from..]);
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
            found.extend(pattern.find_iter(text).filter(|it| !it.is_empty()).map(|it| (it.start(), it.end())));
        }
        found.sort_unstable();
        let mut merged: Vec<(usize, usize)> = Vec::with_capacity(found.len());
        for (start, end) in found {
            match merged.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => merged.push((start, end)),
            }
        }
        merged
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

//! Secrets: they are masked before anything is judged, recorded, logged or shown.
//!
//! A known value is replaced by as many stars as it has UTF-16 units, so lengths and positions remain, and its position
//! is stored: a claim that depends on the masked text is unknown. The values come from the caller, since this crate
//! does not read the environment.

use std::{borrow::Cow, fmt::Write, sync::OnceLock};

use serde_json::Value;

use crate::{
    check::text::{is_space, shortened},
    evidence::Capture,
};

/// A masked unit in a parsed output: not a star, since the output may contain stars of its own. Unicode has assigned
/// this character to no one.
pub const MASK_CHARACTER: char = '\u{FDD0}';

/// Maximum number of rounds of masking: masked text may match a pattern that the text itself did not.
const MAX_ROUNDS: usize = 4;

/// The values and patterns to be masked.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    /// The longest first, so a value inside another one does not hide it.
    values: Vec<Secret>,
    patterns: Vec<regex::Regex>,
}

/// A value to be masked.
#[derive(Clone, Debug)]
struct Secret {
    text: String,
    /// The variable that has it.
    name: Option<String>,
    /// The forms inside strings in JSON, which programs escape differently.
    escaped: OnceLock<Option<regex::Regex>>,
}

impl PartialEq for Secret {
    fn eq(&self, other: &Secret) -> bool {
        self.text == other.text
    }
}

impl Secret {
    /// Finds it in a text, as it is and with escapes.
    fn find_in(&self, text: &str, has_escapes: bool, found: &mut Vec<(usize, usize)>) {
        let finder = memchr::memmem::Finder::new(&self.text);
        let mut from = 0;
        while let Some(start) = text.as_bytes().get(from..).and_then(|rest| finder.find(rest)) {
            found.push((from + start, from + start + self.text.len()));
            // A value may overlap itself.
            from += start + 1;
        }
        if has_escapes && let Some(escaped) = self.escaped.get_or_init(|| escaped(&self.text)) {
            found.extend(escaped.find_iter(text).map(|it| (it.start(), it.end())));
        }
    }
}

/// Returns a pattern for a text in which each character may be escaped as JSON allows.
fn escaped(text: &str) -> Option<regex::Regex> {
    let mut pattern = String::new();
    for character in text.chars() {
        let _ = write!(pattern, "(?:{}|", regex::escape(character.encode_utf8(&mut [0; 4])));
        match character {
            '"' | '\\' | '/' => drop(write!(pattern, r"\\{}|", regex::escape(character.encode_utf8(&mut [0; 4])))),
            '\n' => pattern.push_str(r"\\n|"),
            '\t' => pattern.push_str(r"\\t|"),
            '\r' => pattern.push_str(r"\\r|"),
            _ => {}
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            let _ = write!(pattern, r"\\u(?i:{unit:04x})");
        }
        pattern.push(')');
    }
    regex::RegexBuilder::new(&pattern).size_limit(MAX_PATTERN_BYTES).build().ok()
}

/// Minimum length of a value that is assumed to be secret because of the name of its variable.
const MIN_GUESSED_LENGTH: usize = 8;

/// Maximum size in bytes of a compiled pattern.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// Returns whether a variable with this name probably holds a secret.
pub(crate) fn looks_secret(name: &str) -> bool {
    const WORDS: [&str; 12] = [
        "KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASS", "PWD", "CREDENTIAL", "CREDENTIALS", "AUTH", "APIKEY",
        "COOKIE",
    ];
    /// Names that contain one of the words, but hold no secret.
    const HARMLESS: [&str; 4] = ["PWD", "OLDPWD", "SSH_AUTH_SOCK", "XAUTHORITY"];
    let name = name.to_ascii_uppercase();
    if HARMLESS.contains(&name.as_str()) {
        return false;
    }
    name.split(|it: char| !it.is_ascii_alphanumeric()).any(|part| {
        WORDS.contains(&part) || ["APIKEY", "TOKEN", "SECRET", "PASSWORD"].iter().any(|word| part.ends_with(word))
    })
}

/// Returns whether a variable with this name and this value probably holds a secret.
fn holds_secret(name: &str, value: &str) -> bool {
    /// Names with these endings describe a secret, but hold none.
    const ABOUT: [&str; 22] = [
        "ALGORITHM", "COUNT", "DISABLED", "DOMAIN", "ENABLED", "EXPIRATION", "EXPIRES", "EXPIRY", "HOST", "HOSTNAME",
        "LENGTH", "MODE", "NAME", "PORT", "REGION", "SIZE", "TIMEOUT", "TTL", "TYPE", "USERNAME", "VERSION",
        "LIFETIME",
    ];
    let name_in_capitals = name.to_ascii_uppercase();
    let last = name_in_capitals.rsplit(|it: char| !it.is_ascii_alphanumeric()).next().unwrap_or_default();
    let is_harmless = match last {
        "DIR" | "DIRECTORY" | "PATH" | "FILE" => value.contains(['/', '\\']) || !has_token(value),
        "CREDENTIAL" | "CREDENTIALS" => is_path(value) && !has_token(value),
        // A user name, a password or a token may be in it.
        "URL" | "URI" => !value.contains(['@', '?', '#']) && !has_token(value),
        about => ABOUT.contains(&about) && !has_token(value),
    };
    looks_secret(name) && !is_harmless
}

fn is_path(value: &str) -> bool {
    let has_drive = matches!(value.as_bytes(), [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic());
    let is_rooted = ["/", "./", "../", "~/"].iter().any(|start| value.starts_with(start));
    (has_drive || is_rooted) && !value.contains(['+', '=', '\n'])
}

/// Returns whether a part of it is as long, and as mixed, as tokens are.
fn has_token(value: &str) -> bool {
    const LENGTH: usize = 20;
    value.split(['/', '\\', '.', ':']).any(|part| {
        part.len() >= LENGTH
            && part.contains(|it: char| it.is_ascii_digit())
            && part.contains(|it: char| it.is_ascii_alphabetic())
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

/// The reason why a pattern cannot be used for masking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    /// The problem, as a lower-case sentence without a final period.
    pub reason: String,
    /// What to do about it.
    pub help: &'static str,
}

/// Reads a pattern whose matches are masked: a regular expression without look-around, so masking takes linear time.
/// The error is the reason why it is not valid.
pub fn pattern(source: &str) -> Result<regex::Regex, Unusable> {
    const WITHOUT: &str = "write the pattern without look-around or back-references";
    regex::RegexBuilder::new(source).size_limit(MAX_PATTERN_BYTES).build().map_err(|error| {
        if matches!(error, regex::Error::CompiledTooBig(_)) {
            let reason = "it is too large when it is compiled".to_owned();
            return Unusable { reason, help: "lower the numbers of repetitions" };
        }
        let reason = error.to_string();
        match reason.lines().next_back().unwrap_or_default().trim_start_matches("error: ") {
            it if it.starts_with("look-around") => {
                Unusable { reason: "look-around is not supported".to_owned(), help: WITHOUT }
            }
            it if it.starts_with("backreferences") => {
                Unusable { reason: "back-references are not supported".to_owned(), help: WITHOUT }
            }
            it => Unusable {
                reason: shortened(it, 200),
                help: "escape each character that you mean literally, such as `\\[`",
            },
        }
    })
}

impl Secrets {
    /// Returns an empty collection.
    pub fn none() -> Secrets {
        Secrets::default()
    }

    /// Collects the secrets among the environment variables: those named in the settings, and those whose names look
    /// secret. Invalid patterns (see [`pattern`]) are omitted.
    pub fn new<'e>(
        environment: impl IntoIterator<Item = (&'e str, &'e str)>,
        redact_env: &[String],
        redact_patterns: &[String],
    ) -> Secrets {
        let mut secrets = Secrets::default();
        for (name, value) in environment {
            let guessed = || holds_secret(name, value) && value.chars().count() >= MIN_GUESSED_LENGTH;
            if redact_env.iter().any(|named| named == name) || guessed() {
                secrets.add_named(value, Some(name));
            }
        }
        secrets.patterns.extend(redact_patterns.iter().filter_map(|source| pattern(source).ok()));
        secrets
    }

    /// Adds a value that is known to be secret, such as the value of an `apiKeyEnv`, as it is and as written in JSON.
    pub fn add(&mut self, value: &str) {
        self.add_named(value, None);
    }

    fn add_named(&mut self, value: &str, name: Option<&str>) {
        self.insert(value, name);
        if let Ok(quoted) = serde_json::to_string(value) {
            self.insert(quoted.trim_matches('"'), name);
        }
    }

    fn insert(&mut self, value: &str, name: Option<&str>) {
        // Surrounding white space is not part of the secret, and may be missing in the text.
        let value = value.trim_matches(is_space);
        if value.is_empty() || self.values.iter().any(|known| known.text == value) {
            return;
        }
        let place = self.values.partition_point(|known| known.text.len() >= value.len());
        let escaped = OnceLock::new();
        self.values.insert(place, Secret { text: value.to_owned(), name: name.map(str::to_owned), escaped });
    }

    /// Returns whether there is nothing to mask.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty() && self.patterns.is_empty()
    }

    /// Returns the text with stars in place of every secret. Line ends inside a secret remain.
    pub fn mask(&self, text: &str) -> String {
        let ranges = self.ranges(text);
        if ranges.is_empty() { text.to_owned() } else { starred(text, &ranges).0 }
    }

    /// Returns the stream with stars in place of every secret; `None` if there is none that is not masked already.
    pub(crate) fn mask_capture(&self, capture: &Capture) -> Option<Capture> {
        let mut masked: Option<Capture> = None;
        for _ in 0..MAX_ROUNDS {
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

    /// Returns the variables whose values are in any of these texts, in order.
    pub fn names_in(&self, texts: &[&str]) -> Vec<&str> {
        let stands_in = |value: &&Secret| {
            let mut found = Vec::new();
            texts.iter().for_each(|text| value.find_in(text, text.contains('\\'), &mut found));
            !found.is_empty()
        };
        let names = self.values.iter().filter(|value| value.name.is_some()).filter(stands_in);
        let mut names: Vec<&str> = names.filter_map(|value| value.name.as_deref()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns the text with as many stars as each secret has bytes, so positions remain.
    pub fn cover(&self, text: &str) -> String {
        let mut covered = String::with_capacity(text.len());
        let mut from = 0;
        for (start, end) in self.ranges(text) {
            covered.push_str(&text[from..start]);
            covered.extend(std::iter::repeat_n('*', end - start));
            from = end;
        }
        covered.push_str(&text[from..]);
        covered
    }

    /// Returns whether masking would change the text.
    pub fn contains_secret(&self, text: &str) -> bool {
        !self.ranges(text).is_empty()
    }

    /// Returns the ranges of the secrets, merged and in order.
    fn ranges(&self, text: &str) -> Vec<(usize, usize)> {
        let mut found: Vec<(usize, usize)> = Vec::new();
        let has_escapes = text.contains('\\');
        self.values.iter().for_each(|value| value.find_in(text, has_escapes, &mut found));
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

/// Merges ranges that touch; they must be in order.
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

/// Returns the text with stars at the ranges, and the ranges of the stars.
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

/// Returns all strings in a value, keys and numbers included.
pub fn texts_of(value: &Value) -> Vec<String> {
    let mut texts = Vec::new();
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        match value {
            Value::String(text) => texts.push(text.clone()),
            Value::Array(items) => left.extend(items),
            Value::Object(members) => {
                texts.extend(members.keys().cloned());
                left.extend(members.values());
            }
            Value::Number(number) => texts.push(number.to_string()),
            Value::Null | Value::Bool(_) => {}
        }
    }
    texts
}

/// Returns a text as it may be shown, with stars for [hidden](MASK_CHARACTER) units.
pub fn shown(text: &str) -> Cow<'_, str> {
    if text.contains(MASK_CHARACTER) { Cow::Owned(text.replace(MASK_CHARACTER, "*")) } else { Cow::Borrowed(text) }
}

/// Returns a value as it may be shown.
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

/// Returns whether a value, including its keys, has hidden parts.
pub fn has_hidden(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(MASK_CHARACTER),
        Value::Array(items) => items.iter().any(has_hidden),
        Value::Object(members) => members.iter().any(|(key, value)| key.contains(MASK_CHARACTER) || has_hidden(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{Secrets, holds_secret, looks_secret, pattern};

    fn secrets(environment: &[(&str, &str)], named: &[&str], patterns: &[&str]) -> Secrets {
        let named: Vec<String> = named.iter().map(|it| (*it).to_owned()).collect();
        let patterns: Vec<String> = patterns.iter().map(|it| (*it).to_owned()).collect();
        assert!(patterns.iter().all(|source| pattern(source).is_ok()));
        Secrets::new(environment.iter().copied(), &named, &patterns)
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
    fn secrets_are_found_as_any_program_escapes_them() {
        let secrets = secrets(&[("A_KEY", "abc/def+ghi<jkl&mno/9"), ("B_KEY", "pässword😀1")], &[], &[]);
        for written in [
            r"abc\/def+ghi<jkl&mno\/9",
            r"abc/def+ghi\u003cjkl\u0026mno/9",
            r"abc\u002fdef\u002Bghi\u003Cjkl\u0026mno\/9",
            r"p\u00e4ssword\ud83d\ude001",
            r"p\u00E4ssword\uD83D\uDE001",
        ] {
            let masked = secrets.mask(&format!("\"{written}\""));
            assert_eq!(masked, format!("\"{}\"", "*".repeat(written.len())));
        }
        assert_eq!(secrets.names_in(&["x", r"abc\/def+ghi<jkl&mno\/9"]), ["A_KEY"]);
        assert_eq!(secrets.cover("x pässword😀1 y").len(), "x pässword😀1 y".len());
    }

    #[test]
    fn values_reveal_harmless_variables() {
        for (name, value) in [
            ("PASSWORD_STORE_DIR", "/home/me"),
            ("GOOGLE_APPLICATION_CREDENTIALS", "/home/me/gcp-key.json"),
            ("AUTH_URL", "http://localhost:8080/login"),
            ("COOKIE_DOMAIN", "localhost"),
            ("AUTH_MODE", "disabled"),
            ("TOKEN_EXPIRY", "2026-11-21T10:00:00Z"),
            ("KEY_COUNT", "00000000"),
            ("API_KEY_FILE", "/run/secrets/api_key"),
        ] {
            assert!(!holds_secret(name, value), "{name}");
        }
        for (name, value) in [
            ("AUTH_URL", "https://me:pass@host/"),
            ("AUTH_URL", "https://host/?token=abc"),
            ("TOKEN_URL", "https://hooks.example.com/services/T00/B00/XXXX1234567890abcdefgh"),
            ("GOOGLE_CREDENTIALS", "{\"private_key\": \"x\"}"),
            ("AWS_SECRET_ACCESS_KEY", "/abcdef/ghijk"),
            ("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE"),
            ("API_KEY_NAME", "sk-abcdef1234567890abcdef"),
        ] {
            assert!(holds_secret(name, value), "{name}");
        }
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
    fn names_reveal_secrets() {
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
    fn a_pattern_that_cannot_be_read_says_why() {
        let errors = ["(", "a(?=b)", "(a)\\1", "a{9999999}"].map(|source| pattern(source).unwrap_err());
        let reasons = errors.map(|error| format!("{}: {}", error.reason, error.help));
        assert_eq!(
            reasons,
            [
                "unclosed group: escape each character that you mean literally, such as `\\[`",
                "look-around is not supported: write the pattern without look-around or back-references",
                "back-references are not supported: write the pattern without look-around or back-references",
                "it is too large when it is compiled: lower the numbers of repetitions",
            ]
        );
        assert!(Secrets::new([], &[], &["(".to_owned()]).is_empty());
    }
}

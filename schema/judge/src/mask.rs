//! Secrets: they are masked before anything is judged, recorded, logged or shown.
//!
//! A known value is replaced by as many stars as it has UTF-16 units, so lengths and positions remain, and its position
//! is stored: a claim that depends on the masked text is unknown. The values come from the caller, since this crate
//! does not read the environment.

mod finder;
mod variables;

use std::{
    borrow::Cow,
    collections::BTreeMap,
    sync::{LazyLock, OnceLock},
};

use serde_json::Value;

use crate::{
    check::text::{is_space, shortened},
    evidence::Capture,
};
use finder::Finder;

pub use variables::holds_secret;

/// A masked unit in a parsed output: not a star, since the output may contain stars of its own. Unicode has assigned
/// this character to no one.
pub const MASK_CHARACTER: char = '\u{FDD0}';

/// Maximum number of rounds of masking: masked text may match a pattern that the text itself did not.
const MAX_ROUNDS: usize = 4;

/// Minimum length of a line that is masked also without the lines around it.
const MIN_LINE_LENGTH: usize = 16;

/// Minimum length of a password in a URL, and of a part of a header, that is masked also outside of it.
const MIN_PASSWORD_LENGTH: usize = 8;

/// Minimum length of the beginning of a secret that is masked at the end of a text that was cut off.
const MIN_BEGUN_LENGTH: usize = 4;

/// Maximum size in bytes of a compiled pattern.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// The password in a URL, unless it is a placeholder such as `$PASSWORD`, or already masked.
static URL_PASSWORD: LazyLock<regex::Regex> = LazyLock::new(|| {
    let pattern = r#":(?:\\?/){2}[^\s/:@"'<>]*:([^\s/?\#@"'<>${*][^\s/?\#@"'<>]*)@"#;
    regex::Regex::new(pattern).expect("the pattern is fixed and tested")
});

/// The values and patterns to be masked.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    /// The values, each with the variable that has it.
    values: BTreeMap<String, Option<String>>,
    patterns: Vec<regex::Regex>,
    /// Whether passwords in URLs are masked.
    masks_urls: bool,
    finder: OnceLock<Finder>,
}

impl PartialEq for Secrets {
    fn eq(&self, other: &Secrets) -> bool {
        let patterns = |secrets: &Secrets| -> Vec<String> {
            secrets.patterns.iter().map(|pattern| pattern.as_str().to_owned()).collect()
        };
        let rest = |secrets: &Secrets| (secrets.masks_urls, patterns(secrets));
        self.values.keys().eq(other.values.keys()) && rest(self) == rest(other)
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
    /// Returns an empty collection, which masks nothing.
    pub fn none() -> Secrets {
        Secrets::default()
    }

    /// Collects the secrets among the environment variables: those named in the settings, those whose names look
    /// secret, and passwords in URLs. Invalid patterns (see [`pattern`]) are omitted.
    pub fn new<'e>(
        environment: impl IntoIterator<Item = (&'e str, &'e str)>,
        redact_env: &[String],
        redact_patterns: &[String],
    ) -> Secrets {
        let mut secrets = Secrets { masks_urls: true, ..Secrets::default() };
        for (name, value) in environment {
            if redact_env.iter().any(|named| named == name) || holds_secret(name, value) {
                secrets.insert(value, Some(name));
                for part in variables::secret_parts(name, value).filter(|part| part.len() >= MIN_PASSWORD_LENGTH) {
                    secrets.insert(part, Some(name));
                }
                for member in variables::secret_members(value).iter().filter(|it| it.len() >= MIN_PASSWORD_LENGTH) {
                    secrets.insert(member, Some(name));
                }
            }
            for password in URL_PASSWORD.captures_iter(value).filter_map(|found| found.get(1)) {
                let decoded = finder::percent_decoded(password.as_str());
                for password in [password.as_str(), &decoded].into_iter().filter(|it| it.len() >= MIN_PASSWORD_LENGTH) {
                    secrets.insert(password, Some(name));
                }
            }
        }
        secrets.patterns.extend(redact_patterns.iter().filter_map(|source| pattern(source).ok()));
        secrets
    }

    /// Adds a value that is known to be secret, such as the value of an `apiKeyEnv`.
    pub fn add(&mut self, value: &str) {
        self.insert(value, None);
    }

    fn insert(&mut self, value: &str, name: Option<&str>) {
        // Variables often have `\n` in place of the line ends of a key.
        let unescaped = value.replace("\\n", "\n");
        let lines = unescaped.split(['\r', '\n']).map(|line| line.trim_matches(is_space));
        let lines = lines.filter(|line| line.chars().count() >= MIN_LINE_LENGTH);
        for value in [value, &unescaped].into_iter().chain(lines) {
            // Surrounding white space is not part of the secret, and may be missing in the text.
            let value = value.trim_matches(is_space);
            if !value.is_empty() && !self.values.contains_key(value) {
                self.values.insert(value.to_owned(), name.map(str::to_owned));
                self.finder = OnceLock::new();
            }
        }
    }

    /// Returns whether there is nothing to mask.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty() && self.patterns.is_empty() && !self.masks_urls
    }

    /// Returns the text with stars in place of every secret. Line ends inside a secret remain.
    pub fn mask(&self, text: &str) -> String {
        self.masked(text, &[]).map_or_else(|| text.to_owned(), |(text, _)| text)
    }

    /// Returns the stream with stars in place of every secret; `None` if there is none that is not masked already.
    pub(crate) fn mask_capture(&self, capture: &Capture) -> Option<Capture> {
        let mut known = capture.masked.clone();
        if capture.cut
            && let Some(length) = self.begun_at_end(&capture.text)
        {
            let text = &capture.text;
            // A secret may end in the beginning of another one.
            known.extend(self.ranges(text));
            known.push((text.len() - length, text.len()));
            let (text, known) = starred(text, &merged(known));
            let (text, masked) = self.masked(&text, &known).unwrap_or((text, known));
            return Some(Capture { text, masked, cut: true, concealed: capture.concealed });
        }
        let (text, masked) = self.masked(&capture.text, &known)?;
        Some(Capture { text, masked, cut: capture.cut, concealed: capture.concealed })
    }

    /// Returns the length of the beginning of a secret at the end of a text that was cut off there.
    fn begun_at_end(&self, text: &str) -> Option<usize> {
        let begun = |value: &String| {
            let lengths = (MIN_BEGUN_LENGTH..value.len()).rev();
            lengths.filter(|length| value.is_char_boundary(*length)).find(|length| text.ends_with(&value[..*length]))
        };
        self.values.keys().filter_map(begun).max()
    }

    /// Returns the text with stars, and the ranges of the stars; `None` if every secret is in a known range.
    fn masked(&self, text: &str, known: &[(usize, usize)]) -> Option<(String, Vec<(usize, usize)>)> {
        let mut masked: Option<(String, Vec<(usize, usize)>)> = None;
        for _ in 0..MAX_ROUNDS {
            let (text, known) = masked.as_ref().map_or((text, known), |(text, known)| (text, known));
            let mut ranges = self.ranges(text);
            let is_known = |&(start, end): &(usize, usize)| {
                let next = known.partition_point(|&(_, known_end)| known_end < end);
                known.get(next).is_some_and(|&(known_start, _)| known_start <= start)
            };
            if ranges.iter().all(is_known) {
                break;
            }
            ranges.extend(known);
            masked = Some(starred(text, &merged(ranges)));
        }
        masked
    }

    /// Masks every string and number in a value, keys included.
    pub fn mask_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.mask(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.mask_value(item)),
            Value::Object(members) => {
                let old = std::mem::take(members);
                members.extend(old.into_iter().map(|(name, mut value)| {
                    self.mask_value(&mut value);
                    (self.mask(&name), value)
                }));
            }
            Value::Number(number) => {
                let text = number.to_string();
                if self.contains_secret(&text) {
                    *value = Value::String(self.mask(&text));
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// Returns the variables whose values are in any of these texts, in order.
    pub fn names_in(&self, texts: &[&str]) -> Vec<&str> {
        let names: Vec<Option<&str>> = self.values.values().map(Option::as_deref).collect();
        let found = texts.iter().flat_map(|text| self.finder().find(text));
        let mut names: Vec<&str> = found.filter_map(|found| names[found.value]).collect();
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

    fn finder(&self) -> &Finder {
        self.finder.get_or_init(|| Finder::of(self.values.keys().map(String::as_str)))
    }

    /// Returns the ranges of the secrets, merged and in order.
    fn ranges(&self, text: &str) -> Vec<(usize, usize)> {
        let mut found: Vec<(usize, usize)> =
            self.finder().find(text).into_iter().map(|found| (found.start, found.end)).collect();
        for pattern in &self.patterns {
            for it in pattern.find_iter(text) {
                let start = it.end() - it.as_str().trim_start_matches(is_space).len();
                let end = it.start() + it.as_str().trim_end_matches(is_space).len();
                if start < end {
                    found.push((start, end));
                }
            }
        }
        if self.masks_urls {
            let passwords = URL_PASSWORD.captures_iter(text).filter_map(|found| found.get(1));
            found.extend(passwords.map(|it| (it.start(), it.end())));
        }
        merged(found)
    }
}

/// Merges ranges that touch, and sorts them.
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
    texts_of(value).iter().any(|text| text.contains(MASK_CHARACTER))
}

#[cfg(test)]
mod tests {
    use super::{Secrets, merged, pattern};
    use crate::evidence::Capture;

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
        assert_eq!(Secrets::new([], &[], &["(".to_owned()]), Secrets::new([], &[], &[]));
    }

    #[test]
    fn lines_of_a_secret_are_masked_alone_if_they_are_long() {
        let key = "-----BEGIN KEY-----\nshort line\n  MIIEvQIBADANBgkq\r\nhkiG9w0BAQEFAASC\n";
        let masked = "**************** **************** short line";
        for key in [key.to_owned(), key.replace('\n', "\\n")] {
            let secrets = secrets(&[("DEPLOY_KEY", &key)], &[], &[]);
            assert_eq!(secrets.mask("MIIEvQIBADANBgkq hkiG9w0BAQEFAASC short line"), masked);
            assert!(!secrets.mask("short line\nMIIEvQIBADANBgkq").contains("MII"));
            assert_eq!(secrets.mask(key.trim()).replace(['*', '\n'], ""), "");
        }
    }

    #[test]
    fn password_in_a_url_is_masked_and_nothing_around_it() {
        let none = secrets(&[], &[], &[]);
        for (text, masked) in [
            ("see https://me:pa$$wörd@host/x", "see https://me:********@host/x"),
            ("redis://:p@host https://a:b@c.d", "redis://:*@host https://a:*@c.d"),
            (r"https:\/\/me:pass@host", r"https:\/\/me:****@host"),
        ] {
            assert_eq!(none.mask(text), masked);
            assert_eq!(none.mask(masked), masked);
            assert!(none.contains_secret(text) && !none.contains_secret(masked));
        }
        for text in
            ["https://me:$PASS@host", "http://host:80/a@b", "http://h:80?a@b", "http://h:1 a@b", "git@h:x", "a:b@c"]
        {
            assert_eq!(none.mask(text), text);
        }
        assert_eq!(Secrets::none().mask("https://me:pass@host"), "https://me:pass@host");
        assert!(Secrets::none().is_empty() && !none.is_empty());
    }

    #[test]
    fn password_in_the_url_of_a_variable_is_masked_wherever_it_appears() {
        let secrets =
            secrets(&[("DATABASE_URL", "postgres://app:s3cr%2Ft-word@db/x"), ("B", "x://u:short@h")], &[], &[]);
        assert_eq!(secrets.mask("s3cr/t-word s3cr%2Ft-word short db"), "*********** ************* short db");
        assert_eq!(secrets.names_in(&["s3cr/t-word", "short"]), ["DATABASE_URL"]);
    }

    #[test]
    fn encoded_secret_is_masked_with_its_whole_encoding() {
        let secrets = secrets(&[("API_TOKEN", "s3cr3t/+word")], &[], &[]);
        assert_eq!(secrets.mask("q=s3cr3t%2F%2Bword&x"), "q=****************&x");
        assert_eq!(secrets.mask("Basic dTpzM2NyM3QvK3dvcmQ="), "Basic dT*****************=");
        assert_eq!(secrets.cover("s3cr3t\\/+word"), "*************");
    }

    #[test]
    fn value_is_kept_once_with_the_first_variable_that_has_it() {
        let mut secrets = secrets(&[("A_KEY", " abcdefgh\n"), ("B_KEY", "abcdefgh"), ("C_KEY", "ijklmnop")], &[], &[]);
        assert_eq!(secrets.names_in(&["abcdefgh", "ijklmnop"]), ["A_KEY", "C_KEY"]);
        assert_eq!(secrets.mask("later-added"), "later-added");
        secrets.add("later-added");
        assert_eq!(secrets.mask("later-added abcdefgh"), "*********** ********");
        assert_eq!(secrets.names_in(&["later-added"]), [""; 0]);
    }

    #[test]
    fn beginning_of_a_secret_is_masked_where_a_text_was_cut() {
        let secrets = secrets(&[("A_KEY", "ab-defgh"), ("B_KEY", "fgh-ijkl")], &[], &[]);
        for (text, masked) in
            [("x ab-d", "x ****"), ("ab-", "ab-"), ("ab-defgh", "********"), ("ab-defgh-i", "**********")]
        {
            let cut = Capture { text: text.to_owned(), cut: true, ..Capture::default() };
            let found = secrets.mask_capture(&cut).unwrap_or(cut.clone());
            assert_eq!(found.text, masked);
            assert_eq!(secrets.mask_capture(&found), None, "masking again changes nothing");
            assert_eq!(secrets.mask_capture(&Capture::whole("x ab-d")), None);
        }
    }

    #[test]
    fn value_is_masked_with_its_keys_and_numbers() {
        let secrets = secrets(&[("PIN", "4711")], &["PIN"], &[]);
        let mut value = serde_json::json!({ "4711": [4711, 1.5, null, "x4711"], "a": { "b": 14711 } });
        secrets.mask_value(&mut value);
        assert_eq!(value.to_string(), r#"{"****":["****",1.5,null,"x****"],"a":{"b":"1****"}}"#);
    }

    #[test]
    fn ranges_that_touch_or_overlap_are_merged_in_order() {
        assert_eq!(merged(vec![(8, 9), (4, 6), (0, 2), (2, 3), (5, 7), (4, 5)]), [(0, 3), (4, 7), (8, 9)]);
        assert_eq!(merged(vec![(0, 9), (1, 2), (9, 10)]), [(0, 10)]);
        assert_eq!(merged(Vec::new()), []);
    }

    #[test]
    fn masked_text_that_matches_a_pattern_is_masked_again_and_then_stays() {
        let secrets = secrets(&[("A_KEY", "abcdefgh")], &[], &["\\*+-\\d+", "[*]+!"]);
        assert_eq!(secrets.mask("abcdefgh-12!"), "************");
        assert_eq!(secrets.mask("************"), "************");
    }
}

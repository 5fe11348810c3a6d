//! Secrets: they are masked before anything is judged, recorded, logged or shown.
//!
//! A known value is replaced by as many stars as it has UTF-16 units, so lengths and positions remain, and its position
//! is stored: a claim that depends on the masked text is unknown. The values come from the caller, since this crate
//! does not read the environment.

mod finder;
mod variables;

use std::{
    collections::BTreeMap,
    sync::{LazyLock, OnceLock},
};

use serde_json::Value;

use crate::{
    check::text::{is_space, shortened},
    evidence::Capture,
};
use finder::Finder;

pub use crate::evidence::{MASK_CHARACTER, has_hidden, shown, shown_value, texts_of};
pub use variables::holds_secret;

/// Maximum number of rounds of masking: masked text may match a pattern that the text itself did not.
const MAX_ROUNDS: usize = 4;

const MIN_LINE_LENGTH: usize = 16;

const MIN_PASSWORD_LENGTH: usize = 8;

const MAX_PATTERN_BYTES: usize = 1 << 20;

/// The password in a URL, unless it is a placeholder such as `$PASSWORD`, or already masked.
static URL_PASSWORD: LazyLock<regex::Regex> = LazyLock::new(|| {
    let pattern = r#":(?:\\?/){2}[^\s/:@"'<>]*:([^\s/?\#@"'<>${*][^\s/?\#"'<>]*)@"#;
    regex::Regex::new(pattern).expect("the pattern is fixed and tested")
});

#[derive(Clone, Debug, Default)]
pub struct Secrets {
    values: BTreeMap<String, Option<String>>,
    patterns: Vec<regex::Regex>,
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

    pub fn is_empty(&self) -> bool {
        self.values.is_empty() && self.patterns.is_empty() && !self.masks_urls
    }

    /// Returns the text with stars in place of every secret. Line ends inside a secret remain.
    pub fn mask(&self, text: &str) -> String {
        self.masked(text, &[]).map_or_else(|| text.to_owned(), |(text, _)| text)
    }

    /// Returns the stream with stars in place of every secret; `None` if there is none that is not masked already.
    pub fn mask_capture(&self, capture: &Capture) -> Option<Capture> {
        let mut known = capture.masked.clone();
        if capture.cut
            && let Some(start) = self.begun_at_end(&capture.text)
        {
            let text = &capture.text;
            // A secret may end in the beginning of another one.
            known.extend(self.ranges(text));
            known.push((start, text.len()));
            let (text, known) = starred(text, &merged(known));
            let (text, masked) = self.masked(&text, &known).unwrap_or((text, known));
            return Some(Capture { text, masked, cut: true, concealed: capture.concealed });
        }
        let (text, masked) = self.masked(&capture.text, &known)?;
        Some(Capture { text, masked, cut: capture.cut, concealed: capture.concealed })
    }

    /// Returns where the beginning of a secret begins at the end of a text that was cut off there.
    fn begun_at_end(&self, text: &str) -> Option<usize> {
        let word = text.rfind(is_space).unwrap_or(0);
        let password = || {
            let found = URL_PASSWORD.captures_iter(&format!("{}@", &text[word..])).last()?.get(1)?.range();
            (word + found.end == text.len()).then_some(word + found.start)
        };
        let password = if self.masks_urls { password() } else { None };
        self.finder().begun(text).into_iter().chain(password).min()
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

    /// Returns a text that is judged, with [`MASK_CHARACTER`] in place of each unit of a secret.
    pub(crate) fn hide(&self, text: &str) -> String {
        // What is hidden already remains so.
        let hidden = text.match_indices(MASK_CHARACTER).map(|(start, hidden)| (start, start + hidden.len()));
        let capture = Capture { masked: hidden.collect(), ..Capture::whole(text) };
        self.mask_capture(&capture).unwrap_or(capture).hidden_text().into_owned()
    }

    pub fn mask_value(&self, value: &mut Value) {
        self.replace_in(value, &|text| self.mask(text));
    }

    /// Masks a value that is judged.
    pub(crate) fn hide_value(&self, value: &mut Value) {
        self.replace_in(value, &|text| self.hide(text));
    }

    fn replace_in(&self, value: &mut Value, replaced: &impl Fn(&str) -> String) {
        match value {
            Value::String(text) => *text = replaced(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.replace_in(item, replaced)),
            Value::Object(members) => {
                let old = std::mem::take(members);
                members.extend(old.into_iter().map(|(name, mut value)| {
                    self.replace_in(&mut value, replaced);
                    (replaced(&name), value)
                }));
            }
            Value::Number(number) => {
                let text = number.to_string();
                if self.contains_secret(&text) {
                    *value = Value::String(replaced(&text));
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

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

#[cfg(test)]
mod tests;

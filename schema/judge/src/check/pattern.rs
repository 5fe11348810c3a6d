//! Regular expressions as KindLM understands them: ECMAScript with the flags `g` and `i`.
//!
//! A pattern is read by ECMAScript's own grammar, and translated for engines with bounded time. The text is searched in
//! UTF-16 units, so `.` matches half of a character beyond the basic plane, as in ECMAScript.

mod engine;
pub mod python;
mod reader;
mod set;

use std::{
    borrow::Cow,
    fmt,
    sync::{Arc, OnceLock},
};

use self::{
    engine::Engine,
    reader::{Flags, Language, read},
};
use crate::mask::MASK_CHARACTER;

/// A compiled pattern. Cheap to clone.
#[derive(Clone, Debug)]
pub struct EcmaPattern {
    engine: Arc<Engine>,
    can_match_empty: bool,
    matches_empty: bool,
    /// Whether the units next to a match, or in it, decide about word boundaries.
    has_boundary: bool,
}

/// The reason why a pattern cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    /// The kind of reason.
    pub kind: PatternErrorKind,
    /// The byte of the pattern where the problem begins.
    pub at: usize,
    /// The problem, as a lower-case sentence without a final period.
    pub message: String,
}

/// Kinds of reasons why a pattern cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternErrorKind {
    /// It is not a valid ECMAScript pattern.
    Invalid,
    /// It is not valid in the versions of ECMAScript that most programs run on, and may be valid in the newest.
    TooNew,
    /// It is valid, and cannot be translated with the same meaning or within bounds.
    Untranslatable,
}

/// The search was stopped because it took too many steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepLimit;

/// One match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EcmaMatch {
    /// The matched text; half a character is U+FFFD.
    pub text: String,
    /// The line where it begins, from 1.
    pub line: usize,
}

/// Maximum length of a pattern.
const MAX_PATTERN_LENGTH: usize = 20_000;

impl EcmaPattern {
    /// Reads and translates a pattern.
    pub fn compile(pattern: &str, ignore_case: bool) -> Result<EcmaPattern, PatternError> {
        check_length(pattern)?;
        let read = read(pattern, Language::Ecmascript, Flags { ignore_case, ..Flags::default() })?;
        Ok(EcmaPattern {
            engine: Arc::new(Engine::new(read.text, read.backtracks, read.whole.states)?),
            can_match_empty: read.whole.least == 0,
            matches_empty: read.whole.is_empty_anywhere,
            has_boundary: read.has_boundary,
        })
    }

    /// Returns whether a match may have no characters, which may depend on those around it.
    pub fn can_match_empty(&self) -> bool {
        self.can_match_empty
    }

    /// Returns whether the pattern matches the empty string at the beginning of every text.
    pub fn matches_empty(&self) -> bool {
        self.matches_empty
    }

    /// Returns the non-overlapping matches from left to right. An error ends the iteration.
    pub fn find_iter<'p, 't>(&'p self, text: &'t str) -> Matches<'p, 't> {
        Matches { pattern: self, text: Encoded::new(text), at: 0, counted: 0, line: 1, steps: 0, done: false }
    }

    /// Returns the matches that exist whatever the [hidden units](MASK_CHARACTER) are. Only a part of the pattern that
    /// takes every unit of a line matches a hidden one.
    pub fn certain_matches<'p, 't>(
        &'p self,
        text: &'t str,
    ) -> impl Iterator<Item = Result<EcmaMatch, StepLimit>> + use<'p, 't> {
        let has_hidden = text.contains([MASK_CHARACTER, char::REPLACEMENT_CHARACTER]);
        let mut matches = self.find_iter(text);
        std::iter::from_fn(move || {
            loop {
                let found = matches.next_match()?;
                match found {
                    Ok((it, range)) if !has_hidden || matches.is_certain(range) => return Some(Ok(it)),
                    Ok(_) => {}
                    Err(error) => return Some(Err(error)),
                }
            }
        })
    }
}

/// Returns whether a text is an ECMAScript pattern, as far as its grammar is known here.
pub fn is_pattern(text: &str) -> bool {
    read(text, Language::Ecmascript, Flags::default())
        .map_or_else(|error| error.kind == PatternErrorKind::Untranslatable, |_| true)
}

/// Returns the error of a pattern that is valid as a whole.
fn untranslatable(message: String) -> PatternError {
    PatternError { kind: PatternErrorKind::Untranslatable, at: 0, message }
}

fn check_length(pattern: &str) -> Result<(), PatternError> {
    match pattern.len() > MAX_PATTERN_LENGTH {
        true => Err(untranslatable(format!("a pattern of more than {MAX_PATTERN_LENGTH} bytes is not supported"))),
        false => Ok(()),
    }
}

/// A text in which every character is one UTF-16 unit.
#[derive(Debug)]
struct Encoded<'t>(Cow<'t, str>);

impl<'t> Encoded<'t> {
    fn new(text: &'t str) -> Encoded<'t> {
        // The encoding of characters beyond the basic plane begins with a byte from 0xF0 on.
        if text.bytes().all(|byte| byte < 0xF0) {
            return Encoded(Cow::Borrowed(text));
        }
        Encoded(Cow::Owned(text.encode_utf16().map(|unit| set::character(unit.into())).collect()))
    }

    fn decode(&self, start: usize, end: usize) -> String {
        match &self.0 {
            Cow::Borrowed(text) => text[start..end].to_owned(),
            Cow::Owned(text) => {
                let unit = |letter| u16::try_from(set::code(letter)).unwrap_or_default();
                let units: Vec<u16> = text[start..end].chars().map(unit).collect();
                String::from_utf16_lossy(&units)
            }
        }
    }
}

/// The matches of a pattern in a text.
#[derive(Debug)]
pub struct Matches<'p, 't> {
    pattern: &'p EcmaPattern,
    text: Encoded<'t>,
    at: usize,
    counted: usize,
    line: usize,
    steps: usize,
    done: bool,
}

impl Matches<'_, '_> {
    /// Returns the range of the next match in the encoded text.
    fn next_range(&mut self) -> Option<Result<(usize, usize), StepLimit>> {
        let text: &str = &self.text.0;
        if self.done || self.at > text.len() {
            return None;
        }
        let (start, end) = match self.pattern.engine.find(text, self.at, &mut self.steps) {
            Ok(Some(found)) => found,
            Ok(None) => {
                self.done = true;
                return None;
            }
            Err(StepLimit) => {
                self.done = true;
                return Some(Err(StepLimit));
            }
        };
        self.at = if end > start { end } else { end + text[end..].chars().next().map_or(1, char::len_utf8) };
        Some(Ok((start, end)))
    }
}

/// A match, and its range in the encoded text.
type Placed = (EcmaMatch, (usize, usize));

impl Matches<'_, '_> {
    fn next_match(&mut self) -> Option<Result<Placed, StepLimit>> {
        let (start, end) = match self.next_range()? {
            Ok(range) => range,
            Err(error) => return Some(Err(error)),
        };
        let text = self.text.0.as_bytes();
        self.line += memchr::memchr_iter(b'\n', &text[self.counted..start.max(self.counted)]).count();
        self.counted = start.max(self.counted);
        Some(Ok((EcmaMatch { text: self.text.decode(start, end), line: self.line }, (start, end))))
    }

    /// Returns whether a match in a text with hidden units does not depend on them.
    fn is_certain(&self, (start, end): (usize, usize)) -> bool {
        let is_hidden = |unit: char| matches!(unit, MASK_CHARACTER | char::REPLACEMENT_CHARACTER);
        let text = &self.text.0;
        let mut around = text[..start].chars().next_back().into_iter().chain(text[end..].chars().next());
        // Look-around depends on units anywhere.
        !self.pattern.engine.backtracks()
            && (!self.pattern.has_boundary || !text[start..end].contains(is_hidden) && !around.any(is_hidden))
    }
}

impl Iterator for Matches<'_, '_> {
    type Item = Result<EcmaMatch, StepLimit>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_match().map(|found| found.map(|(it, _)| it))
    }
}

/// Returns whether KindLM refuses the pattern, because its text looks like nested quantifiers. The test is crude: it
/// refuses `[+*]`, and accepts `(a|a)*`.
pub fn refused_by_original(pattern: &str) -> bool {
    static NESTED: OnceLock<regex::Regex> = OnceLock::new();
    NESTED
        .get_or_init(|| {
            regex::Regex::new(r"(\+|\*|\{[^}]+\})\)?(\+|\*|\{[^}]+\})").expect("the pattern is fixed and tested")
        })
        .is_match(pattern)
}

impl fmt::Display for PatternError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for PatternError {}

#[cfg(test)]
mod tests;

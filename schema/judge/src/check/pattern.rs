//! Regular expressions as KindLM and ClawSpec understand them: ECMAScript with the flags `g` and `i`, and Python's `re`.
//!
//! A pattern is read by the grammar of its language, and translated for engines with bounded time. ECMAScript searches
//! in UTF-16 units, so `.` matches half of a character beyond the basic plane.

mod engine;
mod reader;
mod set;

use std::{
    borrow::Cow,
    sync::{Arc, LazyLock, OnceLock},
};

pub use self::engine::{PatternError, PatternErrorKind, StepLimit};
use self::{
    engine::{Engine, untranslatable},
    reader::{Read, read},
    set::{Flags, Language, exact_boundaries},
};
use crate::evidence::MASK_CHARACTER;

/// A compiled pattern of ECMAScript. Cheap to clone.
#[derive(Clone, Debug)]
pub struct EcmaPattern {
    engine: Arc<Engine>,
    can_match_empty: bool,
    /// Whether the units next to a match, or in it, decide about word boundaries.
    has_boundary: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EcmaMatch {
    /// The matched text; half a character is U+FFFD.
    pub text: String,
    pub line: usize,
}

const MAX_PATTERN_LENGTH: usize = 20_000;

impl EcmaPattern {
    pub fn compile(pattern: &str, ignore_case: bool) -> Result<EcmaPattern, PatternError> {
        check_length(pattern)?;
        let flags = Flags { ignore_case, ..Flags::default() };
        let Read { text, backtracks, has_boundary, can_be_empty } = read(pattern, Language::Ecmascript, flags)?;
        let engine = Arc::new(Engine::new(text, backtracks)?);
        Ok(EcmaPattern { engine, can_match_empty: can_be_empty, has_boundary })
    }

    pub fn can_match_empty(&self) -> bool {
        self.can_match_empty
    }

    /// Returns whether the pattern matches at the beginning of texts that have nothing in common, without look-around.
    pub fn matches_empty(&self) -> bool {
        let is_at_beginning = |text: &str| matches!(self.engine.find(text, 0, &mut 0), Ok(Some((0, _))));
        let is_open = self.can_match_empty && !self.engine.backtracks();
        is_open && ["", "a", " ", "-\u{a1}"].into_iter().all(is_at_beginning)
    }

    /// Returns the non-overlapping matches from left to right. An error ends the iteration.
    pub fn find_iter<'p, 't>(&'p self, text: &'t str) -> Matches<'p, 't> {
        let text = Encoded::new(text);
        Matches { pattern: self, text, only_certain: false, at: 0, counted: 0, line: 1, steps: 0, done: false }
    }

    /// Returns the matches that exist whatever the [hidden units](MASK_CHARACTER) are. Only a part of the pattern that
    /// takes every unit of a line matches a hidden one.
    pub fn certain_matches<'p, 't>(&'p self, text: &'t str) -> Matches<'p, 't> {
        let only_certain = text.contains([MASK_CHARACTER, char::REPLACEMENT_CHARACTER]);
        Matches { only_certain, ..self.find_iter(text) }
    }
}

/// Returns whether a text is an ECMAScript pattern, as far as its grammar is known here.
pub fn is_pattern(text: &str) -> bool {
    read(text, Language::Ecmascript, Flags::default())
        .map_or_else(|error| error.kind == PatternErrorKind::Untranslatable, |_| true)
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

#[derive(Debug)]
pub struct Matches<'p, 't> {
    pattern: &'p EcmaPattern,
    text: Encoded<'t>,
    /// Whether matches that depend on hidden units are left out.
    only_certain: bool,
    at: usize,
    counted: usize,
    line: usize,
    steps: usize,
    done: bool,
}

impl Matches<'_, '_> {
    /// Returns whether a match in a text with hidden units does not depend on them.
    fn is_certain(&self, start: usize, end: usize) -> bool {
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
        while !self.done && self.at <= self.text.0.len() {
            let text: &str = &self.text.0;
            let (start, end) = match self.pattern.engine.find(text, self.at, &mut self.steps) {
                Ok(Some(found)) => found,
                other => {
                    self.done = true;
                    return other.err().map(Err);
                }
            };
            self.at = if end > start { end } else { end + text[end..].chars().next().map_or(1, char::len_utf8) };
            if self.only_certain && !self.is_certain(start, end) {
                continue;
            }
            self.line += memchr::memchr_iter(b'\n', &text.as_bytes()[self.counted..start.max(self.counted)]).count();
            self.counted = start.max(self.counted);
            return Some(Ok(EcmaMatch { text: self.text.decode(start, end), line: self.line }));
        }
        None
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

/// A compiled pattern of Python 3.11. Cheap to clone.
#[derive(Clone, Debug)]
pub struct PythonPattern {
    engine: Arc<Engine>,
    /// The pattern with word boundaries that are Python's in every text, if the engine has its own.
    exact: Option<(String, Arc<OnceLock<Option<Engine>>>)>,
    matches_empty: bool,
}

/// A character that is part of a word for Python only, or for the engine only.
static ODD: LazyLock<Option<regex::Regex>> = LazyLock::new(|| regex::Regex::new(r"[\w~~[\p{L}\p{N}_]]").ok());

impl PythonPattern {
    /// With `by_lines`, `^` and `$` match at line ends, as with the flag `m`.
    pub fn compile(pattern: &str, by_lines: bool) -> Result<PythonPattern, PatternError> {
        check_length(pattern)?;
        let flags = Flags { lines: by_lines, ..Flags::default() };
        let Read { text, backtracks, has_boundary, can_be_empty } = read(pattern, Language::Python, flags)?;
        let exact = (has_boundary && !backtracks).then(|| (exact_boundaries(&text), Arc::default()));
        let engine = Arc::new(Engine::new(text, backtracks)?);
        let pattern = PythonPattern { engine, exact, matches_empty: false };
        let matches_empty = can_be_empty && matches!(pattern.find(""), Ok(Some(_)));
        Ok(PythonPattern { matches_empty, ..pattern })
    }

    pub fn matches_empty(&self) -> bool {
        self.matches_empty
    }

    /// Returns the byte range of the first match.
    pub fn find(&self, text: &str) -> Result<Option<(usize, usize)>, StepLimit> {
        let is_odd = || !text.is_ascii() && ODD.as_ref().is_none_or(|odd| odd.is_match(text));
        let engine = match &self.exact {
            Some((pattern, engine)) if is_odd() => {
                engine.get_or_init(|| Engine::new(pattern.clone(), true).ok()).as_ref().ok_or(StepLimit)?
            }
            Some(_) | None => &*self.engine,
        };
        engine.find(text, 0, &mut 0)
    }
}

#[cfg(test)]
mod tests;

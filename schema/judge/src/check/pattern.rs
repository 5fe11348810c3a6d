//! Regular expressions as KindLM understands them: ECMAScript with the flags `g` and `i`.
//!
//! A pattern is read by ECMAScript's own grammar, and translated for engines with bounded time. The text is searched in
//! UTF-16 units, so `.` matches half of a character beyond the basic plane, as in ECMAScript.

mod linear;
pub mod python;
mod syntax;
mod translate;
mod units;

use linear::Linear;

use crate::mask::MASK_CHARACTER;
use std::{
    borrow::Cow,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, OnceLock},
};

/// A compiled pattern. Cheap to clone.
#[derive(Clone, Debug)]
pub struct EcmaPattern {
    engine: Engine,
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

/// Maximum nesting of groups.
const MAX_DEPTH: usize = 48;

/// Maximum length of a pattern.
const MAX_PATTERN_LENGTH: usize = 20_000;

/// Maximum size in bytes of a compiled program.
const MAX_COMPILED_BYTES: usize = 1 << 20;

/// Numbers of steps of one backtracking search, tried in this order, so a cheap search costs little.
const STEPS: [usize; 4] = [1 << 14, 1 << 18, 1 << 22, 1 << 25];

/// Maximum number of steps of all searches of one text.
const MAX_STEPS_PER_TEXT: usize = 1 << 26;

#[derive(Clone, Debug)]
enum Engine {
    /// Without look-around and references: linear time.
    Linear(Arc<Linear>),
    /// Backtracking, with a limit on steps.
    Backtracking(Arc<Backtracking>),
}

#[derive(Debug)]
struct Backtracking {
    pattern: String,
    by_limit: [OnceLock<Option<fancy_regex::Regex>>; STEPS.len()],
}

impl EcmaPattern {
    /// Reads and translates a pattern.
    pub fn compile(pattern: &str, ignore_case: bool) -> Result<EcmaPattern, PatternError> {
        check_length(pattern)?;
        let root = syntax::parse(pattern)?;
        let translation = translate::translate(&root, ignore_case)?;
        let engine = Engine::new(translation.pattern, translation.backtracks)?;
        let (can_match_empty, matches_empty) = (root.can_be_empty(), root.is_empty_anywhere());
        Ok(EcmaPattern {
            engine,
            can_match_empty,
            matches_empty,
            has_boundary: root.any(&|node| matches!(node, syntax::Node::WordBoundary { .. })),
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
    syntax::parse(text).is_ok()
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

impl Engine {
    /// Returns the engine for a translated pattern.
    fn new(pattern: String, backtracks: bool) -> Result<Engine, PatternError> {
        if backtracks {
            let engine = Backtracking { pattern, by_limit: Default::default() };
            engine.build(STEPS[0]).map_err(|error| untranslatable(unbuilt(&error)))?;
            return Ok(Engine::Backtracking(Arc::new(engine)));
        }
        let engine = Linear::new(pattern)
            .map_err(|error| untranslatable(format!("the pattern is too complex: {}", first_line(&error))))?;
        Ok(Engine::Linear(Arc::new(engine)))
    }

    /// Returns the first match at or after `at`; adds the steps that it may have taken to `steps`.
    fn find(&self, text: &str, at: usize, steps: &mut usize) -> Result<Option<(usize, usize)>, StepLimit> {
        // Both engines build on one that is known to panic on rare patterns.
        let found = catch_unwind(AssertUnwindSafe(|| match self {
            Engine::Linear(engine) => engine.find(text, at),
            Engine::Backtracking(engine) => engine.find(text, at, steps),
        }));
        found.unwrap_or(Err(StepLimit))
    }
}

/// Returns why an engine rejects a translated pattern. Positions in the translation mean nothing to the reader.
fn unbuilt(error: &fancy_regex::Error) -> String {
    match error {
        fancy_regex::Error::ParseError(_, reason) => {
            let reason = reason.to_string();
            let mut letters = reason.chars();
            let first: String = letters.next().into_iter().flat_map(char::to_lowercase).collect();
            format!("part of the pattern is not supported: {first}{}", letters.as_str())
        }
        _ => format!("the pattern is too complex: {}", first_line(error)),
    }
}

fn first_line(error: &dyn fmt::Display) -> String {
    let text = error.to_string();
    text.lines().next_back().unwrap_or_default().trim().to_owned()
}

impl Backtracking {
    fn build(&self, limit: usize) -> Result<fancy_regex::Regex, fancy_regex::Error> {
        fancy_regex::RegexBuilder::new(&self.pattern)
            .backtrack_limit(limit)
            .delegate_size_limit(MAX_COMPILED_BYTES)
            .delegate_dfa_size_limit(MAX_COMPILED_BYTES)
            .build()
    }

    /// Returns the first match at or after `at`; adds the steps that it may have taken to `steps`.
    fn find(&self, text: &str, at: usize, steps: &mut usize) -> Result<Option<(usize, usize)>, StepLimit> {
        for (limit, cell) in STEPS.iter().zip(&self.by_limit) {
            if *steps + limit > MAX_STEPS_PER_TEXT {
                return Err(StepLimit);
            }
            let Some(engine) = cell.get_or_init(|| self.build(*limit).ok()) else { return Err(StepLimit) };
            *steps += limit;
            match engine.find_from_pos(text, at) {
                Ok(found) => return Ok(found.map(|it| (it.start(), it.end()))),
                Err(fancy_regex::Error::RuntimeError(fancy_regex::RuntimeError::BacktrackLimitExceeded)) => {}
                Err(_) => return Err(StepLimit),
            }
        }
        Err(StepLimit)
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
        Encoded(Cow::Owned(text.encode_utf16().map(translate::encoded).collect()))
    }

    fn decode(&self, start: usize, end: usize) -> String {
        match &self.0 {
            Cow::Borrowed(text) => text[start..end].to_owned(),
            Cow::Owned(text) => {
                let units: Vec<u16> = text[start..end].chars().map(translate::decoded).collect();
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
        match &self.pattern.engine {
            // Look-around depends on units anywhere.
            Engine::Backtracking(_) => false,
            Engine::Linear(_) if !self.pattern.has_boundary => true,
            Engine::Linear(_) => {
                let is_hidden = |unit: char| matches!(unit, MASK_CHARACTER | char::REPLACEMENT_CHARACTER);
                let text = &self.text.0;
                let around = [text[..start].chars().next_back(), text[end..].chars().next()];
                !text[start..end].contains(is_hidden) && !around.into_iter().flatten().any(is_hidden)
            }
        }
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

//! Searches with the engines: in linear time if possible, or else by backtracking, with a limit on steps.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// The reason why a pattern cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    pub kind: PatternErrorKind,
    /// The byte of the pattern where the problem begins.
    pub at: usize,
    /// The problem, as a lower-case sentence without a final period.
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternErrorKind {
    Invalid,
    /// It is not valid in the versions of ECMAScript that most programs run on, and may be valid in the newest.
    TooNew,
    /// It may be valid, and cannot be translated with the same meaning or within bounds.
    Untranslatable,
}

impl fmt::Display for PatternError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for PatternError {}

pub(super) fn untranslatable(message: String) -> PatternError {
    PatternError { kind: PatternErrorKind::Untranslatable, at: 0, message }
}

/// The search was stopped because it took too many steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepLimit;

const MAX_COMPILED_BYTES: usize = 1 << 20;

/// Numbers of steps of one backtracking search, tried in this order, so a cheap search costs little.
const STEPS: [usize; 4] = [1 << 14, 1 << 18, 1 << 22, 1 << 25];

const MAX_STEPS_PER_TEXT: usize = 1 << 26;

#[derive(Debug)]
pub(super) enum Engine {
    /// Without look-around and references.
    Linear(regex::Regex),
    Backtracking(String, fancy_regex::Regex),
}

impl Engine {
    pub(super) fn new(pattern: String, backtracks: bool) -> Result<Engine, PatternError> {
        if backtracks {
            let compiled = backtracking(&pattern, STEPS[0]).map_err(|error| untranslatable(reason(&error)))?;
            return Ok(Engine::Backtracking(pattern, compiled));
        }
        let builder = &mut regex::RegexBuilder::new(&pattern);
        let compiled = builder.size_limit(MAX_COMPILED_BYTES).dfa_size_limit(MAX_COMPILED_BYTES).build();
        compiled.map(Engine::Linear).map_err(|error| untranslatable(too_complex(&error)))
    }

    /// Returns whether look-around or references may depend on characters anywhere.
    pub(super) fn backtracks(&self) -> bool {
        match self {
            Engine::Linear(_) => false,
            Engine::Backtracking(..) => true,
        }
    }

    /// Returns the first match at or after `at`; adds the steps that it may have taken to `steps`.
    pub(super) fn find(&self, text: &str, at: usize, steps: &mut usize) -> Result<Option<(usize, usize)>, StepLimit> {
        // Both engines build on one that is known to panic on rare patterns.
        let found = catch_unwind(AssertUnwindSafe(|| match self {
            Engine::Linear(regex) => Ok(regex.find_at(text, at).map(|found| (found.start(), found.end()))),
            Engine::Backtracking(pattern, compiled) => backtrack(pattern, compiled, text, at, steps),
        }));
        found.unwrap_or(Err(StepLimit))
    }
}

fn backtrack(
    pattern: &str,
    cheap: &fancy_regex::Regex,
    text: &str,
    at: usize,
    steps: &mut usize,
) -> Result<Option<(usize, usize)>, StepLimit> {
    for limit in STEPS {
        if *steps + limit > MAX_STEPS_PER_TEXT {
            return Err(StepLimit);
        }
        *steps += limit;
        let found = if limit == STEPS[0] {
            cheap.find_from_pos(text, at)
        } else {
            backtracking(pattern, limit).and_then(|regex| regex.find_from_pos(text, at))
        };
        match found {
            Ok(found) => return Ok(found.map(|found| (found.start(), found.end()))),
            Err(fancy_regex::Error::RuntimeError(fancy_regex::RuntimeError::BacktrackLimitExceeded)) => {}
            Err(_) => return Err(StepLimit),
        }
    }
    Err(StepLimit)
}

fn backtracking(pattern: &str, limit: usize) -> Result<fancy_regex::Regex, fancy_regex::Error> {
    fancy_regex::RegexBuilder::new(pattern)
        .backtrack_limit(limit)
        .delegate_size_limit(MAX_COMPILED_BYTES)
        .delegate_dfa_size_limit(MAX_COMPILED_BYTES)
        .build()
}

/// Returns why the engine rejects a pattern. Positions in its own syntax mean nothing to the reader.
fn reason(error: &fancy_regex::Error) -> String {
    let fancy_regex::Error::ParseError(_, reason) = error else { return too_complex(error) };
    let reason = reason.to_string();
    let mut letters = reason.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_lowercase).collect();
    format!("part of the pattern is not supported: {first}{}", letters.as_str())
}

fn too_complex(error: &dyn fmt::Display) -> String {
    let text = error.to_string();
    format!("the pattern is too complex: {}", text.lines().next_back().unwrap_or_default().trim())
}

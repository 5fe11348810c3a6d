//! Searches with the engines: in linear time if possible, or else by backtracking, with a limit on steps.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::OnceLock,
};

use super::{PatternError, StepLimit, untranslatable};

/// Maximum size in bytes of a compiled program.
const MAX_COMPILED_BYTES: usize = 1 << 20;

/// Number of states whose program is far below that size, however it is compiled.
const FEW_STATES: usize = MAX_COMPILED_BYTES / 64 / 4;

/// Numbers of steps of one backtracking search, tried in this order, so a cheap search costs little.
const STEPS: [usize; 4] = [1 << 14, 1 << 18, 1 << 22, 1 << 25];

/// Maximum number of steps of all searches of one text.
const MAX_STEPS_PER_TEXT: usize = 1 << 26;

/// A pattern in the syntax of the engines.
#[derive(Debug)]
pub(super) enum Engine {
    /// Without look-around and references.
    Linear {
        pattern: String,
        /// Compiled on first use: an editor only needs to know that the pattern can be compiled.
        compiled: OnceLock<Option<regex::Regex>>,
    },
    Backtracking {
        pattern: String,
        /// Compiled for the lowest number of steps.
        compiled: fancy_regex::Regex,
    },
}

impl Engine {
    /// Returns the engine for a pattern, with an upper bound of the number of its states.
    pub(super) fn new(pattern: String, backtracks: bool, states: usize) -> Result<Engine, PatternError> {
        if backtracks {
            let compiled = backtracking(&pattern, STEPS[0]).map_err(|error| untranslatable(reason(&error)))?;
            return Ok(Engine::Backtracking { pattern, compiled });
        }
        let compiled = OnceLock::new();
        if states > FEW_STATES {
            let regex = linear(&pattern).map_err(|error| untranslatable(too_complex(&error)))?;
            compiled.get_or_init(|| Some(regex));
        }
        Ok(Engine::Linear { pattern, compiled })
    }

    /// Returns whether look-around or references may depend on characters anywhere.
    pub(super) fn backtracks(&self) -> bool {
        match self {
            Engine::Linear { .. } => false,
            Engine::Backtracking { .. } => true,
        }
    }

    /// Returns the first match at or after `at`; adds the steps that it may have taken to `steps`.
    pub(super) fn find(&self, text: &str, at: usize, steps: &mut usize) -> Result<Option<(usize, usize)>, StepLimit> {
        // Both engines build on one that is known to panic on rare patterns.
        let found = catch_unwind(AssertUnwindSafe(|| match self {
            Engine::Linear { pattern, compiled } => {
                let regex = compiled.get_or_init(|| linear(pattern).ok()).as_ref().ok_or(StepLimit)?;
                Ok(regex.find_at(text, at).map(|found| (found.start(), found.end())))
            }
            Engine::Backtracking { pattern, compiled } => backtrack(pattern, compiled, text, at, steps),
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

fn linear(pattern: &str) -> Result<regex::Regex, regex::Error> {
    regex::RegexBuilder::new(pattern).size_limit(MAX_COMPILED_BYTES).dfa_size_limit(MAX_COMPILED_BYTES).build()
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

#[cfg(test)]
mod tests {
    use super::{Engine, linear};
    use crate::check::pattern::reader::{Flags, Language, read};

    /// A pattern that is compiled on first use can be compiled, and one that cannot is refused at once.
    #[test]
    fn pattern_compiled_on_first_use_is_small() {
        let (mut small, mut refused) = (0, 0);
        for part in ["a", "é", ".", r"\w", r"\W", r"\d", "[^a]", "(ab|cd)", "[a-zé]", r"\b", "x*", ".+", "a?", r"\s"]
        {
            for count in [1, 2, 5, 10, 20, 50, 100, 500, 2000] {
                for pattern in
                    [part.repeat(count), format!("(?:{part}){{{count}}}"), format!("(?:(?:{part}){{{count}}}){{10}}")]
                {
                    for language in [Language::Ecmascript, Language::Python] {
                        let flags = Flags { ignore_case: count % 2 == 0, ..Flags::default() };
                        let Ok(read) = read(&pattern, language, flags) else { continue };
                        match (Engine::new(read.text.clone(), false, read.whole.states), linear(&read.text)) {
                            (Ok(engine), Ok(_)) => {
                                let is_lazy =
                                    matches!(&engine, Engine::Linear { compiled, .. } if compiled.get().is_none());
                                small += usize::from(is_lazy);
                                assert!(engine.find("ab", 0, &mut 0).is_ok());
                            }
                            (Err(_), Err(_)) => refused += 1,
                            (found, expected) => panic!("{part} {count}: {found:?} {expected:?}"),
                        }
                    }
                }
            }
        }
        assert!(small > 100 && refused > 20, "{small} {refused}");
    }
}

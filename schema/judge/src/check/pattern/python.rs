//! Regular expressions of Python's `re`, translated for engines with bounded time.
//!
//! The grammar is that of Python 3.11. A pattern that Python refuses is [`PatternErrorKind::Invalid`]; one that Python
//! accepts and that cannot be translated is [`PatternErrorKind::Untranslatable`].

mod grammar;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use super::{
    Backtracking, Engine, Linear, MAX_PATTERN_LENGTH, PatternError, PatternErrorKind, STEPS, StepLimit, first_line,
    unbuilt,
};

/// A compiled pattern. Cheap to clone.
#[derive(Clone, Debug)]
pub struct PythonPattern {
    engine: Engine,
    matches_empty: bool,
}

impl PythonPattern {
    /// Reads and translates a pattern. With `by_lines`, `^` and `$` match at line ends, as with the flag `m`.
    pub fn compile(pattern: &str, by_lines: bool) -> Result<PythonPattern, PatternError> {
        let untranslatable = |message: String| PatternError { kind: PatternErrorKind::Untranslatable, at: 0, message };
        if pattern.len() > MAX_PATTERN_LENGTH {
            return Err(untranslatable(format!("a pattern of more than {MAX_PATTERN_LENGTH} bytes is not supported")));
        }
        let translation = grammar::translate(pattern, by_lines)?;
        let engine = if translation.backtracks {
            let engine = Backtracking { pattern: translation.pattern, by_limit: Default::default() };
            engine.build(STEPS[0]).map_err(|error| untranslatable(unbuilt(&error)))?;
            Engine::Backtracking(Arc::new(engine))
        } else {
            let engine = Linear::new(translation.pattern)
                .map_err(|error| untranslatable(format!("the pattern is too complex: {}", first_line(&error))))?;
            Engine::Linear(Arc::new(engine))
        };
        let pattern = PythonPattern { engine, matches_empty: false };
        let matches_empty = translation.least == 0 && matches!(pattern.find(""), Ok(Some(_)));
        Ok(PythonPattern { matches_empty, ..pattern })
    }

    /// Returns whether the pattern matches the empty string.
    pub fn matches_empty(&self) -> bool {
        self.matches_empty
    }

    /// Returns the byte range of the first match.
    pub fn find(&self, text: &str) -> Result<Option<(usize, usize)>, StepLimit> {
        // Both engines build on one that is known to panic on rare patterns.
        let found = catch_unwind(AssertUnwindSafe(|| match &self.engine {
            Engine::Linear(engine) => engine.find(text, 0),
            Engine::Backtracking(engine) => engine.find(text, 0, &mut 0),
        }));
        found.unwrap_or(Err(StepLimit))
    }
}

#[cfg(test)]
mod tests;

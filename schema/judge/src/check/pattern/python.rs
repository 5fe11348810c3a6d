//! Regular expressions of Python's `re`, translated for engines with bounded time.
//!
//! The grammar is that of Python 3.11. A pattern that Python refuses is [`Invalid`](super::PatternErrorKind::Invalid);
//! one that Python accepts, and that cannot be translated, is
//! [`Untranslatable`](super::PatternErrorKind::Untranslatable).

mod grammar;

use super::{Engine, PatternError, StepLimit, check_length};

/// A compiled pattern. Cheap to clone.
#[derive(Clone, Debug)]
pub struct PythonPattern {
    engine: Engine,
    matches_empty: bool,
}

impl PythonPattern {
    /// Reads and translates a pattern. With `by_lines`, `^` and `$` match at line ends, as with the flag `m`.
    pub fn compile(pattern: &str, by_lines: bool) -> Result<PythonPattern, PatternError> {
        check_length(pattern)?;
        let translation = grammar::translate(pattern, by_lines)?;
        let engine = Engine::new(translation.pattern, translation.backtracks)?;
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
        self.engine.find(text, 0, &mut 0)
    }
}

#[cfg(test)]
mod tests;

//! Regular expressions of Python 3.11's `re`.

use std::sync::{Arc, LazyLock, OnceLock};

use super::{
    Engine, PatternError, StepLimit, check_length,
    reader::{Flags, Language, read},
    set::exact_boundaries,
};

/// A compiled pattern. Cheap to clone.
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
    /// Reads and translates a pattern. With `by_lines`, `^` and `$` match at line ends, as with the flag `m`.
    pub fn compile(pattern: &str, by_lines: bool) -> Result<PythonPattern, PatternError> {
        check_length(pattern)?;
        let read = read(pattern, Language::Python, Flags { lines: by_lines, ..Flags::default() })?;
        let exact = (read.has_boundary && !read.backtracks).then(|| (exact_boundaries(&read.text), Arc::default()));
        let engine = Arc::new(Engine::new(read.text, read.backtracks, read.whole.states)?);
        let pattern = PythonPattern { engine, exact, matches_empty: false };
        let matches_empty = read.whole.least == 0 && matches!(pattern.find(""), Ok(Some(_)));
        Ok(PythonPattern { matches_empty, ..pattern })
    }

    /// Returns whether the pattern matches the empty string.
    pub fn matches_empty(&self) -> bool {
        self.matches_empty
    }

    /// Returns the byte range of the first match.
    pub fn find(&self, text: &str) -> Result<Option<(usize, usize)>, StepLimit> {
        let is_odd = || !text.is_ascii() && ODD.as_ref().is_none_or(|odd| odd.is_match(text));
        let engine = match &self.exact {
            Some((pattern, engine)) if is_odd() => {
                engine.get_or_init(|| Engine::new(pattern.clone(), true, 0).ok()).as_ref().ok_or(StepLimit)?
            }
            Some(_) | None => &*self.engine,
        };
        engine.find(text, 0, &mut 0)
    }
}

#[cfg(test)]
mod tests;

//! Searches texts with [hidden](MASK_CHARACTER) parts: for matches that are certain, and for possible ones.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{Backtracking, EcmaMatch, EcmaPattern, Encoded, Engine, Matches, translate};
use crate::mask::MASK_CHARACTER;

impl EcmaPattern {
    /// Returns matches of at least one unit that exist whatever is hidden. Of overlapping matches of different lengths
    /// only some are returned; a pattern with look-around has none.
    pub fn certain_matches(&self, text: &str) -> Vec<EcmaMatch> {
        let mut found = Vec::new();
        match &self.engine {
            Engine::Linear(_) => {}
            Engine::Backtracking(_) => return found,
        }
        let mut start = 0;
        let mut line = 1;
        for part in text.split(MASK_CHARACTER) {
            let encoded = Encoded::new(part);
            let length = encoded.0.len();
            let is_last = start + part.len() == text.len();
            let mut matches =
                Matches { pattern: self, text: encoded, at: 0, counted: 0, line: 1, steps: 0, done: false };
            while let Some(Ok((from, to))) = matches.next_range() {
                // The neighboring units decide about boundaries: they must be known.
                if from == 0 && start > 0 {
                    matches.at = matches.text.0.chars().next().map_or(1, char::len_utf8);
                } else if from < to && (to < length || is_last) {
                    let before = &matches.text.0.as_bytes()[..from];
                    let line = line + memchr::memchr_iter(b'\n', before).count();
                    found.push(EcmaMatch { text: matches.text.decode(from, to), line });
                }
            }
            line += memchr::memchr_iter(b'\n', part.as_bytes()).count();
            start += part.len() + MASK_CHARACTER.len_utf8();
        }
        found
    }

    /// Returns whether there may be a match, depending on the hidden parts.
    pub fn may_match(&self, text: &str) -> bool {
        if self.can_match_empty {
            return true;
        }
        let relaxed = &self.relaxed;
        let make = || {
            let pattern = translate::relaxed(&relaxed.root, relaxed.ignore_case);
            Backtracking { pattern, by_limit: Default::default() }
        };
        let engine = relaxed.engine.get_or_init(make);
        let text = Encoded::new(text);
        let found = catch_unwind(AssertUnwindSafe(|| engine.find(&text.0, 0, &mut 0)));
        !matches!(found, Ok(Ok(None)))
    }
}

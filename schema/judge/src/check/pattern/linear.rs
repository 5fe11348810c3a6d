//! Searches in linear time. A suite may have a thousand patterns, and an editor only needs to know that they can be
//! compiled: the engine of one that surely can is made on first use.

use std::sync::OnceLock;

use regex_syntax::hir::{Class, Hir, HirKind};

use super::{MAX_COMPILED_BYTES, StepLimit};

/// A pattern without look-around and references.
#[derive(Debug)]
pub(super) struct Linear {
    pattern: String,
    engine: OnceLock<Option<regex::Regex>>,
}

impl Linear {
    /// Refuses patterns that cannot be searched within bounds.
    pub(super) fn new(pattern: String) -> Result<Linear, regex::Error> {
        let engine = OnceLock::new();
        if is_simple(&pattern) {
            return Ok(Linear { pattern, engine });
        }
        if !regex_syntax::parse(&pattern).is_ok_and(|parsed| is_small(&parsed)) {
            return Ok(Linear { engine: OnceLock::from(Some(build(&pattern)?)), pattern });
        }
        Ok(Linear { pattern, engine })
    }

    /// Returns the first match at or after `at`.
    pub(super) fn find(&self, text: &str, at: usize) -> Result<Option<(usize, usize)>, StepLimit> {
        let engine = self.engine.get_or_init(|| build(&self.pattern).ok());
        let engine = engine.as_ref().ok_or(StepLimit)?;
        Ok(engine.find_at(text, at).map(|it| (it.start(), it.end())))
    }
}

fn build(pattern: &str) -> Result<regex::Regex, regex::Error> {
    regex::RegexBuilder::new(pattern).size_limit(MAX_COMPILED_BYTES).dfa_size_limit(MAX_COMPILED_BYTES).build()
}

/// Number of states of a program that is far below the limit, however it is compiled.
const FEW_STATES: usize = MAX_COMPILED_BYTES / STATE_BYTES / 4;

/// Upper bound of the size of a state.
const STATE_BYTES: usize = 64;

/// Upper bound of the states of a range of characters: sixteen sequences of four ranges of bytes.
const RANGE: usize = 64;

/// Returns whether a pattern has only literals, sets of characters, groups and unbounded repetitions, and so few of them
/// that its program is small. Patterns come from translations, whose syntax is valid; most are of this kind, and reading
/// them again would take longer than all other checks of a test.
fn is_simple(pattern: &str) -> bool {
    /// Below the maximum depth of groups.
    const SHORT: usize = 200;
    let (mut rest, mut states) = (pattern.as_bytes(), 0);
    // Number of states that a character of the current set may need.
    let mut of_member = None;
    while let [first, after @ ..] = rest {
        states += of_member.unwrap_or(4);
        rest = match (first, after) {
            (b'\\', [b'x', b'{', code @ ..]) => match code.iter().position(|byte| *byte == b'}') {
                Some(end) => &code[end + 1..],
                None => return false,
            },
            (b'\\', [b'A' | b'z', after @ ..]) if of_member.is_none() => after,
            (b'\\', [b'n', after @ ..]) => after,
            (b'\\', [letter, after @ ..]) if letter.is_ascii_punctuation() => after,
            (b'\\', _) => return false,
            (b'[', [b'^', after @ ..]) if of_member.is_none() => {
                states += 2 * RANGE;
                of_member = Some(RANGE);
                after
            }
            (b'[', after) if of_member.is_none() => {
                of_member = Some(RANGE / 2);
                after
            }
            (b']', after) if of_member.is_some() => {
                of_member = None;
                after
            }
            // Sets of sets, counted repetitions, and flags.
            (b'[' | b'&' | b'~', _) if of_member.is_some() => return false,
            (b'{', _) if of_member.is_none() => return false,
            (b'(', [b'?', b':', after @ ..]) if of_member.is_none() => after,
            // The start or the end of a line.
            (b'(', [b'?', b'm', b':', b'^' | b'$', b')', after @ ..]) if of_member.is_none() => after,
            (b'(', [b'?', ..]) if of_member.is_none() => return false,
            (b'.', after) if of_member.is_none() => {
                states += 2 * RANGE;
                after
            }
            (_, after) => after,
        };
    }
    pattern.len() < SHORT && states < FEW_STATES && of_member.is_none()
}

/// Returns whether the program of a pattern is far below the limit, however it is compiled.
fn is_small(parsed: &Hir) -> bool {
    states(parsed) < FEW_STATES
}

/// Returns an upper bound of the number of states of a pattern's program.
fn states(parsed: &Hir) -> usize {
    match parsed.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len(),
        HirKind::Class(Class::Unicode(class)) => class.ranges().len().saturating_mul(RANGE).saturating_add(1),
        HirKind::Class(Class::Bytes(class)) => class.ranges().len() + 1,
        HirKind::Repetition(repetition) => {
            let copies = repetition.max.unwrap_or(repetition.min).max(repetition.min).saturating_add(1) as usize;
            states(&repetition.sub).saturating_add(2).saturating_mul(copies)
        }
        HirKind::Capture(capture) => states(&capture.sub).saturating_add(2),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().fold(parts.len() + 1, |sum, part| sum.saturating_add(states(part)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Linear, build, is_simple};

    #[test]
    fn simple_pattern_compiles_and_is_small() {
        let parts = [
            "a", "é", " ", ".", ".*", "(?:a|b)", "(?:a)*?", r"\x{10FFFF}", r"[\x{0}-\x{9}\x{B}-\x{FFFF}]", "[^a]",
            "[^abcé]", "[a-z]", r"\.", r"\\", r"\A", r"\z", r"[^\n]", "(?m:^)", "(?m:$)", "a|b", "(b)+", "[&&a]",
            "[[:alpha:]]", "a{3}", "a{1000}", "(?i)a", r"\w", r"\b", "[", r"\x{", "[a-z&&b]",
            "(?:(?:a{100}){100}){100}",
        ];
        let (mut simple, mut other) = (0, 0);
        for first in parts {
            for second in parts {
                for count in [1, 2, 7, 30, 90] {
                    let pattern = format!("{first}{second}").repeat(count);
                    // The syntax of translations is valid.
                    if regex_syntax::parse(&pattern).is_err() {
                        continue;
                    }
                    match is_simple(&pattern) {
                        true => assert!(build(&pattern).is_ok(), "{pattern}"),
                        false => other += 1,
                    }
                    simple += usize::from(is_simple(&pattern));
                }
            }
        }
        assert!(simple > 300 && other > 300, "{simple} {other}");
    }

    /// A pattern that is estimated to be small can be compiled, and one that cannot is refused at once.
    #[test]
    fn size_estimate_agrees_with_compiler() {
        let (mut small, mut refused) = (0, 0);
        for part in ["a", ".", r"\w", r"\W", r"\d", r"[^a]", r"\p{L}", "(ab|cd)", "(?i)straße", r"\b", "x*", ".+", "a?"]
        {
            for count in [1, 2, 5, 10, 20, 50, 100, 500, 2000, 20_000] {
                for pattern in
                    [part.repeat(count), format!("(?:{part}){{{count}}}"), format!("(?:(?:{part}){{{count}}}){{10}}")]
                {
                    match (Linear::new(pattern.clone()), build(&pattern)) {
                        (Ok(linear), Ok(_)) => {
                            small += usize::from(linear.engine.get().is_none());
                            assert!(linear.find("ab", 0).is_ok());
                        }
                        (Err(_), Err(_)) => refused += 1,
                        (found, expected) => panic!("{part} {count}: {found:?} {expected:?}"),
                    }
                }
            }
        }
        assert!(small > 100 && refused > 20, "{small} {refused}");
    }
}

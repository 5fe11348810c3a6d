//! Reads a pattern of either language, and writes it in the syntax of the engines.

mod escapes;
mod groups;

use std::fmt::Write;

use super::{
    PatternError, PatternErrorKind,
    set::{ANY, BOUNDARIES, NEVER, Set, character, exact_boundaries, literal},
};
use groups::{Group, named_groups};

/// Maximum nesting of groups.
const MAX_DEPTH: usize = 48;

/// Maximum bound of a repetition.
const MAX_REPEAT: u64 = 100_000;

/// A language of patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// ECMAScript without the `u` flag, Annex B included, over UTF-16 units.
    Ecmascript,
    /// Python's `re`.
    Python,
}

/// Flags that hold for a part of a pattern.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flags {
    pub(super) ascii: bool,
    pub(super) ignore_case: bool,
    pub(super) lines: bool,
    pub(super) dot_all: bool,
    pub(super) verbose: bool,
}

/// A pattern that was read.
#[derive(Debug)]
pub(super) struct Read {
    /// The pattern in the syntax of the engines.
    pub(super) text: String,
    /// Whether only the backtracking engine can search for it.
    pub(super) backtracks: bool,
    /// Whether characters next to a match, or in it, decide about word boundaries.
    pub(super) has_boundary: bool,
    pub(super) whole: Part,
}

/// A part of a pattern.
#[derive(Clone, Debug, Default)]
pub(super) struct Part {
    text: String,
    /// Minimum number of characters that it matches.
    pub(super) least: u64,
    /// Maximum number of characters; `None` if there is none.
    most: Option<u64>,
    /// Upper bound of the number of states of its program.
    pub(super) states: usize,
    /// Whether it matches the empty string at the beginning of every text.
    pub(super) is_empty_anywhere: bool,
    /// Whether it may try the empty string before something longer.
    prefers_empty: bool,
    /// Whether a quantifier may follow.
    may_repeat: bool,
}

impl Part {
    /// Returns a part that matches one character.
    fn one(text: String, states: usize) -> Part {
        Part { text, least: 1, most: Some(1), states, may_repeat: true, ..Part::default() }
    }

    /// Returns a part that matches no character, and that depends on those around it.
    fn position(text: &str) -> Part {
        Part { text: text.to_owned(), most: Some(0), states: 4, ..Part::default() }
    }

    fn empty() -> Part {
        Part { is_empty_anywhere: true, may_repeat: true, ..Part::position("") }
    }
}

/// Reads a pattern.
pub(super) fn read(pattern: &str, language: Language, flags: Flags) -> Result<Read, PatternError> {
    let (mut letters, mut offsets) = (Vec::with_capacity(pattern.len()), Vec::with_capacity(pattern.len() + 1));
    for (offset, letter) in pattern.char_indices() {
        match language {
            Language::Ecmascript => {
                letters.extend(letter.encode_utf16(&mut [0; 2]).iter().map(|unit| character(u32::from(*unit))));
            }
            Language::Python => letters.push(letter),
        }
        offsets.resize(letters.len(), offset);
    }
    offsets.push(pattern.len());
    let (group_count, names) = match language {
        Language::Ecmascript => named_groups(&letters),
        Language::Python => (0, Vec::new()),
    };
    let flags = Flags { ascii: language == Language::Ecmascript, ..flags };
    let mut reader = Reader {
        language,
        letters,
        offsets,
        flags,
        group_count,
        names,
        at: 0,
        depth: 0,
        groups: Vec::new(),
        references: Vec::new(),
        lookbehinds: 0,
        negatives: Vec::new(),
        backtracks: false,
        has_boundary: false,
    };
    reader.leading_flags()?;
    let whole = reader.alternatives()?;
    if reader.peek().is_some() {
        return Err(reader.invalid(reader.at, "unopened `)`"));
    }
    // ECMAScript forgets a group at the start of each round; the engine keeps the old match.
    if let Some((_, at)) = reader.references.iter().find(|(group, _)| reader.groups[*group].is_forgotten) {
        let message = "a reference to a group that a repetition may skip is not supported";
        return Err(reader.untranslatable(*at, message));
    }
    let Reader { backtracks, has_boundary, .. } = reader;
    let text = if backtracks { exact_boundaries(&whole.text) } else { whole.text.clone() };
    Ok(Read { text, backtracks, has_boundary, whole })
}

struct Reader {
    language: Language,
    letters: Vec<char>,
    /// The byte of the pattern where each letter begins.
    offsets: Vec<usize>,
    flags: Flags,
    /// The number of groups of an ECMAScript pattern.
    group_count: usize,
    /// The names of groups, with their numbers: all of an ECMAScript pattern, and those before this position in Python.
    names: Vec<(String, usize)>,
    at: usize,
    depth: usize,
    /// The groups before this position.
    groups: Vec<Group>,
    /// The index of the group, and the position, of each reference in ECMAScript.
    references: Vec<(usize, usize)>,
    /// The number of look-behinds around this position.
    lookbehinds: usize,
    /// The positions of the negative look-arounds around this position.
    negatives: Vec<usize>,
    backtracks: bool,
    has_boundary: bool,
}

impl Reader {
    fn is_python(&self) -> bool {
        self.language == Language::Python
    }

    fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }

    fn eat(&mut self, text: &str) -> bool {
        let count = text.chars().count();
        let found =
            self.letters.get(self.at..self.at + count).is_some_and(|next| text.chars().eq(next.iter().copied()));
        if found {
            self.at += count;
        }
        found
    }

    fn error(&self, kind: PatternErrorKind, at: usize, message: impl Into<String>) -> PatternError {
        PatternError { kind, at: self.offsets[at.min(self.offsets.len() - 1)], message: message.into() }
    }

    fn invalid(&self, at: usize, message: impl Into<String>) -> PatternError {
        self.error(PatternErrorKind::Invalid, at, message)
    }

    fn untranslatable(&self, at: usize, message: impl Into<String>) -> PatternError {
        self.error(PatternErrorKind::Untranslatable, at, message)
    }

    fn alternatives(&mut self) -> Result<Part, PatternError> {
        let first_group = self.groups.len();
        let mut whole = self.sequence()?;
        while self.eat("|") {
            let branch = self.sequence()?;
            whole.prefers_empty |= whole.least == 0 || branch.prefers_empty;
            whole.text = format!("{}|{}", whole.text, branch.text);
            whole.least = whole.least.min(branch.least);
            whole.most = whole.most.zip(branch.most).map(|(one, other)| one.max(other));
            whole.states = whole.states.saturating_add(branch.states + 2);
            whole.is_empty_anywhere |= branch.is_empty_anywhere;
            self.groups[first_group..].iter_mut().for_each(|group| group.is_optional = true);
        }
        Ok(whole)
    }

    fn sequence(&mut self) -> Result<Part, PatternError> {
        let mut whole = Part::empty();
        loop {
            self.skip_comments()?;
            if matches!(self.peek(), None | Some('|' | ')')) {
                return Ok(whole);
            }
            let (start, first_group) = (self.at, self.groups.len());
            let atom = self.atom()?;
            let part = self.quantified(atom, start, first_group)?;
            whole.text.push_str(&part.text);
            whole.least = whole.least.saturating_add(part.least);
            whole.most = whole.most.zip(part.most).map(|(one, other)| one.saturating_add(other));
            whole.states = whole.states.saturating_add(part.states);
            whole.is_empty_anywhere &= part.is_empty_anywhere;
            whole.prefers_empty |= part.prefers_empty;
        }
    }

    /// Skips what has no meaning in Python: comments, and white space with the flag `x`.
    fn skip_comments(&mut self) -> Result<(), PatternError> {
        loop {
            let start = self.at;
            match self.peek() {
                Some(' ' | '\t'..='\r') if self.flags.verbose => self.at += 1,
                Some('#') if self.flags.verbose => self.skip_until('\n'),
                Some('(') if self.is_python() && self.eat("(?#") => {
                    self.skip_until(')');
                    if !self.eat(")") {
                        return Err(self.invalid(start, "unclosed `(`"));
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    fn skip_until(&mut self, end: char) {
        while self.peek().is_some_and(|letter| letter != end) {
            self.at += 1;
        }
    }

    fn atom(&mut self) -> Result<Part, PatternError> {
        let start = self.at;
        if self.quantifier().is_some() {
            return Err(self.invalid(start, "nothing to repeat"));
        }
        let letter = self.letters[start];
        self.at += 1;
        Ok(match letter {
            '^' if self.flags.lines => Part::position("(?m:^)"),
            '^' => Part { is_empty_anywhere: true, ..Part::position(r"\A") },
            '$' if self.flags.lines => Part::position("(?m:$)"),
            '$' if self.is_python() => {
                self.backtracks = true;
                Part::position(r"(?=\n?\z)")
            }
            '$' => Part::position(r"\z"),
            '.' if self.flags.dot_all => Part::one(ANY.to_owned(), 128),
            '.' if self.is_python() => Part::one(r"[^\n]".to_owned(), 128),
            '.' => Part::one(r"[^\n\r\x{2028}\x{2029}]".to_owned(), 256),
            '[' => self.class(start)?,
            '(' => self.group(start)?,
            '\\' => self.escape(start)?,
            letter => self.letter(letter),
        })
    }

    /// Returns the part for a character that matches only itself.
    fn letter(&self, letter: char) -> Part {
        if !self.flags.ignore_case || !letter.is_alphabetic() {
            return Part::one(literal(letter), letter.len_utf8());
        }
        let mut set = Set::default();
        set.add(self.language, self.flags, letter.into(), letter.into());
        Part::one(set.written(false), set.states)
    }

    fn boundary(&mut self, letter: char) -> Part {
        self.has_boundary = true;
        let (boundary, opposite, _) = BOUNDARIES[usize::from(!self.flags.ascii)];
        // Between the bytes of a character, the linear engine finds the opposite of an ASCII boundary.
        self.backtracks |= letter == 'B' && self.flags.ascii;
        Part::position(if letter == 'B' { opposite } else { boundary })
    }

    /// Returns the bounds of the quantifier at this position, and its length.
    fn quantifier(&self) -> Option<(u64, Option<u64>, usize)> {
        match self.peek()? {
            '*' => Some((0, None, 1)),
            '+' => Some((1, None, 1)),
            '?' => Some((0, Some(1), 1)),
            '{' => self.braces(),
            _ => None,
        }
    }

    /// Returns the bounds in `{2}`, `{2,}` or `{2,5}`, and in Python `{,2}`. `None` if `{` is literal.
    fn braces(&self) -> Option<(u64, Option<u64>, usize)> {
        let rest = &self.letters[self.at + 1..];
        let length = rest.iter().position(|letter| !letter.is_ascii_digit() && *letter != ',')?;
        let text: String = rest[..length].iter().collect();
        let number = |digits: &str| digits.parse().unwrap_or(u64::MAX);
        let (min, max) = match text.split_once(',') {
            _ if rest[length] != '}' || text.is_empty() => return None,
            Some((_, max)) if max.contains(',') => return None,
            Some(("", _)) if !self.is_python() => return None,
            Some((min, max)) => (if min.is_empty() { 0 } else { number(min) }, (!max.is_empty()).then(|| number(max))),
            None => (number(&text), Some(number(&text))),
        };
        Some((min, max, length + 2))
    }

    /// Reads a quantifier after a part, if there is one.
    fn quantified(&mut self, atom: Part, start: usize, first_group: usize) -> Result<Part, PatternError> {
        self.skip_comments()?;
        let at = self.at;
        let Some((min, max, length)) = self.quantifier() else { return Ok(atom) };
        if !atom.may_repeat {
            return Err(self.invalid(at, "nothing to repeat"));
        }
        if max.is_some_and(|max| max < min) {
            return Err(self.invalid(at, "the numbers in the braces are out of order"));
        }
        if min.max(max.unwrap_or(0)) > MAX_REPEAT {
            return Err(self.untranslatable(at, format!("a repetition of more than {MAX_REPEAT} is not supported")));
        }
        self.at += length;
        let suffix = if self.eat("?") {
            "?"
        } else if self.is_python() && self.eat("+") {
            self.backtracks = true;
            "+"
        } else {
            ""
        };
        self.skip_comments()?;
        if self.quantifier().is_some() {
            return Err(self.invalid(self.at, "a repetition cannot be repeated: put it in `(?:…)`"));
        }
        let is_loop = max.is_none_or(|max| max > 1);
        for group in &mut self.groups[first_group..] {
            group.is_forgotten |= is_loop && group.is_optional;
            group.is_optional |= is_loop || min == 0;
        }
        let varies = max.is_none_or(|max| max > min);
        let repeated = Part {
            least: atom.least.saturating_mul(min),
            is_empty_anywhere: atom.is_empty_anywhere || min == 0,
            prefers_empty: atom.prefers_empty || suffix == "?" && varies,
            states: atom.states.saturating_add(2).saturating_mul(max.unwrap_or(min).saturating_add(1) as usize),
            ..Part::default()
        };
        if atom.most == Some(0) || max == Some(0) {
            // Matching an empty part again changes nothing, and the engine does not repeat look-around. In ECMAScript
            // an optional round must match something.
            let never = max == Some(0) || !self.is_python() && min == 0;
            let text = match (min, suffix) {
                _ if never => format!("(?:{NEVER}(?:{})|)", atom.text),
                (0, "?") => format!("(?:|{})", atom.text),
                (0, "+") => format!("(?>{}|)", atom.text),
                (0, _) => format!("(?:{}|)", atom.text),
                _ => format!("(?:{})", atom.text),
            };
            return Ok(Part { text, most: Some(0), ..repeated });
        }
        // An empty round is undone, and the next alternative is tried. The engines end the loop there, which is the same
        // unless a later alternative matches more.
        if varies && atom.least == 0 && atom.prefers_empty {
            let message = "a repeated part that matches the empty string first is not supported";
            return Err(self.untranslatable(start, message));
        }
        let mut text = format!("(?:{})", atom.text);
        let _ = match (min, max) {
            (0, None) => write!(text, "*"),
            (1, None) => write!(text, "+"),
            (0, Some(1)) => write!(text, "?"),
            (min, None) => write!(text, "{{{min},}}"),
            (min, Some(max)) if min == max => write!(text, "{{{min}}}"),
            (min, Some(max)) => write!(text, "{{{min},{max}}}"),
        };
        text.push_str(suffix);
        let most = atom.most.zip(max).and_then(|(most, max)| most.checked_mul(max));
        Ok(Part { text, most, ..repeated })
    }
}

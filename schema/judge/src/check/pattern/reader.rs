//! Reads a pattern of either language, and writes it in the syntax of the engines.
//!
//! Rare constructs are refused as not supported, so their result is unknown: octal codes, conditional and
//! atomic groups, references to groups that may take no part in a match.

mod escapes;

use std::fmt::Write;

use super::{
    engine::{PatternError, PatternErrorKind},
    set::{ANY, BOUNDARIES, Flags, Language, Set, character, exact_boundaries, literal},
};

const MAX_DEPTH: usize = 48;

const MAX_REPEAT: u64 = 100_000;

#[derive(Debug)]
pub(super) struct Read {
    pub(super) text: String,
    /// Whether only the backtracking engine can search for it.
    pub(super) backtracks: bool,
    pub(super) has_boundary: bool,
    pub(super) can_be_empty: bool,
}

#[derive(Clone, Debug, Default)]
struct Part {
    text: String,
    least: u64,
    /// Maximum number of characters; `None` if there is none.
    most: Option<u64>,
    prefers_empty: bool,
    may_repeat: bool,
}

impl Part {
    fn one(text: impl Into<String>) -> Part {
        Part { text: text.into(), least: 1, most: Some(1), may_repeat: true, ..Part::default() }
    }

    fn position(text: &str) -> Part {
        Part { text: text.to_owned(), most: Some(0), ..Part::default() }
    }
}

#[derive(Debug)]
struct Group {
    name: Option<String>,
    /// The minimum and the maximum number of characters that it matches; `None` while it is open.
    width: Option<(u64, Option<u64>)>,
    is_certain: bool,
}

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
    let flags = Flags { ascii: language == Language::Ecmascript, ..flags };
    let mut reader = Reader {
        language,
        letters,
        offsets,
        flags,
        at: 0,
        depth: 0,
        groups: Vec::new(),
        looks: 0,
        lookbehinds: 0,
        backtracks: false,
        has_boundary: false,
    };
    reader.leading_flags();
    let whole = reader.alternatives()?;
    if reader.peek().is_some() {
        return Err(reader.invalid(reader.at, "unopened `)`"));
    }
    let Reader { backtracks, has_boundary, .. } = reader;
    let text = if backtracks { exact_boundaries(&whole.text) } else { whole.text };
    Ok(Read { text, backtracks, has_boundary, can_be_empty: whole.least == 0 })
}

struct Reader {
    language: Language,
    letters: Vec<char>,
    /// The byte of the pattern where each letter begins.
    offsets: Vec<usize>,
    flags: Flags,
    at: usize,
    depth: usize,
    groups: Vec<Group>,
    looks: usize,
    lookbehinds: usize,
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
            self.doubt(first_group);
            let branch = self.sequence()?;
            self.doubt(first_group);
            whole.prefers_empty |= whole.least == 0 || branch.prefers_empty;
            whole.text = format!("{}|{}", whole.text, branch.text);
            whole.least = whole.least.min(branch.least);
            whole.most = whole.most.zip(branch.most).map(|(one, other)| one.max(other));
        }
        Ok(whole)
    }

    fn doubt(&mut self, first_group: usize) {
        self.groups[first_group..].iter_mut().for_each(|group| group.is_certain = false);
    }

    fn sequence(&mut self) -> Result<Part, PatternError> {
        let mut whole = Part { may_repeat: true, ..Part::position("") };
        while !matches!(self.peek(), None | Some('|' | ')')) {
            let (start, first_group) = (self.at, self.groups.len());
            let atom = self.atom()?;
            let part = self.quantified(atom, start, first_group)?;
            whole.text.push_str(&part.text);
            whole.least = whole.least.saturating_add(part.least);
            whole.most = whole.most.zip(part.most).map(|(one, other)| one.saturating_add(other));
            whole.prefers_empty |= part.prefers_empty;
        }
        Ok(whole)
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
            '^' => Part::position(r"\A"),
            '$' if self.flags.lines => Part::position("(?m:$)"),
            '$' if self.is_python() => {
                self.backtracks = true;
                Part::position(r"(?=\n?\z)")
            }
            '$' => Part::position(r"\z"),
            '.' if self.flags.dot_all => Part::one(ANY),
            '.' if self.is_python() => Part::one(r"[^\n]"),
            '.' => Part::one(r"[^\n\r\x{2028}\x{2029}]"),
            '[' => self.class(start)?,
            '(' => self.group(start)?,
            '\\' => self.escape(start)?,
            letter => self.letter(letter),
        })
    }

    /// Returns the part for a character that matches only itself.
    fn letter(&self, letter: char) -> Part {
        if !self.flags.ignore_case || !letter.is_alphabetic() {
            return Part::one(literal(letter));
        }
        let mut set = Set::default();
        set.add(self.language, self.flags, letter.into(), letter.into());
        Part::one(set.written(false))
    }

    fn boundary(&mut self, letter: char) -> Part {
        self.has_boundary = true;
        let (boundary, opposite, _) = BOUNDARIES[usize::from(!self.flags.ascii)];
        // Between the bytes of a character, the linear engine finds the opposite of an ASCII boundary.
        self.backtracks |= letter == 'B' && (self.flags.ascii || self.is_python());
        match letter {
            // Python finds none in an empty text.
            'B' if self.is_python() => Part::position(&format!(r"(?:{opposite}(?!\A\z))")),
            'B' => Part::position(opposite),
            _ => Part::position(boundary),
        }
    }

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

    fn quantified(&mut self, atom: Part, start: usize, first_group: usize) -> Result<Part, PatternError> {
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
        let suffix = if self.eat("?") { "?" } else { "" };
        if self.is_python() && self.peek() == Some('+') {
            return Err(self.untranslatable(at, "a possessive repetition is not supported"));
        }
        if self.quantifier().is_some() {
            return Err(self.invalid(self.at, "a repetition cannot be repeated: put it in `(?:…)`"));
        }
        if atom.most == Some(0) || max == Some(0) {
            return Err(self.untranslatable(start, "a repetition that matches no characters is not supported"));
        }
        if min == 0 {
            self.doubt(first_group);
        }
        let varies = max.is_none_or(|max| max > min);
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
        Ok(Part {
            text,
            least: atom.least.saturating_mul(min),
            most: atom.most.zip(max).and_then(|(most, max)| most.checked_mul(max)),
            prefers_empty: atom.prefers_empty || suffix == "?" && varies,
            may_repeat: false,
        })
    }

    /// Reads a group; its `(` has been read.
    fn group(&mut self, start: usize) -> Result<Part, PatternError> {
        const LOOKS: [(&str, bool); 4] = [("?=", false), ("?!", false), ("?<=", true), ("?<!", true)];
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("groups are nested more than {MAX_DEPTH} levels deep");
            return Err(self.untranslatable(start, message));
        }
        let part = if let Some((opening, is_behind)) = LOOKS.into_iter().find(|(text, _)| self.eat(text)) {
            self.look(start, opening, is_behind)
        } else if self.eat("?:") {
            self.enclosed(start, "(?:")
        } else if self.eat(if self.is_python() { "?P<" } else { "?<" }) {
            let name = self.name(start, '>')?;
            if self.number_of(&name).is_some() {
                let kind = if self.is_python() { PatternErrorKind::Invalid } else { PatternErrorKind::TooNew };
                return Err(self.error(kind, start, format!("duplicate group name `{name}`")));
            }
            self.capture(start, Some(name))
        } else if self.is_python() && self.eat("?P=") {
            let name = self.name(start, ')')?;
            match self.number_of(&name) {
                Some(group) => self.reference(start, group),
                None => Err(self.invalid(start, format!("no group before this position is named `{name}`"))),
            }
        } else if self.eat("?") {
            Err(self.unknown_group(start))
        } else {
            self.capture(start, None)
        };
        self.depth -= 1;
        part
    }

    fn enclosed(&mut self, start: usize, opening: &str) -> Result<Part, PatternError> {
        let body = self.alternatives()?;
        if !self.eat(")") {
            return Err(self.invalid(start, "unclosed `(`"));
        }
        Ok(Part { text: format!("{opening}{})", body.text), may_repeat: true, ..body })
    }

    fn capture(&mut self, start: usize, name: Option<String>) -> Result<Part, PatternError> {
        let index = self.groups.len();
        self.groups.push(Group { name, width: None, is_certain: self.looks == 0 });
        let body = self.enclosed(start, "(")?;
        self.groups[index].width = Some((body.least, body.most));
        Ok(body)
    }

    fn look(&mut self, start: usize, opening: &str, is_behind: bool) -> Result<Part, PatternError> {
        self.backtracks = true;
        self.looks += 1;
        self.lookbehinds += usize::from(is_behind);
        let body = self.enclosed(start, &format!("({opening}"))?;
        self.looks -= 1;
        self.lookbehinds -= usize::from(is_behind);
        if is_behind && self.is_python() && body.most != Some(body.least) {
            return Err(self.invalid(start, "a look-behind needs a pattern of fixed length"));
        }
        Ok(Part { least: 0, most: Some(0), may_repeat: self.is_python() || !is_behind, ..body })
    }

    fn unknown_group(&self, start: usize) -> PatternError {
        const NEVER: &str = "ECMAScript does not support flags inside a pattern, such as `(?i)`";
        const NEWER: &str = "only newer versions of ECMAScript support flags for a group, such as `(?i:a)`";
        if self.is_python() {
            return self.untranslatable(start, "this kind of group, or this place of flags, is not supported");
        }
        let is_flag = |letter: &char| matches!(letter, 'i' | 'm' | 's' | '-');
        let rest = &self.letters[self.at..];
        match rest.iter().find(|letter| !is_flag(letter)) {
            _ if !rest.first().is_some_and(is_flag) => self.invalid(start, "unknown kind of group after `(?`"),
            Some(':') => self.error(PatternErrorKind::TooNew, start, NEWER),
            _ => self.invalid(start, NEVER),
        }
    }

    /// Reads `(?im)` at the beginning of a Python pattern.
    fn leading_flags(&mut self) {
        if !self.is_python() || !self.eat("(?") {
            return;
        }
        let mut flags = self.flags;
        while let Some(letter) = self.peek() {
            match letter {
                'a' => flags.ascii = true,
                'i' => flags.ignore_case = true,
                'm' => flags.lines = true,
                's' => flags.dot_all = true,
                _ => break,
            }
            self.at += 1;
        }
        if self.at > 2 && self.eat(")") {
            self.flags = flags;
        } else {
            self.at = 0;
        }
    }

    fn number_of(&self, name: &str) -> Option<usize> {
        self.groups.iter().position(|group| group.name.as_deref() == Some(name)).map(|index| index + 1)
    }

    fn name(&mut self, start: usize, end: char) -> Result<String, PatternError> {
        let Some(length) = self.letters[self.at..].iter().position(|letter| *letter == end) else {
            return Err(self.invalid(start, format!("missing `{end}` after the name of a group")));
        };
        let name: String = self.letters[self.at..self.at + length].iter().collect();
        self.at += length + 1;
        let is_sign = |letter: char| letter == '_' || letter == '$' && !self.is_python();
        let is_word = !name.starts_with(|letter: char| letter.is_numeric())
            && name.chars().all(|letter| letter.is_alphanumeric() || is_sign(letter));
        if name.is_empty() || !is_word {
            let signs = if self.is_python() { "digits and `_`" } else { "digits, `_` and `$`" };
            return Err(self.invalid(start, format!("the name of a group must be letters, {signs}")));
        }
        Ok(name)
    }

    fn reference(&mut self, start: usize, number: usize) -> Result<Part, PatternError> {
        let found = number.checked_sub(1).and_then(|index| self.groups.get(index));
        // ECMAScript reads a group that took no part as empty, which the engine does not.
        let may_refer = |group: &Group| self.lookbehinds == 0 && (self.is_python() || group.is_certain);
        let (least, most) = match (found, found.and_then(|group| group.width)) {
            (Some(group), Some(width)) if may_refer(group) => width,
            (None, _) if self.is_python() => {
                return Err(self.invalid(start, format!("no group {number} before this position")));
            }
            (Some(_), None) if self.is_python() => {
                return Err(self.invalid(start, format!("group {number} is not closed yet")));
            }
            (None, _) => return Err(self.untranslatable(start, "a reference to no group before it is not supported")),
            (Some(_), _) => {
                let message = "a reference to a group that may take no part in a match is not supported";
                return Err(self.untranslatable(start, message));
            }
        };
        self.backtracks = true;
        let opening = if self.flags.ignore_case { "(?i:" } else { "(?:" };
        let text = format!(r"{opening}\{number})");
        Ok(Part { text, least, most, may_repeat: true, ..Part::default() })
    }
}

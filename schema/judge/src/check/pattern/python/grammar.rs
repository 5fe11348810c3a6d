//! The grammar of Python's `re`, read and written out again for the engines.

mod escapes;

use std::fmt::Write;

use escapes::literal;

use crate::check::pattern::{MAX_DEPTH, PatternError, PatternErrorKind};

/// Maximum bound of a repetition.
const MAX_REPEAT: u64 = 100_000;

/// A pattern for one of the two engines.
pub(super) struct Translation {
    pub(super) pattern: String,
    pub(super) backtracks: bool,
    /// Minimum number of characters of a match.
    pub(super) least: u64,
}

/// Translates a pattern.
pub(super) fn translate(pattern: &str, by_lines: bool) -> Result<Translation, PatternError> {
    let letters: Vec<char> = pattern.chars().collect();
    let mut offsets: Vec<usize> = pattern.char_indices().map(|(at, _)| at).collect();
    offsets.push(pattern.len());
    let mut parser = Parser {
        letters,
        offsets,
        at: 0,
        groups: Vec::new(),
        names: Vec::new(),
        depth: 0,
        backtracks: false,
        flags: Flags { lines: by_lines, ..Flags::default() },
    };
    parser.leading_flags()?;
    let whole = parser.alternatives()?;
    if parser.peek().is_some() {
        return Err(parser.invalid(parser.at, "unopened `)`"));
    }
    let text = if parser.flags.ignore_case { format!("(?i:{})", whole.text) } else { whole.text };
    Ok(Translation { pattern: text, backtracks: parser.backtracks, least: whole.least })
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Flags {
    ascii: bool,
    ignore_case: bool,
    lines: bool,
    dot_all: bool,
    verbose: bool,
}

impl Flags {
    fn set(&mut self, letter: char, on: bool) -> bool {
        match letter {
            'a' => self.ascii = on,
            'i' => self.ignore_case = on,
            'm' => self.lines = on,
            's' => self.dot_all = on,
            'x' => self.verbose = on,
            'u' => self.ascii = false,
            _ => return false,
        }
        true
    }
}

/// A translated part of the pattern, with the minimum and the maximum number of characters that it matches.
#[derive(Clone, Debug)]
struct Part {
    text: String,
    least: u64,
    most: Option<u64>,
    /// Whether a quantifier may follow.
    repeatable: bool,
}

impl Part {
    fn one(text: String) -> Part {
        Part { text, least: 1, most: Some(1), repeatable: true }
    }

    fn none(text: &str) -> Part {
        Part { text: text.to_owned(), least: 0, most: Some(0), repeatable: false }
    }
}

struct Parser {
    letters: Vec<char>,
    offsets: Vec<usize>,
    at: usize,
    /// The groups so far, with the widths of closed ones.
    groups: Vec<Option<(u64, Option<u64>)>>,
    names: Vec<(String, usize)>,
    depth: usize,
    backtracks: bool,
    flags: Flags,
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }

    fn looking_at(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(ahead, letter)| self.letters.get(self.at + ahead) == Some(&letter))
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.looking_at(text);
        if found {
            self.at += text.chars().count();
        }
        found
    }

    fn error(&self, kind: PatternErrorKind, at: usize, message: impl Into<String>) -> PatternError {
        let at = self.offsets[at.min(self.offsets.len() - 1)];
        PatternError { kind, at, message: message.into() }
    }

    fn invalid(&self, at: usize, message: impl Into<String>) -> PatternError {
        self.error(PatternErrorKind::Invalid, at, message)
    }

    fn untranslatable(&self, at: usize, message: impl Into<String>) -> PatternError {
        self.error(PatternErrorKind::Untranslatable, at, message)
    }

    /// Reads `(?im)` at the beginning of the pattern.
    fn leading_flags(&mut self) -> Result<(), PatternError> {
        let mut alphabet = None;
        loop {
            let start = self.at;
            if !self.eat("(?") {
                return Ok(());
            }
            let mut flags = self.flags;
            let mut seen = false;
            while let Some(letter) = self.peek() {
                if letter == 'L' {
                    return Err(self.invalid(self.at, "the flag `L` is for bytes only"));
                }
                self.expect_alphabet(&mut alphabet, letter)?;
                if !flags.set(letter, true) {
                    break;
                }
                seen = true;
                self.at += 1;
            }
            if !seen || self.peek() != Some(')') {
                self.at = start;
                return Ok(());
            }
            self.at += 1;
            self.flags = flags;
        }
    }

    fn alternatives(&mut self) -> Result<Part, PatternError> {
        let mut whole = self.sequence()?;
        while self.eat("|") {
            let branch = self.sequence()?;
            whole.text = format!("{}|{}", whole.text, branch.text);
            whole.least = whole.least.min(branch.least);
            whole.most = whole.most.zip(branch.most).map(|(one, other)| one.max(other));
        }
        Ok(whole)
    }

    fn skip_blanks(&mut self) {
        while self.flags.verbose {
            match self.peek() {
                Some(letter) if letter.is_whitespace() => self.at += 1,
                Some('#') => {
                    while self.peek().is_some_and(|letter| letter != '\n') {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    fn sequence(&mut self) -> Result<Part, PatternError> {
        let mut whole = Part { text: String::new(), least: 0, most: Some(0), repeatable: false };
        loop {
            self.skip_blanks();
            match self.peek() {
                None | Some('|' | ')') => break,
                Some(_) => {}
            }
            let start = self.at;
            let Some(atom) = self.atom()? else { continue };
            let part = self.quantified(atom, start)?;
            whole.text.push_str(&part.text);
            whole.least = whole.least.saturating_add(part.least);
            whole.most = whole.most.zip(part.most).map(|(one, other)| one.saturating_add(other));
        }
        if whole.text.is_empty() {
            whole.text.push_str("(?:)");
        }
        Ok(whole)
    }

    /// Reads an atom; `None` for a comment.
    fn atom(&mut self) -> Result<Option<Part>, PatternError> {
        let start = self.at;
        let Some(letter) = self.peek() else { return Ok(None) };
        if matches!(letter, '*' | '+' | '?') || letter == '{' && self.braces().is_some() {
            return Err(self.invalid(start, "nothing to repeat"));
        }
        self.at += 1;
        Ok(Some(match letter {
            '^' => Part::none(if self.flags.lines { "(?m:^)" } else { r"\A" }),
            '$' if self.flags.lines => Part::none("(?m:$)"),
            '$' => {
                self.backtracks = true;
                Part::none(r"(?=\n?\z)")
            }
            '.' => Part::one(if self.flags.dot_all { r"[\x{0}-\x{10FFFF}]" } else { r"[^\n]" }.to_owned()),
            '[' => self.class(start)?,
            '(' => return self.group(start),
            '\\' => self.escape(start)?,
            letter => Part::one(literal(letter)),
        }))
    }

    /// Returns the bounds in `{2}`, `{,2}`, `{2,}` or `{2,5}`, with the number of letters; `None` if `{` is literal.
    fn braces(&self) -> Option<(u64, Option<u64>, usize)> {
        let rest = &self.letters[self.at + 1..];
        let length = rest.iter().position(|letter| !letter.is_ascii_digit() && *letter != ',')?;
        if rest[length] != '}' || length == 0 {
            return None;
        }
        let text: String = rest[..length].iter().collect();
        let number = |digits: &str| digits.parse::<u64>().unwrap_or(u64::MAX);
        let bounds = match text.split_once(',') {
            None => (number(&text), Some(number(&text))),
            Some((_, max)) if max.contains(',') => return None,
            Some((min, max)) => (if min.is_empty() { 0 } else { number(min) }, (!max.is_empty()).then(|| number(max))),
        };
        Some((bounds.0, bounds.1, length + 2))
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

    fn quantified(&mut self, atom: Part, start: usize) -> Result<Part, PatternError> {
        self.skip_blanks();
        let at = self.at;
        let Some((min, max, length)) = self.quantifier() else { return Ok(atom) };
        if !atom.repeatable {
            return Err(self.invalid(at, "nothing to repeat"));
        }
        if atom.most == Some(0) && !atom.text.starts_with('(') {
            return Err(self.invalid(at, "nothing to repeat"));
        }
        if max.is_some_and(|max| max < min) {
            return Err(self.invalid(at, "the minimum number of repetitions is greater than the maximum"));
        }
        if min > MAX_REPEAT || max.is_some_and(|max| max > MAX_REPEAT) {
            return Err(self.untranslatable(start, format!("a repetition of more than {MAX_REPEAT} is not supported")));
        }
        self.at += length;
        let suffix = if self.eat("?") {
            "?"
        } else if self.eat("+") {
            self.backtracks = true;
            "+"
        } else {
            ""
        };
        self.skip_blanks();
        if self.quantifier().is_some() {
            return Err(self.invalid(self.at, "a repetition cannot be repeated: put it in `(?:…)`"));
        }
        // To repeat what has no length is to match it once, and the engine does not repeat look-around.
        if atom.most == Some(0) && max != Some(0) {
            let text = match (min, suffix) {
                (0, "?") => format!("(?:|{})", atom.text),
                (0, "+") => format!("(?>{}|)", atom.text),
                (0, _) => format!("(?:{}|)", atom.text),
                (_, _) => format!("(?:{})", atom.text),
            };
            return Ok(Part { text, repeatable: false, ..atom });
        }
        let mut text = format!("(?:{})", atom.text);
        match (min, max) {
            (0, None) => text.push('*'),
            (1, None) => text.push('+'),
            (0, Some(1)) => text.push('?'),
            (min, None) => drop(write!(text, "{{{min},}}")),
            (min, Some(max)) => drop(write!(text, "{{{min},{max}}}")),
        }
        text.push_str(suffix);
        let most = match (atom.most, max) {
            (Some(0), _) => Some(0),
            (Some(most), Some(max)) => most.checked_mul(max),
            (_, Some(0)) => Some(0),
            (None, _) | (_, None) => None,
        };
        // A possessive or lazy loop ends where a further quantifier would begin.
        Ok(Part { text: format!("(?:{text})"), least: atom.least.saturating_mul(min), most, repeatable: false })
    }

    fn group(&mut self, start: usize) -> Result<Option<Part>, PatternError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.untranslatable(start, format!("groups are nested more than {MAX_DEPTH} levels deep")));
        }
        let flags = self.flags;
        let part = self.group_body(start);
        self.flags = Flags { ..flags };
        self.depth -= 1;
        part
    }

    fn group_body(&mut self, start: usize) -> Result<Option<Part>, PatternError> {
        if !self.eat("?") {
            return self.capture(start, None).map(Some);
        }
        if self.eat("#") {
            while let Some(letter) = self.peek() {
                self.at += 1;
                if letter == ')' {
                    return Ok(None);
                }
            }
            return Err(self.invalid(start, "unclosed comment"));
        }
        if self.eat(":") {
            let body = self.alternatives()?;
            self.close(start)?;
            return Ok(Some(Part { text: format!("(?:{})", body.text), repeatable: true, ..body }));
        }
        if self.eat(">") {
            self.backtracks = true;
            let body = self.alternatives()?;
            self.close(start)?;
            return Ok(Some(Part { text: format!("(?>{})", body.text), repeatable: true, ..body }));
        }
        if self.eat("P<") {
            let name = self.name(start, '>')?;
            if self.names.iter().any(|(known, _)| *known == name) {
                return Err(self.invalid(start, format!("duplicate group name `{name}`")));
            }
            return self.capture(start, Some(name)).map(Some);
        }
        if self.eat("P=") {
            let name = self.name(start, ')')?;
            let Some(group) = self.names.iter().find(|(known, _)| *known == name).map(|(_, group)| *group) else {
                return Err(self.invalid(start, format!("no group before this position is named `{name}`")));
            };
            return self.reference(start, group).map(Some);
        }
        if self.eat("P") {
            return Err(self.invalid(start, "`(?P` must be followed by `<` or `=`"));
        }
        if self.eat("(") {
            return self.condition(start).map(Some);
        }
        for (opening, behind) in [("=", false), ("!", false), ("<=", true), ("<!", true)] {
            if self.eat(opening) {
                self.backtracks = true;
                let body = self.alternatives()?;
                self.close(start)?;
                if behind && body.most != Some(body.least) {
                    return Err(self.invalid(start, "a look-behind needs a pattern of fixed length"));
                }
                return Ok(Some(Part {
                    text: format!("(?{opening}{})", body.text),
                    least: 0,
                    most: Some(0),
                    repeatable: true,
                }));
            }
        }
        self.scoped_flags(start)
    }

    fn scoped_flags(&mut self, start: usize) -> Result<Option<Part>, PatternError> {
        let before = self.flags;
        let (mut on, mut minus, mut seen) = (true, false, false);
        let mut alphabet = None;
        while let Some(letter) = self.peek() {
            match letter {
                '-' if !minus => (on, minus) = (false, true),
                ':' if seen => {
                    self.at += 1;
                    let body = self.alternatives()?;
                    self.close(start)?;
                    let text = match (before.ignore_case, self.flags.ignore_case) {
                        (false, true) => format!("(?i:{})", body.text),
                        (true, false) => format!("(?-i:{})", body.text),
                        (true, true) | (false, false) => format!("(?:{})", body.text),
                    };
                    return Ok(Some(Part { text, repeatable: true, ..body }));
                }
                ')' if seen && !minus => {
                    return Err(self.invalid(start, "flags for the whole pattern must be at its beginning"));
                }
                'L' => return Err(self.invalid(self.at, "the flag `L` is for bytes only")),
                'a' | 'u' if minus => {
                    return Err(self.invalid(self.at, format!("the flag `{letter}` cannot be turned off")));
                }
                letter if self.flags.set(letter, on) => {
                    self.expect_alphabet(&mut alphabet, letter)?;
                    seen = true;
                }
                _ => break,
            }
            self.at += 1;
        }
        Err(self.invalid(start, "unknown kind of group after `(?`"))
    }

    /// Refuses flags for ASCII and for Unicode together.
    fn expect_alphabet(&self, seen: &mut Option<char>, letter: char) -> Result<(), PatternError> {
        if matches!(letter, 'a' | 'u') && seen.replace(letter).is_some_and(|before| before != letter) {
            return Err(self.invalid(self.at, "the flags `a` and `u` are mutually exclusive"));
        }
        Ok(())
    }

    fn close(&mut self, start: usize) -> Result<(), PatternError> {
        if self.eat(")") { Ok(()) } else { Err(self.invalid(start, "unclosed `(`")) }
    }

    fn capture(&mut self, start: usize, name: Option<String>) -> Result<Part, PatternError> {
        self.groups.push(None);
        let group = self.groups.len();
        if let Some(name) = name {
            self.names.push((name, group));
        }
        let body = self.alternatives()?;
        self.close(start)?;
        self.groups[group - 1] = Some((body.least, body.most));
        Ok(Part { text: format!("({})", body.text), repeatable: true, ..body })
    }

    fn reference(&mut self, start: usize, group: usize) -> Result<Part, PatternError> {
        match self.groups.get(group - 1) {
            None => Err(self.invalid(start, format!("no group {group} before this position"))),
            Some(None) => Err(self.invalid(start, format!("group {group} is not closed yet"))),
            Some(Some((least, most))) => {
                let (least, most) = (*least, *most);
                self.backtracks = true;
                Ok(Part { text: format!(r"(?:\{group})"), least, most, repeatable: true })
            }
        }
    }

    fn condition(&mut self, start: usize) -> Result<Part, PatternError> {
        let name = self.name(start, ')')?;
        let group = match name.parse::<usize>() {
            Ok(number) => number,
            Err(_) => match self.names.iter().find(|(known, _)| *known == name) {
                Some((_, group)) => *group,
                None => return Err(self.invalid(start, format!("no group is named `{name}`"))),
            },
        };
        if group == 0 || group > self.groups.len() {
            return Err(self.invalid(start, format!("no group {group} before this position")));
        }
        self.backtracks = true;
        let yes = self.sequence()?;
        let no = if self.eat("|") { Some(self.sequence()?) } else { None };
        if self.peek() == Some('|') {
            return Err(self.invalid(self.at, "a conditional group has at most two branches"));
        }
        self.close(start)?;
        let other = no.unwrap_or(Part::none("(?:)"));
        Ok(Part {
            text: format!("(?({group}){}|{})", yes.text, other.text),
            least: yes.least.min(other.least),
            most: yes.most.zip(other.most).map(|(one, other)| one.max(other)),
            repeatable: true,
        })
    }

    fn name(&mut self, start: usize, end: char) -> Result<String, PatternError> {
        let mut name = String::new();
        while let Some(letter) = self.peek() {
            self.at += 1;
            if letter == end {
                let number = name.bytes().all(|byte| byte.is_ascii_digit());
                let mut letters = name.chars();
                let head = letters.next().is_some_and(|letter| letter.is_alphabetic() || letter == '_');
                let word = head && letters.all(|letter| letter.is_alphanumeric() || letter == '_');
                if !name.is_empty() && (word || number && end == ')') {
                    return Ok(name);
                }
                return Err(self.invalid(start, "the name of a group must be letters, digits and `_`"));
            }
            name.push(letter);
        }
        Err(self.invalid(start, format!("missing `{end}` after the name of a group")))
    }
}

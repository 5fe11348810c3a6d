//! The grammar of ECMAScript patterns without the `u` flag, Annex B included, over UTF-16 units.

use super::{
    MAX_DEPTH, PatternError, PatternErrorKind,
    units::{Units, digits, line_ends, space, word},
};

/// A pattern as a tree.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Empty,
    /// One unit, as written.
    Unit(u16),
    /// One unit of a set: the set as written, and whether it was written inverted.
    Set {
        units: Units,
        inverted: bool,
    },
    Sequence(Vec<Node>),
    Alternatives(Vec<Node>),
    /// A capturing group, counted from 1.
    Capture(usize, Box<Node>),
    Look {
        behind: bool,
        negative: bool,
        body: Box<Node>,
    },
    Start,
    End,
    WordBoundary {
        negative: bool,
    },
    Reference {
        group: usize,
        at: usize,
    },
    Repeat {
        body: Box<Node>,
        min: u32,
        max: Option<u32>,
        greedy: bool,
        at: usize,
    },
}

pub(super) fn parse(pattern: &str) -> Result<Node, PatternError> {
    let mut units = Vec::with_capacity(pattern.len());
    let mut offsets = Vec::with_capacity(pattern.len() + 1);
    for (offset, character) in pattern.char_indices() {
        for unit in character.encode_utf16(&mut [0; 2]) {
            units.push(*unit);
            offsets.push(offset);
        }
    }
    offsets.push(pattern.len());
    let names = group_names(&units);
    let mut parser = Parser { units, offsets, at: 0, groups: 0, total: names.total, names, depth: 0 };
    let root = parser.alternatives()?;
    match parser.peek() {
        None => Ok(root),
        Some(_) => Err(parser.invalid(parser.at, "unopened `)`")),
    }
}

struct Names {
    total: usize,
    named: Vec<(String, usize)>,
}

/// Counts the groups, and finds the named ones, before their references are read.
fn group_names(units: &[u16]) -> Names {
    let mut names = Names { total: 0, named: Vec::new() };
    let mut in_class = false;
    let mut at = 0;
    let is = |at: usize, character: char| units.get(at) == Some(&(character as u16));
    while at < units.len() {
        if is(at, '\\') {
            at += 2;
            continue;
        }
        if is(at, '[') {
            in_class = true;
        } else if is(at, ']') {
            in_class = false;
        } else if is(at, '(') && !in_class {
            if !is(at + 1, '?') {
                names.total += 1;
            } else if is(at + 2, '<') && !is(at + 3, '=') && !is(at + 3, '!') {
                names.total += 1;
                let end = (at + 3..units.len()).find(|&end| is(end, '>')).unwrap_or(units.len());
                names.named.push((String::from_utf16_lossy(&units[at + 3..end]), names.total));
            }
        }
        at += 1;
    }
    names
}

struct Parser {
    units: Vec<u16>,
    offsets: Vec<usize>,
    at: usize,
    groups: usize,
    total: usize,
    names: Names,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.peek_at(0)
    }

    /// Returns the unit at an offset ahead; halves of surrogate pairs appear as U+FFFD, which has no meaning.
    fn peek_at(&self, ahead: usize) -> Option<char> {
        let unit = *self.units.get(self.at + ahead)?;
        Some(char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn eat(&mut self, character: char) -> bool {
        let found = self.peek() == Some(character);
        self.at += usize::from(found);
        found
    }

    fn looking_at(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(ahead, character)| self.peek_at(ahead) == Some(character))
    }

    fn invalid(&self, at: usize, message: impl Into<String>) -> PatternError {
        self.error(PatternErrorKind::Invalid, at, message)
    }

    fn untranslatable(&self, at: usize, message: impl Into<String>) -> PatternError {
        self.error(PatternErrorKind::Untranslatable, at, message)
    }

    fn error(&self, kind: PatternErrorKind, at: usize, message: impl Into<String>) -> PatternError {
        let at = self.offsets[at.min(self.offsets.len() - 1)];
        PatternError { kind, at, message: message.into() }
    }

    fn alternatives(&mut self) -> Result<Node, PatternError> {
        let mut branches = vec![self.sequence()?];
        while self.eat('|') {
            branches.push(self.sequence()?);
        }
        Ok(if branches.len() == 1 { branches.remove(0) } else { Node::Alternatives(branches) })
    }

    fn sequence(&mut self) -> Result<Node, PatternError> {
        let mut items = Vec::new();
        while let Some(next) = self.peek() {
            if matches!(next, '|' | ')') {
                break;
            }
            let start = self.at;
            let atom = self.atom()?;
            let atom = self.quantified(atom, start)?;
            items.push(atom);
        }
        Ok(match items.len() {
            0 => Node::Empty,
            1 => items.remove(0),
            _ => Node::Sequence(items),
        })
    }

    fn atom(&mut self) -> Result<Node, PatternError> {
        let start = self.at;
        let unit = self.units[start];
        let next = self.peek();
        if matches!(next, Some('*' | '+' | '?')) || next == Some('{') && self.braces().is_some() {
            return Err(self.invalid(start, "nothing to repeat"));
        }
        self.at += 1;
        match next {
            Some('^') => Ok(Node::Start),
            Some('$') => Ok(Node::End),
            Some('.') => Ok(Node::Set { units: line_ends(), inverted: true }),
            Some('(') => self.group(start),
            Some('[') => self.class(start),
            Some('\\') => self.escape(start),
            _ => Ok(Node::Unit(unit)),
        }
    }

    fn group(&mut self, start: usize) -> Result<Node, PatternError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.untranslatable(start, format!("groups are nested more than {MAX_DEPTH} levels deep")));
        }
        let look = [("?=", false, false), ("?!", false, true), ("?<=", true, false), ("?<!", true, true)]
            .into_iter()
            .find(|(text, ..)| self.looking_at(text));
        let group = if let Some((text, behind, negative)) = look {
            self.at += text.len();
            Node::Look { behind, negative, body: Box::new(self.alternatives()?) }
        } else if self.looking_at("?:") {
            self.at += 2;
            self.alternatives()?
        } else {
            if self.looking_at("?<") {
                self.at += 2;
                self.group_name(start)?;
            } else if self.peek() == Some('?') {
                if matches!(self.peek_at(1), Some('i' | 'm' | 's' | '-')) {
                    const NEVER: &str = "ECMAScript does not support flags inside a pattern, such as `(?i)`";
                    const NEWER: &str = "only newer versions of ECMAScript support flags for a group, such as `(?i:a)`";
                    // The newest version supports flags for groups, as in `(?i:a)`.
                    let flags = (1..9).map_while(|ahead| self.peek_at(ahead));
                    let end = flags.into_iter().find(|letter| !matches!(letter, 'i' | 'm' | 's' | '-'));
                    let (kind, message) = match end {
                        Some(':') => (PatternErrorKind::TooNew, NEWER),
                        _ => (PatternErrorKind::Invalid, NEVER),
                    };
                    return Err(self.error(kind, start, message));
                }
                return Err(self.invalid(start, "unknown kind of group after `(?`"));
            }
            self.groups += 1;
            let index = self.groups;
            Node::Capture(index, Box::new(self.alternatives()?))
        };
        if !self.eat(')') {
            return Err(self.invalid(start, "unclosed `(`"));
        }
        self.depth -= 1;
        Ok(group)
    }

    fn group_name(&mut self, start: usize) -> Result<String, PatternError> {
        let mut name = String::new();
        while let Some(next) = self.peek() {
            self.at += 1;
            if next == '>' {
                let mut characters = name.chars();
                let head = characters.next().is_some_and(|it| it.is_alphabetic() || matches!(it, '_' | '$'));
                if head && characters.all(|it| it.is_alphanumeric() || matches!(it, '_' | '$')) {
                    let again = self.names.named.iter().filter(|(other, _)| *other == name).count() > 1;
                    if again {
                        let message = format!("duplicate group name `{name}`");
                        return Err(self.error(PatternErrorKind::TooNew, start, message));
                    }
                    return Ok(name);
                }
                break;
            }
            name.push(next);
        }
        if self.peek().is_none() && !name.contains('>') && self.units.last() != Some(&(b'>' as u16)) {
            return Err(self.invalid(start, "missing `>` after the name of a group"));
        }
        if name.contains(['\\', char::REPLACEMENT_CHARACTER]) {
            return Err(self.untranslatable(start, "escapes in the name of a group are not supported"));
        }
        Err(self.invalid(start, "the name of a group must be letters, digits, `_` and `$`"))
    }

    /// Returns the bounds in `{2}`, `{2,}` or `{2,5}`, with the number of units; `None` if `{` is literal.
    fn braces(&self) -> Option<(u64, Option<u64>, usize)> {
        let text: String =
            (1..).map_while(|ahead| self.peek_at(ahead).filter(|it| it.is_ascii_digit() || *it == ',')).collect();
        if self.peek_at(text.len() + 1) != Some('}') {
            return None;
        }
        let number = |digits: &str| -> Option<u64> {
            (!digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit()))
                .then(|| digits.parse().unwrap_or(u64::MAX))
        };
        let bounds = match text.split_once(',') {
            None => number(&text).map(|exact| (exact, Some(exact))),
            Some((min, "")) => number(min).map(|min| (min, None)),
            Some((min, max)) => number(min).zip(number(max)).map(|(min, max)| (min, Some(max))),
        };
        bounds.map(|(min, max)| (min, max, text.len() + 2))
    }

    fn quantified(&mut self, atom: Node, start: usize) -> Result<Node, PatternError> {
        let at = self.at;
        let (min, max, length) = match self.peek() {
            Some('*') => (0, None, 1),
            Some('+') => (1, None, 1),
            Some('?') => (0, Some(1), 1),
            Some('{') => match self.braces() {
                Some(bounds) => bounds,
                None => return Ok(atom),
            },
            _ => return Ok(atom),
        };
        match &atom {
            Node::Start | Node::End | Node::WordBoundary { .. } | Node::Look { behind: true, .. } => {
                return Err(self.invalid(at, "nothing to repeat"));
            }
            Node::Empty
            | Node::Unit(_)
            | Node::Set { .. }
            | Node::Sequence(_)
            | Node::Alternatives(_)
            | Node::Capture(..)
            | Node::Look { behind: false, .. }
            | Node::Reference { .. }
            | Node::Repeat { .. } => {}
        }
        if max.is_some_and(|max| max < min) {
            return Err(self.invalid(at, "the numbers in the braces are out of order"));
        }
        let bound = |value: u64| u32::try_from(value).ok().filter(|&value| value <= 100_000);
        let (Some(min), Ok(max)) = (bound(min), max.map(|max| bound(max).ok_or(())).transpose()) else {
            return Err(self.untranslatable(at, "a repetition of more than 100000 is not supported"));
        };
        self.at += length;
        let greedy = !self.eat('?');
        if matches!(self.peek(), Some('*' | '+' | '?')) || self.peek() == Some('{') && self.braces().is_some() {
            return Err(self.invalid(self.at, "nothing to repeat"));
        }
        Ok(Node::Repeat { body: Box::new(atom), min, max, greedy, at: self.offsets[start] })
    }

    /// Reads an escape outside of a class.
    fn escape(&mut self, start: usize) -> Result<Node, PatternError> {
        let Some(next) = self.peek() else { return Err(self.invalid(start, "`\\` at the end")) };
        match next {
            'b' | 'B' => {
                self.at += 1;
                return Ok(Node::WordBoundary { negative: next == 'B' });
            }
            '1'..='9' => {
                let text: String =
                    (0..).map_while(|ahead| self.peek_at(ahead).filter(char::is_ascii_digit)).take(9).collect();
                let group = text.parse().unwrap_or(usize::MAX);
                if group <= self.total {
                    self.at += text.len();
                    return Ok(Node::Reference { group, at: self.offsets[start] });
                }
            }
            'k' if !self.names.named.is_empty() => {
                self.at += 1;
                if !self.eat('<') {
                    return Err(self.invalid(start, "`\\k` must be followed by the name of a group in `<>`"));
                }
                let name = self.group_name(start)?;
                let group = self.names.named.iter().find(|(other, _)| *other == name).map(|&(_, group)| group);
                return match group {
                    Some(group) => Ok(Node::Reference { group, at: self.offsets[start] }),
                    None => Err(self.invalid(start, format!("no group is named `{name}`"))),
                };
            }
            _ => {}
        }
        Ok(match self.class_escape() {
            Some((units, inverted)) => Node::Set { units, inverted },
            None => Node::Unit(self.character_escape(false)),
        })
    }

    /// Reads `\d`, `\w`, `\s` or their opposites.
    fn class_escape(&mut self) -> Option<(Units, bool)> {
        let next = self.peek()?;
        let units = match next.to_ascii_lowercase() {
            'd' => digits(),
            'w' => word(),
            's' => space(),
            _ => return None,
        };
        self.at += 1;
        Some((units, next.is_ascii_uppercase()))
    }

    /// Returns the unit that is after a `\`.
    fn character_escape(&mut self, in_class: bool) -> u16 {
        let unit = self.units[self.at];
        let next = self.peek().unwrap_or_default();
        self.at += 1;
        match next {
            't' => 0x09,
            'n' => 0x0A,
            'v' => 0x0B,
            'f' => 0x0C,
            'r' => 0x0D,
            'b' if in_class => 0x08,
            'c' => match self.peek() {
                Some(letter)
                    if letter.is_ascii_alphabetic() || in_class && (letter.is_ascii_digit() || letter == '_') =>
                {
                    self.at += 1;
                    letter as u16 % 32
                }
                _ => {
                    self.at -= 1;
                    u16::from(b'\\')
                }
            },
            'x' => self.hexadecimal(2).unwrap_or(unit),
            'u' => self.hexadecimal(4).unwrap_or(unit),
            '0'..='7' => {
                let mut value = next as u16 - 0x30;
                for _ in 0..2 {
                    let Some(digit @ '0'..='7') = self.peek() else { break };
                    let more = value * 8 + (digit as u16 - 0x30);
                    if more > 0o377 {
                        break;
                    }
                    value = more;
                    self.at += 1;
                }
                value
            }
            _ => unit,
        }
    }

    fn hexadecimal(&mut self, digits: usize) -> Option<u16> {
        let text: Option<String> =
            (0..digits).map(|ahead| self.peek_at(ahead).filter(char::is_ascii_hexdigit)).collect();
        let value = u16::from_str_radix(&text?, 16).ok()?;
        self.at += digits;
        Some(value)
    }

    fn class(&mut self, start: usize) -> Result<Node, PatternError> {
        let inverted = self.eat('^');
        let mut units = Units::default();
        loop {
            if self.peek().is_none() {
                return Err(self.invalid(start, "unclosed `[`"));
            }
            if self.eat(']') {
                return Ok(Node::Set { units, inverted });
            }
            let from = self.at;
            let first = self.class_atom(start)?;
            if self.peek() != Some('-') || matches!(self.peek_at(1), None | Some(']')) {
                units = units.union(&first.units());
                continue;
            }
            self.at += 1;
            let last = self.class_atom(start)?;
            match (first, last) {
                (ClassAtom::One(first), ClassAtom::One(last)) if first > last => {
                    return Err(self.invalid(from, "the range is out of order"));
                }
                (ClassAtom::One(first), ClassAtom::One(last)) => units = units.union(&Units::of(&[(first, last)])),
                (first, last) => {
                    units = units.union(&first.units()).union(&last.units()).union(&Units::one(u16::from(b'-')));
                }
            }
        }
    }

    fn class_atom(&mut self, start: usize) -> Result<ClassAtom, PatternError> {
        if !self.eat('\\') {
            let unit = self.units[self.at];
            self.at += 1;
            return Ok(ClassAtom::One(unit));
        }
        if self.peek().is_none() {
            return Err(self.invalid(start, "unclosed `[`"));
        }
        Ok(match self.class_escape() {
            Some((units, true)) => ClassAtom::Many(units.inverted()),
            Some((units, false)) => ClassAtom::Many(units),
            None => ClassAtom::One(self.character_escape(true)),
        })
    }
}

enum ClassAtom {
    One(u16),
    Many(Units),
}

impl ClassAtom {
    fn units(self) -> Units {
        match self {
            ClassAtom::One(unit) => Units::one(unit),
            ClassAtom::Many(units) => units,
        }
    }
}

impl Node {
    /// Returns whether it can match the empty string.
    pub(super) fn can_be_empty(&self) -> bool {
        match self {
            Node::Empty | Node::Look { .. } | Node::Start | Node::End | Node::WordBoundary { .. } => true,
            // A group may have matched the empty string, and so may one that took no part.
            Node::Reference { .. } => true,
            Node::Unit(_) | Node::Set { .. } => false,
            Node::Sequence(items) => items.iter().all(Node::can_be_empty),
            Node::Alternatives(branches) => branches.iter().any(Node::can_be_empty),
            Node::Capture(_, body) => body.can_be_empty(),
            Node::Repeat { body, min, .. } => *min == 0 || body.can_be_empty(),
        }
    }

    /// Returns whether it matches the empty string at the beginning of every text.
    pub(super) fn is_empty_anywhere(&self) -> bool {
        match self {
            Node::Empty | Node::Start => true,
            Node::Unit(_)
            | Node::Set { .. }
            | Node::Look { .. }
            | Node::End
            | Node::WordBoundary { .. }
            | Node::Reference { .. } => false,
            Node::Sequence(items) => items.iter().all(Node::is_empty_anywhere),
            Node::Alternatives(branches) => branches.iter().any(Node::is_empty_anywhere),
            Node::Capture(_, body) => body.is_empty_anywhere(),
            Node::Repeat { body, min, .. } => *min == 0 || body.is_empty_anywhere(),
        }
    }

    /// Returns the nodes directly below.
    pub(super) fn children(&self) -> &[Node] {
        match self {
            Node::Empty
            | Node::Unit(_)
            | Node::Set { .. }
            | Node::Start
            | Node::End
            | Node::WordBoundary { .. }
            | Node::Reference { .. } => &[],
            Node::Sequence(items) | Node::Alternatives(items) => items,
            Node::Capture(_, body) | Node::Look { body, .. } | Node::Repeat { body, .. } => std::slice::from_ref(body),
        }
    }

    /// Returns whether this node or one below satisfies a predicate.
    pub(super) fn any(&self, is: &dyn Fn(&Node) -> bool) -> bool {
        is(self) || self.children().iter().any(|child| child.any(is))
    }
}

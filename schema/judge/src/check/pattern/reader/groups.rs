//! Groups, references to them, and flags.

use super::{Language, Part, Reader};
use crate::check::pattern::{PatternError, PatternErrorKind};

/// A capturing group.
#[derive(Debug)]
pub(super) struct Group {
    /// The minimum and the maximum number of characters that it matches; `None` while it is open.
    width: Option<(u64, Option<u64>)>,
    is_in_lookbehind: bool,
    /// The positions of the negative look-arounds around it.
    negatives: Vec<usize>,
    /// Whether it may take no part in a match.
    pub(super) is_optional: bool,
    /// Whether a round of a loop may take no part, although an earlier one did.
    pub(super) is_forgotten: bool,
}

/// Returns the number of groups of an ECMAScript pattern, and the names, before references to them are read.
pub(super) fn named_groups(letters: &[char]) -> (usize, Vec<(String, usize)>) {
    let (mut count, mut names) = (0, Vec::new());
    let (mut in_class, mut at) = (false, 0);
    while let Some(letter) = letters.get(at) {
        at += 1;
        match (letter, &letters[at..]) {
            ('\\', _) => at += 1,
            ('[', _) => in_class = true,
            (']', _) => in_class = false,
            ('(', ['?', '<', '=' | '!', ..]) => {}
            ('(', ['?', '<', name @ ..]) if !in_class => {
                count += 1;
                names.push((name.iter().take_while(|letter| **letter != '>').collect(), count));
            }
            ('(', ['?', ..]) => {}
            ('(', _) if !in_class => count += 1,
            _ => {}
        }
    }
    (count, names)
}

impl Reader {
    /// Reads a group; its `(` has been read.
    pub(super) fn group(&mut self, start: usize) -> Result<Part, PatternError> {
        const LOOKS: [(&str, bool, bool); 4] =
            [("=", false, false), ("!", false, true), ("<=", true, false), ("<!", true, true)];
        self.depth += 1;
        if self.depth > super::MAX_DEPTH {
            let message = format!("groups are nested more than {} levels deep", super::MAX_DEPTH);
            return Err(self.untranslatable(start, message));
        }
        let flags = self.flags;
        let part = if !self.eat("?") {
            self.capture(start)
        } else if self.eat(":") {
            self.enclosed(start, "(?:")
        } else if let Some((opening, is_behind, is_negative)) = LOOKS.into_iter().find(|(text, ..)| self.eat(text)) {
            self.look(start, opening, is_behind, is_negative)
        } else {
            match self.language {
                Language::Ecmascript => self.ecmascript_group(start),
                Language::Python => self.python_group(start),
            }
        };
        self.flags = flags;
        self.depth -= 1;
        part
    }

    /// Reads the rest of a group.
    fn enclosed(&mut self, start: usize, opening: &str) -> Result<Part, PatternError> {
        let body = self.alternatives()?;
        self.close(start)?;
        Ok(Part { text: format!("{opening}{})", body.text), may_repeat: true, ..body })
    }

    fn close(&mut self, start: usize) -> Result<(), PatternError> {
        if self.eat(")") { Ok(()) } else { Err(self.invalid(start, "unclosed `(`")) }
    }

    fn capture(&mut self, start: usize) -> Result<Part, PatternError> {
        let index = self.groups.len();
        self.groups.push(Group {
            width: None,
            is_in_lookbehind: self.lookbehinds > 0,
            negatives: self.negatives.clone(),
            is_optional: false,
            is_forgotten: false,
        });
        let body = self.enclosed(start, "(")?;
        self.groups[index].width = Some((body.least, body.most));
        Ok(Part { states: body.states.saturating_add(2), ..body })
    }

    fn look(&mut self, start: usize, opening: &str, behind: bool, negative: bool) -> Result<Part, PatternError> {
        self.backtracks = true;
        self.lookbehinds += usize::from(behind);
        let around = self.negatives.len();
        self.negatives.extend(negative.then_some(start));
        let body = self.enclosed(start, &format!("(?{opening}"))?;
        self.negatives.truncate(around);
        self.lookbehinds -= usize::from(behind);
        if behind && self.is_python() && body.most != Some(body.least) {
            return Err(self.invalid(start, "a look-behind needs a pattern of fixed length"));
        }
        let may_repeat = self.is_python() || !behind;
        Ok(Part { least: 0, most: Some(0), is_empty_anywhere: false, may_repeat, ..body })
    }

    fn ecmascript_group(&mut self, start: usize) -> Result<Part, PatternError> {
        const NEVER: &str = "ECMAScript does not support flags inside a pattern, such as `(?i)`";
        const NEWER: &str = "only newer versions of ECMAScript support flags for a group, such as `(?i:a)`";
        if self.eat("<") {
            let name = self.name(start, '>')?;
            if self.names.iter().filter(|(other, _)| *other == name).count() > 1 {
                let message = format!("duplicate group name `{name}`");
                return Err(self.error(PatternErrorKind::TooNew, start, message));
            }
            return self.capture(start);
        }
        let is_flag = |letter: &char| matches!(letter, 'i' | 'm' | 's' | '-');
        let rest = &self.letters[self.at..];
        Err(match rest.iter().find(|letter| !is_flag(letter)) {
            _ if !rest.first().is_some_and(is_flag) => self.invalid(start, "unknown kind of group after `(?`"),
            Some(':') => self.error(PatternErrorKind::TooNew, start, NEWER),
            _ => self.invalid(start, NEVER),
        })
    }

    fn python_group(&mut self, start: usize) -> Result<Part, PatternError> {
        if self.eat(">") {
            self.backtracks = true;
            return self.enclosed(start, "(?>");
        }
        if self.eat("P<") {
            let name = self.name(start, '>')?;
            if self.names.iter().any(|(known, _)| *known == name) {
                return Err(self.invalid(start, format!("duplicate group name `{name}`")));
            }
            self.names.push((name, self.groups.len() + 1));
            return self.capture(start);
        }
        if self.eat("P=") {
            let name = self.name(start, ')')?;
            return match self.number_of(&name) {
                Some(group) => self.reference(start, group),
                None => Err(self.invalid(start, format!("no group before this position is named `{name}`"))),
            };
        }
        if self.eat("P") {
            return Err(self.invalid(start, "`(?P` must be followed by `<` or `=`"));
        }
        if self.eat("(") {
            return self.condition(start);
        }
        self.scoped_flags(start)
    }

    /// Reads a group with two alternatives, which depend on another group.
    fn condition(&mut self, start: usize) -> Result<Part, PatternError> {
        let name = self.name(start, ')')?;
        let Some(group) = name.parse().ok().or_else(|| self.number_of(&name)) else {
            return Err(self.invalid(start, format!("no group is named `{name}`")));
        };
        if group == 0 || group > self.groups.len() {
            return Err(self.invalid(start, format!("no group {group} before this position")));
        }
        self.backtracks = true;
        let yes = self.sequence()?;
        let no = if self.eat("|") { self.sequence()? } else { Part::empty() };
        if self.peek() == Some('|') {
            return Err(self.invalid(self.at, "a conditional group has at most two branches"));
        }
        self.close(start)?;
        Ok(Part {
            text: format!("(?({group}){}|{})", yes.text, no.text),
            least: yes.least.min(no.least),
            most: yes.most.zip(no.most).map(|(one, other)| one.max(other)),
            states: yes.states.saturating_add(no.states),
            is_empty_anywhere: false,
            prefers_empty: true,
            may_repeat: true,
        })
    }

    /// Reads `(?im)` at the beginning of a Python pattern.
    pub(super) fn leading_flags(&mut self) -> Result<(), PatternError> {
        let mut alphabet = None;
        while self.is_python() {
            let (start, before) = (self.at, self.flags);
            let mut is_set = false;
            if self.eat("(?") {
                while let Some(letter) = self.peek().filter(|letter| self.set_flag(*letter, true)) {
                    self.expect_alphabet(&mut alphabet, letter)?;
                    self.at += 1;
                    is_set = true;
                }
                if self.peek() == Some('L') {
                    return Err(self.invalid(self.at, "the flag `L` is for bytes only"));
                }
            }
            if !is_set || !self.eat(")") {
                (self.at, self.flags) = (start, before);
                return Ok(());
            }
        }
        Ok(())
    }

    /// Reads a group with flags: `(?i-m:…)`.
    fn scoped_flags(&mut self, start: usize) -> Result<Part, PatternError> {
        let (mut on, mut is_set) = (true, false);
        let mut alphabet = None;
        while let Some(letter) = self.peek() {
            match letter {
                '-' if on => on = false,
                ':' if is_set => {
                    self.at += 1;
                    return self.enclosed(start, "(?:");
                }
                ')' if is_set && on => {
                    return Err(self.invalid(start, "flags for the whole pattern must be at its beginning"));
                }
                'L' => return Err(self.invalid(self.at, "the flag `L` is for bytes only")),
                'a' | 'u' if !on => {
                    return Err(self.invalid(self.at, format!("the flag `{letter}` cannot be turned off")));
                }
                letter if self.set_flag(letter, on) => {
                    self.expect_alphabet(&mut alphabet, letter)?;
                    is_set = true;
                }
                _ => break,
            }
            self.at += 1;
        }
        Err(self.invalid(start, "unknown kind of group after `(?`"))
    }

    /// Sets a flag. Returns whether it exists.
    fn set_flag(&mut self, letter: char, on: bool) -> bool {
        let flags = &mut self.flags;
        match letter {
            'a' => flags.ascii = on,
            'i' => flags.ignore_case = on,
            'm' => flags.lines = on,
            's' => flags.dot_all = on,
            'x' => flags.verbose = on,
            'u' => flags.ascii = false,
            _ => return false,
        }
        true
    }

    /// Refuses flags for ASCII and for Unicode together.
    fn expect_alphabet(&self, seen: &mut Option<char>, letter: char) -> Result<(), PatternError> {
        if matches!(letter, 'a' | 'u') && seen.replace(letter).is_some_and(|before| before != letter) {
            return Err(self.invalid(self.at, "the flags `a` and `u` are mutually exclusive"));
        }
        Ok(())
    }

    pub(super) fn number_of(&self, name: &str) -> Option<usize> {
        self.names.iter().find(|(known, _)| known == name).map(|(_, number)| *number)
    }

    /// Reads the name of a group, or in Python a number in parentheses, up to `end`.
    pub(super) fn name(&mut self, start: usize, end: char) -> Result<String, PatternError> {
        let Some(length) = self.letters[self.at..].iter().position(|letter| *letter == end) else {
            return Err(self.invalid(start, format!("missing `{end}` after the name of a group")));
        };
        let name: String = self.letters[self.at..self.at + length].iter().collect();
        self.at += length + 1;
        let is_sign = |letter: char| letter == '_' || letter == '$' && !self.is_python();
        let is_number = end == ')' && name.bytes().all(|byte| byte.is_ascii_digit());
        let is_word = !name.starts_with(|letter: char| letter.is_numeric())
            && name.chars().all(|letter| letter.is_alphanumeric() || is_sign(letter));
        if name.is_empty() || !is_word && !is_number {
            let signs = if self.is_python() { "digits and `_`" } else { "digits, `_` and `$`" };
            return Err(self.invalid(start, format!("the name of a group must be letters, {signs}")));
        }
        Ok(name)
    }

    /// Returns the part for a reference to a group.
    pub(super) fn reference(&mut self, start: usize, number: usize) -> Result<Part, PatternError> {
        let found = number.checked_sub(1).and_then(|index| self.groups.get(index));
        let width = found.and_then(|group| group.width);
        let text = match self.language {
            Language::Python => match (found, width) {
                (None, _) => return Err(self.invalid(start, format!("no group {number} before this position"))),
                (Some(_), None) => return Err(self.invalid(start, format!("group {number} is not closed yet"))),
                (Some(_), Some(_)) => format!(r"\{number}"),
            },
            Language::Ecmascript => {
                if self.lookbehinds > 0 || found.is_some_and(|group| group.is_in_lookbehind) {
                    return Err(self.untranslatable(start, "back-references in a look-behind are not supported"));
                }
                let is_denied = |group: &Group| group.negatives.iter().any(|around| !self.negatives.contains(around));
                // A group that took no part is empty.
                if width.is_none() || found.is_some_and(is_denied) {
                    return Ok(Part { is_empty_anywhere: false, ..Part::empty() });
                }
                self.references.push((number - 1, start));
                format!(r"(?({number})\{number}|)")
            }
        };
        self.backtracks = true;
        let (least, most) = width.unwrap_or_default();
        let least = if self.is_python() { least } else { 0 };
        let opening = if self.flags.ignore_case { "(?i:" } else { "(?:" };
        Ok(Part { text: format!("{opening}{text})"), least, most, states: 8, may_repeat: true, ..Part::default() })
    }
}

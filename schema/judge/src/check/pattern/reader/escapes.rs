//! Escapes and sets.

use super::{Language, Part, Reader, Set};
use crate::check::pattern::{
    engine::PatternError,
    set::{character, code},
};

enum Member {
    One(char),
    /// `\d`, `\s`, `\w` or their opposites.
    Category(char),
}

impl Reader {
    /// Reads an escape outside of a set; its `\` has been read.
    pub(super) fn escape(&mut self, start: usize) -> Result<Part, PatternError> {
        match (self.peek(), self.language) {
            (Some(letter @ ('b' | 'B')), _) => {
                self.at += 1;
                return Ok(self.boundary(letter));
            }
            (Some(letter @ ('A' | 'Z')), Language::Python) => {
                self.at += 1;
                return Ok(Part::position(if letter == 'A' { r"\A" } else { r"\z" }));
            }
            (Some('1'..='9'), _) => {
                let digits = self.letters[self.at..].iter().take_while(|letter| letter.is_ascii_digit());
                let digits: String = digits.collect();
                if self.is_python() && digits.len() > 2 {
                    return Err(self.untranslatable(start, OCTAL));
                }
                self.at += digits.len();
                return self.reference(start, digits.parse().unwrap_or(usize::MAX));
            }
            (Some('k'), Language::Ecmascript) => {
                self.at += 1;
                let is_named = self.groups.iter().any(|group| group.name.is_some()) && self.eat("<");
                let name = if is_named { self.name(start, '>')? } else { String::new() };
                let group = self.number_of(&name);
                let rest: String = self.letters[self.at..].iter().collect();
                if is_named && group.is_none() && !rest.contains(&format!("(?<{name}>")) {
                    return Err(self.invalid(start, format!("no group is named `{name}`")));
                }
                return self.reference(start, group.unwrap_or(usize::MAX));
            }
            _ => {}
        }
        Ok(match self.escaped(start, false)? {
            Member::One(letter) => self.letter(letter),
            Member::Category(letter) => {
                let mut set = Set::default();
                set.add_category(self.language, self.flags, letter);
                Part::one(set.written(false))
            }
        })
    }

    /// Reads an escape of a character or a category; its `\` has been read.
    fn escaped(&mut self, start: usize, in_set: bool) -> Result<Member, PatternError> {
        let Some(letter) = self.peek() else { return Err(self.invalid(start, "`\\` at the end")) };
        self.at += 1;
        Ok(Member::One(match (letter, self.language) {
            ('d' | 'D' | 's' | 'S' | 'w' | 'W', _) => return Ok(Member::Category(letter)),
            ('b', _) if in_set => '\x08',
            ('f', _) => '\x0C',
            ('n', _) => '\n',
            ('r', _) => '\r',
            ('t', _) => '\t',
            ('v', _) => '\x0B',
            ('a', Language::Python) => '\x07',
            ('0', _) if !self.peek().is_some_and(|next| next.is_ascii_digit()) => '\0',
            ('0'..='9', _) => return Err(self.untranslatable(start, OCTAL)),
            ('x', _) => self.hexadecimal(start, letter, 2)?,
            ('u', _) => self.hexadecimal(start, letter, 4)?,
            ('c', Language::Ecmascript) => {
                return Err(self.untranslatable(start, "`\\c` is not supported: write `\\x…`"));
            }
            ('N' | 'U', Language::Python) => {
                return Err(self.untranslatable(start, "this escape is not supported: write `\\u…`"));
            }
            (letter, Language::Python) if letter.is_ascii_alphanumeric() => {
                let message = format!("`\\{letter}` is not a valid escape in a Python regular expression");
                return Err(self.invalid(start, message));
            }
            (letter, _) => letter,
        }))
    }

    /// Reads a code of this many digits. Without them, ECMAScript takes the letter before.
    fn hexadecimal(&mut self, start: usize, letter: char, count: usize) -> Result<char, PatternError> {
        let digits: String =
            self.letters[self.at..].iter().take(count).take_while(|digit| digit.is_ascii_hexdigit()).collect();
        if digits.len() < count {
            return match self.language {
                Language::Ecmascript => Ok(letter),
                Language::Python => Err(self.invalid(start, format!("`\\{letter}` needs {count} hexadecimal digits"))),
            };
        }
        self.at += count;
        let value = u32::from_str_radix(&digits, 16).unwrap_or(u32::MAX);
        match self.language {
            Language::Ecmascript => Ok(character(value)),
            Language::Python => char::from_u32(value)
                .ok_or_else(|| self.untranslatable(start, "an unpaired surrogate cannot be searched for")),
        }
    }

    /// Reads a set; its `[` has been read.
    pub(super) fn class(&mut self, start: usize) -> Result<Part, PatternError> {
        let is_inverted = self.eat("^");
        let mut set = Set::default();
        let mut is_first = self.is_python();
        loop {
            let from = self.at;
            // The first `]` is a member in Python.
            if !is_first && self.eat("]") {
                return Ok(Part::one(set.written(is_inverted)));
            }
            is_first = false;
            let member = self.member(start)?;
            if self.peek() != Some('-') || matches!(self.letters.get(self.at + 1), None | Some(']')) {
                self.add(&mut set, member);
                continue;
            }
            self.at += 1;
            match (member, self.member(start)?) {
                (Member::One(low), Member::One(high)) => {
                    let (low, high) = (self.code(low), self.code(high));
                    if low > high {
                        return Err(self.invalid(from, "the range is out of order"));
                    }
                    set.add(self.language, self.flags, low, high);
                }
                (Member::One(_) | Member::Category(_), _) if self.is_python() => {
                    return Err(self.invalid(from, "a range needs a character at both ends"));
                }
                (low, high) => [low, Member::One('-'), high].into_iter().for_each(|it| self.add(&mut set, it)),
            }
        }
    }

    fn add(&self, set: &mut Set, member: Member) {
        match member {
            Member::One(letter) => set.add(self.language, self.flags, self.code(letter), self.code(letter)),
            Member::Category(letter) => set.add_category(self.language, self.flags, letter),
        }
    }

    /// Returns the code of a character, by which ranges are ordered.
    fn code(&self, letter: char) -> u32 {
        if self.is_python() { letter.into() } else { code(letter) }
    }

    fn member(&mut self, start: usize) -> Result<Member, PatternError> {
        let at = self.at;
        let Some(letter) = self.peek() else { return Err(self.invalid(start, "unclosed `[`")) };
        self.at += 1;
        match letter {
            '\\' if self.peek().is_none() => Err(self.invalid(start, "unclosed `[`")),
            '\\' => self.escaped(at, true),
            letter => Ok(Member::One(letter)),
        }
    }
}

const OCTAL: &str = "an octal code is not supported: write `\\x…`";

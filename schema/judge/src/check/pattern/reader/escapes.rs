//! Escapes and sets.

use super::{Language, Part, Reader, Set};
use crate::check::pattern::{
    PatternError,
    set::{character, code},
};

/// A member of a set.
enum Member {
    One(char),
    /// `\d`, `\s`, `\w` or their opposites.
    Category(char),
}

impl Reader {
    /// Reads an escape outside of a set; its `\` has been read.
    pub(super) fn escape(&mut self, start: usize) -> Result<Part, PatternError> {
        let Some(letter) = self.peek() else { return Err(self.invalid(start, "`\\` at the end")) };
        match (letter, self.language) {
            ('b' | 'B', _) => {
                self.at += 1;
                return Ok(self.boundary(letter));
            }
            ('A' | 'Z', Language::Python) => {
                self.at += 1;
                return Ok(Part::position(if letter == 'A' { r"\A" } else { r"\z" }));
            }
            ('1'..='9', _) => {
                if let Some((number, length)) = self.group_number() {
                    self.at += length;
                    return self.reference(start, number);
                }
            }
            ('k', Language::Ecmascript) if !self.names.is_empty() => {
                self.at += 1;
                if !self.eat("<") {
                    return Err(self.invalid(start, "`\\k` must be followed by the name of a group in `<>`"));
                }
                let name = self.name(start, '>')?;
                return match self.number_of(&name) {
                    Some(number) => self.reference(start, number),
                    None => Err(self.invalid(start, format!("no group is named `{name}`"))),
                };
            }
            _ => {}
        }
        Ok(match self.escaped(start, false)? {
            Member::One(letter) => self.letter(letter),
            Member::Category(letter) => {
                let mut set = Set::default();
                set.add_category(self.language, self.flags, letter);
                Part::one(set.written(false), set.states)
            }
        })
    }

    /// Returns the number of the group to which the digits after a `\` refer, and how many they are. `None` if they are
    /// the code of a character.
    fn group_number(&self) -> Option<(usize, usize)> {
        let rest = &self.letters[self.at..];
        let count = rest.iter().take_while(|letter| letter.is_ascii_digit()).count();
        let length = match self.language {
            Language::Ecmascript => count.min(9),
            Language::Python => count.min(2),
        };
        let number = rest[..length].iter().collect::<String>().parse().unwrap_or(usize::MAX);
        let is_group = match self.language {
            Language::Ecmascript => number <= self.group_count,
            Language::Python => count < 3 || !rest[..3].iter().all(|digit| digit.is_digit(8)),
        };
        is_group.then_some((number, length))
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
            ('0'..='7', _) => self.octal(start)?,
            ('x', _) => self.hexadecimal(start, letter, 2)?,
            ('u', _) => self.hexadecimal(start, letter, 4)?,
            ('U', Language::Python) => self.hexadecimal(start, letter, 8)?,
            ('c', Language::Ecmascript) => match self.peek() {
                Some(next) if next.is_ascii_alphabetic() || in_set && (next.is_ascii_digit() || next == '_') => {
                    self.at += 1;
                    character(u32::from(next) % 32)
                }
                _ => {
                    self.at -= 1;
                    '\\'
                }
            },
            ('N', Language::Python) => {
                return Err(self.untranslatable(start, "named characters are not supported: write `\\u…`"));
            }
            (letter, Language::Python) if letter.is_ascii_alphanumeric() => {
                let message = format!("`\\{letter}` is not a valid escape in a Python regular expression");
                return Err(self.invalid(start, message));
            }
            (letter, _) => letter,
        }))
    }

    /// Reads a code of up to three octal digits; the first has been read.
    fn octal(&mut self, start: usize) -> Result<char, PatternError> {
        let mut value = 0;
        self.at -= 1;
        for _ in 0..3 {
            let Some(digit) = self.peek().and_then(|digit| digit.to_digit(8)) else { break };
            let more = value * 8 + digit;
            if more > 0o377 {
                if self.is_python() {
                    return Err(self.invalid(start, "an octal escape must not exceed `\\377`"));
                }
                break;
            }
            value = more;
            self.at += 1;
        }
        Ok(character(value))
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
            Language::Python => char::from_u32(value).ok_or_else(|| match value {
                0..=0xFFFF => self.untranslatable(start, "an unpaired surrogate cannot be searched for"),
                _ => self.invalid(start, "not a valid character"),
            }),
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
                let states = set.states + if is_inverted { 128 } else { 0 };
                return Ok(Part::one(set.written(is_inverted), states));
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

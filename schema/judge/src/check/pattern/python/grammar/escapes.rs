//! Escapes, outside and inside of brackets.

use super::{Parser, Part};
use crate::check::pattern::PatternError;

impl Parser {
    /// Reads an escape outside of a class.
    pub(super) fn escape(&mut self, start: usize) -> Result<Part, PatternError> {
        let Some(letter) = self.peek() else { return Err(self.invalid(start, "`\\` at the end")) };
        self.at += 1;
        let anchor = |text: &str| Part { repeatable: true, ..Part::none(text) };
        Ok(match letter {
            'A' => anchor(r"\A"),
            'Z' => anchor(r"\z"),
            'b' | 'B' => {
                // The backtracking engine supports word boundaries of Unicode only.
                if self.flags.ascii && self.backtracks {
                    return Err(self.untranslatable(start, "ASCII word boundaries are not supported here"));
                }
                anchor(match (letter, self.flags.ascii) {
                    ('b', false) => r"\b",
                    ('b', true) => r"(?-u:\b)",
                    (_, false) => r"\B",
                    (_, true) => r"(?-u:\B)",
                })
            }
            '1'..='9' => {
                let mut digits = letter.to_string();
                if let Some(next) = self.peek().filter(char::is_ascii_digit) {
                    let third = self.letters.get(self.at + 1).copied();
                    if letter <= '7' && next <= '7' && third.is_some_and(|third| ('0'..='7').contains(&third)) {
                        let text: String = [letter, next].into_iter().chain(third).collect();
                        self.at += 2;
                        return Ok(Part::one(literal(self.octal(start, &text)?)));
                    }
                    digits.push(next);
                    self.at += 1;
                }
                return self.reference(start, digits.parse().unwrap_or(usize::MAX));
            }
            'd' | 'D' | 's' | 'S' | 'w' | 'W' => Part::one(format!("[{}]", self.category(letter))),
            _ => {
                self.at -= 1;
                Part::one(literal(self.character(start)?))
            }
        })
    }

    /// Returns the translation of a class escape inside brackets.
    fn category(&self, letter: char) -> String {
        let inside = match (letter.to_ascii_lowercase(), self.flags.ascii) {
            ('d', false) => r"\p{Nd}",
            ('d', true) => "0-9",
            ('s', false) => r"\s\x{1C}-\x{1F}",
            ('s', true) => r"\t-\r\x20",
            (_, false) => r"\p{L}\p{N}_",
            (_, true) => "A-Za-z0-9_",
        };
        if letter.is_ascii_uppercase() { format!("[^{inside}]") } else { inside.to_owned() }
    }

    /// Returns the character that an escape represents; `at` is after the `\`.
    fn character(&mut self, start: usize) -> Result<char, PatternError> {
        let Some(letter) = self.peek() else { return Err(self.invalid(start, "`\\` at the end")) };
        self.at += 1;
        Ok(match letter {
            'a' => '\x07',
            'f' => '\x0C',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\x0B',
            'x' => return self.hexadecimal(start, letter, 2),
            'u' => return self.hexadecimal(start, letter, 4),
            'U' => return self.hexadecimal(start, letter, 8),
            'N' => return Err(self.untranslatable(start, "named characters are not supported: write `\\u…`")),
            '0'..='7' => {
                let mut digits = letter.to_string();
                while digits.len() < 3
                    && let Some(next) = self.peek().filter(|next| ('0'..='7').contains(next))
                {
                    digits.push(next);
                    self.at += 1;
                }
                return self.octal(start, &digits);
            }
            letter if letter.is_ascii_alphanumeric() => {
                return Err(
                    self.invalid(start, format!("`\\{letter}` is not a valid escape in a Python regular expression"))
                );
            }
            letter => letter,
        })
    }

    fn octal(&self, start: usize, digits: &str) -> Result<char, PatternError> {
        let code = u8::from_str_radix(digits, 8).map(char::from);
        code.map_err(|_| self.invalid(start, "an octal escape must not exceed `\\377`"))
    }

    fn hexadecimal(&mut self, start: usize, letter: char, digits: usize) -> Result<char, PatternError> {
        let text: String =
            self.letters[self.at..].iter().take(digits).take_while(|it| it.is_ascii_hexdigit()).collect();
        if text.len() != digits {
            return Err(self.invalid(start, format!("`\\{letter}` needs {digits} hexadecimal digits")));
        }
        self.at += digits;
        let code = u32::from_str_radix(&text, 16).unwrap_or(u32::MAX);
        match char::from_u32(code) {
            Some(character) => Ok(character),
            None if code <= 0xFFFF => Err(self.untranslatable(start, "an unpaired surrogate cannot be searched for")),
            None => Err(self.invalid(start, "not a valid character")),
        }
    }

    pub(super) fn class(&mut self, start: usize) -> Result<Part, PatternError> {
        let mut text = String::from("[");
        if self.eat("^") {
            text.push('^');
        }
        let first = self.at;
        loop {
            let Some(letter) = self.peek() else { return Err(self.invalid(start, "unclosed `[`")) };
            if letter == ']' && self.at > first {
                self.at += 1;
                text.push(']');
                return Ok(Part::one(text));
            }
            let from = self.at;
            let low = self.class_atom(start)?;
            let ranged = self.peek() == Some('-') && !matches!(self.letters.get(self.at + 1), None | Some(']'));
            if !ranged {
                text.push_str(&low.text(self));
                continue;
            }
            self.at += 1;
            match (low, self.class_atom(start)?) {
                (ClassAtom::One(low), ClassAtom::One(high)) if low > high => {
                    return Err(self.invalid(from, "the range is out of order"));
                }
                (ClassAtom::One(low), ClassAtom::One(high)) => {
                    text.push_str(&format!("{}-{}", literal(low), literal(high)));
                }
                (ClassAtom::One(_) | ClassAtom::Many(_), _) => {
                    return Err(self.invalid(from, "a range needs a character at both ends"));
                }
            }
        }
    }

    fn class_atom(&mut self, start: usize) -> Result<ClassAtom, PatternError> {
        let at = self.at;
        let Some(letter) = self.peek() else { return Err(self.invalid(start, "unclosed `[`")) };
        self.at += 1;
        if letter != '\\' {
            return Ok(ClassAtom::One(letter));
        }
        match self.peek() {
            None => Err(self.invalid(start, "unclosed `[`")),
            Some(letter @ ('d' | 'D' | 's' | 'S' | 'w' | 'W')) => {
                self.at += 1;
                Ok(ClassAtom::Many(letter))
            }
            Some('b') => {
                self.at += 1;
                Ok(ClassAtom::One('\x08'))
            }
            Some(_) => Ok(ClassAtom::One(self.character(at)?)),
        }
    }
}

enum ClassAtom {
    One(char),
    Many(char),
}

impl ClassAtom {
    fn text(&self, parser: &Parser) -> String {
        match self {
            ClassAtom::One(letter) => literal(*letter),
            ClassAtom::Many(letter) => parser.category(*letter),
        }
    }
}

pub(super) fn literal(letter: char) -> String {
    if letter.is_ascii_alphanumeric() { letter.to_string() } else { format!(r"\x{{{:X}}}", u32::from(letter)) }
}

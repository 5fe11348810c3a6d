//! The parts of shell commands and of regular expressions, and their kinds.

use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Placeholder,
    /// Literal characters of a regular expression.
    Pattern,
    /// A character class: `[…]`, `\d`, `.`.
    Class,
    /// A grouping or separating character: `(…)`, `|`.
    Group,
    /// A quantifier: `*`, `{2}`.
    Quantifier,
    /// A position between characters: `^`, `\b`.
    Anchor,
    Comment,
    String,
    Variable,
    /// An operator that joins commands, or a redirection.
    Operator,
    Keyword,
    Command,
}

impl TokenKind {
    pub(crate) const ALL: &'static [TokenKind] = &[
        TokenKind::Placeholder,
        TokenKind::Pattern,
        TokenKind::Class,
        TokenKind::Group,
        TokenKind::Quantifier,
        TokenKind::Anchor,
        TokenKind::Comment,
        TokenKind::String,
        TokenKind::Variable,
        TokenKind::Operator,
        TokenKind::Keyword,
        TokenKind::Command,
    ];
}

/// Maximum nesting of substitutions; deeper ones are not parsed.
const MAX_DEPTH: usize = 32;

/// Words that are followed by a command.
const KEYWORDS: &[&str] =
    &["if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "in", "!", "{", "}"];

/// Returns the parts of a command, from left to right; a part may be nested in an earlier one, such as a variable in a
/// string.
pub(super) fn of_command(command: &str) -> Vec<(Range<usize>, TokenKind)> {
    let mut scanner = Scanner { text: command, at: 0, parts: Vec::new(), heredocs: Vec::new() };
    while scanner.at < command.len() {
        scanner.commands(0);
        // An unmatched bracket ends nothing.
        scanner.at += command[scanner.at..].chars().next().map_or(0, char::len_utf8);
    }
    scanner.parts
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
    parts: Vec<(Range<usize>, TokenKind)>,
    /// The end markers of the heredocs that follow the line.
    heredocs: Vec<String>,
}

impl Scanner<'_> {
    fn next(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn add(&mut self, from: usize, kind: TokenKind) {
        if from < self.at {
            self.parts.push((from..self.at, kind));
        }
    }

    /// Reads everything up to the bracket that closes this level, or to the end.
    fn commands(&mut self, depth: usize) {
        // Whether the next word is a command name.
        let mut begins = true;
        let mut word_begins = true;
        while let Some(letter) = self.next() {
            let from = self.at;
            match letter {
                '\n' => {
                    self.at += 1;
                    self.heredocs();
                    (begins, word_begins) = (true, true);
                    continue;
                }
                letter if letter.is_whitespace() => {
                    self.at += letter.len_utf8();
                    word_begins = true;
                    continue;
                }
                '#' if word_begins => {
                    self.at = self.text[from..].find('\n').map_or(self.text.len(), |end| from + end);
                    self.add(from, TokenKind::Comment);
                }
                '\'' => {
                    let close = self.text[from + 1..].find('\'');
                    self.at = close.map_or(self.text.len(), |end| from + end + 2);
                    self.add(from, TokenKind::String);
                    begins = false;
                }
                '"' => {
                    self.string(depth);
                    begins = false;
                }
                '\\' => {
                    self.at += 1;
                    self.at += self.next().map_or(0, char::len_utf8);
                }
                '$' => {
                    self.variable(depth);
                    begins = false;
                }
                '`' => {
                    self.at += 1;
                    self.add(from, TokenKind::Operator);
                    begins = true;
                }
                ')' if depth > 0 => return,
                '<' | '>' => {
                    self.redirect();
                    word_begins = true;
                    continue;
                }
                '|' | '&' | ';' | '(' | ')' => {
                    self.at += 1;
                    self.add(from, TokenKind::Operator);
                    (begins, word_begins) = (true, true);
                    continue;
                }
                _ => begins = self.word(begins),
            }
            word_begins = false;
        }
    }

    /// Reads a word up to a blank, a quote or an operator. Returns whether the next word is a command name.
    fn word(&mut self, begins: bool) -> bool {
        let from = self.at;
        let is_end = |letter: char| letter.is_whitespace() || "'\"\\$`|&;()<>".contains(letter);
        self.at = self.text[from..].find(is_end).map_or(self.text.len(), |end| from + end);
        let word = &self.text[from..self.at];
        if !begins {
            return false;
        }
        if KEYWORDS.contains(&word) {
            self.add(from, TokenKind::Keyword);
            return !matches!(word, "for" | "case" | "in");
        }
        if let Some(name) = word.split_once('=').map(|(name, _)| name).filter(|name| is_name(name)) {
            self.at = from + name.len();
            self.add(from, TokenKind::Variable);
            self.at = from + word.len();
            return true;
        }
        self.add(from, TokenKind::Command);
        false
    }

    fn string(&mut self, depth: usize) {
        let from = self.at;
        let own = self.parts.len();
        self.at += 1;
        while let Some(letter) = self.next() {
            match letter {
                '"' => {
                    self.at += 1;
                    break;
                }
                '\\' => {
                    self.at += 1;
                    self.at += self.next().map_or(0, char::len_utf8);
                }
                '$' => self.variable(depth),
                other => self.at += other.len_utf8(),
            }
        }
        self.parts.insert(own, (from..self.at, TokenKind::String));
    }

    fn variable(&mut self, depth: usize) {
        let from = self.at;
        self.at += 1;
        let rest = &self.text[self.at..];
        match rest.chars().next() {
            Some('(') if depth < MAX_DEPTH => {
                self.at += 1;
                self.add(from, TokenKind::Operator);
                self.commands(depth + 1);
                if self.next() == Some(')') {
                    let close = self.at;
                    self.at += 1;
                    self.add(close, TokenKind::Operator);
                }
            }
            Some('{') => {
                self.at += rest.find('}').map_or(rest.len(), |end| end + 1);
                self.add(from, TokenKind::Variable);
            }
            Some(letter) if letter.is_ascii_alphabetic() || letter == '_' => {
                let end = rest.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
                self.at += end.unwrap_or(rest.len());
                self.add(from, TokenKind::Variable);
            }
            Some(letter) if letter.is_ascii_digit() || "?@#$!*-".contains(letter) => {
                self.at += 1;
                self.add(from, TokenKind::Variable);
            }
            Some(_) | None => {}
        }
    }

    fn redirect(&mut self) {
        let from = self.at;
        let rest = &self.text[from..];
        self.at += rest.find(|letter: char| !"<>&".contains(letter)).unwrap_or(rest.len());
        let sign = &self.text[from..self.at];
        let is_heredoc = sign == "<<";
        self.add(from, TokenKind::Operator);
        if !is_heredoc {
            return;
        }
        let word = self.text[self.at..].trim_start_matches(['-', ' ']);
        let end = word.find(|letter: char| letter.is_whitespace() || "|&;()<>".contains(letter));
        let end = word[..end.unwrap_or(word.len())].trim_matches(['\'', '"']);
        if !end.is_empty() {
            self.heredocs.push(end.to_owned());
        }
    }

    fn heredocs(&mut self) {
        for end in std::mem::take(&mut self.heredocs) {
            let from = self.at;
            let mut at = from;
            for line in self.text[from..].split_inclusive('\n') {
                at += line.len();
                if line.trim() == end {
                    break;
                }
            }
            self.at = at;
            self.add(from, TokenKind::String);
        }
    }
}

fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && word.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// Returns the parts of a pattern from left to right, without gaps. An invalid pattern has parts as well.
pub(crate) fn of_pattern(pattern: &str) -> Vec<(Range<usize>, TokenKind)> {
    let mut parts: Vec<(Range<usize>, TokenKind)> = Vec::new();
    let mut at = 0;
    while let Some(letter) = pattern[at..].chars().next() {
        let (length, kind) = part(&pattern[at..], letter);
        parts.push((at..at + length, kind));
        at += length;
    }
    parts
}

fn part(text: &str, first: char) -> (usize, TokenKind) {
    match first {
        '\\' => escape(text),
        '[' => (class_length(text), TokenKind::Class),
        '.' => (1, TokenKind::Class),
        '(' => (group_length(text), TokenKind::Group),
        ')' | '|' => (1, TokenKind::Group),
        '^' | '$' => (1, TokenKind::Anchor),
        '*' | '+' | '?' => (1 + usize::from(text[1..].starts_with(['?', '+'])), TokenKind::Quantifier),
        '{' => match counted_length(text) {
            Some(length) => (length + usize::from(text[length..].starts_with(['?', '+'])), TokenKind::Quantifier),
            None => (1, TokenKind::Pattern),
        },
        other => (other.len_utf8(), TokenKind::Pattern),
    }
}

fn escape(text: &str) -> (usize, TokenKind) {
    let Some(letter) = text[1..].chars().next() else { return (1, TokenKind::Pattern) };
    let length = 1 + letter.len_utf8();
    let until = |close: char| {
        let name = text[length + 1..].find(|letter| !is_in_name(letter)).map_or(text.len(), |end| length + 1 + end);
        if text[name..].starts_with(close) { name + 1 } else { length }
    };
    match letter {
        'd' | 'D' | 'w' | 'W' | 's' | 'S' => (length, TokenKind::Class),
        'p' | 'P' if text[length..].starts_with('{') => (until('}'), TokenKind::Class),
        'b' | 'B' | 'A' | 'Z' | 'z' => (length, TokenKind::Anchor),
        'k' if text[length..].starts_with('<') => (until('>'), TokenKind::Group),
        '1'..='9' => (length, TokenKind::Group),
        _ => (length, TokenKind::Pattern),
    }
}

/// Returns the length of `[…]`; that of the rest if it is not closed.
pub(crate) fn class_length(text: &str) -> usize {
    let mut letters = text.char_indices().skip(1).peekable();
    if letters.peek().is_some_and(|(_, letter)| *letter == '^') {
        letters.next();
    }
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            ']' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

pub(crate) fn group_length(text: &str) -> usize {
    let Some(rest) = text.strip_prefix("(?") else { return 1 };
    let named = |rest: &str| {
        let name = rest.find('<')? + 1;
        let end = name + rest[name..].find(|letter| !is_in_name(letter))?;
        rest[end..].starts_with('>').then_some(end + 1)
    };
    let looks = ["<=", "<!", "=", "!", ":", ">"].into_iter().find(|look| rest.starts_with(look)).map(str::len);
    let flags = || {
        let letters = rest.find(|letter: char| !(letter.is_ascii_alphabetic() || letter == '-'))?;
        (letters > 0 && rest[letters..].starts_with([':', ')'])).then_some(letters + 1)
    };
    let is_named = rest.starts_with('<') || rest.starts_with("P<");
    2 + looks.or_else(|| is_named.then(|| named(rest)).flatten()).or_else(flags).unwrap_or(0)
}

pub(crate) fn counted_length(text: &str) -> Option<usize> {
    let end = 1 + text[1..].find(|letter: char| !matches!(letter, ',' | '0'..='9'))?;
    if !text[end..].starts_with('}') {
        return None;
    }
    let inner = &text[1..end];
    let (least, most) = inner.split_once(',').unwrap_or((inner, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(least) && is_number(most) && !(least.is_empty() && most.is_empty())).then_some(end + 1)
}

fn is_in_name(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '=')
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn a_command_has_parts() {
        let commands = [
            "echo 'a b' \"c $d ${e}\" # no",
            "A=1 cmd --x=y | grep -q z && ls",
            "if test -f a; then b; fi",
            "echo $(cat \"x\" | wc)$? a#b",
            "cat <<'END' >f\na $b\nEND\nls",
            "cmd 2>&1 \\# x",
            "echo \"open $(x",
            ") )( a",
            "'open",
            "for i in a b; do echo $i; done",
        ];
        let shown = commands.map(|command| {
            let mut marks = vec![' '; command.len()];
            for (range, kind) in of_command(command) {
                let mark = match kind {
                    TokenKind::Comment => '#',
                    TokenKind::String => 's',
                    TokenKind::Variable => 'v',
                    TokenKind::Operator => 'o',
                    TokenKind::Keyword => 'k',
                    TokenKind::Command => 'c',
                    other => panic!("{other:?} in a command"),
                };
                marks[range].fill(mark);
            }
            let marks: String = marks.into_iter().collect();
            format!("{}\n{}\n", command.replace('\n', "_"), marks.trim_end())
        });
        expect![[r#"
            echo 'a b' "c $d ${e}" # no
            cccc sssss sssvvsvvvvs ####
            A=1 cmd --x=y | grep -q z && ls
            v   ccc       o cccc      oo cc
            if test -f a; then b; fi
            kk cccc     o kkkk co kk
            echo $(cat "x" | wc)$? a#b
            cccc ooccc sss o ccovv
            cat <<'END' >f_a $b_END_ls
            ccc oosssss o  ssssssssscc
            cmd 2>&1 \# x
            ccc  oo
            echo "open $(x
            cccc ssssssooc
            ) )( a
            o oo c
            'open
            sssss
            for i in a b; do echo $i; done
            kkk         o kk cccc vvo kkkk
        "#]]
        .assert_eq(&shown.concat());
    }

    #[test]
    fn deep_nesting_ends() {
        let command = "$(".repeat(100_000);
        assert!(of_command(&command).len() >= MAX_DEPTH);
        of_command(&"\"$(".repeat(100_000));
        of_command(&"${".repeat(100_000));
        of_command(&"a <<b\n".repeat(10_000));
    }

    #[test]
    fn a_pattern_has_parts() {
        let patterns = [
            r"^git (push|pull)$", r"a\d+\.[^\]x]{2,3}?b*", r"(?<id>\w)\k<id>(?:x)(?i)y", r"(?P<id>x)(?=a)(?<!b)",
            r"a{b}{,}\", "ä😀+", "[open", "(?", "{", "",
        ];
        let shown = patterns.map(|pattern| {
            let marks = of_pattern(pattern).into_iter().flat_map(|(range, kind)| {
                let mark = match kind {
                    TokenKind::Class => 'c',
                    TokenKind::Group => 'g',
                    TokenKind::Quantifier => 'q',
                    TokenKind::Anchor => 'a',
                    TokenKind::Pattern => '.',
                    other => panic!("{other:?} in a pattern"),
                };
                std::iter::repeat_n(mark, pattern[range].chars().count())
            });
            format!("{pattern}\n{}\n", marks.collect::<String>())
        });
        expect![[r#"
            ^git (push|pull)$
            a....g....g....ga
            a\d+\.[^\]x]{2,3}?b*
            .ccq..ccccccqqqqqq.q
            (?<id>\w)\k<id>(?:x)(?i)y
            ggggggccgggggggggg.ggggg.
            (?P<id>x)(?=a)(?<!b)
            ggggggg.gggg.ggggg.g
            a{b}{,}\
            ........
            ä😀+
            ..q
            [open
            ccccc
            (?
            gg
            {
            .


        "#]]
        .assert_eq(&shown.concat());
    }

    #[test]
    fn long_patterns_take_no_time() {
        for part in ["(?<a", "\\p{L", "{1", "[a", "(", "\\"] {
            assert!(!of_pattern(&part.repeat(100_000)).is_empty());
        }
    }
}

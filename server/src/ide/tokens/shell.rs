//! The parts of shell commands: comments, strings, variables, operators, the words that are run.

use std::ops::Range;

use super::TokenKind;

/// Maximum nesting of substitutions; deeper ones are not parsed.
const MAX_DEPTH: usize = 32;

/// Words that are followed by a command.
const KEYWORDS: &[&str] =
    &["if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "in", "!", "{", "}"];

/// Returns the parts of a command, from left to right; a part may be nested in an earlier one, such as a variable in a
/// string.
pub(crate) fn parts(command: &str) -> Vec<(Range<usize>, TokenKind)> {
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

    /// Reads a string in double quotes with its substitutions.
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

    /// Reads `$name`, `${…}`, `$(…)`, `$?`.
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

    /// Reads `<`, `>>`, `2>&1`, `<<END`.
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

    /// Reads the texts that follow a line with `<<END`.
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
            for (range, kind) in parts(command) {
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
        assert!(parts(&command).len() >= MAX_DEPTH);
        parts(&"\"$(".repeat(100_000));
        parts(&"${".repeat(100_000));
        parts(&"a <<b\n".repeat(10_000));
    }
}

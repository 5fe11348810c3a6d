//! Text that the shell changes: values of a KindLM test that break out of the quotes around them, and backslashes in paths.

use crate::{
    dialect::kindlm::{
        shell::{Quotes, quotes_at},
        variables::{Command, MAX_PLACEHOLDERS},
    },
    finding::{Finding, Location, MessageParts, Report, Rule},
    problem::{Code, Fix, Severity},
    walk::Value,
};

page! {
    /// The value of a template variable breaks out of the shell quotes around it, or is not quoted and the shell
    /// splits or interprets it. Or a path has backslashes, which the shell removes.
    "shell-quoting", Warning
}

/// A value that the shell does not take literally.
#[derive(Debug)]
struct ShellQuoting {
    placeholder: String,
    broken: QuotingMistake,
}

/// A path with backslashes, as on Windows.
#[derive(Debug)]
struct Backslashes(String);

/// Part of a value that the shell interprets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QuotingMistake {
    /// A single quote in single quotes.
    Single,
    /// A special character in double quotes.
    Double(char),
    /// A special character without quotes.
    Bare(char),
    /// Spaces without quotes.
    Spaces,
    /// A special character in a here-document.
    Here(char),
}

/// Checks the values that are inserted into a command.
pub(crate) fn check_command(command: &Command<'_>, report: &mut Report) {
    let values = command.values();
    for placeholder in command.placeholders.iter().take(MAX_PLACEHOLDERS).filter(|it| !it.is_reserved()) {
        let Some(var) = values.get(placeholder.name) else { continue };
        // A value that is the whole command is meant to be interpreted.
        if command.template.trim() == placeholder.text {
            continue;
        }
        let quotes = quotes_at(command.template, placeholder.at);
        let Some(broken) = var.text().and_then(|value| broken_by(value, quotes)) else { continue };
        let nth = command.template[..placeholder.at].matches(placeholder.text).count();
        let rule = ShellQuoting { placeholder: placeholder.text.to_owned(), broken };
        let lint_node = &command.lint_node;
        report.push(
            Finding::new(rule, lint_node.at.clone(), lint_node.part(placeholder.text, nth)).with("the value", var),
        );
    }
}

/// Checks the paths in a shell command.
pub(crate) fn check_paths(value: &Value<'_, '_>, report: &mut Report) {
    let Some(command) = value.text.filter(|text| text.contains('\\')) else { return };
    for word in command.split_whitespace().filter(|word| is_path_of_windows(word)) {
        let at = word.as_ptr().addr() - command.as_ptr().addr();
        if quotes_at(command, at) == Quotes::None {
            report.push(value.lint_node().part_finding(word, Backslashes(word.to_owned())));
        }
    }
}

/// Whether a word can only be a path with backslashes: `scripts\agent.py`.
fn is_path_of_windows(word: &str) -> bool {
    let is_name = |step: &str| {
        let is_plain = step.chars().all(|letter| letter.is_alphanumeric() || "._-".contains(letter));
        is_plain && step.chars().count() > 1 && step.starts_with(char::is_alphanumeric)
    };
    let Some((before, last)) = word.rsplit_once('\\') else { return false };
    let ending = last.rsplit_once('.').map_or("", |(_, ending)| ending);
    let has_ending = ending.starts_with(char::is_alphabetic) && ending.chars().count() <= 5;
    is_name(last) && has_ending && before.split('\\').all(|step| matches!(step, "." | "..") || is_name(step))
}

fn broken_by(value: &str, quotes: Quotes) -> Option<QuotingMistake> {
    match quotes {
        Quotes::Single => value.contains('\'').then_some(QuotingMistake::Single),
        Quotes::Double => breaks_double(value).map(QuotingMistake::Double),
        Quotes::None => match value.chars().find(|letter| "'\"`$\\;&|<>()*?[#~\n".contains(*letter)) {
            Some(sign) => Some(QuotingMistake::Bare(sign)),
            None => value.contains(char::is_whitespace).then_some(QuotingMistake::Spaces),
        },
        Quotes::Here => breaks_double(&value.replace(['"', '\n'], " ")).map(QuotingMistake::Here),
        Quotes::Verbatim => None,
    }
}

/// Returns the first character that is special in double quotes.
fn breaks_double(value: &str) -> Option<char> {
    let mut letters = value.chars().peekable();
    let mut line_break = None;
    while let Some(letter) = letters.next() {
        match letter {
            '"' | '`' => return Some(letter),
            '$' if letters.peek().is_some_and(|next| next.is_ascii_alphanumeric() || "_({?!@*#$-".contains(*next)) => {
                return Some('$');
            }
            '\\' if letters.peek().is_none_or(|next| "$`\"\\\n".contains(*next)) => return Some('\\'),
            '\n' => line_break = Some('\n'),
            _ => {}
        }
    }
    line_break
}

impl Rule for ShellQuoting {
    const CODE: Code = Code::ShellQuoting;

    fn severity(&self) -> Severity {
        match self.broken {
            QuotingMistake::Spaces | QuotingMistake::Double('\n') => Severity::Hint,
            QuotingMistake::Single | QuotingMistake::Double(_) | QuotingMistake::Bare(_) | QuotingMistake::Here(_) => {
                Code::ShellQuoting.severity()
            }
        }
    }

    fn message(&self, _: &Location<'_>) -> MessageParts {
        let text = &self.placeholder;
        let holds = |sign: char| match sign {
            '\n' => MessageParts::new(format!("the value of `{text}` contains a line break")),
            sign => MessageParts::new(format!("the value of `{text}` contains `{sign}`")),
        };
        let in_quotes = || format!("put quotes around `{text}`");
        // An escaped value would be wrong where the variable has other quotes.
        let inserted =
            |sign: char, escaped: &str| format!("write the value itself in the command, with `{escaped}` for `{sign}`");
        let with_backslash = |sign: char| inserted(sign, &format!("\\{sign}"));
        match self.broken {
            QuotingMistake::Single => {
                holds('\'').note("it ends the single quotes around the variable").help(inserted('\'', r"'\''"))
            }
            QuotingMistake::Double('"') => {
                holds('"').note("it ends the double quotes around the variable").help(with_backslash('"'))
            }
            QuotingMistake::Double('\n') => holds('\n').note("it becomes part of the quoted word"),
            QuotingMistake::Double(sign) => {
                holds(sign).note("the shell expands it inside double quotes").help(with_backslash(sign))
            }
            QuotingMistake::Bare('\n') => holds('\n').note("it ends the command").help(in_quotes()),
            QuotingMistake::Bare(sign) => holds(sign).note("the shell interprets it").help(in_quotes()),
            QuotingMistake::Spaces => MessageParts::new(format!("the value of `{text}` contains spaces"))
                .note("the shell splits it into several words")
                .help(in_quotes()),
            QuotingMistake::Here(sign) => {
                holds(sign).note("the shell expands it in this here-document").help(with_backslash(sign))
            }
        }
    }
}

impl Rule for Backslashes {
    const CODE: Code = Code::ShellQuoting;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let path = self.0.replace('\\', "/");
        MessageParts::new(format!("the shell removes the backslashes in `{}`", self.0)).remedy(
            format!("write `{path}`"),
            Fix::guess,
            location.with_part(&self.0, &path),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_have_backslashes_between_names() {
        for word in ["scripts\\agent.py", ".\\agent.py", "..\\a-b\\run_it.sh", "tools\\x86\\cli.exe"] {
            assert!(is_path_of_windows(word), "{word}");
        }
        for word in ["a\\nb.c", "foo\\.bar", "\\d+\\.txt", "it\\'s.txt", "one\\two", "\\server.txt", "a\\", "x.py"] {
            assert!(!is_path_of_windows(word), "{word}");
        }
    }

    #[test]
    fn only_what_the_shell_replaces_breaks_double_quotes() {
        assert_eq!(breaks_double("it's 5 $ or \\n"), None);
        assert_eq!(breaks_double("$HOME"), Some('$'));
        assert_eq!(breaks_double("a\\"), Some('\\'));
        assert_eq!(breaks_double("a\nb"), Some('\n'));
        assert_eq!(breaks_double("a\n\"b"), Some('"'));
    }
}

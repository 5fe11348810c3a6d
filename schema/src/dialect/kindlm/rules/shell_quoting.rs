//! Values that break out of the quotes around their variables in a command.

use crate::{
    dialect::kindlm::variables::{Command, MAX_PLACEHOLDERS},
    finding::{Finding, Location, MessageParts, Report, Rule},
    problem::{Code, Severity},
    shell::{Quotes, quotes_at},
};

/// A value that the shell does not take literally.
#[derive(Debug)]
struct ShellQuoting {
    placeholder: String,
    broken: QuotingMistake,
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_shell_replaces_breaks_double_quotes() {
        assert_eq!(breaks_double("it's 5 $ or \\n"), None);
        assert_eq!(breaks_double("$HOME"), Some('$'));
        assert_eq!(breaks_double("a\\"), Some('\\'));
        assert_eq!(breaks_double("a\nb"), Some('\n'));
        assert_eq!(breaks_double("a\n\"b"), Some('"'));
    }
}

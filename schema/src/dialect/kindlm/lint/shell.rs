//! Values that break out of the shell quotes they are put into.

use crate::{
    problem::{Code, Problem, Severity},
    spot::Spot,
    words::Placeholder,
};

/// How the shell reads a place of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quotes {
    None,
    Single,
    Double,
}

/// The value of one placeholder, put into the command as it stands.
pub(super) fn lint(
    command: &Spot<'_>,
    template: &str,
    placeholder: &Placeholder<'_>,
    var: &Spot<'_>,
    problems: &mut Vec<Problem>,
) {
    let Some(value) = var.text() else { return };
    let nth = template[..placeholder.at].matches(placeholder.text).count();
    let text = placeholder.text;
    let (what, severity) = match quotes_at(template, placeholder.at) {
        Quotes::Single if value.contains('\'') => {
            (format!("the value of `{text}` holds a `'`, which ends the quotes around it"), Severity::Warning)
        }
        Quotes::Double => match breaks_double(value) {
            Some('"') => {
                (format!("the value of `{text}` holds a `\"`, which ends the quotes around it"), Severity::Warning)
            }
            Some('\n') => {
                (format!("the value of `{text}` holds a line break, which stays inside the quotes"), Severity::Hint)
            }
            Some(sign) => (
                format!("the value of `{text}` holds a `{sign}`, which the shell replaces inside double quotes"),
                Severity::Warning,
            ),
            None => return,
        },
        Quotes::None => match value.chars().find(|letter| "'\"`$\\;&|<>()*?[#~\n".contains(*letter)) {
            Some('\n') => {
                (format!("the value of `{text}` holds a line break, which ends the command"), Severity::Warning)
            }
            Some(sign) => (
                format!(
                    "the value of `{text}` holds a `{sign}`, which means something to the shell: put quotes around `{text}`"
                ),
                Severity::Warning,
            ),
            None if value.contains(char::is_whitespace) => (
                format!(
                    "the shell splits the value of `{text}` at its spaces: put quotes around `{text}` to keep it together"
                ),
                Severity::Hint,
            ),
            None => return,
        },
        Quotes::Single => return,
    };
    let problem = Problem::new(Code::ShellQuoting, command.at.clone(), command.part(text, nth), what);
    problems.push(problem.with_severity(severity).with_related("the value", var.at.clone(), var.range()));
}

/// The first sign that means something inside double quotes.
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

/// The quotes that are open at a byte of a command.
fn quotes_at(command: &str, at: usize) -> Quotes {
    let mut quotes = Quotes::None;
    let mut letters = command[..at].chars();
    while let Some(letter) = letters.next() {
        quotes = match (quotes, letter) {
            (Quotes::None | Quotes::Double, '\\') => {
                letters.next();
                quotes
            }
            (Quotes::None, '\'') => Quotes::Single,
            (Quotes::None, '"') => Quotes::Double,
            (Quotes::Single, '\'') | (Quotes::Double, '"') => Quotes::None,
            (same, _) => same,
        };
    }
    quotes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_followed_as_the_shell_does() {
        for (before, quotes) in [
            ("a ", Quotes::None),
            ("a '", Quotes::Single),
            ("a 'b' ", Quotes::None),
            ("a \"it's ", Quotes::Double),
            ("a '\" ", Quotes::Single),
            ("a \\' ", Quotes::None),
            ("a \"\\\" ", Quotes::Double),
        ] {
            assert_eq!(quotes_at(before, before.len()), quotes, "{before}");
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

//! Values that break out of the shell quotes they are put into.

use std::collections::VecDeque;

use crate::{
    problem::{Code, Problem, Severity},
    spot::Spot,
    template::Placeholder,
};

/// How the shell reads a place of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quotes {
    None,
    Single,
    Double,
    /// The text of a here-document, in which values are put.
    Here,
    /// The text of a here-document that is taken verbatim.
    Verbatim,
}

/// The value of one placeholder, put into the command verbatim.
pub(super) fn lint(
    command: &Spot<'_>,
    template: &str,
    placeholder: &Placeholder<'_>,
    var: &Spot<'_>,
    problems: &mut Vec<Problem>,
) {
    let Some(value) = var.text() else { return };
    // A value that is the whole command is to be taken apart.
    if template.trim() == placeholder.text {
        return;
    }
    let nth = template[..placeholder.at].matches(placeholder.text).count();
    let text = placeholder.text;
    let holds = |sign: char| match sign {
        '\n' => format!("the value of `{text}` contains a line break"),
        sign => format!("the value of `{text}` contains `{sign}`"),
    };
    let in_quotes = format!("put quotes around `{text}`");
    let (what, note, help, severity) = match quotes_at(template, placeholder.at) {
        Quotes::Single if value.contains('\'') => {
            (holds('\''), "it ends the single quotes around the placeholder", None, Severity::Warning)
        }
        Quotes::Double => match breaks_double(value) {
            Some('"') => (holds('"'), "it ends the double quotes around the placeholder", None, Severity::Warning),
            Some('\n') => (holds('\n'), "it becomes part of the quoted word", None, Severity::Hint),
            Some(sign) => (holds(sign), "the shell expands it inside double quotes", None, Severity::Warning),
            None => return,
        },
        Quotes::None => match value.chars().find(|letter| "'\"`$\\;&|<>()*?[#~\n".contains(*letter)) {
            Some('\n') => (holds('\n'), "it ends the command", Some(in_quotes), Severity::Warning),
            Some(sign) => (holds(sign), "the shell interprets it", Some(in_quotes), Severity::Warning),
            None if value.contains(char::is_whitespace) => {
                let what = format!("the value of `{text}` contains spaces");
                (what, "the shell splits it into several words", Some(in_quotes), Severity::Hint)
            }
            None => return,
        },
        Quotes::Here => match breaks_double(&value.replace(['"', '\n'], " ")) {
            Some(sign) => (holds(sign), "the shell expands it in this here-document", None, Severity::Warning),
            None => return,
        },
        Quotes::Single | Quotes::Verbatim => return,
    };
    let problem = Problem::new(Code::ShellQuoting, command.at.clone(), command.part(text, nth), what).with_note(note);
    let problem = Problem { help, ..problem };
    problems.push(problem.with_severity(severity).with_related("the value", var.at.clone(), var.range()));
}

/// Reports `${{ github.sha }}` and its like: a GitHub workflow fills them in, and neither KindLM nor the shell does.
pub(super) fn lint_workflow_expressions(
    command: &Spot<'_>,
    template: &str,
    placeholders: &[Placeholder<'_>],
    problems: &mut Vec<Problem>,
) {
    let mut seen: Vec<&str> = Vec::new();
    for (at, _) in template.match_indices("${{") {
        let Some(length) = template[at..].find("}}") else { return };
        let text = &template[at..at + length + 2];
        // The name of a variable in double braces is filled in, whatever is before it.
        let is_filled = placeholders.iter().any(|placeholder| placeholder.at == at + 1);
        let is_literal = matches!(quotes_at(template, at), Quotes::Single | Quotes::Verbatim);
        if is_filled || is_literal || text.contains('\n') {
            continue;
        }
        let nth = seen.iter().filter(|known| **known == text).count();
        seen.push(text);
        let message = format!("`{text}` is filled in by GitHub workflows only");
        let problem = Problem::new(Code::MissingVariable, command.at.clone(), command.part(text, nth), message)
            .with_note("the shell rejects it as a bad substitution")
            .with_help("set an environment variable in the workflow, and write `$NAME` here");
        problems.push(problem.with_severity(Severity::Warning));
    }
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

/// A here-document that a command announces.
struct HereDocument {
    ends_with: String,
    quotes: Quotes,
    /// Whether tabs before its last line do not count.
    indented: bool,
}

/// Reads the word behind `<<`; nothing for `<<<`.
fn here_document(rest: &str) -> Option<HereDocument> {
    let word = rest.strip_prefix("<<").filter(|word| !word.starts_with('<'))?;
    let (word, indented) = word.strip_prefix('-').map_or((word, false), |word| (word, true));
    let word = word.trim_start_matches([' ', '\t']);
    let quote = word.chars().next().filter(|first| "'\"".contains(*first));
    let ends_with = match quote {
        Some(quote) => word[1..].split(quote).next(),
        None => word.split(|letter: char| letter.is_whitespace() || ";&|<>()".contains(letter)).next(),
    };
    let ends_with = ends_with?.replace('\\', "");
    let is_verbatim = quote.is_some() || word.starts_with('\\');
    let quotes = if is_verbatim { Quotes::Verbatim } else { Quotes::Here };
    (!ends_with.is_empty()).then_some(HereDocument { ends_with, quotes, indented })
}

/// The quotes that are open at a byte of a command.
fn quotes_at(command: &str, at: usize) -> Quotes {
    let mut quotes = Quotes::None;
    let mut announced: VecDeque<HereDocument> = VecDeque::new();
    let mut letters = command[..at].char_indices();
    while let Some((place, letter)) = letters.next() {
        quotes = match (quotes, letter) {
            (Quotes::None | Quotes::Double, '\\') => {
                letters.next();
                quotes
            }
            (Quotes::None, '<') if command[place..].starts_with("<<") => {
                announced.extend(here_document(&command[place..]));
                // Of `<<<`, too, nothing is read again.
                let signs = command[place..].len() - command[place..].trim_start_matches('<').len();
                letters.by_ref().take(signs - 1).for_each(drop);
                quotes
            }
            (Quotes::None, '\n') if !announced.is_empty() => {
                let mut begin = place + 1;
                while let Some(document) = announced.pop_front() {
                    let Some(lines) = command.get(begin..) else { break };
                    let ends = |line: &str| {
                        let line = line.trim_end_matches('\n');
                        (if document.indented { line.trim_start_matches('\t') } else { line }) == document.ends_with
                    };
                    if !lines.split_inclusive('\n').any(ends) {
                        // Nothing ends it: it is a shift of bits, or a mistake.
                        continue;
                    }
                    let text: usize = lines.split_inclusive('\n').take_while(|line| !ends(line)).map(str::len).sum();
                    if at < begin + text {
                        return document.quotes;
                    }
                    begin += text + lines[text..].split_inclusive('\n').next().map_or(0, str::len);
                }
                letters = command[..at.max(begin)].char_indices();
                letters.by_ref().take_while(|(place, _)| place + 1 < begin).for_each(drop);
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
    fn here_documents_have_rules_of_their_own() {
        for (command, quotes) in [
            ("cat <<'E'\n@\nE", Quotes::Verbatim),
            ("cat <<\\E\n@\nE", Quotes::Verbatim),
            ("cat <<E\nit's\n@\nE\n", Quotes::Here),
            ("cat <<-E | sort\n\t@\n\tE\n", Quotes::Here),
            ("cat <<A <<'B'\na\nA\n@\nB\n", Quotes::Verbatim),
            ("cat <<E\nit's\nE\necho @", Quotes::None),
            ("cat <<E\nit's\nE\necho '@'", Quotes::Single),
            ("cat <<E @\nE", Quotes::None),
            ("cat <<<E\necho @\nE", Quotes::None),
            ("echo $((1<<2))\necho @", Quotes::None),
            ("echo '<<E'\necho @\nE", Quotes::None),
        ] {
            assert_eq!(quotes_at(command, command.find('@').unwrap()), quotes, "{command}");
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

//! Regular expressions, as Python reads them.

use crate::{
    check::pattern::{PatternErrorKind, python::PythonPattern},
    problem::{Code, Fix, Problem, Severity},
    spot::Spot,
    template::trimmed_placeholders,
};

pub(super) fn lint(assertion: &Spot<'_>, problems: &mut Vec<Problem>) {
    if assertion.get("type").is_none_or(|kind| kind.text() != Some("log_entry")) {
        return;
    }
    let Some(pattern) = assertion.get("pattern") else { return };
    let Some(written) = pattern.text().filter(|text| !text.is_empty()) else { return };
    // What a template stands for is a word.
    let text =
        trimmed_placeholders(written).iter().fold(written.to_owned(), |text, found| text.replace(found.text, "x"));
    match PythonPattern::compile(&text, true) {
        Err(error) => {
            let exact = text == written && pattern.part(written, 0).len() == written.len();
            let range = match written.get(error.at..).and_then(|rest| rest.chars().next()) {
                Some(letter) if exact => {
                    let start = pattern.part(written, 0).start + error.at;
                    start..start + letter.len_utf8()
                }
                _ => pattern.range(),
            };
            let (message, note) = match error.kind {
                PatternErrorKind::Invalid => (
                    format!("not a valid regular expression: {}", error.message),
                    "ClawSpec aborts the scenario with an error",
                ),
                PatternErrorKind::Untranslatable | PatternErrorKind::TooNew => (
                    format!("this regular expression cannot be searched for: {}", error.message),
                    "the result of the assertion stays unknown",
                ),
            };
            let problem = Problem::new(Code::InvalidPattern, pattern.at.clone(), range, message).with_note(note);
            problems.push(problem.with_severity(Severity::Warning));
        }
        Ok(compiled) if compiled.matches_empty() => {
            let message = if written.contains(['^', '$']) {
                "this pattern matches an empty line"
            } else {
                "this pattern matches the empty string, which every file contains"
            };
            problems.push(pattern.problem(Code::SuspiciousPattern, message));
        }
        Ok(_) => lint_trap(&pattern, written, problems),
    }
}

/// A word in round brackets in a pattern that has no other sign.
fn literal_brackets(written: &str) -> Option<&str> {
    let (before, rest) = written.split_once('(')?;
    let (group, behind) = rest.split_once(')')?;
    let plain = |text: &str| text.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
    (before.ends_with(' ') && !group.is_empty() && plain(before) && plain(group) && plain(behind)).then_some(group)
}

/// The name of a file whose point is not escaped.
fn file_name(written: &str) -> Option<&str> {
    const ENDINGS: [&str; 10] = ["md", "yaml", "yml", "json", "txt", "html", "log", "csv", "pdf", "py"];
    written.split([' ', '/', '"']).find(|word| {
        word.rsplit_once('.').is_some_and(|(name, ending)| {
            ENDINGS.contains(&ending)
                && !name.is_empty()
                && name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '_'))
        })
    })
}

/// An expression that means something else than it seems to.
struct Trap {
    message: String,
    /// What part of it should be, if that can be written.
    meant: Option<(String, String)>,
    help: String,
    severity: Severity,
}

impl Trap {
    fn of(written: &str) -> Option<Trap> {
        let word = |text: &str| text.len() > 1 && text.chars().all(|letter| letter.is_ascii_alphabetic());
        let escaped = |message: String, part: String, meant: String| {
            let help = format!("escape it, `{meant}`");
            Some(Trap { message, meant: Some((part, meant)), help, severity: Severity::Warning })
        };
        let plain = |message: &str, help: &str| {
            let (message, help) = (message.to_owned(), help.to_owned());
            Some(Trap { message, meant: None, help, severity: Severity::Warning })
        };
        if let Some((class, _)) = written.strip_prefix('[').and_then(|rest| rest.split_once(']'))
            && word(class)
        {
            let message = format!("`[{class}]` matches one of these characters");
            return escaped(message, format!("[{class}]"), format!("\\[{class}\\]"));
        }
        if written.len() > 2 && written.starts_with('/') && written.trim_end_matches(['i', 'g', 'm']).ends_with('/') {
            return plain(
                "the slashes are part of the pattern",
                "write the expression alone, and `(?i)` before it to ignore case",
            );
        }
        if written.split('$').skip(1).any(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit())) {
            return plain("`$` matches the end of the text, and nothing can follow it", "escape it, `\\$`");
        }
        if let Some(group) = literal_brackets(written) {
            let message = format!("`({group})` is a group, which matches without the parentheses");
            return escaped(message, format!("({group})"), format!("\\({group}\\)"));
        }
        if let Some(name) = file_name(written) {
            let trap = escaped("`.` matches any character".to_owned(), name.to_owned(), name.replace('.', "\\."));
            return trap.map(|trap| Trap { severity: Severity::Hint, ..trap });
        }
        let word = written.strip_suffix('?').filter(|word| {
            word.contains(|letter: char| letter.is_alphabetic())
                && word.chars().all(|letter| letter.is_alphanumeric() || letter == ' ')
        })?;
        let message = "`?` makes the character before it optional".to_owned();
        escaped(message, format!("{word}?"), format!("{word}\\?"))
    }
}

/// A text in single quotes, in which a backslash is a backslash.
fn single_quoted(text: &str) -> Option<String> {
    (!text.contains(char::is_control)).then(|| format!("'{}'", text.replace('\'', "''")))
}

fn lint_trap(pattern: &Spot<'_>, written: &str, problems: &mut Vec<Problem>) {
    let Some(trap) = Trap::of(written) else { return };
    let problem = pattern.problem(Code::SuspiciousPattern, trap.message).with_severity(trap.severity);
    let text = trap.meant.and_then(|(part, meant)| single_quoted(&written.replacen(&part, &meant, 1)));
    let Some((text, edits)) = text.and_then(|text| Some((text.clone(), pattern.replaced(text)?))) else {
        problems.push(problem.with_help(trap.help));
        return;
    };
    let help = format!("escape it, `{text}`");
    problems.push(problem.with_help(&help).with_fix(Fix::guess(help, edits)));
}

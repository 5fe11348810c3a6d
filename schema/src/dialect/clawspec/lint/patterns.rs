//! Regular expressions, as Python reads them.

use crate::{
    check::pattern::{PatternErrorKind, python::PythonPattern},
    problem::{Code, Problem, Severity},
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
            let message = match error.kind {
                PatternErrorKind::Invalid => format!(
                    "no regular expression of Python: {}. It is searched for letter by letter; the original program breaks the scenario",
                    error.message
                ),
                PatternErrorKind::Untranslatable | PatternErrorKind::TooNew => {
                    format!("cannot be searched for, so that the claim stays unknown: {}", error.message)
                }
            };
            let problem = Problem::new(Code::InvalidPattern, pattern.at.clone(), range, message);
            problems.push(problem.with_severity(Severity::Warning));
        }
        Ok(compiled) if compiled.matches_empty() => {
            let message = if written.contains(['^', '$']) {
                "matches an empty line: say what the line must hold"
            } else {
                "matches the empty text, so that it is found in every log"
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

/// Expressions that mean something else than they seem to.
fn lint_trap(pattern: &Spot<'_>, written: &str, problems: &mut Vec<Problem>) {
    let word = |text: &str| text.len() > 1 && text.chars().all(|letter| letter.is_ascii_alphabetic());
    let message = if let Some((class, _)) = written.strip_prefix('[').and_then(|rest| rest.split_once(']'))
        && word(class)
    {
        format!("`[{class}]` is any one of these letters: write `\\[{class}\\]` for the brackets")
    } else if written.len() > 2 && written.starts_with('/') && written.trim_end_matches(['i', 'g', 'm']).ends_with('/')
    {
        "the slashes are part of what is looked for: write the expression alone, and `(?i)` before it for any case"
            .to_owned()
    } else if written.split('$').skip(1).any(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit())) {
        "`$` is the end of the text, so that nothing can follow it: write `\\$`".to_owned()
    } else if let Some(group) = literal_brackets(written) {
        format!("`({group})` is a group, so that the brackets are not looked for: write `\\({group}\\)`")
    } else if let Some(name) = file_name(written) {
        format!("`.` stands for any letter: write `{}`", name.replace('.', "\\."))
    } else if let Some(word) = written.strip_suffix('?')
        && word.contains(|letter: char| letter.is_alphabetic())
        && word.chars().all(|letter| letter.is_alphanumeric() || letter == ' ')
    {
        format!("`?` makes the letter before it optional: write `{word}\\?` for the question mark")
    } else {
        return;
    };
    problems.push(pattern.problem(Code::SuspiciousPattern, message));
}

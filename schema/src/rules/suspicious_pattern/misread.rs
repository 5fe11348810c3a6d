//! Special characters of regular expressions that the author most likely means literally.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

use crate::{
    document::Style,
    finding::{Finding, MessageParts, Report},
    pattern::{Compiled, LetterCase, Pattern},
    problem::{Code, Fix, Severity},
};

/// Misread part of a pattern.
#[derive(Debug, PartialEq, Eq)]
enum Misreading {
    /// A word in square brackets: `[ERROR]`.
    Class(String),
    /// Slashes around the pattern: `/error/i`.
    Slashes,
    /// An amount of money: `$5`.
    Dollar,
    /// A word in parentheses: `cost (usd)`.
    Group(String),
    /// A file name: `report.md`.
    FileName(String),
    /// A question: `done?`.
    Question(String),
}

pub(super) fn check(pattern: &Pattern<'_>, report: &mut Report) {
    let Pattern { lint_node, text: pattern, usage, compiled, .. } = pattern;
    let Some((trap, at)) = Misreading::of(pattern) else { return };
    let range = match &trap {
        Misreading::Slashes | Misreading::Dollar => lint_node.range(),
        Misreading::Class(_) | Misreading::Group(_) | Misreading::FileName(_) | Misreading::Question(_) => {
            let part = &pattern[at.clone()];
            lint_node.part(part, pattern[..at.start].matches(part).count())
        }
    };
    let words = match &trap {
        Misreading::Class(class) => MessageParts::new(format!("`[{class}]` matches only one character")),
        Misreading::Slashes => {
            let help = match usage.case {
                LetterCase::Ignored => "remove the slashes; the pattern ignores case anyway",
                LetterCase::IgnoredByFlag => "remove the slashes; to ignore case, write `(?i)` before the expression",
                LetterCase::Significant => "remove the slashes",
            };
            MessageParts::new("the slashes are part of the pattern").help(help)
        }
        Misreading::Dollar => {
            let words = if matches!(compiled, Compiled::Python(_)) {
                "`$` matches the end of a line, so nothing on that line can follow it"
            } else {
                "`$` matches the end of the text, so nothing can follow it"
            };
            MessageParts::new(words).help("escape it, `\\$`")
        }
        Misreading::Group(group) => {
            MessageParts::new(format!("`({group})` is a group and does not match literal parentheses"))
        }
        Misreading::FileName(name) => MessageParts::new(format!("the `.` in `{name}` matches any character")),
        Misreading::Question(_) => MessageParts::new("`?` makes the character before it optional"),
    };
    let words = match trap.meant() {
        Some((part, meant)) => {
            let help = format!("escape it, `{meant}`");
            let is_double_quoted = lint_node.node.style() == Some(Style::DoubleQuoted);
            let written = if is_double_quoted { meant.replace('\\', "\\\\") } else { meant };
            let edits = lint_node.with_part(&range, &part, written).filter(|_| range.len() == part.len());
            words.remedy(help, Fix::guess, edits)
        }
        None => words,
    };
    let severity = if matches!(trap, Misreading::FileName(_)) { Severity::Hint } else { Severity::Warning };
    let finding = Finding::stated(Code::SuspiciousPattern, words, lint_node.at.clone(), range);
    report.push(finding.with_severity(severity));
}

impl Misreading {
    fn of(pattern: &str) -> Option<(Misreading, Range<usize>)> {
        let whole = 0..pattern.len();
        let word = |text: &str| text.len() > 1 && text.chars().all(|letter| letter.is_ascii_alphabetic());
        if let Some((class, _)) = pattern.strip_prefix('[').and_then(|rest| rest.split_once(']'))
            && word(class)
        {
            return Some((Misreading::Class(class.to_owned()), 0..class.len() + 2));
        }
        if pattern.len() > 2 && pattern.starts_with('/') && pattern.trim_end_matches(['i', 'g', 'm']).ends_with('/') {
            return Some((Misreading::Slashes, whole));
        }
        if pattern.split('$').skip(1).any(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit())) {
            return Some((Misreading::Dollar, whole));
        }
        if let Some(range) = literal_brackets(pattern) {
            return Some((Misreading::Group(pattern[range.start + 1..range.end - 1].to_owned()), range));
        }
        if let Some(range) = file_name(pattern) {
            return Some((Misreading::FileName(pattern[range.clone()].to_owned()), range));
        }
        let words = pattern.strip_suffix('?').filter(|words| {
            words.contains(char::is_alphabetic) && words.chars().all(|letter| letter.is_alphanumeric() || letter == ' ')
        })?;
        let last = words.rfind(' ').map_or(0, |blank| blank + 1);
        Some((Misreading::Question(words[last..].to_owned()), last..pattern.len()))
    }

    /// Returns the part to escape and its replacement; `None` if the whole pattern must be rewritten.
    fn meant(&self) -> Option<(String, String)> {
        match self {
            Misreading::Class(class) => Some((format!("[{class}]"), format!("\\[{class}\\]"))),
            Misreading::Group(group) => Some((format!("({group})"), format!("\\({group}\\)"))),
            Misreading::FileName(name) => Some((name.clone(), name.replace('.', "\\."))),
            Misreading::Question(word) => Some((format!("{word}?"), format!("{word}\\?"))),
            Misreading::Slashes | Misreading::Dollar => None,
        }
    }
}

/// Returns the range of a word in parentheses in a pattern without other special characters.
fn literal_brackets(pattern: &str) -> Option<Range<usize>> {
    let open = pattern.find('(')?;
    let close = open + pattern[open..].find(')')?;
    let plain = |text: &str| text.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
    let (before, group, behind) = (&pattern[..open], &pattern[open + 1..close], &pattern[close + 1..]);
    (before.ends_with(' ') && !group.is_empty() && plain(before) && plain(group) && plain(behind))
        .then_some(open..close + 1)
}

fn file_name(pattern: &str) -> Option<Range<usize>> {
    static NAME: LazyLock<Regex> = LazyLock::new(|| {
        const ENDINGS: &str = "json|ya?ml|txt|md|py|jsx?|tsx?|mjs|sh|toml|csv|tsv|xml|html|css|rs|go|cpp|hpp|java|rb|php|lock|log|conf|cfg|ini|env|sql|tar|gz|tgz|zip|png|jpe?g|svg|pdf";
        Regex::new(&format!(r"(?<name>[A-Za-z0-9_-]+\.(?:{ENDINGS}))(?:$|[^A-Za-z0-9_*+?{{.-])"))
            .expect("the pattern is fixed and tested")
    });
    Some(NAME.captures(pattern)?.name("name")?.range())
}

#[cfg(test)]
mod tests {
    use super::Misreading;

    #[test]
    fn pattern_with_a_purpose_is_no_trap() {
        for pattern in
            ["[a-z]+", "[A]", "/", "/tmp", "a$", "(a|b)", "x(y)", r"report\.md", "v1.2", "report.md?", "colou?r", "a b"]
        {
            assert_eq!(Misreading::of(pattern), None, "{pattern}");
        }
    }

    #[test]
    fn the_bytes_of_a_trap_are_those_of_what_is_meant() {
        for pattern in ["[ERROR] x", "a (usd)", "cat a.txt, report.md", "is it done?"] {
            let (trap, at) = Misreading::of(pattern).unwrap();
            assert_eq!(trap.meant().unwrap().0, pattern[at]);
        }
    }
}

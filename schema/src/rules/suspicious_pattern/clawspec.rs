//! Regular expressions of `log_entry` that mean something else than they seem to.

use crate::{
    dialect::clawspec::log_pattern::LogPattern,
    finding::{Report, Rule, Site, Words},
    problem::{Code, Fix, Severity},
};

/// A pattern that every file matches.
#[derive(Debug)]
enum MatchesNothing {
    /// It matches an empty line.
    EmptyLine,
    /// It matches the empty string.
    EmptyString,
}

/// A pattern that means something else than it seems to.
#[derive(Debug)]
struct Misread {
    written: String,
    trap: Trap,
}

/// What is taken for something else, with the text of it.
#[derive(Debug)]
enum Trap {
    /// A word in square brackets.
    Class(String),
    /// Slashes around the pattern.
    Slashes,
    /// A sum of money.
    Dollar,
    /// A word in round brackets.
    Group(String),
    /// A name of a file.
    FileName(String),
    /// A question.
    Question(String),
}

/// Looks at a pattern.
pub(crate) fn check_pattern(pattern: &LogPattern<'_>, report: &mut Report) {
    let LogPattern { spot, written, compiled, .. } = pattern;
    let Ok(compiled) = compiled else { return };
    if compiled.matches_empty() {
        let is_of_lines = written.contains(['^', '$']);
        report.push(spot.finding(if is_of_lines { MatchesNothing::EmptyLine } else { MatchesNothing::EmptyString }));
    } else if let Some(trap) = Trap::of(written) {
        report.push(spot.finding(Misread { written: (*written).to_owned(), trap }));
    }
}

/// Returns a word in round brackets in a pattern that has no other sign.
fn literal_brackets(written: &str) -> Option<&str> {
    let (before, rest) = written.split_once('(')?;
    let (group, behind) = rest.split_once(')')?;
    let plain = |text: &str| text.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
    (before.ends_with(' ') && !group.is_empty() && plain(before) && plain(group) && plain(behind)).then_some(group)
}

/// Returns the name of a file whose point is not escaped.
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

impl Trap {
    fn of(written: &str) -> Option<Trap> {
        let word = |text: &str| text.len() > 1 && text.chars().all(|letter| letter.is_ascii_alphabetic());
        if let Some((class, _)) = written.strip_prefix('[').and_then(|rest| rest.split_once(']'))
            && word(class)
        {
            return Some(Trap::Class(class.to_owned()));
        }
        if written.len() > 2 && written.starts_with('/') && written.trim_end_matches(['i', 'g', 'm']).ends_with('/') {
            return Some(Trap::Slashes);
        }
        if written.split('$').skip(1).any(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit())) {
            return Some(Trap::Dollar);
        }
        if let Some(group) = literal_brackets(written) {
            return Some(Trap::Group(group.to_owned()));
        }
        if let Some(name) = file_name(written) {
            return Some(Trap::FileName(name.to_owned()));
        }
        let word = written.strip_suffix('?').filter(|word| {
            word.contains(|letter: char| letter.is_alphabetic())
                && word.chars().all(|letter| letter.is_alphanumeric() || letter == ' ')
        })?;
        Some(Trap::Question(word.to_owned()))
    }

    /// Returns the part that is to be escaped, and how; `None` if the whole has to be written in another way.
    fn meant(&self) -> Option<(String, String)> {
        match self {
            Trap::Class(class) => Some((format!("[{class}]"), format!("\\[{class}\\]"))),
            Trap::Group(group) => Some((format!("({group})"), format!("\\({group}\\)"))),
            Trap::FileName(name) => Some((name.clone(), name.replace('.', "\\."))),
            Trap::Question(word) => Some((format!("{word}?"), format!("{word}\\?"))),
            Trap::Slashes | Trap::Dollar => None,
        }
    }
}

/// Returns a text in single quotes, in which a backslash is a backslash.
fn single_quoted(text: &str) -> Option<String> {
    (!text.contains(char::is_control)).then(|| format!("'{}'", text.replace('\'', "''")))
}

impl Rule for MatchesNothing {
    fn code(&self) -> Code {
        Code::SuspiciousPattern
    }

    fn words(&self, _: &Site<'_>) -> Words {
        Words::new(match self {
            MatchesNothing::EmptyLine => "this pattern matches an empty line",
            MatchesNothing::EmptyString => "this pattern matches the empty string, which every file contains",
        })
    }
}

impl Rule for Misread {
    fn code(&self) -> Code {
        Code::SuspiciousPattern
    }

    fn severity(&self) -> Severity {
        match self.trap {
            Trap::FileName(_) => Severity::Hint,
            Trap::Class(_) | Trap::Slashes | Trap::Dollar | Trap::Group(_) | Trap::Question(_) => Severity::Warning,
        }
    }

    fn words(&self, site: &Site<'_>) -> Words {
        let words = match &self.trap {
            Trap::Class(class) => Words::new(format!("`[{class}]` matches only one of these characters")),
            Trap::Slashes => Words::new("the slashes are part of the pattern")
                .help("remove the slashes; to ignore case, write `(?i)` before the expression"),
            Trap::Dollar => Words::new("`$` matches the end of the text, so nothing can follow it")
                .help("escape it, `\\$`"),
            Trap::Group(group) => {
                Words::new(format!("`({group})` is a group, which does not match the parentheses"))
            }
            Trap::FileName(_) => Words::new("`.` matches any character"),
            Trap::Question(_) => Words::new("`?` makes the character before it optional"),
        };
        let Some((part, meant)) = self.trap.meant() else { return words };
        let fix = single_quoted(&self.written.replacen(&part, &meant, 1)).and_then(|text| {
            let edits = site.spot()?.replaced(text.clone())?;
            Some(Fix::guess(format!("escape it, `{text}`"), edits))
        });
        words.help(format!("escape it, `{meant}`")).mend(fix)
    }
}

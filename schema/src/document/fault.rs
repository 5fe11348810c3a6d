//! What is wrong in a text that is not YAML: in words that help, and, where one line shows what was meant, with the line
//! as it should be written.

mod reading;

use std::ops::Range;

use super::{
    events::{SyntaxError, parse},
    recover::{Head, head_shape, is_dash, line_at, trimmed},
    tree::{Node, NodeKind},
};
use crate::dialect::ScalarRules;

use reading::Reading;
pub(crate) use reading::quoted;

/// As many lines are looked at to find out which columns are open.
const LINES_ABOVE: usize = 256;

/// A mistake in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The bytes to blame.
    pub range: Range<usize>,
    /// What is wrong and what to do.
    pub message: String,
    /// Whether it is a limit of ours rather than a mistake.
    pub too_large: bool,
    /// How the value should be written.
    pub cure: Option<Box<Rewrite>>,
}

/// A value as it should be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rewrite {
    /// The value as it is written.
    pub range: Range<usize>,
    /// What should stand there.
    pub text: String,
    /// Whether nothing else can be meant.
    pub is_certain: bool,
    /// Whether a placeholder in braces was taken for a mapping.
    pub is_template: bool,
    /// By how many columns more it is indented, where that is all.
    pub indent: usize,
}

impl Rewrite {
    /// The node that is meant, where the value stands.
    pub(super) fn node(&self) -> Option<Node> {
        let meant = parse(&self.text, ScalarRules::Yaml12).ok()?.root?;
        matches!(meant.kind, NodeKind::Scalar { .. }).then(|| Node { range: self.range.clone(), ..meant })
    }
}

impl Fault {
    /// A mistake that a person has to look at.
    pub(crate) fn new(range: Range<usize>, message: impl Into<String>) -> Fault {
        Fault { range, message: message.into(), too_large: false, cure: None }
    }

    /// A limit of ours.
    pub(crate) fn too_large(range: Range<usize>, message: impl Into<String>) -> Fault {
        Fault { too_large: true, ..Fault::new(range, message) }
    }

    /// A line where an entry should stand, and that is none. `words`: the line, `at`: where it begins.
    pub(super) fn no_entry(words: &str, at: usize) -> Fault {
        let range = at..at + words.len();
        match words.split_once(':') {
            Some((key, value)) if is_key(key) && !value.is_empty() && !value.starts_with("//") => {
                let text = format!("{key}: {value}");
                let message = format!("a blank is missing behind the colon: write `{text}`");
                let cure = Rewrite { range: range.clone(), text, is_certain: true, is_template: false, indent: 0 };
                Fault { cure: Some(Box::new(cure)), ..Fault::new(range, message) }
            }
            _ if words.chars().all(|letter| letter.is_alphanumeric() || "_-.".contains(letter)) => {
                Fault::new(range, format!("`{words}` has no colon: write `{words}:`"))
            }
            Some(_) | None => Fault::new(range, "expected `key: value` here"),
        }
    }

    /// Tabs before a line, if there are any.
    pub(super) fn tabs(text: &str, at: usize) -> Option<Fault> {
        let line = line_at(text, at);
        let blanks = &text[line.clone()];
        let blanks = &blanks[..blanks.len() - blanks.trim_start_matches([' ', '\t']).len()];
        let range = line.start..line.start + blanks.len();
        blanks.contains('\t').then(|| Fault::new(range, "a tab cannot indent: use spaces"))
    }

    /// A line that begins between the columns where entries may begin.
    pub(super) fn misplaced(text: &str, offset: usize) -> Option<Fault> {
        let line = line_at(text, offset);
        let begin = |line: &Range<usize>| line.len() - text[line.clone()].trim_start_matches(' ').len();
        let indent = begin(&line);
        let words = &text[line.start + indent..line.end];
        if !is_dash(words) && !matches!(head_shape(words), Head::Key { .. } | Head::KeyWithValue { .. }) {
            return None;
        }
        // The columns of what is open above, from the inside out.
        let mut columns: Vec<usize> = Vec::new();
        let mut above = line.start;
        for _ in 0..LINES_ABOVE {
            if above == 0 {
                break;
            }
            let line = line_at(text, above - 1);
            above = line.start;
            let words = text[line.clone()].trim_start_matches(' ');
            if words.is_empty() || words.starts_with('#') {
                continue;
            }
            let mut column = begin(&line);
            let mut found = vec![column];
            let mut rest = words;
            while is_dash(rest) {
                let behind = rest[1..].trim_start_matches(' ');
                column += rest.len() - behind.len();
                rest = behind;
                found.push(column);
            }
            for column in found.into_iter().rev() {
                if columns.last().is_none_or(|inner| column < *inner) {
                    columns.push(column);
                }
            }
            if column < indent {
                break;
            }
        }
        let nearest =
            columns.iter().copied().filter(|column| *column != indent).min_by_key(|column| column.abs_diff(indent))?;
        if columns.contains(&indent) || nearest.abs_diff(indent) > 1 {
            return None;
        }
        let spaces = |count: usize| format!("{count} {}", if count == 1 { "space" } else { "spaces" });
        let message = format!("this line is indented by {}, and its neighbours by {nearest}", spaces(indent));
        let range = line.start..line.start + indent;
        let blanks = " ".repeat(nearest);
        let cure =
            Rewrite { range: range.clone(), text: blanks, is_certain: false, is_template: false, indent: nearest };
        let mark = if range.is_empty() { trimmed(text, line) } else { range };
        Some(Fault { cure: Some(Box::new(cure)), ..Fault::new(mark, message) })
    }

    /// Lines from the margin on that stand too far left to belong to the item above them: the first begins with `key`.
    pub(super) fn outdented(text: &str, lines: Range<usize>, key: Range<usize>, by: usize) -> Fault {
        let blanks = " ".repeat(by);
        let indented = text[lines.clone()].split_inclusive('\n');
        let indented =
            indented.map(|line| if line.trim().is_empty() { line.to_owned() } else { format!("{blanks}{line}") });
        let cure = Rewrite { text: indented.collect(), range: lines, is_certain: true, is_template: false, indent: by };
        let name = &text[key.clone()];
        let message = format!("`{name}` stands too far left to belong to the item above: indent it by {by}");
        Fault { cure: Some(Box::new(cure)), ..Fault::new(key, message) }
    }

    /// A line that begins as the items of its list do, but for the dash.
    pub(super) fn without_dash(text: &str, at: usize) -> Fault {
        let words = trimmed(text, at..line_at(text, at).end);
        let rewritten = format!("- {}", &text[words.clone()]);
        let message = format!("a dash is missing: write `{rewritten}`");
        let cure = Rewrite { range: words.clone(), text: rewritten, is_certain: true, is_template: false, indent: 0 };
        Fault { cure: Some(Box::new(cure)), ..Fault::new(words, message) }
    }

    /// A mistake that the parser found; `range` is what to blame as far as the reader knows.
    pub(super) fn of_error(text: &str, range: Range<usize>, error: &SyntaxError) -> Fault {
        if error.at_line {
            let range = trimmed(text, line_at(text, error.offset));
            return Fault::new(range, error.message.clone());
        }
        if let Some(fault) = of_line(text, &range) {
            return fault;
        }
        let line = line_at(text, range.start);
        let is_line = range.end <= line.end;
        let words = trimmed(text, line.clone());
        if is_line && matches!(head_shape(&text[words.clone()]), Head::Other) {
            let no_entry = Fault::no_entry(&text[words.clone()], words.start);
            if no_entry.cure.is_some() || is_key(&text[words]) {
                return no_entry;
            }
        }
        // Of one line the value is to blame.
        let value = is_line.then(|| value_of(text, &line)).flatten();
        let range = value.filter(|value| value.start > range.start).unwrap_or(range);
        let blamed = text.get(range.clone()).unwrap_or_default();
        let opening = |open: char, close: char| blamed.matches(open).count() > blamed.matches(close).count();
        let in_brackets = blamed.starts_with(['[', '{']);
        let value = blamed.split_once(": ").filter(|_| !in_brackets).map_or(blamed, |(_, value)| value).trim_start();
        if let Some(fault) = Fault::tabs(text, error.offset).or_else(|| Fault::misplaced(text, error.offset)) {
            return fault;
        }
        let message = if value.starts_with('"') && value.matches('"').count() == 1 {
            "the text has no closing `\"`".to_owned()
        } else if value.starts_with('\'') && value.matches('\'').count() % 2 == 1 {
            "the text has no closing `'`".to_owned()
        } else if (in_brackets || value.starts_with('[')) && opening('[', ']') {
            "the list has no closing `]`".to_owned()
        } else if (in_brackets || value.starts_with('{')) && opening('{', '}') {
            "the mapping has no closing `}`".to_owned()
        } else {
            format!("not YAML: {}", error.message)
        };
        Fault::new(range, message)
    }
}

/// What is wrong with the value of one line, if that is what makes it unreadable, and if the line can be read once the
/// value is written in another way.
fn of_line(text: &str, blamed: &Range<usize>) -> Option<Fault> {
    let line = line_at(text, blamed.start);
    if blamed.end > line.end {
        return None;
    }
    let value = value_of(text, &line)?;
    let Reading { mark, message, rewritten, extent, is_certain, is_template } = Reading::of(&text[value.clone()])?;
    let value = value.start..value.start + extent;
    let before = &text[line.start..value.start];
    let behind = &text[value.end..line.end];
    // A text that seems to lack its end may find it further below.
    let ends_below = |quote: char| text[line.end..].lines().take(64).any(|line| line.contains(quote));
    let is_open =
        matches!(&text[value.clone()].chars().next(), Some(quote @ ('"' | '\'')) if !is_certain && ends_below(*quote));
    if is_open {
        return None;
    }
    let reads = |value: &str| parse(&format!("{before}{value}{behind}"), ScalarRules::Yaml12).is_ok();
    if reads(&text[value.clone()]) || !reads(&rewritten) {
        return None;
    }
    let range = value.start + mark.start..value.start + mark.end;
    let cure = Rewrite { range: value, text: rewritten, is_certain, is_template, indent: 0 };
    Some(Fault { cure: Some(Box::new(cure)), ..Fault::new(range, message) })
}

/// The value in a line: behind its key, or behind its dash.
fn value_of(text: &str, line: &Range<usize>) -> Option<Range<usize>> {
    let mut start = line.start;
    let is_item = loop {
        let words = &text[start..line.end];
        let blanks = words.len() - words.trim_start_matches(' ').len();
        start += blanks;
        let dashes = start > line.start + blanks;
        if !is_dash(&text[start..line.end]) {
            break dashes || text[line.start..start].trim_end_matches(' ').ends_with('-');
        }
        start += 1;
    };
    let words = &text[start..line.end];
    let value = match head_shape(words) {
        // Words before a colon are text; a key is one word.
        Head::KeyWithValue { key, .. } if is_item && words[..key].contains(' ') => start,
        Head::KeyWithValue { colon, .. } => start + colon + 1,
        Head::Key { key, .. } if is_item && words[..key].contains(' ') => start,
        Head::Key { .. } => return None,
        Head::Other => start,
    };
    Some(trimmed(text, value..line.end)).filter(|range| !text[range.clone()].trim().is_empty())
}

/// Whether a word can be a key, and no drive or time of the day.
fn is_key(word: &str) -> bool {
    word.len() > 1
        && word.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && word.chars().all(|letter| letter.is_alphanumeric() || "_-.".contains(letter))
}

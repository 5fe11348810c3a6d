//! Quoted strings whose lines are less indented than YAML 1.2 requires: PyYAML lets them begin anywhere.
//!
//! The parser refuses them. So their line ends are blanked, which moves nothing, and their meaning is determined
//! separately.

use std::ops::Range;

use super::{
    events::{self, Parsed, SyntaxError},
    tree::{Node, NodeKind, Style},
};
use crate::ScalarRules;

/// Maximum number of such strings in one file; each of them costs another reading.
const MAX_LOOSE_STRINGS: usize = 64;

/// Reads a text to the end, or to its first error.
pub(super) fn parse(text: &str, rules: ScalarRules) -> Result<Parsed, SyntaxError> {
    or_loosely(events::parse(text, rules), text, rules)
}

/// Returns the same without the children of the root.
pub(super) fn skim(text: &str, rules: ScalarRules) -> Result<Parsed, SyntaxError> {
    or_loosely(events::skim(text, rules), text, rules)
}

fn or_loosely(read: Result<Parsed, SyntaxError>, text: &str, rules: ScalarRules) -> Result<Parsed, SyntaxError> {
    match &read {
        Err(error) if rules.is_yaml11() => without_line_ends(text, error).map_or(read, Ok),
        Ok(_) | Err(_) => read,
    }
}

/// Reads a text with a known `error`. `None` if that is another kind of error.
fn without_line_ends(text: &str, error: &SyntaxError) -> Option<Parsed> {
    let mut work = text.to_owned();
    let mut loose: Vec<Range<usize>> = Vec::new();
    let mut error = error.clone();
    while loose.len() < MAX_LOOSE_STRINGS && !error.is_too_deep() {
        let range = quoted_around(&work, error.read_to, error.offset)?;
        let blanked: String = text[range.clone()].replace(['\n', '\r', '\t'], " ");
        work.replace_range(range.clone(), &blanked);
        loose.push(range);
        match events::parse(&work, ScalarRules::Yaml11) {
            Ok(mut parsed) => {
                if let Some(root) = &mut parsed.root {
                    fold(root, text, &loose);
                }
                return Some(parsed);
            }
            Err(next) => error = next,
        }
    }
    None
}

fn quoted_around(text: &str, from: usize, offset: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = from;
    while at < offset {
        let opens = at == 0 || matches!(bytes[at - 1], b' ' | b'\t' | b'\n' | b'\r' | b'[' | b'{' | b',' | b':');
        match bytes[at] {
            b'#' if opens => at = text[at..].find(['\n', '\r']).map_or(text.len(), |end| at + end),
            quote @ (b'"' | b'\'') if opens => {
                let end = end_of_quoted(bytes, at, quote)?;
                let lines = &text[at..end];
                let marker = |line: &str| {
                    ["---", "..."].iter().any(|mark| {
                        line.strip_prefix(mark).is_some_and(|rest| rest.trim_start() != rest || rest.is_empty())
                    })
                };
                if offset <= end && lines.contains(['\n', '\r']) {
                    return (!lines.lines().skip(1).any(marker)).then_some(at..end);
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    None
}

fn end_of_quoted(bytes: &[u8], start: usize, quote: u8) -> Option<usize> {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if quote == b'"' => at += 2,
            byte if byte == quote && quote == b'\'' && bytes.get(at + 1) == Some(&quote) => at += 2,
            byte if byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

fn fold(node: &mut Node, text: &str, loose: &[Range<usize>]) {
    let range = node.range();
    match &mut node.kind {
        NodeKind::Scalar { value, style: Style::SingleQuoted | Style::DoubleQuoted } if loose.contains(&range) => {
            // Blanks at the beginning of a line mean nothing, so each line may have one more.
            let indented = format!("- {}", text[range].replace('\n', "\n "));
            if let Ok(Parsed { root: Some(Node { kind: NodeKind::Sequence(items), .. }), .. }) =
                events::parse(&indented, ScalarRules::Yaml11)
                && let Some(Node { kind: NodeKind::Scalar { value: folded, .. }, .. }) = items.into_iter().next()
            {
                *value = folded;
            }
        }
        NodeKind::Scalar { .. } | NodeKind::Alias(_) => {}
        NodeKind::Sequence(items) => items.iter_mut().for_each(|item| fold(item, text, loose)),
        NodeKind::Mapping(entries) => {
            for entry in entries {
                fold(&mut entry.key, text, loose);
                fold(&mut entry.value, text, loose);
            }
        }
    }
}

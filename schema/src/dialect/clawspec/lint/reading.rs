//! What the reader of ClawSpec, PyYAML, refuses or takes for something else, though it is YAML.

use std::ops::Range;

use crate::{
    document::{Document, NodeRef, Pointer, Scalar, Shape as NodeShape, Style},
    problem::{Code, Edit, Fix, Problem},
    shape::Type,
    spot::Spot,
    validate::Definition,
};

/// What happens because of it.
const REJECTED: &str = "ClawSpec rejects the file";

/// The blanks and line ends that PyYAML does not read as such, wherever they are in the text.
pub(super) fn lint_text(root: &Spot<'_>, problems: &mut Vec<Problem>) {
    let document = root.node.document();
    let text = document.text();
    // Most files have no tab at all.
    if !document.is_intact() || !text.chunks().any(|chunk| memchr::memchr(b'\t', chunk.as_bytes()).is_some()) {
        return;
    }
    for (number, line) in text.lines().enumerate() {
        let line = String::from(line);
        let start = text.line_to_byte(number);
        let mut from = 0;
        while let Some(at) = line[from..].find('\t').map(|at| from + at) {
            let end = line.len() - line[at..].trim_start_matches('\t').len();
            from = end;
            if is_content(document, start + at) || is_comment(document, &line[..at], start) {
                continue;
            }
            let range = start + at..start + end;
            let trailing = line[end..].trim().is_empty();
            let (help, words) = if trailing { ("remove the tab", "") } else { ("write a space instead", " ") };
            let message = "a tab where only spaces are allowed";
            let problem = Problem::new(Code::Syntax, document.pointer_at(range.start), range.clone(), message);
            let problem = problem.with_note(REJECTED).with_help(help);
            problems.push(problem.with_fix(Fix::safe(help, vec![Edit::new(range, words)])));
        }
    }
}

/// Whether a byte belongs to a text in quotes or to a block of text.
fn is_content(document: &Document, offset: usize) -> bool {
    let pointer = document.pointer_at(offset);
    let holds = |node: NodeRef<'_>| {
        let quoted = matches!(node.style(), Some(Style::SingleQuoted | Style::DoubleQuoted));
        let block = matches!(node.style(), Some(Style::Literal | Style::Folded));
        let range = node.own_range();
        let text = document.text();
        // The first line of a block is its head, and blanks may follow its last word.
        let head = block && text.byte_to_line(range.start) == text.byte_to_line(offset);
        let behind = block && offset >= range.end && blank(document, range.end..offset);
        (quoted || block && !head) && (range.contains(&offset) || behind)
    };
    let Some(node) = document.find(&pointer).map(NodeRef::resolved) else { return false };
    let key = pointer.parent().and_then(|parent| document.find(&parent)?.entry(&pointer.last()?));
    holds(node) || key.is_some_and(|entry| holds(entry.key)) || ends_block(document, offset, holds)
}

/// Whether a blank line belongs to the block of text above it.
fn ends_block(document: &Document, offset: usize, holds: impl Fn(NodeRef<'_>) -> bool) -> bool {
    let text = document.text();
    let line_start = text.line_to_byte(text.byte_to_line(offset));
    let before = String::from(text.byte_slice(..line_start));
    let last = before.trim_end().len();
    if line_start == offset || last == 0 || !blank(document, line_start..offset) {
        return false;
    }
    document.find(&document.pointer_at(last - 1)).map(NodeRef::resolved).is_some_and(holds)
}

fn blank(document: &Document, range: Range<usize>) -> bool {
    document.text().get_byte_slice(range).is_some_and(|slice| slice.chars().all(char::is_whitespace))
}

fn is_comment(document: &Document, before: &str, start: usize) -> bool {
    before
        .match_indices('#')
        .any(|(at, _)| (at == 0 || before[..at].ends_with([' ', '\t'])) && !is_content(document, start + at))
}

/// Every node below the one where the lint begins, the values of some keys left out. `definition` says what may stand
/// there.
pub(super) fn lint(root: &Spot<'_>, definition: Definition, without: &[&str], problems: &mut Vec<Problem>) {
    let wants_text = |at: &Pointer| {
        let shape = definition.shape().below(at, Some(root.node));
        shape.is_some_and(|shape| shape.kind() == Type::Text)
    };
    walk(root, &wants_text, without, problems);
}

fn walk(spot: &Spot<'_>, wants_text: &dyn Fn(&Pointer) -> bool, without: &[&str], problems: &mut Vec<Problem>) {
    if spot.node.alias().is_some() {
        return;
    }
    let node = spot.node.resolved();
    lint_anchor(spot, node, problems);
    lint_tag(spot, node, problems);
    match node.shape() {
        NodeShape::Scalar => lint_scalar(spot, wants_text, problems),
        NodeShape::Sequence => spot.items().iter().for_each(|item| walk(item, wants_text, &[], problems)),
        NodeShape::Mapping => {
            for (key, member) in spot.entries() {
                if let Some(written) = member.key {
                    lint_key(&member, written, problems);
                }
                if !without.contains(&key.as_str()) {
                    walk(&member, wants_text, &[], problems);
                }
            }
        }
        NodeShape::Dangling => {}
    }
}

/// Names of anchors hold letters, digits, `-` and `_`.
fn lint_anchor(spot: &Spot<'_>, node: NodeRef<'_>, problems: &mut Vec<Problem>) {
    let Some(name) = node.anchor() else { return };
    if !name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter)) {
        let problem = spot.head_problem(Code::Syntax, format!("`&{name}` is not a valid name of an anchor"));
        problems.push(problem.with_note(REJECTED).with_help("use only ASCII letters, digits, `-` and `_`"));
    }
}

fn lint_tag(spot: &Spot<'_>, node: NodeRef<'_>, problems: &mut Vec<Problem>) {
    const KNOWN: [&str; 12] =
        ["null", "bool", "int", "float", "binary", "timestamp", "omap", "pairs", "set", "str", "seq", "map"];
    let Some(tag) = node.tag().filter(|tag| *tag != "!") else { return };
    let core = tag.strip_prefix("tag:yaml.org,2002:");
    let shown = core.map_or_else(|| tag.to_owned(), |core| format!("!!{core}"));
    if core.is_none_or(|core| !KNOWN.contains(&core)) {
        let problem = spot.problem(Code::InvalidValue, format!("unknown tag `{shown}`"));
        problems.push(problem.with_note(REJECTED).with_help("remove it"));
    } else if matches!(core, Some("int" | "float" | "bool")) && node.scalar() == Some(Scalar::Text) {
        let message = format!("`{}` is not a valid `{shown}`", node.text().unwrap_or_default());
        problems.push(spot.problem(Code::InvalidValue, message).with_note(REJECTED));
    }
}

/// A list or a mapping as a key.
fn lint_key(member: &Spot<'_>, key: NodeRef<'_>, problems: &mut Vec<Problem>) {
    let is_reported = |problems: &[Problem], range: &Range<usize>| {
        problems
            .iter()
            .any(|it| it.code == Code::UnquotedTemplate && it.range.start <= range.start && range.end <= it.range.end)
    };
    let range = key.range();
    match key.shape() {
        NodeShape::Sequence | NodeShape::Mapping if !is_reported(problems, &range) => {
            let text = member.node.document().text();
            let before = text.get_byte_slice(range.start.saturating_sub(1)..range.end + 1).map(String::from);
            let template = before.is_some_and(|words| words.starts_with("{{") && words.ends_with('}'));
            let problem = |code, message| Problem::new(code, member.at.clone(), range, message);
            problems.push(match (template, key.shape()) {
                (true, _) => problem(Code::UnquotedTemplate, "a string that begins with `{{` needs quotes"),
                (false, NodeShape::Sequence) => {
                    problem(Code::InvalidValue, "expected a string as the key, found a list").with_note(REJECTED)
                }
                (false, _) => {
                    problem(Code::InvalidValue, "expected a string as the key, found a mapping").with_note(REJECTED)
                }
            });
        }
        NodeShape::Scalar if key.text() == Some("<<") && key.style() == Some(Style::Plain) => {
            let fits = |node: NodeRef<'_>| node.shape() == NodeShape::Mapping;
            let value = member.node;
            let merged = fits(value) || value.shape() == NodeShape::Sequence && value.items().all(fits);
            if !merged && value.shape() != NodeShape::Dangling {
                let message = format!("expected a mapping for `<<`, found {}", crate::validate::describe(value));
                problems.push(member.problem(Code::WrongType, message).with_note(REJECTED));
            }
        }
        NodeShape::Scalar | NodeShape::Sequence | NodeShape::Mapping | NodeShape::Dangling => {}
    }
}

fn lint_scalar(spot: &Spot<'_>, wants_text: &dyn Fn(&Pointer) -> bool, problems: &mut Vec<Problem>) {
    let node = spot.node.resolved();
    let (Some(text), Some(Style::Plain), None) = (node.text(), node.style(), node.tag()) else { return };
    let is_date = node.scalar() == Some(Scalar::Timestamp);
    if is_date || matches!(text, "=" | "<<") {
        if problems.iter().any(|problem| problem.at == spot.at && problem.code == Code::WrongType) {
            return;
        }
        let (code, message, note) = if !is_date {
            (Code::InvalidValue, format!("`{text}` is not a string in YAML 1.1"), REJECTED)
        } else if !is_moment(text) {
            (Code::InvalidValue, format!("`{text}` is not a valid date or time"), REJECTED)
        } else if wants_text(&spot.at) {
            (Code::WrongType, format!("expected a string, found the date `{text}`"), "ClawSpec reads YAML 1.1")
        } else {
            return;
        };
        let mut problem = spot.problem(code, message).with_note(note);
        let quoted = serde_json::Value::from(text).to_string();
        if let Some(edits) = spot.replaced(quoted.clone()) {
            let help = format!("write `{quoted}`");
            problem = problem.with_help(&help).with_fix(Fix::safe(help, edits));
        }
        problems.push(problem);
    }
}

/// Whether there is such a day, and such a time.
fn is_moment(text: &str) -> bool {
    let numbers: Vec<u32> =
        text.split(|letter: char| !letter.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect();
    let (Some(&year), Some(&month), Some(&day)) = (numbers.first(), numbers.get(1), numbers.get(2)) else {
        return false;
    };
    let leap = year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u32::from(leap),
        1..=12 => 31,
        _ => 0,
    };
    let clock = |at: usize, below: u32| numbers.get(at).is_none_or(|number| *number < below);
    year > 0 && (1..=days).contains(&day) && clock(3, 24) && clock(4, 60) && clock(5, 60)
}

//! Valid YAML that PyYAML, which ClawSpec uses, rejects or reads differently.

use std::ops::Range;

use super::REJECTED;
use crate::{
    check::time,
    document::{Document, NodeRef, Scalar, Shape, Style, Way, is_ambiguous},
    finding::{Finding, MessageParts, Report},
    lint_node::LintNode,
    problem::{Code, Edit, Fix},
    rules::unquoted_template,
    shape::{Compared, Type},
    validate::{Definition, describe},
    walk::Value,
};

/// Checks the values and keys of a part of a file, except for the values of some keys.
pub(crate) fn check(root: NodeRef<'_>, definition: Definition, without: &[&str], report: &mut Report) {
    let takes_text = |node: &LintNode<'_>| {
        let shape = definition.shape().below(&node.at, Some(root));
        shape.is_some_and(|shape| shape.kind() == Type::Text)
    };
    check_below(&Member { node: root, key: None, way: Way::Root }, without, &takes_text, report);
}

/// A value, with its key and its path. Few are named by a finding, so their pointers are made on request.
struct Member<'s, 'd> {
    node: NodeRef<'d>,
    key: Option<NodeRef<'d>>,
    way: Way<'s>,
}

impl<'d> Member<'_, 'd> {
    fn lint_node(&self) -> LintNode<'d> {
        LintNode { node: self.node, key: self.key, at: self.way.pointer() }
    }
}

/// Checks a value, and the values and keys in it. `takes_text` returns whether a value must be a string.
fn check_below(
    member: &Member<'_, '_>,
    without: &[&str],
    takes_text: &dyn Fn(&LintNode<'_>) -> bool,
    report: &mut Report,
) {
    if member.node.alias().is_some() {
        return;
    }
    check_marks(member, report);
    check_value(member, takes_text, report);
    for (index, node) in member.node.items().enumerate() {
        check_below(&Member { node, key: None, way: Way::Item(&member.way, index) }, &[], takes_text, report);
    }
    for entry in member.node.entries() {
        let name = entry.key.key_name();
        let below = Member { node: entry.value, key: Some(entry.key), way: Way::Entry(&member.way, &name) };
        check_key(member, &below, entry.key, report);
        if !without.contains(&&*name) {
            check_below(&below, &[], takes_text, report);
        }
    }
}

/// Checks the anchor and the tag of a value.
fn check_marks(member: &Member<'_, '_>, report: &mut Report) {
    let node = member.node.resolved();
    let is_name = |name: &str| name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter));
    if let Some(name) = node.anchor().filter(|name| !is_name(name)) {
        let words = MessageParts::new(format!("`&{name}` is not a valid anchor name"))
            .note(REJECTED)
            .help("use only ASCII letters, digits, `-` and `_`");
        report.push(member.lint_node().head_problem(Code::Syntax, words));
    }
    let Some(written) = node.tag().filter(|tag| *tag != "!") else { return };
    let core = written.strip_prefix("tag:yaml.org,2002:");
    let tag = core.map_or_else(|| written.to_owned(), |core| format!("!!{core}"));
    let known = core.and_then(|core| {
        Some(match core {
            "seq" | "omap" | "pairs" => ("a list", Shape::Sequence),
            "map" | "set" => ("a mapping", Shape::Mapping),
            "int" => ("an integer", Shape::Scalar),
            "float" => ("a number", Shape::Scalar),
            "bool" => ("a boolean", Shape::Scalar),
            "null" => ("`null`", Shape::Scalar),
            "timestamp" => ("a date", Shape::Scalar),
            "str" | "binary" => ("a string", Shape::Scalar),
            _ => return None,
        })
    });
    let has_value = matches!(core, Some("int" | "float" | "bool" | "timestamp"));
    let words = match known {
        None => MessageParts::new(format!("unknown tag `{tag}`")).help("remove it"),
        Some(_) if has_value && node.scalar() == Some(Scalar::Text) => {
            let text = node.text().unwrap_or_default();
            MessageParts::new(format!("`{text}` is not a valid `{tag}`")).help("remove the tag")
        }
        Some((wanted, shape)) if node.shape() != shape && node.shape() != Shape::Dangling => {
            let found = describe(node);
            MessageParts::new(format!("expected {wanted} after `{tag}`, found {found}")).help("remove the tag")
        }
        Some(_) => return,
    };
    report.push(member.lint_node().problem(Code::InvalidValue, words.note(REJECTED)));
}

/// Checks a value that PyYAML does not read as a string, although it seems to be one.
fn check_value(member: &Member<'_, '_>, takes_text: &dyn Fn(&LintNode<'_>) -> bool, report: &mut Report) {
    let node = member.node.resolved();
    let Some(text) = node.text() else { return };
    let is_date = node.scalar() == Some(Scalar::Timestamp);
    let is_sign = matches!(text, "=" | "<<") && node.style() == Some(Style::Plain) && node.tag().is_none();
    if !is_date && !is_sign {
        return;
    }
    let lint_node = member.lint_node();
    let (code, words) = if is_sign {
        let message = format!("`{text}` is not a string in YAML 1.1");
        (Code::InvalidValue, MessageParts::new(message).note(REJECTED))
    } else if !is_moment(text) {
        let message = format!("`{text}` is not a valid date or time");
        (Code::InvalidValue, MessageParts::new(message).note(REJECTED))
    } else {
        // ClawSpec cannot send a date.
        let is_sent = lint_node.at.as_str().starts_with("/when/params/");
        if !is_sent && !takes_text(&lint_node) {
            return;
        }
        let note = match (is_sent, node.tag()) {
            (true, _) => "ClawSpec aborts with an error",
            (false, Some(_)) => "with the tag `!!timestamp`, it is not a string",
            (false, None) => "ClawSpec reads YAML 1.1, in which an unquoted date is not a string",
        };
        let message = format!("expected a string, found the date `{text}`");
        (Code::WrongType, MessageParts::new(message).note(note))
    };
    let words = with_quotes(words, &lint_node, text);
    report.push(lint_node.problem(code, words).unless_wrong(lint_node.at.clone()));
}

/// Checks a key: a list or a mapping, or that of a merge.
fn check_key(mapping: &Member<'_, '_>, member: &Member<'_, '_>, key: NodeRef<'_>, report: &mut Report) {
    if key.text() == Some("<<") && key.style() == Some(Style::Plain) {
        let fits = |node: NodeRef<'_>| node.shape() == Shape::Mapping;
        let value = member.node;
        let is_merged = fits(value) || value.shape() == Shape::Sequence && value.items().all(fits);
        if !is_merged && value.shape() != Shape::Dangling {
            let message = format!("expected a mapping for `<<`, found {}", describe(value));
            let words = MessageParts::new(message).note(REJECTED);
            report.push(member.lint_node().problem(Code::WrongType, words));
        }
    }
    let kind = match key.shape() {
        Shape::Sequence => "list",
        Shape::Mapping => "mapping",
        Shape::Scalar | Shape::Dangling => return,
    };
    let at = member.way.pointer();
    if unquoted_template::is_template(key) {
        let words = MessageParts::new("a string that begins with `{{` needs quotes");
        report.push(Finding::stated(Code::UnquotedTemplate, words, at, key.range()));
    } else if unquoted_template::of(&mapping.way.pointer(), mapping.node).is_none() {
        let words = MessageParts::new(format!("expected a string as the key, found a {kind}")).note(REJECTED);
        report.push(Finding::stated(Code::InvalidValue, words, at, key.range()));
    }
}

/// Whether a day and a time exist.
fn is_moment(text: &str) -> bool {
    let numbers: Vec<u32> =
        text.split(|letter: char| !letter.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect();
    let [year, month, day, clock @ ..] = numbers.as_slice() else { return false };
    *year > 0
        && (1..=time::days_in_month((*year).into(), (*month).into())).contains(&(*day).into())
        && clock.iter().zip([24, 60, 60]).all(|(number, below)| *number < below)
}

/// Adds the help and the fix that put a value in quotes. If the quoted string would not be a valid time, adds only help
/// that says how to write one.
fn with_quotes(words: MessageParts, node: &LintNode<'_>, text: &str) -> MessageParts {
    let is_for_time = matches!(node.at.last().as_deref(), Some("updated_after" | "captured_at"));
    if is_for_time && time::parse(text).is_none() {
        return words.help("write a time, such as `\"2026-05-14T12:00:00Z\"`");
    }
    let quoted = serde_json::Value::from(text).to_string();
    if node.node.resolved().tag().is_some() {
        return words.help(format!("write `{quoted}` without the tag"));
    }
    let edits = node.replaced(quoted.clone());
    words.fix_with_help(edits.map(|edits| Fix::safe(format!("write `{quoted}`"), edits)))
}

/// Reports a plain scalar that YAML 1.1 reads differently than YAML 1.2, where any value is allowed.
pub(crate) fn check_scalar(value: &Value<'_, '_>, report: &mut Report) {
    let node = value.node;
    let is_plain = || node.style() == Some(Style::Plain) && value.compared() == Some(Compared::Output);
    let Some(text) = node.text().filter(|text| is_ambiguous(text) && is_plain()) else { return };
    // A number that is not its text is reported separately.
    let is_number = text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first));
    let meaning = match node.scalar() {
        Some(Scalar::Timestamp) => "a date".to_owned(),
        Some(Scalar::Bool(value)) => format!("`{value}`"),
        Some(Scalar::Text) if !is_number || Scalar::is_timestamp(text) => "a string".to_owned(),
        Some(Scalar::Text | Scalar::Int(_) | Scalar::Float(_) | Scalar::Null) | None => return,
    };
    let lint_node = value.lint_node();
    let quoted = serde_json::Value::from(text).to_string();
    let edits = lint_node.replaced(quoted.clone());
    let words = MessageParts::new(format!("`{text}` is {meaning} in YAML 1.1, which ClawSpec reads"))
        .help(format!("write `{quoted}` to make it a string"))
        .fix(edits.map(|edits| Fix::suggestion(format!("write `{quoted}`"), edits)));
    report.push(lint_node.problem(Code::AmbiguousScalar, words).unless_wrong(lint_node.at.clone()));
}

/// Checks the whole text for tabs where PyYAML allows only spaces.
pub(crate) fn check_text(document: &Document, report: &mut Report) {
    // Most files have no tabs.
    if !document.is_intact() || !document.has_tab() {
        return;
    }
    let text = document.text();
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
            let is_trailing = line[end..].trim().is_empty();
            let (help, space) = if is_trailing { ("remove the tab", "") } else { ("write a space instead", " ") };
            let words = MessageParts::new("a tab where only spaces are allowed")
                .note(REJECTED)
                .fix_with_help(Some(Fix::safe(help, vec![Edit::new(range.clone(), space)])));
            report.push(Finding::stated(Code::Syntax, words, document.pointer_at(start + at), range));
        }
    }
}

/// Whether an offset is inside a quoted string or a block scalar.
fn is_content(document: &Document, offset: usize) -> bool {
    let pointer = document.pointer_at(offset);
    let holds = |node: NodeRef<'_>| {
        let quoted = matches!(node.style(), Some(Style::SingleQuoted | Style::DoubleQuoted));
        let block = matches!(node.style(), Some(Style::Literal | Style::Folded));
        let range = node.own_range();
        let text = document.text();
        // The first line of a block scalar is its header, and blanks may follow its last word.
        let head = block && text.byte_to_line(range.start) == text.byte_to_line(offset);
        let behind = block && offset >= range.end && blank(document, range.end..offset);
        (quoted || block && !head) && (range.contains(&offset) || behind)
    };
    let Some(node) = document.find(&pointer).map(NodeRef::resolved) else { return false };
    let key = pointer.parent().and_then(|parent| document.find(&parent)?.entry(&pointer.last()?));
    holds(node) || key.is_some_and(|entry| holds(entry.key)) || ends_block(document, offset, holds)
}

/// Whether a blank line belongs to the block scalar above it.
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

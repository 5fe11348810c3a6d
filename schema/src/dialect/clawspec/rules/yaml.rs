//! Valid YAML that PyYAML, which ClawSpec uses, rejects or reads differently.

use std::ops::Range;

use crate::{
    check::time,
    document::{NodeRef, Scalar, Shape, Style, is_ambiguous},
    finding::{Finding, MessageParts, Report},
    lint_node::LintNode,
    problem::{Code, Edit, Fix},
    rules::{merge_key, unquoted_template},
    shape::{Type, keywords::Compared},
    validate::describe,
    walk::Value,
};

/// Consequence of what ClawSpec's parser or schema does not allow.
pub(super) const REJECTED: &str = "ClawSpec rejects the file";

pub(crate) fn check(value: &Value<'_, '_>, report: &mut Report) {
    check_node(value.node, &|| value.lint_node(), report);
    check_text(value, report);
    check_ambiguous(value, report);
}

pub(super) fn check_root(root: &LintNode<'_>, report: &mut Report) {
    if root.node.shape() != Shape::Scalar {
        check_node(root.node, &|| root.clone(), report);
    }
    check_tabs(root.node, report);
}

/// Checks the anchor, the tag and the keys of a node. Few are named by a finding, so locations are made on request.
fn check_node<'d>(node: NodeRef<'d>, place: &dyn Fn() -> LintNode<'d>, report: &mut Report) {
    let is_name = |name: &str| name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter));
    if let Some(name) = node.anchor().filter(|name| !is_name(name)) {
        let words = MessageParts::new(format!("`&{name}` is not a valid anchor name"))
            .note(REJECTED)
            .help("use only ASCII letters, digits, `-` and `_`");
        report.push(place().head_problem(Code::Syntax, words));
    }
    if let Some(tag) = node.tag().filter(|tag| *tag != "!") {
        check_tag(node, tag, place, report);
    }
    merge_key::check(node, place, report);
    node.entries().for_each(|entry| check_key(node, entry.key, place, report));
}

fn check_tag<'d>(node: NodeRef<'d>, written: &str, place: &dyn Fn() -> LintNode<'d>, report: &mut Report) {
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
    report.push(place().problem(Code::InvalidValue, words.note(REJECTED)));
}

/// Checks a value that PyYAML does not read as a string, although it seems to be one.
fn check_text(value: &Value<'_, '_>, report: &mut Report) {
    let node = value.node;
    let Some(text) = node.text() else { return };
    let is_date = node.scalar() == Some(Scalar::Timestamp);
    let is_sign = matches!(text, "=" | "<<") && node.style() == Some(Style::Plain) && node.tag().is_none();
    if !is_date && !is_sign {
        return;
    }
    let lint_node = value.lint_node();
    let (code, words) = if is_sign {
        let message = format!("`{text}` is not a string in YAML 1.1");
        (Code::InvalidValue, MessageParts::new(message).note(REJECTED))
    } else if !is_moment(text) {
        let message = format!("`{text}` is not a valid date or time");
        (Code::InvalidValue, MessageParts::new(message).note(REJECTED))
    } else {
        // ClawSpec cannot send a date.
        let is_sent = lint_node.at.as_str().starts_with("/when/params/");
        if !is_sent && value.shape().is_none_or(|shape| shape.kind() != Type::Text) {
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

fn check_key<'d>(mapping: NodeRef<'d>, key: NodeRef<'d>, place: &dyn Fn() -> LintNode<'d>, report: &mut Report) {
    let at = || place().at.key(&key.key_text());
    let kind = match key.shape() {
        Shape::Sequence => "list",
        Shape::Mapping => "mapping",
        Shape::Scalar | Shape::Dangling => return,
    };
    if unquoted_template::is_template(key) {
        let words = MessageParts::new("a string that begins with `{{` needs quotes");
        report.push(Finding::stated(Code::UnquotedTemplate, words, at(), key.range()));
    } else if unquoted_template::of(&place().at, mapping).is_none() {
        let words = MessageParts::new(format!("expected a string as the key, found a {kind}")).note(REJECTED);
        report.push(Finding::stated(Code::InvalidValue, words, at(), key.range()));
    }
}

/// Whether a day and a time exist.
fn is_moment(text: &str) -> bool {
    let numbers: Vec<u32> =
        text.split(|letter: char| !letter.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect();
    let [year, month, day, clock @ ..] = numbers.as_slice() else { return false };
    *year > 0
        && time::date_of((*year).into(), (*month).into(), (*day).into()).is_some()
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
fn check_ambiguous(value: &Value<'_, '_>, report: &mut Report) {
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
fn check_tabs(root: NodeRef<'_>, report: &mut Report) {
    let document = root.document();
    // Most files have no tabs.
    if !document.is_intact() || !document.has_tab() {
        return;
    }
    let mut contents = Vec::new();
    add_contents(root, &mut contents);
    let is_content = |offset: usize| {
        let before = contents.partition_point(|range| range.start <= offset);
        before > 0 && contents[before - 1].contains(&offset)
    };
    for (number, line) in document.text().lines().enumerate() {
        let line = String::from(line);
        let start = document.text().line_to_byte(number);
        let is_comment = |before: &str| {
            let begins = |at| at == 0 || before[..at].ends_with([' ', '\t']);
            before.match_indices('#').any(|(at, _)| begins(at) && !is_content(start + at))
        };
        let mut from = 0;
        while let Some(at) = line[from..].find('\t').map(|at| from + at) {
            let end = line.len() - line[at..].trim_start_matches('\t').len();
            from = end;
            if is_content(start + at) || is_comment(&line[..at]) {
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

/// Adds the ranges of quoted strings and block scalars, in their order.
fn add_contents(node: NodeRef<'_>, contents: &mut Vec<Range<usize>>) {
    if node.alias().is_some() {
        return;
    }
    let (range, text) = (node.own_range(), node.document().text());
    match node.style() {
        Some(Style::SingleQuoted | Style::DoubleQuoted) => contents.push(range),
        // The first line of a block scalar is its header, and blanks may follow its last word, but no line begins with a
        // tab.
        Some(Style::Literal | Style::Folded) => {
            let head = text.byte_to_line(range.start) + 1;
            let (mut end, mut before) =
                (range.end, text.byte_slice(..range.end).chars_at(text.byte_to_char(range.end)).prev());
            for letter in text.byte_slice(range.end..).chars().take_while(|letter| letter.is_whitespace()) {
                if letter == '\t' && before == Some('\n') {
                    break;
                }
                (end, before) = (end + letter.len_utf8(), Some(letter));
            }
            contents.push(text.line_to_byte(head)..end);
        }
        Some(Style::Plain) | None => {}
    }
    node.items().for_each(|item| add_contents(item, contents));
    for entry in node.entries() {
        add_contents(entry.key, contents);
        add_contents(entry.value, contents);
    }
}

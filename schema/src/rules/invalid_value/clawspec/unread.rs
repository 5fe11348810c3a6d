//! Values and keys that are valid YAML but that PyYAML, which ClawSpec uses, rejects or reads differently.

use crate::{
    check::time,
    dialect::clawspec::parts::Member,
    document::{NodeRef, Scalar, Shape, Style},
    finding::{Finding, Location, MessageParts, Report, Rule},
    problem::{Code, Fix},
    rules::unquoted_template,
    validate::describe,
};

/// A value or key that PyYAML does not read.
#[derive(Debug)]
enum Unread {
    /// An unknown tag.
    Tag(String),
    /// A value that does not match its tag.
    Tagged { text: String, tag: String },
    /// A list, a mapping or a scalar with a tag for another one of them.
    OtherShape { tag: String, wanted: &'static str },
    /// A list as a key.
    ListKey,
    /// A mapping as a key.
    MappingKey,
    /// A plain `=` or `<<`.
    Sign(String),
    /// A day or a time that does not exist.
    Moment(String),
}

/// Checks the tag of a value.
pub(crate) fn check_tag(member: &Member<'_, '_>, report: &mut Report) {
    const KNOWN: [&str; 12] =
        ["null", "bool", "int", "float", "binary", "timestamp", "omap", "pairs", "set", "str", "seq", "map"];
    let node = member.node.resolved();
    let Some(written) = node.tag().filter(|tag| *tag != "!") else { return };
    let core = written.strip_prefix("tag:yaml.org,2002:");
    let tag = core.map_or_else(|| written.to_owned(), |core| format!("!!{core}"));
    if core.is_none_or(|core| !KNOWN.contains(&core)) {
        report.push(member.lint_node().finding(Unread::Tag(tag)));
    } else if matches!(core, Some("int" | "float" | "bool")) && node.scalar() == Some(Scalar::Text) {
        report
            .push(member.lint_node().finding(Unread::Tagged { text: node.text().unwrap_or_default().to_owned(), tag }));
    } else if let Some(wanted) = core.and_then(|core| other_shape(core, node.shape())) {
        report.push(member.lint_node().finding(Unread::OtherShape { tag, wanted }));
    }
}

/// Returns the values that a tag allows, if a value of this shape is not one of them.
fn other_shape(core: &str, shape: Shape) -> Option<&'static str> {
    let (wanted, expected) = match core {
        "seq" | "omap" | "pairs" => ("a list", Shape::Sequence),
        "map" | "set" => ("a mapping", Shape::Mapping),
        "int" => ("an integer", Shape::Scalar),
        "float" => ("a number", Shape::Scalar),
        "bool" => ("a boolean", Shape::Scalar),
        "null" => ("`null`", Shape::Scalar),
        "timestamp" => ("a date", Shape::Scalar),
        _ => ("a string", Shape::Scalar),
    };
    (shape != expected && shape != Shape::Dangling).then_some(wanted)
}

/// Checks a list or a mapping as a key.
pub(crate) fn check_key(mapping: &Member<'_, '_>, member: &Member<'_, '_>, key: NodeRef<'_>, report: &mut Report) {
    let rule = match key.shape() {
        Shape::Sequence => Unread::ListKey,
        Shape::Mapping => Unread::MappingKey,
        Shape::Scalar | Shape::Dangling => return,
    };
    // A key that was meant as a template is reported separately.
    if !unquoted_template::is_template(key) && unquoted_template::of(&mapping.lint_node().at, mapping.node).is_none() {
        report.push(Finding::new(rule, member.lint_node().at, key.range()));
    }
}

/// Checks a plain value that PyYAML does not read as a string.
pub(crate) fn check_scalar(member: &Member<'_, '_>, report: &mut Report) {
    let node = member.node.resolved();
    let (Some(text), Some(Style::Plain), None) = (node.text(), node.style(), node.tag()) else { return };
    let rule = if node.scalar() == Some(Scalar::Timestamp) {
        if is_moment(text) {
            return;
        }
        Unread::Moment(text.to_owned())
    } else if matches!(text, "=" | "<<") {
        Unread::Sign(text.to_owned())
    } else {
        return;
    };
    let lint_node = member.lint_node();
    report.push(lint_node.finding(rule).unless_wrong(lint_node.at.clone()));
}

/// Whether a day and a time exist.
pub(crate) fn is_moment(text: &str) -> bool {
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

impl Rule for Unread {
    const CODE: Code = Code::InvalidValue;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let (message, help, fix) = match self {
            Unread::Tag(tag) => (format!("unknown tag `{tag}`"), Some("remove it"), None),
            Unread::Tagged { text, tag } => (format!("`{text}` is not a valid `{tag}`"), None, None),
            Unread::OtherShape { tag, wanted } => {
                let found = location.node().map(describe).unwrap_or_default();
                (format!("expected {wanted} after `{tag}`, found {found}"), Some("remove the tag"), None)
            }
            Unread::ListKey => ("expected a string as the key, found a list".to_owned(), None, None),
            Unread::MappingKey => ("expected a string as the key, found a mapping".to_owned(), None, None),
            Unread::Sign(text) => (format!("`{text}` is not a string in YAML 1.1"), None, in_quotes(location, text)),
            Unread::Moment(text) => {
                let help = is_for_time(location).then_some(TIME_HELP);
                (format!("`{text}` is not a valid date or time"), help, in_quotes(location, text))
            }
        };
        let words = MessageParts::new(message).note("ClawSpec rejects the file").fix_with_help(fix);
        match help {
            Some(help) => words.help(help),
            None => words,
        }
    }
}

/// Returns the fix that puts a value in quotes; `None` if the string would not be valid either.
pub(crate) fn in_quotes(location: &Location<'_>, text: &str) -> Option<Fix> {
    if is_for_time(location) && time::parse(text).is_none() {
        return None;
    }
    let quoted = serde_json::Value::from(text).to_string();
    let edits = location.lint_node()?.replaced(quoted.clone())?;
    Some(Fix::safe(format!("write `{quoted}`"), edits))
}

/// Help for a value that must be a time.
pub(crate) const TIME_HELP: &str = "write it as `\"2026-05-14T12:00:00Z\"`";

/// Whether a value must be a time in a string.
fn is_for_time(location: &Location<'_>) -> bool {
    matches!(location.at.last().as_deref(), Some("updated_after" | "captured_at"))
}

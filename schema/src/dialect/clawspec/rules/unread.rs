//! Values and keys that are valid YAML but that PyYAML, which ClawSpec uses, rejects or reads differently.

use crate::{
    check::time,
    dialect::clawspec::parts::Member,
    document::{NodeRef, Scalar, Shape, Style},
    finding::{Finding, Location, MessageParts, Report, Rule},
    lint_node::LintNode,
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
    } else if matches!(core, Some("int" | "float" | "bool" | "timestamp")) && node.scalar() == Some(Scalar::Text) {
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
    let at = member.lint_node().at;
    if unquoted_template::is_template(key) {
        let words = MessageParts::new("a string that begins with `{{` needs quotes");
        report.push(Finding::stated(Code::UnquotedTemplate, words, at, key.range()));
    } else if unquoted_template::of(&mapping.lint_node().at, mapping.node).is_none() {
        report.push(Finding::new(rule, at, key.range()));
    }
}

/// Checks a value that PyYAML does not read as a string, although it seems to be one.
pub(crate) fn check_scalar(member: &Member<'_, '_>, report: &mut Report) {
    let node = member.node.resolved();
    let Some(text) = node.text() else { return };
    let rule = if node.scalar() == Some(Scalar::Timestamp) {
        if is_moment(text) {
            return;
        }
        Unread::Moment(text.to_owned())
    } else if matches!(text, "=" | "<<") && node.style() == Some(Style::Plain) && node.tag().is_none() {
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
    let clock = |at: usize, below: u32| numbers.get(at).is_none_or(|number| *number < below);
    year > 0
        && (1..=time::days_in_month(year.into(), month.into())).contains(&day.into())
        && clock(3, 24)
        && clock(4, 60)
        && clock(5, 60)
}

impl Rule for Unread {
    const CODE: Code = Code::InvalidValue;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let words = |message: String| MessageParts::new(message).note("ClawSpec rejects the file");
        match self {
            Unread::Tag(tag) => words(format!("unknown tag `{tag}`")).help("remove it"),
            Unread::Tagged { text, tag } => words(format!("`{text}` is not a valid `{tag}`")).help("remove the tag"),
            Unread::OtherShape { tag, wanted } => {
                let found = location.node().map(describe).unwrap_or_default();
                words(format!("expected {wanted} after `{tag}`, found {found}")).help("remove the tag")
            }
            Unread::ListKey => words("expected a string as the key, found a list".to_owned()),
            Unread::MappingKey => words("expected a string as the key, found a mapping".to_owned()),
            Unread::Sign(text) => quoted(words(format!("`{text}` is not a string in YAML 1.1")), location, text),
            Unread::Moment(text) => quoted(words(format!("`{text}` is not a valid date or time")), location, text),
        }
    }
}

/// Adds the help and the fix that put the value at a location in quotes.
pub(crate) fn quoted(words: MessageParts, location: &Location<'_>, text: &str) -> MessageParts {
    match location.lint_node() {
        Some(node) => with_quotes(words, &node, text),
        None => words,
    }
}

/// Adds the help and the fix that put a value in quotes. If the quoted string would not be a valid time, adds only help
/// that says how to write one.
pub(crate) fn with_quotes(words: MessageParts, node: &LintNode<'_>, text: &str) -> MessageParts {
    if is_for_time(node) && time::parse(text).is_none() {
        return words.help("write a time, such as `\"2026-05-14T12:00:00Z\"`");
    }
    let quoted = serde_json::Value::from(text).to_string();
    if node.node.resolved().tag().is_some() {
        return words.help(format!("write `{quoted}` without the tag"));
    }
    let edits = node.replaced(quoted.clone());
    words.fix_with_help(edits.map(|edits| Fix::safe(format!("write `{quoted}`"), edits)))
}

/// Whether a value must be a time in a string.
fn is_for_time(node: &LintNode<'_>) -> bool {
    matches!(node.at.last().as_deref(), Some("updated_after" | "captured_at"))
}

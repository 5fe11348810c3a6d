//! Values and keys that the reader of ClawSpec, PyYAML, refuses or takes for something else, though they are YAML.

use crate::{
    document::{NodeRef, Scalar, Shape, Style},
    finding::{Finding, Report, Rule, Site, Words},
    problem::{Code, Fix},
    rules::unquoted_template,
    spot::Spot,
};

/// What PyYAML does not read.
#[derive(Debug)]
enum Unread {
    /// A tag that it does not know.
    Tag(String),
    /// A value that its tag does not fit.
    Tagged { text: String, tag: String },
    /// A list as a key.
    ListKey,
    /// A mapping as a key.
    MappingKey,
    /// A plain `=` or `<<`.
    Sign(String),
    /// A day or a time that there is not.
    Moment(String),
}

/// Looks at the tag of a value.
pub(crate) fn check_tag(spot: &Spot<'_>, report: &mut Report) {
    const KNOWN: [&str; 12] =
        ["null", "bool", "int", "float", "binary", "timestamp", "omap", "pairs", "set", "str", "seq", "map"];
    let node = spot.node.resolved();
    let Some(written) = node.tag().filter(|tag| *tag != "!") else { return };
    let core = written.strip_prefix("tag:yaml.org,2002:");
    let tag = core.map_or_else(|| written.to_owned(), |core| format!("!!{core}"));
    if core.is_none_or(|core| !KNOWN.contains(&core)) {
        report.push(spot.finding(Unread::Tag(tag)));
    } else if matches!(core, Some("int" | "float" | "bool")) && node.scalar() == Some(Scalar::Text) {
        report.push(spot.finding(Unread::Tagged { text: node.text().unwrap_or_default().to_owned(), tag }));
    }
}

/// Looks at a list or a mapping as a key.
pub(crate) fn check_key(mapping: &Spot<'_>, member: &Spot<'_>, key: NodeRef<'_>, report: &mut Report) {
    let rule = match key.shape() {
        Shape::Sequence => Unread::ListKey,
        Shape::Mapping => Unread::MappingKey,
        Shape::Scalar | Shape::Dangling => return,
    };
    // What was to be a template is another mistake.
    if !unquoted_template::is_template(key) && unquoted_template::of(&mapping.at, mapping.node).is_none() {
        report.push(Finding::new(rule, member.at.clone(), key.range()));
    }
}

/// Looks at a plain value that is not a text to PyYAML.
pub(crate) fn check_scalar(spot: &Spot<'_>, report: &mut Report) {
    let node = spot.node.resolved();
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
    report.push(spot.finding(rule).unless_wrong(spot.at.clone()));
}

/// Whether there is such a day, and such a time.
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

    fn words(&self, site: &Site<'_>) -> Words {
        let (message, help, fix) = match self {
            Unread::Tag(tag) => (format!("unknown tag `{tag}`"), Some("remove it"), None),
            Unread::Tagged { text, tag } => (format!("`{text}` is not a valid `{tag}`"), None, None),
            Unread::ListKey => ("expected a string as the key, found a list".to_owned(), None, None),
            Unread::MappingKey => ("expected a string as the key, found a mapping".to_owned(), None, None),
            Unread::Sign(text) => (format!("`{text}` is not a string in YAML 1.1"), None, in_quotes(site, text)),
            Unread::Moment(text) => (format!("`{text}` is not a valid date or time"), None, in_quotes(site, text)),
        };
        let words = Words::new(message).note("ClawSpec rejects the file").mend(fix);
        match help {
            Some(help) => words.help(help),
            None => words,
        }
    }
}

/// Returns the fix that makes a string of a value.
pub(crate) fn in_quotes(site: &Site<'_>, text: &str) -> Option<Fix> {
    let quoted = serde_json::Value::from(text).to_string();
    let edits = site.spot()?.replaced(quoted.clone())?;
    Some(Fix::safe(format!("write `{quoted}`"), edits))
}

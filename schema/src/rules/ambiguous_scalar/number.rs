//! Numbers whose text is not their value, where any value is compared or sent: `3.10` is 3.1.

use crate::{
    check::python::PythonValue,
    document::{NodeRef, Scalar, ScalarRules, Style, is_ambiguous},
    edit,
    finding::{MessageParts, Report},
    json_schema::SpecFile,
    problem::{Code, Fix, Severity},
    shape::keywords::Compared,
    walk::Value,
};

/// The value that is read instead of the text.
enum Meaning {
    /// The text of the number, which is searched for.
    Text(String),
    Number(String),
    /// A string, because the format's version of YAML does not read it as a number.
    String,
}

/// Checks a value. One that is not valid at its place is reported separately.
pub(crate) fn check(value: &Value<'_, '_>, file: SpecFile, report: &mut Report) {
    let node = value.node;
    let Some(text) = node.text().filter(|text| may_differ(text)) else { return };
    if node.style() != Some(Style::Plain) || node.tag().is_some() {
        return;
    }
    let Some(compared) = value.compared() else { return };
    let Some((meaning, severity)) = meaning(node, text, compared) else { return };
    let is_older = node.document().rules() == ScalarRules::Yaml11 && is_ambiguous(text);
    let program = file.dialect().map(|format| format.program());
    let note = program.filter(|_| is_older).map(|program| format!("{program} reads YAML 1.1"));
    let quoted = serde_json::Value::from(text).to_string();
    let (message, help) = match meaning {
        Meaning::Text(shown) => (format!("`{text}` is compared as `{shown}`"), format!("write `{quoted}`")),
        Meaning::Number(number) => (
            format!("`{text}` is the number {number}"),
            format!("write `{quoted}` if you mean the string, or `{number}` if you mean the number"),
        ),
        Meaning::String => {
            (format!("`{text}` is a string here, not a number"), format!("write `{quoted}`, or the number in digits"))
        }
    };
    let fix = edit::quote(node).map(|edits| Fix::suggestion(format!("write `{quoted}`"), edits));
    let words = note.iter().fold(MessageParts::new(message), MessageParts::note).help(help).fix(fix);
    let lint_node = value.lint_node();
    let finding = lint_node.problem(Code::AmbiguousScalar, words).with_severity(severity);
    report.push(finding.unless_wrong(lint_node.at));
}

/// Whether a text begins like a number and has more than digits, or a leading zero.
fn may_differ(text: &str) -> bool {
    let unsigned = text.trim_start_matches(['+', '-']);
    unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && (unsigned.starts_with('0') && unsigned.len() > 1 || unsigned.contains(['.', '_', ':', 'e', 'E']))
}

fn meaning(node: NodeRef<'_>, text: &str, compared: Compared) -> Option<(Meaning, Severity)> {
    let number = match node.scalar()? {
        Scalar::Int(number) => number.to_string(),
        Scalar::Float(number) => number.to_string(),
        // In the other version of YAML, it is a number.
        Scalar::Text if compared == Compared::Output && is_ambiguous(text) => {
            return Some((Meaning::String, Severity::Hint));
        }
        Scalar::Text | Scalar::Null | Scalar::Bool(_) | Scalar::Timestamp => return None,
    };
    if compared != Compared::Output {
        let shown = PythonValue::of_node(node).ok()?.show();
        return (shown != text).then_some((Meaning::Text(shown), Severity::Warning));
    }
    let unsigned = text.trim_start_matches(['+', '-']);
    let has_leading_zero = unsigned.starts_with('0') && unsigned[1..].starts_with(|next: char| next.is_ascii_digit());
    // An amount may end with zeros.
    let is_like_version = unsigned.contains('.') && unsigned.ends_with('0') && !unsigned.ends_with(".0");
    let severity = if has_leading_zero || unsigned.contains(['_', ':']) { Severity::Warning } else { Severity::Hint };
    (severity == Severity::Warning || is_like_version).then_some((Meaning::Number(number), severity))
}

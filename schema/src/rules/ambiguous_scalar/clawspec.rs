//! Plain scalars of ClawSpec's files that mean something else than they seem to, where any value may be.

use crate::{
    check::time,
    dialect::clawspec::waiting,
    document::{Pointer, Scalar, Style, is_ambiguous},
    finding::{Report, Rule, Site, Words},
    problem::{Code, Fix, Severity},
    spot::Spot,
    template::trimmed_placeholders,
};

/// A scalar that YAML 1.1 reads as something else than YAML 1.2.
#[derive(Debug)]
struct Yaml11(String);

/// Text where a switch is on or off.
#[derive(Debug)]
struct AlwaysTrue;

/// A time without an offset.
#[derive(Debug)]
struct NoOffset;

/// Looks at the values that an assertion expects in a state file, and at the time that it compares with.
pub(crate) fn check_assertion(assertion: &Spot<'_>, report: &mut Report) {
    for member in ["expected_status", "expected_fields"].into_iter().filter_map(|key| assertion.get(key)) {
        walk(&member, &member.at, report);
    }
    if let Some((after, text)) = waiting::compared(assertion)
        && trimmed_placeholders(text).is_empty()
        && time::parse(text).is_some_and(|instant| !instant.has_offset)
    {
        report.push(after.finding(NoOffset));
    }
}

/// Looks at the data that goes along with a call.
pub(crate) fn check_scenario(scenario: &Spot<'_>, report: &mut Report) {
    if let Some(params) = scenario.find(&["when", "params"]) {
        walk(&params, &params.at, report);
    }
    if let Some(mode) = scenario.find(&["when", "params", "test_mode"]).filter(|mode| mode.text().is_some()) {
        report.push(mode.finding(AlwaysTrue));
    }
}

/// Looks at the scalars of a value. What cannot be at its place at all is another mistake.
fn walk(spot: &Spot<'_>, whole: &Pointer, report: &mut Report) {
    if spot.node.alias().is_some() {
        return;
    }
    if let Some(text) = spot.node.text() {
        if spot.node.style() == Some(Style::Plain) && is_ambiguous(text) && meaning(spot).is_some() {
            report.push(spot.finding(Yaml11(text.to_owned())).unless_wrong(whole.clone()));
        }
        return;
    }
    spot.items().iter().for_each(|item| walk(item, whole, report));
    spot.entries().iter().for_each(|(_, member)| walk(member, whole, report));
}

/// Returns what a scalar is.
fn meaning(spot: &Spot<'_>) -> Option<String> {
    match spot.node.scalar() {
        Some(Scalar::Bool(value)) => Some(format!("`{value}`")),
        Some(Scalar::Int(value)) => Some(format!("the number {value}")),
        Some(Scalar::Float(value)) => Some(format!("the number {value}")),
        Some(Scalar::Timestamp) => Some("a date".to_owned()),
        Some(Scalar::Text) => Some("a string".to_owned()),
        Some(Scalar::Null) | None => None,
    }
}

impl Rule for Yaml11 {
    const CODE: Code = Code::AmbiguousScalar;

    fn words(&self, site: &Site<'_>) -> Words {
        let spot = site.spot();
        let meaning = spot.as_ref().and_then(meaning).unwrap_or_default();
        let quoted = serde_json::Value::from(self.0.as_str()).to_string();
        let help = format!("write `{quoted}` to make it a string");
        let edits = spot.and_then(|spot| spot.replaced(quoted));
        Words::new(format!("`{}` is {meaning} in YAML 1.1, which ClawSpec reads", self.0))
            .remedy(help, Fix::suggestion, edits)
    }
}

impl Rule for AlwaysTrue {
    const CODE: Code = Code::AmbiguousScalar;
    const SEVERITY: Severity = Severity::Warning;

    fn words(&self, _: &Site<'_>) -> Words {
        Words::new("any string counts as true here").help("write `true` or `false` without quotes")
    }
}

impl Rule for NoOffset {
    const CODE: Code = Code::AmbiguousScalar;

    fn words(&self, _: &Site<'_>) -> Words {
        Words::new("a time without an offset depends on the machine's time zone").help("add `Z`, or an offset")
    }
}

//! Plain scalars that mean something else than they seem to, where any value may stand.

use crate::{
    document::{Scalar, Style, is_ambiguous},
    problem::{Code, Fix, Problem},
    spot::Spot,
};

/// The expected values of a state file.
/// Quotes do not make a time or an address of a number.
pub(super) fn lint_quotes(assertion: &Spot<'_>, problems: &mut [Problem]) {
    for member in ["updated_after", "endpoint"].into_iter().filter_map(|key| assertion.get(key)) {
        let is_number = member.number().is_some() || member.bool().is_some();
        for problem in problems.iter_mut().filter(|it| is_number && it.code == Code::WrongType && it.at == member.at) {
            problem.fixes.clear();
            let (wanted, help) = if problem.at.last().as_deref() == Some("endpoint") {
                ("an address", "write the full address")
            } else {
                ("a time", "write a time, such as `\"{{run_started_at}}\"`")
            };
            problem.message = format!("expected {wanted}, found `{}`", member.node.text().unwrap_or_default());
            problem.help = Some(help.to_owned());
        }
    }
}

pub(super) fn lint(assertion: &Spot<'_>, problems: &mut Vec<Problem>) {
    for member in ["expected_status", "expected_fields"].into_iter().filter_map(|key| assertion.get(key)) {
        // What cannot stand there at all is told already.
        if !problems.iter().any(|problem| problem.at == member.at && problem.code == Code::WrongType) {
            walk(&member, problems);
        }
    }
}

/// The data that goes along with a call.
pub(super) fn lint_params(scenario: &Spot<'_>, problems: &mut Vec<Problem>) {
    if let Some(params) = scenario.find(&["when", "params"]) {
        dates(&params, problems);
        walk(&params, problems);
    }
}

fn walk(spot: &Spot<'_>, problems: &mut Vec<Problem>) {
    if spot.node.alias().is_some() {
        return;
    }
    if let Some(text) = spot.node.text() {
        let odd = spot.node.style() == Some(Style::Plain) && is_ambiguous(text);
        let meaning = match spot.node.scalar() {
            Some(Scalar::Bool(value)) => Some(format!("`{value}`")),
            Some(Scalar::Int(value)) => Some(format!("the number {value}")),
            Some(Scalar::Float(value)) => Some(format!("the number {value}")),
            Some(Scalar::Timestamp) => Some("a date".to_owned()),
            Some(Scalar::Text) => Some("text".to_owned()),
            Some(Scalar::Null) | None => None,
        };
        if let Some(meaning) = meaning.filter(|_| odd) {
            let message = format!("`{text}` is {meaning} in YAML 1.1, which ClawSpec reads");
            let quoted = serde_json::Value::from(text).to_string();
            let help = format!("write `{quoted}` if you mean the text");
            let mut problem = spot.problem(Code::AmbiguousScalar, message).with_help(&help);
            problem.fixes.extend(spot.replaced(quoted).map(|edits| Fix::suggestion(help, edits)));
            problems.push(problem);
        }
        return;
    }
    spot.items().iter().for_each(|item| walk(item, problems));
    spot.entries().iter().for_each(|(_, member)| walk(member, problems));
}

/// A date cannot be sent.
fn dates(spot: &Spot<'_>, problems: &mut Vec<Problem>) {
    if spot.node.alias().is_some() {
        return;
    }
    if spot.node.scalar() == Some(Scalar::Timestamp) && spot.node.style() == Some(Style::Plain) {
        let text = spot.node.text().unwrap_or_default();
        let quoted = serde_json::Value::from(text).to_string();
        let help = format!("write it in quotes, `{quoted}`");
        let problem = spot.problem(Code::WrongType, "a date without quotes cannot be sent");
        let mut problem = problem.with_note("ClawSpec aborts the scenario with an error").with_help(&help);
        problem.fixes.extend(spot.replaced(quoted).map(|edits| Fix::safe(help, edits)));
        problems.push(problem);
    }
    spot.items().iter().for_each(|item| dates(item, problems));
    spot.entries().iter().for_each(|(_, member)| dates(member, problems));
}

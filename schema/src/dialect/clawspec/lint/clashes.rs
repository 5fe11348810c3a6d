//! Claims of one scenario that cannot hold together.

use rustc_hash::FxHashMap;

use crate::{
    problem::{Code, Problem},
    spot::Spot,
};

/// What a claim says of something.
struct Said<'d> {
    /// What it is about: a tool in the log, a tool in the trace, a file.
    about: &'static str,
    name: String,
    holds: bool,
    spot: Spot<'d>,
}

/// What a claim expects of a place of which there is only one: the place, the value, and where that stands.
fn value_of<'d>(assertion: &Spot<'d>, kind: &str) -> Option<(String, String, Spot<'d>)> {
    let (place, expected) = match kind {
        "decision_routed_to" => ("state_path", "expected_agent"),
        "gateway_response" => ("endpoint", "expected_status"),
        "state_file" if assertion.get("state_path").is_some() => ("state_path", "expected_status"),
        "state_file" => ("path", "expected_status"),
        _ => return None,
    };
    let at = assertion.get(place)?.text()?;
    // Between two looks that wait, a state may change.
    if assertion.get("timeout").is_some() || assertion.get("updated_after").is_some() {
        return None;
    }
    let value = assertion.get(expected)?;
    // Texts and numbers are never equal; numbers are, however they are written.
    let written = match (value.number(), value.text()) {
        (Some(number), _) => number.to_string(),
        (None, Some(text)) if !text.is_empty() => text.to_owned(),
        _ => return None,
    };
    Some((format!("{kind} {at}"), written, value))
}

fn has_wildcard(assertion: &Spot<'_>) -> bool {
    let path = assertion.get("path");
    path.as_ref().and_then(Spot::text).is_some_and(|path| path.contains(['*', '?', '[']))
}

pub(super) fn lint(list: &Spot<'_>, problems: &mut Vec<Problem>) {
    let mut said: Vec<Said<'_>> = Vec::new();
    let mut values: Vec<(String, String, Spot<'_>)> = Vec::new();
    let mut allowed: Vec<(Vec<String>, Spot<'_>)> = Vec::new();
    for assertion in list.items() {
        let Some(kind) = assertion.get("type") else { continue };
        if let Some(value) = value_of(&assertion, kind.text().unwrap_or_default()) {
            match values.iter().find(|(about, other, _)| *about == value.0 && *other != value.1) {
                Some((_, other, spot)) => {
                    let message = format!("another assertion expects `{other}` of the same place");
                    let problem = value.2.problem(Code::Contradiction, message);
                    problems.push(problem.with_related("the other claim", spot.at.clone(), spot.range()));
                }
                None => values.push(value),
            }
        }
        let mut say = |about, key: &str, holds| {
            let Some(member) = assertion.get(key) else { return };
            let items = if member.is_list() { member.items() } else { vec![member] };
            said.extend(items.into_iter().filter_map(|spot| {
                let name = spot.text().filter(|name| !name.is_empty())?.to_owned();
                Some(Said { about, name, holds, spot })
            }));
        };
        match kind.text().unwrap_or_default() {
            "tool_was_called" => say("call", "tool", true),
            "tool_not_called" => say("call", "tool", false),
            "tool_sequence" => say("span", "expected", true),
            "tool_not_invoked" => say("span", "tool", false),
            // These two take a wildcard literally, the others do not: each is about files of its own.
            "file_present" if has_wildcard(&assertion) => say("literal file", "path", true),
            "file_absent" if has_wildcard(&assertion) => say("literal file", "path", false),
            "file_present" | "artifact_exists" | "artifact_contains" => say("file", "path", true),
            "file_absent" => say("file", "path", false),
            "log_entry" => {
                let absent = assertion.get("absent").and_then(|it| it.bool()).unwrap_or(false);
                let path = assertion.get("path").and_then(|it| it.text()).unwrap_or_default();
                if let Some(pattern) = assertion.get("pattern")
                    && let Some(text) = pattern.text().filter(|text| !text.is_empty())
                {
                    let name = format!("{text} in {path}");
                    said.push(Said { about: "log", name, holds: !absent, spot: pattern });
                }
            }
            "tool_not_permitted" => {
                let Some(tools) = assertion.get("allowed_tools").filter(Spot::is_list) else { continue };
                let names = tools.texts().into_iter().map(|(name, _)| name.to_owned()).collect();
                allowed.push((names, tools));
            }
            _ => {}
        }
    }
    let mut held: FxHashMap<(&str, &str), &Said<'_>> = FxHashMap::default();
    for claim in said.iter().filter(|it| it.holds) {
        held.entry((claim.about, &claim.name)).or_insert(claim);
    }
    for denied in said.iter().filter(|it| !it.holds) {
        let Some(other) = held.get(&(denied.about, &*denied.name)).copied() else { continue };
        let (_, last) =
            if denied.spot.range().start < other.spot.range().start { (denied, other) } else { (other, denied) };
        let first = if std::ptr::eq(last, other) { denied } else { other };
        let message = format!("another assertion says the opposite of `{}`", denied.name);
        let problem = last.spot.problem(Code::Contradiction, message);
        problems.push(problem.with_related("the other claim", first.spot.at.clone(), first.spot.range()));
    }
    for called in said.iter().filter(|it| it.holds && it.about == "call") {
        if let Some((_, tools)) = allowed.iter().find(|(names, _)| !names.contains(&called.name)) {
            let message = format!("`{}` must be called, and is not one of the allowed tools", called.name);
            let problem = called.spot.problem(Code::Contradiction, message);
            problems.push(problem.with_related("the tools that are allowed", tools.at.clone(), tools.range()));
        }
    }
}

//! Claims: there is one, it can fail, it can hold, and it does not contradict another.

use std::collections::HashMap;

use crate::{
    problem::{Code, Problem, Severity},
    spot::Spot,
};

use super::unread;

/// A test claims something.
pub(super) fn lint_presence(test: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(expect) = test.get("expect").filter(|expect| expect.is_mapping() && expect.is_empty()) else { return };
    let turns = test.get("conversation").map(|turns| turns.items()).unwrap_or_default();
    if turns.iter().any(|turn| turn.get("expect").is_some_and(|expect| !expect.is_empty())) {
        return;
    }
    let problem = expect.head_problem(Code::NoClaims, "`expect` holds no expectation, so this test always passes");
    problems.push(problem.with_help("add an expectation, such as `output: { contains: [...] }`"));
}

/// The claims of one `expect`.
pub(super) fn lint(test: &Spot<'_>, expect: &Spot<'_>, problems: &mut Vec<Problem>) {
    if let Some(output) = expect.get("output") {
        lint_output(&output, problems);
    }
    if let Some(calls) = expect.get("toolCalls") {
        lint_tool_calls(&calls, problems);
    }
    if let Some(guardrails) = expect.get("guardrails") {
        lint_guardrails(&guardrails, expect, problems);
    }
    if let Some(judge) = expect.get("judge") {
        empty_list(&judge, problems);
        for criterion in judge.items() {
            if let Some(least) = criterion.get("minScore").filter(|least| least.number() == Some(0.0)) {
                problems.push(least.problem(Code::VacuousClaim, "every score reaches `minScore: 0`"));
            }
        }
    }
    if let Some(baseline) = expect.get("baseline") {
        lint_baseline(&baseline, problems);
    }
    for bound in [["latency", "maxMs"], ["cost", "maxUsd"]].iter().filter_map(|path| expect.find(path)) {
        unread::boundless(&bound, problems);
    }
    if let Some(cost) = expect.get("cost").filter(|_| test.get("command").is_some()) {
        let problem = cost.head_problem(Code::VacuousClaim, "the cost of a command is unknown");
        problems
            .push(problem.with_note("KindLM counts it as 0, so this expectation always holds").with_help("remove it"));
    }
}

fn empty_list(list: &Spot<'_>, problems: &mut Vec<Problem>) -> bool {
    let empty = list.is_list() && list.is_empty();
    if empty {
        let problem = list.problem(Code::VacuousClaim, "an empty list asserts nothing");
        problems.push(problem.with_help("add an item, or remove the key"));
    }
    empty
}

fn lint_output(output: &Spot<'_>, problems: &mut Vec<Problem>) {
    let is_json = output.get("format").and_then(|format| format.text()) == Some("json");
    if output.is_mapping() && !is_json && output.node.entries().all(|entry| entry.key.text() == Some("format")) {
        let problem = output.head_problem(Code::VacuousClaim, "`output` asserts nothing");
        problems.push(problem.with_help("add `contains`, `notContains`, `maxLength` or `schemaFile`"));
    }
    let list = |key: &str| output.get(key).map(|list| list.texts()).unwrap_or_default();
    let (contains, forbidden) = (list("contains"), list("notContains"));
    for key in ["contains", "notContains"] {
        if let Some(spot) = output.get(key) {
            empty_list(&spot, problems);
            repeated(&spot, problems);
        }
    }
    for (_, spot) in contains.iter().filter(|(text, _)| text.is_empty()) {
        problems.push(always_holds(spot));
    }
    for (text, spot) in &forbidden {
        if text.is_empty() {
            problems.push(never_holds(spot));
            continue;
        }
        if let Some((wanted, first)) = contains.iter().find(|(wanted, _)| holds(wanted, text)) {
            let message = format!("the output must contain `{wanted}`, and must not contain `{text}`");
            let problem = clash(spot, message);
            problems.push(problem.with_related("this must be in the output", first.at.clone(), first.range()));
        }
    }
    if let Some((most, limit)) = output.get("maxLength").and_then(|spot| Some((spot.number()?, spot)))
        && let Some((wanted, first)) = contains.iter().find(|(wanted, _)| wanted.encode_utf16().count() as f64 > most)
    {
        let message = format!("`{wanted}`, which the output must contain, is longer than `maxLength: {most}`");
        let problem = clash(&limit, message);
        problems.push(problem.with_related("this must be in the output", first.at.clone(), first.range()));
    }
}

/// The empty text where it must not occur.
fn never_holds(spot: &Spot<'_>) -> Problem {
    clash(spot, "every output contains the empty string, so this always fails").with_help("remove it")
}

/// The empty text where it must occur.
fn always_holds(spot: &Spot<'_>) -> Problem {
    spot.problem(Code::VacuousClaim, "every output contains the empty string").with_help("remove it")
}

/// Claims about the text that cannot hold together. The suite still means what it says, so it can be run.
fn clash(spot: &Spot<'_>, message: impl Into<String>) -> Problem {
    spot.problem(Code::Contradiction, message).with_severity(Severity::Warning)
}

/// Whether every text that holds `text` holds `part`, too.
fn holds(text: &str, part: &str) -> bool {
    text.to_lowercase().contains(&part.to_lowercase())
}

/// A text that is in a list twice.
fn repeated(list: &Spot<'_>, problems: &mut Vec<Problem>) {
    let mut seen: HashMap<String, Spot<'_>> = HashMap::new();
    for (text, spot) in list.texts().into_iter().filter(|(text, _)| !text.is_empty()) {
        let lower = text.to_lowercase();
        if let Some(first) = seen.get(&lower) {
            let problem = spot.problem(Code::Collision, format!("duplicate item `{text}`"));
            let problem = problem.with_help("remove one of the two");
            problems.push(problem.with_related("first here", first.at.clone(), first.range()));
        } else {
            seen.insert(lower, spot);
        }
    }
}

fn lint_tool_calls(calls: &Spot<'_>, problems: &mut Vec<Problem>) {
    if empty_list(calls, problems) {
        return;
    }
    let mut called: HashMap<&str, Spot<'_>> = HashMap::new();
    let mut forbidden: HashMap<&str, Spot<'_>> = HashMap::new();
    let mut positions: HashMap<u64, (&str, Spot<'_>)> = HashMap::new();
    let mut bare: HashMap<&str, Spot<'_>> = HashMap::new();
    for call in calls.items() {
        let Some(tool) = call.get("tool") else { continue };
        let Some(name) = tool.text() else { continue };
        let is_forbidden = call.get("shouldNotCall").and_then(|spot| spot.bool()) == Some(true);
        if is_forbidden {
            for key in ["argsMatch", "argsSchema", "order"] {
                if let Some(spot) = call.get(key) {
                    let message = format!("`{key}` is not checked beside `shouldNotCall: true`");
                    let note = format!("every call of `{name}` fails the expectation");
                    problems.push(spot.head_problem(Code::Unchecked, message).with_note(note).with_help("remove it"));
                }
            }
            forbidden.entry(name).or_insert(tool);
            continue;
        }
        if let Some(args) = call.get("argsMatch").filter(|args| args.is_mapping() && args.is_empty()) {
            let problem = args.problem(Code::VacuousClaim, "`{}` matches any arguments");
            problems.push(problem.with_help("add an argument, or remove `argsMatch`"));
        }
        if let Some(args) = call.get("argsMatch") {
            unread::lint_zeros(&args, problems);
        }
        if let Some(order) = call.get("order")
            && let Some(position) = order.number().filter(|number| number.fract() == 0.0 && *number >= 0.0)
        {
            if let Some((other, first)) = positions.get(&(position as u64)) {
                let (message, help) = if *other == name {
                    (format!("`order: {position}` is expected of `{name}` twice"), "remove one of the two")
                } else {
                    (format!("`order: {position}` is expected of `{other}` and of `{name}`"), "change one of the two")
                };
                let problem = order.problem(Code::Collision, message).with_help(help);
                problems.push(problem.with_related("first expected here", first.at.clone(), first.range()));
            } else {
                positions.insert(position as u64, (name, order));
            }
        } else if ["argsMatch", "argsSchema"].iter().all(|key| call.get(key).is_none()) {
            if let Some(first) = bare.get(name) {
                let message = format!("a call of `{name}` is expected twice");
                let note = "one call satisfies both expectations";
                let problem = tool.problem(Code::Collision, message).with_note(note);
                problems.push(problem.with_related("first expected here", first.at.clone(), first.range()));
            } else {
                bare.insert(name, tool.clone());
            }
        }
        called.entry(name).or_insert(tool);
    }
    let mut both: Vec<(&str, &Spot<'_>, &Spot<'_>)> =
        forbidden.iter().filter_map(|(name, spot)| Some((*name, spot, called.get(name)?))).collect();
    both.sort_by_key(|(_, spot, _)| spot.at.clone());
    for (name, spot, first) in both {
        let message = format!("`{name}` must be called, and must not be called");
        let problem = spot.problem(Code::Contradiction, message);
        problems.push(problem.with_related("this must be called", first.at.clone(), first.range()));
    }
}

fn lint_guardrails(guardrails: &Spot<'_>, expect: &Spot<'_>, problems: &mut Vec<Problem>) {
    if guardrails.is_mapping() && guardrails.is_empty() {
        let problem = guardrails.head_problem(Code::VacuousClaim, "`guardrails` asserts nothing");
        problems.push(problem.with_help("add `pii: {}` or `keywords`"));
    }
    if let Some(pii) = guardrails.get("pii") {
        let enabled = pii.get("enabled");
        let is_empty = |key: &str| pii.get(key).map(|list| list.is_list() && list.is_empty());
        if let Some(spot) = enabled.filter(|enabled| enabled.bool() == Some(false)) {
            let message = "KindLM searches for personal data despite `enabled: false`";
            let problem = Problem::new(Code::UpstreamDiffers, spot.at.clone(), spot.range(), message);
            problems.push(problem.with_note("speclens does not search then"));
        } else if is_empty("denyPatterns") == Some(true)
            && is_empty("customPatterns") != Some(false)
            && let Some(deny) = pii.get("denyPatterns")
        {
            let problem = deny.problem(Code::VacuousClaim, "`pii` searches for nothing without a pattern");
            problems.push(problem.with_help("remove `denyPatterns` to search for the built-in patterns"));
        }
    }
    if let Some(keywords) = guardrails.get("keywords") {
        lint_keywords(&keywords, expect, problems);
    }
}

fn lint_keywords(keywords: &Spot<'_>, expect: &Spot<'_>, problems: &mut Vec<Problem>) {
    let list = |key: &str| keywords.get(key).map(|list| list.texts()).unwrap_or_default();
    let (deny, allow) = (list("deny"), list("allow"));
    let mut entries = keywords.entries().into_iter();
    let is_idle = |(key, list): (String, Spot<'_>)| ["deny", "allow"].contains(&key.as_str()) && list.is_empty();
    if keywords.is_mapping() && entries.all(is_idle) {
        let problem = keywords.head_problem(Code::VacuousClaim, "`keywords` asserts nothing");
        problems.push(problem.with_help("add a word to `deny` or `allow`"));
    }
    for key in ["deny", "allow"] {
        if let Some(spot) = keywords.get(key) {
            repeated(&spot, problems);
        }
    }
    for (_, spot) in allow.iter().filter(|(text, _)| text.is_empty()) {
        problems.push(always_holds(spot));
    }
    for (_, spot) in deny.iter().filter(|(text, _)| text.is_empty()) {
        problems.push(never_holds(spot));
    }
    let denied = |text: &str| deny.iter().find(|(word, _)| !word.is_empty() && holds(text, word));
    let wanted = expect.find(&["output", "contains"]).map(|list| list.texts()).unwrap_or_default();
    let all_allowed_denied = !allow.is_empty() && allow.iter().all(|(text, _)| denied(text).is_some());
    let clashing = wanted.iter().filter(|(text, _)| denied(text).is_some());
    for (text, spot) in clashing.chain(allow.iter().filter(|_| all_allowed_denied)) {
        if let Some((word, first)) = denied(text) {
            let message = format!("the output must contain `{text}`, and `deny` has `{word}`");
            let problem = clash(spot, message);
            problems.push(problem.with_related("denied here", first.at.clone(), first.range()));
        }
    }
}

fn lint_baseline(baseline: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(drift) = baseline.get("drift") else {
        if baseline.is_mapping() && baseline.is_empty() {
            problems.push(baseline.head_problem(Code::VacuousClaim, "`baseline` asserts nothing without `drift`"));
        }
        return;
    };
    let method = drift.get("method");
    let name = method.as_ref().and_then(|method| method.text()).unwrap_or("judge");
    if let Some(most) = drift.get("maxScore").filter(|most| most.number() == Some(1.0) && name != "embedding") {
        problems.push(most.problem(Code::VacuousClaim, "no drift exceeds `maxScore: 1`"));
    }
    let fields = drift.get("fields");
    if name == "field-diff" && fields.as_ref().is_none_or(|fields| fields.is_list() && fields.is_empty()) {
        let spot = fields.as_ref().or(method.as_ref()).unwrap_or(&drift);
        let problem = spot.head_problem(Code::VacuousClaim, "`field-diff` compares nothing without `fields`");
        problems.push(problem.with_help("name the fields to compare in `fields`"));
    } else if let Some(fields) = fields.filter(|_| name != "field-diff") {
        let message = format!("`fields` are not compared with `method: {name}`");
        let problem = fields.head_problem(Code::Unchecked, message);
        problems.push(problem.with_help("use `method: field-diff`, or remove `fields`"));
    }
}

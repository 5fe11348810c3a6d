//! Scenarios that are written in another form: steps, prose, lists where a mapping belongs.

use crate::{
    dialect::clawspec::assertion::Assertion,
    document::Shape,
    edit,
    json_schema::SpecFile,
    problem::{Code, Fix, Problem, Severity},
    shape::Field,
    spot::Spot,
    validate::Definition,
};

use super::{around::Around, assertions::artifact_paths};

/// The lists of assertions below other names of `given` and `then`.
pub(super) fn old_lists<'d>(scenario: &Spot<'d>) -> Vec<Spot<'d>> {
    let of_lists = scenario_fields().into_iter().filter(|field| ["given", "then"].contains(&field.name));
    let names = of_lists.flat_map(|field| field.shape.other_names());
    names.filter_map(|other| scenario.get(other.name).filter(Spot::is_list)).collect()
}

fn is_called(field: &Field, other: &str) -> bool {
    field.shape.other_names().iter().any(|known| known.name == other)
}

fn scenario_fields() -> Vec<Field> {
    Definition::Item(SpecFile::CLAWSPEC_SCENARIOS, "scenarios").shape().fields(None)
}

/// What validation found in the shape of a scenario, said better.
pub(super) fn lint_scenario(scenario: &Spot<'_>, problems: &mut Vec<Problem>) {
    for (key, member) in scenario.entries() {
        let Some(found) =
            problems.iter_mut().find(|problem| problem.code == Code::UnknownKey && problem.at == member.at)
        else {
            continue;
        };
        let Some(real) = lint_old_key(scenario, &key, &member, found) else { continue };
        // That the real key is missing is the same mistake.
        let place = scenario.at.key(real);
        problems.retain(|problem| !(problem.code == Code::MissingField && problem.at == place));
    }
    if let Some(when) = scenario.get("when") {
        lint_when(&when, problems);
    }
}

/// A key of a scenario in the form that older guides show, where more than its name differs. Returns the key that says it now.
fn lint_old_key(scenario: &Spot<'_>, key: &str, member: &Spot<'_>, found: &mut Problem) -> Option<&'static str> {
    let has_action = scenario.get("when").is_some();
    let below_when = || Some(Fix::safe("move it under `when`", edit::below(scenario.node, key, "when")?));
    let (real, help, fix) = match key {
        "steps" => (
            "when",
            "a scenario has one action, `when: { invoke, params }`",
            only_step(scenario, member).filter(|_| !has_action),
        ),
        "invoke" => ("when", "move it under `when`", below_when()),
        // Without `invoke`, `when` would be the next mistake.
        "params" => ("when", "move it under `when`", below_when().filter(|_| has_action)),
        "inputs" => {
            let help = "move it under `when`, as `params`";
            let edits = edit::below_as(scenario.node, key, "when", "params").filter(|_| has_action);
            ("when", help, edits.map(|edits| Fix::guess(help, edits)))
        }
        "assertions" if scenario.get("then").is_some() && member.is_list() => {
            ("then", "move its items to `then`", joined(scenario, member))
        }
        "id" if scenario.get("name").is_some() => {
            ("name", "a scenario is called by its `name`", second_name(scenario, member))
        }
        _ if !member.is_list() => {
            let (real, example) = match scenario_fields().into_iter().find(|field| is_called(field, key))?.name {
                "given" => ("given", "file_present"),
                "then" => ("then", "artifact_exists"),
                _ => return None,
            };
            found.help = Some(format!("write a list of assertions below `{real}`, such as `- type: {example}`"));
            found.fixes.clear();
            if real == "given" || scenario.get(real).is_some() {
                found.fixes.extend(edit::comment_out(scenario.node, &member.at).map(Fix::comment));
            }
            return Some(real);
        }
        _ => return None,
    };
    found.help = Some(help.to_owned());
    found.fixes = fix.into_iter().collect();
    if found.fixes.is_empty() && scenario.get(real).is_some() {
        found.fixes.extend(edit::comment_out(scenario.node, &member.at).map(Fix::comment));
    }
    Some(real)
}

/// Steps of which there is one, and all it says is what to invoke: that is `when`.
fn only_step(scenario: &Spot<'_>, steps: &Spot<'_>) -> Option<Fix> {
    let items = steps.items();
    let [step] = items.as_slice() else { return None };
    let is_plain = |(key, value): &(String, Spot<'_>)| match key.as_str() {
        "type" => value.text() == Some("invoke"),
        "invoke" => value.node.text().is_some() && value.node.alias().is_none(),
        _ => false,
    };
    let invoke = step.get("invoke")?;
    if !step.is_own() || step.node.anchor().is_some() || !step.entries().iter().all(is_plain) {
        return None;
    }
    let lines = ["when:".to_owned(), format!("  invoke: {}", edit::words(invoke.node)?)];
    let edits = edit::replace_entry(scenario.node, steps.entry()?, &lines, invoke.node)?;
    Some(Fix::safe("rewrite it as `when`", edits))
}

/// A second list of assertions right behind the first one: without its key they are one list.
fn joined(scenario: &Spot<'_>, member: &Spot<'_>) -> Option<Fix> {
    let then = scenario.get("then").filter(|then| then.is_list() && then.is_own() && then.node.alias().is_none())?;
    let edits = edit::joined(scenario.node, then.entry()?, member.entry()?)?;
    // What has a name is used elsewhere, where it would change as well.
    let is_named = [then.node, member.node].iter().any(|list| list.anchor().is_some());
    let title = "move its items to `then`";
    Some(if is_named { Fix::suggestion(title, edits) } else { Fix::safe(title, edits) })
}

/// An `id` beside a name: nothing is lost where both say the same.
fn second_name(scenario: &Spot<'_>, id: &Spot<'_>) -> Option<Fix> {
    let name = scenario.get("name")?;
    let same = id.node.text().is_some() && name.text() == id.node.text() && id.node.anchor().is_none();
    let edits = scenario.without(id).filter(|_| same)?;
    // Another program may read it.
    Some(Fix::suggestion("remove it: `name` says the same", edits))
}

/// What happens because of an unknown key.
const REJECTED: &str = "ClawSpec rejects the whole file";

/// Keys of a scenario; what stands under `when` and is none of them is sent.
const SCENARIO: [&str; 9] = ["name", "description", "tags", "given", "then", "type", "path", "trigger", "timeout"];

/// Keys under `when` that belong under its `params`.
fn lint_sent(when: &Spot<'_>, problems: &mut [Problem]) {
    for problem in problems.iter_mut().filter(|problem| problem.code == Code::UnknownKey) {
        let Some(key) = problem.at.last().filter(|_| problem.at.parent().as_ref() == Some(&when.at)) else { continue };
        // What is a slip of the keys has its fix.
        if SCENARIO.contains(&key.as_str()) || problem.fixes.iter().any(|fix| fix.preferred) {
            continue;
        }
        problem.message = format!("`when` has no key `{key}`");
        problem.note = Some(REJECTED.to_owned());
        let help = "move it under `params`, if it is sent with `invoke`";
        problem.help = Some(help.to_owned());
        problem.severity = Severity::Error;
        let edits = edit::below(when.node, &key, "params");
        let fix = |edits| match key.as_str() {
            "test_mode" => Fix::safe("move it under `params`", edits),
            _ => Fix::guess("move it under `params`", edits),
        };
        problem.fixes = edits.map(fix).into_iter().collect();
    }
}

fn lint_when(when: &Spot<'_>, problems: &mut Vec<Problem>) {
    if when.get("invoke").is_some() {
        lint_sent(when, problems);
    }
    if !when.is_list() {
        return;
    }
    problems.retain(|problem| problem.at != when.at);
    let problem = when.head_problem(Code::WrongType, "expected a mapping for `when`, found a list");
    let mut problem = problem.with_help("write one action, `when: { invoke, params }`, and a scenario for each other");
    let items = when.items();
    if let [only] = items.as_slice()
        && let Some(invoke) = only.get("invoke").or_else(|| only.text().is_some().then(|| only.clone()))
        && let Some(words) = edit::words(invoke.node)
    {
        // A mapping with other keys would lose them.
        let is_alone = only.text().is_some() || only.entries().len() == 1;
        let line = format!("invoke: {words}");
        let edits = when.entry().and_then(|entry| edit::mapping_of_item(entry, &line, invoke.node));
        let is_sure = edit::is_flow(when.node) || only.text().is_none_or(|text| text.starts_with('/'));
        let fix = if is_sure { Fix::safe } else { Fix::guess };
        problem.fixes.extend(edits.filter(|_| is_alone).map(|edits| fix("make it a mapping", edits)));
    }
    problems.push(problem);
}

/// The edits that turn an assertion into a comment; a list of preconditions may go with its only one.
pub(crate) fn comment(around: &Spot<'_>, assertion: &Spot<'_>) -> Option<Fix> {
    let given = || assertion.at.parent().filter(|list| list.last().as_deref() == Some("given"));
    let edits = edit::comment_out(around.node, &assertion.at).or_else(|| {
        let list = given()?;
        let only = around.node.find(&list)?.items().count() == 1;
        edit::comment_out(around.node, &list).filter(|_| only)
    })?;
    Some(Fix::comment(edits))
}

/// A sentence in place of an assertion, of which `: ` makes a mapping. Returns whether it is one.
pub(super) fn lint_sentence(around: &Around<'_>, item: &Spot<'_>, problems: &mut Vec<Problem>) -> bool {
    let entries = item.entries();
    let [(key, value)] = entries.as_slice() else { return false };
    if !item.is_mapping() || key.split_whitespace().count() < 2 || value.node.text().is_none() {
        return false;
    }
    problems.retain(|problem| problem.at != item.at && problem.at.below(&item.at).is_none());
    let problem = value.head_problem(Code::WrongType, "expected an assertion, found a sentence");
    let mut problem = problem
        .with_note("`: ` makes a mapping of this sentence, without a `type`")
        .with_help("write a mapping with `type`, or turn the sentence into a comment");
    problem.at = item.at.clone();
    problem.fixes.extend(comment(around, item));
    problems.push(problem);
    true
}

/// A sentence in place of an assertion.
pub(super) fn lint_prose(around: &Around<'_>, item: &Spot<'_>, problems: &mut Vec<Problem>) {
    if item.node.shape() != Shape::Scalar || item.node.is_null() {
        return;
    }
    problems.retain(|problem| problem.at != item.at);
    if let Some(name) = item.text().filter(|name| Assertion::type_info(name).is_some()) {
        let problem = item.problem(Code::WrongType, format!("expected an assertion, found the string `{name}`"));
        let mut problem = problem.with_help(format!("write `type: {name}`, and the keys that it needs"));
        problem.fixes.extend(comment(around, item));
        problems.push(problem);
        return;
    }
    let problem = item.problem(Code::WrongType, "expected an assertion, found a sentence").with_note(REJECTED);
    let mut problem = problem.with_help("write a mapping with `type`, or turn the sentence into a comment");
    let path = artifact_paths(around, problems).into_iter().next();
    if let (Some(text), Some(path)) = (item.node.text(), path) {
        let rubric = serde_json::Value::from(format!("Score 1-5: {text}")).to_string();
        let words = format!("{{ type: llm_judge, path: {}, rubric: {rubric} }}", crate::shape::scalar(&path));
        problem.fixes.extend(item.replaced(words).map(|edits| Fix::suggestion("have a model judge it", edits)));
    }
    problem.fixes.extend(comment(around, item));
    problems.push(problem);
}

//! The tools that a test gives to the model, the claims about them, and the replies of a conversation.

use std::collections::HashMap;

use crate::{
    check::schema_file::UserSchema,
    dialect::Dialect,
    problem::{Code, Edit, Fix, Problem, Severity},
    spot::Spot,
    words::{Search, all_of},
};

use super::expects;

/// After how many replies the tool loop ends when the test does not say.
const MAX_TURNS: f64 = 10.0;

/// So many answers of a tool are compared with each other one.
const CLOSELY: usize = 256;

/// Everything about the tools and the replies of one test. A command brings its own tools.
pub(super) fn lint(test: &Spot<'_>, problems: &mut Vec<Problem>) {
    if test.get("prompt").is_none() || test.get("command").is_some() {
        return;
    }
    turns(test, problems);
    let Some(tools) = test.get("tools").filter(|tools| tools.is_list() && !tools.is_empty()) else { return };
    let tools: Vec<(&str, Spot<'_>)> =
        tools.items().into_iter().filter_map(|tool| Some((tool.get("name")?.text()?, tool))).collect();
    let mut known: HashMap<&str, &Spot<'_>> = HashMap::new();
    for (name, tool) in &tools {
        let first = *known.entry(name).or_insert(tool);
        if let Some(spot) = tool.get("name").filter(|_| !std::ptr::eq(first, tool)) {
            let message = format!("the tool `{name}` stands twice in this test: the first one answers every call");
            let problem = spot.problem(Code::DuplicateName, message).with_severity(Severity::Warning);
            problems.push(problem.with_related("first defined here", first.at.clone(), first.head()));
        }
        responses(tool, problems);
        parameters(tool, problems);
    }
    let names: Vec<&str> = tools.iter().map(|(name, _)| *name).collect();
    let mut search = Search::default();
    for expect in expects(test) {
        for call in expect.get("toolCalls").map(|calls| calls.items()).unwrap_or_default() {
            claim(&call, &known, &names, &mut search, problems);
        }
    }
}

/// A claim names a tool that there is, and arguments that it has.
fn claim(
    call: &Spot<'_>,
    tools: &HashMap<&str, &Spot<'_>>,
    names: &[&str],
    search: &mut Search,
    problems: &mut Vec<Problem>,
) {
    let Some((name, spot)) = call.get("tool").and_then(|spot| Some((spot.text()?, spot))) else { return };
    if let Some(tool) = tools.get(name) {
        if let Some(args) = call.get("argsMatch") {
            arguments(name, tool, &args, problems);
        }
        return;
    }
    let is_forbidden = call.get("shouldNotCall").and_then(|spot| spot.bool()) == Some(true);
    match search.nearest(name, names.iter().copied()) {
        Some(near) => {
            let message = format!("no tool of this test is called `{name}`: did you mean `{near}`?");
            let problem = spot.problem(Code::UnknownReference, message).with_severity(Severity::Warning);
            problems.push(change(problem, &spot, near));
        }
        None if is_forbidden => {
            let message = format!("the model is not given `{name}`, so that this cannot fail: add it to `tools`");
            problems.push(spot.problem(Code::VacuousClaim, message).with_severity(Severity::Hint));
        }
        None => {
            let mut names: Vec<&str> = names.to_vec();
            names.dedup();
            let names = all_of(names);
            let message = format!("no tool of this test is called `{name}`: `tools` has {names}");
            problems.push(spot.problem(Code::UnknownReference, message).with_severity(Severity::Warning));
        }
    }
}

/// Arguments that the tool's `parameters` do not know.
fn arguments(name: &str, tool: &Spot<'_>, args: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(properties) = tool.find(&["parameters", "properties"]).filter(|it| it.is_mapping() && !it.is_empty())
    else {
        return;
    };
    let is_open = tool.find(&["parameters", "additionalProperties"]).is_some_and(|more| more.bool() != Some(false));
    if is_open || tool.find(&["parameters", "patternProperties"]).is_some() {
        return;
    }
    let known: Vec<String> = properties.entries().into_iter().map(|(key, _)| key).collect();
    let mut search = Search::default();
    for (key, arg) in args.entries().into_iter().filter(|(key, _)| !known.contains(key)) {
        let near = search.nearest(&key, known.iter().map(String::as_str));
        let message = match near {
            Some(near) => format!("`{name}` has no argument `{key}`: did you mean `{near}`?"),
            None => format!("`{name}` has no argument `{key}`: it has {}", all_of(known.iter().map(String::as_str))),
        };
        let mut problem = arg.head_problem(Code::UnknownReference, message).with_severity(Severity::Warning);
        if let (Some(near), Some(written)) = (near, arg.key.filter(|key| !key.is_through_alias())) {
            let edit = Edit::new(written.own_range(), crate::shape::scalar(near));
            problem = problem.with_fix(Fix::guess(format!("Change to `{near}`"), vec![edit]));
        }
        problems.push(problem);
    }
}

/// Answers that an earlier one takes the calls of. Of thousands, each is compared with the first ones only.
fn responses(tool: &Spot<'_>, problems: &mut Vec<Problem>) {
    let responses = tool.get("responses").map(|list| list.items()).unwrap_or_default();
    let name = tool.get("name").and_then(|name| name.text()).unwrap_or_default();
    let conditions: Vec<_> = responses
        .iter()
        .map(|response| Some(response.get("when")?.node.to_value().ok()?.as_object()?.clone()))
        .collect();
    for (index, response) in responses.iter().enumerate() {
        if let Some(when) = response.get("when") {
            arguments(name, tool, &when, problems);
        }
        let Some(own) = &conditions[index] else { continue };
        let covers = |other: &serde_json::Map<String, serde_json::Value>| {
            other.iter().all(|(key, value)| own.get(key) == Some(value))
        };
        let before = &conditions[..index.min(CLOSELY)];
        let Some(first) = before.iter().position(|other| other.as_ref().is_some_and(covers)) else {
            continue;
        };
        let message = "this answer is never given: an earlier one matches every such call";
        let problem = response.head_problem(Code::NoEffect, message).with_severity(Severity::Warning);
        problems.push(problem.with_related("matches first", responses[first].at.clone(), responses[first].head()));
    }
}

/// `parameters` goes to the provider, which wants a JSON Schema of an object.
fn parameters(tool: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(spot) = tool.get("parameters").filter(|it| it.is_mapping() && !it.is_empty()) else { return };
    let Some(text) = spot.node.to_value().ok().map(|value| value.to_string()) else { return };
    if let Err(error) = UserSchema::read(text.as_bytes()) {
        let message = format!("`parameters` is no JSON Schema, which the provider refuses: {}", error.message);
        problems.push(spot.head_problem(Code::InvalidValue, message).with_severity(Severity::Warning));
    }
}

/// Replies that never come, and claims that nobody judges for a single one.
fn turns(test: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(turns) = test.get("conversation").filter(Spot::is_list) else { return };
    if turns.is_empty() {
        problems.push(turns.problem(Code::VacuousClaim, "an empty list claims nothing: fill it, or remove it"));
    }
    let most = test.get("maxTurns").and_then(|most| most.number()).unwrap_or(MAX_TURNS);
    for (index, turn) in turns.items().iter().enumerate() {
        if index as f64 >= most && most >= 1.0 {
            let message = format!("this reply is never checked: the conversation ends after {most}");
            let problem = turn.head_problem(Code::Unchecked, message);
            problems.push(problem.with_help("raise `maxTurns`, or remove the reply"));
        }
        for key in ["judge", "baseline"] {
            if let Some(claim) = turn.find(&["expect", key]) {
                let message =
                    format!("`{key}` cannot be judged for a single reply: move it to the `expect` of the test");
                problems.push(claim.head_problem(Code::NeverEvaluated, message));
            }
        }
        if let Some(file) = turn.find(&["expect", "output", "schemaFile"]) {
            let message = "KindLM does not read `schemaFile` for a single reply: it checks only that the reply is JSON";
            problems.push(Problem::upstream(Dialect::KindLm, file.at.clone(), file.head(), message));
        }
    }
}

fn change(problem: Problem, spot: &Spot<'_>, name: &str) -> Problem {
    if !spot.is_own() {
        return problem;
    }
    let edit = Edit::new(spot.node.own_range(), crate::shape::scalar(name));
    problem.with_fix(Fix::guess(format!("Change to `{name}`"), vec![edit]))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::{
        dialect::{ScalarRules, kindlm::lint::lint_test},
        document::Document,
        files::MemoryFiles,
    };

    #[test]
    fn tools_and_replies_that_lead_nowhere_are_told() {
        let text = "name: t\nprompt: ask\nmaxTurns: 1\ntools:\n  - name: lookup\n    parameters: { type: object, properties: { order_id: { type: string } } }\n    responses:\n      - { when: {}, then: 1 }\n      - { when: { ordr_id: a }, then: 2 }\n  - { name: lookup, parameters: { type: objekt } }\nconversation:\n  - { turn: a, expect: { judge: [{ criteria: kind }] } }\n  - { turn: b, expect: { toolCalls: [{ tool: lokup }] } }\nexpect:\n  toolCalls:\n    - { tool: lookup, argsMatch: { orderid: 1 } }\n    - { tool: refund }\n    - { tool: delete, shouldNotCall: true }\n";
        let document = Document::read(text, ScalarRules::Yaml12);
        let mut problems = lint_test(document.root().unwrap(), &MemoryFiles::default());
        problems.sort_by_key(|problem| problem.range.start);
        let lines: String = problems
            .iter()
            .map(|it| {
                let fixes: String = it.fixes.iter().map(|fix| format!(" [{}]", fix.title)).collect();
                let (level, word) = (it.severity.as_str(), it.code.as_str());
                format!("{level} {word} @{}: {}{fixes}\n", &text[it.range.clone()], it.message)
            })
            .collect();
        expect![[r#"
            warning no-effect @when: { ordr_id: a }, then: 2 }: this answer is never given: an earlier one matches every such call
            warning unknown-reference @ordr_id: `lookup` has no argument `ordr_id`: did you mean `order_id`? [Change to `order_id`]
            warning duplicate-name @lookup: the tool `lookup` stands twice in this test: the first one answers every call
            warning invalid-value @parameters: `parameters` is no JSON Schema, which the provider refuses: at `/type`: "objekt" is no type, which is `array`, `boolean`, `integer`, `null`, `number`, `object` or `string`
            warning never-evaluated @judge: `judge` cannot be judged for a single reply: move it to the `expect` of the test
            warning unchecked @turn: b, expect: { toolCalls: [{ tool: lokup }] } }: this reply is never checked: the conversation ends after 1
            warning unknown-reference @lokup: no tool of this test is called `lokup`: did you mean `lookup`? [Change to `lookup`]
            warning unknown-reference @orderid: `lookup` has no argument `orderid`: did you mean `order_id`? [Change to `order_id`]
            warning unknown-reference @refund: no tool of this test is called `refund`: `tools` has `lookup`
            hint vacuous-claim @delete: the model is not given `delete`, so that this cannot fail: add it to `tools`
        "#]].assert_eq(&lines);
    }
}

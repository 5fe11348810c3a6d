//! The tools that a test gives to the model, the claims about them, and the replies of a conversation.

use std::collections::HashMap;

use crate::{
    check::schema_file::UserSchema,
    problem::{Code, Fix, Problem, Severity, Subject},
    spot::Spot,
    validate::rename_title,
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
            let problem = spot
                .problem(Code::DuplicateName, format!("duplicate tool `{name}` in this test"))
                .with_severity(Severity::Warning)
                .with_note("the first one answers every call")
                .with_subject(Subject::Name((*name).to_owned()));
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
            let problem = unknown_tool(&spot, name).with_help(format!("change it to `{near}`"));
            problems.push(change(problem, &spot, near));
        }
        None if is_forbidden => {
            let message = format!("the model is not given `{name}`, so it cannot call it");
            let problem = spot.problem(Code::VacuousClaim, message).with_severity(Severity::Hint);
            problems.push(problem.with_help(format!("add `{name}` to `tools`")));
        }
        None => {
            let mut names: Vec<&str> = names.to_vec();
            names.dedup();
            problems.push(unknown_tool(&spot, name).with_note(format!("`tools` has {}", all_of(names))));
        }
    }
}

fn unknown_tool(spot: &Spot<'_>, name: &str) -> Problem {
    spot.problem(Code::UnknownReference, format!("unknown tool `{name}`")).with_severity(Severity::Warning)
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
        let message = format!("`{name}` has no argument `{key}`");
        let mut problem = arg.head_problem(Code::UnknownReference, message).with_severity(Severity::Warning);
        problem = match near {
            Some(near) => problem.with_help(rename_title(near)),
            None => problem.with_note(format!("it has {}", all_of(known.iter().map(String::as_str)))),
        };
        let fix = near.and_then(|near| Some(Fix::guess(rename_title(near), arg.renamed(near)?)));
        problem.fixes.extend(fix);
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
        let problem = response.head_problem(Code::NoEffect, "this response is never given");
        let problem = problem.with_severity(Severity::Warning).with_note("an earlier one matches every such call");
        problems.push(problem.with_related("matches first", responses[first].at.clone(), responses[first].head()));
    }
}

/// `parameters` goes to the provider, which wants a JSON Schema of an object.
fn parameters(tool: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(spot) = tool.get("parameters").filter(|it| it.is_mapping() && !it.is_empty()) else { return };
    let Some(text) = spot.node.to_value().ok().map(|value| value.to_string()) else { return };
    if let Err(error) = UserSchema::read(text.as_bytes()) {
        let message = format!("`parameters` is not a valid JSON Schema: {}", error.message);
        let problem = spot.head_problem(Code::InvalidValue, message).with_severity(Severity::Warning);
        problems.push(problem.with_note("the provider rejects the request"));
    }
}

/// Replies that never come, and expectations that are not judged for a single one.
fn turns(test: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(turns) = test.get("conversation").filter(Spot::is_list) else { return };
    if turns.is_empty() {
        let problem = turns.problem(Code::VacuousClaim, "an empty list asserts nothing");
        problems.push(problem.with_help("add an item, or remove the key"));
    }
    let most = test.get("maxTurns").and_then(|most| most.number()).unwrap_or(MAX_TURNS);
    for (index, turn) in turns.items().iter().enumerate() {
        if index as f64 >= most && most >= 1.0 {
            let problem = turn.head_problem(Code::Unchecked, "this reply is never checked");
            let problem = problem.with_note(format!("the conversation ends after reply {most}"));
            problems.push(problem.with_help("raise `maxTurns`, or remove the reply"));
        }
        for key in ["judge", "baseline"] {
            if let Some(claim) = turn.find(&["expect", key]) {
                let problem =
                    claim.head_problem(Code::NeverEvaluated, format!("`{key}` is not judged for a single reply"));
                problems.push(problem.with_help("move it to the `expect` of the test"));
            }
        }
        if let Some(file) = turn.find(&["expect", "output", "schemaFile"]) {
            let message = "KindLM does not read `schemaFile` for a single reply";
            let problem = Problem::new(Code::UpstreamDiffers, file.at.clone(), file.head(), message);
            problems.push(problem.with_note("it checks only that the reply is JSON"));
        }
    }
}

fn change(mut problem: Problem, spot: &Spot<'_>, name: &str) -> Problem {
    let edits = spot.replaced(crate::shape::scalar(name));
    problem.fixes.extend(edits.map(|edits| Fix::guess(format!("change it to `{name}`"), edits)));
    problem
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
    fn tools_and_replies_that_lead_nowhere_are_reported() {
        let text = "name: t\nprompt: ask\nmaxTurns: 1\ntools:\n  - name: lookup\n    parameters: { type: object, properties: { order_id: { type: string } } }\n    responses:\n      - { when: {}, then: 1 }\n      - { when: { ordr_id: a }, then: 2 }\n  - { name: lookup, parameters: { type: objekt } }\nconversation:\n  - { turn: a, expect: { judge: [{ criteria: kind }] } }\n  - { turn: b, expect: { toolCalls: [{ tool: lokup }] } }\nexpect:\n  toolCalls:\n    - { tool: lookup, argsMatch: { orderid: 1 } }\n    - { tool: refund }\n    - { tool: delete, shouldNotCall: true }\n";
        let document = Document::read(text, ScalarRules::Yaml12);
        let mut problems = lint_test(document.root().unwrap(), &MemoryFiles::default());
        problems.sort_by_key(|problem| problem.range.start);
        let lines: String = problems
            .iter()
            .map(|it| {
                let fixes: String = it.fixes.iter().map(|fix| format!(" [{}]", fix.title)).collect();
                let (level, word) = (it.severity.as_str(), it.code.as_str());
                format!("{level} {word} @{}: {}{fixes}\n", &text[it.range.clone()], it.text().replace('\n', " | "))
            })
            .collect();
        expect![[r#"
            warning no-effect @when: { ordr_id: a }, then: 2 }: this response is never given | note: an earlier one matches every such call
            warning unknown-reference @ordr_id: `lookup` has no argument `ordr_id` | help: rename it to `order_id` [rename it to `order_id`]
            warning duplicate-name @lookup: duplicate tool `lookup` in this test | note: the first one answers every call
            warning invalid-value @parameters: `parameters` is not a valid JSON Schema: at `/type`: "objekt" is not a type, which is `array`, `boolean`, `integer`, `null`, `number`, `object` or `string` | note: the provider rejects the request
            warning never-evaluated @judge: `judge` is not judged for a single reply | help: move it to the `expect` of the test
            warning unchecked @turn: b, expect: { toolCalls: [{ tool: lokup }] } }: this reply is never checked | note: the conversation ends after reply 1 | help: raise `maxTurns`, or remove the reply
            warning unknown-reference @lokup: unknown tool `lokup` | help: change it to `lookup` [change it to `lookup`]
            warning unknown-reference @orderid: `lookup` has no argument `orderid` | help: rename it to `order_id` [rename it to `order_id`]
            warning unknown-reference @refund: unknown tool `refund` | note: `tools` has `lookup`
            hint vacuous-claim @delete: the model is not given `delete`, so it cannot call it | help: add `delete` to `tools`
        "#]].assert_eq(&lines);
    }
}

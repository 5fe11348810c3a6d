//! Simulated tools of a test, and the calls that it expects.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value as Json};

use crate::{
    check::schema_file::UserSchema,
    finding::{MessageParts, Relation, Report},
    lint_node::LintNode,
    problem::{Code, Fix, Severity},
    rules::unknown_reference::{Unknown, use_or_add},
    words::{Search, all_of},
};

/// Help for two expectations that exclude each other or are equal.
const ONE_OF_TWO: &str = "remove one of the two";

/// Maximum number of responses of a tool to compare with each other.
const MAX_RESPONSES: usize = 256;

/// An expected or forbidden call of a tool.
struct Call<'d> {
    name: &'d str,
    tool: LintNode<'d>,
    node: LintNode<'d>,
    args: Option<LintNode<'d>>,
    is_forbidden: bool,
}

impl<'d> Call<'d> {
    /// Returns the calls in a list at a place of an `expect`, with their arguments in `args`.
    fn listed(expect: &LintNode<'d>, list: &[&str], args: &str) -> Vec<Call<'d>> {
        let calls = expect.find(list).map(|calls| calls.items()).unwrap_or_default();
        let named = calls.into_iter().filter_map(|node| {
            let tool = node.get("tool")?;
            let (args, is_forbidden) = (node.get(args), is_forbidden(&node));
            Some(Call { name: tool.text()?, tool, node, args, is_forbidden })
        });
        named.collect()
    }
}

pub(super) fn is_forbidden(call: &LintNode<'_>) -> bool {
    call.get("shouldNotCall").and_then(|forbidden| forbidden.bool()) == Some(true)
}

pub(super) fn check(test: &LintNode<'_>, asks_model: bool, expects: &[LintNode<'_>], report: &mut Report) {
    let calls = expects.iter().map(|expect| Call::listed(expect, &["toolCalls"], "argsMatch"));
    let calls: Vec<Vec<Call<'_>>> = calls.collect();
    for (calls, expect) in calls.iter().zip(expects) {
        let is_sequence = expect.get("toolCallsOrdered").and_then(|ordered| ordered.bool()) == Some(true);
        check_calls(calls, is_sequence, report);
    }
    let list = test.get("tools").filter(|tools| asks_model && tools.is_list());
    let tools: Vec<(&str, LintNode<'_>)> = list
        .map(|tools| tools.items())
        .unwrap_or_default()
        .into_iter()
        .filter_map(|tool| Some((tool.get("name")?.text()?, tool)))
        .collect();
    for (name, tool) in &tools {
        check_tool(name, tool, report);
    }
    // If there are no tools, no call is unknown.
    if !tools.is_empty() {
        let references = expects.iter().map(|expect| Call::listed(expect, &["trajectory", "reference"], "args"));
        let references: Vec<Vec<Call<'_>>> = references.collect();
        check_names(&tools, calls.iter().chain(&references).flatten(), report);
    }
}

/// Reports calls that are expected twice, or both expected and forbidden, and arguments that only `-0` equals.
fn check_calls(calls: &[Call<'_>], is_sequence: bool, report: &mut Report) {
    const FIRST: &str = "first expected here";
    let mut called: HashMap<&str, &Call<'_>> = HashMap::new();
    let mut bare: HashMap<&str, &LintNode<'_>> = HashMap::new();
    let mut positions: HashMap<u64, (&str, LintNode<'_>)> = HashMap::new();
    for call in calls.iter().filter(|call| !call.is_forbidden) {
        let name = call.name;
        called.entry(name).or_insert(call);
        for (_, arg) in call.args.as_ref().map(|args| args.entries()).unwrap_or_default() {
            let is_negative = arg.node.text().is_some_and(|text| text.starts_with('-'));
            if is_negative && arg.number() == Some(0.0) {
                let words = MessageParts::new("`-0` matches only an argument that is `-0`")
                    .note("KindLM does not count `0` as equal to `-0`")
                    .remedy("write `0`", Fix::guess, arg.replaced("0"));
                report.push(arg.problem(Code::AmbiguousScalar, words));
            }
        }
        if let Some(order) = call.node.get("order")
            && let Some(position) = order.number().filter(|number| number.fract() == 0.0 && *number >= 0.0)
        {
            let Some((other, first)) = positions.get(&(position as u64)) else {
                positions.insert(position as u64, (name, order));
                continue;
            };
            let words = match *other == name {
                true => MessageParts::new(format!("`order: {position}` is used twice for `{name}`")).help(ONE_OF_TWO),
                false => MessageParts::new(format!("`order: {position}` is used for both `{other}` and `{name}`"))
                    .help("change one of the two"),
            };
            report.push(order.problem(Code::Collision, words).with(FIRST, first));
        } else if !is_sequence
            && ["argsMatch", "argsSchema"].iter().all(|key| call.node.get(key).is_none())
            && let Some(first) = bare.insert(name, &call.tool)
        {
            bare.insert(name, first);
            let words = MessageParts::new(format!("a call to `{name}` is expected twice"))
                .note("one call satisfies both expectations")
                .help(ONE_OF_TWO);
            report.push(call.tool.problem(Code::Collision, words).with(FIRST, first));
        }
    }
    let mut seen: HashSet<&str> = HashSet::new();
    for call in calls.iter().filter(|call| call.is_forbidden && seen.insert(call.name)) {
        if let Some(first) = called.get(call.name) {
            let words = MessageParts::new(format!("`{}` both must and must not be called", call.name)).help(ONE_OF_TWO);
            report.push(call.tool.problem(Code::Contradiction, words).with("this must be called", &first.tool));
        }
    }
}

fn check_tool(name: &str, tool: &LintNode<'_>, report: &mut Report) {
    let parameters = tool.get("parameters").filter(|it| it.is_mapping() && !it.is_empty());
    if let Some((value, parameters)) = parameters.and_then(|it| Some((it.node.to_value().ok()?, it)))
        && let Err(error) = UserSchema::read(value.to_string().as_bytes())
    {
        let words = MessageParts::new("`parameters` is not a valid JSON Schema")
            .note(error.message)
            .note("the provider rejects the request");
        report.push(parameters.head_problem(Code::InvalidValue, words).with_severity(Severity::Warning));
    }
    let responses = tool.get("responses").map(|list| list.items()).unwrap_or_default();
    let mut conditions: Vec<Option<Map<String, Json>>> = Vec::new();
    for response in &responses {
        let when = response.get("when");
        when.iter().for_each(|when| check_arguments(name, tool, when, report));
        let condition = when.and_then(|when| Some(when.node.to_value().ok()?.as_object()?.clone()));
        if let Some(own) = &condition {
            let covers = |other: &Map<String, Json>| other.iter().all(|(key, value)| own.get(key) == Some(value));
            let mut before = conditions.iter().take(MAX_RESPONSES);
            if let Some(index) = before.position(|other| other.as_ref().is_some_and(covers)) {
                let (is_equal, first) = (conditions[index] == condition, &responses[index]);
                let words = MessageParts::new("this response is never used")
                    .note("an earlier response matches every call that this one would match")
                    .help(if is_equal { "remove one of the two" } else { "move it before the earlier one" });
                let finding = response.head_problem(Code::NoEffect, words).with_severity(Severity::Warning);
                report.push(finding.related(Relation::Labelled("the earlier one"), first.at.clone(), first.head()));
            }
        }
        conditions.push(condition);
    }
}

fn check_names<'c, 'd: 'c>(
    tools: &[(&str, LintNode<'_>)],
    calls: impl Iterator<Item = &'c Call<'d>>,
    report: &mut Report,
) {
    let mut names: Vec<&str> = tools.iter().map(|(name, _)| *name).collect();
    names.dedup();
    // The first tool of a name answers every call.
    let known: HashMap<&str, &LintNode<'_>> = tools.iter().rev().map(|(name, tool)| (*name, tool)).collect();
    let mut search = Search::default();
    for Call { name, tool, args, is_forbidden, .. } in calls {
        if let Some(defined) = known.get(name) {
            if let Some(args) = args {
                check_arguments(name, defined, args, report);
            }
            continue;
        }
        let near = search.nearest(name, names.iter().copied());
        if *is_forbidden && near.is_none() {
            let words = MessageParts::new(format!("the model does not have the tool `{name}`, so it cannot call it"))
                .help(format!("add `{name}` to `tools`"));
            report.push(tool.absence(Code::VacuousClaim, words).with_severity(Severity::Hint));
        } else {
            let help = use_or_add(names.iter().copied(), name, "`tools`");
            let note = format!("`tools` defines {}", all_of(names.iter().copied()));
            let rule = Unknown::new(format!("unknown tool `{name}`"), near);
            report.push(rule.or_note_and_help(note, help).at(tool, tool.range()));
        }
    }
}

fn check_arguments(name: &str, tool: &LintNode<'_>, args: &LintNode<'_>, report: &mut Report) {
    let Some(parameters) = tool.get("parameters") else { return };
    let Some(properties) = parameters.get("properties").filter(|it| it.is_mapping() && !it.is_empty()) else { return };
    let is_open = parameters.get("additionalProperties").is_some_and(|more| more.bool() != Some(false));
    if is_open || parameters.get("patternProperties").is_some() {
        return;
    }
    let known: Vec<String> = properties.entries().into_iter().map(|(key, _)| key).collect();
    let mut search = Search::default();
    for (argument, arg) in args.entries().into_iter().filter(|(key, _)| !known.contains(key)) {
        let near = search.nearest(&argument, known.iter().map(String::as_str));
        let rule = Unknown::new(format!("`{name}` has no argument `{argument}`"), near)
            .key()
            .or_note(format!("it has {}", all_of(known.iter().map(String::as_str))));
        report.push(rule.at(&arg, arg.head()));
    }
}

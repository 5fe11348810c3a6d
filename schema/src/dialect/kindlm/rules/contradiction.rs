//! Expectations of KindLM that exclude each other. The suite is still valid, so those about the output are warnings.

use std::collections::{HashMap, HashSet};

use crate::{
    dialect::kindlm::parts::{Expect, TestParts, ToolCall},
    finding::{MessageParts, Report},
    lint_node::LintNode,
    problem::Code,
};

/// Help for two expectations that exclude each other.
const ONE_OF_TWO: &str = "remove one of the two";

/// Checks the expectations of a test.
pub(crate) fn check_test(parts: &TestParts<'_>, report: &mut Report) {
    for expect in &parts.expects {
        if let Some(output) = &expect.output {
            check_output(output, report);
        }
        check_tool_calls(expect, report);
        if let Some(keywords) = expect.keywords() {
            check_keywords(&keywords, &expect.node, report);
        }
    }
}

fn texts<'d>(mapping: &LintNode<'d>, key: &str) -> Vec<(&'d str, LintNode<'d>)> {
    mapping.get(key).map(|list| list.texts()).unwrap_or_default()
}

/// Whether every text that contains `text` also contains `part`.
fn holds(text: &str, part: &str) -> bool {
    text.to_lowercase().contains(&part.to_lowercase())
}

fn check_output(output: &LintNode<'_>, report: &mut Report) {
    const WANTED: &str = "this must be in the output";
    let contains = texts(output, "contains");
    for (text, lint_node) in &texts(output, "notContains") {
        let mut wanted = contains.iter().filter(|_| !text.is_empty());
        if let Some((wanted, first)) = wanted.find(|(wanted, _)| holds(wanted, text)) {
            let message = format!("the output must contain `{wanted}`, but must not contain `{text}`");
            let words = MessageParts::new(message).help(ONE_OF_TWO);
            report.push(lint_node.problem(Code::Contradiction, words).with(WANTED, first));
        }
    }
    if let Some((most, limit)) = output.get("maxLength").and_then(|lint_node| Some((lint_node.number()?, lint_node)))
        && let Some((wanted, first)) = contains.iter().find(|(wanted, _)| wanted.encode_utf16().count() as f64 > most)
    {
        let message = format!("`{wanted}`, which the output must contain, is longer than `maxLength: {most}`");
        let words = MessageParts::new(message).help("raise `maxLength`");
        report.push(limit.problem(Code::Contradiction, words).with(WANTED, first));
    }
}

fn check_keywords(keywords: &LintNode<'_>, expect: &LintNode<'_>, report: &mut Report) {
    let (deny, allow) = (texts(keywords, "deny"), texts(keywords, "allow"));
    let denied = |text: &str| deny.iter().find(|(word, _)| !word.is_empty() && holds(text, word));
    let wanted = expect.find(&["output", "contains"]).map(|list| list.texts()).unwrap_or_default();
    let all_allowed_denied = !allow.is_empty() && allow.iter().all(|(text, _)| denied(text).is_some());
    for (text, lint_node) in wanted.iter().chain(allow.iter().filter(|_| all_allowed_denied)) {
        if let Some((word, first)) = denied(text) {
            let message = format!("the output must contain `{text}`, but `deny` has `{word}`");
            let words = MessageParts::new(message).help(ONE_OF_TWO);
            report.push(lint_node.problem(Code::Contradiction, words).with("denied here", first));
        }
    }
}

fn check_tool_calls(expect: &Expect<'_>, report: &mut Report) {
    let mut called: HashMap<&str, &ToolCall<'_>> = HashMap::new();
    for call in expect.wanted() {
        called.entry(call.name).or_insert(call);
    }
    let mut seen: HashSet<&str> = HashSet::new();
    for call in expect.forbidden().filter(|call| seen.insert(call.name)) {
        if let Some(first) = called.get(call.name) {
            let words = MessageParts::new(format!("`{}` both must and must not be called", call.name)).help(ONE_OF_TWO);
            report.push(call.tool.problem(Code::Contradiction, words).with("this must be called", &first.tool));
        }
    }
}

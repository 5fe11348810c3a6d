//! Expectations of a test: texts that exclude each other and replies that are never checked.

use crate::{
    finding::{MessageParts, Report},
    lint_node::LintNode,
    problem::{Code, Severity},
    rules::missing_variable::WRITE_VALUE,
    template::placeholders,
};

use super::{prompts::unexpanded, tool_calls};

/// Help for two expectations that exclude each other.
const ONE_OF_TWO: &str = "remove one of the two";

/// Default maximum number of replies of a test.
const MAX_TURNS: f64 = 10.0;

pub(crate) fn check(test: &LintNode<'_>, turns: &[LintNode<'_>], expects: &[LintNode<'_>], report: &mut Report) {
    // A command has its own tools and replies.
    let asks_model = test.get("prompt").is_some() && test.get("command").is_none();
    let vars = test.get("vars").map(|vars| vars.entries()).unwrap_or_default();
    for expect in expects {
        check_texts(expect, report);
        if !vars.is_empty() {
            check_placeholders(expect, &vars, report);
        }
    }
    tool_calls::check(test, asks_model, expects, report);
    let most = test.get("maxTurns").and_then(|most| most.number()).unwrap_or(MAX_TURNS);
    let is_behind = |index: usize| asks_model && index as f64 >= most && most >= 1.0;
    for (_, turn) in turns.iter().enumerate().filter(|(index, _)| is_behind(*index)) {
        let words = MessageParts::new("this reply is never checked")
            .note(format!("the conversation ends after reply {most}"))
            .help("raise `maxTurns`, or remove the reply");
        report.push(turn.head_problem(Code::Unchecked, words));
    }
}

fn check_texts(expect: &LintNode<'_>, report: &mut Report) {
    const WANTED: &str = "this must be in the output";
    let texts = |path: &[&str]| expect.find(path).map(|list| list.texts()).unwrap_or_default();
    let mut push = |node: &LintNode<'_>, message: String, help: &str, label, other: &LintNode<'_>| {
        report.push(node.problem(Code::Contradiction, MessageParts::new(message).help(help)).with(label, other));
    };
    let holds = |text: &str, part: &str| !part.is_empty() && text.to_lowercase().contains(&part.to_lowercase());
    let contains = texts(&["output", "contains"]);
    for (text, node) in texts(&["output", "notContains"]) {
        if let Some((wanted, first)) = contains.iter().find(|(wanted, _)| holds(wanted, text)) {
            let message = format!("the output must contain `{wanted}`, but must not contain `{text}`");
            push(&node, message, ONE_OF_TWO, WANTED, first);
        }
    }
    if let Some((most, limit)) = expect.find(&["output", "maxLength"]).and_then(|node| Some((node.number()?, node)))
        && let Some((wanted, first)) = contains.iter().find(|(wanted, _)| wanted.encode_utf16().count() as f64 > most)
    {
        let message = format!("`{wanted}`, which the output must contain, is longer than `maxLength: {most}`");
        push(&limit, message, "raise `maxLength`", WANTED, first);
    }
    let deny = texts(&["guardrails", "keywords", "deny"]);
    let denied = |text: &str| deny.iter().find(|(word, _)| holds(text, word));
    let mut allow = texts(&["guardrails", "keywords", "allow"]);
    if !allow.iter().all(|(text, _)| denied(text).is_some()) {
        allow.clear();
    }
    for (text, node) in contains.iter().chain(&allow) {
        if let Some((word, first)) = denied(text) {
            let message = format!("the output must contain `{text}`, but `deny` has `{word}`");
            push(node, message, ONE_OF_TWO, "denied here", first);
        }
    }
}

/// Reports texts below a node that contain a variable of the test.
fn check_placeholders(node: &LintNode<'_>, vars: &[(String, LintNode<'_>)], report: &mut Report) {
    for found in placeholders(node.text().unwrap_or_default()) {
        if vars.iter().any(|(name, _)| name == found.name) {
            let words = unexpanded(found.text).note("variables are not expanded in `expect`").help(WRITE_VALUE);
            let finding = node.part_problem(found.text, Code::MissingVariable, words);
            report.push(finding.with_severity(Severity::Warning));
        }
    }
    // An alias may repeat any number of texts.
    if node.is_own() {
        node.items().iter().for_each(|item| check_placeholders(item, vars, report));
        node.entries().iter().for_each(|(_, member)| check_placeholders(member, vars, report));
    }
}

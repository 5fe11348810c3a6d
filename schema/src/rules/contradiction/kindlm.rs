//! Expectations of KindLM that exclude each other. The suite is still valid, so those about the output are warnings.

use std::collections::{HashMap, HashSet};

use crate::{
    dialect::kindlm::parts::{Expect, TestParts, ToolCall},
    finding::{Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    problem::{Code, Severity},
};

/// Two expectations of which one fails.
#[derive(Debug)]
enum Contradiction {
    /// The empty string, which must not occur.
    EmptyText,
    /// A required string that contains a forbidden one.
    Text { wanted: String, forbidden: String },
    /// A required string that contains a phrase of `deny`.
    Word { wanted: String, denied: String },
    /// A required string that is longer than the maximum length of the output.
    TooLong { wanted: String, most: f64 },
    /// A tool that must and must not be called.
    Tool(String),
}

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
        if text.is_empty() {
            report.push(lint_node.finding(Contradiction::EmptyText));
        } else if let Some((wanted, first)) = contains.iter().find(|(wanted, _)| holds(wanted, text)) {
            let rule = Contradiction::Text { wanted: (*wanted).to_owned(), forbidden: (*text).to_owned() };
            report.push(lint_node.finding(rule).with(WANTED, first));
        }
    }
    if let Some((most, limit)) = output.get("maxLength").and_then(|lint_node| Some((lint_node.number()?, lint_node)))
        && let Some((wanted, first)) = contains.iter().find(|(wanted, _)| wanted.encode_utf16().count() as f64 > most)
    {
        let rule = Contradiction::TooLong { wanted: (*wanted).to_owned(), most };
        report.push(limit.finding(rule).with(WANTED, first));
    }
}

fn check_keywords(keywords: &LintNode<'_>, expect: &LintNode<'_>, report: &mut Report) {
    let (deny, allow) = (texts(keywords, "deny"), texts(keywords, "allow"));
    for (_, lint_node) in deny.iter().filter(|(text, _)| text.is_empty()) {
        report.push(lint_node.finding(Contradiction::EmptyText));
    }
    let denied = |text: &str| deny.iter().find(|(word, _)| !word.is_empty() && holds(text, word));
    let wanted = expect.find(&["output", "contains"]).map(|list| list.texts()).unwrap_or_default();
    let all_allowed_denied = !allow.is_empty() && allow.iter().all(|(text, _)| denied(text).is_some());
    for (text, lint_node) in wanted.iter().chain(allow.iter().filter(|_| all_allowed_denied)) {
        if let Some((word, first)) = denied(text) {
            let rule = Contradiction::Word { wanted: (*text).to_owned(), denied: (*word).to_owned() };
            report.push(lint_node.finding(rule).with("denied here", first));
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
            let rule = Contradiction::Tool(call.name.to_owned());
            report.push(call.tool.finding(rule).with("this must be called", &first.tool));
        }
    }
}

impl Rule for Contradiction {
    const CODE: Code = Code::Contradiction;

    fn severity(&self) -> Severity {
        if matches!(self, Contradiction::Tool(_)) { Self::SEVERITY } else { Severity::Warning }
    }

    fn message(&self, _: &Location<'_>) -> MessageParts {
        let remove = "remove one of the two";
        match self {
            Contradiction::EmptyText => {
                MessageParts::new("every output contains the empty string, so this expectation always fails")
                    .help("remove it")
            }
            Contradiction::Text { wanted, forbidden } => {
                MessageParts::new(format!("the output must contain `{wanted}`, but must not contain `{forbidden}`"))
                    .help(remove)
            }
            Contradiction::Word { wanted, denied } => {
                MessageParts::new(format!("the output must contain `{wanted}`, but `deny` has `{denied}`")).help(remove)
            }
            Contradiction::TooLong { wanted, most } => MessageParts::new(format!(
                "`{wanted}`, which the output must contain, is longer than `maxLength: {most}`"
            ))
            .help("raise `maxLength`"),
            Contradiction::Tool(name) => {
                MessageParts::new(format!("`{name}` both must and must not be called")).help(remove)
            }
        }
    }
}

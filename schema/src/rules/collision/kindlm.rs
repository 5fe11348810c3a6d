//! Expectations and names of KindLM that duplicate each other.

use std::collections::{HashMap, hash_map::Entry};

use rustc_hash::FxHashMap;

use crate::{
    dialect::kindlm::parts::{Expect, TestParts},
    finding::{Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    problem::Code,
};

/// The second of two equal items.
#[derive(Debug)]
enum Collision {
    /// A duplicate string in a list.
    Item(String),
    /// A duplicate model of the test.
    Model(String),
    /// A duplicate call without arguments.
    Call(String),
    /// A position at which two calls are expected.
    Order { position: f64, first: String, second: String },
}

/// Checks the models and the expectations of a test.
pub(crate) fn check_test(parts: &TestParts<'_>, report: &mut Report) {
    if let Some(models) = parts.test.get("models") {
        check_texts(&models, str::to_owned, Collision::Model, report);
    }
    for expect in &parts.expects {
        for list in expect.text_lists() {
            check_texts(&list, str::to_lowercase, Collision::Item, report);
        }
        check_tool_calls(expect, report);
    }
}

/// Reports duplicate strings in a list. Two strings are equal if `form` returns the same for them.
fn check_texts(
    list: &LintNode<'_>,
    form: impl Fn(&str) -> String,
    rule: impl Fn(String) -> Collision,
    report: &mut Report,
) {
    if list.node.items().nth(1).is_none() {
        return;
    }
    let texts = list.texts();
    let mut seen: FxHashMap<String, &LintNode<'_>> = FxHashMap::default();
    for (text, lint_node) in texts.iter().filter(|(text, _)| !text.is_empty()) {
        match seen.entry(form(text)) {
            Entry::Occupied(first) => {
                report.push(lint_node.finding(rule((*text).to_owned())).with("first listed here", first.get()));
            }
            Entry::Vacant(place) => drop(place.insert(lint_node)),
        }
    }
}

fn check_tool_calls(expect: &Expect<'_>, report: &mut Report) {
    const FIRST: &str = "first expected here";
    if expect.calls.len() < 2 {
        return;
    }
    let mut positions: HashMap<u64, (&str, LintNode<'_>)> = HashMap::new();
    let mut bare: HashMap<&str, &LintNode<'_>> = HashMap::new();
    for call in expect.wanted() {
        let name = call.name;
        if let Some(order) = call.call.get("order")
            && let Some(position) = order.number().filter(|number| number.fract() == 0.0 && *number >= 0.0)
        {
            if let Some((other, first)) = positions.get(&(position as u64)) {
                let rule = Collision::Order { position, first: (*other).to_owned(), second: name.to_owned() };
                report.push(order.finding(rule).with(FIRST, first));
            } else {
                positions.insert(position as u64, (name, order));
            }
        } else if ["argsMatch", "argsSchema"].iter().all(|key| call.call.get(key).is_none()) {
            if let Some(first) = bare.get(name) {
                report.push(call.tool.finding(Collision::Call(name.to_owned())).with(FIRST, first));
            } else {
                bare.insert(name, &call.tool);
            }
        }
    }
}

impl Rule for Collision {
    const CODE: Code = Code::Collision;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        match self {
            Collision::Item(text) => {
                MessageParts::new(format!("duplicate item `{text}`")).help("remove one of the two")
            }
            Collision::Model(name) => MessageParts::new(format!("duplicate model `{name}`")).help("remove it"),
            Collision::Call(name) => MessageParts::new(format!("a call to `{name}` is expected twice"))
                .note("one call satisfies both expectations")
                .help("remove one of the two"),
            Collision::Order { position, first, second } if first == second => {
                MessageParts::new(format!("`order: {position}` is used twice for `{second}`"))
                    .help("remove one of the two")
            }
            Collision::Order { position, first, second } => {
                MessageParts::new(format!("`order: {position}` is used for both `{first}` and `{second}`"))
                    .help("change one of the two")
            }
        }
    }
}

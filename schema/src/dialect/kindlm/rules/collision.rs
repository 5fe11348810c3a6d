//! Expectations and names of KindLM that duplicate each other.

use std::collections::{HashMap, hash_map::Entry};

use rustc_hash::FxHashMap;

use crate::{
    dialect::kindlm::parts::{Expect, TestParts},
    finding::{MessageParts, Report},
    lint_node::LintNode,
    problem::Code,
};

/// Checks the models and the expectations of a test.
pub(crate) fn check_test(parts: &TestParts<'_>, report: &mut Report) {
    if let Some(models) = parts.test.get("models") {
        check_texts(&models, str::to_owned, ("model", "remove it"), report);
    }
    for expect in &parts.expects {
        for list in expect.text_lists() {
            check_texts(&list, str::to_lowercase, ("item", ONE_OF_TWO), report);
        }
        check_tool_calls(expect, report);
    }
}

/// Help for two equal items.
const ONE_OF_TWO: &str = "remove one of the two";

/// Reports duplicate strings in a list. Two strings are equal if `form` returns the same for them.
fn check_texts(list: &LintNode<'_>, form: impl Fn(&str) -> String, (noun, help): (&str, &str), report: &mut Report) {
    if list.node.items().nth(1).is_none() {
        return;
    }
    let texts = list.texts();
    let mut seen: FxHashMap<String, &LintNode<'_>> = FxHashMap::default();
    for (text, lint_node) in texts.iter().filter(|(text, _)| !text.is_empty()) {
        match seen.entry(form(text)) {
            Entry::Occupied(first) => {
                let words = MessageParts::new(format!("duplicate {noun} `{text}`")).help(help);
                report.push(lint_node.problem(Code::Collision, words).with("first listed here", first.get()));
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
                let words = match *other == name {
                    true => {
                        MessageParts::new(format!("`order: {position}` is used twice for `{name}`")).help(ONE_OF_TWO)
                    }
                    false => MessageParts::new(format!("`order: {position}` is used for both `{other}` and `{name}`"))
                        .help("change one of the two"),
                };
                report.push(order.problem(Code::Collision, words).with(FIRST, first));
            } else {
                positions.insert(position as u64, (name, order));
            }
        } else if ["argsMatch", "argsSchema"].iter().all(|key| call.call.get(key).is_none()) {
            if let Some(first) = bare.get(name) {
                let words = MessageParts::new(format!("a call to `{name}` is expected twice"))
                    .note("one call satisfies both expectations")
                    .help(ONE_OF_TWO);
                report.push(call.tool.problem(Code::Collision, words).with(FIRST, first));
            } else {
                bare.insert(name, &call.tool);
            }
        }
    }
}

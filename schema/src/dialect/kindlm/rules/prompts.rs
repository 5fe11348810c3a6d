//! Placeholders of prompts and request bodies, and the variables of the tests that send the prompts.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use crate::{
    dialect::kindlm::{
        facts::{About, Placed},
        template::BODY,
    },
    document::NodeRef,
    edit,
    finding::{Finding, MessageParts, Relation, Report},
    json_schema::SpecFile,
    lint_node::LintNode,
    names::Named,
    problem::{Code, Fix, Severity},
    relations::Items,
    template::{is_variable_name, placeholders},
    validate::{Definition, line_in_order},
    words::{Search, listed, nearest},
};

/// Maximum number of variables of a test that are compared with placeholders.
const MAX_SPARE: usize = 512;

/// Maximum number of prompts with fixes that add a variable to the test.
const MAX_ADDITIONS: usize = 64;

pub(super) const UNUSED: &str = "use it, or remove it";

pub(super) fn placeholder(name: &str) -> String {
    format!("{{{{{name}}}}}")
}

pub(super) fn unexpanded(written: &str) -> MessageParts {
    MessageParts::new(format!("`{written}` is not expanded"))
}

/// Adds the fix that changes a part of a text to the placeholder of another name.
pub(super) fn correction(
    words: MessageParts,
    text: &LintNode<'_>,
    range: &Range<usize>,
    written: &str,
    name: &str,
) -> MessageParts {
    let edits = text.with_part(range, written, placeholder(name));
    words.remedy(format!("change it to `{}`", placeholder(name)), Fix::guess, edits)
}

pub(super) fn without_spaces(text: &LintNode<'_>, written: &str, name: &str) -> Finding {
    let edits = text.with_part(&text.part(written, 0), written, placeholder(name));
    let help = format!("write it without spaces, `{}`", placeholder(name));
    let words = unexpanded(written).remedy(help, Fix::safe, edits);
    text.part_problem(written, Code::MissingVariable, words).with_severity(Severity::Warning)
}

pub(super) fn addition(test: &LintNode<'_>, name: &str) -> Option<Fix> {
    let line = format!("{name}: \"\"");
    let edits = match test.get("vars") {
        Some(vars) if vars.is_mapping() => edit::entry_at_front(vars.node, &line),
        Some(vars) => edit::fill(vars.entry()?, &format!("{{ {line} }}")),
        None => {
            let shape = Definition::Item(SpecFile::KINDLM, "tests").shape();
            line_in_order(test.node, shape, "vars", &format!("vars: {{ {line} }}"))
        }
    };
    Some(Fix::suggestion(format!("add `{name}` to `vars`"), edits?))
}

/// Checks the texts of prompts, and the body of requests.
pub(crate) fn check(root: &LintNode<'_>, report: &mut Report) {
    if let Some(body) = root.find(&["providers", "http", "body"]) {
        check_body(&body, report);
    }
    for (_, prompt) in root.get("prompts").map(|prompts| prompts.entries()).unwrap_or_default() {
        for text in ["system", "user", "assistant"].iter().filter_map(|field| prompt.get(field)) {
            check_text(&text, report);
        }
    }
}

fn check_body(body: &LintNode<'_>, report: &mut Report) {
    let names = || BODY.variables.iter().map(|variable| variable.name);
    let mut seen: Vec<&str> = names().collect();
    for found in placeholders(body.text().unwrap_or_default()) {
        if seen.contains(&found.name) {
            continue;
        }
        seen.push(found.name);
        let words = MessageParts::new(format!("`{}` has no value in a request body", found.text))
            .note("KindLM replaces it with an empty string");
        let words = match nearest(found.name, names()) {
            Some(near) => correction(words, body, &body.part(found.text, 0), found.text, near),
            None => {
                let names: Vec<String> = names().map(placeholder).collect();
                words.help(format!("use {}", listed(names.iter().map(String::as_str))))
            }
        };
        let finding = body.part_problem(found.text, Code::MissingVariable, words);
        report.push(finding.with_severity(Severity::Warning));
    }
}

/// Reports text of a prompt that only resembles a placeholder.
fn check_text(text: &LintNode<'_>, report: &mut Report) {
    let content = text.text().unwrap_or_default();
    for reserved in placeholders(content).iter().filter(|found| found.is_reserved()) {
        let words = unexpanded(reserved.text).help("rename the variable, and add it to `vars`");
        let finding = text.part_problem(reserved.text, Code::MissingVariable, words);
        report.push(finding.with_severity(Severity::Warning));
    }
    let mut rest = content;
    while let Some((_, behind)) = rest.split_once("{{") {
        let Some((inside, after)) = behind.split_once("}}") else { return };
        rest = after;
        let name = inside.trim();
        if name.len() < inside.len() && is_variable_name(name) && !name.starts_with("env.") {
            report.push(without_spaces(text, &placeholder(inside), name));
        }
    }
}

/// A placeholder of a prompt that needs a value.
struct Needed<'d> {
    name: &'d str,
    text: LintNode<'d>,
    range: Range<usize>,
}

/// The placeholders of a prompt, each name once.
fn needed<'d>(prompt: &LintNode<'d>) -> Vec<Needed<'d>> {
    let mut needed: Vec<Needed<'_>> = Vec::new();
    for text in ["system", "user", "assistant"].iter().filter_map(|field| prompt.get(field)) {
        for found in placeholders(text.text().unwrap_or_default()) {
            if !found.is_reserved() && !needed.iter().any(|known| known.name == found.name) {
                needed.push(Needed { name: found.name, range: text.part(found.text, 0), text: text.clone() });
            }
        }
    }
    needed
}

pub(crate) fn check_sent(root: NodeRef<'_>, tests: Items<'_>, report: &mut Report) {
    let mut search = Search::default();
    let mut additions = 0..MAX_ADDITIONS;
    let prompts = LintNode::root(root).get("prompts").map(|prompts| prompts.entries()).unwrap_or_default();
    // For duplicate names, the first one counts.
    let prompts: HashMap<String, Vec<Needed<'_>>> =
        prompts.into_iter().rev().map(|(name, prompt)| (name, needed(&prompt))).collect();
    for (index, test) in tests.about(About::Prompt) {
        let Some(named) = test.prompt.as_deref().filter(|_| !test.has_command) else { continue };
        let Some(needed) = prompts.get(&named.name) else { continue };
        let later = test.follow_ups.iter().map(|placeholder| placeholder.name.as_str());
        let used: HashSet<&str> = needed.iter().map(|placeholder| placeholder.name).chain(later).collect();
        let given: HashSet<&str> = test.vars.iter().map(|var| var.name.as_str()).collect();
        // Variables that could be misspelled.
        let spare: Vec<&str> =
            test.vars.iter().map(|var| var.name.as_str()).filter(|it| !used.contains(it)).take(MAX_SPARE).collect();
        let mut meant: HashSet<&str> = HashSet::new();
        let prompt = Placed { tests, index, named };
        for missing in needed.iter().filter(|it| !given.contains(it.name)) {
            let candidates = spare.iter().copied().filter(|name| !meant.contains(name));
            let near = search.nearest(missing.name, candidates);
            meant.extend(near);
            let finding = without_value(root, prompt, missing, near, additions.next().is_some());
            report.push(if test.is_skipped { finding.with_severity(Severity::Warning) } else { finding });
        }
        for named in test.follow_ups.iter().filter(|it| !given.contains(it.name.as_str())) {
            let words = MessageParts::new(format!("`{}` has no value", placeholder(&named.name)));
            let words = words.help(format!("add `{}` to `vars`", named.name));
            let finding = Placed { named, ..prompt }.problem(Code::MissingVariable, words);
            report.push(if test.is_skipped { finding.with_severity(Severity::Warning) } else { finding });
        }
        let is_unused = |var: &&Named| {
            let name = var.name.as_str();
            is_variable_name(name) && !name.starts_with("env.") && !used.contains(name) && !meant.contains(name)
        };
        for var in test.vars.iter().filter(is_unused) {
            let message = format!("the prompt `{}` does not use `{}`", named.name, placeholder(&var.name));
            let words = MessageParts::new(message).help(UNUSED);
            report.push(Placed { named: var, ..prompt }.absence(Code::Unused, words));
        }
    }
}

fn without_value(
    root: NodeRef<'_>,
    prompt: Placed<'_>,
    missing: &Needed<'_>,
    near: Option<&str>,
    may_add: bool,
) -> Finding {
    let name = missing.name;
    let holder = prompt.place().0.parent().and_then(|at| LintNode::root(root).at(&at));
    let words =
        MessageParts::new(format!("`{}` in the prompt `{}` has no value", placeholder(name), prompt.named.name));
    let words = match near {
        Some(near) => {
            let edits = holder.as_ref().and_then(|test| test.find(&["vars", near])?.renamed(name));
            words.remedy(format!("rename `{near}` to `{name}`"), Fix::guess, edits)
        }
        None => words.help(format!("add `{name}` to `vars`")),
    };
    let words = words.fix(holder.filter(|_| may_add).and_then(|test| addition(&test, name)));
    let finding = prompt.problem(Code::MissingVariable, words);
    finding.related(Relation::Labelled("used here"), missing.text.at.clone(), missing.range.clone())
}

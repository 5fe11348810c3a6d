//! `{{name}}`: every one has a value, every value is used.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use crate::{
    document::NodeRef,
    edit,
    json_schema::SpecFile,
    problem::{Code, Edit, Fix, Problem, Subject},
    shape::scalar,
    spot::Spot,
    template::{is_variable_name, placeholders},
    validate::{Definition, line_in_order},
    words::Search,
};

use super::{
    facts::{Named, PromptFacts, RootFacts, TestFacts},
    references::absolute,
    shell,
    unread::literal,
};

/// The command of a test and its variables.
pub(super) fn lint_command(test: &Spot<'_>, problems: &mut Vec<Problem>) {
    let vars = test.get("vars").filter(Spot::is_mapping);
    let entries = vars.as_ref().map(|vars| vars.entries()).unwrap_or_default();
    for (name, var) in entries.iter().filter(|(name, _)| name.starts_with("env.")) {
        let problem = var.head_problem(Code::NoEffect, format!("`{name}` is never used"));
        problems.push(problem.with_note("KindLM fills in no name that begins with `env.`"));
    }
    let Some(command) = test.get("command") else { return };
    let Some(template) = command.text() else { return };
    let found = placeholders(template);
    let used: HashSet<&str> = found.iter().map(|placeholder| placeholder.name).collect();
    let parts = entries.iter().filter(|(name, _)| used.contains(name.as_str())).map(|(_, var)| var);
    for part in [&command].into_iter().chain(parts) {
        if part.text().is_some_and(|text| text.contains('\0')) {
            let range = part.part("\\0", 0);
            let message = "a command cannot hold the character NUL";
            problems.push(Problem::new(Code::InvalidValue, part.at.clone(), range, message).with_help("remove it"));
        }
    }
    shell::lint_workflow_expressions(&command, template, &found, problems);
    // Of a name that is there twice the first is looked at.
    let values: HashMap<&str, &Spot<'_>> = entries.iter().rev().map(|(name, var)| (name.as_str(), var)).collect();
    let mut missing: HashSet<&str> = HashSet::new();
    let mut meant: HashSet<&str> = HashSet::new();
    let mut search = Search::default();
    let whole = command.range();
    for (number, placeholder) in found.iter().enumerate() {
        let place = |text: &str| if number < CLOSELY { command.part(text, 0) } else { whole.clone() };
        if placeholder.is_reserved() {
            let range = place(placeholder.text);
            let variable = placeholder.name.trim_start_matches("env.");
            let problem = literal(&command, range, placeholder.text);
            problems.push(problem.with_help(format!("write `${variable}`, which the shell fills in")));
            continue;
        }
        match values.get(placeholder.name) {
            None if missing.insert(placeholder.name) => {
                let near = search.nearest(placeholder.name, entries.iter().map(|(name, _)| name.as_str()));
                meant.extend(near);
                let range = place(placeholder.text);
                problems.push(missing_variable(test, &command, placeholder.name, near, range));
            }
            Some(var) if number < CLOSELY => shell::lint(&command, template, placeholder, var, problems),
            None | Some(_) => {}
        }
    }
    let spaced_names = names_in_spaces(template);
    for (name, var) in &entries {
        if name.starts_with("env.") || meant.contains(name.as_str()) || used.contains(name.as_str()) {
            continue;
        }
        let spaced = format!("{{{{ {name} }}}}");
        if spaced_names.contains(name.as_str()) {
            let range = command.part(&spaced, 0);
            let help = format!("write it without spaces, `{{{{{name}}}}}`");
            let mut problem = literal(&command, range.clone(), &spaced).with_help(&help);
            let edits = command.with_part(&range, &spaced, format!("{{{{{name}}}}}"));
            problem.fixes.extend(edits.map(|edits| Fix::safe(help, edits)));
            problems.push(problem);
        } else if is_variable_name(name) {
            problems.push(var.head_problem(Code::Unused, format!("the command does not use `{{{{{name}}}}}`")));
        } else {
            let problem = var.head_problem(Code::NoEffect, format!("no placeholder can name `{name}`"));
            problems.push(problem.with_help("use only ASCII letters, digits, `_` and `.`"));
        }
    }
}

/// A command of thousands of placeholders is taken apart for the first ones only: each time all of it is read.
const CLOSELY: usize = 512;

/// Returns the names in braces with a space on either side: `{{ name }}`.
fn names_in_spaces(template: &str) -> HashSet<&str> {
    let rests = template.match_indices("{{ ").map(|(at, open)| &template[at + open.len()..]);
    rests.map_while(|rest| rest.find(" }}").map(|end| &rest[..end])).collect()
}

fn missing_variable(
    test: &Spot<'_>,
    command: &Spot<'_>,
    name: &str,
    near: Option<&str>,
    range: Range<usize>,
) -> Problem {
    let text = format!("{{{{{name}}}}}");
    let message = format!("`{text}` has no value");
    let help = match near {
        Some(near) => format!("change it to `{{{{{near}}}}}`"),
        None => format!("add `{name}` to `vars`"),
    };
    let mut problem = Problem::new(Code::MissingVariable, command.at.clone(), range.clone(), message).with_help(&help);
    let edits = near.and_then(|near| command.with_part(&range, &text, format!("{{{{{near}}}}}")));
    problem.fixes.extend(edits.map(|edits| Fix::guess(help, edits)));
    problem.fixes.extend(add(test, name));
    problem
}

/// The fix that adds a variable to a test.
fn add(test: &Spot<'_>, name: &str) -> Option<Fix> {
    let line = format!("{name}: \"\"");
    let edits = match test.get("vars") {
        Some(vars) if vars.is_mapping() => edit::entry_at_front(vars.node, &line)?,
        Some(vars) => edit::fill(vars.entry()?, &format!("{{ {line} }}"))?,
        None => {
            let shape = Definition::Item(SpecFile::KindLm, "tests").shape();
            line_in_order(test.node, &shape, "vars", &format!("vars: {{ {line} }}"))?
        }
    };
    Some(Fix::suggestion(format!("add `{name}` to `vars`"), edits))
}

/// The cures of prompts whose variables a test does not give.
pub(super) fn cure_prompts(root: NodeRef<'_>, problems: &mut [Problem]) {
    /// As many are looked at.
    const MANY: usize = 64;
    let lacks = |problem: &&mut Problem| {
        problem.code == Code::MissingVariable && problem.at.last().as_deref() == Some("prompt")
    };
    for problem in problems.iter_mut().filter(lacks).take(MANY) {
        let Some(test) = problem.at.parent().and_then(|at| Some(Spot { node: root.find(&at)?, key: None, at })) else {
            continue;
        };
        let Some(Subject::Name(name)) = &problem.subject else { continue };
        problem.fixes.extend(add(&test, name));
    }
}

/// The prompts that tests send, and the tests' variables.
pub(super) fn lint_prompts(root: &RootFacts, tests: &[(usize, &TestFacts)], problems: &mut Vec<Problem>) {
    let mut search = Search::default();
    // Of a name that is given twice the first counts.
    let prompts: HashMap<&str, &PromptFacts> =
        root.prompts.iter().rev().map(|prompt| (prompt.named.name.as_str(), prompt)).collect();
    for (index, (start, test)) in tests.iter().enumerate() {
        let Some(named) = &test.prompt else { continue };
        let Some(prompt) = prompts.get(named.name.as_str()) else { continue };
        if test.has_command {
            continue;
        }
        let used: HashSet<&str> = prompt.placeholders.iter().map(|placeholder| placeholder.name.as_str()).collect();
        let given: HashSet<&str> = test.vars.iter().map(|var| var.name.as_str()).collect();
        // What may be a misspelt one.
        let spare: Vec<&Named> =
            test.vars.iter().filter(|var| !used.contains(var.name.as_str())).take(CLOSELY).collect();
        let mut meant: HashSet<&str> = HashSet::new();
        for placeholder in &prompt.placeholders {
            if given.contains(placeholder.name.as_str()) {
                continue;
            }
            let (at, range) = absolute(named, index, *start);
            let name = &placeholder.name;
            let candidates = spare.iter().map(|var| var.name.as_str()).filter(|name| !meant.contains(name));
            let near = search.nearest(name, candidates);
            let message = format!("`{{{{{name}}}}}` of the prompt `{}` has no value", named.name);
            let help = match near {
                Some(near) => format!("rename `{near}` to `{name}`"),
                None => format!("add `{name}` to `vars`"),
            };
            let mut problem = Problem::new(Code::MissingVariable, at, range, message)
                .with_help(&help)
                .with_subject(Subject::Name(name.clone()));
            if let Some(var) = spare.iter().find(|var| Some(var.name.as_str()) == near) {
                meant.insert(&var.name);
                if var.own {
                    let (_, range) = absolute(var, index, *start);
                    problem = problem.with_fix(Fix::guess(help, vec![Edit::new(range, scalar(name))]));
                }
            }
            problems.push(problem.with_related("used here", placeholder.at.clone(), placeholder.range.clone()));
        }
        for var in test.vars.iter().filter(|var| is_variable_name(&var.name) && !var.name.starts_with("env.")) {
            if !used.contains(var.name.as_str()) && !meant.contains(var.name.as_str()) {
                let (at, range) = absolute(var, index, *start);
                let message = format!("the prompt `{}` does not use `{{{{{}}}}}`", named.name, var.name);
                problems.push(Problem::new(Code::Unused, at, range, message));
            }
        }
    }
}

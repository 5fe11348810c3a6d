//! `{{name}}`: every one has a value, every value is used.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use crate::{
    problem::{Code, Edit, Fix, Problem},
    spot::Spot,
    template::{is_variable_name, placeholders},
    words::Search,
};

use super::{
    facts::{RootFacts, TestFacts},
    references::absolute,
    shell,
};

/// The command of a test and its variables.
pub(super) fn lint_command(test: &Spot<'_>, problems: &mut Vec<Problem>) {
    let vars = test.get("vars").filter(Spot::is_mapping);
    let entries = vars.as_ref().map(|vars| vars.entries()).unwrap_or_default();
    for (name, var) in entries.iter().filter(|(name, _)| name.starts_with("env.")) {
        let message = format!("`{name}` can never be filled in: names that begin with `env.` are left alone");
        problems.push(var.head_problem(Code::NoEffect, message));
    }
    let Some(command) = test.get("command") else { return };
    let Some(template) = command.text() else { return };
    let found = placeholders(template);
    let used: HashSet<&str> = found.iter().map(|placeholder| placeholder.name).collect();
    let parts = entries.iter().filter(|(name, _)| used.contains(name.as_str())).map(|(_, var)| var);
    for part in [&command].into_iter().chain(parts) {
        if part.text().is_some_and(|text| text.contains('\0')) {
            let message = "a command cannot hold the character NUL: no program can be started with it, so remove it";
            let range = part.part("\\0", 0);
            problems.push(Problem::new(Code::InvalidValue, part.at.clone(), range, message));
        }
    }
    // Of a name that stands twice the first is looked at.
    let values: HashMap<&str, &Spot<'_>> = entries.iter().rev().map(|(name, var)| (name.as_str(), var)).collect();
    let mut missing: HashSet<&str> = HashSet::new();
    let mut meant: HashSet<&str> = HashSet::new();
    let mut search = Search::default();
    for (number, placeholder) in found.iter().enumerate() {
        let place = |text: &str| if number < CLOSELY { command.part(text, 0) } else { command.range() };
        if placeholder.is_reserved() {
            let range = place(placeholder.text);
            let variable = placeholder.name.trim_start_matches("env.");
            let message = format!("`{}` is left as it stands: write `${variable}` in a command", placeholder.text);
            problems.push(Problem::new(Code::NoEffect, command.at.clone(), range, message));
            continue;
        }
        match values.get(placeholder.name) {
            None if missing.insert(placeholder.name) => {
                let near = search.nearest(placeholder.name, entries.iter().map(|(name, _)| name.as_str()));
                meant.extend(near);
                problems.push(missing_variable(
                    &command,
                    vars.as_ref(),
                    test.get("vars").is_some(),
                    placeholder.name,
                    near,
                    place(placeholder.text),
                ));
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
            let message = format!("`{spaced}` is left as it stands: write `{{{{{name}}}}}`");
            let mut problem = Problem::new(Code::NoEffect, command.at.clone(), range.clone(), message);
            if command.is_own() && range.len() == spaced.len() {
                let edits = vec![Edit { range, text: format!("{{{{{name}}}}}") }];
                problem = problem.with_fix(Fix::safe("Remove the spaces", edits));
            }
            problems.push(problem);
        } else if is_variable_name(name) {
            problems.push(var.head_problem(Code::Unused, format!("the command does not use `{{{{{name}}}}}`")));
        } else {
            let message = format!("no placeholder can name `{name}`: use ASCII letters, digits, `_` and `.` only");
            problems.push(var.head_problem(Code::NoEffect, message));
        }
    }
}

/// A command of thousands of placeholders is taken apart for the first ones only: each time all of it is read.
const CLOSELY: usize = 512;

/// What stands in braces with a blank on either side: `{{ name }}`.
fn names_in_spaces(template: &str) -> HashSet<&str> {
    let rests = template.match_indices("{{ ").map(|(at, open)| &template[at + open.len()..]);
    rests.map_while(|rest| rest.find(" }}").map(|end| &rest[..end])).collect()
}

fn missing_variable(
    command: &Spot<'_>,
    vars: Option<&Spot<'_>>,
    has_key: bool,
    name: &str,
    near: Option<&str>,
    range: Range<usize>,
) -> Problem {
    let text = format!("{{{{{name}}}}}");
    let message = match near {
        Some(near) => format!("`{text}` has no value: did you mean `{{{{{near}}}}}`?"),
        None => format!("`{text}` has no value: add `{name}` to `vars`"),
    };
    let mut problem = Problem::new(Code::MissingVariable, command.at.clone(), range.clone(), message);
    if let Some(near) = near.filter(|_| command.is_own() && range.len() == text.len()) {
        let edits = vec![Edit { range, text: format!("{{{{{near}}}}}") }];
        let title = format!("Change to `{{{{{near}}}}}`");
        problem = problem.with_fix(Fix::guess(title, edits));
    }
    let line = format!("{name}: \"\"");
    let add = match vars {
        Some(vars) if vars.is_own() => crate::validate::line_at_front(vars.node, &line),
        Some(_) => None,
        // A key that has no value yet is not written a second time.
        None if has_key => None,
        None => command.key.and_then(|key| crate::validate::line_before(key, &format!("vars: {{ {line} }}"))),
    };
    match add {
        Some(edit) => problem.with_fix(Fix::suggestion(format!("Add `{name}` to `vars`"), vec![edit])),
        None => problem,
    }
}

/// The prompts that tests send, and the tests' variables.
pub(super) fn lint_prompts(root: &RootFacts, tests: &[(usize, &TestFacts)], problems: &mut Vec<Problem>) {
    for (index, (start, test)) in tests.iter().enumerate() {
        let Some(named) = &test.prompt else { continue };
        let Some(prompt) = root.prompts.iter().find(|prompt| prompt.named.name == named.name) else { continue };
        if test.has_command {
            continue;
        }
        for placeholder in &prompt.placeholders {
            if test.vars.iter().any(|var| var.name == placeholder.name) {
                continue;
            }
            let (at, range) = absolute(named, index, *start);
            let name = &placeholder.name;
            let message =
                format!("the prompt `{}` needs a value for `{{{{{name}}}}}`: add `{name}` to `vars`", named.name);
            let problem = Problem::new(Code::MissingVariable, at, range, message);
            problems.push(problem.with_related("used here", placeholder.at.clone(), placeholder.range.clone()));
        }
        for var in test.vars.iter().filter(|var| is_variable_name(&var.name) && !var.name.starts_with("env.")) {
            if !prompt.placeholders.iter().any(|placeholder| placeholder.name == var.name) {
                let (at, range) = absolute(var, index, *start);
                let message = format!("the prompt `{}` does not use `{{{{{}}}}}`", named.name, var.name);
                problems.push(Problem::new(Code::Unused, at, range, message));
            }
        }
    }
}

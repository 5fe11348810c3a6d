//! `{{name}}` in texts: it has a value, it may stand there, and it is in quotes where it must be.

use crate::{
    dialect::clawspec::template::{VARIABLES, placeholders, variable},
    document::{NodeRef, Pointer, Shape},
    json_schema::SpecFile,
    problem::{Code, Edit, Fix, Problem},
    spot::Spot,
    words::{listed, nearest},
};

/// Every text below a node, the values of some keys left out.
pub(super) fn lint(file: SpecFile, spot: &Spot<'_>, without: &[&str], problems: &mut Vec<Problem>) {
    if spot.node.alias().is_some() {
        return;
    }
    if let Some(text) = spot.text() {
        if text.contains("{{") {
            lint_text(file, spot, text, problems);
        }
        return;
    }
    for item in spot.items() {
        lint(file, &item, &[], problems);
    }
    for (key, member) in spot.entries() {
        if without.contains(&key.as_str()) {
            continue;
        }
        lint_unquoted(&member, problems);
        if key == "name" && spot.at.is_root() && file == SpecFile::ClawSpecScenarios {
            lint_name(&member, problems);
        }
        lint(file, &member, &[], problems);
    }
}

fn lint_text(file: SpecFile, spot: &Spot<'_>, text: &str, problems: &mut Vec<Problem>) {
    let mut told: Vec<&str> = Vec::new();
    for placeholder in placeholders(text) {
        if told.contains(&placeholder.name) {
            continue;
        }
        told.push(placeholder.name);
        let range = spot.part(placeholder.text, 0);
        let what = placeholder.text;
        match variable(placeholder.name) {
            Some(variable) if variable.files.contains(&file) => {}
            Some(_) => {
                let message = format!("`{what}` has a value in handoff contracts only: here the run breaks");
                problems.push(Problem::new(Code::MissingVariable, spot.at.clone(), range, message));
            }
            None => {
                let names =
                    VARIABLES.iter().filter(|variable| variable.files.contains(&file)).map(|variable| variable.name);
                let near = nearest(placeholder.name, names.clone());
                let message = match near {
                    Some(near) => format!("there is no variable `{what}`: did you mean `{{{{{near}}}}}`?"),
                    None => format!("there is no variable `{what}`: known are {}", listed(names)),
                };
                let problem = Problem::new(Code::MissingVariable, spot.at.clone(), range.clone(), message);
                problems.push(match near.filter(|_| spot.is_own() && range.len() == what.len()) {
                    Some(near) => {
                        let text = format!("{{{{{near}}}}}");
                        problem.with_fix(Fix::guess(format!("Change to `{text}`"), vec![Edit::new(range, text)]))
                    }
                    None => problem,
                });
            }
        }
    }
}

fn lint_name(name: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(text) = name.text() else { return };
    if let Some(placeholder) = placeholders(text).into_iter().find(|found| variable(found.name).is_some()) {
        let range = name.part(placeholder.text, 0);
        let message =
            "a template cannot stand in the name of a scenario: nothing finds the scenario again once it is filled";
        problems.push(Problem::new(Code::TemplateInName, name.at.clone(), range, message));
    }
}

/// `{{today}}` without quotes is a mapping in a mapping.
fn lint_unquoted(member: &Spot<'_>, problems: &mut Vec<Problem>) {
    if member.node.shape() != Shape::Mapping || member.node.alias().is_some() {
        return;
    }
    let range = member.node.own_range();
    let text = member.node.document().text();
    let Some(source) = text.get_byte_slice(range.clone()).map(String::from) else { return };
    let inner = source.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
    if inner.is_none_or(|inner| inner.contains(['{', '}', ':', '\n'])) {
        return;
    }
    let at = member.at.clone();
    problems.retain(|problem| problem.at != at && problem.at.below(&at).is_none());
    problems.push(unquoted(at, range, &source));
}

fn unquoted(at: Pointer, range: std::ops::Range<usize>, source: &str) -> Problem {
    let message = "a text that begins with `{{` must stand in quotes: without them it is a mapping";
    let quoted = serde_json::Value::from(source).to_string();
    let fix = Fix::safe(format!("Write {quoted}"), vec![Edit::new(range.clone(), quoted)]);
    Problem::new(Code::UnquotedTemplate, at, range, message).with_fix(fix)
}

/// What the reader found wrong in a line whose value begins with `{{`: it lacks quotes.
pub(super) fn quote(root: &Spot<'_>, problems: &mut [Problem]) {
    let text = root.node.document().text();
    let mut done: Vec<usize> = Vec::new();
    for problem in problems.iter_mut().filter(|problem| problem.code == Code::Syntax) {
        let start = problem.range.start.min(text.len_bytes());
        let line = text.byte_to_line(start);
        let line_start = text.line_to_byte(line);
        let Some(words) = text.get_byte_slice(line_start..text.line_to_byte(line + 1)).map(String::from) else {
            continue;
        };
        let words = words.trim_end();
        let Some(at) = words.find(": {{").map(|at| at + 2).or_else(|| words.find("- {{").map(|at| at + 2)) else {
            continue;
        };
        if done.contains(&line) || !words[at..].contains("}}") {
            continue;
        }
        done.push(line);
        *problem = unquoted(problem.at.clone(), line_start + at..line_start + words.len(), &words[at..]);
    }
}

/// Whether a text holds a template.
pub(super) fn has_template(node: NodeRef<'_>) -> bool {
    node.text().is_some_and(|text| !placeholders(text).is_empty())
}

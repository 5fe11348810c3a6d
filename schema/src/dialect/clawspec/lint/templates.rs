//! `{{name}}` in texts: it has a value, it may stand there, and it is in quotes where it must be.

use std::collections::HashSet;

use crate::{
    dialect::clawspec::template::{VARIABLES, variable},
    document::NodeRef,
    json_schema::SpecFile,
    problem::{Code, Edit, Fix, Problem},
    spot::Spot,
    template::trimmed_placeholders,
    validate::unquoted_template,
    words::nearest,
};

/// Every text below a node, the values of some keys left out.
pub(super) fn lint(file: SpecFile, spot: &Spot<'_>, without: &[&str], problems: &mut Vec<Problem>) {
    if spot.node.alias().is_some() {
        return;
    }
    if let Some(text) = spot.text() {
        if text.contains('{') {
            lint_text(file, spot, text, problems);
            let names = VARIABLES.iter().filter(|variable| variable.files.contains(&file));
            super::traps::half_templates(spot, text, &names.map(|it| it.name).collect::<Vec<_>>(), problems);
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
    let mut told: HashSet<&str> = HashSet::new();
    for placeholder in trimmed_placeholders(text) {
        if !told.insert(placeholder.name) {
            continue;
        }
        let range = spot.part(placeholder.text, 0);
        let what = placeholder.text;
        match variable(placeholder.name) {
            Some(variable) if variable.files.contains(&file) => {}
            Some(_) => {
                let message = format!("`{what}` has a value only in handoff contracts");
                let problem = Problem::new(Code::MissingVariable, spot.at.clone(), range, message);
                problems.push(problem.with_note("ClawSpec aborts the scenario with an error"));
            }
            None => {
                let names =
                    VARIABLES.iter().filter(|variable| variable.files.contains(&file)).map(|variable| variable.name);
                let near = nearest(placeholder.name, names.clone());
                let help = match near {
                    Some(near) => format!("change it to `{{{{{near}}}}}`"),
                    None => {
                        let names: Vec<String> = names.map(|name| format!("`{{{{{name}}}}}`")).collect();
                        format!("use one of {}", names.join(", "))
                    }
                };
                let message = format!("unknown variable `{what}`");
                let problem = Problem::new(Code::MissingVariable, spot.at.clone(), range.clone(), message);
                let problem = problem.with_note("ClawSpec rejects the whole file").with_help(help);
                problems.push(match near.filter(|_| spot.is_own() && range.len() == what.len()) {
                    Some(near) => {
                        let text = format!("{{{{{near}}}}}");
                        problem.with_fix(Fix::guess(format!("change it to `{text}`"), vec![Edit::new(range, text)]))
                    }
                    None => problem,
                });
            }
        }
    }
}

fn lint_name(name: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(text) = name.text() else { return };
    if let Some(placeholder) = trimmed_placeholders(text).into_iter().find(|found| variable(found.name).is_some()) {
        let range = name.part(placeholder.text, 0);
        let message = "the name of a scenario cannot contain a template variable";
        let problem = Problem::new(Code::TemplateInName, name.at.clone(), range, message);
        problems.push(problem.with_note("ClawSpec does not find the scenario again once its name is filled in"));
    }
}

/// `{{today}}` without quotes, also where any value may be.
fn lint_unquoted(member: &Spot<'_>, problems: &mut Vec<Problem>) {
    if let Some(problem) = unquoted_template(&member.at, member.node) {
        problems.retain(|known| known.at != member.at && known.at.below(&member.at).is_none());
        problems.push(problem);
    }
}

/// Whether a text holds a template.
pub(super) fn has_template(node: NodeRef<'_>) -> bool {
    node.text().is_some_and(|text| !trimmed_placeholders(text).is_empty())
}

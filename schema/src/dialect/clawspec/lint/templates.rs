//! `{{name}}` in texts: it has a value, it may stand there, and it is in quotes where it must be.

use std::collections::HashSet;

use crate::{
    dialect::clawspec::template::{VARIABLES, variable},
    document::NodeRef,
    json_schema::SpecFile,
    problem::{Code, Problem},
    rules::unquoted_template,
    spot::Spot,
    template::{
        lint::{half_written, unknown},
        trimmed_placeholders,
    },
};

/// Every text below a node, the values of some keys left out.
pub(super) fn lint(file: SpecFile, spot: &Spot<'_>, without: &[&str], problems: &mut Vec<Problem>) {
    if spot.node.alias().is_some() {
        return;
    }
    if let Some(text) = spot.text() {
        if text.contains('{') {
            let names = VARIABLES.iter().filter(|variable| variable.files.contains(&file));
            let names: Vec<&str> = names.map(|variable| variable.name).collect();
            lint_text(file, spot, text, &names, problems);
            half_written(spot, text, &names, problems);
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

fn lint_text(file: SpecFile, spot: &Spot<'_>, text: &str, names: &[&str], problems: &mut Vec<Problem>) {
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
            None => problems.push(unknown(spot, &placeholder, names, "ClawSpec rejects the whole file")),
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
    if let Some(finding) = unquoted_template::of(&member.at, member.node) {
        let problem = finding.problem(member.node);
        problems.retain(|known| known.at != member.at && known.at.below(&member.at).is_none());
        problems.push(problem);
    }
}

/// Whether a text holds a template.
pub(super) fn has_template(node: NodeRef<'_>) -> bool {
    node.text().is_some_and(|text| !trimmed_placeholders(text).is_empty())
}

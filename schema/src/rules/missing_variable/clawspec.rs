//! Placeholders of ClawSpec that nothing fills.

use std::collections::HashSet;

use crate::{
    dialect::clawspec::template::{VARIABLES, variable},
    finding::{Finding, Report, Rule, Site, Words},
    json_schema::SpecFile,
    problem::Code,
    spot::Spot,
    template::trimmed_placeholders,
};

use super::{check_half_written, unknown};

/// A variable that only handoff contracts fill.
#[derive(Debug)]
struct OnlyInHandoffs {
    placeholder: String,
}

/// Looks at every text below a node, the values of some keys omitted.
pub(crate) fn check(file: SpecFile, spot: &Spot<'_>, without: &[&str], report: &mut Report) {
    if spot.node.alias().is_some() {
        return;
    }
    if let Some(text) = spot.text() {
        if text.contains('{') {
            check_text(file, spot, text, report);
        }
        return;
    }
    spot.items().iter().for_each(|item| check(file, item, &[], report));
    let entries = spot.entries().into_iter().filter(|(key, _)| !without.contains(&key.as_str()));
    entries.for_each(|(_, member)| check(file, &member, &[], report));
}

fn check_text(file: SpecFile, spot: &Spot<'_>, text: &str, report: &mut Report) {
    let names = VARIABLES.iter().filter(|variable| variable.files.contains(&file));
    let names: Vec<&str> = names.map(|variable| variable.name).collect();
    let mut seen: HashSet<&str> = HashSet::new();
    for placeholder in trimmed_placeholders(text).into_iter().filter(|placeholder| seen.insert(placeholder.name)) {
        match variable(placeholder.name) {
            Some(variable) if variable.files.contains(&file) => {}
            Some(_) => {
                let rule = OnlyInHandoffs { placeholder: placeholder.text.to_owned() };
                report.push(Finding::new(rule, spot.at.clone(), spot.part(placeholder.text, 0)));
            }
            None => report.push(unknown(spot, &placeholder, &names, "ClawSpec rejects the whole file")),
        }
    }
    check_half_written(spot, text, &names, report);
}

impl Rule for OnlyInHandoffs {
    const CODE: Code = Code::MissingVariable;

    fn words(&self, _: &Site<'_>) -> Words {
        Words::new(format!("`{}` has a value only in handoff contracts", self.placeholder))
            .note("ClawSpec aborts the scenario with an error")
    }
}

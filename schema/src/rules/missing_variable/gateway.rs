//! Placeholders of a scripted gateway that nothing fills.

use crate::{
    finding::Report,
    gateway_script::FILLING,
    json_schema::SpecFile,
    shape::Shape,
    spot::Spot,
    template::trimmed_placeholders,
};

use super::{check_half_written, unknown};

/// Looks at the texts that are filled.
pub(crate) fn check_root(root: &Spot<'_>, report: &mut Report) {
    check(root, &Shape::of(SpecFile::GATEWAY), report);
}

fn check(spot: &Spot<'_>, shape: &Shape, report: &mut Report) {
    if spot.node.alias().is_some() {
        return;
    }
    if let Some(text) = spot.text() {
        if shape.template() == Some(FILLING.word) && text.contains('{') {
            let limited = shape.template_names();
            let names = FILLING.variables.iter().map(|variable| variable.name);
            let names: Vec<&str> = names.filter(|name| limited.as_ref().is_none_or(|it| it.contains(name))).collect();
            check_text(spot, text, &names, report);
        }
        return;
    }
    let is_free = shape.template() == Some(FILLING.word);
    // What may be anything is filled at every depth.
    let below = |known: Option<Shape>| if is_free { Some(shape.clone()) } else { known };
    let items = spot.items().into_iter().map(|item| (shape.item(), item));
    let members = spot.entries().into_iter().map(|(key, member)| (shape.step(&key, Some(spot.node)), member));
    for (known, member) in items.chain(members) {
        if let Some(below) = below(known) {
            check(&member, &below, report);
        }
    }
}

fn check_text(spot: &Spot<'_>, text: &str, names: &[&str], report: &mut Report) {
    let mut reported: Vec<&str> = Vec::new();
    for placeholder in trimmed_placeholders(text) {
        if !names.contains(&placeholder.name) && !reported.contains(&placeholder.name) {
            reported.push(placeholder.name);
            report.push(unknown(spot, &placeholder, names, "it has no value, so the script is not played"));
        }
    }
    check_half_written(spot, text, names, report);
}

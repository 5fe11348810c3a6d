//! What a schema cannot say about ClawSpec files, and what it can only say badly.
//!
//! As for every dialect: what [`lint_item`] and [`item_facts`] answer depends on the item's own node and
//! on files only, so that the answers can be kept; [`lint_relations`] is asked anew after every edit.
//!
//! [`lint_item`] and [`lint_root`] get what validation found, too: where they know better what was meant, they say it in
//! place of a bare "unknown key".

pub mod agents;
mod around;
mod assertions;
mod baselines;
mod clashes;
mod contracts;
mod effect;
mod facts;
pub(super) mod files;
mod keys;
pub(super) mod ledger;
mod negative;
mod patterns;
pub(super) mod pipeline;
mod reading;
mod relations;
mod replaced;
mod scalars;
mod shapes;
mod siblings;
mod stale;
mod target;
mod traps;
mod type_keys;
mod types;

use crate::{
    document::NodeRef,
    files::Files,
    finding::Report,
    json_schema::SpecFile,
    problem::{Code, Problem, by_item},
    rules::{missing_variable, pasted_secret, template_in_name, unquoted_template},
    spot::Spot,
    validate::{Definition, is_damaged},
};

use around::Around;

pub use facts::{ItemFacts, Named};
pub use ledger::contract_of;
pub(crate) use negative::scenario as negative_scenario;

/// Reports what is wrong outside of the items. Pointers and ranges are absolute.
pub(crate) fn report_root(file: SpecFile, root: NodeRef<'_>, report: &mut Report) {
    let root = &Spot::root(root);
    match file {
        SpecFile::ClawSpecScenarios => report_texts(file, root, &["scenarios"], report),
        SpecFile::ClawSpecHandoff => report_texts(file, root, &[], report),
        SpecFile::ClawSpecPipeline => report_texts(file, root, &["stages", "pipeline_health"], report),
        SpecFile::ClawSpec => pasted_secret::clawspec::check_settings(root, report),
        SpecFile::ClawSpecLedger
        | SpecFile::ClawSpecBaselines
        | SpecFile::KindLm
        | SpecFile::Settings
        | SpecFile::CliBench
        | SpecFile::CliBenchTasks
        | SpecFile::Script
        | SpecFile::Gateway => {}
    }
}

/// Reports what is wrong in one item of a top-level list. Pointers are relative to it, ranges as the nodes give them.
pub(crate) fn report_item(file: SpecFile, list: &str, item: NodeRef<'_>, report: &mut Report) {
    let item = &Spot::root(item);
    match (file, list) {
        (SpecFile::ClawSpecScenarios, "scenarios") => {
            template_in_name::check_scenario(item, report);
            report_texts(file, item, &[], report);
        }
        (SpecFile::ClawSpecPipeline, "stages" | "pipeline_health") => report_texts(file, item, &[], report),
        _ => {}
    }
}

/// Reports what is wrong with the templates below a node, the values of some keys left out.
fn report_texts(file: SpecFile, spot: &Spot<'_>, without: &[&str], report: &mut Report) {
    missing_variable::clawspec::check(file, spot, without, report);
    unquoted_template::check_below(spot, without, report);
}

/// What is wrong outside of the items, each section looked at alone. Pointers and ranges are absolute. `problems` holds what is
/// known already.
pub fn lint_root(file: SpecFile, root: NodeRef<'_>, files: &dyn Files, problems: &mut Vec<Problem>) {
    let root = Spot::root(root);
    match file {
        SpecFile::ClawSpecScenarios => {
            contracts::lint_kind(&root, problems);
            contracts::lint_unknown(&root, problems);
            contracts::lint_meta(&root, problems);
            target::lint(&root, files, problems);
            files::lint_target(&root, files, problems);
        }
        SpecFile::ClawSpecHandoff => {
            contracts::lint_kind(&root, problems);
            contracts::lint_unknown(&root, problems);
            contracts::lint_handoff(&root, files, problems);
            for agent in ["from", "to"].iter().filter_map(|key| root.find(&["handoff", key])) {
                agents::lint(&agent, files, problems);
            }
            for phase in ["pre_delegation", "post_delegation"] {
                lint_assertions(&root, root.find(&["assertions", phase]), files, problems);
            }
        }
        SpecFile::ClawSpecPipeline => {
            contracts::lint_kind(&root, problems);
            contracts::lint_unknown(&root, problems);
            pipeline::lint(&root, files, problems);
            for phase in ["deterministic", "semantic"] {
                lint_assertions(&root, root.find(&["final_assertions", phase]), files, problems);
            }
        }
        SpecFile::ClawSpecLedger => ledger::lint(&root, files, problems),
        SpecFile::ClawSpecBaselines => baselines::lint(&root, files, problems),
        SpecFile::ClawSpec => contracts::lint_settings(&root, files, problems),
        SpecFile::KindLm
        | SpecFile::Settings
        | SpecFile::CliBench
        | SpecFile::CliBenchTasks
        | SpecFile::Script
        | SpecFile::Gateway => {}
    }
    types::lint_joined(file, &root, problems);
    reading::lint_text(&root, problems);
    reading::lint(&root, Definition::Root(file), Definition::lists(file), problems);
}

/// What is wrong in one item of a top-level list, looked at alone. Pointers are relative to it, ranges as the
/// nodes give them. `problems` holds what validation found in it.
pub fn lint_item(
    file: SpecFile,
    list: &'static str,
    item: NodeRef<'_>,
    files: &dyn Files,
    problems: &mut Vec<Problem>,
) {
    let item = Spot::root(item);
    match (file, list) {
        (SpecFile::ClawSpecScenarios, "scenarios") => {
            shapes::lint_scenario(&item, problems);
            for phase in ["given", "then"] {
                lint_assertions(&item, item.get(phase), files, problems);
            }
            for list in shapes::old_lists(&item) {
                lint_types(&item, &list, problems);
            }
            effect::lint_scenario(&item, problems);
            scalars::lint_params(&item, problems);
        }
        (SpecFile::ClawSpecPipeline, "stages") => {
            contracts::lint_unknown(&item, problems);
            if let Some(agent) = item.get("agent") {
                agents::lint(&agent, files, problems);
            }
        }
        (SpecFile::ClawSpecPipeline, "pipeline_health") => {
            contracts::lint_unknown(&item, problems);
            pipeline::lint_health(&item, problems);
        }
        _ => {}
    }
    reading::lint(&item, Definition::Item(file, list), &[], problems);
    if is_damaged(item.node) {
        // What seems to be absent may stand in the part that cannot be read.
        problems.retain(|problem| !matches!(problem.code, Code::NoClaims | Code::VacuousClaim | Code::MissingField));
    }
}

/// Assertions below a key that stands for another one: only their types are looked at, until the key is renamed.
fn lint_types(around: &Spot<'_>, list: &Spot<'_>, problems: &mut Vec<Problem>) {
    let around = &Around::new(around, problems);
    for assertion in list.items().iter().filter(|assertion| assertion.is_mapping()) {
        types::lint_unknown(around, assertion, problems);
    }
}

/// The assertions of a list. `around` is the scenario or the contract that they belong to.
fn lint_assertions(around: &Spot<'_>, list: Option<Spot<'_>>, files: &dyn Files, problems: &mut Vec<Problem>) {
    let Some(list) = list.filter(Spot::is_list) else { return };
    let before = list.at.last().is_some_and(|key| key == "given");
    clashes::lint(&list, problems);
    let around = &Around::new(around, problems);
    // Each gets what was found in it alone: of both there may be thousands.
    let mut known = by_item(&list.at, problems);
    for (index, assertion) in list.items().into_iter().enumerate() {
        let mut found = known.remove(&index).unwrap_or_default();
        if shapes::lint_sentence(around, &assertion, &mut found) {
            // There is no type that anything could belong to.
        } else if assertion.is_mapping() {
            type_keys::lint(&assertion, &mut found);
            types::lint(around, &assertion, &mut found);
            keys::lint(&assertion, &mut found);
            assertions::lint(around, &assertion, files, &mut found);
            patterns::lint(&assertion, &mut found);
            traps::lint(&assertion, before, files, &mut found);
            files::lint_assertion(&assertion, files, &mut found);
            agents::lint_assertion(&assertion, files, &mut found);
            scalars::lint(&assertion, &mut found);
            scalars::lint_quotes(&assertion, &mut found);
        } else {
            shapes::lint_prose(around, &assertion, &mut found);
        }
        around.learn(&found);
        problems.append(&mut found);
    }
    problems.extend(known.into_values().flatten());
}

/// What an item says that matters to others; nothing for items of lists that have no relations.
pub fn item_facts(file: SpecFile, list: &'static str, item: NodeRef<'_>, _files: &dyn Files) -> Option<ItemFacts> {
    match (file, list) {
        (SpecFile::ClawSpecScenarios, "scenarios") | (SpecFile::ClawSpecPipeline, "stages") => Some(facts::of(item)),
        _ => None,
    }
}

/// What is wrong between items and sections. Each item comes with the byte where its node begins; all
/// problems are absolute.
pub fn lint_relations(
    file: SpecFile,
    root: NodeRef<'_>,
    items: &[(usize, &ItemFacts)],
    files: &dyn Files,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    let root = Spot::root(root);
    match file {
        SpecFile::ClawSpecScenarios => relations::lint_scenarios(&root, items, files, &mut problems),
        SpecFile::ClawSpecPipeline => relations::lint_stages(&root, items, files, &mut problems),
        SpecFile::ClawSpecHandoff
        | SpecFile::ClawSpec
        | SpecFile::ClawSpecLedger
        | SpecFile::ClawSpecBaselines
        | SpecFile::KindLm
        | SpecFile::Settings
        | SpecFile::CliBench
        | SpecFile::CliBenchTasks
        | SpecFile::Script
        | SpecFile::Gateway => {}
    }
    problems
}

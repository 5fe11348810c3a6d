//! Checks of ClawSpec files that a schema cannot express: calls the rules for each part of a file.
//!
//! As in every dialect, the result of [`report_item`] depends only on the item's node and on files, so that it can be
//! cached; [`report_relations`] runs again after every edit. [`explain`] adds the format's knowledge to violations of
//! the schema.

pub(crate) mod ambiguous_scalar;
pub(crate) mod collision;
pub(crate) mod contradiction;
pub(crate) mod duplicate_name;
pub(crate) mod invalid_definition;
pub(crate) mod missing_field;
pub(crate) mod missing_file;
pub(crate) mod missing_negative;
pub(crate) mod missing_variable;
pub(crate) mod never_evaluated;
pub(crate) mod no_effect;
pub(crate) mod pasted_secret;
pub(crate) mod stage_count;
pub(crate) mod syntax;
pub(crate) mod target_mismatch;
pub(crate) mod template_in_name;
pub(crate) mod unchecked;
pub(crate) mod unknown_key;
pub(crate) mod unknown_type;
pub(crate) mod unread;
pub(crate) mod unsupported_expression;
pub(crate) mod upstream_differs;
pub(crate) mod vacuous_claim;
pub(crate) mod wrong_type;

use crate::{
    document::NodeRef,
    files::Files,
    finding::{Finding, MessageParts, Report},
    json_schema::SpecFile,
    lint_node::LintNode,
    problem::Code,
    relations::{CrossItemRule, Items},
    validate::{Context, Definition},
};

use super::{
    assertion::{Assertion, Category, TypeInfo},
    assertion_lists,
    claim::Place,
    facts::About,
    kinds::ContractFile,
    ledger_contracts::{self, Contracts},
    lower::settings,
    parts::{self, Part},
    paths, siblings,
    stage_contracts::NamedContract,
    statements,
    target::{Directory, Target},
    typed_assertion::TypedAssertion,
    waiting,
};

/// Adds the format's knowledge to a violation of the schema.
pub(crate) fn explain(context: &Context<'_>, finding: Finding) -> Finding {
    let finding = missing_field::explain(context, finding);
    let finding = unknown_key::explain(context, finding);
    wrong_type::explain(context, finding)
}

/// Reports problems outside of the items. Pointers and ranges are absolute.
pub(crate) fn report_root(file: SpecFile, root: NodeRef<'_>, files: &dyn Files, report: &mut Report) {
    let root = &LintNode::root(root);
    syntax::check_text(root, report);
    report_yaml(root, Definition::Root(file), Definition::lists(file), report);
    match ContractFile::of(file) {
        ContractFile::Scenarios => {
            if let Some(target) = Target::of_scenarios(root, files) {
                target_mismatch::check(&target, files, report);
                if let Target::Below(directory) = &target {
                    report_directory(directory, files, report);
                }
            }
        }
        ContractFile::Handoff => {
            missing_variable::check_handoff(root, report);
            unchecked::check_handoff(root, files, report);
            for phase in ["pre_delegation", "post_delegation"] {
                report_assertions(root.find(&["assertions", phase]), files, report);
            }
        }
        ContractFile::Pipeline => {
            collision::check_pipeline(root, report);
            stage_count::check_root(root, report);
            vacuous_claim::check_conditions(root, report);
            if let Some(directory) = Directory::of_pipeline(root, files) {
                report_directory(&directory, files, report);
            }
            for phase in ["deterministic", "semantic"] {
                report_assertions(root.find(&["final_assertions", phase]), files, report);
            }
        }
        ContractFile::Ledger => report_ledger(root, files, report),
        ContractFile::Baselines => {}
        ContractFile::Settings => {
            pasted_secret::check_settings(root, report);
            missing_file::check_settings(root, files, report);
            no_effect::check_settings(root, files, report);
        }
    }
}

/// Reports values and keys of a node that PyYAML reads differently, except for the values of some keys.
fn report_yaml(root: &LintNode<'_>, definition: Definition, without: &[&str], report: &mut Report) {
    parts::each(root.node, without, &mut |part| match part {
        Part::Value(member) => {
            syntax::check_anchor(member, report);
            unread::check_tag(member, report);
            unread::check_scalar(member, report);
            wrong_type::check_date(member, root, definition, report);
        }
        Part::Key { mapping, member, key } => {
            unread::check_key(mapping, member, key, report);
            wrong_type::check_merge(member, key, report);
        }
    });
}

/// Reports problems of the target directory of a contract.
fn report_directory(directory: &Directory<'_>, files: &dyn Files, report: &mut Report) {
    missing_file::check_target(directory, files, report);
    invalid_definition::check_target(directory, files, report);
}

fn report_ledger(root: &LintNode<'_>, files: &dyn Files, report: &mut Report) {
    let base = ledger_contracts::base(files.place());
    let entries = ledger_contracts::entries(root);
    let mut contracts = Contracts::new(base, files);
    for item in &entries {
        unknown_key::check_entry(item, report);
        if paths::is_placed(files) {
            missing_file::check_entry(item, base, files, report);
            missing_field::check_entry(item, report);
            missing_negative::check_entry(item, &mut contracts, report);
        }
    }
}

/// Reports problems in one item of a top-level list. Pointers are relative to it, ranges as the nodes return them.
pub(crate) fn report_item(
    file: SpecFile,
    list: &'static str,
    item: NodeRef<'_>,
    files: &dyn Files,
    report: &mut Report,
) {
    let item = &LintNode::root(item);
    report_yaml(item, Definition::Item(file, list), &[], report);
    match (ContractFile::of(file), list) {
        (ContractFile::Scenarios, "scenarios") => {
            template_in_name::check_scenario(item, report);
            ambiguous_scalar::check_scenario(item, report);
            missing_field::check_scenario(item, report);
            upstream_differs::check_scenario(item, report);
            wrong_type::check_scenario(item, report);
            wrong_type::form::check_scenario(item, report);
            for phase in ["given", "then"] {
                report_assertions(item.get(phase), files, report);
            }
            // Until the key is renamed, only the types of the assertions are checked.
            for assertion in assertion_lists::below_other_names(item).iter().flat_map(|list| list.items()) {
                unknown_type::check_assertion(&assertion, report);
            }
        }
        (ContractFile::Pipeline, "pipeline_health") => {
            unsupported_expression::check_health(item, report);
        }
        _ => {}
    }
}

/// Reports problems of the assertions of a list.
fn report_assertions(list: Option<LintNode<'_>>, files: &dyn Files, report: &mut Report) {
    let Some(list) = list.filter(LintNode::is_list) else { return };
    let is_before = list.at.last().is_some_and(|key| key == "given");
    let assertions = TypedAssertion::all_of(&list);
    statements::check(&assertions, report);
    if !is_before {
        unchecked::traces::check_assertions(&assertions, || settings(files), report);
    }
    for assertion in &assertions {
        if let Some(info) = assertion.info {
            Assertion::lint(info.name, assertion, &Place { files }, report);
            if is_before {
                report_before_run(assertion, info, report);
            }
            if info.waits {
                waiting::lint(assertion, is_before, report);
            }
        }
        ambiguous_scalar::check_assertion(assertion, report);
        never_evaluated::check_assertion(assertion, report);
        if assertion.info.is_none() {
            syntax::check_assertion(assertion, report);
            unknown_type::check_assertion(assertion, report);
            wrong_type::form::check_assertion(assertion, report);
        }
        upstream_differs::check_assertion(assertion, report);
    }
}

/// Reports an assertion about the run that is a precondition.
fn report_before_run(assertion: &LintNode<'_>, info: &TypeInfo, report: &mut Report) {
    let (name, is_about_trace) = (info.name, info.category == Category::Trace);
    let is_own = |run: LintNode<'_>| run.text().is_some_and(|text| text.contains("{{run_id}}"));
    let code = if is_about_trace { Some(Code::Unchecked) } else { info.before_run };
    let Some((code, kind)) = code.zip(assertion.get("type")) else { return };
    if !is_about_trace && !assertion.get("run_id").is_none_or(is_own) {
        return;
    }
    let message = match code {
        Code::VacuousClaim => format!("`{name}` cannot fail in `given`"),
        Code::Contradiction => format!("`{name}` cannot pass in `given`"),
        _ => format!("`{name}` cannot be checked in `given`"),
    };
    let note = match is_about_trace {
        true => "before the run starts, it has no trace",
        false => "before the run starts, the log does not mention it",
    };
    report.push(kind.problem(code, MessageParts::new(message).note(note).help("move it to `then`")));
}

/// Returns the rules between scenarios.
pub(crate) fn cross_item_rules(file: SpecFile) -> &'static [&'static dyn CrossItemRule] {
    match ContractFile::of(file) {
        ContractFile::Scenarios => &[&vacuous_claim::StaleFiles],
        ContractFile::Pipeline
        | ContractFile::Handoff
        | ContractFile::Settings
        | ContractFile::Ledger
        | ContractFile::Baselines => &[],
    }
}

/// Reports problems between items and sections. Each item comes with the start of its node; all locations are
/// absolute.
pub(crate) fn report_relations(
    file: SpecFile,
    root: NodeRef<'_>,
    items: Items<'_>,
    files: &dyn Files,
    report: &mut Report,
) {
    let root = &LintNode::root(root);
    match ContractFile::of(file) {
        ContractFile::Scenarios => {
            let siblings = siblings::of_target(root, files);
            duplicate_name::check_siblings(root, items, &siblings, report);
            upstream_differs::check_discovery(root, files, report);
            upstream_differs::check_defaults(root, items, report);
            no_effect::check_params(root, items, report);
            no_effect::check_defaults(root, items, report);
            wrong_type::check_params(root, items, report);
            missing_negative::check_relations(root, items, &siblings, files, report);
        }
        ContractFile::Pipeline => {
            for contract in
                items.about(About::Handoff).filter_map(|(index, stage)| NamedContract::of(index, stage, files))
            {
                missing_file::check_stage(&contract, items, files, report);
                contradiction::check_stage(&contract, items, files, report);
            }
        }
        ContractFile::Handoff | ContractFile::Settings | ContractFile::Ledger | ContractFile::Baselines => {}
    }
}

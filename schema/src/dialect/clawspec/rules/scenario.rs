//! One scenario: its name, its action, its lists of assertions.

use std::sync::LazyLock;

use super::{assertions, unknown_type};
use crate::{
    dialect::clawspec::template::variable,
    edit,
    files::Files,
    finding::{MessageParts, Report, Scope},
    json_schema::SpecFile,
    lint_node::LintNode,
    problem::{Code, Fix},
    shape::Field,
    template::trimmed_placeholders,
    validate::Definition,
};

/// Returns the keys of a scenario.
pub(super) fn fields() -> &'static [Field] {
    static FIELDS: LazyLock<Vec<Field>> =
        LazyLock::new(|| Definition::Item(SpecFile::CLAWSPEC_SCENARIOS, "scenarios").shape().fields(None));
    &FIELDS
}

pub(crate) fn check(scenario: &LintNode<'_>, files: &dyn Files, report: &mut Report) {
    let name = scenario.get("name");
    let placeholders = name.as_ref().and_then(LintNode::text).map(trimmed_placeholders).unwrap_or_default();
    if let Some((name, found)) = name.zip(placeholders.iter().find(|found| variable(found.name).is_some())) {
        let words = MessageParts::new("the name of a scenario cannot contain a template variable")
            .note("ClawSpec cannot find the scenario by its expanded name")
            .help("write the name without template variables");
        report.push(name.part_problem(found.text, Code::TemplateInName, words));
    }
    if let Some(when) = scenario.get("when").filter(LintNode::is_list) {
        let words = MessageParts::new("expected a mapping for `when`, found a list")
            .help("write one action, `when: { invoke, params }`, and move every other action to a scenario of its own")
            .fix(only_action(&when));
        report.push(when.head_problem(Code::WrongType, words).instead_of(Scope::At(when.at.clone())));
    }
    for field in fields().iter().filter(|field| ["given", "then"].contains(&field.name)) {
        assertions::check(scenario.node, scenario.get(field.name), files, report);
        // Until the key is renamed, only the types of the assertions are checked.
        for list in field.shape.other_names().iter().filter_map(|other| scenario.get(other.name)) {
            list.items().iter().for_each(|assertion| unknown_type::check_type(scenario.node, assertion, report));
        }
    }
}

/// Returns the fix that converts a list with one action to a mapping.
fn only_action(when: &LintNode<'_>) -> Option<Fix> {
    let items = when.items();
    let [only] = items.as_slice() else { return None };
    let (text, invoke) = (only.text(), only.get("invoke"));
    // Other keys of the mapping would be lost.
    if text.is_none() && only.entries().len() != 1 {
        return None;
    }
    let invoke = invoke.or_else(|| text.map(|_| only.clone()))?;
    let line = format!("invoke: {}", edit::words(invoke.node)?);
    let edits = edit::mapping_of_item(when.entry()?, &line, invoke.node)?;
    let is_sure = edit::is_flow(when.node) || text.is_none_or(|text| text.starts_with('/'));
    let fix = if is_sure { Fix::safe } else { Fix::guess };
    Some(fix(format!("write `{{ {line} }}`"), edits))
}

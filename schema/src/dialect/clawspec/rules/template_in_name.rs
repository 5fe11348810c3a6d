use crate::{
    dialect::clawspec::template::variable,
    finding::{Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    problem::Code,
    template::trimmed_placeholders,
};

/// A variable in the name of a scenario.
#[derive(Debug)]
struct TemplateInName;

/// Checks the name of a scenario.
pub(crate) fn check_scenario(scenario: &LintNode<'_>, report: &mut Report) {
    let Some((name, text)) = scenario.get("name").and_then(|name| Some((name.clone(), name.text()?))) else { return };
    if let Some(placeholder) = trimmed_placeholders(text).into_iter().find(|found| variable(found.name).is_some()) {
        report.push(name.part_finding(placeholder.text, TemplateInName));
    }
}

impl Rule for TemplateInName {
    const CODE: Code = Code::TemplateInName;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        MessageParts::new("the name of a scenario cannot contain a template variable")
            .note("ClawSpec cannot find the scenario by its expanded name")
            .help("write the name without template variables")
    }
}

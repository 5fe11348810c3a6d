//! Contracts that the coverage ledger does not name, and what a call lacks.

use crate::{
    document::{Pointer, Shape},
    finding::{Explanation, Finding, Report, Rule, Site, Words},
    json_schema::SpecFile,
    problem::{Code, Fix, Severity},
    spot::Spot,
    validate::Context,
};

pub(crate) mod assertion;
pub(crate) mod target;

/// An entry of an orchestrator that lacks a kind of contract.
#[derive(Debug)]
struct NoContract {
    key: &'static str,
    covers: &'static str,
}

/// A call of `sessions_spawn` without the text that it sends.
#[derive(Debug)]
struct NoTask;

/// The number of stages, where it is missing: it is that of the list.
#[derive(Debug)]
struct StageCount {
    count: usize,
}

/// Says of a missing key what is known of it here.
pub(crate) fn explain(context: &Context<'_>, finding: Finding) -> Finding {
    if finding.code() != Code::MissingField {
        return finding;
    }
    let finding = target::explain(context, assertion::explain(context, finding));
    let is_count = context.file == SpecFile::CLAWSPEC_PIPELINE
        && context.base.is_root()
        && *finding.at() == Pointer::root().key("pipeline").key("stages");
    match context.node.get("stages").filter(|stages| is_count && stages.shape() == Shape::Sequence) {
        Some(stages) => finding.explained(StageCount { count: stages.items().count() }),
        None => finding,
    }
}

/// Looks at the call of a scenario.
pub(crate) fn check_scenario(scenario: &Spot<'_>, report: &mut Report) {
    let invoke = scenario.find(&["when", "invoke"]).filter(|invoke| invoke.text() == Some("sessions_spawn"));
    if let Some(invoke) = invoke
        && scenario.find(&["when", "params", "task"]).is_none()
    {
        report.push(invoke.finding(NoTask));
    }
}

/// Looks at an entry of the coverage ledger.
pub(crate) fn check_entry(item: &Spot<'_>, report: &mut Report) {
    let Some(contracts) = item.get("contracts") else { return };
    if item.get("tier").is_none_or(|tier| tier.text() != Some("orchestrator")) {
        return;
    }
    for (key, covers) in [("pipeline_file", "pipeline"), ("handoff_files", "handoffs")] {
        if contracts.get(key).is_none() {
            report.push(item.head_finding(NoContract { key, covers }));
        }
    }
}

impl Explanation for StageCount {
    fn words(&self, said: Words, site: &Site<'_>) -> Words {
        let count = self.count;
        let help = format!("add `stages: {count}`");
        let pipeline = site.holder();
        let edits = pipeline.and_then(|pipeline| pipeline.with_behind("skill_path", &[("stages", count.to_string())]));
        let message = "missing `pipeline.stages`, the number of stages".to_owned();
        let fixes = edits.map(|edits| Fix::safe(&help, edits)).into_iter().collect();
        Words { message, fixes, ..said }.help(help)
    }
}

impl Rule for NoTask {
    const CODE: Code = Code::MissingField;
    const SEVERITY: Severity = Severity::Warning;

    fn words(&self, _: &Site<'_>) -> Words {
        Words::new("missing `params.task`, the text that `sessions_spawn` sends")
    }
}

impl Rule for NoContract {
    const CODE: Code = Code::MissingField;
    const SEVERITY: Severity = Severity::Hint;

    fn words(&self, _: &Site<'_>) -> Words {
        let NoContract { key, covers } = self;
        Words::new(format!("the orchestrator is missing `{key}`"))
            .note(format!("no contract covers its {covers}, but `clawspec coverage` does not report this gap"))
    }
}

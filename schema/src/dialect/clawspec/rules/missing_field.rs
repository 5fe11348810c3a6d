//! Contracts that the coverage ledger does not name, and missing parts of an action.

use crate::{
    document::{Pointer, Shape},
    finding::{Explanation, Finding, Location, MessageParts, Report, Rule},
    json_schema::SpecFile,
    lint_node::LintNode,
    problem::{Code, Fix, Severity},
    validate::Context,
};

mod file_to_score;
pub(crate) mod target;

/// An entry of an orchestrator without a kind of contract.
#[derive(Debug)]
struct NoContract {
    key: &'static str,
    covers: &'static str,
}

/// `sessions_spawn` without the message to send.
#[derive(Debug)]
struct NoTask;

/// A missing number of stages, which is the length of the list.
#[derive(Debug)]
struct StageCount {
    count: usize,
}

/// Explains a missing key.
pub(crate) fn explain(context: &Context<'_>, finding: Finding) -> Finding {
    if finding.code() != Code::MissingField {
        return finding;
    }
    let finding = target::explain(context, file_to_score::explain(context, finding));
    let is_count = context.file == SpecFile::CLAWSPEC_PIPELINE
        && context.base.is_root()
        && *finding.at() == Pointer::root().key("pipeline").key("stages");
    match context.node.get("stages").filter(|stages| is_count && stages.shape() == Shape::Sequence) {
        Some(stages) => finding.explained(StageCount { count: stages.items().count() }),
        None => finding,
    }
}

/// Checks the action of a scenario.
pub(crate) fn check_scenario(scenario: &LintNode<'_>, report: &mut Report) {
    let invoke = scenario.find(&["when", "invoke"]).filter(|invoke| invoke.text() == Some("sessions_spawn"));
    if let Some(invoke) = invoke
        && scenario.find(&["when", "params", "task"]).is_none()
    {
        report.push(invoke.finding(NoTask));
    }
}

/// Checks an entry of the coverage ledger.
pub(crate) fn check_entry(item: &LintNode<'_>, report: &mut Report) {
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
    fn message(&self, said: MessageParts, location: &Location<'_>) -> MessageParts {
        let count = self.count;
        let help = format!("add `stages: {count}`");
        let pipeline = location.holder();
        let edits = pipeline.and_then(|pipeline| pipeline.with_behind("skill_path", &[("stages", count.to_string())]));
        let message = "missing `pipeline.stages`".to_owned();
        let note = Some("it must equal the length of the list `stages`".to_owned());
        let fixes = edits.map(|edits| Fix::safe(&help, edits)).into_iter().collect();
        MessageParts { message, note, fixes, ..said }.help(help)
    }
}

impl Rule for NoTask {
    const CODE: Code = Code::MissingField;
    const SEVERITY: Severity = Severity::Warning;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        MessageParts::new("missing `params.task`")
            .note("`sessions_spawn` sends this text to the agent")
            .help("add `task`")
    }
}

impl Rule for NoContract {
    const CODE: Code = Code::MissingField;
    const SEVERITY: Severity = Severity::Hint;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        let NoContract { key, covers } = self;
        MessageParts::new(format!("the orchestrator is missing `{key}`"))
            .note(format!("no contract covers its {covers}, but `clawspec coverage` does not report this gap"))
            .help(format!("add `{key}` to `contracts`"))
    }
}

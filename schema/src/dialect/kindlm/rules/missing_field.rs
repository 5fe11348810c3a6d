//! Sections that tests of KindLM need.

use crate::{
    dialect::kindlm::facts::SuiteFacts,
    document::Pointer,
    finding::{Finding, MessageParts, Report},
    problem::{Code, SettingsCondition, Severity},
};

/// Checks the sections that tests need.
pub(crate) fn check_relations(suite: &SuiteFacts<'_>, report: &mut Report) {
    if let Some(prompt) = suite.first_prompt() {
        for section in suite.lacking().filter(|section| section.key.is_none()) {
            let at = Pointer::root().key(section.name);
            let name = section.name;
            let words = MessageParts::new(format!("missing `{name}`"))
                .note(format!("prompt tests need `{name}`"))
                .help(format!("add `{name}`"));
            let finding = Finding::stated(Code::MissingField, words, at, suite.root.head.clone());
            report.push(finding.with_name("needed here", prompt));
        }
    }
    let [_, models, _] = &suite.root.sections;
    if let Some(judge) = suite.first_judge().filter(|_| !models.filled && suite.root.judge_model.is_none()) {
        let words = MessageParts::new("`judge` needs a model, but `models` has none")
            .help("add a model to `models`, or, to use one judge for all suites, set `judge` in `speclens.yaml`");
        let finding = judge.problem(Code::MissingField, words).with_severity(Severity::Warning);
        report.push(finding.only_with(SettingsCondition::NoJudge));
    }
}

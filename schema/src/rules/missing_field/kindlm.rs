//! Sections that tests of KindLM need.

use crate::{
    dialect::kindlm::facts::SuiteFacts,
    document::Pointer,
    finding::{Finding, Location, MessageParts, Report, Rule},
    problem::{Code, SettingsCondition, Severity},
};

/// A part of the file that a test needs.
#[derive(Debug)]
enum Missing {
    Section(&'static str),
    /// A model that judges.
    Judge,
}

/// Checks the sections that tests need.
pub(crate) fn check_relations(suite: &SuiteFacts<'_>, report: &mut Report) {
    if let Some(prompt) = suite.first_prompt() {
        for section in suite.lacking().filter(|section| section.key.is_none()) {
            let at = Pointer::root().key(section.name);
            let finding = Finding::new(Missing::Section(section.name), at, suite.root.head.clone());
            report.push(finding.with_name("needed here", prompt));
        }
    }
    let [_, models, _] = &suite.root.sections;
    if let Some(judge) = suite.first_judge().filter(|_| !models.filled && suite.root.judge_model.is_none()) {
        report.push(judge.finding(Missing::Judge).only_with(SettingsCondition::NoJudge));
    }
}

impl Rule for Missing {
    const CODE: Code = Code::MissingField;

    fn severity(&self) -> Severity {
        match self {
            Missing::Section(_) => Code::MissingField.severity(),
            Missing::Judge => Severity::Warning,
        }
    }

    fn message(&self, _: &Location<'_>) -> MessageParts {
        match self {
            Missing::Section(name) => MessageParts::new(format!("missing `{name}`"))
                .note(format!("prompt tests need `{name}`"))
                .help(format!("add `{name}`")),
            Missing::Judge => MessageParts::new("`judge` needs a model, but `models` has none")
                .help("add a model to `models`, or, to use one judge for all suites, set `judge` in `speclens.yaml`"),
        }
    }
}

//! Sections and paths of KindLM that must not be empty.

use crate::{
    dialect::kindlm::{
        facts::SuiteFacts,
        schema_files::{SchemaFile, State},
    },
    document::Pointer,
    finding::{Finding, MessageParts, Report},
    problem::Code,
};

/// Checks the schema files of a test.
pub(crate) fn check_schemas(schemas: &[SchemaFile<'_>], report: &mut Report) {
    for file in schemas {
        if matches!(file.state, State::Unnamed) {
            let words = MessageParts::new("`argsSchema` must not be empty").help("name a JSON Schema file");
            report.push(file.lint_node.problem(Code::OutOfRange, words));
        }
    }
}

/// Checks the sections that tests need.
pub(crate) fn check_relations(suite: &SuiteFacts<'_>, report: &mut Report) {
    let Some(prompt) = suite.first_prompt() else { return };
    for section in suite.lacking() {
        if let Some(key) = &section.key {
            let at = Pointer::root().key(section.name);
            let message = format!("`{}` must not be empty", section.name);
            let words = MessageParts::new(message).note("prompt tests need it");
            let finding = Finding::stated(Code::OutOfRange, words, at, key.clone());
            report.push(finding.with_name("needed here", prompt));
        }
    }
}

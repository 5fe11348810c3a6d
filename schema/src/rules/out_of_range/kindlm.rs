//! Sections and paths of KindLM that must not be empty.

use crate::{
    dialect::kindlm::{
        facts::SuiteFacts,
        schema_files::{SchemaFile, State},
    },
    document::Pointer,
    finding::{Finding, Location, MessageParts, Report, Rule},
    problem::Code,
};

/// Something empty that must not be empty.
#[derive(Debug)]
enum Empty {
    Section(&'static str),
    /// An empty path in `argsSchema`.
    Path,
}

/// Checks the schema files of a test.
pub(crate) fn check_schemas(schemas: &[SchemaFile<'_>], report: &mut Report) {
    for file in schemas {
        if matches!(file.state, State::Unnamed) {
            report.push(file.lint_node.finding(Empty::Path));
        }
    }
}

/// Checks the sections that tests need.
pub(crate) fn check_relations(suite: &SuiteFacts<'_>, report: &mut Report) {
    let Some(prompt) = suite.first_prompt() else { return };
    for section in suite.lacking() {
        if let Some(key) = &section.key {
            let at = Pointer::root().key(section.name);
            let finding = Finding::new(Empty::Section(section.name), at, key.clone());
            report.push(finding.with_name("needed here", prompt));
        }
    }
}

impl Rule for Empty {
    const CODE: Code = Code::OutOfRange;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        match self {
            Empty::Section(name) => {
                MessageParts::new(format!("`{name}` must not be empty")).note("prompt tests need it")
            }
            Empty::Path => MessageParts::new("`argsSchema` must not be empty").help("name a JSON Schema file"),
        }
    }
}

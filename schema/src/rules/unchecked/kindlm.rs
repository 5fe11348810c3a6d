//! Expectations of KindLM that another value disables.

use crate::{
    dialect::kindlm::{
        parts::{Expect, TestParts},
        schema_files::{SchemaFile, State},
    },
    finding::{Location, MessageParts, Report, Rule},
    problem::Code,
};

/// Default maximum number of replies of a test.
const MAX_TURNS: f64 = 10.0;

/// Something that is never checked.
#[derive(Debug)]
enum Unchecked {
    /// A key of a forbidden call.
    BesideForbidden { key: &'static str, tool: String },
    /// Fields that a method does not compare.
    Fields { method: String },
    /// A test without models.
    NoModels,
    /// An expectation about a reply after the last one.
    Reply { most: f64 },
    /// An unknown format in a JSON Schema.
    Format { format: String, path: String },
}

/// Checks a test without its files.
pub(crate) fn check_test(parts: &TestParts<'_>, report: &mut Report) {
    let test = &parts.test;
    if test.get("prompt").is_some()
        && let Some(models) = test.get("models").filter(|models| models.is_list() && models.is_empty())
    {
        report.push(models.finding(Unchecked::NoModels));
    }
    parts.expects.iter().for_each(|expect| check_expect(expect, report));
    if parts.asks_model {
        let most = test.get("maxTurns").and_then(|most| most.number()).unwrap_or(MAX_TURNS);
        let is_behind = |index: usize| index as f64 >= most && most >= 1.0;
        for (_, turn) in parts.turns.iter().enumerate().filter(|(index, _)| is_behind(*index)) {
            report.push(turn.head_finding(Unchecked::Reply { most }));
        }
    }
}

fn check_expect(expect: &Expect<'_>, report: &mut Report) {
    for call in expect.forbidden() {
        for key in ["argsMatch", "argsSchema", "order"] {
            if let Some(lint_node) = call.call.get(key) {
                report.push(lint_node.head_finding(Unchecked::BesideForbidden { key, tool: call.name.to_owned() }));
            }
        }
    }
    if let Some(drift) = expect.node.find(&["baseline", "drift"]) {
        let method = drift.text_at("method").unwrap_or("judge");
        if let Some(fields) = drift.get("fields").filter(|_| method != "field-diff") {
            report.push(fields.head_finding(Unchecked::Fields { method: method.to_owned() }));
        }
    }
}

/// Checks the schema files of a test.
pub(crate) fn check_schemas(schemas: &[SchemaFile<'_>], report: &mut Report) {
    for file in schemas {
        let State::Valid { unchecked, .. } = &file.state else { continue };
        for format in unchecked {
            let rule = Unchecked::Format { format: format.clone(), path: file.path.to_owned() };
            report.push(file.lint_node.finding(rule));
        }
    }
}

impl Rule for Unchecked {
    const CODE: Code = Code::Unchecked;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        match self {
            Unchecked::BesideForbidden { key, tool } => {
                MessageParts::new(format!("`{key}` is not checked with `shouldNotCall: true`"))
                    .note(format!("every call to `{tool}` fails the expectation"))
                    .help("remove it")
            }
            Unchecked::Fields { method } => MessageParts::new(format!("`method: {method}` does not compare `fields`"))
                .help("use `method: field-diff`, or remove `fields`"),
            Unchecked::NoModels => MessageParts::new("`models` is empty, so the test never runs")
                .help("remove `models` to use all models, or list some"),
            Unchecked::Reply { most } => MessageParts::new("this reply is never checked")
                .note(format!("the conversation ends after reply {most}"))
                .help("raise `maxTurns`, or remove the reply"),
            Unchecked::Format { format, path } => {
                MessageParts::new(format!("`format: {format}` in `{path}` is not checked"))
                    .note("neither KindLM nor speclens supports this format")
                    .help("use `pattern` instead")
            }
        }
    }
}

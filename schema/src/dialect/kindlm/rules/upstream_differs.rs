//! Differences of KindLM: what it rejects or reads differently.

use crate::{
    dialect::kindlm::{
        facts::SuiteFacts,
        schema_files::{SchemaFile, State},
    },
    document::Pointer,
    finding::{Finding, MessageParts, Report},
    lint_node::LintNode,
    problem::Code,
    words::all_of,
};

/// Maximum number of tests in KindLM.
const MAX_TESTS: usize = 1000;
/// Maximum number of models in KindLM.
const MAX_MODELS: usize = 50;
/// KindLM accepts fewer than this many aliases of one anchor.
const MAX_ALIASES: usize = 100;
/// Maximum length of a file in KindLM, in UTF-16 code units.
const MAX_LENGTH: usize = 1_048_576;

/// Checks the schema files of a test.
pub(crate) fn check_schemas(schemas: &[SchemaFile<'_>], report: &mut Report) {
    for file in schemas {
        match &file.state {
            State::Valid { draft, .. } if *draft != "draft-07" => {
                let message = format!("KindLM rejects `{}`, a JSON Schema of {draft}", file.path);
                let words = MessageParts::new(message).note("KindLM supports only draft-07");
                report.push(file.lint_node.problem(Code::UpstreamDiffers, words));
            }
            State::Unnamed => continue,
            State::Valid { .. }
            | State::Escape(_)
            | State::Unread
            | State::NotAFile
            | State::Missing { .. }
            | State::Unreadable(_)
            | State::Invalid(_) => {}
        }
        if file.is_of_arguments {
            let message = "KindLM fails every `argsSchema` expectation with an internal error";
            let words = MessageParts::new(message).note("speclens checks the arguments");
            report.push(file.lint_node.head_problem(Code::UpstreamDiffers, words));
        }
    }
}

/// Checks the sections other than `tests`, and the whole file.
pub(crate) fn check_root(root: &LintNode<'_>, report: &mut Report) {
    let document = root.node.document();
    if document.text().len_bytes() > MAX_LENGTH && document.text().len_utf16_cu() > MAX_LENGTH {
        let words = MessageParts::new("KindLM rejects a file larger than 1 MB");
        report.push(root.head_problem(Code::UpstreamDiffers, words));
    }
    if let Some(models) = root.get("models").filter(|models| models.node.item_count() > MAX_MODELS) {
        let words = MessageParts::new(format!("KindLM rejects a file with more than {MAX_MODELS} models"));
        report.push(models.head_problem(Code::UpstreamDiffers, words));
    }
    for (anchor, range) in document.aliases_beyond(MAX_ALIASES) {
        let at = document.pointer_at(range.start);
        let message = format!("KindLM rejects a file in which `&{anchor}` is used {MAX_ALIASES} times or more");
        let words = MessageParts::new(message).help("write some of the values out");
        report.push(Finding::stated(Code::UpstreamDiffers, words, at, range));
    }
}

/// Checks the number of tests, and the sections that KindLM always requires.
pub(crate) fn check_relations(suite: &SuiteFacts<'_>, report: &mut Report) {
    if suite.tests.len() > MAX_TESTS {
        let start = suite.tests.start(MAX_TESTS);
        let at = Pointer::root().key("tests").index(MAX_TESTS);
        let words = MessageParts::new(format!("KindLM rejects a file with more than {MAX_TESTS} tests"));
        report.push(Finding::stated(Code::UpstreamDiffers, words, at, start..start));
    }
    if suite.tests.is_empty() || suite.first_prompt().is_some() {
        return;
    }
    let Some(first) = suite.lacking().next() else { return };
    let names: Vec<&str> = suite.lacking().map(|section| section.name).collect();
    let range = first.key.clone().unwrap_or_else(|| suite.root.head.clone());
    let at = first.key.as_ref().map_or_else(Pointer::root, |_| Pointer::root().key(first.name));
    let needed = if names.len() == 1 { "it" } else { "them" };
    let words = MessageParts::new(format!("KindLM requires {}", all_of(names.iter().copied())))
        .note(format!("no test in this file needs {needed}"));
    report.push(Finding::stated(Code::UpstreamDiffers, words, at, range));
}

//! Differences of KindLM: what it rejects or reads differently.

use crate::{
    dialect::kindlm::{
        facts::SuiteFacts,
        parts::TestParts,
        schema_files::{SchemaFile, State},
    },
    document::Pointer,
    finding::{Finding, Location, MessageParts, Report, Rule},
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

/// A difference between KindLM and speclens.
#[derive(Debug)]
enum Difference {
    /// `enabled: false` of `pii`.
    DisabledSearch,
    ArgumentsSchema,
    /// A JSON Schema with a draft that KindLM does not support.
    Draft {
        path: String,
        draft: &'static str,
    },
    /// `schemaFile` of a turn.
    SchemaOfTurn,
    CostGate,
    TooLong,
    TooManyModels,
    TooManyTests,
    /// An anchor with too many aliases.
    TooManyAliases {
        anchor: String,
    },
    /// Sections that no test needs.
    MissingSections(Vec<&'static str>),
}

/// Checks a test without its files.
pub(crate) fn check_test(parts: &TestParts<'_>, report: &mut Report) {
    for expect in &parts.expects {
        let enabled = expect.node.find(&["guardrails", "pii", "enabled"]);
        if let Some(enabled) = enabled.filter(|enabled| enabled.bool() == Some(false)) {
            report.push(enabled.finding(Difference::DisabledSearch));
        }
    }
    if parts.asks_model {
        let files = parts.turns.iter().filter_map(|turn| turn.find(&["expect", "output", "schemaFile"]));
        files.for_each(|file| report.push(file.head_finding(Difference::SchemaOfTurn)));
    }
}

/// Checks the schema files of a test.
pub(crate) fn check_schemas(schemas: &[SchemaFile<'_>], report: &mut Report) {
    for file in schemas {
        match &file.state {
            State::Valid { draft, .. } if *draft != "draft-07" => {
                report.push(file.lint_node.finding(Difference::Draft { path: file.path.to_owned(), draft }));
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
            report.push(file.lint_node.head_finding(Difference::ArgumentsSchema));
        }
    }
}

/// Checks the sections other than `tests`, and the whole file.
pub(crate) fn check_root(root: &LintNode<'_>, report: &mut Report) {
    let document = root.node.document();
    if document.text().len_bytes() > MAX_LENGTH && document.text().len_utf16_cu() > MAX_LENGTH {
        report.push(root.head_finding(Difference::TooLong));
    }
    if let Some(models) = root.get("models").filter(|models| models.node.item_count() > MAX_MODELS) {
        report.push(models.head_finding(Difference::TooManyModels));
    }
    if let Some(gate) = root.find(&["gates", "costMaxUsd"]) {
        report.push(gate.head_finding(Difference::CostGate));
    }
    for (anchor, range) in document.aliases_beyond(MAX_ALIASES) {
        let at = document.pointer_at(range.start);
        report.push(Finding::new(Difference::TooManyAliases { anchor: anchor.to_string() }, at, range));
    }
}

/// Checks the number of tests, and the sections that KindLM always requires.
pub(crate) fn check_relations(suite: &SuiteFacts<'_>, report: &mut Report) {
    if suite.tests.len() > MAX_TESTS {
        let start = suite.tests.start(MAX_TESTS);
        let at = Pointer::root().key("tests").index(MAX_TESTS);
        report.push(Finding::new(Difference::TooManyTests, at, start..start));
    }
    if suite.tests.is_empty() || suite.first_prompt().is_some() {
        return;
    }
    let Some(first) = suite.lacking().next() else { return };
    let names = suite.lacking().map(|section| section.name).collect();
    let range = first.key.clone().unwrap_or_else(|| suite.root.head.clone());
    let at = first.key.as_ref().map_or_else(Pointer::root, |_| Pointer::root().key(first.name));
    report.push(Finding::new(Difference::MissingSections(names), at, range));
}

impl Rule for Difference {
    const CODE: Code = Code::UpstreamDiffers;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        match self {
            Difference::DisabledSearch => {
                MessageParts::new("KindLM searches for personal data despite `enabled: false`")
                    .note("speclens does not search")
            }
            Difference::ArgumentsSchema => {
                MessageParts::new("KindLM fails every `argsSchema` expectation with an internal error")
                    .note("speclens checks the arguments")
            }
            Difference::Draft { path, draft } => {
                MessageParts::new(format!("KindLM rejects `{path}`, a JSON Schema of {draft}"))
                    .note("KindLM supports only draft-07")
            }
            Difference::SchemaOfTurn => MessageParts::new("KindLM does not read `schemaFile` for a single reply")
                .note("it checks only that the reply is JSON"),
            Difference::CostGate => {
                MessageParts::new("KindLM skips `costMaxUsd` unless the `costGating` feature is enabled")
            }
            Difference::TooLong => MessageParts::new("KindLM rejects a file larger than 1 MB"),
            Difference::TooManyModels => {
                MessageParts::new(format!("KindLM rejects a file with more than {MAX_MODELS} models"))
            }
            Difference::TooManyTests => {
                MessageParts::new(format!("KindLM rejects a file with more than {MAX_TESTS} tests"))
            }
            Difference::TooManyAliases { anchor } => MessageParts::new(format!(
                "KindLM rejects a file in which `&{anchor}` is used {MAX_ALIASES} times or more"
            ))
            .help("write some of the values out"),
            Difference::MissingSections(names) => {
                let needed = if names.len() == 1 { "it" } else { "them" };
                MessageParts::new(format!("KindLM requires {}", all_of(names.iter().copied())))
                    .note(format!("no test in this file needs {needed}"))
            }
        }
    }
}

//! Expectations of KindLM that another value disables.

use crate::{
    dialect::kindlm::{
        parts::TestParts,
        schema_files::{SchemaFile, State},
    },
    finding::{MessageParts, Report},
    problem::Code,
};

/// Default maximum number of replies of a test.
const MAX_TURNS: f64 = 10.0;

/// Checks a test without its files.
pub(crate) fn check_test(parts: &TestParts<'_>, report: &mut Report) {
    if parts.asks_model {
        let most = parts.test.get("maxTurns").and_then(|most| most.number()).unwrap_or(MAX_TURNS);
        let is_behind = |index: usize| index as f64 >= most && most >= 1.0;
        for (_, turn) in parts.turns.iter().enumerate().filter(|(index, _)| is_behind(*index)) {
            let words = MessageParts::new("this reply is never checked")
                .note(format!("the conversation ends after reply {most}"))
                .help("raise `maxTurns`, or remove the reply");
            report.push(turn.head_problem(Code::Unchecked, words));
        }
    }
}

/// Checks the schema files of a test.
pub(crate) fn check_schemas(schemas: &[SchemaFile<'_>], report: &mut Report) {
    for file in schemas {
        let State::Valid { unchecked, .. } = &file.state else { continue };
        for format in unchecked {
            let words = MessageParts::new(format!("`format: {format}` in `{}` is not checked", file.path))
                .note("neither KindLM nor speclens supports this format")
                .help("use `pattern` instead");
            report.push(file.lint_node.problem(Code::Unchecked, words));
        }
    }
}

//! Template variables (`{{name}}`) in scripted gateways.

use std::borrow::Cow;

use crate::{
    json_schema::SpecFile,
    template::{expanded, trimmed_placeholders},
    template_syntax::{MissingValue, TemplateSyntax, Variable},
};

const FILES: &[SpecFile] = &[SpecFile::GATEWAY];

/// All variables.
const VARIABLES: &[Variable] = &[
    Variable { name: "run_id", docs: "The id of the run.", files: FILES },
    Variable { name: "session_key", docs: "The session key of the run.", files: FILES },
    Variable { name: "today", docs: "The date in UTC, such as `2026-05-14`.", files: FILES },
    Variable { name: "now", docs: "The current time in UTC, such as `2026-05-14T12:00:00Z`.", files: FILES },
];

/// Syntax of the templates.
pub const SYNTAX: TemplateSyntax = TemplateSyntax {
    word: "gateway",
    texts: "Scripted gateways: all strings",
    docs: "Spaces around a name are ignored. An unknown name is an error.",
    allows_blanks: true,
    variables: VARIABLES,
    known_values: &[],
    missing_value: Some(MissingValue { note: "the script is not played", elsewhere: None }),
};

/// Expands the placeholders of a text. Those without a value are kept.
pub fn expand<'v>(text: &'v str, value_of: impl Fn(&str) -> Option<Cow<'v, str>>) -> String {
    expanded(text, &trimmed_placeholders(text), value_of)
}

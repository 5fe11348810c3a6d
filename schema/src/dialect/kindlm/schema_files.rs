//! JSON Schema files of expectations: resolves their paths and checks their content.

use std::{cell::RefCell, sync::Arc};

use crate::{
    check::{
        schema_file::{SchemaError, UserSchema},
        text::shortened,
    },
    files::{self, FileKind, Files, Resolved},
    lint_node::LintNode,
};

/// A schema file of an expectation.
#[derive(Debug)]
pub(crate) struct SchemaFile<'d> {
    pub(crate) lint_node: LintNode<'d>,
    pub(crate) path: &'d str,
    /// Whether the schema applies to the arguments of a call instead of the output.
    pub(crate) is_of_arguments: bool,
    pub(crate) state: State,
}

/// Result of resolving a path.
#[derive(Clone, Debug)]
pub(crate) enum State {
    /// The path is empty.
    Unnamed,
    Escape(Escape),
    /// A link to a file that the editor does not read.
    Unread,
    NotAFile,
    /// No file at this path, which is normalized.
    Missing(String),
    Unreadable(String),
    /// Not a JSON Schema.
    Invalid(SchemaError),
    Valid {
        draft: &'static str,
        /// Formats that are not checked.
        unchecked: Vec<String>,
    },
}

/// A path outside of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escape {
    Absolute,
    Above,
}

/// Returns `schemaFile` and every `argsSchema` of a test. Those of turns are never read.
pub(crate) fn of_test<'d>(test: &LintNode<'d>, files: &dyn Files) -> Vec<SchemaFile<'d>> {
    let Some(expect) = test.get("expect") else { return Vec::new() };
    let output = expect.find(&["output", "schemaFile"]).filter(|file| file.text() != Some(""));
    let calls = expect.get("toolCalls").map(|calls| calls.items()).unwrap_or_default();
    let arguments = calls.iter().filter_map(|call| call.get("argsSchema"));
    let named =
        output.map(|lint_node| (lint_node, false)).into_iter().chain(arguments.map(|lint_node| (lint_node, true)));
    named
        .filter_map(|(lint_node, is_of_arguments)| {
            let path = lint_node.text()?;
            Some(SchemaFile { path, is_of_arguments, state: state(path, files), lint_node })
        })
        .collect()
}

fn state(path: &str, files: &dyn Files) -> State {
    if path.is_empty() {
        return State::Unnamed;
    }
    let normal = match normalize(path) {
        Ok(normal) => normal,
        Err(escape) => return State::Escape(escape),
    };
    match files.named(&normal) {
        Resolved::Found { kind: FileKind::File, .. } => {}
        Resolved::Found { kind: FileKind::Directory | FileKind::Other, .. } => return State::NotAFile,
        Resolved::Unread => return State::Unread,
        Resolved::Nothing => return State::Missing(normal),
    }
    match files.read_named(&normal) {
        Ok(content) => examined(&content),
        Err(reason) => State::Unreadable(reason),
    }
}

/// Returns the path without `.` and `..`, lexically: links are not followed.
fn normalize(path: &str) -> Result<String, Escape> {
    if files::is_absolute(path) {
        return Err(Escape::Absolute);
    }
    files::steps(path).map(|steps| steps.join("/")).ok_or(Escape::Above)
}

/// Checks the content of a schema file. Cached, because many tests name the same file.
fn examined(content: &Arc<[u8]>) -> State {
    const KEPT: usize = 64;
    thread_local! {
        static ANSWERS: RefCell<Vec<(Arc<[u8]>, State)>> = const { RefCell::new(Vec::new()) };
    }
    ANSWERS.with_borrow_mut(|answers| {
        if let Some((_, answer)) = answers.iter().find(|(known, _)| known == content) {
            return answer.clone();
        }
        let answer = examine(content);
        if answers.len() == KEPT {
            answers.remove(0);
        }
        answers.push((Arc::clone(content), answer.clone()));
        answer
    })
}

fn examine(content: &[u8]) -> State {
    match UserSchema::read(content) {
        Ok(schema) => State::Valid {
            draft: schema.draft(),
            unchecked: schema.unchecked_formats().iter().map(|format| shortened(format, 100)).collect(),
        },
        Err(error) => State::Invalid(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_below_the_directory() {
        assert_eq!(normalize("a/./b/../c.json").as_deref(), Ok("a/c.json"));
        assert_eq!(normalize("missing/../ok.json").as_deref(), Ok("ok.json"));
        for path in ["/a", "\\a", "c:/a", "C:a", "../a", "a/../../b"] {
            assert!(normalize(path).is_err(), "{path}");
        }
    }

    #[test]
    fn schemas_are_examined() {
        let wrong = |text: &str| matches!(examine(text.as_bytes()), State::Invalid(_));
        let object = examine(br#"{ "type": "object", "format": "iri" }"#);
        assert!(matches!(object, State::Valid { draft: "draft-07", unchecked } if unchecked == ["iri"]));
        assert!(wrong("{"));
        assert!(wrong("5"));
        assert!(wrong(r#"{ "type": "objekt" }"#));
        assert!(wrong(r##"{ "$ref": "#/definitions/nope" }"##));
        let other = examine(br#"{ "$schema": "https://json-schema.org/draft/2020-12/schema" }"#);
        assert!(matches!(other, State::Valid { draft: "draft 2020-12", .. }));
        assert!(wrong(r#"{ "$schema": "nonsense" }"#) && wrong(r#"{ "$schema": "" }"#));
    }
}

//! JSON Schema files of expectations: their paths and their content.

use std::{cell::RefCell, sync::Arc};

use crate::{
    check::{
        schema_file::{SchemaError, UserSchema},
        text::shortened,
    },
    files::{self, FileKind, Files, Resolved},
    finding::{MessageParts, Report},
    lint_node::LintNode,
    new_file::Template,
    problem::{Code, Severity},
    rules::missing_file::{Missing, other_kind},
};

pub(crate) const NEW: Template = Template::File(|_| include_str!("../new_file/schema.json.txt").to_owned());

/// What is said of a valid schema file: its draft, and the formats that are not checked.
type SchemaFacts = (&'static str, Vec<String>);

/// Checks `schemaFile` and every `argsSchema` of a test and its replies.
pub(crate) fn check(expects: &[LintNode<'_>], files: &dyn Files, report: &mut Report) {
    for expect in expects {
        let calls = expect.get("toolCalls").map(|calls| calls.items()).unwrap_or_default();
        let schemas = calls.iter().filter_map(|call| call.get("argsSchema"));
        for file in expect.find(&["output", "schemaFile"]).into_iter().chain(schemas) {
            check_path(&file, files, report);
        }
    }
}

fn check_path(file: &LintNode<'_>, files: &dyn Files, report: &mut Report) {
    let Some(path) = file.text().filter(|path| !path.is_empty()) else { return };
    if files::is_absolute(path) {
        let words = MessageParts::new(format!("`{path}` is an absolute path")).help("write it relative to this file");
        return report.push(file.problem(Code::InvalidPath, words));
    }
    // Links are not followed: `..` removes the step before it.
    let Some(normal) = files::steps(path).map(|steps| steps.join("/")) else {
        let words = MessageParts::new(format!("`{path}` is outside the directory of this file"))
            .help("move the file into that directory");
        return report.push(file.problem(Code::InvalidPath, words));
    };
    report.push(match files.named(&normal) {
        Resolved::Found { kind: FileKind::File, .. } => match files.read_named(&normal) {
            Ok(content) => return check_content(file, path, &content, report),
            Err(reason) => {
                let words = MessageParts::new(format!("`{path}` cannot be read: {reason}"));
                file.problem(Code::MissingFile, words)
            }
        },
        Resolved::Found { kind: FileKind::Directory | FileKind::Other, .. } => {
            other_kind(file, path, "JSON Schema file")
        }
        Resolved::Unread => {
            let words = MessageParts::new(format!("`{path}` is a link to a file outside the workspace"))
                .note("editors do not read it; `speclens check` and `speclens run` do");
            file.problem(Code::InvalidPath, words).with_severity(Severity::Warning)
        }
        Resolved::Nothing => Missing::of(path, &normal, FileKind::File, Some(NEW), files).at(file),
    });
}

fn check_content(file: &LintNode<'_>, path: &str, content: &Arc<[u8]>, report: &mut Report) {
    let (draft, unchecked) = match examined(content) {
        Ok(facts) => facts,
        Err(error) => {
            let words = MessageParts::new(format!("`{path}` cannot be used as a JSON Schema")).note(&error.message);
            let words = error.help.iter().copied().fold(words, MessageParts::help);
            return report.push(file.problem(Code::InvalidSchemaFile, words));
        }
    };
    for format in unchecked {
        let words = MessageParts::new(format!("`format: {format}` in `{path}` is not checked"))
            .note("neither KindLM nor speclens supports this format")
            .help("use `pattern` instead");
        report.push(file.problem(Code::Unchecked, words));
    }
    if draft != "draft-07" {
        let words = MessageParts::new(format!("KindLM rejects `{path}`, a JSON Schema of {draft}"))
            .note("KindLM supports only draft-07");
        report.push(file.problem(Code::UpstreamDiffers, words));
    }
}

/// Examines the content of a schema file. Cached, because many tests name the same file.
fn examined(content: &Arc<[u8]>) -> Result<SchemaFacts, SchemaError> {
    const KEPT: usize = 64;
    type Answer = (Arc<[u8]>, Result<SchemaFacts, SchemaError>);
    thread_local! {
        static ANSWERS: RefCell<Vec<Answer>> = const { RefCell::new(Vec::new()) };
    }
    ANSWERS.with_borrow_mut(|answers| {
        if let Some((_, answer)) = answers.iter().find(|(known, _)| known == content) {
            return answer.clone();
        }
        let answer = examine(content);
        if answers.len() == KEPT {
            drop(answers.remove(0));
        }
        answers.push((Arc::clone(content), answer.clone()));
        answer
    })
}

fn examine(content: &[u8]) -> Result<SchemaFacts, SchemaError> {
    let schema = UserSchema::read(content)?;
    let unchecked = schema.unchecked_formats().iter().map(|format| shortened(format, 100)).collect();
    Ok((schema.draft(), unchecked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_examined() {
        let wrong = |text: &str| examine(text.as_bytes()).is_err();
        let object = examine(br#"{ "type": "object", "format": "iri" }"#).unwrap();
        assert_eq!(object, ("draft-07", vec!["iri".to_owned()]));
        assert!(wrong("{"));
        assert!(wrong("5"));
        assert!(wrong(r#"{ "type": "objekt" }"#));
        assert!(wrong(r##"{ "$ref": "#/definitions/nope" }"##));
        let other = examine(br#"{ "$schema": "https://json-schema.org/draft/2020-12/schema" }"#).unwrap();
        assert_eq!(other.0, "draft 2020-12");
        assert!(wrong(r#"{ "$schema": "nonsense" }"#) && wrong(r#"{ "$schema": "" }"#));
    }
}

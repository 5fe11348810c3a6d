//! Files that expectations name: they exist below the suite's directory, and hold JSON Schemas.

use std::{cell::RefCell, sync::Arc};

use crate::{
    check::{schema_file::UserSchema, text::shortened},
    files::{FileKind, Files, Lead},
    new_file::{self, Template},
    problem::{Code, Fix, Problem, Severity},
    spot::Spot,
    words::nearest_file,
};

/// The `schemaFile` and every `argsSchema` of a test. Those of turns are never read.
pub(super) fn lint(test: &Spot<'_>, files: &dyn Files, problems: &mut Vec<Problem>) {
    if let Some(file) = test.find(&["expect", "output", "schemaFile"]) {
        lint_file(&file, files, problems);
    }
    for call in test.find(&["expect", "toolCalls"]).map(|calls| calls.items()).unwrap_or_default() {
        if let Some(file) = call.get("argsSchema") {
            if file.text() == Some("") {
                let problem = file.problem(Code::OutOfRange, "`argsSchema` must not be empty");
                problems.push(problem.with_help("name a JSON Schema file"));
                continue;
            }
            lint_file(&file, files, problems);
            let message = "KindLM fails every `argsSchema` with an internal error";
            let problem = Problem::new(Code::UpstreamDiffers, file.at.clone(), file.head(), message);
            problems.push(problem.with_note("speclens checks the arguments"));
        }
    }
}

/// Why a file outside of the workspace is not checked.
const UNREAD: &str = "the editor does not read it; `speclens check` and `speclens run` on the command line do";

fn lint_file(spot: &Spot<'_>, files: &dyn Files, problems: &mut Vec<Problem>) {
    let Some(path) = spot.text().filter(|path| !path.is_empty()) else { return };
    let normal = match normalize(path) {
        Ok(normal) => normal,
        Err(escape) => {
            let (what, help) = match escape {
                Escape::Absolute => ("is an absolute path", "write it relative to the directory of this file"),
                Escape::Above => ("is outside of the directory of this file", "move the file into that directory"),
            };
            problems.push(spot.problem(Code::InvalidPath, format!("`{path}` {what}")).with_help(help));
            return;
        }
    };
    match files.named(&normal) {
        Lead::Found { kind: FileKind::File, .. } => {}
        Lead::Found { kind: FileKind::Directory | FileKind::Other, .. } => {
            let problem = spot.problem(Code::MissingFile, format!("`{path}` is not a file"));
            problems.push(problem.with_help("name a JSON Schema file"));
            return;
        }
        Lead::Unread => {
            let message = format!("`{path}` is a link to a file outside of the workspace");
            let problem = spot.problem(Code::InvalidPath, message).with_severity(Severity::Warning);
            problems.push(problem.with_note(UNREAD));
            return;
        }
        Lead::Nothing => {
            problems.push(missing(spot, path, &normal, files));
            return;
        }
    }
    let content = match files.read_named(&normal) {
        Ok(content) => content,
        Err(reason) => {
            problems.push(spot.problem(Code::MissingFile, format!("`{path}` cannot be read: {reason}")));
            return;
        }
    };
    match examined(&content) {
        Examined::Invalid(reason) => {
            problems.push(spot.problem(Code::InvalidSchemaFile, format!("`{path}` cannot be used: {reason}")));
        }
        Examined::Valid { draft, unchecked } => {
            if draft != "draft-07" {
                let message = format!("KindLM rejects `{path}`, a JSON Schema of {draft}");
                let problem = Problem::new(Code::UpstreamDiffers, spot.at.clone(), spot.range(), message);
                problems.push(problem.with_note("it knows draft-07 only"));
            }
            for format in unchecked {
                let message = format!("`format: {format}` in `{path}` is not checked");
                let note = "neither KindLM nor speclens knows the format";
                let problem = spot.problem(Code::Unchecked, message).with_note(note);
                problems.push(problem.with_help("use `pattern` instead"));
            }
        }
    }
}

/// Where a path leads that no file of the suite has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Escape {
    Absolute,
    Above,
}

/// The path without `.` and `..`, as text: links are not followed.
fn normalize(path: &str) -> Result<String, Escape> {
    let drive = path.as_bytes().first().is_some_and(u8::is_ascii_alphabetic) && path.as_bytes().get(1) == Some(&b':');
    if path.starts_with(['/', '\\']) || drive {
        return Err(Escape::Absolute);
    }
    let mut steps: Vec<&str> = Vec::new();
    for step in path.split('/') {
        match step {
            "" | "." => {}
            ".." if steps.pop().is_none() => return Err(Escape::Above),
            ".." => {}
            step => steps.push(step),
        }
    }
    Ok(steps.join("/"))
}

fn missing(spot: &Spot<'_>, path: &str, normal: &str, files: &dyn Files) -> Problem {
    let (directory, name) = normal.rsplit_once('/').unwrap_or(("", normal));
    let names: Vec<String> =
        files.list(directory).into_iter().filter(|(_, kind)| *kind == FileKind::File).map(|(name, _)| name).collect();
    let prefix = path.strip_suffix(name).unwrap_or_default();
    let Some(near) = nearest_file(name, names.iter().map(String::as_str)) else {
        let message = format!("`{path}` does not exist below `{}`", files.root().display());
        let mut problem = spot.problem(Code::MissingFile, message);
        problem.fixes.extend(new_file::creation(normal, Template::JsonSchema, files));
        return problem;
    };
    let help = format!("change it to `{prefix}{near}`");
    let mut problem = spot.problem(Code::MissingFile, format!("`{path}` does not exist")).with_help(&help);
    problem
        .fixes
        .extend(spot.replaced(crate::shape::scalar(&format!("{prefix}{near}"))).map(|edits| Fix::guess(help, edits)));
    problem.fixes.extend(new_file::creation(normal, Template::JsonSchema, files));
    problem
}

/// What a schema file is.
#[derive(Clone, Debug)]
enum Examined {
    Invalid(String),
    Valid { draft: &'static str, unchecked: Vec<String> },
}

/// What a schema file is. Many tests name the same file, so the last answers are kept.
fn examined(content: &Arc<[u8]>) -> Examined {
    const KEPT: usize = 64;
    thread_local! {
        static ANSWERS: RefCell<Vec<(Arc<[u8]>, Examined)>> = const { RefCell::new(Vec::new()) };
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

fn examine(content: &[u8]) -> Examined {
    match UserSchema::read(content) {
        Ok(schema) => Examined::Valid {
            draft: schema.draft(),
            unchecked: schema.unchecked_formats().iter().map(|format| shortened(format, 100)).collect(),
        },
        Err(error) => Examined::Invalid(error.message),
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
        let wrong = |text: &str| matches!(examine(text.as_bytes()), Examined::Invalid(_));
        let object = examine(br#"{ "type": "object", "format": "iri" }"#);
        assert!(matches!(object, Examined::Valid { draft: "draft-07", unchecked } if unchecked == ["iri"]));
        assert!(wrong("{"));
        assert!(wrong("5"));
        assert!(wrong(r#"{ "type": "objekt" }"#));
        assert!(wrong(r##"{ "$ref": "#/definitions/nope" }"##));
        let other = examine(br#"{ "$schema": "https://json-schema.org/draft/2020-12/schema" }"#);
        assert!(matches!(other, Examined::Valid { draft: "draft 2020-12", .. }));
        assert!(wrong(r#"{ "$schema": "nonsense" }"#) && wrong(r#"{ "$schema": "" }"#));
    }
}

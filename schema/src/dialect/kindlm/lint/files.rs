//! Files that claims name: they exist below the suite's directory, and hold JSON Schemas.

use std::{cell::RefCell, sync::Arc};

use serde_json::Value;

use crate::{
    files::{FileKind, Files},
    problem::{Code, Edit, Fix, Problem},
    spot::Spot,
    words::nearest,
};

/// The `schemaFile` and every `argsSchema` of a test. Those of turns are never read.
pub(super) fn lint(test: &Spot<'_>, files: &dyn Files, problems: &mut Vec<Problem>) {
    if let Some(file) = test.find(&["expect", "output", "schemaFile"]) {
        lint_file(&file, files, problems);
    }
    for call in test.find(&["expect", "toolCalls"]).map(|calls| calls.items()).unwrap_or_default() {
        if let Some(file) = call.get("argsSchema") {
            lint_file(&file, files, problems);
            let message =
                "the original program fails every `argsSchema` with an internal error; here the arguments are checked";
            problems.push(file.head_problem(Code::UpstreamDiffers, message));
        }
    }
}

fn lint_file(spot: &Spot<'_>, files: &dyn Files, problems: &mut Vec<Problem>) {
    let Some(path) = spot.text().filter(|path| !path.is_empty()) else { return };
    let normal = match normalize(path) {
        Ok(normal) => normal,
        Err(reason) => {
            problems.push(spot.problem(Code::InvalidPath, format!("`{path}` {reason}")));
            return;
        }
    };
    match files.kind(&normal) {
        Some(FileKind::File) => {}
        Some(FileKind::Directory | FileKind::Other) => {
            problems.push(spot.problem(Code::MissingFile, format!("`{path}` is no file: name a JSON Schema file")));
            return;
        }
        None => {
            problems.push(missing(spot, path, &normal, files));
            return;
        }
    }
    let content = match files.read(&normal) {
        Ok(content) => content,
        Err(reason) => {
            problems.push(spot.problem(Code::MissingFile, format!("`{path}` cannot be read: {reason}")));
            return;
        }
    };
    match schema_mistake(&content) {
        None => {}
        Some(Mistake::Invalid(reason)) => {
            problems.push(spot.problem(Code::InvalidSchemaFile, format!("`{path}` {reason}")));
        }
        Some(Mistake::OtherDraft(draft)) => {
            let message =
                format!("`{path}` is written for {draft}: the original program knows draft-07 only, and fails");
            problems.push(spot.problem(Code::UpstreamDiffers, message));
        }
    }
}

/// The path without `.` and `..`, as text: links are not followed.
fn normalize(path: &str) -> Result<String, &'static str> {
    let drive = path.as_bytes().first().is_some_and(u8::is_ascii_alphabetic) && path.as_bytes().get(1) == Some(&b':');
    if path.starts_with(['/', '\\']) || drive {
        return Err("is absolute: write it relative to the suite's directory");
    }
    let mut steps: Vec<&str> = Vec::new();
    for step in path.split('/') {
        match step {
            "" | "." => {}
            ".." if steps.pop().is_none() => return Err("leaves the suite's directory: move the file below it"),
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
    let Some(near) = nearest(name, names.iter().map(String::as_str)) else {
        let message = format!("`{path}` does not exist below `{}`", files.root().display());
        return spot.problem(Code::MissingFile, message);
    };
    let message = format!("`{path}` does not exist: did you mean `{prefix}{near}`?");
    let problem = spot.problem(Code::MissingFile, message);
    if !spot.is_own() {
        return problem;
    }
    let edits = vec![Edit { range: spot.node.own_range(), text: crate::shape::scalar(&format!("{prefix}{near}")) }];
    problem.with_fix(Fix::guess(format!("Change to `{prefix}{near}`"), edits))
}

#[derive(Clone, Debug)]
enum Mistake {
    Invalid(String),
    OtherDraft(&'static str),
}

/// A file's content, and what is wrong with it.
type Answer = (Arc<[u8]>, Option<Mistake>);

/// What is wrong with a schema file. Many tests name the same file, so the last answers are kept.
fn schema_mistake(content: &Arc<[u8]>) -> Option<Mistake> {
    const KEPT: usize = 64;
    thread_local! {
        static ANSWERS: RefCell<Vec<Answer>> = const { RefCell::new(Vec::new()) };
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

fn examine(content: &[u8]) -> Option<Mistake> {
    let text = match std::str::from_utf8(content) {
        Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text),
        Err(_) => return Some(Mistake::Invalid("is no text".to_owned())),
    };
    let schema: Value = match serde_json::from_str(text) {
        Ok(schema) => schema,
        Err(error) => return Some(Mistake::Invalid(format!("is no JSON: {error}"))),
    };
    if !schema.is_object() {
        return Some(Mistake::Invalid("is no JSON Schema: a schema is an object".to_owned()));
    }
    let draft = schema.get("$schema").and_then(Value::as_str).map_or(Some("draft-07"), draft_of);
    let valid = match draft {
        Some("draft-07") => jsonschema::draft7::meta::validate(&schema),
        Some(_) => jsonschema::meta::validate(&schema),
        None => return Some(Mistake::OtherDraft("an unknown draft")),
    };
    if let Err(error) = valid {
        return Some(Mistake::Invalid(reason(&error)));
    }
    let options = jsonschema::options();
    let options = if draft == Some("draft-07") { options.with_draft(jsonschema::Draft::Draft7) } else { options };
    if let Err(error) = options.build(&schema) {
        return Some(Mistake::Invalid(format!("is no JSON Schema: {error}")));
    }
    match draft {
        Some("draft-07") | None => None,
        Some(other) => Some(Mistake::OtherDraft(other)),
    }
}

/// What the schema of schemas finds wrong, in words.
fn reason(error: &jsonschema::ValidationError<'_>) -> String {
    let at = error.instance_path().as_str();
    let what = match error.kind() {
        jsonschema::error::ValidationErrorKind::AnyOf { .. } if at.ends_with("/type") => {
            let found = error.instance();
            format!(
                "{found} is no type, which is `array`, `boolean`, `integer`, `null`, `number`, `object` or `string`"
            )
        }
        jsonschema::error::ValidationErrorKind::AnyOf { .. }
        | jsonschema::error::ValidationErrorKind::OneOfNotValid { .. } => "this value cannot stand here".to_owned(),
        _ => error.to_string(),
    };
    let at = if at.is_empty() { String::new() } else { format!(" at `{at}`") };
    format!("is no JSON Schema{at}: {what}")
}

/// The draft that a `$schema` names.
fn draft_of(address: &str) -> Option<&'static str> {
    let address = address.trim_end_matches('#').trim_start_matches("https://").trim_start_matches("http://");
    match address {
        "json-schema.org/draft-07/schema" => Some("draft-07"),
        "json-schema.org/draft-04/schema" => Some("draft-04"),
        "json-schema.org/draft-06/schema" => Some("draft-06"),
        "json-schema.org/draft/2019-09/schema" => Some("draft 2019-09"),
        "json-schema.org/draft/2020-12/schema" => Some("draft 2020-12"),
        _ => None,
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
        let wrong = |text: &str| matches!(examine(text.as_bytes()), Some(Mistake::Invalid(_)));
        assert!(examine(br#"{ "type": "object" }"#).is_none());
        assert!(wrong("{"));
        assert!(wrong("5"));
        assert!(wrong(r#"{ "type": "objekt" }"#));
        assert!(wrong(r##"{ "$ref": "#/definitions/nope" }"##));
        let other = examine(br#"{ "$schema": "https://json-schema.org/draft/2020-12/schema" }"#);
        assert!(matches!(other, Some(Mistake::OtherDraft("draft 2020-12"))));
    }
}

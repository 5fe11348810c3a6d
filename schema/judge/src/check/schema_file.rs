//! JSON Schema files of users: compiled without access to anything else, validated in bounded time.

mod adapt;
mod formats;
mod places;

use std::collections::BTreeSet;

use jsonschema::{
    Draft, Keyword, PatternOptions, ValidationError, ValidationOptions, Validator, error::ValidationErrorKind,
};
use serde_json::{Map, Value};

use crate::{
    mask::has_hidden,
    seen::{Seen, Why},
    text::MASKED,
};
use speclens_yaml::Pointer;

pub use adapt::SchemaError;
pub use places::RulePlaces;

use self::{adapt::Adapted, formats::Format};
use super::{
    json::{self, JsonErrorKind},
    text::shortened,
};

#[derive(Debug)]
pub struct UserSchema {
    validator: Validator,
    draft: Draft,
    unchecked: BTreeSet<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaMismatch {
    pub at: Pointer,
    pub rule: Pointer,
    pub message: String,
}

const MAX_STEPS: usize = 1 << 21;

const MAX_MISMATCHES: usize = 50;

impl UserSchema {
    pub fn read(bytes: &[u8]) -> Result<UserSchema, SchemaError> {
        let text = std::str::from_utf8(bytes).map_err(|_| SchemaError {
            message: "it is not UTF-8".to_owned(),
            help: None,
            is_json: false,
        })?;
        let schema = json::parse(text.strip_prefix('\u{feff}').unwrap_or(text)).map_err(|error| {
            let message = match error.kind {
                JsonErrorKind::Limit => format!("it cannot be read: {error}"),
                JsonErrorKind::Syntax => format!("it is not valid JSON: {error}"),
            };
            SchemaError { message, help: None, is_json: false }
        })?;
        if !schema.is_object() {
            return Err(SchemaError::of("a JSON Schema file must contain an object")
                .with_help("write an object, such as `{ \"type\": \"object\" }`"));
        }
        UserSchema::compile(&schema)
    }

    /// Compiles a schema. The default draft is Draft-07. Formats and `nullable` behave as in KindLM's validator;
    /// references may lead only to the schema itself and to the drafts' own schemas.
    pub fn compile(schema: &Value) -> Result<UserSchema, SchemaError> {
        let draft = match schema.get("$schema") {
            None => Draft::Draft7,
            Some(Value::String(named)) => draft(named).ok_or_else(|| {
                SchemaError::of(format!("unknown draft `{}` in `$schema`", shortened(named, 100)))
                    .with_help("write `http://json-schema.org/draft-07/schema#`")
            })?,
            Some(_) => return Err(SchemaError::of("`$schema` must be a string")),
        };
        if !matches!(schema, Value::Object(_) | Value::Bool(_)) {
            return Err(SchemaError::of("a JSON Schema must be an object or a boolean"));
        }
        let is_old = matches!(draft, Draft::Draft4 | Draft::Draft6 | Draft::Draft7);
        let Adapted { schema, unchecked, references } = Adapted::new(schema, is_old)?;
        let validator = options(draft).build(&schema).map_err(|error| compile_error(&error, &schema, &references))?;
        Ok(UserSchema { validator, draft, unchecked })
    }

    /// Returns the formats in the schema that neither speclens nor KindLM checks.
    pub fn unchecked_formats(&self) -> &BTreeSet<String> {
        &self.unchecked
    }

    pub fn draft(&self) -> &'static str {
        match self.draft {
            Draft::Draft4 => "draft-04",
            Draft::Draft6 => "draft-06",
            Draft::Draft7 => "draft-07",
            Draft::Draft201909 => "draft 2019-09",
            Draft::Draft202012 => "draft 2020-12",
            _ => "an unknown draft",
        }
    }

    /// Validates a value: returns the reasons why it is not valid, only the first ones if there are very many. The
    /// result is unknown if a part of the value is hidden, or if a pattern took too many steps.
    pub fn validate(&self, instance: &Value) -> Seen<Vec<SchemaMismatch>> {
        if has_hidden(instance) {
            return Err(Why::unknown(MASKED));
        }
        let mut mismatches = Vec::new();
        for error in self.validator.iter_errors(instance) {
            if matches!(error.kind(), ValidationErrorKind::BacktrackLimitExceeded { .. }) {
                let place = error.schema_path();
                return Err(Why::unknown(format!("the pattern at {place} of the schema took too many steps")));
            }
            if mismatches.len() < MAX_MISMATCHES {
                mismatches.push(SchemaMismatch {
                    at: Pointer::parse(error.instance_path().as_str()),
                    rule: Pointer::parse(error.schema_path().as_str()),
                    message: shortened(&error.to_string(), 300),
                });
            }
        }
        Ok(mismatches)
    }
}

fn options(draft: Draft) -> ValidationOptions<'static> {
    let mut options = jsonschema::options()
        .with_draft(draft)
        .offline()
        .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(MAX_STEPS).size_limit(1 << 20))
        .with_keyword("format", |_: &Map<String, Value>, name: &Value, _| {
            let name = name.as_str().unwrap_or_default();
            Ok(Box::new(FormatRule { name: name.to_owned(), format: Format::of(name) }) as Box<dyn for<'i> Keyword<'i>>)
        });
    // Annotations about the content of a string are not checked.
    for annotation in ["contentEncoding", "contentMediaType"] {
        options = options.with_keyword(annotation, |_: &Map<String, Value>, _: &Value, _| {
            Ok(Box::new(FormatRule { name: String::new(), format: None }) as Box<dyn for<'i> Keyword<'i>>)
        });
    }
    options
}

struct FormatRule {
    name: String,
    format: Option<Format>,
}

impl<'i> Keyword<'i> for FormatRule {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        if Keyword::is_valid(self, instance) {
            return Ok(());
        }
        Err(ValidationError::custom(format!("{} is not a \"{}\"", json::text(instance), self.name)))
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        self.format.is_none_or(|format| format.takes(instance))
    }
}

fn compile_error(error: &ValidationError<'_>, schema: &Value, references: &[(Pointer, String)]) -> SchemaError {
    let at = Pointer::parse(error.instance_path().as_str());
    let what = match error.kind() {
        ValidationErrorKind::Referencing(_) => return unresolved(schema, references),
        ValidationErrorKind::AnyOf { .. } if at.as_str().ends_with("/type") => format!(
            "{} is not one of the types `array`, `boolean`, `integer`, `null`, `number`, `object` and `string`",
            error.instance()
        ),
        ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::OneOfNotValid { .. } => {
            "this value is not allowed here".to_owned()
        }
        _ => error.to_string(),
    };
    SchemaError::of(shortened(&format!("{}: {what}", adapt::place(&at)), 400))
}

fn unresolved(schema: &Value, references: &[(Pointer, String)]) -> SchemaError {
    let inside = |reference: &str| -> bool {
        match reference.strip_prefix('#') {
            Some("") => true,
            Some(pointer) if pointer.starts_with('/') => schema.pointer(pointer).is_some(),
            Some(_) | None => false,
        }
    };
    let outside = |reference: &&(Pointer, String)| !reference.1.starts_with('#') && draft(&reference.1).is_none();
    if let Some((at, reference)) = references.iter().find(outside) {
        let reference = shortened(reference, 100);
        let message =
            format!("{}: `{reference}` is not in the schema file, and other files are not read", adapt::place(at));
        return SchemaError::of(message).with_help("copy the definitions into the schema file");
    }
    match references.iter().find(|(_, reference)| reference.starts_with('#') && !inside(reference)) {
        Some((at, reference)) => {
            SchemaError::of(format!("{}: the schema file has no `{}`", adapt::place(at), shortened(reference, 100)))
        }
        None => SchemaError::of("the target of a `$ref` does not exist"),
    }
}

fn draft(named: &str) -> Option<Draft> {
    match named.trim_end_matches('#').trim_start_matches("https://").trim_start_matches("http://") {
        "json-schema.org/draft-04/schema" => Some(Draft::Draft4),
        "json-schema.org/draft-06/schema" => Some(Draft::Draft6),
        "json-schema.org/draft-07/schema" | "json-schema.org/schema" => Some(Draft::Draft7),
        "json-schema.org/draft/2019-09/schema" => Some(Draft::Draft201909),
        "json-schema.org/draft/2020-12/schema" => Some(Draft::Draft202012),
        _ => None,
    }
}

impl SchemaMismatch {
    /// Returns one line, with the place in the value: `data/n: …`.
    pub fn line(&self) -> String {
        format!("data{}: {}", self.at, self.message)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::UserSchema;

    #[track_caller]
    fn check(schema: Value, instance: Value, lines: &[&str]) {
        let answer = UserSchema::compile(&schema).unwrap().validate(&instance);
        let found = match &answer {
            Ok(mismatches) => mismatches.iter().map(|it| it.line()).collect(),
            Err(why) => vec![why.reason().to_owned()],
        };
        assert_eq!(found, lines);
    }

    #[track_caller]
    fn check_refused(schema: Value, part: &str) {
        let error = UserSchema::compile(&schema).unwrap_err();
        assert!(error.message.contains(part), "{error}");
    }

    #[test]
    fn every_error_has_its_place() {
        let schema = json!({"type": "object", "required": ["n"], "properties": {"s": {"enum": ["ok"]}}});
        check(schema.clone(), json!({"n": 1, "s": "ok"}), &[]);
        check(
            schema,
            json!({"s": "bad"}),
            &[r#"data: "n" is a required property"#, r#"data/s: "bad" is not one of "ok""#],
        );
    }

    #[test]
    fn draft_07_is_assumed_and_others_are_honored() {
        let tuple = json!({"items": [{"type": "integer"}]});
        check(tuple.clone(), json!(["x"]), &[r#"data/0: "x" is not of type "integer""#]);
        let mut newer =
            json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "prefixItems": [{"type": "integer"}]});
        check(newer.clone(), json!(["x"]), &[r#"data/0: "x" is not of type "integer""#]);
        newer["$schema"] = json!("http://json-schema.org/draft-07/schema#");
        check(newer, json!(["x"]), &[]);
        check_refused(json!({"$schema": "https://example.com/mine"}), "unknown draft");
    }

    #[test]
    fn formats_are_checked() {
        check(json!({"format": "email"}), json!("nope"), &[r#"data: "nope" is not a "email""#]);
        check(json!({"format": "uuid"}), json!("nope"), &[r#"data: "nope" is not a "uuid""#]);
        check(json!({"format": "of-my-own"}), json!("nope"), &[]);
    }

    #[test]
    fn schemas_mean_what_the_original_takes_them_for() {
        let beside = json!({"$ref": "#/definitions/q", "definitions": {"q": {"type": "string"}}, "maxLength": 1});
        check(beside.clone(), json!("a"), &[]);
        check(beside, json!("ab"), &[r#"data: "ab" is longer than 1 character"#]);
        let both =
            json!({"$ref": "#/definitions/q", "allOf": [{"minLength": 2}], "definitions": {"q": {"type": "string"}}});
        check(both.clone(), json!("a"), &[r#"data: "a" is shorter than 2 characters"#]);
        check(both, json!(1), &[r#"data: 1 is not of type "string""#]);
        // A property of this name is not a reference.
        check(json!({"properties": {"$ref": {"type": "string"}}}), json!({"$ref": "x"}), &[]);
        let nullable = json!({"type": "string", "nullable": true});
        check(nullable.clone(), json!(null), &[]);
        check(nullable, json!(1), &[r#"data: 1 is not of types "null", "string""#]);
        check(
            json!({"enum": [{"type": "string", "nullable": true}]}),
            json!({"type": "string", "nullable": true}),
            &[],
        );
        check(json!({"contentMediaType": "application/json", "contentEncoding": "base64"}), json!("{"), &[]);
        check(json!({"format": "int32"}), json!(1.5), &[r#"data: 1.5 is not a "int32""#]);
        let schema = UserSchema::compile(&json!({"items": {"format": "iri"}, "format": "date"})).unwrap();
        assert_eq!(schema.unchecked_formats().iter().collect::<Vec<_>>(), ["iri"]);
    }

    #[test]
    fn invalid_schemas_are_refused_with_a_reason() {
        check_refused(
            json!({"properties": {"day": {"type": "string", "format": "date", "formatMinimum": "2024-01-01"}}}),
            "at `/properties/day`: `formatMinimum` is not supported",
        );
        check_refused(json!({"type": "strng"}), "at `/type`: \"strng\" is not one of the types `array`");
        check_refused(
            json!({"$ref": "#/definitions/missing"}),
            "at `/$ref`: the schema file has no `#/definitions/missing`",
        );
        for elsewhere in ["https://example.com/other.json", "file:///etc/passwd", "other.json", "other.json#/a"] {
            let message = format!("at `/items/$ref`: `{elsewhere}` is not in the schema file, and other files");
            check_refused(json!({"items": {"$ref": elsewhere}}), &message);
        }
        check_refused(json!({"nullable": true}), "at the top: `nullable` has no `type`");
        check_refused(json!({"type": "null", "nullable": false}), "contradicts");
        let deep = (0..200).fold(json!({}), |inner, _| json!({"items": inner}));
        check_refused(deep, "more than 128 levels deep");
        check_refused(json!(null), "must be an object");
        check_refused(json!({"pattern": "("}), "");
        check(json!(false), json!(1), &["data: False schema does not allow 1"]);
    }

    #[test]
    fn a_pattern_cannot_run_for_ever() {
        let schema = UserSchema::compile(&json!({"pattern": "^(?:(a+)\\1?)+b$"})).unwrap();
        let answer = schema.validate(&json!("a".repeat(40) + "!"));
        assert!(answer.is_err_and(|why| why.reason().contains("too many steps")));
    }

    #[test]
    fn value_with_a_hidden_part_is_not_judged() {
        let hidden = |value: Value| -> Value {
            serde_json::from_str(&value.to_string().replace('#', &crate::mask::MASK_CHARACTER.to_string())).unwrap()
        };
        for value in [json!({"key": "sk-####"}), json!({"####": 1}), json!([["#"]])] {
            check(json!({}), hidden(value), &[crate::text::MASKED]);
        }
    }

    #[test]
    fn files_are_read_as_json() {
        assert!(UserSchema::read(b"\xef\xbb\xbf{}").is_ok());
        assert!(UserSchema::read(b"{,").unwrap_err().message.starts_with("it is not valid JSON: key must be a string"));
        assert!(UserSchema::read(b"\xff").is_err());
    }
}

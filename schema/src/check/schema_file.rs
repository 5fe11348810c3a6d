//! JSON Schema files of users: compiled without looking anywhere else, validated in bounded time.

mod hidden;

use std::{fmt, sync::OnceLock};

use jsonschema::{Draft, PatternOptions, ValidationError, ValidationOptions, Validator, error::ValidationErrorKind};
use serde_json::Value;

use crate::{document::Pointer, mask::has_hidden};

use super::{json, text::shortened};

/// A compiled schema.
#[derive(Debug)]
pub struct UserSchema {
    validator: Validator,
    /// For values of which parts are hidden; made when the first one comes.
    cautious: OnceLock<Option<hidden::Cautious>>,
    schema: Value,
    draft: Draft,
}

/// Why a schema cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    /// What is wrong and where, as a lower-case sentence without a final period.
    pub message: String,
}

/// What a schema says about a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemaAnswer {
    /// It is valid.
    Valid,
    /// It is not, for these reasons (the first ones of very many).
    Invalid(Vec<SchemaMismatch>),
    /// A pattern took too many steps, so there is no answer.
    GaveUp(String),
    /// It depends on what is hidden.
    Hidden,
}

/// One reason why a value is not valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaMismatch {
    /// The place in the value.
    pub at: Pointer,
    /// The place of the rule in the schema.
    pub rule: Pointer,
    /// What is wrong.
    pub message: String,
}

/// A pattern of a schema may take as many steps for one text.
const STEPS: usize = 1 << 21;

/// As many reasons are given.
const MOST_MISMATCHES: usize = 50;

impl UserSchema {
    /// Reads and compiles the content of a schema file.
    pub fn read(bytes: &[u8]) -> Result<UserSchema, SchemaError> {
        let text =
            std::str::from_utf8(bytes).map_err(|_| SchemaError { message: "the file is not UTF-8".to_owned() })?;
        let schema = json::parse(text.strip_prefix('\u{feff}').unwrap_or(text))
            .map_err(|error| SchemaError { message: format!("the file is not JSON: {error}") })?;
        UserSchema::compile(&schema)
    }

    /// Compiles a schema. Draft-07 unless it names another draft; formats are checked, unknown ones ignored;
    /// references may lead to places in the schema itself and to the drafts' own schemas, nowhere else.
    pub fn compile(schema: &Value) -> Result<UserSchema, SchemaError> {
        let draft = match schema.get("$schema") {
            None => Draft::Draft7,
            Some(Value::String(named)) => draft(named).ok_or_else(|| SchemaError {
                message: format!("`$schema` names no draft that is known here: `{named}`"),
            })?,
            Some(_) => return Err(SchemaError { message: "`$schema` must be a text".to_owned() }),
        };
        if !matches!(schema, Value::Object(_) | Value::Bool(_)) {
            return Err(SchemaError { message: "a JSON Schema must be an object or a boolean".to_owned() });
        }
        let validator = options(draft).build(schema).map_err(|error| {
            let place = error.instance_path().to_string();
            let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
            SchemaError { message: shortened(&format!("{place}{error}"), 300) }
        })?;
        Ok(UserSchema { validator, cautious: OnceLock::new(), schema: schema.clone(), draft })
    }

    /// Judges a value.
    pub fn validate(&self, instance: &Value) -> SchemaAnswer {
        if !has_hidden(instance) {
            return answer(self.validator.iter_errors(instance));
        }
        let make = || hidden::Cautious::new(self.draft, &self.schema);
        match self.cautious.get_or_init(make) {
            Some(cautious) => cautious.validate(instance),
            None => SchemaAnswer::Hidden,
        }
    }
}

/// What validates as the format says.
fn options(draft: Draft) -> ValidationOptions<'static> {
    let options = jsonschema::options()
        .with_draft(draft)
        .offline()
        .should_validate_formats(true)
        .should_ignore_unknown_formats(true)
        .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(STEPS).size_limit(1 << 20));
    if options.is_known_format(draft, "uuid") { options } else { options.with_format("uuid", is_uuid) }
}

fn answer<'i>(errors: impl Iterator<Item = ValidationError<'i>>) -> SchemaAnswer {
    let mut mismatches = Vec::new();
    for error in errors {
        if matches!(error.kind(), ValidationErrorKind::BacktrackLimitExceeded { .. }) {
            return SchemaAnswer::GaveUp(format!(
                "the pattern at {} of the schema took too many steps",
                error.schema_path()
            ));
        }
        if mismatches.len() < MOST_MISMATCHES {
            mismatches.push(SchemaMismatch {
                at: Pointer::parse(error.instance_path().as_str()),
                rule: Pointer::parse(error.schema_path().as_str()),
                message: shortened(&error.to_string(), 300),
            });
        }
    }
    if mismatches.is_empty() { SchemaAnswer::Valid } else { SchemaAnswer::Invalid(mismatches) }
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

fn is_uuid(text: &str) -> bool {
    let text = text.strip_prefix("urn:uuid:").unwrap_or(text);
    text.len() == 36
        && text.bytes().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

impl SchemaMismatch {
    /// One line, with the place in the value: `data/n: …`.
    pub fn line(&self) -> String {
        format!("data{}: {}", self.at, self.message)
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for SchemaError {}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{SchemaAnswer, UserSchema};

    #[track_caller]
    fn check(schema: Value, instance: Value, lines: &[&str]) {
        let answer = UserSchema::compile(&schema).unwrap().validate(&instance);
        let found = match &answer {
            SchemaAnswer::Valid => Vec::new(),
            SchemaAnswer::Invalid(mismatches) => mismatches.iter().map(|it| it.line()).collect(),
            SchemaAnswer::GaveUp(reason) => vec![reason.clone()],
            SchemaAnswer::Hidden => vec!["hidden".to_owned()],
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
    fn draft_07_is_assumed_and_others_are_honoured() {
        let tuple = json!({"items": [{"type": "integer"}]});
        check(tuple.clone(), json!(["x"]), &[r#"data/0: "x" is not of type "integer""#]);
        let mut newer =
            json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "prefixItems": [{"type": "integer"}]});
        check(newer.clone(), json!(["x"]), &[r#"data/0: "x" is not of type "integer""#]);
        newer["$schema"] = json!("http://json-schema.org/draft-07/schema#");
        check(newer, json!(["x"]), &[]);
        check_refused(json!({"$schema": "https://example.com/mine"}), "names no draft");
    }

    #[test]
    fn formats_are_checked() {
        check(json!({"format": "email"}), json!("nope"), &[r#"data: "nope" is not a "email""#]);
        check(json!({"format": "uuid"}), json!("nope"), &[r#"data: "nope" is not a "uuid""#]);
        check(json!({"format": "of-my-own"}), json!("nope"), &[]);
    }

    #[test]
    fn broken_schemas_are_refused_with_a_reason() {
        check_refused(json!({"type": "strng"}), "strng");
        check_refused(json!({"$ref": "#/definitions/missing"}), "missing");
        check_refused(json!({"$ref": "https://example.com/other.json"}), "example.com");
        check_refused(json!({"$ref": "file:///etc/passwd"}), "passwd");
        check_refused(json!(null), "must be an object");
        check_refused(json!({"pattern": "("}), "");
        check(json!(false), json!(1), &["data: False schema does not allow 1"]);
    }

    #[test]
    fn a_pattern_cannot_run_for_ever() {
        let schema = UserSchema::compile(&json!({"pattern": "^(?:(a+)\\1?)+b$"})).unwrap();
        let answer = schema.validate(&json!("a".repeat(40) + "!"));
        assert!(matches!(answer, SchemaAnswer::GaveUp(_)), "{answer:?}");
    }

    #[test]
    fn what_is_hidden_decides_only_what_looks_at_it() {
        let hidden = |value: Value| -> Value {
            serde_json::from_str(&value.to_string().replace('#', &crate::mask::HIDDEN.to_string())).unwrap()
        };
        let value = hidden(json!({"key": "sk-####", "n": 0, "list": ["###", "###"]}));
        let key = |rule: Value| json!({"properties": {"key": rule}});
        for schema in [
            key(json!({"pattern": "^sk"})),
            key(json!({"not": {"pattern": "^sk"}})),
            key(json!({"format": "email"})),
            key(json!({"enum": ["other", "sk-1234"]})),
            key(json!({"const": "sk-1234"})),
            key(json!({"minLength": 7})),
            key(json!({"maxLength": 5})),
            key(json!({"anyOf": [{"pattern": "x"}, {"type": "number"}]})),
            json!({"if": {"properties": {"key": {"pattern": "x"}}}, "then": {"properties": {"n": {"minimum": 1}}}}),
            json!({"properties": {"list": {"uniqueItems": true}}}),
            json!({"properties": {"list": {"contains": {"const": "abc"}}}}),
        ] {
            check(schema, value.clone(), &["hidden"]);
        }
        for schema in [
            key(json!({"type": "string", "minLength": 4, "maxLength": 7})),
            key(json!({"not": {"const": "pk-1234"}, "contentEncoding": "x"})),
            key(json!({"anyOf": [{"type": "string"}, {"pattern": "x"}]})),
            json!({"required": ["key"], "properties": {"list": {"minItems": 2}}}),
        ] {
            check(schema, value.clone(), &[]);
        }
        let both = json!({"properties": {"key": {"pattern": "^sk"}, "n": {"minimum": 1}}});
        check(both, value.clone(), &["data/n: 0 is less than the minimum of 1"]);
        let hidden_units = crate::mask::HIDDEN.to_string().repeat(4);
        let told = format!("data/key: \"sk-{hidden_units}\" is not one of \"pk-1234\"");
        check(key(json!({"enum": ["pk-1234"]})), value.clone(), &[&told]);
        check(json!({}), hidden(json!({"#": 1})), &["hidden"]);
    }

    #[test]
    fn files_are_read_as_json() {
        assert!(UserSchema::read(b"\xef\xbb\xbf{}").is_ok());
        assert!(UserSchema::read(b"{,").unwrap_err().message.starts_with("the file is not JSON: expected"));
        assert!(UserSchema::read(b"\xff").is_err());
    }
}

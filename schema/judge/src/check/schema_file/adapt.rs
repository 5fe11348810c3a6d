//! Adapts a schema to KindLM's validator, which differs from the standard: keywords next to a `$ref` hold, `nullable`
//! allows null, and only certain formats are known.

use std::{collections::BTreeSet, fmt};

use serde_json::{Value, json};

use super::formats::Format;
use speclens_yaml::Pointer;

/// The reason why a schema cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    /// The problem and its place, as a lower-case sentence without a final period.
    pub message: String,
    pub help: Option<&'static str>,
    /// Whether it was read as JSON, so it is a schema, but an invalid one.
    pub is_json: bool,
}

impl SchemaError {
    pub(super) fn of(message: impl Into<String>) -> SchemaError {
        SchemaError { message: message.into(), help: None, is_json: true }
    }

    pub(super) fn with_help(self, help: &'static str) -> SchemaError {
        SchemaError { help: Some(help), ..self }
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for SchemaError {}

#[derive(Debug)]
pub(super) struct Adapted {
    pub(super) schema: Value,
    pub(super) unchecked: BTreeSet<String>,
    /// Each `$ref`, with its place.
    pub(super) references: Vec<(Pointer, String)>,
}

const MAX_DEPTH: usize = 128;

impl Adapted {
    /// `is_old`: the draft ignores keywords next to a `$ref`.
    pub(super) fn new(schema: &Value, is_old: bool) -> Result<Adapted, SchemaError> {
        if depth(schema) > MAX_DEPTH {
            let message = format!("it is nested more than {MAX_DEPTH} levels deep, which is not supported");
            return Err(SchemaError::of(message));
        }
        let mut adapted = Adapted { schema: Value::Null, unchecked: BTreeSet::new(), references: Vec::new() };
        let mut schema = schema.clone();
        adapted.visit(&mut schema, &Pointer::root(), is_old)?;
        adapted.schema = schema;
        Ok(adapted)
    }

    fn visit(&mut self, schema: &mut Value, at: &Pointer, is_old: bool) -> Result<(), SchemaError> {
        if let Value::Array(items) = schema {
            for (index, item) in items.iter_mut().enumerate() {
                self.visit(item, &at.index(index), is_old)?;
            }
            return Ok(());
        }
        let Value::Object(members) = schema else { return Ok(()) };
        for (key, value) in members.iter_mut() {
            match key.as_str() {
                // Values, not keywords.
                "enum" | "const" | "default" | "examples" => {}
                // Names with a schema each.
                "properties" | "patternProperties" | "definitions" | "$defs" | "dependentSchemas" | "dependencies" => {
                    for (name, value) in value.as_object_mut().into_iter().flatten() {
                        self.visit(value, &at.key(key).key(name), is_old)?;
                    }
                }
                _ => self.visit(value, &at.key(key), is_old)?,
            }
        }
        if let Some(Value::String(format)) = members.get("format")
            && Format::of(format).is_none()
        {
            self.unchecked.insert(format.clone());
        }
        // KindLM compares dates and times by them; this validator does not, and a keyword must not vanish.
        let limits = ["formatMinimum", "formatMaximum", "formatExclusiveMinimum", "formatExclusiveMaximum"];
        if members.get("format").is_some_and(Value::is_string)
            && let Some(limit) = limits.into_iter().find(|limit| members.contains_key(*limit))
        {
            let message = format!("{}: `{limit}` is not supported", place(at));
            return Err(SchemaError::of(message).with_help("use `pattern` instead"));
        }
        if let Some(nullable) = members.get("nullable") {
            let may_be_null = *nullable == Value::Bool(true);
            let is_denied = *nullable == Value::Bool(false);
            match members.get_mut("type") {
                None => {
                    let message = format!("{}: `nullable` has no `type` next to it", place(at));
                    return Err(SchemaError::of(message).with_help("add `type`, or remove `nullable`"));
                }
                Some(types) => {
                    let mut all: Vec<Value> = match &*types {
                        Value::Array(types) => types.clone(),
                        one => vec![one.clone()],
                    };
                    let has_null = all.contains(&json!("null"));
                    if has_null && is_denied {
                        let message = format!("{}: the type `null` contradicts `nullable: false`", place(at));
                        return Err(SchemaError::of(message).with_help("remove one of the two"));
                    }
                    if !has_null && may_be_null {
                        all.push(json!("null"));
                        *types = Value::Array(all);
                    }
                }
            }
        }
        if let Some(Value::String(reference)) = members.get("$ref") {
            self.references.push((at.key("$ref"), reference.clone()));
            if is_old && members.len() > 1 {
                let alone = json!({ "$ref": reference });
                members.shift_remove("$ref");
                match members.get_mut("allOf") {
                    Some(Value::Array(all)) => all.push(alone),
                    Some(_) => {}
                    None => drop(members.insert("allOf".to_owned(), json!([alone]))),
                }
            }
        }
        Ok(())
    }
}

pub(super) fn place(at: &Pointer) -> String {
    if at.is_root() { "at the top".to_owned() } else { format!("at `{at}`") }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

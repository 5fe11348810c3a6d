//! The JSON Schema (2020-12) of each kind of file, generated from the types. It is used for validation here and in other
//! tools: the committed copies are in `schema/json/`, and optimized builds read those.

use schemars::{
    JsonSchema, Schema, generate::SchemaSettings, transform::RecursiveTransform, transform::transform_subschemas,
};
use serde_json::{Value, json};

pub use crate::spec_file::{
    Cases, DiscoveryRule, Empty, FileOwner, FilePatterns, Kind, SpecFile, SymbolName, SymbolSource,
};

/// Prefix of the `$id` of every schema: a name, not an address.
pub const BASE: &str = "urn:speclens:schema";

pub(crate) fn generate<T: JsonSchema>(file: SpecFile) -> Value {
    let generator = SchemaSettings::draft2020_12()
        .with_transform(close)
        .with_transform(RecursiveTransform(drop_number_formats))
        .with_transform(drop_null)
        .with_transform(RecursiveTransform(admit_null))
        .with_transform(RecursiveTransform(describe_in_markdown))
        .into_generator();
    let Value::Object(generated) = generator.into_root_schema_for::<T>().to_value() else {
        unreachable!("a type with fields has a schema with keywords");
    };
    let mut schema = serde_json::Map::new();
    schema.insert("$schema".to_owned(), generated["$schema"].clone());
    schema.insert("$id".to_owned(), format!("{BASE}:{}", file.as_str()).into());
    schema.insert("title".to_owned(), file.title().into());
    for (key, value) in generated {
        schema.entry(key).or_insert(value);
    }
    Value::Object(schema)
}

/// Allows only the declared keys in the types with keys, except in those with `x-open`.
fn close(root: &mut Schema) {
    let close_type = |keywords: &mut serde_json::Map<String, Value>| {
        let is_open = keywords.shift_remove("x-open").is_some() || keywords.contains_key("additionalProperties");
        let place = keywords.keys().position(|key| key == "type");
        if let Some(place) = place.filter(|_| keywords.contains_key("properties") && !is_open) {
            keywords.shift_insert(place + 1, "additionalProperties".to_owned(), false.into());
        }
    };
    if let Some(Value::Object(definitions)) = root.get_mut("$defs") {
        definitions.values_mut().filter_map(Value::as_object_mut).for_each(close_type);
    }
    close_type(root.ensure_object());
}

/// Repeats each description as Markdown for yaml-language-server, which escapes the signs of other descriptions.
fn describe_in_markdown(schema: &mut Schema) {
    if let Some(docs) = schema.get("description").cloned() {
        schema.insert("markdownDescription".to_owned(), docs);
    }
}

/// Drops formats such as `uint32`, which only Rust knows.
fn drop_number_formats(schema: &mut Schema) {
    schema.remove("format");
}

/// Disallows null for optional keys.
fn drop_null(schema: &mut Schema) {
    transform_subschemas(&mut drop_null, schema);
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(branches)) = schema.get_mut("anyOf") {
        branches.retain(|branch| branch.get("type") != Some(&json!("null")));
        if let [Value::Object(only)] = branches.as_slice() {
            let only = only.clone();
            schema.remove("anyOf");
            for (key, value) in only {
                schema.ensure_object().entry(key).or_insert(value);
            }
        }
    }
    if schema.get("default") == Some(&Value::Null) {
        schema.ensure_object().shift_remove("default");
    }
}

/// Allows null for fields with `x-null`, whatever their type, because the format reads null as absent.
fn admit_null(schema: &mut Schema) {
    if schema.remove("x-null").is_none() {
        return;
    }
    let members = std::mem::take(schema.ensure_object());
    let is_about_the_key =
        |key: &str| key.starts_with("x-") || ["description", "default", "examples", "deprecated"].contains(&key);
    let (mut own, rest): (serde_json::Map<_, _>, serde_json::Map<_, _>) =
        members.into_iter().partition(|(key, _)| is_about_the_key(key));
    own.insert("if".to_owned(), json!({ "type": "null" }));
    own.insert("else".to_owned(), Value::Object(rest));
    *schema.ensure_object() = own;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_is_a_schema() {
        for file in SpecFile::ALL {
            if let Err(error) = jsonschema::meta::validate(file.schema()) {
                panic!("{}: {error}", file.as_str());
            }
            jsonschema::validator_for(file.schema()).unwrap();
        }
    }

    /// Only keywords that validation, shapes and the reference support are generated.
    #[test]
    fn no_unknown_keyword_is_generated() {
        const KNOWN: &[&str] = &[
            "$defs", "$id", "$ref", "$schema", "additionalProperties", "allOf", "anyOf", "const", "contains",
            "default", "deprecated", "description", "else", "enum", "examples", "exclusiveMinimum", "if", "items",
            "markdownDescription", "maxProperties", "maximum", "minItems", "minLength", "minProperties", "minimum",
            "oneOf", "pattern", "properties", "propertyNames", "required", "then", "title", "type", "x-above",
            "x-advice", "x-arguments", "x-at-most", "x-claims", "x-compared", "x-defines", "x-exists", "x-expected",
            "x-file", "x-first-of", "x-forbids", "x-glob", "x-in-quotes", "x-inside", "x-literal", "x-looser",
            "x-model", "x-model-of", "x-name", "x-needed", "x-no-effect-with", "x-non-empty", "x-only",
            "x-other-names", "x-pattern", "x-position", "x-problems", "x-refers", "x-refuses", "x-resolved",
            "x-searches", "x-seen", "x-shares", "x-shell", "x-synonyms", "x-tags", "x-template", "x-template-names",
            "x-time", "x-unique", "x-unit",
        ];
        fn check(schema: &Value) {
            let Value::Object(keywords) = schema else { return };
            for (keyword, value) in keywords {
                assert!(KNOWN.contains(&keyword.as_str()), "{keyword}: {value}");
                match keyword.as_str() {
                    "properties" | "$defs" => value.as_object().unwrap().values().for_each(check),
                    "oneOf" | "allOf" => value.as_array().unwrap().iter().for_each(check),
                    "items" | "additionalProperties" | "if" | "then" | "else" | "contains" | "propertyNames" => {
                        check(value)
                    }
                    _ => assert_ne!(value, &json!(["string", "null"])),
                }
            }
        }
        SpecFile::ALL.iter().for_each(|file| check(file.schema()));
    }

    #[test]
    fn a_key_that_counts_as_absent_without_a_value_may_have_none() {
        let validator = jsonschema::validator_for(SpecFile::CLAWSPEC.schema()).unwrap();
        for (key, value) in [("observability", json!([])), ("gateway_auth_token", json!(1))] {
            assert!(validator.is_valid(&json!({ key: null })), "{key}");
            assert!(!validator.is_valid(&json!({ key: value })), "{key}");
        }
        assert!(!validator.is_valid(&json!({ "report_dir": null })));
    }

    #[test]
    fn a_key_without_a_value_is_wrong() {
        let validator = jsonschema::validator_for(SpecFile::KINDLM.schema()).unwrap();
        let mut suite = json!({ "kindlm": 1, "project": "p", "suite": { "name": "s" },
            "tests": [{ "name": "t", "command": "true", "expect": {} }] });
        assert!(validator.is_valid(&suite));
        for (section, value) in
            [("gates", Value::Null), ("defaults", json!({ "repeat": null })), ("compliance", Value::Null)]
        {
            suite[section] = value;
            assert!(!validator.is_valid(&suite), "{section}");
            suite.as_object_mut().unwrap().remove(section);
        }
    }
}

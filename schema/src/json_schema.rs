//! The JSON Schema (2020-12) of each kind of file, generated from the types. It validates here, and in any
//! other tool: the committed copies stand in `schema/json/`.

use std::sync::LazyLock;

use schemars::{
    JsonSchema, Schema, generate::SchemaSettings, transform::RecursiveTransform, transform::transform_subschemas,
};
use serde_json::{Value, json};

use crate::{dialect::Dialect, dialect::kindlm::config::Config, problem::Code, settings::Settings};

/// The beginning of the names by which the schemas are known. They are names, not addresses.
const BASE: &str = "urn:speclens:schema";

/// A kind of file that has a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpecFile {
    /// A suite: `kindlm.yaml`.
    KindLm,
    /// The settings of a workspace: `speclens.yaml`.
    Settings,
}

impl SpecFile {
    /// Every kind.
    pub const ALL: &'static [SpecFile] = &[SpecFile::KindLm, SpecFile::Settings];

    /// The suite file of a dialect.
    pub fn of(dialect: Dialect) -> SpecFile {
        match dialect {
            Dialect::KindLm => SpecFile::KindLm,
        }
    }

    /// The word that stands for the kind on the command line, and in the name of its schema.
    pub fn as_str(self) -> &'static str {
        match self {
            SpecFile::KindLm => "kindlm",
            SpecFile::Settings => "speclens",
        }
    }

    /// The kind with this word.
    pub fn parse(word: &str) -> Option<SpecFile> {
        SpecFile::ALL.iter().copied().find(|file| file.as_str() == word)
    }

    /// What the schema is called.
    pub fn title(self) -> &'static str {
        match self {
            SpecFile::KindLm => "KindLM suite",
            SpecFile::Settings => "speclens settings",
        }
    }

    /// The schema.
    pub fn schema(self) -> &'static Value {
        static KINDLM: LazyLock<Value> = LazyLock::new(|| generate::<Config>(SpecFile::KindLm));
        static SETTINGS: LazyLock<Value> = LazyLock::new(|| {
            let mut schema = generate::<Settings>(SpecFile::Settings);
            let codes: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
            schema["properties"]["severity"]["propertyNames"] = json!({ "enum": codes });
            schema
        });
        match self {
            SpecFile::KindLm => &KINDLM,
            SpecFile::Settings => &SETTINGS,
        }
    }

    /// The schema as the text of its committed copy.
    pub fn schema_text(self) -> String {
        let mut text = serde_json::to_string_pretty(self.schema()).expect("a schema is JSON");
        text.push('\n');
        text
    }
}

fn generate<T: JsonSchema>(file: SpecFile) -> Value {
    let generator = SchemaSettings::draft2020_12()
        .with_transform(RecursiveTransform(drop_number_formats))
        .with_transform(drop_null)
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

/// `uint32` and the like mean something to Rust only.
fn drop_number_formats(schema: &mut Schema) {
    schema.remove("format");
}

/// A key that may be absent must not be null when it is there.
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
        schema.remove("default");
    }
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

    /// Validation, shapes and the reference know these keywords and no others.
    #[test]
    fn no_unknown_keyword_is_generated() {
        const KNOWN: &[&str] = &[
            "$defs",
            "$id",
            "$ref",
            "$schema",
            "additionalProperties",
            "const",
            "contains",
            "default",
            "description",
            "enum",
            "examples",
            "exclusiveMinimum",
            "if",
            "items",
            "maximum",
            "minItems",
            "minLength",
            "minProperties",
            "minimum",
            "oneOf",
            "pattern",
            "properties",
            "propertyNames",
            "required",
            "then",
            "title",
            "type",
            "x-claims",
            "x-defines",
            "x-file",
            "x-only",
            "x-pattern",
            "x-refers",
            "x-template",
        ];
        fn check(schema: &Value) {
            let Value::Object(keywords) = schema else { return };
            for (keyword, value) in keywords {
                assert!(KNOWN.contains(&keyword.as_str()), "{keyword}: {value}");
                match keyword.as_str() {
                    "properties" | "$defs" => value.as_object().unwrap().values().for_each(check),
                    "oneOf" => value.as_array().unwrap().iter().for_each(check),
                    "items" | "additionalProperties" | "if" | "then" | "contains" | "propertyNames" => check(value),
                    _ => assert_ne!(value, &json!(["string", "null"])),
                }
            }
        }
        SpecFile::ALL.iter().for_each(|file| check(file.schema()));
    }

    #[test]
    fn a_key_without_a_value_is_wrong() {
        let validator = jsonschema::validator_for(SpecFile::KindLm.schema()).unwrap();
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

//! The JSON Schema (2020-12) of each kind of file, generated from the types. It validates here, and in any
//! other tool: the committed copies stand in `schema/json/`.

use std::sync::OnceLock;

use schemars::{
    JsonSchema, Schema, generate::SchemaSettings, transform::RecursiveTransform, transform::transform_subschemas,
};
use serde_json::{Value, json};

use crate::{
    dialect::{Dialect, ScalarRules, clawspec, cli_bench, kindlm},
    gateway_script::GatewayScript,
    problem::Code,
    script::Script,
    settings::Settings,
};

/// How the `$id` of every schema begins: a name, not an address.
pub const BASE: &str = "urn:speclens:schema";

/// A kind of file that has a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpecFile {
    /// A suite: `kindlm.yaml`.
    KindLm,
    /// The settings of a workspace: `speclens.yaml`.
    Settings,
    /// A suite: `cli-bench.yaml`.
    CliBench,
    /// A list of tasks that a `cli-bench.yaml` names.
    CliBenchTasks,
    /// A scenario contract: `tests/scenarios.yaml`.
    ClawSpecScenarios,
    /// A handoff contract: `tests/handoffs/*.yaml`.
    ClawSpecHandoff,
    /// A pipeline contract: `tests/pipeline.yaml`.
    ClawSpecPipeline,
    /// The settings of a ClawSpec workspace: `clawspec.yaml`.
    ClawSpec,
    /// What is covered by contracts: `coverage-ledger.yaml`.
    ClawSpecLedger,
    /// What earlier runs measured: `tests/baselines.yaml`.
    ClawSpecBaselines,
    /// A scripted model: `NAME.script.yaml`.
    Script,
    /// A scripted gateway: `NAME.gateway.yaml`.
    Gateway,
}

impl SpecFile {
    /// Every kind, in the order in which the reference has them.
    pub const ALL: &'static [SpecFile] = &[
        SpecFile::KindLm,
        SpecFile::CliBench,
        SpecFile::CliBenchTasks,
        SpecFile::ClawSpecScenarios,
        SpecFile::ClawSpecHandoff,
        SpecFile::ClawSpecPipeline,
        SpecFile::ClawSpec,
        SpecFile::ClawSpecLedger,
        SpecFile::ClawSpecBaselines,
        SpecFile::Script,
        SpecFile::Gateway,
        SpecFile::Settings,
    ];

    /// The format that the file belongs to; none for what is our own.
    pub fn dialect(self) -> Option<Dialect> {
        match self {
            SpecFile::KindLm => Some(Dialect::KindLm),
            SpecFile::Settings | SpecFile::Script | SpecFile::Gateway => None,
            SpecFile::CliBench | SpecFile::CliBenchTasks => Some(Dialect::CliBench),
            SpecFile::ClawSpecScenarios
            | SpecFile::ClawSpecHandoff
            | SpecFile::ClawSpecPipeline
            | SpecFile::ClawSpec
            | SpecFile::ClawSpecLedger
            | SpecFile::ClawSpecBaselines => Some(Dialect::ClawSpec),
        }
    }

    /// The format of the suites that it belongs to: its own, or that of the suites that it plays a part for.
    pub fn serves(self) -> Option<Dialect> {
        match self {
            SpecFile::Script => Some(Dialect::CliBench),
            SpecFile::Gateway => Some(Dialect::ClawSpec),
            SpecFile::KindLm
            | SpecFile::Settings
            | SpecFile::CliBench
            | SpecFile::CliBenchTasks
            | SpecFile::ClawSpecScenarios
            | SpecFile::ClawSpecHandoff
            | SpecFile::ClawSpecPipeline
            | SpecFile::ClawSpec
            | SpecFile::ClawSpecLedger
            | SpecFile::ClawSpecBaselines => self.dialect(),
        }
    }

    /// How plain scalars are read.
    pub fn scalar_rules(self) -> ScalarRules {
        self.dialect().map_or(ScalarRules::Yaml12, Dialect::scalar_rules)
    }

    /// The key of the top-level list whose items are the cases; the empty key where the root is that list.
    pub fn case_list(self) -> Option<&'static str> {
        match self {
            SpecFile::KindLm => Some("tests"),
            SpecFile::CliBench => Some("tasks"),
            SpecFile::CliBenchTasks => Some(""),
            SpecFile::ClawSpecScenarios => Some("scenarios"),
            SpecFile::Settings
            | SpecFile::Script
            | SpecFile::Gateway
            | SpecFile::ClawSpecHandoff
            | SpecFile::ClawSpecPipeline
            | SpecFile::ClawSpec
            | SpecFile::ClawSpecLedger
            | SpecFile::ClawSpecBaselines => None,
        }
    }

    /// The key that names a case.
    pub fn name_key(self) -> &'static str {
        self.dialect().map_or("name", Dialect::name_key)
    }

    /// Whether it holds cases of a suite that another file makes.
    pub fn is_part(self) -> bool {
        self == SpecFile::CliBenchTasks
    }

    /// Whether it holds cases.
    pub fn has_cases(self) -> bool {
        match self {
            SpecFile::KindLm
            | SpecFile::CliBench
            | SpecFile::CliBenchTasks
            | SpecFile::ClawSpecScenarios
            | SpecFile::ClawSpecHandoff
            | SpecFile::ClawSpecPipeline => true,
            SpecFile::Settings
            | SpecFile::Script
            | SpecFile::Gateway
            | SpecFile::ClawSpec
            | SpecFile::ClawSpecLedger
            | SpecFile::ClawSpecBaselines => false,
        }
    }

    /// The files that are of this kind by name and place, as globs. A list of tasks is one because a suite names it.
    /// The server decides by [`crate::kind::detect`], which looks at the content as well.
    pub fn file_patterns(self) -> &'static [&'static str] {
        match self {
            SpecFile::KindLm => &["**/kindlm.yaml", "**/kindlm.yml"],
            SpecFile::Settings => &["**/speclens.yaml"],
            SpecFile::Script => &["**/*.script.yaml"],
            SpecFile::Gateway => &["**/*.gateway.yaml"],
            SpecFile::CliBench => &["**/cli-bench.yaml", "**/cli-bench.yml"],
            SpecFile::CliBenchTasks => &[],
            SpecFile::ClawSpecScenarios => &["**/tests/scenarios.yaml"],
            SpecFile::ClawSpecHandoff => &["**/tests/handoffs/*.yaml", "**/tests/handoffs/*.yml"],
            SpecFile::ClawSpecPipeline => {
                &["**/tests/pipeline.yaml", "**/tests/pipelines/*.yaml", "**/tests/pipelines/*.yml"]
            }
            SpecFile::ClawSpec => &["**/clawspec.yaml"],
            SpecFile::ClawSpecLedger => &["**/coverage-ledger.yaml"],
            SpecFile::ClawSpecBaselines => &["**/tests/baselines.yaml"],
        }
    }

    /// The word that stands for the kind on the command line, and in the name of its schema.
    pub fn as_str(self) -> &'static str {
        match self {
            SpecFile::KindLm => "kindlm",
            SpecFile::Settings => "speclens",
            SpecFile::Script => "script",
            SpecFile::Gateway => "gateway",
            SpecFile::CliBench => "cli-bench",
            SpecFile::CliBenchTasks => "cli-bench-tasks",
            SpecFile::ClawSpecScenarios => "clawspec-scenarios",
            SpecFile::ClawSpecHandoff => "clawspec-handoff",
            SpecFile::ClawSpecPipeline => "clawspec-pipeline",
            SpecFile::ClawSpec => "clawspec",
            SpecFile::ClawSpecLedger => "clawspec-ledger",
            SpecFile::ClawSpecBaselines => "clawspec-baselines",
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
            SpecFile::Script => "scripted model",
            SpecFile::Gateway => "scripted gateway",
            SpecFile::CliBench => "cli-bench suite",
            SpecFile::CliBenchTasks => "cli-bench tasks",
            SpecFile::ClawSpecScenarios => "ClawSpec scenarios",
            SpecFile::ClawSpecHandoff => "ClawSpec handoff",
            SpecFile::ClawSpecPipeline => "ClawSpec pipeline",
            SpecFile::ClawSpec => "ClawSpec settings",
            SpecFile::ClawSpecLedger => "ClawSpec coverage ledger",
            SpecFile::ClawSpecBaselines => "ClawSpec baselines",
        }
    }

    /// The schema.
    pub fn schema(self) -> &'static Value {
        static SCHEMAS: PerFile<Value> = PerFile::new();
        SCHEMAS.get(self, || match self {
            SpecFile::KindLm => generate::<kindlm::config::Config>(self),
            SpecFile::Settings => {
                let mut schema = generate::<Settings>(self);
                let codes: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
                schema["properties"]["severity"]["propertyNames"] = json!({ "enum": codes });
                schema
            }
            SpecFile::Script => generate::<Script>(self),
            SpecFile::Gateway => generate::<GatewayScript>(self),
            SpecFile::CliBench => generate::<cli_bench::config::Config>(self),
            SpecFile::CliBenchTasks => generate::<cli_bench::tasks::Tasks>(self),
            SpecFile::ClawSpecScenarios => generate::<clawspec::scenarios::ScenarioContract>(self),
            SpecFile::ClawSpecHandoff => generate::<clawspec::handoff::HandoffContract>(self),
            SpecFile::ClawSpecPipeline => generate::<clawspec::pipeline::PipelineContract>(self),
            SpecFile::ClawSpec => generate::<clawspec::config::Config>(self),
            SpecFile::ClawSpecLedger => generate::<clawspec::ledger::CoverageLedger>(self),
            SpecFile::ClawSpecBaselines => generate::<clawspec::baselines::Baselines>(self),
        })
    }

    /// The schema as the text of its committed copy.
    pub fn schema_text(self) -> String {
        let mut text = serde_json::to_string_pretty(self.schema()).expect("a schema is JSON");
        text.push('\n');
        text
    }
}

/// Something that is made once for each kind of file, and only for those that are met.
pub(crate) struct PerFile<T>([OnceLock<T>; SpecFile::ALL.len()]);

impl<T> PerFile<T> {
    /// Nothing made yet.
    pub(crate) const fn new() -> PerFile<T> {
        PerFile([const { OnceLock::new() }; SpecFile::ALL.len()])
    }

    /// What belongs to a kind of file.
    pub(crate) fn get(&self, file: SpecFile, make: impl FnOnce() -> T) -> &T {
        self.0[file as usize].get_or_init(make)
    }
}

fn generate<T: JsonSchema>(file: SpecFile) -> Value {
    let generator = SchemaSettings::draft2020_12()
        .with_transform(RecursiveTransform(drop_number_formats))
        .with_transform(drop_null)
        .with_transform(RecursiveTransform(admit_null))
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

/// A key that the format reads as absent when it is null may be null: `x-null` says so at the field, whatever its type.
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

    /// Validation, shapes and the reference know these keywords and no others.
    #[test]
    fn no_unknown_keyword_is_generated() {
        const KNOWN: &[&str] = &[
            "$defs",
            "$id",
            "$ref",
            "$schema",
            "additionalProperties",
            "allOf",
            "const",
            "contains",
            "default",
            "deprecated",
            "description",
            "else",
            "enum",
            "examples",
            "exclusiveMinimum",
            "if",
            "items",
            "maxProperties",
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
            "x-advice",
            "x-claims",
            "x-defines",
            "x-file",
            "x-glob",
            "x-only",
            "x-other-names",
            "x-pattern",
            "x-refers",
            "x-shares",
            "x-shell",
            "x-synonyms",
            "x-tags",
            "x-template",
            "x-template-names",
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
        let validator = jsonschema::validator_for(SpecFile::ClawSpec.schema()).unwrap();
        for (key, value) in [("observability", json!([])), ("gateway_auth_token", json!(1))] {
            assert!(validator.is_valid(&json!({ key: null })), "{key}");
            assert!(!validator.is_valid(&json!({ key: value })), "{key}");
        }
        assert!(!validator.is_valid(&json!({ "report_dir": null })));
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

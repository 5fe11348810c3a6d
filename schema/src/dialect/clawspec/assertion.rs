//! The assertion: a mapping with a `type`. The Rust type of that name defines its other fields and how it is
//! judged.

use std::{borrow::Cow, sync::Arc};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::{Map, Value, json};

use super::{
    claim::{AssertionClaim, AssertionType},
    scope::Scope,
    statements::Statement,
    words::not_in_schema,
};
use crate::{
    document::{NodeRef, Pointer},
    files::Files,
    finding::Report,
    json_schema::SpecFile,
    lint_node::LintNode,
    problem::Code,
    shape::{Field, Shape},
    verdict::Check,
    words::all_of,
};

/// Subject of a group of assertions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Category {
    /// Environment, usually under `given`.
    Precondition,
    /// Files that the target creates.
    Artifact,
    /// Gateway, gateway log and routing state.
    Behavioral,
    /// Trace in an observability backend.
    Trace,
    /// Score of a text by a model.
    Semantic,
    /// Types that are never evaluated.
    Unsupported,
}

/// An assertion type.
#[derive(Clone, Copy, Debug)]
pub struct TypeInfo {
    pub name: &'static str,
    /// Subject of the assertion.
    pub category: Category,
    /// Whether `timeout` and `updated_after` have an effect.
    pub waits: bool,
    /// Code of the problem that an assertion about the run itself is under `given`.
    pub(crate) before_run: Option<Code>,
    pub(crate) opposite: Option<&'static str>,
    /// Reports problems of an assertion that its schema cannot declare.
    pub(crate) lint: fn(&LintNode<'_>, &dyn Files, &mut Report),
    pub(crate) says: for<'d> fn(&LintNode<'d>) -> Vec<Statement<'d>>,
}

impl TypeInfo {
    /// Returns the type of an assertion. `None` if it is unknown.
    pub(crate) fn of(assertion: &LintNode<'_>) -> Option<&'static TypeInfo> {
        Assertion::type_info(assertion.text_at("type")?)
    }
}

/// Declares the assertion types, in the order of the reference: each with its file in `assertions/`, and its subject.
macro_rules! assertions {
    ($($variant:ident in $file:ident = $category:ident;)+) => {
        $(use super::assertions::$file::$variant;)+

        /// An assertion about a run, by its `type`.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Assertion {
            $(#[doc = concat!("See [`", stringify!($variant), "`].")] $variant($variant),)+
        }

        impl Assertion {
            /// All types, in the order of the reference.
            pub const TYPES: &'static [TypeInfo] = &[$(TypeInfo {
                name: <$variant as AssertionType>::NAME,
                category: Category::$category,
                waits: <$variant as AssertionType>::WAITS,
                before_run: <$variant as AssertionType>::BEFORE_RUN,
                opposite: <$variant as AssertionType>::OPPOSITE,
                lint: <$variant as AssertionType>::lint,
                says: <$variant as AssertionType>::says,
            },)+];

            fn of(name: &str, members: &Value) -> Result<Assertion, String> {
                match name {
                    $(<$variant as AssertionType>::NAME => {
                        $variant::deserialize(members).map(Assertion::$variant).map_err(|error| error.to_string())
                    })+
                    _ => Err(format!("unknown assertion type `{name}`")),
                }
            }

            pub fn name(&self) -> &'static str {
                match self { $(Assertion::$variant(_) => <$variant as AssertionType>::NAME,)+ }
            }

            /// Returns the assertion as a claim. `node` is its location in the document, if it has one.
            pub fn claim(self, node: Option<NodeRef<'_>>, scope: &Arc<Scope>, files: &dyn Files) -> Arc<dyn Check> {
                match self {
                    $(Assertion::$variant(mut assertion) => {
                        if let Some(node) = node {
                            assertion.adopt(node);
                        }
                        assertion.read(files);
                        Arc::new(AssertionClaim { assertion, scope: Arc::clone(scope) })
                    })+
                }
            }

            fn branches(generator: &mut SchemaGenerator) -> Vec<(TypeInfo, &'static str)> {
                $(generator.subschema_for::<$variant>();)+
                let names = [$(stringify!($variant),)+];
                Assertion::TYPES.iter().copied().zip(names).collect()
            }
        }
    };
}

assertions! {
    FilePresent in preconditions = Precondition;
    FileAbsent in preconditions = Precondition;
    GatewayHealthy in preconditions = Precondition;
    EnvPresent in preconditions = Precondition;
    ArtifactExists in artifacts = Artifact;
    ArtifactContains in artifacts = Artifact;
    ArtifactAbsentWords in artifacts = Artifact;
    ArtifactMatchesGolden in golden = Artifact;
    StateFile in state = Artifact;
    GatewayResponse in behavioral = Behavioral;
    LogEntry in behavioral = Behavioral;
    DecisionRoutedTo in behavioral = Behavioral;
    ToolWasCalled in log = Behavioral;
    ToolNotCalled in log = Behavioral;
    DelegationOccurred in log = Behavioral;
    ToolNotPermitted in log = Behavioral;
    TokenBudget in log = Behavioral;
    LlmCallCount in trace = Trace;
    ToolSequence in trace = Trace;
    ModelUsed in trace = Trace;
    DelegationPath in trace = Trace;
    PerSpanBudget in trace_limits = Trace;
    TraceTokenBudget in trace_limits = Trace;
    TraceDuration in trace_limits = Trace;
    TraceCost in trace_limits = Trace;
    NoSpanErrors in trace = Trace;
    ToolNotInvoked in trace = Trace;
    LlmJudge in semantic = Semantic;
    AgentIdentityConsistent in semantic = Semantic;
    SlackMessageSent in unsupported = Unsupported;
    EmailReceived in unsupported = Unsupported;
}

impl Assertion {
    pub(crate) fn type_info(name: &str) -> Option<&'static TypeInfo> {
        Assertion::TYPES.iter().find(|info| info.name == name)
    }

    /// Reads an assertion from the mapping that is written in a contract.
    pub(crate) fn of_value(value: &Value) -> Result<Assertion, String> {
        let name = value.get("type").and_then(Value::as_str).ok_or("`type` is missing")?;
        Assertion::of(name, value)
    }
}

pub(crate) fn assertion_shape() -> Option<Shape> {
    Shape::find(SpecFile::CLAWSPEC_SCENARIOS, &Pointer::parse("/scenarios/0/then/0"), None)
}

/// Returns the type with this name, or the one that it is another name of.
pub(crate) fn type_called(name: &str) -> Option<&'static TypeInfo> {
    Assertion::type_info(name).or_else(|| {
        let kinds = assertion_shape()?.step("type", None)?;
        Assertion::type_info(kinds.value_called(name)?.0)
    })
}

/// Returns the keys of an assertion type.
pub(crate) fn fields_of(name: &str) -> Vec<Field> {
    let forms = assertion_shape().map(|shape| shape.variants()).unwrap_or_default();
    let form = forms.into_iter().find(|form| form.tag.is_some_and(|(_, tag)| tag == name));
    form.map(|form| form.shape.fields(None)).unwrap_or_default()
}

impl<'de> Deserialize<'de> for Assertion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Assertion, D::Error> {
        Assertion::of_value(&Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl JsonSchema for Assertion {
    fn schema_name() -> Cow<'static, str> {
        "Assertion".into()
    }

    /// Returns one branch per type, so that problems are reported against the schema of the intended type.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut choices = Vec::new();
        let mut branches = Vec::new();
        for (info, definition) in Assertion::branches(generator) {
            let Some(Value::Object(keywords)) = generator.definitions_mut().get_mut(definition) else { continue };
            let docs = keywords.get("description").and_then(Value::as_str).unwrap_or_default();
            let summary = docs.split("\n\n").next().unwrap_or_default();
            let mut choice = json!({ "const": info.name, "description": summary });
            // Names of a type in other formats belong to the value of `type`.
            for keyword in ["x-synonyms", "x-other-names"] {
                if let Some(names) = keywords.remove(keyword) {
                    choice[keyword] = names;
                }
            }
            choices.push(choice);
            complete(keywords, info);
            branches.push(json!({
                "if": { "type": "object", "required": ["type"], "properties": { "type": { "const": info.name } } },
                "then": { "$ref": format!("#/$defs/{definition}") },
            }));
        }
        let schema = json!({
            "description": "An assertion about a run: a mapping with `type` and the keys of that type.",
            "type": "object",
            "x-open": true,
            "x-claims": true,
            "required": ["type"],
            "properties": {
                "type": {
                    "description": "Type of the assertion.",
                    "type": "string",
                    "oneOf": choices,
                    "x-synonyms": ["Type", "TYPE", "kind", "assertion", "assert", "check", "name"],
                    "x-advice": advice(),
                },
            },
            "allOf": branches,
        });
        Schema::try_from(schema).unwrap_or_default()
    }
}

/// Other names for types that do not correspond to a single type.
fn advice() -> Value {
    json!([
        {
            "names": [
                "response_contains", "output_contains", "reply_contains", "not_contains", "response_field",
                "output_field_contains", "response_not_contains", "output_not_contains", "reply_not_contains",
                "contains", "icontains", "contains_all", "contains-all", "contains_any", "contains-any", "not-contains",
                "equals", "regex", "starts_with", "starts-with", "similar", "is_refusal", "is-refusal",
            ],
            "note": "ClawSpec cannot see the reply",
            "help": "have the target write a file, and check it with `log_entry`, `artifact_contains` or `artifact_absent_words`",
        },
        {
            "names": ["env_unset", "env_absent", "env_not_present", "env_not_set", "env_missing"],
            "note": "ClawSpec can check only that a variable is set",
            "help": "remove it, or use `env_present` for a variable that must be set",
        },
        {
            "names": ["latency", "duration", "max_duration", "max_latency", "response_time"],
            "help": "use `trace_duration` with `max_ms`",
        },
        {
            "names": ["cost", "max_cost", "price"],
            "help": "use `trace_cost` with `max_usd`",
        },
        {
            "names": ["tokens", "max_tokens", "token_count"],
            "help": "use `trace_token_budget` (trace) or `token_budget` (gateway log)",
        },
        {
            "names": ["javascript", "python", "script", "command", "exit_code", "verify"],
            "note": "ClawSpec runs no code to check a result",
            "help": "check the files of the run with `artifact_contains`, `log_entry` or `llm_judge`",
        },
        {
            "names": [
                "llm-rubric", "llm_rubric", "rubric", "g-eval", "g_eval", "geval", "factuality", "answer-relevance",
                "answer_relevancy", "model-graded-closedqa", "faithfulness", "hallucination", "toxicity",
            ],
            "note": "`llm_judge` scores a file by a rubric",
            "help": "use `llm_judge` with `path` and `rubric`",
        },
        {
            "names": ["invoke"],
            "note": "`given` and `then` contain only assertions; the action of a scenario is in `when`",
            "help": "move the action to `when`; to require its result, use `file_present`",
        },
        {
            "names": [
                "disallow", "disallowed_tools", "tool_disallowed", "tool_forbidden", "forbidden_tools", "forbid_tool",
                "tool_denied", "tool_blocked", "tool_not_allowed",
            ],
            "note": "ClawSpec cannot check whether a tool is forbidden, only whether it was called",
            "help": "use `tool_not_called` (gateway log) or `tool_not_invoked` (trace)",
        },
        {
            "names": ["tool_permitted", "tool_allowed", "tools_permitted", "tools_allowed", "allowed_tools"],
            "note": "`tool_not_permitted` is an allow-list: a call to any other tool fails",
            "help": "use `tool_not_permitted` with `allowed_tools`",
        },
        {
            "names": ["model_not_used", "model_not_expected", "model_not_called"],
            "note": "ClawSpec has a single type for models that must be used and models that must not",
            "help": "use `model_used` with `not_expected`",
        },
        {
            "names": ["artifact_words"],
            "note": "ClawSpec has `artifact_absent_words`, for words that must not occur",
            "help": "use `log_entry` for text that must occur",
        },
        {
            "names": [
                "output_matches_schema", "artifact_yaml_valid", "artifact_yaml_field_check", "output_field_min_length",
                "is_json", "is-json", "contains_json", "contains-json", "json_schema", "jsonSchema", "is-valid-json",
            ],
            "note": "ClawSpec does not validate files against a schema",
            "help": "check the keys of the file with `artifact_contains` and `fields`, or with `state_file`",
        },
    ])
}

/// Returns the advice about keys that negate an assertion.
fn negated(info: TypeInfo) -> [Value; 2] {
    let help = match info.opposite {
        Some(opposite) => format!("use `{opposite}`, which checks the opposite"),
        None => format!("remove the assertion: no type checks the opposite of `{}`", info.name),
    };
    let note = "ClawSpec ignores unknown keys, so this key has no effect";
    [
        json!({ "names": ["not", "negate", "negated", "invert", "inverted"], "note": note, "help": help }),
        json!({ "names": ["expected"], "if": { "const": false }, "note": note, "help": help }),
    ]
}

/// Note that lists the types that wait.
fn waiting() -> String {
    let waiting = Assertion::TYPES.iter().filter(|info| info.waits).map(|info| info.name);
    format!("only {} wait for a file", all_of(waiting))
}

/// Returns the problem of `timeout` or `updated_after` in a type that does not wait.
fn no_effect(key: &str, kind: &str) -> Value {
    // If the file is late, the assertion fails.
    let (code, message) = match key {
        "timeout" => ("no-effect", format!("`timeout` has no effect in `{kind}`")),
        _ => ("unchecked", format!("`{kind}` does not check `{key}`")),
    };
    json!([{
        "if": true, "code": code, "severity": "warning", "underline": "key", "message": message, "note": waiting(),
        "help": format!("remove `{key}`"), "fix": "remove",
    }])
}

/// Adds the fields that all types share to the schema of a type.
fn complete(keywords: &mut Map<String, Value>, info: TypeInfo) {
    let own = keywords.remove("properties");
    let mut properties = Map::new();
    let mut kind = json!({ "const": info.name });
    if info.category == Category::Trace {
        kind["x-problems"] = not_in_schema(info.name, "value");
    }
    properties.insert("type".to_owned(), kind);
    if let Some(Value::Object(own)) = own {
        properties.extend(own);
    }
    for (name, kind) in [("timeout", json!(["number", "string"])), ("updated_after", json!("string"))] {
        let docs = format!("Has no effect in this type: {}.", waiting());
        let problems = no_effect(name, info.name);
        let field = || json!({ "description": docs, "type": kind, "deprecated": true, "x-problems": problems });
        properties.entry(name).or_insert_with(field);
    }
    keywords.insert("properties".to_owned(), Value::Object(properties));
    if let Value::Array(advice) = keywords.entry("x-advice").or_insert_with(|| json!([])) {
        advice.extend(negated(info));
    }
    let mut required = vec![json!("type")];
    if let Some(Value::Array(own)) = keywords.remove("required") {
        required.extend(own);
    }
    keywords.insert("required".to_owned(), Value::Array(required));
    keywords.insert("type".to_owned(), json!("object"));
    // Any key is allowed in types that are never evaluated.
    if info.category == Category::Unsupported {
        keywords.insert("additionalProperties".to_owned(), true.into());
    }
}

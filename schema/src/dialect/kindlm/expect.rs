//! `expect`: all expectations about a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::words::{FilePath, ForbiddenText, Name, Pattern, RequiredText};

/// Help for an empty list.
const ADD_ITEM: &str = "add an item, or remove the key";

/// What KindLM does with an unknown key below `expect`; its version is the one whose keys these types are.
const REFUSAL: &str = "KindLM 2.3.2 rejects the file, and versions before 2.3.1 ignore the key";

/// Expectations about every attempt at the test.
///
/// Every key is an expectation; an attempt passes if all of them hold. `expect: {}` checks nothing, so the test always
/// passes.
///
/// ```yaml
/// expect:
///   output:
///     contains: [refund, policy]
///   toolCalls:
///     - tool: lookup_order
///       argsMatch: { order_id: "12345" }
///   guardrails:
///     pii: {}
///   latency: { maxMs: 5000 }
/// ```
///
/// Results are reported in a fixed order: `toolCalls`, `output`, `guardrails.pii`,
/// `guardrails.keywords`, `judge`, `baseline`, `latency`, `cost`, `trajectory`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("x-claims" = true, "x-refuses" = REFUSAL))]
#[schemars(extend("x-advice" = [
    {
        "names": ["equals", "exact", "regex", "matches", "pattern", "starts_with", "startsWith", "similar"],
        "help": "use `output.contains` for fixed text, `output.schemaFile` for a pattern, or `judge` for the meaning",
    },
    { "names": ["is-json", "isJson", "is_json", "json"], "help": "use `output` with `format: json` and `schemaFile`" },
    {
        "names": ["javascript", "python", "script", "verify"],
        "note": "KindLM runs no code to check an output",
        "help": "use `output.schemaFile`, or `judge` with a criterion",
    },
    { "names": ["exitCode", "exit_code", "status"], "note": "KindLM does not check exit codes", "help": "remove it" },
]))]
#[schemars(extend("x-problems" = [{
    "if": { "maxProperties": 1, "required": ["guardrails"], "properties": { "guardrails": {
        "maxProperties": 1, "required": ["pii"],
        "properties": { "pii": { "required": ["enabled"], "properties": { "enabled": { "const": false } } } },
    } } },
    "at": "guardrails.pii.enabled", "code": "vacuous-claim",
    "message": "`pii` is off, and the test has no other expectation",
    "help": "add an expectation, or remove `enabled: false`",
}, {
    "if": {
        "required": ["toolCallsOrdered", "toolCalls"],
        "properties": { "toolCallsOrdered": { "const": true }, "toolCalls": { "contains": { "required": ["order"] } } },
    },
    "at": "toolCallsOrdered", "underline": "key", "code": "unchecked",
    "message": "`toolCallsOrdered` has no effect with `order`", "note": "the positions in `order` are checked",
    "help": "remove `toolCallsOrdered`, or every `order`",
}, {
    "if": {
        "required": ["toolCallsOrdered", "toolCalls"],
        "properties": {
            "toolCallsOrdered": { "const": true },
            "toolCalls": { "type": "array", "not": { "contains": { "required": ["order"] } } },
        },
    },
    "at": "toolCallsOrdered", "underline": "key", "code": "upstream-differs",
    "message": "KindLM fails `toolCallsOrdered` if any other call comes before or between the listed ones",
    "note": "speclens checks only their order",
}]))]
pub struct Expect {
    /// Expectations about the output.
    ///
    /// ```yaml
    /// output:
    ///   contains: [shipped]
    ///   maxLength: 400
    /// ```
    #[schemars(extend("x-other-names" = ["text", "response", "reply", "answer", "stdout"]))]
    pub output: Option<OutputExpect>,
    /// Expectations about tool calls.
    ///
    /// ```yaml
    /// toolCalls:
    ///   - tool: lookup_order
    ///     argsMatch: { order_id: "12345" }
    ///   - tool: delete_order
    ///     shouldNotCall: true
    /// ```
    ///
    /// A command reports its calls as protocol events, one JSON object per line of standard output:
    /// `{"kindlm":"tool_call","name":"lookup_order","arguments":{"order_id":"12345"}}`.
    #[schemars(extend("x-non-empty" = ADD_ITEM, "x-other-names" = ["tools", "tool_use", "toolUse"]))]
    pub tool_calls: Option<Vec<ToolCallExpect>>,
    /// Whether the tools in `toolCalls` must be called in the order of the list.
    ///
    /// Other calls may come before, between and after them, and `argsMatch` is satisfied by any call to the tool. Items
    /// with `shouldNotCall` have no place in the order; a tool that is listed twice must be called twice.
    ///
    /// ```yaml
    /// toolCallsOrdered: true
    /// toolCalls:
    ///   - tool: lookup_order
    ///   - tool: refund
    /// ```
    ///
    /// It has no effect if an item has `order`. KindLM checks positions instead: the first item must be the first of all
    /// calls, the second one the next call.
    #[schemars(extend("x-only" = "toolCalls", "x-other-names" = ["ordered", "inOrder", "orderedToolCalls"]))]
    pub tool_calls_ordered: bool,
    /// Content that the output must or must not contain: phrases, personal data.
    ///
    /// ```yaml
    /// guardrails:
    ///   pii: {}
    ///   keywords: { deny: [password] }
    /// ```
    pub guardrails: Option<Guardrails>,
    /// Criteria by which a model scores the output.
    ///
    /// ```yaml
    /// judge:
    ///   - criteria: The answer names a date.
    ///     minScore: 0.8
    /// ```
    ///
    /// `speclens run` asks the model once per criterion and records the answer, so a new `minScore` needs no new
    /// request. If the answer is missing or malformed, the result is unknown.
    #[schemars(extend(
        "x-non-empty" = ADD_ITEM,
        "x-other-names" = [
            "llmJudge", "llm_judge", "llm-judge", "llmRubric", "llm_rubric", "llm-rubric", "rubric", "gEval", "g_eval", "g-eval",
            "model-graded-closedqa", "factuality", "answer-relevance", "faithfulness",
        ],
    ))]
    pub judge: Option<Vec<JudgeExpect>>,
    /// Maximum drift from a stored output.
    ///
    /// speclens compares with the output that `speclens baseline set` stored. KindLM's `test` command never loads a
    /// baseline, so the expectation always fails there.
    pub baseline: Option<BaselineExpect>,
    /// Maximum duration of an attempt.
    ///
    /// ```yaml
    /// latency: { maxMs: 5000 }
    /// ```
    #[schemars(extend("x-other-names" = ["time", "duration", "responseTime"]))]
    pub latency: Option<LatencyExpect>,
    /// Maximum cost of an attempt, judges apart.
    ///
    /// ```yaml
    /// cost: { maxUsd: 0.05 }
    /// ```
    ///
    /// The expectation fails if the cost is unknown: that of a command always is, and that of a model whose price is not
    /// known.
    #[schemars(extend("x-other-names" = ["price"]))]
    pub cost: Option<CostExpect>,
    /// How well all tool calls together agree with a reference.
    ///
    /// ```yaml
    /// trajectory:
    ///   reference:
    ///     - { tool: lookup_order, args: { order_id: "12345" } }
    ///     - { tool: refund, args: { order_id: "12345" } }
    ///   recall: { minScore: 1 }
    /// ```
    ///
    /// `precision` limits unexpected calls, `recall` limits missing ones, `exactMatch` allows neither.
    #[schemars(extend("x-other-names" = ["toolTrajectory", "tool_trajectory"]))]
    pub trajectory: Option<TrajectoryExpect>,
}

/// Expectations about the output.
///
/// For a command, the text is its standard output without protocol events, trimmed at both ends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend(
    "if" = { "type": "object", "properties": { "format": { "const": "json" } }, "required": ["format"] },
    "then" = { "required": ["schemaFile"], "properties": { "schemaFile": {
        "type": "string",
        "minLength": 1,
        "x-needed": "`format: json` requires `schemaFile`",
    } } }
))]
#[schemars(extend("x-advice" = [
    {
        "names": ["containsAny", "contains_any", "contains-any", "containsOneOf", "anyOf", "any_of", "oneOf"],
        "help": "use `guardrails.keywords.allow`, which requires at least one of its strings",
    },
    {
        "names": ["equals", "exact", "regex", "matches", "pattern", "startsWith", "starts_with"],
        "note": "KindLM compares no whole text and no pattern",
        "help": "use `contains` for fixed text, or `schemaFile` with `const` or `pattern`",
    },
    { "names": ["minLength", "min_length"], "note": "KindLM limits only the maximum", "help": "use `schemaFile` with `minLength`" },
]))]
#[schemars(extend("x-problems" = [{
    "if": {
        "anyOf": [{ "maxProperties": 0 }, { "maxProperties": 1, "required": ["format"] }],
        "not": { "required": ["format"], "properties": { "format": { "const": "json" } } },
    },
    "code": "vacuous-claim", "underline": "key", "message": "`output` checks nothing",
    "help": "add `contains`, `notContains`, `maxLength` or `schemaFile`",
}]))]
pub struct OutputExpect {
    /// Whether the output is text or JSON.
    ///
    /// With `json`, the output must parse as one JSON value, and `schemaFile` is required. If it does not parse, that
    /// is the only result: the rest of `output` is not checked.
    ///
    /// A command that also prints other text can report its JSON in a protocol event:
    /// `{"kindlm":"output_json","data":{"ok":true}}`. KindLM still parses the text.
    #[schemars(extend("x-other-names" = ["type"]))]
    pub format: OutputFormat,
    /// JSON Schema file that the output must match.
    ///
    /// The path is relative to the suite's directory and must not lead out of it. The schema is read as draft-07. With
    /// `format: text`, it applies to the whole text as one string.
    ///
    /// ```yaml
    /// output:
    ///   format: json
    ///   schemaFile: schemas/answer.json
    /// ```
    #[schemars(extend("examples" = ["schemas/answer.json"]), extend("x-file" = "json-schema"))]
    #[schemars(extend("x-other-names" = ["schema", "jsonSchema"]))]
    pub schema_file: Option<FilePath>,
    /// Strings that must all occur, ignoring case.
    ///
    /// Each string has its own result. Word boundaries do not matter: `cat` is found in `concatenate`.
    #[schemars(with = "Option<Vec<RequiredText>>", extend("x-compared" = "output", "examples" = [["refund", "policy"]]))]
    #[schemars(extend("x-non-empty" = ADD_ITEM, "x-unique" = { "ignore-case": true }))]
    #[schemars(extend("x-other-names" = ["includes", "containsAll", "contains_all", "contains-all", "icontains", "include", "mustContain",]))]
    pub contains: Option<Vec<String>>,
    /// Strings that must not occur, ignoring case.
    #[schemars(with = "Option<Vec<ForbiddenText>>", extend("x-non-empty" = ADD_ITEM))]
    #[schemars(extend("x-unique" = { "ignore-case": true }))]
    #[schemars(extend("x-compared" = "text", "x-forbids" = "`guardrails.pii.customPatterns`"))]
    #[schemars(extend("examples" = [["error", "traceback"]]))]
    #[schemars(extend("x-other-names" = ["excludes", "mustNotContain", "not-contains", "not-icontains"]))]
    pub not_contains: Option<Vec<String>>,
    /// Maximum length of the text in UTF-16 code units.
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_u64), extend("x-seen" = "length", "examples" = [400]))]
    pub max_length: Option<u64>,
}

/// Format of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OutputFormat {
    /// Plain text.
    #[default]
    Text,
    /// One JSON value that matches `schemaFile`.
    Json,
}

/// An expectation about calls to a tool.
///
/// Names are compared exactly. One call may satisfy several items. If any item has `order`, all items of the list are
/// evaluated together, by position; with `toolCallsOrdered`, by their order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-problems" = [
    beside_forbidden("argsMatch"),
    beside_forbidden("argsSchema"),
    beside_forbidden("order"),
    {
        "if": {
            "required": ["tool", "argsMatch"], "properties": { "argsMatch": { "maxProperties": 0 } },
            "not": { "required": ["shouldNotCall"], "properties": { "shouldNotCall": { "const": true } } },
        },
        "at": "argsMatch", "code": "vacuous-claim", "message": "`{}` matches any arguments",
        "help": "add an argument, or remove `argsMatch`",
    },
]))]
pub struct ToolCallExpect {
    /// Exact name of the tool.
    #[schemars(extend("x-refers" = "tools", "x-seen" = "tools", "examples" = ["lookup_order"]))]
    #[schemars(extend("x-other-names" = ["name", "function"]))]
    pub tool: Name,
    /// Whether the tool must not be called.
    ///
    /// With `true`, the other keys of the item are ignored: any call to the tool fails the expectation, regardless of
    /// its arguments.
    #[serde(default)]
    #[schemars(extend(
        "x-other-names" = [
            "not", "shouldNotBeCalled", "mustNotCall", "must_not_call", "mustNotBeCalled", "notCalled", "forbidden",
        ],
    ))]
    pub should_not_call: bool,
    /// Arguments that at least one call must have.
    ///
    /// Objects match partially at every depth: additional keys are allowed. Lists must have the same length and match
    /// item by item. All other values must be equal: `"1"` is not `1`, and null is not a missing key.
    ///
    /// ```yaml
    /// argsMatch:
    ///   order_id: "12345"
    ///   options: { express: true }
    /// ```
    #[schemars(extend("x-arguments" = "tool", "x-compared" = "output", "x-other-names" = ["args", "arguments", "with"]))]
    pub args_match: Option<Map<String, Value>>,
    /// JSON Schema file that the arguments of at least one call must match.
    ///
    /// The path is relative to the suite's directory and must not lead out of it. The schema is read as draft-07.
    #[schemars(extend("minLength" = 1, "examples" = ["schemas/lookup-order.json"], "x-file" = "json-schema"))]
    #[schemars(extend("x-resolved" = "argsSchemaResolved"))]
    pub args_schema: Option<FilePath>,
    /// Position of the call among all tool calls, counted from 0.
    ///
    /// Any call to the tool can satisfy `argsMatch`, not only the one at this position.
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64), extend("x-position" = true, "examples" = [0]))]
    #[schemars(extend("x-other-names" = ["position", "index"]))]
    pub order: Option<u64>,
}

/// Returns the problem of a key next to `shouldNotCall: true`.
fn beside_forbidden(key: &str) -> Value {
    json!({
        "if": { "required": ["tool", "shouldNotCall", key], "properties": { "shouldNotCall": { "const": true } } },
        "at": key, "underline": "key", "code": "unchecked",
        "message": format!("`{key}` is not checked with `shouldNotCall: true`"),
        "note": "every call to the tool fails the expectation", "help": "remove it",
    })
}

/// Content that the output must or must not contain.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("x-problems" = [{
    "if": { "maxProperties": 0 }, "code": "vacuous-claim", "underline": "key", "message": "`guardrails` checks nothing",
    "help": "add `pii: {}` or `keywords`",
}]))]
pub struct Guardrails {
    /// Personal data that the output must not contain.
    ///
    /// `pii: {}` searches for US social security numbers, payment card numbers and email addresses; `detectors` names
    /// what to search for instead. Tool arguments, structured output and standard error are not searched.
    ///
    /// ```yaml
    /// pii:
    ///   detectors: [credit_card, email, phone]
    ///   customPatterns:
    ///     - { name: order-id, pattern: "ORD-\\d{6}" }
    /// ```
    pub pii: Option<PiiGuardrail>,
    /// Forbidden and required phrases.
    pub keywords: Option<KeywordsGuardrail>,
}

/// Personal data that the output must not contain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("x-problems" = [
    {
        "if": { "required": ["denyPatterns"], "not": { "required": ["detectors"] }, "properties": {
            "enabled": { "const": true }, "denyPatterns": { "maxItems": 0 }, "customPatterns": { "maxItems": 0 },
        } },
        "at": "denyPatterns", "code": "vacuous-claim", "message": "`pii` checks nothing without a pattern",
        "help": "remove `denyPatterns` to search for the built-in patterns",
    },
    {
        "if": { "required": ["detectors"], "properties": {
            "enabled": { "const": true }, "detectors": { "maxItems": 0 }, "customPatterns": { "maxItems": 0 },
        } },
        "at": "detectors", "code": "vacuous-claim", "message": "`pii` checks nothing without a detector or a pattern",
        "help": "list a detector, or remove `detectors` to search for the built-in patterns",
    },
    {
        "if": { "required": ["detectors", "denyPatterns"] }, "at": "denyPatterns", "underline": "key",
        "code": "unchecked", "message": "`denyPatterns` has no effect with `detectors`",
        "help": "move its patterns to `customPatterns`, or remove one of the two",
    },
]))]
pub struct PiiGuardrail {
    /// Whether to search the text. `false` disables the expectation.
    pub enabled: bool,
    /// Kinds of data to search for, instead of the built-in patterns and of `denyPatterns`.
    ///
    /// Detectors respect case. `[]` leaves only `customPatterns`.
    #[schemars(extend("examples" = [["credit_card", "email"]], "x-unique" = { "what": "detector" }))]
    #[schemars(extend("x-other-names" = ["detect", "types", "kinds", "entities"]))]
    pub detectors: Option<Vec<Detector>>,
    /// Regular expressions that must not match; they replace the three built-in ones.
    ///
    /// ECMAScript syntax without delimiters, ignoring case. `[]` leaves only `customPatterns`. A match without a
    /// character does not count. KindLM rejects patterns with nested quantifiers, such as `(a+)+`: the whole expectation
    /// fails.
    #[schemars(extend("examples" = [["\\b\\d{3}-\\d{2}-\\d{4}\\b"]]))]
    pub deny_patterns: Option<Vec<Pattern>>,
    /// Additional regular expressions that must not match, each with a name for the report.
    ///
    /// ```yaml
    /// customPatterns:
    ///   - name: order-id
    ///     pattern: "ORD-\\d{6}"
    /// ```
    #[schemars(extend("x-other-names" = ["patterns"]))]
    pub custom_patterns: Option<Vec<CustomPattern>>,
}

impl Default for PiiGuardrail {
    fn default() -> PiiGuardrail {
        PiiGuardrail { enabled: true, detectors: None, deny_patterns: None, custom_patterns: None }
    }
}

/// A kind of personal data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Detector {
    /// US social security numbers: `123-45-6789`, or any nine digits.
    Ssn,
    /// Payment card numbers of 13 to 19 digits, with a valid check digit (Luhn).
    CreditCard,
    /// Email addresses.
    Email,
    /// Phone numbers: North American ones, and international ones such as `+420777123456`.
    Phone,
    /// International bank account numbers without spaces, with valid check digits.
    Iban,
    /// IPv4 addresses.
    Ip,
    /// JSON Web Tokens.
    Jwt,
    /// Keys of AWS (`AKIA…`), OpenAI (`sk-…`), GitHub (`ghp_…`) and Slack (`xox…`).
    ApiKey,
}

/// A regular expression with a name for the report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-refuses" = false))]
pub struct CustomPattern {
    /// Name of the match in the report.
    #[schemars(extend("examples" = ["order-id"]))]
    pub name: Name,
    /// Regular expression in ECMAScript syntax.
    #[schemars(extend("examples" = ["ORD-\\d{6}"]))]
    #[schemars(extend("x-other-names" = ["regex"]))]
    pub pattern: Pattern,
}

/// Forbidden and required phrases.
///
/// Phrases are found anywhere in the text, even inside words, ignoring case.
///
/// ```yaml
/// keywords:
///   deny: [password, internal only]
///   allow: [refund, exchange]
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("x-problems" = [{
    "if": {
        "anyOf": [
            { "maxProperties": 0 },
            { "maxProperties": 1, "required": ["deny"], "properties": { "deny": { "maxItems": 0 } } },
            { "maxProperties": 1, "required": ["allow"], "properties": { "allow": { "maxItems": 0 } } },
            {
                "maxProperties": 2, "required": ["deny", "allow"],
                "properties": { "deny": { "maxItems": 0 }, "allow": { "maxItems": 0 } },
            },
        ],
    },
    "code": "vacuous-claim", "underline": "key", "message": "`keywords` checks nothing",
    "help": "add a phrase to `deny` or `allow`",
}]))]
pub struct KeywordsGuardrail {
    /// Phrases that must not occur. Each has its own result.
    #[schemars(with = "Vec<ForbiddenText>", extend("x-unique" = { "ignore-case": true }))]
    #[schemars(extend("x-compared" = "text", "x-forbids" = "`pii.customPatterns`", "examples" = [["password"]]))]
    #[schemars(extend(
        "x-other-names" = ["block", "denied", "disallow", "disallowed", "forbidden", "blocked", "denylist", "forbid"],
    ))]
    pub deny: Vec<String>,
    /// Phrases of which at least one must occur. They share one result.
    #[schemars(with = "Option<Vec<RequiredText>>", extend("x-compared" = "text", "examples" = [["refund", "exchange"]]))]
    #[schemars(extend("x-unique" = { "ignore-case": true }))]
    #[schemars(extend("x-other-names" = ["any_of", "anyOf", "allowed", "require"]))]
    pub allow: Option<Vec<String>>,
}

/// A criterion by which a model scores the output.
///
/// The judge is the `judge` of `speclens.yaml`, or else `defaults.judgeModel`, or else the first of `models`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JudgeExpect {
    /// Criterion that the judge scores, as a sentence.
    #[schemars(extend("examples" = ["The answer is polite and names the delivery date."]))]
    #[schemars(extend("x-other-names" = ["prompt", "criterion", "question", "value"]))]
    pub criteria: Name,
    /// Minimum score, from 0 to 1.
    #[serde(default = "default_min_score")]
    #[schemars(range(min = 0.0, max = 1.0))]
    #[schemars(extend("x-other-names" = ["threshold", "min", "score"], "x-problems" = [{
        "if": { "const": 0 }, "code": "vacuous-claim", "message": "every score meets `minScore: 0`", "help": "raise it",
    }]))]
    pub min_score: f64,
    /// Another model to score with: an `id` of `models`, or the name of a model at the judge's provider.
    ///
    /// KindLM sends the string to the judge's provider unchanged.
    #[schemars(extend("examples" = ["gpt-4o-mini"]))]
    pub model: Option<String>,
    /// Meaning of the scores, sent to the judge after the criterion.
    pub rubric: Option<String>,
}

fn default_min_score() -> f64 {
    0.7
}

/// Maximum drift from a stored output.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("x-problems" = [{
    "if": { "maxProperties": 0 }, "code": "vacuous-claim", "underline": "key",
    "message": "`baseline` checks nothing without `drift`", "help": "add `drift`, or remove `baseline`",
}]))]
pub struct BaselineExpect {
    /// Maximum drift from the stored output. Without it, nothing is checked.
    ///
    /// ```yaml
    /// baseline:
    ///   drift: { maxScore: 0.2, method: field-diff, fields: [status, items.0.sku] }
    /// ```
    pub drift: Option<DriftExpect>,
}

/// Maximum drift from the stored output.
///
/// 0 is identical, 1 is entirely different.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("x-problems" = [
    {
        "if": {
            "required": ["maxScore"],
            "properties": { "maxScore": { "const": 1 }, "method": { "not": { "const": "embedding" } } },
        },
        "at": "maxScore", "code": "vacuous-claim", "message": "no drift exceeds `maxScore: 1`", "help": "lower it",
    },
    {
        "if": {
            "required": ["method"],
            "properties": { "method": { "const": "field-diff" }, "fields": { "maxItems": 0 } },
        },
        "at": "method", "underline": "key", "code": "vacuous-claim",
        "message": "`field-diff` checks nothing without `fields`", "help": "list the fields to compare in `fields`",
    },
    {
        "if": { "required": ["fields"], "properties": { "method": { "not": { "const": "field-diff" } } } },
        "at": "fields", "underline": "key", "code": "unchecked",
        "message": "`fields` is compared only with `method: field-diff`",
        "help": "use `method: field-diff`, or remove `fields`",
    },
]))]
pub struct DriftExpect {
    /// Maximum drift, from 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub max_score: f64,
    /// Method that measures drift.
    pub method: DriftMethod,
    /// With `field-diff`: fields to compare, as dotted paths in which numbers are list positions.
    #[schemars(extend("examples" = [["status", "items.0.sku"]]))]
    pub fields: Option<Vec<String>>,
}

impl Default for DriftExpect {
    fn default() -> DriftExpect {
        DriftExpect { max_score: 0.15, method: DriftMethod::Judge, fields: None }
    }
}

/// Method that measures drift.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DriftMethod {
    /// A model compares the two texts.
    #[default]
    Judge,
    /// Distance between the embeddings of the texts; KindLM requires `openai`.
    Embedding,
    /// Share of `fields` that differ, with both texts parsed as JSON.
    FieldDiff,
}

/// Maximum duration of an attempt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LatencyExpect {
    /// Maximum duration in milliseconds, inclusive.
    #[schemars(extend("exclusiveMinimum" = 0), extend("x-seen" = "duration", "examples" = [5000]))]
    #[schemars(extend("x-problems" = [boundless("maxMs")], "x-other-names" = ["max", "ms", "maxLatency", "max_latency"]))]
    pub max_ms: f64,
}

/// Maximum cost of an attempt, judges apart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CostExpect {
    /// Maximum cost in US dollars, inclusive.
    #[schemars(extend("exclusiveMinimum" = 0), extend("x-seen" = "cost", "examples" = [0.05]))]
    #[schemars(extend("x-problems" = [boundless("maxUsd")], "x-other-names" = ["max", "usd"]))]
    pub max_usd: f64,
}

/// How well all tool calls together agree with a reference.
///
/// Calls are equal if their tools and all of their arguments are, in any order of keys. A call that is in the reference
/// twice must be made twice. At least one of `precision`, `recall` and `exactMatch` is required.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("anyOf" = [
    { "required": ["precision"] }, { "required": ["recall"] }, { "required": ["exactMatch"] },
]))]
#[schemars(extend("x-problems" = [{
    "if": {
        "required": ["exactMatch"], "properties": { "exactMatch": { "const": false } },
        "not": { "anyOf": [{ "required": ["precision"] }, { "required": ["recall"] }] },
    },
    "at": "exactMatch", "underline": "key", "code": "missing-field", "message": "missing `precision` or `recall`",
    "note": "`exactMatch` is off", "help": "add one of them, or write `exactMatch: true`",
}]))]
pub struct TrajectoryExpect {
    /// Calls to compare with, in order.
    #[schemars(length(min = 1), extend("x-problems" = too_many("reference calls", 500)))]
    #[schemars(extend("x-other-names" = ["expected", "calls", "toolCalls", "steps"]))]
    pub reference: Vec<ReferenceCall>,
    /// Minimum share of the calls that are in the reference.
    ///
    /// ```yaml
    /// precision: { minScore: 0.8 }
    /// ```
    #[serde(default)]
    #[schemars(extend("x-looser" = { "matchArgs": [true, false] }))]
    pub precision: Option<TrajectoryScore>,
    /// Minimum share of the reference that is called.
    ///
    /// ```yaml
    /// recall: { minScore: 0.8 }
    /// ```
    #[serde(default)]
    #[schemars(extend("x-looser" = { "matchArgs": [true, false] }))]
    pub recall: Option<TrajectoryScore>,
    /// Whether the calls must be exactly those of the reference.
    #[serde(default)]
    #[schemars(extend("examples" = [true], "x-other-names" = ["exact"]))]
    #[schemars(extend("x-looser" = { "ordered": [true, false], "matchArgs": [true, false] }))]
    pub exact_match: bool,
    /// Whether `exactMatch` requires the order of the reference.
    #[serde(default = "yes")]
    #[schemars(extend("x-only" = "exactMatch", "x-other-names" = ["order", "inOrder"]))]
    pub ordered: bool,
    /// Whether arguments are compared. Without them, only the names of the tools are.
    #[serde(default = "yes")]
    #[schemars(extend("x-other-names" = ["args", "compareArgs"]))]
    pub match_args: bool,
}

fn yes() -> bool {
    true
}

/// A call of a reference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReferenceCall {
    /// Exact name of the tool.
    #[schemars(extend("x-refers" = "tools", "x-seen" = "tools", "examples" = ["lookup_order"]))]
    #[schemars(extend("x-other-names" = ["name", "function"]))]
    pub tool: Name,
    /// All arguments of the call, which must be equal.
    ///
    /// Unlike in `argsMatch`, no other arguments are allowed.
    #[serde(default)]
    #[schemars(extend("x-arguments" = "tool", "x-compared" = "output", "x-other-names" = ["arguments", "argsMatch"]))]
    pub args: Map<String, Value>,
}

/// A minimum share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrajectoryScore {
    /// Minimum share, from 0 to 1.
    #[serde(default = "whole")]
    #[schemars(range(min = 0.0, max = 1.0))]
    #[schemars(extend("x-other-names" = ["threshold", "min", "score"], "x-problems" = [{
        "if": { "const": 0 }, "code": "vacuous-claim", "message": "every share meets `minScore: 0`", "help": "raise it",
    }]))]
    pub min_score: f64,
}

fn whole() -> f64 {
    1.0
}

/// Returns the problem of a limit without end.
pub(super) fn boundless(key: &str) -> Value {
    json!({
        "if": { "exclusiveMinimum": f64::MAX }, "code": "vacuous-claim",
        "message": format!("no value exceeds `{key}: .inf`"), "help": "write a finite number",
    })
}

/// Returns the problem of a list that is too long for KindLM.
pub(super) fn too_many(what: &str, most: usize) -> Value {
    json!([{
        "if": { "type": "array", "not": { "maxItems": most } }, "code": "upstream-differs", "underline": "key",
        "message": format!("KindLM rejects a file with more than {most} {what}"),
    }])
}

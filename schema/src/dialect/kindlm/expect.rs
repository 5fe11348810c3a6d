//! `expect`: everything that can be claimed about a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::words::{FilePath, Name, Pattern};

/// What must hold of every run of the test.
///
/// Every key is an expectation; a run passes when all of them hold. `expect: {}` checks nothing, so
/// the test passes whatever happens.
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
/// `guardrails.keywords`, `judge`, `baseline`, `latency`, `cost`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(deny_unknown_fields, extend("x-claims" = true))]
pub struct Expect {
    /// What the text, or JSON, that came out must look like.
    ///
    /// ```yaml
    /// output:
    ///   contains: [shipped]
    ///   maxLength: 400
    /// ```
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-other-names" = ["text", "response"]))]
    pub output: Option<OutputExpect>,
    /// Which tools must, or must not, have been called.
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
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-other-names" = ["tools"]))]
    pub tool_calls: Option<Vec<ToolCallExpect>>,
    /// What the output must never hold: personal data, forbidden words.
    ///
    /// ```yaml
    /// guardrails:
    ///   pii: {}
    ///   keywords: { deny: [password] }
    /// ```
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guardrails: Option<Guardrails>,
    /// Criteria that a model judges the output by.
    ///
    /// ```yaml
    /// judge:
    ///   - criteria: The answer names a date.
    ///     minScore: 0.8
    /// ```
    ///
    /// `speclens run` asks the model once per criterion, and records its answer: another `minScore` is judged without asking
    /// again. A judge that does not answer, or not as it was asked to, leaves the criterion unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-other-names" = ["llmJudge"]))]
    pub judge: Option<Vec<JudgeExpect>>,
    /// How far the output may be from a stored one.
    ///
    /// speclens does not judge it: the result is unknown. KindLM's
    /// `test` command never loads a baseline, so a drift expectation always fails there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<BaselineExpect>,
    /// How long a run may take.
    ///
    /// ```yaml
    /// latency: { maxMs: 5000 }
    /// ```
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-other-names" = ["time"]))]
    pub latency: Option<LatencyExpect>,
    /// How much a run may cost.
    ///
    /// ```yaml
    /// cost: { maxUsd: 0.05 }
    /// ```
    ///
    /// The cost of a command is unknown; KindLM counts it as 0, so the expectation
    /// always holds for command tests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<CostExpect>,
}

/// What the text, or JSON, that came out must look like.
///
/// For a command the text is its standard output without the protocol events, trimmed at both ends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(deny_unknown_fields)]
#[schemars(extend(
    "if" = { "type": "object", "properties": { "format": { "const": "json" } }, "required": ["format"] },
    "then" = { "required": ["schemaFile"], "properties": { "schemaFile": { "type": "string", "minLength": 1 } } }
))]
#[schemars(extend("x-advice" = [{
    "names": ["containsAny", "contains_any", "containsOneOf", "anyOf", "any_of", "oneOf"],
    "help": "use `guardrails.keywords.allow`, of which the output must contain one",
}]))]
pub struct OutputExpect {
    /// Whether the output is text or JSON.
    ///
    /// With `json` the output must parse as one JSON value, and `schemaFile` is required. When it does not
    /// parse, that is the only result: the rest of `output` is not checked.
    ///
    /// A command may report its JSON with a protocol event instead of printing nothing else:
    /// `{"kindlm":"output_json","data":{"ok":true}}`. KindLM parses the text all the same.
    #[schemars(extend("x-other-names" = ["type"]))]
    pub format: OutputFormat,
    /// A JSON Schema file that the output must match.
    ///
    /// The path is relative to the suite's directory and must stay below it. Draft-07 is assumed. With
    /// `format: text` the schema sees the whole text as one string.
    ///
    /// ```yaml
    /// output:
    ///   format: json
    ///   schemaFile: schemas/answer.json
    /// ```
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["schemas/answer.json"]), extend("x-file" = "json-schema"))]
    #[schemars(extend("x-other-names" = ["schema", "jsonSchema"]))]
    pub schema_file: Option<FilePath>,
    /// Texts that must all occur; upper and lower case count as equal.
    ///
    /// One result per text, without word boundaries: `cat` is found in `concatenate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = [["refund", "policy"]]))]
    #[schemars(extend("x-other-names" = ["includes", "containsAll", "contains_all", "include", "mustContain"]))]
    pub contains: Option<Vec<String>>,
    /// Texts of which none may occur; upper and lower case count as equal.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = [["error", "traceback"]]))]
    #[schemars(extend("x-other-names" = ["excludes", "mustNotContain"]))]
    pub not_contains: Option<Vec<String>>,
    /// The greatest length of the text, in UTF-16 units as JavaScript counts them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_u64), extend("examples" = [400]))]
    pub max_length: Option<u64>,
}

/// How the output is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OutputFormat {
    /// As text.
    #[default]
    Text,
    /// As one JSON value; `schemaFile` says what it must look like.
    Json,
}

/// A tool that must, or must not, have been called.
///
/// Names are compared exactly. Calls are not used up: one call may satisfy several entries. As soon as one
/// entry has `order`, all entries of the list are judged together, by position.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct ToolCallExpect {
    /// The name of the tool, compared exactly.
    #[schemars(extend("x-refers" = "tools", "examples" = ["lookup_order"]))]
    #[schemars(extend("x-other-names" = ["name", "function"]))]
    pub tool: Name,
    /// The tool must not be called at all.
    ///
    /// The other keys of the entry are ignored then: any call with this name fails the expectation, whatever its
    /// arguments.
    #[serde(default)]
    #[schemars(extend(
        "x-other-names" = [
            "not", "shouldNotBeCalled", "mustNotCall", "must_not_call", "mustNotBeCalled", "notCalled", "forbidden",
        ],
    ))]
    pub should_not_call: bool,
    /// Arguments that at least one call of the tool must have.
    ///
    /// Objects match partially at every depth (further keys are allowed), lists item by item and in full
    /// length, everything else exactly: `"1"` is not `1`, and null is not missing.
    ///
    /// ```yaml
    /// argsMatch:
    ///   order_id: "12345"
    ///   options: { express: true }
    /// ```
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-other-names" = ["args", "arguments", "with"]))]
    pub args_match: Option<Map<String, Value>>,
    /// A JSON Schema file that the arguments of at least one call must match.
    ///
    /// The path is relative to the suite's directory and must stay below it. KindLM reads the
    /// file and then fails every such expectation with `INTERNAL_ERROR`, because nothing validates with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["schemas/lookup-order.json"]), extend("x-file" = "json-schema"))]
    pub args_schema: Option<FilePath>,
    /// The position among all calls, counted from 0, at which this tool must have been called.
    ///
    /// Independent of which call satisfies `argsMatch`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64), extend("examples" = [0]))]
    #[schemars(extend("x-other-names" = ["position", "index"]))]
    pub order: Option<u64>,
}

/// What the output must never hold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(deny_unknown_fields)]
pub struct Guardrails {
    /// No personal data in the text of the output.
    ///
    /// `pii: {}` looks for what looks like a United States social security number, a payment card number
    /// or an e-mail address. Tool arguments, structured output and standard error are not searched.
    ///
    /// ```yaml
    /// pii:
    ///   customPatterns:
    ///     - { name: order-id, pattern: "ORD-\\d{6}" }
    /// ```
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pii: Option<PiiGuardrail>,
    /// Phrases that must not occur, or of which one must.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keywords: Option<KeywordsGuardrail>,
}

/// No personal data in the text of the output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(deny_unknown_fields)]
pub struct PiiGuardrail {
    /// Whether the text is searched.
    ///
    /// `false` switches the expectation off. KindLM never reads this key and searches all the same.
    pub enabled: bool,
    /// Regular expressions that must not match, in place of the three built-in ones.
    ///
    /// ECMAScript syntax, upper and lower case count as equal, written without delimiters. `[]` leaves only
    /// `customPatterns`. A pattern with nested quantifiers, such as `(a+)+`, is rejected by KindLM
    /// program: the whole expectation fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = [["\\b\\d{3}-\\d{2}-\\d{4}\\b"]]))]
    pub deny_patterns: Option<Vec<Pattern>>,
    /// Further regular expressions that must not match, each with a name for the report.
    ///
    /// ```yaml
    /// customPatterns:
    ///   - name: order-id
    ///     pattern: "ORD-\\d{6}"
    /// ```
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-other-names" = ["patterns"]))]
    pub custom_patterns: Option<Vec<CustomPattern>>,
}

impl Default for PiiGuardrail {
    fn default() -> PiiGuardrail {
        PiiGuardrail { enabled: true, deny_patterns: None, custom_patterns: None }
    }
}

/// A regular expression with a name for the report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct CustomPattern {
    /// What a finding is called in the report.
    #[schemars(extend("examples" = ["order-id"]))]
    pub name: Name,
    /// The regular expression, in ECMAScript syntax.
    #[schemars(extend("examples" = ["ORD-\\d{6}"]))]
    #[schemars(extend("x-other-names" = ["regex"]))]
    pub pattern: Pattern,
}

/// Phrases that must not occur, or of which one must.
///
/// Found anywhere in the text, also inside words; upper and lower case count as equal.
///
/// ```yaml
/// keywords:
///   deny: [password, internal only]
///   allow: [refund, exchange]
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(deny_unknown_fields)]
pub struct KeywordsGuardrail {
    /// Phrases of which none may occur. One result per phrase.
    #[schemars(extend("examples" = [["password"]]))]
    #[schemars(extend(
        "x-other-names" = ["block", "denied", "disallow", "disallowed", "forbidden", "blocked", "denylist", "forbid"],
    ))]
    pub deny: Vec<String>,
    /// Phrases of which at least one must occur. One result in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = [["refund", "exchange"]]))]
    #[schemars(extend("x-other-names" = ["any_of", "anyOf", "allowed", "require"]))]
    pub allow: Option<Vec<String>>,
}

/// A criterion that a model judges the output by.
///
/// The model that judges is `defaults.judgeModel`, or else the first of `models`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct JudgeExpect {
    /// What the judge is asked to score, as a sentence.
    #[schemars(extend("examples" = ["The answer is polite and names the delivery date."]))]
    #[schemars(extend("x-other-names" = ["prompt", "criterion", "question"]))]
    pub criteria: Name,
    /// The least score that passes, from 0 to 1.
    #[serde(default = "default_min_score")]
    #[schemars(range(min = 0.0, max = 1.0))]
    #[schemars(extend("x-other-names" = ["threshold", "min", "score"]))]
    pub min_score: f64,
    /// The provider's own name of another model to judge with.
    ///
    /// Not the `id` of an entry in `models`: the text is sent to the judge's provider unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["gpt-4o-mini"]))]
    pub model: Option<String>,
    /// What the scores mean, handed to the judge below the criterion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rubric: Option<String>,
}

fn default_min_score() -> f64 {
    0.7
}

/// How far the output may be from a stored one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(deny_unknown_fields)]
pub struct BaselineExpect {
    /// How far the output may have drifted. Without it nothing is checked.
    ///
    /// ```yaml
    /// baseline:
    ///   drift: { maxScore: 0.2, method: field-diff, fields: [status, items.0.sku] }
    /// ```
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<DriftExpect>,
}

/// How far the output may have drifted from the stored one: 0 is the same, 1 is something else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(deny_unknown_fields)]
pub struct DriftExpect {
    /// The greatest drift that passes, from 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub max_score: f64,
    /// How drift is measured.
    pub method: DriftMethod,
    /// With `field-diff`: the fields to compare, as dotted paths; numbers are list positions.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = [["status", "items.0.sku"]]))]
    pub fields: Option<Vec<String>>,
}

impl Default for DriftExpect {
    fn default() -> DriftExpect {
        DriftExpect { max_score: 0.15, method: DriftMethod::Judge, fields: None }
    }
}

/// How drift is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DriftMethod {
    /// A model compares both texts.
    #[default]
    Judge,
    /// The distance of the texts' embeddings; only `openai` can embed.
    Embedding,
    /// The share of `fields` that differ, both texts read as JSON.
    FieldDiff,
}

/// How long a run may take.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct LatencyExpect {
    /// The most milliseconds from start to end; the value itself still passes.
    #[schemars(extend("exclusiveMinimum" = 0), extend("examples" = [5000]))]
    #[schemars(extend("x-other-names" = ["max", "ms"]))]
    pub max_ms: f64,
}

/// How much a run may cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct CostExpect {
    /// The most US dollars; the value itself still passes.
    #[schemars(extend("exclusiveMinimum" = 0), extend("examples" = [0.05]))]
    #[schemars(extend("x-other-names" = ["max", "usd"]))]
    pub max_usd: f64,
}

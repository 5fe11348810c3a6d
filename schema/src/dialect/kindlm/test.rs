//! `tests`: commands or prompts, variables, and expectations.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::words::{ModelReference, Name, PromptReference, Tag, Template, TestName, TurnName};

use super::expect::Expect;

/// A test: a shell command or a prompt, and its expectations.
///
/// ```yaml
/// - name: answers-about-refunds
///   command: python agent.py --input '{{question}}'
///   vars: { question: What is the refund policy? }
///   expect:
///     output: { contains: [refund] }
/// ```
///
/// A test has exactly one of `command` and `prompt`. A command test runs once per repeat; a prompt test runs once per
/// model and repeat.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("oneOf" = [{ "required": ["command"] }, { "required": ["prompt"] }]))]
#[schemars(extend("x-advice" = [
    { "names": ["user"], "help": "move it into an entry of `prompts`, and name that entry in `prompt`" },
    { "names": ["timeout", "timeoutMs", "timeout_ms"], "help": "set `defaults.timeoutMs`, which applies to every test" },
    { "names": ["enabled"], "help": "to leave the test out, write `skip: true`" },
    { "names": ["only"], "help": "run the test with `--test`, or set `skip: true` in the others" },
]))]
#[schemars(extend("x-problems" = [
    {
        "if": { "required": ["expect"], "properties": {
            "expect": { "maxProperties": 0 },
            "conversation": { "not": { "contains": {
                "required": ["expect"], "properties": { "expect": { "not": { "maxProperties": 0 } } },
            } } },
        } },
        "at": "expect", "underline": "key", "code": "no-claims",
        "message": "`expect` has no expectations, so this test always passes",
        "help": "add an expectation, such as `output: { contains: [...] }`",
    },
    {
        "if": { "required": ["prompt", "models"], "properties": { "models": { "maxItems": 0 } } },
        "at": "models", "code": "unchecked", "message": "`models` is empty, so the test never runs",
        "help": "remove `models` to use all models, or list some",
    },
    {
        "if": { "required": ["command", "expect"], "properties": { "expect": { "required": ["cost"] } } },
        "at": "expect.cost", "underline": "key", "code": "contradiction", "message": "the cost of a command is unknown",
        "note": "this expectation always fails", "help": "remove it",
    },
]))]
pub struct Test {
    /// Name of the test, unique in the file.
    #[schemars(extend("examples" = ["answers-about-refunds"]))]
    #[schemars(extend("x-other-names" = ["id", "title"]))]
    pub name: TestName,
    /// Shell command to run.
    ///
    /// The command runs with `sh -c` in the suite's directory, with the caller's environment and no input. `{{name}}`
    /// is replaced by a value from `vars`, without shell quoting. The exit code alone does not fail the test.
    ///
    /// ```yaml
    /// command: node agent.js --user {{user_id}}
    /// ```
    ///
    /// Its standard output is the text that `expect` checks. Lines that begin with `{"kindlm":` are events:
    /// `{"kindlm":"tool_call","name":"…","arguments":{…}}` and `{"kindlm":"output_json","data":…}`. A command that runs
    /// longer than `defaults.timeoutMs` is terminated.
    #[schemars(extend("x-shell" = true, "examples" = ["python agent.py --input '{{question}}'"]))]
    #[schemars(extend("x-other-names" = ["cmd", "run"]))]
    pub command: Option<Template>,
    /// Key of the entry in `prompts` to send to each model.
    ///
    /// The test runs once per model and repeat. The text that `expect` checks is the model's last reply.
    #[schemars(extend("minLength" = 1), extend("examples" = ["refund"]))]
    pub prompt: Option<PromptReference>,
    /// Values of the template variables in the command or the prompt.
    ///
    /// Names consist of ASCII letters, digits, `_` and `.`; names that begin with `env.` are never replaced. Values
    /// must be strings, so put numbers in quotes. In a command, values are inserted without shell quoting.
    ///
    /// ```yaml
    /// vars:
    ///   user_id: u-12345
    ///   limit: "10"
    /// ```
    #[serde(default)]
    #[schemars(extend("x-defines" = "vars"))]
    #[schemars(extend("x-other-names" = ["variables", "input", "inputs"]))]
    pub vars: BTreeMap<String, String>,
    /// Ids of the models to use. Defaults to all models.
    ///
    /// With an empty list, a prompt test never runs. The key has no effect on command tests.
    #[schemars(extend("x-only" = "prompt", "x-unique" = { "what": "model" }))]
    pub models: Option<Vec<ModelReference>>,
    /// Number of attempts, instead of `defaults.repeat`.
    ///
    /// A test passes if all of its attempts pass.
    #[schemars(range(min = 1, max = 100), extend("examples" = [3]))]
    #[schemars(extend("x-other-names" = ["runs"]))]
    pub repeat: Option<u32>,
    /// Simulated tools that the model may call.
    ///
    /// The tools are not executed: calls are answered from `responses`. Only for prompt tests.
    #[schemars(extend("x-only" = "prompt"))]
    #[schemars(extend("x-other-names" = ["mocks"]))]
    pub tools: Option<Vec<Tool>>,
    /// Expectations about individual replies, in order, and further messages of the user.
    ///
    /// The first item applies to the model's first reply, each further one to the next reply. An item with `user` sends
    /// that text once the model has no more tools to call, and applies to the first reply to it. Only for prompt tests.
    ///
    /// ```yaml
    /// conversation:
    ///   - turn: looks-up
    ///     expect: { toolCalls: [{ tool: lookup_order }] }
    ///   - turn: thanks
    ///     user: Thank you!
    ///     expect: { output: { contains: [welcome] } }
    /// ```
    #[schemars(extend("x-only" = "prompt", "x-non-empty" = "add an item, or remove the key"))]
    #[schemars(extend("x-other-names" = ["turns", "messages"]))]
    pub conversation: Option<Vec<Turn>>,
    /// Maximum number of replies of the model. Only for prompt tests.
    ///
    /// If it still calls tools then, the test fails.
    #[schemars(range(min = 1, max = 20), extend("default" = 10, "x-only" = "prompt"))]
    pub max_turns: Option<u32>,
    /// Expectations about every attempt.
    #[schemars(extend("x-other-names" = ["assert", "assertions", "asserts", "expected"]))]
    pub expect: Expect,
    /// Labels to select tests with `--tag` on the command line.
    ///
    /// KindLM has no option to select tests by tag.
    #[schemars(with = "Option<Vec<Tag>>", extend("examples" = [["smoke"]]))]
    pub tags: Option<Vec<String>>,
    /// Whether to skip the test. It is still checked, and reported as skipped.
    #[serde(default)]
    #[schemars(extend("x-other-names" = ["disabled"]))]
    pub skip: bool,
}

/// A simulated tool.
///
/// ```yaml
/// tools:
///   - name: lookup_order
///     parameters: { type: object, properties: { order_id: { type: string } } }
///     responses:
///       - when: { order_id: "12345" }
///         then: { status: shipped }
///     defaultResponse: { error: unknown order }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// Name of the tool, as the model calls it.
    #[schemars(extend("x-name" = { "what": "tool", "note": "the first one answers every call", "help": "remove one of the two", "severity": "warning" }))]
    #[schemars(extend("x-defines" = "tools", "examples" = ["lookup_order"]))]
    #[schemars(extend("x-other-names" = ["tool"]))]
    pub name: Name,
    /// Description of the tool, for the model.
    pub description: Option<String>,
    /// JSON Schema of the arguments, sent to the provider unchanged.
    #[schemars(extend("x-other-names" = ["schema", "inputSchema", "input_schema", "args"]))]
    pub parameters: Option<Map<String, Value>>,
    /// Responses to calls. The first one whose `when` matches is used.
    #[schemars(extend("x-other-names" = ["mocks"]))]
    pub responses: Option<Vec<ToolResponse>>,
    /// Response to a call that no item of `responses` matches.
    #[serde(default, deserialize_with = "present")]
    #[schemars(extend("x-compared" = "output", "x-other-names" = ["returns", "default"]))]
    pub default_response: Option<Value>,
}

/// A response to calls with certain arguments.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-problems" = [{
    "if": { "required": ["when"], "not": { "required": ["then"] } },
    "at": "when", "underline": "key", "code": "missing-field", "severity": "warning",
    "message": "the response has no `then`", "note": "the result is null; KindLM sends a message without content",
    "help": "add `then`",
}]))]
pub struct ToolResponse {
    /// Arguments that a call must have; others are ignored. `{}` matches every call.
    ///
    /// Unlike in `expect.toolCalls[].argsMatch`, nested values must be equal in full. KindLM also compares the order of
    /// their keys.
    #[schemars(extend("x-arguments" = "", "x-compared" = "output", "x-other-names" = ["args", "arguments", "if"]))]
    pub when: Map<String, Value>,
    /// Response, of any type.
    #[serde(default, deserialize_with = "present")]
    #[schemars(extend("x-compared" = "output", "x-other-names" = ["response", "return", "returns"]))]
    pub then: Option<Value>,
}

/// Expectations about one reply of the model.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-problems" = [
    {
        "if": { "required": ["expect"], "properties": { "expect": { "required": ["judge"] } } },
        "at": "expect.judge", "underline": "key", "code": "upstream-differs",
        "message": "KindLM does not evaluate `judge` for a single reply", "note": "the expectation always fails there",
    },
    {
        "if": { "required": ["expect"], "properties": { "expect": { "required": ["baseline"] } } },
        "at": "expect.baseline", "underline": "key", "code": "never-evaluated",
        "message": "`baseline` is not evaluated for a single reply", "help": "move it to the `expect` of the test",
    },
    {
        "if": {
            "required": ["expect"],
            "properties": { "expect": { "required": ["output"], "properties": { "output": { "required": ["schemaFile"] } } } },
        },
        "at": "expect.output.schemaFile", "underline": "key", "code": "upstream-differs",
        "message": "KindLM does not read `schemaFile` for a single reply",
        "note": "it checks only that the reply is JSON",
    },
    {
        "if": {
            "required": ["expect"],
            "properties": { "expect": {
                "required": ["toolCalls"], "properties": { "toolCalls": { "contains": { "required": ["argsSchema"] } } },
            } },
        },
        "at": "expect.toolCalls", "underline": "key", "code": "upstream-differs",
        "message": "KindLM does not read `argsSchema` for a single reply", "note": "its run ends with an error",
    },
    {
        "if": { "required": ["expect"], "properties": { "expect": { "required": ["cost"] } } },
        "at": "expect.cost", "underline": "key", "code": "upstream-differs",
        "message": "KindLM does not know the cost of a single reply", "note": "the expectation always fails there",
    },
]))]
pub struct Turn {
    /// Label for reports, unique in the test.
    #[schemars(extend("x-name" = { "what": "turn label" }))]
    #[schemars(extend("examples" = ["asks-for-order-number"]))]
    #[schemars(extend("x-other-names" = ["name", "label", "id"]))]
    pub turn: TurnName,
    /// Message that the user sends once the model has no more tools to call.
    ///
    /// `{{name}}` is replaced by a value from `vars`.
    ///
    /// KindLM never sends it.
    #[schemars(extend("minLength" = 0, "x-other-names" = ["content", "message"], "examples" = ["Thank you!"], "x-problems" = [{
        "if": true, "code": "upstream-differs", "underline": "key", "message": "KindLM never sends `user`",
    }]))]
    pub user: Option<Template>,
    /// Expectations about this reply.
    ///
    /// KindLM does not load files named here: `format: json` checks only that the reply parses, and `argsSchema` ends its
    /// run with an error. `judge` and `baseline` are not evaluated for a single reply.
    #[schemars(extend("x-other-names" = ["assert", "assertions"]))]
    pub expect: Option<Expect>,
}

/// Reads an empty value or `null` as a value, not as a missing key.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

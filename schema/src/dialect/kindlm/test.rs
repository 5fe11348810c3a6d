//! `tests`: what is done, with which values, and what is expected of it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::words::{Defines, Models, Name, Prompts, Refers, Tag, Template, Tests, Turns};

use super::expect::Expect;

/// One test: a shell command or a prompt, and what must hold of every run.
///
/// ```yaml
/// - name: answers-about-refunds
///   command: python agent.py --input '{{question}}'
///   vars: { question: What is the refund policy? }
///   expect:
///     output: { contains: [refund] }
/// ```
///
/// Exactly one of `command` and `prompt` must be given. A command test runs once per repeat; a prompt test
/// runs once per model and repeat.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
#[schemars(extend("oneOf" = [{ "required": ["command"] }, { "required": ["prompt"] }]))]
pub struct Test {
    /// The name of the test, unique in the file.
    #[schemars(extend("examples" = ["answers-about-refunds"]))]
    #[schemars(extend("x-other-names" = ["id", "title"]))]
    pub name: Defines<Tests>,
    /// The shell command that is run.
    ///
    /// Run as `sh -c` in the suite's directory, with the caller's environment and no input. `{{name}}` is
    /// replaced by a value of `vars` without quoting. The exit status alone does not fail the test.
    ///
    /// ```yaml
    /// command: node agent.js --user {{user_id}}
    /// ```
    ///
    /// Its standard output is the text that `expect` looks at. Lines that begin with `{"kindlm":` are
    /// events: `{"kindlm":"tool_call","name":"…","arguments":{…}}` and
    /// `{"kindlm":"output_json","data":…}`. A command that runs longer than `defaults.timeoutMs` is ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-shell" = true, "examples" = ["python agent.py --input '{{question}}'"]))]
    #[schemars(extend("x-other-names" = ["cmd", "run"]))]
    pub command: Option<Template>,
    /// The key of an entry in `prompts` that is sent to each model.
    ///
    /// Listed and checked, but not run by this version: such a test stays unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minLength" = 1), extend("examples" = ["refund"]))]
    pub prompt: Option<Refers<Prompts>>,
    /// The values of `{{name}}` in the command or the prompt.
    ///
    /// Names consist of ASCII letters, digits, `_` and `.`; those that begin with `env.` are never replaced.
    /// Values must be text: put numbers in quotes. In a command they are put in without shell quoting.
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
    /// The ids of the models that are asked; all of them when the key is absent.
    ///
    /// With an empty list a prompt test never runs. A command test asks no model, so the key has no effect
    /// there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-only" = "prompt"))]
    pub models: Option<Vec<Refers<Models>>>,
    /// How many times the test is run, in place of `defaults.repeat`.
    ///
    /// A test passes when all of its runs do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100), extend("examples" = [3]))]
    #[schemars(extend("x-other-names" = ["runs"]))]
    pub repeat: Option<u32>,
    /// Tools that the model may call, with the answers that it gets.
    ///
    /// Nothing is executed: a call is answered from `responses`. Only for prompt tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-only" = "prompt"))]
    #[schemars(extend("x-other-names" = ["mocks"]))]
    pub tools: Option<Vec<Tool>>,
    /// What must hold of single replies within the tool loop, in their order.
    ///
    /// Entry *n* is judged against the model's *n*-th reply. Only for prompt tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-only" = "prompt"))]
    #[schemars(extend("x-other-names" = ["turns", "messages"]))]
    pub conversation: Option<Vec<Turn>>,
    /// After how many replies the tool loop is ended. Only for prompt tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 20), extend("default" = 10, "x-only" = "prompt"))]
    pub max_turns: Option<u32>,
    /// What must hold of every run.
    #[schemars(extend("x-other-names" = ["assert", "assertions", "asserts", "expected"]))]
    pub expect: Expect,
    /// Labels to select tests by, with `--tag` on the command line.
    ///
    /// KindLM keeps them and has no option to select by them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<Tag>>", extend("examples" = [["smoke"]]))]
    pub tags: Option<Vec<String>>,
    /// Leaves the test out of runs. It is still checked, and reported as skipped.
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct Tool {
    /// The name by which the model calls the tool.
    #[schemars(extend("x-defines" = "tools", "examples" = ["lookup_order"]))]
    #[schemars(extend("x-other-names" = ["tool"]))]
    pub name: Name,
    /// Description of the tool for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The JSON Schema of the arguments, sent to the provider unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-other-names" = ["schema", "inputSchema", "input_schema", "args"]))]
    pub parameters: Option<Map<String, Value>>,
    /// Answers to calls; the first one whose `when` matches is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-other-names" = ["mocks"]))]
    pub responses: Option<Vec<ToolResponse>>,
    /// The answer to a call that no entry of `responses` matches.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-other-names" = ["returns", "default"]))]
    pub default_response: Option<Value>,
}

/// An answer to calls with certain arguments.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct ToolResponse {
    /// The arguments that a call must have; others are ignored, `{}` matches every call.
    ///
    /// Nested values must be equal in full, with their keys in the same order, unlike in
    /// `expect.toolCalls[].argsMatch`.
    #[schemars(extend("x-other-names" = ["args", "arguments", "if"]))]
    pub when: Map<String, Value>,
    /// The answer, any value.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-other-names" = ["response", "return", "returns"]))]
    pub then: Option<Value>,
}

/// What must hold of one reply of the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct Turn {
    /// A label for reports, unique in the test.
    #[schemars(extend("examples" = ["asks-for-order-number"]))]
    #[schemars(extend("x-other-names" = ["name", "label", "id"]))]
    pub turn: Defines<Turns>,
    /// What the user says in this turn. It is never sent; KindLM ignores it, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-other-names" = ["content", "message"]))]
    pub user: Option<String>,
    /// What must hold of this reply.
    ///
    /// Files named here are not loaded by KindLM: `format: json` checks only that the reply
    /// parses. `judge` and `baseline` are not judged for a single reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-other-names" = ["assert", "assertions"]))]
    pub expect: Option<Expect>,
}

/// A key with nothing, or `null`, behind it is a value like any other.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

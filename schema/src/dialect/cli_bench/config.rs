//! The main file as a whole: `cli-bench.yaml`.

use std::{borrow::Cow, collections::BTreeMap};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    suite::HelpMode,
    words::{Name, SecretPattern, Shell, Url, words},
};

use super::{
    gates::Thresholds,
    tasks::{Environment, Task, blank},
};

/// A cli-bench suite: how well models use a command-line program.
///
/// ```yaml
/// cli: mycli
/// version_command: mycli --version
/// providers:
///   - anthropic/claude-sonnet-4.6
/// tasks:
///   - id: show-version
///     intent: Show the version of mycli
///     max_turns: 2
///     assert:
///       - exit_code: 0
///       - output_contains: "1."
///   - file://tasks/*.yaml
/// ```
///
/// Each model attempts each task: it runs shell commands until it is done or has used `max_turns`. Then the assertions
/// of the task are evaluated.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct Config {
    /// Program that the tasks are about. It must be on the `PATH`.
    ///
    /// The prompt begins with the name of the program. If a task's shell does not find it, no model is asked.
    #[schemars(extend("examples" = ["mycli"]))]
    #[schemars(extend("x-other-names" = ["command", "program", "tool"]))]
    #[schemars(extend("x-problems" = blank("cli", "name the program that the tasks are about")))]
    pub cli: Name,
    /// Shell command that prints the program's version.
    ///
    /// It runs once; the first line of its output is the version in reports. Without it, reports have no version.
    /// Earlier documentation of cli-bench used `<cli> --version` by default.
    #[schemars(extend("x-shell" = true, "examples" = ["mycli --version"]))]
    pub version_command: Option<String>,
    /// Name of the program in reports. Defaults to `cli`.
    #[schemars(extend("examples" = ["My CLI"]))]
    #[schemars(extend("x-other-names" = ["name"]))]
    pub display_name: Option<String>,
    /// Label to group programs by.
    #[schemars(extend("examples" = ["Cloud"]))]
    pub category: Option<String>,
    /// Website of the program, for display only.
    #[schemars(extend("examples" = ["https://mycli.example"]))]
    pub website_url: Option<Url>,
    /// Source repository of the program, for display only.
    #[schemars(extend("examples" = ["https://github.com/example/mycli"]))]
    pub github_url: Option<Url>,
    /// Models that attempt the tasks, each as `provider/model-id`.
    ///
    /// Any model of the Vercel AI Gateway, or `scripted/NAME` for the scripted model `NAME.script.yaml` in this file's
    /// directory, which needs no API key and is supported by speclens only. Each model attempts all tasks. Without this
    /// key, name the models on the command line; earlier documentation used `anthropic/claude-sonnet-4-20250514` by
    /// default.
    ///
    /// ```yaml
    /// providers:
    ///   - anthropic/claude-sonnet-4.6
    ///   - openai/gpt-4o
    /// ```
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-other-names" = ["models", "model", "provider"]))]
    #[schemars(extend("x-unique" = { "what": "model", "note": "it runs only once" }))]
    pub providers: Vec<ModelId>,
    /// Help that a model gets about the program. With several modes, the whole suite runs once in each.
    ///
    /// Without this key, a model gets only the name of the program and the intent, as with `none`. Earlier
    /// documentation of cli-bench has this key, with the default `injected`; newer documentation does not list it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-unique" = { "what": "mode", "note": "the whole suite runs once in each mode" }))]
    #[schemars(extend("examples" = [["injected"]], "x-problems" = [{
        "if": { "maxItems": 0 }, "code": "no-effect", "message": "an empty `help_modes` list has no effect",
        "note": "a model gets only the name of the program and the intent", "help": "remove the key",
    }, {
        "if": true, "underline": "key", "code": "upstream-differs",
        "message": "cli-bench no longer documents `help_modes`",
        "note": "cli-bench may ignore it, and then gives a model only the name of the program and the intent",
    }]))]
    pub help_modes: Vec<HelpMode>,
    /// Maximum number of simultaneous requests to models.
    ///
    /// With a `workdir`, set it to 1: otherwise cli-bench may run several tasks in that directory at the same time.
    /// speclens runs them one after the other.
    #[schemars(range(min = 1), extend("default" = 3))]
    pub concurrency: Option<u32>,
    /// Working directory of all tasks. Defaults to a new temporary directory for each task.
    ///
    /// All tasks share it, one after the other, including the files that earlier tasks left.
    #[schemars(extend("minLength" = 1, "x-file" = "directory", "examples" = ["./sandbox"]))]
    #[schemars(extend("x-other-names" = ["cwd", "working_directory"]))]
    pub workdir: Option<String>,
    /// Upload of results to the CLIWatch dashboard. Has no effect in speclens, which uploads nothing.
    #[schemars(extend("default" = "auto"))]
    pub upload: Option<Upload>,
    /// Number of attempts at each task with each model, for tasks without `repeat`.
    ///
    /// The pass rate counts every attempt, so it reveals tasks that pass only sometimes. A run of the whole suite stops
    /// repeating a model's tasks once the remaining attempts cannot change whether its threshold is met
    /// (`limits.stop_repeats` in `speclens.yaml`).
    #[schemars(range(min = 1, max = 100), extend("default" = 1))]
    #[schemars(extend("x-other-names" = ["repeats", "runs"]))]
    pub repeat: Option<u32>,
    /// Text to add to the agent's built-in instructions, for every task.
    ///
    /// ```yaml
    /// system_prompt: |
    ///   The account is already logged in.
    /// ```
    ///
    /// Put files that a task needs into `scaffold` instead.
    pub system_prompt: Option<String>,
    /// Environment variables whose values are masked wherever results are shown or stored.
    ///
    /// Values shorter than four characters are not masked.
    ///
    /// ```yaml
    /// redact_env: [MYCLI_TOKEN]
    /// ```
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<MaskedName>", extend("x-compared" = "name", "examples" = [["MYCLI_TOKEN"]]))]
    pub redact_env: Vec<Name>,
    /// Regular expressions whose matches are masked wherever results are shown or stored.
    ///
    /// ECMAScript syntax. An invalid pattern is an error, because it would leave secrets unmasked.
    ///
    /// ```yaml
    /// redact_patterns: ["tok_[a-z0-9]{16}"]
    /// ```
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("examples" = [["tok_[a-z0-9]{16}"]]))]
    pub redact_patterns: Vec<SecretPattern>,
    /// Environment variables of every task: for `setup`, for the model's commands, and for `verify`.
    ///
    /// A variable in a task's own `env` overrides one with the same name here. `{{workdir}}` in a value is the absolute
    /// path of the working directory.
    ///
    /// ```yaml
    /// env:
    ///   MYCLI_HOME: "{{workdir}}/.mycli"
    ///   NO_COLOR: "1"
    /// ```
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("x-other-names" = ["environment"]))]
    pub env: Environment,
    /// Shell commands that run before each task's own `setup`, in the task's working directory.
    ///
    /// The first command that fails stops the task before a model is asked. The result is an error, not a failure.
    ///
    /// ```yaml
    /// setup:
    ///   - git init -q
    /// ```
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("examples" = [["git init -q"]]))]
    #[schemars(extend("x-other-names" = ["before_each"]))]
    pub setup: Vec<Shell>,
    /// Directory whose content is copied into the working directory of each task, before any `setup`.
    ///
    /// The path is relative to the directory of this file.
    #[schemars(extend("minLength" = 1, "x-file" = "directory", "x-exists" = "directory", "examples" = ["fixtures/project"]))]
    #[schemars(extend("x-other-names" = ["fixtures", "copy"]))]
    pub scaffold: Option<String>,
    /// Pass rate that each model must reach. Without it, any failed task fails the run.
    ///
    /// ```yaml
    /// thresholds:
    ///   default: 80
    ///   models:
    ///     anthropic/claude-sonnet-4.6: 95
    ///   tolerance: 5
    /// ```
    pub thresholds: Option<Thresholds>,
    /// Tasks, and `file://` items that include the tasks of other files.
    ///
    /// ```yaml
    /// tasks:
    ///   - file://tasks/basics.yaml
    ///   - file://tasks/more/*.yaml
    /// ```
    ///
    /// The files of one item are sorted by path.
    #[schemars(length(min = 1))]
    #[schemars(extend("x-other-names" = ["tests", "cases"]))]
    pub tasks: Vec<TaskEntry>,
}

impl Config {
    /// Default of `concurrency`.
    pub(crate) const CONCURRENCY: u32 = 3;
    /// Default of `repeat`.
    pub const REPEAT: u32 = 1;
}

words! {
    /// The name of a variable whose value is masked.
    MaskedName = { "type": "string", "minLength": 1, "x-problems": [{
        "if": { "pattern": ".", "not": { "pattern": "^[A-Za-z_][A-Za-z0-9_]*$" } }, "code": "invalid-value",
        "severity": "warning", "message": "`{value}` is not a valid environment variable name",
        "note": "this entry masks nothing", "help": "name a variable, such as `MYCLI_TOKEN`",
        "fix": {
            "strip": r"^\s*\$?\{?|\}?\s*$|\}?=.*$",
            "safe-if": r"^\s*\$?\{?[A-Za-z_][A-Za-z0-9_]*\}?(=.*)?\s*$",
        },
    }] };
    /// The id of a model: `provider/model-id`.
    ModelId = {
        "type": "string",
        "pattern": "^[^/\\s]+/\\S+$",
        "x-defines": "models",
        "x-model": true,
        "x-problems": [{
            "if": { "type": "string", "not": { "pattern": "^[^/\\s]+/\\S+$" } }, "code": "invalid-value", "instead": true,
            "message": "`{value}` is not a valid model id",
            "help": "write it as `provider/model-id`, such as `openai/gpt-4o`",
        }, {
            "if": { "pattern": "^[^/]*/[^/]*/", "not": { "pattern": "^scripted/" } }, "code": "invalid-value",
            "severity": "warning", "message": "model id `{value}` has more than two parts",
            "help": "write it as `provider/model-id`",
        }],
        "examples": [
            "anthropic/claude-sonnet-4.6",
            "anthropic/claude-opus-4-6",
            "anthropic/claude-haiku-4-5-20251001",
            "openai/gpt-4o",
            "openai/gpt-4o-mini",
            "openai/o3-mini",
            "google/gemini-2.5-pro",
            "google/gemini-3-flash",
            "meta/llama-3.3-70b",
            "mistral/ministral-3b"
        ]
    };
}

/// When results are uploaded to the CLIWatch dashboard. Nothing is uploaded here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Upload {
    /// Upload if `CLIWATCH_API_KEY` is set.
    #[default]
    Auto,
    /// Always upload; errors are only logged.
    Always,
    /// Never upload.
    Never,
}

/// A task, or the files in whose place tasks are.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskEntry {
    /// `file://` and a path or a pattern.
    File(String),
    /// A task.
    Task(Box<Task>),
}

impl<'de> Deserialize<'de> for TaskEntry {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<TaskEntry, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(TaskEntry::File(text)),
            value => {
                Task::deserialize(&value).map(|task| TaskEntry::Task(Box::new(task))).map_err(serde::de::Error::custom)
            }
        }
    }
}

impl JsonSchema for TaskEntry {
    fn schema_name() -> Cow<'static, str> {
        "TaskEntry".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "if": { "type": "string" },
            "then": {
                "type": "string",
                "pattern": "^file://.",
                "description": "Path of a task file, or a pattern that matches several.\n\nThe path is relative to the suite's directory. `*` matches any part of a name, `**` any number of directories.",
                "examples": ["file://tasks/*.yaml"],
                "x-file": "tasks",
                "x-glob": true
            },
            "else": generator.subschema_for::<Task>()
        })
    }
}

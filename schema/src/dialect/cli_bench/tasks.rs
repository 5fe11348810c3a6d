//! A task, and files that contain only tasks.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::words::TaskName;

use super::assertions::Assertion;
use crate::words::Shell;

/// A list of cli-bench tasks in a file that a `file://` item of `cli-bench.yaml` names.
///
/// ```yaml
/// - id: show-help
///   intent: Show the overview help of mycli
///   max_turns: 2
///   assert:
///     - exit_code: 0
///     - output_contains: "Usage"
/// ```
///
/// The list is at the top level. A task file cannot include other files.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Tasks(pub Vec<Task>);

/// A task for a model, and its assertions.
///
/// ```yaml
/// - id: create-config
///   intent: Create a configuration file with the default settings
///   difficulty: easy
///   max_turns: 3
///   assert:
///     - exit_code: 0
///     - file_contains: { path: config.yaml, text: "version: 1" }
///     - not_ran: "rm "
/// ```
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[schemars(extend("x-problems" = [too_few_turns("medium", 2), too_few_turns("hard", 3)]))]
pub struct Task {
    /// Name of the task, unique in the suite including its task files.
    ///
    /// Use letters, digits, `.`, `_` and `-`: the id becomes a file name and selects the task on the command line.
    #[schemars(extend("x-name" = {}))]
    #[schemars(extend("examples" = ["create-config"]))]
    #[schemars(extend("x-other-names" = ["name"], "x-problems" = blank("id", "name the task")))]
    pub id: TaskName,
    /// Goal of the task, in the words of a person who does not know the program well.
    ///
    /// Describe the goal, not the command: an intent that contains the command measures nothing. The model gets only
    /// the intent and the name of the program, unless `help_modes` or `system_prompt` add more.
    #[schemars(length(min = 1), extend("examples" = ["Create a configuration file with the default settings"]))]
    #[schemars(extend("x-other-names" = ["prompt", "description", "task", "goal", "instruction"]))]
    #[schemars(extend("x-problems" = blank("intent", "describe what the model must achieve")))]
    pub intent: String,
    /// Assertions to check after the task. All must hold.
    ///
    /// All assertions are evaluated in the order of the list, even after one has failed.
    ///
    /// ```yaml
    /// assert:
    ///   - exit_code: 0
    ///   - output_contains: "Created config.yaml"
    /// ```
    #[schemars(length(min = 1), extend("x-claims" = true, "examples" = [[{ "exit_code": 0 }]]))]
    #[schemars(extend("x-other-names" = ["assertions", "asserts", "expect", "checks"]))]
    pub assert: Vec<Assertion>,
    /// Shell commands that run before the model is asked, after the suite's `setup`.
    ///
    /// They run in the working directory of the task and do not count as commands of the model.
    ///
    /// ```yaml
    /// setup:
    ///   - mycli init --quiet
    /// ```
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("examples" = [["mycli init --quiet"]]))]
    #[schemars(extend("x-other-names" = ["before"]))]
    pub setup: Vec<Shell>,
    /// Maximum number of replies of the model. Looking up help takes turns too.
    ///
    /// One reply is one turn, regardless of the number of its commands. The assertions are evaluated even if all turns are
    /// used. cli-bench does not document a default; speclens uses 5.
    #[schemars(range(min = 1, max = 20), extend("default" = 5))]
    #[schemars(extend("x-other-names" = ["turns"]))]
    pub max_turns: Option<u32>,
    /// Difficulty of the task, for display; `too-few-turns` compares it with `max_turns`.
    #[schemars(extend("x-other-names" = ["level"]))]
    pub difficulty: Option<Difficulty>,
    /// Label to group tasks by.
    #[schemars(extend("x-shares" = "categories", "examples" = ["basics"]))]
    #[schemars(extend("x-other-names" = ["tags"]))]
    pub category: Option<String>,
    /// Number of attempts with each model, instead of the suite's `repeat`.
    #[schemars(range(min = 1, max = 100), extend("examples" = [3]))]
    #[schemars(extend("x-other-names" = ["repeats", "runs"]))]
    pub repeat: Option<u32>,
    /// Environment variables of the task, in addition to those of the suite.
    ///
    /// A variable here overrides one with the same name in the suite. `{{workdir}}` in a value is the absolute path of
    /// the working directory.
    ///
    /// ```yaml
    /// env: { MYCLI_PROFILE: empty }
    /// ```
    #[serde(default, skip_serializing_if = "Environment::is_empty")]
    #[schemars(extend("x-other-names" = ["environment"]))]
    pub env: Environment,
    /// Directory whose content is copied into the working directory, instead of the suite's `scaffold`.
    ///
    /// The path is relative to the suite's directory. cli-bench documents this key only for the suite.
    #[schemars(extend("minLength" = 1, "x-file" = "directory", "x-exists" = "directory", "examples" = ["fixtures/project"]))]
    #[schemars(extend("x-other-names" = ["fixtures"]))]
    pub scaffold: Option<String>,
    /// Shell commands that run after the assertions. Failures are only logged.
    ///
    /// cli-bench does not document this key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-other-names" = ["cleanup"]))]
    pub teardown: Vec<Shell>,
    /// Maximum duration of the whole task in seconds.
    ///
    /// cli-bench does not document this key.
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "seconds", "examples" = [120]))]
    pub timeout: Option<f64>,
}

/// Returns the problem of fewer turns than a task of a difficulty needs.
fn too_few_turns(difficulty: &str, least: u32) -> Value {
    json!({
        "if": { "required": ["difficulty", "max_turns"], "properties": {
            "difficulty": { "const": difficulty }, "max_turns": { "minimum": 1, "exclusiveMaximum": least },
        } },
        "at": "max_turns", "code": "too-few-turns", "help": format!("allow at least {least} turns"),
        "message": format!("`max_turns: {{value}}` may be too few for `difficulty: {difficulty}`"),
    })
}

impl Task {
    /// Default of `max_turns`.
    pub(crate) const MAX_TURNS: u32 = 5;
}

/// Difficulty of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Difficulty {
    /// One or two turns.
    Easy,
    /// Two to four turns.
    Medium,
    /// Three to five turns, or more.
    Hard,
}

/// Environment variables by name. Values that are not strings are used as written.
pub type Environment = BTreeMap<String, EnvironmentValue>;

/// The value of an environment variable. `{{workdir}}` is the working directory.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, description = "")]
#[schemars(extend("type" = ["string", "number", "boolean"], "x-template" = "workdir"))]
pub struct EnvironmentValue(pub Value);

/// Returns the problem of a string without letters.
pub(super) fn blank(key: &str, help: &str) -> Value {
    json!([{
        "if": { "pattern": r"^\s+$" }, "code": "out-of-range", "message": format!("`{key}` must not be blank"),
        "help": help,
    }])
}

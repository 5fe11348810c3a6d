//! A task, and the files that hold nothing else.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::{Defines, Tasks as TaskNames};

use super::{
    assertions::Assertion,
    config::{Environment, Shell},
};

/// A file of cli-bench tasks: a list that a `file://` entry of `cli-bench.yaml` names.
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
/// The list is at the top level. A task file cannot name further files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Tasks(pub Vec<Task>);

/// What a model is asked to do, and what must hold afterwards.
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Task {
    /// The name of the task, unique in the whole suite, task files included.
    ///
    /// Letters, digits, `.`, `_` and `-` are best: it becomes a file name, and selects the task on the command line.
    #[schemars(extend("examples" = ["create-config"]))]
    #[schemars(extend("x-other-names" = ["name"]))]
    pub id: Defines<TaskNames>,
    /// What the model must achieve, in the words of a person who does not know the program by heart.
    ///
    /// Be specific about the goal and silent about the way: with the command in the intent, the task measures nothing.
    /// The model gets only the intent and the name of the program, unless `help_modes` or `system_prompt` say more.
    #[schemars(length(min = 1), extend("examples" = ["Create a configuration file with the default settings"]))]
    #[schemars(extend("x-other-names" = ["prompt", "description", "task", "goal", "instruction"]))]
    pub intent: String,
    /// What must hold when the task is over. All of it must.
    ///
    /// Every assertion is judged, also when one has failed, in the order of the list.
    ///
    /// ```yaml
    /// assert:
    ///   - exit_code: 0
    ///   - output_contains: "Created config.yaml"
    /// ```
    #[schemars(length(min = 1), extend("x-claims" = true, "examples" = [[{ "exit_code": 0 }]]))]
    #[schemars(extend("x-other-names" = ["assertions", "asserts", "expect", "checks"]))]
    pub assert: Vec<Assertion>,
    /// Shell commands that run before the model is asked, after the `setup` of the suite.
    ///
    /// They run in the working directory of the task and do not count among the commands that the model ran.
    ///
    /// ```yaml
    /// setup:
    ///   - mycli init --quiet
    /// ```
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("examples" = [["mycli init --quiet"]]))]
    #[schemars(extend("x-other-names" = ["before"]))]
    pub setup: Vec<Shell>,
    /// How often the model may answer. Looking for help takes turns like everything else.
    ///
    /// One answer is one turn, however many commands it holds. When the turns are used up, the assertions are judged all
    /// the same. The public documentation does not say what the default is; here it is 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 20), extend("default" = 5))]
    #[schemars(extend("x-other-names" = ["turns"]))]
    pub max_turns: Option<u32>,
    /// How hard the task is. Only shown, and compared with `max_turns`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-other-names" = ["level"]))]
    pub difficulty: Option<Difficulty>,
    /// A label to group tasks by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-shares" = "categories", "examples" = ["basics"]))]
    #[schemars(extend("x-other-names" = ["tags"]))]
    pub category: Option<String>,
    /// How often the task is run with each model, in place of the suite's `repeat`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100), extend("examples" = [3]))]
    #[schemars(extend("x-other-names" = ["repeats", "runs"]))]
    pub repeat: Option<u32>,
    /// Environment variables of the task, in addition to those of the suite.
    ///
    /// Where both have the same name, the task's value counts. `{{workdir}}` in a value is the absolute path of
    /// the working directory.
    ///
    /// ```yaml
    /// env: { MYCLI_PROFILE: empty }
    /// ```
    #[serde(default, skip_serializing_if = "Environment::is_empty")]
    #[schemars(extend("x-other-names" = ["environment"]))]
    pub env: Environment,
    /// A directory whose content is copied into the working directory, in place of the suite's `scaffold`.
    ///
    /// The path is relative to the directory of the main file. The public documentation describes the key for
    /// the suite only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minLength" = 1, "x-file" = "directory", "examples" = ["fixtures/project"]))]
    #[schemars(extend("x-other-names" = ["fixtures"]))]
    pub scaffold: Option<String>,
    /// Shell commands that run after the assertions were judged. That they fail is only logged.
    ///
    /// cli-bench is not known to have this key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-other-names" = ["cleanup"]))]
    pub teardown: Vec<Shell>,
    /// How many seconds the whole task may take.
    ///
    /// cli-bench is not known to have this key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0), extend("examples" = [120]))]
    pub timeout: Option<f64>,
}

impl Task {
    /// `max_turns` when the key is absent.
    pub const MAX_TURNS: u32 = 5;
}

/// How hard a task is.
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

impl Difficulty {
    /// The fewest turns that such a task is expected to take.
    pub fn least_turns(self) -> u32 {
        match self {
            Difficulty::Easy => 1,
            Difficulty::Medium => 2,
            Difficulty::Hard => 3,
        }
    }

    /// The difficulty with this word.
    pub fn parse(word: &str) -> Option<Difficulty> {
        match word {
            "easy" => Some(Difficulty::Easy),
            "medium" => Some(Difficulty::Medium),
            "hard" => Some(Difficulty::Hard),
            _ => None,
        }
    }
}

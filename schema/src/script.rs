//! Scripted models: files with the replies of a model. A format of speclens; such a file contains no
//! tests.

mod kind;
mod lint;
pub(crate) mod read;
pub(crate) mod suite;

use std::{borrow::Cow, collections::BTreeMap};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::{
    check::text::hexadecimal,
    files::Files,
    words::{Name, Shell},
};

pub use read::{Line, Lines, read};

/// Suffix of the names of such files.
pub const ENDING: &str = ".script.yaml";

/// Prefix of the ids of scripted models: `scripted/careful` is `careful.script.yaml`, next to the suite's main file.
pub const PREFIX: &str = "scripted/";

/// A scripted model: `NAME.script.yaml`. It answers in place of a model, without a network or an API key.
///
/// ```yaml
/// tasks:
///   create-user:
///     - run: mycli user create alice
///       expect: { exit_code: 0, output_contains: created }
///     - say: Done.
/// default:
///   - say: I do not know how.
/// answers:
///   - asked: Is the answer polite
///     say: '{"score": 0.9, "reasoning": "polite"}'
/// usage: { input_tokens: 100, output_tokens: 20 }
/// ```
///
/// A cli-bench suite names it in `providers`: `scripted/careful` is the file `careful.script.yaml` in the suite's directory.
/// On the command line, `--model scripted:PATH` plays any script. A script gives the same answers in every run.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Script {
    /// Turns of each test, by its id or name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("x-refers" = "tasks", "examples" = [{ "create-user": [{ "run": "mycli user create alice" }] }]))]
    pub tasks: BTreeMap<String, Vec<Turn>>,
    /// Turns of all tests that `tasks` does not list.
    ///
    /// Without it, such a test ends with an error that names the test.
    pub default: Option<Vec<Turn>>,
    /// Answers to requests without tools, such as those to a judge.
    ///
    /// The first answer whose `asked` occurs in the question is used, or else the turns of the test.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Answer>,
    /// Token counts that each turn and answer reports. Without it, none are reported.
    pub usage: Option<Tokens>,
}

/// One reply of the model. After the last turn of a test, the model replies without a command, which ends the test.
///
/// ```yaml
/// - say: I'll look for the user first.
///   run: mycli user list
///   expect: { exit_code: 0 }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("x-claims" = true))]
pub struct Turn {
    /// Text of the reply. A turn with only text ends the test.
    #[schemars(extend("examples" = ["Done."]))]
    pub say: Option<String>,
    /// Shell command that the model runs, or a list of commands that it runs in one turn.
    #[serde(skip_serializing_if = "Commands::is_empty")]
    pub run: Commands,
    /// Call to a tool other than the shell.
    pub call: Option<Call>,
    /// Error to simulate instead of an answer.
    pub fail: Option<Failure>,
    /// Result that this turn must have before the next one is played.
    ///
    /// If the result differs, the test ends with an error that shows both.
    pub expect: Option<Expect>,
    /// Token counts that this turn reports, instead of those of the script.
    pub usage: Option<Tokens>,
}

/// Shell commands of a turn, in order: one as a string, several as a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Commands(pub Vec<Shell>);

impl Commands {
    /// Whether the turn runs no command.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'de> Deserialize<'de> for Commands {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Commands, D::Error> {
        let commands = match &Value::deserialize(deserializer)? {
            Value::Array(commands) => commands.iter().map(Shell::deserialize).collect(),
            command => Shell::deserialize(command).map(|command| vec![command]),
        };
        commands.map(Commands).map_err(D::Error::custom)
    }
}

impl JsonSchema for Commands {
    fn schema_name() -> Cow<'static, str> {
        "Commands".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "examples": ["mycli user list"],
            "if": { "type": "array" },
            "then": {
                "type": "array",
                "minItems": 1,
                "items": { "type": "string", "minLength": 1, "x-shell": true }
            },
            "else": { "type": "string", "minLength": 1, "x-shell": true }
        })
    }
}

/// A tool call by name.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
pub struct Call {
    /// Name of the tool.
    #[schemars(extend("examples" = ["lookup_order"]))]
    pub name: Name,
    /// Arguments of the call. None by default.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schemars(extend("examples" = [{ "id": 7 }]))]
    pub arguments: Map<String, Value>,
}

/// Result that the last command or the call of a turn must have. All fields must hold.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("minProperties" = 1, "x-claims" = true))]
pub struct Expect {
    /// Exit code of the command.
    #[schemars(range(min = 0, max = 255), extend("examples" = [0]))]
    pub exit_code: Option<i32>,
    /// String in the standard output of the command, or in the result of the call.
    #[schemars(extend("minLength" = 1, "examples" = ["created"]))]
    pub output_contains: Option<String>,
    /// String in the standard error of the command.
    #[schemars(extend("minLength" = 1, "examples" = ["not found"]))]
    pub error_contains: Option<String>,
}

/// An answer to a request.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
pub struct Answer {
    /// String in the question, or in the instructions before it.
    #[schemars(extend("examples" = ["Is the answer polite"]))]
    pub asked: Name,
    /// Text of the reply.
    #[schemars(extend("examples" = ["Yes."]))]
    pub say: Option<String>,
    /// Error to simulate instead of an answer.
    pub fail: Option<Failure>,
    /// Token counts that this answer reports, instead of those of the script.
    pub usage: Option<Tokens>,
}

/// Error that a request can end with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Failure {
    /// The provider reports a rate limit.
    RateLimit,
    /// The provider rejects the API key.
    #[serde(rename = "authentication")]
    #[schemars(extend("x-synonyms" = ["key"]))]
    Key,
    /// The provider is unreachable, or its response is invalid.
    Provider,
}

/// Token counts and cost that a reply reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Tokens {
    /// Input tokens.
    #[schemars(extend("examples" = [100]))]
    pub input_tokens: u64,
    /// Output tokens.
    #[schemars(extend("examples" = [20]))]
    pub output_tokens: u64,
    /// Cost in US dollars. Unknown by default.
    #[schemars(range(min = 0), extend("examples" = [0.002]))]
    pub cost_usd: Option<f64>,
}

impl Turn {
    /// Whether the turn has neither text nor an action.
    pub fn is_empty(&self) -> bool {
        let Turn { say, run, call, fail, expect: _, usage: _ } = self;
        say.is_none() && run.is_empty() && call.is_none() && fail.is_none()
    }
}

/// Returns the digest of a script, which shows whether a recording was made with another version.
pub fn digest(content: &[u8]) -> String {
    hexadecimal(&Sha256::digest(content)[..16])
}

/// Returns the file of a scripted model, relative to the directory of the suite's main file; `None` for other ids.
pub fn file_of(id: &str) -> Option<String> {
    id.strip_prefix(PREFIX).map(|name| format!("{name}{ENDING}"))
}

/// Returns the file of a scripted model like [`file_of`].
/// `None` for an unsaved document, which has no directory.
pub(crate) fn file_beside(id: &str, files: &dyn Files) -> Option<String> {
    file_of(id).filter(|_| is_model(id) && !files.root().as_os_str().is_empty())
}

pub(crate) fn is_model(id: &str) -> bool {
    id.strip_prefix(PREFIX).is_some_and(|name| !name.is_empty())
}

/// Returns the ids of the scripted models below the directory of the suite's main file, sorted.
pub fn known(files: &dyn Files) -> Vec<String> {
    let found = files.glob(&format!("**/*{ENDING}")).paths;
    found.iter().filter_map(|path| id_of(path)).collect()
}

/// Returns the id of the model of a script file; `None` for other files.
/// `path` is relative to the directory of the suite's main file.
pub fn id_of(path: &str) -> Option<String> {
    let name = path.strip_suffix(ENDING).filter(|name| !name.is_empty() && !name.ends_with('/'))?;
    Some(format!("{PREFIX}{name}"))
}

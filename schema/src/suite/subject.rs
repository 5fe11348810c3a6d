//! Subjects: who acts in an attempt.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Subject of an attempt. Evidence of one subject is never used for another.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Subject {
    /// A shell command.
    Command,
    /// A model.
    Model {
        /// Id of the model in the suite.
        model: String,
        /// Help mode, in cli-bench.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<HelpMode>,
    },
    /// A skill or an agent of a gateway.
    Gateway {
        /// Directory of the target, relative to the root of the workspace.
        target: String,
    },
    /// Unknown: the test does not define it.
    Nobody,
}

impl Subject {
    pub fn model(model: &str, mode: Option<HelpMode>) -> Subject {
        Subject::Model { model: model.to_owned(), mode }
    }

    /// Returns the id of the model; `None` if no model acts.
    pub fn model_id(&self) -> Option<&str> {
        match self {
            Subject::Model { model, .. } => Some(model),
            Subject::Command | Subject::Gateway { .. } | Subject::Nobody => None,
        }
    }
}

/// Help that a model gets about the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HelpMode {
    /// The prompt contains the parts of the program's help that fit the task, about 4,000 characters.
    Injected,
    /// The prompt has only the name and the intent. Looking up help takes one to three turns or more.
    Discoverable,
    /// The prompt has only the name and the intent, and does not mention help.
    #[default]
    None,
}

impl HelpMode {
    /// All modes.
    pub const ALL: [HelpMode; 3] = [HelpMode::Injected, HelpMode::Discoverable, HelpMode::None];

    /// Returns the word in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            HelpMode::Injected => "injected",
            HelpMode::Discoverable => "discoverable",
            HelpMode::None => "none",
        }
    }
}

/// Prefix of the id of an agent program, and of one whose commands are all recorded.
const PROGRAM: &str = "exec:";
const WHOLE_PROGRAM: &str = "exec-complete:";

/// Maximum number of characters of the name of an agent program, if that is sufficient to distinguish it.
const MAX_PROGRAM: usize = 24;

/// A program that acts instead of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentProgram<'i> {
    /// Shell command that starts the program.
    pub command: &'i str,
    /// Whether the user guarantees that it runs every command through the recording shell.
    pub is_complete: bool,
}

/// Returns the agent program of an id such as `exec:my-agent --quiet`; `None` for the id of a model.
pub fn program_of(id: &str) -> Option<AgentProgram<'_>> {
    let (command, is_complete) = match (id.strip_prefix(PROGRAM), id.strip_prefix(WHOLE_PROGRAM)) {
        (Some(command), _) => (command, false),
        (None, Some(command)) => (command, true),
        (None, None) => return None,
    };
    Some(AgentProgram { command: command.trim(), is_complete }).filter(|program| !program.command.is_empty())
}

/// Returns the names of subjects for tables and lists: the shortest end of a model's id, or the start of the command of
/// an agent program, that distinguishes it from the others; and the help mode if there are several.
pub fn short_names(subjects: &[&Subject]) -> Vec<String> {
    let modes = |subject: &Subject| match subject {
        Subject::Model { mode, .. } => *mode,
        Subject::Command | Subject::Gateway { .. } | Subject::Nobody => None,
    };
    let has_modes = subjects.iter().any(|subject| modes(subject) != modes(subjects[0]));
    let short = |subject: &&Subject| {
        let Some(model) = subject.model_id() else { return subject.to_string() };
        let others = || subjects.iter().filter_map(|other| other.model_id()).filter(|other| *other != model);
        let is_free = |name: &String| !others().any(|other| names_of(other).contains(name));
        let name = names_of(model).into_iter().find(is_free).unwrap_or_else(|| model.to_owned());
        match modes(subject).filter(|_| has_modes) {
            Some(mode) => format!("{name} ({})", mode.as_str()),
            None => name,
        }
    };
    subjects.iter().map(short).collect()
}

/// Returns possible names of a model, the shortest first.
fn names_of(model: &str) -> Vec<String> {
    let Some(AgentProgram { command, .. }) = program_of(model) else {
        let starts = model.rmatch_indices('/').map(|(at, _)| at + 1).chain([0]);
        return starts.map(|start| model[start..].to_owned()).collect();
    };
    let (program, arguments) = command.split_at(command.find(char::is_whitespace).unwrap_or(command.len()));
    // The directory of a program says little, and its arguments are often paths.
    let program = program.rsplit('/').next().unwrap_or(program);
    let whole = format!("{program}{arguments}");
    let mut names: Vec<String> = Vec::new();
    if whole.chars().count() > MAX_PROGRAM {
        names.push(format!("{}…", whole.chars().take(MAX_PROGRAM - 1).collect::<String>().trim_end()));
    }
    names.extend([whole, model.to_owned()]);
    names
}

/// Formats the name in reports: `command`, `gateway`, `openai:gpt-4o`, `openai:gpt-4o (injected)`.
impl fmt::Display for Subject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Command => formatter.write_str("command"),
            Subject::Model { model, mode: None } => formatter.write_str(model),
            Subject::Model { model, mode: Some(mode) } => write!(formatter, "{model} ({})", mode.as_str()),
            Subject::Gateway { .. } => formatter.write_str("gateway"),
            Subject::Nobody => formatter.write_str("none"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_name_is_the_shortest_end_that_tells_subjects_apart() {
        let short = |subjects: &[Subject]| short_names(&subjects.iter().collect::<Vec<_>>());
        let model = |id| Subject::model(id, Some(HelpMode::None));
        assert_eq!(
            short(&[model("anthropic/claude-sonnet-4.6"), model("openai/gpt-4o")]),
            ["claude-sonnet-4.6", "gpt-4o"]
        );
        assert_eq!(short(&[model("a/same"), model("b/same"), model("c/x")]), ["a/same", "b/same", "x"]);
        let modes = [model("a/one"), Subject::model("a/one", Some(HelpMode::Injected))];
        assert_eq!(short(&modes), ["one (none)", "one (injected)"]);
        assert_eq!(short(&[model("a/x/one"), model("b/y/one"), model("b/z")]), ["x/one", "y/one", "z"]);
        assert_eq!(short(&[model("one"), model("b/one")]), ["one", "b/one"]);
        assert_eq!(short(&[Subject::Command]), ["command"]);
        assert_eq!(short(&[]), [""; 0]);
    }

    #[test]
    fn agent_program_is_named_by_its_command() {
        let short = |ids: &[&str]| {
            let subjects: Vec<Subject> = ids.iter().map(|id| Subject::model(id, None)).collect();
            short_names(&subjects.iter().collect::<Vec<_>>())
        };
        assert_eq!(short(&["exec:/usr/bin/claude -p --model x/y"]), ["claude -p --model x/y"]);
        assert_eq!(
            short(&["exec:./agents/run.sh", "exec: python agent.py", "a/b"]),
            ["run.sh", "python agent.py", "b"]
        );
        let long = ["exec:agent --config some/very/long/path.toml", "exec:agent --config some/very/long/other.toml"];
        assert_eq!(
            short(&long),
            ["agent --config some/very/long/path.toml", "agent --config some/very/long/other.toml"]
        );
        assert_eq!(short(&long[..1]), ["agent --config some/ver…"]);
        assert_eq!(short(&["exec:a/run", "exec:b/run"]), ["exec:a/run", "exec:b/run"]);
        assert_eq!(short(&["exec:a/run", "exec-complete:a/run"]), ["exec:a/run", "exec-complete:a/run"]);
    }

    #[test]
    fn programs_have_ids_of_their_own() {
        let program = |command, is_complete| Some(AgentProgram { command, is_complete });
        assert_eq!(program_of("exec:my-agent --quiet"), program("my-agent --quiet", false));
        assert_eq!(program_of("exec-complete: my-agent"), program("my-agent", true));
        assert_eq!(
            (program_of("exec: "), program_of("exec-complete:"), program_of("openai/gpt-4o")),
            (None, None, None)
        );
    }
}

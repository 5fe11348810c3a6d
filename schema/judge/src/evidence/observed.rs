//! Evidence of an act beyond the streams of one process: the commands that an agent ran, and observations for claims.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    Capture, Exit, FilesAnswer, FilesNeed, LogAnswer, LogNeed, Presence, QuestionAnswer, QuestionNeed, Ran,
    ResponseAnswer, ResponseNeed, ScoreNeed, TraceAnswer, VariablesNeed,
};

/// The commands that an agent ran, in order, without those of the runner itself (setup, help, checks after the act).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CommandLog {
    /// The commands.
    pub commands: Vec<Ran>,
    /// Whether later commands are missing, because there were too many.
    pub cut: bool,
    /// The reason why other commands may have run; `None` if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen: Option<CommandGap>,
}

/// Reasons why commands may not have been observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommandGap {
    /// The agent is a separate program, which may start commands without the recording shell.
    PastShell,
    /// A shell got commands that are not on its command line, such as `bash -i`.
    ShellInput,
    /// A shell that started the agent may itself have run commands for it.
    Launcher,
}

impl CommandLog {
    /// Returns the reason why a command that is not listed may have run anyway; `None` if it did not.
    pub fn gap(&self) -> Option<&'static str> {
        match self.unseen {
            _ if self.cut => Some("the list of commands was cut off, and the missing part could change the result"),
            Some(CommandGap::PastShell) => {
                Some("the agent may have run commands outside the recording shell, and they could change the result")
            }
            Some(CommandGap::ShellInput) => Some(
                "the agent ran a shell whose commands are not on its command line, and they could change the result",
            ),
            Some(CommandGap::Launcher) => {
                Some("a shell that started the agent may have run commands for it, and they could change the result")
            }
            None => None,
        }
    }
}

/// An observation that a claim needs beyond the act itself. The runner observes the needs of a case in the order of its
/// claims, because commands may affect later observations.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// The state of a path after the act. A relative path begins in the directory of the act.
    Path {
        /// The path as the claim writes it.
        path: String,
        /// Whether the content of a file is needed.
        content: bool,
    },
    /// The end of a shell command that runs in the directory of the act, with its environment, after the act.
    Command {
        /// The command as the claim writes it.
        run: String,
        /// Maximum duration in milliseconds.
        timeout_ms: u64,
    },
    /// The files at a path.
    Files(FilesNeed),
    /// The lines of a gateway log about a run.
    Log(LogNeed),
    /// Whether variables are set.
    Variables(VariablesNeed),
    /// The response of an address.
    Response(ResponseNeed),
    /// The trace of the act.
    Trace,
    /// Scores of a judge.
    Scores(ScoreNeed),
    /// The answer of a model.
    Question(QuestionNeed),
}

/// A need and its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The question.
    pub need: Need,
    /// The answer.
    pub answer: Answer,
}

/// The answer to a need.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// The state of a path.
    Path(PathState),
    /// A command that has ended.
    Command(Ran),
    /// The files at a path.
    Files(FilesAnswer),
    /// The lines of a gateway log about a run.
    Log(LogAnswer),
    /// Whether variables are set, by name.
    Variables(BTreeMap<String, Presence>),
    /// The response of an address.
    Response(ResponseAnswer),
    /// The trace of the act.
    Trace(TraceAnswer),
    /// The answers of a model, or of a judge that was asked for scores.
    Question(QuestionAnswer),
    /// It could not be observed, for this reason.
    Nothing(String),
}

/// The state of a path, links followed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PathState {
    /// It does not exist, or is a link that leads nowhere. The names next to it help to find a typo.
    Missing {
        /// Names in the directory where it should be, at most a few hundred.
        beside: Vec<String>,
    },
    /// A directory.
    Directory,
    /// A file.
    File {
        /// The content, with secrets masked; `None` if not requested.
        content: Option<Content>,
    },
    /// Something else: a socket, a device.
    Other,
}

/// The content of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Content {
    /// The text up to a limit, with invalid UTF-8 replaced by U+FFFD.
    Text(Capture),
    /// It cannot be read, for this reason.
    Unreadable(String),
}

impl Exit {
    /// Returns the exit code in a shell: 128 plus the signal for a process that a signal ended.
    pub fn shell_code(self) -> Option<i64> {
        self.code.map(i64::from).or(self.signal.map(|signal| 128 + i64::from(signal)))
    }
}

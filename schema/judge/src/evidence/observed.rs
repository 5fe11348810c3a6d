//! What an act leaves behind beyond the streams of one process: the commands that an agent ran, and the answers to
//! what claims need to know.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    Capture, Exit, FilesAnswer, FilesNeed, LogAnswer, LogNeed, Presence, QuestionAnswer, QuestionNeed, Ran,
    ResponseAnswer, ResponseNeed, ScoreNeed, TraceAnswer, VariablesNeed,
};

/// The commands that an agent ran, in the order in which they ran. What the runner itself runs (setup, help,
/// checks after the act) is never among them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CommandLog {
    /// The commands.
    pub commands: Vec<Ran>,
    /// Whether later commands are missing, because there were more than are kept.
    pub cut: bool,
    /// Why other commands may have run that are not here. `None`: there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen: Option<Unseen>,
}

/// Why commands may have run that were not observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unseen {
    /// Who acted is a program of its own, which may start others without the shell that records.
    PastShell,
}

impl CommandLog {
    /// Returns why a command that is not here may have run anyway. `None`: it did not.
    pub fn gap(&self) -> Option<&'static str> {
        match self.unseen {
            _ if self.cut => Some("the list of commands was cut off, and the missing part could change the result"),
            Some(Unseen::PastShell) => {
                Some("the agent may have run commands outside the recording shell, and they could change the result")
            }
            None => None,
        }
    }
}

/// What a claim needs observed beyond the act itself. The runner observes the needs of a case in the order of its
/// claims, because commands may change what comes after them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// What is at a path after the act. A relative path begins in the directory of the act.
    Path {
        /// The path as the claim writes it.
        path: String,
        /// Whether the content of a file is needed, too.
        content: bool,
    },
    /// How a shell command ends that is run in the directory of the act, with its environment, after the act.
    Command {
        /// The command as the claim writes it.
        run: String,
        /// After how long it is ended.
        timeout_ms: u64,
    },
    /// The files at a path.
    Files(FilesNeed),
    /// What a gateway's log says about a run.
    Log(LogNeed),
    /// Whether variables are set.
    Variables(VariablesNeed),
    /// What an address answers.
    Response(ResponseNeed),
    /// The trace of the act.
    Trace,
    /// The scores that a judge gives.
    Scores(ScoreNeed),
    /// What a model answers.
    Question(QuestionNeed),
}

/// A need, and what was observed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The question.
    pub need: Need,
    /// The answer.
    pub answer: Answer,
}

/// The observation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// What is at a path.
    Path(PathState),
    /// How a command ended.
    Command(Ran),
    /// The files at a path.
    Files(FilesAnswer),
    /// What a gateway's log says about a run.
    Log(LogAnswer),
    /// Whether variables are set, by name.
    Variables(BTreeMap<String, Presence>),
    /// What an address answered.
    Response(ResponseAnswer),
    /// The trace of the act.
    Trace(TraceAnswer),
    /// What a model answered, or a judge that was asked for scores.
    Question(QuestionAnswer),
    /// It could not be observed, for this reason.
    Nothing(String),
}

/// What is at a path, links followed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PathState {
    /// Nothing, or a link that leads nowhere. The names beside it help to find a mistyped one.
    Missing {
        /// Names in the directory where it should be, at most a few hundred.
        beside: Vec<String>,
    },
    /// A directory.
    Directory,
    /// A file.
    File {
        /// What it holds, secrets masked; nothing when that was not asked for.
        content: Option<Content>,
    },
    /// Something else: a socket, a device.
    Other,
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Content {
    /// Its text as far as it was kept, invalid UTF-8 replaced by U+FFFD.
    Text(Capture),
    /// It cannot be read, for this reason.
    Unreadable(String),
}

impl Exit {
    /// Returns the status as a shell gives it: 128 and the signal for a process that a signal ended.
    pub fn shell_code(self) -> Option<i64> {
        self.code.map(i64::from).or(self.signal.map(|signal| 128 + i64::from(signal)))
    }
}

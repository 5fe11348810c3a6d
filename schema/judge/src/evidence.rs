//! The evidence of one attempt. Plain data: judging reads it, a recording stores it.

mod masking;
mod observation;
mod output;
mod question;
mod reply_end;
mod score;
mod trace;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use observation::{
    Address, Answer, Content, FileSearch, FilesAnswer, FilesNeed, FoundText, Judge, LinePlace, LogAnswer, LogFile,
    LogGap, LogNeed, Need, Observation, ObservationTime, PathState, Presence, ReadFailure, ResponseAnswer,
    ResponseNeed, ScoreNeed, SeenFile, VariablesNeed, answer_in, merged,
};
pub use output::{
    CallsGap, Capture, EntryPlace, Exit, MASK_CHARACTER, MaskingLoss, Output, Ran, Reply, ToolCall,
    UNREADABLE_ARGUMENTS, Usage, has_hidden, shown, shown_value, texts_of,
};
pub use question::{
    AskedModel, HttpService, McpService, ModelReply, QuestionAnswer, QuestionKind, QuestionNeed, QuestionPart, Service,
    UsagePaths,
};
pub use reply_end::{Ends, Unfinished, is_thought, reply_text};
pub use score::{ANSWER_TOKENS, Scored};
pub use trace::{Span, SpanKind, Tokens, Trace, TraceAnswer, TraceMatch, UNSEEN_TOOLS};

use crate::codes::Status;

/// The observation of one attempt. `None` means "not observed": a claim about it is
/// [`Outcome::Unknown`](crate::verdict::Outcome::Unknown), never a pass.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    pub context: Context,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Ran>,
    /// The output of the act, as read by the protocol of the dialect. Derived, so not stored.
    #[serde(skip)]
    pub output: Option<Output>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<Turn>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commands: Option<CommandLog>,
    /// The files that the act changed, and the other entries of its directory. `None`: not observed, or the directory
    /// was not the act's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<FileLog>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observations: Vec<Observation>,
    /// The event that ended the act. `None`: it was still running when it was last observed, so nothing can be said
    /// about what did not happen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
    pub duration_ms: Option<f64>,
    pub usage: Option<Usage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<Exchange>,
    /// The part of the test that was observed on purpose. `None`: all of it. Such evidence is not recorded.
    #[serde(skip)]
    pub only: Option<PartialRun>,
    /// The error that ended the attempt, if any. There are no verdicts then.
    pub error: Option<RunError>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartialRun {
    Preconditions,
    Present,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Context {
    /// Time when the attempt began, RFC 3339.
    pub started: String,
    pub run_id: String,
    /// Who acts, as reports name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub templates: Option<TemplateValues>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TemplateValues {
    pub before: BTreeMap<String, String>,
    pub after: BTreeMap<String, String>,
    /// The offset of local time from UTC in seconds, positive east of Greenwich.
    pub utc_offset_s: Option<i32>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// The message of the user that it answers; `None` for the first one, and for an answer to results of calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<Capture>,
    /// The text, with secrets masked.
    pub text: Capture,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls_gap: Option<CallsGap>,
    /// Tokens and cost; `None` if not reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Duration of the answer; `None` if not observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    Exit,
    Done,
    Answer,
    Log,
    RootSpan,
    Satisfied,
    TurnLimit,
    Deadline,
    /// The recording of another program has parts that were not read.
    Partial,
}

impl Ended {
    /// Returns whether nothing more can happen: events that had not happened by then did not happen.
    pub fn is_final(self) -> bool {
        match self {
            Ended::Exit | Ended::Done | Ended::Answer | Ended::Log | Ended::RootSpan | Ended::TurnLimit => true,
            // It may continue; only the claims at that time do not depend on that.
            Ended::Satisfied | Ended::Deadline | Ended::Partial => false,
        }
    }
}

/// The commands that an agent ran, in order, without those of the runner itself (setup, help, checks after the act).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CommandLog {
    pub commands: Vec<Ran>,
    /// Whether later commands are missing, because there were too many.
    pub cut: bool,
    /// The reason why other commands may have run; `None` if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen: Option<CommandGap>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommandGap {
    /// The agent is a separate program, which may start commands without the recording shell.
    PastShell,
    /// A shell got commands that are not on its command line, such as `bash -i`.
    ShellInput,
    /// A shell that started the agent may itself have run commands for it.
    Launcher,
    /// The recording of another program does not show whether a command ran, or what other agents did.
    NotShown,
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
            Some(CommandGap::NotShown) => Some(
                "the recording does not show all commands that the agent may have run, and they could change the result",
            ),
            None => None,
        }
    }
}

/// The files that an act created, changed or removed, and the other entries of the directory: a path in neither list
/// does not exist.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileLog {
    pub files: Vec<ChangedFile>,
    /// All other entries of the directory after the act: directories, links, unchanged files. By path, with `/` between
    /// names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rest: BTreeMap<String, EntryKind>,
    /// Whether entries are missing, because there were too many, or a secret is masked in their names.
    pub cut: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EntryKind {
    File,
    Directory,
    Link,
    /// Something else: a socket, a device.
    Other,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangedFile {
    /// The path, relative to the directory of the act, with `/` between names.
    pub path: String,
    pub change: Change,
    /// The size in bytes; `None` if it no longer exists.
    pub size: Option<u64>,
    /// The SHA-256 digest of its content, in hexadecimal digits; `None` if it no longer exists, cannot be read, is too
    /// large, or has a masked secret.
    pub digest: Option<String>,
    /// The text, with secrets masked; `None` if it is not text, or too long.
    pub text: Option<Capture>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    Created,
    Modified,
    Removed,
}

impl Change {
    pub fn as_str(self) -> &'static str {
        match self {
            Change::Created => "created",
            Change::Modified => "modified",
            Change::Removed => "removed",
        }
    }
}

/// A request that starts a target, and its answer. Credentials are never kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    pub address: String,
    pub sent: Capture,
    /// The status of the answer; `None` without an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Capture>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunError {
    pub kind: RunErrorKind,
    pub message: String,
}

impl RunError {
    pub fn new(kind: RunErrorKind, message: impl Into<String>) -> RunError {
        RunError { kind, message: message.into() }
    }
}

crate::codes! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum RunErrorKind;

    /// The command or the agent exceeded the time limit and was stopped. Raise the timeout of the suite.
    TimedOut = "timed-out";
    /// The command could not be started. The message contains the system's reason.
    Spawn = "spawn";
    /// A signal from another program ended the command.
    Killed = "killed";
    /// A template variable has no value. Add it to `vars`.
    MissingVariable = "missing-variable";
    /// The directory of the test could not be prepared: its `scaffold` or `workdir` is invalid. The message contains
    /// the reason.
    Workspace = "workspace";
    /// A `setup` command failed, so the test did not begin. The transcript has its output.
    Setup = "setup";
    /// The program to test was not found, so no model was asked. Install it, or correct `cli`.
    Program = "program";
    /// The help of the program, which the help mode `injected` needs, could not be read. Check `cli`.
    Help = "help";
    /// The provider of the model is unreachable, or its response is invalid. The message contains the reason.
    Provider = "provider";
    /// The provider of the model needs a key. Set the environment variable that the message names to a valid key.
    Key = "key";
    /// The provider reports a rate limit. Wait, or lower `concurrency`.
    RateLimit = "rate-limit";
    /// The scripted model expected a different result. Correct the script or the task.
    Script = "script";
    /// The gateway of a ClawSpec workspace, or the program `openclaw`, did not start the skill or the agent. The
    /// message contains the address and the reason.
    Gateway = "gateway";
    /// The traces contain no span that `trace.spanFilter` selects. Correct the filter, or export the spans it names.
    NoSpans = "no-spans";
    /// The run was cancelled before this test ended.
    Cancelled = "cancelled";
    /// speclens cannot perform the action of this test. The message contains the reason.
    Unsupported = "unsupported";
    /// speclens itself failed, so there is no result. Report this bug, and include the message.
    Defect = "defect";
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorScope {
    Test,
    /// Something that other tests need as well, so they have the same error.
    Surroundings,
    Purpose,
}

impl RunErrorKind {
    pub fn scope(self) -> ErrorScope {
        match self {
            RunErrorKind::TimedOut
            | RunErrorKind::Spawn
            | RunErrorKind::Killed
            | RunErrorKind::MissingVariable
            | RunErrorKind::Workspace
            | RunErrorKind::Setup
            | RunErrorKind::Script
            | RunErrorKind::NoSpans => ErrorScope::Test,
            RunErrorKind::Program
            | RunErrorKind::Help
            | RunErrorKind::Provider
            | RunErrorKind::Key
            | RunErrorKind::RateLimit
            | RunErrorKind::Gateway
            | RunErrorKind::Defect => ErrorScope::Surroundings,
            RunErrorKind::Cancelled | RunErrorKind::Unsupported => ErrorScope::Purpose,
        }
    }

    pub fn status(self) -> Status {
        match self.scope() {
            ErrorScope::Test | ErrorScope::Surroundings => Status::Error,
            ErrorScope::Purpose => Status::Unknown,
        }
    }
}

impl Evidence {
    pub fn stdout(&self) -> Option<&Capture> {
        self.command.as_ref()?.stdout.as_ref()
    }

    /// Returns the trace of the act, or the reason why there is none; `None` if it was not requested.
    pub fn trace(&self) -> Option<&TraceAnswer> {
        self.observations.iter().find_map(|observation| {
            let Answer::Trace(answer) = &observation.answer else { return None };
            Some(answer)
        })
    }

    pub fn stderr(&self) -> Option<&Capture> {
        self.command.as_ref()?.stderr.as_ref()
    }

    pub fn exit(&self) -> Option<Exit> {
        self.command.as_ref()?.exit
    }

    pub fn streams(&self) -> impl Iterator<Item = &Capture> {
        self.command.iter().flat_map(Ran::streams)
    }

    /// Returns the commands of the act: the test's own, and those of an agent.
    pub fn all_commands(&self) -> impl Iterator<Item = &Ran> {
        self.command.iter().chain(self.commands.iter().flat_map(|log| &log.commands))
    }

    /// Returns whether the act may have taken longer than observed: the end of its output is missing.
    pub fn duration_is_open(&self) -> bool {
        self.streams().any(|capture| capture.cut)
    }

    /// Returns a note that secrets were masked, if any were.
    pub fn mask_note(&self) -> Option<String> {
        match self.all_commands().flat_map(Ran::streams).map(|capture| capture.masked.len()).sum() {
            0 => None,
            1 => Some("1 secret value was masked in the output".to_owned()),
            count => Some(format!("{count} secret values were masked in the output")),
        }
    }

    /// Returns the answer to a need: to exactly this one, or else to one that asked for more, or else to one for the
    /// same thing that asked for less; `None` if it was not asked.
    pub fn answer_to(&self, need: &Need) -> Option<&Answer> {
        answer_in(&self.observations, need)
    }

    /// Returns whether a question to a model or a judge was answered this many times. A failed request is not an
    /// answer.
    pub fn is_answered(&self, question: &Need, times: u32) -> bool {
        let replies = self.answer_to(question).and_then(Answer::replies);
        let answers = |replies: &[ModelReply]| replies.iter().filter(|reply| reply.error.is_none()).count();
        replies.is_some_and(|replies| answers(replies) >= times as usize)
    }

    pub fn observe_again(&mut self, observations: Vec<Observation>) {
        let is_replaced = |known: &Observation| observations.iter().any(|it| it.need.joined(&known.need).is_some());
        self.observations.retain(|known| !is_replaced(known));
        self.observations.extend(observations);
    }
}

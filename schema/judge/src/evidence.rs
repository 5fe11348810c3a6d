//! What one attempt left behind. Plain data: judging reads it, a recording is it.

mod captures;
mod changed;
mod exchange;
mod log;
mod masking;
mod needs;
mod observed;
mod question;
mod ran;
mod score;
mod trace;
mod turns;
mod workspace;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use changed::{Change, ChangedFile, FileLog, Standing};
pub use exchange::Exchange;
pub use log::{LinePlace, LogAnswer, LogFile, LogGap, LogNeed, Unread};
pub use needs::{answer_in, merged};
pub use observed::{Answer, CommandLog, Content, Need, Observation, PathState, Unseen};
pub use question::{ModelReply, Peer, QuestionAnswer, QuestionNeed, QuestionPart};
pub use ran::Ran;
pub use score::{ANSWER_TOKENS, Judge, ScoreNeed, Scored};
pub use trace::{Joined, Span, SpanKind, Tokens, Trace, TraceAnswer};
pub use turns::{Ended, Turn};
pub use workspace::{
    Address, FileSearch, FilesAnswer, FilesNeed, FoundText, Moment, Presence, ResponseAnswer, ResponseNeed, SeenFile,
    TemplateValues, VariablesNeed,
};

use crate::{
    mask::{HIDDEN, has_hidden},
    verdict::{Open, Status, Verdict},
};

/// The observation of one attempt. `None` means "not observed": a claim about it is
/// [`Outcome::Unknown`](crate::verdict::Outcome::Unknown), never a pass.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The circumstances, frozen when the attempt began.
    pub context: Context,
    /// The command, where the act is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Ran>,
    /// What the act put out, by the protocol of the dialect. Derived, so not stored.
    #[serde(skip)]
    pub output: Option<Output>,
    /// What was said and called, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<Turn>,
    /// The commands that an agent ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commands: Option<CommandLog>,
    /// The files that the act changed, and what else is in its directory. `None`: not observed, or the directory was not the
    /// act's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<FileLog>,
    /// The observation on behalf of claims, in the order of the observations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observations: Vec<Observation>,
    /// The event that ended the act. `None`: it was still going on when it was observed last, so nothing can be said
    /// about what did not happen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
    /// From start to end.
    pub duration_ms: Option<f64>,
    /// Tokens and money.
    pub usage: Option<Usage>,
    /// What was sent to start a target that runs elsewhere, and what came back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<Exchange>,
    /// Which part of the test alone was looked at, on purpose. `None`: all of it. Such evidence is not recorded.
    #[serde(skip)]
    pub only: Option<Only>,
    /// Why the attempt broke, if it did. There are no verdicts then.
    pub error: Option<RunError>,
}

/// The part of a test that was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Only {
    /// What must hold before the act.
    Preconditions,
    /// What is there now, without an act.
    Present,
}

/// The circumstances of an attempt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Context {
    /// Time when the attempt began, RFC 3339.
    pub started: String,
    /// The run that the attempt belonged to.
    pub run_id: String,
    /// The version of the program under test, where the suite says how to ask for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What the templates in claims stand for, where the format has such templates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub templates: Option<TemplateValues>,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    /// The exit status, when the process returned.
    pub code: Option<i32>,
    /// The signal, when one ended it.
    pub signal: Option<i32>,
}

impl Exit {
    /// Whether the process was ended from outside: these signals are not sent by accidents of its own.
    pub fn was_killed(self) -> bool {
        matches!(self.signal, Some(KILL | TERM))
    }

    /// Returns the exit status as the original tool records it: 1 for any other signal.
    pub fn recorded_code(self) -> Option<i32> {
        self.code.or((self.signal.is_some() && !self.was_killed()).then_some(1))
    }

    /// Returns how it ended, in words.
    pub fn sentence(self) -> String {
        match (self.code, self.signal) {
            (Some(code), _) => format!("ended with exit status {code}"),
            (None, Some(signal)) => format!("ended by {}", signal_words(signal)),
            (None, None) => "ended".to_owned(),
        }
    }

    /// Returns what else is worth saying about how it ended: that a signal ended it, or, by the number that shells use
    /// for it, one of the commands in it.
    pub fn remark(self) -> Option<String> {
        match (self.code, self.signal) {
            (_, Some(_)) => Some(self.sentence()),
            (Some(code), None) => {
                let signal = code - 128;
                FATAL.contains(&signal).then(|| {
                    let words = signal_words(signal);
                    format!("ended with exit status {code}, which is how a shell reports a command ended by {words}")
                })
            }
            (None, None) => None,
        }
    }
}

const ILL: i32 = 4;
const ABRT: i32 = 6;
const FPE: i32 = 8;
const KILL: i32 = 9;
const SEGV: i32 = 11;
const TERM: i32 = 15;

/// The signals after which the work was probably not done.
const FATAL: [i32; 6] = [ILL, ABRT, FPE, KILL, SEGV, TERM];

/// Returns a signal by its number, and its name where all systems agree on it.
fn signal_words(signal: i32) -> String {
    let name = match signal {
        1 => "HUP",
        2 => "INT",
        3 => "QUIT",
        ILL => "ILL",
        5 => "TRAP",
        ABRT => "ABRT",
        FPE => "FPE",
        KILL => "KILL",
        SEGV => "SEGV",
        13 => "PIPE",
        14 => "ALRM",
        TERM => "TERM",
        _ => return format!("signal {signal}"),
    };
    format!("signal {signal} ({name})")
}

/// A stream as far as it was kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capture {
    /// The text, invalid UTF-8 replaced by U+FFFD.
    pub text: String,
    /// Whether something was cut off at the end, because the stream was longer than the limit.
    pub cut: bool,
    /// Where stars stand for a secret, in bytes of the text, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub masked: Vec<(usize, usize)>,
    /// What is no longer known, because a secret was where it is decided.
    #[serde(default, skip_serializing_if = "Concealed::is_nothing")]
    pub concealed: Concealed,
}

/// What the masked text of a stream does not show, other than the text itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Concealed {
    /// Secrets stood inside of texts only.
    #[default]
    Nothing,
    /// What the text is as JSON.
    Json,
    /// What the dialect's protocol makes of the stream.
    Everything,
}

/// Standard output, read by the dialect's protocol.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// The text without protocol events, trimmed.
    pub text: String,
    /// The structured output, when one was reported.
    pub json: Option<Value>,
    /// The tool calls in order.
    pub tool_calls: Vec<ToolCall>,
    /// Whether the end is missing.
    pub cut: bool,
    /// What is unknown, because a secret is masked. Where one is masked inside of a text, each unit of it
    /// is [`HIDDEN`].
    pub concealed: Concealed,
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The caller's id, or a generated one.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What it was called with: an object or an array, or the text of a model that wrote no valid JSON.
    pub arguments: Value,
}

/// Tokens and money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Input tokens.
    pub input_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// US dollars; nothing when the price is not known.
    pub cost_usd: Option<f64>,
}

/// Why an attempt broke.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunError {
    /// What kind of reason.
    pub kind: RunErrorKind,
    /// What happened and what to do.
    pub message: String,
}

/// The kinds of reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunErrorKind {
    /// The deadline passed.
    TimedOut,
    /// The process could not be started.
    Spawn,
    /// The command was ended from outside by TERM or KILL.
    Killed,
    /// A template names a variable that has no value.
    MissingVariable,
    /// The directory of the act could not be prepared.
    Workspace,
    /// A setup command of the test failed.
    Setup,
    /// The program under test is not there.
    Program,
    /// The help of the program under test could not be read.
    Help,
    /// A model could not be asked, its answer could not be read or is not whole, or an agent program failed.
    Provider,
    /// The provider of a model has no key, or refuses it.
    Key,
    /// The provider of a model refuses more requests for now.
    RateLimit,
    /// A scripted model expected something else than what happened.
    Script,
    /// The gateway that starts a target could not be reached, refused to, or did not answer as one does.
    Gateway,
    /// The run was cancelled.
    Cancelled,
    /// This version cannot perform the action.
    Unsupported,
    /// speclens itself went wrong: nothing can be said about the action.
    Defect,
}

impl RunErrorKind {
    /// Returns what an attempt amounts to that broke this way: an error where something went wrong, unknown where the
    /// attempt was not made or not finished on purpose.
    pub fn status(self) -> Status {
        match self {
            RunErrorKind::TimedOut
            | RunErrorKind::Spawn
            | RunErrorKind::Killed
            | RunErrorKind::MissingVariable
            | RunErrorKind::Workspace
            | RunErrorKind::Setup
            | RunErrorKind::Program
            | RunErrorKind::Help
            | RunErrorKind::Provider
            | RunErrorKind::Key
            | RunErrorKind::RateLimit
            | RunErrorKind::Script
            | RunErrorKind::Gateway
            | RunErrorKind::Defect => Status::Error,
            RunErrorKind::Cancelled | RunErrorKind::Unsupported => Status::Unknown,
        }
    }
}

impl Evidence {
    /// Returns the standard output of the command that the act is.
    pub fn stdout(&self) -> Option<&Capture> {
        self.command.as_ref()?.stdout.as_ref()
    }

    /// Returns the trace of the act, or why there is none; `None` where nobody asked for it.
    pub fn trace(&self) -> Option<&TraceAnswer> {
        self.observations.iter().find_map(|observation| match &observation.answer {
            Answer::Trace(answer) => Some(answer),
            Answer::Path(_)
            | Answer::Command(_)
            | Answer::Files(_)
            | Answer::Log(_)
            | Answer::Variables(_)
            | Answer::Response(_)
            | Answer::Question(_)
            | Answer::Nothing(_) => None,
        })
    }

    /// Returns the standard error of the command that the act is.
    pub fn stderr(&self) -> Option<&Capture> {
        self.command.as_ref()?.stderr.as_ref()
    }

    /// Returns how the command ended that the act is.
    pub fn exit(&self) -> Option<Exit> {
        self.command.as_ref()?.exit
    }

    /// Whether the act was seen to end: what had not happened by then did not happen.
    pub fn has_ended(&self) -> bool {
        self.exit().is_some() || self.ended.is_some_and(Ended::is_final)
    }

    /// Returns a verdict, or unknown where it would hold only of an act that has ended.
    pub fn settled(&self, open: Open, verdict: Verdict) -> Verdict {
        if self.has_ended() { verdict } else { open.of_unfinished(verdict) }
    }

    /// Returns the output streams of the command that the act is.
    pub fn streams(&self) -> impl Iterator<Item = &Capture> {
        self.command.iter().flat_map(Ran::streams)
    }

    /// Returns the commands that ran as the act: the test's own, and those of an agent.
    pub fn all_commands(&self) -> impl Iterator<Item = &Ran> {
        self.command.iter().chain(self.commands.iter().flat_map(|log| &log.commands))
    }

    /// Whether the act may have taken longer than was observed: the end of what it wrote is missing.
    pub fn duration_is_open(&self) -> bool {
        self.streams().any(|capture| capture.cut)
    }

    /// That secrets were masked, as a note for people.
    pub fn mask_note(&self) -> Option<String> {
        match self.all_commands().flat_map(Ran::streams).map(|capture| capture.masked.len()).sum() {
            0 => None,
            1 => Some("1 secret value was masked in the output".to_owned()),
            count => Some(format!("{count} secret values were masked in the output")),
        }
    }
}

impl Output {
    /// Whether a secret is masked in it.
    pub fn has_hidden(&self) -> bool {
        self.concealed == Concealed::Everything
            || self.text.contains(HIDDEN)
            || self.json.as_ref().is_some_and(has_hidden)
            || self.tool_calls.iter().any(|call| call.name.contains(HIDDEN) || has_hidden(&call.arguments))
    }
}

impl Capture {
    /// Returns a stream that was kept whole.
    pub fn whole(text: impl Into<String>) -> Capture {
        Capture { text: text.into(), ..Capture::default() }
    }

    /// Returns a stream from its bytes, of which the end may be missing. Invalid UTF-8 is replaced.
    pub fn of_bytes(mut bytes: Vec<u8>, cut: bool) -> Capture {
        if cut {
            drop_half_character(&mut bytes);
        }
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        };
        Capture { cut, ..Capture::whole(text) }
    }

    /// Keeps at most so many bytes, whole characters and whole masked stretches.
    pub fn cut_to(&mut self, limit: usize) {
        if self.text.len() <= limit {
            return;
        }
        let end = self.text.floor_char_boundary(limit);
        let across = self.masked.iter().find(|(start, to)| *start < end && end < *to);
        let end = across.map_or(end, |(start, _)| *start);
        self.text.truncate(end);
        self.masked.retain(|(_, to)| *to <= end);
        self.cut = true;
    }

    /// Whether the masked stretches are in order and inside the text.
    pub fn is_sound(&self) -> bool {
        let mut from = 0;
        self.masked.iter().all(|&(start, end)| {
            let fits = from <= start && start < end && self.text.get(start..end).is_some();
            from = end;
            fits
        })
    }

    /// Returns the text, each masked unit as [`HIDDEN`].
    pub fn hidden_text(&self) -> Cow<'_, str> {
        if self.masked.is_empty() {
            return as_observed(&self.text);
        }
        let mut text = String::with_capacity(self.text.len());
        let mut from = 0;
        for &(start, end) in &self.masked {
            text.push_str(&as_observed(&self.text[from..start]));
            text.extend(self.text[start..end].chars().map(|it| if it == '\n' { it } else { HIDDEN }));
            from = end;
        }
        text.push_str(&as_observed(&self.text[from..]));
        Cow::Owned(text)
    }
}

/// A character that was cut in two would look like an invalid byte.
fn drop_half_character(bytes: &mut Vec<u8>) {
    if let Err(error) = std::str::from_utf8(&bytes[bytes.len().saturating_sub(3)..])
        && error.error_len().is_none()
    {
        let tail = bytes.len().min(3);
        bytes.truncate(bytes.len() - tail + error.valid_up_to());
    }
}

/// Returns a text without the character that stands for what is masked: a program that wrote it hid nothing.
fn as_observed(text: &str) -> Cow<'_, str> {
    if text.contains(HIDDEN) { Cow::Owned(text.replace(HIDDEN, "\u{fffd}")) } else { Cow::Borrowed(text) }
}

impl Concealed {
    fn is_nothing(&self) -> bool {
        *self == Concealed::Nothing
    }
}

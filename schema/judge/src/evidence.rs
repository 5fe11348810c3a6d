//! The evidence of one attempt. Plain data: judging reads it, a recording stores it.

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

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use changed::{Change, ChangedFile, EntryKind, FileLog};
pub use exchange::Exchange;
pub use log::{LinePlace, LogAnswer, LogFile, LogGap, LogNeed, ReadFailure};
pub use needs::{answer_in, merged};
pub use observed::{Answer, CommandGap, CommandLog, Content, Need, Observation, PathState};
pub use question::{AskedModel, ModelReply, QuestionAnswer, QuestionNeed, QuestionPart};
pub use ran::Ran;
pub use score::{ANSWER_TOKENS, Judge, ScoreNeed, Scored};
pub use trace::{Span, SpanKind, Tokens, Trace, TraceAnswer, TraceMatch, UNSEEN_TOOLS};
pub use turns::{Ended, Turn};
pub use workspace::{
    Address, FileSearch, FilesAnswer, FilesNeed, FoundText, ObservationTime, Presence, ResponseAnswer, ResponseNeed,
    SeenFile, TemplateValues, VariablesNeed,
};

use crate::{
    codes::codes,
    mask::{MASK_CHARACTER, has_hidden},
    verdict::Status,
};

/// The observation of one attempt. `None` means "not observed": a claim about it is
/// [`Outcome::Unknown`](crate::verdict::Outcome::Unknown), never a pass.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The context, frozen when the attempt began.
    pub context: Context,
    /// The command, if the act is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Ran>,
    /// The output of the act, as read by the protocol of the dialect. Derived, so not stored.
    #[serde(skip)]
    pub output: Option<Output>,
    /// The turns, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<Turn>,
    /// The commands that an agent ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commands: Option<CommandLog>,
    /// The files that the act changed, and the other entries of its directory. `None`: not observed, or the directory
    /// was not the act's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<FileLog>,
    /// The observations for claims, in the order in which they were made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observations: Vec<Observation>,
    /// The event that ended the act. `None`: it was still running when it was last observed, so nothing can be said
    /// about what did not happen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
    /// Time from start to end.
    pub duration_ms: Option<f64>,
    /// Tokens and cost.
    pub usage: Option<Usage>,
    /// The exchange with the gateway that started a target elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<Exchange>,
    /// The part of the test that was observed on purpose. `None`: all of it. Such evidence is not recorded.
    #[serde(skip)]
    pub only: Option<PartialRun>,
    /// The error that ended the attempt, if any. There are no verdicts then.
    pub error: Option<RunError>,
}

/// A part of a test that is observed alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartialRun {
    /// The preconditions.
    Preconditions,
    /// The current state, without an act.
    Present,
}

/// The context of an attempt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Context {
    /// Time when the attempt began, RFC 3339.
    pub started: String,
    /// The run that the attempt belonged to.
    pub run_id: String,
    /// The version of the program under test, if the suite has a command for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The values of templates in claims, if the format has templates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub templates: Option<TemplateValues>,
}

/// The end of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    /// The exit code, if the process exited.
    pub code: Option<i32>,
    /// The signal, if one ended it.
    pub signal: Option<i32>,
}

impl Exit {
    /// Returns whether the process was ended from outside: a process does not cause these signals itself.
    pub fn was_killed(self) -> bool {
        matches!(self.signal, Some(KILL | TERM))
    }

    /// Returns the meaning of an exit code by which a shell reports a command that it could not start.
    pub fn not_begun(self) -> Option<&'static str> {
        match self.code {
            Some(126) => Some("exit code 126: the shell could not execute the command"),
            Some(127) => Some("exit code 127: the shell did not find the command"),
            Some(_) | None => None,
        }
    }

    /// Returns the exit code as the original tool records it: 1 for any other signal.
    pub fn recorded_code(self) -> Option<i32> {
        self.code.or((self.signal.is_some() && !self.was_killed()).then_some(1))
    }

    /// Returns a description.
    pub fn sentence(self) -> String {
        match (self.code, self.signal) {
            (Some(code), _) => format!("ended with exit code {code}"),
            (None, Some(signal)) => format!("was terminated by {}", signal_words(signal)),
            (None, None) => "ended".to_owned(),
        }
    }

    /// Returns a note about the end: that a signal ended the process, or, by the exit code that shells use for it,
    /// one of the commands in it.
    pub fn note(self) -> Option<String> {
        match (self.code, self.signal) {
            (_, Some(_)) => Some(self.sentence()),
            (Some(code), None) => {
                let signal = code - 128;
                FATAL.contains(&signal).then(|| {
                    let words = signal_words(signal);
                    format!("ended with exit code {code}, which is how a shell reports a command terminated by {words}")
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

/// Signals after which the work was probably incomplete.
const FATAL: [i32; 6] = [ILL, ABRT, FPE, KILL, SEGV, TERM];

/// Returns a signal by its number, and its name if all systems agree on it.
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

/// A stream, up to a limit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capture {
    /// The text, invalid bytes replaced by U+FFFD.
    pub text: String,
    /// Whether the end was cut off, because the stream was longer than the limit.
    pub cut: bool,
    /// The byte ranges of stars in place of a secret, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub masked: Vec<(usize, usize)>,
    /// The information that is lost by masking.
    #[serde(default, skip_serializing_if = "MaskingLoss::is_nothing")]
    pub concealed: MaskingLoss,
}

/// Information that the masked text of a stream does not show, other than the text itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MaskingLoss {
    /// None: secrets were inside strings only.
    #[default]
    Nothing,
    /// The meaning of the text as JSON.
    Json,
    /// The meaning of the stream in the dialect's protocol.
    Everything,
}

/// Standard output, as read by the dialect's protocol.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// The text without protocol events, trimmed.
    pub text: String,
    /// The structured output, if one was reported.
    pub json: Option<Value>,
    /// The tool calls, in order.
    pub tool_calls: Vec<ToolCall>,
    /// Whether the end is missing.
    pub cut: bool,
    /// The information that is lost by masking. Each masked unit inside a string is [`MASK_CHARACTER`].
    pub concealed: MaskingLoss,
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The caller's id, or a generated one.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments: an object or a list, or the text of a model that did not write valid JSON.
    pub arguments: Value,
}

/// Tokens and cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "UsageEntry")]
pub struct Usage {
    /// Input tokens.
    pub input_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// Cost in US dollars, if the price is known.
    pub cost_usd: Option<f64>,
}

/// The error that ended an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunError {
    /// The kind of error.
    pub kind: RunErrorKind,
    /// A description and a remedy.
    pub message: String,
}

impl RunError {
    /// Returns an error.
    pub fn new(kind: RunErrorKind, message: impl Into<String>) -> RunError {
        RunError { kind, message: message.into() }
    }
}

codes! {
    /// Kinds of errors that end an attempt.
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

/// What an error that ended an attempt is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorScope {
    /// The test itself.
    Test,
    /// Something that other tests need as well, so they have the same error.
    Surroundings,
    /// The attempt was not made, or not finished, on purpose.
    Purpose,
}

impl RunErrorKind {
    /// Returns what the error is about.
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

    /// Returns the status of an attempt with this error.
    pub fn status(self) -> Status {
        match self.scope() {
            ErrorScope::Test | ErrorScope::Surroundings => Status::Error,
            ErrorScope::Purpose => Status::Unknown,
        }
    }
}

impl Evidence {
    /// Returns the standard output of the act's command.
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

    /// Returns the standard error of the act's command.
    pub fn stderr(&self) -> Option<&Capture> {
        self.command.as_ref()?.stderr.as_ref()
    }

    /// Returns the end of the act's command.
    pub fn exit(&self) -> Option<Exit> {
        self.command.as_ref()?.exit
    }

    /// Returns the output streams of the act's command.
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
}

impl Output {
    /// Returns whether a secret is masked in it.
    pub fn has_hidden(&self) -> bool {
        self.concealed == MaskingLoss::Everything
            || self.text.contains(MASK_CHARACTER)
            || self.json.as_ref().is_some_and(has_hidden)
            || self.tool_calls.iter().any(|call| call.name.contains(MASK_CHARACTER) || has_hidden(&call.arguments))
    }
}

impl Capture {
    /// Returns a complete stream.
    pub fn whole(text: impl Into<String>) -> Capture {
        Capture { text: text.into(), ..Capture::default() }
    }

    /// Returns a stream from its bytes, whose end may be missing. UTF-16 needs a byte order mark; invalid bytes are
    /// replaced.
    pub fn of_bytes(mut bytes: Vec<u8>, cut: bool) -> Capture {
        if let Some(text) = text_of_utf16(&bytes) {
            return Capture { cut, ..Capture::whole(text) };
        }
        if cut {
            drop_half_character(&mut bytes);
        }
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        };
        Capture { cut, ..Capture::whole(text) }
    }

    /// Keeps at most this many bytes, with whole characters and whole masked ranges.
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

    /// Returns whether the masked ranges are in order and inside the text.
    pub fn is_sound(&self) -> bool {
        let mut from = 0;
        self.masked.iter().all(|&(start, end)| {
            let fits = from <= start && start < end && self.text.get(start..end).is_some();
            from = end;
            fits
        })
    }

    /// Returns the text, each masked unit as [`MASK_CHARACTER`].
    pub fn hidden_text(&self) -> Cow<'_, str> {
        if self.masked.is_empty() {
            return as_observed(&self.text);
        }
        let mut text = String::with_capacity(self.text.len());
        let mut from = 0;
        for &(start, end) in &self.masked {
            text.push_str(&as_observed(&self.text[from..start]));
            text.extend(self.text[start..end].chars().map(|it| if it == '\n' { it } else { MASK_CHARACTER }));
            from = end;
        }
        text.push_str(&as_observed(&self.text[from..]));
        Cow::Owned(text)
    }
}

/// Returns the text of bytes that begin with a byte order mark of UTF-16.
fn text_of_utf16(bytes: &[u8]) -> Option<String> {
    let unit_of: fn([u8; 2]) -> u16 = match bytes {
        // The same beginning as UTF-32.
        [0xff, 0xfe, 0, 0, ..] => return None,
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        _ => return None,
    };
    let units = bytes[2..].chunks_exact(2).map(|pair| unit_of([pair[0], pair[1]]));
    Some(char::decode_utf16(units).map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}

/// Removes an incomplete character at the end, which would look like an invalid byte.
fn drop_half_character(bytes: &mut Vec<u8>) {
    if let Err(error) = std::str::from_utf8(&bytes[bytes.len().saturating_sub(3)..])
        && error.error_len().is_none()
    {
        let tail = bytes.len().min(3);
        bytes.truncate(bytes.len() - tail + error.valid_up_to());
    }
}

/// Returns a text without the character for masked units: a program that wrote it hid nothing.
fn as_observed(text: &str) -> Cow<'_, str> {
    if text.contains(MASK_CHARACTER) {
        Cow::Owned(text.replace(MASK_CHARACTER, "\u{fdd1}"))
    } else {
        Cow::Borrowed(text)
    }
}

impl MaskingLoss {
    fn is_nothing(&self) -> bool {
        *self == MaskingLoss::Nothing
    }
}

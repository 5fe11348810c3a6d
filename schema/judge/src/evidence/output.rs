//! What programs and models wrote: streams, commands with their ends, and the output that a protocol reads from them.
//!
//! Masked units are hidden: stars in a stream, [`MASK_CHARACTER`] in what was read from it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A masked unit in a parsed output: not a star, since the output may contain stars of its own. Unicode has assigned
/// this character to no one.
pub const MASK_CHARACTER: char = '\u{FDD0}';

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capture {
    /// The text, invalid bytes replaced by U+FFFD.
    pub text: String,
    /// Whether the end was cut off, because the stream was longer than the limit.
    pub cut: bool,
    /// The byte ranges of stars in place of a secret, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub masked: Vec<(usize, usize)>,
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
    Json,
    Everything,
}

impl MaskingLoss {
    fn is_nothing(&self) -> bool {
        *self == MaskingLoss::Nothing
    }
}

impl Capture {
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

pub fn texts_of(value: &Value) -> Vec<String> {
    let mut texts = Vec::new();
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        match value {
            Value::String(text) => texts.push(text.clone()),
            Value::Array(items) => left.extend(items),
            Value::Object(members) => {
                texts.extend(members.keys().cloned());
                left.extend(members.values());
            }
            Value::Number(number) => texts.push(number.to_string()),
            Value::Null | Value::Bool(_) => {}
        }
    }
    texts
}

/// Returns a text as it may be shown, with stars for [hidden](MASK_CHARACTER) units.
pub fn shown(text: &str) -> Cow<'_, str> {
    if text.contains(MASK_CHARACTER) { Cow::Owned(text.replace(MASK_CHARACTER, "*")) } else { Cow::Borrowed(text) }
}

pub fn shown_value(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(shown(text).into_owned()),
        Value::Array(items) => items.iter().map(shown_value).collect(),
        Value::Object(members) => {
            Value::Object(members.iter().map(|(key, value)| (shown(key).into_owned(), shown_value(value))).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

pub fn has_hidden(value: &Value) -> bool {
    texts_of(value).iter().any(|text| text.contains(MASK_CHARACTER))
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ran {
    /// The text that was sent to the shell, with secrets masked.
    pub command: Capture,
    /// The end: 124 after a deadline of the format, 126 and 127 if it could not be started; `None` if not observed.
    pub exit: Option<Exit>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    /// Whether a process that it had started still held its output open when it had ended: later output of that process
    /// is missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held: bool,
    /// The standard output, with invalid UTF-8 replaced and secrets masked; `None` if not observed.
    pub stdout: Option<Capture>,
    pub stderr: Option<Capture>,
    /// Time from start to end; `None` if not observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
}

impl Ran {
    pub fn streams(&self) -> impl Iterator<Item = &Capture> {
        self.stdout.iter().chain(&self.stderr)
    }

    pub(crate) fn captures_mut(&mut self) -> impl Iterator<Item = &mut Capture> {
        std::iter::once(&mut self.command).chain(self.stdout.iter_mut()).chain(&mut self.stderr)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    pub code: Option<i32>,
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

    /// Returns the exit code in a shell: 128 plus the signal for a process that a signal ended.
    pub fn shell_code(self) -> Option<i64> {
        self.code.map(i64::from).or(self.signal.map(|signal| 128 + i64::from(signal)))
    }
}

const ILL: i32 = 4;
const ABRT: i32 = 6;
const FPE: i32 = 8;
const KILL: i32 = 9;
const SEGV: i32 = 11;
const TERM: i32 = 15;

const FATAL: [i32; 6] = [ILL, ABRT, FPE, KILL, SEGV, TERM];

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

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    pub text: String,
    pub json: Option<Value>,
    pub tool_calls: Vec<ToolCall>,
    pub calls_gap: Option<CallsGap>,
    pub cut: bool,
    /// The information that is lost by masking. Each masked unit inside a string is [`MASK_CHARACTER`].
    pub concealed: MaskingLoss,
    /// The replies of a model, if it is the output of one.
    pub replies: Vec<Reply>,
}

/// One reply of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// Whether it answers a message of the user that came after the first one.
    pub is_to_follow_up: bool,
    pub output: Output,
    pub usage: Option<Usage>,
    pub duration_ms: Option<f64>,
}

/// The place of an entry of a conversation. One with a text of the user is about the first reply to that text, any other
/// about the reply after that of the entry before it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EntryPlace {
    pub index: usize,
    /// Whether each entry up to this one has a text of the user.
    pub asks: Vec<bool>,
}

impl EntryPlace {
    /// Returns the reply that the entry is about; `None` if the conversation did not get there.
    pub fn reply<'r>(&self, replies: &'r [Reply]) -> Option<&'r Reply> {
        let asked = self.asks.iter().take(self.index + 1);
        let text = asked.clone().filter(|asks| **asks).count();
        let offset = asked.rev().take_while(|asks| !**asks).count();
        // The entry that asks comes first; before the first text, the first entry does.
        let offset = if text == 0 { offset - 1 } else { offset };
        let begins = |(index, reply): (usize, &Reply)| (index == 0 || reply.is_to_follow_up).then_some(index);
        let start = replies.iter().enumerate().filter_map(begins).nth(text)?;
        let reply = replies.get(start + offset)?;
        let is_in_same = replies[start + 1..=start + offset].iter().all(|reply| !reply.is_to_follow_up);
        is_in_same.then_some(reply)
    }
}

impl Output {
    /// Returns why nothing follows from what is not in it.
    pub fn gap(&self) -> Option<&'static str> {
        let is_empty = |reply: &Reply| reply.output.text.trim().is_empty();
        let says_nothing = |reply: &Reply| is_empty(reply) && reply.output.tool_calls.is_empty();
        let is_gap = self.replies.last().is_some_and(is_empty) || self.replies.iter().any(says_nothing);
        is_gap.then_some("the model's reply is empty")
    }

    /// Returns whether a secret is masked in it.
    pub fn has_hidden(&self) -> bool {
        self.concealed == MaskingLoss::Everything
            || self.text.contains(MASK_CHARACTER)
            || self.json.as_ref().is_some_and(has_hidden)
            || self.tool_calls.iter().any(|call| call.name.contains(MASK_CHARACTER) || has_hidden(&call.arguments))
    }
}

/// The key of arguments that are not valid JSON: their text. KindLM's name.
pub const UNREADABLE_ARGUMENTS: &str = "_raw";

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: String,
    pub name: String,
    /// The arguments: an object or a list, or the text of a model that did not write valid JSON.
    pub arguments: Value,
    /// What the tool answered; `None` if not observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
}

/// The reason why calls of a reply may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallsGap {
    /// Replies of the provider have no calls that could be read.
    NotShown,
    /// The reply lacks the place of its calls.
    NoPlace,
    /// The reply has calls in another place than the one that is read.
    Elsewhere,
    /// The reply has a call that does not say what is called.
    Unnamed,
    /// A trace has no spans of tools, and does not show what the model replied.
    Untraced,
    /// The model started other agents, whose calls are recorded elsewhere.
    OtherAgents,
}

impl CallsGap {
    pub fn sentence(self) -> &'static str {
        match self {
            CallsGap::NotShown => {
                "replies of this provider do not show which tools the model called (for `http`, `toolCallsPath` says where they do)"
            }
            CallsGap::NoPlace => {
                "`toolCallsPath` leads nowhere in the model's reply, so it is unknown which tools it called"
            }
            CallsGap::Unnamed => "a call in the model's reply has no name, so it is unknown which tool it is to",
            CallsGap::Untraced => "the trace does not show which tools the model called",
            CallsGap::OtherAgents => {
                "other agents worked for the model, and the recording does not show which tools they called"
            }
            CallsGap::Elsewhere => "the model's reply has calls in a place where its provider does not put them",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Cost in US dollars, if the price is known.
    pub cost_usd: Option<f64>,
}

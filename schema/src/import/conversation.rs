//! What was read: conversations of a user with a model that calls tools.

use serde_json::{Value, json};

use super::unread::Unread;
use crate::{
    check::time,
    evidence::{Ended, Ends, Trace, UNREADABLE_ARGUMENTS, Unfinished, Usage, texts_of},
    mask::Secrets,
};

/// A program whose recordings are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    ClaudeCode,
    Codex,
    Inspect,
    OpenTelemetry,
    Opik,
}

impl Source {
    /// Returns the name for messages.
    pub fn name(self) -> &'static str {
        match self {
            Source::ClaudeCode => "Claude Code transcript",
            Source::Codex => "Codex rollout",
            Source::Inspect => "Inspect log",
            Source::OpenTelemetry => "OpenTelemetry spans",
            Source::Opik => "Opik export",
        }
    }
}

/// The content of a file.
#[derive(Clone, Debug)]
pub struct Imported {
    pub source: Source,
    pub conversations: Vec<Conversation>,
    /// Sentences about the file.
    pub notes: Vec<String>,
    /// What is not read outside the conversations, and may belong to any of them.
    pub unread: Unread,
}

/// A conversation, from the first text of the user on.
#[derive(Clone, Debug, Default)]
pub struct Conversation {
    /// The name of a sample; `None` if the source has no names.
    pub name: Option<String>,
    pub system: Option<String>,
    /// The first text of the user.
    pub user: String,
    pub replies: Vec<Reply>,
    /// Time when it began, as in the source.
    pub started: Option<String>,
    pub duration_ms: Option<f64>,
    /// Tokens and cost of the whole, if the source has them; otherwise they are those of the replies.
    pub usage: Option<Usage>,
    /// Whether its end was seen.
    pub is_complete: bool,
    pub unread: Unread,
    /// Whether other agents worked for it, whose calls are not among its own.
    pub has_others: bool,
    /// The error that ended it.
    pub error: Option<String>,
    /// Its trace; `None` if the source has no spans.
    pub trace: Option<Trace>,
}

/// A reply of the model.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// Id of the message in the source, which several parts may share.
    pub id: Option<String>,
    /// The text of the user that it answers; `None` for the first one, and for an answer to results of calls.
    pub user: Option<String>,
    pub text: String,
    pub calls: Vec<Call>,
    /// The reason why more would have followed.
    pub unfinished: Option<Unfinished>,
    /// Whether its end says that it has calls.
    pub asks_for_tools: bool,
    pub model: Option<String>,
    pub usage: Option<Usage>,
    /// Start time, in microseconds since the Unix epoch.
    pub started_us: Option<i64>,
    pub ended_us: Option<i64>,
}

/// A call of a tool.
#[derive(Clone, Debug, Default)]
pub struct Call {
    pub id: String,
    pub name: String,
    /// An object or a list, or the text of a model that did not write valid JSON.
    pub arguments: Value,
    /// What the tool answered; `None` if not recorded.
    pub result: Option<Value>,
    pub has_failed: bool,
    /// Whether the source has an answer to it, whatever it is.
    pub is_answered: bool,
    /// Whether the source shows that it was carried out: a call may be refused.
    pub has_run: bool,
    /// The outcome, if the tool ran a command and the source shows more of it than the result.
    pub outcome: Outcome,
    pub started_us: Option<i64>,
    pub ended_us: Option<i64>,
}

/// The outcome of a shell command, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    pub stdout: Option<String>,
    pub stderr: Option<String>,
    pub exit_code: Option<i32>,
    /// Whether it was still running, or was stopped, or the source has a part of its output only.
    pub is_open: bool,
}

impl Reply {
    /// Takes the word of a protocol for its end. One of its parts may have none.
    pub(super) fn end(&mut self, ends: &Ends, reason: Option<&Value>) {
        self.unfinished = self.unfinished.take().or_else(|| ends.unfinished(reason));
        self.asks_for_tools |= reason.is_some_and(Ends::asks_for_tools);
    }
}

impl Conversation {
    /// Returns the name of the model of the first reply that has one.
    pub fn model(&self) -> Option<&str> {
        self.replies.iter().find_map(|reply| reply.model.as_deref())
    }

    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.replies.iter().flat_map(|reply| &reply.calls)
    }

    /// Returns the texts of the user after the first one.
    pub fn follow_ups(&self) -> impl Iterator<Item = &str> {
        self.replies.iter().filter_map(|reply| reply.user.as_deref())
    }

    /// Returns how it ended, if it has this end when everything was read and its end was seen.
    pub(super) fn ended(&self, end: Ended) -> Ended {
        let is_unfinished = self.replies.iter().any(|reply| reply.unfinished.is_some());
        match self.unread.may_change_result() {
            true => Ended::Partial,
            false if self.is_complete && !is_unfinished => end,
            false => Ended::Deadline,
        }
    }

    /// Whether another one begins with the same texts, and has the same model and texts of the user.
    pub fn begins_like(&self, other: &Conversation) -> bool {
        let beginning = |it: &Conversation| (it.system.clone(), it.user.clone(), it.model().map(str::to_owned));
        beginning(self) == beginning(other) && self.follow_ups().eq(other.follow_ups())
    }

    /// Whether the model has answered and waits for nothing.
    pub fn is_answered(&self) -> bool {
        self.replies.last().is_some_and(|last| last.calls.is_empty() && !last.text.trim().is_empty())
    }

    /// Returns a copy for a suite, in which secrets are masked. Only what a suite shows is.
    pub fn masked(&self, secrets: &Secrets) -> Conversation {
        let mut masked = self.clone();
        let text = |text: &mut String| *text = secrets.mask(text);
        masked.name.iter_mut().chain(&mut masked.system).for_each(text);
        text(&mut masked.user);
        for reply in &mut masked.replies {
            reply.user.iter_mut().chain(&mut reply.model).for_each(text);
            for call in &mut reply.calls {
                text(&mut call.name);
                secrets.mask_value(&mut call.arguments);
                call.result.iter_mut().for_each(|result| secrets.mask_value(result));
            }
        }
        masked
    }

    /// Returns every text, to look for secrets.
    pub fn texts(&self) -> Vec<String> {
        let own = [self.system.as_deref(), Some(&*self.user), self.error.as_deref()].into_iter().flatten();
        let replies = self.replies.iter().flat_map(|reply| {
            [reply.user.as_deref(), reply.model.as_deref(), Some(&*reply.text)].into_iter().flatten()
        });
        let names = self.calls().flat_map(|call| [&*call.id, &*call.name]);
        let outcomes = self.calls().flat_map(|call| call.outcome.stdout.iter().chain(&call.outcome.stderr));
        let values = self.calls().flat_map(|call| call.result.iter().chain([&call.arguments])).flat_map(texts_of);
        own.chain(replies).chain(names).map(str::to_owned).chain(outcomes.cloned()).chain(values).collect()
    }
}

/// Puts conversations together from messages in their order.
#[derive(Debug, Default)]
pub(super) struct Builder {
    pub(super) conversation: Conversation,
    /// Text of the user that no reply follows yet.
    pending: Option<String>,
    first_us: Option<i64>,
    last_us: Option<i64>,
    /// Whether the source says where a conversation ends.
    pub(super) says_end: bool,
    /// Events, each by its type and the id of the call that it is about.
    about: Vec<(String, String)>,
    /// Texts that the source has twice.
    repeated: Vec<String>,
}

impl Builder {
    /// Notes the time of the next message.
    pub(super) fn at(&mut self, time: Option<&str>) -> Option<i64> {
        let us = us(time?)?;
        if self.first_us.is_none() {
            (self.first_us, self.conversation.started) = (Some(us), time.map(str::to_owned));
        }
        Some(us)
    }

    pub(super) fn system(&mut self, text: &str) {
        let system = self.conversation.system.get_or_insert_default();
        append(system, text, "\n\n");
    }

    pub(super) fn user(&mut self, text: &str, at: Option<i64>) {
        if self.conversation.replies.is_empty() {
            append(&mut self.conversation.user, text, "\n\n");
        } else {
            append(self.pending.get_or_insert_default(), text, "\n\n");
        }
        self.last_us = at.or(self.last_us);
    }

    /// Returns the reply that a part of a message belongs to: the last one if it has the same id, otherwise a new one.
    pub(super) fn reply(&mut self, id: Option<&str>, at: Option<i64>) -> &mut Reply {
        let replies = &mut self.conversation.replies;
        // An error that a reply follows did not end the conversation.
        self.conversation.error = None;
        let is_same = id.is_some() && replies.last().is_some_and(|last| last.id.as_deref() == id);
        if !is_same || self.pending.is_some() {
            let user = self.pending.take();
            let started_us = self.last_us.or(at);
            replies.push(Reply { id: id.map(str::to_owned), user, started_us, ..Reply::default() });
        }
        self.last_us = at.or(self.last_us);
        let last = replies.len() - 1;
        let reply = &mut replies[last];
        reply.ended_us = at.or(reply.ended_us);
        reply
    }

    /// Counts a part that is not read.
    pub(super) fn unread(&mut self, kind: &'static str, name: &str) {
        self.conversation.unread.count(kind, name);
    }

    /// Notes an event that says nothing new of a call, unless the call itself is missing.
    pub(super) fn about(&mut self, event: &str, id: &str) {
        self.about.push((event.to_owned(), id.to_owned()));
    }

    /// Notes an event with the text of a reply, unless the reply itself is missing.
    pub(super) fn repeats(&mut self, text: &str) {
        self.repeated.push(text.to_owned());
    }

    /// Adds to the text of the last reply.
    pub(super) fn say(&mut self, text: &str) {
        if let Some(reply) = self.conversation.replies.last_mut() {
            append(&mut reply.text, text, "\n");
        }
    }

    /// Adds a call to the last reply. One that does not say what it calls is not read.
    pub(super) fn call(&mut self, call: Call) {
        match self.conversation.replies.last_mut().filter(|_| !call.name.is_empty()) {
            Some(reply) => {
                self.conversation.has_others |= starts_agents(&call.name);
                reply.calls.push(call);
            }
            None => self.unread("call without a name", ""),
        }
    }

    /// Returns the call that a result belongs to; `None` if there is none, which is counted.
    pub(super) fn answered(&mut self, id: &str, at: Option<i64>) -> Option<&mut Call> {
        self.last_us = at.or(self.last_us);
        let conversation = &mut self.conversation;
        let calls = conversation.replies.iter_mut().rev().flat_map(|reply| reply.calls.iter_mut().rev());
        let Some(call) = calls.into_iter().find(|call| call.id == id) else {
            conversation.unread.count("unmatched result", "");
            return None;
        };
        (call.ended_us, call.is_answered) = (at, true);
        Some(call)
    }

    /// Notes that the user or the program stopped the last reply.
    pub(super) fn interrupt(&mut self) {
        if let Some(reply) = self.conversation.replies.last_mut() {
            reply.unfinished = Some(Unfinished::Other("interrupted".to_owned()));
        }
    }

    /// Returns the conversation. It is complete if the model has answered the last text.
    pub(super) fn finish(mut self) -> Conversation {
        if !self.says_end {
            self.conversation.is_complete = self.conversation.is_answered() && self.pending.is_none();
        }
        if self.conversation.duration_ms.is_none() {
            let duration = self.last_us.zip(self.first_us).map(|(last, first)| (last - first) as f64 / 1000.0);
            self.conversation.duration_ms = duration.filter(|duration| *duration > 0.0);
        }
        let Conversation { replies, unread, .. } = &mut self.conversation;
        let has_call = |id: &String| replies.iter().flat_map(|reply| &reply.calls).any(|call| call.id == *id);
        for (event, _) in self.about.iter().filter(|(_, id)| !has_call(id)) {
            unread.count("event", event);
        }
        for _ in self.repeated.iter().filter(|text| !replies.iter().any(|reply| reply.text.contains(text.trim()))) {
            unread.count("event", "agent_message");
        }
        for _ in replies.iter().filter(|reply| reply.asks_for_tools && reply.calls.is_empty()) {
            unread.count("announced call", "");
        }
        self.conversation
    }

    /// Counts the calls whose results are missing although the model went on: lines are missing.
    pub(super) fn count_unanswered(&mut self) {
        let answered = self.conversation.replies.split_last().map(|(_, earlier)| earlier).unwrap_or_default();
        let lost = answered.iter().flat_map(|reply| &reply.calls).filter(|call| !call.is_answered).count();
        (0..lost).for_each(|_| self.unread("call without a result", ""));
    }
}

/// Whether a tool starts another agent, whose calls are recorded elsewhere.
pub(super) fn starts_agents(tool: &str) -> bool {
    const NAMES: [&str; 7] =
        ["task", "agent", "spawn_agent", "spawn_agents_on_csv", "resume_agent", "sessions_spawn", "handoff"];
    let name = tool.to_ascii_lowercase();
    NAMES.contains(&name.as_str()) || name.starts_with("transfer_to_")
}

pub(super) fn append(text: &mut String, more: &str, separator: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push_str(separator);
    }
    text.push_str(more);
}

/// Returns the provider of a model, as far as its name says it, and its name there.
pub fn provider_of(model: &str) -> (Option<&str>, &str) {
    const BEGINNINGS: [(&str, &str); 11] = [
        ("claude", "anthropic"),
        ("gpt", "openai"),
        ("chatgpt", "openai"),
        ("codex", "openai"),
        ("o1", "openai"),
        ("o3", "openai"),
        ("o4", "openai"),
        ("gemini", "google"),
        ("mistral", "mistral"),
        ("magistral", "mistral"),
        ("command", "cohere"),
    ];
    match model.split_once('/') {
        Some((provider, name)) if !provider.is_empty() && !name.is_empty() => (Some(provider), name),
        Some(_) | None => {
            let known = BEGINNINGS.iter().find(|(beginning, _)| model.starts_with(beginning));
            (known.map(|(_, provider)| *provider), model)
        }
    }
}

/// Returns a time in microseconds since the Unix epoch.
pub(super) fn us(time: &str) -> Option<i64> {
    time::parse(time)?.epoch_us(Some(0))
}

/// Returns the string of a member.
pub(super) fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key)?.as_str()
}

/// Returns a note if a version is newer than the newest that is known.
pub(super) fn newer(what: &str, version: &str, known: u64) -> Option<String> {
    let major: u64 = version.split('.').next()?.parse().ok()?;
    (major > known).then(|| format!("{what} has version {version}; the newest known version is {known}"))
}

/// Returns arguments that a source writes as a text of JSON.
pub(super) fn arguments(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => value,
        Ok(Value::Null) => json!({}),
        Ok(Value::Bool(_) | Value::Number(_) | Value::String(_)) | Err(_) => {
            json!({ UNREADABLE_ARGUMENTS: text })
        }
    }
}

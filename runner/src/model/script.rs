//! Scripted models: messages and calls come from a file, and their results are compared with it.

use std::{
    collections::BTreeSet,
    future,
    io::Read as _,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use speclens_schema::{
    check::text::shortened,
    evidence::{RunError, RunErrorKind, ToolCall, Usage},
    script::{self, Answer, Expect, Failure, Line, Lines, Tokens, Turn},
};

use super::{Answering, Message, Model, Reply, Request};
use crate::files::open_regular;

const SHELL: &str = "run_command";
const COMMAND: &str = "command";

const MAX_BYTES: u64 = 4 * 1024 * 1024;

const MAX_SHOWN_CHARACTERS: usize = 300;

#[derive(Debug)]
pub(crate) struct Scripted {
    name: String,
    lines: Lines,
}

struct Played<'a> {
    /// The test that it belongs to; `None` for a turn of `default`.
    test: Option<&'a str>,
    number: usize,
    turn: &'a Line<Turn>,
}

impl Scripted {
    pub(crate) fn open(path: &Path, name: &str) -> Result<Scripted, RunError> {
        let wrong =
            |reason: String| RunError::new(RunErrorKind::Script, format!("cannot play the script {name}: {reason}"));
        let mut text = String::new();
        let file = open_regular(path).map_err(|error| wrong(error.to_string()))?;
        file.take(MAX_BYTES + 1).read_to_string(&mut text).map_err(|error| wrong(error.to_string()))?;
        if text.len() as u64 > MAX_BYTES {
            return Err(wrong(format!("it is larger than {} MiB", MAX_BYTES / 1024 / 1024)));
        }
        let lines = script::read(&text).map_err(wrong)?;
        Ok(Scripted { name: name.to_owned(), lines })
    }

    /// Opens the script of a model by its id, such as `scripted/careful`, in the directory of the suite's main file;
    /// `None` for any other id.
    pub(crate) fn of_id(id: &str, directory: &Path) -> Option<Result<Scripted, RunError>> {
        let (path, name): (PathBuf, String) = match (script::file_of(id), id.strip_prefix("scripted:")) {
            (Some(name), _) => (directory.join(&name), name),
            // A path on the command line is relative to the current directory.
            (None, Some(path)) => (path.into(), path.to_owned()),
            (None, None) => return None,
        };
        Some(Scripted::open(&path, &name))
    }

    fn answer(&self, request: &Request) -> Result<Reply, RunError> {
        let tools: BTreeSet<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
        if let Some(answer) = self.answer_to(request).filter(|_| tools.is_empty()) {
            return self.say(answer);
        }
        let number = request.messages.iter().filter(|message| matches!(message, Message::Model(_))).count();
        let (test, turns) = match (self.lines.tasks.get(&request.test), &self.lines.default) {
            (Some(turns), _) => (Some(request.test.as_str()), turns),
            (None, Some(turns)) => (None, turns),
            (None, None) => return Err(self.unlisted(request)),
        };
        let played = |index: usize| Some(Played { test, number: index + 1, turn: turns.get(index)? });
        if let Some(last) = number.checked_sub(1).and_then(played) {
            self.compare(&last, &request.messages)?;
        }
        match played(number) {
            Some(next) => self.play(&next, &tools),
            // The script has ended.
            None => Ok(Reply { usage: self.usage(None), ..Reply::default() }),
        }
    }

    fn answer_to(&self, request: &Request) -> Option<&Line<Answer>> {
        let asked = request.messages.iter().rev().find_map(|message| match message {
            Message::User(text) => Some(text.as_str()),
            Message::Model(_) | Message::Prefill(_) | Message::Result { .. } => None,
        });
        let asked = asked.unwrap_or_default();
        let fits = |text: &str| asked.contains(text) || request.system.contains(text);
        self.lines.answers.iter().find(|answer| fits(&answer.item.asked))
    }

    fn say(&self, answer: &Line<Answer>) -> Result<Reply, RunError> {
        let Answer { asked: _, say, fail, usage } = &answer.item;
        match fail {
            Some(failure) => Err(self.failure(*failure, answer.number)),
            None => Ok(Reply { text: say.clone().unwrap_or_default(), usage: self.usage(*usage), ..Reply::default() }),
        }
    }

    fn play(&self, next: &Played<'_>, tools: &BTreeSet<&str>) -> Result<Reply, RunError> {
        let Turn { say, run, call, fail, expect: _, usage } = &next.turn.item;
        if let Some(failure) = fail {
            return Err(self.failure(*failure, next.turn.number));
        }
        if !run.is_empty() && !tools.contains(SHELL) {
            let message = format!("{} runs a command, but the test offers no shell", self.place(next));
            return Err(RunError::new(RunErrorKind::Script, message));
        }
        let commands = run.0.iter().map(|command| (SHELL, json!({ COMMAND: command.0 })));
        let other = call.iter().map(|call| (&*call.name, Value::Object(call.arguments.clone())));
        let calls = commands.chain(other).enumerate().map(|(index, (name, arguments))| ToolCall {
            id: format!("call-{}-{}", next.number, index + 1),
            name: name.to_owned(),
            arguments,
            result: None,
        });
        Ok(Reply {
            text: say.clone().unwrap_or_default(),
            calls: calls.collect(),
            usage: self.usage(*usage),
            ..Reply::default()
        })
    }

    fn compare(&self, last: &Played<'_>, messages: &[Message]) -> Result<(), RunError> {
        let Some(expect) = &last.turn.item.expect else { return Ok(()) };
        let back = messages.iter().rev().take_while(|message| !matches!(message, Message::Model(_)));
        let result = back.into_iter().find_map(|message| match message {
            Message::Result { text, .. } => Some(text.as_str()),
            Message::User(_) | Message::Prefill(_) | Message::Model(_) => None,
        });
        let Some(mismatch) = mismatch(expect, result, last.turn.item.call.is_some()) else { return Ok(()) };
        let of = last.turn.item.run.0.last().filter(|_| last.turn.item.call.is_none());
        let of = of.map(|command| format!(" of `{}`", shortened(&command.0, MAX_SHOWN_CHARACTERS))).unwrap_or_default();
        let message = format!("{} expected {}{of}, found {}", self.place(last), mismatch.expected, mismatch.found);
        Err(RunError::new(RunErrorKind::Script, message))
    }

    fn unlisted(&self, request: &Request) -> RunError {
        let message = match request.tools.is_empty() && !self.lines.answers.is_empty() {
            true => format!(
                "the script {} has no answer to this question, no turns for `{}`, and no `default`",
                self.name, request.test
            ),
            false => format!("the script {} has no turns for `{}`, and no `default`", self.name, request.test),
        };
        RunError::new(RunErrorKind::Script, message)
    }

    fn failure(&self, failure: Failure, line: usize) -> RunError {
        let (kind, what) = match failure {
            Failure::RateLimit => (RunErrorKind::RateLimit, "a rate limit"),
            Failure::Key => (RunErrorKind::Key, "a rejected key"),
            Failure::Provider => (RunErrorKind::Provider, "an unreachable provider"),
        };
        RunError::new(kind, format!("{}:{line} simulates {what}", self.name))
    }

    fn place(&self, played: &Played<'_>) -> String {
        let owner = played.test.map_or_else(|| "`default`".to_owned(), |test| format!("`{test}`"));
        format!("{}:{}: turn {} of {owner}", self.name, played.turn.number, played.number)
    }

    fn usage(&self, own: Option<Tokens>) -> Option<Usage> {
        let Tokens { input_tokens, output_tokens, cost_usd } = own.or(self.lines.usage)?;
        Some(Usage { input_tokens, output_tokens, cost_usd })
    }
}

impl Model for Scripted {
    fn reply<'a>(&'a self, request: &'a Request) -> Answering<'a> {
        Box::pin(future::ready(self.answer(request)))
    }
}

struct Unmet {
    expected: String,
    found: String,
}

fn mismatch(expect: &Expect, result: Option<&str>, is_call: bool) -> Option<Unmet> {
    let Some(result) = result else {
        return Some(Unmet { expected: "a result".to_owned(), found: "none".to_owned() });
    };
    let parsed = serde_json::from_str::<Value>(result).ok().filter(|_| !is_call).unwrap_or_default();
    let stream = |name: &str| parsed.get(name).and_then(Value::as_str);
    let shown = |text: &str| format!("`{}`", shortened(text.trim(), MAX_SHOWN_CHARACTERS));
    if let Some(wanted) = expect.exit_code.filter(|_| !is_call) {
        let code = parsed.get("exit_code").and_then(Value::as_i64);
        if code != Some(i64::from(wanted)) {
            let code = code.map_or_else(|| shown(result), |code| format!("exit code {code}"));
            let streams = ["stderr", "stdout"].into_iter().filter_map(&stream);
            let output = streams.into_iter().find(|text| !text.trim().is_empty());
            let output = output.map(|text| format!(" and the output {}", shown(text))).unwrap_or_default();
            return Some(Unmet { expected: format!("exit code {wanted}"), found: format!("{code}{output}") });
        }
    }
    let texts = [
        (&expect.output_contains, "stdout", "the standard output"),
        (&expect.error_contains, "stderr", "the standard error"),
    ];
    for (wanted, name, what) in texts {
        let Some(wanted) = wanted.as_deref().filter(|_| !is_call || name == "stdout") else { continue };
        let (what, text) = if is_call { ("the result", Some(result)) } else { (what, stream(name)) };
        let text = text.unwrap_or(result);
        if !text.contains(wanted) {
            let found = if text.trim().is_empty() { "nothing".to_owned() } else { shown(text) };
            return Some(Unmet { expected: format!("{} in {what}", shown(wanted)), found });
        }
    }
    None
}

#[cfg(test)]
mod tests;

//! The conversation of a task: a model's calls are commands.

use std::{sync::LazyLock, time::Duration};

use serde_json::{Value, json};
use speclens_schema::{
    check::text::shortened,
    evidence::{
        Capture, CommandLog, Ended, Exit, Ran, RunError, RunErrorKind, ToolCall, Turn, UNREADABLE_ARGUMENTS, Unfinished,
    },
    mask::Secrets,
    suite::{AgentAction, HelpMode, Sampling, Subject},
};

use super::{
    help,
    shell::{Deadline, Shell},
    task::TaskContext,
};
use crate::{
    exec::{
        process::Finished,
        talk::{Partner, Talk},
    },
    model::{Message, Model, Request, Tool},
};

/// The only tool.
const TOOL: &str = "run_command";

const COMMAND_TIMEOUT: Duration = Duration::from_secs(60);

/// The exit codes of a command that timed out, and of one that could not be started.
const TIMED_OUT: i32 = 124;
const NOT_STARTED: i32 = 126;

/// Maximum number of characters of each output that are shown to a model: half from the beginning, half from the end.
const MAX_SHOWN_CHARACTERS: usize = 10_000;

const MAX_CALLS: usize = 32;

const MIN_OUTPUT_BYTES: usize = 64 * 1024;

const MAX_NOTES: usize = 20;

#[derive(Debug, Default)]
pub struct Conversation {
    /// The turns; the output of a program is one.
    pub turns: Vec<Turn>,
    pub commands: CommandLog,
    pub ended: Option<Ended>,
    pub error: Option<RunError>,
    pub notes: Vec<String>,
    pub duration: Duration,
}

/// Runs the calls of a model in the shell of a task.
pub(super) struct Commands<'a> {
    pub(super) task: &'a TaskContext<'a>,
    pub(super) shell: &'a Shell,
    pub(super) deadline: Deadline,
    commands: CommandLog,
    notes: Vec<String>,
    replies: usize,
}

/// Runs the conversation. Everything up to its end is kept, whatever ends it.
pub(super) async fn hold(
    task: &TaskContext<'_>,
    model: &dyn Model,
    help: Option<&str>,
    shell: &Shell,
    deadline: Deadline,
) -> Conversation {
    let began = deadline.elapsed();
    let request = Request {
        test: task.test.to_owned(),
        system: instructions(task.action, task.mode, help),
        messages: vec![Message::User(self::task(task.action))],
        tools: vec![TOOL_SHAPE.clone()],
        sampling: Sampling::default(),
    };
    let max_turns = task.action.max_turns;
    let talk = Talk { model, secrets: task.secrets, cancel: &shell.cancel, max_turns, turn: task.turn };
    let (commands, notes) = (CommandLog::default(), Vec::new());
    let mut partner = Commands { task, shell, deadline, commands, notes, replies: 0 };
    let mut turns = Vec::new();
    let held = talk.hold(request, &mut partner, &mut turns).await;
    Conversation {
        turns,
        commands: partner.commands,
        ended: held.as_ref().ok().copied(),
        error: held.err(),
        notes: partner.notes,
        duration: deadline.elapsed().saturating_sub(began),
    }
}

impl Partner for Commands<'_> {
    async fn deadline(&self) -> RunError {
        self.deadline.over().await;
        self.deadline.error()
    }

    async fn results(&mut self, calls: &[ToolCall]) -> Result<Vec<String>, RunError> {
        self.replies += 1;
        if calls.len() > MAX_CALLS {
            let (asked, reply) = (calls.len(), self.replies);
            self.notes.push(format!("reply {reply} asked for {asked} commands; only the first {MAX_CALLS} were run"));
        }
        let mut results = Vec::new();
        for (index, call) in calls.iter().enumerate() {
            results.push(self.call(index, call).await?.to_string());
        }
        Ok(results)
    }

    fn follow_up(&mut self) -> Option<String> {
        None
    }

    fn refuses(&self, unfinished: &Unfinished) -> bool {
        match unfinished {
            Unfinished::CutOff | Unfinished::Refused(_) => true,
            Unfinished::Other(_) | Unfinished::Unread => false,
        }
    }
}

impl Commands<'_> {
    /// Performs a call of a model. An error ends the conversation; mistakes of the model are reported to it.
    async fn call(&mut self, index: usize, call: &ToolCall) -> Result<Value, RunError> {
        let wrong = |what: String| Ok(json!({ "error": what }));
        if call.name != TOOL {
            return wrong(format!("unknown tool `{}`; call `{TOOL}`", call.name));
        }
        if call.arguments.get(UNREADABLE_ARGUMENTS).is_some() {
            return wrong("the arguments are not valid JSON".to_owned());
        }
        let Some(command) = call.arguments.get("command").and_then(Value::as_str) else {
            return wrong(format!("`{TOOL}` takes an object with the string `command`"));
        };
        if index >= MAX_CALLS {
            return wrong(format!("not run: a reply can run at most {MAX_CALLS} commands"));
        }
        let kept: usize = self.commands.commands.iter().flat_map(Ran::streams).map(|stream| stream.text.len()).sum();
        // All streams together keep twice as many bytes as each of them may.
        let most = self.task.output_limit;
        let limit = most.saturating_mul(2).saturating_sub(kept).clamp(MIN_OUTPUT_BYTES.min(most), most);
        let finished = self.shell.run(command, self.deadline.left(COMMAND_TIMEOUT), limit).await;
        let Finished { ran, error, notes } = finished;
        let room = MAX_NOTES.saturating_sub(self.notes.len());
        self.notes.extend(notes.iter().take(room).map(|note| format!("`{}`: {note}", brief(command))));
        let ended = error.as_ref().filter(|error| error.kind == RunErrorKind::Cancelled).cloned();
        let ran = as_shell_reports(ran, error.as_ref());
        let result = shown(&ran, self.task.secrets);
        self.commands.commands.push(ran);
        match ended {
            Some(error) => Err(error),
            None if self.deadline.is_over() => Err(self.deadline.error()),
            None => Ok(result),
        }
    }
}

fn instructions(action: &AgentAction, mode: Option<HelpMode>, help: Option<&str>) -> String {
    let mut text = String::from(
        "You complete a task with a command-line program. Run shell commands with the tool `run_command` until the task is \
         done, then answer with one sentence and call no tool.\n\
         Each command runs in a new shell in the same directory: `cd` and `export` last only for one command. There is no \
         terminal and no standard input, so do not start anything that asks questions. Nobody answers your questions either: \
         when something is open, choose what fits the task best.",
    );
    match mode {
        Some(HelpMode::Discoverable) => {
            text.push_str("\nIf you do not know the program, read its help first, for example with `--help`.");
        }
        Some(HelpMode::Injected | HelpMode::None) | None => {}
    }
    if let Some(help) = help {
        text.push_str(&help_is_announced(action, help));
    }
    if let Some(more) = &action.surroundings.system_prompt {
        text.push_str("\n\n");
        text.push_str(more);
    }
    text
}

/// Returns the standard input of an agent program: it knows how to work, so this names only the task.
pub(super) fn instructions_of_program(action: &AgentAction, help: Option<&str>) -> String {
    let help = help.map(|help| help_is_announced(action, help)).unwrap_or_default();
    format!("{}\n", (task(action) + &help).trim_end())
}

fn help_is_announced(action: &AgentAction, help: &str) -> String {
    format!("\n\nFrom the help of `{}`:\n\n{help}", action.surroundings.cli)
}

fn task(action: &AgentAction) -> String {
    format!("CLI: {}\nTask: {}", action.surroundings.cli, action.intent)
}

fn characters_of_first_request(action: &AgentAction, mode: Option<HelpMode>) -> usize {
    let parameters = TOOL_SHAPE.parameters.as_ref().map(Value::to_string).unwrap_or_default();
    let texts = [instructions(action, mode, None), task(action), parameters];
    texts.iter().map(|text| text.chars().count()).sum::<usize>() + TOOL.len() + DESCRIPTION.len()
}

/// Returns a command as the agent sees it: always with an exit code, and with both outputs.
fn as_shell_reports(mut ran: Ran, error: Option<&RunError>) -> Ran {
    let exit = |code: i32| Some(Exit { code: Some(code), signal: None });
    if ran.timed_out {
        ran.exit = exit(TIMED_OUT);
    }
    if let Some(error) = error.filter(|error| error.kind == RunErrorKind::Spawn) {
        ran.exit = exit(NOT_STARTED);
        ran.stderr = Some(Capture::whole(error.message.clone()));
    }
    ran.stdout.get_or_insert_default();
    ran.stderr.get_or_insert_default();
    ran
}

/// Returns the result of a command as it is sent to a model. Secrets are masked before the text is cut, so no part of
/// one remains.
fn shown(ran: &Ran, secrets: &Secrets) -> Value {
    let masked = |it: &Capture| ends_of(&secrets.mask_capture(it).as_ref().unwrap_or(it).text);
    let stream = |capture: &Option<Capture>| capture.as_ref().map(masked).unwrap_or_default();
    let code = ran.exit.and_then(Exit::shell_code);
    let mut result = json!({ "exit_code": code, "stdout": stream(&ran.stdout), "stderr": stream(&ran.stderr) });
    if ran.timed_out {
        result["error"] =
            Value::from(format!("stopped, because it took longer than {} seconds", COMMAND_TIMEOUT.as_secs()));
    }
    result
}

fn ends_of(text: &str) -> String {
    let length = text.chars().count();
    if length <= MAX_SHOWN_CHARACTERS {
        return text.to_owned();
    }
    let half = MAX_SHOWN_CHARACTERS / 2;
    let begin = text.char_indices().nth(half).map_or(text.len(), |(at, _)| at);
    let end = text.char_indices().nth_back(half - 1).map_or(0, |(at, _)| at);
    format!("{}\n[{} characters left out]\n{}", &text[..begin], length - MAX_SHOWN_CHARACTERS, &text[end..])
}

fn brief(command: &str) -> String {
    shortened(&command.split_whitespace().collect::<Vec<_>>().join(" "), 80)
}

static TOOL_SHAPE: LazyLock<Tool> = LazyLock::new(|| Tool {
    name: TOOL.to_owned(),
    description: Some(DESCRIPTION.to_owned()),
    parameters: Some(json!({
        "type": "object",
        "properties": { "command": { "type": "string", "description": "The shell command." } },
        "required": ["command"],
        "additionalProperties": false,
    })),
});

const DESCRIPTION: &str = "Runs a command with `sh -c` in the working directory, and returns its exit code, standard output and standard error.";

// Upper bounds of a task before it runs: the number of requests is certain, that of tokens is as good as its assumptions.

const ANSWER_TOKENS: u64 = 1_000;

const CHARACTERS_PER_TOKEN: u64 = 3;

const AROUND_RESULT: usize = 200;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsageBound {
    pub requests: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
}

impl UsageBound {
    pub fn of(action: &AgentAction, subject: &Subject) -> UsageBound {
        let mode = match subject {
            Subject::Model { mode, .. } => *mode,
            Subject::Command | Subject::Gateway { .. } | Subject::Nobody => None,
        };
        let help = match mode {
            Some(HelpMode::Injected) => help::MAX_CHARACTERS,
            Some(HelpMode::Discoverable | HelpMode::None) | None => 0,
        };
        let first = tokens(characters_of_first_request(action, mode) + help);
        let more = tokens(2 * MAX_SHOWN_CHARACTERS + AROUND_RESULT) + ANSWER_TOKENS;
        let requests = u64::from(action.max_turns.max(1));
        // Each request contains all previous answers and results.
        UsageBound {
            requests,
            input_tokens: requests * first + more * (requests * (requests - 1) / 2),
            output_tokens: requests * ANSWER_TOKENS,
        }
    }

    pub fn times(self, attempts: u64) -> UsageBound {
        UsageBound {
            requests: self.requests * attempts,
            input_tokens: self.input_tokens * attempts,
            output_tokens: self.output_tokens * attempts,
        }
    }

    pub fn plus(self, other: UsageBound) -> UsageBound {
        UsageBound {
            requests: self.requests + other.requests,
            input_tokens: self.input_tokens + other.input_tokens,
            output_tokens: self.output_tokens + other.output_tokens,
        }
    }
}

pub(crate) fn tokens(characters: usize) -> u64 {
    (characters as u64).div_ceil(CHARACTERS_PER_TOKEN)
}

pub fn assumptions() -> String {
    format!(
        "one command per turn with {} characters of output; {} tokens per answer; \
         {CHARACTERS_PER_TOKEN} characters per token",
        grouped(2 * MAX_SHOWN_CHARACTERS as u64),
        grouped(ANSWER_TOKENS)
    )
}

pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_outputs_keep_both_ends() {
        assert_eq!(ends_of("short"), "short");
        let text = format!("{}é{}", "a".repeat(MAX_SHOWN_CHARACTERS), "b".repeat(MAX_SHOWN_CHARACTERS));
        let cut = ends_of(&text);
        assert!(cut.starts_with("aaa") && cut.ends_with("bbb") && cut.contains("\n[10001 characters left out]\n"));
        assert_eq!(cut.matches('a').count() - "characters".matches('a').count(), MAX_SHOWN_CHARACTERS / 2);
        assert_eq!(cut.matches('b').count(), MAX_SHOWN_CHARACTERS / 2);
    }

    #[test]
    fn thousands_are_grouped() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}

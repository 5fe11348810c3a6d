//! Calls that run shell commands.

use serde_json::Value;

use super::conversation::{Call, Conversation, Outcome};
use crate::evidence::{Capture, CommandGap, CommandLog, Exit, Ran};

/// Names of tools that run a shell command, without the prefix of a server.
const SHELLS: [&str; 16] = [
    "bash", "shell", "local_shell", "container.exec", "exec", "exec_command", "shell_command", "run_command",
    "run_shell_command", "run_terminal_cmd", "execute_bash", "execute_command", "bash_session", "terminal", "sh",
    "unified_exec",
];

/// Names of tools that run no commands.
const HARMLESS: [&str; 30] = [
    "read", "write", "edit", "multiedit", "notebookedit", "notebookread", "glob", "grep", "ls", "todowrite",
    "todoread", "webfetch", "websearch", "exitplanmode", "enterplanmode", "askuserquestion", "bashoutput", "killshell",
    "killbash", "toolsearch", "update_plan", "apply_patch", "view_image", "web_search", "submit", "think", "read_file",
    "write_file", "list_dir", "list_directory",
];

/// Returns the command of a call; `None` if the call runs none.
pub(super) fn command_of(call: &Call) -> Option<String> {
    if !SHELLS.contains(&call.name.to_ascii_lowercase().as_str()) {
        return None;
    }
    let command = ["command", "cmd", "script"].iter().find_map(|key| call.arguments.get(*key))?;
    match command {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            Some(match words.as_slice() {
                [shell, option, script] if is_shell(shell) && option.starts_with('-') && option.ends_with('c') => {
                    (*script).to_owned()
                }
                words => words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
            })
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

fn is_shell(program: &str) -> bool {
    matches!(program.rsplit('/').next(), Some("sh" | "bash" | "zsh" | "dash"))
}

/// Returns a word of a command line as it is written for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./:=,@%+".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Returns the commands of a conversation, and the reason why others may have run.
pub(super) fn log(conversation: &Conversation) -> CommandLog {
    let runs_others =
        |call: &Call| command_of(call).is_none() && !HARMLESS.contains(&call.name.to_ascii_lowercase().as_str());
    // A call that was asked for and not carried out ran nothing, but the source does not always show which it is.
    let is_gap = |call: &Call| runs_others(call) || !call.has_run && command_of(call).is_some();
    let has_gap = conversation.has_others || conversation.calls().any(is_gap);
    let run = conversation.calls().filter(|call| call.has_run);
    let commands = run.filter_map(|call| Some(ran(command_of(call)?, call))).collect();
    CommandLog { commands, cut: false, unseen: has_gap.then_some(CommandGap::NotShown) }
}

fn ran(command: String, call: &Call) -> Ran {
    let Outcome { stdout, stderr, exit_code, is_open } = call.outcome.clone();
    let capture = |text: String| Capture { cut: is_open, ..Capture::whole(text) };
    Ran {
        command: Capture::whole(command),
        exit: exit_code.map(|code| Exit { code: Some(code), signal: None }),
        stdout: stdout.map(capture),
        stderr: stderr.map(capture),
        duration_ms: call.started_us.zip(call.ended_us).map(|(from, to)| (to - from) as f64 / 1000.0),
        ..Ran::default()
    }
}

//! The gateway log, in the format of the ClawSpec reference or as the JSON lines of OpenClaw.

use serde_json::json;
use speclens_schema::gateway_script::{self, LogForm, RunLines};

use super::{
    run::ScriptedRun,
    state::{GatewayState, Mode},
};

/// An event in a gateway log.
#[derive(Clone, Copy, Debug)]
pub(super) enum Line<'a> {
    Started,
    Tool {
        name: &'a str,
        call: u32,
    },
    ToolEnded {
        name: &'a str,
        call: u32,
    },
    /// Another agent is started, by its id, in a run.
    Spawn {
        agent: &'a str,
        child: &'a str,
        call: u32,
    },
    /// A model was asked.
    Tokens {
        input: u64,
        output: u64,
    },
    Done {
        session: &'a str,
        duration_ms: u64,
    },
    /// A line that the script writes itself.
    Written(&'a str),
}

/// The tool that starts another agent.
pub(super) const SPAWN: &str = "sessions_spawn";

impl GatewayState {
    /// Writes an event to the log, if its format has a line for it.
    pub(super) async fn log(&self, scripted_run: &ScriptedRun, run: &RunLines, line: Line<'_>) -> Result<(), String> {
        let lines = match self.lines.form {
            LogForm::None => return Ok(()),
            LogForm::Words => words(scripted_run, run, line, &self.time.now().to_string()),
            LogForm::Json => json_line(scripted_run, line, &self.time.now().to_string()),
        };
        let Some(mut text) = lines else { return Ok(()) };
        text.push('\n');
        let path = gateway_script::expand(&self.log, |name| (name == "today").then(|| self.time.today().into()));
        let _turn = self.logging.lock().await;
        self.write(&path, &text, Mode::Append).await
    }
}

fn words(scripted_run: &ScriptedRun, run: &RunLines, line: Line<'_>, now: &str) -> Option<String> {
    let (id, agent) = (&scripted_run.run_id, &run.agent);
    Some(match line {
        Line::Started => format!("{now} run_id={id} session_started agent={agent}"),
        Line::Tool { name, call: _ } => format!("{now} run_id={id} tool={name} agent={agent}"),
        Line::ToolEnded { .. } => return None,
        Line::Spawn { agent: to, child, call: _ } => {
            format!("{now} run_id={id} tool={SPAWN} agent={agent} params.agentId={to} child_run_id={child}")
        }
        Line::Tokens { input, output } => {
            format!("{now} run_id={id} token_usage input={input} output={output} total={}", input + output)
        }
        Line::Done { session, duration_ms } => format!("{now} {}", done(id, session, duration_ms)),
        Line::Written(text) => text.to_owned(),
    })
}

/// Returns the line by which OpenClaw reports the end of a run.
fn done(id: &str, session: &str, duration_ms: u64) -> String {
    format!("embedded run done: runId={id} sessionId={session} durationMs={duration_ms}")
}

fn json_line(scripted_run: &ScriptedRun, line: Line<'_>, now: &str) -> Option<String> {
    let id = &scripted_run.run_id;
    let message = match line {
        Line::Started => format!("embedded run start: runId={id} sessionKey={}", scripted_run.session_key),
        Line::Tool { name, call } => format!("embedded run tool start: runId={id} tool={name} toolCallId=call_{call}"),
        Line::ToolEnded { name, call } => {
            format!("embedded run tool end: runId={id} tool={name} toolCallId=call_{call}")
        }
        Line::Spawn { agent: _, child: _, call } => {
            format!("embedded run tool start: runId={id} tool={SPAWN} toolCallId=call_{call}")
        }
        Line::Tokens { .. } => return None,
        Line::Done { session, duration_ms } => done(id, session, duration_ms),
        Line::Written(text) => return Some(text.to_owned()),
    };
    let line = json!({
        "0": "{\"subsystem\":\"agent/embedded\"}",
        "1": message,
        "_meta": { "logLevelName": "DEBUG", "name": "{\"subsystem\":\"agent/embedded\"}" },
        "time": now,
        "traceId": scripted_run.trace.id(),
        "spanId": scripted_run.trace.root(),
    });
    Some(line.to_string())
}

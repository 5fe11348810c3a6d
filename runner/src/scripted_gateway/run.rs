//! One run: its steps in order.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc, time::Duration};

use reqwest::header::CONTENT_TYPE;
use serde_json::{Map, Value, json};
use speclens_schema::gateway_script::{self, LogForm, Reply, RunLines, Spawn, Started, StepAction, Written};
use tokio::sync::oneshot;

use super::{
    spans::{Span, Trace, export},
    state::{GatewayState, Mode, Receiver, uuid},
};

const TIMEOUT: Duration = Duration::from_secs(5);

const MAX_DEPTH: usize = 16;

#[derive(Clone, Debug)]
pub(super) struct StartRequest<'a> {
    pub(super) started: Started<'a>,
    pub(super) message: &'a str,
    pub(super) params: &'a Map<String, Value>,
}

#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: String,
}

#[derive(Debug)]
pub(super) struct ScriptedRun {
    pub(super) state: Arc<GatewayState>,
    pub(super) index: usize,
    pub(super) run_id: String,
    pub(super) session_key: String,
    pub(super) trace: Trace,
    caller: Caller,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caller {
    Webhook,
    Program,
    Run { depth: usize },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Done,
    /// It never ends.
    Open,
}

impl ScriptedRun {
    /// Finds the run for a request. The error says that there is none.
    pub(super) fn find(state: &GatewayState, start_request: &StartRequest<'_>) -> Result<usize, String> {
        let found = state
            .lines
            .runs
            .iter()
            .position(|run| run.when.holds(start_request.started, start_request.message, start_request.params));
        found.ok_or_else(|| {
            let what = match start_request.started {
                Started::Skill { command } => format!("the skill `{command}`"),
                Started::Agent { id } => format!("the agent `{id}`"),
            };
            let message = format!("the scripted gateway {} has no run for {what} with this message", state.name);
            state.fault(message.clone());
            message
        })
    }

    pub(super) fn begin(
        state: &Arc<GatewayState>,
        index: usize,
        caller: Caller,
        session_key: Option<&str>,
    ) -> ScriptedRun {
        let run_id = state.run_id(session_key);
        let key_of = |agent: &str| format!("agent:{agent}:main");
        ScriptedRun {
            state: Arc::clone(state),
            index,
            session_key: session_key.map_or_else(|| key_of(&state.lines.runs[index].agent), str::to_owned),
            trace: Trace::begin(&run_id),
            run_id,
            caller,
        }
    }

    pub(super) fn run(&self) -> &RunLines {
        &self.state.lines.runs[self.index]
    }

    pub(super) fn answers_itself(&self) -> bool {
        self.run().steps.iter().any(|step| step.item.answer.is_some())
    }

    /// Returns the id of the session. The program uses it as the id of the run as well.
    fn session(&self) -> String {
        match self.caller {
            Caller::Program => self.run_id.clone(),
            Caller::Webhook | Caller::Run { .. } => uuid(&format!("session {}", self.session_key)),
        }
    }

    pub(super) fn answer(&self, reply: &Reply) -> Answer {
        let body = match &reply.body {
            None => match self.caller {
                Caller::Webhook | Caller::Run { .. } => json!({ "ok": true, "runId": self.run_id }).to_string(),
                Caller::Program => {
                    let meta = json!({ "agentMeta": { "sessionId": self.session() } });
                    json!({ "payloads": [], "meta": meta }).to_string()
                }
            },
            Some(Value::String(text)) => self.filled(text),
            Some(value) => self.filled_value(value).to_string(),
        };
        Answer { status: reply.status.unwrap_or(200), body }
    }

    /// Plays the steps. An error is recorded, and the run continues.
    pub(super) async fn play(&mut self, mut answer: Option<oneshot::Sender<Answer>>) -> End {
        let run = self.run().clone();
        let began = self.state.time.nanoseconds();
        self.log(&run, Line::Started).await;
        for step in &run.steps {
            let result = match step.item.action() {
                None => Ok(()),
                Some(StepAction::Answer(reply)) => {
                    if let Some(asker) = answer.take() {
                        // A caller that no longer waits needs no answer.
                        let _ = asker.send(self.answer(reply));
                    }
                    Ok(())
                }
                Some(StepAction::Write(file)) => self.write(file, Mode::Replace).await,
                Some(StepAction::Append(file)) => self.write(file, Mode::Append).await,
                Some(StepAction::Tool(call)) => {
                    let call_id = self.trace.next_call();
                    self.log(&run, Line::Tool { name: &call.name, call: call_id }).await;
                    let span = Span::tool(&call.name).failing(call.error.as_deref());
                    self.span(span, call.ms).await;
                    self.log(&run, Line::ToolEnded { name: &call.name, call: call_id }).await;
                    Ok(())
                }
                Some(StepAction::Model(call)) => {
                    let span = Span::model(call).failing(call.error.as_deref());
                    self.span(span, call.ms).await;
                    self.log(&run, Line::Tokens { input: call.input_tokens, output: call.output_tokens }).await;
                    Ok(())
                }
                Some(StepAction::Spawn(spawn)) => self.spawn(&run, spawn).await,
                Some(StepAction::Log(text)) => {
                    self.log(&run, Line::Written(&self.filled(text))).await;
                    Ok(())
                }
                Some(StepAction::Span(sent)) => {
                    let attributes = sent.attributes.iter();
                    let attributes = attributes.map(|(name, value)| (name.clone(), self.filled_value(value))).collect();
                    let span = Span::named(&self.filled(&sent.name), attributes).failing(sent.error.as_deref());
                    self.span(span, sent.ms).await;
                    Ok(())
                }
                Some(StepAction::Wait(milliseconds)) => {
                    self.flush().await;
                    self.wait(milliseconds).await;
                    Ok(())
                }
            };
            if let Err(reason) = result {
                self.state.fault(format!("{}:{}: {reason}", self.state.name, step.number));
            }
        }
        if !run.done {
            self.flush().await;
            return End::Open;
        }
        let ended = self.state.time.nanoseconds();
        match self.caller {
            Caller::Webhook | Caller::Program => {
                self.trace.end(Span::run(&self.session_key), began, ended);
                self.flush().await;
            }
            // The caller sends its spans.
            Caller::Run { .. } => self.trace.end(Span::agent(&run.agent), began, ended),
        }
        let duration_ms = u64::try_from((ended - began) / 1_000_000).unwrap_or_default();
        self.log(&run, Line::Done { session: &self.session(), duration_ms }).await;
        End::Done
    }

    async fn spawn(&mut self, run: &RunLines, spawn: &Spawn) -> Result<(), String> {
        let (began, call_id, span) = (self.state.time.nanoseconds(), self.trace.next_call(), self.trace.open());
        let child_id = uuid(&format!("child {} {call_id}", self.run_id));
        let line = Line::Spawn { agent: &spawn.agent, child: &child_id, call: call_id };
        self.log(run, line).await;
        let depth = match self.caller {
            Caller::Webhook | Caller::Program => 1,
            Caller::Run { depth } => depth + 1,
        };
        if depth >= MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} agents wait for one another"));
        }
        let message = spawn.task.as_ref().map(|task| self.filled(task)).unwrap_or_default();
        let params = Map::new();
        let start_request =
            StartRequest { started: Started::Agent { id: &spawn.agent }, message: &message, params: &params };
        let index = ScriptedRun::find(&self.state, &start_request)?;
        let mut child = ScriptedRun {
            state: Arc::clone(&self.state),
            index,
            session_key: format!(
                "agent:{}:subagent:{}",
                &*spawn.agent,
                uuid(&format!("key {} {call_id}", self.run_id))
            ),
            trace: self.trace.below(&child_id, &span),
            run_id: child_id,
            caller: Caller::Run { depth },
        };
        let end = Box::pin(child.play(None)).await;
        self.trace.take_over(child.trace);
        self.trace.close(span, Span::tool(SPAWN), began, self.state.time.nanoseconds());
        self.log(run, Line::ToolEnded { name: SPAWN, call: call_id }).await;
        if end == End::Open {
            // A run that waits for one that never ends does not end either.
            self.flush().await;
            self.state.cancel.cancelled().await;
        }
        Ok(())
    }

    async fn span(&mut self, span: Span, milliseconds: Option<u64>) {
        let began = self.state.time.nanoseconds();
        self.wait(milliseconds.unwrap_or_default()).await;
        self.trace.add(span, began, self.state.time.nanoseconds());
    }

    async fn wait(&self, milliseconds: u64) {
        if milliseconds > 0 {
            tokio::time::sleep(Duration::from_millis(milliseconds)).await;
        }
    }

    async fn flush(&mut self) {
        let spans = self.trace.take();
        if !self.state.lines.spans || spans.is_empty() {
            return;
        }
        if let Err(reason) = self.send(spans).await {
            self.state.fault(format!("the scripted gateway {} cannot send spans: {reason}", self.state.name));
        }
    }

    /// Sends spans to the receiver of the run, if there is one. A gateway starts before a run, so only the program knows
    /// its run.
    async fn send(&self, spans: Vec<Value>) -> Result<(), String> {
        let Some(Receiver { address, resource }) = self.state.receiver() else { return Ok(()) };
        let own = match self.caller {
            Caller::Program => resource,
            Caller::Webhook | Caller::Run { .. } => Map::new(),
        };
        let body = export(spans, &own).to_string();
        let request = self.state.client.post(format!("{address}/v1/traces")).header(CONTENT_TYPE, "application/json");
        let response = request.timeout(TIMEOUT).body(body).send().await.map_err(|error| error.to_string())?;
        let status = response.status();
        if status.is_success() { Ok(()) } else { Err(format!("{address} responded with status {status}")) }
    }

    async fn write(&self, file: &Written, mode: Mode) -> Result<(), String> {
        let path = self.filled(&file.path);
        self.state.write(&path, &self.filled(&file.content), mode).await
    }

    async fn log(&self, run: &RunLines, line: Line<'_>) {
        let state = &self.state;
        let lines = match state.lines.form {
            LogForm::None => None,
            LogForm::Words => words(self, run, line, &state.time.now().to_string()),
            LogForm::Json => json_line(self, line, &state.time.now().to_string()),
        };
        let Some(mut text) = lines else { return };
        text.push('\n');
        let path = gateway_script::expand(&state.log, |name| (name == "today").then(|| state.time.today().into()));
        let _turn = state.logging.lock().await;
        if let Err(reason) = state.write(&path, &text, Mode::Append).await {
            state.fault(format!("the scripted gateway {} cannot write its log: {reason}", state.name));
        }
    }

    fn filled(&self, text: &str) -> String {
        let values = BTreeMap::from([
            ("run_id", self.run_id.clone()),
            ("session_key", self.session_key.clone()),
            ("today", self.state.time.today()),
            ("now", self.state.time.moment()),
        ]);
        gateway_script::expand(text, |name| values.get(name).map(|value| Cow::Owned(value.clone())))
    }

    fn filled_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.filled(text)),
            Value::Array(items) => items.iter().map(|item| self.filled_value(item)).collect(),
            Value::Object(members) => {
                members.iter().map(|(name, value)| (name.clone(), self.filled_value(value))).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Line<'a> {
    Started,
    Tool { name: &'a str, call: u32 },
    ToolEnded { name: &'a str, call: u32 },
    Spawn { agent: &'a str, child: &'a str, call: u32 },
    Tokens { input: u64, output: u64 },
    Done { session: &'a str, duration_ms: u64 },
    Written(&'a str),
}

const SPAWN: &str = "sessions_spawn";

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

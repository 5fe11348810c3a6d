//! One line of the gateway log: the runs that it names, and what happened.
//!
//! There are two families of formats: lines about `run_id`, `tool` and `agent`, in words or in JSON, and the sentences
//! of OpenClaw gateways, such as `embedded run tool start: runId=… tool=… toolCallId=…`.

use crate::{
    check::text::visible,
    gateway::log::fields::{self, Fields},
};

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Line {
    pub run: Option<String>,
    pub parent_run: Option<String>,
    pub session: Option<String>,
    /// Keys of the session: the gateway's, and the requested one.
    pub keys: Vec<String>,
    /// Key of a session that this one started.
    pub child_key: Option<String>,
    pub trace: Option<String>,
    pub span: Option<String>,
    pub parent_span: Option<String>,
    /// Whether the session was created for this run only.
    pub has_own_session: bool,
    /// Whether the log contains tool calls, which a gateway logs only at level `debug`.
    pub is_detailed: bool,
    /// Whether it is a sentence of a gateway that also reports the end of each run.
    pub has_end: bool,
    pub is_of_gateway: bool,
    pub is_warning: bool,
    /// Whether it is JSON that cannot be read to its end.
    pub is_damaged: bool,
    pub events: Vec<Event>,
}

/// A line about tools that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unclear {
    /// Name of the tool, if it is known.
    pub tool: Option<String>,
    pub(super) id: Option<String>,
    /// Line, counted from 0.
    pub line: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    Call {
        tool: String,
        id: Option<String>,
        /// Agent to start, for `sessions_spawn`.
        to_agent: Option<String>,
        /// Id of that agent's run.
        child_run: Option<String>,
    },
    CallEnded {
        tool: String,
    },
    /// Something about tools that cannot be read.
    Unclear {
        /// Name of the tool, if it is known.
        tool: Option<String>,
        id: Option<String>,
    },
    /// An agent started to work.
    Session {
        agent: String,
    },
    /// Tokens were used.
    Usage {
        /// Number of input tokens.
        input: u64,
        /// Number of output tokens.
        output: u64,
        /// Total number of tokens.
        total: u64,
    },
    /// Another program took over the run. Its tool calls are not in the log.
    OtherProgram,
    /// The run has begun, possibly once more.
    Begun,
    /// A session has work to do.
    Busy,
    /// A session has done its work, or failed to.
    Idle,
    /// The agent of the run stopped: without an error, or for this reason.
    Stopped(Result<(), String>),
    Done(RunEnd),
    /// Lines of unknown runs were dropped.
    Dropped,
}

impl Event {
    /// The tool and the id of a call, as far as they are known. `None` for an event that is no call.
    fn tool(&self) -> Option<(Option<&String>, Option<&String>)> {
        match self {
            Event::Call { tool, id, .. } => Some((Some(tool), id.as_ref())),
            Event::CallEnded { tool } => Some((Some(tool), None)),
            Event::Unclear { tool, id } => Some((tool.as_ref(), id.as_ref())),
            Event::Session { .. }
            | Event::Usage { .. }
            | Event::OtherProgram
            | Event::Begun
            | Event::Busy
            | Event::Idle
            | Event::Stopped(_)
            | Event::Done(_)
            | Event::Dropped => None,
        }
    }

    pub(super) fn child_run(&self) -> Option<&String> {
        if let Event::Call { child_run, .. } = self { child_run.as_ref() } else { None }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RunEnd {
    /// It may begin again, with another model. The error is the reason why it failed, if the line has one.
    Attempt(Result<(), String>),
    /// It ended for good, successfully or for this reason. `None` if the line does not say.
    Final(Option<Result<(), String>>),
}

/// Tools of an OpenClaw gateway that call others, if it has a catalog of tools.
const WRAPPERS: [&str; 2] = ["tool_call", "tool_search_code"];

/// Tool that starts a run of another agent.
pub const SPAWN: &str = "sessions_spawn";

const TOOLS: [&str; 6] = ["tool", "toolname", "tool.name", "toolcall.name", "toolcall.tool", "function.name"];

/// Phrases of a line that names a tool only as `name`.
const CALLS: [&str; 7] =
    ["tool call", "tool use", "tool start", "tool called", "tool invoked", "call tool", "tool execution"];

const CALL_ENDS: [&str; 8] = [
    "tool end", "tool ended", "tool result", "tool done", "tool completed", "tool finished", "tool execution end",
    "tool call ended",
];

/// Words of a line about a call that may not have happened.
const REFUSALS: [&str; 9] =
    ["blocked", "denied", "refused", "rejected", "forbidden", "not allowed", "not permitted", "unavailable", "skipped"];

const RUN_ENDS: [&str; 16] = [
    "run done", "run completed", "run complete", "run ended", "run end", "run finished", "run succeeded",
    "run stopped", "run failed", "run error", "run aborted", "run cancelled", "run canceled", "run crashed",
    "run timed out", "hook agent failed",
];

/// Parts of words that mean a failure.
const FAILURES: [&str; 15] = [
    "error", "fail", "abort", "timeout", "timed", "cancel", "kill", "crash", "refus", "reject", "denied", "expired",
    "exceeded", "interrupt", "skipped",
];

impl Line {
    /// Reads what programs wrote into one line of the file: usually one line.
    pub fn read_all(text: &str) -> Vec<Line> {
        fields::pieces(text).into_iter().map(Line::read).collect()
    }

    /// Reads a line. A line in any other format is empty.
    pub fn read(text: &str) -> Line {
        let text = visible(text.trim_end());
        let fields = Fields::read(&text);
        let one = |names: &[&str]| fields.get(names).map(str::to_owned);
        let is_openclaw = fields.says("embedded run") || fields.says("hook agent run") || fields.says("agent run");
        let is_key = |text: &&str| text.starts_with("agent:");
        let lane = fields.all(&["lane"]).filter_map(|lane| lane.strip_prefix("session:"));
        let mut keys: Vec<String> = Vec::new();
        for key in fields
            .all(&["sessionkey", "logicalsessionkey"])
            .chain(fields.all(&["sessionid"]).filter(is_key))
            .chain(lane)
        {
            if !keys.iter().any(|known| known == key) {
                keys.push(key.to_owned());
            }
        }
        let mut line = Line {
            run: one(&["runid", "run.id"]).or_else(|| ended_run(&fields.words)),
            parent_run: one(&["parentrunid", "parentrun", "requesterrunid", "callerrunid"]),
            session: fields.all(&["sessionid"]).find(|text| !is_key(text)).map(str::to_owned),
            keys,
            child_key: one(&["childsessionkey"]),
            trace: one(&["traceid"]),
            span: one(&["spanid"]),
            parent_span: one(&["parentspanid"]),
            has_own_session: fields.has(&["logicalsessionkey"]),
            is_of_gateway: is_openclaw || fields.level.is_some(),
            is_damaged: fields.is_damaged,
            is_warning: matches!(fields.level.as_deref(), Some("WARN" | "ERROR" | "FATAL")),
            ..Line::default()
        };
        line.take_events(&fields, is_openclaw);
        if line.run.is_some() && is_member(&text) {
            line.events.push(Event::Unclear { tool: None, id: None });
        }
        // At a higher level, a gateway does not log the end of every run.
        line.has_end = fields.says("embedded run") && matches!(fields.level.as_deref(), None | Some("TRACE" | "DEBUG"));
        let has_call = line.events.iter().any(|event| matches!(event, Event::Call { .. } | Event::CallEnded { .. }));
        line.is_detailed = matches!(fields.level.as_deref(), Some("TRACE" | "DEBUG"))
            || has_call
            || fields.says("embedded run start")
            || (line.run.is_some() && !is_openclaw && fields.level.is_none());
        line
    }

    /// Returns a short line with the same content; `None` if there is none.
    pub fn excerpt(text: &str) -> Option<String> {
        let short = Fields::read(text.trim_end()).excerpt();
        (Line::read(&short) == Line::read(text)).then_some(short)
    }

    /// Returns the agent of a session that another agent started.
    pub(crate) fn delegate(&self) -> Option<(&str, &str)> {
        self.keys.iter().find_map(|key| Some((key.as_str(), delegate(key)?)))
    }

    /// The calls of the line, if it is not known whether they are calls of the run.
    pub(super) fn unclear_calls(&self, line: usize) -> impl Iterator<Item = Unclear> {
        self.events.iter().filter_map(move |event| {
            let (tool, id) = event.tool()?;
            Some(Unclear { tool: tool.cloned(), id: id.cloned(), line })
        })
    }

    /// Returns whether the line says something about tools that cannot be read.
    pub fn has_unclear(&self) -> bool {
        self.events.iter().any(|event| matches!(event, Event::Unclear { .. }))
    }

    fn take_events(&mut self, fields: &Fields, is_openclaw: bool) {
        if fields.has(&["dropped"]) && fields.says("dropped") {
            self.events.push(Event::Dropped);
        }
        let agent = fields.get(&["agent", "agentid", "agentname"]);
        if fields.says("session started")
            && let Some(agent) = agent
        {
            self.events.push(Event::Session { agent: agent.to_owned() });
        }
        if fields.says("token usage") {
            let count = |name: &str| fields.get(&[name])?.parse().ok();
            let usage =
                || Some(Event::Usage { input: count("input")?, output: count("output")?, total: count("total")? });
            self.events.push(usage().unwrap_or(Event::Unclear { tool: None, id: None }));
        }
        if fields.says("embedded run through cli backend") {
            self.events.push(Event::OtherProgram);
        }
        for (phrase, event) in [
            ("embedded run start", Event::Begun),
            ("lane enqueue", Event::Busy),
            ("lane task done", Event::Idle),
            ("lane task error", Event::Idle),
        ] {
            self.events.extend(fields.says(phrase).then_some(event));
        }
        let ended = run_end(fields, is_openclaw).filter(|_| fields.get(&TOOLS).is_none());
        match ended {
            Some(ended) => self.events.push(ended),
            None => self.events.extend(tool_events(fields, self.is_of_gateway)),
        }
        // A line that only says that the run failed.
        if self.run.is_some()
            && self.events.is_empty()
            && !self.is_of_gateway
            && fields.get(&["status", "aborted", "iserror"]).is_some()
        {
            self.events
                .extend(outcome(fields).filter(Result::is_err).map(|failed| Event::Done(RunEnd::Final(Some(failed)))));
        }
    }
}

/// Returns whether a line is one member of an object over several lines, the others of which do not name the run.
fn is_member(text: &str) -> bool {
    let key = text.trim_start().strip_prefix('"').and_then(|rest| rest.split_once('"'));
    key.is_some_and(|(_, rest)| rest.trim_start().starts_with(':'))
}

/// Returns what a line says about tools.
fn tool_events(fields: &Fields, is_openclaw: bool) -> Vec<Event> {
    let mut names: Vec<&str> = fields.all(&TOOLS).collect();
    let id = fields.get(&["toolcallid"]).map(str::to_owned);
    let is_phrase = CALLS.iter().chain(&CALL_ENDS).any(|phrase| fields.says(phrase));
    if names.is_empty() && is_phrase {
        names.extend(fields.get(&["name"]));
    }
    // A gateway also says how many tools there are, and how long it took to prepare them.
    let is_about_tools = |word: &str| matches!(word, "tool" | "toolcall" | "toolcalls" | "tooluse" | "tooluses");
    let has_list = fields.get(&["tools"]).is_some_and(|tools| tools.parse::<u64>().is_err());
    if names.is_empty() && id.is_none() && !is_phrase && (is_openclaw || !has_list && !fields.has_word(is_about_tools))
    {
        return Vec::new();
    }
    names.dedup();
    let is_refused = REFUSALS.iter().any(|word| fields.says(word));
    // A gateway's other sentences about tools are not known.
    let is_known = !is_openclaw || fields.says("embedded run tool start") || fields.says("embedded run tool end");
    // A name with bytes that are not UTF-8 may be that of any tool.
    let is_damaged = |name: &&str| name.contains(char::REPLACEMENT_CHARACTER);
    if names.iter().any(is_damaged) {
        return vec![Event::Unclear { tool: None, id }];
    }
    // A wrapper calls another tool, which is not named.
    if is_openclaw && names.iter().any(|name| WRAPPERS.contains(name)) {
        return vec![Event::Unclear { tool: None, id }];
    }
    let Some((tool, others)) = names.split_last().filter(|_| is_known && !is_refused) else {
        return vec![Event::Unclear { tool: names.last().map(|&tool| tool.to_owned()), id }];
    };
    let tool = (*tool).to_owned();
    let unclear = |tool: &&str| Event::Unclear { tool: Some((*tool).to_owned()), id: None };
    let mut events: Vec<Event> = others.iter().map(unclear).collect();
    events.push(if CALL_ENDS.iter().any(|phrase| fields.says(phrase)) {
        Event::CallEnded { tool }
    } else {
        let to_agent = fields.get(&["params.agentid", "args.agentid", "arguments.agentid", "input.agentid", "toagent"]);
        let child_run = fields.get(&["childrunid"]).map(str::to_owned);
        Event::Call { tool, id, to_agent: to_agent.map(str::to_owned), child_run }
    });
    events
}

/// Returns what a line says about the end of a run.
fn run_end(fields: &Fields, is_openclaw: bool) -> Option<Event> {
    let is_stop = fields.says("agent end");
    let is_end =
        RUN_ENDS.iter().any(|phrase| fields.says(phrase)) || (is_openclaw && ended_run(&fields.words).is_some());
    if !is_stop && !is_end {
        return None;
    }
    let outcome = outcome(fields);
    if is_stop {
        return Some(Event::Stopped(outcome.unwrap_or(Ok(()))));
    }
    Some(Event::Done(if fields.says("embedded run done") {
        RunEnd::Attempt(outcome.unwrap_or(Ok(())))
    } else {
        RunEnd::Final(outcome)
    }))
}

/// Returns whether a run was successful, or the reason why not; `None` if the line does not say.
fn outcome(fields: &Fields) -> Option<Result<(), String>> {
    let is_true = |text: &str| matches!(text.to_ascii_lowercase().as_str(), "true" | "yes" | "1");
    let is_failure = |text: &str| {
        let text = text.to_ascii_lowercase();
        FAILURES.iter().any(|part| text.contains(part))
    };
    let flags = ["aborted", "iserror", "failed", "timedout", "cancelled"];
    let flag = flags.iter().find_map(|name| Some((*name, fields.get(&[name])?)));
    let words = ["status", "outcome", "stopreason", "endreason"];
    let word = words.iter().find_map(|name| Some((*name, fields.get(&[name])?)));
    let success = fields.get(&["ok", "success"]);
    let set = flags.iter().find_map(|name| Some((*name, fields.get(&[name]).filter(|text| is_true(text))?)));
    let failing = words.iter().find_map(|name| Some((*name, fields.get(&[name]).filter(|text| is_failure(text))?)));
    let said = RUN_ENDS.iter().find(|phrase| is_failure(phrase) && fields.says(phrase));
    let error = fields.get(&["error", "errormessage"]).filter(|text| !matches!(*text, "false" | "none"));
    let reason = || {
        let told = fields.get(&["summary", "errormessage", "error", "reason", "rawerror"]).map(str::to_owned);
        let named = set.or(failing).map(|(name, value)| format!("`{}={value}`", shown(name)));
        told.or(named)
            .or_else(|| said.map(|phrase| (*phrase).to_owned()))
            .unwrap_or_else(|| "no reason is given".to_owned())
    };
    let has_failed = set.is_some()
        || failing.is_some()
        || said.is_some()
        || error.is_some()
        || success.is_some_and(|text| matches!(text.to_ascii_lowercase().as_str(), "false" | "no" | "0"));
    if has_failed {
        return Some(Err(reason()));
    }
    (flag.is_some() || word.is_some() || success.is_some()).then_some(Ok(()))
}

/// Returns a key as a gateway writes it.
fn shown(name: &'static str) -> &'static str {
    match name {
        "iserror" => "isError",
        "timedout" => "timedOut",
        "stopreason" => "stopReason",
        "endreason" => "endReason",
        _ => name,
    }
}

fn ended_run(words: &[String]) -> Option<String> {
    let is_end = |word: &str| matches!(word, "ended" | "completed" | "finished" | "failed" | "aborted");
    words.windows(3).find(|three| three[0] == "run" && is_end(&three[2])).map(|three| three[1].clone())
}

/// Returns the agent in the key of a session that another agent started: `agent:<agent>:subagent:…`.
pub(super) fn delegate(key: &str) -> Option<&str> {
    let mut parts = key.splitn(4, ':');
    let (start, agent, kind) = (parts.next()?, parts.next()?, parts.next()?);
    (start == "agent" && matches!(kind, "subagent" | "acp")).then_some(agent)
}

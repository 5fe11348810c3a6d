//! Assertions about the gateway log of a run: tool calls, delegations, tokens.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    dialect::clawspec::{
        claim::{AssertionRow, AssertionType, Scope, ScopedEvidence, mismatch},
        gateway_log::{Call, CalleeLog, GatewayLog, RunRelation, SPAWN, Usage},
    },
    evidence::{Context, LinePlace, LogAnswer, LogGap, LogNeed, Need, ReadFailure, Tokens},
    mask::MASK_CHARACTER,
    verdict::{FilePlace, Provisional},
    words::{Artifact, Name, RunText, ToolName},
};

/// Default of `run_id`.
const RUN_ID: &str = "{{run_id}}";

/// A tool was called in the run, according to the gateway log.
///
/// ```yaml
/// - type: tool_was_called
///   tool: sessions_spawn
///   log_path: /tmp/openclaw/openclaw-{{today}}.log
///   run_id: "{{run_id}}"
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend(
    "x-synonyms" = ["tool_called"],
    "x-other-names" = ["tool_invoked", "tool_used", "tool_was_invoked", "tool_was_used"],
))]
pub struct ToolWasCalled {
    /// Exact name of the tool.
    #[schemars(extend("x-shares" = "tools", "examples" = ["sessions_spawn"]))]
    #[schemars(extend("x-other-names" = ["name"]))]
    pub tool: RunText,
    /// Path of the gateway log. Defaults to the configured one; ClawSpec requires this key.
    #[schemars(extend("x-file" = "log", "examples" = ["/tmp/openclaw/openclaw-{{today}}.log"]))]
    pub log_path: Option<Artifact>,
    /// Id of the run. Defaults to the scenario's run; an empty string selects all runs since the scenario started.
    #[schemars(extend("x-template" = "clawspec", "examples" = ["{{run_id}}"]))]
    pub run_id: Option<String>,
}

/// What was called instead of a tool.
struct Instead {
    note: String,
    help: Option<&'static str>,
    place: Option<(String, FilePlace)>,
}

/// Entries of the log about one run.
struct RunLog<'e> {
    field: &'static str,
    /// The run, for messages.
    run: String,
    answer: &'e LogAnswer,
    lines: Vec<(&'e str, LinePlace)>,
    log: GatewayLog,
    /// Why the run is not known.
    unknown_run: Option<String>,
    /// Whether the log is that of a callee that may have other runs.
    is_partial: bool,
}

impl<'e> RunLog<'e> {
    fn of(
        seen: &ScopedEvidence<'e>,
        log_path: Option<&Artifact>,
        run_id: Option<&String>,
    ) -> Result<RunLog<'e>, AssertionRow> {
        let field = if log_path.is_some() { "log_path" } else { "" };
        let callee = seen.scope.callee(run_id);
        let written = run_id.filter(|_| callee.is_none());
        let run_field = if run_id.is_some() { "run_id" } else { "" };
        let run = seen.expand(run_field, written.map_or(RUN_ID, String::as_str))?;
        let path = log_path.map(|path| seen.expand(field, &path.0)).transpose()?;
        let answer = seen.log(field, &LogNeed { path, run: run.clone(), moment: seen.scope.moment })?;
        let lines = answer.placed().collect();
        let Some(handoff) = callee else {
            let log = GatewayLog::of(answer, &run);
            let named = if run.is_empty() { "any run".to_owned() } else { format!("run `{run}`") };
            return Ok(RunLog { field, run: named, answer, lines, log, unknown_run: None, is_partial: false });
        };
        let CalleeLog { log, ids, is_partial } = GatewayLog::of_callee(answer, &run, &handoff);
        let unknown_run = ids.is_empty().then(|| {
            let what = if is_partial { "the id of a run of" } else { "a delegation to" };
            format!("{} contain {what} `{}`, so its run is unknown", logs_do_not(answer), handoff.to)
        });
        let named = format!("the run of `{}`, `{}`", handoff.to, ids.join("`, `"));
        Ok(RunLog { field, run: named, answer, lines, log, unknown_run, is_partial })
    }

    /// Returns an error unless the log mentions the run; otherwise it is unknown what the run did not do.
    fn with_run(&self) -> Result<&RunLog<'e>, AssertionRow> {
        if !self.answer.was_read() {
            return Err(match self.answer.files.iter().find_map(|file| Some((&file.path, file.unread.as_ref()?))) {
                Some((path, ReadFailure::Directory)) => {
                    AssertionRow::broken(self.field, format!("`{path}` is a directory; name a file"))
                }
                Some((path, ReadFailure::Failed(reason))) => {
                    AssertionRow::broken(self.field, format!("`{path}` cannot be read: {reason}"))
                }
                None => AssertionRow::unknown(self.field, self.missing()),
            });
        }
        if let Some(reason) = &self.unknown_run {
            return Err(AssertionRow::unknown("run_id", reason.clone()));
        }
        if self.log.known.is_none() {
            let reason = format!("{} mention {}", logs_do_not(self.answer), self.run);
            return Err(AssertionRow::unknown(self.field, reason));
        }
        Ok(self)
    }

    fn missing(&self) -> String {
        let name = self.answer.path.rsplit('/').next().unwrap_or_default();
        let near = crate::words::nearest(name, self.answer.beside.iter().map(String::as_str));
        let beside = near.map(|near| format!("; the same directory contains `{near}`")).unwrap_or_default();
        let path = &self.answer.path;
        let missing = match path.contains("{date}") {
            true => format!("no log matches `{path}`"),
            false => format!("the log `{path}` does not exist"),
        };
        format!("{missing}, so it is unknown what the run did{beside}")
    }

    /// Returns an error unless the log contains tool calls.
    fn with_calls(&self) -> Result<&RunLog<'e>, AssertionRow> {
        self.with_run()?;
        if let Some(number) = self.log.other_program {
            let line = self.place(number).map(|place| place.line + 1).unwrap_or_default();
            let reason = format!(
                "according to line {line} of the log, another program performed the run, and the log does not contain its tool calls"
            );
            return Err(AssertionRow::unknown(self.field, reason));
        }
        if !self.log.is_detailed {
            let reason = format!(
                "{} contain tool calls; set `logging.level` to `debug` in the settings of the gateway",
                logs_do_not(self.answer)
            );
            return Err(AssertionRow::unknown(self.field, reason));
        }
        Ok(self)
    }

    /// Returns the reason why something may have happened although it was not found.
    fn uncertainty(&self) -> Option<&'static str> {
        let lines = &self.answer.lines;
        match self.answer.gaps.first() {
            Some(gap) => Some(gap.reason()),
            None if lines.cut => Some(LogGap::Cut.reason()),
            None if !lines.masked.is_empty() || lines.text.contains(MASK_CHARACTER) => {
                Some("parts of the log are masked as secrets, which could change the result")
            }
            None if self.is_partial => Some(
                "the log does not contain the id of every run of the callee, and the other runs could change the result",
            ),
            None => None,
        }
    }

    fn place(&self, number: usize) -> Option<LinePlace> {
        self.lines.get(number).map(|(_, place)| *place)
    }

    /// Returns the location of a line of the log, with a label.
    fn line(&self, message: impl Into<String>, number: usize) -> Option<(String, FilePlace)> {
        let (text, place) = self.lines.get(number)?;
        let file = self.answer.files.get(place.file)?;
        let mut found = FilePlace::bytes(&file.path, text, 0..text.len());
        if let Some(line_part) = &mut found.line_part {
            line_part.line = place.line;
        }
        Some((message.into(), found))
    }

    /// Returns the calls that were made instead of a tool.
    fn instead_of(&self, tool: &str) -> Instead {
        if let Some(call) =
            self.log.calls.iter().find(|call| call.relation == RunRelation::Started && call.tool == tool)
        {
            return Instead {
                note: format!("run `{}`, which this run started, called it", call.run),
                help: Some("set `run_id` to the id of that run"),
                place: self.line("called here, in another run", call.line),
            };
        }
        let mut names: Vec<&str> = self.log.own_calls().map(|call| call.tool.as_str()).collect();
        if names.is_empty() {
            return Instead { note: "the run called no tool".to_owned(), help: None, place: None };
        }
        let called = self.counted();
        names.sort_unstable();
        names.dedup();
        let Some(near) = crate::words::nearest(tool, names) else {
            return Instead { note: format!("the run called {called}"), help: None, place: None };
        };
        let place = self.log.own_calls().find(|call| call.tool == near);
        let place = place.and_then(|call| self.line(format!("`{near}` was called here"), call.line));
        Instead { note: format!("the run called `{near}`"), help: None, place }
    }

    /// Returns the called tools in order, with the number of consecutive equal calls.
    fn counted(&self) -> String {
        let tools: Vec<&str> = self.log.own_calls().map(|call| call.tool.as_str()).collect();
        let groups: Vec<&[&str]> = tools.chunk_by(|one, other| one == other).collect();
        let shown = groups.iter().take(MAX_SHOWN).map(|group| match group {
            [only] => format!("`{only}`"),
            several => format!("`{}` {} times", several[0], several.len()),
        });
        let shown: Vec<String> = shown.collect();
        let more = if groups.len() > MAX_SHOWN { ", and more" } else { "" };
        format!("{}{more}", shown.join(", "))
    }
}

/// Returns the files that were read, as the subject of what they do not do. The path of the log may be a pattern.
fn logs_do_not(answer: &LogAnswer) -> String {
    let read: Vec<&str> =
        answer.files.iter().filter(|file| file.unread.is_none()).map(|file| file.path.as_str()).collect();
    match read.as_slice() {
        [] => format!("the log `{}` does not", answer.path),
        [only] => format!("the log `{only}` does not"),
        several => format!("the logs `{}` do not", several.join("`, `")),
    }
}

/// Maximum number of calls in a note.
const MAX_SHOWN: usize = 12;

fn log_needs(log_path: Option<&Artifact>, run_id: Option<&String>, scope: &Scope, context: &Context) -> Vec<Need> {
    let path = log_path.map(|path| scope.expand(&path.0, context)).transpose();
    // The log of the run that delegated contains the runs of the callee.
    let run_id = run_id.filter(|_| scope.callee(run_id).is_none());
    let run = scope.expand(run_id.map_or(RUN_ID, String::as_str), context);
    let need = path.ok().zip(run.ok()).map(|(path, run)| LogNeed { path, run, moment: scope.moment });
    need.map(Need::Log).into_iter().collect()
}

/// Returns the evidence that is needed to measure the gateway log.
pub(crate) fn own_log_needs(scope: &Scope, context: &Context) -> Vec<Need> {
    log_needs(None, None, scope, context)
}

/// Measurements of a run and of the runs that it started, from the gateway log.
pub(crate) struct LogFigures {
    /// `None` if the log has no token counts.
    pub(crate) tokens: Option<Tokens>,
    /// Number of tool calls. `None` if the log has no tool calls.
    pub(crate) calls: Option<u64>,
    /// Number of agents that took over.
    pub(crate) delegations: Option<u64>,
    /// Reason why there may have been more.
    pub(crate) uncertainty: Option<&'static str>,
}

impl LogFigures {
    /// Returns the measurements; `None` if the log does not mention the run.
    pub(crate) fn of(seen: &ScopedEvidence<'_>) -> Option<LogFigures> {
        let run = RunLog::of(seen, None, None).ok()?;
        run.with_run().ok()?;
        let sum = |tokens: fn(&Usage) -> u64| {
            run.log.usages.iter().fold(0_u64, |sum, usage| sum.saturating_add(tokens(usage)))
        };
        let tokens = Tokens {
            input: sum(|usage| usage.input),
            output: sum(|usage| usage.output),
            total: sum(|usage| usage.total),
        };
        let has_calls = run.with_calls().is_ok();
        let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let delegations = run.log.sessions.iter().filter(|session| session.relation == RunRelation::Started).count();
        Some(LogFigures {
            tokens: (!run.log.usages.is_empty()).then_some(tokens),
            calls: has_calls.then(|| count(run.log.calls.len())),
            delegations: has_calls.then(|| count(delegations)),
            uncertainty: run.uncertainty(),
        })
    }
}

impl AssertionType for ToolWasCalled {
    const NAME: &'static str = "tool_was_called";

    fn subject(&self) -> String {
        self.tool.to_string()
    }

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        log_needs(self.log_path.as_ref(), self.run_id.as_ref(), scope, context)
    }

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Result<AssertionRow, AssertionRow> {
        let tool = seen.expand("tool", &self.tool)?;
        let run = RunLog::of(seen, self.log_path.as_ref(), self.run_id.as_ref())?;
        if let Some(call) = run.log.own_calls().find(|call| call.tool == tool) {
            let place = run.line("called here", call.line).map(|(_, place)| place);
            return Ok(AssertionRow::pass("tool").found_at("called here", place));
        }
        run.with_calls()?;
        let mut mismatch = mismatch(format!("Tool not called: {tool}"), format!("a call to {tool}"), "no such call");
        let instead = run.instead_of(&tool);
        mismatch.notes = vec![instead.note];
        mismatch.help = instead.help.map(str::to_owned).into_iter().collect();
        Ok(AssertionRow::fail("tool", mismatch).with_places(instead.place).unless(run.uncertainty()))
    }
}

/// A tool was not called in the run, according to the gateway log.
///
/// ```yaml
/// - type: tool_not_called
///   tool: resend.send
///   log_path: /tmp/openclaw/openclaw-{{today}}.log
///   run_id: "{{run_id}}"
/// ```
///
/// If the log is missing or does not mention the run, the result is unknown; in ClawSpec the assertion passes. OpenClaw
/// gateways log tool calls only at log level `debug`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-synonyms" = ["tool_was_not_called"], "x-other-names" = ["tool_not_used", "tool_was_not_used"]))]
pub struct ToolNotCalled {
    /// Exact name of the tool.
    #[schemars(extend("x-shares" = "tools", "examples" = ["resend.send"]))]
    #[schemars(extend("x-other-names" = ["name"]))]
    pub tool: RunText,
    /// Path of the gateway log. Defaults to the configured one; ClawSpec requires this key.
    #[schemars(extend("x-file" = "log", "examples" = ["/tmp/openclaw/openclaw-{{today}}.log"]))]
    pub log_path: Option<Artifact>,
    /// Id of the run. Defaults to the scenario's run; an empty string selects all runs since the scenario started.
    #[schemars(extend("x-template" = "clawspec", "examples" = ["{{run_id}}"]))]
    pub run_id: Option<String>,
}

impl AssertionType for ToolNotCalled {
    const NAME: &'static str = "tool_not_called";
    const PROVISIONAL: Provisional = Provisional::Pass;

    fn subject(&self) -> String {
        self.tool.to_string()
    }

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        log_needs(self.log_path.as_ref(), self.run_id.as_ref(), scope, context)
    }

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Result<AssertionRow, AssertionRow> {
        let tool = seen.expand("tool", &self.tool)?;
        let run = RunLog::of(seen, self.log_path.as_ref(), self.run_id.as_ref())?;
        let calls: Vec<&Call> = run.log.own_calls().filter(|call| call.tool == tool).collect();
        if calls.is_empty() {
            run.with_calls()?;
            return Ok(AssertionRow::pass("tool").unless(run.uncertainty()));
        }
        let actual = if calls.len() == 1 { "one call".to_owned() } else { format!("{} calls", calls.len()) };
        let row = AssertionRow::fail(
            "tool",
            mismatch(format!("Tool was called: {tool}"), format!("no call to {tool}"), actual),
        );
        Ok(row.with_places(calls.iter().filter_map(|call| run.line("called here", call.line))))
    }
}

/// The run was handed over to another agent, according to the gateway log.
///
/// The agent was called with `sessions_spawn`, and its session began.
///
/// ```yaml
/// - type: delegation_occurred
///   to_agent: agents-marketing-brand
///   log_path: /tmp/openclaw/openclaw-{{today}}.log
///   run_id: "{{run_id}}"
/// ```
///
/// Only the first call to that agent counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-other-names" = ["delegated_to"]))]
#[schemars(extend("x-advice" = [
    { "names": ["to", "agent", "target"], "note": "ClawSpec aborts with an error if `to_agent` is missing" },
]))]
pub struct DelegationOccurred {
    /// Id of the agent that takes over.
    #[schemars(extend("x-shares" = "agents", "examples" = ["agents-marketing-brand"]))]
    #[schemars(extend("x-synonyms" = ["to"], "x-other-names" = ["agent", "target"]))]
    pub to_agent: RunText,
    /// Id of the agent that delegates. Has no effect: ClawSpec ignores it too.
    #[schemars(extend("x-shares" = "agents", "examples" = ["agents-lead"]))]
    pub from_agent: Option<RunText>,
    /// Path of the gateway log. Defaults to the configured one; ClawSpec requires this key.
    #[schemars(extend("x-file" = "log", "examples" = ["/tmp/openclaw/openclaw-{{today}}.log"]))]
    pub log_path: Option<Artifact>,
    /// Id of the run. Defaults to the scenario's run; an empty string selects all runs since the scenario started.
    #[schemars(extend("x-template" = "clawspec", "examples" = ["{{run_id}}"]))]
    pub run_id: Option<String>,
}

impl AssertionType for DelegationOccurred {
    const NAME: &'static str = "delegation_occurred";

    fn subject(&self) -> String {
        self.to_agent.to_string()
    }

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        log_needs(self.log_path.as_ref(), self.run_id.as_ref(), scope, context)
    }

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Result<AssertionRow, AssertionRow> {
        let agent = seen.expand("to_agent", &self.to_agent)?;
        let run = RunLog::of(seen, self.log_path.as_ref(), self.run_id.as_ref())?;
        let spawns: Vec<&Call> = run.log.own_calls().filter(|call| call.tool == SPAWN).collect();
        // An OpenClaw gateway logs that an agent was started and what it does, but not which call started it.
        let is_unnamed = spawns.iter().any(|call| call.to_agent.is_none());
        if is_unnamed
            && run.log.sessions.iter().any(|session| session.relation == RunRelation::Started && session.agent == agent)
        {
            return Ok(AssertionRow::pass("to_agent"));
        }
        let fail = |message: &str, actual: String| {
            AssertionRow::fail("to_agent", mismatch(message, format!("a handoff to {agent}"), actual))
        };
        let Some(spawn) = spawns.iter().find(|call| call.to_agent.as_ref() == Some(&agent)) else {
            run.with_calls()?;
            let named = spawns.iter().filter_map(|call| Some((call.to_agent.as_deref()?, call.line)));
            let began =
                run.log.sessions.iter().filter(|session| session.relation == RunRelation::Started && is_unnamed);
            let others: Vec<(&str, usize)> =
                named.chain(began.map(|session| (session.agent.as_str(), session.line))).collect();
            let names: Vec<&str> = others.iter().map(|(name, _)| *name).collect();
            let actual = if names.is_empty() { "no delegation".to_owned() } else { names.join(", ") };
            let places = others.iter().filter_map(|(name, at)| run.line(format!("`{name}` took over here"), *at));
            let row = fail("No matching sessions_spawn call found", actual);
            return Ok(row.with_places(places).unless(run.uncertainty()));
        };
        let handed_over = run.line("handed over here", spawn.line);
        let Some(child) = &spawn.child_run else {
            let row = fail("Delegation log entry missing child run id", "a call without `child_run_id`".to_owned());
            return Ok(row.with_places(handed_over).unless(run.uncertainty()));
        };
        if run.log.sessions.iter().any(|session| session.run == *child && session.agent == agent) {
            return Ok(AssertionRow::pass("to_agent"));
        }
        let actual = format!("no session of {agent} in run {child}");
        let row = fail("Child session for delegated agent not found", actual);
        Ok(row.with_places(handed_over).unless(run.uncertainty()))
    }
}

/// Only allowed tools were called in the run, according to the gateway log.
///
/// ```yaml
/// - type: tool_not_permitted
///   allowed_tools: [read, write, memory.search]
///   log_path: /tmp/openclaw/openclaw-{{today}}.log
///   run_id: "{{run_id}}"
/// ```
///
/// The list is an allow-list: a call to any other tool fails the assertion. To forbid one tool, use `tool_not_called`
/// or `tool_not_invoked`. If the log is missing or does not mention the run, the result is unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-advice" = [
    {
        "names": ["tools"],
        "note": "`allowed_tools` lists what may be called; to forbid a tool, use `tool_not_called` or `tool_not_invoked`",
    },
    {
        "names": [
            "disallow", "disallowed", "disallowed_tools", "forbidden", "forbidden_tools", "deny", "denied", "denied_tools",
            "blocked_tools",
        ],
        "note": "`tool_not_permitted` is an allow-list",
        "help": "to forbid one tool, use `tool_not_called` (gateway log) or `tool_not_invoked` (trace)",
        "explains": "allowed_tools",
    },
]))]
pub struct ToolNotPermitted {
    /// Exact names of the allowed tools. `[]` allows none.
    #[schemars(with = "Vec<ToolName>", extend("examples" = [["read", "write"]]))]
    #[schemars(extend("x-synonyms" = ["allowed", "permitted_tools"], "x-other-names" = ["tools"]))]
    pub allowed_tools: Vec<Name>,
    /// Path of the gateway log. Defaults to the configured one; ClawSpec requires this key.
    #[schemars(extend("x-file" = "log", "examples" = ["/tmp/openclaw/openclaw-{{today}}.log"]))]
    pub log_path: Option<Artifact>,
    /// Id of the run. Defaults to the scenario's run; an empty string selects all runs since the scenario started.
    #[schemars(extend("x-template" = "clawspec", "examples" = ["{{run_id}}"]))]
    pub run_id: Option<String>,
}

impl AssertionType for ToolNotPermitted {
    const NAME: &'static str = "tool_not_permitted";
    const PROVISIONAL: Provisional = Provisional::Pass;

    fn subject(&self) -> String {
        let names: Vec<&str> = self.allowed_tools.iter().map(|name| name.0.as_str()).collect();
        format!("but {}", if names.is_empty() { "none".to_owned() } else { names.join(", ") })
    }

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        log_needs(self.log_path.as_ref(), self.run_id.as_ref(), scope, context)
    }

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Result<AssertionRow, AssertionRow> {
        let run = RunLog::of(seen, self.log_path.as_ref(), self.run_id.as_ref())?;
        let allowed =
            self.allowed_tools.iter().map(|name| seen.expand("allowed_tools", name)).collect::<Result<Vec<_>, _>>()?;
        let is_wrong = |call: &&Call| !allowed.contains(&call.tool);
        let calls: Vec<&Call> = run.log.own_calls().filter(is_wrong).collect();
        let mut wrong: Vec<&str> = calls.iter().map(|call| call.tool.as_str()).collect();
        wrong.sort_unstable();
        wrong.dedup();
        if wrong.is_empty() {
            run.with_calls()?;
            return Ok(AssertionRow::pass("allowed_tools").unless(run.uncertainty()));
        }
        let names = wrong.join(", ");
        let expected = format!("only {}", if allowed.is_empty() { "no tool".to_owned() } else { allowed.join(", ") });
        let row =
            AssertionRow::fail("allowed_tools", mismatch(format!("Disallowed tools used: {names}"), expected, names));
        let place = |call: &&Call| run.line(format!("`{}` was called here", call.tool), call.line);
        Ok(row.with_places(calls.iter().filter_map(place)))
    }
}

/// The run stayed within a token budget, according to the gateway log.
///
/// ```yaml
/// - type: token_budget
///   log_path: /tmp/openclaw/openclaw-{{today}}.log
///   run_id: "{{run_id}}"
///   max_total_tokens: 12000
///   max_output_tokens: 4000
/// ```
///
/// Set at least one limit. The token counts of all lines of the run are added up; ClawSpec uses only the first. If no
/// line has token counts, the assertion is skipped. If the log is missing or does not mention the run, the result is
/// unknown. OpenClaw gateways do not log tokens: use `trace_token_budget` for them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TokenBudget {
    /// Path of the gateway log. Defaults to the configured one; ClawSpec requires this key.
    #[schemars(extend("x-file" = "log", "examples" = ["/tmp/openclaw/openclaw-{{today}}.log"]))]
    pub log_path: Option<Artifact>,
    /// Id of the run. Defaults to the scenario's run; an empty string selects all runs since the scenario started.
    #[schemars(extend("x-template" = "clawspec", "examples" = ["{{run_id}}"]))]
    pub run_id: Option<String>,
    /// Maximum number of input and output tokens together.
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64), extend("examples" = [12000]))]
    #[schemars(extend("x-other-names" = ["max_tokens", "max_total", "budget"]))]
    pub max_total_tokens: Option<u64>,
    /// Maximum number of input tokens.
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64), extend("examples" = [8000]))]
    pub max_input_tokens: Option<u64>,
    /// Maximum number of output tokens.
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64), extend("examples" = [4000]))]
    pub max_output_tokens: Option<u64>,
}

impl AssertionType for TokenBudget {
    const NAME: &'static str = "token_budget";
    const PROVISIONAL: Provisional = Provisional::Pass;

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        log_needs(self.log_path.as_ref(), self.run_id.as_ref(), scope, context)
    }

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Result<AssertionRow, AssertionRow> {
        let run = RunLog::of(seen, self.log_path.as_ref(), self.run_id.as_ref())?;
        let of_run: Vec<&Usage> = run.log.usages.iter().filter(|usage| usage.relation == RunRelation::Own).collect();
        if of_run.is_empty() {
            run.with_run()?;
            return Ok(AssertionRow::skip("", "Token usage unavailable in gateway log").unless(run.uncertainty()));
        }
        let sum = |tokens: fn(&Usage) -> u64| of_run.iter().fold(0_u64, |sum, usage| sum.saturating_add(tokens(usage)));
        let limits = [
            ("max_input_tokens", "input", self.max_input_tokens, sum(|usage| usage.input)),
            ("max_output_tokens", "output", self.max_output_tokens, sum(|usage| usage.output)),
            ("max_total_tokens", "total", self.max_total_tokens, sum(|usage| usage.total)),
        ];
        let mut passed = None;
        for (field, name, most, used) in limits {
            let Some(most) = most else { continue };
            if used > most {
                let message = format!("{name} tokens {used} exceeded budget {most}");
                let row = AssertionRow::fail(field, mismatch(message, format!("at most {most}"), used.to_string()));
                return Ok(
                    row.with_places(of_run.iter().filter_map(|usage| run.line("tokens are counted here", usage.line)))
                );
            }
            passed = Some(field);
        }
        match passed {
            Some(field) => Ok(AssertionRow::pass(field).unless(run.uncertainty())),
            None => Err(AssertionRow::unknown("", "no limit is set, so nothing is checked")),
        }
    }
}

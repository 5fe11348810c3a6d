//! Assertions about the gateway log of a run: tool calls, delegations, tokens.

pub(crate) mod run_log;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    acceptable::{Amount, Limit},
    dialect::clawspec::{
        claim::AssertionType,
        scope::Scope,
        scoped_evidence::ScopedEvidence,
        statements::{LoggedRun, Statement, Subject},
        words::{Artifact, RunText},
    },
    evidence::{Context, Need},
    files::Files,
    finding::{MessageParts, Report},
    gateway::log::{Call, RunRelation, SPAWN, Session, Usage},
    lint_node::LintNode,
    problem::Code,
    seen::Found,
    verdict::{Judged, Mismatch, Row},
    words::{Name, ToolName},
};

use run_log::{RunLog, called_here, log_needs};

/// Returns the keys that ClawSpec requires in assertions about the log, although they have defaults.
fn log_and_run() -> Value {
    json!({ "keys": ["log_path", "run_id"], "note": "ClawSpec aborts with an error" })
}

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
    "x-expected" = log_and_run(),
    "x-synonyms" = ["tool_called"],
    "x-other-names" = ["tool_invoked", "tool_used", "tool_was_invoked", "tool_was_used"],
))]
pub struct ToolWasCalled {
    /// Exact name of the tool.
    #[schemars(extend("x-shares" = "tools", "x-seen" = "tools", "x-literal" = "fails", "examples" = ["sessions_spawn"]))]
    #[schemars(extend("x-other-names" = ["name"]))]
    pub tool: RunText,
    /// Path of the gateway log. Defaults to the configured one; ClawSpec requires this key.
    #[schemars(extend("x-file" = "log", "examples" = ["/tmp/openclaw/openclaw-{{today}}.log"]))]
    pub log_path: Option<Artifact>,
    /// Id of the run. Defaults to the scenario's run; an empty string selects all runs since the scenario started.
    #[schemars(extend("x-template" = "clawspec", "examples" = ["{{run_id}}"]))]
    pub run_id: Option<String>,
}

impl AssertionType for ToolWasCalled {
    const NAME: &'static str = "tool_was_called";
    const SUBJECT: &'static str = "tool";
    const OPPOSITE: Option<&'static str> = Some("tool_not_called");
    const BEFORE_RUN: Option<Code> = Some(Code::Contradiction);

    fn says<'d>(node: &LintNode<'d>) -> Vec<Statement<'d>> {
        Statement::at(node, "tool", Subject::Call(LoggedRun::of(node)), true).collect()
    }

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        log_needs(self.log_path.as_ref(), self.run_id.as_ref(), scope, context)
    }

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Judged {
        let tool = seen.expand("tool", &self.tool)?;
        let run = RunLog::of(seen, self.log_path.as_ref(), self.run_id.as_ref())?;
        let found = run.search(|name| name == tool, |log| log.own_calls().find(|call| call.tool == tool))?;
        Ok(match found {
            Found::Yes(call, proof) => {
                let place = run.line("called here", call.line).map(|(_, place)| place);
                Row::pass("tool", proof).found_at("called here", place)
            }
            Found::No(proof) => {
                let mismatch =
                    Mismatch::new(format!("Tool not called: {tool}"), format!("a call to {tool}"), "no such call");
                let (note, help, place) = run.instead_of(&tool);
                Row::fail("tool", proof, mismatch.notes([note]).help(help)).with_places(place)
            }
        })
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
/// Calls of the agents that the run started count, too. If the log is missing, does not mention the run, or does not
/// contain its end, the result is unknown; in ClawSpec the assertion passes. OpenClaw gateways log tool calls only at
/// log level `debug`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-expected" = log_and_run(), "x-synonyms" = ["tool_was_not_called"]))]
#[schemars(extend("x-other-names" = ["tool_not_used", "tool_was_not_used"]))]
pub struct ToolNotCalled {
    /// Exact name of the tool.
    #[schemars(extend("x-shares" = "tools", "x-literal" = "passes", "examples" = ["resend.send"]))]
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
    const SUBJECT: &'static str = "tool";
    const OPPOSITE: Option<&'static str> = Some("tool_was_called");
    const BEFORE_RUN: Option<Code> = Some(Code::VacuousClaim);

    fn says<'d>(node: &LintNode<'d>) -> Vec<Statement<'d>> {
        Statement::at(node, "tool", Subject::Call(LoggedRun::of(node)), false).collect()
    }

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        log_needs(self.log_path.as_ref(), self.run_id.as_ref(), scope, context)
    }

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Judged {
        let tool = seen.expand("tool", &self.tool)?;
        let run = RunLog::of(seen, self.log_path.as_ref(), self.run_id.as_ref())?;
        let calls: Vec<&Call> = run.log.calls.iter().filter(|call| call.tool == tool).collect();
        let found = run.search(|name| name == tool, |_| calls.first())?;
        if !found.is_yes() {
            run.without_mention(&tool)?;
        }
        let row = Row::absent("tool", found, |_| {
            let actual = if calls.len() == 1 { "one call".to_owned() } else { format!("{} calls", calls.len()) };
            Mismatch::new(format!("Tool was called: {tool}"), format!("no call to {tool}"), actual)
        });
        Ok(row.with_places(calls.iter().filter_map(|call| run.line(called_here(call), call.line))))
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
#[schemars(extend("x-expected" = log_and_run(), "x-other-names" = ["delegated_to"]))]
#[schemars(extend("x-advice" = [
    { "names": ["to", "agent", "target"], "note": "ClawSpec aborts with an error if `to_agent` is missing" },
    {
        "names": ["from"], "note": "ClawSpec does not check who delegated, and ignores `from_agent` too",
        "help": "remove it", "idle": true,
    },
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
    const SUBJECT: &'static str = "to_agent";
    const BEFORE_RUN: Option<Code> = Some(Code::Contradiction);

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        log_needs(self.log_path.as_ref(), self.run_id.as_ref(), scope, context)
    }

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Judged {
        let agent = seen.expand("to_agent", &self.to_agent)?;
        let run = RunLog::of(seen, self.log_path.as_ref(), self.run_id.as_ref())?;
        let spawns: Vec<&Call> = run.log.own_calls().filter(|call| call.tool == SPAWN).collect();
        // An OpenClaw gateway logs that an agent was started and what it does, but not which call started it.
        let is_unnamed = spawns.iter().any(|call| call.to_agent.is_none());
        let spawn = spawns.iter().find(|call| call.to_agent.as_ref() == Some(&agent));
        let child = spawn.and_then(|call| call.child_run.as_ref());
        let began = run.log.sessions.iter().filter(|session| session.relation == RunRelation::Started && is_unnamed);
        let found = run.search(
            |name| name == SPAWN,
            |log| {
                let is_child = |session: &&Session| session.agent == agent && Some(&session.run) == child;
                began.clone().find(|session| session.agent == agent).or_else(|| log.sessions.iter().find(is_child))
            },
        )?;
        let proof = match found {
            Found::Yes(_, proof) => return Ok(Row::pass("to_agent", proof)),
            Found::No(proof) => proof,
        };
        let fail = |message: &str, actual: String| {
            Row::fail("to_agent", proof, Mismatch::new(message, format!("a handoff to {agent}"), actual))
        };
        let Some(spawn) = spawn else {
            let named = spawns.iter().filter_map(|call| Some((call.to_agent.as_deref()?, call.line)));
            let others: Vec<(&str, usize)> =
                named.chain(began.map(|session| (session.agent.as_str(), session.line))).collect();
            let names: Vec<&str> = others.iter().map(|(name, _)| *name).collect();
            let actual = if names.is_empty() { "no delegation".to_owned() } else { names.join(", ") };
            let places = others.iter().filter_map(|(name, at)| run.line(format!("`{name}` took over here"), *at));
            return Ok(fail("No matching sessions_spawn call found", actual).with_places(places));
        };
        let row = match child {
            Some(child) => {
                let actual = format!("no session of {agent} in run {child}");
                fail("Child session for delegated agent not found", actual)
            }
            None => fail("Delegation log entry missing child run id", "a call without `child_run_id`".to_owned()),
        };
        Ok(row.with_places(run.line("handed over here", spawn.line)))
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
/// or `tool_not_invoked`. Calls of the agents that the run started count, too. If the log is missing, does not mention
/// the run, or does not contain its end, the result is unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-expected" = log_and_run(), "x-advice" = [
    {
        "names": ["tool"], "message": "`tool_not_permitted` is an allow-list and has no key `tool`",
        "explains": ["allowed_tools", "log_path", "run_id"],
        "help": "to forbid one tool, use `tool_not_called` (gateway log) or `tool_not_invoked` (trace)",
        "form": "tool_not_called", "key": "tool",
    },
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
        "explains": ["allowed_tools", "log_path", "run_id"],
    },
]))]
pub struct ToolNotPermitted {
    /// Exact names of the allowed tools. `[]` allows none.
    #[schemars(with = "Vec<ToolName>", extend("x-literal" = "fails", "examples" = [["read", "write"]]))]
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
    const BEFORE_RUN: Option<Code> = Some(Code::VacuousClaim);

    fn says<'d>(node: &LintNode<'d>) -> Vec<Statement<'d>> {
        let Some(tools) = node.get("allowed_tools").filter(LintNode::is_list) else { return Vec::new() };
        let names = tools.texts().into_iter().map(|(name, _)| name).collect();
        vec![Statement::Only { run: LoggedRun::of(node), names, node: tools }]
    }

    fn subject(&self) -> String {
        let names: Vec<&str> = self.allowed_tools.iter().map(|name| name.0.as_str()).collect();
        format!("but {}", if names.is_empty() { "none".to_owned() } else { names.join(", ") })
    }

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        log_needs(self.log_path.as_ref(), self.run_id.as_ref(), scope, context)
    }

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Judged {
        let run = RunLog::of(seen, self.log_path.as_ref(), self.run_id.as_ref())?;
        let allowed =
            self.allowed_tools.iter().map(|name| seen.expand("allowed_tools", name)).collect::<Result<Vec<_>, _>>()?;
        let is_wrong = |tool: &str| !allowed.iter().any(|allowed| allowed == tool);
        let calls: Vec<&Call> = run.log.calls.iter().filter(|call| is_wrong(&call.tool)).collect();
        let found = run.search(is_wrong, |_| calls.first())?;
        let row = Row::absent("allowed_tools", found, |_| {
            let mut wrong: Vec<&str> = calls.iter().map(|call| call.tool.as_str()).collect();
            wrong.sort_unstable();
            wrong.dedup();
            let names = wrong.join(", ");
            let allowed = if allowed.is_empty() { "no tool".to_owned() } else { allowed.join(", ") };
            Mismatch::new(format!("Disallowed tools used: {names}"), format!("only {allowed}"), names)
        });
        let place = |call: &&Call| run.line(format!("`{}` was {}", call.tool, called_here(call)), call.line);
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
#[schemars(extend("x-expected" = log_and_run()))]
#[schemars(extend("anyOf" = [{ "required": ["max_total_tokens"] }, { "required": ["max_input_tokens"] }, { "required": ["max_output_tokens"] }]))]
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
    const BEFORE_RUN: Option<Code> = Some(Code::VacuousClaim);

    fn lint(node: &LintNode<'_>, _: &dyn Files, report: &mut Report) {
        let total = node.get("max_total_tokens");
        // It may be in quotes.
        let total = total.and_then(|total| total.number().or_else(|| total.text()?.trim().parse().ok()));
        let Some(total) = total else { return };
        for key in ["max_input_tokens", "max_output_tokens"] {
            let part = node.get(key).filter(|part| part.number().is_some_and(|part| part > total));
            let words = MessageParts::new(format!("`{key}` is never reached, because `max_total_tokens` is smaller"));
            report.extend(part.map(|part| part.problem(Code::NoEffect, words)));
        }
    }

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        log_needs(self.log_path.as_ref(), self.run_id.as_ref(), scope, context)
    }

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Judged {
        let run = RunLog::of(seen, self.log_path.as_ref(), self.run_id.as_ref())?;
        let of_run: Vec<&Usage> = run.log.usages.iter().filter(|usage| usage.relation == RunRelation::Own).collect();
        let sum = |tokens: fn(&Usage) -> u64| of_run.iter().fold(0_u64, |sum, usage| sum.saturating_add(tokens(usage)));
        let limits = [
            ("max_input_tokens", "input", self.max_input_tokens, sum(|usage| usage.input)),
            ("max_output_tokens", "output", self.max_output_tokens, sum(|usage| usage.output)),
            ("max_total_tokens", "total", self.max_total_tokens, sum(|usage| usage.total)),
        ];
        let limits = || limits.into_iter().filter_map(|(field, name, most, used)| Some((field, name, most?, used)));
        let (last, ..) =
            limits().next_back().ok_or_else(|| Row::unknown("", "no limit is set, so nothing is checked"))?;
        if of_run.is_empty() {
            run.with_run()?;
            return Err(Row::skipped("", "no token counts in the log"));
        }
        let found = match run.seen.search(|_| limits().find(|(_, _, most, used)| used > most)) {
            Ok(Found::Yes(wrong, proof)) => Found::Yes(wrong, proof),
            Ok(Found::No(_)) | Err(_) => {
                let proof = run.with_run()?;
                run.with_readable(|_| false)?;
                Found::No(proof)
            }
        };
        let field = found.map(|(field, ..)| field).yes().unwrap_or(last);
        let row = Row::absent(field, found, |(_, name, most, used)| {
            let message = format!("{name} tokens {used} exceeded budget {most}");
            let mismatch = Mismatch::new(message, format!("at most {most}"), used.to_string());
            mismatch.accepting_limit(Limit::Most, used as f64, Amount::Measured)
        });
        Ok(row.with_places(of_run.iter().filter_map(|usage| run.line("tokens are counted here", usage.line))))
    }
}

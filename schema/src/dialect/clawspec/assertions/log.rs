//! What the gateway's log tells about a run: the tools that were called, the agents that took over, the tokens.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    dialect::clawspec::{
        claim::{AssertionType, FileText, Row, Scope, Seen, mismatch},
        gateway_log::{Call, GatewayLog},
    },
    evidence::{Context, Need},
    verdict::{FilePlace, Open},
    words::{Artifact, Name, RunText, ToolName},
};

/// The run that is looked at when nothing is written.
const RUN_ID: &str = "{{run_id}}";

/// A tool was called in the run, says the gateway's log.
///
/// ```yaml
/// - type: tool_was_called
///   tool: sessions_spawn
///   log_path: /tmp/openclaw/openclaw-{{today}}.log
///   run_id: "{{run_id}}"
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ToolWasCalled {
    /// The tool's exact name.
    #[schemars(extend("x-shares" = "tools", "examples" = ["sessions_spawn"]))]
    pub tool: RunText,
    /// The gateway's log. Without it, the configured one is read; ClawSpec breaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-file" = "log", "examples" = ["/tmp/openclaw/openclaw-{{today}}.log"]))]
    pub log_path: Option<Artifact>,
    /// The run. Without it, the run of the scenario; an empty text means every run in the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-template" = "clawspec", "examples" = ["{{run_id}}"]))]
    pub run_id: Option<String>,
}

/// The log of the run, and which run that is.
struct RunLog<'e> {
    path: String,
    /// Nothing when the log is not there.
    log: Option<GatewayLog<'e>>,
    /// The file that was read, and its text.
    file: &'e str,
    text: &'e str,
    doubt: Option<&'static str>,
    run: String,
}

impl<'e> RunLog<'e> {
    fn of(seen: &Seen<'e>, log_path: Option<&Artifact>, run_id: Option<&String>) -> Result<RunLog<'e>, Row> {
        let field = if log_path.is_some() { "log_path" } else { "" };
        let run = seen.expand(if run_id.is_some() { "run_id" } else { "" }, run_id.map_or(RUN_ID, String::as_str))?;
        let (path, file) = seen.first_file(field, log_path.map_or(&seen.scope.log_path, |path| &path.0))?;
        let Some(file) = file else { return Ok(RunLog { path, log: None, file: "", text: "", doubt: None, run }) };
        let FileText { text, doubt } = seen.text(field, file)?;
        Ok(RunLog { path, log: Some(GatewayLog::read(text)), file: &file.path, text, doubt, run })
    }

    /// The log, when it says anything about the run. Otherwise nothing is known of what the run did not do.
    fn that_knows(&self) -> Result<&GatewayLog<'e>, Row> {
        let Some(log) = &self.log else {
            return Err(Row::unknown(
                "",
                format!("there is no log at `{}`, so that nothing shows what was called", self.path),
            ));
        };
        if log.knows(&self.run) {
            return Ok(log);
        }
        let run = if self.run.is_empty() { "any run".to_owned() } else { format!("run `{}`", self.run) };
        Err(Row::unknown("", format!("the log `{}` says nothing about {run}", self.path)))
    }

    /// The line that begins at a byte of the log.
    fn line(&self, message: impl Into<String>, at: usize) -> (String, FilePlace) {
        let length = self.text[at..].find('\n').unwrap_or(self.text.len() - at);
        (message.into(), FilePlace::bytes(self.file, self.text, at..at + length))
    }

    /// The help for what was not found.
    fn help(&self, nearest_to: &str) -> Vec<String> {
        let Some(log) = &self.log else { return vec![format!("there is no log at `{}`", self.path)] };
        let mut names: Vec<&str> = log.calls_of(&self.run).map(|call| call.tool).collect();
        names.dedup();
        if names.is_empty() {
            return vec![format!("`{}` has no calls of this run", self.path)];
        }
        let near = crate::words::nearest(nearest_to, names.iter().copied());
        near.map(|near| format!("`{near}` was called")).into_iter().collect()
    }
}

fn log_needs(log_path: Option<&Artifact>, scope: &Scope, context: &Context) -> Vec<Need> {
    let path = log_path.map_or(&scope.log_path, |path| &path.0);
    scope.first_file(path, context).map(Need::Files).into_iter().collect()
}

impl AssertionType for ToolWasCalled {
    const NAME: &'static str = "tool_was_called";

    fn subject(&self) -> String {
        self.tool.to_string()
    }

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        log_needs(self.log_path.as_ref(), scope, context)
    }

    fn judge(&self, seen: &Seen<'_>) -> Result<Row, Row> {
        let tool = seen.expand("tool", &self.tool)?;
        let run = RunLog::of(seen, self.log_path.as_ref(), self.run_id.as_ref())?;
        let called = run.log.as_ref().is_some_and(|log| log.calls_of(&run.run).any(|call| call.tool == tool));
        if called {
            return Ok(Row::pass("tool"));
        }
        let mut mismatch = mismatch(format!("Tool not called: {tool}"), format!("a call of {tool}"), "no such call");
        mismatch.help = run.help(&tool);
        Ok(Row::fail("tool", mismatch).unless(run.doubt))
    }
}

/// A tool was not called in the run, says the gateway's log.
///
/// ```yaml
/// - type: tool_not_called
///   tool: resend.send
///   log_path: /tmp/openclaw/openclaw-{{today}}.log
///   run_id: "{{run_id}}"
/// ```
///
/// A log that is not there, or that says nothing about the run, shows nothing: the result is unknown then. For ClawSpec
/// program it holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ToolNotCalled {
    /// The tool's exact name.
    #[schemars(extend("x-shares" = "tools", "examples" = ["resend.send"]))]
    pub tool: RunText,
    /// The gateway's log. Without it, the configured one is read; ClawSpec breaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-file" = "log", "examples" = ["/tmp/openclaw/openclaw-{{today}}.log"]))]
    pub log_path: Option<Artifact>,
    /// The run. Without it, the run of the scenario; an empty text means every run in the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-template" = "clawspec", "examples" = ["{{run_id}}"]))]
    pub run_id: Option<String>,
}

impl AssertionType for ToolNotCalled {
    const NAME: &'static str = "tool_not_called";
    const OPEN: Open = Open::Pass;

    fn subject(&self) -> String {
        self.tool.to_string()
    }

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        log_needs(self.log_path.as_ref(), scope, context)
    }

    fn judge(&self, seen: &Seen<'_>) -> Result<Row, Row> {
        let tool = seen.expand("tool", &self.tool)?;
        let run = RunLog::of(seen, self.log_path.as_ref(), self.run_id.as_ref())?;
        let calls: Vec<_> = run.that_knows()?.calls_of(&run.run).filter(|call| call.tool == tool).collect();
        if calls.is_empty() {
            return Ok(Row::pass("tool").unless(run.doubt));
        }
        let actual = if calls.len() == 1 { "one call".to_owned() } else { format!("{} calls", calls.len()) };
        let row = Row::fail("tool", mismatch(format!("Tool was called: {tool}"), format!("no call of {tool}"), actual));
        Ok(row.with_places(calls.iter().map(|call| run.line("called here", call.at))))
    }
}

/// Another agent took over, says the gateway's log.
///
/// It was called with `sessions_spawn`, and its session began.
///
/// ```yaml
/// - type: delegation_occurred
///   to_agent: agents-marketing-brand
///   log_path: /tmp/openclaw/openclaw-{{today}}.log
///   run_id: "{{run_id}}"
/// ```
///
/// Only the first call for that agent counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct DelegationOccurred {
    /// The id of the agent that took over.
    #[schemars(extend("x-shares" = "agents", "examples" = ["agents-marketing-brand"]))]
    pub to_agent: RunText,
    /// The id of the agent that handed over. Has no effect; ClawSpec ignores it, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-shares" = "agents", "examples" = ["agents-lead"]))]
    pub from_agent: Option<RunText>,
    /// The gateway's log. Without it, the configured one is read; ClawSpec breaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-file" = "log", "examples" = ["/tmp/openclaw/openclaw-{{today}}.log"]))]
    pub log_path: Option<Artifact>,
    /// The run. Without it, the run of the scenario; an empty text means every run in the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-template" = "clawspec", "examples" = ["{{run_id}}"]))]
    pub run_id: Option<String>,
}

impl AssertionType for DelegationOccurred {
    const NAME: &'static str = "delegation_occurred";

    fn subject(&self) -> String {
        self.to_agent.to_string()
    }

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        log_needs(self.log_path.as_ref(), scope, context)
    }

    fn judge(&self, seen: &Seen<'_>) -> Result<Row, Row> {
        let agent = seen.expand("to_agent", &self.to_agent)?;
        let run = RunLog::of(seen, self.log_path.as_ref(), self.run_id.as_ref())?;
        let fail = |message: &str, actual: String, help: Vec<String>| {
            let mut mismatch = mismatch(message, format!("{agent} takes over"), actual);
            mismatch.help = help;
            Row::fail("to_agent", mismatch).unless(run.doubt)
        };
        let spawns: Vec<_> = run
            .log
            .iter()
            .flat_map(|log| log.calls_of(&run.run))
            .filter(|call| call.tool == "sessions_spawn")
            .collect();
        let Some(spawn) = spawns.iter().find(|call| call.to_agent == Some(agent.as_str())) else {
            let others: Vec<&str> = spawns.iter().filter_map(|call| call.to_agent).collect();
            let actual = if others.is_empty() { "no delegation".to_owned() } else { others.join(", ") };
            let help = if run.log.is_none() { run.help("sessions_spawn") } else { Vec::new() };
            return Ok(fail("No matching sessions_spawn call found", actual, help));
        };
        let handed_over = run.line("handed over here", spawn.at);
        let Some(child) = spawn.child_run else {
            let row = fail(
                "Delegation log entry missing child run id",
                "a call without `child_run_id`".to_owned(),
                Vec::new(),
            );
            return Ok(row.with_places([handed_over]));
        };
        let began = run.log.iter().flat_map(|log| &log.sessions).any(|it| it.run == child && it.agent == agent);
        if began {
            return Ok(Row::pass("to_agent"));
        }
        let actual = format!("no session of {agent} in run {child}");
        Ok(fail("Child session for delegated agent not found", actual, Vec::new()).with_places([handed_over]))
    }
}

/// Only certain tools were called in the run, says the gateway's log.
///
/// ```yaml
/// - type: tool_not_permitted
///   allowed_tools: [read, write, memory.search]
///   log_path: /tmp/openclaw/openclaw-{{today}}.log
///   run_id: "{{run_id}}"
/// ```
///
/// The list names what is allowed; a call of any other tool fails the assertion. To forbid one tool, use `tool_not_called` or
/// `tool_not_invoked`. A log that is not there, or that says nothing about the run, shows nothing: the result is unknown then.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ToolNotPermitted {
    /// The exact names of the tools that are allowed. `[]` allows none.
    #[schemars(with = "Vec<ToolName>", extend("examples" = [["read", "write"]]))]
    pub allowed_tools: Vec<Name>,
    /// The gateway's log. Without it, the configured one is read; ClawSpec breaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-file" = "log", "examples" = ["/tmp/openclaw/openclaw-{{today}}.log"]))]
    pub log_path: Option<Artifact>,
    /// The run. Without it, the run of the scenario; an empty text means every run in the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-template" = "clawspec", "examples" = ["{{run_id}}"]))]
    pub run_id: Option<String>,
}

impl AssertionType for ToolNotPermitted {
    const NAME: &'static str = "tool_not_permitted";
    const OPEN: Open = Open::Pass;

    fn subject(&self) -> String {
        let names: Vec<&str> = self.allowed_tools.iter().map(|name| name.0.as_str()).collect();
        format!("but {}", if names.is_empty() { "none".to_owned() } else { names.join(", ") })
    }

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        log_needs(self.log_path.as_ref(), scope, context)
    }

    fn judge(&self, seen: &Seen<'_>) -> Result<Row, Row> {
        let run = RunLog::of(seen, self.log_path.as_ref(), self.run_id.as_ref())?;
        let allowed =
            self.allowed_tools.iter().map(|name| seen.expand("allowed_tools", name)).collect::<Result<Vec<_>, _>>()?;
        let is_wrong = |call: &&Call<'_>| !allowed.iter().any(|name| name == call.tool);
        let calls: Vec<&Call<'_>> = run.that_knows()?.calls_of(&run.run).filter(is_wrong).collect();
        let mut wrong: Vec<&str> = calls.iter().map(|call| call.tool).collect();
        wrong.sort_unstable();
        wrong.dedup();
        if wrong.is_empty() {
            return Ok(Row::pass("allowed_tools").unless(run.doubt));
        }
        let names = wrong.join(", ");
        let expected = format!("only {}", if allowed.is_empty() { "no tool".to_owned() } else { allowed.join(", ") });
        let row = Row::fail("allowed_tools", mismatch(format!("Disallowed tools used: {names}"), expected, names));
        Ok(row.with_places(calls.iter().map(|call| run.line(format!("`{}` was called here", call.tool), call.at))))
    }
}

/// The run used no more than so many tokens, says the gateway's log.
///
/// ```yaml
/// - type: token_budget
///   log_path: /tmp/openclaw/openclaw-{{today}}.log
///   run_id: "{{run_id}}"
///   max_total_tokens: 12000
///   max_output_tokens: 4000
/// ```
///
/// At least one limit is needed. All lines of the run that tell tokens are added; ClawSpec takes the first
/// one. A log without such a line skips the assertion.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct TokenBudget {
    /// The gateway's log. Without it, the configured one is read; ClawSpec breaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-file" = "log", "examples" = ["/tmp/openclaw/openclaw-{{today}}.log"]))]
    pub log_path: Option<Artifact>,
    /// The run. Without it, the run of the scenario; an empty text means every run in the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-template" = "clawspec", "examples" = ["{{run_id}}"]))]
    pub run_id: Option<String>,
    /// The most tokens, sent and received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64), extend("examples" = [12000]))]
    pub max_total_tokens: Option<u64>,
    /// The most tokens that are sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64), extend("examples" = [8000]))]
    pub max_input_tokens: Option<u64>,
    /// The most tokens that are received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64), extend("examples" = [4000]))]
    pub max_output_tokens: Option<u64>,
}

impl AssertionType for TokenBudget {
    const NAME: &'static str = "token_budget";
    const OPEN: Open = Open::Pass;

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        log_needs(self.log_path.as_ref(), scope, context)
    }

    fn judge(&self, seen: &Seen<'_>) -> Result<Row, Row> {
        let run = RunLog::of(seen, self.log_path.as_ref(), self.run_id.as_ref())?;
        let usages = run.log.iter().flat_map(|log| &log.usages);
        let of_run: Vec<_> = usages.filter(|usage| run.run.is_empty() || usage.run == run.run).collect();
        if of_run.is_empty() {
            return Ok(Row::skip("", "Token usage unavailable in gateway log").unless(run.doubt));
        }
        let sum = |tokens: fn(&crate::dialect::clawspec::gateway_log::Usage<'_>) -> u64| {
            of_run.iter().fold(0_u64, |sum, usage| sum.saturating_add(tokens(usage)))
        };
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
                let row = Row::fail(field, mismatch(message, format!("at most {most}"), used.to_string()));
                return Ok(row.with_places(of_run.iter().map(|usage| run.line("tokens are counted here", usage.at))));
            }
            passed = Some(field);
        }
        match passed {
            Some(field) => Ok(Row::pass(field).unless(run.doubt)),
            None => Err(Row::unknown("", "no limit is given, so that nothing is claimed")),
        }
    }
}

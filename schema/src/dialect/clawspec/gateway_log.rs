//! The gateway's log: which tools a run called, which sessions it started, how many tokens it took.
//!
//! Two forms are read: lines of `key=value` words, and the JSON lines that OpenClaw gateways write.

use serde_json::Value;

/// What a log says about runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GatewayLog<'t> {
    /// Calls of tools, in order.
    pub calls: Vec<Call<'t>>,
    /// Sessions that were started.
    pub sessions: Vec<Session<'t>>,
    /// Tokens that were used.
    pub usages: Vec<Usage<'t>>,
    /// The runs that are named anywhere.
    pub runs: Vec<&'t str>,
}

/// A call of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call<'t> {
    /// The run.
    pub run: &'t str,
    /// The tool.
    pub tool: &'t str,
    /// The agent that is to take over, for `sessions_spawn`.
    pub to_agent: Option<&'t str>,
    /// The run of that agent.
    pub child_run: Option<&'t str>,
    /// Where its line begins, in bytes.
    pub at: usize,
}

/// A session that was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Session<'t> {
    /// The run.
    pub run: &'t str,
    /// The agent.
    pub agent: &'t str,
}

/// Tokens that were used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage<'t> {
    /// The run.
    pub run: &'t str,
    /// Sent.
    pub input: u64,
    /// Received.
    pub output: u64,
    /// Both.
    pub total: u64,
    /// Where its line begins, in bytes.
    pub at: usize,
}

impl<'t> GatewayLog<'t> {
    /// Reads a log. Lines of another form say nothing.
    pub fn read(text: &'t str) -> GatewayLog<'t> {
        let mut log = GatewayLog::default();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            if line.trim_start().starts_with('{') {
                log.json_line(line, at);
            } else {
                log.words(line, at);
            }
            at += line.len();
        }
        log
    }

    /// Whether anything is told about a run; about any run when the id is empty.
    pub fn knows(&self, run: &str) -> bool {
        if run.is_empty() { !self.runs.is_empty() } else { self.runs.contains(&run) }
    }

    /// The calls of a run; of all runs when the id is empty.
    pub fn calls_of<'s>(&'s self, run: &'s str) -> impl Iterator<Item = &'s Call<'t>> {
        self.calls.iter().filter(move |call| run.is_empty() || call.run == run)
    }

    fn words(&mut self, line: &'t str, at: usize) {
        let Some((run, rest)) = value(line, "run_id=") else { return };
        self.see(run);
        if let Some((agent, _)) = value(rest, "session_started agent=") {
            self.sessions.push(Session { run, agent });
        }
        if let Some(usage) = usage(run, rest, at) {
            self.usages.push(usage);
        }
        // Of several `tool=` the last one counts that has an `agent=` behind it.
        let Some(agent) = rest.rfind("agent=") else { return };
        let Some(start) = rest[..agent].rfind("tool=") else { return };
        let Some((tool, _)) = value(&rest[start..], "tool=") else { return };
        let Some((_, behind)) = value(&rest[agent..], "agent=") else { return };
        let spawned = value(behind, "params.agentId=");
        let child_run = spawned.and_then(|(_, rest)| value(rest, "child_run_id=")).map(|(child, _)| child);
        self.calls.push(Call { run, tool, to_agent: spawned.map(|(agent, _)| agent), child_run, at });
    }

    /// `embedded run tool start: runId=… tool=… toolCallId=…`, somewhere in the line's message.
    fn json_line(&mut self, line: &'t str, at: usize) {
        if serde_json::from_str::<Value>(line).is_err() {
            return;
        }
        let Some((run, rest)) = value(line, "runId=") else { return };
        self.see(run);
        if line.contains("embedded run tool start")
            && let Some((tool, _)) = value(rest, "tool=")
        {
            self.calls.push(Call { run, tool, to_agent: None, child_run: None, at });
        }
    }

    fn see(&mut self, run: &'t str) {
        if self.runs.last() != Some(&run) && !self.runs.contains(&run) {
            self.runs.push(run);
        }
    }
}

/// The word behind a key, and what follows. In a JSON line a word ends at its quotes.
fn value<'t>(text: &'t str, key: &str) -> Option<(&'t str, &'t str)> {
    let start = text.find(key)? + key.len();
    let rest = &text[start..];
    let end = rest.find(|letter: char| letter.is_whitespace() || letter == '"').unwrap_or(rest.len());
    (end > 0).then(|| (&rest[..end], &rest[end..]))
}

fn usage<'t>(run: &'t str, rest: &str, at: usize) -> Option<Usage<'t>> {
    let rest = &rest[rest.find("token_usage input=")? + "token_usage ".len()..];
    let mut words = rest.split(' ');
    let mut number = |key: &str| -> Option<u64> {
        let word = words.next()?.strip_prefix(key)?;
        let digits = word.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(word.len());
        word[..digits].parse().ok()
    };
    Some(Usage { run, input: number("input=")?, output: number("output=")?, total: number("total=")?, at })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read() {
        let log = GatewayLog::read(
            "t run_id=r1 session_started agent=lead\n\
             t run_id=r1 tool=sessions_spawn agent=lead params.agentId=copy child_run_id=r2\n\
             t run_id=r2 token_usage input=10 output=5 total=15\n\
             t run_id=r1 agent=lead tool=late\n\
             nothing\n",
        );
        assert_eq!(log.sessions, [Session { run: "r1", agent: "lead" }]);
        let spawn = Call { run: "r1", tool: "sessions_spawn", to_agent: Some("copy"), child_run: Some("r2"), at: 39 };
        assert_eq!(log.calls, [spawn]);
        assert_eq!(log.usages, [Usage { run: "r2", input: 10, output: 5, total: 15, at: 118 }]);
        assert!(log.knows("r2") && log.knows("") && !log.knows("r3"));
    }

    #[test]
    fn json_lines_are_read() {
        let log = GatewayLog::read(
            "{\"1\": \"embedded run tool start: runId=r1 tool=web.fetch toolCallId=c\"}\n\
             {\"1\": \"embedded run done: runId=r1 sessionId=s\"}\n{broken runId=r9\n",
        );
        assert_eq!(log.calls, [Call { run: "r1", tool: "web.fetch", to_agent: None, child_run: None, at: 0 }]);
        assert_eq!(log.runs, ["r1"]);
    }
}

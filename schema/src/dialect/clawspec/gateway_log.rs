//! Reads the gateway log: tool calls, delegations and tokens of a run.

mod line;
mod lineage;

use std::collections::BTreeSet;

use crate::evidence::LogAnswer;

pub use line::{Event, Line, SPAWN};
pub use lineage::{Lineage, RunRelation};

/// Entries of a log about a run and the runs that it started.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GatewayLog {
    /// Tool calls, in order.
    pub calls: Vec<Call>,
    /// Sessions that began.
    pub sessions: Vec<Session>,
    /// Tokens that were used.
    pub usages: Vec<Usage>,
    /// Index of the first line about the run itself. `None` if there is none.
    pub known: Option<usize>,
    /// Whether the log contains tool calls.
    pub is_detailed: bool,
    /// Line on which another program took over the run. Its tool calls are not in the log.
    pub other_program: Option<usize>,
    /// Whether the run has ended, including all runs that it is known to have started.
    pub is_done: bool,
    /// Number of runs that it should have started but that were not observed.
    pub unseen_children: usize,
    /// Traces of the run and of the runs that it started.
    pub traces: BTreeSet<String>,
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Relation of the entry to the run.
    pub relation: RunRelation,
    /// Id of the run.
    pub run: String,
    /// Name of the tool.
    pub tool: String,
    /// Agent to start, for `sessions_spawn`.
    pub to_agent: Option<String>,
    /// Id of that agent's run.
    pub child_run: Option<String>,
    /// Line, counted from 0.
    pub line: usize,
}

/// A session that began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Relation of the entry to the run.
    pub relation: RunRelation,
    /// Id of the run, or the key of the session if no run is named.
    pub run: String,
    /// Id of the agent.
    pub agent: String,
    /// Line, counted from 0.
    pub line: usize,
}

/// Tokens that were used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Relation of the entry to the run.
    pub relation: RunRelation,
    /// Number of input tokens.
    pub input: u64,
    /// Number of output tokens.
    pub output: u64,
    /// Total number of tokens.
    pub total: u64,
    /// Line, counted from 0.
    pub line: usize,
}

/// Caller and callee of a handoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handoff<'a> {
    /// Agent that delegates.
    pub from: &'a str,
    /// Agent that takes over.
    pub to: &'a str,
}

/// Entries of a log about the runs of the callee of a handoff.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CalleeLog {
    /// Entries. Those of the callee's runs are their own.
    pub log: GatewayLog,
    /// Ids of the runs, or keys of their sessions. Empty if no run of the callee is known.
    pub ids: Vec<String>,
    /// Whether there may be other runs of the callee.
    pub is_partial: bool,
}

impl GatewayLog {
    /// Reads the entries of a log about a run.
    pub fn of(answer: &LogAnswer, run: &str) -> GatewayLog {
        GatewayLog::read(&answer.lines.text, run, answer.session.as_deref())
    }

    /// Reads the entries of a text about a run, which may also be identified by the key of its session. An empty id
    /// selects every run.
    pub fn read(text: &str, run: &str, key: Option<&str>) -> GatewayLog {
        GatewayLog::of_lineage(text, Lineage::of(run, key))
    }

    fn of_lineage(text: &str, mut lineage: Lineage) -> GatewayLog {
        let lines: Vec<Line> = text.lines().map(Line::read).collect();
        // No short circuit: every line may add information.
        while lines.iter().fold(false, |is_new, line| lineage.learn(line) | is_new) {}
        let mut log = GatewayLog::default();
        let (mut children, mut done) = (BTreeSet::new(), BTreeSet::new());
        // An agent's session is logged before its run.
        let delegates: BTreeSet<String> = lines
            .iter()
            .filter(|line| lineage.relation(line) == Some(RunRelation::Started))
            .filter_map(|line| Some(line.delegate()?.0.to_owned()))
            .collect();
        for (number, line) in lines.into_iter().enumerate() {
            let Some(relation) = lineage.relation(&line) else { continue };
            let is_done = line.events.contains(&Event::Done);
            match relation {
                // The id of a hook's run differs from that of the run itself.
                RunRelation::Own => log.is_done |= is_done,
                RunRelation::Started => {
                    children.extend(line.run.clone());
                    done.extend(line.run.clone().filter(|_| is_done));
                }
            }
            log.take(line, relation, number);
        }
        // Agents may keep running after the run that started them.
        children.extend(log.calls.iter().filter_map(|call| call.child_run.clone()));
        log.is_done &= children.is_subset(&done) && children.len() >= delegates.len();
        let spawned = log.calls.iter().filter(|call| call.tool == SPAWN && call.child_run.is_none()).count();
        log.unseen_children = spawned.saturating_sub(delegates.len());
        log.traces = lineage.traces().map(str::to_owned).collect();
        log
    }

    /// Reads the entries of a log about the runs of an agent to which the agent of a run, the caller, delegated.
    pub fn of_callee(answer: &LogAnswer, run: &str, handoff: &Handoff<'_>) -> CalleeLog {
        let log = GatewayLog::of(answer, run);
        let (runs, keys, is_partial) = log.callee_names(handoff);
        let mut ids: Vec<String> = runs.iter().chain(&keys).cloned().collect();
        ids.sort_unstable();
        let log = match ids.as_slice() {
            [] => GatewayLog::default(),
            _ => GatewayLog::of_lineage(&answer.lines.text, Lineage::of_runs(runs, keys)),
        };
        CalleeLog { log, ids, is_partial }
    }

    /// Returns the ids of the callee's runs and the keys of its sessions, and whether there may be more.
    fn callee_names(&self, handoff: &Handoff<'_>) -> (BTreeSet<String>, BTreeSet<String>, bool) {
        // A delegation by an agent that is known to be neither the caller nor the run itself is another handoff.
        let is_of_caller = |call: &&Call| {
            let mut sessions = self.sessions.iter().filter(|session| session.run == call.run).peekable();
            call.relation == RunRelation::Own
                || sessions.peek().is_none()
                || sessions.any(|session| session.agent == handoff.from)
        };
        let spawns: Vec<&Call> = self.calls.iter().filter(|call| call.tool == SPAWN).filter(is_of_caller).collect();
        let to_callee: Vec<&&Call> =
            spawns.iter().filter(|call| call.to_agent.as_deref() == Some(handoff.to)).collect();
        let runs: BTreeSet<String> = to_callee.iter().filter_map(|call| call.child_run.clone()).collect();
        // An OpenClaw gateway logs the sessions that were started, but not which call started them.
        let is_unnamed = spawns.iter().any(|call| call.to_agent.is_none());
        let started = self.sessions.iter().filter(|session| session.relation == RunRelation::Started);
        let keys: BTreeSet<String> = started
            .filter(|session| is_unnamed && session.agent == handoff.to)
            .map(|session| session.run.clone())
            .collect();
        let is_partial =
            to_callee.iter().any(|call| call.child_run.is_none()) || (is_unnamed && self.unseen_children > 0);
        (runs, keys, is_partial)
    }

    /// Returns the calls of the run itself.
    pub(crate) fn own_calls(&self) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(|call| call.relation == RunRelation::Own)
    }

    fn take(&mut self, line: Line, relation: RunRelation, number: usize) {
        if relation == RunRelation::Own {
            self.known.get_or_insert(number);
            self.is_detailed |= line.is_detailed;
        }
        if relation == RunRelation::Started
            && let Some((key, agent)) = line.delegate()
            && !self.sessions.iter().any(|session| session.run == key)
        {
            self.sessions.push(Session { relation, run: key.to_owned(), agent: agent.to_owned(), line: number });
        }
        let run = line.run.unwrap_or_default();
        for event in line.events {
            let run = run.clone();
            match event {
                Event::Call { tool, to_agent, child_run } => {
                    self.calls.push(Call { relation, run, tool, to_agent, child_run, line: number });
                }
                Event::Session { agent } => self.sessions.push(Session { relation, run, agent, line: number }),
                Event::Usage { input, output, total } => {
                    self.usages.push(Usage { relation, input, output, total, line: number });
                }
                Event::OtherProgram => self.other_program = self.other_program.or(Some(number)),
                Event::Done | Event::Dropped => {}
            }
        }
    }
}

#[cfg(test)]
mod tests;

//! Reads the gateway log: tool calls, delegations and tokens of a run.

mod fields;
mod line;
mod lineage;

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    check::text::visible,
    evidence::{LogAnswer, LogGap},
};

pub use line::{Event, Line, RunEnd, SPAWN, Unclear};
pub use lineage::{Lineage, RunRelation};

/// Entries of a log about a run and the runs that it started.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GatewayLog {
    /// Tool calls, in order.
    pub calls: Vec<Call>,
    pub sessions: Vec<Session>,
    /// Tokens that were used.
    pub usages: Vec<Usage>,
    /// Index of the first line about the run itself. `None` if there is none.
    pub known: Option<usize>,
    /// Whether the log contains tool calls.
    pub is_detailed: bool,
    /// Line on which another program took over the run. Its tool calls are not in the log.
    pub other_program: Option<usize>,
    /// Whether the run has ended, including all runs that it has started.
    pub is_done: bool,
    /// Reasons why the log shows that it does not contain everything about the run.
    pub gaps: Vec<LogGap>,
    /// Lines about tools that cannot be read.
    pub unclear: Vec<Unclear>,
    /// Lines that say nothing known, in none of the formats of a gateway: they may be about a tool that they name.
    pub sentences: Vec<usize>,
    /// The reason why the run failed, according to its end.
    pub failure: Option<String>,
    /// Traces of the run and of the runs that it started.
    pub traces: BTreeSet<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub relation: RunRelation,
    pub run: String,
    pub tool: String,
    pub id: Option<String>,
    /// Agent to start, for `sessions_spawn`.
    pub to_agent: Option<String>,
    /// Id of that agent's run.
    pub child_run: Option<String>,
    /// Line, counted from 0.
    pub line: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    pub relation: RunRelation,
    /// Id of the run, or the key of the session if no run is named.
    pub run: String,
    pub agent: String,
    /// Line, counted from 0.
    pub line: usize,
}

/// Tokens that were used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
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
    pub fn of(answer: &LogAnswer, run: &str) -> GatewayLog {
        GatewayLog::read(&answer.lines.text, run, answer.session.as_deref())
    }

    /// Reads the entries of a text about a run, which may also be identified by the key of its session. An empty id
    /// selects every run.
    pub fn read(text: &str, run: &str, key: Option<&str>) -> GatewayLog {
        GatewayLog::of_lineage(text, Lineage::of(run, key))
    }

    fn of_lineage(text: &str, mut lineage: Lineage) -> GatewayLog {
        let pieces = |(number, text)| Line::read_all(text).into_iter().map(move |line| (number, text, line));
        let lines: Vec<(usize, &str, Line)> = text.lines().enumerate().flat_map(pieces).collect();
        // No short circuit: every line may add information.
        while lines.iter().fold(false, |is_new, (_, _, line)| lineage.learn(line) | is_new) {}
        let (mut log, mut ended) = (GatewayLog::default(), Vec::new());
        let mut progress = Progress::of(lineage.is_of_every_run());
        let mut is_damaged = false;
        for (number, text, line) in lines {
            let relation = match lineage.relation(&line) {
                Some(relation) => relation,
                None if lineage.is_mentioned_in(&line, text) => RunRelation::Own,
                None => {
                    // A run that names this one in another way than its parent.
                    if lineage.is_named_by_another(&line, text) {
                        log.unclear.extend(line.unclear_calls(number));
                    }
                    continue;
                }
            };
            is_damaged |= line.is_damaged;
            progress.take(&line, relation);
            let is_started = relation == RunRelation::Started || lineage.is_of_every_run();
            if let Some((key, agent)) = line.delegate().filter(|_| is_started) {
                log.take_session_of_started(key, agent, number);
            }
            log.take(line, relation, number, &mut ended);
        }
        // A call whose beginning is missing was made all the same.
        for call in ended {
            if !log.calls.iter().any(|known| known.run == call.run && known.tool == call.tool) {
                log.calls.push(call);
            }
        }
        log.is_done = progress.is_done(&log.calls);
        log.gaps = is_damaged.then_some(LogGap::Unreadable).into_iter().chain(progress.gaps(&log.calls)).collect();
        log.failure = progress.own.failure();
        let is_known = |unclear: &Unclear| {
            log.calls.iter().any(|call| {
                unclear.tool.as_ref() == Some(&call.tool) || (unclear.id.is_some() && unclear.id == call.id)
            })
        };
        log.unclear = std::mem::take(&mut log.unclear).into_iter().filter(|unclear| !is_known(unclear)).collect();
        log.traces = lineage.traces().map(str::to_owned).collect();
        log
    }

    /// Reads the entries of a log about the runs of an agent to which the agent of a run, the caller, delegated.
    pub fn of_callee(answer: &LogAnswer, run: &str, handoff: (&str, &str)) -> CalleeLog {
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
    fn callee_names(&self, (from, to): (&str, &str)) -> (BTreeSet<String>, BTreeSet<String>, bool) {
        // A delegation by an agent that is known to be neither the caller nor the run itself is another handoff.
        let is_of_caller = |call: &&Call| {
            let mut sessions = self.sessions.iter().filter(|session| session.run == call.run).peekable();
            call.relation == RunRelation::Own
                || sessions.peek().is_none()
                || sessions.any(|session| session.agent == from)
        };
        let spawns: Vec<&Call> = self.calls.iter().filter(|call| call.tool == SPAWN).filter(is_of_caller).collect();
        let to_callee: Vec<&&Call> = spawns.iter().filter(|call| call.to_agent.as_deref() == Some(to)).collect();
        let runs: BTreeSet<String> = to_callee.iter().filter_map(|call| call.child_run.clone()).collect();
        // An OpenClaw gateway logs the sessions that were started, but not which call started them.
        let is_unnamed = spawns.iter().any(|call| call.to_agent.is_none());
        let started = self.sessions.iter().filter(|session| session.relation == RunRelation::Started);
        let keys: BTreeSet<String> =
            started.filter(|session| is_unnamed && session.agent == to).map(|session| session.run.clone()).collect();
        let is_partial =
            to_callee.iter().any(|call| call.child_run.is_none()) || self.gaps.contains(&LogGap::ChildUnseen);
        (runs, keys, is_partial)
    }

    /// Returns whether the run, or an agent that it started, continues, as far as the log shows.
    pub fn continues(&self) -> bool {
        [LogGap::Unended, LogGap::ChildUnended, LogGap::ChildUnseen].iter().any(|gap| self.gaps.contains(gap))
    }

    /// Returns the first of these lines that names a tool without a known word about it. The names of many tools are
    /// common words as well.
    pub(crate) fn sentence_with<'l>(&self, tool: &str, lines: impl Fn(usize) -> Option<&'l str>) -> Option<usize> {
        let is_name = tool.contains(|letter: char| !letter.is_alphanumeric());
        let names = |line: &&usize| lines(**line).is_some_and(|text| lineage::has_word(&visible(text), tool));
        self.sentences.iter().find(names).copied().filter(|_| is_name)
    }

    pub(crate) fn own_calls(&self) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(|call| call.relation == RunRelation::Own)
    }

    fn take_session_of_started(&mut self, key: &str, agent: &str, line: usize) {
        if !self.sessions.iter().any(|session| session.run == key) {
            let (relation, run, agent) = (RunRelation::Started, key.to_owned(), agent.to_owned());
            self.sessions.push(Session { relation, run, agent, line });
        }
    }

    fn take(&mut self, line: Line, relation: RunRelation, number: usize, ended: &mut Vec<Call>) {
        if relation == RunRelation::Own {
            self.known.get_or_insert(number);
            self.is_detailed |= line.is_detailed;
        }
        if line.events.is_empty() && !line.is_of_gateway {
            self.sentences.push(number);
        }
        let run = line.run.unwrap_or_default();
        for event in line.events {
            let run = run.clone();
            match event {
                Event::Call { tool, id, to_agent, child_run } => {
                    self.calls.push(Call { relation, run, tool, id, to_agent, child_run, line: number });
                }
                Event::CallEnded { tool } => {
                    let (id, to_agent, child_run) = (None, None, None);
                    ended.push(Call { relation, run, tool, id, to_agent, child_run, line: number });
                }
                Event::Unclear { tool, id } => self.unclear.push(Unclear { tool, id, line: number }),
                Event::Session { agent } => self.sessions.push(Session { relation, run, agent, line: number }),
                Event::Usage { input, output, total } => {
                    self.usages.push(Usage { relation, input, output, total, line: number });
                }
                Event::OtherProgram => self.other_program = self.other_program.or(Some(number)),
                Event::Begun | Event::Busy | Event::Idle | Event::Stopped(_) | Event::Done(_) | Event::Dropped => {}
            }
        }
    }
}

/// Progress of a run and of the runs that it started.
#[derive(Debug, Default)]
struct Progress {
    is_of_every_run: bool,
    /// The run itself. The id of a hook's run differs from that of the run itself.
    own: RunProgress,
    started: BTreeMap<String, RunProgress>,
    /// Keys of the sessions that it started: a session is logged before its run.
    delegates: BTreeSet<String>,
    /// Those of them that have done their work. The end of a run that failed is not logged otherwise.
    idle: BTreeSet<String>,
    /// Whether the gateway reports the ends of runs.
    has_ends: bool,
}

#[derive(Debug, Default)]
struct RunProgress {
    /// Whether the gateway reports its beginning and its end.
    has_end: bool,
    has_begun: bool,
    attempt_ended: bool,
    ended: bool,
    /// The reason why the last attempt failed.
    failed: Option<String>,
    /// The outcome, if the last line of the run has it.
    outcome: Option<Result<(), String>>,
}

impl Progress {
    fn of(is_of_every_run: bool) -> Progress {
        Progress { is_of_every_run, ..Progress::default() }
    }

    fn take(&mut self, line: &Line, relation: RunRelation) {
        self.has_ends |= line.has_end;
        let is_started = relation == RunRelation::Started || self.is_of_every_run;
        if let Some((key, _)) = line.delegate().filter(|_| is_started) {
            self.delegates.insert(key.to_owned());
            if line.events.contains(&Event::Idle) {
                self.idle.insert(key.to_owned());
            } else if line.events.contains(&Event::Busy) {
                self.idle.remove(key);
            }
        }
        let progress = match (relation, &line.run) {
            (RunRelation::Own, _) if !self.is_of_every_run => &mut self.own,
            (RunRelation::Own | RunRelation::Started, Some(run)) => self.started.entry(run.clone()).or_default(),
            (RunRelation::Own | RunRelation::Started, None) => return,
        };
        progress.has_end |= line.has_end;
        line.events.iter().for_each(|event| progress.take(event));
    }

    /// Returns whether the run and all runs that it started have ended.
    fn is_done(&self, calls: &[Call]) -> bool {
        let is_done = |run: &String| self.started.get(run).is_some_and(RunProgress::is_done);
        let are_started_done = self.are_idle()
            || (self.started.values().all(RunProgress::is_done) && self.started.len() >= self.delegates.len());
        self.own.is_done()
            && are_started_done
            && calls.iter().filter_map(|call| call.child_run.as_ref()).all(is_done)
            && self.unseen(calls) == 0
    }

    /// Returns whether all sessions that it started have done their work.
    fn are_idle(&self) -> bool {
        !self.delegates.is_empty() && self.delegates.is_subset(&self.idle)
    }

    /// Returns the reasons why more may have happened; none if the gateway does not log the ends of runs.
    fn gaps(&self, calls: &[Call]) -> Vec<LogGap> {
        let has_unbegun = self.has_ends && self.started.len() < self.delegates.len();
        let do_started_continue = has_unbegun || self.started.values().any(RunProgress::continues);
        let gaps = [
            (self.own.continues(), LogGap::Unended),
            (do_started_continue && !self.are_idle(), LogGap::ChildUnended),
            (self.has_ends && self.unseen(calls) > 0, LogGap::ChildUnseen),
            (self.own.is_done() && self.own.has_end && !self.own.has_begun, LogGap::Unbegun),
        ];
        gaps.into_iter().filter_map(|(is_there, gap)| is_there.then_some(gap)).collect()
    }

    /// Returns the number of runs that should have been started but were not observed.
    fn unseen(&self, calls: &[Call]) -> usize {
        let spawned = calls.iter().filter(|call| call.tool == SPAWN && call.child_run.is_none()).count();
        // Of every run, only the sessions tell which of them were started by others.
        let runs = if self.is_of_every_run { 0 } else { self.started.len() };
        spawned.saturating_sub(self.delegates.len().max(runs))
    }
}

impl RunProgress {
    fn take(&mut self, event: &Event) {
        match event {
            Event::Begun => (self.has_begun, self.attempt_ended, self.failed) = (true, false, None),
            // Some gateways log no other beginning.
            Event::Session { .. } | Event::Call { .. } => self.has_begun = true,
            Event::Stopped(outcome) => self.failed = outcome.clone().err(),
            Event::Done(RunEnd::Attempt(outcome)) => {
                self.attempt_ended = true;
                self.failed = self.failed.take().or_else(|| outcome.clone().err());
            }
            Event::Done(RunEnd::Final(outcome)) => {
                self.ended = true;
                self.outcome = outcome.clone().or_else(|| self.outcome.take());
            }
            Event::CallEnded { .. }
            | Event::Unclear { .. }
            | Event::Usage { .. }
            | Event::OtherProgram
            | Event::Busy
            | Event::Idle
            | Event::Dropped => {}
        }
    }

    fn is_done(&self) -> bool {
        self.ended || self.attempt_ended
    }

    fn continues(&self) -> bool {
        self.has_end && !self.is_done()
    }

    fn failure(&self) -> Option<String> {
        match &self.outcome {
            Some(outcome) => outcome.clone().err(),
            None => self.failed.clone(),
        }
    }
}

#[cfg(test)]
mod tests;

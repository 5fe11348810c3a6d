//! The gateway log: which tools a run called, which agents took over, how many tokens it took.

mod line;
mod lineage;

use std::collections::BTreeSet;

use crate::evidence::LogAnswer;

pub use line::{Event, Line, SPAWN};
pub use lineage::{Kin, Lineage};

/// What a log says about a run, and about the runs that it started.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GatewayLog {
    /// Calls of tools, in order.
    pub calls: Vec<Call>,
    /// Sessions that began.
    pub sessions: Vec<Session>,
    /// Tokens that were used.
    pub usages: Vec<Usage>,
    /// Where it first says anything about the run itself. `None`: it says nothing about it.
    pub known: Option<usize>,
    /// Whether it tells the calls of tools.
    pub is_detailed: bool,
    /// Where the run was handed to another program, whose calls of tools are not in the log.
    pub other_program: Option<usize>,
    /// Whether the run is done, and each run that it is seen to have started.
    pub is_done: bool,
    /// Number of runs that it should have started but that were not observed.
    pub unseen_children: usize,
    /// The traces of the run, and of the runs that it started.
    pub traces: BTreeSet<String>,
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Whose it is.
    pub kin: Kin,
    /// The run.
    pub run: String,
    /// The tool.
    pub tool: String,
    /// The agent that is to take over, for `sessions_spawn`.
    pub to_agent: Option<String>,
    /// The run of that agent.
    pub child_run: Option<String>,
    /// The line, from 0.
    pub line: usize,
}

/// A session that began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Whose it is.
    pub kin: Kin,
    /// The run, or the key of the session where no run is named.
    pub run: String,
    /// The agent.
    pub agent: String,
    /// The line, from 0.
    pub line: usize,
}

/// Tokens that were used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Whose they are.
    pub kin: Kin,
    /// Sent.
    pub input: u64,
    /// Received.
    pub output: u64,
    /// Both.
    pub total: u64,
    /// The line, from 0.
    pub line: usize,
}

impl GatewayLog {
    /// Reads what a log says about a run.
    pub fn of(answer: &LogAnswer, run: &str) -> GatewayLog {
        GatewayLog::read(&answer.lines.text, run, answer.session.as_deref())
    }

    /// Reads what a text says about a run, which may be known by the key of its session, too. An empty id stands for every
    /// run.
    pub fn read(text: &str, run: &str, key: Option<&str>) -> GatewayLog {
        let lines: Vec<Line> = text.lines().map(Line::read).collect();
        let mut lineage = Lineage::of(run, key);
        // Not lazily: each line may say more.
        while lines.iter().fold(false, |is_new, line| lineage.learn(line) | is_new) {}
        let mut log = GatewayLog::default();
        let (mut children, mut done) = (BTreeSet::new(), BTreeSet::new());
        // The session of an agent is seen before its run.
        let delegates: BTreeSet<String> = lines
            .iter()
            .filter(|line| lineage.kin(line) == Some(Kin::Started))
            .filter_map(|line| Some(line.delegate()?.0.to_owned()))
            .collect();
        for (number, line) in lines.into_iter().enumerate() {
            let Some(kin) = lineage.kin(&line) else { continue };
            let is_done = line.events.contains(&Event::Done);
            match kin {
                // The id of a hook's run is another one than that of the run itself.
                Kin::Own => log.is_done |= is_done,
                Kin::Started => {
                    children.extend(line.run.clone());
                    done.extend(line.run.clone().filter(|_| is_done));
                }
            }
            log.take(line, kin, number);
        }
        // What an agent started may go on after it.
        children.extend(log.calls.iter().filter_map(|call| call.child_run.clone()));
        log.is_done &= children.is_subset(&done) && children.len() >= delegates.len();
        let spawned = log.calls.iter().filter(|call| call.tool == SPAWN && call.child_run.is_none()).count();
        log.unseen_children = spawned.saturating_sub(delegates.len());
        log.traces = lineage.traces().map(str::to_owned).collect();
        log
    }

    /// Returns the calls of the run itself.
    pub fn own_calls(&self) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(|call| call.kin == Kin::Own)
    }

    fn take(&mut self, line: Line, kin: Kin, number: usize) {
        if kin == Kin::Own {
            self.known.get_or_insert(number);
            self.is_detailed |= line.is_detailed;
        }
        if kin == Kin::Started
            && let Some((key, agent)) = line.delegate()
            && !self.sessions.iter().any(|session| session.run == key)
        {
            self.sessions.push(Session { kin, run: key.to_owned(), agent: agent.to_owned(), line: number });
        }
        let run = line.run.unwrap_or_default();
        for event in line.events {
            let run = run.clone();
            match event {
                Event::Call { tool, to_agent, child_run } => {
                    self.calls.push(Call { kin, run, tool, to_agent, child_run, line: number });
                }
                Event::Session { agent } => self.sessions.push(Session { kin, run, agent, line: number }),
                Event::Usage { input, output, total } => {
                    self.usages.push(Usage { kin, input, output, total, line: number });
                }
                Event::OtherProgram => self.other_program = self.other_program.or(Some(number)),
                Event::Done | Event::Dropped => {}
            }
        }
    }
}

#[cfg(test)]
mod tests;

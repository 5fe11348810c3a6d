//! The progress of a run and of the runs that it started, according to the log.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Call, RunRelation, SPAWN,
    line::{Event, Line, RunEnd},
};
use crate::evidence::LogGap;

/// Progress of a run and of the runs that it started.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Whether the lines are those of every run, each of which ends on its own.
    is_of_every_run: bool,
    /// The run itself. The id of a hook's run differs from that of the run itself.
    pub own: RunProgress,
    /// Runs that it started, by id.
    started: BTreeMap<String, RunProgress>,
    /// Keys of the sessions that it started: a session is logged before its run.
    delegates: BTreeSet<String>,
    /// Those of them that have done their work. The end of a run that failed is not logged otherwise.
    idle: BTreeSet<String>,
    /// Whether the gateway reports the ends of runs.
    has_ends: bool,
}

/// Progress of one run.
#[derive(Debug, Default)]
pub(super) struct RunProgress {
    /// Whether the gateway reports its end.
    has_end: bool,
    /// Whether its last attempt has ended.
    attempt_ended: bool,
    /// Whether it has ended for good.
    ended: bool,
    /// The reason why the last attempt failed.
    failed: Option<String>,
    /// The outcome, if the last line of the run has it.
    outcome: Option<Result<(), String>>,
}

impl Progress {
    /// Returns that of a run, or of every run.
    pub(super) fn of(is_of_every_run: bool) -> Progress {
        Progress { is_of_every_run, ..Progress::default() }
    }

    pub(super) fn take(&mut self, line: &Line, relation: RunRelation) {
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
    pub(super) fn is_done(&self, calls: &[Call]) -> bool {
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
    pub(super) fn gaps(&self, calls: &[Call]) -> Vec<LogGap> {
        let has_unbegun = self.has_ends && self.started.len() < self.delegates.len();
        let do_started_continue = has_unbegun || self.started.values().any(RunProgress::continues);
        let gaps = [
            (self.own.continues(), LogGap::Unended),
            (do_started_continue && !self.are_idle(), LogGap::ChildUnended),
            (self.has_ends && self.unseen(calls) > 0, LogGap::ChildUnseen),
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
            Event::Begun => (self.attempt_ended, self.failed) = (false, None),
            Event::Stopped(outcome) => self.failed = outcome.clone().err(),
            Event::Done(RunEnd::Attempt(outcome)) => {
                self.attempt_ended = true;
                self.failed = self.failed.take().or_else(|| outcome.clone().err());
            }
            Event::Done(RunEnd::Final(outcome)) => {
                self.ended = true;
                self.outcome = outcome.clone().or_else(|| self.outcome.take());
            }
            Event::Call { .. }
            | Event::CallEnded { .. }
            | Event::Unclear { .. }
            | Event::Session { .. }
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

    /// Returns the reason why it failed.
    pub(super) fn failure(&self) -> Option<String> {
        match &self.outcome {
            Some(outcome) => outcome.clone().err(),
            None => self.failed.clone(),
        }
    }
}

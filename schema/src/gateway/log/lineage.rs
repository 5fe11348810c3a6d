//! Decides which lines are about a run, and which are about the runs that it started.
//!
//! A gateway answers a webhook with an id that the run itself does not use: the line that reports the end of the hook's
//! run contains both the id and the session. A run that an agent started shares only the trace with its parent. So the
//! relations emerge line by line, in any order: [`Lineage::learn`] is called with all
//! lines until it learns nothing new.

use std::collections::BTreeSet;

use super::line::{Event, Line};
use crate::check::text::visible;

/// Known ids of a run, and of the runs that it started.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lineage {
    /// Whether to include every run.
    every: bool,
    own: Names,
    started: Names,
    traces: BTreeSet<String>,
    /// Spans in which these runs work.
    spans: BTreeSet<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Names {
    runs: BTreeSet<String>,
    sessions: BTreeSet<String>,
    keys: BTreeSet<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunRelation {
    /// The line is about the run itself.
    Own,
    /// The line is about a run that the run started.
    Started,
}

impl Lineage {
    /// Starts with the id of a run or of its session, and the key of its session if known. An empty id includes every
    /// run.
    pub fn of(run: &str, key: Option<&str>) -> Lineage {
        let name = || [run.to_owned()].into_iter().filter(|run| !run.is_empty()).collect();
        let keys = key.filter(|_| !run.is_empty()).map(str::to_owned).into_iter().collect();
        let own = Names { runs: name(), sessions: name(), keys };
        Lineage { every: run.is_empty(), own, ..Lineage::default() }
    }

    /// Starts with the ids of several runs and the keys of their sessions.
    pub fn of_runs(runs: BTreeSet<String>, keys: BTreeSet<String>) -> Lineage {
        Lineage { own: Names { sessions: runs.clone(), runs, keys }, ..Lineage::default() }
    }

    /// Collects the names in a line that belong to the runs. Returns whether any of them is new.
    pub fn learn(&mut self, line: &Line) -> bool {
        let mut is_new = false;
        if let Some((key, _)) = line.delegate()
            && line.trace.as_ref().is_some_and(|trace| self.traces.contains(trace))
            && !self.own.keys.contains(key)
        {
            is_new |= self.started.keys.insert(key.to_owned());
        }
        // A session may be that of several runs, so only the span tells that a run was started by one of these.
        let is_below = |span: &String| self.spans.contains(span) && line.span.as_ref() != Some(span);
        let is_child = line.parent_run.as_ref().is_some_and(|parent| self.has_run(parent))
            || (line.events.contains(&Event::Begun) && line.parent_span.as_ref().is_some_and(is_below));
        if let Some(run) = line.run.as_ref().filter(|run| is_child && !self.own.runs.contains(*run)) {
            is_new |= self.started.runs.insert(run.clone());
        }
        let Some(relation) = self.relation_by_name(line) else { return is_new };
        let names = match relation {
            RunRelation::Own => &mut self.own,
            RunRelation::Started => &mut self.started,
        };
        is_new |= names.learn(line);
        is_new |= line.trace.as_ref().is_some_and(|trace| self.traces.insert(trace.clone()));
        let is_inside = |event: &Event| matches!(event, Event::Begun | Event::Call { .. });
        if let Some(span) = line.span.as_ref().filter(|_| line.has_end && line.events.iter().any(is_inside)) {
            is_new |= self.spans.insert(span.clone());
        }
        if let Some(key) = line.child_key.as_ref().filter(|key| !self.own.keys.contains(*key)) {
            is_new |= self.started.keys.insert(key.clone());
        }
        let children = line.events.iter().filter_map(Event::child_run);
        for child in children.filter(|child| !self.own.runs.contains(*child)) {
            is_new |= self.started.runs.insert(child.clone());
        }
        is_new
    }

    /// Returns the relation of a line to the run. `None` if it is about another run.
    pub fn relation(&self, line: &Line) -> Option<RunRelation> {
        let is_of_any = self.every && (line.run.is_some() || line.delegate().is_some());
        self.relation_by_name(line).or_else(|| is_of_any.then_some(RunRelation::Own))
    }

    pub(super) fn is_of_every_run(&self) -> bool {
        self.every
    }

    /// Returns whether a line that names no run itself contains the id of one of these.
    pub fn is_mentioned_in(&self, line: &Line, text: &str) -> bool {
        line.run.is_none() && (self.is_named_in(text) || (self.every && line.has_unclear()))
    }

    /// Returns whether a line of another run contains the id of one of these, so that one may have started the other.
    pub fn is_named_by_another(&self, line: &Line, text: &str) -> bool {
        line.run.is_some() && self.is_named_in(text)
    }

    fn is_named_in(&self, text: &str) -> bool {
        let text = visible(text);
        let mut runs = self.own.runs.iter().chain(&self.started.runs).filter(|run| !is_plain_number(run));
        runs.any(|run| has_word(&text, run))
    }

    /// Returns the names to search for: a line without any of them is about another run. `None` if every line may be
    /// about the run.
    pub fn needles(&self) -> Option<impl Iterator<Item = &str>> {
        let names = self.own.all().chain(self.started.all()).chain(&self.traces);
        (!self.every).then(|| names.map(String::as_str))
    }

    /// Returns the traces of the run and of the runs that it started.
    pub fn traces(&self) -> impl Iterator<Item = &str> {
        self.traces.iter().map(String::as_str)
    }

    fn has_run(&self, run: &String) -> bool {
        self.own.runs.contains(run) || self.started.runs.contains(run)
    }

    fn relation_by_name(&self, line: &Line) -> Option<RunRelation> {
        match (self.own.has(line), self.started.has(line)) {
            (true, _) => Some(RunRelation::Own),
            (false, true) => Some(RunRelation::Started),
            (false, false) => None,
        }
    }
}

impl Names {
    fn all(&self) -> impl Iterator<Item = &String> {
        self.runs.iter().chain(&self.sessions).chain(&self.keys)
    }

    fn has(&self, line: &Line) -> bool {
        line.run.as_ref().is_some_and(|run| self.runs.contains(run))
            || line.session.as_ref().is_some_and(|session| self.sessions.contains(session))
            || line.keys.iter().any(|key| self.keys.contains(key))
    }

    /// Adds the names in a line. A session may have several runs, so its names identify only that run, unless the
    /// session was created for it.
    fn learn(&mut self, line: &Line) -> bool {
        let mut is_new = line.run.as_ref().is_some_and(|run| self.runs.insert(run.clone()));
        let is_by_key = line.keys.iter().any(|key| self.keys.contains(key));
        if let Some(session) = line.session.as_ref().filter(|_| is_by_key || line.has_own_session) {
            is_new |= self.sessions.insert(session.clone());
        }
        if line.has_own_session {
            for key in &line.keys {
                is_new |= self.keys.insert(key.clone());
            }
        }
        is_new
    }
}

fn is_plain_number(text: &str) -> bool {
    text.len() < 6 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether a text contains a word, and not only as a part of a longer one.
pub(super) fn has_word(text: &str, word: &str) -> bool {
    let continues = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-');
    !word.is_empty()
        && text.match_indices(word).any(|(at, _)| {
            !text[..at].chars().next_back().is_some_and(continues)
                && !text[at + word.len()..].chars().next().is_some_and(continues)
        })
}

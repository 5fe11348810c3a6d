//! Which lines are about a run, and which about the runs that it started.
//!
//! A gateway answers a webhook with an id that the run itself does not use: the line that says that the hook's run is done
//! names both the id and the session. A run that an agent started has nothing in common with its parent but the trace. So
//! what belongs together comes out line by line, and not in the order of the lines: [`Lineage::learn`] is called with all
//! of them until it has learned nothing more.

use std::collections::BTreeSet;

use super::line::{Event, Line};

/// What is known of a run, and of the runs that it started.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lineage {
    /// Whether every run counts.
    every: bool,
    own: Names,
    started: Names,
    /// The traces of all of them.
    traces: BTreeSet<String>,
}

/// The names that a run has.
#[derive(Clone, Debug, Default, PartialEq)]
struct Names {
    runs: BTreeSet<String>,
    sessions: BTreeSet<String>,
    keys: BTreeSet<String>,
}

/// What a line is to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kin {
    /// It is about the run itself.
    Own,
    /// It is about a run that the run started.
    Started,
}

impl Lineage {
    /// Returns a run by its id, or by that of its session, and by the key of its session where that is known. With an
    /// empty id, every run.
    pub fn of(run: &str, key: Option<&str>) -> Lineage {
        let name = || [run.to_owned()].into_iter().filter(|run| !run.is_empty()).collect();
        let keys = key.filter(|_| !run.is_empty()).map(str::to_owned).into_iter().collect();
        let own = Names { runs: name(), sessions: name(), keys };
        Lineage { every: run.is_empty(), own, ..Lineage::default() }
    }

    /// Takes from a line what it says about who belongs together. Returns whether that was new.
    pub fn learn(&mut self, line: &Line) -> bool {
        let mut is_new = false;
        if let Some((key, _)) = line.delegate()
            && line.trace.as_ref().is_some_and(|trace| self.traces.contains(trace))
            && !self.own.keys.contains(key)
        {
            is_new |= self.started.keys.insert(key.to_owned());
        }
        let Some(kin) = self.kin_by_name(line) else { return is_new };
        let names = match kin {
            Kin::Own => &mut self.own,
            Kin::Started => &mut self.started,
        };
        is_new |= names.learn(line);
        is_new |= line.trace.as_ref().is_some_and(|trace| self.traces.insert(trace.clone()));
        let children = line.events.iter().filter_map(|event| match event {
            Event::Call { child_run, .. } => child_run.as_ref(),
            Event::Session { .. } | Event::Usage { .. } | Event::OtherProgram | Event::Done | Event::Dropped => None,
        });
        for child in children.filter(|child| !self.own.runs.contains(*child)) {
            is_new |= self.started.runs.insert(child.clone());
        }
        is_new
    }

    /// Returns what a line is to the run. `None`: it is about others.
    pub fn kin(&self, line: &Line) -> Option<Kin> {
        let is_of_any = self.every && line.run.is_some();
        self.kin_by_name(line).or_else(|| is_of_any.then_some(Kin::Own))
    }

    /// Returns the names that are searched for: a line without any of them is about others. `None`: every line may be
    /// about the run.
    pub fn needles(&self) -> Option<impl Iterator<Item = &str>> {
        let names = self.own.all().chain(self.started.all()).chain(&self.traces);
        (!self.every).then(|| names.map(String::as_str))
    }

    /// Returns the traces of the run, and of those that it started.
    pub fn traces(&self) -> impl Iterator<Item = &str> {
        self.traces.iter().map(String::as_str)
    }

    fn kin_by_name(&self, line: &Line) -> Option<Kin> {
        match (self.own.has(line), self.started.has(line)) {
            (true, _) => Some(Kin::Own),
            (false, true) => Some(Kin::Started),
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

    /// A session has its runs. That a run has a session says nothing about the other runs of it, unless it was made for this
    /// one.
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

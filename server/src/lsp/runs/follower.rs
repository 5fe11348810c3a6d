//! Follows a run by its events: what the client is shown, and which results change.

use std::{collections::BTreeMap, sync::Arc, time::Instant};

use serde_json::{Value, json};
use speclens_runner::{
    event::{AbsenceKind, Event, RunResult},
    evidence_store::AttemptRef,
    report::plain,
};
use speclens_schema::{evidence::RunErrorKind, verdict::Status, words::plural};
use tokio::sync::oneshot;
use tower_lsp_server::gen_lsp_types as lsp;

use super::plan::{End, Operation, Plan};

/// The state of a run that has begun.
pub(in super::super) struct Follower {
    pub(in super::super) plan: Arc<Plan>,
    /// The names of its tests, with the number of attempts that have not ended.
    pub(in super::super) left: BTreeMap<String, usize>,
    pub(in super::super) shows_progress: bool,
    pub(in super::super) ended: Option<oneshot::Sender<End>>,
    attempts: usize,
    done: usize,
    passed: usize,
    /// Number of attempts that were cancelled, before or after they began.
    cancelled: usize,
    /// The result of the attempt that ended last.
    last: Option<(usize, Arc<RunResult>)>,
    /// The cases of attempts that began and have not ended.
    under_way: Vec<usize>,
    /// Whether a report could not be written, which is reported once.
    lacks_report: bool,
    began: Instant,
    /// What it does now, for progress.
    doing: String,
}

#[derive(Debug, Default)]
pub(in super::super) struct Shown {
    pub progress: Option<Value>,
    pub log: Option<String>,
    pub message: Option<(lsp::MessageType, String)>,
    pub has_changed: bool,
    /// Whether the files of the suite are others than when the run was planned.
    pub has_other_files: bool,
}

impl Follower {
    pub(super) fn new(plan: Arc<Plan>) -> Follower {
        Follower {
            left: plan.attempts(),
            plan,
            shows_progress: false,
            ended: None,
            attempts: 0,
            done: 0,
            passed: 0,
            cancelled: 0,
            last: None,
            under_way: Vec::new(),
            lacks_report: false,
            began: Instant::now(),
            doing: String::new(),
        }
    }

    pub(in super::super) fn event(&mut self, event: Event) -> Shown {
        let plan = Arc::clone(&self.plan);
        match event {
            Event::Started { attempts } => {
                self.attempts = attempts;
                self.doing = match self.left.len() {
                    1 => plan.cases.iter().next().map(|case| plan.shown_name(*case)).unwrap_or_default(),
                    count => plural(count, "test"),
                };
                let (title, message) = ("speclens: running", &self.doing);
                let begin =
                    json!({"kind": "begin", "title": title, "message": message, "cancellable": true, "percentage": 0});
                Shown { progress: Some(begin), has_changed: true, ..Shown::default() }
            }
            Event::AttemptStarted { case, subject, .. } => {
                self.under_way.push(case);
                self.doing = format!("{}/{} {}", self.done, self.attempts, plan.shown_name(case));
                plan.results.started(&plan.suite.cases[case].name, &subject);
                Shown { has_changed: true, ..Shown::default() }
            }
            // The state of the test is the same as before.
            Event::TurnStarted { case, subject, turn, turns, .. } => {
                let name = plan.shown_name(case);
                let by = if self.attempts > 1 { format!(" by {subject}") } else { String::new() };
                self.doing = format!("{}/{} {name}{by}, turn {turn} of {turns}", self.done, self.attempts);
                self.tick()
            }
            Event::Waiting { case } => {
                let name = plan.shown_name(case);
                self.doing = format!("{}/{} {name} is waiting for another run", self.done, self.attempts);
                self.tick()
            }
            Event::AttemptFinished { case, run } => self.finished(case, run),
            Event::Note { message } => {
                let message = plain::block(&plan.prepared.secrets().mask(&message));
                Shown { log: Some(message), has_changed: true, ..Shown::default() }
            }
            Event::Finished(_) => Shown::default(),
        }
    }

    /// Returns what is shown from time to time: what the run does, and how long it has taken so far.
    pub(in super::super) fn tick(&self) -> Shown {
        let seconds = self.began.elapsed().as_secs();
        let elapsed = if seconds > 0 { format!(", {}:{:02}", seconds / 60, seconds % 60) } else { String::new() };
        let message = format!("{}{elapsed}", self.doing);
        Shown { progress: Some(json!({"kind": "report", "message": message})), ..Shown::default() }
    }

    fn finished(&mut self, index: usize, run: Arc<RunResult>) -> Shown {
        let plan = Arc::clone(&self.plan);
        let case = &plan.suite.cases[index];
        if let Some(left) = self.left.get_mut(&case.name) {
            *left = left.saturating_sub(1);
            if *left == 0 {
                self.left.remove(&case.name);
            }
        }
        if run.is_left_out() {
            self.attempts -= 1;
            return Shown { has_changed: true, ..Shown::default() };
        }
        let cancelled = was_cancelled(&run);
        self.done += usize::from(!cancelled);
        self.cancelled += usize::from(cancelled);
        self.passed += usize::from(matches!(run.status, Status::Pass | Status::Warn));
        // A cancelled attempt that never began does not end another running one.
        if let Some(begun) = self.under_way.iter().position(|begun| *begun == index) {
            self.under_way.swap_remove(begun);
            plan.results.stopped(&case.name);
            // The recording is unchanged if only a question was cancelled.
            if cancelled && self.acts() {
                plan.results.was_cancelled(&case.name);
            }
        }
        let attempt_ref = AttemptRef { suite: &plan.suite, case, subject: &run.subject, repeat: run.repeat };
        // The command may name other files than when the run was planned.
        let has_other_files = run.key.as_ref().is_some_and(|key| *key != attempt_ref.key());
        if let Some(key) = &run.key {
            plan.results.finished(&case.name, key);
        }
        self.last = Some((index, run));
        let message = format!("{}/{} {}", self.done, self.attempts, plan.shown_name(index));
        let percentage = self.done * 100 / self.attempts.max(1);
        let progress = json!({"kind": "report", "message": message, "percentage": percentage});
        Shown { progress: (!cancelled).then_some(progress), has_changed: true, has_other_files, ..Shown::default() }
    }

    pub(in super::super) fn lacks_first_report(&mut self) -> bool {
        !std::mem::replace(&mut self.lacks_report, true)
    }

    /// Ends the run, completely or not. `is_current`: its text is still that of the document.
    pub(in super::super) fn end(&mut self, is_current: bool) -> Shown {
        for case in std::mem::take(&mut self.under_way) {
            let Some(case) = self.plan.suite.cases.get(case) else { continue };
            self.plan.results.stopped(&case.name);
            if self.acts() {
                self.plan.results.was_cancelled(&case.name);
            }
        }
        let mut message = match self.cancelled {
            0 => format!("{} of {} passed", self.passed, self.attempts),
            count => format!("cancelled: {} of {} passed, {count} unfinished", self.passed, self.attempts),
        };
        let left_out = self.plan.wanted - self.plan.cases.len();
        if left_out > 0 && self.attempts > 1 {
            message.push_str(&format!(", {left_out} not run"));
        }
        // Without any action, there is nothing for a lens to show.
        let is_seen = |run: &RunResult| run.key.is_some() || run.absence.is_none() || was_cancelled(run);
        let is_in_a_lens = self.attempts != 1 || self.last.as_ref().is_none_or(|(_, run)| is_seen(run));
        let is_shown = self.plan.operation.has_results() && !(self.plan.shows_lenses && is_in_a_lens);
        Shown {
            message: is_shown.then(|| self.result(&message, is_current)),
            progress: Some(json!({"kind": "end", "message": message})),
            has_changed: true,
            ..Shown::default()
        }
    }

    /// Whether it runs the tests, so that earlier results are obsolete.
    fn acts(&self) -> bool {
        match self.plan.operation {
            Operation::Run { .. } => true,
            Operation::Ask | Operation::Preconditions | Operation::Judge => false,
        }
    }

    /// Returns the result of the run as a message. `counts` has the numbers of several attempts.
    fn result(&self, counts: &str, is_current: bool) -> (lsp::MessageType, String) {
        let kind = match self.passed == self.attempts {
            true => lsp::MessageType::Info,
            false => lsp::MessageType::Warning,
        };
        let message = match &self.last {
            Some((case, run)) if self.attempts == 1 => {
                let name = self.plan.shown_name(*case);
                match run.status {
                    Status::Pass | Status::Warn => format!("`{name}` passed"),
                    Status::Fail => format!("`{name}` failed"),
                    Status::Skip => format!("`{name}` was skipped"),
                    Status::Unknown if was_cancelled(run) => format!("`{name}` was cancelled"),
                    Status::Unknown => format!("the result of `{name}` is unknown"),
                    Status::Error => match &run.absence {
                        Some(absence) => format!("`{name}` ended with an error: {}", absence.message),
                        None => format!("`{name}` failed"),
                    },
                }
            }
            Some(_) | None => counts.to_owned(),
        };
        // The diagnostics are those of the present text.
        match is_current {
            true => (kind, message),
            false => (kind, format!("{message}, with the text as it was when the run began")),
        }
    }
}

fn was_cancelled(run: &RunResult) -> bool {
    run.absence.as_ref().is_some_and(|absence| absence.kind == AbsenceKind::RunError(RunErrorKind::Cancelled))
}

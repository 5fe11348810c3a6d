//! What happens in a run, as the client and the results of the suite hear of it.

use std::sync::{Arc, PoisonError};

use speclens_runner::{
    book::Asked,
    event::{Event, RunResult},
};
use speclens_schema::verdict::Status;
use tower_lsp_server::gen_lsp_types as lsp;

use super::Planned;
use crate::results;

/// Passes on the events of a run.
pub(super) struct Listener<'p> {
    planned: &'p Planned,
    shows_progress: bool,
    attempts: usize,
    done: usize,
    passed: usize,
    /// How many attempts were cancelled, before or after they began.
    cancelled: usize,
    /// What became of the attempt that ended last.
    last: Option<(usize, Arc<RunResult>)>,
    /// The cases of attempts that began and have not ended.
    under_way: Vec<usize>,
}

impl<'p> Listener<'p> {
    pub(super) fn of(planned: &'p Planned, shows_progress: bool) -> Listener<'p> {
        Listener {
            planned,
            shows_progress,
            attempts: 0,
            done: 0,
            passed: 0,
            cancelled: 0,
            last: None,
            under_way: Vec::new(),
        }
    }

    pub(super) async fn event(&mut self, event: Event) {
        match event {
            Event::Started { attempts } => {
                self.attempts = attempts;
                self.report(lsp_begin(attempts)).await;
            }
            Event::AttemptStarted { case, subject, .. } => {
                let name = &self.planned.suite.cases[case].name;
                self.under_way.push(case);
                self.with_results(|results| results.started(name, &subject));
            }
            Event::TurnStarted { case, subject, turn, turns, .. } => {
                let name = &self.planned.suite.cases[case].name;
                let by = if self.attempts > 1 { format!(" by {subject}") } else { String::new() };
                let message = format!("{}/{} {name}{by}, turn {turn} of {turns}", self.done, self.attempts);
                self.report(serde_json::json!({"kind": "report", "message": message})).await;
                // The state of the test is the same as before.
                return;
            }
            Event::AttemptFinished { case, run } => {
                if run.is_left_out() {
                    self.attempts -= 1;
                    self.ended(case);
                    return;
                }
                let cancelled = was_cancelled(&run);
                self.done += usize::from(!cancelled);
                self.cancelled += usize::from(cancelled);
                self.passed += usize::from(matches!(run.status, Status::Pass | Status::Warn));
                let name = &self.planned.suite.cases[case].name;
                self.ended(case);
                // One that was cancelled before it began does not end the running of another.
                if let Some(begun) = self.under_way.iter().position(|begun| *begun == case) {
                    self.under_way.swap_remove(begun);
                    self.with_results(|results| {
                        results.stopped(name);
                        // What is recorded stays as it was where only a question was cancelled.
                        if cancelled && self.planned.acts() {
                            results.was_cancelled(name);
                        }
                    });
                }
                self.keep(case, &run);
                self.last = Some((case, Arc::clone(&run)));
                if !cancelled {
                    let message = format!("{}/{} {name}", self.done, self.attempts);
                    let percentage = self.done * 100 / self.attempts.max(1);
                    let report = serde_json::json!({"kind": "report", "message": message, "percentage": percentage});
                    self.report(report).await;
                }
            }
            Event::Waiting { case } => {
                let name = &self.planned.suite.cases[case].name;
                let message = format!("{}/{} {name} waits for another run", self.done, self.attempts);
                self.report(serde_json::json!({"kind": "report", "message": message})).await;
                return;
            }
            Event::Note { message } => {
                self.planned.session.client.log_message(lsp::MessageType::Warning, message).await;
            }
            Event::Finished(_) => return,
        }
        self.planned.session.analyse_suite(&self.planned.snapshot.results);
    }

    /// An attempt of a case does not run any longer.
    fn ended(&self, case: usize) {
        if let Some(running) = self.planned.session.state().runs.get_mut(&self.planned.number) {
            running.ended(&self.planned.suite.cases[case].name);
        }
    }

    fn keep(&self, case: usize, run: &RunResult) {
        let case = &self.planned.suite.cases[case];
        let Some(key) = run.key.as_ref() else { return };
        let asked = Asked { suite: &self.planned.suite, case, subject: &run.subject, repeat: run.repeat };
        if *key != asked.key() {
            // The files that the command names are others than those that were seen when the run was planned.
            let mut state = self.planned.session.state();
            let results = &self.planned.snapshot.results;
            for open in state.open.values_mut().filter(|open| Arc::ptr_eq(&open.results, results)) {
                open.place.files.forget();
                open.analyzer.files_changed();
            }
        }
        self.with_results(|results| results.finished(&case.name, key));
    }

    fn with_results(&self, change: impl FnOnce(&mut results::Results)) {
        change(&mut self.planned.snapshot.results.lock().unwrap_or_else(PoisonError::into_inner));
    }

    pub(super) async fn end(&self, left_out: usize) {
        // Attempts that were cut off do not run any longer.
        for case in &self.under_way {
            let name = &self.planned.suite.cases[*case].name;
            self.with_results(|results| {
                results.stopped(name);
                if self.planned.acts() {
                    results.was_cancelled(name);
                }
            });
        }
        let mut message = match self.cancelled {
            0 => format!("{} of {} passed", self.passed, self.attempts),
            count => format!("cancelled: {} of {} passed, {count} not finished", self.passed, self.attempts),
        };
        if left_out > 0 && self.attempts > 1 {
            message.push_str(&format!(", {left_out} left out"));
        }
        // Where nothing was done, nothing is known that a lens could show.
        let is_seen = |run: &RunResult| run.key.is_some() || run.absence.is_none() || was_cancelled(run);
        let is_in_a_lens = self.attempts != 1 || self.last.as_ref().is_none_or(|(_, run)| is_seen(run));
        if self.planned.deed.has_results() && !(self.planned.snapshot.abilities.shows_lenses && is_in_a_lens) {
            self.show_result(&message);
        }
        self.report(serde_json::json!({"kind": "end", "message": message})).await;
    }

    /// Says what came of the run where no lens shows it. `counts` says so of several attempts.
    fn show_result(&self, counts: &str) {
        let kind = match self.passed == self.attempts {
            true => lsp::MessageType::Info,
            false => lsp::MessageType::Warning,
        };
        let message = match &self.last {
            Some((case, run)) if self.attempts == 1 => {
                let name = &self.planned.suite.cases[*case].name;
                match run.status {
                    Status::Pass | Status::Warn => format!("`{name}` passed"),
                    Status::Fail => format!("`{name}` failed"),
                    Status::Skip => format!("`{name}` was skipped"),
                    Status::Unknown if was_cancelled(run) => format!("`{name}` was cancelled"),
                    Status::Unknown => format!("`{name}` is unknown"),
                    Status::Error => match &run.absence {
                        Some(absence) => format!("the run of `{name}` broke: {}", absence.message),
                        None => format!("`{name}` failed"),
                    },
                }
            }
            Some(_) | None => counts.to_owned(),
        };
        self.planned.session.show_message(kind, &message);
    }

    async fn report(&self, value: serde_json::Value) {
        if self.shows_progress {
            let params = lsp::ProgressParams { token: self.planned.progress.clone(), value };
            self.planned.session.client.send_notification::<lsp::ProgressNotification>(params).await;
        }
    }
}

fn lsp_begin(attempts: usize) -> serde_json::Value {
    let message = if attempts == 1 { "1 test".to_owned() } else { format!("{attempts} attempts") };
    serde_json::json!({"kind": "begin", "title": "speclens", "message": message, "cancellable": true, "percentage": 0})
}

fn was_cancelled(run: &RunResult) -> bool {
    use speclens_runner::event::AbsenceKind;
    use speclens_schema::evidence::RunErrorKind;
    run.absence.as_ref().is_some_and(|absence| absence.kind == AbsenceKind::Broke(RunErrorKind::Cancelled))
}

//! Reports the events of a run to the client, and stores its results.

use std::sync::{Arc, PoisonError};

use speclens_runner::{
    event::{Event, RunResult},
    evidence_store::AttemptRef,
    report::plain,
};
use speclens_schema::verdict::Status;
use tower_lsp_server::gen_lsp_types as lsp;

use super::Planned;
use crate::results;

/// Forwards the events of a run.
pub(super) struct Listener<'p> {
    planned: &'p Planned,
    shows_progress: bool,
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
}

impl Drop for Listener<'_> {
    fn drop(&mut self) {
        // Forwarding an event may have panicked.
        self.clear();
    }
}

impl<'p> Listener<'p> {
    /// Marks interrupted attempts as not running.
    fn clear(&mut self) {
        for case in std::mem::take(&mut self.under_way) {
            let Some(case) = self.planned.suite.cases.get(case) else { continue };
            self.with_results(|results| {
                results.stopped(&case.name);
                if self.planned.acts() {
                    results.was_cancelled(&case.name);
                }
            });
        }
    }

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
            lacks_report: false,
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
                let name = self.shown_name(case);
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
                // A cancelled attempt that never began does not end another running one.
                if let Some(begun) = self.under_way.iter().position(|begun| *begun == case) {
                    self.under_way.swap_remove(begun);
                    self.with_results(|results| {
                        results.stopped(name);
                        // The recording is unchanged if only a question was cancelled.
                        if cancelled && self.planned.acts() {
                            results.was_cancelled(name);
                        }
                    });
                }
                self.keep(case, &run);
                self.write_report(case, &run).await;
                self.last = Some((case, Arc::clone(&run)));
                if !cancelled {
                    let message = format!("{}/{} {}", self.done, self.attempts, self.shown_name(case));
                    let percentage = self.done * 100 / self.attempts.max(1);
                    let report = serde_json::json!({"kind": "report", "message": message, "percentage": percentage});
                    self.report(report).await;
                }
            }
            Event::Waiting { case } => {
                let name = self.shown_name(case);
                let message = format!("{}/{} {name} is waiting for another run", self.done, self.attempts);
                self.report(serde_json::json!({"kind": "report", "message": message})).await;
                return;
            }
            Event::Note { message } => {
                let message = plain::block(&self.planned.prepared.secrets().mask(&message));
                self.planned.session.client.log_message(lsp::MessageType::Warning, message).await;
            }
            Event::Finished(_) => return,
        }
        self.planned.session.analyze_suite(&self.planned.snapshot.results);
    }

    /// Returns the name of a case for a message: on one line, without secrets.
    fn shown_name(&self, case: usize) -> String {
        plain::line(&self.planned.prepared.secrets().mask(&self.planned.suite.cases[case].name))
    }

    /// Marks an attempt of a case as ended.
    fn ended(&self, case: usize) {
        if let Some(running) = self.planned.session.state().runs.get_mut(&self.planned.number) {
            running.ended(&self.planned.suite.cases[case].name);
        }
    }

    fn keep(&self, case: usize, run: &RunResult) {
        let case = &self.planned.suite.cases[case];
        let Some(key) = run.key.as_ref() else { return };
        let attempt_ref = AttemptRef { suite: &self.planned.suite, case, subject: &run.subject, repeat: run.repeat };
        if *key != attempt_ref.key() {
            // The command may name other files than when the run was planned.
            let mut state = self.planned.session.state();
            let results = &self.planned.snapshot.results;
            for open in state.open.values_mut().filter(|open| Arc::ptr_eq(&open.results, results)) {
                open.files_changed();
            }
        }
        self.with_results(|results| results.finished(&case.name, key));
    }

    /// Writes the ClawSpec report of a run, if the settings want it.
    async fn write_report(&mut self, case: usize, run: &Arc<RunResult>) {
        let Some(reports) = self.planned.reports.clone() else { return };
        let (run, now) = (Arc::clone(run), self.planned.session.clock.now());
        let written = tokio::task::spawn_blocking(move || reports.write(case, &run, &now).map(drop)).await;
        if let Ok(Err(error)) = written
            && !std::mem::replace(&mut self.lacks_report, true)
        {
            self.planned.session.show_message(lsp::MessageType::Warning, &format!("{error:#}"));
        }
    }

    fn with_results(&self, change: impl FnOnce(&mut results::Results)) {
        change(&mut self.planned.snapshot.results.lock().unwrap_or_else(PoisonError::into_inner));
    }

    pub(super) async fn end(&mut self, left_out: usize) {
        self.clear();
        let mut message = match self.cancelled {
            0 => format!("{} of {} passed", self.passed, self.attempts),
            count => format!("cancelled: {} of {} passed, {count} unfinished", self.passed, self.attempts),
        };
        if left_out > 0 && self.attempts > 1 {
            message.push_str(&format!(", {left_out} not run"));
        }
        // Without any action, there is nothing for a lens to show.
        let is_seen = |run: &RunResult| run.key.is_some() || run.absence.is_none() || was_cancelled(run);
        let is_in_a_lens = self.attempts != 1 || self.last.as_ref().is_none_or(|(_, run)| is_seen(run));
        if self.planned.operation.has_results() && !(self.planned.snapshot.abilities.shows_lenses && is_in_a_lens) {
            self.show_result(&message);
        }
        self.report(serde_json::json!({"kind": "end", "message": message})).await;
    }

    /// Shows the result of the run if no lens shows it. `counts` has the numbers of several attempts.
    fn show_result(&self, counts: &str) {
        let kind = match self.passed == self.attempts {
            true => lsp::MessageType::Info,
            false => lsp::MessageType::Warning,
        };
        let message = match &self.last {
            Some((case, run)) if self.attempts == 1 => {
                let name = self.shown_name(*case);
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
        let Planned { session, uri, snapshot, .. } = self.planned;
        let is_current = session.snapshot(uri).is_some_and(|now| now.version == snapshot.version);
        let message =
            if is_current { message } else { format!("{message}, with the text as it was when the run began") };
        session.show_message(kind, &message);
    }

    async fn report(&self, value: serde_json::Value) {
        if self.shows_progress {
            self.planned.report_progress(value).await;
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
    run.absence.as_ref().is_some_and(|absence| absence.kind == AbsenceKind::RunError(RunErrorKind::Cancelled))
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, path::Path};

    use speclens_runner::clock::Clock;
    use speclens_schema::{mask::Secrets, suite::Subject};
    use tokio_util::sync::CancellationToken;
    use tower_lsp_server::LspService;

    use super::*;
    use crate::{
        ide::lens::CaseState,
        lsp::{
            backend::Backend,
            changes::About,
            convert, methods,
            runs::{Operation, under_way},
            session::{Running, Session},
            transport::Outbox,
        },
        threads::Pool,
    };

    /// Returns a session with an open document of one test, and a planned run of it.
    async fn planned(path: &Path, text: &str) -> (Arc<Session>, Arc<Planned>) {
        std::fs::write(path, text).unwrap();
        let mut session = None;
        let pool = |name| Pool::start(name, 1).unwrap();
        let service = LspService::build_with_lifecycle_methods(|client| {
            let clock = Clock::from_environment().unwrap();
            let shared = Arc::new(Session::new(
                client,
                Outbox::new(std::io::sink()).unwrap().0,
                clock,
                pool("request"),
                pool("patient"),
            ));
            session = Some(Arc::clone(&shared));
            Backend::new(shared)
        });
        drop(methods::register(service).finish());
        let session = session.unwrap();
        let changing = Arc::clone(&session);
        std::thread::spawn(move || changing.changes.make_until_stopped());
        let uri = convert::uri(path).unwrap().0;
        session.open(&uri, 1, text);
        let (looking, at) = (Arc::clone(&session), uri.clone());
        let snapshot =
            session.changes.look(About::Document(&uri), move || looking.snapshot(&at)).await.unwrap().unwrap();
        let workspace = snapshot.workspace();
        let suite = Arc::new(session.whole_suite(&snapshot, &workspace));
        let prepared = session.prepare(&uri, &snapshot, &workspace, &suite, None);
        let progress = lsp::ProgressToken::String("speclens/run/1".to_owned());
        let running = Running {
            cancel: CancellationToken::new(),
            token: progress.clone(),
            uri: uri.clone(),
            suite: snapshot.place.suite(&uri),
            whole: true,
            left: BTreeMap::from([("a".to_owned(), 1)]),
        };
        session.state().runs.insert(1, running);
        let planned = Planned {
            session: Arc::clone(&session),
            uri,
            snapshot,
            suite,
            prepared: prepared.unwrap(),
            number: 1,
            progress,
            left_out: 0,
            operation: Operation::Run { models: Vec::new() },
            reports: None,
        };
        (session, Arc::new(planned))
    }

    /// Returns the state that the editor shows for the only test.
    fn state(planned: &Planned) -> CaseState {
        let results = || planned.snapshot.results.lock().unwrap_or_else(PoisonError::into_inner);
        let query = results().query(&planned.uri, &planned.suite, &Secrets::none());
        let queried = query.run(&planned.suite);
        results().remember(queried)[0].known.state.clone()
    }

    #[tokio::test]
    async fn panic_while_a_run_is_followed_leaves_no_test_running() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().canonicalize().unwrap().join("kindlm.yaml");
        let (session, planned) =
            planned(&path, "kindlm: 1\nproject: p\nsuite: {name: s}\ntests:\n  - {name: a, command: echo}\n").await;
        let cancel = CancellationToken::new();
        let following = Arc::clone(&planned);
        let begun = |case| Event::AttemptStarted { case, subject: Subject::Command, repeat: 0 };
        let follow = async move {
            let mut listener = Listener::of(&following, false);
            listener.event(begun(0)).await;
            assert_eq!(state(&following), CaseState::Running);
            listener.event(begun(usize::MAX)).await;
        };
        planned.supervise(&cancel, follow).await;
        assert_ne!(state(&planned), CaseState::Running);
        assert_eq!((under_way(&session), cancel.is_cancelled()), (Vec::new(), true));
        session.stop();
    }
}

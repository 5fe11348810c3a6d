//! Runs that the editor starts: from a lens, an action, or a command. A run goes on by itself; its
//! progress and its results are told as they come.

use std::{
    collections::BTreeSet,
    fmt,
    sync::{Arc, PoisonError},
    time::Duration,
};

use speclens_runner::{
    event::{Event, RunResult},
    run::{Job, Mode, Options, run},
};
use speclens_schema::{
    suite::{Action, Suite},
    verdict::Status,
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tower_lsp_server::gen_lsp_types as lsp;

use super::session::{Running, Session, Snapshot};
use crate::workspace;

/// A client that has not answered by then is not waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a run is asked for.
#[derive(Clone, Debug)]
pub(super) enum Wanted {
    /// One test, by its name.
    Test(String),
    /// Every test of the file.
    File,
}

/// Why a run did not begin.
#[derive(Debug)]
pub(super) enum Refused {
    /// The workspace is not trusted; the directory that would have to be.
    Untrusted(std::path::PathBuf),
    /// Something else, in one sentence.
    Because(String),
}

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Untrusted(directory) => write!(formatter, "{} is not trusted", directory.display()),
            Refused::Because(reason) => formatter.write_str(reason),
        }
    }
}

/// Begins a run of a document as it stands in the editor, saved or not. Returns its number.
pub(super) fn start(session: &Arc<Session>, uri: &str, wanted: &Wanted) -> Result<u32, Refused> {
    let because = |message: &str| Refused::Because(message.to_owned());
    if let Some(open) = session.state().open.get_mut(uri) {
        // A script may have changed without anybody telling: what is recorded must be of what runs now.
        open.place.files.forget();
        open.analyzer.files_changed();
    }
    let Some(snapshot) = session.snapshot(uri) else {
        return Err(because("this file is not open, or is no suite: open it first"));
    };
    if snapshot.place.dialect().is_none() {
        return Err(because("this file holds settings: there is nothing to run"));
    }
    if !snapshot.place.can_run() {
        return Err(Refused::Because(match snapshot.place.path {
            None => "this document was never saved: save it, then run it".to_owned(),
            Some(_) => format!("running a {} is not supported yet", snapshot.place.file.title()),
        }));
    }
    if !session.may_run_in(&snapshot.place.directory) {
        return Err(Refused::Untrusted(snapshot.place.directory.clone()));
    }
    let workspace = workspace::settings_for(&snapshot.place.settings);
    let problems = super::problems(&snapshot, &workspace);
    let files = snapshot.place.files.as_ref();
    let suite = Arc::new(snapshot.analyzer.suite(&snapshot.document, files, &workspace.settings, &problems));
    let cases = select(&suite, wanted).map_err(Refused::Because)?;
    let token = CancellationToken::new();
    let (number, progress) = {
        let mut state = session.state();
        if state.stopping {
            return Err(because("the server is about to end"));
        }
        let number = state.next_run;
        state.next_run += 1;
        let progress = lsp::ProgressToken::String(format!("speclens/run/{number}"));
        let results = Arc::clone(&snapshot.results);
        let tests = cases.iter().map(|case| suite.cases[*case].name.clone()).collect();
        let running = Running { cancel: token.clone(), token: progress.clone(), uri: uri.to_owned(), tests, results };
        state.runs.insert(number, running);
        (number, progress)
    };
    let planned = Planned { session: Arc::clone(session), uri: uri.to_owned(), snapshot, suite, number, progress };
    tokio::spawn(planned.perform(cases, token));
    Ok(number)
}

/// Cancels the runs that are chosen by their number and what they are. Returns how many.
pub(super) fn cancel(session: &Session, chosen: impl Fn(u32, &Running) -> bool) -> usize {
    let state = session.state();
    let runs = state.runs.iter().filter(|(number, run)| chosen(**number, run));
    runs.map(|(_, run)| run.cancel.cancel()).count()
}

/// Cancels the run whose progress the user dismissed.
pub(super) fn cancel_by_token(session: &Session, token: &lsp::ProgressToken) {
    session.state().runs.values().filter(|run| run.token == *token).for_each(|run| run.cancel.cancel());
}

fn select(suite: &Suite, wanted: &Wanted) -> Result<BTreeSet<usize>, String> {
    match wanted {
        Wanted::Test(name) => {
            let Some(index) = suite.cases.iter().position(|case| case.name == *name) else {
                return Err(format!("there is no test `{name}` in this file"));
            };
            if !suite.cases[index].intact {
                return Err(format!(
                    "`{name}` cannot be run while this file has errors: correct what is underlined, then run it"
                ));
            }
            Ok([index].into())
        }
        Wanted::File => {
            let intact: BTreeSet<usize> =
                suite.cases.iter().enumerate().filter(|(_, case)| case.intact).map(|(index, _)| index).collect();
            if intact.is_empty() {
                return Err("no test of this file can be run: correct what is underlined".to_owned());
            }
            Ok(intact)
        }
    }
}

/// A run that is about to happen.
struct Planned {
    session: Arc<Session>,
    uri: String,
    snapshot: Snapshot,
    suite: Arc<Suite>,
    number: u32,
    progress: lsp::ProgressToken,
}

impl Planned {
    /// Asks the client for a place to show progress. One that does not answer must not hold up the run.
    async fn may_show_progress(&self) -> bool {
        let asked = self.session.client.create_work_done_progress(self.progress.clone());
        matches!(tokio::time::timeout(PATIENCE, asked).await, Ok(Ok(())))
    }

    async fn perform(self, cases: BTreeSet<usize>, cancel: CancellationToken) {
        let left_out = self.suite.cases.len() - cases.len();
        let shows_progress = self.snapshot.abilities.progress && self.may_show_progress().await;
        let workspace = workspace::settings_for(&self.snapshot.place.settings);
        let recordings = workspace.settings.recordings.enabled.then(|| {
            let place = &self.snapshot.place;
            let mut results = self.snapshot.results.lock().unwrap_or_else(PoisonError::into_inner);
            results.recordings(&place.directory, &place.file_name)
        });
        let job = Job {
            suite: Arc::clone(&self.suite),
            directory: self.snapshot.place.directory.clone(),
            recordings,
            secrets: Arc::new(workspace.secrets()),
            clock: self.session.clock,
            output_limit: workspace.settings.limits.output_bytes(),
        };
        let options = Options {
            mode: Mode::Live,
            concurrency: workspace.settings.limits.concurrency.map(|limit| self.suite.concurrency.min(limit as usize)),
            cases: Some(cases.clone()),
            fail_fast: false,
            given_up: false,
        };
        let (events, mut told) = mpsc::unbounded_channel();
        let act = self.session.acting.begin();
        let running = tokio::spawn(async move {
            let _act = act;
            run(job, options, cancel, events).await;
        });
        let mut listener =
            Listener { planned: &self, shows_progress, attempts: 0, done: 0, passed: 0, under_way: Vec::new() };
        while let Some(event) = told.recv().await {
            listener.event(event).await;
        }
        if let Err(error) = running.await {
            tracing::error!("the run ended early: {error}");
        }
        listener.end(left_out).await;
        self.session.state().runs.remove(&self.number);
        self.session.analyse(&self.uri);
    }
}

/// Passes on what a run tells.
struct Listener<'p> {
    planned: &'p Planned,
    shows_progress: bool,
    attempts: usize,
    done: usize,
    passed: usize,
    /// The cases of attempts that began and have not ended.
    under_way: Vec<usize>,
}

impl Listener<'_> {
    async fn event(&mut self, event: Event) {
        match event {
            Event::Started { attempts } => {
                self.attempts = attempts;
                self.report(lsp_begin(attempts)).await;
            }
            Event::AttemptStarted { case, .. } => {
                let name = &self.planned.suite.cases[case].name;
                self.under_way.push(case);
                self.with_results(|results| results.started(name));
            }
            Event::AttemptFinished { case, run } => {
                self.done += 1;
                self.passed += usize::from(matches!(run.status, Status::Pass | Status::Warn));
                let name = &self.planned.suite.cases[case].name;
                // One that was cancelled before it began does not end the running of another.
                if let Some(begun) = self.under_way.iter().position(|begun| *begun == case) {
                    self.under_way.swap_remove(begun);
                    self.with_results(|results| results.stopped(name));
                }
                self.keep(case, &run);
                let message = format!("{}/{} {name}", self.done, self.attempts);
                let percentage = self.done * 100 / self.attempts.max(1);
                self.report(serde_json::json!({"kind": "report", "message": message, "percentage": percentage})).await;
            }
            Event::Note { message } => {
                self.planned.session.client.log_message(lsp::MessageType::Warning, message).await;
            }
            Event::Finished(_) => return,
        }
        self.planned.session.analyse(&self.planned.uri);
    }

    fn keep(&self, case: usize, run: &RunResult) {
        let case = &self.planned.suite.cases[case];
        let dialect = self.planned.suite.dialect;
        let Action::Command(command) = &case.action else { return };
        // What a cancelled attempt left behind says nothing about the test.
        let Some(evidence) = run.evidence.clone().filter(|_| !was_cancelled(run)) else { return };
        let planned = command.key(dialect);
        let key = run.key.clone().unwrap_or_else(|| planned.clone());
        if key != planned
            && let Some(open) = self.planned.session.state().open.get_mut(&self.planned.uri)
        {
            // The files that the command names are others than those that were seen when the run was planned.
            open.place.files.forget();
            open.analyzer.files_changed();
        }
        self.with_results(|results| results.finished(&case.name, key, &run.subject, run.repeat, evidence));
    }

    fn with_results(&self, change: impl FnOnce(&mut super::results::Results)) {
        change(&mut self.planned.snapshot.results.lock().unwrap_or_else(PoisonError::into_inner));
    }

    async fn end(&self, left_out: usize) {
        // Attempts that were cut off do not run any longer.
        for case in &self.under_way {
            self.with_results(|results| results.stopped(&self.planned.suite.cases[*case].name));
        }
        let mut message = format!("{} of {} passed", self.passed, self.attempts);
        if left_out > 0 && self.attempts > 1 {
            message.push_str(&format!(", {left_out} left out"));
        }
        self.report(serde_json::json!({"kind": "end", "message": message})).await;
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

//! Runs that the editor starts: from a lens, an action, or a command. A run goes on by itself; its
//! progress and its results are told as they come.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, PoisonError},
    time::Duration,
};

use speclens_runner::{
    event::{Event, RunResult},
    run::{Mode, Options, run},
};
use speclens_schema::{
    dialect::Dialect,
    suite::{Action, Suite},
    verdict::Status,
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tower_lsp_server::gen_lsp_types as lsp;

use super::session::{Running, Session, Snapshot};
use crate::{
    ide::runnable::Obstacle,
    job::{self, Asker, Order, Prepared, Refusal},
};

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
    /// Something that the person has to know.
    Told(lsp::MessageType, String),
    /// The client asks about something that does not exist.
    Unknown(String),
}

impl Refused {
    fn warning(message: impl Into<String>) -> Refused {
        Refused::Told(lsp::MessageType::Warning, message.into())
    }

    fn by(obstacle: Obstacle, test: &str) -> Refused {
        let kind = match obstacle {
            Obstacle::Skipped => lsp::MessageType::Info,
            Obstacle::AsksModel => lsp::MessageType::Warning,
            Obstacle::WrongSettings | Obstacle::SharedName | Obstacle::HasProblems => lsp::MessageType::Error,
        };
        Refused::Told(kind, obstacle.sentence(test))
    }
}

/// Begins a run of a document as it stands in the editor, saved or not. Returns its number.
pub(super) fn start(session: &Arc<Session>, uri: &str, wanted: &Wanted) -> Result<u32, Refused> {
    if let Some(open) = session.state().open.get_mut(uri) {
        // A script may have changed without anybody telling: what is recorded must be of what runs now.
        open.place.files.forget();
        open.analyzer.files_changed();
    }
    let Some(snapshot) = session.snapshot(uri) else {
        return Err(Refused::Unknown("this file is not open, or not a suite: open it first".to_owned()));
    };
    if !snapshot.place.can_run() {
        return Err(Refused::warning(match snapshot.place.dialect() {
            None => "this file holds settings and no tests",
            Some(Dialect::KindLm) => "this document was never saved: save it, then run it",
            Some(Dialect::CliBench) => "cli-bench suites cannot be run yet",
            Some(Dialect::ClawSpec) => "ClawSpec contracts cannot be run yet",
        }));
    }
    let workspace = snapshot.workspace();
    let problems = super::problems(&snapshot, &workspace);
    let files = snapshot.place.files.as_ref();
    let suite = Arc::new(snapshot.analyzer.suite(&snapshot.document, files, &workspace.settings, &problems));
    let prepared = job::prepare(Order {
        suite: &suite,
        directory: &snapshot.place.directory,
        file_name: &snapshot.place.file_name,
        workspace: &workspace,
        secrets: Arc::new(workspace.secrets()),
        clock: session.clock,
        asker: Asker::Editor { is_trusted: session.may_run_in(&snapshot.place.directory) },
    });
    if let Err(Refusal::Settings(file)) = &prepared {
        return Err(Refused::Told(lsp::MessageType::Error, job::settings_sentence(file)));
    }
    // Nobody is asked for trust in a test that does not run anyway.
    let mut cases = select(&suite, wanted)?;
    let prepared = prepared.map_err(|refusal| match refusal {
        Refusal::Untrusted(directory) => Refused::Untrusted(directory),
        Refusal::Settings(file) => Refused::Told(lsp::MessageType::Error, job::settings_sentence(&file)),
        Refusal::Suite => Refused::warning("the suite has errors: fix them first"),
    })?;
    let token = CancellationToken::new();
    let (number, progress) = {
        let mut state = session.state();
        if state.stopping {
            return Err(Refused::warning("the server is about to end"));
        }
        if matches!(wanted, Wanted::File) && state.runs.values().any(|run| run.whole && run.uri == uri) {
            let message = "the tests of this file are running already: stop them to run them again".to_owned();
            return Err(Refused::Told(lsp::MessageType::Info, message));
        }
        // A second copy of a test beside the first would disturb it.
        let under_way = |case: &usize| state.runs.values().any(|run| run.is_running(uri, &suite.cases[*case].name));
        cases.retain(|case| !under_way(case));
        if cases.is_empty() {
            let message = match wanted {
                Wanted::Test(name) => format!("`{name}` is running already: stop it to run it again"),
                Wanted::File => "the tests of this file are running already: stop them to run them again".to_owned(),
            };
            return Err(Refused::Told(lsp::MessageType::Info, message));
        }
        let number = state.next_run;
        state.next_run += 1;
        let progress = lsp::ProgressToken::String(format!("speclens/run/{number}"));
        let results = Arc::clone(&snapshot.results);
        let cases = cases.iter().map(|case| &suite.cases[*case]);
        let left = cases.map(|case| (case.name.clone(), case.action.subjects().len() * case.repeat as usize));
        let left: BTreeMap<String, usize> = left.collect();
        let running = Running {
            cancel: token.clone(),
            token: progress.clone(),
            uri: uri.to_owned(),
            whole: matches!(wanted, Wanted::File),
            left,
            results,
        };
        state.runs.insert(number, running);
        (number, progress)
    };
    let planned =
        Planned { session: Arc::clone(session), uri: uri.to_owned(), snapshot, suite, prepared, number, progress };
    tokio::spawn(planned.perform(cases, token));
    Ok(number)
}

/// Cancels the runs that are chosen by their number and what they are. Returns how many.
pub(super) fn cancel(session: &Session, chosen: impl Fn(u32, &Running) -> bool) -> usize {
    let state = session.state();
    let runs = state.runs.iter().filter(|(number, run)| chosen(**number, run));
    runs.map(|(_, run)| run.cancel.cancel()).count()
}

/// The runs under way, for a client that asks for them.
pub(super) fn under_way(session: &Session) -> Vec<serde_json::Value> {
    let state = session.state();
    let tests = |run: &Running| run.left.keys().cloned().collect::<Vec<_>>();
    let runs = state.runs.iter();
    runs.map(|(number, run)| serde_json::json!({ "run": number, "uri": run.uri, "tests": tests(run) })).collect()
}

/// Cancels the run whose progress the user dismissed.
pub(super) fn cancel_by_token(session: &Session, token: &lsp::ProgressToken) {
    session.state().runs.values().filter(|run| run.token == *token).for_each(|run| run.cancel.cancel());
}

fn select(suite: &Suite, wanted: &Wanted) -> Result<BTreeSet<usize>, Refused> {
    match wanted {
        Wanted::Test(name) => {
            let Some(index) = suite.cases.iter().position(|case| case.name == *name) else {
                return Err(Refused::Unknown(format!("this file has no test `{name}`")));
            };
            match Obstacle::of(suite, index) {
                Some(obstacle) => Err(Refused::by(obstacle, name)),
                None => Ok([index].into()),
            }
        }
        Wanted::File => {
            let obstacles = || (0..suite.cases.len()).map(|index| (index, Obstacle::of(suite, index)));
            let free: BTreeSet<usize> =
                obstacles().filter(|(_, obstacle)| obstacle.is_none()).map(|(index, _)| index).collect();
            if !free.is_empty() {
                return Ok(free);
            }
            Err(match obstacles().find_map(|(index, obstacle)| Some((index, obstacle?))) {
                Some((index, obstacle)) if suite.cases.len() == 1 => Refused::by(obstacle, &suite.cases[index].name),
                Some(_) => Refused::warning("no test of this file can be run: the lines above the tests say why"),
                None => Refused::warning("this file has no tests"),
            })
        }
    }
}

/// A run that is about to happen.
struct Planned {
    session: Arc<Session>,
    uri: String,
    snapshot: Snapshot,
    suite: Arc<Suite>,
    prepared: Prepared,
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
        let job = self.prepared.job(|directory, file_name| {
            let mut results = self.snapshot.results.lock().unwrap_or_else(PoisonError::into_inner);
            results.recordings(directory, file_name)
        });
        let options = Options {
            mode: Mode::Live,
            concurrency: Some(self.prepared.concurrency(None)),
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
        let mut listener = Listener {
            planned: &self,
            shows_progress,
            attempts: 0,
            done: 0,
            passed: 0,
            cancelled: 0,
            last: None,
            under_way: Vec::new(),
        };
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
    /// How many attempts were cancelled, before or after they began.
    cancelled: usize,
    /// What became of the attempt that ended last.
    last: Option<(usize, Arc<RunResult>)>,
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
                let cancelled = was_cancelled(&run);
                self.done += usize::from(!cancelled);
                self.cancelled += usize::from(cancelled);
                self.passed += usize::from(matches!(run.status, Status::Pass | Status::Warn));
                let name = &self.planned.suite.cases[case].name;
                if let Some(running) = self.planned.session.state().runs.get_mut(&self.planned.number) {
                    running.ended(name);
                }
                // One that was cancelled before it began does not end the running of another.
                if let Some(begun) = self.under_way.iter().position(|begun| *begun == case) {
                    self.under_way.swap_remove(begun);
                    self.with_results(|results| {
                        results.stopped(name);
                        if cancelled {
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
        self.with_results(|results| results.finished(&case.name, key, run, evidence));
    }

    fn with_results(&self, change: impl FnOnce(&mut super::results::Results)) {
        change(&mut self.planned.snapshot.results.lock().unwrap_or_else(PoisonError::into_inner));
    }

    async fn end(&self, left_out: usize) {
        // Attempts that were cut off do not run any longer.
        for case in &self.under_way {
            let name = &self.planned.suite.cases[*case].name;
            self.with_results(|results| {
                results.stopped(name);
                results.was_cancelled(name);
            });
        }
        let mut message = match self.cancelled {
            0 => format!("{} of {} passed", self.passed, self.attempts),
            count => format!("cancelled: {} of {} passed, {count} not finished", self.passed, self.attempts),
        };
        if left_out > 0 && self.attempts > 1 {
            message.push_str(&format!(", {left_out} left out"));
        }
        if !self.planned.snapshot.abilities.shows_lenses {
            self.tell(&message);
        }
        self.report(serde_json::json!({"kind": "end", "message": message})).await;
    }

    /// Says what came of the run where no lens shows it. `counts` says so of several attempts.
    fn tell(&self, counts: &str) {
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
        self.planned.session.tell(kind, &message);
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

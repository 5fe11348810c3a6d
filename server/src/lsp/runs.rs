//! Runs that the editor starts: from a lens, an action, or a command. A run continues in the background; its progress
//! and results are reported as they arrive.

mod listener;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use speclens_runner::{
    event::SuiteResult,
    run::{Mode, Options, run},
};
use speclens_schema::{
    json_schema::SpecFile,
    mask::Secrets,
    suite::{Case, Suite},
};
use tokio::{
    runtime::Handle,
    sync::{mpsc, oneshot},
};
use tokio_util::sync::CancellationToken;
use tower_lsp_server::gen_lsp_types as lsp;

use super::{
    changes::About,
    session::{Captured, Running, Session, Snapshot, Starting},
    whole_suite::cases_in,
};
use crate::{
    clawspec_reports::{ReportRequest, Reports},
    ide::runnable::NotRunnableReason,
    job::{self, Prepared, Refusal},
    results::{self, SuiteId},
    threads,
};

use listener::Listener;

/// Maximum time to wait for a response of the client.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(2);

/// The tests that a run is requested for.
#[derive(Clone, Debug)]
pub(super) enum Wanted {
    /// One test, by its name.
    Test(String),
    /// Every test of the file.
    File,
}

/// The operation on the tests.
#[derive(Clone, Debug)]
pub(super) enum Operation {
    /// Runs them. `models` act instead of those that the suite names; those of the suite if empty.
    Run {
        /// The model ids.
        models: Vec<String>,
    },
    /// Asks judges about their recordings.
    Ask,
    /// Checks their preconditions; starts nothing.
    Preconditions,
    /// Judges the current state of their targets; starts nothing.
    Judge,
}

impl Operation {
    fn mode(&self) -> Mode {
        match self {
            Operation::Run { .. } => Mode::Live,
            Operation::Ask => Mode::Asking,
            Operation::Preconditions => Mode::Preconditions,
            Operation::Judge => Mode::Present,
        }
    }

    fn models(&self) -> &[String] {
        match self {
            Operation::Run { models } => models,
            Operation::Ask | Operation::Preconditions | Operation::Judge => &[],
        }
    }

    /// Whether ClawSpec would write reports of it.
    fn is_reported(&self) -> bool {
        match self {
            Operation::Run { .. } | Operation::Judge => true,
            Operation::Ask | Operation::Preconditions => false,
        }
    }

    /// Whether its outcome is a result of the tests.
    fn has_results(&self) -> bool {
        match self {
            Operation::Run { .. } | Operation::Ask | Operation::Judge => true,
            Operation::Preconditions => false,
        }
    }
}

/// The reason why a run did not begin.
#[derive(Debug)]
pub(super) enum Refused {
    /// The workspace is not trusted: this directory would have to be.
    Untrusted(std::path::PathBuf),
    /// The user has to be informed.
    Because(lsp::MessageType, String),
    /// It was cancelled before it began.
    Cancelled,
    /// The request is invalid: it is about something that does not exist, or the server has a bug.
    Failed(String),
}

impl Refused {
    fn warning(message: impl Into<String>) -> Refused {
        Refused::Because(lsp::MessageType::Warning, message.into())
    }

    /// Returns the same without secrets in its message, which may contain names of the suite.
    fn masked(self, secrets: &Secrets) -> Refused {
        match self {
            Refused::Because(kind, message) => Refused::Because(kind, secrets.mask(&message)),
            Refused::Failed(message) => Refused::Failed(secrets.mask(&message)),
            refused @ (Refused::Untrusted(_) | Refused::Cancelled) => refused,
        }
    }

    fn by(obstacle: NotRunnableReason, test: &str) -> Refused {
        let kind = match obstacle {
            NotRunnableReason::Skipped => lsp::MessageType::Info,
            NotRunnableReason::NotSupported(_) => lsp::MessageType::Warning,
            NotRunnableReason::NoSuite
            | NotRunnableReason::WrongSettings
            | NotRunnableReason::SharedName
            | NotRunnableReason::HasProblems => lsp::MessageType::Error,
        };
        Refused::Because(kind, obstacle.sentence(test))
    }
}

/// A run that has begun.
#[derive(Debug)]
pub(super) struct Begun {
    /// The number of the run.
    pub number: u32,
    /// Its result, once it has ended.
    pub ended: oneshot::Receiver<End>,
}

/// A run that has ended.
#[derive(Debug)]
pub(super) struct End {
    /// The suite as it was run.
    pub suite: Arc<Suite>,
    /// The results of its tests.
    pub result: Arc<SuiteResult>,
}

/// Starts a run of the document's current text, saved or not. Dropping the future before the run has begun cancels it.
pub(super) async fn start(
    session: &Arc<Session>,
    uri: &str,
    wanted: Wanted,
    operation: Operation,
) -> Result<Begun, Refused> {
    let asked = RequestedRun::begin(session, uri, &wanted);
    let (shared, at) = (Arc::clone(session), uri.to_owned());
    let snapshot = session.changes.look(About::Document(uri), move || {
        if let Some(open) = shared.state().open.get_mut(&at) {
            // A script may have changed without notice: the recording must match what runs now.
            open.files_changed();
        }
        shared.captured(&at)
    });
    let withdrawn = asked.cancel.clone().drop_guard();
    let Ok(Some(snapshot)) = snapshot.await else {
        return Err(Refused::Failed("this file is not open or is not a suite; open a suite first".to_owned()));
    };
    let place = snapshot.place();
    if !place.has_tests() {
        return Err(Refused::warning(match place.file.has_cases() {
            true => "this document has not been saved; save it, then run it",
            false if place.file == SpecFile::SCRIPT => "this file is a scripted model and has no tests",
            false if place.file == SpecFile::GATEWAY => "this file is a scripted gateway and has no tests",
            false => "this file has no tests",
        }));
    }
    if let Some(starting) = session.state().starting.get_mut(&asked.number) {
        starting.suite = Some(place.suite(uri));
    }
    let request = Request { asked, uri: uri.to_owned(), wanted, operation, snapshot };
    let runtime = Handle::current();
    let begun = session.requests.perform(move || {
        let (planned, cases) = request.decide()?;
        let (sender, ended) = oneshot::channel();
        runtime.spawn(Arc::new(planned).perform(cases, request.asked.cancel.clone(), sender));
        Ok(Begun { number: request.asked.number, ended })
    });
    let begun = begun.await;
    withdrawn.disarm();
    begun.unwrap_or_else(|panicked| Err(Refused::Failed(format!("the request failed inside the server: {panicked}"))))
}

/// A run that was requested but may still be refused.
struct RequestedRun {
    session: Arc<Session>,
    number: u32,
    cancel: CancellationToken,
}

impl RequestedRun {
    fn begin(session: &Arc<Session>, uri: &str, wanted: &Wanted) -> RequestedRun {
        let cancel = CancellationToken::new();
        let starting = Starting { cancel: cancel.clone(), uri: uri.to_owned(), suite: None, wanted: wanted.clone() };
        let mut state = session.state();
        let number = state.next_run;
        state.next_run += 1;
        state.starting.insert(number, starting);
        RequestedRun { session: Arc::clone(session), number, cancel }
    }
}

impl Drop for RequestedRun {
    fn drop(&mut self) {
        self.session.state().starting.remove(&self.number);
    }
}

/// A request with its suite.
struct Request {
    asked: RequestedRun,
    uri: String,
    wanted: Wanted,
    operation: Operation,
    snapshot: Captured,
}

impl Request {
    /// Decides whether the run begins, and registers it if it does.
    fn decide(&self) -> Result<(Planned, BTreeSet<usize>), Refused> {
        threads::try_blocking_threads().map_err(|error| Refused::warning(format!("{error:#}")))?;
        let (snapshot, uri) = (&self.asked.session.refreshed(&self.uri, self.snapshot.clone()), &self.uri);
        let workspace = snapshot.workspace();
        let suite = Arc::new(self.asked.session.whole_suite(snapshot, &workspace));
        let candidates = cases_in(&suite, snapshot);
        let SuiteId { directory, place } = &snapshot.place.suite(uri);
        let untrusted = self.asked.session.untrusted_of(job::deciding(directory, place, &workspace));
        let prepared = self.asked.session.prepare(uri, snapshot, &workspace, &suite, untrusted.as_deref());
        if let Err(Refusal::Settings(file)) = &prepared {
            return Err(Refused::Because(lsp::MessageType::Error, job::settings_sentence(file)));
        }
        if self.asked.cancel.is_cancelled() {
            return Err(Refused::Cancelled);
        }
        // Trust is not requested for a test that cannot run.
        let secrets = workspace.secrets_of(&suite);
        let mut cases = select(&suite, &candidates, snapshot.place.has_suite(), &self.wanted)
            .map_err(|refused| refused.masked(&secrets))?;
        let wanted = match self.wanted {
            Wanted::Test(_) => cases.len(),
            Wanted::File => candidates.len(),
        };
        let prepared = prepared.map_err(|refusal| match refusal {
            Refusal::Untrusted(directory) => Refused::Untrusted(directory),
            Refusal::Settings(file) => Refused::Because(lsp::MessageType::Error, job::settings_sentence(&file)),
            Refusal::Suite => Refused::warning("the suite has errors; fix them first"),
        })?;
        let progress =
            self.register(&suite, snapshot.place.suite(uri), &mut cases).map_err(|refused| refused.masked(&secrets))?;
        let is_reported = prepared.settings().clawspec.editor_reports && self.operation.is_reported();
        let reports = is_reported.then(|| prepared.reports(ReportRequest::Anywhere)).flatten();
        let planned = Planned {
            session: Arc::clone(&self.asked.session),
            uri: uri.clone(),
            snapshot: snapshot.clone(),
            suite,
            prepared,
            number: self.asked.number,
            progress,
            left_out: wanted - cases.len(),
            operation: self.operation.clone(),
            reports: reports.map(Arc::new),
        };
        Ok((planned, cases))
    }

    /// Registers the run, without the tests that other runs are running. All of this happens under one
    /// lock, so that of two requests for one test only one begins.
    fn register(&self, suite: &Suite, id: SuiteId, cases: &mut BTreeSet<usize>) -> Result<lsp::ProgressToken, Refused> {
        let (uri, wanted) = (&self.uri, &self.wanted);
        let mut state = self.asked.session.state();
        if state.stopping {
            return Err(Refused::warning("the server is shutting down"));
        }
        if self.asked.cancel.is_cancelled() {
            return Err(Refused::Cancelled);
        }
        if matches!(wanted, Wanted::File) && state.runs.values().any(|run| run.whole && run.uri == *uri) {
            let message = "the tests of this file are already running; stop them to run them again".to_owned();
            return Err(Refused::Because(lsp::MessageType::Info, message));
        }
        // Two runs of the same test would interfere.
        let under_way = |case: &usize| state.runs.values().any(|run| run.is_running(&id, &suite.cases[*case].name));
        cases.retain(|case| !under_way(case));
        if cases.is_empty() {
            let message = match wanted {
                Wanted::Test(name) => format!("`{name}` is already running; stop it to run it again"),
                Wanted::File => "the tests of this file are already running; stop them to run them again".to_owned(),
            };
            return Err(Refused::Because(lsp::MessageType::Info, message));
        }
        let token = lsp::ProgressToken::String(format!("speclens/run/{}", self.asked.number));
        let cases = cases.iter().map(|case| &suite.cases[*case]);
        let left = cases.map(|case| (case.name.clone(), self.subjects_of(case) * case.repeat as usize));
        let running = Running {
            cancel: self.asked.cancel.clone(),
            token: token.clone(),
            uri: uri.clone(),
            suite: id,
            whole: matches!(wanted, Wanted::File),
            left: left.collect(),
        };
        state.starting.remove(&self.asked.number);
        state.runs.insert(self.asked.number, running);
        Ok(token)
    }
}

impl Request {
    fn subjects_of(&self, case: &Case) -> usize {
        case.action.subjects_of(self.operation.models(), &[]).len()
    }
}

/// The runs to cancel. `None` does not restrict the choice.
#[derive(Clone, Debug, Default)]
pub(super) struct Chosen {
    /// The number of the run.
    pub run: Option<u64>,
    /// The document with the tests.
    pub uri: Option<String>,
    /// The name of a test.
    pub test: Option<String>,
}

impl Chosen {
    /// Whether a run is chosen. `own` is the suite of the chosen document: all its files share the runs of a test.
    fn fits(
        &self,
        number: u32,
        uri: &str,
        suite: (Option<&SuiteId>, Option<&SuiteId>),
        runs: impl Fn(&str) -> bool,
    ) -> bool {
        let (suite, own) = suite;
        self.run.is_none_or(|run| run == u64::from(number))
            && self.uri.as_ref().is_none_or(|chosen| chosen == uri || (own.is_some() && own == suite))
            && self.test.as_ref().is_none_or(|test| runs(test))
    }
}

/// Cancels runs under way, and those that are about to begin. Returns how many: those that end already do not count.
pub(super) fn cancel(session: &Session, chosen: &Chosen) -> usize {
    let state = session.state();
    let own = chosen.uri.as_ref().and_then(|uri| Some(state.open.get(uri)?.place.suite(uri)));
    let own = own.as_ref();
    let starting = state.starting.iter().filter(|(number, run)| {
        chosen.fits(**number, &run.uri, (run.suite.as_ref(), own), |test| match &run.wanted {
            Wanted::Test(name) => name == test,
            Wanted::File => true,
        })
    });
    let runs = state.runs.iter();
    let runs = runs.filter(|(number, run)| {
        chosen.fits(**number, &run.uri, (Some(&run.suite), own), |test| run.left.contains_key(test))
    });
    let tokens = starting.map(|(_, run)| &run.cancel).chain(runs.map(|(_, run)| &run.cancel));
    tokens.filter(|token| !token.is_cancelled()).map(CancellationToken::cancel).count()
}

/// Returns the active runs, for a client that requests them.
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

/// Returns the cases to run, out of the candidates.
fn select(suite: &Suite, candidates: &[usize], has_suite: bool, wanted: &Wanted) -> Result<BTreeSet<usize>, Refused> {
    let obstacle =
        |index: usize| NotRunnableReason::of(suite, index).or((!has_suite).then_some(NotRunnableReason::NoSuite));
    match wanted {
        Wanted::Test(name) => {
            let Some(index) = candidates.iter().copied().find(|index| suite.cases[*index].name == *name) else {
                return Err(Refused::Failed(format!("this file has no test `{name}`")));
            };
            match obstacle(index) {
                Some(obstacle) => Err(Refused::by(obstacle, name)),
                None => Ok([index].into()),
            }
        }
        Wanted::File => {
            let obstacles = || candidates.iter().map(|index| (*index, obstacle(*index)));
            let free: BTreeSet<usize> =
                obstacles().filter(|(_, obstacle)| obstacle.is_none()).map(|(index, _)| index).collect();
            if !free.is_empty() {
                return Ok(free);
            }
            Err(match obstacles().find_map(|(index, obstacle)| Some((index, obstacle?))) {
                Some((index, obstacle)) if candidates.len() == 1 => Refused::by(obstacle, &suite.cases[index].name),
                Some(_) => Refused::warning("no test of this file can run; the lenses above the tests show why"),
                None => Refused::warning("this file has no tests"),
            })
        }
    }
}

/// A planned run.
struct Planned {
    session: Arc<Session>,
    uri: String,
    snapshot: Snapshot,
    suite: Arc<Suite>,
    prepared: Prepared,
    number: u32,
    progress: lsp::ProgressToken,
    /// Number of requested tests that do not run.
    left_out: usize,
    operation: Operation,
    /// The writer of ClawSpec reports, if the settings want them for runs in an editor.
    reports: Option<Arc<Reports>>,
}

impl Planned {
    /// Whether it runs the tests, so that earlier results are obsolete.
    fn acts(&self) -> bool {
        match self.operation {
            Operation::Run { .. } => true,
            Operation::Ask | Operation::Preconditions | Operation::Judge => false,
        }
    }

    /// Asks the client to show progress. A client that does not respond must not delay the run.
    async fn may_show_progress(&self) -> bool {
        let asked = self.session.client.create_work_done_progress(self.progress.clone());
        matches!(tokio::time::timeout(RESPONSE_TIMEOUT, asked).await, Ok(Ok(())))
    }

    /// Runs the tests. When it returns, the run has ended, even if following it failed.
    async fn perform(self: Arc<Self>, cases: BTreeSet<usize>, cancel: CancellationToken, ended: oneshot::Sender<End>) {
        let (planned, token) = (Arc::clone(&self), cancel.clone());
        self.supervise(&cancel, async move { planned.follow(cases, token, ended).await }).await;
    }

    /// Waits until a run has been followed to its end, or until that failed, and cleans up.
    async fn supervise(&self, cancel: &CancellationToken, follow: impl Future<Output = ()> + Send + 'static) {
        if let Err(error) = tokio::spawn(follow).await {
            // The results of the remaining tests would be lost.
            cancel.cancel();
            tracing::error!("observing the run failed: {error}");
            let message = "a bug in speclens stopped the run; see the log. Results up to then are recorded";
            self.session.show_message(lsp::MessageType::Error, message);
            if self.snapshot.abilities.progress {
                self.report_progress(serde_json::json!({"kind": "end", "message": "ended early"})).await;
            }
        }
        self.clear();
    }

    /// Removes the run from the active runs.
    fn clear(&self) {
        self.session.state().runs.remove(&self.number);
        self.session.analyze_suite(&self.snapshot.results);
    }

    async fn report_progress(&self, value: serde_json::Value) {
        let params = lsp::ProgressParams { token: self.progress.clone(), value };
        self.session.client.send_notification::<lsp::ProgressNotification>(params).await;
    }

    async fn follow(&self, cases: BTreeSet<usize>, cancel: CancellationToken, ended: oneshot::Sender<End>) {
        let shows_progress = self.snapshot.abilities.progress && self.may_show_progress().await;
        let suite = self.snapshot.place.suite(&self.uri);
        let store = results::evidence_store(&self.snapshot.results, &suite, self.prepared.settings(), true);
        let job = self.prepared.job(store);
        let options = Options {
            observed_run: None,
            mode: self.operation.mode(),
            concurrency: Some(self.prepared.concurrency(None)),
            cases: Some(cases.clone()),
            models: self.operation.models().to_vec(),
            help_modes: Vec::new(),
            fail_fast: false,
            given_up: false,
            keep_directories: false,
        };
        let (events, mut happened) = mpsc::unbounded_channel();
        let active_run = self.session.active_runs.begin();
        let running = tokio::spawn(async move {
            let _active_run = active_run;
            run(job, options, cancel, events).await
        });
        let mut listener = Listener::of(self, shows_progress);
        while let Some(event) = happened.recv().await {
            listener.event(event).await;
        }
        let result = running.await;
        listener.end(self.left_out).await;
        // A client that waits for the end may request the active runs at once.
        self.clear();
        match result {
            // The receiver may have been dropped.
            Ok(result) => drop(ended.send(End { suite: Arc::clone(&self.suite), result })),
            Err(error) => tracing::error!("the run ended early: {error}"),
        }
    }
}

//! Runs that the editor starts: from a lens, an action, or a command. A run continues by itself; its progress and its
//! results are reported as they come.

mod listener;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use speclens_runner::{
    event::SuiteResult,
    run::{Mode, Options, run},
};
use speclens_schema::{
    json_schema::SpecFile,
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
    whole::cases_in,
};
use crate::{
    clawspec_reports::{Asked, Reports},
    ide::runnable::Obstacle,
    job::{self, Asker, Order, Prepared, Refusal},
    results::{self, SuiteId},
};

use listener::Listener;

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

/// What is done with the tests.
#[derive(Clone, Debug)]
pub(super) enum Deed {
    /// They run. The ids of the models that act, instead of those that the suite names; those of the suite when empty.
    Run {
        /// The ids.
        models: Vec<String>,
    },
    /// Judges are asked about what is recorded of them.
    Ask,
    /// What must hold before they start is looked at; nothing is started.
    Preconditions,
    /// What their targets have left by now is judged; nothing is started.
    Judge,
}

impl Deed {
    fn mode(&self) -> Mode {
        match self {
            Deed::Run { .. } => Mode::Live,
            Deed::Ask => Mode::Asking,
            Deed::Preconditions => Mode::Preconditions,
            Deed::Judge => Mode::Present,
        }
    }

    fn models(&self) -> &[String] {
        match self {
            Deed::Run { models } => models,
            Deed::Ask | Deed::Preconditions | Deed::Judge => &[],
        }
    }

    /// Whether ClawSpec leaves reports of it.
    fn is_reported(&self) -> bool {
        match self {
            Deed::Run { .. } | Deed::Judge => true,
            Deed::Ask | Deed::Preconditions => false,
        }
    }

    /// Whether what comes of it is a result of the tests.
    fn has_results(&self) -> bool {
        match self {
            Deed::Run { .. } | Deed::Ask | Deed::Judge => true,
            Deed::Preconditions => false,
        }
    }
}

/// Why a run did not begin.
#[derive(Debug)]
pub(super) enum Refused {
    /// The workspace is not trusted; the directory that would have to be.
    Untrusted(std::path::PathBuf),
    /// Something that the person has to know.
    Because(lsp::MessageType, String),
    /// It was cancelled before it began.
    Cancelled,
    /// The request is an error: it is about something that does not exist, or the server has a defect.
    Failed(String),
}

impl Refused {
    fn warning(message: impl Into<String>) -> Refused {
        Refused::Because(lsp::MessageType::Warning, message.into())
    }

    fn by(obstacle: Obstacle, test: &str) -> Refused {
        let kind = match obstacle {
            Obstacle::Skipped => lsp::MessageType::Info,
            Obstacle::NotSupported(_) => lsp::MessageType::Warning,
            Obstacle::NoSuite | Obstacle::WrongSettings | Obstacle::SharedName | Obstacle::HasProblems => {
                lsp::MessageType::Error
            }
        };
        Refused::Because(kind, obstacle.sentence(test))
    }
}

/// A run that has begun.
#[derive(Debug)]
pub(super) struct Begun {
    /// Its number.
    pub number: u32,
    /// What came of it, once it has ended.
    pub ended: oneshot::Receiver<End>,
}

/// A run that has ended.
#[derive(Debug)]
pub(super) struct End {
    /// The suite as it was.
    pub suite: Arc<Suite>,
    /// What came of its tests.
    pub result: Arc<SuiteResult>,
}

/// Begins a run of a document as it is in the editor when this is called, saved or not, and returns once it has begun. What it takes to decide is done by the threads for requests; a request that is dropped wants no run.
pub(super) async fn start(session: &Arc<Session>, uri: &str, wanted: Wanted, deed: Deed) -> Result<Begun, Refused> {
    let asked = Asking::begin(session, uri, &wanted);
    let (shared, at) = (Arc::clone(session), uri.to_owned());
    let snapshot = session.changes.look(About::Document(uri), move || {
        if let Some(open) = shared.state().open.get_mut(&at) {
            // A script may have changed without notice: what is recorded must be of what runs now.
            open.files_changed();
        }
        shared.captured(&at)
    });
    let withdrawn = asked.cancel.clone().drop_guard();
    let Ok(Some(snapshot)) = snapshot.await else {
        return Err(Refused::Failed("this file is not open, or not a suite: open it first".to_owned()));
    };
    let place = snapshot.place();
    if !place.has_tests() {
        return Err(Refused::warning(match place.file.has_cases() {
            true => "this document has not been saved: save it, then run it",
            false if place.file == SpecFile::SCRIPT => "this file is a scripted model and has no tests",
            false if place.file == SpecFile::GATEWAY => "this file is a scripted gateway and has no tests",
            false => "this file has no tests",
        }));
    }
    if let Some(starting) = session.state().starting.get_mut(&asked.number) {
        starting.suite = Some(place.suite(uri));
    }
    let request = Request { asked, uri: uri.to_owned(), wanted, deed, snapshot };
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

/// A run that was asked for, as long as it is not decided whether it begins.
struct Asking {
    session: Arc<Session>,
    number: u32,
    cancel: CancellationToken,
}

impl Asking {
    fn begin(session: &Arc<Session>, uri: &str, wanted: &Wanted) -> Asking {
        let cancel = CancellationToken::new();
        let starting = Starting { cancel: cancel.clone(), uri: uri.to_owned(), suite: None, wanted: wanted.clone() };
        let mut state = session.state();
        let number = state.next_run;
        state.next_run += 1;
        state.starting.insert(number, starting);
        Asking { session: Arc::clone(session), number, cancel }
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        self.session.state().starting.remove(&self.number);
    }
}

/// The same with what it is of.
struct Request {
    asked: Asking,
    uri: String,
    wanted: Wanted,
    deed: Deed,
    snapshot: Captured,
}

impl Request {
    /// Decides whether the run begins, and registers it if it does.
    fn decide(&self) -> Result<(Planned, BTreeSet<usize>), Refused> {
        let (snapshot, uri) = (&self.asked.session.refreshed(&self.uri, self.snapshot.clone()), &self.uri);
        let workspace = snapshot.workspace();
        let suite = Arc::new(self.asked.session.whole_suite(snapshot, &workspace));
        let candidates = cases_in(&suite, snapshot);
        let id = snapshot.place.suite(uri);
        let prepared = job::prepare(Order {
            gateway: None,
            suite: &suite,
            directory: &id.directory,
            place: &id.place,
            workspace: &workspace,
            secrets: Arc::new(workspace.secrets_of(&suite)),
            clock: self.asked.session.clock,
            asker: Asker::Editor { is_trusted: self.asked.session.may_run_in(&snapshot.place.directory) },
        });
        if let Err(Refusal::Settings(file)) = &prepared {
            return Err(Refused::Because(lsp::MessageType::Error, job::settings_sentence(file)));
        }
        if self.asked.cancel.is_cancelled() {
            return Err(Refused::Cancelled);
        }
        // The question for trust is not asked for a test that does not run anyway.
        let mut cases = select(&suite, &candidates, snapshot.place.has_suite(), &self.wanted)?;
        let wanted = match self.wanted {
            Wanted::Test(_) => cases.len(),
            Wanted::File => candidates.len(),
        };
        let prepared = prepared.map_err(|refusal| match refusal {
            Refusal::Untrusted(directory) => Refused::Untrusted(directory),
            Refusal::Settings(file) => Refused::Because(lsp::MessageType::Error, job::settings_sentence(&file)),
            Refusal::Suite => Refused::warning("the suite has errors: fix them first"),
        })?;
        let progress = self.register(&suite, id, &mut cases)?;
        let is_reported = prepared.settings().clawspec.editor_reports && self.deed.is_reported();
        let reports = is_reported.then(|| prepared.reports(Asked::Anywhere)).flatten();
        let planned = Planned {
            session: Arc::clone(&self.asked.session),
            uri: uri.clone(),
            snapshot: snapshot.clone(),
            suite,
            prepared,
            number: self.asked.number,
            progress,
            left_out: wanted - cases.len(),
            deed: self.deed.clone(),
            reports: reports.map(Arc::new),
        };
        Ok((planned, cases))
    }

    /// Adds the run to those under way, without the tests that other runs have under way. All of this happens under one
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
            let message = "the tests of this file are already running: stop them to run them again".to_owned();
            return Err(Refused::Because(lsp::MessageType::Info, message));
        }
        // A second copy of a test beside the first would disturb it.
        let under_way = |case: &usize| state.runs.values().any(|run| run.is_running(&id, &suite.cases[*case].name));
        cases.retain(|case| !under_way(case));
        if cases.is_empty() {
            let message = match wanted {
                Wanted::Test(name) => format!("`{name}` is already running: stop it to run it again"),
                Wanted::File => "the tests of this file are already running: stop them to run them again".to_owned(),
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
        case.action.subjects_of(self.deed.models(), &[]).len()
    }
}

/// Which runs to cancel. What is `None` restricts nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Chosen {
    /// The number of the run.
    pub run: Option<u64>,
    /// The document whose tests run.
    pub uri: Option<String>,
    /// A test that runs.
    pub test: Option<String>,
}

impl Chosen {
    /// Whether a run is chosen. `own` is the suite of the chosen document: all its files have the runs of a test in common.
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

/// Returns the runs under way, for a client that asks for them.
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

/// Returns the cases that run, of those that are candidates.
fn select(suite: &Suite, candidates: &[usize], has_suite: bool, wanted: &Wanted) -> Result<BTreeSet<usize>, Refused> {
    let obstacle = |index: usize| Obstacle::of(suite, index).or((!has_suite).then_some(Obstacle::NoSuite));
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
                Some(_) => Refused::warning("no test of this file can run: the lenses above the tests show why"),
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
    /// How many of the tests that were asked for do not run.
    left_out: usize,
    deed: Deed,
    /// What writes reports in the form of ClawSpec, where the settings want them of an editor.
    reports: Option<Arc<Reports>>,
}

impl Planned {
    /// Whether the tests act, so that an earlier result of them is a thing of the past.
    fn acts(&self) -> bool {
        match self.deed {
            Deed::Run { .. } => true,
            Deed::Ask | Deed::Preconditions | Deed::Judge => false,
        }
    }

    /// Asks the client for a place to show progress. One that does not answer must not hold up the run.
    async fn may_show_progress(&self) -> bool {
        let asked = self.session.client.create_work_done_progress(self.progress.clone());
        matches!(tokio::time::timeout(PATIENCE, asked).await, Ok(Ok(())))
    }

    /// Runs the tests. When it returns, nothing of the run is under way, even if following it went wrong.
    async fn perform(self: Arc<Self>, cases: BTreeSet<usize>, cancel: CancellationToken, ended: oneshot::Sender<End>) {
        let (planned, token) = (Arc::clone(&self), cancel.clone());
        self.supervise(&cancel, async move { planned.follow(cases, token, ended).await }).await;
    }

    /// Waits until a run was followed to its end, or until that went wrong, and clears up.
    async fn supervise(&self, cancel: &CancellationToken, follow: impl Future<Output = ()> + Send + 'static) {
        if let Err(error) = tokio::spawn(follow).await {
            // Nobody would see what becomes of the tests that are left.
            cancel.cancel();
            tracing::error!("following the run failed: {error}");
            let message = "the run was stopped by a bug in speclens; see the log. Earlier results are recorded";
            self.session.show_message(lsp::MessageType::Error, message);
            if self.snapshot.abilities.progress {
                self.report_progress(serde_json::json!({"kind": "end", "message": "ended early"})).await;
            }
        }
        self.clear();
    }

    /// The run is no longer under way.
    fn clear(&self) {
        self.session.state().runs.remove(&self.number);
        self.session.analyse_suite(&self.snapshot.results);
    }

    async fn report_progress(&self, value: serde_json::Value) {
        let params = lsp::ProgressParams { token: self.progress.clone(), value };
        self.session.client.send_notification::<lsp::ProgressNotification>(params).await;
    }

    async fn follow(&self, cases: BTreeSet<usize>, cancel: CancellationToken, ended: oneshot::Sender<End>) {
        let shows_progress = self.snapshot.abilities.progress && self.may_show_progress().await;
        let suite = self.snapshot.place.suite(&self.uri);
        let book = results::book(&self.snapshot.results, &suite, self.prepared.settings(), true);
        let job = self.prepared.job(book);
        let options = Options {
            observed_run: None,
            mode: self.deed.mode(),
            concurrency: Some(self.prepared.concurrency(None)),
            cases: Some(cases.clone()),
            models: self.deed.models().to_vec(),
            help_modes: Vec::new(),
            fail_fast: false,
            given_up: false,
            keep_directories: false,
        };
        let (events, mut happened) = mpsc::unbounded_channel();
        let act = self.session.acting.begin();
        let running = tokio::spawn(async move {
            let _act = act;
            run(job, options, cancel, events).await
        });
        let mut listener = Listener::of(self, shows_progress);
        while let Some(event) = happened.recv().await {
            listener.event(event).await;
        }
        let result = running.await;
        listener.end(self.left_out).await;
        // Who waits for the end may ask at once what is under way.
        self.clear();
        match result {
            // Who started it may not be interested.
            Ok(result) => drop(ended.send(End { suite: Arc::clone(&self.suite), result })),
            Err(error) => tracing::error!("the run ended early: {error}"),
        }
    }
}

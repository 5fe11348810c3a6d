//! The state of the server: open documents, the client's capabilities, active runs. One lock, held only
//! briefly and never across an await.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak},
};

use speclens_runner::{clock::Clock, files::Buffers as _, report::plain};
use speclens_schema::{
    analysis::{Analyzer, Problems},
    document::Document,
    settings::Settings,
};
use tokio::{
    runtime::Handle,
    sync::{oneshot, watch},
};
use tokio_util::sync::CancellationToken;
use tower_lsp_server::{Client, gen_lsp_types as lsp};

use super::{
    changes::{About, Changes},
    client::{Abilities, Display},
    closed_file_diagnostics::Published,
    documents::{DocumentPlace, OtherDocument},
    indexing::Remembered,
    runs::Wanted,
    transport::Outbox,
};
use crate::{
    buffers::Buffers,
    ide::latest::Latest,
    index::{Index, Limits},
    results::{Results, SuiteId},
    scope::Scopes,
    threads::Pool,
    workspace::{self, Workspace},
};

/// The data shared by every handler, the analysis and the runs.
pub(super) struct Session {
    /// The connection to the client.
    pub client: Client,
    /// The queue to the client, for notifications from threads of our own.
    pub outbox: Outbox,
    /// The threads for requests.
    pub requests: Pool,
    /// The threads for requests that may wait for the index: they must not delay the others.
    pub patient: Pool,
    /// The runtime of the server, for tasks that begin on other threads.
    pub runtime: Handle,
    /// The current time, for recordings.
    pub clock: Clock,
    /// The text of open documents, saved or not.
    pub buffers: Arc<Buffers>,
    /// The scopes of files.
    pub scopes: Scopes,
    /// The facts of the workspace's files about names.
    pub index: Index,
    /// Pending changes from messages.
    pub changes: Changes,
    /// The facts of open documents about names.
    names: Mutex<HashMap<String, Remembered>>,
    /// The published diagnostics of files that are not open.
    pub published_elsewhere: Mutex<Published>,
    /// The runs whose processes may be alive.
    pub active_runs: ActiveRuns,
    state: Mutex<State>,
    /// Locks of documents, held while one is adopted as a spec file.
    pub adopting: Mutex<HashMap<String, Arc<Mutex<()>>>>,
    /// Locks of requests, by method and document, held until the response is on its way: see [`Session::turn`].
    turns: Mutex<HashMap<(&'static str, String), Turn>>,
    /// The results of suites, for as long as they are needed.
    shelf: Mutex<HashMap<SuiteId, Weak<Mutex<Results>>>>,
    /// Notified when there is something to analyze.
    wakeup: Condvar,
    /// Cancelled when the process of the client has ended.
    pub client_ended: CancellationToken,
}

/// The lock of one method and document. It is fair: requests get it in the order in which they came.
type Turn = Arc<tokio::sync::Mutex<()>>;

/// The mutable state.
#[derive(Default)]
pub(super) struct State {
    pub open: HashMap<String, OpenDocument>,
    /// Open documents that are not spec files.
    pub other_documents: HashMap<String, OtherDocument>,
    pub abilities: Abilities,
    pub display: Display,
    /// The limits of the index.
    pub index_limits: Limits,
    /// Messages about settings that were shown already.
    pub shown_messages: BTreeSet<String>,
    /// Messages that wait until they may be sent.
    pub waiting_messages: Vec<String>,
    /// Whether the client declares the workspace trusted.
    pub trusted: bool,
    /// Whether trust is managed by the client: folders trusted elsewhere do not count then.
    pub trust_is_clients: bool,
    /// Requested runs that may still be refused.
    pub starting: BTreeMap<u32, Starting>,
    pub runs: BTreeMap<u32, Running>,
    pub next_run: u32,
    pub openings: u64,
    /// The docs of the last offered completions, by the number of their list.
    pub offered: std::collections::VecDeque<(u64, Vec<String>)>,
    pub next_list: u64,
    /// Documents that wait to be analyzed.
    waiting: BTreeSet<String>,
    /// Whether the server is stopping: nothing new begins.
    pub stopping: bool,
}

/// Counts the runs that act.
pub(super) struct ActiveRuns(watch::Sender<usize>);

/// An active run. It no longer counts when this is dropped.
pub(super) struct ActiveRun(watch::Sender<usize>);

impl ActiveRuns {
    /// Counts a run until the result is dropped.
    pub(super) fn begin(&self) -> ActiveRun {
        self.0.send_modify(|count| *count += 1);
        ActiveRun(self.0.clone())
    }

    /// Waits until no run acts.
    pub(super) async fn ended(&self) {
        // The sender is part of this struct, so this cannot fail.
        let _ = self.0.subscribe().wait_for(|count| *count == 0).await;
    }
}

impl Drop for ActiveRun {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

/// A requested run.
pub(super) struct Starting {
    pub cancel: CancellationToken,
    pub uri: String,
    /// `None` while it waits for changes of the document.
    pub suite: Option<SuiteId>,
    pub wanted: Wanted,
}

/// A run under way.
pub(super) struct Running {
    pub cancel: CancellationToken,
    pub token: lsp::ProgressToken,
    /// The document in which it was requested.
    pub uri: String,
    pub suite: SuiteId,
    /// Whether the whole file was requested.
    pub whole: bool,
    /// The names of its tests, with the number of attempts that have not ended.
    pub left: BTreeMap<String, usize>,
}

impl Running {
    /// Whether it runs a test of a suite, or is about to.
    pub(super) fn is_running(&self, suite: &SuiteId, test: &str) -> bool {
        self.suite == *suite && self.left.contains_key(test)
    }

    /// Counts an ended attempt of a test.
    pub(super) fn ended(&mut self, test: &str) {
        if let Some(left) = self.left.get_mut(test) {
            *left = left.saturating_sub(1);
            if *left == 0 {
                self.left.remove(test);
            }
        }
    }
}

/// An open document.
pub(super) struct OpenDocument {
    /// A counter of openings: a client may open a file again with the same version.
    pub opening: u64,
    pub version: i32,
    pub document: Document,
    /// The byte where the last edit ends.
    pub edited_at: usize,
    pub place: DocumentPlace,
    pub analyzer: Analyzer,
    /// The lock is separate because judging takes longer than the state may be locked.
    pub results: Arc<Mutex<Results>>,
    /// The last result of the analysis.
    pub latest: Option<Arc<Latest>>,
    /// The last known problems.
    pub known_problems: Arc<Mutex<Option<KnownProblems>>>,
}

/// A snapshot of a document.
#[derive(Clone)]
pub(super) struct Snapshot {
    pub opening: u64,
    pub version: i32,
    pub document: Document,
    /// The byte where the last edit ends.
    pub edited_at: usize,
    pub place: DocumentPlace,
    pub analyzer: Analyzer,
    pub results: Arc<Mutex<Results>>,
    pub latest: Option<Arc<Latest>>,
    pub known_problems: Arc<Mutex<Option<KnownProblems>>>,
    pub abilities: Abilities,
    pub display: Display,
    pub clock: Clock,
    pub buffers: Arc<Buffers>,
}

/// The problems of a text, under some settings. Editors request them repeatedly: diagnostics are sent or pulled after each
/// keystroke, and actions at each move of the cursor.
pub(super) struct KnownProblems {
    pub document: Document,
    pub settings: Arc<Settings>,
    pub problems: Arc<Problems>,
}

impl OpenDocument {
    /// Discards what the document read of files that changed.
    pub(super) fn files_changed(&mut self) {
        self.place.files.forget();
        self.analyzer.files_changed();
        self.known_problems = Arc::default();
    }
}

/// A snapshot of a document whose tree may be outdated: data that depends on the tree cannot be requested.
#[derive(Clone)]
pub(super) struct Captured(Snapshot);

impl Captured {
    /// Returns the scope of the document.
    pub(super) fn place(&self) -> &DocumentPlace {
        &self.0.place
    }

    /// Returns the last result of the analysis.
    pub(super) fn latest(&self) -> Option<&Arc<Latest>> {
        self.0.latest.as_ref()
    }
}

impl Snapshot {
    /// Returns the settings in force for the document, with the editor's text.
    pub(super) fn workspace(&self) -> Workspace {
        let Some(reach) = &self.place.settings else { return Workspace::default() };
        let workspace = workspace::settings_over(reach, |path| self.buffers.text(path));
        self.place.files.declare(workspace.declared());
        workspace
    }
}

impl Session {
    /// Returns a session without documents.
    pub(super) fn new(client: Client, outbox: Outbox, clock: Clock, requests: Pool, patient: Pool) -> Session {
        let state = State { next_run: 1, next_list: 1, ..State::default() };
        let buffers = Arc::new(Buffers::default());
        let scopes = Scopes::new(Vec::new(), Arc::clone(&buffers));
        let active_runs = ActiveRuns(watch::Sender::new(0));
        Session {
            client,
            outbox,
            requests,
            patient,
            runtime: Handle::current(),
            clock,
            buffers,
            scopes,
            index: Index::default(),
            changes: Changes::default(),
            names: Mutex::default(),
            published_elsewhere: Mutex::default(),
            active_runs,
            state: Mutex::new(state),
            adopting: Mutex::default(),
            turns: Mutex::default(),
            shelf: Mutex::default(),
            wakeup: Condvar::new(),
            client_ended: CancellationToken::new(),
        }
    }

    /// Returns the results of a suite, which are shared by all its files and kept by an active run.
    pub(super) fn results_of(&self, suite: &SuiteId) -> Arc<Mutex<Results>> {
        let mut shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(results) = shelf.get(suite).and_then(Weak::upgrade) {
            return results;
        }
        shelf.retain(|_, results| results.strong_count() > 0);
        let results = Arc::default();
        shelf.insert(suite.clone(), Arc::downgrade(&results));
        results
    }

    /// Returns the last known facts of open documents about names.
    pub(super) fn remembered(&self) -> MutexGuard<'_, HashMap<String, Remembered>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the state. A handler that panicked while it held the lock leaves it usable.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Schedules the analysis of a document.
    pub(super) fn analyze(&self, uri: &str) {
        self.state().waiting.insert(uri.to_owned());
        self.wakeup.notify_one();
    }

    /// Schedules the analysis of every open document that shares these results.
    pub(super) fn analyze_suite(&self, results: &Arc<Mutex<Results>>) {
        let open: Vec<String> = {
            let state = self.state();
            let of_suite = state.open.iter().filter(|(_, open)| Arc::ptr_eq(&open.results, results));
            of_suite.map(|(uri, _)| uri.clone()).collect()
        };
        open.iter().for_each(|uri| self.analyze(uri));
    }

    /// Schedules the analysis of every open document.
    pub(super) fn analyze_all(&self) {
        let mut state = self.state();
        let all: Vec<String> = state.open.keys().cloned().collect();
        state.waiting.extend(all);
        drop(state);
        self.wakeup.notify_one();
    }

    /// Waits for a document to analyze; `None` if the server stops.
    pub(super) fn next_to_analyze(&self) -> Option<String> {
        let mut state = self.state();
        loop {
            if state.stopping {
                return None;
            }
            if let Some(uri) = state.waiting.pop_first() {
                return Some(uri);
            }
            state = self.wakeup.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Stops the analysis and every run.
    pub(super) fn stop(&self) {
        let mut state = self.state();
        state.stopping = true;
        state.runs.values().for_each(|run| run.cancel.cancel());
        drop(state);
        self.wakeup.notify_all();
        self.changes.stop();
        self.index.stop();
    }

    /// Returns a snapshot of a document with its tree up to date.
    pub(super) fn snapshot(&self, uri: &str) -> Option<Snapshot> {
        self.captured(uri).map(|snapshot| self.refreshed(uri, snapshot))
    }

    /// Waits until earlier requests of a method about a document are answered. A client that is asked to refresh what it
    /// shows keeps the last response, so an earlier one must not arrive after it.
    pub(super) async fn turn(&self, method: &'static str, uri: &str) -> tokio::sync::OwnedMutexGuard<()> {
        let lock = {
            let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(turns.entry((method, uri.to_owned())).or_default())
        };
        lock.lock_owned().await
    }

    /// Forgets the locks of a document that is closed.
    pub(super) fn forget_turns(&self, uri: &str) {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner).retain(|(_, other), _| other != uri);
    }

    /// Updates the tree without holding the lock. The document keeps the tree if its text is still the same.
    pub(super) fn refreshed(&self, uri: &str, Captured(mut snapshot): Captured) -> Snapshot {
        if snapshot.document.is_current() {
            return snapshot;
        }
        snapshot.document.refresh();
        let is_same = |open: &&mut OpenDocument| {
            open.opening == snapshot.opening
                && !open.document.is_current()
                && open.document.text().is_instance(snapshot.document.text())
        };
        if let Some(open) = self.state().open.get_mut(uri).filter(is_same) {
            open.document = snapshot.document.clone();
        }
        snapshot
    }

    /// Returns a snapshot of a document.
    pub(super) fn captured(&self, uri: &str) -> Option<Captured> {
        let state = self.state();
        let (abilities, display) = (state.abilities, state.display);
        let open = state.open.get(uri)?;
        Some(Captured(Snapshot {
            opening: open.opening,
            version: open.version,
            document: open.document.clone(),
            edited_at: open.edited_at,
            place: open.place.clone(),
            analyzer: open.analyzer,
            results: Arc::clone(&open.results),
            latest: open.latest.clone(),
            known_problems: Arc::clone(&open.known_problems),
            abilities,
            display,
            clock: self.clock,
            buffers: Arc::clone(&self.buffers),
        }))
    }

    /// Returns a snapshot of a document after all changes so far are applied.
    pub(super) fn captured_in_turn(self: &Arc<Session>, uri: &str) -> oneshot::Receiver<Option<Captured>> {
        let (session, at) = (Arc::clone(self), uri.to_owned());
        self.changes.look(About::Document(uri), move || session.captured(&at))
    }

    /// Returns a snapshot of every open document by its URI.
    pub(super) fn snapshots(&self) -> Vec<(String, Snapshot)> {
        let mut open: Vec<String> = self.state().open.keys().cloned().collect();
        open.sort();
        open.into_iter().filter_map(|uri| self.snapshot(&uri).map(|snapshot| (uri, snapshot))).collect()
    }

    /// Checks whether recordings were created or deleted, and schedules the analysis of the documents concerned.
    pub(super) fn look_for_recordings(&self) {
        let mut suites: Vec<Arc<Mutex<Results>>> = Vec::new();
        for open in self.state().open.values().filter(|open| open.place.has_tests()) {
            if !suites.iter().any(|known| Arc::ptr_eq(known, &open.results)) {
                suites.push(Arc::clone(&open.results));
            }
        }
        for suite in suites {
            let results = || suite.lock().unwrap_or_else(PoisonError::into_inner);
            let store = results().opened();
            if store.refresh() {
                results().recorded_elsewhere();
                self.analyze_suite(&suite);
            }
        }
    }

    /// Whether a document is open.
    pub(super) fn is_open(&self, uri: &str) -> bool {
        self.state().open.contains_key(uri)
    }

    /// Whether a file is open and a spec file.
    pub(super) fn is_ours(&self, path: &Path) -> bool {
        self.state().open.values().any(|open| open.place.path.as_deref() == Some(path))
    }

    /// Allows the diagnostics of a file that is not open to be published again.
    pub(super) fn forget_published(&self, path: &Path) {
        self.published_elsewhere.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
    }

    /// Whether commands may run in a directory. The client's trust is about its folders.
    pub(super) fn may_run_in(&self, directory: &Path) -> bool {
        let (trusted, is_clients) = {
            let state = self.state();
            (state.trusted, state.trust_is_clients)
        };
        if is_clients && !trusted {
            return false;
        }
        let is_in = |directory: &Path| {
            let folders = self.scopes.folders();
            folders.iter().any(|folder| folder.canonicalize().is_ok_and(|folder| directory.starts_with(folder)))
        };
        (trusted && directory.canonicalize().is_ok_and(|directory| is_in(&directory)))
            || crate::trust::is_trusted(directory)
    }

    /// Returns the outermost of these directories that commands may not run in: trust in it covers those in it.
    pub(super) fn untrusted_of(&self, mut directories: Vec<PathBuf>) -> Option<PathBuf> {
        directories.sort_by_key(|directory| directory.components().count());
        directories.into_iter().find(|directory| !self.may_run_in(directory))
    }

    /// Shows the user a message with the name of the program.
    pub(super) fn show_message(&self, kind: lsp::MessageType, message: &str) {
        let (client, message) = (self.client.clone(), format!("speclens: {}", plain::block(message)));
        self.runtime.spawn(async move { client.show_message(kind, message).await });
    }
}

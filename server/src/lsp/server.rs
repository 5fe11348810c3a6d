//! The main loop: one task owns the state of the server. Handlers of the framework, workers, runs and timers send it
//! messages over one channel. It applies them in their order, and never waits: workers read files and compute, on what
//! they see of the world at the time, and send their results back.
//!
//! While it is determined what a document is, messages about it wait for that, in their order; those about other
//! documents do not.

mod analyses;
mod documents;
mod running;

use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use futures_util::FutureExt as _;
use serde_json::Value;
use speclens_runner::{clock::Clock, report::plain};
use tokio::sync::{mpsc, oneshot};
use tower_lsp_server::{
    Client, gen_lsp_types as lsp,
    jsonrpc::{Error, ErrorCode, Result},
};

use super::{
    analysis::Published,
    client::{Abilities, Display},
    runs::{Chosen, Runs},
    test_items::{TestsChanged, TestsChangedParams},
    world::{OpenDocument, Snapshot, World},
};
use crate::{
    index::{Depth, Limits, Schedule},
    threads::{self, Pool},
};

/// Number of threads that determine what documents are. Each may wait for a file; the others go on.
const PLACING_THREADS: usize = 3;

/// Number of threads for analyses and the index.
const BACKGROUND_THREADS: usize = 3;

/// Minimum number of threads for requests: a long request must not delay a short one.
const MIN_REQUEST_THREADS: usize = 3;

/// Maximum number of threads for requests. Each keeps its own memory, which the others cannot use.
const MAX_REQUEST_THREADS: usize = 6;

/// Maximum time that a response waits for files that are still to be read.
const INDEX_TIMEOUT: Duration = Duration::from_secs(20);

/// A message to the main loop: work on the state, which must not wait for anything.
pub(super) type Task = Box<dyn FnOnce(&mut Server) + Send>;

pub(super) type Messages = mpsc::UnboundedReceiver<Task>;

/// Sends messages to the main loop.
#[derive(Clone)]
pub(super) struct Handle {
    tasks: mpsc::UnboundedSender<Task>,
    pub client: Client,
}

impl Handle {
    pub(super) fn new(client: Client) -> (Handle, Messages) {
        let (tasks, messages) = mpsc::unbounded_channel();
        (Handle { tasks, client }, messages)
    }

    pub(super) fn send(&self, task: impl FnOnce(&mut Server) + Send + 'static) {
        // A server that has ended needs no message.
        let _ = self.tasks.send(Box::new(task));
    }

    pub(super) async fn ask<T: Send + 'static>(
        &self,
        task: impl FnOnce(&mut Server, oneshot::Sender<T>) + Send + 'static,
    ) -> Result<T> {
        let (reply, answer) = oneshot::channel();
        self.send(move |server| task(server, reply));
        answer.await.map_err(|_| failed("the request failed inside the server; see its log".to_owned()))
    }

    pub(super) async fn get<T: Send + 'static>(
        &self,
        look: impl FnOnce(&mut Server) -> T + Send + 'static,
    ) -> Result<T> {
        let answer = |server: &mut Server, reply: oneshot::Sender<T>| {
            // A request that was withdrawn needs no answer.
            let _ = reply.send(look(server));
        };
        self.ask(answer).await
    }

    pub(super) async fn abilities(&self) -> Result<Abilities> {
        self.get(|server| server.world.abilities).await
    }
}

pub(super) fn failed(message: String) -> Error {
    Error { code: ErrorCode::ServerError(-32803), message: message.into(), data: None }
}

/// The moment at which a request about a document is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// When it is known what the document is.
    Placed,
    /// When it is known what all documents are.
    AllPlaced,
    /// When the files of the workspace are read as well.
    Indexed,
    /// When it is known what all documents are, and the claims of the document are judged as they are written now.
    Judged,
}

/// Whether the problems of the workspace are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum WorkspaceCheck {
    #[default]
    NeverWanted,
    UpToDate,
    UnderWay {
        is_outdated: bool,
    },
}

/// A request that waits for other documents or the index.
struct Held {
    number: u64,
    when: When,
    /// The document that it is about; `None` for all.
    uri: Option<String>,
    task: Task,
}

/// The messages about a document that wait until it is known what the document is.
#[derive(Default)]
struct Queue {
    is_placing: bool,
    tasks: VecDeque<Task>,
}

pub(super) struct Server {
    handle: Handle,
    pub(super) world: Arc<World>,
    requests: Pool,
    placing: Pool,
    pub(super) background: Pool,
    /// The documents that are being placed.
    queues: HashMap<String, Queue>,
    held: Vec<Held>,
    /// The documents that are being analyzed, and whether that is to be done again.
    analyses: HashMap<String, bool>,
    published: Published,
    pub(super) workspace_check: WorkspaceCheck,
    index: Schedule,
    index_limits: Limits,
    runs: Runs,
    /// The docs of the last offered completions, by the number of their list.
    offered: VecDeque<(u64, Vec<String>)>,
    /// Messages about settings that were shown already.
    shown_messages: BTreeSet<String>,
    /// Messages about the first settings, which may not be sent until the client is initialized.
    first_messages: Vec<String>,
    /// A counter of openings and held requests.
    next_number: u64,
    /// Whether the server is stopping: nothing new begins.
    is_stopping: bool,
    runs_ended: Option<oneshot::Sender<()>>,
}

/// Does something; `None` if it panicked: a bug of speclens in one place must not end everything.
fn attempt<T>(work: impl FnOnce() -> T) -> Option<T> {
    let done = catch_unwind(AssertUnwindSafe(work));
    done.inspect_err(|_| tracing::error!("a part of the server failed; the rest continues")).ok()
}

impl Server {
    pub(super) fn new(handle: Handle, clock: Clock) -> anyhow::Result<Server> {
        let request_threads = (threads::cores() + 1).clamp(MIN_REQUEST_THREADS, MAX_REQUEST_THREADS);
        Ok(Server {
            handle,
            world: Arc::new(World::new(clock)),
            requests: Pool::start("request", request_threads)?,
            placing: Pool::start("placing", PLACING_THREADS)?,
            background: Pool::start("background", BACKGROUND_THREADS)?,
            queues: HashMap::new(),
            held: Vec::new(),
            analyses: HashMap::new(),
            published: Published::default(),
            workspace_check: WorkspaceCheck::default(),
            index: Schedule::default(),
            index_limits: Limits::default(),
            runs: Runs::default(),
            offered: VecDeque::new(),
            shown_messages: BTreeSet::new(),
            first_messages: Vec::new(),
            next_number: 0,
            is_stopping: false,
            runs_ended: None,
        })
    }

    pub(super) async fn serve(mut self, mut messages: Messages) {
        while let Some(task) = messages.recv().await {
            attempt(|| task(&mut self));
        }
    }
}

/// The start, the end, and the settings of the client.
impl Server {
    pub(super) fn initialize(&mut self, abilities: Abilities, folders: Vec<PathBuf>, options: &Value) {
        self.requests.begin(super::reference::prepare);
        self.world.scopes.set_folders(folders);
        let world = self.world_mut();
        world.abilities = abilities;
        world.trusted = options.get("trusted") == Some(&Value::Bool(true));
        world.trust_is_clients = options.get("trustIsClients") == Some(&Value::Bool(true));
        if let Some(settings) = options.get("settings") {
            let (display, wrong) = Display::read(settings);
            world.display = display;
            self.first_messages = wrong;
        }
        let limit = |name: &str| options.get("index").and_then(|index| index.get(name)).and_then(Value::as_u64);
        if let Some(files) = limit("files") {
            self.index_limits.files = usize::try_from(files).unwrap_or(usize::MAX);
        }
        if let Some(mebibytes) = limit("mebibytes") {
            self.index_limits.bytes = mebibytes.saturating_mul(1024 * 1024);
        }
    }

    pub(super) fn initialized(&mut self) {
        let messages = std::mem::take(&mut self.first_messages);
        messages.into_iter().for_each(|message| self.show_once(message));
        if self.world.abilities.watches_files {
            let client = self.handle.client.clone();
            tokio::spawn(async move {
                let registration = lsp::Registration {
                    id: "speclens/files".to_owned(),
                    method: "workspace/didChangeWatchedFiles".to_owned(),
                    register_options: Some(serde_json::json!({ "watchers": [{ "globPattern": "**/*" }] })),
                };
                if let Err(error) = client.register_capability(vec![registration]).await {
                    tracing::warn!("the client does not watch files: {error}");
                }
            });
        } else {
            self.look_for_recordings();
        }
        self.index.rest();
        self.look_at_all(Depth::Everything);
        self.ask_for_configuration();
    }

    /// Stops everything. `ended` receives a message when no run is left.
    pub(super) fn stop(&mut self, ended: oneshot::Sender<()>) {
        self.is_stopping = true;
        self.index.abandon();
        self.cancel_runs(&Chosen::default());
        if self.runs.are_active() {
            self.runs_ended = Some(ended);
        }
    }

    /// Applies changed settings of the client; `None`: it is asked for them.
    pub(super) fn configuration_changed(&mut self, settings: Option<&Value>) {
        match settings {
            Some(settings) => self.configure(settings),
            None => self.ask_for_configuration(),
        }
    }

    /// Requests the client's settings, without waiting for the response.
    fn ask_for_configuration(&self) {
        if !self.world.abilities.configuration {
            return;
        }
        let handle = self.handle.clone();
        tokio::spawn(async move {
            let item = lsp::ConfigurationItem { scope_uri: None, section: Some("speclens".to_owned()) };
            if let Ok(mut answers) = handle.client.configuration(vec![item]).await
                && let Some(settings) = answers.pop()
            {
                handle.send(move |server| server.configure(&settings));
            }
        });
    }

    fn configure(&mut self, settings: &Value) {
        let (display, wrong) = Display::read(settings);
        let before = std::mem::replace(&mut self.world_mut().display, display);
        wrong.into_iter().for_each(|message| self.show_once(message));
        self.refresh_lenses(before.code_lens != display.code_lens);
        let shown = |display: Display| (display.inlay_hints, display.verdicts);
        self.refresh_hints(shown(before) != shown(display));
        self.analyze_all();
    }

    pub(super) fn set_trust(&mut self, trusted: bool) {
        self.world_mut().trusted = trusted;
        // Recordings are used in trusted workspaces only.
        self.analyze_all();
    }

    pub(super) fn folders_changed(&mut self, added: Vec<PathBuf>, removed: &[PathBuf]) {
        let mut folders = self.world.scopes.folders();
        folders.retain(|folder| !removed.contains(folder));
        folders.extend(added);
        self.world.scopes.set_folders(folders);
        self.neighbors_changed();
        self.look_at_all(Depth::Everything);
    }
}

impl Server {
    fn notify<N: lsp::Notification>(&self, params: N::Params) {
        // Polled once, it is in the queue; more polls would wait until the queue is read.
        let _ = self.handle.client.send_notification::<N>(params).now_or_never();
    }

    fn publish(&self, uri: lsp::Uri, diagnostics: Vec<lsp::Diagnostic>, version: Option<i32>) {
        self.notify::<lsp::PublishDiagnosticsNotification>(lsp::PublishDiagnosticsParams { uri, version, diagnostics });
    }

    pub(super) fn show_message(&self, kind: lsp::MessageType, message: &str) {
        let message = format!("speclens: {}", plain::block(message));
        self.notify::<lsp::ShowMessageNotification>(lsp::ShowMessageParams { kind, message });
    }

    pub(super) fn show_once(&mut self, message: String) {
        if self.shown_messages.insert(message.clone()) {
            let kind = lsp::MessageType::Warning;
            self.notify::<lsp::ShowMessageNotification>(lsp::ShowMessageParams { kind, message });
        }
    }

    fn log(&self, message: String) {
        let kind = lsp::MessageType::Warning;
        self.notify::<lsp::LogMessageNotification>(lsp::LogMessageParams { kind, message });
    }

    /// Tells a client with a view of tests that it shows obsolete ones: of a document, or, without one, of files.
    fn tests_changed(&self, uri: Option<&str>) {
        if self.world.abilities.views_tests {
            let uri = uri.map(|uri| lsp::Uri(uri.to_owned()));
            self.notify::<TestsChanged>(TestsChangedParams { uri });
        }
    }

    fn refresh_lenses(&self, is_needed: bool) {
        if is_needed && self.world.abilities.refreshes_lenses {
            let client = self.handle.client.clone();
            tokio::spawn(async move { client.code_lens_refresh().await });
        }
    }

    fn refresh_hints(&self, is_needed: bool) {
        if is_needed && self.world.abilities.refreshes_hints {
            let client = self.handle.client.clone();
            tokio::spawn(async move { client.inlay_hint_refresh().await });
        }
    }

    fn refresh_diagnostics(&self) {
        if self.world.abilities.pulls_diagnostics {
            let client = self.handle.client.clone();
            tokio::spawn(async move { client.workspace_diagnostic_refresh().await });
        }
    }
}

impl Server {
    fn world_mut(&mut self) -> &mut World {
        Arc::make_mut(&mut self.world)
    }

    fn document_mut(&mut self, uri: &str) -> Option<&mut OpenDocument> {
        self.world_mut().documents.get_mut(uri).map(Arc::make_mut)
    }

    /// Does work on a thread, and then something with its result; `None` if the work panicked.
    pub(super) fn work<T: Send + 'static>(
        &self,
        pool: &Pool,
        work: impl FnOnce() -> T + Send + 'static,
        then: impl FnOnce(&mut Server, Option<T>) + Send + 'static,
    ) {
        let handle = self.handle.clone();
        pool.begin(move || {
            let result = attempt(work);
            handle.send(move |server| then(server, result));
        });
    }

    /// Frees something on a thread: a tree or the problems of a long text take a while.
    fn discard(&self, outdated: impl Send + 'static) {
        self.background.begin(move || drop(outdated));
    }

    pub(super) fn in_turn(&mut self, uri: &str, task: impl FnOnce(&mut Server) + Send + 'static) {
        match self.queues.get_mut(uri) {
            Some(queue) => queue.tasks.push_back(Box::new(task)),
            None => task(self),
        }
    }

    /// Answers a request about the present text of a document on a thread; with `None` if it is not a spec file.
    pub(super) fn answer<T: Send + 'static>(
        &mut self,
        uri: String,
        when: When,
        reply: oneshot::Sender<Option<T>>,
        work: impl FnOnce(&Snapshot) -> T + Send + 'static,
    ) {
        self.in_turn(&uri.clone(), move |server| {
            let Some(open) = server.world.documents.get(&uri).cloned() else { return drop(reply.send(None)) };
            server.hold(when, Some(uri.clone()), move |server| {
                let mut world = Arc::clone(&server.world);
                let is_text = |now: &Arc<OpenDocument>| now.text.rope().is_instance(open.text.rope());
                if !world.documents.get(&uri).is_some_and(is_text) {
                    // A later change must not shift the positions of the request.
                    Arc::make_mut(&mut world).documents.insert(uri.clone(), open);
                }
                server.requests.begin(move || {
                    if !reply.is_closed() {
                        let _ = reply.send(world.snapshot(&uri).map(|snapshot| work(&snapshot)));
                    }
                });
            });
        });
    }

    pub(super) fn answer_about_all<T: Send + 'static>(
        &mut self,
        reply: oneshot::Sender<T>,
        work: impl FnOnce(&Arc<World>) -> T + Send + 'static,
    ) {
        self.hold(When::Indexed, None, move |server| {
            let world = Arc::clone(&server.world);
            server.requests.begin(move || drop(reply.send(work(&world))));
        });
    }

    pub(super) fn hold(&mut self, when: When, uri: Option<String>, task: impl FnOnce(&mut Server) + Send + 'static) {
        self.next_number += 1;
        let number = self.next_number;
        self.held.push(Held { number, when, uri, task: Box::new(task) });
        self.release();
        if when == When::Indexed && self.held.iter().any(|held| held.number == number) {
            let handle = self.handle.clone();
            tokio::spawn(async move {
                tokio::time::sleep(INDEX_TIMEOUT).await;
                handle.send(move |server| {
                    if let Some(late) = server.held.iter().position(|held| held.number == number) {
                        (server.held.remove(late).task)(server);
                    }
                });
            });
            self.scan();
        }
    }

    fn release(&mut self) {
        let (are_placed, is_indexed) = (self.queues.is_empty(), self.index.is_done());
        if self.world.is_index_complete != is_indexed {
            self.world_mut().is_index_complete = is_indexed;
        }
        let analyses = &self.analyses;
        let is_due = |held: &mut Held| match held.when {
            When::Placed => true,
            When::AllPlaced => are_placed,
            When::Indexed => are_placed && is_indexed,
            When::Judged => are_placed && held.uri.as_ref().is_none_or(|uri| !analyses.contains_key(uri)),
        };
        let due: Vec<Held> = self.held.extract_if(.., is_due).collect();
        for held in due {
            attempt(|| (held.task)(self));
        }
    }
}

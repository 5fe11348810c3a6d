//! The language server. The only module that uses LSP types.
//!
//! Notifications change the state in the order of their arrival, see [`changes`]; the thread that reads messages never
//! waits for a file. [`publish`] analyzes the newest version of changed documents on a background thread; requests work
//! on a snapshot outside of the transport. [`transport`] prevents a slow client from blocking
//! the server.

mod backend;
mod changes;
mod client;
mod closed_file_diagnostics;
mod commands;
mod convert;
mod cross_file;
mod diagnostics;
mod documents;
mod dry;
mod edits;
mod features;
mod fix_all;
mod ignoring;
mod inbox;
mod indexing;
mod limit;
mod methods;
mod navigation;
mod publish;
mod reference;
mod run_diagnostics;
mod runs;
mod session;
mod settings;
mod tokens;
mod transport;
mod whole_suite;

use std::{
    fs::File,
    io,
    os::fd::AsFd as _,
    sync::{Arc, PoisonError},
    time::Duration,
};

use speclens_runner::clock::Clock;
use speclens_schema::{analysis::Problems, document::Document, json_schema::SpecFile};
use tower_lsp_server::LspService;

use crate::{
    index::scan,
    signals,
    threads::{self, Pool},
    workspace::{self, Workspace},
};
use backend::Backend;
use session::{KnownProblems, Session, Snapshot};

/// Minimum number of threads for requests: a long request must not delay a short one.
const MIN_REQUEST_THREADS: usize = 3;

/// Maximum number of threads for requests. Each keeps its own memory, which the others cannot use.
const MAX_REQUEST_THREADS: usize = 6;

/// Maximum time to wait for runs at the end: commands have a second to terminate, and are then killed.
const RUNS_END_TIMEOUT: Duration = Duration::from_millis(1500);

/// The reason why the server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The client sent `exit` or disconnected, or its process ended.
    Client,
    /// A signal.
    Signal,
}

/// Serves one client over standard input and output until it sends `exit` or disconnects, or a signal ends the server.
/// No process of a run is left behind.
pub(crate) fn serve() -> anyhow::Result<End> {
    let clock = Clock::from_environment()?;
    let runtime = threads::server_runtime()?;
    // Past the buffers of the standard library: a message is written at once.
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let end = runtime.block_on(serve_over(input, output, clock, signals::ending()));
    // Work that nobody waits for any more must not delay the end.
    std::mem::forget(runtime);
    end
}

/// Serves one client over a pair of streams until it disconnects, or something else ends the server.
async fn serve_over(input: File, output: File, clock: Clock, stop: impl Future<Output = ()>) -> anyhow::Result<End> {
    let requests = Pool::start("request", (threads::cores() + 1).clamp(MIN_REQUEST_THREADS, MAX_REQUEST_THREADS))?;
    let patient = Pool::start("patient", 2)?;
    let (outbox, written) = transport::Outbox::new(output)?;
    let mut session = None;
    let service = LspService::build_with_lifecycle_methods(|client| {
        let shared = Arc::new(Session::new(client, outbox.clone(), clock, requests, patient));
        session = Some(Arc::clone(&shared));
        Backend::new(shared)
    });
    let (service, socket) = methods::register(service).finish();
    let session = session.expect("the service made its backend");
    for _ in 0..changes::THREADS {
        let session = Arc::clone(&session);
        threads::start("changes", move || session.changes.make_until_stopped())?;
    }
    let analysis = {
        let session = Arc::clone(&session);
        threads::start("analysis", move || publish::analyze_until_stopped(&session))?
    };
    let indexing = {
        let session = Arc::clone(&session);
        threads::start("index", move || scan::work_until_stopped(&session.index, &*session))?
    };
    let guarded = transport::Guarded::new(service);
    let end = tokio::select! {
        () = transport::serve(transport::read(input)?, guarded, socket, outbox.clone()) => End::Client,
        () = session.client_ended.cancelled() => End::Client,
        () = stop => End::Signal,
    };
    session.stop();
    if tokio::time::timeout(RUNS_END_TIMEOUT, session.active_runs.ended()).await.is_err() {
        tracing::warn!("commands did not end in time and are killed");
    }
    // Responses that were sent still have to reach the client, if it reads at all.
    outbox.end();
    let _ = tokio::time::timeout(Duration::from_millis(500), written).await;
    // The end of the process ends them.
    drop((analysis, indexing));
    Ok(end)
}

/// Returns the problems in the text of a document.
fn problems(snapshot: &Snapshot, workspace: &Workspace) -> Arc<Problems> {
    let (document, settings) = (&snapshot.document, &workspace.settings);
    if snapshot.place.file.is_settings() {
        // The problems depend on neighboring files, whose changes are not reported.
        return Arc::new(problems_of(snapshot, document, workspace));
    }
    // Concurrent requests wait for the first one. When files change, there is another lock.
    let mut known = snapshot.known_problems.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = known.as_ref().filter(|known| known.document.is_same(document) && known.settings == *settings)
    {
        return Arc::clone(&known.problems);
    }
    let problems = Arc::new(problems_of(snapshot, document, workspace));
    let (document, settings) = (document.clone(), Arc::clone(settings));
    *known = Some(KnownProblems { document, settings, problems: Arc::clone(&problems) });
    problems
}

/// Returns the problems that another text of the document would have.
fn problems_of(snapshot: &Snapshot, document: &Document, workspace: &Workspace) -> Problems {
    if snapshot.place.file.is_settings() {
        let beside = snapshot.place.path.as_deref().map(|path| workspace::problems_beside(path, document));
        let problems = beside.into_iter().flatten().chain(workspace::problems(document));
        return Problems::of_whole(SpecFile::SETTINGS, problems.collect());
    }
    snapshot.analyzer.look(document, snapshot.place.files.as_ref(), &workspace.settings)
}

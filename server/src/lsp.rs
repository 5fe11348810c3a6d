//! The language server. The only place that knows LSP's types.
//!
//! Notifications change the state in the order in which they arrive, see [`changes`]; the thread that reads messages waits
//! for no file. [`publish`] looks at the newest version of what changed on a thread of its own; requests read a
//! snapshot and do their work away from the transport. [`transport`] keeps a slow client from stopping
//! the server.

mod across;
mod backend;
mod changes;
mod client;
mod commands;
mod convert;
mod diagnostics;
mod documents;
mod dry;
mod edits;
mod elsewhere;
mod features;
mod fix_all;
mod found;
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
mod shares;
mod tokens;
mod transport;
mod whole;

use std::{sync::Arc, time::Duration};

use speclens_runner::clock::Clock;
use speclens_schema::{analysis::Problems, document::Document, json_schema::SpecFile};
use tokio::io::{AsyncRead, AsyncWrite};
use tower_lsp_server::LspService;

use crate::{
    signals,
    threads::{self, Pool},
    workspace::{self, Workspace},
};
use backend::Backend;
use session::{Session, Snapshot};

/// Fewest threads that work on requests: a long one must not hold up a short one.
const MIN_REQUEST_THREADS: usize = 3;

/// Most threads that work on requests. Each keeps memory of its own that the others do not get.
const MAX_REQUEST_THREADS: usize = 6;

/// How long the end waits for runs: commands have a second to comply, and then they are killed.
const RUNS_END: Duration = Duration::from_millis(1500);

/// How the service came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The client said goodbye, or went away.
    Client,
    /// A signal.
    Signal,
}

/// Serves one client over standard input and output until it says `exit` or goes away, or a signal ends the service.
/// No process of a run stays behind.
pub(crate) fn serve() -> anyhow::Result<End> {
    let clock = Clock::from_environment()?;
    let runtime = threads::runtime()?;
    let end = runtime.block_on(serve_over(tokio::io::stdin(), tokio::io::stdout(), clock, signals::ending()));
    // A read of standard input may still be waiting for a client that keeps the pipe open.
    std::mem::forget(runtime);
    end
}

/// Serves one client over a pair of streams until it leaves, or something else ends the service.
pub(crate) async fn serve_over<I, O>(
    input: I,
    output: O,
    clock: Clock,
    stop: impl Future<Output = ()>,
) -> anyhow::Result<End>
where
    I: AsyncRead + Unpin + Send + 'static,
    O: AsyncWrite + Unpin + Send + 'static,
{
    let requests = Pool::start("request", (threads::cores() + 1).clamp(MIN_REQUEST_THREADS, MAX_REQUEST_THREADS))?;
    let patient = Pool::start("patient", 2)?;
    let (outbox, draining) = transport::Outbox::new(output);
    let mut session = None;
    let service = LspService::build_with_lifecycle_methods(|client| {
        let shared = Arc::new(Session::new(client, outbox.clone(), clock, requests, patient));
        session = Some(Arc::clone(&shared));
        Backend::new(shared)
    });
    let (service, socket) = methods::read(service, client::Abilities::default()).finish();
    let session = session.expect("the service made its backend");
    let drained = tokio::spawn(draining);
    for _ in 0..changes::THREADS {
        let session = Arc::clone(&session);
        let runtime = tokio::runtime::Handle::current();
        threads::start("changes", move || {
            let _entered = runtime.enter();
            session.changes.make_until_stopped();
        })?;
    }
    let analysis = {
        let session = Arc::clone(&session);
        let runtime = tokio::runtime::Handle::current();
        threads::start("analysis", move || publish::analyse_until_stopped(&session, &runtime))?
    };
    let indexing = {
        let session = Arc::clone(&session);
        let runtime = tokio::runtime::Handle::current();
        threads::start("index", move || indexing::fill_until_stopped(&session, &runtime))?
    };
    let guarded = transport::Guarded::new(service, outbox.clone());
    let end = tokio::select! {
        () = transport::serve(input, guarded, socket, outbox) => End::Client,
        () = stop => End::Signal,
    };
    session.stop();
    if tokio::time::timeout(RUNS_END, session.acting.ended()).await.is_err() {
        tracing::warn!("commands did not end in time and are killed");
    }
    // What was answered still has to reach the client, if it reads at all.
    let _ = tokio::time::timeout(Duration::from_millis(500), drained).await;
    // The end of the program ends them.
    drop((analysis, indexing));
    Ok(end)
}

/// Returns what is wrong with the text of a document.
fn problems(snapshot: &Snapshot, workspace: &Workspace) -> Arc<Problems> {
    let look = || problems_of(snapshot, &snapshot.document, workspace);
    if snapshot.place.file.is_settings() {
        // Files beside it count, and nobody says when they change.
        return Arc::new(look());
    }
    snapshot.found.problems(&snapshot.document, &workspace.settings, look)
}

/// Returns what would be wrong with another text of the document.
fn problems_of(snapshot: &Snapshot, document: &Document, workspace: &Workspace) -> Problems {
    if snapshot.place.file.is_settings() {
        let beside = snapshot.place.path.as_deref().and_then(workspace::problems_beside);
        let problems = beside.into_iter().chain(workspace::problems(document));
        return Problems::of_whole(SpecFile::SETTINGS, problems.collect());
    }
    snapshot.analyzer.look(document, snapshot.place.files.as_ref(), &workspace.settings)
}

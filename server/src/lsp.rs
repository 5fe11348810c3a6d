//! The language server. The only place that knows LSP's types.
//!
//! Notifications change the state in the order in which they arrive, before anything is awaited.
//! [`publish`] looks at the newest version of what changed on a thread of its own; requests read a
//! snapshot and do their work away from the transport. [`transport`] keeps a slow client from stopping
//! the server.

mod backend;
mod client;
mod convert;
mod features;
mod navigation;
mod publish;
mod results;
mod runs;
mod session;
mod transport;

use std::sync::Arc;

use anyhow::Context;
use speclens_runner::clock::Clock;
use speclens_schema::problem::Problem;
use tokio::io::{AsyncRead, AsyncWrite};
use tower_lsp_server::{LspService, Server};

use crate::workspace::{self, Workspace};
use backend::Backend;
use session::{Session, Snapshot};

/// As many requests are under way at once. It must be larger than any client's appetite: a request that
/// waits for a place cannot be cancelled.
const CONCURRENCY: usize = 4096;

/// Arguments of tool calls may nest deep, and judging them recurses.
pub(crate) const STACK_BYTES: usize = 256 * 1024 * 1024;

/// Serves one client over standard input and output until it says `exit` or goes away.
pub fn serve() -> anyhow::Result<()> {
    let clock = Clock::from_environment()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_stack_size(STACK_BYTES)
        .enable_all()
        .build()
        .context("the server cannot start its threads")?;
    runtime.block_on(serve_over(tokio::io::stdin(), tokio::io::stdout(), clock));
    // A read of standard input may still be waiting for a client that keeps the pipe open.
    runtime.shutdown_background();
    Ok(())
}

/// Serves one client over a pair of streams.
pub async fn serve_over<I, O>(input: I, output: O, clock: Clock)
where
    I: AsyncRead + Unpin + Send + 'static,
    O: AsyncWrite + Unpin + Send + 'static,
{
    let mut session = None;
    let (service, socket) = LspService::build(|client| {
        let shared = Arc::new(Session::new(client, clock));
        session = Some(Arc::clone(&shared));
        Backend::new(shared)
    })
    .custom_method("speclens/trust", Backend::trust)
    .custom_method("window/workDoneProgress/cancel", Backend::cancel_progress)
    .finish();
    let session = session.expect("the service made its backend");
    let (outbox, draining) = transport::Outbox::new(output);
    let drained = tokio::spawn(draining);
    let (messages, passed_on) = tokio::io::duplex(256 * 1024);
    let sifting = tokio::spawn(transport::sift(input, passed_on, outbox.clone()));
    let analysis = {
        let session = Arc::clone(&session);
        let runtime = tokio::runtime::Handle::current();
        let work = move || publish::analyse_until_stopped(&session, &runtime);
        std::thread::Builder::new().name("analysis".to_owned()).stack_size(STACK_BYTES).spawn(work)
    };
    if let Err(error) = &analysis {
        tracing::error!("the analysis cannot start, so nothing will be checked: {error}");
    }
    Server::new(messages, outbox, socket).concurrency_level(CONCURRENCY).serve(transport::Guarded::new(service)).await;
    session.stop();
    sifting.abort();
    // What was answered still has to reach the client, if it reads at all.
    let _ = tokio::time::timeout(std::time::Duration::from_millis(500), drained).await;
    drop(analysis);
}

/// What is wrong with the text of a document.
fn problems(snapshot: &Snapshot, workspace: &Workspace) -> Vec<Problem> {
    match snapshot.place.dialect() {
        Some(_) => snapshot.analyzer.problems(&snapshot.document, snapshot.place.files.as_ref(), &workspace.settings),
        None => workspace::problems(&snapshot.document),
    }
}

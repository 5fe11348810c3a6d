//! The language server. The only module that uses LSP types.
//!
//! [`transport`] reads and writes messages, the framework decodes them, [`backend`] hands them to the main loop in
//! [`server`], which owns the state. Workers compute on an immutable [`world`].

mod actions;
mod analysis;
mod backend;
mod client;
mod commands;
mod convert;
mod cross_file;
mod diagnostics;
mod edits;
mod features;
mod methods;
mod navigation;
mod reference;
mod runs;
mod server;
mod test_items;
mod transport;
mod typing;
mod workspace_check;
mod world;

use std::{fs::File, io, os::fd::AsFd as _, pin::pin, time::Duration};

use speclens_runner::clock::Clock;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tower_lsp_server::LspService;

use crate::{processes, threads};
use backend::Backend;
use server::{Handle, Server};

/// Maximum time to wait for runs at the end: commands have a second to terminate, and are then killed.
const RUNS_END_TIMEOUT: Duration = Duration::from_millis(1500);

/// The reason why the server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The client sent `exit` or disconnected, or its process ended.
    Client,
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
    let end = runtime.block_on(async { serve_over(input, output, clock, processes::ending()).await });
    // Work that nobody waits for any more must not delay the end.
    std::mem::forget(runtime);
    end
}

/// Serves one client over a pair of streams until it disconnects, or something else ends the server.
async fn serve_over(input: File, output: File, clock: Clock, stop: impl Future<Output = ()>) -> anyhow::Result<End> {
    let (outbox, written) = transport::Outbox::new(output)?;
    let client_ended = CancellationToken::new();
    let mut started = None;
    let service = LspService::build_with_lifecycle_methods(|client| {
        let (server, messages) = Handle::new(client);
        started = Some((server.clone(), messages));
        Backend::new(server, client_ended.clone())
    });
    let (service, socket) = methods::register(service).finish();
    let (server, messages) = started.expect("the service made its backend");
    let mut main_loop = pin!(Server::new(server.clone(), clock)?.serve(messages));
    let end = tokio::select! {
        () = transport::serve(transport::read(input)?, service, socket, outbox.clone()) => End::Client,
        () = client_ended.cancelled() => End::Client,
        () = stop => End::Signal,
        () = &mut main_loop => End::Client,
    };
    let (stopping, ended) = oneshot::channel();
    server.send(|server| server.stop(stopping));
    tokio::select! {
        _ = ended => {}
        () = tokio::time::sleep(RUNS_END_TIMEOUT) => tracing::warn!("commands did not end in time and are killed"),
        () = main_loop => {}
    }
    // Responses that were sent still have to reach the client, if it reads at all.
    outbox.end();
    let _ = tokio::time::timeout(Duration::from_millis(500), written).await;
    Ok(end)
}

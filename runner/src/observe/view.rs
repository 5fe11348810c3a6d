//! The surroundings of observers.

use std::{path::PathBuf, sync::Arc, time::Duration};

use speclens_schema::{
    evidence::{Answer, Observation, Output},
    mask::Secrets,
};
use tokio_util::sync::CancellationToken;

use crate::{
    exec::process::{Background, Environment},
    gateway::Gateway,
    model::Models,
    watch::Watch,
};

#[derive(Clone, Debug)]
pub(crate) struct View {
    /// The base directory of relative paths.
    pub(crate) directory: PathBuf,
    pub(crate) environment: Environment,
    pub(crate) limit: usize,
    pub(crate) background: Arc<Background>,
    pub(crate) models: Arc<Models>,
    pub(crate) secrets: Arc<Secrets>,
    pub(crate) test: String,
    /// The output of the act, with secrets masked; `None` if not observed.
    pub(crate) output: Option<Arc<Output>>,
    pub(crate) seen: Arc<Vec<Observation>>,
    pub(crate) gateway: Option<Arc<Gateway>>,
    pub(crate) watch: Option<Arc<Watch>>,
    pub(crate) cancel: CancellationToken,
    /// Returns the total time for which the program has been suspended: it counts toward no wait.
    pub(crate) suspended: fn() -> Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cancelled;

impl View {
    pub(super) async fn until_cancelled(&self, answer: impl Future<Output = Answer>) -> Result<Answer, Cancelled> {
        self.cancel.run_until_cancelled(answer).await.ok_or(Cancelled)
    }
}

/// Reads files on a thread that may block.
pub(super) async fn looking<A: Send + 'static>(look: impl FnOnce() -> A + Send + 'static) -> Result<A, Answer> {
    tokio::task::spawn_blocking(look).await.map_err(|error| {
        tracing::error!(%error, "observing files failed");
        Answer::Nothing("observing the files failed; this is a bug in speclens".to_owned())
    })
}

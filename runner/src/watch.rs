//! The log and the traces of a target that runs elsewhere: watched from before it starts until it has ended.

pub(crate) mod log;

use std::{future::pending, path::Path, sync::Arc};

use speclens_schema::{evidence::Ended, gateway::log::GatewayLog};
use tokio::task::spawn_blocking;

use self::log::LogWatch;
use crate::{
    gateway::Gateway,
    trace::{Identity, TraceWatch, Traces},
};

#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    pub log: Option<LogWatch>,
    pub identity: Identity,
    pub trace: Option<TraceWatch>,
}

impl Watch {
    pub(crate) async fn begin(gateway: &Gateway, directory: &Path, traces: &Arc<Traces>, identity: Identity) -> Watch {
        let (pattern, directory) = (gateway.log_pattern.clone(), directory.to_owned());
        let log = spawn_blocking(move || LogWatch::begin(&pattern, &directory)).await;
        let log = log.inspect_err(|error| tracing::error!(%error, "reading the gateway's log failed")).ok();
        Watch { log, identity, trace: Some(TraceWatch::begin(Arc::clone(traces))) }
    }

    pub(crate) async fn ended(&self) -> Ended {
        let logged = async {
            match self.log_of_run() {
                Some(log) => log.until(&self.identity, |log| log.is_done).await,
                None => pending().await,
            }
        };
        let traced = async {
            match &self.trace {
                Some(trace) => trace.root_ended(&self.identity).await,
                None => pending().await,
            }
        };
        tokio::select! {
            biased;
            () = logged => Ended::Log,
            () = traced => Ended::RootSpan,
        }
    }

    /// Waits while the log shows that the run, or an agent that it started, continues.
    pub(crate) async fn log_settled(&self) {
        if let Some(log) = self.log_of_run() {
            log.until(&self.identity, |log| !log.continues()).await;
        }
    }

    pub(crate) async fn read_log(&self) -> GatewayLog {
        let Some(log) = self.log_of_run().cloned() else { return GatewayLog::default() };
        let identity = self.identity.clone();
        let read = spawn_blocking(move || log.read(&identity)).await;
        read.inspect_err(|error| tracing::error!(%error, "reading the gateway's log failed")).unwrap_or_default()
    }

    fn log_of_run(&self) -> Option<&LogWatch> {
        self.log.as_ref().filter(|_| self.identity.run_id.is_some())
    }

    /// Returns the variables that tell started programs where to send their traces.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        self.trace.as_ref().map(TraceWatch::environment).unwrap_or_default()
    }
}

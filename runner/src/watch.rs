//! The log and the traces of a target that runs elsewhere: watched from before it starts until it has ended.

pub(crate) mod log;

use std::{future::pending, path::Path, sync::Arc};

use speclens_schema::{dialect::clawspec::gateway_log::GatewayLog, evidence::Ended};
use tokio::task::spawn_blocking;

use self::log::LogWatch;
use crate::{
    gateway::Gateway,
    trace::{TraceWatch, Traces},
};

/// The watched sources of an act.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    /// The log of the gateway.
    pub log: Option<LogWatch>,
    /// The identity of the watched run.
    pub identity: Identity,
    /// The watch for its trace.
    pub trace: Option<TraceWatch>,
}

impl Watch {
    /// Starts to watch, before the act.
    pub(crate) async fn begin(gateway: &Gateway, directory: &Path, traces: &Arc<Traces>, identity: Identity) -> Watch {
        let (pattern, directory) = (gateway.log_pattern.clone(), directory.to_owned());
        let log = spawn_blocking(move || LogWatch::begin(&pattern, &directory)).await;
        let log = log.inspect_err(|error| tracing::error!(%error, "reading the gateway's log failed")).ok();
        Watch { log, identity, trace: Some(TraceWatch::begin(Arc::clone(traces))) }
    }

    /// Resolves when a watched source reports the end of the run.
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

    /// Returns what the log says about the run.
    pub(crate) async fn read_log(&self) -> GatewayLog {
        let Some(log) = self.log_of_run().cloned() else { return GatewayLog::default() };
        let identity = self.identity.clone();
        let read = spawn_blocking(move || log.read(&identity)).await;
        read.inspect_err(|error| tracing::error!(%error, "reading the gateway's log failed")).unwrap_or_default()
    }

    /// Returns the log, if it can tell which lines are about the run.
    fn log_of_run(&self) -> Option<&LogWatch> {
        self.log.as_ref().filter(|_| self.identity.run_id.is_some())
    }

    /// Returns the variables that tell started programs where to send their traces.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        self.trace.as_ref().map(TraceWatch::environment).unwrap_or_default()
    }
}

/// The identity of a run, which distinguishes its traces from others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The id of the run: from the gateway's reply, or else the generated one; `None` if not known.
    pub run_id: Option<String>,
    /// The session that the gateway was asked to use.
    pub session_key: Option<String>,
    /// The agent, if its name is known.
    pub agent: Option<String>,
    /// Start time, in microseconds since the Unix epoch.
    pub started_us: i64,
    /// End time, if the end was observed.
    pub ended_us: Option<i64>,
}

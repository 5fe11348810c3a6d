//! Sources of traces: OpenTelemetry exports during a run, files, Opik.

mod files;
mod opik;
mod receiver;
mod store;

use std::{
    hash::{BuildHasher, RandomState},
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use receiver::Receiver;
use speclens_schema::{
    evidence::{Answer, Trace, TraceAnswer},
    gateway::config::{Backend, Config, Observability},
    settings::{GatewaySettings, TraceSources},
    trace::{ATTEMPT_ATTRIBUTE, MatchedTraces, Signals, TraceClues, assemble, has_ended, match_trace},
};

use crate::{clock::SuspendAwareTimer, exec::process, recording};

pub use files::read;
pub use opik::OpikTarget;
pub use receiver::MAX_REQUEST_BYTES;

#[derive(Clone, Debug, Default)]
pub struct TraceSettings {
    pub listen: Option<SocketAddr>,
    pub files: Vec<String>,
    /// The directory that the files are relative to.
    pub directory: PathBuf,
    pub opik: Option<OpikTarget>,
    pub silence: Duration,
    pub padding: Duration,
}

const DEFAULT_SILENCE_MS: u64 = 3_000;

const DEFAULT_PADDING_MS: u64 = 10_000;

const MAX_SILENCES: u32 = 4;

impl TraceSettings {
    pub fn of(
        sources: &TraceSources,
        traces: &Observability,
        directory: PathBuf,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> TraceSettings {
        TraceSettings {
            listen: sources.port.map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port))),
            files: sources.files.clone(),
            directory,
            opik: match traces.backend {
                Backend::Opik => Some(OpikTarget::of(traces.opik.as_ref(), variable)),
                Backend::None => None,
            },
            silence: Duration::from_millis(traces.trace_poll_delay_ms.unwrap_or(DEFAULT_SILENCE_MS)),
            padding: Duration::from_millis(traces.time_window_padding_ms.unwrap_or(DEFAULT_PADDING_MS)),
        }
    }
}

#[derive(Debug, Default)]
pub struct Traces {
    settings: TraceSettings,
    receiver: OnceLock<Result<Arc<Receiver>, String>>,
}

impl Traces {
    /// Prepares the backends. Nothing is opened before the first act is watched.
    pub fn new(settings: TraceSettings) -> Traces {
        Traces { settings, receiver: OnceLock::new() }
    }

    /// Opens the address that programs send their traces to, and returns it; `None` if no port is configured.
    pub fn open(&self) -> Option<Result<SocketAddr, String>> {
        self.receiver().map(|receiver| receiver.map(|it| it.address()))
    }

    /// Returns all spans received so far, and the log records that belong to them, once.
    pub fn take(&self) -> Signals {
        match self.receiver.get() {
            Some(Ok(receiver)) => receiver.store().drain(),
            Some(Err(_)) | None => Signals::default(),
        }
    }

    /// Waits until something has arrived, and then nothing for this time.
    pub async fn settled(&self, silence: Duration) {
        let Some(Ok(receiver)) = self.receiver.get() else { return std::future::pending().await };
        let mut arrivals = receiver.store().listen();
        loop {
            match receiver.store().quiet() {
                Some(quiet) if quiet >= silence => return,
                Some(quiet) => tokio::time::sleep(silence - quiet).await,
                // The store lives as long as the receiver.
                None => drop(arrivals.changed().await),
            }
        }
    }

    fn receiver(&self) -> Option<Result<Arc<Receiver>, String>> {
        let address = self.settings.listen?;
        Some(self.receiver.get_or_init(|| Receiver::open(address)).clone())
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The id of the run: from the gateway's reply, or else the generated one; `None` if not known.
    pub(crate) run_id: Option<String>,
    pub(crate) session_key: Option<String>,
    pub(crate) agent: Option<String>,
    /// Start time, in microseconds since the Unix epoch.
    pub(crate) started_us: i64,
    pub(crate) ended_us: Option<i64>,
}

#[derive(Clone, Debug)]
pub(crate) struct TraceWatch {
    traces: Arc<Traces>,
    receiver: Option<Result<Arc<Receiver>, String>>,
    mark: String,
    since: u64,
}

impl TraceWatch {
    /// Opens the backends that are not open yet, and notes which traces belong to earlier acts. An error of a backend
    /// is reported when the trace is requested.
    pub(crate) fn begin(traces: Arc<Traces>) -> TraceWatch {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let receiver = traces.receiver();
        let since = receiver.as_ref().and_then(|it| it.as_ref().ok()).map_or(0, |receiver| receiver.store().now());
        let mark = format!("{:016x}", RandomState::new().hash_one(COUNTER.fetch_add(1, Ordering::Relaxed)));
        TraceWatch { traces, receiver, mark, since }
    }

    /// Returns the reason why no trace can be received, if nothing else is a source of traces.
    pub(crate) fn failure(&self) -> Option<String> {
        let settings = &self.traces.settings;
        let is_only_source = settings.files.is_empty() && settings.opik.is_none();
        self.receiver.as_ref()?.as_ref().err().filter(|_| is_only_source).cloned()
    }

    /// Returns the environment variables with the address for traces. Empty if no port is open.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let Some(Ok(receiver)) = &self.receiver else { return Vec::new() };
        environment(receiver.address(), &self.mark)
    }

    /// Resolves when the outermost span of the act has ended; never, if that cannot be known.
    pub(crate) async fn root_ended(&self, identity: &Identity) {
        let clues = self.clues(identity, &[]);
        if let Some(Ok(receiver)) = &self.receiver {
            let mut arrivals = receiver.store().listen();
            loop {
                if self.received_root(receiver, &clues) {
                    return;
                }
                if arrivals.changed().await.is_err() {
                    break;
                }
            }
        }
        std::future::pending().await
    }

    /// Returns whether the outermost span of the act's trace has certainly arrived: programs export spans when they
    /// end.
    fn received_root(&self, receiver: &Receiver, clues: &TraceClues) -> bool {
        // Another act may begin at the same time, so the time does not identify it.
        let clues = TraceClues { started_us: i64::MAX, padding_us: 0, ..clues.clone() };
        receiver.store().look(self.since, |contents| {
            let found = match_trace(&contents.traces, &clues).map(|found| found.own).unwrap_or_default();
            has_ended(found.iter().flat_map(|index| contents.traces[*index].spans.iter().copied()))
        })
    }

    fn clues(&self, identity: &Identity, logged: &[String]) -> TraceClues {
        let Identity { run_id, session_key, agent, started_us, ended_us } = identity.clone();
        let padding_us = i64::try_from(self.traces.settings.padding.as_micros()).unwrap_or(i64::MAX);
        let mark = Some(self.mark.clone());
        TraceClues { mark, logged: logged.to_vec(), run_id, session_key, agent, started_us, ended_us, padding_us }
    }

    /// Returns the trace of an act that has ended, once it is complete. `logged` are the trace ids of the run in the
    /// gateway log.
    pub(crate) async fn collect(&self, identity: &Identity, logged: &[String]) -> Answer {
        let clues = self.clues(identity, logged);
        let settings = &self.traces.settings;
        let mut sources: Vec<Source<'_>> = Vec::new();
        sources.extend(self.receiver.as_ref().map(Source::Received));
        sources.extend((!settings.files.is_empty()).then_some(Source::Files));
        sources.extend(settings.opik.as_ref().map(Source::Opik));
        if sources.is_empty() {
            return Answer::Trace(TraceAnswer::Missing(format!(
                "no source of traces is configured; set `observability.backend` in `{}`, or `{}.traces` in `speclens.yaml`",
                Config::FILE,
                GatewaySettings::KEY
            )));
        }
        let timer = SuspendAwareTimer::begin(process::suspended);
        let limit = settings.silence * MAX_SILENCES;
        let mut arrivals = match &self.receiver {
            Some(Ok(receiver)) => Some(receiver.store().listen()),
            Some(Err(_)) | None => None,
        };
        let mut before: Vec<Option<(usize, Duration)>> = vec![None; sources.len()];
        loop {
            let is_over = timer.elapsed() >= limit;
            let mut failures = Vec::new();
            let mut found = None;
            for (source, before) in sources.iter().zip(&mut before) {
                match self.look(source, &clues).await {
                    Ok(None) => {}
                    Err(reason) => failures.push(reason),
                    Ok(Some((trace, quiet))) => {
                        // A source that is only read needs two observations to show whether it still grows.
                        let since = match *before {
                            Some((spans, since)) if spans == trace.spans.len() => since,
                            Some(_) | None => timer.elapsed(),
                        };
                        *before = Some((trace.spans.len(), since));
                        let quiet = quiet.unwrap_or_else(|| timer.elapsed().saturating_sub(since));
                        if is_over || (quiet >= settings.silence && !trace.unfinished) {
                            return Answer::Trace(TraceAnswer::Found(trace));
                        }
                        if !trace.unfinished {
                            found.get_or_insert(settings.silence.saturating_sub(quiet));
                        }
                    }
                }
            }
            // A source without an answer may have one in a moment, unless it cannot be asked at all.
            if failures.len() == sources.len() || is_over {
                let reason = failures.into_iter().next();
                return Answer::Nothing(reason.unwrap_or_else(|| "no trace of the run was found".to_owned()));
            }
            let pause = found.unwrap_or(settings.silence).max(MIN_PAUSE).min(limit);
            let arrived = async {
                match &mut arrivals {
                    Some(arrivals) if found.is_none() => drop(arrivals.changed().await),
                    Some(_) | None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = arrived => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// Looks once. Returns a trace with the time since its last addition, if that is known.
    async fn look(&self, source: &Source<'_>, clues: &TraceClues) -> Result<Option<(Trace, Option<Duration>)>, String> {
        match source {
            Source::Received(Err(reason)) => Err(reason.clone()),
            Source::Received(Ok(receiver)) => {
                let (store, since, clues) = (Arc::clone(receiver.store()), self.since, clues.clone());
                let look = move || {
                    store.look(since, |contents| {
                        let MatchedTraces { own, by, unassigned } =
                            match_trace(&contents.traces, &clues).map_err(|ambiguous| ambiguous.sentence())?;
                        if own.is_empty() {
                            return Ok(None);
                        }
                        let quiet = own.iter().chain(&unassigned).map(|index| contents.last[*index].elapsed()).min();
                        let spans = own.iter().flat_map(|index| contents.traces[*index].spans.iter().copied());
                        let cost_usd = contents.cost_counters.between(clues.started_us, now_us());
                        let trace = assemble(spans);
                        let (cut, unassigned) = (trace.cut || contents.is_cut, unassigned.len());
                        let trace = Trace { joined: by, cost_usd, cut, unassigned, ..trace };
                        Ok(Some((trace, quiet)))
                    })
                };
                blocking(look).await
            }
            Source::Files => {
                let (patterns, directory) =
                    (self.traces.settings.files.clone(), self.traces.settings.directory.clone());
                let clues = clues.clone();
                let trace = blocking(move || files::look(&patterns, &directory, &clues)).await?;
                Ok(trace.map(|trace| (trace, None)))
            }
            Source::Opik(target) => Ok(target.look(clues).await?.map(|trace| (trace, None))),
        }
    }
}

enum Source<'t> {
    Received(&'t Result<Arc<Receiver>, String>),
    Files,
    Opik(&'t OpikTarget),
}

const MIN_PAUSE: Duration = Duration::from_millis(20);

pub fn environment(address: SocketAddr, mark: &str) -> Vec<(String, String)> {
    let resource = match std::env::var("OTEL_RESOURCE_ATTRIBUTES") {
        Ok(own) if !own.is_empty() => format!("{own},{ATTEMPT_ATTRIBUTE}={mark}"),
        Ok(_) | Err(_) => format!("{ATTEMPT_ATTRIBUTE}={mark}"),
    };
    let mut variables = vec![
        ("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{address}")),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf".to_owned()),
        ("OTEL_RESOURCE_ATTRIBUTES", resource),
    ];
    // By default exporters wait for seconds before they send, and for a minute with metrics.
    for (name, ms) in [("OTEL_BSP_SCHEDULE_DELAY", "200"), ("OTEL_METRIC_EXPORT_INTERVAL", "1000")] {
        if std::env::var_os(name).is_none() {
            variables.push((name, ms.to_owned()));
        }
    }
    variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Returns the time in microseconds since the Unix epoch.
pub(crate) fn now_us() -> i64 {
    i64::try_from(recording::now_us()).unwrap_or(i64::MAX)
}

async fn blocking<A: Send + 'static>(look: impl FnOnce() -> Result<A, String> + Send + 'static) -> Result<A, String> {
    tokio::task::spawn_blocking(look).await.unwrap_or_else(|error| {
        tracing::error!(%error, "reading a trace failed");
        Err("reading the trace failed; this is a bug in speclens".to_owned())
    })
}

#[cfg(test)]
mod tests;

//! `speclens trace`: judges suites by a trace that is received from a running system or stored in files.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, bail, ensure};
use speclens_runner::{
    exec::process::{self, Background, Environment, Finished},
    report::human,
    run::from_evidence,
    trace::{self, TraceSettings, Traces},
};
use speclens_schema::{
    dialect::kindlm,
    evidence::{Answer, Ended, Evidence, Need, Observation, RunError, RunErrorKind, Trace, TraceAnswer},
    format::{Dialect, Traced},
    trace::{Signals, Stored, assemble, have_ended, opik},
};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::{
    INTERRUPTED, INVALID,
    discover::Wanted,
    exit_code, levels,
    load::{self, Loaded},
    output, run, select,
};
use crate::threads;

/// The options of `speclens trace`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Suites or directories to search
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    select: select::Selection,
    /// File with spans, in OTLP/JSON or as exported by Opik (repeatable)
    #[arg(long, value_name = "FILE", required_unless_present = "listen")]
    from: Vec<PathBuf>,
    /// Receive spans over OTLP/HTTP
    #[arg(long, conflicts_with = "from")]
    listen: bool,
    /// With `--listen`: port to listen on (default: the suite's port, or 4318); 0 selects a free port
    #[arg(long, value_name = "PORT", requires = "listen", conflicts_with = "from")]
    port: Option<u16>,
    /// With `--listen`: command to run, which sends its spans to the address in OTEL_EXPORTER_OTLP_ENDPOINT
    #[arg(long, value_name = "CMD", requires = "listen", conflicts_with = "from")]
    command: Option<String>,
    /// With `--listen`: milliseconds to wait for the first span (default: the suite's timeout, or 30000)
    #[arg(long, value_name = "MS", requires = "listen", conflicts_with = "from", value_parser = clap::value_parser!(u64).range(1..=86_400_000))]
    timeout: Option<u64>,
    #[command(flatten)]
    levels: levels::LevelArgs,
}

/// Time without new spans after which a trace is complete.
const SILENCE: Duration = Duration::from_millis(500);

#[derive(Default)]
struct Observed {
    stored: Stored,
    /// The reason why there are none.
    missing: Option<String>,
    /// Whether the program that sent them was stopped or failed, so that more would have followed.
    is_open: bool,
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    let levels = args.levels.levels()?;
    let load::Load { mut suites, failures, .. } = load::suites(&args.paths, Wanted::Suites, &levels);
    failures.iter().for_each(output::complain);
    if suites.is_empty() {
        return Ok(INVALID);
    }
    for loaded in &mut suites {
        let path = loaded.directory.join(&loaded.place);
        let Some(traced) = loaded.report.suite.judged_by_trace() else {
            bail!("{}: cli-bench has no trace assertions; name a KindLM or ClawSpec suite", path.display());
        };
        loaded.report.suite = Arc::new(traced);
    }
    let has_claims = suites.iter().any(|loaded| !loaded.report.suite.cases.is_empty() || loaded.report.is_refused());
    ensure!(
        has_claims,
        "these suites have no trace assertions; name a suite with `trace` (KindLM) or assertions such as `no_span_errors` (ClawSpec)"
    );
    let chosen = args.select.cases(&suites)?;
    let observed = if args.listen { listen(args, &suites)? } else { Some(stored(&args.from)?) };
    let Some(observed) = observed else { return Ok(INTERRUPTED) };
    let mut reports = Vec::new();
    for (loaded, chosen) in suites.into_iter().zip(chosen) {
        let mut report = loaded.report;
        if !report.is_refused() {
            let evidence = observed.evidence(report.suite.dialect, &report.source.document);
            let secrets = Arc::clone(&report.source.secrets);
            report.result =
                Some(Arc::new(from_evidence(&report.suite, |index| chosen.contains(&index), evidence, &secrets)));
        }
        reports.push(report);
    }
    output::print(&human::run(&reports, output::columns()))?;
    Ok(if failures.is_empty() { exit_code::of_run(&reports, false) } else { INVALID })
}

fn stored(paths: &[PathBuf]) -> anyhow::Result<Observed> {
    let mut all = Stored::default();
    for path in paths {
        all.add(trace::read(path).map_err(anyhow::Error::msg)?);
    }
    Ok(Observed { stored: all, ..Observed::default() })
}

/// Receives spans until no more arrive; `None` if interrupted.
fn listen(args: &Args, suites: &[Loaded]) -> anyhow::Result<Option<Observed>> {
    let sections: Vec<kindlm::trace::Trace> = suites
        .iter()
        .filter(|loaded| loaded.report.suite.dialect.traced() == Traced::All)
        .map(|loaded| kindlm::trace::Trace::of(&loaded.report.source.document))
        .collect();
    let written = sections.first().cloned().unwrap_or_default();
    let port = args.port.unwrap_or(written.port());
    let wait = Duration::from_millis(args.timeout.unwrap_or(written.timeout_ms()));
    let listen = Some(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let traces = Traces::new(TraceSettings { listen, ..TraceSettings::default() });
    let runtime = threads::runtime()?;
    let directory = suites.first().map(|loaded| loaded.directory.clone()).unwrap_or_default();
    let cancel = CancellationToken::new();
    run::end_with(&runtime, &cancel);
    let received = runtime.block_on(async {
        let address = traces.open().context("the listener is gone")?.map_err(anyhow::Error::msg)?;
        output::note(&format!("listening at http://{address}"));
        let background = Background::default();
        let begun = Instant::now();
        let is_open = match &args.command {
            Some(command) => !run_command(command, address, &directory, wait, &background, &cancel).await?,
            None => false,
        };
        // A background exporter may still be sending when the command has ended.
        let rest = wait.saturating_sub(begun.elapsed()).max(SILENCE);
        let settled = cancel.run_until_cancelled(timeout(rest, traces.settled(SILENCE))).await;
        let is_open = background.end().await || is_open;
        if settled.is_none() {
            return Ok(None);
        }
        let signals = traces.take();
        let missing = format!("no spans arrived within {} s", wait.as_secs_f64());
        let missing = signals.spans.is_empty().then_some(missing);
        Ok(Some(Observed { stored: Stored { signals, ..Stored::default() }, missing, is_open }))
    });
    // The end of the process ends its threads: there is no need to wait for them.
    std::mem::forget(runtime);
    received
}

/// Runs the command that sends the spans. Returns whether it ended by itself, without an error, and left no process.
/// Its output is for the user and must not be mixed with the report.
async fn run_command(
    script: &str,
    address: SocketAddr,
    directory: &Path,
    timeout: Duration,
    background: &Background,
    cancel: &CancellationToken,
) -> anyhow::Result<bool> {
    let set = trace::environment(address, "trace").into_iter().collect();
    let environment = Environment { set, ..Environment::default() };
    let output = process::Output::Shown;
    let command =
        process::Command { shell: "sh", script, directory, environment: &environment, input: &[], timeout, output };
    let Finished { ran, error, .. } = process::run(command, background, cancel).await;
    match (error, ran.exit.filter(|exit| exit.code != Some(0))) {
        (Some(RunError { kind: RunErrorKind::Spawn, message }), _) => bail!(message),
        // The end of the program says it.
        (Some(RunError { kind: RunErrorKind::Cancelled, .. }), _) => {}
        (None, None) => return Ok(true),
        (Some(error), _) => output::note(&error.message),
        (None, Some(exit)) => output::note(&format!("the command {}", exit.sentence())),
    }
    Ok(false)
}

impl Observed {
    fn evidence(&self, dialect: Dialect, document: &speclens_schema::document::Document) -> Evidence {
        let broken = |kind: RunErrorKind, message: &str| Evidence {
            error: Some(RunError { kind, message: message.to_owned() }),
            ..Evidence::default()
        };
        if let Some(missing) = &self.missing {
            return broken(RunErrorKind::TimedOut, missing);
        }
        let Signals { spans, logs, unassigned, .. } = &self.stored.signals;
        // Spans that cannot be assigned may be about anything.
        let is_open = *unassigned > 0 || self.is_open || !have_ended(spans);
        let ended = Some(if is_open { Ended::Deadline } else { Ended::RootSpan });
        match dialect.traced() {
            Traced::All => {
                let section = kindlm::trace::Trace::of(document);
                let evidence = section.evidence(spans, logs).map(|evidence| Evidence { ended, ..evidence });
                evidence.unwrap_or_else(|| broken(RunErrorKind::NoSpans, "no span matches `trace.spanFilter`"))
            }
            Traced::AboutTraces | Traced::None => {
                // The outermost span of a stored trace may be that of a caller, which is elsewhere.
                let mut trace = Trace { unfinished: is_open, ..assemble(spans) };
                let (of_opik, mut spans) = self.stored.of_opik();
                for of_opik in &of_opik {
                    let part = opik::assemble(of_opik, &spans.remove(of_opik.id.as_str()).unwrap_or_default());
                    trace = if trace.spans.is_empty() { part } else { trace.and(part) };
                }
                let answer = Answer::Trace(TraceAnswer::Found(trace));
                Evidence { observations: vec![Observation { need: Need::Trace, answer }], ended, ..Evidence::default() }
            }
        }
    }
}

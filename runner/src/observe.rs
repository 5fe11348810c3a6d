//! Collects facts that claims need beyond the act itself. [`observe`] is the only place that distinguishes needs: a
//! new kind of need has its arm there.

pub(crate) mod content;
pub(crate) mod files;
mod question;
mod response;
#[cfg(all(test, unix))]
mod tests;
mod view;

use std::{sync::Arc, time::Duration};

use speclens_schema::{
    evidence::{Answer, LogNeed, Need, Observation, Presence, RunErrorKind, TraceAnswer, VariablesNeed},
    gateway::config::Config,
    template,
};
use tokio::task::JoinSet;
use view::looking;

use crate::{clock::SuspendAwareTimer, exec::process, watch::log};

pub(crate) use files::glob;
pub(crate) use view::{Cancelled, View};

const MAX_LINE_WAIT: Duration = Duration::from_millis(500);

const LINE_INTERVAL: Duration = Duration::from_millis(25);

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Observations {
    /// In the order of the needs. After a cancellation, the rest is missing.
    pub(crate) observations: Vec<Observation>,
    pub(crate) cancelled: bool,
}

pub(crate) async fn observe(need: &Need, view: &View) -> Result<Answer, Cancelled> {
    match need {
        // It ends its own processes.
        Need::Command { run, timeout_ms } => command(run, *timeout_ms, view).await,
        Need::Path { path, content } => view.until_cancelled(files::path(path, *content, view)).await,
        Need::Files(need) => view.until_cancelled(files::observe(need, view)).await,
        Need::Log(need) => view.until_cancelled(log(need, view)).await,
        Need::Variables(need) => Ok(variables(need, view)),
        Need::Question(need) => view.until_cancelled(question::observe(need, view)).await,
        Need::Response(need) => view.until_cancelled(response::observe(need, view)).await,
        Need::Trace => view.until_cancelled(trace(view)).await,
        Need::Scores(need) => view.until_cancelled(question::scores(need, view)).await,
    }
}

/// Observes the needs of a case. Commands may affect later observations, so each of them runs after all needs before
/// it, and before all needs after it; the needs between two of them are observed at once. Judges are asked about these
/// observations, so each of them is asked after all that, one after the other.
pub(crate) async fn all(needs: Vec<Need>, view: &View) -> Observations {
    let is_command = |need: &Need| matches!(need, Need::Command { .. });
    let mut seen = Observations::default();
    for together in needs.chunk_by(|one, other| !is_command(one) && !is_command(other)).flat_map(stages) {
        if seen.cancelled || view.cancel.is_cancelled() {
            seen.cancelled = true;
            break;
        }
        let answers = if together.iter().any(|need| matches!(need, Need::Scores(_))) {
            let known = view.seen.iter().chain(&seen.observations).cloned().collect();
            at_once(&together, &View { seen: Arc::new(known), ..view.clone() }).await
        } else {
            at_once(&together, view).await
        };
        for (need, answer) in together.into_iter().zip(answers) {
            match answer {
                Ok(answer) => seen.observations.push(Observation { need, answer }),
                Err(Cancelled) => seen.cancelled = true,
            }
        }
    }
    seen
}

/// Returns the groups of needs that may be observed together: all observations, then each question to a judge.
fn stages(together: &[Need]) -> impl Iterator<Item = Vec<Need>> {
    let (questions, seen): (Vec<Need>, Vec<Need>) =
        together.iter().cloned().partition(|need| matches!(need, Need::Scores(_) | Need::Question(_)));
    let seen = Some(seen).filter(|seen| !seen.is_empty());
    seen.into_iter().chain(questions.into_iter().map(|question| vec![question]))
}

/// Observes several needs at the same time. If an observer panics, the answer is that error.
async fn at_once(needs: &[Need], view: &View) -> Vec<Result<Answer, Cancelled>> {
    let panicked = || Answer::Nothing("the observation failed; this is a bug in speclens".to_owned());
    let mut answers: Vec<Result<Answer, Cancelled>> = needs.iter().map(|_| Ok(panicked())).collect();
    let mut observers = JoinSet::new();
    for (index, need) in needs.iter().enumerate() {
        let (need, view) = (need.clone(), view.clone());
        observers.spawn(async move { (index, observe(&need, &view).await) });
    }
    while let Some(finished) = observers.join_next().await {
        match finished {
            Ok((index, answer)) => answers[index] = answer,
            Err(error) => tracing::error!(%error, "the observation failed"),
        }
    }
    answers
}

async fn command(run: &str, timeout_ms: u64, view: &View) -> Result<Answer, Cancelled> {
    let script = template::in_workdir(run, &view.directory.to_string_lossy());
    let timeout = Duration::from_millis(timeout_ms);
    let command = process::Command::shell(&script, &view.directory, &view.environment, timeout, view.limit);
    let finished = process::run(command, &view.background, &view.cancel).await;
    match finished.error {
        None => Ok(Answer::Command(finished.ran)),
        Some(error) if error.kind == RunErrorKind::Cancelled => Err(Cancelled),
        // The deadline is part of the format, and a shell reports an end by a signal as an exit code: both are answers.
        Some(error) if finished.ran.timed_out || error.kind == RunErrorKind::Killed => {
            Ok(Answer::Command(finished.ran))
        }
        Some(error) => Ok(Answer::Nothing(error.message)),
    }
}

async fn log(need: &LogNeed, view: &View) -> Answer {
    let timer = SuspendAwareTimer::begin(view.suspended);
    loop {
        let (mut wanted, place) = (need.clone(), view.clone());
        if let (Some(path), Some(gateway)) = (&mut wanted.path, &view.gateway) {
            *path = gateway.reached_log(path);
        }
        let looked = looking(move || {
            let pattern = place.gateway.as_ref().map_or(Config::LOG_PATTERN, |gateway| &gateway.log_pattern);
            let watch = place.watch.as_deref().map(|watch| (watch.log.as_ref(), &watch.identity));
            log::look(&wanted, pattern, &place.directory, watch)
        });
        match looked.await {
            Ok(reading) if reading.is_half && timer.elapsed() < MAX_LINE_WAIT => {}
            Ok(reading) => return Answer::Log(reading.answer),
            Err(nothing) => return nothing,
        }
        tokio::time::sleep(LINE_INTERVAL).await;
    }
}

async fn trace(view: &View) -> Answer {
    let Some((watch, trace)) = view.watch.as_ref().and_then(|watch| Some((watch, watch.trace.as_ref()?))) else {
        let reason = "nothing was started, so there is no trace".to_owned();
        return Answer::Trace(TraceAnswer::Missing(reason));
    };
    let logged: Vec<String> = watch.read_log().await.traces.into_iter().collect();
    trace.collect(&watch.identity, &logged).await
}

fn variables(need: &VariablesNeed, view: &View) -> Answer {
    let presence = |name: &String| match view.environment.get(name) {
        None => Presence::Absent,
        Some(value) if value.is_empty() => Presence::Empty,
        Some(_) => Presence::Set,
    };
    Answer::Variables(need.names.iter().map(|name| (name.clone(), presence(name))).collect())
}

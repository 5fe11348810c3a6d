//! Collects facts that claims need beyond the act itself. [`observe`] is the only place that distinguishes needs: a
//! new kind of need has its arm there, and its observer in a separate file.

mod command;
pub(crate) mod content;
pub(crate) mod files;
mod log;
mod path;
mod question;
mod response;
mod scores;
mod trace;
mod variables;

use std::{path::PathBuf, sync::Arc, time::Duration};

use speclens_schema::evidence::{Answer, Need, Observation};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::{
    exec::{
        ActionContext, ActionSite,
        process::{self, Background, Environment},
    },
    gateway::Gateway,
    watch::Watch,
};

/// The surroundings and the limits of observers.
#[derive(Clone, Debug)]
pub struct View {
    /// The base directory of relative paths.
    pub directory: PathBuf,
    /// The environment of the act.
    pub environment: Environment,
    /// Maximum number of bytes kept of each answer.
    pub limit: usize,
    /// Owner of background processes of observing commands.
    pub background: Arc<Background>,
    /// The addressee of questions.
    pub question_context: QuestionContext,
    /// The previous observations, which judges are asked about.
    pub seen: Arc<Vec<Observation>>,
    /// The gateway of the act.
    pub gateway: Option<Arc<Gateway>>,
    /// The watch over the act.
    pub watch: Option<Arc<Watch>>,
    /// Cancels every wait.
    pub cancel: CancellationToken,
    /// Returns the total time for which the program has been suspended: it counts toward no wait.
    pub suspended: fn() -> Duration,
}

pub(crate) use files::glob;
pub(crate) use question::QuestionContext;

/// The run was cancelled before the answer was known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cancelled;

/// The observations of a case.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Observations {
    /// The observations, in the order of the needs. After a cancellation, the rest is missing.
    pub observations: Vec<Observation>,
    /// Whether the run was cancelled before everything was observed.
    pub cancelled: bool,
}

impl View {
    /// Returns the view of the site of an action.
    pub fn of(
        site: &ActionSite,
        action_context: ActionContext<'_>,
        background: Arc<Background>,
        question_context: QuestionContext,
    ) -> View {
        View {
            question_context,
            seen: Arc::default(),
            directory: std::path::absolute(&site.directory).unwrap_or_else(|_| site.directory.clone()),
            environment: site.environment.clone(),
            limit: action_context.output_limit,
            background,
            gateway: action_context.gateway.cloned(),
            watch: site.watch.clone(),
            cancel: action_context.cancel.clone(),
            suspended: process::suspended,
        }
    }

    async fn until_cancelled(&self, answer: impl Future<Output = Answer>) -> Result<Answer, Cancelled> {
        self.cancel.run_until_cancelled(answer).await.ok_or(Cancelled)
    }
}

/// Observes one need. If it cannot be observed, the answer is the reason.
pub(crate) async fn observe(need: &Need, view: &View) -> Result<Answer, Cancelled> {
    match need {
        // It ends its own processes.
        Need::Command { run, timeout_ms } => command::observe(run, *timeout_ms, view).await,
        Need::Path { path, content } => view.until_cancelled(path::observe(path, *content, view)).await,
        Need::Files(need) => view.until_cancelled(files::observe(need, view)).await,
        Need::Log(need) => view.until_cancelled(log::observe(need, view)).await,
        Need::Variables(need) => Ok(variables::observe(need, view)),
        Need::Question(need) => view.until_cancelled(question::observe(need, view)).await,
        Need::Response(need) => view.until_cancelled(response::observe(need, view)).await,
        Need::Trace => view.until_cancelled(trace::observe(view)).await,
        Need::Scores(need) => view.until_cancelled(scores::observe(need, view)).await,
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
        together.iter().cloned().partition(|need| matches!(need, Need::Scores(_)));
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

/// Reads files on a thread that may block.
async fn looking<A: Send + 'static>(look: impl FnOnce() -> A + Send + 'static) -> Result<A, Answer> {
    tokio::task::spawn_blocking(look).await.map_err(|error| {
        tracing::error!(%error, "observing files failed");
        Answer::Nothing("observing the files failed; this is a bug in speclens".to_owned())
    })
}

#[cfg(all(test, unix))]
mod tests;

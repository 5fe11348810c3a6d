//! Asks models about recordings, and records their answers. Nothing is performed again.

use std::sync::Arc;

use speclens_schema::{
    evidence::{Context, Need, Observation, RunErrorKind},
    judge,
};

use super::{Run, Unit, masked::Masked};
use crate::{
    event::RunResult,
    exec::{ActionSite, Attempt},
    observe::{self, Observations, View},
    recording::Recorded,
};

/// A recording, and its unanswered questions.
struct Unanswered {
    recorded: Recorded,
    questions: Vec<Need>,
}

impl Run {
    /// Judges the recording of an attempt, after all questions of its claims have been asked.
    pub(super) async fn ask(self: &Arc<Self>, unit: &Unit) -> Result<RunResult, Box<RunResult>> {
        let (run, planned) = (Arc::clone(self), unit.clone());
        let found = self.blocking(unit, move || run.unanswered(&planned)).await?;
        let Some(Unanswered { recorded, questions }) = found else { return self.replay(unit).await };
        let site = ActionSite::of_suite(&self.job);
        let output = recorded.evidence.output.clone().map(Arc::new);
        let view = View {
            seen: Arc::new(recorded.evidence.observations.clone()),
            ..self.view(unit, &site, &Arc::default(), output)
        };
        let Observations { observations, cancelled } = observe::all(questions, &view).await;
        if cancelled {
            return Ok(self.failed(unit, RunErrorKind::Cancelled, "cancelled before the judge answered"));
        }
        let (run, planned) = (Arc::clone(self), unit.clone());
        self.blocking(unit, move || {
            let recorded = run.answered(recorded, observations);
            run.store(run.attempt_ref(&planned), recorded)
        })
        .await
    }

    fn unanswered(&self, unit: &Unit) -> Option<Unanswered> {
        let recorded = self.job.store.recorded(self.attempt_ref(unit), self.job.clock.now(), &self.job.secrets)?;
        let questions = judge::open_questions(self.case(unit), &recorded.evidence);
        (!questions.is_empty()).then_some(Unanswered { recorded, questions })
    }

    /// Adds the answers, masked.
    fn answered(&self, mut recorded: Recorded, observations: Vec<Observation>) -> Recorded {
        let nothing = Attempt::begun(Context::default());
        let answers = Masked::of(nothing, self.job.suite.dialect, &self.job.secrets).with(observations);
        let (answers, _) = answers.into_parts();
        Arc::make_mut(&mut recorded.evidence).observe_again(answers.observations);
        recorded
    }
}

//! Whether everything that a test claims is there already.

use std::{future, sync::Arc, time::Duration};

use speclens_schema::{
    evidence::{Answer, Context, Evidence, FilesNeed, Moment, Need, Observation},
    judge,
    suite::Case,
    verdict::{Open, Outcome},
};

use super::Act;
use crate::observe::{self, View};

/// What is looked at again and again.
pub(super) struct Satisfied<'a> {
    case: &'a Arc<Case>,
    view: &'a View,
    context: Context,
    needs: Vec<Need>,
}

impl Satisfied<'_> {
    /// Waits until every claim holds by two looks that see the same, so nothing that is half written counts. Never, where a
    /// claim is about what does not happen, a budget, or something else than files.
    pub(super) async fn await_all(act: Act<'_>, context: Context) {
        let case = act.world.test;
        let Some(needs) = files_of(case, &context) else { return future::pending().await };
        let satisfied = Satisfied { case, view: act.view, context, needs };
        let pause = Duration::from_millis(act.action.poll_ms);
        let first = satisfied.look().await;
        let mut before = first.clone();
        loop {
            tokio::time::sleep(pause).await;
            let seen = satisfied.look().await;
            if seen == before && is_all_new(&first, &seen) && satisfied.holds(seen.clone()).await {
                return;
            }
            before = seen;
        }
    }

    async fn look(&self) -> Vec<Observation> {
        observe::all(self.needs.clone(), self.view).await.observations
    }

    async fn holds(&self, observations: Vec<Observation>) -> bool {
        let (case, secrets) = (Arc::clone(self.case), Arc::clone(&self.view.inquiry.secrets));
        let evidence = Evidence { context: self.context.clone(), observations, ..Evidence::default() };
        let judge = move || {
            let judged = judge::judge(&case, &evidence, &secrets);
            let mut after = judged.iter().filter(|it| !case.claims[it.claim].is_precondition());
            after.all(|it| it.verdict.outcome == Outcome::Pass)
        };
        tokio::task::spawn_blocking(judge).await.unwrap_or(false)
    }
}

/// The files that decide a case, where nothing but files does.
fn files_of(case: &Case, context: &Context) -> Option<Vec<Need>> {
    let mut claims = case.claims.iter().filter(|claim| !claim.is_precondition());
    if !claims.all(|claim| claim.check.open() == Open::Nothing) {
        return None;
    }
    let needs = case.needs(Moment::After, context).into_iter().map(|need| match need {
        // One look at a time.
        Need::Files(need) => Some(Need::Files(FilesNeed { wait_ms: 0, ..need })),
        Need::Path { .. } | Need::Variables(_) => Some(need),
        Need::Command { .. } | Need::Log(_) | Need::Response(_) | Need::Trace | Need::Scores(_) | Need::Question(_) => {
            None
        }
    });
    let needs: Vec<Need> = needs.collect::<Option<_>>()?;
    (!needs.is_empty()).then_some(needs)
}

/// Whether none of the files is as it was when the run began: what was left by an earlier run says nothing of this one.
fn is_all_new(first: &[Observation], now: &[Observation]) -> bool {
    now.iter().all(|seen| match &seen.answer {
        Answer::Files(files) => {
            let known = first.iter().find(|it| it.need == seen.need).map(|it| &it.answer);
            !files.files.is_empty() && !matches!(known, Some(Answer::Files(known)) if known.files == files.files)
        }
        Answer::Path(_)
        | Answer::Command(_)
        | Answer::Log(_)
        | Answer::Variables(_)
        | Answer::Response(_)
        | Answer::Trace(_)
        | Answer::Question(_)
        | Answer::Nothing(_) => true,
    })
}

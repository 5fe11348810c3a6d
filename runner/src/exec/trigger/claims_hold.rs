//! Checks whether all claims of a test already hold.

use std::{future, sync::Arc, time::Duration};

use speclens_schema::{
    evidence::{Answer, Context, Evidence, FilesNeed, Need, Observation, ObservationTime, SeenFile},
    judge,
    suite::Case,
    verdict::Outcome,
};

use super::TriggerContext;
use crate::observe::{self, View};

/// Observations from before the target was started, if only files decide the test.
pub(super) struct Before(Option<Vec<Observation>>);

/// Observes the files before the target is started.
pub(super) async fn look_before(trigger: TriggerContext<'_>, context: &Context) -> Before {
    let context = trigger.ended(context.clone(), None);
    match files_of(trigger.action_context.test, &context) {
        Some(needs) => Before(Some(observe::all(needs, trigger.view).await.observations)),
        None => Before(None),
    }
}

/// The files that are observed repeatedly.
pub(super) struct Satisfied<'a> {
    case: &'a Arc<Case>,
    view: &'a View,
    context: Context,
    needs: Vec<Need>,
}

impl Satisfied<'_> {
    /// Waits until every claim holds in two identical observations, so a half-written file does not count. Never
    /// returns if a claim is about something that must not happen, a budget, or anything but files.
    pub(super) async fn await_all(trigger: TriggerContext<'_>, context: Context, Before(first): Before) {
        let case = trigger.action_context.test;
        let Some((first, needs)) = first.zip(files_of(case, &context)) else { return future::pending().await };
        let satisfied = Satisfied { case, view: trigger.view, context, needs };
        let pause = Duration::from_millis(trigger.action.poll_ms);
        let mut before = satisfied.look().await;
        loop {
            tokio::time::sleep(pause).await;
            let seen = satisfied.look().await;
            if is_settled(&first, &before, &seen) && satisfied.holds(seen.clone()).await {
                return;
            }
            before = seen;
        }
    }

    async fn look(&self) -> Vec<Observation> {
        observe::all(self.needs.clone(), self.view).await.observations
    }

    async fn holds(&self, observations: Vec<Observation>) -> bool {
        let (case, secrets) = (Arc::clone(self.case), Arc::clone(&self.view.secrets));
        let evidence = Evidence { context: self.context.clone(), observations, ..Evidence::default() };
        let judge = move || {
            let judged = judge::judge(&case, &evidence, &secrets);
            let mut after = judged.iter().filter(|it| !case.claims[it.claim].is_precondition());
            after.all(|it| it.verdict.outcome == Outcome::Pass)
        };
        tokio::task::spawn_blocking(judge).await.unwrap_or(false)
    }
}

/// Returns the files that decide a case, if only files do.
fn files_of(case: &Case, context: &Context) -> Option<Vec<Need>> {
    let needs = case.needs(ObservationTime::After, context).into_iter().map(|need| match need {
        // One observation at a time.
        Need::Files(need) => Some(Need::Files(FilesNeed { wait_ms: 0, ..need })),
        Need::Path { .. } | Need::Variables(_) => Some(need),
        Need::Command { .. } | Need::Log(_) | Need::Response(_) | Need::Trace | Need::Scores(_) | Need::Question(_) => {
            None
        }
    });
    let needs: Vec<Need> = needs.collect::<Option<_>>()?;
    (!needs.is_empty()).then_some(needs)
}

/// Returns whether every file exists, did not change between two observations, and is not as it was before.
fn is_settled(first: &[Observation], before: &[Observation], now: &[Observation]) -> bool {
    before == now && is_all_new(first, now)
}

/// Returns whether none of the files is as it was when the run began: results of an earlier run do not count.
fn is_all_new(first: &[Observation], now: &[Observation]) -> bool {
    now.iter().all(|seen| match &seen.answer {
        Answer::Files(files) => {
            let known = first.iter().find(|it| it.need == seen.need).map(|it| &it.answer);
            let is_known = |file: &SeenFile| match known {
                Some(Answer::Files(known)) => known.files.iter().any(|old| old.is_the_same(file)),
                _ => false,
            };
            !files.files.is_empty() && !files.files.iter().all(is_known)
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

#[cfg(test)]
mod tests {
    use speclens_schema::evidence::FilesAnswer;

    use super::*;

    fn seen(modified_us: Option<i64>) -> Vec<Observation> {
        let file =
            |modified_us| SeenFile { path: "out.md".to_owned(), modified_us: Some(modified_us), ..SeenFile::default() };
        let files = modified_us.map(file).into_iter().collect();
        let need = Need::Files(FilesNeed { pattern: "out.md".to_owned(), ..FilesNeed::default() });
        vec![Observation { need, answer: Answer::Files(FilesAnswer { files, ..FilesAnswer::default() }) }]
    }

    #[test]
    fn file_counts_when_two_looks_see_the_same_and_it_is_not_as_it_was_before_the_run() {
        for (first, before, now, expected) in [
            (None, Some(2), Some(2), true),
            (Some(1), Some(2), Some(2), true),
            (None, None, Some(2), false),
            (None, Some(1), Some(2), false),
            (Some(2), Some(2), Some(2), false),
            (None, None, None, false),
        ] {
            assert_eq!(is_settled(&seen(first), &seen(before), &seen(now)), expected, "{first:?} {before:?} {now:?}");
        }
    }
}

//! Outcomes of a suite that stops repeating once a gate is decided: attempts that a run omits are not missing.

use std::{borrow::Cow, sync::Arc};

use speclens_runner::{
    event::{AbsenceKind, RunResult},
    evidence_store::AttemptRef,
    run::left_out,
};
use speclens_schema::suite::{Case, Subject, Suite};

use super::outcome::{CaseOutcome, CaseState, JudgedAttempt, KnownState, is_absent, settled_state, tallies};

pub(crate) fn is_any_incomplete(suite: &Suite, outcomes: &[Arc<CaseOutcome>]) -> bool {
    let mut repeated = suite.cases.iter().zip(outcomes).filter(|(case, _)| case.repeat > 1);
    repeated.any(|(case, outcome)| {
        case.action.subjects().iter().any(|subject| {
            let of_subject = outcome.attempts.iter().filter(|attempt| attempt.result.subject == *subject);
            let begun: Vec<u64> = of_subject.map(|attempt| attempt.result.began_us).collect();
            begun.len() < case.repeat as usize || !begun.is_sorted()
        })
    })
}

/// Removes the attempts that a run would omit from the outcomes of a suite, so that they do not count as missing.
pub(crate) fn without_spare(suite: &Suite, outcomes: Vec<Arc<CaseOutcome>>) -> Vec<Arc<CaseOutcome>> {
    let repeats = suite.cases.iter().filter(|case| case.repeat > 1);
    if !repeats.flat_map(|case| case.action.subjects()).any(|subject| suite.gates.can_be_decided(&subject)) {
        return outcomes;
    }
    let planned = suite.cases.iter().zip(&outcomes).enumerate().filter(|(_, (case, _))| !case.skip);
    let attempts: Vec<(usize, Cow<'_, RunResult>)> = planned
        .flat_map(|(index, (case, outcome))| {
            let subjects = case.action.subjects();
            let known = |attempt_ref: AttemptRef<'_>| match outcome.attempt(attempt_ref.subject, attempt_ref.repeat) {
                Some(known) => Cow::Borrowed(&known.result),
                None => Cow::Owned(attempt_ref.absent(AbsenceKind::NoRecording, "")),
            };
            let of_subject = |subject: &Subject| {
                let attempt_ref = |repeat| known(AttemptRef { suite, case, subject, repeat });
                (0..case.repeat).map(attempt_ref).collect::<Vec<_>>()
            };
            subjects.iter().flat_map(of_subject).map(|known| (index, known)).collect::<Vec<_>>()
        })
        .collect();
    let seen: Vec<(usize, &RunResult)> = attempts.iter().map(|(case, known)| (*case, &**known)).collect();
    let left_out = left_out(&suite.gates, &seen);
    let mut settled = outcomes.clone();
    let mut left_out = left_out.into_iter();
    for own in attempts.chunk_by(|(one, _), (other, _)| one == other) {
        let index = own[0].0;
        let own: Vec<(&RunResult, bool)> = own.iter().map(|(_, known)| &**known).zip(left_out.by_ref()).collect();
        let spare: Vec<&RunResult> = own.iter().filter(|(_, is_spare)| *is_spare).map(|(known, _)| *known).collect();
        if !spare.is_empty() {
            let is_missing =
                |(known, is_spare): &(&RunResult, bool)| !is_spare && is_absent(known, AbsenceKind::NoRecording);
            let is_partial = own.iter().any(is_missing);
            settled[index] = Arc::new(outcomes[index].without(suite, &suite.cases[index], &spare, is_partial));
        }
    }
    settled
}

impl CaseOutcome {
    fn attempt(&self, subject: &Subject, repeat: u32) -> Option<&JudgedAttempt> {
        self.attempts.iter().find(|known| (&known.result.subject, known.result.repeat) == (subject, repeat))
    }

    fn without(&self, suite: &Suite, case: &Case, spare: &[&RunResult], is_partial: bool) -> CaseOutcome {
        let is_spare = |known: &RunResult| {
            spare.iter().any(|spare| (&spare.subject, spare.repeat) == (&known.subject, known.repeat))
        };
        let mut attempts = self.attempts.clone();
        attempts.retain(|attempt| !is_spare(&attempt.result));
        let is_final = !attempts.is_empty() && !matches!(self.known.state, CaseState::Running | CaseState::Cancelled);
        let state = if is_final { settled_state(case, &attempts, is_partial) } else { self.known.state.clone() };
        let subjects = match self.known.subjects.is_empty() {
            true => Vec::new(),
            false => tallies(attempts.iter().map(|attempt| &attempt.result)),
        };
        attempts.extend(spare.iter().map(|spare| {
            let result = AttemptRef { suite, case, subject: &spare.subject, repeat: spare.repeat }.left_out();
            JudgedAttempt { result, ending: Vec::new() }
        }));
        CaseOutcome {
            known: KnownState { state, subjects, ..self.known.clone() },
            attempts,
            stale: self.stale.clone(),
            audit: self.audit.clone(),
        }
    }
}

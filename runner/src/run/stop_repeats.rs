//! Unnecessary repeats: once no further attempt can change the result of a model's gate, tasks of that model are not
//! repeated. The same rule decides which attempts a run omits and which ones a replay may miss.

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, PoisonError},
};

use speclens_schema::{
    gates::{Count, Gates},
    suite::{Subject, Suite},
    verdict::Status,
};

use super::plan::{Unit, plan};
use crate::{
    event::{AbsenceKind, RunResult},
    evidence_store::AttemptRef,
    job::Options,
};

#[derive(Debug, Default)]
pub(super) struct AllAttempts(Mutex<HashMap<Option<String>, ModelAttempts>>);

#[derive(Clone, Copy, Debug, Default)]
struct ModelAttempts {
    made: Count,
    planned: usize,
}

impl AllAttempts {
    pub(super) fn of(units: &[Unit]) -> AllAttempts {
        let mut standings: HashMap<_, ModelAttempts> = HashMap::new();
        for unit in units {
            standings.entry(model(&unit.subject)).or_default().planned += 1;
        }
        AllAttempts(Mutex::new(standings))
    }

    /// Returns whether an attempt is omitted. The first of each task never is: without it nothing is known about the
    /// task.
    pub(super) fn may_skip(&self, gates: &Gates, unit: &Unit) -> bool {
        let standings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let standing = standings.get(&model(&unit.subject)).copied().unwrap_or_default();
        unit.repeat > 0 && gates.is_decided(&unit.subject, standing.made, standing.planned)
    }

    pub(super) fn made(&self, unit: &Unit, status: Status) {
        let mut standings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        standings.entry(model(&unit.subject)).or_default().made.add(status);
    }
}

fn model(subject: &Subject) -> Option<String> {
    subject.model_id().map(str::to_owned)
}

/// Returns whether a run of these cases may omit repeats: only a run of all tests may, because the gate of a part is
/// not that of the suite.
pub(super) fn is_whole(suite: &Suite, options: &Options) -> bool {
    let is_chosen = |index: &usize| options.cases.as_ref().is_none_or(|cases| cases.contains(index));
    (0..suite.cases.len()).filter(|index| !suite.cases[*index].skip).all(|index| is_chosen(&index))
}

pub(super) fn whole(suite: &Suite, options: &Options) -> Vec<Unit> {
    let all: Vec<usize> = (0..suite.cases.len()).collect();
    plan(suite, &all, options)
}

/// Returns for each attempt of a whole suite whether it is omitted, given the others. Attempts without a recording, or
/// with a stale one, may be omitted, and so may those of an earlier run than the one that made the first attempt of the
/// task. If the other attempts decide nothing, those of earlier runs count, and only those without a recording may be
/// omitted; if these decide nothing either, none is.
///
/// `attempts` come with the place of their case, those of a case and a subject in their order.
pub fn left_out(gates: &Gates, attempts: &[(usize, &RunResult)]) -> Vec<bool> {
    let mut first: HashMap<(usize, &Subject), u64> = HashMap::new();
    for (case, run) in attempts.iter().filter(|(_, run)| run.repeat == 0) {
        first.insert((*case, &run.subject), run.began_us);
    }
    let is_missing = |run: &RunResult| match run.absence.as_ref().map(|absence| absence.kind) {
        Some(AbsenceKind::NoRecording | AbsenceKind::Stale) => run.repeat > 0,
        Some(AbsenceKind::RunError(_) | AbsenceKind::FailedFast | AbsenceKind::OverBudget | AbsenceKind::Decided)
        | None => false,
    };
    let missing: Vec<bool> = attempts.iter().map(|(_, run)| is_missing(run)).collect();
    let is_older = |case: usize, run: &RunResult| {
        run.repeat > 0 && first.get(&(case, &run.subject)).is_some_and(|first| run.began_us < *first)
    };
    let missing_or_older: Vec<bool> =
        attempts.iter().zip(&missing).map(|((case, run), missing)| *missing || is_older(*case, run)).collect();
    let without_older = decided_without(&missing_or_older, gates, attempts);
    let without_missing = decided_without(&missing, gates, attempts);
    let is_omitted = |at: usize, run: &RunResult| match without_older.contains(&run.subject.model_id()) {
        true => missing_or_older[at],
        false => missing[at] && without_missing.contains(&run.subject.model_id()),
    };
    attempts.iter().enumerate().map(|(at, (_, run))| is_omitted(at, run)).collect()
}

fn decided_without<'r>(
    is_spare: &[bool],
    gates: &Gates,
    attempts: &[(usize, &'r RunResult)],
) -> HashSet<Option<&'r str>> {
    let mut standings: HashMap<Option<&str>, (&Subject, ModelAttempts)> = HashMap::new();
    for ((_, run), is_spare) in attempts.iter().zip(is_spare) {
        let (_, standing) = standings.entry(run.subject.model_id()).or_insert((&run.subject, ModelAttempts::default()));
        standing.planned += 1;
        if !is_spare {
            standing.made.add(run.status);
        }
    }
    let is_decided =
        |(subject, standing): &(&Subject, ModelAttempts)| gates.is_decided(subject, standing.made, standing.planned);
    standings.into_iter().filter(|(_, standing)| is_decided(standing)).map(|(model, _)| model).collect()
}

impl AttemptRef<'_> {
    /// Returns an attempt that is omitted, because the gate of its model is decided.
    pub fn left_out(&self) -> RunResult {
        let subject = self.subject;
        self.absent(
            AbsenceKind::Decided,
            format!("not run, because it is already certain whether `{subject}` meets its threshold"),
        )
    }

    /// Returns the message for a repeat that an earlier run may have omitted, and that decides now; `None` for any
    /// other attempt.
    pub(super) fn needed(&self, known: &RunResult, gates: &Gates) -> Option<RunResult> {
        let is_missing = known.absence.as_ref().is_some_and(|absence| absence.kind == AbsenceKind::NoRecording);
        let subject = self.subject;
        (self.repeat > 0 && is_missing && gates.can_be_decided(subject)).then(|| {
            let message = format!("no recording, and the threshold of `{subject}` depends on it; run the test again");
            self.absent(AbsenceKind::NoRecording, message)
        })
    }
}

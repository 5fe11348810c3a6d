//! Accepting what runs found: the observed value in place of the one that a failing assertion expects.

use speclens_runner::event::{RunResult, by_claim};
use speclens_schema::{
    acceptable::Acceptable,
    document::Pointer,
    suite::Case,
    verdict::{Outcome, Verdict},
};

/// An assertion that attempts of a test fail.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Failure {
    pub claim: Pointer,
    /// The part that fails.
    pub at: Pointer,
    /// What was observed there; `None` if no value would hold.
    pub observed: Option<Observed>,
    /// The texts that were observed there.
    pub texts: Vec<String>,
}

/// What the attempts of a test observed where an assertion fails.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Observed {
    /// The value that holds for all of them.
    Value(Acceptable),
    /// Attempts observed different values, or not all of them fail.
    Different,
}

/// Returns the assertions that an attempt fails.
pub(crate) fn failures(case: &Case, attempts: &[&RunResult]) -> Vec<Failure> {
    let parts = by_claim(attempts).into_iter().filter_map(|part| {
        let claim = &case.claims.get(part.first()?.0.claim)?.at;
        failure(claim, part.iter().map(|(judged, _)| &judged.verdict))
    });
    parts.collect()
}

fn failure<'v>(claim: &Pointer, verdicts: impl Iterator<Item = &'v Verdict>) -> Option<Failure> {
    let mut has_passed = false;
    let mut failures: Vec<(&Pointer, Option<&Acceptable>)> = Vec::new();
    for verdict in verdicts {
        match &verdict.outcome {
            Outcome::Pass => has_passed = true,
            Outcome::Fail(mismatch) | Outcome::Warn(mismatch) => {
                failures.push((&verdict.at, mismatch.acceptable.as_ref()));
            }
            Outcome::Skip(_) | Outcome::Unknown(_) | Outcome::Error(_) => {}
        }
    }
    let (at, first) = *failures.iter().find(|(_, found)| found.is_some()).or(failures.first())?;
    // A wider limit also holds where the narrower one did.
    let start = first.cloned().filter(|first| !has_passed || first.limit.is_some());
    let all = failures.iter().try_fold(start, |all, (other, found)| {
        (*other == at).then_some(())?;
        Some(Some(all?.and((*found)?)?))
    });
    let all = all.flatten().map_or(Observed::Different, Observed::Value);
    let texts = failures.iter().filter_map(|(_, found)| Some((*found)?.value.as_str()?.to_owned()));
    let texts = texts.collect();
    Some(Failure { claim: claim.clone(), at: claim.join(at), observed: first.map(|_| all), texts })
}

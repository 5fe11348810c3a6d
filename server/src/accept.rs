//! Accepting what runs found: the observed value in place of the one that a failing assertion expects.

use serde_json::Value;
use speclens_runner::event::{RunResult, by_claim};
use speclens_schema::{
    document::Pointer,
    suite::Case,
    verdict::{Acceptable, Outcome, Verdict},
};

/// What the attempts of a test observed where an assertion fails.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Observed {
    /// The value that holds for all of them.
    Value(Value),
    /// Attempts observed different values, or not all of them fail.
    Different,
}

/// Returns what attempts observed in place of each expected value that does not hold. Assertions without such a value
/// are left out.
pub(crate) fn observed(case: &Case, attempts: &[&RunResult]) -> Vec<(Pointer, Observed)> {
    let parts = by_claim(attempts).into_iter().filter_map(|part| {
        let claim = case.claims.get(part.first()?.0.claim)?;
        let (at, observed) = agreed(part.iter().map(|(judged, _)| &judged.verdict))?;
        Some((claim.at.join(at), observed))
    });
    parts.collect()
}

/// Returns the place of an expected value, and what all attempts observed there.
fn agreed<'v>(verdicts: impl Iterator<Item = &'v Verdict>) -> Option<(&'v Pointer, Observed)> {
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
    let (at, first) = failures.iter().find_map(|(at, found)| Some((*at, (*found)?)))?;
    // A wider limit also holds where the narrower one did.
    let start = Some(first.clone()).filter(|first| !has_passed || first.limit.is_some());
    let all = failures.iter().try_fold(start, |all, (other, found)| {
        (*other == at).then_some(())?;
        Some(Some(all?.and((*found)?)?))
    });
    Some((at, all.flatten().map_or(Observed::Different, |all| Observed::Value(all.value))))
}

//! Gates of a suite as problems in the editor.

use speclens_runner::{event::RunResult, run::measured};
use speclens_schema::{
    document::Document,
    suite::{Case, Suite},
    verdict::Status,
};

use super::run_problems::RunProblem;

/// Returns the gates that do not hold, each at its key. Empty if a result is missing: `attempts` has, for each case,
/// those attempts whose evidence matches what the case does now.
pub(crate) fn failing(suite: &Suite, document: &Document, attempts: &[Vec<&RunResult>]) -> Vec<RunProblem> {
    let cases = suite.cases.iter().zip(attempts);
    let Some(cases) = cases.map(|(case, attempts)| planned(case, attempts)).collect::<Option<Vec<_>>>() else {
        return Vec::new();
    };
    let outcomes: Vec<_> = cases
        .iter()
        .map(|attempts| {
            let worst = attempts.iter().map(|attempt| attempt.status).max();
            measured(worst.unwrap_or(Status::Skip), attempts.iter().copied())
        })
        .collect();
    let gates = suite.gates.evaluate(&outcomes).gates.into_iter();
    let failing = gates.filter_map(|gate| {
        let is_failing = match gate.status {
            Status::Fail | Status::Warn => true,
            Status::Pass | Status::Skip | Status::Unknown | Status::Error => false,
        };
        // A limit that is a default of the format, or in the settings, is not in the file.
        let at = gate.source.in_suite().filter(|_| is_failing)?;
        Some(RunProblem {
            range: document.key_range_of(at),
            code: Some(gate.name),
            message: gate.message,
            status: gate.status,
            related: Vec::new(),
        })
    });
    failing.collect()
}

/// Returns the attempts that a run of the suite makes of a case; `None` if some have no result.
fn planned<'r>(case: &Case, attempts: &[&'r RunResult]) -> Option<Vec<&'r RunResult>> {
    if case.skip {
        return Some(Vec::new());
    }
    if !case.intact {
        return None;
    }
    let subjects = case.action.subjects();
    // Other models may have been chosen in addition.
    let own = attempts.iter().copied().filter(|attempt| subjects.contains(&attempt.subject));
    let own: Vec<&RunResult> = own.collect();
    let is_whole = !own.is_empty() && own.len() == subjects.len() * case.repeat as usize;
    is_whole.then_some(own)
}

//! Judges a suite by given evidence: nothing is performed, and nothing is recorded.

use std::sync::Arc;

use speclens_schema::{
    dialect::GateReport,
    evidence::Evidence,
    mask::Secrets,
    suite::{Subject, Suite},
    verdict::Status,
};

use super::Summary;
use crate::{
    event::{CaseResult, SuiteResult},
    evidence_store::AttemptRef,
};

/// Judges the chosen cases of a suite by the same evidence, which is masked and interpreted here.
pub fn from_evidence(
    suite: &Suite,
    chosen: impl Fn(usize) -> bool,
    mut evidence: Evidence,
    secrets: &Secrets,
) -> SuiteResult {
    suite.dialect.mask(&mut evidence, secrets);
    suite.dialect.interpret(&mut evidence);
    let evidence = Arc::new(evidence);
    let judged = |(index, case): (usize, &Arc<_>)| {
        let case: &speclens_schema::suite::Case = case;
        if case.skip {
            return CaseResult { case: index, status: Status::Skip, runs: Vec::new() };
        }
        let attempt_ref = AttemptRef { suite, case, subject: &Subject::Nobody, repeat: 0 };
        let run = Arc::new(attempt_ref.judged(&evidence, secrets, Vec::new()));
        CaseResult { case: index, status: run.status, runs: vec![run] }
    };
    let cases: Vec<CaseResult> =
        suite.cases.iter().enumerate().filter(|(index, _)| chosen(*index)).map(judged).collect();
    let gates = GateReport { gates: Vec::new(), rescued: false };
    let sum = Summary::of(&cases, &gates);
    SuiteResult {
        status: sum.status,
        cases,
        gates,
        failed: sum.failed,
        inconclusive: sum.inconclusive,
        cancelled: false,
        duration: std::time::Duration::ZERO,
    }
}

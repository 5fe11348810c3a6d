//! Writes assertions for a test from its recorded runs.

use std::sync::Arc;

use speclens_runner::event::RunResult;
use speclens_schema::{
    document::Document,
    evidence::Evidence,
    fixing::edits_between,
    mask::Secrets,
    problem::Edit,
    verdict::Status,
    write::{Look, write},
};

use super::{audit::Audited, latest::Latest};

/// Returns whether a fault of the recorded run of a test survives, so that assertions can be written.
pub(crate) fn can_write(document: &Document, latest: &Latest, test: &str) -> bool {
    let Some(suite) = latest.suite.as_ref().filter(|_| latest.is_of(document)) else { return false };
    let own = latest.own().find(|(case, _)| case.name == test);
    own.and_then(|(case, outcome)| outcome.audited(case, suite.dialect)).and_then(Audited::title).is_some()
}

/// Returns the edits that write assertions for a test; `None` if there is nothing to write.
pub(crate) fn edits(
    document: &Document,
    latest: &Latest,
    test: &str,
    secrets: &Secrets,
    look: Look<'_>,
) -> Option<Vec<Edit>> {
    let suite = latest.suite.as_ref().filter(|_| latest.is_of(document))?;
    let (case, outcome) = latest.own().find(|(case, _)| case.name == test)?;
    let has_passed = |result: &&RunResult| matches!(result.status, Status::Pass | Status::Warn);
    let passed = outcome.attempts.iter().map(|attempt| &attempt.result).filter(has_passed);
    let attempts: Vec<Arc<Evidence>> = passed.filter_map(|result| result.evidence.get()).collect();
    let written = write(document, case, suite.dialect, &attempts, secrets, look).ok()?;
    Some(edits_between(&String::from(document.text()), &written.text))
}

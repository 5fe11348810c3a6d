//! `--failed`: chooses tests by their recordings.

use std::collections::BTreeSet;

use speclens_runner::{
    clock::Clock,
    event::{AbsenceKind, CaseResult},
    run::{Mode, Options},
};
use speclens_schema::verdict::Status;
use tokio_util::sync::CancellationToken;

use crate::cli::load::Loaded;

/// The last results of the chosen tests.
pub(super) struct LastResults {
    /// The tests of each suite whose recordings do not pass, or do not match what the test does now.
    pub(super) failing: Vec<BTreeSet<usize>>,
    recorded: usize,
    /// Number of tests without a recording.
    unrecorded: usize,
    /// Whether a suite is refused, so that its recordings are not judged.
    refused: bool,
}

impl LastResults {
    /// Judges the recordings of the chosen tests; `options` has the models and help modes.
    pub(super) async fn of(
        suites: &[Loaded],
        chosen: &[BTreeSet<usize>],
        clock: Clock,
        options: Options,
    ) -> LastResults {
        let mut past = LastResults { failing: Vec::new(), recorded: 0, unrecorded: 0, refused: false };
        for (loaded, cases) in suites.iter().zip(chosen) {
            let Ok(prepared) = super::prepare(loaded, &loaded.report.suite, clock, None) else {
                past.refused = true;
                past.failing.push(BTreeSet::new());
                continue;
            };
            let options = Options { mode: Mode::Recorded, cases: Some(cases.clone()), ..options.clone() };
            let result = prepared.results(options, CancellationToken::new()).await;
            let is_unrecorded = |case: &&CaseResult| has(case, AbsenceKind::NoRecording);
            let unrecorded = result.cases.iter().filter(is_unrecorded).count();
            past.unrecorded += unrecorded;
            past.recorded += result.cases.iter().filter(|case| !case.runs.is_empty()).count() - unrecorded;
            let failing = result
                .cases
                .iter()
                .filter(|case| matches!(case.status, Status::Fail | Status::Error) || has(case, AbsenceKind::Stale));
            past.failing.push(failing.map(|case| case.case).collect());
        }
        past
    }

    /// Whether there is nothing to run, and nothing is known of any test: that is not a success.
    pub(super) fn knows_nothing(&self) -> bool {
        self.recorded == 0 && self.unrecorded > 0 && !self.refused
    }

    /// Returns a message if there is nothing to run.
    pub(super) fn nothing_failed(&self) -> Option<String> {
        if self.refused || self.failing.iter().any(|cases| !cases.is_empty()) {
            return None;
        }
        Some(match (self.recorded, self.unrecorded) {
            (0, _) => "nothing to run: these tests have no recordings; run them without `--failed`".to_owned(),
            (_, 0) => "nothing to run: no test failed in its last run".to_owned(),
            (_, 1) => "nothing to run: no test failed in its last run; 1 test has no recording".to_owned(),
            (_, count) => {
                format!("nothing to run: no test failed in its last run; {count} tests have no recordings")
            }
        })
    }
}

/// Whether an attempt of a case has no verdicts for this reason.
fn has(case: &CaseResult, kind: AbsenceKind) -> bool {
    case.runs.iter().any(|run| run.absence.as_ref().is_some_and(|absence| absence.kind == kind))
}

//! The exit codes of the program.

use speclens_runner::{event::SuiteResult, report::SuiteReport};

use crate::threads;

pub(crate) const PASSED: u8 = 0;
/// A claim or a gate does not hold.
pub(crate) const FAILED: u8 = 1;
/// A suite or the command line is invalid.
pub(crate) const INVALID: u8 = 2;
/// A run ended with an error, or a result is unknown.
pub(crate) const INCONCLUSIVE: u8 = 3;
/// The run was interrupted.
pub(crate) const INTERRUPTED: u8 = 130;

pub(super) fn of_error(error: &anyhow::Error) -> u8 {
    if error.is::<threads::Refused>() { INCONCLUSIVE } else { INVALID }
}

pub(super) fn of_suite(result: &SuiteResult) -> u8 {
    match (result.failed, result.inconclusive) {
        (true, _) => FAILED,
        (false, true) => INCONCLUSIVE,
        (false, false) => PASSED,
    }
}

pub(super) fn of_run(reports: &[SuiteReport], cancelled: bool) -> u8 {
    let results = || reports.iter().filter_map(|report| report.result.as_ref());
    if cancelled {
        INTERRUPTED
    } else if reports.iter().any(SuiteReport::is_refused) {
        INVALID
    } else if results().any(|result| result.failed) {
        FAILED
    } else if results().any(|result| result.inconclusive) {
        INCONCLUSIVE
    } else {
        PASSED
    }
}

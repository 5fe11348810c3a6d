//! Counts of attempts, for gates.

use crate::{verdict::Status, words::plural};

/// Number of attempts by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Passed attempts.
    pub passed: usize,
    /// Attempts without a result.
    pub open: usize,
    /// Failed attempts.
    pub failed: usize,
}

impl Count {
    /// Adds an attempt.
    pub fn add(&mut self, status: Status) {
        match status {
            Status::Pass | Status::Warn | Status::Skip => self.passed += 1,
            Status::Unknown | Status::Error => self.open += 1,
            Status::Fail => self.failed += 1,
        }
    }

    /// Returns the number of attempts without a result, as a phrase.
    pub(super) fn open_attempts(self) -> String {
        format!("{} without a result", plural(self.open, "attempt"))
    }

    /// Returns the number of attempts.
    pub fn all(self) -> usize {
        self.passed + self.open + self.failed
    }
}

/// Returns `count` as a share of `all`; 0 if `all` is 0.
pub(super) fn share(count: usize, all: usize) -> f64 {
    if all == 0 { 0.0 } else { count as f64 / all as f64 }
}

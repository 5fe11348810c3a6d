//! Attempts, counted as gates count them.

use crate::verdict::Status;

/// Number of attempts that came out how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Those that passed.
    pub passed: usize,
    /// Those without an answer.
    pub open: usize,
    /// Those that failed.
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

    /// Returns the number of attempts.
    pub fn all(self) -> usize {
        self.passed + self.open + self.failed
    }
}

/// Returns which share of `all` a number is; 0 where there are none.
pub(super) fn share(count: usize, all: usize) -> f64 {
    if all == 0 { 0.0 } else { count as f64 / all as f64 }
}

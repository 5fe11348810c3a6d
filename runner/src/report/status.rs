//! The marks and the words of states, for readers.

use speclens_schema::verdict::Status;

pub fn mark(status: Status) -> char {
    match status {
        Status::Pass => '✓',
        Status::Skip => '○',
        Status::Warn => '⚠',
        Status::Unknown => '?',
        Status::Fail | Status::Error => '✗',
    }
}

pub fn word(status: Status) -> &'static str {
    match status {
        Status::Skip => "skipped",
        Status::Pass => "passed",
        Status::Warn => "warning",
        Status::Unknown => "unknown",
        Status::Fail => "failed",
        Status::Error => "error",
    }
}

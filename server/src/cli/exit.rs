//! The exit codes of the program.

/// Everything passed.
pub(crate) const PASSED: u8 = 0;
/// A claim or a gate does not hold.
pub(crate) const FAILED: u8 = 1;
/// A suite or the command line is invalid.
pub(crate) const INVALID: u8 = 2;
/// A run ended with an error, or a result is unknown.
pub(crate) const INCONCLUSIVE: u8 = 3;
/// The run was interrupted.
pub(crate) const INTERRUPTED: u8 = 130;

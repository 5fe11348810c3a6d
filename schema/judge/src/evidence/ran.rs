//! Commands that ran: of the test itself, of an agent, or of a claim.

use serde::{Deserialize, Serialize};

use super::{Capture, Exit};

/// A command that ran, and its result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ran {
    /// The text that was sent to the shell, with secrets masked.
    pub command: Capture,
    /// The end: 124 after a deadline of the format, 126 and 127 if it could not be started; `None` if not observed.
    pub exit: Option<Exit>,
    /// Whether a deadline ended it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    /// Whether a process that it had started still held its output open when it had ended: later output of that process
    /// is missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held: bool,
    /// The standard output, with invalid UTF-8 replaced and secrets masked; `None` if not observed.
    pub stdout: Option<Capture>,
    /// The standard error, likewise.
    pub stderr: Option<Capture>,
    /// Time from start to end; `None` if not observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
}

impl Ran {
    /// Returns standard output and standard error, if they were observed.
    pub fn streams(&self) -> impl Iterator<Item = &Capture> {
        self.stdout.iter().chain(&self.stderr)
    }

    /// Returns all its texts.
    pub(crate) fn captures_mut(&mut self) -> impl Iterator<Item = &mut Capture> {
        std::iter::once(&mut self.command).chain(self.stdout.iter_mut()).chain(&mut self.stderr)
    }
}

//! A command that ran: that of the test itself, of an agent, or of a claim that asks how it ends.

use serde::{Deserialize, Serialize};

use super::{Capture, Exit};

/// A command that ran, and what came of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ran {
    /// The text that went to the shell, secrets masked.
    pub command: Capture,
    /// How it ended: 124 after a deadline that the format has, 126 and 127 when it could not be started. `None`: not
    /// observed.
    pub exit: Option<Exit>,
    /// Whether a deadline ended it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    /// Whether a process that it had started still held its output open when it had ended: what that process would have
    /// printed is missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held: bool,
    /// Its standard output, invalid UTF-8 replaced, secrets masked. `None`: not observed.
    pub stdout: Option<Capture>,
    /// Its standard error, likewise.
    pub stderr: Option<Capture>,
    /// From start to end. `None`: not observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
}

impl Ran {
    /// Standard output and standard error, as far as they were observed.
    pub fn streams(&self) -> impl Iterator<Item = &Capture> {
        self.stdout.iter().chain(&self.stderr)
    }

    /// Returns every text of it.
    pub(crate) fn captures_mut(&mut self) -> impl Iterator<Item = &mut Capture> {
        std::iter::once(&mut self.command).chain(self.stdout.iter_mut()).chain(&mut self.stderr)
    }
}

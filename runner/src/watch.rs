//! What is watched while a target runs elsewhere: opened before it is started, asked when it has ended.

pub mod log;

use self::log::LogWatch;
use crate::trace::TraceWatch;

/// What is watched during an act.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    /// The log of the gateway.
    pub log: Option<LogWatch>,
    /// Whose traces are looked for.
    pub identity: Identity,
    /// Watches for its trace.
    pub trace: Option<TraceWatch>,
}

/// By what the traces of a run can be told from those of others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The run: as the gateway answered, else the id that was made up for it. `None`: not known.
    pub run_id: Option<String>,
    /// The session that the gateway was asked to use.
    pub session_key: Option<String>,
    /// The agent, where it is known by name.
    pub agent: Option<String>,
    /// When it was started, in microseconds of the Unix epoch.
    pub started_us: i64,
    /// When it ended, as far as that was seen.
    pub ended_us: Option<i64>,
}

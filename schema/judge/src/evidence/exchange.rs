//! The exchange between the runner and the gateway that started a target.

use serde::{Deserialize, Serialize};

use super::Capture;

/// A request that starts a target, and its answer. Credentials are never kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// The address of the request.
    pub address: String,
    /// The body.
    pub sent: Capture,
    /// The status of the answer; `None` without an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The body of the answer, up to a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Capture>,
}

//! What was said between the runner and the gateway that started a target.

use serde::{Deserialize, Serialize};

use super::Capture;

/// A request that starts a target, and its answer. What authorizes it is never kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// Where the request went.
    pub address: String,
    /// Its body.
    pub sent: Capture,
    /// The status of the answer. `None`: there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The body of the answer, as far as it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Capture>,
}

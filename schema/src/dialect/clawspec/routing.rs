//! The routing data that decides where the trace of a run says nothing.

use crate::spot::Spot;

/// The keys that hold it, from what comes first to what comes last.
const KEYS: [&str; 13] = [
    "routing_path",
    "decision_path",
    "delegation_fallback_path",
    "routing_decisions",
    "state_payloads",
    "decision_payloads",
    "routing_decision",
    "state_payload",
    "decision_payload",
    "state_paths",
    "routing_state_paths",
    "state_path",
    "routing_state_path",
];

/// The routing data of an assertion.
pub(crate) struct Routing<'d> {
    /// The key that counts.
    pub(crate) key: &'static str,
    value: Spot<'d>,
    /// The keys that are ignored beside it.
    pub(crate) ignored: Vec<(&'static str, Spot<'d>)>,
}

impl<'d> Routing<'d> {
    /// Returns the routing data of an assertion about the path of a delegation.
    pub(crate) fn of(assertion: &Spot<'d>) -> Option<Routing<'d>> {
        assertion.get("type").filter(|kind| kind.text() == Some("delegation_path"))?;
        let mut given = KEYS.iter().filter_map(|key| Some((*key, assertion.get(key)?)));
        let (key, value) = given.next()?;
        Some(Routing { key, value, ignored: given.collect() })
    }

    fn is_decision(&self) -> bool {
        self.key.contains("decision") && !self.key.ends_with("path") || self.key.contains("payload")
    }

    fn items(&self) -> Vec<Spot<'d>> {
        if self.value.is_list() { self.value.items() } else { vec![self.value.clone()] }
    }

    /// Returns the decisions, where it consists of such.
    pub(crate) fn decisions(&self) -> Vec<Spot<'d>> {
        match self.is_decision() {
            true if self.key.ends_with('s') => self.items(),
            true => vec![self.value.clone()],
            false => Vec::new(),
        }
    }

    /// Returns the paths of state files, where it consists of such.
    pub(crate) fn state_paths(&self) -> Vec<Spot<'d>> {
        if !self.is_decision() && self.key.contains("state") { self.items() } else { Vec::new() }
    }
}

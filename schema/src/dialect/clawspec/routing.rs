//! Routing data, which decides if the trace of the run does not mention other agents.

use crate::lint_node::LintNode;

/// Keys of routing data, by precedence.
const KEYS: [&str; 13] = [
    "routing_path", "decision_path", "delegation_fallback_path", "routing_decisions", "state_payloads",
    "decision_payloads", "routing_decision", "state_payload", "decision_payload", "state_paths", "routing_state_paths",
    "state_path", "routing_state_path",
];

/// Routing data of an assertion.
pub(crate) struct Routing<'d> {
    /// Key that takes effect.
    pub(crate) key: &'static str,
    value: LintNode<'d>,
    /// Keys that are ignored because of it.
    pub(crate) ignored: Vec<(&'static str, LintNode<'d>)>,
}

impl<'d> Routing<'d> {
    /// Returns the routing data of a `delegation_path` assertion.
    pub(crate) fn of(assertion: &LintNode<'d>) -> Option<Routing<'d>> {
        let mut given = KEYS.iter().filter_map(|key| Some((*key, assertion.get(key)?)));
        let (key, value) = given.next()?;
        Some(Routing { key, value, ignored: given.collect() })
    }

    fn is_decision(&self) -> bool {
        self.key.contains("decision") && !self.key.ends_with("path") || self.key.contains("payload")
    }

    fn items(&self) -> Vec<LintNode<'d>> {
        if self.value.is_list() { self.value.items() } else { vec![self.value.clone()] }
    }

    /// Returns the decisions, if the data consists of decisions.
    pub(crate) fn decisions(&self) -> Vec<LintNode<'d>> {
        match self.is_decision() {
            true if self.key.ends_with('s') => self.items(),
            true => vec![self.value.clone()],
            false => Vec::new(),
        }
    }

    /// Returns the paths of state files, if the data consists of paths.
    pub(crate) fn state_paths(&self) -> Vec<LintNode<'d>> {
        if !self.is_decision() && self.key.contains("state") { self.items() } else { Vec::new() }
    }
}

//! `defaults` of a contract, which ClawSpec validates but ignores.

use super::facts::About;
use crate::{lint_node::LintNode, relations::Items};

/// Defaults that have no effect.
pub(crate) struct IgnoredDefaults<'d> {
    /// The mapping.
    pub(crate) lint_node: LintNode<'d>,
    /// Whether speclens uses some of them.
    pub(crate) counts_here: bool,
    /// Requests that have no effect.
    pub(crate) left_to_do: UnrepeatedDefaults,
}

/// Requests of `defaults` that the scenarios do not repeat.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnrepeatedDefaults {
    timeout: bool,
    test_mode: bool,
}

impl<'d> IgnoredDefaults<'d> {
    /// Returns the ignored defaults of a contract.
    pub(crate) fn of(root: &LintNode<'d>, scenarios: Items<'_>) -> Option<IgnoredDefaults<'d>> {
        let lint_node = root.get("defaults").filter(|defaults| defaults.is_mapping() && !defaults.is_empty())?;
        let has = |key: &str| lint_node.get(key).is_some();
        if !["timeout", "test_mode", "poll_interval"].into_iter().any(has) {
            return None;
        }
        // Parameters are not sent to agents.
        let is_agent = root.find(&["target", "type"]).is_some_and(|kind| kind.text() == Some("agent"));
        let left_to_do = UnrepeatedDefaults {
            timeout: has("timeout") && scenarios.about(About::Timeout).next().is_none(),
            test_mode: has("test_mode") && !is_agent && scenarios.about(About::TestMode).count() < scenarios.len(),
        };
        let counts_here = ["timeout", "poll_interval"].into_iter().any(has);
        Some(IgnoredDefaults { counts_here, left_to_do, lint_node })
    }
}

impl UnrepeatedDefaults {
    /// Returns the help: how scenarios can specify it themselves.
    pub(crate) fn help(self) -> Option<String> {
        let wait = self.timeout.then_some("set `timeout` on each assertion that has to wait for a file");
        let mode = self.test_mode.then_some("set `test_mode` under `when.params` of each scenario");
        let parts: Vec<&str> = wait.into_iter().chain(mode).collect();
        (!parts.is_empty()).then(|| parts.join(", and "))
    }
}

//! `defaults` of a contract: ClawSpec checks it and never uses it.

use super::facts::{About, Items};
use crate::spot::Spot;

/// Defaults that ask for something.
pub(crate) struct IgnoredDefaults<'d> {
    /// The mapping.
    pub(crate) spot: Spot<'d>,
    /// Whether speclens makes something of them.
    pub(crate) counts_here: bool,
    /// What they ask for in vain.
    pub(crate) left_to_do: LeftToDo,
}

/// What `defaults` asks for and the scenarios do not say themselves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeftToDo {
    timeout: bool,
    test_mode: bool,
}

impl<'d> IgnoredDefaults<'d> {
    /// Those of a contract.
    pub(crate) fn of(root: &Spot<'d>, scenarios: Items<'_>) -> Option<IgnoredDefaults<'d>> {
        let spot = root.get("defaults").filter(|defaults| defaults.is_mapping() && !defaults.is_empty())?;
        let has = |key: &str| spot.get(key).is_some();
        if !["timeout", "test_mode", "poll_interval"].into_iter().any(has) {
            return None;
        }
        // Agents get no parameters.
        let is_agent = root.find(&["target", "type"]).is_some_and(|kind| kind.text() == Some("agent"));
        let left_to_do = LeftToDo {
            timeout: has("timeout") && scenarios.about(About::Timeout).next().is_none(),
            test_mode: has("test_mode") && !is_agent && scenarios.about(About::TestMode).count() < scenarios.count(),
        };
        let counts_here = ["timeout", "poll_interval"].into_iter().any(has);
        Some(IgnoredDefaults { counts_here, left_to_do, spot })
    }
}

impl LeftToDo {
    /// Returns how the scenarios say it themselves.
    pub(crate) fn help(self) -> Option<String> {
        let wait = self.timeout.then_some("set `timeout` on each assertion that has to wait for a file");
        let mode = self.test_mode.then_some("set `test_mode` under `when.params` of each scenario");
        let parts: Vec<&str> = wait.into_iter().chain(mode).collect();
        (!parts.is_empty()).then(|| parts.join(", and "))
    }
}

//! Thresholds of a suite, as written.

use crate::lint_node::LintNode;

/// `thresholds`, if it is a mapping.
pub(crate) struct Limits<'d> {
    pub(crate) thresholds: LintNode<'d>,
    pub(crate) default: Option<LintNode<'d>>,
    /// Threshold of each model, by its id.
    pub(crate) models: Vec<(String, LintNode<'d>)>,
}

impl<'d> Limits<'d> {
    /// Returns the thresholds of a suite.
    pub(crate) fn of(root: &LintNode<'d>) -> Option<Limits<'d>> {
        let thresholds = root.get("thresholds").filter(LintNode::is_mapping)?;
        let models = thresholds.get("models").map(|models| models.entries()).unwrap_or_default();
        Some(Limits { default: thresholds.get("default"), models, thresholds })
    }

    /// Returns each threshold that is a valid percentage.
    pub(crate) fn all(&self) -> impl Iterator<Item = (f64, &LintNode<'d>)> {
        let limits = self.default.iter().chain(self.models.iter().map(|(_, lint_node)| lint_node));
        limits.filter_map(|limit| Some((limit.number().filter(|value| (0.0..=100.0).contains(value))?, limit)))
    }
}

//! The thresholds of a suite, as they are written.

use crate::spot::Spot;

/// `thresholds`, where it is a mapping.
pub(crate) struct Limits<'d> {
    pub(crate) thresholds: Spot<'d>,
    pub(crate) default: Option<Spot<'d>>,
    /// The threshold of each model by its id.
    pub(crate) models: Vec<(String, Spot<'d>)>,
}

impl<'d> Limits<'d> {
    /// Returns the thresholds of a suite.
    pub(crate) fn of(root: &Spot<'d>) -> Option<Limits<'d>> {
        let thresholds = root.get("thresholds").filter(Spot::is_mapping)?;
        let models = thresholds.get("models").map(|models| models.entries()).unwrap_or_default();
        Some(Limits { default: thresholds.get("default"), models, thresholds })
    }

    /// Returns each threshold that is a percentage.
    pub(crate) fn all(&self) -> impl Iterator<Item = (f64, &Spot<'d>)> {
        let limits = self.default.iter().chain(self.models.iter().map(|(_, spot)| spot));
        limits.filter_map(|limit| Some((limit.number().filter(|value| (0.0..=100.0).contains(value))?, limit)))
    }
}

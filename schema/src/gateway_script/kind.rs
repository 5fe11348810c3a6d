//! The kind of file.

use super::{GatewayScript, lint};
use crate::{
    dialect::Dialect,
    json_schema::generate,
    kind::{Sight, Signs},
    spec_file::{Empty, Family, Kind, Landmarks, Names, SpecFile},
};

impl SpecFile {
    /// A scripted gateway: `NAME.gateway.yaml`.
    pub const GATEWAY: SpecFile = SpecFile::of(&Kind {
        name: "gateway",
        title: "scripted gateway",
        heading: Some("NAME.gateway.yaml"),
        names: Names::Perhaps(&["**/*.gateway.yaml"]),
        signs: &Runs,
        family: Family::Serves(Dialect::CLAWSPEC),
        empty: Empty::Incomplete("begin it with `runs:` and a list of runs"),
        keys_are_names: true,
        landmarks: Landmarks::At(|_| Vec::new()),
        report: |root, _, report| lint::report(root, report),
        schema: generate::<GatewayScript>,
        ..Kind::PLAIN
    });
}

struct Runs;

impl Signs for Runs {
    fn has_two_of_its_own(&self, sight: &Sight<'_>) -> bool {
        self.has_one_of_its_own(sight)
    }

    /// Whether the runs or the scores of a scripted gateway are in it, or are about to be.
    fn has_one_of_its_own(&self, sight: &Sight<'_>) -> bool {
        sight.has_in_items("runs", &["when", "steps"])
            || sight.has_in_items("scores", &["score"])
            || sight.is_unfilled("runs")
    }
}

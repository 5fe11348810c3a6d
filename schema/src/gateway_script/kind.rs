//! The kind of file of scripted gateways.

use super::{GatewayScript, lint};
use crate::{
    format::Dialect,
    json_schema::generate,
    kind::{Candidate, Signs},
    spec_file::{Empty, FileOwner, FilePatterns, Kind, SpecFile, SymbolSource},
};

impl SpecFile {
    /// A scripted gateway: `NAME.gateway.yaml`.
    pub const GATEWAY: SpecFile = SpecFile::of(&Kind {
        name: "gateway",
        title: "scripted gateway",
        singular: "scripted gateway",
        heading: Some("NAME.gateway.yaml"),
        names: FilePatterns::Perhaps(&["**/*.gateway.yaml"]),
        signs: &Runs,
        owner: FileOwner::Serves(Dialect::CLAWSPEC),
        empty: Empty::Incomplete("begin it with `runs:` and a list of runs"),
        keys_are_names: true,
        symbols: SymbolSource::At(|_| Vec::new()),
        report: |root, _, report| lint::report(root, report),
        schema: generate::<GatewayScript>,
        committed: || Some(include_str!("../../json/gateway.schema.json")),
        ..Kind::PLAIN
    });
}

struct Runs;

impl Signs for Runs {
    fn has_two_of_its_own(&self, candidate: &Candidate<'_>) -> bool {
        self.has_one_of_its_own(candidate)
    }

    /// Whether the file contains the runs or the scores of a scripted gateway, or is about to.
    fn has_one_of_its_own(&self, candidate: &Candidate<'_>) -> bool {
        // A misspelled key is reported only if the file is recognized.
        let near = |key: &str| candidate.near(key).map(|entry| entry.key);
        near("runs").is_some_and(|key| candidate.has_in_items(key, &["when", "steps"]) || candidate.is_unfilled(key))
            || near("scores").is_some_and(|key| candidate.has_in_items(key, &["score"]))
    }
}

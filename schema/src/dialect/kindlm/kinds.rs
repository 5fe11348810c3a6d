//! The kind of file of the format.

use super::{KindLm, config::Config};
use crate::{
    format::Dialect,
    json_schema::generate,
    kind::{Candidate, Signs, Strength},
    spec_file::{Cases, DiscoveryRule, Empty, FileOwner, FilePatterns, Kind, SpecFile},
};

impl Dialect {
    pub const KINDLM: Dialect = Dialect::of(&KindLm);
}

impl SpecFile {
    /// A suite: `kindlm.yaml`.
    pub const KINDLM: SpecFile = SpecFile::of(&Kind {
        name: "kindlm",
        title: "KindLM suite",
        singular: "KindLM suite",
        heading: Some("kindlm.yaml"),
        names: FilePatterns::Surely(&["**/kindlm.yaml", "**/kindlm.yml"]),
        signs: &SuiteSigns,
        owner: FileOwner::Of(Dialect::KINDLM),
        cases: Cases::List("tests"),
        discovery: DiscoveryRule::Named,
        empty: Empty::Incomplete("begin it with `kindlm: 1`"),
        schema: generate::<Config>,
        committed: || Some(include_str!("../../../json/kindlm.schema.json")),
        ..Kind::PLAIN
    });
}

struct SuiteSigns;

impl Signs for SuiteSigns {
    fn content(&self, candidate: &Candidate<'_>) -> Option<Strength> {
        let outline = candidate.outline;
        let version = outline.entry("kindlm").filter(|entry| !entry.value.is_empty())?;
        let is_known = |key: &str| candidate.shape.any_field(key).is_some();
        let has_others = outline.keys.iter().any(|it| it.key != "kindlm" && is_known(it.key));
        (has_others || version.text() == "1" && outline.keys.len() == 1).then_some(Strength::Name)
    }
}

//! The kind of file.

use super::{Script, lint};
use crate::{
    dialect::Dialect,
    json_schema::generate,
    kind::{Sight, Signs},
    spec_file::{Empty, Family, Kind, Landmarks, Names, SpecFile},
};

impl SpecFile {
    /// A scripted model: `NAME.script.yaml`.
    pub const SCRIPT: SpecFile = SpecFile::of(&Kind {
        name: "script",
        title: "scripted model",
        heading: Some("NAME.script.yaml"),
        names: Names::Perhaps(&["**/*.script.yaml"]),
        signs: &Turns,
        family: Family::Serves(Dialect::CLI_BENCH),
        empty: Empty::Incomplete("begin it with `default:` and a list of turns"),
        keys_are_names: true,
        landmarks: Landmarks::At(|_| Vec::new()),
        report: lint::report,
        schema: generate::<Script>,
        ..Kind::PLAIN
    });
}

struct Turns;

impl Signs for Turns {
    // No key is one that only scripts have, so the turns decide.
    fn has_two_of_its_own(&self, sight: &Sight<'_>) -> bool {
        self.has_one_of_its_own(sight)
    }

    /// Whether a script has turns or answers, or room for them.
    fn has_one_of_its_own(&self, sight: &Sight<'_>) -> bool {
        sight.has_in_items("default", &["say", "run", "call", "fail"])
            || sight.has_in_items("answers", &["asked"])
            // One level deeper nothing is known of them.
            || sight.is_empty_list("tasks")
            || ["default", "answers"].into_iter().any(|key| sight.is_unfilled(key))
    }
}

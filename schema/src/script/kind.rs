//! The kind of file of scripted models.

use super::{Script, lint};
use crate::{
    format::Dialect,
    json_schema::generate,
    kind::{Candidate, Signs},
    spec_file::{Empty, FileOwner, FilePatterns, Kind, SpecFile, SymbolSource},
};

impl SpecFile {
    /// A scripted model: `NAME.script.yaml`.
    pub const SCRIPT: SpecFile = SpecFile::of(&Kind {
        name: "script",
        title: "scripted model",
        singular: "scripted model",
        heading: Some("NAME.script.yaml"),
        names: FilePatterns::Perhaps(&["**/*.script.yaml"]),
        signs: &Turns,
        owner: FileOwner::Serves(Dialect::CLI_BENCH),
        empty: Empty::Incomplete("begin it with `default:` and a list of turns"),
        keys_are_names: true,
        symbols: SymbolSource::At(|_| Vec::new()),
        report: lint::report,
        schema: generate::<Script>,
        committed: || Some(include_str!("../../json/script.schema.json")),
        ..Kind::PLAIN
    });
}

struct Turns;

impl Signs for Turns {
    // No key is specific to scripts, so the turns decide.
    fn has_two_of_its_own(&self, candidate: &Candidate<'_>) -> bool {
        self.has_one_of_its_own(candidate)
    }

    /// Whether a script has turns or answers, or is about to.
    fn has_one_of_its_own(&self, candidate: &Candidate<'_>) -> bool {
        // A misspelled key is reported only if the file is recognized.
        let near = |key: &str| candidate.near(key).map(|entry| entry.key);
        near("default").is_some_and(|key| candidate.has_in_items(key, &["say", "run", "call", "fail"]))
            || near("answers").is_some_and(|key| candidate.has_in_items(key, &["asked"]))
            // The keys one level deeper are not in the outline.
            || near("tasks").is_some_and(|key| candidate.is_empty_list(key))
            || ["default", "answers"].into_iter().filter_map(near).any(|key| candidate.is_unfilled(key))
    }
}

//! The kinds of files of the format.

use super::{CliBench, config::Config, tasks::Tasks};
use crate::{
    format::Dialect,
    json_schema::generate,
    kind::{Candidate, Signs, Strength},
    spec_file::{Cases, DiscoveryRule, Empty, FileOwner, FilePatterns, Kind, SpecFile},
};

impl Dialect {
    /// cli-bench: `cli-bench.yaml` and the task files that it includes.
    pub const CLI_BENCH: Dialect = Dialect::of(&CliBench);
}

impl SpecFile {
    /// A suite: `cli-bench.yaml`.
    pub const CLI_BENCH: SpecFile = SpecFile::of(&Kind {
        name: "cli-bench",
        title: "cli-bench suite",
        singular: "cli-bench suite",
        heading: Some("cli-bench.yaml"),
        names: FilePatterns::Surely(&["**/cli-bench.yaml", "**/cli-bench.yml"]),
        signs: &SuiteSigns,
        owner: FileOwner::Of(Dialect::CLI_BENCH),
        cases: Cases::List("tasks"),
        discovery: DiscoveryRule::Named,
        empty: Empty::Incomplete("begin it with `cli:` and the name of a program"),
        schema: generate::<Config>,
        committed: || Some(include_str!("../../../json/cli-bench.schema.json")),
        ..Kind::PLAIN
    });

    pub const CLI_BENCH_TASKS: SpecFile = SpecFile::of(&Kind {
        name: "cli-bench-tasks",
        title: "cli-bench tasks",
        singular: "cli-bench task file",
        signs: &TaskSigns,
        owner: FileOwner::Of(Dialect::CLI_BENCH),
        cases: Cases::PartOfSuite(""),
        discovery: DiscoveryRule::InSuite,
        empty: Empty::Incomplete("begin it with `- id:` and the id of a task"),
        schema: generate::<Tasks>,
        committed: || Some(include_str!("../../../json/cli-bench-tasks.schema.json")),
        ..Kind::PLAIN
    });
}

struct SuiteSigns;

impl Signs for SuiteSigns {
    fn content(&self, candidate: &Candidate<'_>) -> Option<Strength> {
        let outline = candidate.outline;
        // In task runners, it is a mapping.
        let has_tasks = outline.has("tasks") && outline.members("tasks").next().is_none();
        // The tasks have no keys yet, or one has a required key.
        let holds_tasks = || {
            outline.of_items("tasks").next().is_none() || candidate.has_in_items("tasks", &["id", "intent", "assert"])
        };
        let is_ours = || holds_tasks() || ["providers", "version_command"].into_iter().any(|key| outline.has(key));
        let has_program = outline.entry("cli").is_some_and(|entry| !entry.value.is_empty());
        (has_tasks && has_program && is_ours()).then_some(Strength::Keys)
    }
}

struct TaskSigns;

impl Signs for TaskSigns {
    fn content(&self, candidate: &Candidate<'_>) -> Option<Strength> {
        let is_task = |item: &Vec<&str>| item.contains(&"intent") && item.contains(&"assert");
        candidate.outline.items.iter().any(is_task).then_some(Strength::Keys)
    }
}

//! The kinds of files: one row each, with everything that is known of a kind without looking into a file.

use std::sync::OnceLock;

use serde_json::Value;

use crate::{
    dialect::{Dialect, ScalarRules, clawspec, cli_bench, kindlm},
    gateway_script::GatewayScript,
    json_schema::{generate, settings_schema},
    problem::Code,
    script::Script,
};

/// A kind of file that has a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpecFile {
    /// A suite: `kindlm.yaml`.
    KindLm,
    /// A suite: `cli-bench.yaml`.
    CliBench,
    /// A list of tasks that a `cli-bench.yaml` names.
    CliBenchTasks,
    /// A scenario contract: `tests/scenarios.yaml`.
    ClawSpecScenarios,
    /// A handoff contract: `tests/handoffs/*.yaml`.
    ClawSpecHandoff,
    /// A pipeline contract: `tests/pipeline.yaml`.
    ClawSpecPipeline,
    /// The settings of a ClawSpec workspace: `clawspec.yaml`.
    ClawSpec,
    /// What is covered by contracts: `coverage-ledger.yaml`.
    ClawSpecLedger,
    /// What earlier runs measured: `tests/baselines.yaml`.
    ClawSpecBaselines,
    /// A scripted model: `NAME.script.yaml`.
    Script,
    /// A scripted gateway: `NAME.gateway.yaml`.
    Gateway,
    /// The settings of a workspace: `speclens.yaml`.
    Settings,
}

/// What is known of a kind of file.
struct Kind {
    file: SpecFile,
    /// The word on the command line, and in the name of the schema.
    name: &'static str,
    title: &'static str,
    /// The heading in the reference, where that is the name of a file.
    heading: Option<&'static str>,
    /// The files that are of this kind by name and place, as globs.
    patterns: &'static [&'static str],
    family: Family,
    cases: Cases,
    empty: Empty,
    /// Whether keys of mappings are names that refer to other files.
    keys_are_names: bool,
    schema: fn(SpecFile) -> Value,
}

/// Whose file it is.
enum Family {
    /// A file of this format.
    Of(Dialect),
    /// A file of ours that plays a part for suites of this format.
    Serves(Dialect),
    /// A file of ours.
    Own,
}

/// Where the cases are.
enum Cases {
    /// In the list at this key of the root; with the empty key, the root is that list.
    List(&'static str),
    /// In a list that belongs to the suite of another file.
    PartOfSuite(&'static str),
    /// The whole file is one case.
    Whole,
    /// It has none.
    None,
}

/// What a file without content means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Empty {
    /// It lacks its beginning: this help says which.
    Incomplete(&'static str),
    /// The defaults apply, which is reported with this code.
    Defaults(Code),
}

/// In the order in which the reference has them.
static KINDS: [Kind; SpecFile::ALL.len()] = [
    Kind {
        file: SpecFile::KindLm,
        name: "kindlm",
        title: "KindLM suite",
        heading: Some("kindlm.yaml"),
        patterns: &["**/kindlm.yaml", "**/kindlm.yml"],
        family: Family::Of(Dialect::KindLm),
        cases: Cases::List("tests"),
        empty: Empty::Incomplete("begin it with `kindlm: 1`"),
        keys_are_names: false,
        schema: generate::<kindlm::config::Config>,
    },
    Kind {
        file: SpecFile::CliBench,
        name: "cli-bench",
        title: "cli-bench suite",
        heading: Some("cli-bench.yaml"),
        patterns: &["**/cli-bench.yaml", "**/cli-bench.yml"],
        family: Family::Of(Dialect::CliBench),
        cases: Cases::List("tasks"),
        empty: Empty::Incomplete("begin it with `cli:` and the name of a program"),
        keys_are_names: false,
        schema: generate::<cli_bench::config::Config>,
    },
    Kind {
        file: SpecFile::CliBenchTasks,
        name: "cli-bench-tasks",
        title: "cli-bench tasks",
        heading: None,
        // A list of tasks is one because a suite names it.
        patterns: &[],
        family: Family::Of(Dialect::CliBench),
        cases: Cases::PartOfSuite(""),
        empty: Empty::Incomplete("begin it with `- id:` and the id of a task"),
        keys_are_names: false,
        schema: generate::<cli_bench::tasks::Tasks>,
    },
    Kind {
        file: SpecFile::ClawSpecScenarios,
        name: "clawspec-scenarios",
        title: "ClawSpec scenarios",
        heading: None,
        patterns: &["**/tests/scenarios.yaml"],
        family: Family::Of(Dialect::ClawSpec),
        cases: Cases::List("scenarios"),
        empty: Empty::Incomplete(CLAWSPEC_VERSION),
        keys_are_names: false,
        schema: generate::<clawspec::scenarios::ScenarioContract>,
    },
    Kind {
        file: SpecFile::ClawSpecHandoff,
        name: "clawspec-handoff",
        title: "ClawSpec handoff",
        heading: None,
        patterns: &["**/tests/handoffs/*.yaml", "**/tests/handoffs/*.yml"],
        family: Family::Of(Dialect::ClawSpec),
        cases: Cases::Whole,
        empty: Empty::Incomplete(CLAWSPEC_VERSION),
        keys_are_names: false,
        schema: generate::<clawspec::handoff::HandoffContract>,
    },
    Kind {
        file: SpecFile::ClawSpecPipeline,
        name: "clawspec-pipeline",
        title: "ClawSpec pipeline",
        heading: None,
        patterns: &["**/tests/pipeline.yaml", "**/tests/pipelines/*.yaml", "**/tests/pipelines/*.yml"],
        family: Family::Of(Dialect::ClawSpec),
        cases: Cases::Whole,
        empty: Empty::Incomplete(CLAWSPEC_VERSION),
        keys_are_names: false,
        schema: generate::<clawspec::pipeline::PipelineContract>,
    },
    Kind {
        file: SpecFile::ClawSpec,
        name: "clawspec",
        title: "ClawSpec settings",
        heading: Some("clawspec.yaml"),
        patterns: &["**/clawspec.yaml"],
        family: Family::Of(Dialect::ClawSpec),
        cases: Cases::None,
        empty: Empty::Defaults(Code::NoEffect),
        keys_are_names: false,
        schema: generate::<clawspec::config::Config>,
    },
    Kind {
        file: SpecFile::ClawSpecLedger,
        name: "clawspec-ledger",
        title: "ClawSpec coverage ledger",
        heading: None,
        patterns: &["**/coverage-ledger.yaml"],
        family: Family::Of(Dialect::ClawSpec),
        cases: Cases::None,
        empty: Empty::Incomplete("begin it with `waves:`"),
        keys_are_names: false,
        schema: generate::<clawspec::ledger::CoverageLedger>,
    },
    Kind {
        file: SpecFile::ClawSpecBaselines,
        name: "clawspec-baselines",
        title: "ClawSpec baselines",
        heading: None,
        patterns: &["**/tests/baselines.yaml"],
        family: Family::Of(Dialect::ClawSpec),
        cases: Cases::None,
        empty: Empty::Incomplete(CLAWSPEC_VERSION),
        keys_are_names: true,
        schema: generate::<clawspec::baselines::Baselines>,
    },
    Kind {
        file: SpecFile::Script,
        name: "script",
        title: "scripted model",
        heading: Some("NAME.script.yaml"),
        patterns: &["**/*.script.yaml"],
        family: Family::Serves(Dialect::CliBench),
        cases: Cases::None,
        empty: Empty::Incomplete("begin it with `default:` and a list of turns"),
        keys_are_names: true,
        schema: generate::<Script>,
    },
    Kind {
        file: SpecFile::Gateway,
        name: "gateway",
        title: "scripted gateway",
        heading: Some("NAME.gateway.yaml"),
        patterns: &["**/*.gateway.yaml"],
        family: Family::Serves(Dialect::ClawSpec),
        cases: Cases::None,
        empty: Empty::Incomplete("begin it with `runs:` and a list of runs"),
        keys_are_names: true,
        schema: generate::<GatewayScript>,
    },
    Kind {
        file: SpecFile::Settings,
        name: "speclens",
        title: "speclens settings",
        heading: Some("speclens.yaml"),
        patterns: &["**/speclens.yaml"],
        family: Family::Own,
        cases: Cases::None,
        empty: Empty::Defaults(Code::InvalidSetting),
        keys_are_names: false,
        schema: settings_schema,
    },
];

const CLAWSPEC_VERSION: &str = "begin it with `version: \"1.0\"`";

impl SpecFile {
    /// Every kind, in the order in which the reference has them.
    pub const ALL: &'static [SpecFile] = &[
        SpecFile::KindLm,
        SpecFile::CliBench,
        SpecFile::CliBenchTasks,
        SpecFile::ClawSpecScenarios,
        SpecFile::ClawSpecHandoff,
        SpecFile::ClawSpecPipeline,
        SpecFile::ClawSpec,
        SpecFile::ClawSpecLedger,
        SpecFile::ClawSpecBaselines,
        SpecFile::Script,
        SpecFile::Gateway,
        SpecFile::Settings,
    ];

    fn kind(self) -> &'static Kind {
        let kind = &KINDS[self as usize];
        debug_assert_eq!(kind.file, self, "the rows are in the order of the variants");
        kind
    }

    /// The format that the file belongs to; `None` for what is our own.
    pub fn dialect(self) -> Option<Dialect> {
        match self.kind().family {
            Family::Of(dialect) => Some(dialect),
            Family::Serves(_) | Family::Own => None,
        }
    }

    /// The format of the suites that it belongs to: its own, or that of the suites that it plays a part for.
    pub fn serves(self) -> Option<Dialect> {
        match self.kind().family {
            Family::Of(dialect) | Family::Serves(dialect) => Some(dialect),
            Family::Own => None,
        }
    }

    /// How plain scalars are read.
    pub fn scalar_rules(self) -> ScalarRules {
        self.dialect().map_or(ScalarRules::Yaml12, Dialect::scalar_rules)
    }

    /// The key of the top-level list whose items are the cases; the empty key where the root is that list.
    pub fn case_list(self) -> Option<&'static str> {
        match self.kind().cases {
            Cases::List(key) | Cases::PartOfSuite(key) => Some(key),
            Cases::Whole | Cases::None => None,
        }
    }

    /// The key that names a case.
    pub fn name_key(self) -> &'static str {
        self.dialect().map_or("name", Dialect::name_key)
    }

    /// Whether it holds cases of a suite that another file makes.
    pub fn is_part(self) -> bool {
        match self.kind().cases {
            Cases::PartOfSuite(_) => true,
            Cases::List(_) | Cases::Whole | Cases::None => false,
        }
    }

    /// Whether it holds cases.
    pub fn has_cases(self) -> bool {
        match self.kind().cases {
            Cases::List(_) | Cases::PartOfSuite(_) | Cases::Whole => true,
            Cases::None => false,
        }
    }

    /// Whether it is a suite, which can be listed and run.
    pub fn is_suite(self) -> bool {
        self.has_cases() && !self.is_part()
    }

    /// Whether keys of its mappings are names that refer to something elsewhere.
    pub fn keys_are_names(self) -> bool {
        self.kind().keys_are_names
    }

    /// The files that are of this kind by name and place, as globs. A list of tasks is one because a suite names it.
    /// The server decides by [`crate::kind::detect`], which looks at the content as well.
    pub fn file_patterns(self) -> &'static [&'static str] {
        self.kind().patterns
    }

    /// The word that stands for the kind on the command line, and in the name of its schema.
    pub fn as_str(self) -> &'static str {
        self.kind().name
    }

    /// The kind with this word.
    pub fn parse(word: &str) -> Option<SpecFile> {
        SpecFile::ALL.iter().copied().find(|file| file.as_str() == word)
    }

    /// What the schema is called.
    pub fn title(self) -> &'static str {
        self.kind().title
    }

    /// What the kind is called as a heading: the name of its files, or what they are.
    pub(crate) fn heading(self) -> String {
        self.kind().heading.map_or_else(|| self.title().to_owned(), |name| format!("`{name}`"))
    }

    /// What such a file means when it is empty.
    pub(crate) fn empty(self) -> Empty {
        self.kind().empty
    }

    /// The schema.
    pub fn schema(self) -> &'static Value {
        static SCHEMAS: PerFile<Value> = PerFile::new();
        SCHEMAS.get(self, || (self.kind().schema)(self))
    }

    /// The schema as the text of its committed copy.
    pub fn schema_text(self) -> String {
        let mut text = serde_json::to_string_pretty(self.schema()).expect("a schema is JSON");
        text.push('\n');
        text
    }
}

/// Something that is made once for each kind of file, and only for those that are met.
pub(crate) struct PerFile<T>([OnceLock<T>; SpecFile::ALL.len()]);

impl<T> PerFile<T> {
    /// Nothing made yet.
    pub(crate) const fn new() -> PerFile<T> {
        PerFile([const { OnceLock::new() }; SpecFile::ALL.len()])
    }

    /// What belongs to a kind of file.
    pub(crate) fn get(&self, file: SpecFile, make: impl FnOnce() -> T) -> &T {
        self.0[file as usize].get_or_init(make)
    }
}

#[cfg(test)]
mod tests {
    use super::{KINDS, SpecFile};

    #[test]
    fn row_of_a_kind_is_at_its_number() {
        for (file, kind) in SpecFile::ALL.iter().zip(&KINDS) {
            assert_eq!((*file, file.kind().file), (kind.file, *file));
        }
    }
}

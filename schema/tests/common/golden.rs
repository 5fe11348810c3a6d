//! The golden files of all formats: texts with mistakes, looked at as a person would have them looked at.
#![allow(dead_code, reason = "each test takes what it needs")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use speclens_schema::{
    analysis::Analyzer, document::Document, files::MemoryFiles, json_schema::SpecFile, problem::Problem,
    settings::Settings,
};

/// A text with mistakes.
#[derive(Clone)]
pub(crate) struct Golden {
    pub(crate) path: PathBuf,
    pub(crate) file: SpecFile,
    pub(crate) text: String,
    pub(crate) files: MemoryFiles,
}

impl Golden {
    /// Returns the golden files of all formats, in the order of their paths.
    pub(crate) fn all() -> Vec<Golden> {
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
        let mut all = golden_in(&tests.join("problems"), kindlm);
        all.extend(golden_in(&tests.join("problems/cli-bench"), cli_bench));
        all.extend(golden_in(&tests.join("problems/clawspec"), clawspec));
        all.extend(golden_in(&tests.join("problems/script"), script));
        all.extend(golden_in(&tests.join("problems/gateway"), gateway));
        all
    }

    /// Whether its mistakes are lines in a wrong column, which is another one where lists are indented otherwise.
    pub(crate) fn is_about_columns(&self) -> bool {
        let stem = self.path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        ["outdented", "root-key", "blanks", "lost-dash"].iter().any(|topic| stem.ends_with(topic))
    }

    pub(crate) fn document(&self) -> Document {
        Document::read(&self.text, self.file.scalar_rules())
    }

    /// Returns what is wrong with a version of the text.
    pub(crate) fn problems(&self, document: &Document) -> Vec<Problem> {
        Analyzer::new(self.file).problems(document, &self.files, &Settings::default())
    }
}

fn golden_in(folder: &Path, kind: fn(&Path) -> (SpecFile, MemoryFiles)) -> Vec<Golden> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|it| it == "yaml")).collect();
    paths.sort();
    let golden = paths.into_iter().map(|path| {
        let (file, files) = kind(&path);
        Golden { text: fs::read_to_string(&path).unwrap(), path, file, files }
    });
    golden.collect()
}

fn kindlm(path: &Path) -> (SpecFile, MemoryFiles) {
    let file = if path.ends_with("invalid-setting.yaml") { SpecFile::SETTINGS } else { SpecFile::KINDLM };
    (file, kindlm_files())
}

/// Returns the files beside a KindLM suite.
pub(crate) fn kindlm_files() -> MemoryFiles {
    MemoryFiles::new(
        "/suite",
        [
            ("schemas/answer.json", r#"{ "type": "object" }"#),
            ("schemas/broken.json", "{\n  \"type\": \n}"),
            ("schemas/list.json", "[]"),
            ("schemas/wrong.json", r#"{ "properties": { "a": { "type": "txt" } } }"#),
            ("schemas/nonsense.json", r#"{ "$schema": "nonsense" }"#),
            ("schemas/elsewhere.json", r#"{ "items": { "$ref": "answer.json" } }"#),
            ("schemas/iri.json", r#"{ "type": "string", "format": "iri" }"#),
            ("schemas/new-draft.json", r#"{ "$schema": "https://json-schema.org/draft/2020-12/schema" }"#),
        ],
    )
}

fn cli_bench(path: &Path) -> (SpecFile, MemoryFiles) {
    let mut beside = Vec::new();
    files_below(&path.with_file_name("files"), "", &mut beside);
    let files = MemoryFiles::new("/suite", beside.iter().map(|(name, text)| (name.as_str(), text.as_str())));
    if path.to_str().unwrap().ends_with(".tasks.yaml") {
        (SpecFile::CLI_BENCH_TASKS, files.at("tasks/own.yaml").named_by("cli-bench.yaml"))
    } else {
        (SpecFile::CLI_BENCH, files.at("cli-bench.yaml"))
    }
}

/// The files below a folder, as paths relative to it.
pub(crate) fn files_below(folder: &Path, prefix: &str, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap()) {
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            files_below(&entry.path(), &format!("{name}/"), found);
        } else {
            found.push((name, fs::read_to_string(entry.path()).unwrap()));
        }
    }
}

fn script(_: &Path) -> (SpecFile, MemoryFiles) {
    (SpecFile::SCRIPT, script_files())
}

fn gateway(_: &Path) -> (SpecFile, MemoryFiles) {
    (SpecFile::GATEWAY, MemoryFiles::new("/work", [("clawspec.yaml", "")]).at("demo.gateway.yaml"))
}

/// Returns the suite beside a script.
pub(crate) fn script_files() -> MemoryFiles {
    let suite = "cli: mycli\nproviders: [scripted/careful]\ntasks:\n  - id: create-user\n    intent: a\n    assert: [{exit_code: 0}]\n  - file://tasks/*.yaml\n";
    let tasks = "- id: list-users\n  intent: b\n  assert: [{exit_code: 0}]\n";
    let files = MemoryFiles::new("/suite", [("cli-bench.yaml", suite), ("tasks/a.yaml", tasks)]);
    files.at("careful.script.yaml").named_by("cli-bench.yaml")
}

/// Returns the kind of a text of ClawSpec, and the place where it is.
pub(crate) fn clawspec_kind(text: &str) -> (SpecFile, &'static str) {
    let has = |key: &str| text.lines().any(|line| line.starts_with(key));
    match ["handoff:", "pipeline:", "waves:", "baselines:", "target:"].into_iter().find(|key| has(key)) {
        Some("handoff:") => (SpecFile::CLAWSPEC_HANDOFF, "skills/demo/tests/handoffs/lead-to-copy.yaml"),
        Some("pipeline:") => (SpecFile::CLAWSPEC_PIPELINE, "skills/demo/tests/pipeline.yaml"),
        Some("waves:") => (SpecFile::CLAWSPEC_LEDGER, "coverage-ledger.yaml"),
        Some("baselines:") => (SpecFile::CLAWSPEC_BASELINES, "skills/demo/tests/baselines.yaml"),
        Some(_) => (SpecFile::CLAWSPEC_SCENARIOS, "skills/demo/tests/scenarios.yaml"),
        None => (SpecFile::CLAWSPEC, "clawspec.yaml"),
    }
}

fn clawspec(path: &Path) -> (SpecFile, MemoryFiles) {
    let (file, place) = clawspec_kind(&fs::read_to_string(path).unwrap());
    (file, clawspec_files().at(place))
}

/// A skill and its definition.
pub(crate) const DEMO_SKILL: (&str, &str) = (
    "skills/demo/SKILL.md",
    "---\nname: demo\ndescription: Use when a letter is due.\nversion: 1.0.0\npermissions: {filesystem: read, network: false}\n---\n# Demo\n",
);

/// Returns the workspace around a text of ClawSpec.
pub(crate) fn clawspec_files() -> MemoryFiles {
    let scenarios = "version: '1.0'\nscenarios:\n  - name: demo-smoke\n    tags: [negative]\n";
    MemoryFiles::new(
        "/work",
        [
            DEMO_SKILL,
            (
                "skills/other/SKILL.md",
                "---\nname: other\ndescription: Use when a letter is due.\nversion: 1.0.0\npermissions: {filesystem: read, network: false}\n---\n# Other\n",
            ),
            ("skills/draft/SKILL.md", "---\nname: Draft\ndescription: Writes letters.\n---\nUses git and MAIL_KEY.\n"),
            ("skills/demo/tests/scenarios.yaml", scenarios),
            ("skills/demo/tests/handoffs/lead-to-brief.yaml", "version: '1.0'\nhandoff: {}\n"),
            (
                "skills/demo/tests/handoffs/lead-to-brand.yaml",
                "version: '1.0'\nhandoff: {to: agents-marketing-brand}\n",
            ),
            ("agents/marketing/brand/SOUL.md", "# Brand\n"),
            ("tests/words.yaml", "one: word\nbanned: [a]\n"),
            ("tests/golden/good.md", "# Good\n"),
        ],
    )
}

//! The shipped examples, and those in the documentation of every assertion, are right: for the schema, the rules and the
//! types.

use crate::{common, golden};

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use speclens_schema::{
    act::Act,
    analysis::Analyzer,
    dialect::{clawspec, cli_bench, kindlm},
    document::{Document, Pointer},
    evidence::Evidence,
    files::MemoryFiles,
    format::Dialect,
    json_schema::SpecFile,
    kind::{FileContext, Workspace, detect},
    problem::Code,
    settings::Settings,
    shape::Shape,
    suite::{Case, Phase, Suite},
};

use golden::files_below;
use speclens_schema::words::FilePath;

/// Assertions that nothing can judge.
const UNSUPPORTED: [&str; 2] = ["slack_message_sent", "email_received"];

/// Asserts that nothing is wrong with a file, except for what another program would do and for `allowed` problems.
#[track_caller]
fn clean(file: SpecFile, path: &str, text: &str, files: &MemoryFiles, allowed: &[Code]) -> Suite {
    let files = files.clone().at(path).named_by("cli-bench.yaml");
    let document = Document::read(text, file.scalar_rules());
    // The gateway of the examples sends traces.
    let mut settings = Settings::default();
    settings.gateway.gateway = Some(FilePath("demo.gateway.yaml".to_owned()));
    let mut analysis = Analyzer::new(file).analyze(&document, &files, &settings);
    analysis.problems.retain(|problem| problem.code != Code::UpstreamDiffers && !allowed.contains(&problem.code));
    assert!(analysis.problems.is_empty(), "{path}\n{}", common::render(text, &analysis.problems));
    let value = document.root().unwrap().to_value().unwrap();
    assert!(jsonschema::validator_for(file.schema()).unwrap().is_valid(&value), "{path}");
    if file == SpecFile::KINDLM {
        drop(serde_json::from_value::<kindlm::config::Config>(value).unwrap());
    } else if file == SpecFile::CLI_BENCH {
        drop(serde_json::from_value::<cli_bench::config::Config>(value).unwrap());
    } else if file == SpecFile::CLI_BENCH_TASKS {
        drop(serde_json::from_value::<cli_bench::tasks::Tasks>(value).unwrap());
    }
    assert!(analysis.suite.cases.iter().all(|case| case.intact && !case.claims.is_empty()), "{path}");
    analysis.suite
}

/// Returns the types of the assertions of a case. Stages and conditions of a pipeline are claims, and no assertions.
fn types(case: &Case) -> Vec<&'static str> {
    let is_assertion = |phase| !matches!(phase, Some(Phase::Stages | Phase::PipelineHealth));
    let claims = case.claims.iter().filter(|claim| is_assertion(claim.phase));
    claims.flat_map(|claim| claim.check.check(Act::of(&Evidence::default()))).map(|row| row.kind).collect()
}

/// Returns the names of all assertions of ClawSpec that can be judged.
fn clawspec_types() -> BTreeSet<&'static str> {
    let names = clawspec::assertion::Assertion::TYPES.iter().map(|info| info.name);
    names.filter(|name| !UNSUPPORTED.contains(name)).collect()
}

#[test]
fn nothing_is_wrong_with_the_examples() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["examples", "examples-editing"].map(|folder| fs::read_dir(root.join(folder)).unwrap());
    let mut kinds = BTreeSet::new();
    let mut shown: BTreeMap<Option<&str>, BTreeSet<&str>> = BTreeMap::new();
    for folder in folders.into_iter().flatten().map(|entry| entry.unwrap().path()) {
        let mut texts = Vec::new();
        files_below(&folder, "", &mut texts);
        let files = MemoryFiles::new(&folder, texts.iter().map(|(name, text)| (name.as_str(), text.as_str())));
        let context = FileContext { workspace: &|| Workspace::Target, ..FileContext::NOTHING };
        for (path, text) in texts.iter().filter(|(path, _)| path.ends_with(".yaml")) {
            let Some(found) = detect(path, text, &context) else { continue };
            kinds.insert(found.file.as_str());
            let suite = clean(found.file, path, text, &files, &[]);
            let shown = shown.entry(found.file.dialect().map(Dialect::as_str)).or_default();
            shown.extend(suite.cases.iter().flat_map(|case| types(case)));
        }
    }
    assert_eq!(kinds, SpecFile::ALL.iter().map(|file| file.as_str()).collect());
    assert_eq!(shown[&Some(Dialect::CLAWSPEC.as_str())], clawspec_types());
    let names = cli_bench::assertions::Assertion::NAMES.iter().copied().collect();
    assert_eq!(shown[&Some(Dialect::CLI_BENCH.as_str())], names);
}

/// Returns the fenced examples of a documentation, indented by a number of columns.
fn examples(docs: &str, columns: usize) -> Vec<String> {
    let examples = docs.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let indented = |example: &str| example.lines().map(|line| format!("{}{line}\n", " ".repeat(columns))).collect();
    examples.map(indented).collect()
}

#[test]
fn example_of_every_clawspec_assertion_is_right() {
    let mut workspace = golden::clawspec_files();
    workspace.add("tests/golden/email-output.md", "");
    workspace.add("brand/rules.yaml", "tone: {banned: [x]}\n");
    workspace.add("clawspec.yaml", "observability: {model_pricing: {m: {input_per_1k: 1, output_per_1k: 1}}}\n");
    let defs = &SpecFile::CLAWSPEC_SCENARIOS.schema()["$defs"];
    let mut seen = BTreeSet::new();
    for definition in defs.as_object().unwrap().values() {
        let kind = definition["properties"]["type"]["const"].as_str().filter(|kind| !UNSUPPORTED.contains(kind));
        let Some(kind) = kind else { continue };
        for example in examples(definition["description"].as_str().unwrap(), 6) {
            let text = format!(
                "version: \"1.0\"\ntarget: {{type: skill, path: skills/demo, trigger: /demo}}\nscenarios:\n  - name: a\n    \
                 tags: [negative]\n    when: {{invoke: /demo}}\n    then:\n{example}"
            );
            let place = "skills/demo/tests/scenarios.yaml";
            let suite = clean(SpecFile::CLAWSPEC_SCENARIOS, place, &text, &workspace, &[]);
            assert!(types(&suite.cases[0]).contains(&kind), "{text}");
            seen.insert(kind);
        }
    }
    assert_eq!(seen, clawspec_types());
}

#[test]
fn example_of_every_cli_bench_assertion_is_right() {
    let assertion = Shape::find(SpecFile::CLI_BENCH_TASKS, &Pointer::parse("/0/assert/0"), None).unwrap();
    let mut seen = BTreeSet::new();
    for field in assertion.fields(None) {
        let docs = field.shape.docs().unwrap();
        let example = examples(docs, 2).swap_remove(0);
        let text = format!("- id: example\n  intent: Write a file\n{example}");
        // An example shows one assertion.
        let alone = [Code::NoExitCode, Code::VacuousClaim];
        let suite = clean(SpecFile::CLI_BENCH_TASKS, "tasks/own.yaml", &text, &MemoryFiles::default(), &alone);
        assert!(types(&suite.cases[0]).contains(&field.name), "{text}");
        seen.insert(field.name);
    }
    assert_eq!(seen, cli_bench::assertions::Assertion::NAMES.iter().copied().collect());
}

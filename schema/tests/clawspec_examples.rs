//! The shipped ClawSpec workspace is right, and so is every example in the manual of an assertion.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;
#[path = "common/golden.rs"]
mod golden;

use std::{collections::BTreeSet, path::Path};

use speclens_schema::{
    analysis::Analyzer,
    dialect::clawspec::assertion::Assertion,
    document::Document,
    files::MemoryFiles,
    json_schema::SpecFile,
    problem::{Code, Severity},
    settings::Settings,
    suite::{Phase, Suite},
};

use golden::files_below;

fn kind_of(path: &str) -> Option<SpecFile> {
    Some(match path.rsplit('/').next()? {
        "scenarios.yaml" => SpecFile::CLAWSPEC_SCENARIOS,
        "pipeline.yaml" => SpecFile::CLAWSPEC_PIPELINE,
        "clawspec.yaml" => SpecFile::CLAWSPEC,
        "coverage-ledger.yaml" => SpecFile::CLAWSPEC_LEDGER,
        "baselines.yaml" => SpecFile::CLAWSPEC_BASELINES,
        "speclens.yaml" => SpecFile::SETTINGS,
        name if name.ends_with(".gateway.yaml") => SpecFile::GATEWAY,
        _ if path.contains("/handoffs/") => SpecFile::CLAWSPEC_HANDOFF,
        _ => return None,
    })
}

/// Analyses a contract; nothing may be wrong with it, except for what another program would do.
fn clean(file: SpecFile, path: &str, text: &str, files: &MemoryFiles) -> Suite {
    let files = files.clone().at(path);
    let document = Document::read(text, file.scalar_rules());
    let mut analysis = Analyzer::new(file).analyze(&document, &files, &Settings::default());
    analysis
        .problems
        .retain(|problem| problem.severity < Severity::Information && problem.code != Code::UpstreamDiffers);
    assert!(analysis.problems.is_empty(), "{path}\n{}", common::render(text, &analysis.problems));
    let value = document.root().unwrap().to_value().unwrap();
    assert!(jsonschema::validator_for(file.schema()).unwrap().is_valid(&value), "{path}");
    analysis.suite
}

#[test]
fn nothing_is_wrong_with_the_workspace() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/clawspec");
    let mut texts = Vec::new();
    files_below(&folder, "", &mut texts);
    let workspace = MemoryFiles::new(&folder, texts.iter().map(|(name, text)| (name.as_str(), text.as_str())));
    let mut kinds = BTreeSet::new();
    let mut types = BTreeSet::new();
    for (path, text) in &texts {
        let Some(kind) = kind_of(path) else { continue };
        let suite = clean(kind, path, text, &workspace);
        kinds.insert(kind.as_str());
        for case in &suite.cases {
            assert!(case.intact, "{path}: {}", case.name);
            assert!(!case.claims.is_empty(), "{path}: {}", case.name);
            for claim in &case.claims {
                let verdicts = claim.check.check(&Default::default());
                // Stages and conditions of a pipeline are claims, and no assertions.
                if !matches!(claim.phase, Some(Phase::Stages | Phase::PipelineHealth)) {
                    types.insert(verdicts[0].kind);
                }
            }
        }
    }
    assert_eq!(kinds.len(), 8, "{kinds:?}");
    let unsupported = ["slack_message_sent", "email_received"];
    let all: BTreeSet<&str> =
        Assertion::TYPES.iter().map(|info| info.name).filter(|name| !unsupported.contains(name)).collect();
    assert_eq!(types, all);
    assert_eq!(all.len(), 29);
}

/// Every fenced example of an assertion is in its docs, and works as written.
#[test]
fn the_examples_of_the_manual_work() {
    let defs = &SpecFile::CLAWSPEC_SCENARIOS.schema()["$defs"];
    let mut seen = 0;
    for (name, definition) in defs.as_object().unwrap() {
        let Some(kind) = definition["properties"]["type"]["const"].as_str() else { continue };
        let docs = definition["description"].as_str().unwrap();
        let examples: Vec<&str> =
            docs.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
        if ["slack_message_sent", "email_received"].contains(&kind) {
            continue;
        }
        assert!(!examples.is_empty(), "{name} has no example");
        for example in examples {
            let indented: String = example.lines().map(|line| format!("      {line}\n")).collect();
            let text = format!(
                "version: \"1.0\"\ntarget:\n  type: skill\n  path: skills/demo\n  trigger: /demo\nscenarios:\n  - name: example\n    tags: [negative]\n    when:\n      invoke: /demo\n    then:\n{indented}"
            );
            let workspace = MemoryFiles::new(
                "/work",
                [
                    (
                        "skills/demo/SKILL.md",
                        "---\nname: demo\ndescription: Use when a letter is due.\nversion: 1.0.0\npermissions: {filesystem: read, network: false}\n---\n# Demo\n",
                    ),
                    ("tests/golden/email-output.md", ""),
                    ("brand/rules.yaml", "tone: {banned: [x]}\n"),
                    ("agents/marketing/brand/SOUL.md", ""),
                ],
            );
            let suite = clean(SpecFile::CLAWSPEC_SCENARIOS, "skills/demo/tests/scenarios.yaml", &text, &workspace);
            assert!(suite.cases[0].intact, "{name}");
            assert!(
                suite.cases[0]
                    .claims
                    .iter()
                    .any(|claim| { claim.check.check(&Default::default()).iter().any(|verdict| verdict.kind == kind) })
            );
            seen += 1;
        }
    }
    assert!(seen >= 29, "only {seen} examples");
}

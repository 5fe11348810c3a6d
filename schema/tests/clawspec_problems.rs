//! Problems of ClawSpec files that depend on the files around them.

use crate::golden;

use std::{fs, path::Path};

use speclens_schema::{
    analysis::Analyzer,
    document::{Document, ScalarRules},
    files::MemoryFiles,
    fixing::replaced,
    json_schema::SpecFile,
    problem::{Code, Problem, Severity},
    settings::{GatewaySettings, Settings, TraceSources},
};

use golden::{DEMO_SKILL, clawspec_files, clawspec_kind};

/// Returns the problems of a text in the workspace of the golden files.
fn problems(text: &str) -> Vec<Problem> {
    let (file, place) = clawspec_kind(text);
    problems_in(file, text, clawspec_files().at(place))
}

fn problems_in(file: SpecFile, text: &str, files: MemoryFiles) -> Vec<Problem> {
    let document = Document::read(text, file.scalar_rules());
    Analyzer::new(file).problems(&document, &files, &Settings::default())
}

/// Returns the contract of a target with one scenario.
fn contract(target: &str, name: &str, tags: &str) -> String {
    format!(
        "version: '1.0'\ntarget: {{type: skill, path: {target}, trigger: /demo}}\nscenarios:\n  - name: {name}\n    \
         tags: [{tags}]\n    when: {{invoke: /demo}}\n    then:\n      - {{type: file_present, path: x}}\n"
    )
}

/// Where nothing says which directory the root is, a target that ends as its place does is taken for right.
#[test]
fn a_contract_in_a_copy_of_the_workspace_is_in_its_place() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/problems/clawspec");
    let text = fs::read_to_string(folder.join("missing-negative.yaml")).unwrap();
    let beside = [("copy/skills/demo/SKILL.md", DEMO_SKILL.1), ("copy/skills/demo/tests/scenarios.yaml", "")];
    let files = MemoryFiles::new("/work", beside);
    let look = |place: &str| {
        let found = problems_in(SpecFile::CLAWSPEC_SCENARIOS, &text, files.clone().at(place));
        found.iter().map(|problem| problem.code.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(look("copy/skills/demo/tests/scenarios.yaml"), ["missing-negative"]);
    assert_eq!(look("copy/skills/other/tests/scenarios.yaml"), ["missing-file", "missing-negative"]);
}

/// Where a key is missing and another one is unknown, it is one mistake only if the value fits and nothing else is wrong.
#[test]
fn another_name_is_one_mistake() {
    let look = |claim: &str| {
        let text = contract("skills/demo", "a", "negative").replace("type: file_present, path: x", claim);
        let found = problems(&text).into_iter().filter(|problem| problem.severity == Severity::Error);
        found.map(|problem| problem.code.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(look("type: log_entry, path: a.log, regex: done"), ["unknown-key"]);
    assert_eq!(look("type: trace_cost, most: 1"), ["unknown-key"]);
    let two = ["missing-field", "unknown-key"];
    assert_eq!(look("type: trace_cost, most: cheap"), two, "a text is no number");
    assert_eq!(look("type: file_present, filename: "), two, "there is no value");
    assert_eq!(look("type: file_present, pattern: '*.md'"), two, "a pattern is no path");
    assert_eq!(look("type: file_present, filename: a, other: b"), ["missing-field", "unknown-key", "unknown-key"]);
    let both = look("type: log_entry, regex: done, file: a.log");
    assert_eq!(both, ["missing-field", "missing-field", "unknown-key", "unknown-key"]);
}

/// A target under the name `meta` is recognized by its keys.
#[test]
fn meta_with_a_path_is_renamed_to_target() {
    let text = "version: '1.0'\nmeta: {path: skills/demo, trigger: /demo}\nscenarios:\n- name: a\n  tags: [negative]\n  \
                when: {invoke: /demo}\n  then:\n  - {type: file_present, path: x}\n";
    let files = MemoryFiles::new("/work", [("skills/demo/SKILL.md", "")]).at("skills/demo/tests/scenarios.yaml");
    let found = problems_in(SpecFile::CLAWSPEC_SCENARIOS, text, files);
    let meta = found.iter().find(|problem| problem.code == Code::UnknownKey).unwrap();
    assert_eq!(meta.help.as_deref(), Some("rename it to `target`: it has `path` and `trigger`"));
    assert!(replaced(text, &meta.fixes[0].edits).contains("\ntarget: {path: skills/demo"), "{meta:?}");
}

/// What the patterns of the settings find, and what other contracts of the target hold.
#[test]
fn the_patterns_of_the_workspace_count() {
    let look = |patterns: &str, place: &str, other: &str| {
        let settings = format!("scenario_patterns: [{patterns}]\n");
        let settings = if patterns.is_empty() { "" } else { &settings };
        let (own, other) = (contract("skills/demo", "a", "smoke"), contract("skills/demo", "b", other));
        let (all, usual) =
            (("skills/demo/tests/b-scenarios.yaml", other.as_str()), ("skills/demo/tests/scenarios.yaml", ""));
        let files = MemoryFiles::new("/work", [("clawspec.yaml", settings), DEMO_SKILL, all, usual]);
        let found = problems_in(SpecFile::CLAWSPEC_SCENARIOS, &own, files.at(place));
        found.iter().map(|problem| problem.code.as_str()).collect::<Vec<_>>()
    };
    let usual = "skills/demo/tests/scenarios.yaml";
    let (one, all) = ("skills/demo/tests/a-scenarios.yaml", "'skills/**/tests/*-scenarios.yaml'");
    assert_eq!(look("", usual, "negative"), ["missing-negative"], "the other file is not found");
    assert_eq!(look("", one, "negative"), ["upstream-differs", "missing-negative"]);
    assert!(look(all, one, "negative").is_empty());
    assert_eq!(look(all, one, "smoke"), ["missing-negative"]);
    let twice = look(&format!("{all}, 'skills/demo/tests/a*.yaml'"), one, "negative");
    assert_eq!(twice, ["upstream-differs"]);
}

/// Contracts of one target whose scenarios have the same names.
#[test]
fn scenarios_with_one_name_in_two_contracts_of_a_target_are_reported() {
    let look = |other: &str| {
        let files = MemoryFiles::new("/work", [("skills/demo/tests/scenarios.yaml", other)]);
        let own = contract("skills/demo", "a", "negative");
        let found = problems_in(SpecFile::CLAWSPEC_SCENARIOS, &own, files.at("skills/copy/tests/scenarios.yaml"));
        let same = found.into_iter().filter(|problem| problem.code == Code::DuplicateName);
        same.map(|problem| (own[problem.range].to_owned(), problem.severity, problem.related.len())).collect::<Vec<_>>()
    };
    assert_eq!(look(&contract("skills/demo", "a", "negative")), [("skills/demo".to_owned(), Severity::Warning, 1)]);
    assert_eq!(look(&contract("skills/demo", "b", "negative")), []);
    assert_eq!(look(&contract("skills/copy", "a", "negative")), []);
    assert_eq!(look("version: ["), []);
}

/// However the path of its target is written, a contract is not another one of itself.
#[test]
fn contract_is_not_compared_with_itself() {
    for target in ["skills/demo", "./skills/demo/", "skills/demo/", "./skills/demo"] {
        let text = contract(target, "a", "negative");
        let place = "skills/demo/tests/scenarios.yaml";
        let files = MemoryFiles::new("/work", [(place, text.as_str())]).at(place);
        let found = problems_in(SpecFile::CLAWSPEC_SCENARIOS, &text, files);
        assert!(found.iter().all(|problem| problem.code != Code::DuplicateName), "{target}: {found:#?}");
    }
}

/// Without settings, nothing says where ClawSpec is started: its own patterns count from any directory.
#[test]
fn contract_that_no_usual_pattern_finds_is_reported_without_settings() {
    let text = contract("skills/demo", "a", "negative");
    let is_reported = |place: &str, settings: Option<&str>| {
        let files = MemoryFiles::new("/work", settings.map(|settings| ("clawspec.yaml", settings)));
        let found = problems_in(SpecFile::CLAWSPEC_SCENARIOS, &text, files.at(place));
        found.iter().any(|problem| problem.message == "no scenario pattern matches this file")
    };
    assert!(is_reported("skills/demo/tests/other.yaml", None));
    assert!(!is_reported("skills/demo/tests/scenarios.yaml", None));
    assert!(!is_reported("packages/x/skills/demo/tests/scenarios.yaml", None));
    assert!(!is_reported("drafts/scenarios.yaml", None), "outside the tests of a target it is a draft");
    assert!(is_reported("packages/x/skills/demo/tests/scenarios.yaml", Some("report_dir: r\n")));
    assert!(is_reported("drafts/scenarios.yaml", Some("report_dir: r\n")));
}

/// The contract of a stage is looked for in the directory of the skill, and nowhere else.
#[test]
fn handoff_contract_in_the_directory_of_the_skill_comes_first() {
    let text = "version: '1.0'\npipeline: {name: demo, skill_path: skills/demo, trigger: /demo, stages: 1}\nstages:\n  \
                - {name: s, agent: copy, handoff_contract: tests/handoffs/x.yaml}\n";
    let codes = |contracts: &[(&str, &str)]| {
        let files = MemoryFiles::new("/work", contracts.iter().copied()).at("skills/demo/tests/pipeline.yaml");
        let found = problems_in(SpecFile::CLAWSPEC_PIPELINE, text, files);
        let about_stage = found.into_iter().filter(|problem| problem.at.to_string().starts_with("/stages"));
        about_stage.map(|problem| problem.code).collect::<Vec<_>>()
    };
    let (own, root) = ("skills/demo/tests/handoffs/x.yaml", "tests/handoffs/x.yaml");
    let (to_copy, to_brand) = ("handoff: {to: copy}\n", "handoff: {to: brand}\n");
    assert_eq!(codes(&[(own, to_copy), (root, to_brand)]), []);
    assert_eq!(codes(&[(own, to_brand), (root, to_copy)]), [Code::Contradiction]);
    assert_eq!(codes(&[(root, to_copy)]), [Code::MissingFile]);
}

/// A handoff or a pipeline with an error is one case that cannot pass.
#[test]
fn a_contract_with_an_error_is_not_intact() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/problems/clawspec");
    let text = fs::read_to_string(folder.join("handoff-replaced.yaml")).unwrap().replace("\"## Hook\"", "hook");
    let analyze = |text: &str| {
        let document = Document::read(text, ScalarRules::Yaml11);
        let files = MemoryFiles::new("/work", []).at("skills/demo/tests/handoffs/a.yaml");
        Analyzer::new(SpecFile::CLAWSPEC_HANDOFF).analyze(&document, &files, &Settings::default())
    };
    let right = analyze(&text);
    assert!(right.suite.cases[0].intact, "{:#?}", right.problems);
    let wrong = analyze(&text.replace("tool: mail.send", "tool: 'mail.*'"));
    assert!(wrong.problems.iter().any(|problem| problem.severity == Severity::Error), "{:#?}", wrong.problems);
    assert!(!wrong.suite.cases[0].intact);
}

#[test]
fn settings_under_another_name_have_no_effect() {
    let look = |place: &str| {
        let files = MemoryFiles::new("/work", []).at(place);
        let found = problems_in(SpecFile::CLAWSPEC, "report_dir: out\n", files);
        found.into_iter().map(|problem| problem.message).collect::<Vec<_>>()
    };
    assert_eq!(look("clawspec.yml"), ["`clawspec.yml` has no effect"]);
    assert!(look("clawspec.yaml").is_empty());
}

/// A source of traces is in `clawspec.yaml` or in the settings; prices matter only for other sources than Opik.
#[test]
fn assertions_about_a_trace_need_a_source_of_traces() {
    let text =
        contract("skills/demo", "a", "negative").replace("type: file_present, path: x", "type: trace_cost, max_usd: 1");
    let with_port = Settings {
        gateway: GatewaySettings {
            traces: TraceSources { port: Some(4318), ..TraceSources::default() },
            ..GatewaySettings::default()
        },
        ..Settings::default()
    };
    let opik = "observability: {backend: opik}\n";
    let prices = "observability: {model_pricing: {m: {input_per_1k: 1, output_per_1k: 1}}}\n";
    let (source, price) =
        ("no source of traces is configured for `trace_cost`", "no price is configured for `trace_cost`");
    for (config, settings, expected) in [
        ("", Settings::default(), &[source][..]),
        (prices, Settings::default(), &[source]),
        ("", with_port.clone(), &[price]),
        (prices, with_port.clone(), &[]),
        (opik, Settings::default(), &[]),
        (opik, with_port, &[]),
    ] {
        let files = MemoryFiles::new("/work", [("clawspec.yaml", config), DEMO_SKILL]);
        let document = Document::read(&text, ScalarRules::Yaml11);
        let files = files.at("skills/demo/tests/scenarios.yaml");
        let found = Analyzer::new(SpecFile::CLAWSPEC_SCENARIOS).problems(&document, &files, &settings);
        let found = found.into_iter().filter(|problem| problem.code == Code::Unchecked);
        assert_eq!(found.map(|problem| problem.message).collect::<Vec<_>>(), expected, "{config}");
    }
}

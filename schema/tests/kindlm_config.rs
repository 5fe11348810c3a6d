//! What KindLM was recorded to answer on configurations: what it rejects is rejected here, at the same path or a more exact
//! one; what it accepts is accepted.

use crate::common;

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::Value;
use speclens_schema::{
    analysis::Analyzer,
    document::{Document, ScalarRules},
    files::MemoryFiles,
    json_schema::SpecFile,
    problem::{Problem, Severity},
    settings::Settings,
};

/// Paths that differ on purpose: case, the original's path, ours.
const ELSEWHERE: &[(&str, &str, &[&str])] = &[
    // The label that repeats, once for each repetition, rather than the test.
    (
        "config-invalid-conversation-duplicate-turn",
        "/tests/0",
        &["/tests/0/conversation/2/turn", "/tests/0/conversation/3/turn"],
    ),
    // The field that is missing, and the one that is empty, rather than the mapping around them.
    ("config-invalid-output-json-needs-schema", "/tests/0/expect/output", &["/tests/0/expect/output/schemaFile"]),
    ("config-invalid-output-json-needs-schema", "/tests/1/expect/output", &["/tests/1/expect/output/schemaFile"]),
    // `version` is where `kindlm` should be: one problem, reported at the key that is there.
    ("config-invalid-legacy-shape", "/kindlm", &["/version"]),
    // `suites` is where `suite` should: one mistake, told at the key that is there.
    ("config-invalid-legacy-shape", "/suite", &["/suites"]),
    // The unknown keys rather than the mapping around them.
    ("new-strict-expect", "/tests/0/expect", &["/tests/0/expect/tooCalls"]),
    ("new-strict-in-turn", "/tests/0/conversation/0/expect", &["/tests/0/conversation/0/expect/outptu"]),
    (
        "new-trajectory-invalid",
        "/tests/2/expect/trajectory/reference/0",
        &["/tests/2/expect/trajectory/reference/0/arguments"],
    ),
    ("new-trajectory-invalid", "/tests/2/expect/trajectory/recall", &["/tests/2/expect/trajectory/recall/min"]),
    ("new-trajectory-invalid", "/tests/2/expect/trajectory", &["/tests/2/expect/trajectory/order"]),
    ("new-redteam-fields", "/redteam/plugins/0/config/policy", &["/redteam/plugins/0/config"]),
];

/// Refused by the original, and fine here: only a test that sends a prompt needs these sections.
const FINE_HERE: &[(&str, &str)] = &[
    ("config-invalid-models-empty", "/models"),
    ("config-invalid-prompts-empty", "/prompts"),
    ("config-invalid-all-missing", "/providers"),
    ("config-invalid-all-missing", "/models"),
    ("config-invalid-all-missing", "/prompts"),
    ("config-invalid-legacy-shape", "/providers"),
    ("config-invalid-legacy-shape", "/models"),
    ("config-invalid-legacy-shape", "/prompts"),
];

/// Where the original gives no path.
const WITHOUT_PATH: &[(&str, &[&str])] = &[
    ("config-invalid-xref-duplicate-model", &["/models/1/id"]),
    ("config-invalid-xref-model", &["/tests/0/models/1", "/tests/0/models/2"]),
    ("config-invalid-xref-provider", &["/models/0/provider", "/models/1/provider"]),
    ("config-invalid-yaml-duplicate-key", &["/project"]),
    ("config-invalid-yaml-tab-indent", &[""]),
];

/// Accepted by the original, and refused here: an unknown key among claims, which the original ignores.
const REFUSED_HERE: &[(&str, &[&str])] =
    &[("new-strict-elsewhere", &["/gates/passRate", "/tests/0/expect/guardrails/pii/customPatterns/0/flags"])];

/// Errors that the original does not report, because an earlier one hides them.
const MORE: &[(&str, &str)] = &[
    // Nothing says what to do, whether or not the name is right.
    ("config-invalid-test-neither-after-hard-error", "/tests/0"),
    ("new-redteam-fields", "/redteam/plugins/3/id"),
];

/// Returns the cases about configurations, and those about KindLM 2.3.2.
fn cases() -> Vec<(String, String, Value)> {
    let specs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/specs");
    let folders = [("kindlm-cases", "config-"), ("kindlm-prompts", "new-")];
    let named = |(folder, prefix): (&str, &'static str)| {
        let entries = fs::read_dir(specs.join(folder)).unwrap().map(|entry| entry.unwrap());
        entries.filter(move |entry| entry.file_name().to_string_lossy().starts_with(prefix))
    };
    let mut cases: Vec<_> = folders
        .into_iter()
        .flat_map(named)
        .map(|entry| {
            let read = |name: &str| fs::read_to_string(entry.path().join(name));
            let expected = read("expected-next.json").or_else(|_| read("expected.json")).unwrap();
            let expected = serde_json::from_str(&expected).unwrap();
            (entry.file_name().into_string().unwrap(), read("kindlm.yaml").unwrap(), expected)
        })
        .collect();
    cases.sort_by(|one, other| one.0.cmp(&other.0));
    cases
}

fn is_valid(expected: &Value) -> bool {
    expected["config"]["valid"] == true
}

fn errors(text: &str) -> Vec<Problem> {
    let document = Document::read(text, ScalarRules::Yaml12);
    let analyzer = Analyzer::new(SpecFile::KINDLM);
    let mut problems = analyzer.problems(&document, &MemoryFiles::default(), &Settings::default());
    problems.retain(|problem| problem.severity == Severity::Error);
    problems
}

/// `tests[0].expect` → `/tests/0/expect`.
fn pointer(path: &str) -> String {
    let steps = path.replace('[', ".").replace(']', "");
    steps.split('.').filter(|step| !step.is_empty()).map(|step| format!("/{step}")).collect()
}

#[test]
fn what_the_original_refuses_is_refused_at_the_same_place() {
    let mut seen = 0;
    for (name, text, expected) in cases().iter().filter(|(.., expected)| !is_valid(expected)) {
        let found = errors(text);
        let at: BTreeSet<&str> = found.iter().map(|problem| problem.at.as_str()).collect();
        let mut accounted: BTreeSet<String> = BTreeSet::new();
        for error in expected["config"]["errors"].as_array().into_iter().flatten() {
            let Some(path) = error["path"].as_str().map(pointer) else { continue };
            if FINE_HERE.contains(&(name, &path)) {
                assert!(!at.contains(path.as_str()), "{name}: {path} is an error");
                continue;
            }
            let better = ELSEWHERE.iter().find(|(case, original, _)| case == name && *original == path);
            let places = better
                .map_or_else(|| vec![path.clone()], |(_, _, ours)| ours.iter().map(|at| at.to_string()).collect());
            for place in places {
                assert!(at.contains(place.as_str()), "{name}: no error at {place}\n{}", common::render(text, &found));
                accounted.insert(place);
            }
        }
        for (_, places) in WITHOUT_PATH.iter().filter(|(case, _)| case == name) {
            for place in *places {
                assert!(at.contains(place), "{name}: no error at {place}\n{}", common::render(text, &found));
                accounted.insert((*place).to_owned());
            }
        }
        accounted.extend(MORE.iter().filter(|(case, _)| case == name).map(|(_, place)| (*place).to_owned()));
        for problem in &found {
            assert!(
                accounted.contains(problem.at.as_str()),
                "{name}: too much\n{}",
                common::render(text, std::slice::from_ref(problem))
            );
        }
        seen += 1;
    }
    assert!(seen >= 20, "only {seen} cases");
}

#[test]
fn what_the_original_takes_is_taken() {
    let mut seen = 0;
    for (name, text, _) in cases().iter().filter(|(.., expected)| is_valid(expected)) {
        let found = errors(text);
        let at: Vec<&str> = found.iter().map(|problem| problem.at.as_str()).collect();
        let refused = REFUSED_HERE.iter().find(|(case, _)| case == name).map_or(&[][..], |(_, places)| places);
        assert_eq!(at, refused, "{name}\n{}", common::render(text, &found));
        seen += 1;
    }
    assert!(seen >= 5, "only {seen} cases");
}

/// The types read what the schema accepts.
#[test]
fn valid_configurations_are_read_into_the_types() {
    for (name, text, expected) in cases().iter().filter(|(.., expected)| is_valid(expected)) {
        let document = Document::read(text, ScalarRules::Yaml12);
        let value = document.root().unwrap().to_value().unwrap();
        let config: speclens_schema::dialect::kindlm::config::Config =
            serde_json::from_value(value).unwrap_or_else(|error| panic!("{name}: {error}"));
        // What the original made of it, its defaults included, is read as well; what was written is the same.
        if let Some(parsed) = expected["config"].get("parsed").filter(|_| name.starts_with("config-")) {
            let parsed: speclens_schema::dialect::kindlm::config::Config =
                serde_json::from_value(parsed.clone()).unwrap();
            assert_eq!(config.models, parsed.models, "{name}");
            assert_eq!(config.prompts, parsed.prompts, "{name}");
            assert_eq!(config.providers, parsed.providers, "{name}");
            assert_eq!(config.tests, parsed.tests, "{name}");
            assert_eq!(config.gates, parsed.gates, "{name}");
            assert_eq!(config.defaults, parsed.defaults, "{name}");
        }
    }
}

/// The other recorded suites ran in the original, so that none may be refused here; except for these.
#[test]
fn recorded_suites_can_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/specs/kindlm-cases");
    let mut seen = 0;
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
        let name = entry.file_name().into_string().unwrap();
        if name.starts_with("config-") {
            continue;
        }
        let text = fs::read_to_string(entry.path().join("kindlm.yaml")).unwrap();
        let found: Vec<Problem> = errors(&text)
            .into_iter()
            // Files are not looked at here; a run without a variable is recorded as broken.
            .filter(|problem| !["missing-file", "missing-variable"].contains(&problem.code.as_str()))
            .collect();
        assert!(found.is_empty(), "{name}\n{}", common::render(&text, &found));
        seen += 1;
    }
    assert!(seen >= 20, "only {seen} cases");
}

/// What KindLM 2.3.0 drops without a word, and what becomes of it here: a claim that vanished would leave its test
/// green, and a gate that vanished the run, so an unknown key below `expect` or `gates` refuses the suite; anywhere else
/// it is a warning.
const DROPPED_THERE: &[(&str, &str, bool)] = &[
    ("/zz", "zz: 1\n", false),
    ("/suite/zz", "suite: {name: s, zz: 1}\n", false),
    ("/gates/zz", "gates: {zz: 1}\n", true),
    ("/tests/0/zz", "tests: [{name: a, command: x, expect: {}, zz: 1}]\n", false),
    ("/tests/0/<<", "tests: [{name: a, command: x, expect: {}, <<: {a: 1}}]\n", false),
    ("/tests/0/expect/zz", "tests: [{name: a, command: x, expect: {zz: 1}}]\n", true),
    ("/tests/0/expect/output/zz", "tests: [{name: a, command: x, expect: {output: {contains: [a], zz: 1}}}]\n", true),
    (
        "/tests/0/expect/toolCalls/0/argsSchemaResolved",
        "tests: [{name: a, command: x, expect: {toolCalls: [{tool: t, argsSchemaResolved: {}}]}}]\n",
        true,
    ),
];

#[test]
fn what_the_original_drops_is_an_error_only_where_a_claim_vanishes() {
    for (place, text, refused) in DROPPED_THERE {
        let suite = if text.starts_with("suite") { "" } else { "suite: {name: s}\n" };
        let tests = if text.starts_with("tests") { "" } else { "tests: [{name: a, command: x, expect: {}}]\n" };
        let found = errors(&format!("kindlm: 1\nproject: p\n{suite}{tests}{text}"));
        let at: Vec<&str> = found.iter().map(|problem| problem.at.as_str()).collect();
        assert_eq!(at, if *refused { vec![*place] } else { Vec::new() }, "{text}");
    }
}

//! Places in other files than the suite, in every report.

use std::{path::Path, sync::Arc, time::Duration};

use serde_json::{Value, json};
use speclens_runner::{
    event::{CaseResult, SuiteResult},
    evidence_store::{AttemptRef, EvidenceStore},
    report::{Root, SourceText, SuiteReport, github, human, json, junit, sarif},
};
use speclens_schema::{document::Document, mask::Secrets, suite::Suite, verdict::Status};

use crate::{
    recorded::idle_agents,
    support::{Done, Place, suite},
};

const SCHEMA: &str = "{\n  \"type\": \"object\",\n  \"properties\": {\"n\": {\"minimum\": 5}}\n}\n";

/// Returns a suite whose test violates a rule of a schema, below the working directory.
fn place() -> Place {
    let place = Place::empty();
    let expect = "{output: {format: json, schemaFile: schemas/n.json}}";
    place.write("sub/kindlm.yaml", suite("echo '{\"n\": 1}'", expect));
    place.write("sub/schemas/n.json", SCHEMA);
    place
}

fn run(place: &Place, format: &str) -> Done {
    let done = place.run(&["run", "--report", format]);
    assert_eq!(done.code, Some(1), "{done:?}");
    done
}

/// Returns the result of the assertion that does not hold.
fn failure(sarif: &Value) -> &Value {
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    results.iter().find(|result| result["level"] == "error").unwrap()
}

#[test]
fn rule_of_a_schema_is_shown_in_every_report() {
    for schema in [SCHEMA.to_owned(), SCHEMA.replace('\n', "\r\n"), SCHEMA.replace("  ", "\t")] {
        let place = place();
        place.write("sub/schemas/n.json", schema);
        let human = run(&place, "human").stdout;
        assert!(human.contains("sub/schemas/n.json:3") && human.contains("`data/n` breaks this rule"), "{human}");
        let report = run(&place, "json").json();
        let verdict = &report["suites"][0]["cases"][0]["runs"][0]["verdicts"][1];
        let related = &verdict["related"][0];
        assert_eq!(related["message"], "`data/n` breaks this rule");
        assert_eq!(related["place"]["path"], "sub/schemas/n.json");
        assert_eq!(related["place"]["pointer"], "/properties/n/minimum");
        assert_eq!(related["place"]["range"]["start"]["line"], 2);
        let sarif = run(&place, "sarif").json();
        let other = &failure(&sarif)["relatedLocations"][0];
        assert_eq!(other["physicalLocation"]["artifactLocation"]["uri"], "sub/schemas/n.json");
        assert_eq!(other["physicalLocation"]["region"]["startLine"], 3);
        let github = run(&place, "github").stdout;
        assert!(github.contains("%0Asub/schemas/n.json:3: `data/n` breaks this rule"), "{github}");
        let junit = run(&place, "junit").stdout;
        assert!(junit.contains("  sub/schemas/n.json:3: `data/n` breaks this rule"), "{junit}");
    }
}

#[test]
fn other_places_of_an_assertion_are_related_locations() {
    let place = Place::with(&suite("echo aa bb", "{guardrails: {pii: {denyPatterns: [a, b]}}}"));
    let sarif = run(&place, "sarif").json();
    let result = failure(&sarif);
    let uri = |location: &Value| location["physicalLocation"]["artifactLocation"]["uri"].clone();
    assert_eq!(uri(&result["relatedLocations"][0]), json!("kindlm.yaml"), "{result}");
    assert_ne!(
        result["relatedLocations"][0]["physicalLocation"]["region"],
        result["locations"][0]["physicalLocation"]["region"]
    );
    assert!(!run(&place, "github").stdout.contains("%0Akindlm.yaml"));
}

#[test]
fn secret_in_another_file_is_masked_where_its_line_is_shown() {
    const KEY: &str = "sk-abcdef1234567890";
    let place = place();
    place.write("sub/schemas/n.json", format!("{{\"properties\": {{\"{KEY}\": {{}}, \"n\": {{\"minimum\": 5}}}}}}"));
    for format in ["human", "json", "sarif", "github", "junit"] {
        let done = place.run_with(&[("OPENAI_API_KEY", KEY)], &["run", "--report", format]);
        assert!(done.stdout.contains("sub/schemas/n.json") && !done.text().contains(KEY), "{format}: {done:?}");
    }
}

#[test]
fn path_is_relative_to_the_working_directory_also_from_within_the_suite() {
    let place = place();
    let report = place.run_in("sub/schemas", &["run", "--report", "json", "../kindlm.yaml"]).json();
    let related = &report["suites"][0]["cases"][0]["runs"][0]["verdicts"][1]["related"][0];
    assert_eq!(related["place"]["path"], "n.json");
}

/// Returns the report of a suite from its recordings.
fn report_of(directory: &Path, suite: Suite, store: &EvidenceStore) -> SuiteReport {
    let secrets = Arc::new(Secrets::none());
    let cases = suite.cases.iter().enumerate().map(|(index, case)| {
        let subject = &case.action.subjects()[0];
        let run = store.result(AttemptRef { suite: &suite, case, subject, repeat: 0 }, &secrets);
        CaseResult { case: index, status: run.status, runs: vec![Arc::new(run)] }
    });
    let result = SuiteResult {
        status: Status::Fail,
        cases: cases.collect(),
        gates: suite.gates.evaluate(&[]),
        failed: true,
        inconclusive: false,
        cancelled: false,
        duration: Duration::ZERO,
    };
    let text = std::fs::read_to_string(directory.join("cli-bench.yaml")).unwrap();
    let document = Document::read(&text, suite.dialect.scalar_rules());
    SuiteReport {
        source: SourceText { path: "b/cli-bench.yaml".to_owned(), document, secrets },
        real_path: directory.join("cli-bench.yaml"),
        root: Root { directory: "b".into(), here: "/w".into() },
        dialect: suite.dialect,
        settings: None,
        parts: Vec::new(),
        problems: Vec::new(),
        suite: Arc::new(suite),
        result: Some(Arc::new(result)),
    }
}

#[test]
fn task_of_another_file_is_reported_in_that_file() {
    let place = Place::empty();
    place.write("b/cli-bench.yaml", "cli: git\nproviders: [openai/gpt]\ntasks: [file://tasks/*.yaml]\n");
    place.write("b/tasks/one.yaml", "- id: one\n  intent: Show it.\n  assert:\n    - ran: git status\n");
    let directory = place.path().join("b");
    let (suite, store) = idle_agents(&directory, "cli-bench.yaml");
    let reports = [report_of(&directory, suite, &store)];
    let content = json::Content { cases: true, evidence: false };
    let report: Value = serde_json::from_str(&json::render(&reports, &[], content)).unwrap();
    let case = &report["suites"][0]["cases"][0];
    assert_eq!((&case["status"], &case["place"]["path"]), (&json!("fail"), &json!("b/tasks/one.yaml")), "{case}");
    let verdict = &case["runs"][0]["verdicts"][0];
    assert_eq!(verdict["place"]["path"], "b/tasks/one.yaml");
    assert_eq!(verdict["place"]["range"]["start"]["line"], 3);
    assert!(human::run(&reports, 100).contains("b/tasks/one.yaml"), "{}", human::run(&reports, 100));
    assert!(github::render(&reports).contains("::error file=b/tasks/one.yaml,line=4"));
    assert!(sarif::render(&reports).contains("\"uri\": \"b/tasks/one.yaml\""));
    assert!(junit::render(&reports).contains("classname=\"b/tasks/one.yaml\""), "{}", junit::render(&reports));
}

//! `speclens baseline`: stored metrics of the scenarios of a ClawSpec target.

use crate::support::Place;

const CONTRACT: &str = "version: \"1.0\"\ntarget: {type: skill, path: skills/demo, trigger: /demo}\nscenarios:\n  - name: demo-smoke\n    when: {invoke: /demo}\n    then: [{type: file_present, path: clawspec.yaml}]\n    regression: {max_duration_drift: 1.5}\n  - name: demo-negative\n    tags: [negative]\n    when: {invoke: /demo no}\n    then: [{type: file_absent, path: sent.txt}]\n";

const BASELINES: &str = "version: \"1.0\"\nbaselines:\n  demo-smoke:\n    captured_at: \"2026-05-01T00:00:00Z\"\n    runs: 20\n    metrics:\n      duration_ms: {p50: 1800.5, p95: 3200, min: 1200, max: 4100, stddev: 500}\n  demo-negative:\n    captured_at: \"2026-05-01T00:00:00Z\"\n    runs: 5\n";

const FILE: &str = "skills/demo/tests/baselines.yaml";

fn workspace() -> Place {
    let place = Place::empty();
    place.write("clawspec.yaml", "report_dir: reports\n");
    place.write("skills/demo/SKILL.md", "---\nname: demo\ndescription: Use when it is tested.\n---\nDemo.\n");
    place.write("skills/demo/tests/scenarios.yaml", CONTRACT);
    place.write(FILE, BASELINES);
    place
}

#[test]
fn stored_baselines_are_shown_for_any_name_of_the_target() {
    let place = workspace();
    for target in ["skills/demo", "skills/demo/", "demo", "skills/demo/tests", "skills/demo/tests/scenarios.yaml"] {
        let done = place.run(&["baseline", "show", target]);
        assert_eq!(done.code, Some(0), "{target}: {done:?}");
        assert!(done.stdout.contains("demo-smoke (20 runs, 2026-05-01T00:00:00Z)"), "{done:?}");
        assert!(done.stdout.contains("p50 1800.5  p95 3200  min 1200  max 4100  stddev 500"), "{done:?}");
    }
    let done = place.run(&["baseline", "show", "demo", "--format", "json"]);
    let report = done.json();
    assert_eq!(report["baselines"]["demo-smoke"]["metrics"]["duration_ms"]["p95"], 3200.0);
    let none = place.run(&["baseline", "show", "skills/none"]);
    assert!(none.code == Some(2) && none.stderr.contains("no scenario contract found for `skills/none`"), "{none:?}");
}

#[test]
fn baselines_are_removed_one_by_one_or_all() {
    let place = workspace();
    let unknown = place.run(&["baseline", "reset", "demo", "--scenario", "demo-smok"]);
    assert!(unknown.code == Some(1) && unknown.stdout.contains("did you mean `demo-smoke`?"), "{unknown:?}");
    assert_eq!(place.read(FILE), BASELINES);
    assert_eq!(place.run(&["baseline", "reset", "demo", "--scenario", "demo-negative"]).code, Some(0));
    assert!(place.read(FILE).contains("demo-smoke") && !place.read(FILE).contains("demo-negative"));
    assert_eq!(place.run(&["check", FILE]).code, Some(0));
    assert_eq!(place.run(&["baseline", "reset", "demo"]).code, Some(0));
    assert_eq!(place.read(FILE), "version: \"1.0\"\nbaselines: {}\n");
    assert_eq!(place.run(&["baseline", "reset", "demo"]).code, Some(1));
    assert_eq!(place.run(&["baseline", "show", "demo"]).code, Some(1));
}

#[test]
fn file_that_is_not_understood_is_not_replaced() {
    for text in ["baselines: {a: {runs: many}}\n", "version: \"1.0\"\r\nbaselines: [\r\n"] {
        let place = workspace();
        place.write(FILE, text);
        for arguments in [&["baseline", "reset", "demo"][..], &["baseline", "capture", "demo", "--force"]] {
            let done = place.run(arguments);
            assert!(done.code == Some(2) && done.stderr.contains(FILE), "{done:?}");
            assert_eq!(place.read(FILE), text);
        }
    }
}

#[test]
fn capture_replaces_nothing_unasked_and_needs_five_runs() {
    let place = workspace();
    let done = place.run(&["baseline", "capture", "demo", "--runs", "5"]);
    assert!(done.code == Some(2) && done.stderr.contains("`demo-smoke` already has a baseline"), "{done:?}");
    let done = place.run(&["baseline", "capture", "demo", "--runs", "4"]);
    assert!(done.code == Some(2) && done.stderr.contains("at least 5 runs"), "{done:?}");
    let done = place.run(&["baseline", "capture", "demo", "--scenario", "demo-smok"]);
    assert!(done.code == Some(2) && done.stderr.contains("did you mean `demo-smoke`?"), "{done:?}");
    place.write("skills/demo/tests/scenarios.yaml", CONTRACT.replace("then: [{type: file_p", "than: [{type: file_p"));
    let done = place.run(&["baseline", "capture", "demo", "--force"]);
    assert!(done.code == Some(2) && done.stderr.contains("has errors"), "{done:?}");
    assert_eq!(place.read(FILE), BASELINES);
}

#[test]
fn recorded_case_of_the_original_is_answered_alike_where_it_does_something() {
    let case = "schema/tests/cases/clawspec/cli-baseline";
    let place = Place::copy_of(&format!("{case}/ws"));
    let contract = std::fs::read_to_string(crate::support::repository().join(case).join("case.yaml")).unwrap();
    place.write("skills/demo/tests/scenarios.yaml", contract);
    for (arguments, code) in [
        (&["show", "skills/demo"][..], 0),
        // ClawSpec reports a capture, and runs nothing.
        (&["capture", "skills/demo", "--runs", "2"], 2),
        (&["reset", "skills/demo", "--scenario", "nope"], 1),
        (&["reset", "skills/demo", "--scenario", "other"], 0),
        (&["reset", "skills/demo"], 0),
        // ClawSpec reports no stored baseline; here a missing target is an error.
        (&["show", "skills/none"], 2),
        (&[], 2),
    ] {
        let done = place.run(&[&["baseline"], arguments].concat());
        assert_eq!(done.code, Some(code), "{arguments:?}: {done:?}");
    }
    assert_eq!(place.read(FILE), "version: \"1.0\"\nbaselines: {}\n");
}

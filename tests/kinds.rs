//! Which files are found, and what they are taken for.

use crate::support::{Place, suite};

const GOOD: &str = "{output: {contains: [hello]}}";
const TASKS: &str = "- id: a\n  intent: Say hello.\n  assert:\n    - exit_code: 0\n";
const SCENARIOS: &str = "version: \"1.0\"\ntarget: {type: skill, path: skills/a, trigger: /a}\nscenarios: []\n";

/// The files that `check` tells about, in its order.
fn checked(place: &Place, arguments: &[&str]) -> Vec<(String, String)> {
    let done = place.run(&[&["check", "--format", "json"], arguments].concat());
    let report: serde_json::Value = serde_json::from_str(&done.stdout).unwrap_or_else(|_| panic!("{done:?}"));
    let text = |suite: &serde_json::Value, key: &str| suite[key].as_str().unwrap().to_owned();
    report["suites"].as_array().unwrap().iter().map(|suite| (text(suite, "path"), text(suite, "dialect"))).collect()
}

#[test]
fn every_kind_is_found_by_name_place_reach_or_content() {
    let place = Place::empty();
    place.write("kindlm/kindlm.yaml", suite("echo hello", GOOD));
    place.write("bench/cli-bench.yaml", "cli: sh\ntasks:\n  - file://tasks/*.yaml\n");
    place.write("bench/tasks/free-name.yaml", TASKS);
    place.write("bench/tasks-elsewhere.yaml", TASKS);
    place.write("clawspec.yaml", "report_dir: reports\n");
    place.write("skills/a/tests/scenarios.yaml", SCENARIOS);
    place.write(
        "skills/a/tests/more.yaml",
        SCENARIOS
            .replace("{type: skill, path: skills/a, trigger: /a}", "\n  type: skill\n  path: skills/a\n  trigger: /a"),
    );
    place.write("skills/a/tests/handoffs/a-to-b.yaml", "");
    place.write("other/tests/scenarios.yaml", "openapi: 3.1.0\ninfo: {}\n");
    place.write("notes.yaml", "# speclens: dialect=clawspec-ledger\nwaves: {}\n");
    place.write("agent.yaml", suite("echo hello", GOOD));
    place.write("docker-compose.yaml", "services: {}\n");
    let found = checked(&place, &[]);
    let expected = [
        ("bench/cli-bench.yaml", "cli-bench"),
        ("bench/tasks/free-name.yaml", "cli-bench"),
        ("clawspec.yaml", "clawspec"),
        ("kindlm/kindlm.yaml", "kindlm"),
        ("notes.yaml", "clawspec"),
        ("skills/a/tests/handoffs/a-to-b.yaml", "clawspec"),
        ("skills/a/tests/more.yaml", "clawspec"),
        ("skills/a/tests/scenarios.yaml", "clawspec"),
    ];
    let expected = expected.map(|(path, dialect)| (path.to_owned(), dialect.to_owned()));
    assert_eq!(found, expected);
}

#[test]
fn a_file_that_is_named_is_taken_for_what_it_holds() {
    let place = Place::empty();
    place.write("agent.yaml", suite("echo hello", GOOD));
    place.write("tasks.yaml", TASKS);
    place.write("compose.yaml", "services: {}\n");
    place.write("said.yaml", "# speclens: dialect=cli-bnch\nservices: {}\n");
    place.write("speclens.yaml", "");
    assert_eq!(checked(&place, &["tasks.yaml", "agent.yaml"]).len(), 2);
    for (path, reason) in [
        ("compose.yaml", "is not a suite"),
        ("said.yaml", "did you mean `cli-bench`?"),
        ("speclens.yaml", "is not a suite"),
    ] {
        let done = place.run(&["check", path]);
        assert_eq!(done.code, Some(2), "{done:?}");
        assert!(done.stderr.contains(reason), "{done:?}");
    }
}

#[test]
fn mistakes_in_a_task_file_are_found_through_the_suite_that_names_it() {
    let place = Place::empty();
    place.write("bench/my.yaml", "cli: sh\ntasks:\n  - file://tasks/one.yaml\n");
    place.write("bench/tasks/one.yaml", "- id: a\n  intnt: Say hello.\n");
    let done = place.run(&["check", "bench/my.yaml"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.stdout.contains("bench/tasks/one.yaml") && done.stdout.contains("intnt"), "{done:?}");
}

#[test]
fn a_part_of_a_suite_is_not_run_alone() {
    let place = Place::empty();
    place.write("cli-bench.yaml", "cli: sh\nproviders: [a/b]\ntasks:\n  - file://tasks/*.yaml\n");
    place.write("tasks/one.yaml", TASKS);
    let done = place.run(&["run", "tasks/one.yaml"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.stderr.contains("is a part of a suite: name `cli-bench.yaml`"), "{done:?}");
    // Nothing ran, so nothing is known, and nothing passes.
    let done = place.run(&["run"]);
    assert_eq!(done.code, Some(3), "{done:?}");
    assert!(done.stdout.contains("not supported yet") && done.stdout.contains("tasks/one.yaml:"), "{done:?}");
    let (_, report) = place.report(&[]);
    let case = &report["suites"][0]["cases"][0];
    assert_eq!((&case["place"]["path"], &case["place"]["pointer"]), (&"tasks/one.yaml".into(), &"/0".into()));
    let done = place.run(&["list"]);
    assert!(done.stdout.contains("a (agent"), "{done:?}");
}

#[test]
fn paths_of_contracts_start_where_the_command_does_when_nothing_else_says_where() {
    let place = Place::empty();
    let scenarios = "version: \"1.0\"\ntarget: {type: skill, path: skills/a, trigger: /a}\nscenarios:\n  - name: refuses\n    tags: [negative]\n    when: {invoke: /a}\n    then:\n      - {type: artifact_exists, path: out.md}\n";
    place.write("skills/a/SKILL.md", "# A\n");
    place.write("skills/a/tests/scenarios.yaml", scenarios);
    for arguments in [&["check"][..], &["check", "skills/a/tests/scenarios.yaml"]] {
        let done = place.run(arguments);
        assert!(!done.stdout.contains("missing-file"), "{done:?}");
    }
    place.write("skills/a/tests/scenarios.yaml", scenarios.replace("skills/a,", "skills/b,"));
    assert!(place.run(&["check"]).stdout.contains("missing-file"));
}

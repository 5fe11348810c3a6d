//! `speclens coverage`: the targets of a ClawSpec workspace and the tests that cover them.

use crate::support::Place;

const CONTRACT: &str = "version: \"1.0\"\ntarget: {type: skill, path: skills/demo, trigger: /demo}\nscenarios:\n  - name: no\n    tags: [negative]\n    when: {invoke: /demo no}\n    then: [{type: file_absent, path: sent.txt}]\n";

const LEDGER: &str = "waves:\n  one:\n    items:\n      - {id: skills/demo, coverage: {negative: true}, contracts: {scenario_file: skills/demo/tests/scenarios.yaml}}\n";

fn workspace() -> Place {
    let place = Place::empty();
    place.write("clawspec.yaml", "report_dir: reports\n");
    place.write("coverage-ledger.yaml", LEDGER);
    place.write("skills/demo/SKILL.md", "---\nname: demo\n---\n");
    place.write("skills/demo/tests/scenarios.yaml", CONTRACT);
    place
}

#[test]
fn ledger_without_gaps_is_covered() {
    let place = workspace();
    let done = place.run(&["coverage"]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(0), "Coverage: 1/1 items (100.0%)\n"), "{done:?}");
}

#[test]
fn recorded_case_of_the_original_is_answered_alike() {
    let case = "schema/tests/cases/clawspec/cli-coverage-full";
    let place = Place::copy_of(&format!("{case}/ws"));
    let contract = std::fs::read_to_string(crate::support::repository().join(case).join("case.yaml")).unwrap();
    place.write("skills/demo/tests/scenarios.yaml", contract);
    let done = place.run(&["coverage"]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(0), "Coverage: 1/1 items (100.0%)\n"), "{done:?}");
}

#[test]
fn gaps_are_reported_with_their_lines_from_any_directory_of_the_workspace() {
    for end in ["\n", "\r\n"] {
        let place = workspace();
        let more =
            "      - id: skills/none\n        contracts:\n          scenario_file: skills/none/tests/scenarios.yaml\n";
        place.write("coverage-ledger.yaml", format!("{LEDGER}{more}").replace('\n', end));
        assert_eq!(place.run_in("skills/demo", &["coverage"]).code, Some(1));
        let done = place.run(&["coverage"]);
        let lines = [
            "coverage-ledger.yaml:5: skills/none: `skills/none` does not exist (target_missing)",
            "coverage-ledger.yaml:7: skills/none: `skills/none/tests/scenarios.yaml` does not exist (scenario_file)",
            "coverage-ledger.yaml:5: skills/none: `coverage.negative` is not `true` (negative_test)",
            "Coverage: 1/2 items (50.0%)",
        ];
        assert_eq!((done.code, done.stdout), (Some(1), lines.join("\n") + "\n"));
    }
}

#[test]
fn json_has_every_target_with_its_gaps() {
    let place = workspace();
    place.write("skills/demo/tests/scenarios.yaml", CONTRACT.replace("negative", "smoke"));
    let done = place.run(&["coverage", "--format", "json"]);
    let report = done.json();
    assert_eq!(done.code, Some(1));
    assert_eq!(report["totals"], serde_json::json!({ "targets": 1, "covered": 0, "percent": 0.0 }));
    let target = &report["targets"][0];
    assert_eq!((&target["id"], &target["wave"]), (&"skills/demo".into(), &"one".into()), "{report}");
    let gap = &target["gaps"][0];
    assert_eq!((&gap["kind"], &gap["line"]), (&"negative_test".into(), &4.into()), "{report}");
    assert_eq!(gap["pointer"], "/waves/one/items/0/contracts/scenario_file");
}

#[test]
fn ledger_is_found_where_settings_or_the_environment_or_the_option_say() {
    let place = workspace();
    std::fs::create_dir_all(place.path().join("docs/testing")).unwrap();
    std::fs::rename(place.path().join("coverage-ledger.yaml"), place.path().join("docs/testing/l.yaml")).unwrap();
    let missing = place.run(&["coverage"]);
    assert!(missing.code == Some(2) && missing.stderr.contains("does not exist; create it"), "{missing:?}");
    assert_eq!(place.run(&["coverage", "--ledger", "docs/testing/l.yaml"]).code, Some(0));
    let with = place.run_with(&[("CLAWSPEC_LEDGER_PATH", "docs/testing/l.yaml")], &["coverage"]);
    assert_eq!(with.code, Some(0));
    place.write("clawspec.yaml", "ledger_path: docs/testing/l.yaml\n");
    assert_eq!(place.run(&["coverage"]).code, Some(0));
}

#[test]
fn ledger_with_an_error_is_no_coverage() {
    let place = workspace();
    for (text, part) in
        [("waves: []\n", "coverage-ledger.yaml:1:"), ("waves: {one: {items: [\n", "coverage-ledger.yaml:1:")]
    {
        place.write("coverage-ledger.yaml", text);
        let done = place.run(&["coverage"]);
        assert!(done.code == Some(2) && done.stderr.contains(part), "{text}: {done:?}");
    }
}

use std::collections::HashMap;

use expect_test::{Expect, expect};
use speclens_schema::{
    document::{Document, ScalarRules},
    json_schema::SpecFile,
};

use crate::ide::runnable::BrokenTests;

use super::{CaseState, KnownState, LensContext, Looks, lenses, test_at};

fn context(broken: &BrokenTests) -> LensContext<'_> {
    let looks = Looks { file: SpecFile::KINDLM, has_suite: true, is_refused: false, broken };
    LensContext { looks, main: None, elsewhere: &[], has_choice: false }
}

fn titles(document: &Document, context: LensContext<'_>) -> Vec<String> {
    let found = lenses(document, context, |_| None, |_| None);
    found
        .into_iter()
        .map(|lens| format!("{}: {}", document.text().byte_to_line(lens.range.start) + 1, lens.title))
        .collect()
}

#[test]
fn lenses_of_each_format_are_at_its_tests() {
    let none = BrokenTests::none();
    for (file, text, expected) in [
        (
            SpecFile::CLI_BENCH,
            "cli: git\ntasks:\n- {id: a, intent: b}\n- file://t.yaml\n",
            vec!["1: ▶ Run file", "3: ▶ Run", "3: Dry run"],
        ),
        (SpecFile::CLI_BENCH, "cli: git\ntasks: [file://t.yaml]\n", vec!["1: ▶ Run file"]),
        (
            SpecFile::CLI_BENCH_TASKS,
            "# tasks\n- {id: a, intent: b}\n- {id: c, intent: d}\n",
            vec!["1: ▶ Run file", "2: ▶ Run", "2: Dry run", "3: ▶ Run", "3: Dry run"],
        ),
        (
            SpecFile::CLAWSPEC_SCENARIOS,
            "scenarios:\n  - name: a\n  - name: b\n    given:\n    - type: gateway_healthy\n",
            vec![
                "1: ▶ Run file", "2: ▶ Run", "2: Evaluate without a run", "3: ▶ Run", "3: Preconditions",
                "3: Evaluate without a run",
            ],
        ),
        (SpecFile::CLAWSPEC_HANDOFF, "handoff: {from: a, to: b}\n", vec!["1: ▶ Run", "1: Evaluate without a run"]),
        (SpecFile::CLAWSPEC_PIPELINE, "pipeline: {name: a}\n", vec!["1: ▶ Run", "1: Evaluate without a run"]),
        (SpecFile::CLAWSPEC_BASELINES, "metrics: {}\n", vec![]),
    ] {
        for text in [text.to_owned(), text.replace('\n', "\r\n")] {
            let document = Document::read(&text, file.scalar_rules());
            let looks = Looks { file, ..context(&none).looks };
            assert_eq!(titles(&document, LensContext { looks, ..context(&none) }), expected, "{text}");
        }
    }
}

#[test]
fn lens_of_a_part_names_the_suite_that_runs_it() {
    let none = BrokenTests::none();
    let document = Document::read("tests: [{name: a}]\n", ScalarRules::Yaml12);
    let found = titles(&document, LensContext { main: Some("../main.yaml"), ..context(&none) });
    assert_eq!(found, ["1: ▶ Run file through ../main.yaml", "1: ▶ Run"]);
    let looks = Looks { has_suite: false, ..context(&none).looks };
    let found = titles(&document, LensContext { looks, ..context(&none) });
    assert_eq!(found, ["1: ! no suite names this file"]);
}

#[test]
fn tests_in_other_files_of_the_suite_count() {
    let none = BrokenTests::none();
    let document = Document::read("tests: [{name: a}]\n", ScalarRules::Yaml12);
    let states = [CaseState::Failed { claims: 1 }, CaseState::Passed { duration_ms: Some(1.0) }];
    let found = titles(&document, LensContext { elsewhere: &states, ..context(&none) });
    assert_eq!(found, ["1: ▶ Run file", "1: 1 failed, 1 passed, 1 not run", "1: ▶ Run"]);
    let found = titles(&document, LensContext { elsewhere: &[CaseState::Running], ..context(&none) });
    assert_eq!(found[0], "1: ■ Stop");
}

#[track_caller]
fn check(text: &str, states: &[(&str, CaseState)], broken: &[&str], expected: Expect) {
    let document = Document::read(text, ScalarRules::Yaml12);
    let known = states.iter().map(|(name, state)| {
        let from = (*name == "e").then(|| "d".to_owned());
        let (is_foreign, can_ask) = (*name == "a", *name == "g");
        (*name, KnownState { state: state.clone(), from, is_foreign, can_ask, ..KnownState::nothing() })
    });
    let known: HashMap<&str, KnownState> = known.collect();
    let broken = BrokenTests::These(broken.iter().map(|name| (*name).to_owned()).collect());
    let lines: Vec<String> = lenses(&document, context(&broken), |name| known.get(name), |_| None)
        .into_iter()
        .map(|lens| format!("{}: {}\n", document.text().byte_to_line(lens.range.start) + 1, lens.title))
        .collect();
    expected.assert_eq(&lines.concat());
}

#[test]
fn every_named_test_can_be_run() {
    check(
        "tests:\n  - name: a\n    command: x\n  - command: y\n  - name: b\n",
        &[],
        &[],
        expect![[r#"
            1: ▶ Run file
            2: ▶ Run
            5: ▶ Run
        "#]],
    );
}

#[test]
fn lenses_show_what_came_of_the_last_run() {
    check(
        "tests:\n- name: a\n- name: b\n- name: c\n- name: d\n- name: e\n- name: f\n",
        &[
            ("a", CaseState::Passed { duration_ms: Some(1234.0) }),
            ("b", CaseState::Failed { claims: 2 }),
            ("c", CaseState::Stale),
            ("d", CaseState::Error { message: "timed out after 1000 ms".to_owned() }),
            ("e", CaseState::Passed { duration_ms: Some(5.0) }),
            ("f", CaseState::Cancelled),
        ],
        &[],
        expect![[r#"
            1: ▶ Run file
            1: 1 failed, 1 error, 2 passed, 1 stale, 1 not run
            2: ▶ Run
            2: ✓ passed 1.2 s, recorded on another machine
            3: ▶ Run
            3: ✗ 2 assertions failed
            4: ▶ Run
            4: ⚠ stale, run again
            5: ▶ Run
            5: ! error: timed out after 1000 ms
            6: ▶ Run
            6: ✓ passed 5 ms, from the recording of `d`
            7: ▶ Run
            7: ⊘ cancelled
        "#]],
    );
}

#[test]
fn judge_that_was_not_asked_can_be_asked() {
    check(
        "tests:\n- name: g\n",
        &[("g", CaseState::Unknown { claims: 1 })],
        &[],
        expect![[r#"
            2: ▶ Run
            2: ? 1 assertion unknown
            2: Ask judge
        "#]],
    );
}

#[test]
fn a_test_that_runs_can_be_stopped() {
    check(
        "tests:\n- name: a\n- name: b\n",
        &[("b", CaseState::Running)],
        &[],
        expect![[r#"
        1: ■ Stop
        2: ▶ Run
        3: ■ Stop
        3: … running
    "#]],
    );
}

#[test]
fn a_test_that_cannot_be_run_says_why() {
    check(
        "tests:\n- {name: a, prompt: p}\n- {name: b, skip: true}\n- name: c\n- name: twin\n- name: twin\n- name: d\n- {name: e, skip: 'true'}\n",
        &[
            ("b", CaseState::Failed { claims: 1 }),
            ("c", CaseState::Unknown { claims: 1 }),
            ("d", CaseState::Passed { duration_ms: Some(1.0) }),
        ],
        &["c"],
        expect![[r#"
            1: ▶ Run file
            1: 1 passed, 1 skipped, 5 not run
            2: ▶ Run
            2: Dry run
            3: ○ skipped
            4: ! has errors
            5: ! another test has this name
            6: ! another test has this name
            7: ▶ Run
            7: ✓ passed 1 ms
            8: ▶ Run
        "#]],
    );
}

#[test]
fn no_test_of_a_refused_suite_offers_to_run() {
    let document = Document::read("tests:\n- name: a\n- {name: b, skip: true}\n", ScalarRules::Yaml12);
    let none = BrokenTests::none();
    let looks = Looks { is_refused: true, ..context(&none).looks };
    let found = titles(&document, LensContext { looks, ..context(&none) });
    assert_eq!(found, ["1: ▶ Run file", "2: ! the settings have errors", "3: ○ skipped"]);
}

#[test]
fn blanks_and_dash_before_a_test_belong_to_it() {
    for text in [
        "tests:\n  - name: a\n    command: x\n  - name: b\n    command: y\n",
        "tests:\r\n- name: a\r\n  command: x\r\n-   name: b\r\n    command: y\r\n",
        "tests:\n  -\n    name: a\n  -\n    name: b\n",
        "tests:\n  - {name: a}\n  - {name: b, command: '- x'}\n",
    ] {
        let document = Document::read(text, ScalarRules::Yaml12);
        for name in ["a", "b"] {
            let at = text.find(&format!("name: {name}")).unwrap();
            let dash = text[..at].rfind('-').unwrap();
            let line = text[..dash].rfind('\n').unwrap() + 1;
            for offset in line..at + 6 {
                assert_eq!(name_at(&document, offset).as_deref(), Some(name), "{offset} in {text:?}");
            }
        }
        assert_eq!(name_at(&document, 2), None);
    }
    let flow = "tests: [{name: a}, {name: b}]\n";
    let document = Document::read(flow, ScalarRules::Yaml12);
    assert_eq!(name_at(&document, 0), None);
    assert_eq!(name_at(&document, flow.find("b}").unwrap()).as_deref(), Some("b"));
}

fn name_at(document: &Document, offset: usize) -> Option<String> {
    test_at(SpecFile::KINDLM, document, offset).map(|test| test.name.into_owned())
}

//! Differences to a version of ClawSpec, KindLM or cli-bench: reported once, with the severity that the workspace sets.

use serde_json::Value;

use crate::support::Place;

const TRACES: &str = "version: \"1.0\"\ntarget: {type: skill, path: skills/a, trigger: /a}\nscenarios:\n- name: one\n  tags: [negative]\n  when: {invoke: /a}\n  then:\n  - type: no_span_errors\n  - type: trace_cost\n    max_usd: 1\n- name: two\n  when: {invoke: /a}\n  then:\n  - type: no_span_errors\n";
const COMMAND: &str = "kindlm: 1\nproject: p\nsuite: {name: s}\ntests:\n  - name: a\n    command: echo hello\n    expect: {output: {contains: [hello]}}\n";

fn workspace(settings: &str) -> Place {
    let place = Place::empty();
    place.write("speclens.yaml", settings);
    place.write("clawspec.yaml", "report_dir: reports\n");
    place.write("skills/a/SKILL.md", "# A\n");
    place.write("skills/a/tests/scenarios.yaml", TRACES);
    place.write("kindlm.yaml", COMMAND);
    place
}

/// Returns the severity and the message of each fact, by file.
fn facts(report: &Value) -> Vec<(String, String, String)> {
    let suites = report["suites"].as_array().unwrap();
    let problems = suites.iter().flat_map(|suite| suite["problems"].as_array().unwrap());
    let facts = problems.filter(|problem| problem["code"] == "upstream-differs").map(|problem| {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        (text(&problem["place"]["path"]), text(&problem["severity"]), text(&problem["message"]))
    });
    let mut facts: Vec<_> = facts.collect();
    facts.sort();
    facts
}

#[test]
fn what_a_program_rejects_is_reported_once_for_a_file() {
    let place = workspace("");
    let (code, report) = place.check(&[]);
    let scenarios = "skills/a/tests/scenarios.yaml".to_owned();
    let rejected = "ClawSpec 0.1.0 rejects this file: its schema does not allow `no_span_errors` or `trace_cost`";
    let command = "KindLM requires `providers`, `models` and `prompts`";
    let expected = [
        ("kindlm.yaml".to_owned(), "hint".to_owned(), command.to_owned()),
        (scenarios, "hint".to_owned(), rejected.to_owned()),
    ];
    assert_eq!((code, facts(&report)), (Some(0), expected.to_vec()));
}

#[test]
fn compat_makes_errors_of_what_its_programs_reject() {
    for (settings, severities, code) in [
        ("compat: [clawspec]\n", ["hint", "error"], 2),
        ("compat: [kindlm]\n", ["error", "hint"], 2),
        ("compat: [clawspec, kindlm, cli-bench]\nseverity: {upstream-differs: hint}\n", ["error", "error"], 2),
        ("compat: [cli-bench]\nseverity: {upstream-differs: information}\n", ["information", "information"], 0),
    ] {
        let (found, report) = workspace(settings).check(&[]);
        let shown: Vec<String> = facts(&report).into_iter().map(|(_, severity, _)| severity).collect();
        assert_eq!(shown, severities, "{settings}");
        assert_eq!(found, Some(code), "{settings}: {report}");
    }
    let done = workspace("compat: [clawspek]\n").run(&["check"]);
    assert!(done.stdout.contains("speclens.yaml:1"), "{done:?}");
}

/// A file that the other program rejects is still understood.
#[test]
fn a_rejected_file_is_not_run_and_has_no_part_that_is_not_understood() {
    let place = workspace("compat: [kindlm]\n");
    let done = place.run(&["run", "kindlm.yaml"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.stdout.contains("KindLM requires") && !done.stdout.contains("not be understood"), "{done:?}");
}

/// No automatic fix makes ClawSpec reject a file.
#[test]
fn fixes_add_no_problem() {
    for compat in ["", "compat: [clawspec]\n"] {
        let place = workspace(compat);
        let claims = "  - type: tool_was_not_called\n    tool: mail.send\n    log_path: a.log\n  - type: delegation_occurred\n    to_agent: b\n";
        let text =
            TRACES.replace("  - type: no_span_errors\n", claims).replace("  - type: trace_cost\n    max_usd: 1\n", "");
        place.write("skills/a/tests/scenarios.yaml", text);
        let report = place.run(&["check", "--fix", "--format", "json"]).json();
        assert!(facts(&report).iter().all(|(path, ..)| path == "kindlm.yaml"), "{report:#}");
        let fixed = place.read("skills/a/tests/scenarios.yaml");
        assert_eq!(fixed.matches("type: tool_not_called").count(), 2, "{fixed}");
        assert!(!report.to_string().contains("\"severity\":\"error\""), "{report:#}");
    }
}

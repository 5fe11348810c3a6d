//! Settings: problems, and precedence.

use std::process::Command;

use serde_json::Value;

use crate::support::{Place, suite};

const GOOD: &str = "{output: {contains: [hello]}}";

/// Invalid settings, by the name of the file, with a part of the message.
fn wrong() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let utf16 = |text: &str| [0xfe_ff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_be_bytes).collect();
    vec![
        ("speclens.yaml", utf16("recordings: {redact_patterns: ['hel+o']}\n"), "not UTF-8 but UTF-16"),
        ("speclens.yaml", b"recordings: {redact_patterns: ['hel+o']\n".to_vec(), "error[syntax]"),
        ("speclens.yaml", b"recording: {redact_patterns: ['hel+o']}\n".to_vec(), "unknown key `recording`"),
        ("speclens.yaml", b"recordings:\r\n  redact_patern: ['hel+o']\r\n".to_vec(), "unknown key `redact_patern`"),
        ("speclens.yaml", b"recordings:\n  redact_patterns:\n  - 'hel(?=l)'\n".to_vec(), "look-around"),
        ("speclens.yaml", b"severity: {no-clams: error}\n".to_vec(), "no-clams"),
        ("speclens.yaml", b"limits: {output_mib: many}\n".to_vec(), "output_mib"),
        ("speclens.yaml", b"- recordings\n".to_vec(), "speclens.yaml:1:1"),
        ("speclens.yaml", b"inputs: [src, ../lib]\n".to_vec(), "`../lib` is outside the directory of `speclens.yaml`"),
        ("speclens.yaml", b"inputs:\r\n- '/etc/passwd'\r\n".to_vec(), "speclens.yaml:2:3"),
        ("speclens.yaml", b"inputs: src\n".to_vec(), "inputs"),
        ("speclens.yml", b"recordings: {redact_patterns: ['hel+o']}\n".to_vec(), "rename it to `speclens.yaml`"),
    ]
}

#[track_caller]
fn check_refused(place: &Place, part: &str) {
    for arguments in [&["run"][..], &["run", "--recorded"], &["run", "--allow", "invalid-setting"]] {
        let done = place.run(arguments);
        assert_eq!(done.code, Some(2), "{arguments:?}: {done:?}");
        assert!(done.stdout.contains(part) && done.stdout.contains("refused"), "{part} {arguments:?}: {done:?}");
        assert!(!place.exists("ran") && !place.exists(".speclens"), "{arguments:?}: {done:?}");
    }
    let done = place.run(&["check"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.stdout.contains(part) && done.stdout.contains("unknown key `projct`"), "{part}: {done:?}");
}

fn place() -> Place {
    Place::with(&suite("touch ran; echo hello", GOOD).replace("project", "projct: x\nproject"))
}

#[test]
fn suite_with_wrong_settings_is_not_run_and_still_checked() {
    for (name, text, part) in wrong() {
        let place = place();
        place.write(name, text);
        check_refused(&place, part);
    }
}

#[test]
fn settings_that_are_no_file_refuse_every_suite() {
    let directory = place();
    std::fs::create_dir(directory.path().join("speclens.yaml")).unwrap();
    check_refused(&directory, "it is a directory");

    let pipe = place();
    assert!(Command::new("mkfifo").arg(pipe.path().join("speclens.yaml")).status().unwrap().success());
    check_refused(&pipe, "not a regular file");

    let link = place();
    std::os::unix::fs::symlink("nowhere", link.path().join("speclens.yaml")).unwrap();
    check_refused(&link, "No such file");
}

#[test]
fn misnamed_settings_beside_the_right_ones_are_an_error() {
    let place = place();
    place.write("speclens.yaml", "severity: {unused: off}\n");
    place.write("speclens.yml", "recordings: {redact_patterns: ['hel+o']}\n");
    check_refused(&place, "`speclens.yml` in the same directory is not read");
}

#[test]
fn every_report_of_a_refused_suite_names_the_settings() {
    let place = place();
    place.write("speclens.yaml", "recording: {}\n");
    for report in ["json", "junit", "sarif", "github"] {
        let done = place.run(&["run", "--report", report]);
        assert_eq!(done.code, Some(2), "{done:?}");
        assert!(done.stdout.contains("unknown key `recording`"), "{report}: {done:?}");
    }
    let done = place.run(&["run", "--dry-run"]);
    assert!(done.stdout.contains("refused: its settings have errors"), "{done:?}");
}

/// Returns whether a run below a directory obeys settings that switch recordings off.
fn obeys(place: &Place, folder: &str, arguments: &[&str]) -> bool {
    let done = place.run_in(folder, arguments);
    assert_eq!(done.code, Some(0), "{done:?}");
    let recorded = place.path().join("work/sub/.speclens");
    let obeys = !recorded.exists();
    let _ = std::fs::remove_dir_all(recorded);
    obeys
}

#[test]
fn settings_above_the_workspace_decide_nothing() {
    let place = Place::empty();
    place.write("work/sub/kindlm.yaml", suite("echo hello", GOOD));
    place.write("speclens.yaml", "recordings: {enabled: false}\n");
    let file = place.path().join("work/sub/kindlm.yaml");
    let file = file.to_str().unwrap();
    // Without a repository, the outermost directory on the command line.
    assert!(!obeys(&place, "work", &["run"]));
    assert!(!obeys(&place, "work", &["run", "sub"]));
    assert!(!obeys(&place, "work/sub", &["run", "../../work"]));
    assert!(obeys(&place, "work/sub", &["run", "../.."]));
    assert!(obeys(&place, "", &["run", "work/sub"]));
    assert!(obeys(&place, "", &["run", "work/sub/kindlm.yaml"]));
    let elsewhere = tempfile::tempdir().unwrap();
    let mut program = place.program(&["run", file]);
    assert!(program.current_dir(elsewhere.path()).output().unwrap().status.success());
    assert!(place.exists("work/sub/.speclens"));
    std::fs::remove_dir_all(place.path().join("work/sub/.speclens")).unwrap();
    // The repository, from any directory.
    std::fs::create_dir(place.path().join(".git")).unwrap();
    assert!(obeys(&place, "work/sub", &["run"]));
    std::fs::create_dir(place.path().join("work/.git")).unwrap();
    assert!(!obeys(&place, "work/sub", &["run"]));
    assert!(!obeys(&place, "", &["run", "work/sub"]));
    place.write("work/speclens.yaml", "recordings: {enabled: false}\n");
    assert!(obeys(&place, "work/sub", &["run"]));
}

#[test]
fn settings_of_a_contract_are_looked_for_up_to_its_workspace() {
    let place = Place::empty();
    place.write("w/clawspec.yaml", "report_dir: reports\n");
    place.write("w/skills/a/SKILL.md", "# A\n");
    let contract = "version: \"1.0\"\ntarget: {type: skill, path: skills/a, trigger: /a}\nscenarios:\n- name: one\n  when: {invoke: /a}\n  then:\n  - {type: tool_called, tool: x}\nnothing_like_it: 1\n";
    place.write("w/skills/a/tests/scenarios.yaml", contract);
    let file = place.path().join("w/skills/a/tests/scenarios.yaml");
    let elsewhere = tempfile::tempdir().unwrap();
    let codes = || {
        let mut program = place.program(&["check", "--format", "json", file.to_str().unwrap()]);
        let report: Value =
            serde_json::from_slice(&program.current_dir(elsewhere.path()).output().unwrap().stdout).unwrap();
        let problems = report["suites"][0]["problems"].as_array().unwrap().clone();
        problems.iter().filter(|problem| problem["code"] == "unknown-key").count()
    };
    assert_eq!(codes(), 1);
    place.write("speclens.yaml", "severity: {unknown-key: off}\n");
    assert_eq!(codes(), 1);
    place.write("w/speclens.yaml", "severity: {unknown-key: off}\n");
    assert_eq!(codes(), 0);
}

#[test]
fn settings_file_that_is_named_is_checked_like_the_others() {
    let place = place();
    place.write("speclens.yaml", "severity: {unused: off}\n");
    let done = place.run(&["check", "speclens.yaml"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    for text in ["severity: {no-clams: error}\n", "severity:\r\n  'no-clams': error\r\n"] {
        place.write("speclens.yaml", text);
        let done = place.run(&["check", "speclens.yaml"]);
        assert!(done.code == Some(2) && done.stdout.contains("unknown code `no-clams`"), "{done:?}");
        let both = place.run(&["check", ".", "speclens.yaml"]);
        assert_eq!(both.stdout.matches("unknown code `no-clams`").count(), 1, "{both:?}");
    }
}

#[test]
fn missing_scripted_gateway_is_a_warning_that_refuses_no_other_suite() {
    let directory = Place::with(&suite("echo hello", GOOD));
    for text in ["clawspec: {gateway: no.gateway.yaml}\n", "clawspec:\r\n  gateway: \"no.gateway.yaml\"\r\n"] {
        directory.write("speclens.yaml", text);
        let done = directory.run(&["check"]);
        assert!(done.code == Some(0) && done.stdout.contains("warning[missing-file]: `no.gateway.yaml`"), "{done:?}");
        assert_eq!(directory.run(&["run"]).code, Some(0));
    }
    // Nothing is looked for outside of the directory.
    directory.write("speclens.yaml", "clawspec: {gateway: ../no.gateway.yaml}\n");
    assert!(!directory.run(&["check"]).stdout.contains("missing-file"));
    directory.write("speclens.yaml", "clawspec: {gateway: ./no.gateway.yaml}\n");
    assert!(directory.run(&["check"]).stdout.contains("missing-file"));
    directory.write("no.gateway.yaml", "runs: []\n");
    let done = directory.run(&["check", "kindlm.yaml"]);
    assert!(!done.stdout.contains("missing-file"), "{done:?}");
}

#[test]
fn inputs_that_do_not_exist_are_reported_where_they_are_named() {
    let directory = Place::with(&suite("echo hello", GOOD));
    directory.write("src/a", "1\n");
    for text in ["inputs: [scr, src, './src', '*.md']\n", "inputs:\r\n- src\r\n- \"scr\"\r\n- src/*.x\r\n"] {
        directory.write("speclens.yaml", text);
        let done = directory.run(&["check"]);
        assert_eq!(done.stdout.matches("missing-file").count(), 1, "{done:?}");
        assert!(done.stdout.contains("warning[missing-file]: `scr` does not exist"), "{done:?}");
    }
}

#[test]
fn gateway_of_the_settings_is_checked_whatever_it_contains() {
    let directory = Place::with(&suite("echo hello", GOOD));
    for text in ["runs: [\n", "runs: 5\n", "runz: []\r\n"] {
        directory.write("a/b.gateway.yaml", text);
        directory.write("speclens.yaml", "");
        assert_eq!(directory.run(&["check"]).code, Some(0), "{text:?} may belong to another tool");
        directory.write("speclens.yaml", "clawspec: {gateway: ./a/b.gateway.yaml}\n");
        let done = directory.run(&["check"]);
        assert!(done.stdout.contains("a/b.gateway.yaml:1:"), "{text:?}: {done:?}");
    }
}

#[test]
fn pass_rate_of_the_settings_decides_like_one_of_the_suite() {
    let test = |name: &str, command: &str| format!("  - {{name: {name}, command: {command}, expect: {GOOD}}}\n");
    let text = format!(
        "kindlm: 1\nproject: p\nsuite: {{name: s}}\ntests:\n{}{}",
        test("a", "echo hello"),
        test("b", "echo no")
    );
    let place = Place::with(&text);
    assert_eq!(place.run(&["run"]).code, Some(1));
    place.write("speclens.yaml", "thresholds: {pass_rate: 0.5}\n");
    let done = place.run(&["run"]);
    assert!(done.code == Some(0) && done.stdout.contains("the gates permit the failures above"), "{done:?}");
    place.write("speclens.yaml", "thresholds:\n  pass_rate: 0.6\n");
    let done = place.run(&["run"]);
    assert!(done.code == Some(1) && done.stdout.contains("(`thresholds` in `speclens.yaml`)"), "{done:?}");
    // The suite takes precedence.
    place.write("kindlm.yaml", format!("{text}gates: {{passRateMin: 0.5}}\n"));
    assert_eq!(place.run(&["run"]).code, Some(0));
}

#[test]
fn misspelled_list_of_assertions_never_passes() {
    let test = "tests:\n  - name: a\n    command: echo hello\n    expct: {output: {contains: [gone]}}\n    expect: {output: {contains: [hello]}}\n";
    let head = "kindlm: 1\nproject: p\nsuite: {name: s}\n";
    let gates = format!("{}gates: {{latencyMax: 1}}\n", test.replace("    expct: {output: {contains: [gone]}}\n", ""));
    for text in [test.to_owned(), test.replace("  - name", "- name").replace("\n    ", "\n  "), gates] {
        let place = Place::with(&format!("{head}{text}"));
        let done = place.run(&["run"]);
        assert!(done.code == Some(2) && done.stdout.contains("error[unknown-key]"), "{done:?}");
    }
    // Silencing the problem does not make the test pass.
    let place = Place::with(&format!("# speclens: allow(unknown-key)\n{head}{test}"));
    let (code, report) = place.report(&[]);
    assert_eq!((code, &report["suites"][0]["cases"][0]["status"]), (Some(3), &Value::from("unknown")), "{report:#}");
}

#[test]
fn judge_of_the_settings_needs_no_model_in_the_suite() {
    let place = Place::with(&suite("echo hello", "{judge: [{criteria: is it kind, minScore: 0.5}]}"));
    let done = place.run(&["check"]);
    assert!(done.stdout.contains("`judge` needs a model, but `models` has none"), "{done:?}");
    place.write("speclens.yaml", "judge: openai/gpt-4o-mini\n");
    let done = place.run(&["check"]);
    assert!(done.code == Some(0) && !done.stdout.contains("missing-field"), "{done:?}");
}

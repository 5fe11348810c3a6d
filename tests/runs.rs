//! Runs: selection, exit status, reports.

use std::{
    fs,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::support::{Done, Place, attempt, outcomes, repository, suite};

const THREE: &str = "\
kindlm: 1
project: demo
suite: {name: demo}
defaults: {concurrency: 1}
tests:
  - {name: alpha-one, tags: [a, b], command: touch alpha-one, expect: {output: {maxLength: 9}}}
  - {name: alpha-two, tags: [a], repeat: 2, command: echo x >> alpha-two, expect: {output: {maxLength: 9}}}
  - {name: beta, tags: [b], command: echo x >> beta, expect: {output: {maxLength: 9}}}
";

#[test]
fn the_failing_example_shows_what_is_wrong_and_what_helps() {
    let place = Place::copy_of("tests/specs/failing");
    let done = place.run(&["run"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    for part in [
        "✗ looks-up-the-right-order",
        "! ends-in-time",
        "✓ says-hello",
        "failed[TOOL_CALL_ARGS_MISMATCH]",
        "order_id: \"12345\"",
        "^^^^^^^",
        "failed[PII_DETECTED]",
        "failed[KEYWORD_DENIED]",
        "failed[SCHEMA_INVALID]",
        "error[timed-out]: `ends-in-time`: the command did not end within 1000 ms and was stopped",
        "standard error: agent: still thinking",
        "13 tests: 1 passed, 11 failed, 1 error",
    ] {
        assert!(done.stdout.contains(part), "{part} is missing:\n{}", done.stdout);
    }
}

#[test]
fn tests_are_selected_by_name_and_tag() {
    let names = |arguments: &[&str]| -> Vec<String> {
        let place = Place::with(THREE);
        let (code, report) = place.report(arguments);
        assert_eq!(code, Some(0), "{arguments:?} {report}");
        let cases = report["suites"][0]["cases"].as_array().unwrap();
        let names: Vec<String> = cases.iter().map(|case| case["name"].as_str().unwrap().to_owned()).collect();
        for name in ["alpha-one", "alpha-two", "beta"] {
            assert_eq!(place.exists(name), names.iter().any(|chosen| chosen == name), "{arguments:?} {name}");
        }
        names
    };
    assert_eq!(names(&[]), ["alpha-one", "alpha-two", "beta"]);
    assert_eq!(names(&["--test", "beta"]), ["beta"]);
    assert_eq!(names(&["--test", "alpha-*"]), ["alpha-one", "alpha-two"]);
    assert_eq!(names(&["--test", "beta", "--test", "*-one"]), ["alpha-one", "beta"]);
    assert_eq!(names(&["--tag", "a", "--tag", "b"]), ["alpha-one", "alpha-two", "beta"]);
    assert_eq!(names(&["--tag", "a,b"]), ["alpha-one"]);
    assert_eq!(names(&["--tag", "b", "--test", "alpha*"]), ["alpha-one"]);
}

#[test]
fn repeats_of_the_command_line_leave_a_tests_own_alone() {
    let place = Place::with(THREE);
    let (_, report) = place.report(&["--repeat", "3"]);
    let runs = |index: usize| report["suites"][0]["cases"][index]["runs"].as_array().unwrap().len();
    assert_eq!((runs(0), runs(1), runs(2)), (3, 2, 3));
    assert_eq!(place.read("beta"), "x\nx\nx\n");
}

#[test]
fn a_dry_run_runs_nothing() {
    let place = Place::with(THREE);
    let done = place.run(&["run", "--dry-run"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stdout.contains("4 attempts would run") && done.stdout.contains("touch alpha-one"), "{done:?}");
    assert!(!place.exists("alpha-one") && !place.exists(".speclens"));
}

#[test]
fn exit_codes_distinguish_a_failed_claim_from_an_error() {
    let code = |command: &str, expect: &str, tail: &str| {
        let place = Place::with(&format!("{}{tail}", suite(command, expect)));
        place.run(&["run"]).code
    };
    assert_eq!(code("echo hello", "{output: {contains: [hello]}}", ""), Some(0));
    assert_eq!(code("echo hello; exit 7", "{output: {contains: [hello]}}", ""), Some(0), "the status is only shown");
    assert_eq!(code("echo hello", "{output: {contains: [bye]}}", ""), Some(1));
    assert_eq!(code("sleep 60", "{output: {contains: [bye]}}", "defaults: {timeoutMs: 1000}\n"), Some(3));
    assert_eq!(code("echo hello", "{judge: [{criteria: good}]}", ""), Some(3), "not judged is not passed");
    // A failed claim takes precedence over an error of a run.
    let both = "  - {name: slow, command: sleep 60, expect: {output: {contains: [x]}}}\ndefaults: {timeoutMs: 1000}\n";
    assert_eq!(code("echo hello", "{output: {contains: [bye]}}", both), Some(1));
    // Gates in the suite excuse failures, and cause them.
    let flaky = "sh -c 'if [ -e once ]; then echo good; else touch once; echo bad; fi'";
    let half = "    repeat: 2\ngates: {passRateMin: 0.5}\ndefaults: {concurrency: 1}\n";
    assert_eq!(code(flaky, "{output: {contains: [good]}}", half), Some(0));
    assert_eq!(code(flaky, "{output: {contains: [good]}}", &half.replace("0.5", "0.9")), Some(1));
    assert_eq!(code("echo hello", "{output: {contains: [hello]}}", "gates: {latencyMaxMs: 0.001}\n"), Some(1));
}

#[test]
fn a_command_line_deadline_holds() {
    let place = Place::with(&suite("sleep 60", "{output: {contains: [x]}}"));
    let begun = Instant::now();
    let (code, report) = place.report(&["--timeout", "0.3"]);
    assert_eq!(code, Some(3));
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert_eq!(report["suites"][0]["cases"][0]["runs"][0]["error"]["kind"], "timed-out");
}

#[test]
fn failing_fast_leaves_the_rest() {
    let place =
        Place::with(&THREE.replace(
            "touch alpha-one, expect: {output: {maxLength: 9}}",
            "\"true\", expect: {output: {contains: [x]}}",
        ));
    let (code, report) = place.report(&["--fail-fast"]);
    assert_eq!(code, Some(1));
    assert_eq!(report["suites"][0]["cases"][2]["status"], "skip");
    assert!(!place.exists("beta"));
}

#[test]
fn failing_fast_leaves_the_rest_also_after_a_test_that_timed_out() {
    let place = Place::empty();
    let next = "  - {name: next, command: touch ../next, expect: {output: {maxLength: 9}}}\ndefaults: {concurrency: 1, timeoutMs: 1000}\n";
    place.write("a/kindlm.yaml", format!("{}{next}", suite("sleep 60", "{output: {maxLength: 9}}")));
    place.write("b/kindlm.yaml", suite("touch ../marker", "{output: {maxLength: 9}}"));
    let (code, report) = place.report(&["--fail-fast"]);
    assert_eq!(code, Some(3), "{report}");
    let cases = &report["suites"][0]["cases"];
    assert_eq!(cases[0]["runs"][0]["error"]["kind"], "timed-out", "{report}");
    assert_eq!((&cases[1]["status"], &report["suites"][1]["status"]), (&"skip".into(), &"skip".into()));
    assert!(!place.exists("next") && !place.exists("marker"));
}

#[test]
fn failing_fast_still_reports_the_suites_that_follow() {
    let place = Place::empty();
    place.write("a/kindlm.yaml", suite("echo hello", "{output: {contains: [bye]}}"));
    place.write("b/kindlm.yaml", suite("touch marker", "{output: {maxLength: 9}}"));
    let (code, report) = place.report(&["--fail-fast"]);
    assert_eq!(code, Some(1));
    assert_eq!(report["suites"][1]["path"], "b/kindlm.yaml");
    assert_eq!(report["suites"][1]["status"], "skip");
    assert_eq!(report["suites"][1]["cases"][0]["runs"][0]["error"]["kind"], "failed-fast");
    assert_eq!((&report["totals"]["cases"], &report["totals"]["skipped"]), (&2.into(), &1.into()));
    let junit = place.run(&["run", "--fail-fast", "--report", "junit"]).stdout;
    assert!(junit.contains("b/kindlm.yaml") && junit.contains("<skipped"), "{junit}");
    assert!(!place.exists("b/marker"));
}

#[test]
fn failing_fast_leaves_gates_unknown_that_the_other_tests_could_fail() {
    let test = |name: &str, text: &str| {
        format!("  - {{name: {name}, command: echo hello, expect: {{output: {{contains: [{text}]}}}}}}\n")
    };
    let tests = [test("a", "hello"), test("b", "bye"), test("c", "bye"), test("d", "bye")].concat();
    let settings = "defaults: {concurrency: 1}\ngates: {passRateMin: 0.5, latencyMaxMs: 60000}\n";
    let place = Place::with(&format!("kindlm: 1\nproject: demo\nsuite: {{name: demo}}\n{settings}tests:\n{tests}"));
    let (code, report) = place.report(&["--fail-fast"]);
    assert_eq!((code, &report["totals"]["skipped"]), (Some(1), &2.into()));
    let gates = report["suites"][0]["gates"].as_array().unwrap();
    assert!(!gates.is_empty() && gates.iter().all(|gate| gate["status"] == "unknown"), "{gates:#?}");
    let rate = gates.iter().find(|gate| gate["name"] == "passRateMin").unwrap();
    assert_eq!(rate["message"], "Pass rate 50.0% meets minimum 50.0% (2 attempts not run)");
    let (code, report) = place.report(&[]);
    assert_eq!((code, &report["suites"][0]["gates"][0]["status"]), (Some(1), &"fail".into()), "{report}");
}

#[test]
fn reports_of_clawspec_that_no_suite_has_are_mentioned() {
    let done = Place::with(THREE).run(&["run", "--report", "clawspec"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stderr.contains("no ClawSpec report was written"), "{done:?}");
}

#[test]
fn option_that_selects_nothing_beside_others_is_mentioned() {
    let place = Place::with(THREE);
    let done = place.run(&["run", "--test", "nosuch*", "--test", "beta"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stderr.contains("no test matches `--test nosuch*`") && !done.stderr.contains("beta"), "{done:?}");
}

#[test]
fn only_what_failed_runs_again() {
    let place = Place::with(&THREE.replace(
        "echo x >> beta, expect: {output: {maxLength: 9}}",
        "echo x >> beta, expect: {output: {contains: [x]}}",
    ));
    assert_eq!(place.run(&["run"]).code, Some(1));
    let done = place.run(&["run", "--failed"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert_eq!((place.read("beta").as_str(), place.read("alpha-two").as_str()), ("x\nx\n", "x\nx\n"));
    // The claim is corrected: nothing fails any more.
    place.write("kindlm.yaml", THREE);
    let done = place.run(&["run", "--failed"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stderr.contains("no test failed in its last run\n"), "{done:?}");
    assert_eq!(place.read("beta"), "x\nx\n");
    place.write("kindlm.yaml", format!("{THREE}  - {{name: new, command: touch new, expect: {{}}}}\n"));
    let done = place.run(&["run", "--failed"]);
    assert!(done.stderr.contains("1 test has no recording"), "{done:?}");
    assert!(!place.exists("new"));
}

#[test]
fn what_was_never_run_has_neither_failed_nor_passed() {
    let place = Place::with(THREE);
    let done = place.run(&["run", "--failed"]);
    assert_eq!(done.code, Some(3), "{done:?}");
    assert!(done.stderr.contains("these tests have no recordings"), "{done:?}");
    assert!(!place.exists("beta"));
    // A suite that cannot be read may have failed.
    place.write("speclens.yaml", "recording: {}\n");
    let done = place.run(&["run", "--failed"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(!done.stderr.contains("nothing to run"), "{done:?}");
}

#[test]
fn test_that_errors_of_the_suite_hide_is_not_called_unknown() {
    let place = Place::with(&THREE.replace("  - {name: beta, tags", "  - {name: beta, tags: [b, tags"));
    let done = place.run(&["run", "--test", "beta"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.stdout.contains("error[syntax]") && done.stdout.contains("refused"), "{done:?}");
    assert!(!done.stderr.contains("error: no test matches"), "{done:?}");
    // Another suite is not run for it.
    place.write("other/kindlm.yaml", suite("touch ran", "{output: {maxLength: 9}}"));
    let done = place.run(&["run", "--test", "beta"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(!place.exists("other/ran") && done.stdout.contains("error[syntax]"), "{done:?}");
}

#[test]
fn default_gate_that_fails_is_shown() {
    let place = Place::with(&THREE.replace(
        "touch alpha-one, expect: {output: {maxLength: 9}}",
        "echo long text, expect: {output: {maxLength: 3}}",
    ));
    let done = place.run(&["run"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(
        done.stdout.contains("gate failed: ") && done.stdout.contains("(the default of `passRateMin`)"),
        "{done:?}"
    );
    // An unknown result decides nothing.
    let place = Place::with(&suite("echo hello", "{judge: [{criteria: good}]}"));
    let done = place.run(&["run"]);
    assert_eq!(done.code, Some(3), "{done:?}");
    assert!(!done.stdout.contains("gate failed"), "{done:?}");
}

#[test]
fn command_that_could_not_begin_leaves_absence_unknown() {
    for (command, note) in [
        ("no-such-program --all", "exit code 127: the shell did not find the command"),
        ("./data.txt", "exit code 126: the shell could not execute the command"),
    ] {
        let place = Place::with(&suite(command, "{output: {notContains: [sorry]}}"));
        place.write("data.txt", "");
        for arguments in [&["run"][..], &["run", "--recorded"]] {
            let done = place.run(arguments);
            assert_eq!(done.code, Some(3), "{done:?}");
            assert!(!done.stdout.contains("✓ only") && done.stdout.contains(&format!("note: {note}")), "{done:?}");
        }
        let (_, report) = place.report(&[]);
        assert_eq!(report["suites"][0]["cases"][0]["runs"][0]["notes"][0], note, "{report}");
    }
}

#[test]
fn the_json_report_keeps_its_contract() {
    let schema = fs::read_to_string(repository().join("schema/json/report.schema.json")).unwrap();
    let mut schema: Value = serde_json::from_str(&schema).unwrap();
    let definitions = schema["$defs"].as_object_mut().unwrap().values_mut();
    // Readers may meet members of a later version; what this one writes is declared.
    definitions.filter(|it| it["type"] == "object").for_each(|it| it["additionalProperties"] = false.into());
    schema["additionalProperties"] = false.into();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let check = |text: &str| {
        let report: Value = serde_json::from_str(text).unwrap();
        let errors: Vec<String> = validator.iter_errors(&report).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        report
    };
    let place = Place::copy_of("tests/specs/failing");
    check(&place.run(&["check", "--format", "json"]).stdout);
    let done = place.run(&["run", "--report", "json", "--set", "report.evidence=true"]);
    let report = check(&done.stdout);
    check(&place.run(&["run", "--recorded", "--report", "json"]).stdout);

    let case = &report["suites"][0]["cases"][0];
    let run = &case["runs"][0];
    assert_eq!(
        (&run["subject"]["name"], &run["run"], &run["recording"]),
        (&"command".into(), &0.into(), &"fresh".into())
    );
    let verdict = run["verdicts"].as_array().unwrap().iter().find(|verdict| verdict["outcome"] == "fail").unwrap();
    assert_eq!(verdict["claim"], "/tests/0/expect/toolCalls/0");
    assert_eq!(verdict["code"], "TOOL_CALL_ARGS_MISMATCH");
    assert_eq!(verdict["place"]["pointer"], "/tests/0/expect/toolCalls/0/argsMatch/order_id");
    let line = verdict["place"]["range"]["start"]["line"].as_u64().unwrap() as usize;
    assert!(place.read("kindlm.yaml").lines().nth(line).unwrap().contains("order_id"));
    assert_eq!(run["evidence"]["tool_calls"][0]["arguments"]["order_id"], "1234");
    assert!(run["evidence"].get("output_json").is_none());
    assert_eq!(run["evidence"]["commands"][0]["exit_code"], 0);
    let slow = &report["suites"][0]["cases"][3]["runs"][0];
    assert_eq!((&slow["status"], &slow["error"]["kind"]), (&"error".into(), &"timed-out".into()));
    assert_eq!(slow["evidence"]["stdout"], "Let me think about that.\n");
    assert_eq!(report["totals"]["failed"], 11);
    assert_eq!(report["totals"]["errored"], 1);
}

#[test]
fn columns_count_in_utf16_units() {
    let place = Place::with(&suite("echo hello", "{output: {contains: [\"😀é\", hello, bye]}}"));
    let (_, report) = place.report(&[]);
    let verdicts = report["suites"][0]["cases"][0]["runs"][0]["verdicts"].as_array().unwrap();
    let range = &verdicts[2]["place"]["range"];
    let line = place.read("kindlm.yaml").lines().nth(6).unwrap().to_owned();
    let units: usize = line.split("bye").next().unwrap().encode_utf16().count();
    assert_eq!((&range["start"]["line"], &range["start"]["character"]), (&6.into(), &units.into()));
    assert_eq!(range["end"]["character"], units + 3);
}

#[test]
fn reports_go_to_files_while_people_read() {
    let place = Place::copy_of("tests/specs/failing");
    fs::create_dir(place.path().join("out")).unwrap();
    let done = place.run(&["run", "--report", "junit=out/junit.xml", "--report", "json=out/report.json"]);
    assert_eq!(done.code, Some(1));
    assert!(done.stdout.contains("13 tests"), "{done:?}");
    let junit = place.read("out/junit.xml");
    assert!(junit.contains("<failure") && junit.contains("<error") && junit.contains("type=\"timed-out\""), "{junit}");
    assert!(junit.contains("failures=\"15\"") && junit.contains("errors=\"1\""), "{junit}");
    let report: Value = serde_json::from_str(&place.read("out/report.json")).unwrap();
    assert_eq!(report["speclens"], 1);
    place.write("plain.txt", "");
    place.run(&["run", "--report", "human=plain.txt"]);
    assert!(place.read("plain.txt").contains("13 tests") && !place.read("plain.txt").contains('\u{1b}'));
}

#[test]
fn a_report_that_cannot_be_written_does_not_take_the_others_with_it() {
    let place = Place::with(&suite("echo hello", "{output: {contains: [hello]}}"));
    // A device that is always full.
    let done = place.run(&["run", "--report", "json=/dev/full", "--report", "junit=junit.xml"]);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("cannot write `/dev/full`") && done.stdout.contains("1 passed"), "{done:?}");
    assert!(place.read("junit.xml").contains("<testsuites"));
}

#[test]
fn report_that_could_not_be_written_is_refused_before_anything_runs() {
    let place = Place::with(&suite("touch ran", "{output: {maxLength: 9}}"));
    place.write("file", "");
    for (report, part) in [
        ("json=nowhere/deep/report.json", "the directory `nowhere/deep` does not exist"),
        ("json=file/report.json", "the directory `file` does not exist"),
        ("junit=.", "it is a directory"),
    ] {
        let done = place.run(&["run", "--report", report]);
        assert_eq!(done.code, Some(2), "{done:?}");
        assert!(done.stderr.contains(part), "{report}: {done:?}");
    }
    let done = place.run(&["run", "--report", "json=report", "--report", "junit=report"]);
    assert!(done.code == Some(2) && done.stderr.contains("two reports would be written to `report`"), "{done:?}");
    assert!(!place.exists("ran") && !place.exists("nowhere") && !place.exists("report"));
}

#[test]
fn control_characters_and_long_output_do_no_harm() {
    let command = "printf '\\033[31mred\\000\\a'; head -c 300000 /dev/zero | tr '\\0' y";
    let place = Place::with(&suite(command, "{output: {contains: [missing]}}"));
    let done = place.run(&["run"]);
    assert_eq!(done.code, Some(1));
    assert!(!done.stdout.contains('\u{1b}') && !done.stdout.contains('\u{7}'), "{}", done.stdout.len());
    assert!(done.stdout.len() < 10_000 && done.stdout.contains("--report json"), "{}", done.stdout.len());
    let junit = place.run(&["run", "--report", "junit"]).stdout;
    assert!(!junit.contains('\u{1b}') && !junit.contains('\u{0}'));
}

#[test]
fn the_clock_can_be_stopped() {
    let place = Place::with(&suite("echo hello", "{output: {contains: [hello]}}"));
    let run = |now: &str| place.run_with(&[("SPECLENS_NOW", now)], &["run"]);
    assert_eq!(run("2026-05-14T12:00:00Z").code, Some(0));
    let recording = fs::read_to_string(&place.recordings()[0]).unwrap();
    assert!(recording.contains("\"recorded\":\"2026-05-14T12:00:00Z\""), "{recording}");
    let done = run("noon");
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("SPECLENS_NOW"), "{done:?}");
}

#[test]
fn a_claim_that_is_not_understood_never_lets_a_test_pass() {
    let expect = "{output: {contains: 5, notContains: [never]}}";
    let place = Place::with(&suite("echo hello", expect));
    assert_eq!(place.run(&["run"]).code, Some(2));
    let check = |arguments: &[&str]| {
        let (code, report) = place.report(arguments);
        assert_eq!((code, outcomes(attempt(&report, 0))), (Some(3), vec!["pass", "unknown"]), "{report}");
    };
    check(&["--allow", "wrong-type"]);
    check(&["--warn", "wrong-type"]);
    check(&["--allow", "wrong-type", "--recorded"]);
    place.write("speclens.yaml", "severity: {wrong-type: hint}\n");
    check(&[]);
    place.write("kindlm.yaml", suite("echo hello", &format!("{expect} # speclens: allow(wrong-type)")));
    check(&[]);
    place.write("kindlm.yaml", format!("{}gates: {{passRateMin: 0}}\n", suite("echo never", expect)));
    let (code, report) = place.report(&[]);
    assert_eq!(code, Some(3), "what gates allow is the failure alone: {report}");
}

#[test]
fn the_latency_of_an_output_that_was_held_open_is_not_known() {
    let held = "(sleep 20; echo late) & echo early";
    for (expect, gate, code) in [
        ("{latency: {maxMs: 60000}}", "", 3),
        ("{latency: {maxMs: 300}}", "", 1),
        ("{output: {}}", "gates: {latencyMaxMs: 60000}\n", 3),
        ("{output: {}}", "gates: {latencyMaxMs: 300}\n", 1),
    ] {
        let place = Place::with(&format!("{}{gate}", suite(held, expect)));
        let (found, report) = place.report(&[]);
        assert_eq!(found, Some(code), "{expect} {gate}: {report}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn large_outputs_at_once_leave_memory_when_they_are_recorded() {
    // All outputs have 343 MiB, and those that are judged at once take two to three times their size.
    const MAX_KIB: u64 = 400 * 1024;
    let mut text = "kindlm: 1\nproject: demo\nsuite: {name: demo}\ndefaults: {concurrency: 4}\ntests:\n".to_owned();
    for number in 0..12 {
        let command = format!("yes 0123456789abcde{number} | head -c 30000000; echo needle");
        text.push_str(&format!(
            "  - {{name: t{number}, command: '{command}', expect: {{output: {{contains: [needle]}}}}}}\n"
        ));
    }
    // The peak memory so far of the program that runs the commands.
    text.push_str(
        "  - {name: peak, command: 'sed -n s/VmHWM://p /proc/$PPID/status', expect: {output: {contains: [kB]}}}\n",
    );
    let place = Place::with(&text);
    assert_eq!(place.run(&["run"]).code, Some(0));
    let (_, report) = place.report(&["--recorded", "--test", "peak"]);
    let peak = report["suites"][0]["cases"][0]["runs"][0]["evidence"]["stdout"].as_str().unwrap().to_owned();
    let peak: u64 = peak.trim().trim_end_matches("kB").trim().parse().unwrap();
    assert!(peak < MAX_KIB, "{} MiB", peak / 1024);
}

#[test]
fn suites_of_dependencies_and_generated_files_are_not_run_outside_of_git() {
    let suite = |name: &str| {
        format!(
            "kindlm: 1\nproject: p\nsuite: {{name: s}}\ntests:\n  - name: t\n    command: echo {name} >> \"$LOG\"; echo hi\n    expect: {{output: {{contains: [hi]}}}}\n"
        )
    };
    for is_git in [false, true] {
        let place = Place::empty();
        for name in ["own", "node_modules", "own/node_modules/dependency", "target", "own/target/package"] {
            place.write(&format!("{name}/kindlm.yaml"), suite(name));
        }
        if is_git {
            fs::create_dir(place.path().join(".git")).unwrap();
        }
        let ran = |arguments: &[&str]| {
            let log = place.path().join("log");
            let done = Done::of(&place.program(arguments).env("LOG", &log).output().unwrap());
            assert_eq!(done.code, Some(0), "{done:?}");
            let lines = place.read("log").lines().count();
            fs::remove_file(log).unwrap();
            lines
        };
        // In a repository, `.gitignore` decides.
        assert_eq!(ran(&["run"]), if is_git { 5 } else { 1 });
        assert_eq!(ran(&["run", "target"]), 1, "a directory that is named is searched");
    }
}

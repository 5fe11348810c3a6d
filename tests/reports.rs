//! Failures in reports: one block for each assertion, with expected, actual and what the agent said.

use std::fs;

use crate::{
    loopback::{Answer, Loopback},
    support::{Done, Place, suite},
};

/// The reports that people read.
const KINDS: [&str; 4] = ["human", "junit", "github", "sarif"];

/// Returns a suite whose tasks two models attempt five times: one prints the wrong greeting, one sometimes the right one.
fn attempted() -> Place {
    let place = Place::empty();
    place.write(
        "cli-bench.yaml",
        "cli: sh
providers: [scripted/bad, scripted/good]
repeat: 5
tasks:
- id: greet
  intent: Print a greeting
  max_turns: 3
  assert:
  - output_contains: hello
  - verify: { run: cat a.txt, output_equals: hello }
",
    );
    place.write(
        "bad.script.yaml",
        "default: [{ run: 'echo hallo > a.txt; echo good bye' }, { say: \"I greeted\\nthe user.\" }]\n",
    );
    place.write("good.script.yaml", "default: [{ run: 'echo hello > a.txt; cat a.txt' }, { say: Done. }]\n");
    place
}

fn report(place: &Place, kind: &str) -> String {
    place.run(&["run", "--recorded", "--report", kind]).stdout
}

#[test]
fn assertion_that_fails_in_several_attempts_is_one_block() {
    let place = attempted();
    let done = place.run(&["run"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    for kind in ["output_contains", "verify"] {
        assert_eq!(done.stdout.matches(&format!("failed[{kind}]")).count(), 1, "{}", done.stdout);
    }
    let counted = "failed in 5 of 10 attempts (bad 5/5, good 0/5)";
    assert_eq!(done.stdout.matches(counted).count(), 2, "{}", done.stdout);
    assert!(done.stdout.lines().count() < 60, "{}", done.stdout);
    for kind in ["github", "sarif"] {
        let text = report(&place, kind);
        assert_eq!(text.matches(counted).count(), 2, "{text}");
    }
}

#[test]
fn every_report_has_expected_and_actual_value_and_what_the_agent_said() {
    let place = attempted();
    place.run(&["run"]);
    for kind in KINDS {
        let text = report(&place, kind);
        for part in ["expected: hello", "actual: hallo", "the agent said: I greeted the user."] {
            assert!(text.contains(part), "{kind} lacks `{part}`:\n{text}");
        }
    }
    let place = Place::with(&suite("echo 'Sorry, I cannot help'", "{output: {contains: [refund, sorry]}}"));
    place.run(&["run"]);
    for kind in KINDS {
        let text = report(&place, kind);
        assert!(text.contains("Sorry, I cannot help"), "{kind}:\n{text}");
    }
}

#[test]
fn attempts_that_fail_in_different_ways_are_one_block_with_the_most_frequent_first() {
    let script =
        "n=$(cat n 2>/dev/null | wc -l); echo >> n; if [ $n = 1 ]; then echo odd; else echo even; fi; echo $n > v";
    let place = Place::with(&format!(
        "{}    repeat: 4\ndefaults: {{concurrency: 1}}\n",
        suite(script, "{output: {contains: [none], maxLength: 3}}")
    ));
    let done = place.run(&["run"]);
    assert!(done.stdout.contains("failed in 4 of 4 attempts"), "{}", done.stdout);
    assert!(done.stdout.contains("failed in 3 of 4 attempts"), "{}", done.stdout);
    assert_eq!(done.stdout.matches("failed[").count(), 2, "{}", done.stdout);
}

#[test]
fn missing_key_is_one_error_for_all_tests() {
    let place = attempted();
    let tasks: String =
        (0..30).map(|n| format!("- id: t{n}\n  intent: x\n  max_turns: 3\n  assert: [exit_code: 0]\n")).collect();
    let text = place
        .read("cli-bench.yaml")
        .replace("scripted/bad, scripted/good", "openai/gpt-4o, anthropic/claude-haiku-4-5");
    place.write("cli-bench.yaml", text + &tasks);
    let run = |kind: &str| {
        let mut program = place.program(&["run", "--report", kind]);
        program.env_remove("OPENAI_API_KEY").env_remove("ANTHROPIC_API_KEY");
        Done::of(&program.output().unwrap())
    };
    let human = run("human");
    assert_eq!(human.code, Some(3), "{human:?}");
    assert_eq!(human.stdout.matches("error[key]").count(), 2, "{}", human.stdout);
    assert!(human.stdout.contains("error in 155 attempts") && human.stdout.contains("and 26 more"), "{}", human.stdout);
    assert_eq!(run("github").stdout.matches("::error").count(), 2);
    assert_eq!(run("sarif").stdout.matches("\"ruleId\": \"key\"").count(), 2);
    assert_eq!(run("junit").stdout.matches("<error ").count(), 310, "each test has its result");
}

#[test]
fn selected_test_is_reported_without_the_warnings_of_others() {
    for list in ["", "  "] {
        let place = Place::with(&format!(
            "kindlm: 1\nproject: demo\nsuite: {{name: demo}}\ntests:\n{list}- name: one\n{list}  command: echo a\n{list}  expect: {{output: {{contains: []}}}}\n{list}- name: two\n{list}  command: echo b\n{list}  expect: {{output: {{notContains: [], contains: [b]}}}}\n"
        ));
        let warnings = |arguments: &[&str]| {
            let done = place.run(&[&["run"], arguments].concat());
            done.stdout.matches("warning[vacuous-claim]").count()
        };
        assert_eq!((warnings(&[]), warnings(&["--test", "one"]), warnings(&["--test", "two"])), (2, 1, 1));
        assert_eq!(warnings(&["--test", "two", "--test", "one"]), 2);
        let github = place.run(&["run", "--test", "two", "--report", "github"]).stdout;
        assert!(!github.contains("line=7"), "{github}");
    }
}

const CONTRACT: &str = "version: \"1.0\"
target: {type: skill, path: skills/demo, trigger: /demo}
scenarios:
  - name: traced
    tags: [negative]
    when: {invoke: /demo}
    then:
      - {type: file_present, path: clawspec.yaml}
      - {type: llm_call_count, max: 3}
      - {type: no_span_errors}
";

/// Returns a workspace with this contract of a skill, and the gateway that runs it.
fn workspace(contract: &str) -> (Place, Loopback) {
    let place = Place::empty();
    let gateway = Loopback::acting(|_| Answer::Reply(200, r#"{"runId": "r", "status": "completed"}"#.to_owned()));
    place.write("clawspec.yaml", format!("gateway_base_url: {}\n", gateway.url()));
    place.write(
        "skills/demo/SKILL.md",
        "---\nname: demo\ndescription: Use when it is tested.\nversion: 1.0.0\npermissions: {filesystem: write, network: none}\n---\nDemo.\n",
    );
    place.write("skills/demo/tests/scenarios.yaml", contract);
    (place, gateway)
}

#[test]
fn skipped_assertions_are_counted_with_their_reasons_in_every_report() {
    for contract in [CONTRACT.to_owned(), CONTRACT.replace('\n', "\r\n")] {
        let (place, _gateway) = workspace(&contract);
        let sentence = "2 of 3 assertions skipped: no source of traces is configured (2)";
        for kind in ["human", "junit", "github", "sarif", "json"] {
            let done = place.run(&["run", "--report", kind]);
            assert_eq!(done.code, Some(0), "{kind}: {done:?}");
            assert!(done.stdout.contains(sentence), "{kind}: {}", done.stdout);
        }
    }
}

#[test]
fn test_whose_every_deciding_assertion_was_skipped_does_not_pass() {
    let given = "    given: [{type: file_present, path: clawspec.yaml}]\n    when:";
    let contract =
        CONTRACT.replace("      - {type: file_present, path: clawspec.yaml}\n", "").replace("    when:", given);
    let (place, _gateway) = workspace(&contract);
    for kind in ["human", "junit", "github", "sarif", "json"] {
        let done = place.run(&["run", "--report", kind]);
        assert_eq!(done.code, Some(3), "{kind}: {done:?}");
        assert!(done.stdout.contains("no source of traces is configured"), "{kind}: {}", done.stdout);
    }
}

#[test]
fn broken_file_of_baselines_is_an_error_of_the_comparison() {
    let contract = CONTRACT.to_owned() + "    regression: {max_duration_drift: 1.5}\n";
    let (place, _gateway) = workspace(&contract);
    let run = || place.run(&["run"]);
    assert_eq!(run().code, Some(0), "no baseline is stored");
    for (text, part) in [
        ("baselines: [\n", "baselines.yaml` is not valid"),
        ("version: '1.0'\nbaselines: {traced: {runs: many}}\n", "is not valid"),
    ] {
        place.write("skills/demo/tests/baselines.yaml", text);
        let done = run();
        assert_eq!(done.code, Some(3), "{done:?}");
        assert!(done.stdout.contains(part), "{}", done.stdout);
    }
}

#[test]
fn recording_shows_turns_tokens_costs_files_and_verdicts() {
    let place = attempted();
    place.write(
        "bad.script.yaml",
        "default: [{ run: 'echo hallo > a.txt' }, { say: I am done. }]\nusage: { input_tokens: 100, output_tokens: 10, cost_usd: 0.002 }\n",
    );
    place.run(&["run"]);
    let shown = place.run(&["recordings", "show", "greet"]).stdout;
    for part in [
        "turn 1: ",
        "turn 2: ",
        "I am done.",
        "usage: 200 input and 20 output tokens, $0.0040",
        "created: a.txt, 6 bytes",
        "fail: output contains",
        "pass: output contains",
    ] {
        assert!(shown.contains(part), "{part} is missing:\n{shown}");
    }
    let json = place.run(&["recordings", "show", "greet", "--format", "json"]).json();
    let recorded = &json["recordings"][0]["recorded"];
    assert_eq!(recorded["verdicts"][0]["type"], "output_contains", "{json}");
}

#[test]
fn commands_beyond_the_limit_of_a_reply_are_mentioned() {
    let place = attempted();
    let calls = vec!["'true'"; 40].join(", ");
    place.write("good.script.yaml", format!("default: [{{ run: [{calls}] }}]\n"));
    let text = place.run(&["run", "--model", "scripted/good"]).stdout;
    assert_eq!(text.matches("reply 1 asked for 40 commands; only the first 32 were run").count(), 1, "{text}");
}

#[test]
fn long_log_of_other_runs_is_not_stored() {
    let then = "      - {type: log_entry, path: run.log, pattern: approved by Ada}\n      - {type: log_entry, path: run.log, pattern: refused, absent: true}\n";
    let traces = "      - {type: llm_call_count, max: 3}\n      - {type: no_span_errors}\n";
    let (place, _gateway) = workspace(&CONTRACT.replace(traces, then));
    let filler = "another run says private things\n".repeat(40_000);
    place.write("run.log", format!("{filler}approved by Ada\n{filler}"));
    let done = place.run(&["run"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    for path in place.recordings().iter().chain(&place.texts()) {
        let stored = fs::read_to_string(path).unwrap();
        assert!(!stored.contains("private things") && stored.len() < 100_000, "{}", path.display());
    }
    assert_eq!(place.run(&["run", "--recorded"]).code, Some(0));
}

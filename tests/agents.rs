//! Suites of cli-bench, run by the real binary. The model is a small server on this machine that speaks the protocol of
//! OpenAI.

mod faults;
mod launchers;
pub(crate) mod provider;
mod secrets;

use std::{fs, path::Path, process::Command};

use serde_json::Value;

use crate::{
    loopback::Loopback,
    support::{Done, Place, outcomes},
};
use provider::running;

const SUITE: &str = "\
cli: sh
providers: [local/one]
scaffold: fixture
tasks:
  - id: greet
    intent: Write a greeting into out.txt
    max_turns: 4
    assert:
      - exit_code: 0
      - output_contains: hello
      - ran: cat
      - file_contains: {path: out.txt, text: hello}
      - verify: {run: cat name out.txt, output_contains: hello}
";

/// Returns a directory with the suite, a model on this machine that runs these commands, and a place for temporary
/// directories.
fn place(suite: &str, commands: &'static [&'static str]) -> Place {
    place_of(suite, &running(commands))
}

/// Returns the same with this provider.
fn place_of(suite: &str, provider: &Loopback) -> Place {
    let place = Place::empty();
    place.write("speclens.yaml", settings(provider));
    place.write("cli-bench.yaml", suite);
    place.write("fixture/name", "hello ");
    fs::create_dir(place.path().join("tmp")).unwrap();
    place
}

fn settings(provider: &Loopback) -> String {
    format!("providers: {{local: {{base_url: '{}/v1', key_env: LOCAL_KEY}}}}\n", provider.url())
}

const GREETING: &[&str] = &["cat name > out.txt; echo you >> out.txt", "cat out.txt; printf '\\033[31m'"];

/// Returns the program with a key and the temporary directory of the place, ready to be started.
fn with_key(place: &Place, arguments: &[&str]) -> Command {
    let mut program = place.program(arguments);
    program.env("LOCAL_KEY", "key-0123456789abcdef").env("TMPDIR", place.path().join("tmp"));
    program
}

fn run(place: &Place, arguments: &[&str]) -> Done {
    Done::of(&with_key(place, arguments).output().unwrap())
}

fn report(place: &Place, arguments: &[&str]) -> Value {
    let arguments = [&["run", "--report", "json", "--set", "report.evidence=true"], arguments].concat();
    serde_json::from_str(&run(place, &arguments).stdout).unwrap()
}

fn is_empty(directory: &Path) -> bool {
    fs::read_dir(directory).unwrap().next().is_none()
}

#[test]
fn task_is_done_by_a_model_judged_recorded_and_judged_again() {
    let place = place(SUITE, GREETING);
    let done = run(&place, &["run"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stdout.contains("✓ greet"), "{done:?}");
    assert!(is_empty(&place.path().join("tmp")), "the directory of the task is removed");
    let replayed = report(&place, &["--recorded"]);
    let run_entry = &replayed["suites"][0]["cases"][0]["runs"][0];
    assert_eq!((&run_entry["status"], &run_entry["recording"]), (&"pass".into(), &"replayed".into()));
    assert_eq!(run_entry["subject"]["model"], "local/one");
    let evidence = &run_entry["evidence"];
    assert_eq!(evidence["commands"][1]["stdout"], "hello you\n\u{1b}[31m");
    assert_eq!((&evidence["stopped"], &evidence["usage"]["input_tokens"]), (&"done".into(), &300.into()));
    assert_eq!(evidence["files"][0]["text"], "hello you\n");

    place.write("cli-bench.yaml", SUITE.replace("output_contains: hello\n", "output_contains: goodbye\n"));
    let done = run(&place, &["run", "--recorded"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(done.stdout.contains("goodbye") && !done.stdout.contains("\u{1b}[31m"), "{done:?}");
}

#[test]
fn models_and_help_modes_of_the_command_line_take_the_place_of_those_of_the_suite() {
    let place = place(SUITE, GREETING);
    let options = ["--model", "local/two", "--model", "local/three", "--help-mode", "discoverable"];
    let found = report(&place, &options);
    let runs = found["suites"][0]["cases"][0]["runs"].as_array().unwrap();
    let subjects: Vec<&str> = runs.iter().map(|run| run["subject"]["name"].as_str().unwrap()).collect();
    assert_eq!(subjects, ["local/two (discoverable)", "local/three (discoverable)"]);
    let replayed = run(&place, &[&["run", "--recorded"], &options[..]].concat());
    assert_eq!(replayed.code, Some(0), "{replayed:?}");
    let done = run(&place, &[&["run", "--dry-run"], &options[..]].concat());
    let dry = "attempted by local/two and local/three, at most 4 turns each, help mode discoverable";
    assert!(done.stdout.contains(dry), "{done:?}");
    assert!(done.stdout.contains("2 attempts would run, with at most 8 requests to models\n"), "{done:?}");
    let done = run(&place, &["run", "--help-mode", "all"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.stderr.contains("unknown help mode `all`; choose one of injected, discoverable, none"), "{done:?}");
}

#[test]
fn key_of_the_model_is_not_seen_by_commands_and_a_missing_one_is_an_error() {
    let place = place(SUITE, &["env; cat name > out.txt", "cat out.txt"]);
    let found = report(&place, &[]);
    let run_entry = &found["suites"][0]["cases"][0]["runs"][0];
    assert_eq!(run_entry["status"], "pass", "{found}");
    let text = run_entry["evidence"]["commands"][0]["stdout"].as_str().unwrap();
    assert!(text.contains("TERM=dumb") && !text.contains("LOCAL_KEY"), "{text}");
    let done = place.run(&["run"]);
    assert_eq!(done.code, Some(3), "{done:?}");
    assert!(done.stdout.contains("error[key]") && done.stdout.contains("LOCAL_KEY"), "{done:?}");
}

#[test]
fn thresholds_decide_the_exit_status() {
    let failing = SUITE.replace("exit_code: 0", "exit_code: 5");
    for (thresholds, code) in [
        ("", 1),
        ("thresholds: {default: 80}\n", 1),
        ("thresholds: {default: 80, behavior: informational}\n", 0),
        ("thresholds: {default: 0}\n", 0),
    ] {
        let place = place(&format!("{failing}{thresholds}"), GREETING);
        let done = run(&place, &["run"]);
        assert_eq!(done.code, Some(code), "{thresholds}: {done:?}");
    }
}

#[test]
fn scripted_model_does_a_task_without_a_key() {
    let place = place(&SUITE.replace("local/one", "scripted/good"), &[]);
    place.write(
        "good.script.yaml",
        "tasks:\n  greet:\n    - run: cat name > out.txt; echo you >> out.txt\n    - run: cat out.txt\n      \
         expect: {exit_code: 0, output_contains: hello you}\n    - say: Done.\n",
    );
    let done = place.run(&["run"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    // The text of a script is part of the test.
    place.write("good.script.yaml", place.read("good.script.yaml").replace("you", "me"));
    let done = place.run(&["run", "--recorded"]);
    assert!(done.code == Some(3) && done.stdout.contains("stale"), "{done:?}");
    let done = place.run(&["run"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    place.write("good.script.yaml", place.read("good.script.yaml").replace("hello me", "hello you"));
    let done = place.run(&["run"]);
    assert!(done.code == Some(3) && done.stdout.contains("error[script]"), "{done:?}");
}

#[test]
fn edited_scaffold_and_declared_input_make_recordings_stale() {
    let place = place(SUITE, GREETING);
    place.write("speclens.yaml", format!("{}inputs: [src]\n", place.read("speclens.yaml")));
    place.write("src/main.txt", "1");
    let (fresh, replay) = (|| run(&place, &["run"]), || run(&place, &["run", "--recorded"]));
    let check = |what: &str, change: &dyn Fn(), back: &dyn Fn()| {
        change();
        let done = replay();
        assert!(done.code == Some(3) && done.stdout.contains(&format!("stale: {what} ")), "{what}: {done:?}");
        back();
        assert_eq!(replay().code, Some(0), "{what}");
    };
    assert_eq!(fresh().code, Some(0));
    check("file `fixture/name`", &|| place.write("fixture/name", "hollo "), &|| place.write("fixture/name", "hello "));
    let mode = |mode| {
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
        fs::set_permissions(place.path().join("fixture/name"), permissions).unwrap();
    };
    check("file `fixture/name`", &|| mode(0o744), &|| mode(0o644));
    let link = place.path().join("fixture/link");
    check("file `fixture/link`", &|| std::os::unix::fs::symlink("name", &link).unwrap(), &|| {
        fs::remove_file(&link).unwrap()
    });
    check("file `src/main.txt`", &|| place.write("src/main.txt", "2"), &|| place.write("src/main.txt", "1"));
    place.write(
        "cli-bench.yaml",
        SUITE.replace("scaffold: fixture\n", "").replace("    max_turns", "    scaffold: ./fixture/\n    max_turns"),
    );
    assert_eq!(fresh().code, Some(0));
    check("file `fixture/name`", &|| place.write("fixture/name", "hollo "), &|| place.write("fixture/name", "hello "));
}

#[test]
fn agent_program_reads_what_a_model_gets() {
    let suite = SUITE.replace("cli: sh\n", "cli: sh tool\nhelp_modes: [injected]\n");
    for suite in [suite.clone(), suite.replace('\n', "\r\n")] {
        let place = place(&suite, &[]);
        place.write("fixture/tool", "echo 'Usage: tool [FILE]'");
        let (_, found) = place.report(&["--model", "exec:cat"]);
        let text = &found["suites"][0]["cases"][0]["runs"][0]["evidence"]["turns"][0]["text"];
        let expected = "CLI: sh tool\nTask: Write a greeting into out.txt\n\nFrom the help of `sh tool`:\n\n\
                        Usage: tool [FILE]";
        assert!(text.as_str().is_some_and(|text| text.starts_with(expected)), "{found}");
    }
}

#[test]
fn agent_program_that_fails_is_an_error_whatever_the_claims_find() {
    let suite = SUITE.split("    assert:").next().unwrap().to_owned() + "    assert: [{file_exists: name}]\n";
    let place = place(&suite, &[]);
    for (program, code, error) in [
        ("exec:true", 0, ""),
        ("exec:exit 7", 3, "the agent program ended with exit code 7"),
        ("exec:no-such-agent-4711", 3, "the agent program could not be started"),
    ] {
        let (found, report) = place.report(&["--model", program]);
        assert_eq!(found, Some(code), "{program}: {report}");
        assert!(report.to_string().contains(error), "{program}: {report}");
    }
}

#[test]
fn agent_program_that_runs_everything_through_its_shell_is_judged_by_all_commands() {
    let more = "      - not_ran: sudo\n      - run_count: {pattern: cat, min: 1, max: 1}\n";
    for suite in [format!("{SUITE}{more}"), format!("{SUITE}{more}").replace('\n', "\r\n")] {
        let place = place(&suite, &[]);
        let work = "read cli; sh -c 'cat name > out.txt; echo you >> out.txt; echo hello'";
        for (prefix, code, word) in [("exec:", 3, "unknown"), ("exec-complete:", 0, "pass")] {
            for recorded in [&[][..], &["--recorded"]] {
                let program = format!("{prefix}{work}");
                let (found, report) = place.report(&[&["--model", &program], recorded].concat());
                assert_eq!(found, Some(code), "{report}");
                let outcomes = outcomes(&report["suites"][0]["cases"][0]["runs"][0]);
                assert_eq!(outcomes, [word, word, "pass", "pass", "pass", word, word], "{report}");
            }
        }
        // A command that no shell ran completely fails the claims about it.
        let (found, report) = place.report(&["--model", "exec-complete:true"]);
        assert_eq!(found, Some(1), "{report}");
        assert!(report.to_string().contains("the model ran no command"), "{report}");
    }
}

#[test]
fn agent_program_does_a_task_and_what_cannot_be_seen_of_it_is_unknown() {
    let place = place(SUITE, &[]);
    let program = "exec:read cli; read task; echo \"working on: $cli, $task\"; sh -c 'cat name > out.txt; echo you >> out.txt; cat out.txt'";
    let (code, found) = place.report(&["--model", program]);
    let entry = &found["suites"][0]["cases"][0]["runs"][0];
    assert_eq!(code, Some(3), "{found}");
    assert_eq!(
        entry["evidence"]["turns"][0]["text"].as_str().unwrap().lines().next(),
        Some("working on: CLI: sh, Task: Write a greeting into out.txt")
    );
    assert_eq!(outcomes(entry), ["unknown", "unknown", "pass", "pass", "pass"], "{found}");
    assert_eq!(entry["evidence"]["files"][0]["path"], "out.txt");
}

#[test]
fn what_one_task_did_is_no_result_of_another_with_the_same_intent() {
    let place = Place::empty();
    let task =
        |id: &str| format!("  - {{id: {id}, intent: Make the thing that is asked for, assert: [{{exit_code: 0}}]}}\n");
    let head = "cli: sh\nproviders: [scripted/a]\ntasks:\n";
    place.write("a.script.yaml", "tasks:\n  one: [{run: exit 3}]\n  two: [{run: exit 0}]\n");
    place.write("cli-bench.yaml", format!("{head}{}", task("two")));
    assert_eq!(place.run(&["run"]).code, Some(0));
    place.write("cli-bench.yaml", format!("{head}{}{}", task("one"), task("two")));
    let (code, report) = place.report(&["--recorded"]);
    let cases = &report["suites"][0]["cases"];
    assert_eq!((&cases[0]["status"], &cases[1]["status"]), (&"unknown".into(), &"pass".into()), "{report}");
    assert_eq!(code, Some(3));
    // Under another name it is still the same task, as long as no other task has the old one.
    place.write("cli-bench.yaml", format!("{head}{}", task("renamed")));
    let (code, report) = place.report(&["--recorded"]);
    assert_eq!(code, Some(0), "{report}");
}

//! Tasks of cli-bench in the terminal: scripted models, dry runs, tables of results, command-line options.

use std::fs;

use serde_json::Value;

use crate::support::{Done, Place, repository};

/// The names of the assertions of cli-bench.
const ASSERTIONS: [&str; 10] = [
    "exit_code", "output_contains", "output_equals", "error_contains", "file_exists", "file_contains", "ran",
    "not_ran", "run_count", "verify",
];

/// Returns a suite with two tasks and scripts that play `good` and `bad`.
fn two_models(more: &str) -> Place {
    let place = Place::empty();
    place.write(
        "cli-bench.yaml",
        format!(
            "cli: sh\nproviders: [scripted/good, scripted/bad]\n{more}tasks:\n\
             - id: greet\n  intent: Print a greeting\n  max_turns: 3\n  assert: [{{ output_contains: hello }}]\n\
             - id: leave\n  intent: Print a farewell\n  max_turns: 3\n  assert: [{{ output_contains: bye }}]\n"
        ),
    );
    let usage = "usage: { input_tokens: 100, output_tokens: 10, cost_usd: 0.002 }\n";
    let good = "tasks:\n  greet: [{ run: echo hello }]\n  leave: [{ run: echo so }, { run: echo bye }]\n";
    place.write("good.script.yaml", format!("{good}{usage}"));
    place.write("bad.script.yaml", "default: [{ run: echo hello }]\n");
    place
}

fn with_columns(place: &Place, columns: &str, arguments: &[&str]) -> Done {
    place.run_with(&[("COLUMNS", columns)], arguments)
}

#[test]
fn example_uses_every_assertion_and_passes_with_each_script() {
    let files = ["cli-bench.yaml", "tasks/basics.yaml", "tasks/files.yaml"];
    let directory = repository().join("schema/examples/cli-bench");
    let texts: String = files.iter().map(|file| fs::read_to_string(directory.join(file)).unwrap()).collect();
    for name in ASSERTIONS {
        assert!(texts.contains(&format!("- {name}:")), "{name}");
    }
    let place = Place::copy_of("schema/examples/cli-bench");
    let done = place.run(&["run"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    for part in [
        "careful",
        "hasty",
        "show-help",
        "100%",
        "scripted/careful: pass rate 100% meets the threshold of 80%",
        "stable: ",
    ] {
        assert!(done.stdout.contains(part), "{part} is missing:\n{}", done.stdout);
    }
    assert!(!done.stdout.contains("flaky"), "{}", done.stdout);
}

#[test]
fn failing_tasks_show_what_the_agent_ran_and_why_it_ended() {
    let place = Place::copy_of("tests/specs/failing/stock");
    let done = place.run(&["run"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    for part in [
        "6 tests: 6 failed",
        "stock add Coffee 15 (ended with exit code 0)",
        "stopped after 2 turns",
        "commands of the agent",
    ] {
        assert!(done.stdout.contains(part), "{part} is missing:\n{}", done.stdout);
    }
}

#[test]
fn long_command_of_an_agent_says_how_much_of_it_is_left_out() {
    let place = two_models("");
    place.write("bad.script.yaml", format!("default: [{{ run: 'echo {}' }}, {{ run: echo b }}]\n", "a".repeat(1000)));
    let done = place.run(&["run"]);
    // 1005 characters of the command and 25 with its end, less the 400 that are shown.
    assert!(done.stdout.contains("aaa[… 630 more characters, see `--report json` for all of it …]aaa"), "{done:?}");
    assert!(done.stdout.contains("aaa (ended with exit code 0)"), "{done:?}");
}

#[test]
fn tests_by_model_are_a_table_and_on_narrow_terminals_lines() {
    let place = two_models("repeat: 2\n");
    let wide = with_columns(&place, "100", &["run"]);
    assert_eq!(wide.code, Some(1), "{wide:?}");
    let row = |name: &str| -> Vec<String> {
        let line = wide.stdout.lines().find(|line| line.starts_with(&format!("  {name} ")) && line.contains('/'));
        line.unwrap_or_default().split_whitespace().map(str::to_owned).collect()
    };
    assert_eq!(row("greet"), ["greet", "2/2", "2.0", "$0.0080", "2/2", "2.0", "-"], "{}", wide.stdout);
    assert_eq!(row("leave"), ["leave", "2/2", "3.0", "$0.0120", "0/2", "2.0", "-"], "{}", wide.stdout);
    assert!(wide.stdout.contains("always failing: leave (bad)"), "{}", wide.stdout);
    assert!(wide.stdout.contains("cost: models $0.0200"), "{}", wide.stdout);
    let narrow = with_columns(&place, "40", &["run", "--recorded"]);
    assert!(
        narrow.stdout.contains("  good: 4 of 4 attempts passed (100%), 2.5 turns per attempt, $0.0200\n"),
        "{narrow:?}"
    );
    assert!(narrow.stdout.contains("    0/2 leave\n"), "{narrow:?}");
    assert!(narrow.stdout.contains("cost when recorded: models $0.0200"), "{narrow:?}");
}

#[test]
fn repeats_stop_once_the_threshold_of_their_model_is_decided_unless_settings_say_otherwise() {
    let place = two_models("repeat: 4\nthresholds: { default: 50 }\n");
    let ways: [&[&str]; 2] = [&["run", "--jobs", "1"], &["run", "--recorded"]];
    for arguments in ways {
        let done = place.run(arguments);
        assert_eq!(done.code, Some(0), "{done:?}");
        for part in [
            "6 of 6 attempts passed, 2 not needed",
            "scripted/good: pass rate 100% meets the threshold of 50% (after 4 of 8 attempts; the others could not change this)\n",
            "scripted/bad: pass rate 57.1% meets the threshold of 50% (after 7 of 8 attempts; the other could not change this)\n",
        ] {
            assert!(done.stdout.contains(part), "{part} is missing:\n{}", done.stdout);
        }
    }
    let (code, report) = place.report(&["--recorded"]);
    let run = &report["suites"][0]["cases"][0]["runs"][3];
    assert_eq!((code, &run["status"], &run["error"]["kind"]), (Some(0), &"skip".into(), &"decided".into()));
    // The recorded attempts no longer decide anything.
    place.write("cli-bench.yaml", place.read("cli-bench.yaml").replace("contains: bye", "contains: never"));
    let (code, report) = place.report(&["--recorded"]);
    let suite = &report["suites"][0];
    assert_eq!((code, &suite["gates"][0]["status"]), (Some(1), &"unknown".into()), "{}", suite["gates"]);
    let run = &suite["cases"][0]["runs"][3];
    let message = "no recording, and the threshold of `scripted/good (none)` depends on it; run the test again";
    assert_eq!((&run["error"]["kind"], &run["error"]["message"]), (&"no-recording".into(), &message.into()));
    place.write("cli-bench.yaml", place.read("cli-bench.yaml").replace("contains: never", "contains: bye"));
    place.write("speclens.yaml", "limits: { stop_repeats: false }\n");
    assert_eq!(place.run(&["run", "--recorded"]).code, Some(3), "every attempt counts, and some were never made");
    let done = place.run(&["run"]);
    assert!(done.code == Some(0) && !done.stdout.contains("not needed"), "{done:?}");
}

#[test]
fn json_report_has_figures_by_model_and_what_happened() {
    let (code, report) = two_models("").report(&[]);
    assert_eq!(code, Some(1));
    let suite = &report["suites"][0];
    let score = |index: usize| -> (Value, Value, Value, Value) {
        let entry = &suite["subjects"][index];
        let of = |key: &str| entry[key].clone();
        (entry["subject"]["model"].clone(), of("pass_rate"), of("mean_turns"), of("cost_usd"))
    };
    assert_eq!(score(0), ("scripted/good".into(), 100.0.into(), 2.5.into(), 0.01.into()));
    assert_eq!(score(1), ("scripted/bad".into(), 50.0.into(), 2.0.into(), Value::Null));
    let run = &suite["cases"][1]["runs"][0];
    assert_eq!((&run["turns"], &run["stopped"]), (&3.into(), &"done".into()));
    let commands: Vec<&Value> =
        run["evidence"]["commands"].as_array().unwrap().iter().map(|command| &command["command"]).collect();
    assert_eq!(commands, ["echo so", "echo bye"]);
    assert_eq!(run["evidence"]["turns"].as_array().unwrap().len(), 3);
}

#[test]
fn junit_report_names_the_model_and_prints_the_commands() {
    let place = two_models("");
    place.run(&["run", "--report", "junit=junit.xml"]);
    let junit = place.read("junit.xml");
    assert!(junit.contains("leave [scripted/bad (none)]"), "{junit}");
    assert!(junit.contains("name=\"turns\" value=\"2\""), "{junit}");
    assert!(junit.contains("$ echo hello\nhello\n[ended with exit code 0]"), "{junit}");
}

#[test]
fn junit_report_says_in_which_file_and_line_a_task_and_its_failing_assertion_are() {
    for (newline, indent) in [("\n", "    "), ("\r\n", "  ")] {
        let place = Place::empty();
        place.write("cli-bench.yaml", "cli: sh\nproviders: [scripted/one]\ntasks: ['file://tasks/a.yaml']\n");
        let task = "# Tasks\n- id: leave\n  intent: Print a farewell\n  assert:\n    - exit_code: 0\n    - output_contains: bye\n";
        place.write("tasks/a.yaml", task.replace("\n    - ", &format!("\n{indent}- ")).replace('\n', newline));
        place.write("one.script.yaml", "default: [{ run: echo hello }]\n");
        place.run(&["run", "--report", "junit=junit.xml"]);
        let junit = place.read("junit.xml");
        assert!(junit.contains("file=\"tasks/a.yaml\" line=\"2\""), "{junit}");
        assert!(junit.contains("tasks/a.yaml:6: output contains &quot;bye&quot;"), "{junit}");
        fs::remove_file(place.path().join("one.script.yaml")).unwrap();
        place.run(&["run", "--model", "openai/gpt-4o", "--report", "junit=junit.xml"]);
    }
}

#[test]
fn shown_recording_has_what_each_command_printed_cut_where_it_is_long() {
    let place = two_models("");
    let long = "for n in $(seq 100); do echo line $n; done; echo careful >&2";
    place.write("good.script.yaml", format!("tasks:\n  greet: [{{ run: {long:?} }}]\n"));
    place.run(&["run"]);
    let shown = place.run(&["recordings", "show", "greet"]).stdout;
    for part in [
        "it printed:\n    line 1\n",
        "line 20\n    [… 791 bytes in total, see `--format json` …]",
        "on standard error:\n    careful",
    ] {
        assert!(shown.contains(part), "{part} is missing:\n{shown}");
    }
    assert!(!shown.contains("line 21\n"), "{shown}");
}

#[test]
fn recordings_of_models_that_the_suite_does_not_name_belong_to_their_tests() {
    let place = two_models("");
    place.write("third.script.yaml", "default: [{ run: echo hello }]\n");
    place.run(&["run", "--model", "scripted/third"]);
    assert_eq!(place.recordings().len(), 2);
    assert_eq!(place.run(&["recordings", "prune", "--stale"]).stdout, "nothing to remove\n");
    let list = place.run(&["recordings", "list"]).stdout;
    assert!(list.contains("greet (scripted/third): fresh"), "{list}");
    place.write("cli-bench.yaml", place.read("cli-bench.yaml").replace("Print a greeting", "Greet"));
    assert!(place.run(&["recordings", "list"]).stdout.contains("greet (scripted/third): stale"));
    place.write("cli-bench.yaml", place.read("cli-bench.yaml").replace("id: leave", "id: part"));
    place.run(&["recordings", "prune", "--stale"]);
    assert_eq!(place.recordings().len(), 0, "one is stale, and one of a test that is gone");
}

#[test]
fn recordings_of_models_that_the_suite_does_not_name_do_not_go_before_older_ones_of_it() {
    let place = two_models("");
    place.write("third.script.yaml", "default: [{ run: echo hello }]\n");
    place.run(&["run", "--model", "scripted/good"]);
    place.run(&["run", "--model", "scripted/third"]);
    place.write("speclens.yaml", "recordings: { max_count: 3 }\n");
    place.run(&["run", "--model", "scripted/bad", "--task", "greet"]);
    let list = place.run(&["recordings", "list"]).stdout;
    assert!(list.contains("greet (scripted/third") && list.contains("leave (scripted/third"), "{list}");
}

#[test]
fn recording_of_a_task_is_stale_when_its_program_or_a_file_that_its_commands_name_changes() {
    let place = Place::empty();
    let root = place.path().canonicalize().unwrap();
    let root = root.display();
    place.write("speclens.yaml", "{}\n");
    let tool = "#!/bin/sh\necho hello > result.txt\n";
    for name in ["bin/tool", "suite/tool"] {
        place.write(name, tool);
        let path = place.path().join(name);
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    for name in ["suite/setup.sh", "suite/own.sh", "checks/verify.sh"] {
        place.write(name, "true\n");
    }
    place.write("suite/one.script.yaml", "default: [{ run: ../tool }]\n");
    let suite = |cli: &str, newline: &str| {
        let text = format!(
            "cli: {cli}\nworkdir: work\nproviders: [scripted/one]\nenv: {{ PATH: '{root}/bin:/usr/bin:/bin' }}\n\
             setup: ['rm -f result.txt; sh ../setup.sh']\ntasks:\n- id: greet\n  intent: Greet\n  setup: [sh ../own.sh]\n\
             \x20 assert:\n  - verify: {{ run: 'sh {root}/checks/verify.sh; cat result.txt', output_equals: hello }}\n"
        );
        place.write("suite/cli-bench.yaml", text.replace('\n', newline));
    };
    for (cli, program, newline) in [("tool", "bin/tool", "\n"), ("../tool --color", "suite/tool", "\r\n")] {
        suite(cli, newline);
        let done = place.run(&["run"]);
        assert_eq!(done.code, Some(0), "{done:?}");
        for name in [program, "suite/setup.sh", "suite/own.sh", "checks/verify.sh"] {
            let before = place.read(name);
            place.write(name, format!("{before}# more\n"));
            let done = place.run(&["run", "--recorded"]);
            let file = name.rsplit('/').next().unwrap();
            assert_eq!(done.code, Some(3), "{name}: {done:?}");
            assert!(done.stdout.contains("stale: file `") && done.stdout.contains(file), "{name}: {done:?}");
            place.write(name, before);
        }
        // Tasks change the content of the `workdir`.
        place.write("suite/work/result.txt", "other");
        assert_eq!(place.run(&["run", "--recorded"]).code, Some(0), "{cli}");
    }
}

#[test]
fn version_of_the_program_is_in_reports_and_in_recordings() {
    let place = two_models("version_command: echo tool 1.2\n");
    for arguments in [&["run"][..], &["run", "--recorded"]] {
        let done = place.run(arguments);
        assert!(done.stdout.contains("version: tool 1.2\n"), "{done:?}");
    }
    let (_, report) = place.report(&["--recorded"]);
    assert_eq!(report["suites"][0]["version"], "tool 1.2");
    assert!(place.run(&["recordings", "show", "greet"]).stdout.contains("version: tool 1.2\n"));
}

#[test]
fn dry_run_says_where_models_are_asked_and_what_it_takes_at_most() {
    let place = two_models("setup: [touch ready]\nscaffold: files\n");
    place.write("files/a.txt", "a");
    place.write("speclens.yaml", "prices: { openai/priced: { input: 2.0, output: 8.0 } }\n");
    let dry = |arguments: &[&str]| {
        let mut all = vec!["run", "--dry-run"];
        all.extend(arguments);
        let mut program = place.program(&all);
        program.env_remove("OPENAI_API_KEY").env_remove("AI_GATEWAY_API_KEY").env("XAI_API_KEY", "xai-secret-value");
        Done::of(&program.output().unwrap())
    };
    let done = dry(&[]);
    assert_eq!(done.code, Some(0), "{done:?}");
    for part in [
        "greet (2 times)",
        "the model chooses the commands; they run in a new directory with a copy of `files`",
        "setup: touch ready",
        "model scripted/good: 2 attempts, at most 6 requests",
        "played from good.script.yaml, without a network",
        "costs nothing",
        "4 attempts would run, with at most 12 requests to models",
    ] {
        assert!(done.stdout.contains(part), "{part} is missing:\n{}", done.stdout);
    }
    let done = dry(&["--model", "openai/priced", "--model", "xai/unpriced", "--repeat", "2"]);
    assert_eq!(done.code, Some(0), "a missing key is an error of the run only: {done:?}");
    for part in [
        "requests go to api.openai.com with the key in OPENAI_API_KEY, which is not set, so the tests of this model would end with an error",
        "requests go to api.x.ai with the key in XAI_API_KEY, which is set",
        "cost unknown",
        "tokens and costs assume one command per turn",
        "8 attempts would run, with at most 24 requests to models",
    ] {
        assert!(done.stdout.contains(part), "{part} is missing:\n{}", done.stdout);
    }
    assert!(done.stdout.contains("input and 12,000 output tokens; at most $0."), "{}", done.stdout);
    assert!(done.stdout.contains(" (from `prices` in `speclens.yaml`)\n"), "{}", done.stdout);
    assert!(!done.text().contains("xai-secret"), "{done:?}");
    let done = dry(&["--model", "exec:my-agent --quiet"]);
    assert!(done.stdout.contains("exec:my-agent --quiet: 2 attempts; its requests are unknown"), "{done:?}");
    assert!(done.stdout.ends_with("2 attempts would run\n"), "{done:?}");
    assert!(!place.exists(".speclens"), "nothing ran");
}

#[test]
fn dry_run_counts_questions_to_judges_apart() {
    let place = Place::with(
        "kindlm: 1\nproject: demo\nsuite: {name: demo}\nproviders: {ollama: {baseUrl: \"http://127.0.0.1:9\"}}\n\
         models: [{id: small, provider: ollama, model: small, params: {temperature: 0}}]\ntests:\n  - name: only\n    \
         command: echo hello\n    repeat: 2\n    expect: {judge: [{criteria: Is it polite, minScore: 0.5}]}\n",
    );
    let done = place.run(&["run", "--dry-run"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stdout.contains("judge ollama/small: at most "), "{done:?}");
    assert!(done.stdout.contains("2 attempts would run, with at most "), "{done:?}");
    assert!(!done.stdout.contains("requests to models"), "{done:?}");
}

#[test]
fn unknown_model_of_the_command_line_is_an_error_that_names_the_nearest() {
    let place = two_models("");
    let refused = |arguments: &[&str]| {
        let mut all = vec!["run"];
        all.extend(arguments);
        let mut program = place.program(&all);
        let done = Done::of(&program.env_remove("AI_GATEWAY_API_KEY").output().unwrap());
        assert_eq!((done.code, place.exists(".speclens")), (Some(2), false), "{done:?}");
        done.stderr
    };
    assert!(refused(&["--model", "scripted/god"]).contains("did you mean `scripted/good`?"));
    assert!(refused(&["--model", "good"]).contains("did you mean `scripted/good`?"));
    assert!(refused(&["--model", "antropic/claude-sonnet-4.6"]).contains("change it to `anthropic`"));
    assert!(refused(&["--model", "scripted:none.script.yaml"]).contains("none.script.yaml"));
    assert!(refused(&["--help-mode", "inject"]).contains("injected, discoverable, none"));
    assert!(refused(&["--test", "gret"]).contains("did you mean `greet`?"));
}

#[test]
fn model_on_the_command_line_takes_the_place_of_those_of_the_suite() {
    let place = two_models("");
    let done = place.run(&["run", "--model", "scripted:good.script.yaml"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stdout.contains("2 tests: 2 passed") && !done.stdout.contains("bad"), "{done:?}");
}

#[test]
fn model_for_suites_without_tasks_is_an_error() {
    let place = Place::with(&crate::support::suite("echo hello", "{output: {contains: [hello]}}"));
    for option in [["--model", "openai/gpt-4o"], ["--help-mode", "none"]] {
        let done = place.run(&["run", option[0], option[1]]);
        assert_eq!(done.code, Some(2), "{done:?}");
        assert!(done.stderr.contains(&format!("`{}` applies only to cli-bench tasks", option[0])), "{done:?}");
    }
}

#[test]
fn control_sequences_of_programs_models_and_file_names_reach_no_report() {
    let place = Place::empty();
    let intent = "  intent: Print a greeting\n";
    place.write(
        "cli-bench.yaml",
        format!(
            "cli: sh\nproviders: [scripted/loud]\nrepeat: 2\ntasks:\n- id: loud\n{intent}  assert:\n    - output_contains: quiet\n    \
             - file_exists: out.txt\n    - ran: never\n    - error_contains: never\n- id: broken\n{intent}  \
             setup: [\"printf '\\\\033]0;setup\\\\007' >&2; exit 1\"]\n  assert: [{{ exit_code: 0 }}]\n"
        ),
    );
    place.write(
        "loud.script.yaml",
        "default:\n  - say: \"\\e]0;title\\a\\e[2Jsaid\"\n    run: |\n      printf '\\033]0;owned\\007\\033[2Jout'\n      \
         printf '\\033[31merr\\233' >&2\n      touch \"$(printf 'out\\033[2J.txt')\"\n",
    );
    let done = place.run(&["run"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    for name in ["junit", "sarif", "github", "human", "json"] {
        place.run(&["run", "--recorded", "--set", "report.evidence=true", "--report", &format!("{name}={name}.txt")]);
    }
    let reports = ["junit", "sarif", "github", "human", "json"].map(|name| place.read(&format!("{name}.txt")));
    for text in [done.stdout, done.stderr].into_iter().chain(reports) {
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{9b}']), "{text:?}");
    }
}

/// Returns a suite with a script that passes and a task file whose item has these additional lines.
fn with_task_file(more: &str) -> Place {
    let place = Place::empty();
    place.write("cli-bench.yaml", "cli: sh\nproviders: [scripted/good]\ntasks:\n- file://tasks.yaml\n");
    place.write("good.script.yaml", "default: [{ run: echo hello }]\n");
    place.write("tasks.yaml", format!("- id: greet\n  intent: Print a greeting\n{more}"));
    place
}

#[test]
fn errors_in_task_files_are_shown_in_them_and_refuse_the_suite() {
    let fine = "  assert:\n  - output_contains: hello\n";
    for (more, part) in [
        (format!("{fine}- id: greet\n  intent: Again\n{fine}"), "tasks.yaml:5"),
        ("  assert:\n  - output_contains: hello\n    exit_code: 0\n".to_owned(), "tasks.yaml:"),
        ("  assert: [{ exit_cod: 0 }]\n".to_owned(), "tasks.yaml:3"),
        ("  assert:\r\n    - 'exit_cod': 0\r\n".to_owned(), "tasks.yaml:4"),
        (format!("  max_turns: 21\n{fine}"), "tasks.yaml:3"),
    ] {
        let place = with_task_file(&more);
        for arguments in [&["run"][..], &["run", "--dry-run"]] {
            let done = place.run(arguments);
            assert_eq!((done.code, place.exists(".speclens")), (Some(2), false), "{more}: {done:?}");
            assert!(done.stdout.contains("error[") && done.stdout.contains(part), "{more}: {done:?}");
            assert!(done.stdout.contains("refused: "), "{more}: {done:?}");
        }
        let (code, report) = place.report(&[]);
        let problem = &report["suites"][0]["problems"][0];
        assert_eq!((code, &problem["severity"]), (Some(2), &"error".into()), "{report}");
        assert!(problem.to_string().contains("tasks.yaml"), "{report}");
    }
}

#[test]
fn warnings_in_task_files_are_shown_and_can_be_denied() {
    let place = with_task_file("  dificulty: easy\n  assert: [{ output_contains: hello }]\n");
    let done = place.run(&["run"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stdout.contains("warning[") && done.stdout.contains("tasks.yaml:3"), "{done:?}");
    let done = place.run(&["run", "--deny", "warnings"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.stdout.contains("error[") && done.stdout.contains("refused: "), "{done:?}");
}

#[test]
fn errors_in_scripts_that_are_played_are_shown_and_refuse_the_suite() {
    let place = two_models("");
    for script in ["tasks: {greet: [{rn: ls}]}\n", "tasks:\r\n  greet:\r\n    - 'rn': ls\r\n", "default:\n- rn: ls\n"] {
        place.write("bad.script.yaml", script);
        let check = place.run(&["check", "cli-bench.yaml"]);
        assert_eq!(check.code, Some(2), "{script}: {check:?}");
        let named = ["--model", "scripted:bad.script.yaml"];
        for more in [&[][..], &["--model", "scripted/bad"], &named] {
            let done = place.run(&[&["run"], more].concat());
            assert_eq!((done.code, place.exists(".speclens")), (Some(2), false), "{script}: {done:?}");
            for text in [&done.stdout, &check.stdout] {
                assert!(text.contains("error[unknown-key]") && text.contains("bad.script.yaml:"), "{script}: {text}");
            }
        }
    }
    let done = place.run(&["run", "--dry-run", "--model", "scripted/good"]);
    assert_eq!(done.code, Some(0), "an unused script refuses nothing: {done:?}");
}

#[test]
fn attempts_on_the_command_line_are_as_many_as_in_a_suite() {
    let place = two_models("");
    let done = place.run(&["run", "--dry-run", "--repeat", "100"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let done = place.run(&["run", "--dry-run", "--repeat", "101"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.stderr.contains("1..=100"), "{done:?}");
}

#[test]
fn gates_over_some_of_the_tests_say_so() {
    let place = two_models("thresholds: { default: 50 }\n");
    let whole = place.run(&["run"]);
    assert!(!whole.stdout.contains("(over "), "{whole:?}");
    let part = place.run(&["run", "--test", "greet"]);
    assert_eq!(part.code, Some(0), "{part:?}");
    assert!(part.stdout.contains("(over 1 of 2 tests)"), "{part:?}");
    let (_, report) = place.report(&["--failed", "--model", "scripted/bad"]);
    let message = report["suites"][0]["gates"][0]["message"].as_str().unwrap();
    assert!(message.ends_with("(over 1 of 2 tests)"), "{message}");
}

#[test]
fn attempts_without_a_result_are_not_called_failing() {
    let place = two_models("repeat: 2\n");
    let done = place.run(&["run", "--recorded"]);
    assert_eq!(done.code, Some(3), "{done:?}");
    assert!(!done.stdout.contains("always failing"), "{done:?}");
    let done = place.run(&["run"]);
    assert!(done.stdout.contains("always failing: leave (bad)"), "{done:?}");
}

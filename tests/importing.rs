//! `speclens import`: recordings of other programs become recordings of a test, or a new suite.

use expect_test::{Expect, expect};

use crate::support::{Done, Place, repository};

const SOURCES: [&str; 7] = [
    "claude-code.jsonl", "codex.jsonl", "codex-bare.jsonl", "inspect.json", "openinference.jsonl", "opik.json",
    "otlp.json",
];

/// Returns a directory with the recordings of `tests/specs/import`.
fn place() -> Place {
    Place::copy_of("tests/specs/import")
}

fn sample(name: &str) -> String {
    std::fs::read_to_string(repository().join("tests/specs/import").join(name)).unwrap()
}

#[track_caller]
fn done(place: &Place, arguments: &[&str]) -> Done {
    let done = place.run(arguments);
    assert_eq!(done.code, Some(0), "{arguments:?}: {}{}", done.stdout, done.stderr);
    done
}

/// Imports a file into a new suite, which has no problem, passes with its recordings and is audited.
#[track_caller]
fn check_new(source: &str, format: &str) -> (Place, String, String) {
    let place = place();
    let imported = done(&place, &["import", source, "--format", format]);
    let name = source.split('.').next().unwrap();
    let suite = match format {
        "clawspec" => format!("skills/{name}/tests/scenarios.yaml"),
        _ => format!("{name}.yaml"),
    };
    let checked = done(&place, &["check", "--deny", "warnings"]);
    assert!(checked.stdout.starts_with("no problems in 1 file"), "{}", checked.stdout);
    let run = done(&place, &["run", "--recorded", "--strict"]);
    assert!(!run.stdout.contains("unknown:"), "{}", run.stdout);
    let audited = done(&place, &["audit"]);
    assert!(audited.stdout.contains("faults noticed"), "{}", audited.stdout);
    let text = place.read(&suite);
    (place, text, imported.stderr)
}

/// Expects that nothing is imported or written, because of this.
#[track_caller]
fn check_refused(place: &Place, arguments: &[&str], reason: &str) {
    let refused = place.run(&[&["import"], arguments].concat());
    assert_eq!(refused.code, Some(2), "{}", refused.stdout);
    assert!(refused.stderr.contains(reason), "{}", refused.stderr);
    assert!(place.recordings().is_empty(), "{:?}", place.recordings());
    assert!(!place.exists("odd.yaml") && !place.exists("skills"));
}

#[test]
fn every_source_becomes_a_kindlm_suite_that_passes() {
    for source in SOURCES {
        let (_, suite, notes) = check_new(source, "kindlm");
        assert!(suite.contains("    expect:\n      output:\n        contains:\n"), "{suite}");
        assert!(notes.contains("noticed, before 0"), "{notes}");
    }
}

#[test]
fn every_source_becomes_a_clawspec_contract_that_passes() {
    for source in SOURCES {
        let (place, suite, _) = check_new(source, "clawspec");
        assert!(suite.contains("- type: "), "{suite}");
        assert!(place.exists(&format!("skills/{}/SKILL.md", source.split('.').next().unwrap())));
    }
}

#[test]
fn shell_commands_become_a_cli_bench_suite_that_passes() {
    let of = |source| check_new(source, "cli-bench").1;
    expect![[r#"
        # speclens: dialect=cli-bench
        cli: stock
        display_name: claude-code
        providers:
          - anthropic/claude-sonnet-4-5
        tasks:
          - id: how-many-kinds-of-tea-are
            intent: "How many kinds of tea are in stock? Write the number to tea.txt."
            max_turns: 4
            assert:
              - exit_code: 0
              - ran: "^stock list --kind tea$"
              - ran: "^stock count tea > tea\\.txt$"
              - ran: "^stock list --kind tea \\| wc -l > tea\\.txt$"
              - run_count: { pattern: ".", max: 3 }
    "#]]
    .assert_eq(&of("claude-code.jsonl"));
    let codex = of("codex.jsonl");
    assert!(codex.contains("- ran: \"^stock list --kind coffee$\""), "{codex}");
    assert!(codex.contains("- ran: \"^stock show 'Mocha beans'$\""), "{codex}");
    assert!(
        of("codex-bare.jsonl").contains("- ran: ^stock deliveries --last$\n")
            || of("codex-bare.jsonl").contains("deliveries")
    );
    check_refused(&place(), &["inspect.json", "--format", "cli-bench"], "has no shell commands");
}

#[test]
fn attempts_at_one_sample_become_one_test_with_repeats() {
    let (place, suite, notes) = check_new("inspect.json", "kindlm");
    expect![[r#"
        # speclens: dialect=kindlm
        kindlm: 1
        project: inspect
        suite:
          name: inspect
        providers:
          openai: { apiKeyEnv: OPENAI_API_KEY }
        models:
          - id: gpt-4o-mini
            provider: openai
            model: gpt-4o-mini
        prompts:
          refund-12:
            system: You are a clerk. Be brief.
            user: Refund order 12.
        tests:
          - name: refund-12
            prompt: refund-12
            repeat: 2
            tools:
              - name: lookup_order
                responses:
                  - when: { order: 12 }
                    then: "{\"total\": 5}"
              - name: refund
                responses:
                  - when: { order: 12, usd: 5 }
                    then: ok
            expect:
              output:
                contains:
                  - You get 5 dollars back.
              trajectory:
                reference:
                  - tool: lookup_order
                    args: { order: 12 }
                  - tool: refund
                    args: { order: 12, usd: 5 }
                exactMatch: true
    "#]]
    .assert_eq(&suite);
    assert!(notes.contains("`refund-12`: 2 assertions added: 17 of 19 faults noticed, before 0"), "{notes}");
    assert_eq!(place.recordings().len(), 2);
    let again = place.run(&["import", "inspect.json"]);
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.contains("`inspect.yaml` already exists, so nothing was written"), "{}", again.stderr);
    assert_eq!(place.read("inspect.yaml"), suite);
}

#[track_caller]
fn check_notes(text: &str, expected: Expect) {
    let place = Place::empty();
    place.write("odd.jsonl", text);
    expected.assert_eq(&done(&place, &["import", "odd.jsonl"]).stderr);
}

#[test]
fn unknown_parts_are_counted_and_named() {
    let mut text = sample("claude-code.jsonl");
    text.push_str("{\"type\":\"mood\",\"value\":3}\n{\"type\":\"mood\"}\n");
    text = text.replace("\"version\":\"2.1.12\"", "\"version\":\"7.0.1\"");
    check_notes(
        &text,
        expect![[r#"
            note: `odd.jsonl`: 1 conversation (Claude Code transcript)
            note: `odd.jsonl`: Claude Code has version 7.0.1; the newest known version is 2
            note: `odd.jsonl`: 1 added line of type `user` is not read
            note: `odd.jsonl`: 2 lines of type `file-history-snapshot` are not read
            note: `odd.jsonl`: 2 lines of type `mood` are not read, so it is unknown what did not happen
            note: `odd.jsonl`: 1 line of type `summary` is not read
            note: `odd.jsonl`: 1 part of type `thinking` is not read
            note: `how-many-kinds-of-tea-are`: 4 assertions added: 17 of 30 faults noticed, before 0
        "#]],
    );
}

#[test]
fn nothing_follows_from_damaged_lines_and_unread_calls() {
    let judged = |text: String, test: &str| {
        let place = Place::with(KINDLM);
        place.write("codex.jsonl", text);
        let imported = done(&place, &["import", "codex.jsonl", "--into", "kindlm.yaml", "--test", test]);
        let (_, report) = place.report(&["--recorded", "--test", test]);
        let outcomes = crate::support::outcomes(&report["suites"][0]["cases"][0]["runs"][0]).join(" ");
        (outcomes, imported.stderr)
    };
    let whole = sample("codex.jsonl");
    assert_eq!(judged(whole.clone(), "coffee").0, "pass pass");
    let (outcomes, notes) = judged(whole.replacen('\n', "\n{damaged\n", 1), "coffee");
    assert_eq!(outcomes, "unknown pass", "{notes}");
    assert!(notes.contains("1 line is not valid JSON, the first one is line 2"), "{notes}");
    let call = "{\"type\":\"response_item\",\"payload\":{\"type\":\"web_search_call\",\"id\":\"w\"}}\n";
    let at = whole.find("{\"timestamp\":\"2026-03-02T09:00:03").unwrap();
    let (outcomes, notes) = judged(format!("{}{call}{}", &whole[..at], &whole[at..]), "coffee");
    assert_eq!(outcomes, "unknown pass", "{notes}");
    assert!(notes.contains("1 item of type `web_search_call` is not read"), "{notes}");
}

#[test]
fn newer_inspect_log_is_named() {
    let place = place();
    place.write("odd.json", sample("inspect.json").replace("\"version\": 2", "\"version\": 3"));
    let imported = done(&place, &["import", "odd.json"]);
    let note = "Inspect's log has version 3; the newest known version is 2";
    assert!(imported.stderr.contains(note), "{}", imported.stderr);
}

#[test]
fn nothing_follows_from_the_missing_end_of_a_transcript() {
    let whole = sample("codex.jsonl");
    let end = whole.find("In stock are").unwrap();
    let place = Place::with(KINDLM);
    place.write("cut.jsonl", &whole[..end]);
    let imported = done(&place, &["import", "cut.jsonl", "--into", "kindlm.yaml", "--test", "coffee"]);
    assert!(imported.stderr.contains("line 15 is cut off"), "{}", imported.stderr);
    let run = place.run(&["run", "--recorded", "--test", "coffee"]);
    assert_eq!(run.code, Some(3), "{}", run.stdout);
    assert!(!run.stdout.contains("passed"), "{}", run.stdout);
}

const KINDLM: &str = r#"kindlm: 1
project: shop
suite: { name: shop }
providers: { openai: { apiKeyEnv: OPENAI_API_KEY } }
models: [{ id: codex, provider: openai, model: gpt-5-codex }]
prompts:
  coffee: { user: Say which kinds of coffee are in stock. }
tests:
  - name: coffee
    prompt: coffee
    expect:
      toolCalls: [{ tool: delete_stock, shouldNotCall: true }]
      output: { contains: [Mocha] }
  - name: command
    command: ./agent.sh
    expect:
      output: { contains: [Java] }
      toolCalls: [{ tool: shell }, { tool: local_shell, argsMatch: { command: [stock, show, Mocha beans] } }]
"#;

#[test]
fn prompt_and_command_of_a_kindlm_suite_are_judged_by_the_recording() {
    let place = Place::with(KINDLM);
    place.write("codex.jsonl", sample("codex.jsonl"));
    check_refused(&place, &["codex.jsonl", "--into", "kindlm.yaml"], "the suite has 2 tests; name one with `--test`");
    check_refused(&place, &["codex.jsonl", "--into", "kindlm.yaml", "--test", "cofee"], "did you mean `coffee`?");
    for test in ["coffee", "command"] {
        let imported = done(&place, &["import", "codex.jsonl", "--into", "kindlm.yaml", "--test", test]);
        assert_eq!(imported.stdout, format!("recorded 1 attempt of `{test}` in `kindlm.yaml`: pass\n"));
        assert!(!imported.stderr.contains("warning"), "{}", imported.stderr);
    }
    assert_eq!(place.run(&["run", "--recorded", "--strict"]).code, Some(0));
    place.write("kindlm.yaml", KINDLM.replace("in stock. }", "on sale. }"));
    assert_eq!(place.run(&["run", "--recorded", "--test", "coffee"]).code, Some(3), "stale");
}

#[test]
fn other_prompt_and_model_are_warned_about() {
    let place = Place::with(KINDLM);
    place.write("claude-code.jsonl", sample("claude-code.jsonl"));
    let imported = done(&place, &["import", "claude-code.jsonl", "--into", "kindlm.yaml", "--test", "coffee"]);
    assert!(imported.stderr.contains("warning: `coffee` sends another text than the recording"), "{}", imported.stderr);
    let model = "does not run with the model `claude-sonnet-4-5` of the recording, which is stored as that of `codex`";
    assert!(imported.stderr.contains(model), "{}", imported.stderr);
    assert_eq!(imported.stdout, "recorded 1 attempt of `coffee` in `kindlm.yaml`: fail\n");
}

#[test]
fn several_samples_and_files_are_attempts() {
    let place = Place::with(
        &KINDLM
            .replace("gpt-5-codex", "gpt-4o-mini")
            .replace("    prompt: coffee\n", "    prompt: coffee\n    repeat: 3\n"),
    );
    place.write("inspect.json", sample("inspect.json"));
    place.write("codex.jsonl", sample("codex.jsonl"));
    let files = ["import", "inspect.json", "codex.jsonl", "--into", "kindlm.yaml", "--test", "coffee"];
    let imported = done(&place, &files);
    assert_eq!(imported.stdout, "recorded 3 attempts of `coffee` in `kindlm.yaml`: fail, fail, pass\n");
    let (_, report) = place.report(&["--recorded", "--test", "coffee"]);
    assert_eq!(report["suites"][0]["cases"][0]["runs"].as_array().unwrap().len(), 3);
    place.write("kindlm.yaml", KINDLM);
    let imported = done(&place, &files);
    assert!(imported.stderr.contains("only 1 of 3 attempts of `coffee` are evaluated"), "{}", imported.stderr);
}

#[test]
fn task_of_cli_bench_takes_the_commands() {
    let place = Place::empty();
    let suite = "cli: stock\nproviders: [anthropic/claude-sonnet-4-5]\ntasks:\n  - id: tea\n    intent: Count the kinds of tea\n    assert:\n      - ran: stock list\n      - not_ran: rm\n      - exit_code: 0\n      - file_exists: tea.txt\n";
    place.write("cli-bench.yaml", suite);
    place.write("claude-code.jsonl", sample("claude-code.jsonl"));
    let imported = done(&place, &["import", "claude-code.jsonl", "--into", "cli-bench.yaml"]);
    assert_eq!(imported.stdout, "recorded 1 attempt of `tea` in `cli-bench.yaml`: unknown\n");
    let (_, report) = place.report(&["--recorded"]);
    let run = &report["suites"][0]["cases"][0]["runs"][0];
    assert_eq!(crate::support::outcomes(run), ["pass", "pass", "pass", "unknown"]);
    let commands = run["evidence"]["commands"].as_array().unwrap();
    let exits: Vec<_> = commands.iter().map(|command| command["exit_code"].as_i64()).collect();
    assert_eq!(exits, [Some(0), Some(2), Some(0)]);
}

#[test]
fn agents_beside_the_shell_may_have_run_commands() {
    let place = Place::empty();
    let suite = "cli: stock\nproviders: [anthropic/claude-sonnet-4-5]\ntasks:\n  - id: tea\n    intent: Count the kinds of tea\n    assert:\n      - ran: stock list\n      - not_ran: rm\n";
    place.write("cli-bench.yaml", suite);
    let text = sample("claude-code.jsonl").replace(
        "\"name\":\"Bash\",\"input\":{\"command\":\"stock count",
        "\"name\":\"Task\",\"input\":{\"command\":\"stock count",
    );
    place.write("task.jsonl", text);
    done(&place, &["import", "task.jsonl", "--into", "cli-bench.yaml"]);
    let (_, report) = place.report(&["--recorded"]);
    assert_eq!(crate::support::outcomes(&report["suites"][0]["cases"][0]["runs"][0]), ["pass", "unknown"]);
}

#[test]
fn scenario_of_clawspec_takes_the_trace() {
    let place = place();
    place.write("skills/clerk/SKILL.md", "# clerk\n");
    let contract = "skills/clerk/tests/scenarios.yaml";
    let head = "version: \"1.0\"\ntarget: { type: skill, path: skills/clerk, trigger: /clerk }\nscenarios:\n";
    let scenario = "  - name: finds\n    tags: [negative]\n    when: { invoke: \"Where is order 42?\" }\n    then:\n      - { type: tool_sequence, mode: strict, expected: [lookup_order] }\n      - { type: llm_call_count, min: 2, max: 2 }\n      - { type: model_used, expected: gpt-4o }\n";
    place.write(contract, format!("{head}{scenario}"));
    let imported = done(&place, &["import", "otlp.json", "--into", contract]);
    assert_eq!(imported.stdout, format!("recorded 1 attempt of `finds` in `{contract}`: pass\n"));
    assert_eq!(done(&place, &["run", "--recorded", contract]).code, Some(0));
    let file = "skills/clerk/tests/handoffs/a-to-b.yaml";
    place.write(file, "version: \"1.0\"\nhandoff: { from: a, to: b, mechanism: sessions_spawn }\n");
    let refused = place.run(&["import", "otlp.json", "--into", file]);
    assert_eq!(refused.code, Some(2), "{}", refused.stdout);
}

#[test]
fn secrets_are_in_no_suite_and_no_recording() {
    // Put together here, so that no scanner takes this file for a leak.
    let (known, drawn) = ("abcd1234wxyz", ["sk-ant-", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hL"].concat());
    let text = sample("codex.jsonl")
        .replace("Say which kinds", &format!("With the token {known}, say which kinds"))
        .replace("Mocha,3", &format!("Mocha,3 {drawn}"))
        .replace("In stock are Mocha", &format!("The key is {drawn}. In stock are Mocha"));
    for format in ["kindlm", "cli-bench", "clawspec"] {
        let place = Place::empty();
        place.write("odd.jsonl", &text);
        let imported = place.run_with(&[("API_TOKEN", known)], &["import", "odd.jsonl", "--format", format]);
        assert_eq!(imported.code, Some(0), "{}", imported.stderr);
        let suite = if format == "clawspec" { "skills/odd/tests/scenarios.yaml" } else { "odd.yaml" };
        let files =
            place.recordings().into_iter().chain(place.texts()).map(|path| std::fs::read_to_string(path).unwrap());
        for text in files.chain([place.read(suite), imported.stdout, imported.stderr]) {
            assert!(!text.contains(known) && !text.contains(&drawn), "{text}");
        }
        let run = place.run_with(&[("API_TOKEN", known)], &["run", "--recorded", suite]);
        assert_eq!(run.code, Some(0), "{}", run.stdout);
    }
}

#[test]
fn secrets_in_ids_types_and_names_are_in_no_message_and_no_file() {
    let (known, drawn) = ("abcd1234wxyz", ["sk-ant-", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hL"].concat());
    for secret in [known, &drawn] {
        let line = |kind: &str, rest: &str| format!("{{\"type\":\"{kind}\",\"sessionId\":\"s\"{rest}}}\n");
        let message = |role: &str, content: &str| {
            line(
                role,
                &format!(
                    ",\"message\":{{\"id\":\"{}\",\"role\":\"{role}\",\"model\":\"m-{secret}\",\"content\":{content}}}",
                    content.len()
                ),
            )
        };
        let call = format!(
            "[{{\"type\":\"tool_use\",\"id\":\"call-{secret}\",\"name\":\"look-{secret}\",\"input\":{{}}}},{{\"type\":\"part-{secret}\"}}]"
        );
        let result = format!("[{{\"type\":\"tool_result\",\"tool_use_id\":\"call-{secret}\",\"content\":\"r\"}}]");
        let text = [message("user", "\"do it\""), message("assistant", &call), message("user", &result)].concat()
            + &line(&format!("event-{secret}"), "")
            + &message("assistant", "\"done\"");
        let place = Place::with(KINDLM);
        place.write(
            "cli-bench.yaml",
            "cli: sh\nproviders: [anthropic/x]\ntasks: [{ id: t, intent: do it, assert: [{ ran: ls }] }]\n",
        );
        place.write("odd.jsonl", text);
        place.write("bad.json", format!("{{\"resourceSpans\": \"{secret}\"}}"));
        for arguments in [
            &["import", "odd.jsonl", "--into", "kindlm.yaml", "--test", "coffee"][..],
            &["import", "odd.jsonl", "--into", "cli-bench.yaml"],
            &["import", "odd.jsonl"],
            &["import", "bad.json"],
            &["run", "--recorded", "--report", "json", "--set", "report.evidence=true"],
        ] {
            let done = place.run_with(&[("API_TOKEN", known)], arguments);
            assert!(!format!("{}{}", done.stdout, done.stderr).contains(secret), "{}{}", done.stdout, done.stderr);
        }
        let files =
            place.recordings().into_iter().chain(place.texts()).map(|path| std::fs::read_to_string(path).unwrap());
        let files: Vec<String> = files.chain([place.read("odd.yaml")]).collect();
        assert!(files.len() > 2 && files.iter().all(|text| !text.contains(secret)), "{files:?}");
    }
}

#[test]
fn same_recording_twice_is_no_second_attempt() {
    let place = Place::with(KINDLM);
    place.write("a.jsonl", sample("codex.jsonl"));
    place.write("b.jsonl", sample("codex.jsonl"));
    let files = ["a.jsonl", "b.jsonl", "--into", "kindlm.yaml", "--test", "coffee"];
    check_refused(&place, &files, "`a.jsonl` and `b.jsonl` are the same recording, which is one attempt; name it once");
}

#[test]
fn placeholder_that_clawspec_would_fill_is_changed_and_warned_about() {
    let place = Place::empty();
    place.write("odd.jsonl", sample("codex.jsonl").replace("Say which kinds", "Fill {{name}} and say which kinds"));
    let imported = done(&place, &["import", "odd.jsonl", "--format", "clawspec"]);
    assert!(place.read("skills/odd/tests/scenarios.yaml").contains("Fill { {name}} and say"));
    let warning = "sends another text than the recording, in which the user wrote `Fill {{name}} and say";
    assert!(imported.stderr.contains(warning), "{}", imported.stderr);
}

#[test]
fn failed_import_leaves_nothing_behind() {
    // A scenario without an assertion is not valid, and nothing follows from a session that failed.
    let place = place();
    let error = "{\"type\":\"event_msg\",\"payload\":{\"type\":\"error\",\"message\":\"quota\"}}\n";
    place.write("odd.jsonl", sample("codex.jsonl") + error);
    let arguments = ["odd.jsonl", "--format", "clawspec", "--output", "new/skills/odd/tests/scenarios.yaml"];
    check_refused(&place, &arguments, "no valid suite can be written for this recording");
    assert!(!place.exists("new"));
}

#[cfg(unix)]
#[test]
fn interrupted_import_leaves_nothing_behind() {
    let call = |id: usize| {
        format!(
            "{{\"type\":\"response_item\",\"payload\":{{\"type\":\"function_call\",\"name\":\"shell\",\"call_id\":\"c{id}\",\"arguments\":\"{{\\\"command\\\":[\\\"echo\\\",\\\"{id}\\\"]}}\"}}}}\n{{\"type\":\"response_item\",\"payload\":{{\"type\":\"function_call_output\",\"call_id\":\"c{id}\",\"output\":\"{id}\"}}}}\n"
        )
    };
    let whole = sample("codex.jsonl");
    let at = whole.find("{\"timestamp\":\"2026-03-02T09:00:03").unwrap();
    let calls: String = (0..2_000).map(call).collect();
    for signal in ["INT", "TERM"] {
        let place = Place::empty();
        place.write("long.jsonl", format!("{}{calls}{}", &whole[..at], &whole[at..]));
        let mut started = place.start(&["import", "long.jsonl", "--format", "clawspec"]);
        let suite = "skills/long/SKILL.md";
        while !place.exists(suite) && started.try_wait().unwrap().is_none() {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        let id = started.id().to_string();
        assert!(std::process::Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
        assert_eq!(started.wait().unwrap().code(), Some(130), "{signal}");
        let left: Vec<_> = std::fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["long.jsonl"], "{signal}");
    }
}

#[test]
fn foreign_damaged_and_large_files_are_refused_whole() {
    let place = Place::empty();
    place.write("odd.json", "{\"hello\": 1}");
    check_refused(&place, &["odd.json"], "cannot import `odd.json`: it is not a known recording; expected spans");
    place.write("odd.json", "{\"hello\": ");
    check_refused(&place, &["odd.json"], "not valid JSON, line 1");
    place.write("odd.json", "\n");
    check_refused(&place, &["odd.json"], "it is empty");
    place.write("odd.json", b"{\"type\":\"user\"}\n\xff\xfe");
    check_refused(&place, &["odd.json"], "`odd.json` is not valid UTF-8 (line 2)");
    place.write("odd.json", b"PK\x03\x04rest");
    check_refused(&place, &["odd.json"], "convert it with `inspect log convert odd.json --to json --output-dir DIR`");
    place.write("odd.json", sample("codex.jsonl").lines().take(3).collect::<Vec<_>>().join("\n"));
    check_refused(&place, &["odd.json"], "it has no reply of a model (Codex rollout)");
    check_refused(&place, &["none.json"], "cannot read `none.json`");
    place.write("speclens.yaml", "limits: { recording_mib: 1 }\n");
    place.write("odd.json", sample("codex.jsonl") + &" ".repeat(1024 * 1024));
    check_refused(&place, &["odd.json"], "`odd.json` is larger than 1 MiB; raise `limits.recording_mib`");
    place.write("speclens.yaml", "recordings: { enabled: false }\n");
    check_refused(&place, &["odd.json"], "`speclens.yaml` turns recordings off");
}

#[test]
fn braces_in_a_text_are_no_placeholders() {
    let place = Place::empty();
    place.write("odd.jsonl", sample("codex.jsonl").replace("Say which kinds", "Fill {{name}} and say\\nwhich kinds"));
    done(&place, &["import", "odd.jsonl", "--output", "suites/kindlm.yaml"]);
    let suite = place.read("suites/kindlm.yaml");
    let text =
        "    vars:\n      user: |-\n        Fill {{name}} and say\n        which kinds of coffee are in stock.\n";
    assert!(suite.contains("    user: \"{{user}}\"\n") && suite.contains(text), "{suite}");
    done(&place, &["check", "--deny", "warnings"]);
    done(&place, &["run", "--recorded", "--strict"]);
}

#[test]
fn stream_of_claude_code_has_a_cost_and_no_text_of_the_user() {
    let place = Place::with(&KINDLM.replace("gpt-5-codex", "claude-sonnet-4-5"));
    let said = "{\"type\":\"assistant\",\"session_id\":\"s\",\"parent_tool_use_id\":null,\"message\":{\"id\":\"m\",\"model\":\"claude-sonnet-4-5\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Mocha\"}]}}";
    let end = "{\"type\":\"result\",\"subtype\":\"success\",\"session_id\":\"s\",\"duration_ms\":1500,\"total_cost_usd\":0.25,\"usage\":{\"input_tokens\":9,\"output_tokens\":1}}";
    place.write("stream.jsonl", format!("{said}\n{end}\n"));
    check_refused(&place, &["stream.jsonl"], "the recording does not show what the user asked");
    let imported = done(&place, &["import", "stream.jsonl", "--into", "kindlm.yaml", "--test", "coffee"]);
    assert_eq!(imported.stdout, "recorded 1 attempt of `coffee` in `kindlm.yaml`: pass\n");
    let (_, report) = place.report(&["--recorded", "--test", "coffee"]);
    let evidence = &report["suites"][0]["cases"][0]["runs"][0]["evidence"];
    assert_eq!(evidence["usage"]["cost_usd"], 0.25);
}

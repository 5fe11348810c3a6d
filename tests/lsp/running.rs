//! Runs that continue during other activity in the editor.

use serde_json::{Value, json};

use crate::{
    client::{Client, at},
    lens_titles, run, sources,
};

/// `waits` ends when the file `go` exists.
pub(crate) const WAITING: &str = "kindlm: 1
project: demo
suite:
  name: demo
tests:
  - name: waits
    command: until [ -e go ]; do sleep 0.02; done; echo no
    expect:
      output:
        contains: [sorry]
";

/// Requests lenses until they match.
pub(crate) fn lenses_until(client: &mut Client, what: &str, fits: impl Fn(&[String]) -> bool) -> Vec<String> {
    lenses_of_until(client, "kindlm.yaml", what, fits)
}

/// Requests the lenses of a file until they match.
pub(crate) fn lenses_of_until(
    client: &mut Client,
    name: &str,
    what: &str,
    fits: impl Fn(&[String]) -> bool,
) -> Vec<String> {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(30);
    loop {
        let titles = lens_titles(client, name);
        if fits(&titles) {
            return titles;
        }
        assert!(std::time::Instant::now() < end, "{what}: {titles:?}");
    }
}

pub(crate) fn running(titles: &[String]) -> usize {
    titles.iter().filter(|title| title.contains("running")).count()
}

#[cfg(target_os = "linux")]
#[test]
fn run_that_cannot_have_its_threads_is_refused_with_the_reason() {
    let mut client = Client::opened(&[("kindlm.yaml", FAILING)]);
    client.diagnostics("kindlm.yaml", |_| true);
    client.limit_address_space(Some(48 * 1024 * 1024));
    let answer = client.run_test("kindlm.yaml", "open");
    let reason = answer["result"]["reason"].as_str().unwrap_or_default();
    assert!(reason.starts_with("cannot start a thread; raise the limit"), "{answer}");
    client.limit_address_space(None);
    run(&mut client, "open");
    lenses_until(&mut client, "it passed", |titles| titles.iter().any(|title| title.starts_with('✓')));
}

#[test]
fn client_without_lenses_gets_the_result_as_a_message_and_the_transcript() {
    let capabilities = json!({ "window": { "showDocument": { "support": true } } });
    let mut client = Client::opened_as(&[("kindlm.yaml", FAILING)], capabilities, json!({ "trusted": true }));
    for (test, kind, expected) in [("open", 3, "speclens: `open` passed"), ("talks", 2, "speclens: `talks` failed")] {
        run(&mut client, test);
        let message = client.notification("window/showMessage", |_| true);
        assert_eq!((message["type"].as_i64(), message["message"].as_str()), (Some(kind), Some(expected)));
    }
    client.run_file("kindlm.yaml");
    let message = client.notification("window/showMessage", |_| true);
    assert_eq!(message["message"], "speclens: 1 of 3 passed");

    // The message may come before the analysis with the results.
    let mut offered = || {
        let actions = client.actions("kindlm.yaml", &at(6, 4), None);
        actions.into_iter().find(|action| action["title"] == "Show transcript of `open`")
    };
    let action = std::iter::repeat_with(&mut offered).flatten().next().unwrap();
    let command = &action["command"];
    client.execute(command["command"].as_str().unwrap(), command["arguments"].clone());
    let shown = client.wait("the document", |message| message["method"] == "window/showDocument");
    let path = url::Url::parse(shown["params"]["uri"].as_str().unwrap()).unwrap().to_file_path().unwrap();
    assert!(std::fs::read_to_string(path).unwrap().starts_with("test: open\n"));
}

#[test]
fn client_with_lenses_is_not_sent_what_they_show() {
    let mut client = Client::spawn(&[("kindlm.yaml", FAILING)]);
    client.initialize(json!({ "textDocument": { "codeLens": {} } }), json!({ "trusted": true }));
    client.open("kindlm.yaml");
    run(&mut client, "open");
    lenses_until(&mut client, "it passed", |titles| titles.iter().any(|title| title.starts_with('✓')));
    client.execute("speclens.showStatus", json!([]));
    assert!(!client.has_waiting("window/showMessage"));
}

/// Commands that fail, and one with much output.
const FAILING: &str = "kindlm: 1
project: demo
suite: {name: demo}
tests:
  - {name: missing, command: sh ./agent.sh, expect: {output: {contains: [hi]}}}
  - {name: talks, command: seq -f line=%g 1 3000, expect: {output: {contains: ['line=3001']}}}
  - name: open
    command: echo hi
    expect:
      output:
        contains: [hi]
";

#[test]
fn failing_command_shows_how_it_ended_and_what_it_complained_about() {
    let script = "echo one >&2; echo two >&2; echo three >&2; echo four >&2; exit 7\n";
    let mut client = Client::opened(&[("kindlm.yaml", FAILING), ("agent.sh", script)]);
    run(&mut client, "missing");
    let found = client.diagnostics("kindlm.yaml", |found| !sources(found, "speclens run").is_empty());
    let expected = "`missing`: Expected output to contain \"hi\"\nthe command ended with exit code 7\n\
                    standard error: two\nstandard error: three\nstandard error: four";
    assert_eq!(sources(&found, "speclens run"), [expected]);
}

#[test]
fn script_that_does_not_exist_is_a_problem_before_the_run() {
    for command in ["./agnt.sh --all", "\"./agnt.sh --all\"", "|\n      ./agnt.sh --all"] {
        let suite = format!(
            "kindlm: 1\nproject: p\nsuite: {{name: s}}\ntests:\n  - name: a\n    command: {command}\n    expect: {{output: {{contains: [hi]}}}}\n"
        );
        let mut client = Client::opened(&[("kindlm.yaml", &suite), ("agent.sh", "echo hi\n")]);
        let found =
            client.diagnostics("kindlm.yaml", |found| found.iter().any(|found| found["code"] == "missing-file"));
        let missing = found.iter().find(|found| found["code"] == "missing-file").unwrap();
        assert_eq!(missing["severity"], 2);
        assert!(missing["message"].as_str().unwrap().starts_with("`./agnt.sh` does not exist\n"), "{missing}");
        let actions = client.actions("kindlm.yaml", &missing["range"], None);
        assert_eq!(actions[0]["title"], "change it to `./agent.sh`");
        let edit = &actions[0]["edit"]["changes"][client.uri("kindlm.yaml")][0];
        assert_eq!((&edit["newText"], &edit["range"]), (&json!("./agent.sh"), &missing["range"]));
    }
}

#[test]
fn long_output_leaves_the_useful_line_first() {
    let mut client = Client::opened(&[("kindlm.yaml", FAILING)]);
    run(&mut client, "talks");
    let found = client.diagnostics("kindlm.yaml", |found| !sources(found, "speclens run").is_empty());
    let message = sources(&found, "speclens run").concat();
    let lines: Vec<&str> = message.lines().collect();
    assert!(lines.len() <= 7, "{message}");
    assert!(lines[0].starts_with("`talks`: Expected output to contain"), "{message}");
    assert!(lines[1].contains("closest"), "{message}");
    assert!(lines[2].starts_with("actual: line=1"), "{message}");
}

#[test]
fn part_that_is_not_understood_is_reported_once_and_the_result_is_unknown() {
    let mut client = Client::start(&[("kindlm.yaml", FAILING)]);
    let mut text = client.open("kindlm.yaml");
    run(&mut client, "open");
    lenses_until(&mut client, "it passed", |titles| titles.iter().any(|title| title.starts_with('✓')));
    client.replace("kindlm.yaml", &mut text, "        contains: [hi]\n", "        contains: [\"hi\"\n", 2);
    let found = client.diagnostics_as_written("kindlm.yaml");
    assert!(sources(&found, "speclens run").is_empty(), "{found:?}");
    assert_eq!(found.iter().filter(|one| one["severity"] == 1).count(), 1, "{found:?}");
    lenses_until(&mut client, "it is unknown", |titles| {
        titles.iter().any(|title| title.starts_with("! has errors"))
            && !titles.iter().any(|title| title.starts_with('✓'))
    });
}

#[test]
fn skipped_test_has_no_result_though_another_one_runs_its_command() {
    let suite = "kindlm: 1
project: demo
suite: {name: demo}
tests:
  - {name: off, skip: true, command: echo one, expect: {output: {contains: [nothing]}}}
  - {name: on, command: echo one, expect: {output: {contains: [one]}}}
";
    let mut client = Client::opened(&[("kindlm.yaml", suite)]);
    run(&mut client, "on");
    let titles = lenses_until(&mut client, "it passed", |titles| titles.iter().any(|title| title.starts_with('✓')));
    assert_eq!(titles[..3], ["▶ Run file", "1 passed, 1 skipped", "○ skipped"]);
    let found = client.diagnostics("kindlm.yaml", |_| true);
    assert!(sources(&found, "speclens run").is_empty(), "{found:?}");
}

#[test]
fn a_file_that_is_opened_again_shows_the_run_that_goes_on() {
    let mut client = Client::opened(&[("kindlm.yaml", WAITING), ("speclens.yaml", "recordings: {enabled: false}\n")]);
    run(&mut client, "waits");
    client.close("kindlm.yaml");
    client.open("kindlm.yaml");
    lenses_until(&mut client, "it runs", |titles| running(titles) == 1);
    std::fs::write(client.path("go"), "").unwrap();
    client.diagnostics("kindlm.yaml", |found| !sources(found, "speclens run").is_empty());
    lenses_until(&mut client, "it failed", |titles| titles.contains(&"✗ 1 assertion failed".to_owned()));
}

#[test]
fn switching_lenses_off_is_shown_at_once() {
    let mut client = Client::spawn(&[("kindlm.yaml", WAITING)]);
    client.initialize(json!({ "workspace": { "codeLens": { "refreshSupport": true } } }), json!({}));
    client.open("kindlm.yaml");
    assert!(!lens_titles(&mut client, "kindlm.yaml").is_empty());
    let off = json!({ "settings": { "speclens": { "codeLens": { "enable": false } } } });
    client.notify("workspace/didChangeConfiguration", off);
    client.wait("the request to ask again", |message| message["method"] == "workspace/codeLens/refresh");
    assert!(lens_titles(&mut client, "kindlm.yaml").is_empty());
}

#[test]
fn a_result_that_comes_while_typing_refreshes_the_lenses() {
    let others: String =
        (0..1500).map(|number| format!("  - {{name: t{number}, command: x, expect: {{}}}}\n")).collect();
    let mut client = Client::spawn(&[("kindlm.yaml", &format!("{WAITING}{others}"))]);
    let capabilities = json!({ "workspace": { "codeLens": { "refreshSupport": true } } });
    client.initialize(capabilities, json!({ "trusted": true }));
    let mut text = client.open("kindlm.yaml");
    run(&mut client, "waits");
    lenses_until(&mut client, "it runs", |titles| running(titles) == 1);
    client.replace("kindlm.yaml", &mut text, "[sorry]", "[sorry ]", 2);
    client.diagnostics("kindlm.yaml", |_| true);
    // Discards messages about its beginning.
    client.forget();
    std::fs::write(client.path("go"), "").unwrap();
    // Typed so fast that each check of the text is outdated.
    for version in (3..).step_by(200) {
        for version in version..version + 200 {
            let (old, new) = if version % 2 == 0 { ("[sorry]", "[sorry ]") } else { ("[sorry ]", "[sorry]") };
            client.replace("kindlm.yaml", &mut text, old, new, version);
        }
        if lens_titles(&mut client, "kindlm.yaml").iter().any(|title| title.contains("failed")) {
            break;
        }
    }
    client.wait("a refresh when it ends", |message| message["method"] == "workspace/codeLens/refresh");
}

#[test]
fn the_lens_of_a_test_cancels_the_runs_of_that_test_only() {
    let suite =
        format!("{WAITING}  - name: other\n    command: until [ -e go ]; do sleep 0.02; done\n    expect: {{}}\n");
    let mut client = Client::opened(&[("kindlm.yaml", &suite), ("b/kindlm.yaml", &suite)]);
    client.open("b/kindlm.yaml");
    run(&mut client, "waits");
    run(&mut client, "other");
    client.run_test("b/kindlm.yaml", "waits");
    lenses_until(&mut client, "both run", |titles| running(titles) == 2);

    let lenses = client.about("kindlm.yaml", "codeLens");
    let cancel =
        lenses.as_array().unwrap().iter().find(|lens| lens["command"]["arguments"][0]["test"] == "waits").unwrap();
    assert_eq!(cancel["command"]["command"], "speclens.cancel");
    let answer = client.execute("speclens.cancel", cancel["command"]["arguments"].clone());
    assert_eq!(answer["result"]["cancelled"], 1, "{cancel}");
    lenses_until(&mut client, "one was cancelled", |titles| running(titles) == 1);
    let answer = client.execute("speclens.cancel", json!([]));
    assert_eq!(answer["result"]["cancelled"], 2, "without a choice it means every run");
}

#[test]
fn second_run_of_a_test_under_way_is_refused() {
    let suite = WAITING.replace(
        "tests:\n",
        "defaults: {concurrency: 1}\ntests:\n  - name: first\n    command: sleep 600\n    expect: {}\n",
    );
    let mut client = Client::opened(&[("kindlm.yaml", &suite)]);
    run(&mut client, "waits");
    lenses_until(&mut client, "it runs", |titles| running(titles) == 1);
    let again = client.run_test("kindlm.yaml", "waits");
    assert_eq!(again["result"]["run"], Value::Null, "{again}");
    let message = client.notification("window/showMessage", |_| true);
    assert_eq!(message["message"], "speclens: `waits` is already running; stop it to run it again");

    // A run of the file omits running tests, and a second one has nothing to do.
    let whole = client.run_file("kindlm.yaml");
    lenses_until(&mut client, "both run", |titles| running(titles) == 2);
    let again = client.run_file("kindlm.yaml");
    assert_eq!(again["result"]["run"], Value::Null, "{again}");
    client.notification("window/showMessage", |message| message["message"].as_str().unwrap().contains("already"));

    client.execute("speclens.cancel", json!([{ "run": whole["result"]["run"] }]));
    lenses_until(&mut client, "the first was cancelled", |titles| running(titles) == 1);
    std::fs::write(client.path("go"), "").unwrap();
    lenses_until(&mut client, "it ended", |titles| running(titles) == 0);
    // Now it can be run again.
    run(&mut client, "waits");
}

#[test]
fn second_run_of_the_file_is_refused_though_some_of_its_tests_have_ended() {
    let suite = WAITING.replace(
        "tests:\n",
        "defaults: {concurrency: 1}\ntests:\n  - {name: first, command: echo x >> count, expect: {}}\n",
    );
    let mut client = Client::opened(&[("kindlm.yaml", &suite)]);
    client.run_file("kindlm.yaml");
    lenses_until(&mut client, "the second test runs", |titles| {
        running(titles) > 0 && titles.iter().any(|title| title.starts_with('✓'))
    });
    let again = client.run_file("kindlm.yaml");
    assert_eq!(again["result"]["run"], Value::Null, "{again}");
    let message = client.notification("window/showMessage", |_| true);
    assert!(message["message"].as_str().unwrap().contains("already running"), "{message}");
    // The one that has ended can be run alone.
    run(&mut client, "first");
    client.execute("speclens.cancel", json!([]));
    lenses_until(&mut client, "the end", |titles| running(titles) == 0);
}

#[test]
fn test_under_way_offers_stop_and_leaves_a_trace_when_stopped() {
    // A file that is matched by a pattern is not an input of the command: the two runs have the same command.
    let suite = WAITING.replace("until [ -e go ]", "echo sorry; until ls | grep -q '^g.$'");
    let mut client = Client::opened(&[("kindlm.yaml", &suite), ("go", "")]);
    run(&mut client, "waits");
    lenses_until(&mut client, "it passed", |titles| titles.iter().any(|title| title.starts_with('✓')));
    std::fs::remove_file(client.path("go")).unwrap();
    run(&mut client, "waits");
    let titles = lenses_until(&mut client, "it runs", |titles| running(titles) == 1);
    assert_eq!(titles, ["■ Stop", "… running"]);
    client.press("kindlm.yaml", "■ Stop");
    let titles = lenses_until(&mut client, "it ended", |titles| running(titles) == 0);
    assert_eq!(titles, ["▶ Run", "⊘ cancelled"]);
    let text = client.transcript("kindlm.yaml", "waits");
    assert!(text.starts_with("the last run was cancelled; this is the one before it\n"), "{text}");
}

#[test]
fn run_of_a_test_that_was_renamed_or_removed_meanwhile_can_be_stopped() {
    let removed = WAITING.lines().take_while(|line| !line.contains("name: waits")).collect::<Vec<_>>().join("\r\n");
    let removed = format!("{removed}\r\n- name: other\r\n  command: 'true'\r\n  expect: {{}}\r\n");
    for text in [WAITING.replace("name: waits", "name: renamed"), removed] {
        let mut client = Client::opened(&[("kindlm.yaml", WAITING)]);
        run(&mut client, "waits");
        lenses_until(&mut client, "it runs", |titles| running(titles) == 1);
        client.change("kindlm.yaml", json!({ "text": text }));
        lenses_until(&mut client, "the file offers to stop it", |titles| titles == ["■ Stop", "▶ Run"]);
        client.press("kindlm.yaml", "■ Stop");
        let stopped = |titles: &[String]| titles == ["▶ Run"];
        lenses_until(&mut client, "it ended", stopped);
    }
}

#[test]
fn test_that_got_an_error_while_trust_was_asked_for_is_not_run() {
    let mut client = Client::spawn(&[("kindlm.yaml", WAITING)]);
    client.initialize(json!({}), json!({}));
    let mut text = client.open("kindlm.yaml");
    client.run_test("kindlm.yaml", "waits");
    let question = client.question();
    client.replace("kindlm.yaml", &mut text, "contains: [sorry]", "containz: [sorry]", 2);
    // A response can overtake a change that was sent just before it.
    client.diagnostics("kindlm.yaml", |found| found.iter().any(|found| found["code"] == "unknown-key"));
    client.choose(&question, "Trust and run");
    let message = client.notification("window/showMessage", |message| message["type"] == 1);
    assert_eq!(message["message"], "speclens: `waits` was not run; fix the underlined errors first");
}

/// A suite with tests that cannot run, each for another reason, and one that can.
const OBSTACLES: &str = "kindlm: 1
project: demo
suite: {name: demo}
providers: {openai: {apiKeyEnv: KEY}}
models: [{id: m, provider: openai, model: gpt}]
tests:
  - {name: off, skip: true, command: echo a, expect: {output: {contains: [a]}}}
  - {name: twin, command: echo a, expect: {output: {contains: [a]}}}
  - {name: twin, command: echo b, expect: {output: {contains: [b]}}}
  - {name: wrong, command: echo a, expect: {output: {containz: [a]}}}
  - {name: right, command: echo a, expect: {output: {contains: [a]}}}
";

#[test]
fn run_of_a_test_that_cannot_run_says_why() {
    let mut client = Client::opened(&[("kindlm.yaml", OBSTACLES)]);
    client.diagnostics("kindlm.yaml", |found| !found.is_empty());
    for (test, kind, expected) in [
        ("off", 3, "`off` is skipped; remove `skip: true` to run it"),
        ("twin", 1, "`twin` was not run: another test has the same name; rename one of them"),
        ("wrong", 1, "`wrong` was not run; fix the underlined errors first"),
    ] {
        let answer = client.run_test("kindlm.yaml", test);
        assert_eq!(answer["result"]["run"], Value::Null, "{answer}");
        let message = client.notification("window/showMessage", |_| true);
        assert_eq!(
            (message["type"].as_i64(), message["message"].as_str()),
            (Some(kind), Some(&*format!("speclens: {expected}")))
        );
    }
    let titles = lenses_until(&mut client, "what cannot run", |titles| titles.contains(&"! has errors".to_owned()));
    let expected = [
        "▶ Run file", "○ skipped", "! another test has this name", "! another test has this name", "! has errors",
        "▶ Run",
    ];
    assert_eq!(titles, expected);

    // A run of the file runs the others.
    let answer = client.run_file("kindlm.yaml");
    assert!(answer["result"]["run"].is_u64(), "{answer}");
    let titles = lenses_until(&mut client, "it passed", |titles| titles.iter().any(|title| title.starts_with('✓')));
    assert_eq!(titles[1], "1 passed, 1 skipped, 3 not run");
}

#[test]
fn run_of_a_file_in_which_no_test_can_run_says_so() {
    let text =
        "kindlm: 1\nproject: p\nsuite: {name: s}\ntests:\n  - {name: a, skip: true, command: echo a, expect: {}}\n";
    let mut client = Client::opened(&[("kindlm.yaml", text)]);
    client.run_file("kindlm.yaml");
    let message = client.notification("window/showMessage", |_| true);
    assert_eq!(message["message"], "speclens: `a` is skipped; remove `skip: true` to run it");
}

#[test]
fn client_that_looks_after_trust_itself_is_not_asked_and_other_trust_does_not_count() {
    let mut client = Client::spawn(&[("kindlm.yaml", WAITING)]);
    assert!(client.command_line(&["trust", "."]).status.success());
    client.initialize(json!({ "window": { "showMessage": {} } }), json!({ "trusted": false, "trustIsClients": true }));
    client.open("kindlm.yaml");
    let answer = client.run_test("kindlm.yaml", "waits");
    assert_eq!(answer["result"], json!({ "run": null, "reason": "untrusted" }));
    client.notify("speclens/trust", json!({ "trusted": true }));
    run(&mut client, "waits");
    assert!(!client.has_waiting("window/showMessageRequest"));
}

#[test]
fn run_at_the_dash_of_a_test_runs_that_test() {
    let suite = WAITING.replace("tests:\n", "tests:\n  - name: first\n    command: echo a\n    expect: {}\n");
    for text in [suite.clone(), suite.replace('\n', "\r\n"), suite.replace("\n  ", "\n")] {
        let mut client = Client::opened(&[("kindlm.yaml", &text)]);
        let line = text.lines().position(|line| line.contains("name: waits")).unwrap();
        let name = text.lines().nth(line).unwrap().find("name").unwrap();
        for column in 0..name + 4 {
            let actions = client.actions("kindlm.yaml", &at(line, column), Some("source.speclens.run"));
            assert_eq!(actions[0]["command"]["arguments"][0]["test"], "waits", "column {column}: {actions:?}");
        }
    }
}

#[test]
fn what_another_test_recorded_of_the_same_command_counts() {
    let suite = "kindlm: 1
project: demo
suite: {name: demo}
tests:
  - {name: a, command: echo one, expect: {output: {contains: [nothing]}}}
  - {name: b, command: echo two, expect: {output: {contains: [two]}}}
";
    let mut client = Client::start(&[("kindlm.yaml", suite)]);
    let mut text = client.open("kindlm.yaml");
    run(&mut client, "a");
    run(&mut client, "b");
    lenses_until(&mut client, "one failed, one passed", |titles| titles.contains(&"1 failed, 1 passed".to_owned()));
    client.replace("kindlm.yaml", &mut text, "echo one", "echo two", 2);
    lenses_until(&mut client, "whose it is", |titles| {
        titles.contains(&"✗ 1 assertion failed, from the recording of `b`".to_owned())
    });
    let found = client.diagnostics("kindlm.yaml", |found| !sources(found, "speclens run").is_empty());
    assert!(Value::from(found.clone()).to_string().contains("two"), "{found:?}");
}

#[test]
fn a_claim_that_is_being_typed_does_not_show_a_pass() {
    let text = |expect: &str| {
        format!("kindlm: 1\nproject: p\nsuite: {{name: s}}\ntests:\n  - name: one\n    command: echo hi\n{expect}")
    };
    let mut client = Client::opened(&[("kindlm.yaml", &text("    expect: {output: {contains: [hi]}}\n"))]);
    run(&mut client, "one");
    lenses_until(&mut client, "it passed", |titles| titles.iter().any(|title| title.starts_with('✓')));
    let broken = [
        "    expect: {output: {contains: hi}}\n",
        "    expect: {output: {contans: [hi]}}\n",
        "    expect:\n",
        "",
        "    expect: {output: {contains: [hi], contains: [hi]}}\n",
        "    expect:\n      output: {contains: [hi]}\n  expect:\n      output: {contains: [NOPE]}\n",
    ];
    for expect in broken {
        client.change("kindlm.yaml", json!({ "text": text(expect) }));
        lenses_until(&mut client, expect, |titles| !titles.iter().any(|title| title.starts_with('✓')));
    }
}

#[test]
fn client_without_questions_is_informed_once_how_to_trust_a_workspace() {
    let mut client = Client::opened_as(&[("kindlm.yaml", WAITING)], json!({}), json!({}));
    for _ in 0..2 {
        let answer = client.run_test("kindlm.yaml", "waits");
        assert_eq!(answer["result"]["reason"], "untrusted", "{answer}");
    }
    let message = client.notification("window/showMessage", |_| true);
    let message = message["message"].as_str().unwrap();
    assert!(message.contains("`speclens trust /"), "{message}");
    let questions: Vec<Value> = (0..2).map(|_| client.question()).collect();
    for question in questions {
        let refused = json!({ "code": -32601, "message": "unknown" });
        client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "error": refused }));
    }
    let shut = client.request("shutdown", Value::Null);
    assert!(shut["error"].is_null() && !client.has_waiting("window/showMessage"), "{shut}");
}

#[test]
fn an_error_outside_of_the_tests_refuses_all_of_them_as_the_command_line_does() {
    let text = WAITING.replace("tests:\n", "defaults: {timeoutMs: soon}\ntests:\n");
    let mut client = Client::opened(&[("kindlm.yaml", &text)]);
    for refused in [client.run_test("kindlm.yaml", "waits"), client.run_file("kindlm.yaml")] {
        assert!(refused["result"]["reason"].as_str().unwrap().contains("fix the underlined errors"), "{refused}");
    }
    lenses_until(&mut client, "why", |titles| titles.contains(&"! has errors".to_owned()));
}

//! Runs that go on while something else happens in the editor.

use serde_json::{Value, json};

use crate::{client::Client, lens_titles, run, sources};

/// `waits` ends when the file `go` is there.
const WAITING: &str = "kindlm: 1
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

/// Asks for lenses until they are as wanted.
fn lenses_until(client: &mut Client, what: &str, fits: impl Fn(&[String]) -> bool) -> Vec<String> {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(30);
    loop {
        let titles = lens_titles(client, "kindlm.yaml");
        if fits(&titles) {
            return titles;
        }
        assert!(std::time::Instant::now() < end, "{what}: {titles:?}");
    }
}

fn running(titles: &[String]) -> usize {
    titles.iter().filter(|title| title.contains("running")).count()
}

fn close(client: &mut Client, name: &str) {
    let uri = client.uri(name);
    client.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
}

#[test]
fn a_file_that_is_opened_again_shows_the_run_that_goes_on() {
    let mut client = Client::start(&[("kindlm.yaml", WAITING), ("speclens.yaml", "recordings: {enabled: false}\n")]);
    client.open("kindlm.yaml");
    run(&mut client, "waits");
    close(&mut client, "kindlm.yaml");
    client.open("kindlm.yaml");
    lenses_until(&mut client, "it runs", |titles| running(titles) == 1);
    std::fs::write(client.path("go"), "").unwrap();
    client.diagnostics("kindlm.yaml", |found| !sources(found, "speclens run").is_empty());
    lenses_until(&mut client, "it failed", |titles| titles.contains(&"✗ 1 claim failed".to_owned()));
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
    // What was said about its beginning.
    client.forget();
    std::fs::write(client.path("go"), "").unwrap();
    // Typed so fast that each look at the text is overtaken.
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
    let mut client = Client::start(&[("kindlm.yaml", &suite), ("b/kindlm.yaml", &suite)]);
    client.open("kindlm.yaml");
    client.open("b/kindlm.yaml");
    run(&mut client, "waits");
    run(&mut client, "other");
    let uri = client.uri("b/kindlm.yaml");
    client.execute("speclens.run", json!([{ "uri": uri, "test": "waits" }]));
    lenses_until(&mut client, "both run", |titles| running(titles) == 2);

    let uri = client.uri("kindlm.yaml");
    let answer = client.request("textDocument/codeLens", json!({ "textDocument": { "uri": uri } }));
    let lenses = answer["result"].as_array().unwrap().clone();
    let cancel = lenses.iter().find(|lens| lens["command"]["command"] == "speclens.cancel").unwrap();
    let answer = client.execute("speclens.cancel", cancel["command"]["arguments"].clone());
    assert_eq!(answer["result"]["cancelled"], 1, "{cancel}");
    lenses_until(&mut client, "one was cancelled", |titles| running(titles) == 1);
    let answer = client.execute("speclens.cancel", json!([]));
    assert_eq!(answer["result"]["cancelled"], 2, "without a choice it means every run");
}

#[test]
fn a_test_goes_on_running_when_another_run_of_it_is_cancelled_before_it_began() {
    let suite = WAITING.replace(
        "tests:\n",
        "defaults: {concurrency: 1}\ntests:\n  - name: first\n    command: sleep 600\n    expect: {}\n",
    );
    let mut client = Client::start(&[("kindlm.yaml", &suite)]);
    client.open("kindlm.yaml");
    run(&mut client, "waits");
    let uri = client.uri("kindlm.yaml");
    let whole = client.execute("speclens.runFile", json!([{ "uri": uri }]));
    lenses_until(&mut client, "both run", |titles| running(titles) == 2);
    client.execute("speclens.cancel", json!([{ "run": whole["result"]["run"] }]));
    lenses_until(&mut client, "the first was cancelled", |titles| running(titles) < 2);
    assert_eq!(running(&lens_titles(&mut client, "kindlm.yaml")), 1);
    // And once it ended, it does not run any longer.
    std::fs::write(client.path("go"), "").unwrap();
    lenses_until(&mut client, "it ended", |titles| running(titles) == 0);
}

#[test]
fn why_a_run_does_not_begin_is_told_in_words() {
    let mut client = Client::spawn(&[("kindlm.yaml", WAITING)]);
    client.initialize(json!({}), json!({}));
    client.open("kindlm.yaml");
    let uri = client.uri("kindlm.yaml");
    client.execute("speclens.run", json!([{ "uri": uri, "test": "nothing" }]));
    let question = client.wait("the question", |message| message["method"] == "window/showMessageRequest");
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "title": "Trust and run" } }));
    let message = client.notification("window/showMessage", |message| message["type"] == 1);
    assert_eq!(message["message"], "there is no test `nothing` in this file");
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
    let found = client.diagnostics("kindlm.yaml", |found| !sources(found, "speclens run").is_empty());
    assert!(Value::from(found.clone()).to_string().contains("two"), "{found:?}");
}

#[test]
fn a_claim_that_is_being_typed_does_not_show_a_pass() {
    let text = |expect: &str| {
        format!("kindlm: 1\nproject: p\nsuite: {{name: s}}\ntests:\n  - name: one\n    command: echo hi\n{expect}")
    };
    let mut client = Client::start(&[("kindlm.yaml", &text("    expect: {output: {contains: [hi]}}\n"))]);
    client.open("kindlm.yaml");
    run(&mut client, "one");
    lenses_until(&mut client, "it passed", |titles| titles.iter().any(|title| title.starts_with('✓')));
    let uri = client.uri("kindlm.yaml");
    let broken = [
        "    expect: {output: {contains: hi}}\n",
        "    expect: {output: {contans: [hi]}}\n",
        "    expect:\n",
        "",
        "    expect: {output: {contains: [hi], contains: [hi]}}\n",
        "    expect:\n      output: {contains: [hi]}\n  expect:\n      output: {contains: [NOPE]}\n",
    ];
    for (version, expect) in (2..).zip(broken) {
        let document = json!({ "uri": uri, "version": version });
        let changes = json!([{ "text": text(expect) }]);
        client.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
        lenses_until(&mut client, expect, |titles| !titles.iter().any(|title| title.starts_with('✓')));
    }
}

#[test]
fn who_cannot_be_asked_is_told_once_how_a_workspace_becomes_trusted() {
    let mut client = Client::spawn(&[("kindlm.yaml", WAITING)]);
    client.initialize(json!({}), json!({}));
    client.open("kindlm.yaml");
    let uri = client.uri("kindlm.yaml");
    for _ in 0..2 {
        let answer = client.execute("speclens.run", json!([{ "uri": uri, "test": "waits" }]));
        assert_eq!(answer["result"]["reason"], "untrusted", "{answer}");
    }
    let told = client.notification("window/showMessage", |_| true);
    let message = told["message"].as_str().unwrap();
    assert!(message.contains("speclens trust '"), "{message}");
    let questions: Vec<Value> =
        (0..2).map(|_| client.wait("a question", |message| message["method"] == "window/showMessageRequest")).collect();
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
    let mut client = Client::start(&[("kindlm.yaml", &text)]);
    client.open("kindlm.yaml");
    let uri = client.uri("kindlm.yaml");
    for (command, arguments) in
        [("speclens.run", json!([{ "uri": uri, "test": "waits" }])), ("speclens.runFile", json!([{ "uri": uri }]))]
    {
        let refused = client.execute(command, arguments);
        assert!(refused["error"]["message"].as_str().unwrap().contains("correct what is underlined"), "{refused}");
    }
    assert_eq!(client.leave(), Some(0));
}

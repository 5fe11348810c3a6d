//! Silencing a kind of problem, and reading about it.

use serde_json::{Value, json};

use crate::{
    client::{Client, at},
    positions::position_of,
    sources,
};

const EMPTY: &str = "kindlm: 1
project: demo
suite: {name: demo}
providers: {openai: {apiKeyEnv: KEY}}
models: [{id: m, provider: openai, model: gpt}]
prompts: {p: {user: hello}}
tests:
  - {name: asks, prompt: p, expect: {output: {contains: [hello]}}}
  - name: greets
    command: echo hello
    expect: {}
";

/// Returns a client that supports the necessary edits, and pushes.
fn client(files: &[(&str, &str)]) -> Client {
    let mut client = Client::spawn(files);
    let edits = json!({ "documentChanges": true, "resourceOperations": ["create"] });
    client.initialize(json!({ "workspace": { "workspaceEdit": edits } }), json!({}));
    client
}

/// Returns the action with this title where a text begins.
fn action(client: &mut Client, text: &str, word: &str, title: &str) -> Value {
    let place = position_of(text, word);
    let actions = client.actions("kindlm.yaml", &json!({ "start": place, "end": place }), None);
    let found = actions.iter().find(|action| action["title"] == title);
    found.unwrap_or_else(|| panic!("no action {title:?} among {actions:#?}")).clone()
}

fn codes(found: &[Value]) -> Vec<&str> {
    found.iter().filter_map(|found| found["code"].as_str()).collect()
}

#[test]
fn problem_is_silenced_in_its_line_or_in_its_file() {
    for (title, expected) in [
        ("Ignore `no-claims` here", json!({ "range": at(10, 14), "newText": " # speclens: allow(no-claims)" })),
        ("Ignore `no-claims` in this file", json!({ "range": at(0, 0), "newText": "# speclens: allow(no-claims)\n" })),
    ] {
        let mut client = client(&[("kindlm.yaml", EMPTY)]);
        client.open("kindlm.yaml");
        client.diagnostics("kindlm.yaml", |found| codes(found).contains(&"no-claims"));
        let action = action(&mut client, EMPTY, "expect: {}", title);
        let uri = client.uri("kindlm.yaml");
        let document = json!({ "uri": uri, "version": 1 });
        let changes = json!([{ "textDocument": document, "edits": [expected] }]);
        assert_eq!(action["edit"], json!({ "documentChanges": changes }));
        assert_eq!(action["diagnostics"][0]["code"], "no-claims");
        client.change("kindlm.yaml", json!({ "range": expected["range"], "text": expected["newText"] }));
        let found = client.diagnostics("kindlm.yaml", |_| true);
        let line = |found: &Value| found["code"] == "no-claims" && found["range"]["start"]["line"] == 10;
        assert!(!found.iter().any(line), "{found:#?}");
    }
}

#[test]
fn problem_is_silenced_in_a_workspace_that_has_no_settings_yet() {
    // As Neovim declares them.
    let edits = json!({ "resourceOperations": ["rename", "create", "delete"] });
    let mut client = Client::spawn(&[("kindlm.yaml", EMPTY)]);
    client.initialize(json!({ "workspace": { "workspaceEdit": edits } }), json!({}));
    client.open("kindlm.yaml");
    client.diagnostics("kindlm.yaml", |found| codes(found).contains(&"no-claims"));
    let action = action(&mut client, EMPTY, "expect: {}", "Ignore `no-claims` in this workspace");
    let [create, edit] = action["edit"]["documentChanges"].as_array().unwrap().as_slice() else { panic!("{action}") };
    assert_eq!((&create["kind"], &create["uri"]), (&json!("create"), &json!(client.uri("speclens.yaml"))));
    assert_eq!(edit["edits"], json!([{ "range": at(0, 0), "newText": "severity:\n  no-claims: off\n" }]));
    client.forget();
    // As in an editor after the edit: open, not saved yet.
    std::fs::write(client.path("speclens.yaml"), "").unwrap();
    client.open_text("speclens.yaml", "");
    client.change("speclens.yaml", json!({ "text": "severity:\n  no-claims: off\n" }));
    client.diagnostics_of_any_version("kindlm.yaml", |found| !codes(found).contains(&"no-claims"));
}

#[test]
fn problem_is_silenced_in_the_settings_that_there_are() {
    let settings = "# ours\nseverity:\n  unused: error\n";
    let mut client = client(&[("sub/kindlm.yaml", EMPTY), ("kindlm.yaml", EMPTY), ("speclens.yaml", settings)]);
    client.open("kindlm.yaml");
    client.diagnostics("kindlm.yaml", |found| codes(found).contains(&"no-claims"));
    let action = action(&mut client, EMPTY, "expect: {}", "Ignore `no-claims` in this workspace");
    let uri = client.uri("speclens.yaml");
    let edits = json!([{ "range": at(2, 2), "newText": "no-claims: off\n  " }]);
    let changes = json!([{ "textDocument": { "uri": uri, "version": null }, "edits": edits }]);
    assert_eq!(action["edit"], json!({ "documentChanges": changes }));
}

#[test]
fn what_cannot_be_read_cannot_be_silenced() {
    let text = EMPTY.replace("[hello]", "[hello");
    let mut client = client(&[("kindlm.yaml", &text)]);
    client.open("kindlm.yaml");
    let found = client.diagnostics("kindlm.yaml", |found| codes(found).contains(&"syntax"));
    let syntax = found.iter().find(|found| found["code"] == "syntax").unwrap();
    let actions = client.actions("kindlm.yaml", &syntax["range"], None);
    assert!(!actions.iter().any(|action| action.to_string().contains("Ignore `syntax`")), "{actions:?}");
}

#[test]
fn code_of_a_problem_leads_to_a_page_that_can_only_be_read() {
    let mut client = client(&[("kindlm.yaml", EMPTY)]);
    client.open("kindlm.yaml");
    // The first hover writes it at the latest.
    client.hover("kindlm.yaml", json!({ "line": 1, "character": 2 }));
    client.forget();
    client.change("kindlm.yaml", json!({ "range": at(1, 0), "text": "# again\n" }));
    let found = client.diagnostics("kindlm.yaml", |found| codes(found).contains(&"no-claims"));
    let empty = found.iter().find(|found| found["code"] == "no-claims").unwrap();
    let href = empty["codeDescription"]["href"].as_str().unwrap();
    let (address, heading) = href.split_once('#').unwrap();
    assert_eq!(heading, "no-claims");
    let path = url::Url::parse(address).unwrap().to_file_path().unwrap();
    assert!(std::fs::metadata(&path).unwrap().permissions().readonly());
    assert!(std::fs::read_to_string(&path).unwrap().contains("\n### no-claims\n"));
}

#[test]
fn starter_suites_open_without_a_problem() {
    for (format, files) in [
        ("kindlm", &["kindlm.yaml"][..]),
        ("cli-bench", &["cli-bench.yaml", "tasks/basics.yaml"]),
        ("clawspec", &["clawspec.yaml", "skills/greeter/tests/scenarios.yaml"]),
    ] {
        let mut client = Client::start(&[]);
        assert!(client.command_line(&["init", format]).status.success());
        for file in files {
            client.open(file);
            let found = client.diagnostics_of_any_version(file, |_| true);
            assert_eq!(sources(&found, "speclens"), Vec::<String>::new(), "{file}");
        }
    }
}

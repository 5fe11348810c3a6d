//! Trust: the directories that decide what a run does, and messages without secrets and without markup.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};

use crate::client::Client;

const SUITE: &str = "kindlm: 1\nproject: p\nsuite: {name: s}\ntests:\n  - {name: one, command: echo hi, expect: {output: {contains: [hi]}}}\n";

fn real(client: &Client, name: &str) -> PathBuf {
    client.path(name).canonicalize().unwrap()
}

/// Runs the test, checks that trust is requested for this directory and no other, and gives it.
#[track_caller]
fn trust_is_requested(client: &mut Client, suite: &str, directory: &str) {
    let answer = client.run_test(suite, "one");
    assert_eq!(answer["result"]["run"], Value::Null, "{answer}");
    let question = client.question();
    let message = question["params"]["message"].as_str().unwrap().to_owned();
    let expected = format!("Do you trust {}?", client.path(directory).display());
    let is_real = message.ends_with(&format!("Do you trust {}?", real(client, directory).display()));
    assert!(message.ends_with(&expected) || is_real, "{message}");
    client.choose(&question, "Trust and run");
    client.notification("$/progress", |params| params["value"]["kind"] == "end");
}

#[test]
fn settings_above_a_trusted_directory_act_only_if_theirs_is_trusted() {
    for settings in ["recordings: {enabled: false}\n", "recordings:\r\n  \"enabled\": false\r\n"] {
        let files = [("mono/.git/HEAD", ""), ("mono/mine/kindlm.yaml", SUITE), ("mono/speclens.yaml", settings)];
        let mut client = Client::spawn(&files);
        assert!(client.command_line(&["trust", "mono/mine"]).status.success());
        client.initialize(json!({ "window": { "workDoneProgress": true } }), json!({}));
        client.open("mono/mine/kindlm.yaml");
        trust_is_requested(&mut client, "mono/mine/kindlm.yaml", "mono");
        assert!(client.run_test("mono/mine/kindlm.yaml", "one")["result"]["run"].is_u64());
    }
}

#[cfg(unix)]
#[test]
fn linked_suite_and_linked_settings_need_trust_in_the_directories_that_they_are_in() {
    use std::os::unix::fs::symlink;
    for name in ["kindlm.yaml", "speclens.yaml"] {
        let files = [
            ("mine/kindlm.yaml", SUITE),
            ("mine/speclens.yaml", ""),
            ("elsewhere/kindlm.yaml", SUITE),
            ("elsewhere/speclens.yaml", ""),
        ];
        let mut client = Client::spawn(&files);
        let link = client.path("mine").join(name);
        fs::remove_file(&link).unwrap();
        symlink(client.path("elsewhere").join(name), &link).unwrap();
        assert!(client.command_line(&["trust", "mine"]).status.success());
        client.initialize(json!({ "window": { "workDoneProgress": true } }), json!({}));
        client.open("mine/kindlm.yaml");
        trust_is_requested(&mut client, "mine/kindlm.yaml", "elsewhere");
    }
    // A linked directory: settings above the link act.
    let mut client = Client::spawn(&[("elsewhere/suite/kindlm.yaml", SUITE), ("above/speclens.yaml", "")]);
    symlink(client.path("elsewhere/suite"), client.path("above/suite")).unwrap();
    assert!(client.command_line(&["trust", "elsewhere"]).status.success());
    client.initialize(json!({ "window": { "workDoneProgress": true } }), json!({}));
    client.open("above/suite/kindlm.yaml");
    trust_is_requested(&mut client, "above/suite/kindlm.yaml", "above");
}

#[test]
fn trust_of_a_client_holds_in_its_folders_only() {
    let mut client = Client::spawn(&[("work/kindlm.yaml", SUITE), ("other/kindlm.yaml", SUITE)]);
    let folder = json!({ "uri": client.uri("work"), "name": "work" });
    let options = json!({ "trusted": true, "trustIsClients": true });
    let params = json!({
        "processId": null, "rootUri": null, "capabilities": {}, "workspaceFolders": [folder], "initializationOptions": options,
    });
    client.request("initialize", params);
    client.notify("initialized", json!({}));
    client.open("work/kindlm.yaml");
    assert!(client.run_test("work/kindlm.yaml", "one")["result"]["run"].is_u64());
    client.open("other/kindlm.yaml");
    let answer = client.run_test("other/kindlm.yaml", "one");
    assert_eq!(answer["result"], json!({ "run": null, "reason": "outside" }));
    let question = client.question();
    assert!(question["params"]["message"].as_str().unwrap().contains("other?"), "{question}");
}

#[test]
fn name_of_a_test_with_a_secret_is_masked_in_every_message() {
    let secret = "planted-secret-0123";
    let suite = SUITE.replace("name: one", &format!("name: 'one {secret}'")).replace("[hi]", "[no]");
    let mut client = Client::spawn_with(&[("MY_API_KEY", secret)], &[("kindlm.yaml", &suite)]);
    client.initialize(json!({ "window": { "workDoneProgress": true } }), json!({ "trusted": true }));
    client.open("kindlm.yaml");
    let answer = client.run_test("kindlm.yaml", &format!("one {secret}"));
    assert!(answer["result"]["run"].is_u64(), "{answer}");
    let end = client.notification("$/progress", |params| params["value"]["kind"] == "report");
    let found = client.diagnostics("kindlm.yaml", |found| found.iter().any(|it| it["source"] == "speclens run"));
    for text in [end.to_string(), Value::from(found).to_string()] {
        assert!(text.contains("one ****") && !text.contains(secret), "{text}");
    }
    let refused = client.run_test("kindlm.yaml", &format!("two {secret}"));
    assert!(refused.to_string().contains("two ****") && !refused.to_string().contains(secret), "{refused}");
}

#[test]
fn names_in_messages_are_shown_as_written() {
    let suite = "kindlm: 1\nproject: p\nsuite: {name: s}\ntests: []\nx\u{202e}y: 1\n";
    for suite in [suite.to_owned(), suite.replace('\n', "\r\n")] {
        let mut client = Client::opened(&[("kindlm.yaml", &suite)]);
        let found = client.diagnostics("kindlm.yaml", |found| !found.is_empty());
        let messages = Value::from(found).to_string();
        assert!(messages.contains("x\u{fffd}y") && !messages.contains('\u{202e}'), "{messages}");
    }
}

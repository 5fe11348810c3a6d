//! The time between the request for a run and the decision whether it starts.

use std::{io::Write, process::Command};

use serde_json::{Value, json};

use crate::{client::Client, run};

const SUITE: &str = "kindlm: 1
project: demo
suite: {name: demo}
tests:
  - {name: counts, command: echo x >> count; echo ok, expect: {output: {contains: [ok]}}}
  - {name: waits, command: until test -e go; do sleep 0.02; done, expect: {output: {maxLength: 9}}}
";

/// The file of trusted folders as a pipe: a run is decided when the pipe is written.
struct Store(std::path::PathBuf);

impl Store {
    fn of(client: &Client) -> Store {
        let store = client.path(".state/speclens/trusted-folders");
        std::fs::create_dir_all(store.parent().unwrap()).unwrap();
        assert!(Command::new("mkfifo").arg(&store).status().unwrap().success());
        Store(store)
    }

    /// Lets the reader continue with a trusted workspace; later readers find an ordinary file.
    fn release(self, client: &Client) {
        let folder = format!("{}\n", client.directory.path().canonicalize().unwrap().display());
        let ordinary = self.0.with_extension("new");
        std::fs::write(&ordinary, &folder).unwrap();
        // It waits until the pipe is read.
        let mut pipe = std::fs::File::options().write(true).open(&self.0).unwrap();
        std::fs::rename(ordinary, &self.0).unwrap();
        pipe.write_all(folder.as_bytes()).unwrap();
    }
}

/// Starts the server; only the file of trusted folders says that the workspace is trusted.
fn start() -> (Client, String) {
    let mut client = Client::opened_as(&[("kindlm.yaml", SUITE)], json!({}), json!({}));
    client.diagnostics("kindlm.yaml", |_| true);
    let uri = client.uri("kindlm.yaml");
    (client, uri)
}

#[test]
fn other_requests_are_answered_while_it_is_decided_whether_a_run_begins() {
    let (mut client, uri) = start();
    let store = Store::of(&client);
    for (command, argument) in
        [("speclens.run", json!({ "uri": uri, "test": "counts" })), ("speclens.runFile", json!({ "uri": uri }))]
    {
        client.ask("workspace/executeCommand", json!({ "command": command, "arguments": [argument] }));
    }
    assert!(client.hover("kindlm.yaml", json!({ "line": 0, "character": 1 })).is_object());
    let status = client.execute("speclens.showStatus", json!([]));
    assert_eq!(status["result"]["running"], json!([]));
    store.release(&client);
}

#[test]
fn run_that_is_cancelled_before_it_is_decided_does_not_begin() {
    let (mut client, uri) = start();
    let store = Store::of(&client);
    let [one, other] = ["counts", "waits"].map(|test| {
        let arguments = json!([{ "uri": uri, "test": test }]);
        client.ask("workspace/executeCommand", json!({ "command": "speclens.run", "arguments": arguments }))
    });
    for (argument, count) in [(json!({ "test": "nothing" }), 0), (json!({ "test": "waits" }), 1), (json!({}), 1)] {
        let answer = client.execute("speclens.cancel", json!([argument]));
        assert_eq!(answer["result"]["cancelled"], count, "{argument}");
    }
    store.release(&client);
    for id in [one, other] {
        assert_eq!(client.answer(id)["result"], json!({ "run": null, "reason": "cancelled" }));
    }
    assert!(!client.has_waiting("window/showMessageRequest"));
}

#[test]
fn run_whose_request_was_taken_back_does_not_begin() {
    let (mut client, uri) = start();
    let store = Store::of(&client);
    let arguments = json!([{ "uri": uri, "test": "counts" }]);
    let id = client.ask("workspace/executeCommand", json!({ "command": "speclens.run", "arguments": arguments }));
    // The response shows that the run is being started, too.
    client.hover("kindlm.yaml", json!({ "line": 0, "character": 1 }));
    client.notify("$/cancelRequest", json!({ "id": id }));
    assert_eq!(client.answer(id)["error"]["code"], -32800);
    store.release(&client);
    client.notify("speclens/trust", json!({ "trusted": true }));
    // It does not prevent another one.
    run(&mut client, "counts");
    client.wait_for_line("count");
    while client.execute("speclens.showStatus", json!([]))["result"]["running"] != json!([]) {}
    assert_eq!(std::fs::read_to_string(client.path("count")).unwrap(), "x\n");
}

#[test]
fn of_several_requests_for_one_test_one_begins() {
    let mut client = Client::opened(&[("kindlm.yaml", SUITE)]);
    let uri = client.uri("kindlm.yaml");
    let arguments = json!([{ "uri": uri, "test": "waits" }]);
    let command = json!({ "command": "speclens.run", "arguments": arguments });
    let ids: Vec<u64> = (0..20).map(|_| client.ask("workspace/executeCommand", command.clone())).collect();
    let answers: Vec<Value> = ids.into_iter().map(|id| client.answer(id)["result"].clone()).collect();
    assert_eq!(answers.iter().filter(|answer| answer["run"].is_u64()).count(), 1, "{answers:?}");
    let reason = "`waits` is already running; stop it to run it again";
    assert_eq!(answers.iter().filter(|answer| answer["reason"] == reason).count(), 19, "{answers:?}");
}

#[test]
fn run_is_of_the_text_that_was_there_when_it_was_asked_for() {
    let mut client = Client::start(&[("kindlm.yaml", SUITE)]);
    let mut text = client.open("kindlm.yaml");
    let uri = client.uri("kindlm.yaml");
    let arguments = json!([{ "uri": uri, "test": "counts" }]);
    let id = client.ask("workspace/executeCommand", json!({ "command": "speclens.run", "arguments": arguments }));
    client.replace("kindlm.yaml", &mut text, "name: counts, command: echo x", "name: other, command: echo y", 2);
    assert!(client.answer(id)["result"]["run"].is_u64());
    assert_eq!(client.wait_for_line("count"), "x");
}

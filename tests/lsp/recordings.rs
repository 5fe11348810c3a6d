//! Recordings of several programs: the editor shows the attempt that began last.

use std::fs;

use serde_json::json;

use crate::{
    client::Client,
    lens_titles, run,
    running::{lenses_of_until, lenses_until},
    sources,
};

/// `waits` ends when the file `go` exists.
const SUITE: &str = "kindlm: 1
project: demo
suite: {name: demo}
tests:
  - name: waits
    command: until [ -e go ]; do sleep 0.02; done; echo slow
    expect: {output: {contains: [sorry]}}
  - name: other
    command: echo other
    expect: {output: {contains: [other]}}
";

fn has(titles: &[String], start: &str) -> bool {
    titles.iter().any(|title| title.starts_with(start))
}

/// Runs a command line in the client's workspace.
fn speclens(client: &Client, arguments: &[&str]) -> Option<i32> {
    client.command_line(arguments).status.code()
}

fn tell_of_recordings(client: &mut Client) {
    client.files_changed(&[(".speclens/recordings/any.json", 1)]);
}

#[test]
fn run_that_began_earlier_takes_no_newer_result_away() {
    let mut client = Client::start(&[("kindlm.yaml", SUITE)]);
    let mut text = client.open("kindlm.yaml");
    run(&mut client, "waits");
    lenses_until(&mut client, "it runs", |titles| has(titles, "… running"));
    client.replace("kindlm.yaml", &mut text, "until [ -e go ]; do sleep 0.02; done; echo slow", "echo sorry", 2);
    fs::write(client.path("kindlm.yaml"), &text).unwrap();
    assert_eq!(speclens(&client, &["run", "--test", "waits"]), Some(0));
    tell_of_recordings(&mut client);
    fs::write(client.path("go"), "").unwrap();
    lenses_until(&mut client, "the newer result", |titles| has(titles, "✓ passed"));
    assert!(!has(&lens_titles(&mut client, "kindlm.yaml"), "⚠ stale"));
    assert_eq!(speclens(&client, &["run", "--recorded", "--test", "waits"]), Some(0));
}

#[test]
fn terminal_recording_is_seen_while_another_test_runs() {
    let mut client = Client::opened(&[("kindlm.yaml", SUITE)]);
    run(&mut client, "waits");
    lenses_until(&mut client, "it runs", |titles| has(titles, "… running"));
    assert_eq!(speclens(&client, &["run", "--test", "other"]), Some(0));
    tell_of_recordings(&mut client);
    lenses_until(&mut client, "both", |titles| has(titles, "✓ passed") && has(titles, "… running"));
    fs::write(client.path("go"), "").unwrap();
    lenses_until(&mut client, "the end", |titles| has(titles, "✗ 1 assertion failed"));
}

#[test]
fn terminal_recording_is_seen_by_a_client_that_watches_no_files() {
    let mut client = Client::start(&[("kindlm.yaml", SUITE)]);
    fs::write(client.path("go"), "").unwrap();
    client.open("kindlm.yaml");
    client.diagnostics("kindlm.yaml", |_| true);
    assert_eq!(speclens(&client, &["run"]), Some(1));
    client.diagnostics("kindlm.yaml", |found| !sources(found, "speclens run").is_empty());
}

#[test]
fn recordings_in_a_workspace_that_is_not_trusted_are_not_believed() {
    let mut client = Client::spawn(&[("kindlm.yaml", SUITE)]);
    assert_eq!(speclens(&client, &["run", "--test", "other"]), Some(0));
    client.initialize(json!({}), json!({ "trusted": false, "trustIsClients": true }));
    client.open("kindlm.yaml");
    client.diagnostics("kindlm.yaml", |_| true);
    assert!(!has(&lens_titles(&mut client, "kindlm.yaml"), "✓"));
    client.notify("speclens/trust", json!({ "trusted": true }));
    lenses_until(&mut client, "it is believed now", |titles| has(titles, "✓ passed"));
    client.notify("speclens/trust", json!({ "trusted": false }));
    lenses_until(&mut client, "it is not believed any more", |titles| !has(titles, "✓"));
}

#[test]
fn change_among_thousands_is_noticed() {
    let suite = |number: usize| {
        let mut text = format!("kindlm: 1\nproject: p\nsuite: {{name: s{number}}}\ntests:\n");
        for index in 0..20 {
            text.push_str(&format!(
                "  - name: t{index}\n    command: echo a\n    expect: {{output: {{format: json, schemaFile: ./schemas/{index}.json}}}}\n"
            ));
        }
        text
    };
    let mut files: Vec<(String, String)> =
        (0..10).map(|number| (format!("s{number}/kindlm.yaml"), suite(number))).collect();
    for number in 0..10 {
        files.extend((0..20).map(|index| (format!("s{number}/schemas/{index}.json"), "{}".to_owned())));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let mut client = Client::start(&files);
    for number in 0..10 {
        let name = format!("s{number}/kindlm.yaml");
        client.open(&name);
        client.diagnostics(&name, |found| found.iter().all(|found| found["severity"] != 1));
    }
    fs::write(client.path("s7/schemas/13.json"), "{\"type\": \"strnig\"}").unwrap();
    let others: Vec<String> = (0..2_000).map(|index| format!("other/{index}.txt")).collect();
    let others = others.iter().map(|name| (name.as_str(), 1));
    client.files_changed(&others.chain([("s7/schemas/13.json", 2)]).collect::<Vec<_>>());
    client.diagnostics("s7/kindlm.yaml", |found| found.iter().any(|found| found["code"] == "invalid-schema-file"));
}

#[test]
fn change_of_a_declared_file_makes_the_lens_stale() {
    let suite = SUITE.replace("echo other", "sh -c 'sh src/say.sh'");
    let settings = "inputs: [src]\n";
    let mut client =
        Client::opened(&[("kindlm.yaml", &suite), ("src/say.sh", "echo other"), ("speclens.yaml", settings)]);
    run(&mut client, "other");
    lenses_until(&mut client, "it ran", |titles| has(titles, "✓ passed"));
    fs::write(client.path("src/say.sh"), "echo other # changed").unwrap();
    client.files_changed(&[("src/say.sh", 2)]);
    lenses_until(&mut client, "the file changed", |titles| has(titles, "⚠ stale"));
    fs::write(client.path("src/say.sh"), "echo other").unwrap();
    client.files_changed(&[("src/say.sh", 2)]);
    lenses_until(&mut client, "it is as before", |titles| has(titles, "✓ passed"));
    fs::write(client.path("speclens.yaml"), "inputs: [kindlm.yaml]\n").unwrap();
    client.files_changed(&[("speclens.yaml", 2)]);
    lenses_until(&mut client, "other files are declared", |titles| has(titles, "⚠ stale"));
}

#[test]
fn trust_in_a_folder_shows_what_is_recorded_of_its_other_suites() {
    const SUB: &str = "sub/kindlm.yaml";
    let mut client = Client::spawn(&[("kindlm.yaml", OTHER), (SUB, OTHER)]);
    client.initialize(json!({}), json!({ "trusted": true }));
    client.open(SUB);
    client.run_file(SUB);
    lenses_of_until(&mut client, SUB, "the run is shown", |titles| has(titles, "✓ passed"));
    client.notify("speclens/trust", json!({ "trusted": false }));
    lenses_of_until(&mut client, SUB, "it is not believed", |titles| !has(titles, "✓ passed"));
    client.open("kindlm.yaml");
    client.run_file("kindlm.yaml");
    let question = client.question();
    client.choose(&question, "Trust and run");
    lenses_of_until(&mut client, SUB, "it is believed again", |titles| has(titles, "✓ passed"));
}

const OTHER: &str = "kindlm: 1
project: demo
suite: {name: demo}
tests:
  - {name: greets, command: echo hello, expect: {output: {contains: [hello]}}}
";

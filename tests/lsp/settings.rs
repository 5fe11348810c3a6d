//! Invalid settings: nothing runs under them, and the editor reports the reason, whether they are open or not.

use serde_json::{Value, json};

use crate::{SUITE, client::Client, lens_titles, run, sources};

const WRONG: &str = "recording: {redact_patterns: ['wor[a-z]+']}\n";

fn files(settings: &'static str) -> Vec<(&'static str, &'static str)> {
    vec![("kindlm.yaml", SUITE), ("refuse.sh", "echo no\n"), ("speclens.yaml", settings)]
}

fn has(found: &[Value], source: &str, part: &str) -> bool {
    sources(found, source).iter().any(|message| message.contains(part))
}

#[test]
fn suite_with_wrong_settings_is_not_run_and_the_reason_is_shown_at_once() {
    let mut client = Client::start(&files(WRONG));
    client.open("kindlm.yaml");
    for answer in [client.run_test("kindlm.yaml", "greets"), client.run_file("kindlm.yaml")] {
        assert_eq!(answer["result"]["run"], Value::Null, "{answer}");
        let shown = client.notification("window/showMessage", |_| true);
        let message = shown["message"].as_str().unwrap();
        assert!(message.contains("speclens.yaml is corrected: unknown key `recording`"), "{message}");
        assert_eq!(shown["type"], 1);
    }
    client.diagnostics("kindlm.yaml", |found| has(found, "speclens run", "unknown key `recording`"));
    let titles = lens_titles(&mut client, "kindlm.yaml");
    assert!(titles.contains(&"! the settings have errors".to_owned()), "{titles:?}");
    assert!(!titles.contains(&"▶ Run".to_owned()), "{titles:?}");
    assert!(!client.path(".speclens").exists());
}

#[test]
fn settings_that_are_not_open_have_their_problems_until_they_are_corrected() {
    let mut client = Client::start(&files(WRONG));
    client.open("kindlm.yaml");
    let found =
        client.diagnostics_of_any_version("speclens.yaml", |found| has(found, "speclens", "unknown key `recording`"));
    assert_eq!((&found[0]["severity"], &found[0]["range"]["end"]["character"]), (&json!(1), &json!(9)));
    client.forget();
    std::fs::write(client.path("speclens.yaml"), WRONG.replace("recording", "recordings")).unwrap();
    client.files_changed(&[("speclens.yaml", 2)]);
    client.diagnostics_of_any_version("speclens.yaml", <[Value]>::is_empty);
    client.diagnostics("kindlm.yaml", |found| sources(found, "speclens run").is_empty());
    run(&mut client, "greets");
    client.diagnostics("kindlm.yaml", |found| has(found, "speclens run", "masked"));
}

#[test]
fn misnamed_settings_are_an_error_until_they_are_renamed() {
    let mut client = Client::opened(&[("kindlm.yaml", SUITE), ("speclens.yml", "recordings: {enabled: false}\n")]);
    client.diagnostics_of_any_version("speclens.yml", |found| has(found, "speclens", "rename it to `speclens.yaml`"));
    client.forget();
    std::fs::rename(client.path("speclens.yml"), client.path("speclens.yaml")).unwrap();
    client.files_changed(&[("speclens.yml", 3)]);
    client.diagnostics_of_any_version("speclens.yml", <[Value]>::is_empty);
    client.diagnostics("kindlm.yaml", |found| sources(found, "speclens run").is_empty());
}

#[test]
fn settings_that_are_open_report_their_own_problems() {
    let mut client = Client::start(&files("recordings: {enabled: false}\n"));
    client.open("kindlm.yaml");
    client.open("speclens.yaml");
    client.diagnostics("kindlm.yaml", |_| true);
    // Not saved, but effective.
    client.change("speclens.yaml", json!({ "text": WRONG }));
    client.diagnostics("speclens.yaml", |found| has(found, "speclens", "unknown key `recording`"));
    client.diagnostics_of_any_version("kindlm.yaml", |found| has(found, "speclens run", "unknown key `recording`"));
    client.forget();
    // The file on disk counts again.
    client.close("speclens.yaml");
    client.diagnostics_of_any_version("speclens.yaml", <[Value]>::is_empty);
    client.diagnostics_of_any_version("kindlm.yaml", |found| sources(found, "speclens run").is_empty());
}

#[test]
fn settings_that_are_opened_with_unsaved_text_take_effect() {
    let mut client = Client::start(&files("recordings: {enabled: false}\n"));
    client.open("kindlm.yaml");
    client.diagnostics("kindlm.yaml", |found| sources(found, "speclens run").is_empty());
    client.forget();
    client.open_text("speclens.yaml", WRONG);
    client.diagnostics_of_any_version("kindlm.yaml", |found| has(found, "speclens run", "unknown key `recording`"));
}

#[test]
fn wrong_settings_that_are_closed_keep_their_problems_while_a_suite_is_under_them() {
    let mut client = Client::start(&files(WRONG));
    client.open("kindlm.yaml");
    client.diagnostics_of_any_version("speclens.yaml", |found| !found.is_empty());
    client.open("speclens.yaml");
    client.diagnostics("speclens.yaml", |found| has(found, "speclens", "unknown key `recording`"));
    client.close("speclens.yaml");
    client.diagnostics_of_any_version("speclens.yaml", <[Value]>::is_empty);
    // Those of the open document, which may come twice, have a version.
    let uri = client.uri("speclens.yaml");
    client.notification("textDocument/publishDiagnostics", |params| {
        params["uri"] == uri.as_str() && params["version"].is_null() && params["diagnostics"] != json!([])
    });
    client.close("kindlm.yaml");
    client.diagnostics_of_any_version("speclens.yaml", <[Value]>::is_empty);
}

#[test]
fn settings_above_the_folder_decide_nothing() {
    let mut client = Client::spawn(&[("work/kindlm.yaml", SUITE), ("speclens.yaml", WRONG)]);
    client.initialize_in(&["work"]);
    client.open("work/kindlm.yaml");
    client.diagnostics("work/kindlm.yaml", |found| sources(found, "speclens run").is_empty());
    // With the folder above, they do.
    let above = client.uri("");
    let event = json!({ "added": [{ "uri": above, "name": "above" }], "removed": [] });
    client.notify("workspace/didChangeWorkspaceFolders", json!({ "event": event }));
    client.diagnostics("work/kindlm.yaml", |found| has(found, "speclens run", "unknown key `recording`"));
}

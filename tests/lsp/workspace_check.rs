//! The check of the whole workspace: problems of closed files, and safe fixes in all of them.

use serde_json::{Value, json};

use super::{client::Client, positions::edited};

const RIGHT: &str = "kindlm: 1\nproject: demo\nsuite: {name: demo}\ntests:\n  - name: one\n    command: echo one\n    expect: {output: {contains: [one]}}\n";

fn capabilities() -> Value {
    json!({
        "window": { "showMessage": {} },
        "workspace": { "workspaceEdit": { "documentChanges": true }, "applyEdit": true },
    })
}

/// Returns a workspace with an open suite, closed ones with a problem each, and a file that is no spec.
fn workspace(style: fn(&str) -> String) -> (Client, String) {
    let misspelled = style(&RIGHT.replace("contains", "containz"));
    let files = [
        ("a/kindlm.yaml", misspelled.clone()),
        ("b/kindlm.yaml", style(&RIGHT.replace("command:", "comand:"))),
        ("c/kindlm.yaml", style(RIGHT)),
        ("other.yaml", "tests: 1\n".to_owned()),
        ("speclens.yaml", "severety: {}\n".to_owned()),
    ];
    let mut client = Client::spawn(&files.each_ref().map(|(name, text)| (*name, text.as_str())));
    client.initialize(capabilities(), json!({}));
    (client, misspelled)
}

fn codes(found: &[Value]) -> Vec<&str> {
    found.iter().filter(|one| one["severity"] == 1).map(|one| one["code"].as_str().unwrap()).collect()
}

#[test]
fn problems_of_closed_files_are_shown_and_stay_up_to_date() {
    let (mut client, _) = workspace(str::to_owned);
    client.open("a/kindlm.yaml");
    let counts = client.execute("speclens.checkWorkspace", json!([]))["result"].clone();
    assert_eq!((&counts["errors"], &counts["fixable"]), (&json!(3), &json!(3)), "{counts}");
    let found = client.diagnostics_of_any_version("b/kindlm.yaml", |found| !found.is_empty());
    assert_eq!(codes(&found), ["unknown-key"]);
    let found = client.diagnostics_of_any_version("speclens.yaml", |found| !found.is_empty());
    assert_eq!(codes(&found), ["invalid-setting"]);
    std::fs::write(client.path("b/kindlm.yaml"), RIGHT).unwrap();
    client.files_changed(&[("b/kindlm.yaml", 2)]);
    client.diagnostics_of_any_version("b/kindlm.yaml", |found| codes(found).is_empty());
}

#[test]
fn safe_fixes_of_all_files_are_one_edit() {
    for style in
        [str::to_owned as fn(&str) -> String, |text| text.replace('\n', "\r\n"), |text| text.replace("\n  ", "\n")]
    {
        let (mut client, text) = workspace(style);
        client.open("a/kindlm.yaml");
        client.execute("speclens.checkWorkspace", json!([]));
        let question = client.question();
        let message = question["params"]["message"].as_str().unwrap();
        assert!(message.ends_with("; 3 can be fixed safely"), "{message}");
        client.choose(&question, "Fix all");
        let asked = client.wait("the edit", |message| message["method"] == "workspace/applyEdit");
        client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "applied": true } }));
        let mut changes = asked["params"]["edit"]["documentChanges"].as_array().unwrap().clone();
        changes.sort_by_key(|change| change["textDocument"]["uri"].as_str().unwrap().to_owned());
        let versions: Vec<&Value> = changes.iter().map(|change| &change["textDocument"]["version"]).collect();
        assert_eq!(versions, [&json!(1), &Value::Null, &Value::Null], "{changes:#?}");
        assert_eq!(edited(&text, &changes[0]["edits"], "utf-16"), style(RIGHT));
        assert_eq!(edited(&style(&RIGHT.replace("command:", "comand:")), &changes[1]["edits"], "utf-16"), style(RIGHT));
        let done = client.notification("window/showMessage", |message| message["type"] == 3);
        assert_eq!(done["message"], "speclens: fixed 3 files");
    }
}

#[test]
fn client_that_cannot_ask_is_told_the_numbers() {
    let mut client = Client::start(&[("a/kindlm.yaml", RIGHT)]);
    let counts = client.execute("speclens.checkWorkspace", json!([]))["result"].clone();
    assert_eq!((&counts["files"], &counts["errors"]), (&json!(1), &json!(0)), "{counts}");
    let told = client.notification("window/showMessage", |_| true);
    assert_eq!(told["message"], "speclens: no problem in 1 file");
}

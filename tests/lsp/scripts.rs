//! Scripted models in the editor: from the suite to the script, from the script to the tasks, and back.

use serde_json::{Value, json};

use crate::client::Client;

const MAIN: &str =
    "cli: git\nproviders:\n  - scripted/careful\n  - scripted/carefull\ntasks:\n  - file://tasks/*.yaml\n";
const TASK: &str = "- id: status\n  intent: Show the state.\n  assert:\n    - exit_code: 0\n- id: log\n  intent: Show what was done.\n  assert:\n    - exit_code: 0\n";
const SCRIPT: &str = "tasks:\n  status:\n    - run: git status\n    - say: Done.\n  \ndefault:\n  - say: No.\n";

fn ask(client: &mut Client, method: &str, name: &str, line: u32, character: u32, more: Value) -> Value {
    client.ask_at(method, name, json!({ "line": line, "character": character }), more)["result"].clone()
}

#[test]
fn scripts_and_suites_lead_to_each_other() {
    for script in [SCRIPT.to_owned(), format!("{SCRIPT}# 😀\n").replace('\n', "\r\n")] {
        let files = [("cli-bench.yaml", MAIN), ("tasks/one.yaml", TASK), ("careful.script.yaml", script.as_str())];
        let mut client = Client::start(&files);
        client.open("cli-bench.yaml");
        let found = client.diagnostics("cli-bench.yaml", |found| !found.is_empty());
        assert_eq!(found[0]["code"], "missing-file", "{found:?}");
        assert_eq!(found[0]["range"]["start"], json!({ "line": 3, "character": 4 }));
        let found = ask(&mut client, "definition", "cli-bench.yaml", 2, 10, json!({}));
        assert_eq!(found[0]["uri"], client.uri("careful.script.yaml"), "{found}");
        let found = ask(&mut client, "hover", "cli-bench.yaml", 2, 10, json!({}));
        assert!(found.to_string().contains("It has turns for `status`, all other tasks"), "{found}");
        client.open("careful.script.yaml");
        let found = ask(&mut client, "definition", "careful.script.yaml", 1, 4, json!({}));
        assert_eq!(found[0]["uri"], client.uri("tasks/one.yaml"), "{found}");
        // Tasks that the script lacks are offered.
        let labels = client.labels("careful.script.yaml", json!({ "line": 4, "character": 2 }));
        assert!(labels.contains(&"log".to_owned()) && !labels.contains(&"status".to_owned()), "{labels:?}");
        let more = json!({ "newName": "state" });
        let found = ask(&mut client, "rename", "careful.script.yaml", 1, 4, more);
        let found = found.to_string();
        assert!(found.contains("careful.script.yaml") && found.contains("one.yaml"), "{found}");
        let lenses = client.about("careful.script.yaml", "codeLens");
        assert_eq!(lenses, json!([]), "nothing in a script is a test");
    }
}

#[test]
fn an_edit_of_the_suite_concerns_its_scripts() {
    let main = MAIN.replace("  - scripted/carefull\n", "");
    let files = [("cli-bench.yaml", main.as_str()), ("tasks/one.yaml", TASK), ("careful.script.yaml", SCRIPT)];
    let mut client = Client::start(&files);
    client.open("careful.script.yaml");
    client.diagnostics("careful.script.yaml", <[Value]>::is_empty);
    let mut text = client.open("tasks/one.yaml");
    client.replace("tasks/one.yaml", &mut text, "id: status", "id: state", 2);
    let unknown = |found: &[Value]| found.iter().any(|found| found["code"] == "unknown-reference");
    let found = client.diagnostics_of_any_version("careful.script.yaml", unknown);
    assert!(found[0]["message"].as_str().unwrap().starts_with("unknown task `status`"), "{found:?}");
}

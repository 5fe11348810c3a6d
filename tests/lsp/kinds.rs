//! Documents that are specs, their suites, and the documents that an edit affects.

use serde_json::{Value, json};

use crate::client::Client;

const MAIN: &str = "cli: git\nproviders: [anthropic/claude-sonnet-4.6]\ntasks:\n  - file://tasks/*.yaml\n";
const TASK: &str = "- id: status\n  intent: Show the state of the repository.\n  assert:\n    - exit_code: 0\n";

fn codes(found: &[Value]) -> Vec<&str> {
    found.iter().filter_map(|found| found["code"].as_str()).collect()
}

fn hover(client: &mut Client, name: &str, line: u32, character: u32) -> Value {
    client.hover(name, json!({ "line": line, "character": character }))
}

#[test]
fn a_task_file_is_checked_as_a_part_of_its_suite() {
    let mut client = Client::start(&[("cli-bench.yaml", MAIN), ("tasks/one.yaml", TASK)]);
    let mut text = client.open("tasks/one.yaml");
    client.replace("tasks/one.yaml", &mut text, "exit_code", "exit_cod", 2);
    let found = client.diagnostics("tasks/one.yaml", |found| !found.is_empty());
    assert!(codes(&found).contains(&"unknown-key"), "{found:?}");
    assert!(hover(&mut client, "tasks/one.yaml", 1, 4).to_string().contains("intent"));
    let refused = client.run_file("tasks/one.yaml");
    assert!(
        refused["result"]["reason"].as_str().unwrap().contains("was not run; fix the underlined errors first"),
        "{refused}"
    );
}

#[test]
fn an_edit_of_a_task_file_concerns_the_suite_that_names_it() {
    let two = TASK.replace("status", "log");
    let mut client = Client::opened(&[("cli-bench.yaml", MAIN), ("tasks/one.yaml", TASK), ("tasks/two.yaml", &two)]);
    client.diagnostics("cli-bench.yaml", |found| !codes(found).contains(&"duplicate-name"));
    let mut text = client.open("tasks/two.yaml");
    // Not saved: the text in the editor counts.
    client.replace("tasks/two.yaml", &mut text, "id: log", "id: status", 2);
    client.forget();
    client.replace("tasks/two.yaml", &mut text, "Show", "Tell", 3);
    let found = client.diagnostics_of_any_version("cli-bench.yaml", |found| codes(found).contains(&"duplicate-name"));
    assert!(!found.is_empty());
}

#[test]
fn scenario_patterns_make_a_contract_of_any_file_once_they_are_saved() {
    let settings = "gateway_base_url: http://127.0.0.1:9\n";
    let vague = "scenarios:\n  - name: a\n";
    let mut client = Client::start(&[("clawspec.yaml", settings), ("qa/login.yaml", vague)]);
    let mut text = client.open("clawspec.yaml");
    client.open("qa/login.yaml");
    assert_eq!(hover(&mut client, "qa/login.yaml", 1, 5), Value::Null);
    let patterns = format!("{settings}scenario_patterns: ['qa/*.yaml']\n");
    client.replace("clawspec.yaml", &mut text, settings, &patterns, 2);
    std::fs::write(client.path("clawspec.yaml"), &patterns).unwrap();
    client.save("clawspec.yaml");
    let found = client.diagnostics_of_any_version("qa/login.yaml", |found| !found.is_empty());
    assert!(codes(&found).contains(&"missing-field"), "{found:?}");
    assert!(hover(&mut client, "qa/login.yaml", 1, 5).to_string().contains("name"));
}

#[test]
fn other_documents_get_nothing_until_they_are_ours() {
    let strangers = [
        ("compose.yaml", "services: {}\n"),
        ("tests/scenarios.yaml", "openapi: 3.1.0\n"),
        ("load/tests/scenarios.yaml", "config: {target: x}\nscenarios:\n  - flow: []\n"),
        ("deploy/tests/pipeline.yaml", "stages: [build]\nbuild: {script: [make]}\n"),
        // Without a ClawSpec workspace, an empty file of that name could be anything.
        ("new/tests/scenarios.yaml", ""),
    ];
    let mut client = Client::start(&strangers);
    for (name, _) in strangers {
        client.open(name);
        assert_eq!(hover(&mut client, name, 0, 2), Value::Null);
    }
    // A document that was never saved becomes a suite while it is typed.
    let buffer = "untitled:Untitled-1";
    client.open_text(buffer, "");
    assert_eq!(hover(&mut client, buffer, 0, 0), Value::Null);
    let text =
        "kindlm: 1\nproject: p\nsuite: { name: s }\ntests:\n  - name: a\n    command: cat missing.txt\n    expct: {}\n";
    client.change(buffer, json!({ "text": text }));
    client.diagnostics(buffer, |found| codes(found).contains(&"unknown-key"));
    assert!(hover(&mut client, buffer, 0, 2).to_string().contains("Format version"));
    let refused = client.run_file(buffer);
    assert!(refused["result"]["reason"].as_str().unwrap().contains("save it"), "{refused}");
}

#[test]
fn a_file_becomes_a_part_when_a_suite_names_it() {
    let mut client = Client::start(&[("cli-bench.yaml", "cli: git\ntasks: []\n"), ("loose.yaml", "- idd: a\n")]);
    client.open("loose.yaml");
    assert_eq!(hover(&mut client, "loose.yaml", 0, 3), Value::Null);
    std::fs::write(client.path("cli-bench.yaml"), "cli: git\ntasks: [file://loose.yaml]\n").unwrap();
    client.files_changed(&[("cli-bench.yaml", 2)]);
    let found = client.diagnostics("loose.yaml", |found| !found.is_empty());
    assert!(codes(&found).contains(&"unknown-key"), "{found:?}");
}

#[test]
fn what_the_author_says_counts_after_saving() {
    let mut client = Client::start(&[("notes.yaml", "services: {}\n")]);
    let mut text = client.open("notes.yaml");
    client.replace("notes.yaml", &mut text, "services", "# speclens: dialect=clawspec-ledger\nservices", 2);
    let found = client.diagnostics("notes.yaml", |found| !found.is_empty());
    assert!(codes(&found).contains(&"missing-field"), "{found:?}");
}

#[test]
fn comment_that_says_the_kind_counts_while_it_is_typed() {
    let suite = "kindlm: 1\nproject: p\nsuite: { name: s }\ntests: []\n";
    let mut client = Client::start(&[("agent.yaml", suite)]);
    let mut text = client.open("agent.yaml");
    let found = client.diagnostics("agent.yaml", |found| !found.is_empty());
    assert!(!found.iter().any(|found| found["message"].as_str().unwrap().contains("waves")), "{found:?}");
    let comment = "# speclens: dialect=clawspec-ledger\n";
    client.replace("agent.yaml", &mut text, "kindlm: 1", &format!("{comment}kindlm: 1"), 2);
    client.diagnostics("agent.yaml", |found| {
        found.iter().any(|found| found["message"].as_str().unwrap().contains("`waves`"))
    });
    // It no longer is without the comment.
    client.replace("agent.yaml", &mut text, comment, "", 3);
    let found = client.diagnostics("agent.yaml", |found| codes(found).contains(&"out-of-range"));
    assert!(!found.iter().any(|found| found["message"].as_str().unwrap().contains("waves")), "{found:?}");
}

#[test]
fn document_that_becomes_another_kind_is_shown_as_what_it_is() {
    let handoff = "version: \"1.0\"\nhandoff:\n  from: a\n  to: b\ncaller_provides: {}\ncallee_produces: {}\n";
    let pipeline = "version: \"1.0\"\npipeline:\n  name: a\n  skill_path: s\n  trigger: /a\nstages: {}\n";
    let mut client = Client::start(&[("clawspec.yaml", ""), ("tests/handoffs/a.yaml", handoff)]);
    let name = "tests/handoffs/a.yaml";
    let mut text = client.open(name);
    client.diagnostics(name, |found| codes(found).contains(&"missing-field"));
    client.replace(name, &mut text, handoff, pipeline, 2);
    // It is first judged as what it was.
    let are_about = |found: &[Value], name: &str| found.iter().any(|found| found["message"].to_string().contains(name));
    let found = client.diagnostics(name, |found| !found.is_empty() && !are_about(found, "caller_provides"));
    assert!(are_about(&found, "stages"), "{found:?}");
}

#[test]
fn every_folder_of_a_workspace_is_its_own() {
    let scenario =
        "version: \"1.0\"\ntarget:\n  type: skill\n  path: skills/a\n  trigger: /a\nscenarios: []\nbogus: 1\n";
    let mut client = Client::spawn(&[("one/clawspec.yaml", ""), ("two/skills/a/tests/scenarios.yaml", scenario)]);
    client.initialize_in(&["one", "two"]);
    client.open("two/skills/a/tests/scenarios.yaml");
    let found = client.diagnostics("two/skills/a/tests/scenarios.yaml", |found| !found.is_empty());
    assert!(!found.is_empty());
    let removed = json!({ "event": { "added": [], "removed": [{ "uri": client.uri("one"), "name": "one" }] } });
    client.notify("workspace/didChangeWorkspaceFolders", removed);
}

#[cfg(unix)]
#[test]
fn while_editing_nothing_beyond_the_workspace_is_read() {
    let main = "cli: git\nproviders: [a/b]\ntasks:\n  - file://far.yaml\n  - file://../near.yaml\n  - file://../../none.yaml\n";
    let mut client =
        Client::start(&[("sub/cli-bench.yaml", main), ("near.yaml", &TASK.replace("exit_code", "exit_cod"))]);
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::write(elsewhere.path().join("t.yaml"), TASK).unwrap();
    std::os::unix::fs::symlink(elsewhere.path().join("t.yaml"), client.path("sub/far.yaml")).unwrap();
    client.open("sub/cli-bench.yaml");
    let found = client.diagnostics("sub/cli-bench.yaml", |found| !found.is_empty());
    let message: Vec<String> = found.iter().map(|found| found["message"].as_str().unwrap().to_owned()).collect();
    assert_eq!(codes(&found), ["invalid-path"; 2], "{message:?}");
    assert!(
        message[0].starts_with("`far.yaml` is a link to a file outside the workspace\nnote: editors"),
        "{message:?}"
    );
    assert!(message[1].starts_with("`../../none.yaml` is outside the workspace"), "{message:?}");
    assert!(found.iter().all(|found| found["severity"] == 2), "{found:?}");
}

#[test]
fn a_new_contract_is_ours_from_its_first_letter_in_a_workspace() {
    for (place, beside) in [
        ("tests/scenarios.yaml", "clawspec.yaml"),
        ("demo/tests/scenarios.yaml", "demo/SKILL.md"),
        ("agents/demo/tests/scenarios.yaml", "x.md"),
    ] {
        let mut client = Client::start(&[(place, ""), (beside, "")]);
        client.open(place);
        for typed in ["", "v", "version: \"1.0\"\nt"] {
            client.change(place, json!({ "text": typed }));
            let offered = client.labels(place, json!({ "line": typed.matches('\n').count(), "character": 0 }));
            assert!(offered.iter().any(|label| label.contains("target")), "{place}: {typed:?}: {offered:?}");
        }
    }
}

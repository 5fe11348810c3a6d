//! Fixing many problems at once, and severities in the editor and on the command line.

use serde_json::{Value, json};

use crate::{
    client::{Client, at},
    positions::edited,
};

const SUITE: &str = "\
kindlm: 1
projct: demo
suite: { name: demo }
tests:
  - name: 🦀 one
    command: echo hello
    expect: { output: { containss: [hello] }, guardrailss: { pii: { enabled: true } } }
  - name: two
    command: echo {{nme}}
    vars: { name: x }
    expect: { output: { containss: [hello] } }
";

fn resolving() -> Value {
    json!({ "textDocument": { "codeAction": { "dataSupport": true, "resolveSupport": { "properties": ["edit"] } } } })
}

fn actions(client: &mut Client, line: usize, context: Value) -> Vec<Value> {
    client.actions_in("kindlm.yaml", &at(line, 26), context)
}

/// Returns the text after an action's edit.
fn after(text: &str, action: &Value) -> String {
    edited(text, action["edit"]["changes"].as_object().unwrap().values().next().unwrap(), "utf-16")
}

fn of_kind<'a>(actions: &'a [Value], kind: &str) -> Vec<&'a Value> {
    actions.iter().filter(|action| action["kind"] == kind).collect()
}

#[test]
fn everything_safe_is_fixed_at_once() {
    for resolves in [false, true] {
        let mut client = Client::spawn(&[("kindlm.yaml", SUITE)]);
        let capabilities = if resolves { resolving() } else { json!({}) };
        let answer = client.initialize(capabilities, json!({ "trusted": true }));
        let kinds = &answer["capabilities"]["codeActionProvider"]["codeActionKinds"];
        assert!(kinds.as_array().unwrap().contains(&json!("source.fixAll.speclens")), "{kinds}");
        client.open("kindlm.yaml");
        for only in ["source", "source.fixAll", "source.fixAll.speclens"] {
            let found = actions(&mut client, 0, json!({ "diagnostics": [], "only": [only], "triggerKind": 2 }));
            let all = of_kind(&found, "source.fixAll.speclens");
            assert_eq!(all.len(), 1, "{found:?}");
            assert!(of_kind(&found, "quickfix").is_empty(), "{found:?}");
            let mut action = all[0].clone();
            assert_eq!(action["title"], "Apply all safe fixes in this file");
            if resolves {
                assert!(action.get("edit").is_none(), "{action}");
                action = client.request("codeAction/resolve", action)["result"].clone();
            }
            let fixed = SUITE
                .replace("projct", "project")
                .replace("containss", "contains")
                .replace("guardrailss", "guardrails");
            assert_eq!(after(SUITE, &action), fixed);
        }
        // No such action if another kind is requested, or no menu was opened.
        for context in [
            json!({ "diagnostics": [], "only": ["quickfix"] }),
            json!({ "diagnostics": [], "only": ["refactor"] }),
            json!({ "diagnostics": [], "triggerKind": 2 }),
        ] {
            let found = actions(&mut client, 0, context);
            assert!(of_kind(&found, "source.fixAll.speclens").is_empty(), "{found:?}");
        }
    }
}

#[test]
fn all_of_a_kind_are_fixed_at_once_and_never_in_another_text() {
    let mut client = Client::spawn(&[("kindlm.yaml", SUITE)]);
    client.initialize(resolving(), json!({ "trusted": true }));
    let mut text = client.open("kindlm.yaml");
    let found = actions(&mut client, 6, json!({ "diagnostics": [] }));
    let all = found.iter().find(|action| action["title"] == "Fix all `unknown-key` problems");
    let all = all.unwrap_or_else(|| panic!("{found:?}")).clone();
    let resolved = client.request("codeAction/resolve", all.clone())["result"].clone();
    assert!(after(&text, &resolved).contains("output: { contains: [hello] }, guardrails"), "{resolved}");
    client.replace("kindlm.yaml", &mut text, "name: two", "name: three", 2);
    let answer = client.request("codeAction/resolve", all);
    assert_eq!(answer["error"]["code"], -32801, "{answer}");
}

/// `speclens check --fix` and the editor's action for the whole file are the same.
#[test]
fn everything_safe_is_fixed_in_the_editor_as_in_the_terminal_when_fixes_follow_from_each_other() {
    let contract = "\
# contract
version: \"1.0\"
meta:
  type: skill
  path: skills/mail
  trigger: /mail
scenarios:
- name: sends
  description: sends
  tags: [smoke, negative]
  steps:
    invoke: /mail
  assertions:
  - type: artifact_exists
    path: a.md
    timeuot: 3
";
    let mut client =
        Client::spawn(&[("skills/mail/SKILL.md", "# Mail\n"), ("skills/mail/tests/scenarios.yaml", contract)]);
    client.initialize(resolving(), json!({}));
    let name = "skills/mail/tests/scenarios.yaml";
    client.open(name);
    let found = client.actions(name, &at(0, 0), Some("source.fixAll"));
    let resolved = client.request("codeAction/resolve", found[0].clone())["result"].clone();
    let in_editor = after(contract, &resolved);
    let fix = client.command_line(&["check", "--fix", name]);
    let in_terminal = std::fs::read_to_string(client.path(name)).unwrap();
    assert_eq!(in_editor, in_terminal, "{fix:?}");
    // The content of an unknown key is not checked before the key is renamed.
    assert!(in_editor.contains("  then:\n") && in_editor.contains("timeout: 3"), "{in_editor}");
}

#[test]
fn fixing_all_of_a_kind_leaves_out_what_brings_an_error_to_light() {
    let contract = "\
version: \"1.0\"
target: {type: skill, path: skills/mail, trigger: /mail}
scenarios:
  - name: sends
    tags: [negative]
    when: {invoke: /mail}
    then:
      - type: file_presnt
        path: a.md
      - type: file_abset
        path: b.md
      - type: log_entri
        path: c.log
        pattern: x
        min_occurrences: many
";
    let mut client =
        Client::spawn(&[("skills/mail/SKILL.md", "# Mail\n"), ("skills/mail/tests/scenarios.yaml", contract)]);
    client.initialize(resolving(), json!({}));
    let name = "skills/mail/tests/scenarios.yaml";
    client.open(name);
    let found = client.actions(name, &at(7, 16), Some("quickfix"));
    let all = found.iter().find(|action| action["title"].as_str().unwrap().contains("`unknown-type`"));
    let resolved = client.request("codeAction/resolve", all.unwrap_or_else(|| panic!("{found:?}")).clone());
    let expected = contract.replace("file_presnt", "file_present").replace("file_abset", "file_absent");
    assert_eq!(after(contract, &resolved["result"]), expected);
    // It is not offered at the problem that it leaves.
    let found = client.actions(name, &at(11, 16), Some("quickfix"));
    let titles: Vec<&str> = found.iter().filter_map(|action| action["title"].as_str()).collect();
    assert!(
        titles.contains(&"change the type to `log_entry`") && !titles.iter().any(|it| it.starts_with("Fix all")),
        "{titles:?}"
    );
}

/// The edit itself creates a missing file, if the client supports that.
#[test]
fn a_missing_file_is_created_by_an_edit() {
    let suite = "kindlm: 1\r\nproject: p\r\nsuite: { name: s }\r\ntests:\r\n  - name: 🦀 one\r\n    command: echo hi\r\n    expect: { output: { format: json, schemaFile: schemas/new.json } }\r\n";
    for creates in [false, true] {
        let mut client = Client::spawn(&[("kindlm.yaml", suite)]);
        let edit = json!({ "documentChanges": true, "resourceOperations": ["create", "rename", "delete"] });
        let capabilities = if creates { json!({ "workspace": { "workspaceEdit": edit } }) } else { json!({}) };
        client.initialize(capabilities, json!({ "trusted": true }));
        client.open("kindlm.yaml");
        client.diagnostics("kindlm.yaml", |found| found.iter().any(|problem| problem["code"] == "missing-file"));
        let found = client.actions("kindlm.yaml", &at(6, 52), None);
        let create = found.iter().find(|action| action["title"] == "create `schemas/new.json`");
        if !creates {
            assert!(create.is_none(), "{found:?}");
            continue;
        }
        let operations = create.unwrap_or_else(|| panic!("{found:?}"))["edit"]["documentChanges"].as_array().unwrap();
        assert_eq!(operations[0]["kind"], "create", "{operations:?}");
        let new = client.uri("schemas/new.json");
        assert_eq!(operations[0]["uri"], new, "{operations:?}");
        assert_eq!(operations[1]["textDocument"], json!({ "uri": new, "version": null }), "{operations:?}");
        let text = operations[1]["edits"][0]["newText"].as_str().unwrap();
        let path = client.directory.path().join("schemas/new.json");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        client.files_changed(&[("schemas/new.json", 1)]);
        client.diagnostics("kindlm.yaml", |found| found.iter().all(|problem| problem["code"] != "missing-file"));
    }
}

/// Settings in `speclens.yaml` apply in the editor and in the terminal.
#[test]
fn editor_and_terminal_agree_on_severities() {
    let settings = "severity: { missing-variable: warning, unknown-key: information, unused: off }\n";
    let mut client = Client::opened(&[("kindlm.yaml", SUITE), ("speclens.yaml", settings)]);
    let shown = client.diagnostics("kindlm.yaml", |found| !found.is_empty());
    let mut in_editor: Vec<(String, String, u64)> = shown
        .iter()
        .map(|problem| {
            let severity =
                ["error", "warning", "information", "hint"][problem["severity"].as_u64().unwrap() as usize - 1];
            let message = problem["message"].as_str().unwrap();
            (
                format!("{severity} {}", problem["code"]),
                message.to_owned(),
                problem["range"]["start"]["line"].as_u64().unwrap(),
            )
        })
        .collect();
    let output = client.command_line(&["check", "--format", "json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut in_terminal: Vec<(String, String, u64)> = report["suites"][0]["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|problem| {
            let kind = format!("{} {}", problem["severity"].as_str().unwrap(), problem["code"]);
            let line = problem["place"]["range"]["start"]["line"].as_u64().unwrap();
            let mut text = problem["message"].as_str().unwrap().to_owned();
            for label in ["note", "help"] {
                problem[label].as_str().into_iter().for_each(|part| text.push_str(&format!("\n{label}: {part}")));
            }
            (kind, text, line)
        })
        .collect();
    in_editor.sort();
    in_terminal.sort();
    assert_eq!(in_editor, in_terminal);
    assert!(in_editor.iter().any(|(kind, ..)| kind == "warning \"missing-variable\""), "{in_editor:?}");
    assert!(in_editor.iter().all(|(kind, ..)| !kind.contains("unused")), "{in_editor:?}");
}

#[test]
fn edit_of_a_fix_is_for_the_version_that_it_was_made_for() {
    let mut client = Client::spawn(&[("kindlm.yaml", SUITE)]);
    client.initialize(json!({ "workspace": { "workspaceEdit": { "documentChanges": true } } }), json!({}));
    let mut text = client.open("kindlm.yaml");
    for version in [1, 2] {
        if version == 2 {
            client.replace("kindlm.yaml", &mut text, "name: two", "name: three", version);
        }
        let found = actions(&mut client, 6, json!({ "diagnostics": [], "only": ["quickfix"] }));
        assert!(!found.is_empty());
        for action in found {
            let changes = action["edit"]["documentChanges"].as_array().unwrap_or_else(|| panic!("{action:#}"));
            let documents: Vec<_> = changes.iter().map(|change| &change["textDocument"]).collect();
            let uri = client.uri("kindlm.yaml");
            assert_eq!(documents, [&json!({ "uri": uri, "version": version })], "{action:#}");
        }
    }
}

/// The cursor is on the line of a problem, beside it, as after a jump to the line.
#[test]
fn fixes_of_a_line_are_offered_where_the_cursor_is_beside_them() {
    let suite = "kindlm: 1\nproject: p\nsuite: {name: s}\ntests:\n  - name: a\n    comand: echo a\n    expect: {output: {contains: [a]}}\n";
    for text in [suite.to_owned(), suite.replace('\n', "\r\n"), suite.replace("\n  ", "\n")] {
        let mut client = Client::opened(&[("kindlm.yaml", &text)]);
        let line = text.lines().position(|line| line.contains("comand")).unwrap();
        let place = |character: usize| json!({ "line": line, "character": character });
        let mut titles = |at: Value, trigger: u32| -> String {
            let range = json!({ "start": at, "end": at });
            let context = json!({ "diagnostics": [], "triggerKind": trigger });
            Value::from(client.actions_in("kindlm.yaml", &range, context)).to_string()
        };
        for character in [0, 17] {
            assert!(titles(place(character), 1).contains("`command`"), "{text}");
            assert!(!titles(place(character), 2).contains("`command`"), "an automatic request is about the cursor");
        }
    }
}

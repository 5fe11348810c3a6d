//! Buffers that were never saved: everything but running works in them, in every format.

use serde_json::{Value, json};

use crate::{
    client::{Client, at},
    positions::position,
};

/// A suite with a misspelled word, its correction, a name that occurs twice, and a key that has a hover.
struct Buffer {
    text: &'static str,
    misspelled: &'static str,
    corrected: &'static str,
    name: &'static str,
    key: &'static str,
}

const BUFFERS: [Buffer; 3] = [
    Buffer {
        text: "kindlm: 1\nproject: p\nsuite: { name: s }\nproviders: { ollama: {} }\nmodels: [{ id: m, provider: ollama, model: x }]\n\
               prompts:\n  ask: { user: hi }\ntests:\n  - name: a\n    prompt: ask\n    expect:\n      output:\n        contain: [b]\n",
        misspelled: "contain",
        corrected: "contains",
        name: "ask",
        key: "prompts",
    },
    Buffer {
        text: "cli: git\nproviders: [anthropic/claude-opus-4-6]\nthresholds:\n  models: { anthropic/claude-opus-4-6: 80 }\ntasks:\n  - id: a\n    \
               intent: Show the state of the repository\n    asert:\n      - exit_code: 0\n",
        misspelled: "asert",
        corrected: "assert",
        name: "anthropic/claude-opus-4-6",
        key: "intent",
    },
    Buffer {
        text: "version: \"1.0\"\ntarget: { type: skill, path: skills/demo, trigger: /demo }\nscenarios:\n  - name: a\n    \
               tags: [negative, slow]\n    when: { invoke: /demo }\n    then:\n      - type: file_presnt\n        path: x\n  - name: b\n    \
               tags: [negative, slow]\n    when: { invoke: /demo }\n    then:\n      - type: file_present\n        path: y\n",
        misspelled: "file_presnt",
        corrected: "file_present",
        name: "slow",
        key: "trigger",
    },
];

/// Returns the position in the middle of the first occurrence of a word.
fn inside(text: &str, word: &str) -> Value {
    position(text, text.find(word).unwrap() + 1)
}

/// A problem that the settings switch off is not reported, and not fixed either.
#[test]
fn fixing_everything_in_an_unsaved_buffer_obeys_the_settings_of_the_folder() {
    let mut client = Client::start(&[("speclens.yaml", "severity:\n  unknown-key: off\n")]);
    let text = "kindlm: 1\nproject: p\nsuite: { name: s }\nprojct: x\ntests:\n  - name: a\n    command: x\n    descripton: y\n    expect: { output: { contains: [x], maxLength: \"3\" } }\n";
    let buffer = "untitled:Untitled-1";
    client.open_text(buffer, text);
    let found = client.diagnostics(buffer, |_| true);
    assert!(found.iter().all(|found| found["code"] != "unknown-key"), "{found:?}");
    let found = client.actions(buffer, &at(0, 0), Some("source.fixAll"));
    let edits = &found[0]["edit"]["changes"][buffer];
    assert_eq!(edits.as_array().unwrap().len(), 1, "{found:?}");
    assert_eq!(edits[0]["range"]["start"]["line"], 8, "{found:?}");
}

#[test]
fn everything_but_running_works_in_a_buffer_that_was_never_saved() {
    let mut client = Client::start(&[]);
    for (number, buffer) in BUFFERS.iter().enumerate() {
        let uri = format!("untitled:Untitled-{number}");
        client.open_text(&uri, buffer.text);
        let found = client.diagnostics(&uri, |_| true);
        assert!(json!(found).to_string().contains(buffer.misspelled), "{found:?}");
        let mut ask = |method: &str, place: &str, more: Value| {
            client.ask_at(method, &uri, inside(buffer.text, place), more)["result"].clone()
        };
        let start = inside(buffer.text, buffer.misspelled);
        let range = json!({ "range": { "start": start, "end": start }, "context": { "diagnostics": [] } });
        let actions = ask("codeAction", buffer.misspelled, range);
        assert!(actions.to_string().contains(&format!("`{}`", buffer.corrected)), "{actions}");
        let items = ask("completion", buffer.misspelled, json!({}));
        assert!(items.to_string().contains(buffer.corrected), "{items}");
        assert!(ask("hover", buffer.key, json!({})).to_string().contains("markdown"), "{}", buffer.key);
        let places = ask("documentHighlight", buffer.name, json!({}));
        assert_eq!(places.as_array().map(Vec::len), Some(2), "{places}");
        let context = json!({ "context": { "includeDeclaration": true } });
        let places = ask("references", buffer.name, context);
        assert_eq!(places.as_array().map(Vec::len), Some(2), "{places}");
        let edits = ask("rename", buffer.name, json!({ "newName": "anthropic/other" }));
        assert_eq!(edits["changes"][&uri].as_array().map(Vec::len), Some(2), "{edits}");
        for method in ["documentSymbol", "foldingRange"] {
            let answer = ask(method, buffer.key, json!({}));
            assert!(answer.as_array().is_some_and(|found| !found.is_empty()), "{method}: {answer}");
        }
        let positions = json!({ "positions": [inside(buffer.text, buffer.key)] });
        assert!(ask("selectionRange", buffer.key, positions)[0]["parent"].is_object());
        for method in ["semanticTokens/full", "documentLink", "codeLens"] {
            let answer = ask(method, buffer.key, json!({}));
            assert!(!answer.is_null(), "{method}");
        }
        let refused = client.run_file(&uri);
        let reason = refused["result"]["reason"].as_str().unwrap().to_owned();
        assert!(reason.contains("save it") || reason.contains("cannot be run yet"), "{reason}");
    }
}

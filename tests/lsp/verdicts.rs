//! Results of the last run at the ends of lines.

use serde_json::{Value, json};

use crate::{client::Client, run, running::lenses_until};

const SUITE: &str = "kindlm: 1\nproject: p\nsuite: {name: s}\ntests:\n  - name: one\n    command: echo refund approve; echo x >> runs\n    expect:\n      output:\n        contains:\n          - refund approved\n          - \"refund\"\n";

/// Returns the labels of the hints, each with its line.
fn hints(client: &mut Client) -> Vec<(u64, String)> {
    let end = json!({ "line": 99, "character": 0 });
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": end });
    let document = json!({ "uri": client.uri("kindlm.yaml") });
    let found = client.request("textDocument/inlayHint", json!({ "textDocument": document, "range": range }));
    let label = |hint: &Value| (hint["position"]["line"].as_u64().unwrap(), hint["label"].as_str().unwrap().to_owned());
    found["result"].as_array().unwrap().iter().map(label).collect()
}

fn expected(hints: &[(u64, &str)]) -> Vec<(u64, String)> {
    hints.iter().map(|(line, label)| (*line, (*label).to_owned())).collect()
}

#[test]
fn each_line_shows_its_result_which_follows_every_edit() {
    for style in [str::to_owned, |text: &str| text.replace('\n', "\r\n"), |text: &str| text.replace('"', "'")] {
        let suite = style(SUITE);
        let mut client = Client::spawn(&[("kindlm.yaml", &suite)]);
        let refreshes = json!({ "workspace": { "inlayHint": { "refreshSupport": true } } });
        client.initialize(refreshes, json!({ "trusted": true }));
        let mut text = client.open("kindlm.yaml");
        assert_eq!(hints(&mut client), []);
        run(&mut client, "one");
        client.wait("the request to ask again", |message| message["method"] == "workspace/inlayHint/refresh");
        lenses_until(&mut client, "it failed", |titles| titles.iter().any(|title| title.starts_with('✗')));
        let missing = (9, "✗ closest: refund approve");
        assert_eq!(hints(&mut client), expected(&[missing, (10, "✓")]));

        client.replace("kindlm.yaml", &mut text, "refund approved", "refund approve", 2);
        assert_eq!(hints(&mut client), expected(&[(9, "✓"), (10, "✓")]), "it is judged before the answer");
        client.replace("kindlm.yaml", &mut text, "contains:", "notContains:", 3);
        let found = hints(&mut client);
        assert!(found.iter().all(|(_, label)| label.starts_with('✗')) && found.len() == 2, "{found:?}");

        let shown = |word: &str| json!({ "settings": { "speclens": { "inlayHints": { "verdicts": word } } } });
        client.replace("kindlm.yaml", &mut text, "notContains:", "contains:", 4);
        for (word, lines) in [("failures", 0), ("off", 0), ("all", 2)] {
            client.notify("workspace/didChangeConfiguration", shown(word));
            assert_eq!(hints(&mut client).len(), lines, "{word}");
        }
        client.replace("kindlm.yaml", &mut text, "echo refund", "echo a refund", 5);
        let stale = "stale: the command has changed since the test was recorded";
        assert_eq!(hints(&mut client), expected(&[(5, stale)]));
        assert_eq!(std::fs::read_to_string(client.path("runs")).unwrap(), "x\n", "it ran once");
    }
}

#[test]
fn what_the_run_found_is_accepted_by_an_action() {
    for style in [str::to_owned, |text: &str| text.replace('\n', "\r\n")] {
        let mut client = Client::start(&[("kindlm.yaml", &style(SUITE))]);
        let mut text = client.open("kindlm.yaml");
        run(&mut client, "one");
        lenses_until(&mut client, "it failed", |titles| titles.iter().any(|title| title.starts_with('✗')));
        let place = json!({ "line": 9, "character": 14 });
        let actions = client.actions("kindlm.yaml", &json!({ "start": place, "end": place }), Some("quickfix"));
        let title = "Accept what the run found: `refund approve`";
        let action = actions.iter().find(|action| action["title"] == title).unwrap_or_else(|| panic!("{actions:?}"));
        let changes = action["edit"].to_string();
        assert!(changes.contains("\"newText\":\"refund approve\""), "{changes}");
        client.replace("kindlm.yaml", &mut text, "refund approved", "refund approve", 2);
        assert_eq!(hints(&mut client), expected(&[(9, "✓"), (10, "✓")]));
        let actions = client.actions("kindlm.yaml", &json!({ "start": place, "end": place }), Some("quickfix"));
        assert!(actions.iter().all(|action| !action["title"].as_str().unwrap().starts_with("Accept")), "{actions:?}");
    }
}

#[test]
fn failed_assertion_is_removed_only_on_request_and_seen_values_are_completed() {
    for style in [
        str::to_owned,
        |text: &str| text.replace('\n', "\r\n"),
        |text: &str| text.replace("          - ", "        - "),
    ] {
        let mut client = Client::start(&[("kindlm.yaml", &style(SUITE))]);
        let mut text = client.open("kindlm.yaml");
        run(&mut client, "one");
        lenses_until(&mut client, "it failed", |titles| titles.iter().any(|title| title.starts_with('✗')));
        let place = json!({ "line": 9, "character": 14 });
        let range = json!({ "start": place, "end": place });
        let actions = client.actions("kindlm.yaml", &range, Some("quickfix"));
        let action = actions.iter().find(|action| action["title"] == "Remove this assertion");
        let action = action.unwrap_or_else(|| panic!("{actions:?}"));
        assert!(action["isPreferred"].is_null(), "{action}");
        let edit = action["edit"].to_string();
        assert!(edit.contains("\"newText\":\"\"") && edit.contains("\"line\":10,\"character\":0"), "{edit}");
        assert_eq!(client.actions("kindlm.yaml", &range, Some("source.fixAll")), Vec::<Value>::new());

        client.replace("kindlm.yaml", &mut text, "refund approved", "", 2);
        let document = json!({ "uri": client.uri("kindlm.yaml") });
        let character = text.lines().nth(9).unwrap().len();
        let place = json!({ "line": 9, "character": character });
        let found = client.request("textDocument/completion", json!({ "textDocument": document, "position": place }));
        let items = found["result"]["items"].as_array().or(found["result"].as_array()).unwrap();
        let item = items.iter().min_by_key(|item| item["sortText"].as_str()).unwrap();
        assert_eq!(
            (item["label"].as_str(), item["detail"].as_str()),
            (Some("refund approve"), Some("seen")),
            "{found}"
        );
    }
}

#[test]
fn attempts_that_differ_are_shown_one_by_one() {
    let suite = "kindlm: 1\nproject: p\nsuite: {name: s}\ndefaults: {repeat: 3, concurrency: 1}\ntests:\n  - name: one\n    command: echo x >> $PWD/runs; wc -l < $PWD/runs\n    expect:\n      output:\n        notContains: ['2']\n";
    let mut client = Client::start(&[("kindlm.yaml", suite)]);
    client.open("kindlm.yaml");
    run(&mut client, "one");
    lenses_until(&mut client, "it ended", |titles| titles.iter().any(|title| title == "✗ 2/3"));
    let found = hints(&mut client);
    let [(9, label)] = found.as_slice() else { panic!("{found:?}") };
    assert!(label.starts_with("✓✗✓ "), "{label}");
}

/// A suite whose assertion notices little of what its command does.
const LOOSE: &str = "kindlm: 1\nproject: p\nsuite: {name: s}\ntests:\n  - name: one\n    command: echo '{\"kindlm\":\"tool_call\",\"name\":\"refund\",\"arguments\":{\"order\":\"7\"}}'; echo done; echo x >> runs\n    expect:\n      output:\n        contains:\n          - done\n";

#[test]
fn faults_that_nothing_notices_are_counted_and_assertions_are_written() {
    let resolving = json!({ "textDocument": { "codeAction": { "resolveSupport": { "properties": ["edit"] } } } });
    for (abilities, style) in [
        (json!({}), str::to_owned as fn(&str) -> String),
        (resolving, |text: &str| text.replace('\n', "\r\n")),
        (json!({}), |text: &str| text.replace("\n          - done", "\n        - done")),
    ] {
        let suite = style(LOOSE);
        let mut client = Client::spawn(&[("kindlm.yaml", &suite)]);
        client.initialize(abilities, json!({ "trusted": true }));
        let mut text = client.open("kindlm.yaml");
        run(&mut client, "one");
        let audited = "audit: 2 of 9 faults noticed";
        lenses_until(&mut client, "the audit", |titles| titles.iter().any(|title| title == audited));
        let argument = json!([{ "uri": client.uri("kindlm.yaml"), "test": "one" }]);
        let transcript = client.execute("speclens.showTranscript", argument);
        assert!(transcript.to_string().contains("- the call of `refund` is repeated"), "{transcript}");

        let place = json!({ "line": 4, "character": 12 });
        let actions = client.actions("kindlm.yaml", &json!({ "start": place, "end": place }), Some("refactor"));
        let [action] = &actions[..] else { panic!("{actions:?}") };
        assert_eq!(action["title"], "Write assertions for `one` from its recorded run");
        let action = match action["edit"].is_null() {
            true => client.request("codeAction/resolve", action.clone())["result"].clone(),
            false => action.clone(),
        };
        let changes = action["edit"].to_string();
        assert!(changes.contains("trajectory") && changes.contains("exactMatch: true"), "{changes}");
        let end = if suite.contains('\r') { "\r\n" } else { "\n" };
        let added = format!(
            "- done{end}      trajectory:{end}        reference:{end}          - tool: refund{end}            args: {{ order: \"7\" }}{end}        exactMatch: true"
        );
        client.replace("kindlm.yaml", &mut text, "- done", &added, 2);
        lenses_until(&mut client, "no fault is left", |titles| titles.iter().all(|title| !title.starts_with("audit")));
        let actions = client.actions("kindlm.yaml", &json!({ "start": place, "end": place }), Some("refactor"));
        assert!(actions.is_empty(), "{actions:?}");
        assert_eq!(std::fs::read_to_string(client.path("runs")).unwrap(), "x\n", "it ran once");
    }
}

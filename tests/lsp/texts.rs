//! Features inside strings, in every unit of columns: tokens, hints, text after a position.

use serde_json::{Value, json};

use super::{
    client::Client,
    positions::{offset_in, position_in, position_of, units},
};

const SUITE: &str = "kindlm: 1\r\nproject: \"ä😀\"\r\nsuite: { name: a }\r\ntests:\r\n  - name: one\r\n    command: \"echo 'ä😀' \\\"{{q}}\\\" | cat\"\r\n    vars: { q: \"ü😀\" }\r\n    expect: { output: { contains: [a] } }\r\n";

/// Returns the text of a range on one line, in the units of an encoding.
fn text(line: &Value, start: u64, length: u64, encoding: &str) -> String {
    let line = SUITE.split("\r\n").nth(usize::try_from(line.as_u64().unwrap()).unwrap()).unwrap();
    let mut at = 0;
    let mut found = String::new();
    for letter in line.chars() {
        if (start..start + length).contains(&at) {
            found.push(letter);
        }
        at += units(&letter.to_string(), encoding) as u64;
    }
    found
}

#[test]
fn tokens_are_counted_in_every_unit() {
    for encoding in ["utf-8", "utf-16", "utf-32"] {
        let mut client = Client::spawn(&[("kindlm.yaml", SUITE)]);
        let answer = client.initialize(json!({ "general": { "positionEncodings": [encoding] } }), json!({}));
        let types = answer["capabilities"]["semanticTokensProvider"]["legend"]["tokenTypes"].clone();
        client.open("kindlm.yaml");
        let document = json!({ "uri": client.uri("kindlm.yaml") });
        let shown = |answer: Value| -> Vec<String> {
            let data: Vec<u64> =
                answer["result"]["data"].as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect();
            let (mut line, mut column) = (0, 0);
            let tokens = data.chunks(5).map(|token| {
                column = if token[0] == 0 { column + token[1] } else { token[1] };
                line += token[0];
                let name = types[usize::try_from(token[3]).unwrap()].as_str().unwrap();
                format!("{name} {}", text(&json!(line), column, token[2], encoding))
            });
            tokens.collect()
        };
        let all = shown(client.request("textDocument/semanticTokens/full", json!({ "textDocument": document })));
        assert_eq!(
            all,
            [
                "function echo", "string 'ä😀'", "string \\\"", "parameter {{q}}", "string \\\"", "operator |",
                "function cat"
            ]
        );
        let range = json!({ "start": { "line": 5, "character": 0 }, "end": { "line": 6, "character": 0 } });
        let part = json!({ "textDocument": document, "range": range });
        assert_eq!(shown(client.request("textDocument/semanticTokens/range", part)), all);
        let range = json!({ "start": { "line": 7, "character": 0 }, "end": { "line": 8, "character": 0 } });
        let none = json!({ "textDocument": document, "range": range });
        assert!(shown(client.request("textDocument/semanticTokens/range", none)).is_empty());
    }
}

#[test]
fn hints_are_after_placeholders_and_can_be_switched_off() {
    for encoding in ["utf-8", "utf-16", "utf-32"] {
        let mut client = Client::spawn(&[("kindlm.yaml", SUITE)]);
        let answer = client.initialize(json!({ "general": { "positionEncodings": [encoding] } }), json!({}));
        assert_eq!(answer["capabilities"]["inlayHintProvider"]["resolveProvider"], true);
        client.open("kindlm.yaml");
        let document = json!({ "uri": client.uri("kindlm.yaml") });
        let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 8, "character": 0 } });
        let ask = json!({ "textDocument": document, "range": range });
        let found = client.request("textDocument/inlayHint", ask.clone())["result"].clone();
        let [hint] = found.as_array().unwrap().as_slice() else { panic!("{found}") };
        assert_eq!(hint["label"], "= ü😀");
        assert!(SUITE[..offset_in(SUITE, &hint["position"], encoding)].ends_with("{{q}}"), "{hint}");
        let settings = json!({ "settings": { "speclens": { "inlayHints": { "enable": false } } } });
        client.notify("workspace/didChangeConfiguration", settings);
        assert_eq!(client.request("textDocument/inlayHint", ask)["result"], json!([]));
    }
}

#[test]
fn hover_shows_values_in_every_unit() {
    for encoding in ["utf-8", "utf-16", "utf-32"] {
        let mut client = Client::spawn(&[("kindlm.yaml", SUITE)]);
        client.initialize(json!({ "general": { "positionEncodings": [encoding] } }), json!({}));
        client.open("kindlm.yaml");
        let found = client.hover("kindlm.yaml", position_in(SUITE, SUITE.find("q}}").unwrap(), encoding));
        assert_eq!(found["contents"]["value"], "**{{q}}** · `ü😀`");
        let [start, end] = ["start", "end"].map(|end| offset_in(SUITE, &found["range"][end], encoding));
        assert_eq!(&SUITE[start..end], "{{q}}");
    }
}

#[test]
fn docs_of_completions_come_when_they_are_asked_for() {
    for lazy in [true, false] {
        let mut client = Client::spawn(&[("kindlm.yaml", "kindlm: 1\n\n")]);
        let properties = if lazy { json!(["documentation"]) } else { json!([]) };
        let item = json!({ "resolveSupport": { "properties": properties } });
        client.initialize(json!({ "textDocument": { "completion": { "completionItem": item } } }), json!({}));
        client.open("kindlm.yaml");
        let place = json!({ "line": 1, "character": 0 });
        let found = client.ask_at("completion", "kindlm.yaml", place, json!({}))["result"]["items"].clone();
        let item = found.as_array().unwrap().iter().find(|item| item["label"] == "tests").unwrap().clone();
        assert_eq!(item["documentation"].is_null(), lazy);
        let resolved = client.request("completionItem/resolve", item.clone())["result"].clone();
        assert_eq!(resolved["label"], "tests");
        let docs = resolved["documentation"]["value"].as_str().unwrap();
        assert!(docs.starts_with("**tests**"), "{docs}");
        let mut unknown = item;
        unknown["data"] = json!({ "list": 1_000_000, "index": 0 });
        assert_eq!(client.request("completionItem/resolve", unknown)["result"]["label"], "tests");
    }
}

#[test]
fn contracts_have_hints_tokens_and_names_to_complete() {
    let contract = "version: \"1.0\"\ntarget: { type: skill, path: skills/a, trigger: /a }\nscenarios:\n  - name: 😀\n    when: { invoke: /a }\n    then:\n      - { type: artifact_exists, path: 'out/{{ today }}/*.md' }\n";
    let name = "skills/a/tests/scenarios.yaml";
    let mut client = Client::opened(&[(name, contract), ("clawspec.yaml", "version: \"1.0\"\n")]);
    let document = json!({ "uri": client.uri(name) });
    let range = json!({ "start": { "line": 6, "character": 0 }, "end": { "line": 7, "character": 0 } });
    let ask = json!({ "textDocument": document, "range": range });
    let found = client.request("textDocument/inlayHint", ask)["result"].clone();
    let labels: Vec<&str> = found.as_array().unwrap().iter().map(|hint| hint["label"].as_str().unwrap()).collect();
    assert!(labels[0].starts_with("= 20") && labels[0].len() == 12, "{labels:?}");
    assert_eq!(labels[1], "no file");
    let resolved = client.request("inlayHint/resolve", found[1].clone())["result"].clone();
    assert!(resolved["tooltip"]["value"].as_str().unwrap().contains("no file matches"), "{resolved}");
    let tokens = client.about(name, "semanticTokens/full");
    assert_eq!(tokens["data"].as_array().unwrap().len(), 5, "{tokens}");
    let place = position_of(contract, "today");
    let offered = client.labels(name, place.clone());
    assert!(offered.contains(&"run_id".to_owned()), "{offered:?}");
    assert_eq!(client.ask_at("prepareRename", name, place, json!({}))["result"], Value::Null);
}

#[test]
fn a_list_says_once_what_holds_for_all() {
    let contract = "version: \"1.0\"\nscenarios:\n  - name: 😀\n    then:\n      - \n";
    let place = "skills/a/tests/scenarios.yaml";
    let mut sizes = Vec::new();
    for shares in [false, true] {
        let mut client = Client::spawn(&[(place, contract), ("clawspec.yaml", "{}\n")]);
        let item = json!({ "snippetSupport": true, "resolveSupport": { "properties": ["documentation"] } });
        let known = if shares { json!(["editRange", "insertTextFormat", "insertTextMode"]) } else { json!([]) };
        let completion = json!({ "completionItem": item, "completionList": { "itemDefaults": known } });
        client.initialize(json!({ "textDocument": { "completion": completion } }), json!({}));
        client.open(place);
        let at = json!({ "line": 4, "character": 8 });
        let found = client.ask_at("completion", place, at, json!({}))["result"].clone();
        let items = found["items"].as_array().unwrap();
        assert!(items.len() > 25, "{found}");
        for item in items {
            assert!(item.get("commitCharacters").is_none() && item.get("documentation").is_none(), "{item}");
            let edit = &item["textEdit"];
            let text = if shares { &item["textEditText"] } else { &edit["newText"] };
            assert!(text.is_string(), "{item}");
            let range = if shares { &found["itemDefaults"]["editRange"] } else { &edit["range"] };
            assert_eq!(range["start"]["character"], 8);
        }
        sizes.push(found.to_string().len());
    }
    // 30 assertions with all their required keys: docs are sent on request only.
    assert!(sizes[1] < 9 * 1024 && sizes[1] * 5 < sizes[0] * 4, "{sizes:?}");
}

#[test]
fn hover_links_to_a_line_of_the_reference() {
    let contract =
        "version: \"1.0\"\nscenarios:\n  - name: 😀\n    then:\n      - type: tool_was_called\n        tool: x\n";
    let place = "skills/a/tests/scenarios.yaml";
    let mut client = Client::start(&[(place, contract), ("clawspec.yaml", "{}\n"), ("kindlm.yaml", SUITE)]);
    client.open(place);
    client.open("kindlm.yaml");
    for (name, line, character, wanted) in [
        (place, 4, 16, "#### `type: tool_was_called`"),
        (place, 5, 9, "| `tool` | string"),
        (place, 3, 5, "| `then` | list"),
        ("kindlm.yaml", 5, 5, "| `command` | "),
        ("kindlm.yaml", 7, 15, "| `output` | "),
    ] {
        let found = client.hover(name, json!({ "line": line, "character": character }));
        let words = found["contents"]["value"].as_str().unwrap_or_default();
        let (_, link) = words.split_once("[Reference](").unwrap_or_else(|| panic!("{found}"));
        let (address, number) = link.trim_end_matches(')').split_once("#L").unwrap();
        let path = url::Url::parse(address).unwrap().to_file_path().unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        let line = text.lines().nth(number.parse::<usize>().unwrap() - 1).unwrap();
        assert!(line.starts_with(wanted), "{wanted}: {line}");
    }
}

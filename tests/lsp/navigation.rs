//! Navigation in a document, in every unit of columns, with Windows line breaks, emoji and a half-typed test.

use serde_json::{Value, json};

use crate::client::Client;

const SUITE: &str = "kindlm: 1\r
project: demo\r
suite: {name: demo}\r
prompts: {'ä😀 ask': {user: 'ä😀 {{q}}'}}\r
tests:\r
  - {name: ä😀 one, prompt: 'ä😀 ask', vars: {q: x}, expect: &ok {output: {format: json, schemaFile: s/a.json}}}\r
  - name: \"open\r
    prompt: [\r
  - {name: two 😀, prompt: ä😀 ask, vars: {q: y}, expect: *ok}\r
";

/// Returns the place of a byte, in the unit.
fn place(offset: usize, encoding: &str) -> Value {
    let before = &SUITE[..offset];
    let line = &before[before.rfind('\n').map_or(0, |end| end + 1)..];
    let column = match encoding {
        "utf-8" => line.len(),
        "utf-16" => line.encode_utf16().count(),
        _ => line.chars().count(),
    };
    json!({ "line": before.matches('\n').count(), "character": column })
}

/// Returns the text of a range.
fn text(range: &Value, encoding: &str) -> String {
    let offset = |at: &Value| {
        (0..=SUITE.len()).filter(|at| SUITE.is_char_boundary(*at)).find(|end| place(*end, encoding) == *at)
    };
    SUITE[offset(&range["start"]).unwrap()..offset(&range["end"]).unwrap()].to_owned()
}

#[test]
fn names_paths_and_selections_are_found_in_every_unit() {
    for encoding in ["utf-8", "utf-16", "utf-32"] {
        let mut client = Client::spawn(&[("kindlm.yaml", SUITE), ("s/a.json", "{}\n")]);
        let answer = client.initialize(json!({ "general": { "positionEncodings": [encoding] } }), json!({}));
        assert_eq!(answer["capabilities"]["positionEncoding"], encoding);
        client.open("kindlm.yaml");
        let document = json!({ "uri": client.uri("kindlm.yaml") });
        let mut ask = |method: &str, at: usize, more: Value| {
            let mut params = json!({ "textDocument": document, "position": place(at, encoding) });
            params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            client.request(method, params)
        };
        let texts = |answer: &Value| -> Vec<String> {
            answer["result"].as_array().unwrap().iter().map(|found| text(&found["range"], encoding)).collect()
        };
        let use_of_prompt = SUITE.rfind("ask, vars").unwrap();
        let found = ask("textDocument/definition", use_of_prompt, json!({}));
        assert_eq!(texts(&found), ["ä😀 ask"]);
        assert_eq!(found["result"][0]["range"]["start"], place(SUITE.find("ä😀 ask").unwrap(), encoding));
        let all = json!({ "context": { "includeDeclaration": true } });
        assert_eq!(texts(&ask("textDocument/references", use_of_prompt, all)).len(), 3);
        let uses = json!({ "context": { "includeDeclaration": false } });
        assert_eq!(texts(&ask("textDocument/references", use_of_prompt, uses)).len(), 2);

        let variable = SUITE.find("q: y").unwrap();
        assert_eq!(texts(&ask("textDocument/documentHighlight", variable, json!({}))), ["q", "q", "q"]);
        let anchor = SUITE.find("&ok").unwrap() + 1;
        assert_eq!(texts(&ask("textDocument/documentHighlight", anchor, json!({}))), ["ok", "ok"]);

        let prepared = ask("textDocument/prepareRename", variable, json!({}));
        assert_eq!(prepared["result"]["placeholder"], "q");
        let renamed = ask("textDocument/rename", variable, json!({ "newName": "question" }));
        let edits = renamed["result"]["changes"].as_object().unwrap().values().next().unwrap().clone();
        assert_eq!(edits.as_array().unwrap().len(), 3, "{edits}");
        assert!(edits.as_array().unwrap().iter().all(|edit| edit["newText"] == "question"));
        let refused = ask("textDocument/rename", variable, json!({ "newName": "a b" }));
        assert!(refused["error"]["message"].as_str().unwrap().contains("`a b`"), "{refused}");
        let nothing = ask("textDocument/prepareRename", 0, json!({}));
        assert_eq!(nothing["result"], Value::Null);

        let links = ask("textDocument/documentLink", 0, json!({}));
        assert_eq!(texts(&links), ["s/a.json"]);
        assert!(links["result"][0]["target"].as_str().unwrap().ends_with("/s/a.json"));
        let target = ask("textDocument/definition", SUITE.find("s/a.json").unwrap() + 2, json!({}));
        assert_eq!(target["result"][0]["uri"], links["result"][0]["target"]);

        let grown = ask("textDocument/selectionRange", 0, json!({ "positions": [place(variable, encoding)] }));
        let innermost = &grown["result"][0];
        assert_eq!(text(&innermost["range"], encoding), "q");
        assert_eq!(text(&innermost["parent"]["range"], encoding), "q: y");

        let found = ask("workspace/symbol", 0, json!({ "query": "TW😀" }));
        let names: Vec<&str> =
            found["result"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["two 😀"]);
    }
}

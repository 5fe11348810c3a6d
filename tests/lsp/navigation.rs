//! Navigation in a document, in every unit of columns, with Windows line breaks, emoji and a half-typed test.

use serde_json::{Value, json};

use crate::{
    client::Client,
    positions::{offset_in, position_in},
};

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

/// Returns the text of a range.
fn text(range: &Value, encoding: &str) -> String {
    SUITE[offset_in(SUITE, &range["start"], encoding)..offset_in(SUITE, &range["end"], encoding)].to_owned()
}

#[test]
fn names_paths_and_selections_are_found_in_every_unit() {
    for encoding in ["utf-8", "utf-16", "utf-32"] {
        let mut client = Client::spawn(&[("kindlm.yaml", SUITE), ("s/a.json", "{}\n")]);
        let answer = client.initialize(json!({ "general": { "positionEncodings": [encoding] } }), json!({}));
        assert_eq!(answer["capabilities"]["positionEncoding"], encoding);
        client.open("kindlm.yaml");
        let mut ask = |method: &str, at: usize, more: Value| {
            client.ask_at(method, "kindlm.yaml", position_in(SUITE, at, encoding), more)
        };
        let texts = |answer: &Value| -> Vec<String> {
            answer["result"].as_array().unwrap().iter().map(|found| text(&found["range"], encoding)).collect()
        };
        let use_of_prompt = SUITE.rfind("ask, vars").unwrap();
        let found = ask("definition", use_of_prompt, json!({}));
        assert_eq!(texts(&found), ["ä😀 ask"]);
        assert_eq!(found["result"][0]["range"]["start"], position_in(SUITE, SUITE.find("ä😀 ask").unwrap(), encoding));
        let all = json!({ "context": { "includeDeclaration": true } });
        assert_eq!(texts(&ask("references", use_of_prompt, all)).len(), 3);
        let uses = json!({ "context": { "includeDeclaration": false } });
        assert_eq!(texts(&ask("references", use_of_prompt, uses)).len(), 2);

        let variable = SUITE.find("q: y").unwrap();
        assert_eq!(texts(&ask("documentHighlight", variable, json!({}))), ["q", "q", "q"]);
        let anchor = SUITE.find("&ok").unwrap() + 1;
        assert_eq!(texts(&ask("documentHighlight", anchor, json!({}))), ["ok", "ok"]);

        let prepared = ask("prepareRename", variable, json!({}));
        assert_eq!(prepared["result"]["placeholder"], "q");
        let renamed = ask("rename", variable, json!({ "newName": "question" }));
        let edits = renamed["result"]["changes"].as_object().unwrap().values().next().unwrap().clone();
        assert_eq!(edits.as_array().unwrap().len(), 3, "{edits}");
        assert!(edits.as_array().unwrap().iter().all(|edit| edit["newText"] == "question"));
        let refused = ask("rename", variable, json!({ "newName": "a b" }));
        assert!(refused["error"]["message"].as_str().unwrap().contains("`a b`"), "{refused}");
        let nothing = ask("prepareRename", 0, json!({}));
        assert_eq!(nothing["result"], Value::Null);

        let links = ask("documentLink", 0, json!({}));
        assert_eq!(texts(&links), ["s/a.json"]);
        assert!(links["result"][0]["target"].as_str().unwrap().ends_with("/s/a.json"));
        let target = ask("definition", SUITE.find("s/a.json").unwrap() + 2, json!({}));
        assert_eq!(target["result"][0]["uri"], links["result"][0]["target"]);

        let grown = ask("selectionRange", 0, json!({ "positions": [position_in(SUITE, variable, encoding)] }));
        let innermost = &grown["result"][0];
        assert_eq!(text(&innermost["range"], encoding), "q");
        assert_eq!(text(&innermost["parent"]["range"], encoding), "q: y");

        let found = client.request("workspace/symbol", json!({ "query": "TW😀" }));
        let names: Vec<&str> =
            found["result"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["two 😀"]);
    }
}

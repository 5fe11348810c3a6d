//! Navigation in a document with Windows line breaks, emoji and a half-typed test.

use serde_json::{Value, json};

use crate::{
    client::Client,
    positions::{offset_in, position},
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
fn text(range: &Value) -> String {
    SUITE[offset_in(SUITE, &range["start"], "utf-16")..offset_in(SUITE, &range["end"], "utf-16")].to_owned()
}

#[test]
fn names_paths_and_selections_are_found() {
    let mut client = Client::opened(&[("kindlm.yaml", SUITE), ("s/a.json", "{}\n")]);
    let mut ask =
        |method: &str, at: usize, more: Value| client.ask_at(method, "kindlm.yaml", position(SUITE, at), more);
    let texts = |answer: &Value| -> Vec<String> {
        answer["result"].as_array().unwrap().iter().map(|found| text(&found["range"])).collect()
    };
    let uses = json!({ "context": { "includeDeclaration": false } });
    assert_eq!(texts(&ask("references", SUITE.rfind("ask, vars").unwrap(), uses)).len(), 2);
    let anchor = SUITE.find("&ok").unwrap() + 1;
    assert_eq!(texts(&ask("documentHighlight", anchor, json!({}))), ["ok", "ok"]);

    let variable = SUITE.find("q: y").unwrap();
    let refused = ask("rename", variable, json!({ "newName": "a b" }));
    assert!(refused["error"]["message"].as_str().unwrap().contains("`a b`"), "{refused}");
    let nothing = ask("prepareRename", 0, json!({}));
    assert_eq!(nothing["result"], Value::Null);

    let links = ask("documentLink", 0, json!({}));
    assert!(links["result"][0]["target"].as_str().unwrap().ends_with("/s/a.json"));
    let target = ask("definition", SUITE.find("s/a.json").unwrap() + 2, json!({}));
    assert_eq!(target["result"][0]["uri"], links["result"][0]["target"]);

    let grown = ask("selectionRange", 0, json!({ "positions": [position(SUITE, variable)] }));
    let innermost = &grown["result"][0];
    assert_eq!(text(&innermost["range"]), "q");
    assert_eq!(text(&innermost["parent"]["range"]), "q: y");

    let found = client.request("workspace/symbol", json!({ "query": "TW😀" }));
    let names: Vec<&str> = found["result"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["two 😀"]);
}

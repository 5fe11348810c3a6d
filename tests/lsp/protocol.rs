//! Messages that no correct client sends, and machines with few resources.

use serde_json::{Value, json};

use crate::{FILES, client::Client};

#[test]
fn messages_that_cannot_be_decoded_are_answered_without_an_id_and_do_not_end_the_server() {
    let mut client = Client::start(FILES);
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    let cases = [
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"textDocument/hover"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":true,"method":"textDocument/hover"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"textDocument/hover"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":[1],"method":"textDocument/hover"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":9223372036854775808,"method":"textDocument/hover"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1.5,"result":null}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":true,"result":{}}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":{},"result":1}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":[1],"error":{"code":1,"message":"no"}}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":9223372036854775808,"result":null}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":3}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":3,"error":{"code":"one"}}"#, -32600),
        (r#"{"jsonrpc":"2.0","method":7}"#, -32600),
        (r#"{"jsonrpc":"1.0","method":"initialized"}"#, -32600),
        (r#"{"jsonrpc":"2.0","method":"no/such","params":[1e999]}"#, -32700),
        (r#"{"jsonrpc":"2.0","method":"no/such","params":["\ud800"]}"#, -32700),
        (&format!(r#"{{"jsonrpc":"2.0","method":"no/such","params":{deep}}}"#), -32700),
        (&format!(r#"{{"jsonrpc":"2.0","method":"no/such","beside":{deep}}}"#), -32700),
    ];
    for (body, code) in cases {
        client.send_raw(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
        let answer = client.wait(body, |message| message.get("method").is_none());
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(code)), "{body} {answer}");
    }
    let bytes = b"{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"b\":\"\xff\"}";
    client.send_raw(format!("Content-Length: {}\r\n\r\n", bytes.len()).as_bytes());
    client.send_raw(bytes);
    let answer = client.wait("the answer to bytes that are not UTF-8", |message| message.get("method").is_none());
    assert_eq!(answer["error"]["code"], -32700, "{answer}");
    client.open("kindlm.yaml");
    client.diagnostics("kindlm.yaml", |_| true);
    assert_eq!(client.leave(), Some(0));
}

#[test]
fn unknown_requests_are_answered_and_unknown_notifications_are_not() {
    let mut client = Client::spawn(FILES);
    for method in ["textDocument/hover", "no/such", "$/no/such"] {
        let answer = client.request(method, json!({}));
        assert_eq!(answer["error"]["code"], -32002, "{method} {answer}");
    }
    client.initialize(json!({}), json!({}));
    client.notify("$/no/such", json!({}));
    for method in ["no/such", "$/no/such"] {
        let answer = client.request(method, json!({}));
        assert_eq!(answer["error"]["code"], -32601, "{method} {answer}");
    }
    assert_eq!(client.leave(), Some(0));
}

#[test]
fn many_requests_at_once_fit_into_two_gibibytes_of_address_space() {
    let tests = |count: usize| -> String {
        let test = |index: usize| format!("  - name: t{index}\n    command: 'true'\n    expct: {{}}\n");
        let all: String = (0..count).map(test).collect();
        format!("kindlm: 1\nproject: demo\nsuite: {{name: demo}}\ntests:\n{all}")
    };
    let mut client = Client::spawn_limited(2 * 1024 * 1024, &[("kindlm.yaml", &tests(500))]);
    client.initialize(json!({}), json!({ "trusted": true }));
    client.open("kindlm.yaml");
    let document = json!({ "textDocument": { "uri": client.uri("kindlm.yaml") } });
    let position = json!({ "line": 5, "character": 6 });
    let at = json!({ "textDocument": document["textDocument"], "position": position });
    let asked: Vec<u64> = (0..48)
        .map(|number| match number % 6 {
            0 => client.ask("textDocument/documentSymbol", document.clone()),
            1 => client.ask("textDocument/hover", at.clone()),
            2 => client.ask("textDocument/foldingRange", document.clone()),
            3 => client.ask("textDocument/completion", at.clone()),
            4 => client.ask("textDocument/semanticTokens/full", document.clone()),
            _ => client.ask("workspace/symbol", json!({ "query": "t" })),
        })
        .collect();
    for id in asked {
        let answer = client.answer(id);
        assert!(answer.get("result").is_some(), "{answer}");
    }
    client.diagnostics("kindlm.yaml", |found| found.len() >= 500);
    assert!(client.peak_address_space() < 2 * 1024 * 1024);
    assert_eq!(client.leave(), Some(0));
}

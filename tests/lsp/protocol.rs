//! Messages that no correct client sends, many at once, and machines with few resources.

use serde_json::{Value, json};

use crate::{FILES, SUITE, client::Client};

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
        (r#"{"jsonrpc":"2.0","id":1,"method":""}"#, -32600),
        ("[]", -32600),
        ("{garbage}", -32700),
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
    client.notify("textDocument/didChange", json!({ "nonsense": true }));
    client.open("kindlm.yaml");
    client.diagnostics("kindlm.yaml", |_| true);
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
}

#[test]
fn commands_with_wrong_arguments_are_answered_with_an_error() {
    let mut client = Client::start(FILES);
    client.open("kindlm.yaml");
    let uri = client.uri("kindlm.yaml");
    for (command, arguments) in [
        ("speclens.run", Value::Null),
        ("speclens.run", json!([])),
        ("speclens.run", json!([{ "uri": uri }])),
        ("speclens.run", json!([{ "uri": uri, "test": "no such test" }])),
        ("speclens.run", json!([7])),
        ("speclens.run", json!([{ "uri": uri, "test": "open", "models": "x" }])),
        ("speclens.runFile", json!([{ "uri": uri, "models": [5] }])),
        ("speclens.runFile", json!([{ "uri": "file:///elsewhere/kindlm.yaml" }])),
        ("speclens.nothing", json!([])),
    ] {
        let answer = client.execute(command, arguments);
        assert!(answer["error"]["message"].as_str().is_some_and(|message| !message.is_empty()), "{answer}");
    }
}

#[test]
fn a_thousand_rapid_edits_leave_the_text_as_the_client_sees_it() {
    let mut client = Client::start(FILES);
    let mut text = client.open("kindlm.yaml");
    let mut version = 2;
    for _ in 0..500 {
        client.replace("kindlm.yaml", &mut text, "[sorry", "[sörry😀", version);
        client.replace("kindlm.yaml", &mut text, "[sörry😀", "[sorry", version + 1);
        version += 2;
    }
    client.replace("kindlm.yaml", &mut text, "contains: [sorry]", "containz: [sorry]", version);
    let found = client.diagnostics("kindlm.yaml", |found| found.iter().any(|found| found["code"] == "unknown-key"));
    let problem = found.iter().find(|found| found["code"] == "unknown-key").unwrap();
    assert_eq!(problem["range"]["start"], json!({ "line": 14, "character": 8 }), "the text was garbled");
}

#[test]
fn requests_are_cancelled_under_load() {
    let mut client = Client::start(FILES);
    client.open("kindlm.yaml");
    let uri = client.uri("kindlm.yaml");
    let ids: Vec<u64> = (0..200)
        .map(|_| client.ask("textDocument/documentSymbol", json!({ "textDocument": { "uri": uri } })))
        .collect();
    for id in &ids {
        client.notify("$/cancelRequest", json!({ "id": id }));
    }
    // Each request gets exactly one answer: its result, or that it was cancelled.
    for id in ids {
        let answer = client.answer(id);
        assert!(answer.get("result").is_some() || answer["error"]["code"] == -32800, "{answer}");
    }
}

#[test]
fn a_client_that_does_not_read_is_still_heard() {
    let mut client = Client::start(FILES);
    client.open("kindlm.yaml");
    let uri = client.uri("kindlm.yaml");
    // More than any pipe can hold, while only the reader takes messages out.
    let ids: Vec<u64> =
        (0..4000).map(|_| client.ask("textDocument/codeLens", json!({ "textDocument": { "uri": uri } }))).collect();
    client.answer(*ids.last().unwrap());
}

#[test]
fn odd_first_messages_are_understood() {
    for odd in [
        json!({ "processId": null, "rootUri": null, "capabilities": {} }),
        json!({ "processId": 1, "rootUri": "file:///with a space", "capabilities": {}, "trace": "loud" }),
        json!({ "capabilities": { "workspace": { "workspaceEdit": { "failureHandling": "never-heard-of" } } }, "rootPath": 7 }),
        json!({ "capabilities": { "general": { "positionEncodings": ["utf-7", "utf-8"] } }, "initializationOptions": "text" }),
    ] {
        let mut client = Client::spawn(FILES);
        let answer = client.request("initialize", odd.clone());
        assert!(answer.get("result").is_some() || answer.get("error").is_some(), "{odd}");
        if answer.get("result").is_some() {
            client.notify("initialized", json!({}));
            client.open("kindlm.yaml");
            client.diagnostics("kindlm.yaml", |_| true);
        }
    }
}

#[test]
fn goodbyes_with_empty_parameters_are_understood() {
    let mut client = Client::start(FILES);
    let answer = client.request("shutdown", json!({}));
    assert_eq!(answer["result"], Value::Null, "{answer}");
    assert!(answer.get("error").is_none());
    client.notify("exit", json!({}));
    assert_eq!(client.exit_status(), Some(0));
}

#[test]
fn the_server_ends_when_the_client_hangs_up() {
    let mut client = Client::start(FILES);
    client.open("kindlm.yaml");
    client.hang_up();
    client.exit_status();
}

#[test]
fn the_server_ends_when_the_process_of_the_client_ends() {
    let mut parent = std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
    let mut client = Client::spawn(FILES);
    client.request("initialize", json!({ "processId": parent.id(), "rootUri": null, "capabilities": {} }));
    client.notify("initialized", json!({}));
    client.open("kindlm.yaml");
    client.diagnostics("kindlm.yaml", |_| true);
    // Its pipe stays open: another process may have it.
    parent.kill().unwrap();
    assert_eq!(client.exit_status(), Some(0));
    parent.wait().unwrap();
}

#[test]
fn positions_count_in_the_unit_that_the_client_offers() {
    let suite = SUITE.replace("name: refuses", "{name: 'täst 😀', nam: x}");
    let suite = suite.replace("    command: sh refuse.sh\n    expect:\n      output:\n        contains: [sorry]\n", "");
    for (encodings, column) in [(json!(["utf-8", "utf-16"]), 25), (json!(["utf-16"]), 22), (json!([]), 22)] {
        let capabilities = json!({ "general": { "positionEncodings": encodings } });
        let mut client = Client::opened_as(&[("kindlm.yaml", &suite)], capabilities, json!({}));
        let found = client.diagnostics("kindlm.yaml", |found| found.iter().any(|found| found["code"] == "unknown-key"));
        let problem = found.iter().find(|found| found["code"] == "unknown-key").unwrap();
        assert_eq!(problem["range"]["start"]["character"], column, "{encodings}: {problem}");
    }
}

#[test]
fn responses_that_a_refresh_replaces_arrive_in_the_order_of_their_requests() {
    let tests: String =
        (0..300).map(|index| format!("  - {{name: t{index}, command: 'true', expect: {{}}}}\n")).collect();
    let suite = format!("kindlm: 1\nproject: demo\nsuite: {{name: demo}}\ntests:\n{tests}");
    let mut client = Client::opened(&[("kindlm.yaml", &suite)]);
    let document = json!({ "uri": client.uri("kindlm.yaml") });
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 300, "character": 0 } });
    for method in ["textDocument/codeLens", "textDocument/inlayHint", "textDocument/diagnostic"] {
        let parameters = json!({ "textDocument": document, "range": range });
        let asked: Vec<u64> = (0..200).map(|_| client.ask(method, parameters.clone())).collect();
        let is_response = |message: &Value| message.get("method").is_none() && message["id"].is_u64();
        let arrived = asked.iter().map(|_| client.wait("a response", is_response)["id"].as_u64().unwrap());
        assert_eq!(arrived.collect::<Vec<_>>(), asked, "{method}");
    }
}

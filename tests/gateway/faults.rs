//! Faulty gateways: the run ends with an error that has a remedy.

use crate::loopback::{Answer, Loopback};

use super::workspace;

const ANY: &str = "{name: any, tags: [negative], when: {invoke: /demo}, then: [{type: file_absent, path: x}]}";

/// Returns the message about a run at a gateway with this answer.
fn said(answer: impl Fn() -> Answer + Send + 'static, options: &[&str]) -> (Option<i32>, String) {
    let gateway = Loopback::acting(move |_| answer());
    let place = workspace(&gateway.url(), &[ANY]);
    let mut all = vec!["run"];
    all.extend(options);
    let done = place.run(&all);
    (done.code, done.stdout.replace(&gateway.url(), "http://gateway").split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn every_fault_of_a_gateway_is_an_error_with_a_remedy() {
    let reply = |status: u16, body: &'static str| move || Answer::Reply(status, body.to_owned());
    for (answer, expected) in [
        (
            Box::new(reply(401, "no")) as Box<dyn Fn() -> Answer + Send>,
            "the gateway at http://gateway/webhook/mcp-skill-invoke requires a token (status 401); set \
             `CLAWSPEC_GATEWAY_AUTH_TOKEN` or `HOOKS_TOKEN` to the token of its hooks",
        ),
        (
            Box::new(reply(404, "")),
            "the gateway at http://gateway/webhook/mcp-skill-invoke has no such webhook (status 404); correct \
             `gateway_webhook_endpoint` in `clawspec.yaml`",
        ),
        (
            Box::new(reply(500, r#"{"error": {"message": "no model\nmore"}}"#)),
            "the gateway at http://gateway/webhook/mcp-skill-invoke failed with status 500: no model; check its log",
        ),
        (
            Box::new(|| {
                Answer::Bytes(
                    "HTTP/1.1 302 Found\r\nlocation: http://elsewhere/\r\ncontent-length: 0\r\n\r\n".to_owned(),
                )
            }),
            "the gateway at http://gateway/webhook/mcp-skill-invoke redirects to http://elsewhere/ (status 302), but \
             redirects are not followed; set `gateway_base_url` in `clawspec.yaml` to the final address",
        ),
        (
            Box::new(reply(200, "<html>welcome</html>")),
            "the response of the gateway at http://gateway/webhook/mcp-skill-invoke is invalid: it is not JSON: \
             `<html>welcome</html>`; check that `gateway_base_url` and `gateway_webhook_endpoint` in `clawspec.yaml` \
             name a gateway",
        ),
        (
            Box::new(|| Answer::Bytes("HTTP/1.1 200 OK\r\ncontent-length: 90\r\n\r\n{".to_owned())),
            "the response of the gateway at http://gateway/webhook/mcp-skill-invoke is incomplete:",
        ),
        (
            Box::new(reply(200, r#"{"runId": "a", "status": "failed", "error": "no key"}"#)),
            "the gateway at http://gateway/webhook/mcp-skill-invoke reports that the run failed: failed: no key",
        ),
    ] {
        let (code, text) = said(answer, &[]);
        assert!(code == Some(3) && text.contains(expected), "expected {expected}\n{code:?} {text}");
    }
}

#[test]
fn gateway_that_is_down_or_slow_is_named_with_its_address() {
    let place = workspace("http://127.0.0.1:9", &[ANY]);
    let done = place.run(&["run"]);
    let help = "start it with `openclaw gateway`, or correct `gateway_base_url` in `clawspec.yaml`";
    assert!(done.code == Some(3) && done.stdout.contains(help), "{done:?}");
    assert!(done.stdout.contains("cannot reach the gateway at http://127.0.0.1:9/webhook/"), "{done:?}");

    let (code, text) = said(|| Answer::Nothing, &["--timeout", "0.2"]);
    let expected = "did not answer within 0.2 s; raise `defaults.timeout` or `--timeout`";
    assert!(code == Some(3) && text.contains(expected), "{code:?} {text}");
}

#[test]
fn port_for_traces_that_is_taken_is_an_error_before_anything_is_started() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    for (then, code, started) in [("{type: no_span_errors}", Some(3), 0), ("{type: file_absent, path: x}", Some(0), 1)]
    {
        let gateway = Loopback::acting(|_| super::over("run-1"));
        let scenario = format!("{{name: any, tags: [negative], when: {{invoke: /demo}}, then: [{then}]}}");
        let place = workspace(&gateway.url(), &[&scenario]);
        place.write("speclens.yaml", format!("clawspec: {{traces: {{port: {port}}}}}\n"));
        let done = place.run(&["run"]);
        assert_eq!((done.code, gateway.requests().len()), (code, started), "{done:?}");
        assert_eq!(done.stdout.contains("cannot listen for traces at 127.0.0.1"), started == 0, "{done:?}");
    }
}

//! Failures on the way, and their messages.

use std::{
    io,
    sync::{Arc, Mutex},
};

use serde_json::json;
use speclens_schema::{
    evidence::{RunError, RunErrorKind, Unfinished},
    settings::{Api, Limits, Provider, Settings},
};

use super::{
    super::{Message, Models},
    KEY,
    loopback::{Answer, Loopback, ReceivedRequest, json as answer, step},
    models, question, said, with,
};

async fn error_of(server: &Loopback) -> RunError {
    models(Api::OpenAi, server).open("local/model-1").unwrap().reply(&question()).await.unwrap_err()
}

#[track_caller]
fn check(error: &RunError, kind: RunErrorKind, parts: &[&str]) {
    assert_eq!(error.kind, kind, "{error:?}");
    assert!(parts.iter().all(|part| error.message.contains(part)), "{}", error.message);
    assert!(!error.message.contains(KEY), "{}", error.message);
}

#[tokio::test]
async fn refused_key_names_its_variable_and_not_its_value() {
    for status in [401, 403] {
        let message = format!("Incorrect API key provided: {KEY}.");
        let server = Loopback::always(status, json!({ "error": { "message": message } })).await;
        let error = error_of(&server).await;
        check(&error, RunErrorKind::Key, &[&server.host, &status.to_string(), "provided: ***;", "LOCAL_KEY"]);
        assert_eq!(server.seen().len(), 1);
    }
}

#[tokio::test]
async fn provider_that_asks_to_wait_is_asked_again() {
    let busy = || answer(429, &[("retry-after", "0")], json!({ "error": { "message": "slow down" } }));
    let failed = answer(503, &[("retry-after", "0")], json!({ "error": { "message": "overloaded" } }));
    let server = Loopback::start(vec![busy(), failed, busy(), answer(200, &[], said("hello"))]).await;
    let reply = models(Api::OpenAi, &server).open("local/model-1").unwrap().reply(&question()).await.unwrap();
    assert_eq!((reply.text.as_str(), server.seen().len()), ("hello", 4));
}

#[tokio::test]
async fn wait_that_is_too_long_is_not_waited_for() {
    let server = Loopback::start(vec![answer(429, &[("retry-after", "3600")], json!({}))]).await;
    check(&error_of(&server).await, RunErrorKind::RateLimit, &["wait 3600 s"]);
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn account_without_credit_is_not_asked_again() {
    let body = json!({ "error": { "message": "You exceeded your current quota", "code": "insufficient_quota" } });
    let server = Loopback::always(429, body).await;
    check(&error_of(&server).await, RunErrorKind::RateLimit, &["exceeded your current quota", "add credit"]);
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn failure_of_a_provider_is_reported_with_its_words() {
    let body = json!({ "error": "the model crashed" });
    let server = Loopback::start(vec![answer(500, &[("retry-after", "0")], body)]).await;
    let error = error_of(&server).await;
    check(&error, RunErrorKind::Provider, &[&server.host, "500", "after 3 retries", "the model crashed"]);

    let server = Loopback::always(404, json!({ "error": { "message": "model `model-1` not found" } })).await;
    check(&error_of(&server).await, RunErrorKind::Provider, &["404", "`model-1` not found", "check the name"]);
}

#[tokio::test]
async fn failure_that_comes_with_a_status_of_success_is_reported_and_retried() {
    for api in [Api::OpenAi, Api::Anthropic, Api::Gemini, Api::Ollama] {
        let body = json!({ "error": { "message": format!("no access for {KEY}"), "code": 403 } });
        let server = Loopback::always(200, body).await;
        let error = models(api, &server).open("local/model-1").unwrap().reply(&question()).await.unwrap_err();
        check(&error, RunErrorKind::Key, &[&server.host, "403", "no access for ***"]);
        assert_eq!(server.seen().len(), 1);
    }
    let failed = json!({ "error": { "message": "overloaded" } });
    let server = Loopback::start(vec![answer(200, &[], failed), answer(200, &[], said("hello"))]).await;
    let reply = models(Api::OpenAi, &server).open("local/model-1").unwrap().reply(&question()).await.unwrap();
    assert_eq!((reply.text.as_str(), server.seen().len()), ("hello", 2));
    let server = Loopback::always(200, json!({ "error": "overloaded" })).await;
    let error = error_of(&server).await;
    check(&error, RunErrorKind::Provider, &[&server.host, "failed after 3 retries: overloaded"]);
    assert!(!error.message.contains("base_url"), "{}", error.message);
}

#[tokio::test]
async fn incomplete_answer_has_its_reason() {
    let chat = |reason: &str| {
        let mut body = said("I will");
        body["choices"][0]["finish_reason"] = json!(reason);
        body
    };
    let message = |reason: &str| {
        json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "model-1", "stop_reason": reason,
            "content": [{ "type": "text", "text": "I will" }], "usage": { "input_tokens": 100, "output_tokens": 10 },
        })
    };
    let candidate = |reason: &str| {
        json!({ "candidates": [{
            "content": { "parts": [{ "text": "I will" }], "role": "model" }, "finishReason": reason, "index": 0,
        }] })
    };
    let refusal = {
        let mut body = said("");
        body["choices"][0]["message"] = json!({ "role": "assistant", "content": null, "refusal": "I cannot." });
        body
    };
    let ollama = |reason: &str| {
        json!({
            "model": "model-1", "message": { "role": "assistant", "content": "I will" }, "done": true, "done_reason": reason,
        })
    };
    let refused = |reason: &str| Some(Unfinished::Refused(reason.to_owned()));
    for (api, body, expected) in [
        (Api::OpenAi, chat("stop"), None),
        (Api::OpenAi, chat("length"), Some(Unfinished::CutOff)),
        (Api::OpenAi, chat("content_filter"), refused("content_filter")),
        (Api::OpenAi, refusal, refused("refusal")),
        (Api::Anthropic, message("end_turn"), None),
        (Api::Anthropic, message("max_tokens"), Some(Unfinished::CutOff)),
        (Api::Anthropic, message("refusal"), refused("refusal")),
        (Api::Gemini, candidate("STOP"), None),
        (Api::Gemini, candidate("MAX_TOKENS"), Some(Unfinished::CutOff)),
        (Api::Gemini, candidate("SAFETY"), refused("SAFETY")),
        (Api::Gemini, json!({ "candidates": [{ "finishReason": "SAFETY", "index": 0 }] }), refused("SAFETY")),
        (Api::Gemini, json!({ "promptFeedback": { "blockReason": "SAFETY" } }), refused("SAFETY")),
        (Api::Ollama, ollama("stop"), None),
        (Api::Ollama, ollama("length"), Some(Unfinished::CutOff)),
    ] {
        let server = Loopback::always(200, body.clone()).await;
        let reply = models(api, &server).open("local/model-1").unwrap().reply(&question()).await;
        assert_eq!(reply.as_ref().map(|reply| &reply.unfinished), Ok(&expected), "{api:?}: {body}");
    }
}

#[tokio::test]
async fn arguments_that_are_no_json_keep_their_text() {
    const TEXT: &str = "{\"command\": \"echo fi";
    let mut body = said("I will");
    body["choices"][0]["message"]["tool_calls"] = json!([
        { "id": "a", "type": "function", "function": { "name": "run_command", "arguments": "{\"command\": \"ls\"}" } },
        { "id": "b", "type": "function", "function": { "name": "run_command", "arguments": TEXT } },
    ]);
    let server = Loopback::start(vec![answer(200, &[], body), answer(200, &[], said("sorry"))]).await;
    let model = models(Api::OpenAi, &server).open("local/model-1").unwrap();
    let mut request = question();
    let reply = model.reply(&request).await.unwrap();
    let arguments: Vec<_> = reply.calls.iter().map(|call| call.arguments.clone()).collect();
    assert_eq!((reply.text.as_str(), arguments), ("I will", vec![json!({ "command": "ls" }), json!({ "_raw": TEXT })]));
    assert_eq!(reply.usage.unwrap().output_tokens, 10);
    request.messages.push(Message::Model(reply));
    for call in ["a", "b"] {
        request.messages.push(Message::Result {
            call: call.to_owned(),
            tool: "run_command".to_owned(),
            text: "no".to_owned(),
        });
    }
    assert_eq!(model.reply(&request).await.unwrap().text, "sorry");
    // The calls are sent back as JSON, since servers refuse anything else.
    let back = &server.seen()[1].body["messages"][2]["tool_calls"][1]["function"]["arguments"];
    assert_eq!(serde_json::from_str::<serde_json::Value>(back.as_str().unwrap()).unwrap(), json!({ "_raw": TEXT }));
}

#[tokio::test]
async fn answer_that_is_cut_off_is_asked_for_again() {
    let cut = || {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n";
        step(move |_| Answer::Bytes(format!("{head}{{\"choices\": [")))
    };
    let server = Loopback::start(vec![cut(), answer(200, &[], said("hello"))]).await;
    let reply = models(Api::OpenAi, &server).open("local/model-1").unwrap().reply(&question()).await.unwrap();
    assert_eq!((reply.text.as_str(), server.seen().len()), ("hello", 2));
}

#[tokio::test]
async fn answer_that_says_nothing_known_is_unreadable() {
    let raw = |kind: &str, body: &str| {
        let text = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        step(move |_| Answer::Bytes(text.clone()))
    };
    for (step, part) in [
        (answer(200, &[], json!({ "hello": 1 })), "`choices[0].message`"),
        (answer(200, &[], json!([])), "`choices[0].message`"),
        (answer(200, &[], json!({ "choices": [{ "message": null }] })), "`choices[0].message`"),
        (raw("application/json", "{\"choices\": ["), "not valid JSON"),
        (raw("text/html", "<html>Log in</html>"), "expected JSON, found text/html: <html>Log in</html>"),
    ] {
        let server = Loopback::start(vec![step]).await;
        let error = error_of(&server).await;
        check(&error, RunErrorKind::Provider, &["the response of", &server.host, part, "`base_url`"]);
    }
    for (api, part) in [(Api::Anthropic, "content"), (Api::Gemini, "candidates[0]"), (Api::Ollama, "message")] {
        let server = Loopback::always(200, json!({ "hello": 1 })).await;
        let error = models(api, &server).open("local/model-1").unwrap().reply(&question()).await.unwrap_err();
        check(&error, RunErrorKind::Provider, &["the response of", &server.host, part]);
    }
}

#[tokio::test]
async fn slow_answer_ends_at_the_deadline() {
    let mut server = Loopback::start(vec![step(|_| Answer::Silence)]).await;
    let settings = Settings { limits: Limits { request_seconds: 1, ..Limits::default() }, ..settings_of(&server) };
    let error = with(settings).open("local/model-1").unwrap().reply(&question()).await.unwrap_err();
    check(&error, RunErrorKind::TimedOut, &["did not answer within 1 s", "`limits.request_seconds`"]);
    server.gone.recv().await.unwrap();
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn request_that_is_dropped_closes_its_connection() {
    let mut server = Loopback::start(vec![step(|_| Answer::Silence)]).await;
    let model = models(Api::OpenAi, &server).open("local/model-1").unwrap();
    let request = question();
    tokio::select! {
        reply = model.reply(&request) => panic!("{reply:?}"),
        () = server.asked.notified() => {}
    }
    server.gone.recv().await.unwrap();
}

#[tokio::test]
async fn request_above_the_cap_of_a_suite_waits() {
    let answered = |seen: &ReceivedRequest| match seen.body["model"].as_str() {
        Some("silent") => Answer::Silence,
        _ => Answer::Json(200, Vec::new(), said("hello")),
    };
    let mut server = Loopback::start(vec![step(answered)]).await;
    let models_of_one = Models::new(Arc::new(settings_of(&server)), 1, |_| None);
    let (silent, waiting) = (models_of_one.open("local/silent").unwrap(), models_of_one.open("local/waiting").unwrap());
    let held = tokio::spawn(async move { silent.reply(&question()).await });
    server.asked.notified().await;
    let waits = tokio::spawn(async move { waiting.reply(&question()).await });
    // Another suite is not blocked, and while it is answered the first one could be, too.
    let other = Models::new(Arc::new(settings_of(&server)), 1, |_| None).open("local/other").unwrap();
    other.reply(&question()).await.unwrap();
    let asked: Vec<_> = server.seen().iter().map(|seen| seen.body["model"].clone()).collect();
    assert_eq!(asked, ["silent", "other"]);
    held.abort();
    server.gone.recv().await.unwrap();
    assert_eq!(waits.await.unwrap().unwrap().text, "hello");
}

/// Settings with a provider that needs no key.
fn settings_of(server: &Loopback) -> Settings {
    let address = format!("http://{}/v1", server.host);
    let provider = Provider { base_url: Some(address.as_str().into()), ..Provider::default() };
    Settings { providers: [("local".to_owned(), provider)].into(), ..Settings::default() }
}

#[tokio::test]
async fn redirect_is_not_followed() {
    let elsewhere = Loopback::always(200, said("hello")).await;
    let location = format!("http://{}/v1/chat/completions", elsewhere.host);
    let server = Loopback::start(vec![answer(307, &[("location", &location)], json!({}))]).await;
    check(&error_of(&server).await, RunErrorKind::Provider, &["307", "`base_url`"]);
    assert!(elsewhere.seen().is_empty());
}

#[tokio::test]
async fn missing_key_is_an_error_before_anything_is_sent() {
    let server = Loopback::always(200, said("hello")).await;
    let provider = Provider {
        api: None,
        base_url: Some(format!("http://{}/v1", server.host).as_str().into()),
        key_env: Some("UNSET_KEY".into()),
    };
    let settings = Settings { providers: [("local".to_owned(), provider)].into(), ..Settings::default() };
    let models = with(settings);
    check(
        &models.open("local/m").unwrap_err(),
        RunErrorKind::Key,
        &["`local/m`", "set `UNSET_KEY` to a key for", &server.host],
    );
    let error = models.open("anthropic/claude").unwrap_err();
    check(&error, RunErrorKind::Key, &["set `ANTHROPIC_API_KEY`", "api.anthropic.com", "AI_GATEWAY_API_KEY"]);
    assert!(server.seen().is_empty());
}

#[test]
fn provider_with_a_key_is_opened_with_the_certificates_of_the_system() {
    let models = Models::new(Arc::default(), 1, |_| Some(KEY.to_owned()));
    match models.open("anthropic/claude-sonnet-4.5") {
        Ok(model) => assert!(format!("{model:?}").contains("api.anthropic.com")),
        // A machine may have none.
        Err(error) => check(&error, RunErrorKind::Provider, &["api.anthropic.com", "`ca-certificates`"]),
    }
}

#[tokio::test]
async fn address_without_a_key_of_its_own_gets_none() {
    let server = Loopback::always(200, said("hello")).await;
    let provider =
        Provider { base_url: Some(format!("http://{}/v1", server.host).as_str().into()), ..Provider::default() };
    let settings = Settings { providers: [("openai".to_owned(), provider)].into(), ..Settings::default() };
    let models = Models::new(Arc::new(settings), 4, |_| Some(KEY.to_owned()));
    models.open("openai/gpt-4o").unwrap().reply(&question()).await.unwrap();
    let seen = server.seen().pop().unwrap();
    assert!(!seen.headers.values().any(|value| value.contains(KEY)) && !seen.headers.contains_key("authorization"));
}

/// Collects log output.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn key_reaches_no_log_at_any_level() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber =
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(move || writer.clone()).finish();
    let guard = tracing::subscriber::set_default(subscriber);
    for api in [Api::OpenAi, Api::Anthropic, Api::Gemini, Api::Ollama] {
        let server = Loopback::start(vec![answer(401, &[], json!({ "error": "no" }))]).await;
        let models = models(api, &server);
        let model = models.open("local/model-1").unwrap();
        tracing::trace!(?models, ?model, "opened");
        model.reply(&question()).await.unwrap_err();
        assert!(server.seen()[0].headers.values().any(|value| value.contains(KEY)));
    }
    drop(guard);
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    // The log of the libraries is there, so the key would be, too.
    assert!(log.contains("hyper_util") && log.contains("opened"), "{log}");
    assert!(!log.contains(KEY), "{log}");
}

#[tokio::test]
async fn answer_without_end_is_not_kept() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 50000000\r\n\r\n";
    let server = Loopback::start(vec![step(move |_| Answer::Bytes(format!("{head}{}", " ".repeat(50_000_000))))]).await;
    check(&error_of(&server).await, RunErrorKind::Provider, &["is larger than 16 MiB"]);
    assert_eq!(server.seen().len(), 1);
}

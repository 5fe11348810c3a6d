//! Scripted gateways, over HTTP and as the program.

use std::{fs, os::unix::fs::symlink, path::Path};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    sync::mpsc,
};

use speclens_schema::gateway::config::Config;

use super::{ScriptedGateway, read};
use crate::{
    clock::Clock,
    model::tests::loopback::{Answer, Loopback, ReceivedRequest, step},
};

const WEBHOOK: &str = "/webhook/mcp-skill-invoke";

/// A gateway that plays a script in its own directory.
struct TestGateway {
    root: tempfile::TempDir,
    scripted_gateway: ScriptedGateway,
}

impl TestGateway {
    async fn of(script: &str) -> TestGateway {
        let root = tempfile::tempdir().unwrap();
        TestGateway::at(root, script).await
    }

    async fn at(root: tempfile::TempDir, script: &str) -> TestGateway {
        let path = root.path().join("demo.gateway.yaml");
        fs::write(&path, script).unwrap();
        let clock = Clock::fixed("2026-05-14T12:00:00Z").unwrap();
        let replaced = (Config::WEBHOOK, Config::LOG_PATTERN);
        let starting = ScriptedGateway::start(&path, "demo.gateway.yaml", root.path(), replaced, clock);
        let scripted_gateway = starting.await.unwrap();
        TestGateway { root, scripted_gateway }
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root.path().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    fn log(&self) -> String {
        self.read(".speclens/gateway/openclaw-2026-05-14.log")
    }

    async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        let (status, body) = request(self.scripted_gateway.base_url(), "POST", path, &body.to_string()).await;
        (status, serde_json::from_str(&body).unwrap_or(Value::String(body)))
    }

    async fn start(&self, command: &str, payload: Value, session_key: Option<&str>) -> (u16, Value) {
        let mut body = json!({ "skill_command": command, "payload": payload.to_string(), "test_mode": true });
        if let Some(key) = session_key {
            body["session_key"] = key.into();
        }
        self.post(WEBHOOK, body).await
    }

    async fn get(&self, path: &str) -> (u16, String) {
        request(self.scripted_gateway.base_url(), "GET", path, "").await
    }
}

/// Sends a request as plain bytes.
async fn request(base_url: &str, method: &str, path: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(base_url.strip_prefix("http://").unwrap()).await.unwrap();
    let head =
        format!("{method} {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all((head + body).as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head[9..12].parse().unwrap(), body.to_owned())
}

/// Returns a receiver of traces: it reports requests.
async fn receiver() -> (String, mpsc::UnboundedReceiver<ReceivedRequest>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let taking = step(move |seen| {
        let _ = sender.send(seen.clone());
        Answer::Json(200, Vec::new(), json!({}))
    });
    (format!("http://{}", Loopback::start(vec![taking]).await.host), receiver)
}

/// Returns each span with the name of its parent and its error.
fn outline(sent: &Value) -> Vec<(String, Option<String>, Option<String>)> {
    let spans = sent["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap();
    let name =
        |id: &Value| spans.iter().find(|span| span["spanId"] == *id).map(|span| span["name"].as_str().unwrap().into());
    let error = |span: &Value| span["status"]["message"].as_str().map(str::to_owned);
    spans.iter().map(|span| (span["name"].as_str().unwrap().into(), name(&span["parentSpanId"]), error(span))).collect()
}

const BRIEF: &str = r##"
runs:
  - when: { skill: /brief, params: { topic: tea } }
    agent: lead
    steps:
      - tool: { name: memory.search }
      - model: { name: sonnet, input_tokens: 90, output_tokens: 12, cost_usd: 0.004 }
      - spawn: { agent: copy, task: write about tea }
      - tool: { name: web.fetch, error: not found }
      - log: "run_id={{run_id}} approved"
      - span: { name: checked, attributes: { by: "{{ session_key }}", tries: 2 } }
      - write: { path: "memory/{{today}}.md", content: "# Tea\n" }
      - append: { path: "memory/{{today}}.md", content: "{{run_id}} {{other}}\n" }
      - answer: { status: 202, body: { runId: "{{run_id}}", at: "{{now}}" } }
  - when: { skill: /brief }
  - when: { agent: copy, says: coffee }
  - when: { agent: copy }
    steps:
      - tool: { name: write }
"##;

#[tokio::test]
async fn a_run_answers_writes_files_and_logs_what_it_does() {
    let gateway = TestGateway::of(&BRIEF.replace(" {{other}}", "")).await;
    let key = "hook:qa:skills-brief:smoke:1234";
    let (status, answer) = gateway.start("/brief today", json!({ "topic": "tea", "more": 1 }), Some(key)).await;
    let id = answer["runId"].as_str().unwrap().to_owned();
    assert_eq!((status, &answer["at"]), (202, &json!("2026-05-14T12:00:00Z")));
    assert_ne!(id, "1234", "the id that the caller made up is not that of the run");
    assert_eq!(gateway.read("memory/2026-05-14.md"), format!("# Tea\n{id}\n"));
    let log = gateway.log();
    let lines: Vec<String> = log.lines().map(|line| line.split_once(' ').unwrap().1.replace(&id, "ID")).collect();
    let child = lines[3].rsplit_once('=').unwrap().1.to_owned();
    let lines: Vec<String> = lines.iter().map(|line| line.replace(&child, "CHILD")).collect();
    // The duration is not the same each time.
    let lines: Vec<&str> = lines.iter().map(|line| line.split(" sessionId=").next().unwrap()).collect();
    assert_eq!(
        lines[..8],
        [
            "run_id=ID session_started agent=lead",
            "run_id=ID tool=memory.search agent=lead",
            "run_id=ID token_usage input=90 output=12 total=102",
            "run_id=ID tool=sessions_spawn agent=lead params.agentId=copy child_run_id=CHILD",
            "run_id=CHILD session_started agent=copy",
            "run_id=CHILD tool=write agent=copy",
            "embedded run done: runId=CHILD",
            "run_id=ID tool=web.fetch agent=lead",
        ]
    );
    assert_eq!(log.lines().nth(8).unwrap(), format!("run_id={id} approved"));
    assert!(gateway.scripted_gateway.log_pattern().unwrap().ends_with("/.speclens/gateway/openclaw-{date}.log"));
    assert_eq!(gateway.scripted_gateway.faults(), Vec::<String>::new());
    // The same session key is the same run.
    assert_eq!(gateway.start("/brief", json!({ "topic": "tea" }), Some(key)).await.1["runId"], json!(id));
}

#[tokio::test]
async fn spans_of_a_run_and_of_the_agents_it_starts_are_one_trace() {
    let gateway = TestGateway::of(&BRIEF.replace(" {{other}}", "")).await;
    let (address, mut traces) = receiver().await;
    gateway.scripted_gateway.export_to(&[("OTEL_EXPORTER_OTLP_ENDPOINT".to_owned(), format!("{address}/"))]);
    gateway.start("/brief", json!({ "topic": "tea" }), Some("key")).await;
    let ReceivedRequest { line, body: sent, .. } = traces.recv().await.unwrap();
    assert_eq!(line, "POST /v1/traces");
    let run = || Some("openclaw.run".to_owned());
    let spawn = || Some("execute_tool sessions_spawn".to_owned());
    let copy = || Some("invoke_agent copy".to_owned());
    let span = |name: &str, parent, error: Option<&str>| (name.to_owned(), parent, error.map(str::to_owned));
    assert_eq!(
        outline(&sent),
        [
            span("execute_tool memory.search", run(), None),
            span("chat sonnet", run(), None),
            span("execute_tool write", copy(), None),
            span("invoke_agent copy", spawn(), None),
            span("execute_tool sessions_spawn", run(), None),
            span("execute_tool web.fetch", run(), Some("not found")),
            span("checked", run(), None),
            span("openclaw.run", None, None),
        ]
    );
    let spans = &sent["resourceSpans"][0]["scopeSpans"][0]["spans"];
    assert_eq!(spans[6]["attributes"][0]["value"], json!({ "stringValue": "key" }));
    assert_eq!(spans[6]["attributes"][1]["value"], json!({ "intValue": "2" }));
    let digest = "2c70e12b7a0646f92279f427c7b38e7334d8e5389cff167a1dc30e73f826b683";
    assert_eq!(spans[7]["attributes"][0]["value"], json!({ "stringValue": digest }));
    let ids: std::collections::BTreeSet<&str> =
        spans.as_array().unwrap().iter().map(|span| span["spanId"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 8);
}

#[tokio::test]
async fn the_webhook_is_answered_first_where_no_step_says_otherwise() {
    let gateway = TestGateway::of("runs:\n- when: {skill: /a}\n  done: false\n  steps:\n  - wait_ms: 3600000\n").await;
    let (status, answer) = gateway.start("/a", json!({}), None).await;
    assert_eq!((status, &answer["ok"]), (200, &json!(true)));
    let other = gateway.start("/a", json!({}), None).await.1;
    assert_ne!(answer["runId"], other["runId"], "without a session key each run is one of its own");
}

#[tokio::test]
async fn a_skill_without_a_run_is_refused_and_named() {
    let gateway =
        TestGateway::of(BRIEF.replace(" {{other}}", "").replace("  - when: { skill: /brief }\n", "").as_str()).await;
    for (command, payload) in [("/brief", json!({ "topic": "coffee" })), ("/briefing", json!({ "topic": "tea" }))] {
        let (status, answer) = gateway.start(command, payload, None).await;
        let expected =
            format!("the scripted gateway demo.gateway.yaml has no run for the skill `{command}` with this message");
        assert_eq!((status, answer["error"].as_str().unwrap()), (422, expected.as_str()));
        assert_eq!(gateway.scripted_gateway.faults(), [expected]);
    }
    assert_eq!(gateway.post(WEBHOOK, json!({})).await.0, 400);
    assert_eq!(gateway.post("/hooks/other", json!({ "skill_command": "/brief" })).await.0, 404);
    assert_eq!(gateway.get(WEBHOOK).await.0, 405);
    assert_eq!(request(gateway.scripted_gateway.base_url(), "POST", WEBHOOK, "nonsense").await.0, 400);
}

#[tokio::test]
async fn a_message_that_is_not_a_command_is_found_in_the_payload() {
    let script = "runs:\n- when: {skill: /a, says: tea, params: {n: 1}}\n  steps:\n  - answer: {body: first}\n- when: {skill: /a}\n  steps:\n  - answer: {body: second}\n";
    let gateway = TestGateway::of(script).await;
    let payload = |invoke: &str, n: u32| json!({ "invoke": invoke, "params": { "n": n } });
    assert_eq!(gateway.start("/a", payload("write about tea", 1), None).await.1, json!("first"));
    assert_eq!(gateway.start("/a", payload("write about tea", 2), None).await.1, json!("second"));
    assert_eq!(gateway.start("/a", payload("write", 1), None).await.1, json!("second"));
}

#[tokio::test]
async fn health_and_judge_answer_as_the_script_says() {
    let gateway = TestGateway::of("health: {status: 503, body: starting}\nscores:\n- {asked: clear, score: 4, reasoning: It is.}\n- {asked: polite, score: 2.5}\n").await;
    assert_eq!(gateway.get("/health").await, (503, "starting".to_owned()));
    let ask = |rubric: &str| gateway.post("/qa/judge", json!({ "rubric": rubric, "text": "a", "section": null }));
    assert_eq!(ask("Is it clear?").await, (200, json!({ "score": 4.0, "reasoning": "It is." })));
    assert_eq!(ask("Is it polite?").await, (200, json!({ "score": 2.5 })));
    assert_eq!(ask("Is it long?").await.0, 404);
    assert_eq!(gateway.scripted_gateway.faults(), Vec::<String>::new());
    assert_eq!(TestGateway::of("runs: []\n").await.get("/health").await.0, 200);
}

#[tokio::test]
async fn the_program_plays_agents() {
    let script = "runs:\n- when: {agent: brand, says: tea}\n  steps:\n  - tool: {name: read}\n- when: {agent: brand}\n  steps:\n  - answer: {status: 500, body: no such session}\n";
    let gateway = TestGateway::of(script).await;
    let run = |message: &'static str| {
        let scripted_gateway = &gateway.scripted_gateway;
        async move {
            scripted_gateway.program(&["agent", "--local", "--agent", "brand", "--message", message, "--json"]).await
        }
    };
    let printed = run("write about tea").await;
    let answer: Value = serde_json::from_str(&printed.stdout).unwrap();
    let id = answer["meta"]["agentMeta"]["sessionId"].as_str().unwrap();
    assert_eq!(printed.exit_code, 0);
    assert!(gateway.log().contains(&format!("run_id={id} tool=read agent=brand\n")));
    let printed = run("other").await;
    assert_eq!((printed.exit_code, printed.stderr.as_str()), (1, "no such session"));
    assert_eq!(gateway.scripted_gateway.program(&["agents", "list", "--json"]).await.stdout, "[]");
    let printed = gateway.scripted_gateway.program(&["agent", "--agent", "other", "--message", "a"]).await;
    assert_eq!(printed.exit_code, 1);
    assert!(printed.stderr.contains("has no run for the agent `other`"), "{printed:?}");
    assert_eq!(gateway.scripted_gateway.program(&["gateway"]).await.exit_code, 1);
}

#[tokio::test]
async fn nothing_is_written_outside_of_the_workspace() {
    let outside = tempfile::tempdir().unwrap();
    let root = tempfile::tempdir().unwrap();
    symlink(outside.path(), root.path().join("out")).unwrap();
    symlink(outside.path().join("file.md"), root.path().join("link.md")).unwrap();
    fs::create_dir(root.path().join("real")).unwrap();
    symlink(root.path().join("real"), root.path().join("inner")).unwrap();
    let script = "runs:\n- when: {skill: /a}\n  steps:\n  - write: {path: out/a.md, content: a}\n  - write: {path: link.md, content: a}\n  - write: {path: inner/a.md, content: a}\n  - answer: {}\n";
    let gateway = TestGateway::at(root, script).await;
    assert_eq!(gateway.start("/a", json!({}), None).await.0, 200);
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    assert_eq!(gateway.read("real/a.md"), "a");
    let faults = gateway.scripted_gateway.faults();
    assert_eq!(faults[0], "demo.gateway.yaml:4: `out/a.md` is outside the workspace");
    assert!(faults[1].starts_with("demo.gateway.yaml:5: cannot write `link.md`"), "{faults:?}");
    assert_eq!(faults.len(), 2);
}

#[tokio::test]
async fn json_lines_are_those_of_openclaw() {
    let script =
        format!("{}log: {{ format: json, path: \"logs/{{{{today}}}}.log\" }}\n", BRIEF.replace(" {{other}}", ""));
    let gateway = TestGateway::of(&script).await;
    let id =
        gateway.start("/brief", json!({ "topic": "tea" }), Some("key")).await.1["runId"].as_str().unwrap().to_owned();
    let log = gateway.read("logs/2026-05-14.log");
    let messages: Vec<String> = log
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .map(|line| line["1"].as_str().unwrap().replace(&id, "ID"))
        .collect();
    assert_eq!(messages[0], "embedded run start: runId=ID sessionKey=key");
    assert_eq!(messages[1], "embedded run tool start: runId=ID tool=memory.search toolCallId=call_1");
    assert_eq!(messages[2], "embedded run tool end: runId=ID tool=memory.search toolCallId=call_1");
    assert_eq!(messages[3], "embedded run tool start: runId=ID tool=sessions_spawn toolCallId=call_2");
    assert!(gateway.scripted_gateway.log_pattern().unwrap().ends_with("/logs/{date}.log"));
}

#[tokio::test]
async fn agents_that_start_each_other_without_end_are_stopped() {
    let script = "runs:\n- when: {skill: /a}\n  steps:\n  - spawn: {agent: b}\n  - answer: {}\n- when: {agent: b}\n  steps:\n  - spawn: {agent: b}\nspans: false\nlog: {format: none}\n";
    let gateway = TestGateway::of(script).await;
    assert_eq!(gateway.start("/a", json!({}), None).await.0, 200);
    assert_eq!(gateway.scripted_gateway.faults(), ["demo.gateway.yaml:8: more than 16 agents wait for one another"]);
    assert_eq!(gateway.scripted_gateway.log_pattern(), None);
    assert!(!gateway.root.path().join(".speclens").exists());
}

#[tokio::test]
async fn dropped_scripted_gateway_listens_no_more() {
    let gateway = TestGateway::of("runs: []\n").await;
    let address = gateway.scripted_gateway.base_url().strip_prefix("http://").unwrap().to_owned();
    assert!(TcpStream::connect(&address).await.is_ok());
    let TestGateway { scripted_gateway, root: _root } = gateway;
    drop(scripted_gateway);
    // The server ends on its own thread: a connection that is still accepted is closed at once.
    while let Ok(mut stream) = TcpStream::connect(&address).await {
        let _ = stream.read(&mut [0; 1]).await;
    }
}

#[test]
fn a_script_that_cannot_be_read_is_named_with_its_reason() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("demo.gateway.yaml");
    let open = |path: &Path| read(path, "demo.gateway.yaml").unwrap_err();
    let missing = open(&path);
    assert!(missing.starts_with("cannot play the scripted gateway demo.gateway.yaml: No such file"), "{missing}");
    assert!(missing.ends_with("; create it, or correct `clawspec.gateway` in `speclens.yaml`"), "{missing}");
    fs::write(&path, "runs:\n  - when: {skill: brief}\n").unwrap();
    assert!(open(&path).starts_with("cannot play the scripted gateway demo.gateway.yaml: line 2: "));
}

use super::*;

fn call(run: &str, tool: &str, line: usize) -> Call {
    let (run, tool) = (run.to_owned(), tool.to_owned());
    Call { relation: RunRelation::Own, run, tool, id: None, to_agent: None, child_run: None, line }
}

const WORDS: &str = "t run_id=r1 session_started agent=lead\n\
    t run_id=r1 tool=sessions_spawn agent=lead params.agentId=copy child_run_id=r2\n\
    t run_id=r2 token_usage input=10 output=5 total=15\n\
    t run_id=r1 agent=lead tool=late\n\
    nothing\n";

#[test]
fn words_are_read() {
    let log = GatewayLog::read(WORDS, "r1", None);
    let session = Session { relation: RunRelation::Own, run: "r1".to_owned(), agent: "lead".to_owned(), line: 0 };
    assert_eq!(log.sessions, [session]);
    let (to_agent, child_run) = (Some("copy".to_owned()), Some("r2".to_owned()));
    assert_eq!(log.calls, [Call { to_agent, child_run, ..call("r1", "sessions_spawn", 1) }, call("r1", "late", 3)]);
    assert_eq!(log.usages, [Usage { relation: RunRelation::Started, input: 10, output: 5, total: 15, line: 2 }]);
    assert!(log.known == Some(0) && log.is_detailed && !log.is_done);
    assert_eq!(GatewayLog::read(WORDS, "r3", None), GatewayLog::default());
}

#[test]
fn empty_id_stands_for_every_run() {
    let log = GatewayLog::read(WORDS, "", None);
    assert_eq!((log.calls.len(), log.usages[0].relation), (2, RunRelation::Own));
}

/// Log of an OpenClaw 2026.9.6 gateway at level `debug` for a run that its webhook started: the run starts another
/// agent and ends; the gateway wakes its main session, which is another run; the other agent works and ends.
const OPENCLAW: &str = include_str!("tests/openclaw.jsonl");

/// Id of the run in the webhook's response, and the runs of the two agents.
const HOOK: &str = "5f469be8-47c7-4000-8944-cb84d06dc022";
const EMBEDDED: &str = "a355f0b6-f5d0-4091-9302-202f1edcdc52";
const DELEGATE: &str = "d6bfd5c3-fb5e-43b8-a3c8-f45058889394";

/// Returns the first lines of the log, up to and including the first one with this text.
fn until(text: &str) -> String {
    let last = OPENCLAW.lines().position(|line| line.contains(text)).unwrap();
    OPENCLAW.lines().take(last + 1).map(|line| format!("{line}\n")).collect()
}

#[test]
fn run_of_a_webhook_is_followed_to_the_agents_that_did_it() {
    let key = "agent:copy:subagent:e3d882c6-073b-47b3-8c01-45f0b1888044".to_owned();
    let log = GatewayLog::read(OPENCLAW, HOOK, None);
    let calls: Vec<(RunRelation, &str, &str)> =
        log.calls.iter().map(|call| (call.relation, call.run.as_str(), call.tool.as_str())).collect();
    assert_eq!(calls, [(RunRelation::Own, EMBEDDED, SPAWN), (RunRelation::Started, DELEGATE, "read")]);
    let [session] = &log.sessions[..] else { panic!("{:?}", log.sessions) };
    assert_eq!((session.relation, &session.run, session.agent.as_str()), (RunRelation::Started, &key, "copy"));
    assert!(log.is_detailed && log.is_done && log.other_program.is_none());
    assert_eq!((log.gaps, log.unclear, log.failure), (vec![], vec![], None));
    assert_eq!(log.traces, BTreeSet::from(["ec4e7149f21b78b2c8fdb9cc0c83a683".to_owned()]));
    // The line about the response has another id.
    let by_session = GatewayLog::read(OPENCLAW, "other", Some("hook:qa:demo:spawn:5555"));
    assert_eq!((by_session.calls, by_session.is_done), (log.calls, true));
    assert_eq!(GatewayLog::read(OPENCLAW, EMBEDDED, None).calls.len(), 2);
}

#[test]
fn run_is_done_when_the_runs_that_it_started_are_done() {
    let done = |text: &str| {
        let log = GatewayLog::read(text, HOOK, None);
        (log.is_done, log.gaps)
    };
    // Until the gateway logs it, it is unknown which run belongs to the webhook.
    assert_eq!(done(&until(&format!("embedded run done: runId={EMBEDDED}"))), (false, vec![]));
    assert_eq!(done(&until("hook agent run completed")), (false, vec![LogGap::ChildUnseen]));
    assert_eq!(done(&until("lane=session:agent:copy:subagent")), (false, vec![LogGap::ChildUnended]));
    assert_eq!(done(&until(&format!("embedded run start: runId={DELEGATE}"))), (false, vec![LogGap::ChildUnended]));
    assert_eq!(done(&until(&format!("[agent] run {DELEGATE} ended"))), (true, vec![]));
    // Without the lines that name the session, the span tells who started the run.
    let without_keys = |end: &str| -> String {
        until(end).lines().filter(|line| !line.contains("subagent")).map(|line| format!("{line}\n")).collect()
    };
    assert_eq!(
        done(&without_keys(&format!("embedded run start: runId={DELEGATE}"))),
        (false, vec![LogGap::ChildUnended])
    );
    assert_eq!(done(&without_keys(&format!("embedded run done: runId={DELEGATE}"))), (true, vec![]));
}

/// A gateway logs no end of a run that failed, only that its session has nothing to do any more.
#[test]
fn agent_that_failed_has_ended_when_its_session_is_idle() {
    let lane = |what: &str| {
        format!("{{\"1\":\"{what}: lane=session:agent:copy:subagent:k durationMs=1\",\"traceId\":\"abc\"}}\n")
    };
    let json = |message: &str| format!("{{\"1\":\"{message}\",\"traceId\":\"abc\"}}\n");
    let mut text = json("embedded run start: runId=r1")
        + &json("embedded run tool start: runId=r1 tool=sessions_spawn toolCallId=c")
        + &json("embedded run done: runId=r1 aborted=false")
        + &lane("lane enqueue")
        + &json("embedded run start: runId=r2 sessionKey=agent:copy:subagent:k")
        + &json("embedded run agent end: runId=r2 isError=true");
    assert_eq!(GatewayLog::read(&text, "r1", None).gaps, [LogGap::ChildUnended]);
    text += &lane("lane task error");
    let log = GatewayLog::read(&text, "r1", None);
    assert_eq!((log.is_done, log.gaps, log.failure), (true, vec![], None), "its failure is not that of the run");
    text += &lane("lane enqueue");
    assert_eq!(GatewayLog::read(&text, "r1", None).gaps, [LogGap::ChildUnended], "it tries again");
}

#[test]
fn delegation_of_any_run_is_seen() {
    let log = GatewayLog::read(OPENCLAW, "", None);
    let agents: Vec<&str> = log.sessions.iter().map(|session| session.agent.as_str()).collect();
    assert_eq!((agents, log.gaps), (vec!["copy"], vec![]));
    assert_eq!(GatewayLog::read(&until("hook agent run completed"), "", None).gaps, [LogGap::ChildUnseen]);
}

#[test]
fn log_at_level_info_has_no_calls() {
    let info: String =
        OPENCLAW.lines().filter(|line| line.contains("\"INFO\"")).map(|line| format!("{line}\n")).collect();
    let log = GatewayLog::read(&info, HOOK, None);
    assert!(log.known.is_some() && !log.is_detailed && log.is_done && log.calls.is_empty());
}

#[test]
fn carriage_returns_change_nothing_and_order_of_lines_no_call() {
    let log = GatewayLog::read(OPENCLAW, HOOK, None);
    assert_eq!(GatewayLog::read(&OPENCLAW.replace('\n', "\r\n"), HOOK, None), log);
    let backwards: Vec<&str> = OPENCLAW.lines().rev().collect();
    let other = GatewayLog::read(&backwards.join("\n"), HOOK, None);
    assert_eq!((other.calls.len(), other.traces), (2, log.traces));
}

#[track_caller]
fn check(text: &str, expected: Line) {
    assert_eq!(Line::read(text), expected, "{text}");
}

#[test]
fn line_says_what_its_form_says() {
    let run = || Some("r1".to_owned());
    let call = |tool: &str, id: Option<&str>| Event::Call {
        tool: tool.to_owned(),
        id: id.map(str::to_owned),
        to_agent: None,
        child_run: None,
    };
    let plain = || Line { run: run(), ..Line::default() };
    check("", Line::default());
    check("no words", Line::default());
    check("run_id=", Line::default());
    check("t run_id=r1 tool=x", Line { is_detailed: true, events: vec![call("x", None)], ..plain() });
    let sentence = "embedded run tool start: runId=r1 tool=web.fetch toolCallId=c";
    let of_gateway = || Line { is_of_gateway: true, ..plain() };
    let called = Line { is_detailed: true, has_end: true, events: vec![call("web.fetch", Some("c"))], ..of_gateway() };
    check(sentence, called.clone());
    check(&format!("{{\"1\": \"{sentence}\"}}"), called.clone());
    check(
        &format!("{{\"0\":\"{{\\\"subsystem\\\":\\\"x\\\"}}\",\"1\":{{\"a\":1}},\"2\":\"{sentence}\"}}"),
        called.clone(),
    );
    check(
        &format!("{{\"message\": \"{sentence}\", \"traceId\": \"abc\"}}"),
        Line { trace: Some("abc".to_owned()), ..called.clone() },
    );
    check(
        "{\"1\":\"embedded run tool end: runId=r1 tool=x\",\"_meta\":{\"logLevelName\":\"DEBUG\"}}",
        Line {
            is_detailed: true,
            has_end: true,
            events: vec![Event::CallEnded { tool: "x".to_owned() }],
            ..of_gateway()
        },
    );
    check(
        "{\"1\":{\"runId\":\"r1\",\"sessionId\":\"unknown\"},\"2\":\"it broke\",\"_meta\":{\"logLevelName\":\"WARN\"}}",
        Line { is_warning: true, ..of_gateway() },
    );
    check(
        "embedded run through CLI backend: runId=r1 provider=x",
        Line { has_end: true, events: vec![Event::OtherProgram], ..of_gateway() },
    );
    let stopped = Event::Done(RunEnd::Final(Some(Ok(()))));
    check("[agent] run r1 ended with stopReason=stop", Line { events: vec![stopped], ..of_gateway() });
    let dropped = "{\"0\":\"[openclaw] file log queue overflow; dropped 3 oldest records\",\"dropped\":3}";
    check(dropped, Line { events: vec![Event::Dropped], ..Line::default() });
}

/// Lines that say that the run `r1` called `mail.send`.
const CALLS: [&str; 16] = [
    "t run_id=r1 tool=mail.send agent=main",
    "t parent_run_id=p run_id=r1 tool=mail.send agent=main",
    "t run_id=r1 agent=main tool=mail.send",
    "t run_id=r1 tool=mail.send",
    "t tool=mail.send agent=main run_id=r1",
    "t run_id=\"r1\" tool=\"mail.send\" agent='main'",
    "t run_id=r1, tool=mail.send, agent=main",
    "t run_id=r1,tool=mail.send,agent=main",
    "[gw] (run_id=r1; tool=mail.send; agent=main)",
    "t runId=r1 toolName=mail.send",
    "t run_id: r1 tool: mail.send agent: main",
    "{\"run_id\":\"r1\",\"tool\":\"mail.send\",\"agent\":\"main\"}",
    "{\"event\":\"tool_call\",\"data\":{\"runId\":\"r1\",\"name\":\"mail.send\",\"args\":{\"tool\":\"x\",\"runId\":\"y\"}}}",
    "2026-05-14T12:00:00Z INFO {\"run_id\": \"r1\", \"tool\": {\"name\": \"mail.send\"}}",
    "{\"level\":\"info\",\"msg\":\"run_id=r1 tool=mail.send agent=main\"}",
    "{\"1\": \"t run_id=r1 tool=mail.send agent=a\"}",
];

#[test]
fn call_is_read_in_every_form() {
    for line in CALLS {
        for line in [line.to_owned(), format!("{line}\r"), format!("{} {line}", "x".repeat(200_000))] {
            let shown: String = line.chars().rev().take(100).collect::<String>().chars().rev().collect();
            if line.len() > 1000 && CALLS.iter().any(|it| line.ends_with(it) && it.starts_with('{')) {
                continue;
            }
            let log = GatewayLog::read(&line, "r1", None);
            let tools: Vec<&str> = log.own_calls().map(|call| call.tool.as_str()).collect();
            assert_eq!((tools, log.unclear.len(), log.known), (vec!["mail.send"], 0, Some(0)), "{shown}");
            let short = Line::excerpt(&line).expect("an excerpt");
            assert!(short.len() < 1000 && Line::read(&short) == Line::read(&line), "{short}");
        }
        assert_eq!(GatewayLog::read(line, "p", None).own_calls().count(), 0, "{line}");
        assert_eq!(GatewayLog::read(line, "r", None), GatewayLog::default(), "{line}");
    }
    // The run that is named as the caller started the other one.
    let child = GatewayLog::read(CALLS[1], "p", None);
    assert_eq!((child.known, child.calls[0].relation, child.calls[0].run.as_str()), (None, RunRelation::Started, "r1"));
}

#[test]
fn line_about_tools_that_cannot_be_read_is_unclear() {
    for (line, tool) in [
        ("t [r1] tool call -> mail.send", None),
        ("t run_id=r1 tool", None),
        ("{\"run\":{\"id\":\"r1\"},\"tool_calls\":[{\"fn\":\"mail.send\"}]}", None),
        ("t run_id=r1 tool=mail.send blocked by the policy", Some("mail.send")),
        (
            "{\"1\":\"embedded run tool retry: runId=r1 tool=mail.send\",\"_meta\":{\"logLevelName\":\"DEBUG\"}}",
            Some("mail.send"),
        ),
        ("t run_id=r1 token_usage input=many", None),
        ("t run_id=r1 tool=mail.se\u{fffd}d", None),
        ("  \"run_id\": \"r1\",", None),
        ("t run_id=r1 tools=mail.send,read", None),
    ] {
        let log = GatewayLog::read(line, "r1", None);
        let found: Vec<Option<&str>> = log.unclear.iter().map(|unclear| unclear.tool.as_deref()).collect();
        assert_eq!((found, log.known, log.calls.len()), (vec![tool], Some(0), 0), "{line}");
    }
    for line in [
        "t [r10] tool call -> mail.send",
        "t run_id=other tool call for r10",
        "t run_id=r1 tools=5",
        "t r1 opened the toolbox with 5 tools",
        "{\"1\":\"[trace:embedded-run] prep stages: runId=r1 stages=core-plugin-tools:1ms@2ms,bundle-tools:3ms@4ms\",\"_meta\":{\"logLevelName\":\"WARN\"}}",
        "{\"1\":\"[context-diag] pre-prompt: runId=r1 toolResultReducibleChars=0\",\"_meta\":{\"logLevelName\":\"DEBUG\"}}",
    ] {
        assert_eq!(GatewayLog::read(line, "r1", None).unclear, [], "{line}");
    }
    // Another run may be one that this run started.
    let other = GatewayLog::read("t run_id=other tool call for r1", "r1", None);
    assert_eq!((other.unclear.len(), other.known), (1, None));
    // What another line says about the same call is clear.
    let warned = "embedded run tool start: runId=r1 tool=read toolCallId=c1\nt runId=r1 tool called without a path: toolCallId=c1";
    assert_eq!(GatewayLog::read(warned, "r1", None).unclear, []);
}

#[test]
fn failed_end_is_read_in_every_form() {
    for (lines, reason) in [
        (
            "hook agent run completed runId=r1 status=error summary=LLM request failed: 401 model=m",
            "LLM request failed: 401",
        ),
        ("hook agent run completed runId=r1 status=error", "`status=error`"),
        (
            "{\"1\":{\"runId\":\"r1\",\"status\":\"error\",\"summary\":\"no key\"},\"2\":\"hook agent run completed\"}",
            "no key",
        ),
        ("embedded run done: runId=r1 sessionId=s durationMs=5 aborted=true", "`aborted=true`"),
        ("embedded run agent end: runId=r1 isError=true\nembedded run done: runId=r1 aborted=false", "`isError=true`"),
        (
            "{\"1\":\"embedded run agent end\",\"2\":{\"runId\":\"r1\",\"isError\":true,\"error\":\"429 slow down\"}}",
            "429 slow down",
        ),
        ("[agent] run r1 ended with stopReason=error", "`stopReason=error`"),
        ("t run_id=r1 run_failed", "run failed"),
        ("t run_id=r1 status=error summary=\"no key\"", "no key"),
        ("t run_id=r1 run_completed status=\"Failed\"", "`status=Failed`"),
        ("{\"run_id\": \"r1\", \"event\": \"run.completed\", \"aborted\": true}", "`aborted=true`"),
    ] {
        assert_eq!(GatewayLog::read(lines, "r1", None).failure.as_deref(), Some(reason), "{lines}");
        assert_eq!(GatewayLog::read(lines, "r2", None).failure, None, "{lines}");
    }
    for lines in [
        "hook agent run completed runId=r1 status=ok model=m",
        "embedded run done: runId=r1 sessionId=s durationMs=5 aborted=false",
        "embedded run agent end: runId=r1 isError=true\nembedded run start: runId=r1\nembedded run agent end: runId=r1 isError=false\nembedded run done: runId=r1 aborted=false",
        "embedded run agent end: runId=r1 isError=true\nhook agent run completed runId=r1 status=ok",
        "embedded run tool end: runId=r1 tool=x isError=true\nembedded run done: runId=r1",
        "[agent] run r1 ended with stopReason=stop",
        "t run_id=r1 tool=x status=error",
    ] {
        assert_eq!(GatewayLog::read(lines, "r1", None).failure, None, "{lines}");
    }
}

#[test]
fn line_without_its_end_says_what_it_says_until_then() {
    let whole = OPENCLAW.lines().find(|line| line.contains("tool start")).unwrap();
    let message = whole.find(",\"_meta\"").unwrap();
    let tool = |line: &Line| line.events.len();
    assert_eq!(tool(&Line::read(&whole[..message])), 1);
    assert_eq!(tool(&Line::read(&whole[..message - 2])), 0, "the name of the tool may be longer");
    for end in whole.char_indices().map(|(at, _)| at) {
        Line::read(&whole[..end]);
    }
}

use super::*;

fn call(run: &str, tool: &str, line: usize) -> Call {
    let (run, tool) = (run.to_owned(), tool.to_owned());
    Call { relation: RunRelation::Own, run, tool, to_agent: None, child_run: None, line }
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
    assert_eq!(log.calls, [Call { to_agent, child_run, ..call("r1", "sessions_spawn", 1) }]);
    assert_eq!(log.usages, [Usage { relation: RunRelation::Started, input: 10, output: 5, total: 15, line: 2 }]);
    assert!(log.known == Some(0) && log.is_detailed && !log.is_done);
    assert_eq!(GatewayLog::read(WORDS, "r3", None), GatewayLog::default());
}

#[test]
fn empty_id_stands_for_every_run() {
    let log = GatewayLog::read(WORDS, "", None);
    assert_eq!((log.calls.len(), log.usages[0].relation), (1, RunRelation::Own));
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
    assert!(log.is_detailed && log.is_done && log.unseen_children == 0 && log.other_program.is_none());
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
        (log.is_done, log.unseen_children)
    };
    // Until the gateway logs it, it is unknown which run belongs to the webhook.
    assert_eq!(done(&until(&format!("embedded run done: runId={EMBEDDED}"))), (false, 0));
    assert_eq!(done(&until("hook agent run completed")), (true, 1));
    assert_eq!(done(&until(&format!("embedded run start: runId={DELEGATE}"))), (false, 0));
    assert_eq!(done(&until(&format!("[agent] run {DELEGATE} ended"))), (true, 0));
}

#[test]
fn log_at_level_info_has_no_calls() {
    let info: String =
        OPENCLAW.lines().filter(|line| line.contains("\"INFO\"")).map(|line| format!("{line}\n")).collect();
    let log = GatewayLog::read(&info, HOOK, None);
    assert!(log.known.is_some() && !log.is_detailed && log.is_done && log.calls.is_empty());
}

#[test]
fn carriage_returns_and_lines_in_a_different_order_change_nothing() {
    let log = GatewayLog::read(OPENCLAW, HOOK, None);
    assert_eq!(GatewayLog::read(&OPENCLAW.replace('\n', "\r\n"), HOOK, None), log);
    let backwards: Vec<&str> = OPENCLAW.lines().rev().collect();
    let other = GatewayLog::read(&backwards.join("\n"), HOOK, None);
    assert_eq!((other.calls.len(), other.is_done, other.traces), (2, true, log.traces));
}

#[track_caller]
fn check(text: &str, expected: Line) {
    assert_eq!(Line::read(text), expected, "{text}");
}

#[test]
fn line_says_what_its_form_says() {
    let run = || Some("r1".to_owned());
    let call = |tool: &str| Event::Call { tool: tool.to_owned(), to_agent: None, child_run: None };
    let plain = || Line { run: run(), ..Line::default() };
    check("", Line::default());
    check("no words", Line::default());
    check("t run_id=r1 tool=x", Line { is_detailed: true, ..plain() });
    check("run_id=", Line::default());
    let sentence = "embedded run tool start: runId=r1 tool=web.fetch toolCallId=c";
    let called = Line { is_detailed: true, events: vec![call("web.fetch")], ..plain() };
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
    check("{\"1\": \"t run_id=r1 tool=x agent=a\"}", Line { is_detailed: true, events: vec![call("x")], ..plain() });
    check(
        "{\"1\":\"embedded run tool end: runId=r1 tool=x\",\"_meta\":{\"logLevelName\":\"DEBUG\"}}",
        Line { is_detailed: true, ..plain() },
    );
    check(
        "{\"1\":{\"runId\":\"r1\",\"sessionId\":\"unknown\"},\"2\":\"it broke\",\"_meta\":{\"logLevelName\":\"WARN\"}}",
        Line { is_warning: true, ..plain() },
    );
    check(
        "embedded run through CLI backend: runId=r1 provider=x",
        Line { events: vec![Event::OtherProgram], ..plain() },
    );
    check("[agent] run r1 ended with stopReason=stop", Line { events: vec![Event::Done], ..plain() });
    let dropped = "{\"0\":\"[openclaw] file log queue overflow; dropped 3 oldest records\",\"dropped\":3}";
    check(dropped, Line { events: vec![Event::Dropped], ..Line::default() });
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

//! Claims of absence and limits do not pass on a log or a trace that is damaged in any way.

use super::*;
use crate::evidence::LogGap;

/// A run in the log of an OpenClaw gateway, with an agent that it starts.
const RUN: &[&str] = &[
    "embedded run start: runId=r1 sessionId=s1",
    "embedded run tool start: runId=r1 tool=fs.read toolCallId=c1",
    "embedded run tool end: runId=r1 tool=fs.read toolCallId=c1",
    "embedded run agent end: runId=r1 isError=false",
    "embedded run done: runId=r1 sessionId=s1 durationMs=5 aborted=false",
];

const CHILD: &[&str] = &[
    "session state: sessionId=s2 sessionKey=agent:copy:subagent:k2 prev=idle new=processing",
    "embedded run start: runId=r2 sessionId=s2",
    "embedded run done: runId=r2 sessionId=s2 durationMs=5 aborted=false",
];

/// Assertions about what must not happen, counts and limits, all of which hold for the undamaged log.
const OF_LOG: &[&str] = &[
    "{type: tool_not_called, tool: mail.send}",
    "{type: tool_not_permitted, allowed_tools: [fs.read, sessions_spawn]}",
    "{type: token_budget, max_total_tokens: 100}",
];

const OF_TRACE: &[&str] = &[
    "{type: tool_not_invoked, tool: mail.send}",
    "{type: no_span_errors}",
    "{type: llm_call_count, max: 1}",
    "{type: llm_call_count, min: 1, max: 1}",
    "{type: model_used, not_expected: opus}",
    "{type: tool_sequence, mode: strict, expected: [memory.search, write]}",
    "{type: per_span_budget, max_tokens: 120}",
    "{type: trace_token_budget, max_input_tokens: 1000}",
    "{type: trace_duration, max_ms: 10000}",
    "{type: trace_cost, max_usd: 5}",
];

/// Returns a line of an OpenClaw gateway.
fn json(message: &str) -> String {
    format!("{{\"0\":\"{{}}\",\"1\":\"{message}\",\"_meta\":{{\"logLevelName\":\"DEBUG\"}},\"traceId\":\"abcdef\"}}")
}

fn log(lines: &[String]) -> World {
    let mut world = world();
    world.files.retain(|file| file.path != "gw.log");
    world.files.push(file("gw.log", &lines.join("\n")));
    world
}

/// Returns the lines of a run without those that contain a text, and with further ones before its last line.
fn lines(without: &str, more: &[&str]) -> Vec<String> {
    let usage = "run_id=r1 token_usage input=10 output=5 total=15".to_owned();
    let (last, before) = RUN.split_last().unwrap();
    let own = before.iter().chain(more).chain([last]).filter(|line| without.is_empty() || !line.contains(without));
    own.map(|line| if line.starts_with(['{', '[', 't']) { (*line).to_owned() } else { json(line) })
        .chain([usage])
        .collect()
}

#[test]
fn assertion_about_a_damaged_log_does_not_pass() {
    let spawn = "embedded run tool start: runId=r1 tool=sessions_spawn toolCallId=c2";
    let with_child: Vec<&str> = [spawn].into_iter().chain(CHILD.iter().copied()).collect();
    for assertion in OF_LOG {
        check(assertion, &log(&lines("", &[])), Status::Pass, "");
        check(assertion, &log(&lines("", &with_child)), Status::Pass, "");
    }
    let called = [
        "t parent_run_id=p run_id=r1 tool=mail.send agent=main",
        "t agent=main, tool=\"mail.send\", run_id='r1'",
        "{\"run_id\":\"r1\",\"tool\":\"mail.send\"}",
        "embedded run tool end: runId=r1 tool=mail.send toolCallId=c9",
    ];
    let unclear = [
        "t [r1] tool call -> mail.send",
        "{\"run\":{\"id\":\"r1\"},\"tool_calls\":[{\"fn\":\"mail.send\"}]}",
        "embedded run tool retry: runId=r1 tool=mail.send",
        "embedded run tool start: runId=r1 tool=tool_call toolCallId=c9",
        "embedded run tool end: runId=r1 tool=tool_search_code toolCallId=c9",
        "t run_id=r1 tool=mail.send blocked",
    ];
    let damages: Vec<(&str, Vec<String>)> = [
        ("no end", lines("embedded run done", &[])),
        ("an agent that is not seen", lines("", &[spawn])),
        ("an agent whose run is not seen", lines("", &with_child[..2])),
        ("an agent that continues", lines("", &with_child[..3])),
        (
            "a call of the agent",
            lines("", &[&with_child[..3], &["t run_id=r2 tool=mail.send"][..], &with_child[3..]].concat()),
        ),
    ]
    .into_iter()
    .chain(called.iter().map(|line| ("a call in another form", lines("", &[*line]))))
    .chain(unclear.iter().map(|line| ("a line that cannot be read", lines("", &[*line]))))
    .collect();
    for (damage, lines) in damages {
        for assertion in &OF_LOG[..2] {
            let verdict = judge(assertion, &log(&lines));
            let expected = if damage.contains("call") { [Status::Fail; 2] } else { [Status::Unknown; 2] };
            assert!(
                expected.contains(&verdict.outcome.status()),
                "{damage}: {assertion}: {:?}\n{}",
                verdict.outcome,
                lines.join("\n")
            );
        }
    }
    check(OF_LOG[2], &log(&lines("embedded run done", &[])), Status::Unknown, "the end of the run");
    check(
        OF_LOG[2],
        &log(&lines("", &["t run_id=r1 token_usage input=9999 total=9999"])),
        Status::Unknown,
        "cannot be read",
    );
}

/// Two programs that write to one file, a full disk and a crash leave such lines.
#[test]
fn assertion_about_a_log_with_a_damaged_line_does_not_pass() {
    let call = json("embedded run tool start: runId=r1 tool=mail.send toolCallId=c2");
    let used = "t run_id=r1 token_usage input=1000 output=1 total=1001";
    let read = json(RUN[1]);
    let damages: [(&str, String, [Status; 3]); 8] = [
        ("a call behind another", format!("{read}{call}"), [Status::Fail, Status::Fail, Status::Pass]),
        (
            "words behind JSON",
            format!("{read} t run_id=r1 tool=mail.send agent=main"),
            [Status::Fail, Status::Fail, Status::Pass],
        ),
        ("tokens behind JSON", format!("{read}{used}"), [Status::Pass, Status::Pass, Status::Fail]),
        (
            "half a character",
            call.replacen('{', "{\"2\":\"a \\ud83d\",", 1),
            [Status::Fail, Status::Fail, Status::Pass],
        ),
        ("a number that is too large", call.replacen('{', "{\"ms\":1e999,", 1), [Status::Unknown; 3]),
        ("a line that ends in a name", call[..call.find("il.send").unwrap()].to_owned(), [Status::Unknown; 3]),
        ("a line that ends behind a name", call[..call.find("toolCallId").unwrap()].to_owned(), [Status::Unknown; 3]),
        ("tokens that are cut", "{\"1\":\"t run_id=r1 token_usage input=1000 out".to_owned(), [Status::Unknown; 3]),
    ];
    for (damage, line, expected) in damages {
        let mut all = lines("", &[]);
        all.insert(2, line);
        for (assertion, expected) in OF_LOG.iter().zip(expected) {
            let verdict = judge(assertion, &log(&all));
            assert_eq!(verdict.outcome.status(), expected, "{damage}: {assertion}: {:?}", verdict.outcome);
        }
    }
    for assertion in OF_LOG {
        let ending: Vec<String> = lines("run start", &[]).into_iter().filter(|line| !line.contains("tool")).collect();
        check(assertion, &log(&ending), Status::Unknown, "the beginning of the run");
    }
}

#[test]
fn assertion_about_a_log_with_a_gap_does_not_pass() {
    let gaps = [LogGap::Cut, LogGap::Dropped, LogGap::Truncated, LogGap::Removed, LogGap::LongLine];
    for gap in gaps {
        // Nothing is said about the level of the log, or about the run, that the missing part could contradict.
        for lines in [lines("", &[]), Vec::new(), vec!["hook agent run completed runId=r1 status=ok".to_owned()]] {
            let world = World { gaps: vec![gap], ..log(&lines) };
            for assertion in
                OF_LOG.iter().chain(&["{type: tool_was_called, tool: x}", "{type: delegation_occurred, to_agent: a}"])
            {
                check(assertion, &world, Status::Unknown, gap.reason());
            }
        }
    }
}

#[test]
fn delegation_is_decided_by_the_sessions_that_began() {
    let spawn = "embedded run tool start: runId=r1 tool=sessions_spawn toolCallId=c2";
    let with_child: Vec<&str> = [spawn].into_iter().chain(CHILD.iter().copied()).collect();
    let (to_copy, to_brand) =
        ("{type: delegation_occurred, to_agent: copy}", "{type: delegation_occurred, to_agent: brand}");
    for (more, copy, brand) in [
        (&with_child[..], Status::Pass, Status::Fail),
        (&with_child[..2], Status::Pass, Status::Unknown),
        (&with_child[..1], Status::Unknown, Status::Unknown),
        (&[], Status::Fail, Status::Fail),
    ] {
        let world = log(&lines("", more));
        check(to_copy, &world, copy, "");
        check(to_brand, &world, brand, "");
    }
}

#[test]
fn assertion_about_a_damaged_trace_does_not_pass() {
    let TraceAnswer::Found(whole) = world().trace else { unreachable!("the trace is there") };
    let damaged = |trace: Trace| World { trace: TraceAnswer::Found(trace), ..world() };
    for assertion in OF_TRACE {
        check(assertion, &damaged(whole.clone()), Status::Pass, "");
        check(assertion, &damaged(Trace { cut: true, ..whole.clone() }), Status::Unknown, "parts of the trace");
        check(assertion, &damaged(Trace { unfinished: true, ..whole.clone() }), Status::Unknown, "has not ended");
        check(assertion, &damaged(Trace { unassigned: 1, ..whole.clone() }), Status::Unknown, "other traces");
        check(assertion, &damaged(Trace { masked: true, ..whole.clone() }), Status::Unknown, "is masked");
    }
    let mut timeless = whole.clone();
    timeless.spans.iter_mut().filter(|span| span.name == "write").for_each(|span| span.started_us = None);
    for mode in ["strict", "ordered"] {
        let assertion = format!("{{type: tool_sequence, mode: {mode}, expected: [memory.search, write]}}");
        check(&assertion, &damaged(timeless.clone()), Status::Unknown, "no start time");
    }
}

/// Types and forms that pass by what was seen, or by what is there at their own time limit: whatever follows, it was so.
/// Every other type is about absence, a bound, a count or an order, and needs the end of the run.
const SIGHTED: &[&str] = &[
    "type: artifact_exists",
    "type: artifact_contains",
    "type: artifact_matches_golden",
    "type: state_file",
    "type: file_present",
    "type: log_entry",
    "type: gateway_healthy",
    "type: gateway_response",
    "type: env_present",
    "type: decision_routed_to",
    "type: tool_was_called",
    "type: delegation_occurred",
    "type: tool_sequence",
    "type: model_used, expected",
    "type: delegation_path",
    "type: llm_judge",
    "type: agent_identity_consistent",
];

fn is_sighted(assertion: &str) -> bool {
    let is_bounded = ["absent: true", "mode: strict", "not_expected", "max: "].iter().any(|it| assertion.contains(it));
    let is_minimum = assertion.contains("type: llm_call_count, min") && !is_bounded;
    is_minimum || !is_bounded && SIGHTED.iter().any(|form| assertion.contains(form))
}

fn damaged(assertion: &str, world: &World, damage: impl Fn(&mut Evidence)) -> Status {
    let case = case(assertion);
    let check = &case.claims[0].check;
    let observe = |need: Need| Observation { answer: world.answer(&need), need };
    let observations = check.needs(&context()).into_iter().map(observe).collect();
    let mut evidence = Evidence { context: context(), observations, ended: Some(Ended::Log), ..Evidence::default() };
    damage(&mut evidence);
    check.check(Act::of(&evidence))[0].outcome.status()
}

#[test]
fn only_what_was_seen_passes_before_the_end_of_the_run() {
    let world = world();
    let passing = ANSWERS.iter().filter(|(_, status, _)| *status == Status::Pass);
    let mut negative = 0;
    for (assertion, ..) in passing {
        for ended in [None, Some(Ended::Deadline), Some(Ended::Satisfied)] {
            let status = damaged(assertion, &world, |evidence| evidence.ended = ended);
            let expected = if is_sighted(assertion) { Status::Pass } else { Status::Unknown };
            assert_eq!(status, expected, "{assertion} {ended:?}");
        }
        negative += usize::from(!is_sighted(assertion));
    }
    assert!(negative >= 15, "{negative}");
}

/// A name, and what it does to the evidence.
type Damage<T> = (&'static str, fn(&mut T));

#[test]
fn absence_in_a_text_needs_all_of_it() {
    let world = world();
    let passing = ANSWERS.iter().filter(|(text, status, _)| *status == Status::Pass && !is_sighted(text));
    let damages: [Damage<Capture>; 4] = [
        ("cut", |capture| capture.cut = true),
        ("masked", |capture| capture.masked = vec![(0, capture.text.chars().next().map_or(0, char::len_utf8))]),
        ("not UTF-8", |capture| capture.text.push(char::REPLACEMENT_CHARACTER)),
        ("of another encoding", |capture| capture.text = capture.text.chars().flat_map(|it| [it, '\0']).collect()),
    ];
    let mut seen = 0;
    for (assertion, ..) in passing {
        let has_text = ["artifact_absent_words", "log_entry"].iter().any(|name| assertion.contains(name));
        for (name, damage) in damages.iter().filter(|_| has_text) {
            let status = damaged(assertion, &world, |evidence| evidence.captures_mut().into_iter().for_each(damage));
            assert_ne!(status, Status::Pass, "{name}: {assertion}");
            seen += 1;
        }
    }
    assert!(seen >= 8, "{seen}");
}

//! Claims about the gateway log, which is written while the run continues.

use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::PathBuf,
};

use serde_json::Value;

use crate::{
    loopback::{Answer, Loopback},
    support::{self, Place, repository},
};

use super::{accepted, attempts, over, skill};

/// The run in a real gateway's log, and the log.
const HOOK: &str = "5f469be8-47c7-4000-8944-cb84d06dc022";
const OPENCLAW: &str = "schema/src/gateway/log/tests/openclaw.jsonl";

/// A workspace whose gateway has a log.
fn workspace(gateway: &Loopback, place: &Place, then: &str) {
    let url = gateway.url();
    place.write("clawspec.yaml", format!("gateway_base_url: {url}\ngateway_log_pattern: 'logs/gw-{{date}}.log'\n"));
    skill(place, "demo", &[&format!("{{name: s, tags: [negative], when: {{invoke: /demo}}, then: [{then}]}}")]);
}

fn append(path: &PathBuf, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// Returns the verdicts of the only attempt, as words.
fn outcomes(report: &Value) -> Vec<&str> {
    support::outcomes(attempts(report)[0].1)
}

/// Returns a workspace whose gateway writes these lines when it starts something, and answers that the run has begun or
/// ended.
fn logging(lines: String, answer: fn(&str) -> Answer, run: &'static str, then: &str) -> (Place, Loopback) {
    let place = Place::empty();
    let log = place.path().join("logs/gw-2026-05-14.log");
    let gateway = Loopback::acting(move |_| {
        append(&log, &lines);
        answer(run)
    });
    workspace(&gateway, &place, then);
    (place, gateway)
}

#[test]
fn run_of_a_real_gateway_is_waited_for_and_judged_by_its_log() {
    let lines = fs::read_to_string(repository().join(OPENCLAW)).unwrap();
    let then = "{type: tool_was_called, tool: sessions_spawn}, {type: delegation_occurred, to_agent: copy}, \
        {type: tool_not_permitted, allowed_tools: [sessions_spawn]}, {type: tool_not_called, tool: exec}, \
        {type: tool_not_called, tool: sessions_spawn}, {type: tool_was_called, tool: read}, \
        {type: delegation_occurred, to_agent: brand}, {type: token_budget, max_total_tokens: 1}";
    let (place, _gateway) = logging(lines, accepted, HOOK, then);
    let (code, report) = place.report(&[]);
    let expected = ["pass", "pass", "fail", "pass", "fail", "fail", "fail", "skip"];
    assert_eq!((code, outcomes(&report)), (Some(1), expected.to_vec()), "{report:#}");
    let recorded = fs::read_to_string(&place.recordings()[0]).unwrap();
    assert!(recorded.contains(r#""ended":"log""#), "{recorded}");
    let done = place.run(&["run", "--recorded"]);
    for part in [
        "logs/gw-2026-05-14.log:11",
        "called here",
        "run `d6bfd5c3-fb5e-43b8-a3c8-f45058889394`, which this run started, called it",
        "help: set `run_id` to the id of that run",
        "`copy` took over here",
    ] {
        assert!(done.text().contains(part), "{part}: {}", done.text());
    }
}

#[test]
fn log_that_shows_nothing_of_the_run_decides_nothing() {
    let then = "{type: tool_was_called, tool: x}, {type: tool_not_called, tool: x}, {type: tool_not_permitted, \
        allowed_tools: []}, {type: delegation_occurred, to_agent: a}, {type: token_budget, max_total_tokens: 1}";
    let info = r#"{"1":"hook agent run completed runId=run-1","_meta":{"logLevelName":"INFO"}}"#;
    for (lines, reason) in [
        (String::new(), "does not mention run `run-1`"),
        ("t run_id=run-10 tool=x agent=a\n".to_owned(), "does not mention run `run-1`"),
        (format!("{info}\n"), "set `logging.level` to `debug`"),
    ] {
        let (place, _gateway) = logging(lines, over, "run-1", then);
        let (_, report) = place.report(&[]);
        assert_eq!(outcomes(&report)[..4], ["unknown"; 4], "{report:#}");
        assert!(report.to_string().contains(reason), "{reason}: {report:#}");
    }
    let gateway = Loopback::acting(|_| over("run-1"));
    let place = Place::empty();
    workspace(&gateway, &place, then);
    let (_, report) = place.report(&[]);
    assert_eq!(outcomes(&report), ["unknown"; 5], "{report:#}");
    assert!(report.to_string().contains("no log matches `logs/gw-{date}.log`"), "{report:#}");
}

/// Lines of a run, the outcome of `tool_not_called mail.send`, and a part of the report.
const RUNS: &[(&str, &str, &str)] = &[
    ("t run_id=run-1 tool=read agent=main", "pass", ""),
    (
        "embedded run start: runId=run-1\nembedded run tool start: runId=run-1 tool=read toolCallId=c\nembedded run done: runId=run-1 aborted=false",
        "pass",
        "",
    ),
    (
        "hook agent run completed runId=run-1 status=error summary=LLM request failed: 401",
        "error",
        "the gateway's log says that the run failed: LLM request failed: 401",
    ),
    (
        "embedded run agent end: runId=run-1 isError=true error=no key\nembedded run done: runId=run-1 aborted=false",
        "error",
        "the run failed: no key",
    ),
    (
        "{\"run_id\":\"run-1\",\"event\":\"run_completed\",\"status\":\"FAILED\"}",
        "error",
        "the run failed: `status=FAILED`",
    ),
    (
        "embedded run start: runId=run-1\nembedded run done: runId=run-1 aborted=true",
        "error",
        "the run failed: `aborted=true`",
    ),
    ("t parent_run_id=p run_id=run-1 tool=mail.send agent=main", "fail", "Tool was called"),
    ("t agent=main, tool=\"mail.send\", run_id='run-1'", "fail", "Tool was called"),
    ("{\"run_id\":\"run-1\",\"tool\":\"mail.send\"}", "fail", "Tool was called"),
    (
        "t run_id=run-1 tool=read\nt [run-1] tool call: mail.send",
        "unknown",
        "line 2 of the log is about the run, but it cannot be read: `t [run-1] tool call: mail.send`",
    ),
    ("t [run-1] called mail.send", "unknown", "does not contain tool calls"),
    (
        "embedded run start: runId=run-1\nembedded run tool start: runId=run-1 tool=read toolCallId=c",
        "unknown",
        "the log does not contain the end of the run",
    ),
    (
        "embedded run tool start: runId=run-1 tool=sessions_spawn toolCallId=c\nembedded run done: runId=run-1",
        "unknown",
        "the run started an agent that the log does not show",
    ),
];

#[test]
fn run_is_judged_by_what_its_log_says_in_any_form_and_by_nothing_less() {
    for (number, (lines, expected, part)) in RUNS.iter().enumerate() {
        let then = "{type: tool_not_called, tool: mail.send}";
        let (place, _gateway) =
            logging(format!("{}{lines}\n", "t run_id=other tool=x agent=a\n".repeat(number % 2)), over, "run-1", then);
        let (code, report) = place.report(&["--timeout", "1"]);
        let run = attempts(&report)[0].1;
        assert_eq!(run["status"], *expected, "{lines}: {report:#}");
        let expected_code = match *expected {
            "pass" => 0,
            "fail" => 1,
            _ => 3,
        };
        assert_eq!(code, Some(expected_code), "{lines}");
        let part = if number % 2 == 1 { part.replace("line 2", "line 3") } else { (*part).to_owned() };
        assert!(report.to_string().contains(&part.replace('"', "\\\"")), "{part}: {report:#}");
    }
}

#[test]
fn end_of_the_run_and_of_its_agents_in_the_log_is_waited_for() {
    let begin = "embedded run start: runId=run-1\n";
    let late = "embedded run tool start: runId=run-1 tool=mail.send toolCallId=c\nembedded run done: runId=run-1\n";
    let spawn = "{\"1\":\"embedded run tool start: runId=run-1 tool=sessions_spawn toolCallId=c\",\"traceId\":\"abcdef\",\"spanId\":\"01\"}\n\
        {\"1\":\"embedded run done: runId=run-1\",\"traceId\":\"abcdef\"}\n";
    let child = "{\"1\":\"embedded run start: runId=run-2\",\"traceId\":\"abcdef\",\"spanId\":\"02\",\"parentSpanId\":\"01\"}\n\
        {\"1\":\"embedded run tool start: runId=run-2 tool=mail.send toolCallId=d\",\"traceId\":\"abcdef\"}\n\
        {\"1\":\"embedded run done: runId=run-2\",\"traceId\":\"abcdef\"}\n";
    for (first, later) in [(begin, late), (spawn, child)] {
        let place = Place::empty();
        let log = place.path().join("logs/gw-2026-05-14.log");
        let (send, answered) = std::sync::mpsc::channel();
        let written = log.clone();
        let gateway = Loopback::acting(move |_| {
            append(&written, first);
            send.send(()).unwrap();
            over("run-1")
        });
        std::thread::spawn(move || {
            answered.recv().unwrap();
            append(&log, later);
        });
        workspace(&gateway, &place, "{type: tool_not_called, tool: mail.send}");
        let (code, report) = place.report(&[]);
        assert_eq!((code, outcomes(&report)), (Some(1), vec!["fail"]), "{report:#}");
    }
}

#[test]
fn log_that_is_set_aside_or_emptied_during_the_run_is_followed() {
    let then = "{type: tool_was_called, tool: one}, {type: tool_was_called, tool: two}, {type: tool_not_called, tool: old}, \
        {type: token_budget, max_total_tokens: 30}";
    let place = Place::empty();
    let log = place.path().join("logs/gw-2026-05-14.log");
    append(&log, "t run_id=run-1 tool=old agent=a\n");
    let aside = place.path().join("logs/gw-2026-05-14.1.log");
    let written = log.clone();
    let mut is_first = true;
    let gateway = Loopback::acting(move |_| {
        append(&written, "t run_id=run-1 tool=one agent=a\nt run_id=run-1 token_usage input=10 output=5 total=15\n");
        match std::mem::take(&mut is_first) {
            true => fs::rename(&written, &aside).unwrap(),
            false => fs::write(&written, "t run_id=run-1 tool=one agent=a\n").unwrap(),
        }
        append(&written, "t run_id=run-1 tool=two agent=a\nt run_id=run-1 token_usage input=1 output=1 total=15\n");
        over("run-1")
    });
    workspace(&gateway, &place, then);
    let (code, report) = place.report(&[]);
    assert_eq!((code, outcomes(&report)), (Some(0), vec!["pass"; 4]), "{report:#}");
    let (_, report) = place.report(&[]);
    assert_eq!(outcomes(&report), ["pass", "pass", "unknown", "unknown"], "{report:#}");
    assert!(report.to_string().contains("the log was emptied during the run"), "{report:#}");
}

#[test]
fn lines_of_other_runs_are_not_recorded() {
    let other: String =
        (0..40_000).map(|number| format!("t run_id=other-{number} tool=secret-plan agent=a\n")).collect();
    let lines = format!("{other}t run_id=run-1 tool=x agent=a\n{other}");
    let (place, _gateway) =
        logging(lines, over, "run-1", "{type: tool_was_called, tool: x}, {type: tool_not_called, tool: secret-plan}");
    let (code, report) = place.report(&[]);
    assert_eq!((code, outcomes(&report)), (Some(0), vec!["pass"; 2]), "{report:#}");
    let written: Vec<PathBuf> = place.recordings().into_iter().chain(place.texts()).collect();
    let texts: Vec<String> = written.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    assert!(texts.iter().map(String::len).sum::<usize>() < 100_000);
    assert!(!texts.iter().any(|text| text.contains("other-")), "{texts:?}");
}

#[test]
fn line_anywhere_in_a_log_that_is_too_long_to_be_kept_is_found() {
    let filler = "nothing of interest here\n".repeat(100_000);
    let place = Place::empty();
    let log = place.path().join("run.log");
    let gateway = Loopback::acting(move |_| {
        fs::write(&log, format!("{filler}draft saved: out/a.md\n{filler}sent 5 mails\nlast")).unwrap();
        over("run-1")
    });
    let then = "{type: log_entry, path: run.log, pattern: '^draft saved: .+\\.md$'}, \
        {type: log_entry, path: run.log, pattern: 'sent \\d+ mails', absent: true}, \
        {type: log_entry, path: run.log, pattern: 'draft refused'}, \
        {type: log_entry, path: run.log, pattern: 'refused', absent: true}, \
        {type: log_entry, path: run.log, pattern: '\\Anothing else'}";
    workspace(&gateway, &place, then);
    place.write("speclens.yaml", "limits: {output_mib: 1}\n");
    let (code, report) = place.report(&[]);
    assert_eq!((code, outcomes(&report)), (Some(1), vec!["pass", "fail", "fail", "pass", "unknown"]), "{report:#}");
    let text = report.to_string();
    for part in ["line 200002: sent 5 mails", "200003 lines without it", "not all of the log was searched"] {
        assert!(text.contains(part), "{part}: {report:#}");
    }
    // The recording has the same result; a pattern that was not searched for is unknown.
    let (code, report) = place.report(&["--recorded"]);
    assert_eq!((code, outcomes(&report)), (Some(1), vec!["pass", "fail", "fail", "pass", "unknown"]), "{report:#}");
    workspace(&gateway, &place, "{type: log_entry, path: run.log, pattern: 'saved'}");
    let (_, report) = place.report(&["--recorded"]);
    assert_eq!(outcomes(&report), ["unknown"], "{report:#}");
}

/// A log of other runs is read in pieces: memory does not depend on its length. `SPECLENS_LOG_MIB=1024` sets the
/// length.
#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_the_log_of_other_runs() {
    // An unoptimized program takes up to 65 MiB without any log, which is less than the log has.
    const MAX_KIB: u64 = 96 * 1024;
    let mebibytes = std::env::var("SPECLENS_LOG_MIB").ok().and_then(|text| text.parse().ok()).unwrap_or(128);
    let place = Place::empty();
    let log = place.path().join("logs/gw-2026-05-14.log");
    let (send, pid) = std::sync::mpsc::channel::<u32>();
    let peak = std::sync::Arc::new(std::sync::Mutex::new(None));
    let found = std::sync::Arc::clone(&peak);
    let mut is_first = true;
    let gateway = Loopback::acting(move |_| {
        if std::mem::take(&mut is_first) {
            append(&log, "t run_id=run-1 tool=one agent=a\n");
            let line = "t run_id=other-4711 tool=secret-plan agent=somebody trace=0af7651916cd43dd8448eb211c80319c\n";
            let block = line.repeat((1 << 20) / line.len());
            (0..mebibytes).for_each(|_| append(&log, &block));
            append(&log, "t run_id=run-1 tool=two agent=a\n");
            return over("run-1");
        }
        // The first scenario has been judged by now.
        let status = fs::read_to_string(format!("/proc/{}/status", pid.recv().unwrap())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        *found.lock().unwrap() = line.trim().trim_end_matches(" kB").parse().ok();
        over("run-2")
    });
    let url = gateway.url();
    place.write("clawspec.yaml", format!("gateway_base_url: {url}\ngateway_log_pattern: 'logs/gw-{{date}}.log'\n"));
    let then = "then: [{type: tool_was_called, tool: one}, {type: tool_was_called, tool: two}, {type: tool_not_called, tool: secret-plan}]";
    skill(
        &place,
        "demo",
        &[
            &format!("{{name: first, tags: [negative], when: {{invoke: /demo}}, {then}}}"),
            "{name: second, when: {invoke: /demo}, then: [{type: file_absent, path: x}]}",
        ],
    );
    let child = place.start(&["run"]);
    send.send(child.id()).unwrap();
    let done = support::Done::at_end_of(child);
    assert_eq!(done.code, Some(0), "{done:?}");
    let peak: u64 = peak.lock().unwrap().unwrap();
    assert!(peak < MAX_KIB, "{} MiB", peak / 1024);
    let written: Vec<PathBuf> = place.recordings().into_iter().chain(place.texts()).collect();
    assert!(written.iter().map(|path| fs::metadata(path).unwrap().len()).sum::<u64>() < 1 << 20);
}

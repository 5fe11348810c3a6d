//! The end of a run that the gateway only acknowledges.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::Command,
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    loopback::{Answer, Loopback},
    support::{Done, Place, outcomes},
};

use super::{accepted, attempts, over, skill, statuses, workspace};

/// Returns the event that ended the act, from the newest recording.
fn ended(place: &Place) -> Value {
    let recording = fs::read_to_string(place.recordings().last().unwrap()).unwrap();
    let recording: Value = serde_json::from_str(&recording).unwrap();
    recording["evidence"]["ended"].clone()
}

const QUIET: &str =
    "{name: quiet, tags: [negative], when: {invoke: /demo}, then: [{type: tool_not_called, tool: send}]}";

#[test]
fn line_of_the_log_that_says_so_ends_the_run_and_what_did_not_happen_is_known() {
    let place = Place::empty();
    let log = place.path().join("log/gateway.log");
    let gateway = Loopback::acting(move |_| {
        fs::create_dir_all(log.parent().unwrap()).unwrap();
        fs::write(
            &log,
            "embedded run tool start: runId=run-1 tool=read toolCallId=1\nembedded run done: runId=run-1 sessionId=s durationMs=5\n",
        )
        .unwrap();
        accepted("run-1")
    });
    place
        .write("clawspec.yaml", format!("gateway_base_url: {}\ngateway_log_pattern: log/gateway.log\n", gateway.url()));
    skill(&place, "demo", &[QUIET]);
    let (code, report) = place.report(&[]);
    assert_eq!((code, statuses(&report)), (Some(0), vec![("quiet", "pass")]), "{report:#}");
    assert_eq!(ended(&place), "log");
}

#[test]
fn gateway_that_died_is_named_at_the_deadline() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = BufReader::new(stream.try_clone().unwrap());
        let mut line = String::new();
        while request.read_line(&mut line).unwrap() > 2 {
            line.clear();
        }
        let body = r#"{"runId": "run-1", "status": "accepted"}"#;
        write!(stream, "HTTP/1.1 202 Accepted\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
    });
    let place = workspace(&url, &[QUIET]);
    let done = place.run(&["run", "--timeout", "0.5"]);
    assert_eq!(done.code, Some(3), "{done:?}");
    assert!(done.stdout.contains("can no longer be reached"), "{}", done.stdout);
}

const MAKES: &str = "{name: makes, tags: [negative], when: {invoke: /demo}, then: [{type: artifact_contains, path: out.md, sections: [Hook]}, {type: artifact_exists, path: out.md, timeout: 5}]}";

#[test]
fn artifacts_that_satisfy_everything_end_the_run() {
    let place = Place::empty();
    let out = place.path().join("out.md");
    let gateway = Loopback::acting(move |_| {
        fs::write(&out, "# Hook\n").unwrap();
        accepted("run-1")
    });
    place.write("clawspec.yaml", format!("gateway_base_url: {}\n", gateway.url()));
    skill(&place, "demo", &[MAKES]);
    let (code, report) = place.report(&[]);
    assert_eq!((code, statuses(&report)), (Some(0), vec![("makes", "pass")]), "{report:#}");
    assert_eq!(ended(&place), "satisfied");
}

#[test]
fn run_that_never_ends_is_given_up_at_the_deadline_and_what_may_still_happen_is_unknown() {
    let gateway = Loopback::acting(|_| accepted("run-1"));
    let place = workspace(
        &gateway.url(),
        &[
            "{name: waits, tags: [negative], when: {invoke: /demo}, then: [{type: file_absent, path: x}, {type: artifact_exists, path: old.md}]}",
        ],
    );
    // A file of an earlier run ends nothing.
    place.write("old.md", "old");
    let (code, report) = place.report(&["--timeout", "0.5"]);
    assert_eq!((code, statuses(&report)), (Some(3), vec![("waits", "unknown")]), "{report:#}");
    let run = attempts(&report)[0].1;
    assert_eq!(outcomes(run), ["unknown", "pass"]);
    assert_eq!(ended(&place), "deadline");
    let done = place.run(&["run", "--recorded"]);
    assert!(done.stdout.contains("the run did not end within 0.5 s"), "{done:?}");
}

#[test]
fn gateway_that_stops_during_the_run_is_named_when_the_time_is_over() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let place = workspace(&url, &[QUIET]);
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        drop(listener);
        let mut request = [0; 64 * 1024];
        let _ = stream.read(&mut request).unwrap();
        let body = json!({ "runId": "run-1", "status": "accepted" }).to_string();
        let length = body.len();
        write!(stream, "HTTP/1.1 202 Accepted\r\ncontent-length: {length}\r\n\r\n{body}").unwrap();
    });
    let done = place.run(&["run", "--timeout", "1"]);
    let text = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = format!(
        "the run did not end within 1 s, and the gateway at {url}/webhook/mcp-skill-invoke can no longer be reached"
    );
    assert!(done.code == Some(3) && text.contains(&expected), "{done:?}");
}

#[test]
fn two_claims_on_one_path_wait_as_long_as_each_of_them_says() {
    let gateway = Loopback::acting(|_| over("run-1"));
    let place = workspace(
        &gateway.url(),
        &[
            "{name: waits, tags: [negative], when: {invoke: /demo}, then: [{type: artifact_exists, path: x.md, timeout: 0.3}, {type: artifact_exists, path: x.md, timeout: 0.1}]}",
        ],
    );
    let (code, report) = place.report(&[]);
    assert_eq!((code, statuses(&report)), (Some(1), vec![("waits", "fail")]), "{report:#}");
}

#[test]
fn equal_names_in_two_targets_are_two_scenarios() {
    let gateway = Loopback::acting(|request| over(request.body["skill_command"].as_str().unwrap()));
    let place = workspace(
        &gateway.url(),
        &["{name: same, tags: [negative], when: {invoke: /demo}, then: [{type: file_absent, path: '.{{run_id}}'}]}"],
    );
    place.write("other", "");
    skill(
        &place,
        "other",
        &["{name: same, tags: [negative], when: {invoke: other}, then: [{type: file_absent, path: '.{{run_id}}'}]}"],
    );
    let (code, report) = place.report(&[]);
    let both = vec![("same", "fail"), ("same", "pass")];
    let mut found = statuses(&report);
    found.sort_unstable();
    assert_eq!((code, found), (Some(1), both.clone()), "{report:#}");
    let (code, report) = place.report(&["--recorded"]);
    let mut found = statuses(&report);
    found.sort_unstable();
    assert_eq!((code, found), (Some(1), both), "{report:#}");
}

/// Returns a gateway that reports requests, and answers on command.
fn held() -> (Loopback, mpsc::Receiver<()>, mpsc::Sender<()>) {
    let (asked, was_asked) = mpsc::channel();
    let (go, may_go) = mpsc::channel::<()>();
    let gateway = Loopback::acting(move |_| {
        let _ = asked.send(());
        let _ = may_go.recv();
        over("run-1")
    });
    (gateway, was_asked, go)
}

const ANY: &str = "{name: any, tags: [negative], when: {invoke: /demo}, then: [{type: file_absent, path: x}]}";

/// Reads what a program says until it waits for another.
fn until_it_waits(child: &mut std::process::Child) {
    let lines = BufReader::new(child.stderr.as_mut().unwrap()).lines();
    let mut lines = lines.map(|line| line.unwrap());
    assert!(lines.any(|line| line.contains("`any` is waiting for another run in this workspace")));
}

#[test]
fn runs_of_one_workspace_wait_for_each_other_and_a_killed_one_blocks_nothing() {
    let (gateway, was_asked, go) = held();
    let place = workspace(&gateway.url(), &[ANY]);
    let first = place.start(&["run"]);
    was_asked.recv().unwrap();
    let mut second = place.start(&["run"]);
    until_it_waits(&mut second);
    assert!(was_asked.try_recv().is_err(), "the second one has not asked");
    go.send(()).unwrap();
    assert_eq!(Done::at_end_of(first).code, Some(0));
    was_asked.recv().unwrap();

    let mut third = place.start(&["run"]);
    until_it_waits(&mut third);
    second.kill().unwrap();
    second.wait().unwrap();
    go.send(()).unwrap();
    was_asked.recv().unwrap();
    go.send(()).unwrap();
    assert_eq!(Done::at_end_of(third).code, Some(0));
}

#[test]
fn cancelled_run_ends_at_once_whatever_the_gateway_does() {
    let (asked, was_asked) = mpsc::channel();
    for answers in [false, true] {
        let asked = asked.clone();
        let gateway = Loopback::acting(move |_| {
            let _ = asked.send(());
            if answers { accepted("run-1") } else { Answer::Nothing }
        });
        let place = workspace(&gateway.url(), &[ANY]);
        let child = place.start(&["run", "--timeout", "600"]);
        was_asked.recv().unwrap();
        let pid = child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        let done = Done::at_end_of(child);
        assert_eq!(done.code, Some(130), "{done:?}");
    }
}

/// Sends spans of one trace as an exporter does, and returns when they were accepted.
fn export(port: u16, spans: &Value) {
    let body = json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": spans }] }] }).to_string();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let length = body.len();
    write!(stream, "POST /v1/traces HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[test]
fn outermost_span_that_ends_ends_the_run_and_what_comes_before_the_trace_is_silent_counts() {
    const SILENCE: Duration = Duration::from_millis(1_500);
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let gateway = Loopback::acting(move |request| {
        let session = request.body["session_key"].as_str().unwrap();
        let span = |number: u32, parent: &str, name: &str, attributes: Value| {
            json!({
                "traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": format!("{number:016x}"), "parentSpanId": parent,
                "name": name, "startTimeUnixNano": "1778760000000000000", "endTimeUnixNano": "1778760001000000000",
                "attributes": attributes,
            })
        };
        let tool = |name: &str| {
            json!([
                { "key": "gen_ai.operation.name", "value": { "stringValue": "execute_tool" } },
                { "key": "gen_ai.tool.name", "value": { "stringValue": name } },
            ])
        };
        let key = json!([{ "key": "openclaw.sessionKey", "value": { "stringValue": session } }]);
        let root = span(1, "", "run", key);
        let (early, late) = (span(2, &format!("{:016x}", 1), "read", tool("read")), tool("send"));
        let late = span(3, &format!("{:016x}", 1), "send", late);
        thread::spawn(move || {
            for span in [early, root, late] {
                export(port, &json!([span]));
            }
        });
        accepted("run-1")
    });
    let scenario = "{name: traced, tags: [negative], when: {invoke: /demo}, then: [{type: tool_not_invoked, tool: delete}, {type: tool_not_invoked, tool: send}]}";
    let place = workspace(&gateway.url(), &[scenario]);
    let settings = place.read("clawspec.yaml");
    place
        .write("clawspec.yaml", format!("{settings}observability: {{trace_poll_delay_ms: {}}}\n", SILENCE.as_millis()));
    place.write("speclens.yaml", format!("clawspec: {{traces: {{port: {port}}}}}\n"));
    let began = Instant::now();
    let (code, report) = place.report(&["--timeout", "600"]);
    let took = began.elapsed();
    let run = attempts(&report)[0].1;
    assert_eq!((code, outcomes(run)), (Some(1), vec!["pass", "fail"]), "{report:#}");
    assert_eq!(ended(&place), "root-span");
    assert!(took >= SILENCE, "{took:?}");
}

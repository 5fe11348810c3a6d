//! Results for scenarios, handoffs and pipelines without starting anything.

use serde_json::json;

use crate::{
    loopback::{Answer, Loopback},
    support::{Place, outcomes},
};

use super::{accepted, attempts, over, skill, statuses, workspace, writing};

const WRITES: &str = "{name: writes, tags: [negative], given: [{type: file_absent, path: lock}], when: {invoke: /demo go, params: {a: 1}}, then: [{type: artifact_contains, path: out.md, sections: [Hook]}]}";

#[test]
fn dry_run_checks_preconditions_and_says_what_would_be_sent_to_whom() {
    let gateway = Loopback::acting(|_| over("run-1"));
    let place = workspace(&gateway.url(), &[WRITES]);
    let done = place.run(&["run", "--dry-run"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    for line in [
        format!("POST {}/webhook/mcp-skill-invoke\n", gateway.url()),
        r#"{"skill_command":"/demo go","payload":"{\"a\": 1}","test_mode":true,"session_key":"hook:qa:skills-demo:writes:{{run_id}}"}"#.to_owned(),
        "given file_absent lock (pass)\n".to_owned(),
        "1 attempt would run\n".to_owned(),
    ] {
        assert!(done.stdout.contains(&line), "{line}\n{}", done.stdout);
    }
    place.write("lock", "");
    let done = place.run(&["run", "--dry-run"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(done.stdout.contains("given file_absent lock (fail): File exists: lock\n"), "{done:?}");
    assert!(gateway.requests().is_empty() && place.recordings().is_empty());
}

#[test]
fn what_is_there_is_judged_again_without_starting_anything() {
    let place = Place::empty();
    let gateway = Loopback::acting(writing(place.path().join("out.md"), "# Body\n"));
    place.write("clawspec.yaml", format!("gateway_base_url: {}\n", gateway.url()));
    skill(&place, "demo", &[WRITES]);
    let (code, report) = place.report(&[]);
    assert_eq!((code, statuses(&report)), (Some(1), vec![("writes", "fail")]), "{report:#}");
    // It is corrected meanwhile; the precondition is not checked again.
    place.write("out.md", "# Hook\n");
    place.write("lock", "");
    let recordings = place.recordings();
    let (code, report) = place.report(&["--judge-only"]);
    assert_eq!((code, statuses(&report)), (Some(0), vec![("writes", "pass")]), "{report:#}");
    let run = attempts(&report)[0].1;
    assert_eq!(run["verdicts"][0]["outcome"], "skip");
    assert_eq!(run["evidence"]["run_id"].as_str().unwrap_or("run-1"), "run-1");
    assert!(
        run.to_string().contains("nothing was started: the current state was evaluated, for the run `run-1`"),
        "{run}"
    );
    assert_eq!((gateway.requests().len(), place.recordings()), (1, recordings));
    let done = place.run(&["run", "--judge-only", "--run-id", "r9"]);
    assert!(done.stdout.contains("for the run `r9`"), "{done:?}");
}

const QUIET: &str =
    "{name: quiet, tags: [negative], when: {invoke: /demo}, then: [{type: tool_not_called, tool: send}]}";

#[test]
fn log_says_later_that_a_run_has_ended_which_was_given_up() {
    let gateway = Loopback::acting(|_| accepted("run-1"));
    let place = Place::empty();
    let url = gateway.url();
    place.write("clawspec.yaml", format!("gateway_base_url: {url}\ngateway_log_pattern: log/gateway.log\n"));
    skill(&place, "demo", &[QUIET]);
    let begun = "embedded run start: runId=run-1\nembedded run tool start: runId=run-1 tool=read toolCallId=1\n";
    place.write("log/gateway.log", begun);
    let (code, report) = place.report(&["--timeout", "0.3"]);
    assert_eq!((code, statuses(&report)), (Some(3), vec![("quiet", "unknown")]), "{report:#}");
    let (code, report) = place.report(&["--judge-only"]);
    assert_eq!((code, statuses(&report)), (Some(3), vec![("quiet", "unknown")]), "{report:#}");
    // The end of another run does not count.
    place.write("log/gateway.log", format!("{begun}embedded run done: runId=run-2 sessionId=s durationMs=5\n"));
    let (code, _) = place.report(&["--judge-only"]);
    assert_eq!(code, Some(3));
    place.write("log/gateway.log", format!("{begun}embedded run done: runId=run-1 sessionId=s durationMs=5\n"));
    let (code, report) = place.report(&["--judge-only"]);
    assert_eq!((code, statuses(&report)), (Some(0), vec![("quiet", "pass")]), "{report:#}");
    // The named run has no recording: only the log knows it.
    let other = format!("{begun}embedded run done: runId=run-1 sessionId=s durationMs=5\n").replace("run-1", "run-7");
    place.write("log/gateway.log", other);
    let (code, report) = place.report(&["--judge-only", "--run-id", "run-7"]);
    assert_eq!(code, Some(0), "{report:#}");
    assert_eq!(gateway.requests().len(), 1);
}

#[test]
fn recording_shows_the_exchange_with_the_gateway_and_why_there_are_no_spans() {
    let place = Place::empty();
    let gateway = Loopback::acting(writing(place.path().join("out.md"), "# Hook\n"));
    place.write("clawspec.yaml", format!("gateway_base_url: {}\n", gateway.url()));
    let then = "then: [{type: llm_call_count, max: 1}, {type: artifact_exists, path: out.md}";
    skill(&place, "demo", &[&WRITES.replace("then: [", &format!("{then}, "))]);
    assert_eq!(place.run(&["run"]).code, Some(0));
    let shown = place.run(&["recordings", "show", "writes"]).stdout;
    for part in [
        format!("  asked: POST {}/webhook/mcp-skill-invoke\n    {{\"skill_command\"", gateway.url()),
        "  answered: status 200\n  with:\n    {".to_owned(),
        "  run: ended with the gateway's response\n".to_owned(),
        "  spans: ".to_owned(),
    ] {
        assert!(shown.contains(&part), "{part} is missing: {shown}");
    }
}

const HANDOFF: &str = "version: '1.0'
handoff: {from: lead, to: copy, mechanism: sessions_spawn}
caller_provides: {}
callee_produces:
  required_artifacts:
    - {path_pattern: 'out/{{run_id}}.md', description: the text}
assertions:
  post_delegation:
    - {type: artifact_exists, path: 'out/{{run_id}}.md'}
";

#[test]
fn handoff_is_judged_by_the_run_that_is_named_and_unknown_without_one() {
    let gateway = Loopback::acting(|_| Answer::Reply(500, String::new()));
    let place = workspace(&gateway.url(), &[WRITES]);
    place.write("skills/demo/tests/handoffs/copy.yaml", HANDOFF);
    place.write("out/r7.md", "text");
    let contract = "skills/demo/tests/handoffs/copy.yaml";
    let (code, report) = place.report(&[contract]);
    assert_eq!((code, statuses(&report)), (Some(3), vec![("lead to copy", "unknown")]), "{report:#}");
    let (code, report) = place.report(&[contract, "--run-id", "r7"]);
    assert_eq!((code, statuses(&report)), (Some(0), vec![("lead to copy", "pass")]), "{report:#}");
    assert!(gateway.requests().is_empty());
}

#[test]
fn pipeline_is_started_and_judged_by_stages_handoffs_and_health() {
    let place = Place::empty();
    let gateway = Loopback::acting(writing(place.path().join("out/plan.md"), "# Plan\n"));
    place.write("clawspec.yaml", format!("gateway_base_url: {}\n", gateway.url()));
    skill(&place, "demo", &[WRITES]);
    place.write(
        "skills/demo/tests/pipeline.yaml",
        "version: '1.0'
pipeline: {name: whole, skill_path: skills/demo, trigger: /run-demo, stages: 2}
stages:
  - {name: plan, produces: out/plan.md}
  - {name: send, produces: out/sent.md, requires_approval: true}
final_assertions:
  deterministic:
    - {type: artifact_contains, path: out/plan.md, sections: [Plan]}
pipeline_health:
  - {description: fast, check: elapsed <= 1m}
",
    );
    let (code, report) = place.report(&["skills/demo/tests/pipeline.yaml"]);
    assert_eq!((code, statuses(&report)), (Some(0), vec![("whole", "pass")]), "{report:#}");
    assert_eq!(outcomes(attempts(&report)[0].1), ["pass", "skip", "pass", "pass"], "{report:#}");
    let asked = gateway.requests();
    let body = json!({ "skill_command": "/run-demo", "payload": r#"{"test_mode": true}"#, "test_mode": true });
    assert_eq!((asked.len(), &asked[0].body), (1, &body));
}

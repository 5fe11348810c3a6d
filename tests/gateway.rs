//! Scenarios started by a gateway on this machine: requests, answers, and claims about the results of the target.

#[cfg(unix)]
mod agents;
mod failing;
mod faults;
mod log;
mod looking;
#[cfg(unix)]
mod waiting;

use std::fs;

use serde_json::{Value, json};

use crate::{
    loopback::{Answer, Loopback, Request},
    support::{Done, Place, outcomes},
};

/// Returns the answer of a gateway whose run has ended.
pub(super) fn over(run_id: &str) -> Answer {
    Answer::Reply(200, json!({ "runId": run_id, "status": "completed" }).to_string())
}

/// Returns the answer of a gateway whose run has begun.
pub(super) fn accepted(run_id: &str) -> Answer {
    Answer::Reply(202, json!({ "runId": run_id, "status": "accepted" }).to_string())
}

const SKILL: &str = "---\nname: demo\ndescription: Use when a demo is wanted\nversion: 1.0.0\npermissions: {filesystem: write, network: none}\n---\n# Demo\n";

/// Returns a workspace with one skill and these scenarios, each a line of YAML.
pub(super) fn workspace(gateway: &str, scenarios: &[&str]) -> Place {
    let place = Place::empty();
    place.write("clawspec.yaml", format!("gateway_base_url: {gateway}\n"));
    skill(&place, "demo", scenarios);
    place
}

pub(super) fn skill(place: &Place, name: &str, scenarios: &[&str]) {
    place.write(&format!("skills/{name}/SKILL.md"), SKILL.replace("name: demo", &format!("name: {name}")));
    let list: String = scenarios.iter().map(|scenario| format!("  - {scenario}\n")).collect();
    let contract = format!(
        "version: '1.0'\ntarget: {{type: skill, path: skills/{name}, trigger: /{name}}}\ndefaults: {{timeout: 20}}\nscenarios:\n{list}"
    );
    place.write(&format!("skills/{name}/tests/scenarios.yaml"), contract);
}

/// Returns an action that writes a file of the workspace and answers that the run has ended.
pub(super) fn writing(path: std::path::PathBuf, text: &'static str) -> impl FnMut(&Request) -> Answer + Send {
    move |_| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        over("run-1")
    }
}

/// Returns the attempts of a report, by the names of their tests.
pub(super) fn attempts(report: &Value) -> Vec<(&str, &Value)> {
    let suites = report["suites"].as_array().unwrap().iter();
    let cases = suites.flat_map(|suite| suite["cases"].as_array().unwrap());
    cases
        .flat_map(|case| case["runs"].as_array().unwrap().iter().map(|run| (case["name"].as_str().unwrap(), run)))
        .collect()
}

pub(super) fn statuses(report: &Value) -> Vec<(&str, &str)> {
    attempts(report).into_iter().map(|(name, run)| (name, run["status"].as_str().unwrap())).collect()
}

const WRITES: &str = "{name: writes, tags: [negative], given: [{type: file_absent, path: out/a.md}, {type: gateway_healthy}], when: {invoke: /demo go, params: {b: 1, a: 'x {{run_id}}'}}, then: [{type: artifact_contains, path: out/a.md, sections: [Hook], updated_after: '{{run_started_at}}'}, {type: file_absent, path: 'out/{{run_id}}.md'}]}";

#[test]
fn scenario_is_started_at_the_gateway_and_judged_by_what_it_leaves() {
    let place = Place::empty();
    let out = place.path().join("out/a.md");
    let gateway = Loopback::acting(move |request| match request.path.as_str() {
        "/health" => Answer::Reply(200, "{}".to_owned()),
        _ => writing(out.clone(), "# Hook\nhello\n")(request),
    });
    place.write("clawspec.yaml", format!("gateway_base_url: {}/\ngateway_auth_token: tooth-fairy-11\n", gateway.url()));
    skill(&place, "demo", &[WRITES]);
    let (code, report) = place.report(&[]);
    assert_eq!((code, statuses(&report)), (Some(0), vec![("writes", "pass")]), "{report:#}");

    let asked = gateway.requests();
    assert_eq!(asked.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), ["/health", "/webhook/mcp-skill-invoke"]);
    assert!(!asked[0].headers.contains("authorization"), "{:?}", asked[0]);
    assert!(asked[1].headers.contains("authorization: Bearer tooth-fairy-11"), "{:?}", asked[1]);
    assert!(asked[1].headers.contains("content-type: application/json"), "{:?}", asked[1]);
    let session = asked[1].body["session_key"].as_str().unwrap();
    let run_id = session.strip_prefix("hook:qa:skills-demo:writes:").unwrap();
    assert_eq!(
        asked[1].body,
        json!({
            "skill_command": "/demo go", "payload": format!(r#"{{"a": "x {run_id}", "b": 1}}"#), "test_mode": true,
            "session_key": session,
        })
    );
    for recording in place.recordings() {
        let text = fs::read_to_string(recording).unwrap();
        assert!(!text.contains("tooth-fairy") && text.contains("run-1"), "{text}");
    }

    // The recording is judged again without the gateway.
    let (code, report) = place.report(&["--recorded"]);
    assert_eq!((code, statuses(&report)), (Some(0), vec![("writes", "pass")]), "{report:#}");
    place.write("skills/demo/SKILL.md", SKILL.replace("# Demo", "# Another demo"));
    let done = place.run(&["run", "--recorded"]);
    assert!(done.code == Some(3) && done.stdout.contains("`skills/demo/SKILL.md`"), "{done:?}");
    assert_eq!(gateway.requests().len(), 2);
}

#[test]
fn precondition_that_does_not_hold_starts_nothing() {
    let gateway = Loopback::acting(|_| Answer::Reply(200, "{}".to_owned()));
    let place = workspace(&gateway.url(), &[WRITES]);
    place.write("out/a.md", "old");
    let (code, report) = place.report(&[]);
    let run = attempts(&report)[0].1;
    assert_eq!((code, outcomes(run)), (Some(1), vec!["fail", "pass", "skip", "skip"]), "{report:#}");
    assert_eq!(gateway.requests().len(), 1, "its health alone");
}

#[test]
fn address_of_the_command_line_wins_over_that_of_the_environment() {
    let gateway = Loopback::acting(|_| over("run-1"));
    let place = workspace(
        "http://127.0.0.1:9",
        &["{name: a, tags: [negative], when: {invoke: write it}, then: [{type: file_absent, path: x}]}"],
    );
    let program = |arguments: &[&str]| {
        let mut program = place.program(arguments);
        program.env("CLAWSPEC_GATEWAY_BASE_URL", "http://127.0.0.1:9").env("HOOKS_TOKEN", "tooth-fairy-11");
        Done::of(&program.output().unwrap())
    };
    assert_eq!(program(&["run"]).code, Some(3));
    let done = program(&["run", "--gateway", &gateway.url()]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let asked = gateway.requests();
    assert_eq!(asked[0].body["skill_command"], "/demo");
    assert_eq!(asked[0].body["payload"], r#"{"invoke": "write it", "params": {}}"#);
    assert!(asked[0].headers.contains("Bearer tooth-fairy-11"), "{:?}", asked[0]);
}

#[test]
fn scenario_that_one_of_several_runs_must_pass_passes_with_one() {
    let with = |mode: &str| {
        format!(
            "{{name: s, tags: [negative], consistency: {{k: 3, mode: {mode}}}, when: {{invoke: /demo}}, then: [{{type: artifact_contains, path: out.md, sections: [Third]}}]}}"
        )
    };
    for (mode, code, status) in [("pass_at_k", 0, "pass"), ("pass_all_k", 1, "fail")] {
        let place = Place::empty();
        let (out, mut run) = (place.path().join("out.md"), 0);
        let gateway = Loopback::acting(move |_| {
            run += 1;
            fs::write(&out, if run == 3 { "# Third\n" } else { "# Other\n" }).unwrap();
            over(&format!("run-{run}"))
        });
        place.write("clawspec.yaml", format!("gateway_base_url: {}\n", gateway.url()));
        skill(&place, "demo", &[&with(mode)]);
        let (found, report) = place.report(&[]);
        assert_eq!(
            (found, &report["suites"][0]["cases"][0]["status"], &report["suites"][0]["status"]),
            (Some(code), &json!(status), &json!(status)),
            "{report:#}"
        );
        assert_eq!(statuses(&report).iter().filter(|(_, status)| *status == "pass").count(), 1, "{report:#}");
        let (found, _) = place.report(&["--recorded"]);
        assert_eq!(found, Some(code));
    }
}

#[test]
fn options_of_scenarios_are_refused_where_there_are_none() {
    let place = Place::with(&crate::support::suite("echo a", "{output: {contains: [a]}}"));
    for option in [&["--gateway", "http://127.0.0.1:1"][..], &["--run-id", "r"], &["--judge-only"]] {
        let done = place.run(&[&["run"], option].concat());
        assert_eq!(done.code, Some(2), "{done:?}");
        assert!(done.stderr.contains(&format!("`{}` applies only to ClawSpec", option[0])), "{done:?}");
    }
}

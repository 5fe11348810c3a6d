//! The recorded cases of ClawSpec, run for real: the program triggers a gateway on this machine, which leaves the
//! content of the recorded workspace, and every assertion has the recorded result, or a named difference.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::Mutex,
    thread,
    time::{Duration, SystemTime},
};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    loopback::{Answer, Loopback, Request},
    support::{Done, Place, repository},
};

const CASES: &str = "schema/tests/cases/clawspec";
const NOW: &str = "2026-05-14T12:00:00Z";

/// An agent that does nothing.
const OPENCLAW: &str = r#"#!/bin/sh
case $1 in
agents) echo '[]' ;;
*) echo '{"meta": {"agentMeta": {"sessionId": "run-a1"}}}' ;;
esac
"#;

/// Rows without a result, because nothing was started.
const NOT_STARTED: &[(&str, &str, &str)] =
    &[("scenario-agent-target", "spawn-without-task then 0", "`sessions_spawn` without a task has no recipient")];

/// A row with a different result: the list is the same as in the tests of single claims.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Difference {
    case: String,
    row: String,
    #[serde(default)]
    outcome: Option<String>,
    why: String,
}

/// The behavior of the gateway of a case. Files that only exist after the act are written when the act is triggered.
struct Rules {
    rules: Vec<(Value, u64)>,
    trace: Option<Value>,
    /// Files to copy into the workspace at the end of the act: source and target.
    left: Vec<(PathBuf, PathBuf)>,
    /// Files to write later: delay, path, content.
    late: Vec<(Duration, PathBuf, String)>,
}

impl Rules {
    fn of(case: &Path, place: &Place, harness: &Value) -> Rules {
        let rules = harness["http"].as_array().into_iter().flatten();
        let trace = fs::read_to_string(case.join("trace.json")).ok();
        let left = fs::read_dir(case.join("ws/logs")).into_iter().flatten().map(|entry| entry.unwrap().path());
        let late = harness["delayed_files"].as_array().into_iter().flatten().map(|file| {
            let text = |key: &str| file[key].as_str().unwrap().to_owned();
            let after = Duration::from_millis(file["after_ms"].as_u64().unwrap());
            (after, place.path().join(text("path")), text("content"))
        });
        Rules {
            late: late.collect(),
            rules: rules.map(|rule| (rule.clone(), rule["times"].as_u64().unwrap_or(u64::MAX))).collect(),
            trace: trace.map(|text| serde_json::from_str(&text).unwrap()),
            left: left.map(|from| (from.clone(), place.path().join("logs").join(from.file_name().unwrap()))).collect(),
        }
    }

    fn answer(&mut self, request: &Request) -> Answer {
        let path = request.path.as_str();
        if path.starts_with("/v1/private/") {
            return Answer::Reply(200, self.spans(path, &request.body));
        }
        if path.starts_with("/webhook/") {
            for (from, to) in &self.left {
                fs::create_dir_all(to.parent().unwrap()).unwrap();
                fs::copy(from, to).unwrap();
            }
            for (after, to, content) in self.late.drain(..) {
                thread::spawn(move || {
                    // The duration of the target.
                    thread::sleep(after);
                    fs::create_dir_all(to.parent().unwrap()).unwrap();
                    fs::write(to, content).unwrap();
                });
            }
        }
        let fits = |rule: &Value| {
            let url = rule["url"].as_str().unwrap();
            url.ends_with(path) && rule["method"].as_str().is_none_or(|wanted| wanted == request.method)
        };
        match self.rules.iter_mut().find(|(rule, left)| *left > 0 && fits(rule)) {
            Some((rule, left)) => {
                *left -= 1;
                if rule["error"] == "timeout" {
                    return Answer::Nothing;
                }
                let mut body = rule["json"].clone();
                // The recording never waited for an end; here the answer reports one.
                if body["status"] == "accepted" {
                    body["status"] = json!("completed");
                }
                let text = rule["body"].as_str().map_or_else(|| body.to_string(), str::to_owned);
                Answer::Reply(rule["status"].as_u64().map_or(200, |status| status as u16), text)
            }
            None if path.starts_with("/webhook/") => {
                Answer::Reply(200, json!({ "status": "completed", "runId": "run-a1" }).to_string())
            }
            None => Answer::Reply(404, json!({ "error": "no such place" }).to_string()),
        }
    }

    /// Returns the answer of an Opik server about the trace: one object per line.
    fn spans(&self, path: &str, asked: &Value) -> String {
        let Some(trace) = &self.trace else { return String::new() };
        if !asked["last_retrieved_id"].is_null() {
            return String::new();
        }
        let milliseconds = |value: &Value| json!(value.as_f64().map(|seconds| seconds * 1000.0));
        if path.contains("traces/search") {
            // Without times in the recording, the trace has ended anyway.
            let ended = if trace["end_time"].is_null() { json!(NOW) } else { trace["end_time"].clone() };
            let found = json!({
                "id": "trace-1", "name": "toy", "start_time": trace["start_time"], "end_time": ended,
                "tags": ["clawspec:run-a1"], "metadata": { "runId": "run-a1" }, "duration": milliseconds(&trace["duration"]),
            });
            return format!("{found}\n");
        }
        let spans = trace["spans"].as_array().unwrap().iter().map(|span| {
            let mut span = span.clone();
            span["trace_id"] = json!("trace-1");
            span["duration"] = milliseconds(&span["duration"]);
            format!("{span}\n")
        });
        spans.rev().collect()
    }
}

fn instant(text: &str) -> SystemTime {
    let instant = speclens_schema::check::time::parse(text).unwrap();
    SystemTime::UNIX_EPOCH + Duration::from_micros(u64::try_from(instant.clock_us).unwrap())
}

/// Sets the modification times of the files below a directory.
fn written(directory: &Path, root: &Path, harness: &Value) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            written(&path, root, harness);
            continue;
        }
        let name = path.strip_prefix(root).unwrap().to_str().unwrap();
        let time = instant(harness["mtimes"][name].as_str().unwrap_or(NOW));
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    }
}

struct Ran {
    done: Done,
    report: Value,
    requests: Vec<Request>,
    place_at: String,
}

/// Returns the workspace of a case around its contract, with a test gateway.
fn run(name: &str) -> Ran {
    let case = repository().join(CASES).join(name);
    let harness: Value = serde_json::from_str(&fs::read_to_string(case.join("harness.json")).unwrap()).unwrap();
    let workspace = format!("{CASES}/{name}/ws");
    let place = if repository().join(&workspace).exists() { Place::copy_of(&workspace) } else { Place::empty() };
    let mut rules = Rules::of(&case, &place, &harness);
    let gateway = Loopback::acting(move |request| rules.answer(request));
    let address = gateway.url();
    let here =
        |text: &str| text.replace("http://localhost:18789", &address).replace("http://127.0.0.1:18789", &address);
    let place_at = harness["place_at"].as_str().unwrap_or("skills/demo/tests/scenarios.yaml").to_owned();
    place.write(&place_at, here(&fs::read_to_string(case.join("case.yaml")).unwrap()));
    let contract = place.read(&place_at);
    let path = contract.lines().find_map(|line| line.trim().strip_prefix("path: ")).unwrap_or("skills/demo");
    let target = if place_at.ends_with("scenarios.yaml") { path } else { "skills/demo" };
    let definition = if target.starts_with("agents/") { "SOUL.md" } else { "SKILL.md" };
    if !place.exists(&format!("{target}/{definition}")) {
        place.write(
            &format!("{target}/{definition}"),
            "---\nname: demo\ndescription: Use when it is tested.\n---\nDemo.\n",
        );
    }
    if case.join("trace.json").exists() {
        assert!(!place.exists("clawspec.yaml"), "{name}");
        place.write(
            "clawspec.yaml",
            "observability: { backend: opik, trace_poll_delay_ms: 0, opik: { project_name: demo } }\n",
        );
    } else if !place.exists("clawspec.yaml") {
        place.write("clawspec.yaml", "{}\n");
    }
    written(place.path(), place.path(), &harness);
    // Files that the act writes do not exist before it.
    if place.exists("logs") && target.starts_with("skills/") && !place_at.contains("/handoffs/") {
        fs::remove_dir_all(place.path().join("logs")).unwrap();
    }
    let mut arguments = vec!["run", &place_at, "--report", "json", "--timeout", "20"];
    let recorded: Vec<&str> =
        harness["commands"][0]["argv"].as_array().into_iter().flatten().map(|word| word.as_str().unwrap()).collect();
    if let Some(at) = recorded.iter().position(|word| *word == "--scenario") {
        arguments.extend(["--scenario", recorded[at + 1]]);
    }
    if place_at.contains("/handoffs/") {
        arguments.extend(["--run-id", "run-a1"]);
    }
    let mut program = place.program(&arguments);
    let programs = tempfile::tempdir().unwrap();
    let openclaw = programs.path().join("openclaw");
    fs::write(&openclaw, OPENCLAW).unwrap();
    fs::set_permissions(&openclaw, fs::Permissions::from_mode(0o755)).unwrap();
    program.env("PATH", format!("{}:{}", programs.path().display(), std::env::var("PATH").unwrap()));
    program.env("SPECLENS_NOW", harness["now"].as_str().unwrap_or(NOW)).env("TZ", "UTC");
    program.env("CLAWSPEC_GATEWAY_BASE_URL", &address).env("OPIK_URL_OVERRIDE", format!("{address}/"));
    program.env("OPIK_API_KEY", "no-key");
    for (variable, value) in harness["env"].as_object().into_iter().flatten() {
        program.env(variable, value.as_str().unwrap());
    }
    for variable in harness["unset_env"].as_array().into_iter().flatten() {
        program.env_remove(variable.as_str().unwrap());
    }
    let done = Done::of(&program.output().unwrap());
    let report = serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{name}: {error}: {done:?}"));
    Ran { done, report, requests: gateway.requests(), place_at }
}

fn outcome_of(word: &str) -> Option<&'static str> {
    Some(match word {
        "PASS" => "pass",
        "FAIL" => "fail",
        "WARN" => "warn",
        "SKIP" => "skip",
        "ERROR" => "error",
        _ => return None,
    })
}

/// Cases without a contract to run, with the reason.
const NOT_RUN: &[(&str, &str)] = &[("cli-run-agent", "it is about a machine without the program `openclaw`")];

/// Rows that differ only in a whole run: case, row, outcome, reason.
const OF_A_RUN: &[(&str, &str, &str, &str)] = &[(
    "llm_judge-pass",
    "s then 1",
    "fail",
    "equal questions are asked once: the first answer, 3, counts for all of them",
)];

/// Returns whether a case has a contract in its place.
fn is_contract(case: &Path) -> bool {
    let harness = fs::read_to_string(case.join("harness.json")).unwrap_or_default();
    case.join("case.yaml").exists() && !harness.contains("\"unused.yaml\"")
}

/// Compares a case and returns the differences, one per line.
fn compare(name: &str, differences: &[Difference], seen: &Mutex<BTreeMap<&'static str, usize>>) -> Vec<String> {
    let expected = fs::read_to_string(repository().join(CASES).join(name).join("expected.json")).unwrap();
    let expected: Vec<Value> = serde_json::from_str(&expected).unwrap();
    let Ran { report, done, .. } = run(name);
    let suite = &report["suites"][0];
    let errors: Vec<&Value> =
        suite["problems"].as_array().into_iter().flatten().filter(|problem| problem["severity"] == "error").collect();
    let refused = done.code == Some(2);
    let mut rows: Vec<(String, String, String)> = Vec::new();
    for case in suite["cases"].as_array().into_iter().flatten() {
        let scenarios = Path::new(&report["suites"][0]["path"].as_str().unwrap()).ends_with("scenarios.yaml");
        let scenario = if scenarios { case["name"].as_str().unwrap() } else { "" };
        for verdict in case["runs"].as_array().into_iter().flatten().flat_map(|run| run["verdicts"].as_array().unwrap())
        {
            let row = format!("{scenario} {} {}", verdict["phase"].as_str().unwrap_or(""), verdict["index"]);
            rows.push((row, verdict["outcome"].as_str().unwrap().to_owned(), verdict["message"].to_string()));
        }
    }
    let mut wrong = Vec::new();
    for row in &expected {
        let (Some(phase), Some(index)) = (row["phase"].as_str(), row["index"].as_u64()) else { continue };
        if !["given", "then", "pre_delegation", "post_delegation", "deterministic", "semantic"].contains(&phase) {
            continue;
        }
        let place = format!("{} {phase} {index}", row["scenario"].as_str().unwrap_or_default());
        let recorded = row["status"].as_str().unwrap();
        let intended = row["with_context"]["status"].as_str().unwrap_or(recorded);
        if refused {
            // The whole file is refused because of an error at a key; the claims are compared without a run.
            *seen.lock().unwrap().entry("refused").or_default() += 1;
            if errors.is_empty() {
                wrong.push(format!("{name} {place}: refused without an error: {}", done.text()));
            }
            continue;
        }
        let found = rows.iter().position(|(at, ..)| *at == place).map(|index| rows.remove(index));
        let named = differences.iter().find(|difference| difference.case == name && difference.row == place);
        *seen.lock().unwrap().entry("judged").or_default() += 1;
        let in_run = OF_A_RUN.iter().find(|(case, row, ..)| *case == name && *row == place.trim());
        let of_run = in_run.map(|(_, _, outcome, _)| *outcome);
        let wanted = of_run.or(named.and_then(|named| named.outcome.as_deref())).or(outcome_of(intended));
        let fits = match (&found, wanted) {
            (Some((_, outcome, _)), Some(wanted)) => outcome == wanted,
            (Some((_, outcome, _)), None) => outcome != "pass",
            (None, _) => NOT_STARTED.iter().any(|(case, row, _)| *case == name && *row == place),
        };
        if !fits {
            let why = in_run.map(|(.., why)| *why).or(named.map(|named| named.why.as_str())).unwrap_or_default();
            wrong.push(format!(
                "{name} {place}: recorded {recorded} {}, wanted {wanted:?} {why}, found {found:?}",
                row["message"]
            ));
        }
    }
    wrong
}

#[test]
fn every_case_runs_as_recorded_or_the_difference_is_named() {
    let differences = fs::read_to_string(repository().join(CASES).join("differences.json")).unwrap();
    let differences: Vec<Difference> = serde_json::from_str(&differences).unwrap();
    let mut names: Vec<String> = fs::read_dir(repository().join(CASES))
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| is_contract(&entry.path()))
        .map(|entry| entry.file_name().into_string().unwrap())
        .filter(|name| !NOT_RUN.iter().any(|(known, _)| known == name))
        .collect();
    names.sort();
    assert!(names.len() >= 60, "{}", names.len());
    let seen = Mutex::new(BTreeMap::new());
    // Cases wait for deadlines most of the time.
    let queue = Mutex::new(names.iter());
    let wrong = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                loop {
                    let Some(name) = queue.lock().unwrap().next() else { break };
                    let found = compare(name, &differences, &seen);
                    wrong.lock().unwrap().extend(found);
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().unwrap();
    wrong.sort();
    let seen = seen.into_inner().unwrap();
    assert!(wrong.is_empty(), "{seen:?}\n{}\n{}", wrong.len(), wrong.join("\n"));
    assert!(seen["judged"] >= 90, "{seen:?}");
}

/// Each request that starts a skill equals ClawSpec's, except for the id, which is new in each run.
#[test]
fn skills_are_started_with_the_requests_of_the_original() {
    let mut compared = 0;
    for entry in fs::read_dir(repository().join(CASES)).unwrap() {
        let folder = entry.unwrap().path();
        let (Ok(text), true) = (fs::read_to_string(folder.join("expected_http.json")), is_contract(&folder)) else {
            continue;
        };
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let recorded: Vec<Value> = serde_json::from_str(&text).unwrap();
        let wanted: Vec<Value> = recorded
            .iter()
            .filter(|exchange| exchange["url"].as_str().unwrap().contains("/webhook/"))
            .map(|exchange| without_id(exchange["json"].clone()))
            .collect();
        if wanted.is_empty() {
            continue;
        }
        let ran = run(&name);
        let sent: Vec<Value> = ran
            .requests
            .iter()
            .filter(|request| request.path.starts_with("/webhook/"))
            .map(|request| without_id(request.body.clone()))
            .collect();
        if ran.done.code == Some(2) && sent.is_empty() {
            // The file is refused before anything is sent.
            continue;
        }
        assert_eq!(sent, wanted, "{name} at {}: {}", ran.place_at, ran.done.text());
        compared += wanted.len();
    }
    assert!(compared >= 5, "{compared}");
}

fn without_id(mut json: Value) -> Value {
    if let Some(key) = json["session_key"].as_str() {
        let kept = key.rsplit_once(':').unwrap().0.to_owned();
        json["session_key"] = json!(kept);
    }
    json
}

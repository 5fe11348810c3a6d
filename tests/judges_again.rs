//! `run --recorded --ask`: judges are asked about recordings, and nothing runs again.

use serde_json::Value;

use crate::{loopback::Loopback, support::Place};

/// Returns a suite whose command leaves a mark each time, judged by a model at this address.
fn judged(address: &str, judge: &str) -> String {
    format!(
        "kindlm: 1\nproject: demo\nsuite: {{name: demo}}\nproviders: {{ollama: {{baseUrl: \"{address}\"}}}}\nmodels: [{{id: m, provider: ollama, model: judge}}]\ntests:\n  - name: only\n    command: echo x >> marker; echo hello\n    expect:\n      output: {{contains: [hello]}}\n      judge:\n        - {judge}\n"
    )
}

const GOOD: &str = r#"{"score": 0.7, "reasoning": "it says hello"}"#;

fn status(report: &Value) -> &str {
    report["suites"][0]["cases"][0]["status"].as_str().unwrap()
}

#[test]
fn edited_criterion_asks_the_judge_again_and_an_edited_threshold_asks_no_model() {
    let ollama = Loopback::ollama(&[GOOD, GOOD]);
    let place = Place::with(&judged(&ollama.url(), "{criteria: greets, minScore: 0.5}"));
    assert_eq!(place.run(&["run"]).code, Some(0));
    assert_eq!((ollama.requests().len(), place.recordings().len()), (1, 1));
    // A threshold.
    place.write("kindlm.yaml", judged(&ollama.url(), "{criteria: greets, minScore: 0.9}"));
    let (code, report) = place.report(&["--recorded"]);
    assert_eq!((code, status(&report)), (Some(1), "fail"), "{report}");
    // Another criterion: unknown until the judge is asked.
    place.write("kindlm.yaml", judged(&ollama.url(), "{criteria: is short, minScore: 0.5}"));
    let done = place.run(&["run", "--recorded"]);
    assert_eq!(done.code, Some(3), "{done:?}");
    assert!(done.stdout.contains("`speclens run --recorded --ask`"), "{done:?}");
    assert_eq!(ollama.requests().len(), 1);
    let names = place.recordings();
    let (code, report) = place.report(&["--recorded", "--ask"]);
    assert_eq!((code, status(&report)), (Some(0), "pass"), "{report}");
    let asked = ollama.requests();
    let question = asked[1].body["messages"][1]["content"].as_str().unwrap();
    assert!(asked.len() == 2 && question.contains("hello") && question.contains("is short"), "{question}");
    assert_eq!(place.recordings(), names, "the recording has more in it, and the same name");
    // The answer is stored, and so is the answer to the first criterion.
    assert_eq!(place.run(&["run", "--recorded"]).code, Some(0));
    place.write("kindlm.yaml", judged(&ollama.url(), "{criteria: greets, minScore: 0.5}"));
    assert_eq!(place.run(&["run", "--recorded", "--ask"]).code, Some(0));
    assert_eq!((ollama.requests().len(), place.read("marker").as_str()), (2, "x\n"));
}

#[test]
fn judge_that_could_not_be_reached_is_asked_again() {
    let ollama = Loopback::ollama(&[GOOD, GOOD]);
    let place = Place::with(&judged("http://127.0.0.1:9", "{criteria: greets}"));
    assert_eq!(place.run(&["run"]).code, Some(3));
    // The address of a model is not a part of the question.
    place.write("kindlm.yaml", judged(&ollama.url(), "{criteria: greets}"));
    assert_eq!(place.run(&["run", "--recorded"]).code, Some(3));
    let (code, report) = place.report(&["--recorded", "--ask"]);
    assert_eq!((code, status(&report)), (Some(0), "pass"), "{report}");
    assert_eq!(place.read("marker"), "x\n");
}

#[test]
fn answer_that_cannot_be_read_is_not_asked_for_again() {
    let ollama = Loopback::ollama(&["I would say it is good"]);
    let place = Place::with(&judged(&ollama.url(), "{criteria: greets}"));
    assert_eq!(place.run(&["run"]).code, Some(3));
    assert_eq!(place.run(&["run", "--recorded", "--ask"]).code, Some(3));
    assert_eq!(ollama.requests().len(), 1);
}

#[test]
fn test_without_a_recording_is_not_run_to_be_judged() {
    let ollama = Loopback::ollama(&[GOOD]);
    let place = Place::with(&judged(&ollama.url(), "{criteria: greets}"));
    let done = place.run(&["run", "--recorded", "--ask"]);
    assert_eq!(done.code, Some(3), "{done:?}");
    assert!(done.stdout.contains("no recording"), "{done:?}");
    assert!(!place.exists("marker") && ollama.requests().is_empty());
}

#[test]
fn secret_in_the_answer_of_a_judge_is_masked_in_the_recording() {
    let ollama = Loopback::ollama(&["{\"score\": 0.1, \"reasoning\": \"it says s3cr3t-value-1\"}"]);
    let place = Place::with(&judged("http://127.0.0.1:9", "{criteria: greets}"));
    assert_eq!(place.run(&["run"]).code, Some(3));
    place.write("kindlm.yaml", judged(&ollama.url(), "{criteria: greets}"));
    let done = place.program(&["run", "--recorded", "--ask"]).env("DEMO_API_KEY", "s3cr3t-value-1").output().unwrap();
    let recording = std::fs::read_to_string(&place.recordings()[0]).unwrap();
    assert_eq!(done.status.code(), Some(1));
    assert!(recording.contains("it says") && !recording.contains("s3cr3t"), "{recording}");
    assert!(!String::from_utf8_lossy(&done.stdout).contains("s3cr3t"));
}

#[test]
fn asking_belongs_to_recorded_runs() {
    let place = Place::with(&judged("http://127.0.0.1:9", "{criteria: greets}"));
    let done = place.run(&["run", "--ask"]);
    assert!(done.code == Some(2) && done.stderr.contains("--recorded"), "{done:?}");
}

//! Criteria that a model judges: the question, the effect of the answer, and free re-judging.

use crate::{loopback::Loopback, support::Place};

/// Returns a suite whose output a server on this machine judges.
fn judged(server: &str, command: &str, judge: &str) -> String {
    format!(
        "kindlm: 1\nproject: demo\nsuite: {{name: demo}}\nproviders: {{ollama: {{baseUrl: \"{server}\"}}}}\nmodels: [{{id: local, \
         provider: ollama, model: small}}]\nprompts: {{p: {{user: hello}}}}\ntests:\n  - name: only\n    command: {command:?}\n    expect:\n      judge: {judge}\n"
    )
}

const GOOD: &str = r#"{"score": 0.9, "reasoning": "friendly enough"}"#;
const POOR: &str = r#"Here you are: {"score": 0.4, "reasoning": "too short"}"#;

#[test]
fn judge_is_asked_about_the_output_and_its_score_decides() {
    let server = Loopback::ollama_by(&[("is friendly", GOOD), ("is long", POOR)]);
    let criteria = "[{criteria: is friendly}, {criteria: is long, rubric: 1 = long, minScore: 0.5}]";
    let place = Place::with(&judged(&server.url(), "printf 'Thank you'", criteria));
    let (code, report) = place.report(&[]);
    assert_eq!(code, Some(1), "{report}");
    let verdicts = &report["suites"][0]["cases"][0]["runs"][0]["verdicts"];
    assert_eq!((&verdicts[0]["outcome"], &verdicts[0]["score"]), (&"pass".into(), &0.9.into()));
    assert_eq!((&verdicts[1]["outcome"], &verdicts[1]["code"]), (&"fail".into(), &"JUDGE_BELOW_THRESHOLD".into()));
    let message = verdicts[1]["message"].as_str().unwrap();
    assert!(message.contains("Score 0.4 below threshold 0.5: too short"), "{message}");
    assert_eq!(verdicts[1]["place"]["pointer"], "/tests/0/expect/judge/1/minScore");

    let mut asked: Vec<String> = server
        .requests()
        .iter()
        .map(|request| {
            assert_eq!(request.path, "/api/chat");
            assert!(!request.headers.contains("authorization"), "{request:?}");
            let options = &request.body["options"];
            assert_eq!((&options["temperature"], &options["num_predict"]), (&0.0.into(), &512.into()), "{request:?}");
            request.body["messages"][1]["content"].as_str().unwrap().to_owned()
        })
        .collect();
    asked.sort();
    let question = |rest: &str| format!("## Assistant Response\nThank you\n\n## Criteria\n{rest}");
    assert_eq!(asked, [question("is friendly"), question("is long\n\n## Rubric\n1 = long")]);
}

#[test]
fn answer_that_is_missing_or_cannot_be_read_leaves_the_claim_unknown() {
    let server = Loopback::ollama(&["It was quite nice."]);
    let place = Place::with(&judged(&server.url(), "printf hi", "[{criteria: is long}]"));
    let done = place.run(&["run"]);
    assert_eq!(done.code, Some(3), "{done:?}");
    assert!(done.stdout.contains("is invalid: it does not contain a JSON object"), "{}", done.stdout);

    let gone = Loopback::answering([]).url().replace("http://", "http://user:secret@");
    let place = Place::with(&judged(&gone, "printf hi", "[{criteria: is long}]"));
    let done = place.run(&["run"]);
    assert_eq!(done.code, Some(3), "{done:?}");
    assert!(done.stdout.contains("the judge was not asked"), "{}", done.stdout);
}

#[test]
fn settings_name_another_judge() {
    let server = Loopback::ollama(&[GOOD]);
    let place = Place::with(&judged("http://127.0.0.1:1", "printf hi", "[{criteria: is long, model: large}]"));
    let address = server.url();
    place.write(
        "speclens.yaml",
        format!("judge: local/tiny\nproviders: {{local: {{api: ollama, base_url: \"{address}\"}}}}\n"),
    );
    let done = place.run(&["run"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(server.requests()[0].body["model"], "tiny");
}

//! Judges that are asked about recordings.

use crate::{client::Client, lens_titles, loopback::Loopback, run, running::lenses_until, sources};

const GOOD: &str = r#"{"score": 0.7, "reasoning": "it says hello"}"#;

fn judged(address: &str) -> String {
    format!(
        "kindlm: 1\nproject: demo\nsuite: {{name: demo}}\nproviders: {{ollama: {{baseUrl: \"{address}\"}}}}\nmodels: [{{id: m, provider: ollama, model: judge}}]\nprompts: {{p: {{user: hello}}}}\ntests:\n  - name: only\n    command: echo x >> marker; echo hello\n    expect:\n      judge:\n        - criteria: greets\n          minScore: 0.5\n"
    )
}

#[test]
fn edited_threshold_is_judged_at_once_and_an_edited_criterion_by_asking_the_judge() {
    let server = Loopback::ollama(&[GOOD, GOOD]);
    let mut client = Client::start(&[("kindlm.yaml", &judged(&server.url()))]);
    let mut text = client.open("kindlm.yaml");
    run(&mut client, "only");
    lenses_until(&mut client, "it passed", |titles| titles.iter().any(|title| title.starts_with('✓')));
    client.replace("kindlm.yaml", &mut text, "minScore: 0.5", "minScore: 0.9", 2);
    let found = client.diagnostics("kindlm.yaml", |found| !sources(found, "speclens run").is_empty());
    let message = sources(&found, "speclens run").concat();
    assert!(message.contains("Score 0.7 below threshold 0.9"), "{message}");
    assert!(!lens_titles(&mut client, "kindlm.yaml").contains(&"Ask judge".to_owned()));
    client.replace("kindlm.yaml", &mut text, "minScore: 0.9", "minScore: 0.5", 3);
    client.replace("kindlm.yaml", &mut text, "greets", "is short", 4);
    let titles = lenses_until(&mut client, "it can be asked", |titles| titles.contains(&"Ask judge".to_owned()));
    assert_eq!(titles, ["▶ Run", "? 1 assertion unknown", "Ask judge"]);
    assert_eq!(server.requests().len(), 1);
    client.press("kindlm.yaml", "Ask judge");
    let titles = lenses_until(&mut client, "it passed", |titles| titles.iter().any(|title| title.starts_with('✓')));
    assert!(!titles.contains(&"Ask judge".to_owned()), "{titles:?}");
    let asked = server.requests();
    assert!(asked.len() == 2 && asked[1].path == "/api/chat", "{asked:?}");
    assert!(asked[1].body.to_string().contains("is short") && !asked[1].headers.contains("authorization"), "{asked:?}");
    assert_eq!(std::fs::read_to_string(client.path("marker")).unwrap(), "x\n", "the command ran once");
}

#[test]
fn transcript_shows_what_the_judge_answered_and_what_it_took() {
    for style in [|suite: String| suite, |suite: String| suite.replace('\n', "\r\n")] {
        let server = Loopback::ollama(&[GOOD]);
        let mut client = Client::opened(&[("kindlm.yaml", &style(judged(&server.url())))]);
        run(&mut client, "only");
        lenses_until(&mut client, "it passed", |titles| titles.iter().any(|title| title.starts_with('✓')));
        let text = client.transcript("kindlm.yaml", "only");
        assert!(text.contains("\n  ✓ Judge: greets (score 0.7)\n"), "{text}");
        let (_, answers) = text.split_once("\njudge ollama/judge\n").unwrap();
        assert!(answers.starts_with(&format!("{GOOD}\n(70 input and 9 output tokens")), "{text}");
    }
}

#[test]
fn transcript_has_the_reason_for_a_missing_answer_of_the_judge() {
    let server = Loopback::answering([(401, r#"{"error": "who are you"}"#.to_owned())]);
    let mut client = Client::opened(&[("kindlm.yaml", &judged(&server.url()))]);
    run(&mut client, "only");
    lenses_until(&mut client, "it is unknown", |titles| titles.iter().any(|title| title.starts_with('?')));
    let text = client.transcript("kindlm.yaml", "only");
    let (_, answers) = text.split_once("\njudge ollama/judge\n").unwrap();
    assert!(answers.starts_with("no answer: ") && answers.contains("401"), "{text}");
}

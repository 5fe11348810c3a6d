//! Secrets of a task, and all messages to the editor about its run.

use serde_json::{Value, json};

use crate::client::Client;

/// The value of a server variable with a secret-looking name, of one that the settings name, of one that the suite
/// sets, and the match of a pattern.
const PLANTED: [&str; 4] = ["planted-by-name", "planted-by-list", "planted-by-suite", "tok_12ab"];

const SUITE: &str = "cli: sh\nproviders: [scripted/leaky]\nenv: {TOKEN: planted-by-suite}\nredact_env: [TOKEN, OUTER]\n\
                     redact_patterns: ['tok_[a-z0-9]{4}']\ntasks:\n  - id: leak\n    intent: Print everything\n    max_turns: 3\n    \
                     assert:\n      - output_contains: never printed\n      - verify: {run: cat out.txt, output_contains: never}\n";

const SCRIPT: &str = "default:\n  - run: echo said planted-by-name planted-by-list planted-by-suite tok_12ab > out.txt\n  \
                      - run: echo $MY_API_KEY $OUTER $TOKEN; cat out.txt; cat out.txt >&2\n  \
                      - say: I saw planted-by-name, planted-by-list, planted-by-suite and tok_12ab.\n";

#[test]
fn planted_secrets_are_in_no_diagnostic_no_lens_and_no_transcript() {
    let files = [("cli-bench.yaml", SUITE), ("leaky.script.yaml", SCRIPT)];
    let mut client = Client::spawn_with(&[("MY_API_KEY", PLANTED[0]), ("OUTER", PLANTED[1])], &files);
    client.initialize(json!({}), json!({ "trusted": true }));
    client.open("cli-bench.yaml");
    client.run_test("cli-bench.yaml", "leak");
    let is_of_run = |found: &&Value| found["message"].as_str().is_some_and(|message| message.contains("`leak`"));
    let found = client.diagnostics("cli-bench.yaml", |found| found.iter().filter(is_of_run).count() >= 2);
    let lenses = client.about("cli-bench.yaml", "codeLens");
    let transcript = client.transcript("cli-bench.yaml", "leak");
    let hover = client.hover("cli-bench.yaml", json!({ "line": 10, "character": 10 }));
    assert!(transcript.contains("secret values were masked"), "they were observed: {transcript}");
    for text in [Value::from(found).to_string(), lenses.to_string(), transcript, hover.to_string()] {
        assert!(PLANTED.iter().all(|secret| !text.contains(secret)), "{text}");
    }
}

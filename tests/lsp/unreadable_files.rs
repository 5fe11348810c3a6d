//! Files in editors that another program reads differently, and text that no program reads.

use serde_json::{Value, json};

use crate::client::Client;

const SCENARIOS: &str = "skills/a/tests/scenarios.yaml";
const TEXT: &str = "version: \"1.0\"\ntarget: {type: agent, path: skills/a, trigger: a}\ndefaults: {timeout: 5}\nscenarios:\n- name: one\n  tags: [negative]\n  when:\n    invoke: /a\n    params: {a: b}\n  then:\n  - type: no_span_errors\n  - type: artifact_exists\n    path: x.md\n    updated_after:\n- name: two\n  when: {invoke: /a}\n  then:\n  - type: no_span_errors\n  - type: trace_cost\n    max_usd: 1\n";

fn by_code<'f>(found: &'f [Value], code: &str) -> Vec<&'f Value> {
    found.iter().filter(|found| found["code"] == code).collect()
}

#[test]
fn a_rejected_file_has_one_diagnostic_with_its_other_places() {
    let mut client =
        Client::start(&[("speclens.yaml", "compat: [clawspec]\n"), ("skills/a/SOUL.md", "# A\n"), (SCENARIOS, TEXT)]);
    client.open(SCENARIOS);
    let found = client.diagnostics(SCENARIOS, |found| !by_code(found, "upstream-differs").is_empty());
    let mut facts = by_code(&found, "upstream-differs");
    // The others are about defaults, which the other program ignores.
    facts.retain(|it| it["message"].as_str().unwrap().contains("does not allow"));
    assert_eq!(facts.len(), 1, "{found:#?}");
    assert_eq!(facts[0]["severity"], 1);
    let message = facts[0]["message"].as_str().unwrap();
    assert!(message.contains("does not allow `no_span_errors` or `trace_cost`\nnote: "), "{message}");
    let places = facts[0]["relatedInformation"].as_array().unwrap();
    let lines: Vec<u64> = places.iter().map(|it| it["location"]["range"]["start"]["line"].as_u64().unwrap()).collect();
    assert_eq!((&facts[0]["range"]["start"]["line"], lines.as_slice()), (&json!(10), &[17, 18][..]));
}

#[test]
fn text_that_nothing_reads_is_faded_and_a_check_that_never_takes_place_is_underlined() {
    let mut client = Client::start(&[("skills/a/SOUL.md", "# A\n"), (SCENARIOS, TEXT)]);
    client.open(SCENARIOS);
    let found = client.diagnostics(SCENARIOS, |found| !by_code(found, "no-effect").is_empty());
    let faded = by_code(&found, "no-effect");
    let lines: Vec<u64> = faded.iter().map(|it| it["range"]["start"]["line"].as_u64().unwrap()).collect();
    assert_eq!(lines, [8], "{found:#?}");
    for it in faded {
        assert_eq!((&it["severity"], &it["tags"]), (&json!(4), &json!([1])), "{it:#}");
    }
    let mut unchecked = by_code(&found, "unchecked");
    // The other one is about traces, of which there is no source.
    unchecked.retain(|it| it["severity"] == 2);
    assert_eq!(unchecked.len(), 1, "{found:#?}");
    assert_eq!(unchecked[0]["tags"], Value::Null);
}

#[test]
fn the_programs_of_compat_are_completed_and_checked() {
    let mut client = Client::opened(&[("speclens.yaml", "compat: [clawspec, ]\n")]);
    let labels = client.labels("speclens.yaml", json!({ "line": 0, "character": 19 }));
    assert!(["kindlm", "cli-bench"].iter().all(|name| labels.iter().any(|label| label == name)), "{labels:?}");
    client.change("speclens.yaml", json!({ "text": "compat: [clawspek]\n" }));
    let found = client.diagnostics("speclens.yaml", |found| !found.is_empty());
    assert!(found[0]["message"].as_str().unwrap().contains("clawspek"), "{found:#?}");
}

#[test]
fn invalid_values_of_settings_say_what_to_write() {
    let mut client = Client::opened(&[("speclens.yaml", "judge: [a/b]\r\nthresholds: {pass_rate: 2}\r\n")]);
    let found = client.diagnostics("speclens.yaml", |found| found.len() == 2);
    let messages: Vec<&str> = found.iter().map(|it| it["message"].as_str().unwrap()).collect();
    assert!(
        messages[0].ends_with("\nhelp: write the id of the model that scores, such as `anthropic/claude-haiku-4-5`"),
        "{messages:?}"
    );
    assert!(messages[1].ends_with("\nhelp: write a number from 0 to 1, such as `0.9`"), "{messages:?}");
}

#[test]
fn settings_not_in_utf8_say_how_to_save_them() {
    let mut client = Client::opened(&[("kindlm.yaml", "kindlm: 1\n")]);
    std::fs::write(client.path("speclens.yaml"), b"\xff\xfej\0u\0d\0g\0e\0:\0 \0a\0/\0b\0\n\0").unwrap();
    client.files_changed(&[("speclens.yaml", 1)]);
    let is_reported = |params: &Value| params["diagnostics"].to_string().contains("UTF-16");
    let params = client.notification("textDocument/publishDiagnostics", is_reported);
    let messages: Vec<&Value> = params["diagnostics"].as_array().unwrap().iter().map(|it| &it["message"]).collect();
    assert!(messages.contains(&&json!("not UTF-8 but UTF-16\nhelp: save the file as UTF-8")), "{params:#}");
}

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
    let unchecked = by_code(&found, "unchecked");
    assert_eq!(unchecked.len(), 1, "{found:#?}");
    assert_eq!((&unchecked[0]["severity"], &unchecked[0]["tags"]), (&json!(2), &Value::Null));
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

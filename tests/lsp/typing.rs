//! What is shown while something is typed: hints in place of errors, until the cursor leaves.

use serde_json::{Value, json};

use super::{client::Client, positions::position, running::lenses_until};

const SUITE: &str = "kindlm: 1
project: demo
suite: {name: demo}
tests:
  - name: one
    command: echo one
    expect:
      output:
        contains: [one]
";

/// Types letters at the end of a text's first occurrence. Returns the severities after each letter.
fn type_behind(client: &mut Client, text: &mut String, at: &str, letters: &str) -> Vec<Vec<u64>> {
    let mut end = text.find(at).unwrap() + at.len();
    let mut shown = Vec::new();
    for letter in letters.chars() {
        let place = position(text, end);
        client.change("kindlm.yaml", json!({ "range": { "start": place, "end": place }, "text": letter }));
        text.insert(end, letter);
        end += letter.len_utf8();
        shown.push(severities(&client.diagnostics("kindlm.yaml", |_| true)));
    }
    shown
}

/// Returns the severities of the problems of the text, without what is noted of KindLM itself.
fn severities(found: &[Value]) -> Vec<u64> {
    let of_text = found.iter().filter(|one| one["code"] != "upstream-differs");
    of_text.map(|one| one["severity"].as_u64().unwrap()).collect()
}

#[test]
fn half_typed_key_is_a_hint_until_the_cursor_leaves_it() {
    for text in [SUITE.to_owned(), SUITE.replace('\n', "\r\n")] {
        let mut client = Client::start(&[("kindlm.yaml", &text)]);
        let mut text = client.open("kindlm.yaml");
        client.diagnostics("kindlm.yaml", |_| true);
        let line = if text.contains('\r') { "[one]\r\n        " } else { "[one]\n        " };
        text.push_str("        \n");
        let end = json!({ "line": 9, "character": 0 });
        client.change("kindlm.yaml", json!({ "range": { "start": end, "end": end }, "text": "        \n" }));
        client.diagnostics("kindlm.yaml", |_| true);
        let shown = type_behind(&mut client, &mut text, line, "notContain");
        assert!(shown.iter().all(|each| each.iter().all(|severity| *severity == 4)), "{shown:?}");
        assert_eq!(shown.last().unwrap().len(), 1);
        // In the same line nothing is left; in another one it is.
        client.ask_at("documentHighlight", "kindlm.yaml", json!({ "line": 9, "character": 0 }), json!({}));
        client.ask_at("documentHighlight", "kindlm.yaml", json!({ "line": 4, "character": 0 }), json!({}));
        let found = client.diagnostics("kindlm.yaml", |found| severities(found) == [1]);
        assert_eq!(found.last().unwrap()["range"]["start"]["line"], 9, "{found:?}");
    }
}

#[test]
fn half_typed_key_is_an_error_when_it_is_saved_or_nothing_more_is_typed() {
    for is_saved in [true, false] {
        let mut client = Client::start(&[("kindlm.yaml", SUITE)]);
        let mut text = client.open("kindlm.yaml");
        client.diagnostics("kindlm.yaml", |_| true);
        assert_eq!(type_behind(&mut client, &mut text, "      output", "s"), [[4]]);
        if is_saved {
            client.save("kindlm.yaml");
        }
        client.diagnostics("kindlm.yaml", |found| severities(found) == [1]);
    }
}

#[test]
fn problems_elsewhere_stay_what_they_are() {
    let wrong = SUITE.replace("command:", "comand:");
    let mut client = Client::start(&[("kindlm.yaml", &wrong)]);
    let mut text = client.open("kindlm.yaml");
    let before = severities(&client.diagnostics("kindlm.yaml", |_| true));
    let shown = type_behind(&mut client, &mut text, "      output", "s");
    assert_eq!(shown, [[before, vec![4]].concat()]);
}

#[test]
fn failing_value_is_a_hint_while_it_is_typed() {
    let mut client = Client::start(&[("kindlm.yaml", SUITE)]);
    let mut text = client.open("kindlm.yaml");
    client.run_test("kindlm.yaml", "one");
    lenses_until(&mut client, "it passed", |titles| titles.iter().any(|title| title.starts_with('✓')));
    let failing = |found: &[Value]| -> Vec<u64> {
        let of_runs = found.iter().filter(|one| one["source"] == "speclens run");
        of_runs.map(|one| one["severity"].as_u64().unwrap()).collect()
    };
    client.replace("kindlm.yaml", &mut text, "[one]", "[ones]", 2);
    client.diagnostics("kindlm.yaml", |found| failing(found) == [4]);
    client.ask_at("documentHighlight", "kindlm.yaml", json!({ "line": 0, "character": 0 }), json!({}));
    client.diagnostics("kindlm.yaml", |found| failing(found) == [1]);
}

#[test]
fn pulling_client_is_asked_to_pull_again_when_the_cursor_leaves() {
    let capabilities = json!({
        "textDocument": { "diagnostic": {} },
        "workspace": { "diagnostics": { "refreshSupport": true } },
    });
    let mut client = Client::spawn(&[("kindlm.yaml", SUITE)]);
    client.initialize(capabilities, json!({ "trusted": true }));
    let mut text = client.open("kindlm.yaml");
    client.replace("kindlm.yaml", &mut text, "      output", "      outputs", 2);
    let pulled = client.about("kindlm.yaml", "diagnostic");
    assert_eq!(severities(pulled["items"].as_array().unwrap()), [4], "{pulled}");
    client.ask_at("documentHighlight", "kindlm.yaml", json!({ "line": 0, "character": 0 }), json!({}));
    client.wait("the request to pull again", |message| message["method"] == "workspace/diagnostic/refresh");
    let pulled = client.about("kindlm.yaml", "diagnostic");
    assert_eq!(severities(pulled["items"].as_array().unwrap()), [1], "{pulled}");
}

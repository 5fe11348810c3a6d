//! Files with very many problems, and files so long that parts are computed on demand.

use serde_json::{Value, json};

use crate::client::{Client, at, pulling};

/// Returns a suite with this many tests, each with the notes, warnings or errors of its lines.
fn suite(count: usize, lines: &str) -> String {
    let test = |index: usize| {
        format!("  - name: t{index}\n    command: 'true'\n    expect: {{output: {{contains: [a]}}}}\n{lines}")
    };
    let tests: String = (0..count).map(test).collect();
    format!("kindlm: 1\nproject: demo\nsuite: {{name: demo}}\ntests:\n{tests}")
}

/// Maximum number of diagnostics that are sent for a file.
const LIMIT: usize = 500;

/// Adds a warning to a test.
const WARNING: &str = "    tagss: [x]\n";

/// Adds an error to a test.
const ERROR: &str = "    repeat: many\n";

fn lines_of(found: &[Value], severity: u32) -> Vec<u64> {
    let fitting = found.iter().filter(|one| one["severity"] == severity && one["code"] != "not-shown");
    fitting.map(|one| one["range"]["start"]["line"].as_u64().unwrap()).collect()
}

fn check_many(found: &[Value], last_line: u64) {
    let (last, shown) = found.split_last().unwrap();
    assert_eq!((&last["code"], &last["severity"], shown.len()), (&json!("not-shown"), &json!(3), LIMIT), "{last}");
    assert_eq!(found.iter().filter(|one| one["code"] == "not-shown").count(), 1);
    assert_eq!(lines_of(found, 1), [last_line], "the error behind all warnings is shown");
    let lines: Vec<u64> = shown.iter().map(|one| one["range"]["start"]["line"].as_u64().unwrap()).collect();
    assert!(lines.is_sorted(), "{lines:?}");
}

#[test]
fn an_error_after_many_warnings_is_shown_and_so_is_what_was_typed_last() {
    let text = suite(1500, WARNING) + ERROR;
    let last_line = text.lines().count() as u64 - 1;
    for pulls in [false, true] {
        let mut client = Client::spawn(&[("kindlm.yaml", &text)]);
        let capabilities = if pulls { pulling() } else { json!({}) };
        client.initialize(capabilities, json!({}));
        let mut text = client.open("kindlm.yaml");
        let found = |client: &mut Client| match pulls {
            true => client.about("kindlm.yaml", "diagnostic")["items"].as_array().unwrap().clone(),
            false => client.diagnostics("kindlm.yaml", |_| true),
        };
        let at_first = found(&mut client);
        check_many(&at_first, last_line);
        assert_eq!(lines_of(&at_first, 2)[0], 7, "a file is shown from its beginning");
        client.replace("kindlm.yaml", &mut text, "- name: t1400\n", "- nam: t1400\n", 2);
        let typed = found(&mut client);
        assert!(typed.iter().any(|one| one["code"] == "unknown-key" && one["message"].to_string().contains("`nam`")));
        assert!(lines_of(&typed, 2)[0] > 1000, "what is far from the edit gives way");
    }
}

#[test]
fn errors_are_all_shown() {
    let mut client = Client::start(&[("kindlm.yaml", &suite(1200, &format!("{ERROR}{WARNING}")))]);
    let mut text = client.open("kindlm.yaml");
    for version in [1, 2] {
        let found = client.diagnostics("kindlm.yaml", |_| true);
        assert_eq!((lines_of(&found, 1).len(), lines_of(&found, 2).len()), (1200, 0));
        assert_eq!((found.len(), &found[1200]["code"]), (1201, &json!("not-shown")));
        if version == 1 {
            client.replace("kindlm.yaml", &mut text, "- name: t1190\n", "- name: t1190x\n", 2);
        }
    }
}

#[test]
fn failing_claims_of_a_run_are_all_shown() {
    let words: Vec<String> = (0..1200).map(|index| format!("w{index}x")).collect();
    let text = format!(
        "kindlm: 1\nproject: demo\nsuite: {{name: demo}}\ntests:\n  - name: one\n    command: echo hi\n    expect: {{output: {{contains: [{}]}}}}\n",
        words.join(", ")
    );
    let mut client = Client::opened(&[("kindlm.yaml", &text)]);
    client.diagnostics("kindlm.yaml", |_| true);
    client.run_file("kindlm.yaml");
    client.diagnostics("kindlm.yaml", |found| {
        let of_run: Vec<&Value> = found.iter().filter(|one| one["source"] == "speclens run").collect();
        of_run.len() == 1200 && of_run.iter().all(|one| one["severity"] == 1)
    });
}

/// Returns the titles of the actions that change several places, at the first test.
fn many(client: &mut Client, context: &Value) -> Vec<String> {
    let found = client.actions_in("kindlm.yaml", &at(7, 6), context.clone());
    let titles = found.iter().map(|action| action["title"].as_str().unwrap().to_owned());
    titles.filter(|title| title.contains(" all ")).collect()
}

#[test]
fn edits_of_a_whole_long_file_are_worked_out_only_when_they_are_asked_for() {
    let menu = json!({ "diagnostics": [], "triggerKind": 1 });
    let by_name = json!({ "diagnostics": [], "only": ["source.fixAll"] });
    let resolving = json!({ "textDocument": { "codeAction": { "dataSupport": true, "resolveSupport": { "properties": ["edit"] } } } });
    let (short, long) = (suite(10, WARNING), suite(1000, WARNING));
    for (text, capabilities, in_menu) in [(&short, json!({}), 2), (&long, json!({}), 0), (&long, resolving, 2)] {
        let mut client = Client::opened_as(&[("kindlm.yaml", text)], capabilities, json!({}));
        assert_eq!(many(&mut client, &menu).len(), in_menu);
        assert_eq!(many(&mut client, &by_name).len(), 1);
    }
}

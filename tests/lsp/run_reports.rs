//! Reports of a run beside its verdicts.

use serde_json::{Value, json};

use crate::{
    client::Client,
    positions::units,
    run,
    running::{WAITING, lenses_until, running},
    sources,
    tasks::hover_in,
};

#[test]
fn status_names_each_test_and_what_runs() {
    let mut client = Client::opened(&[("kindlm.yaml", WAITING)]);
    let uri = client.uri("kindlm.yaml");
    let answer = client.execute("speclens.showStatus", json!([]));
    assert_eq!(answer["result"], json!({ "tests": [], "running": [] }));
    let number = client.run_test("kindlm.yaml", "waits")["result"]["run"].clone();
    lenses_until(&mut client, "it runs", |titles| running(titles) == 1);
    let answer = client.press("kindlm.yaml", "… running");
    let running = json!([{ "run": number, "uri": uri, "tests": ["waits"] }]);
    let tests = json!([{ "test": "waits", "state": "… running" }]);
    assert_eq!(answer["result"], json!({ "tests": tests, "running": running }));
}

#[test]
fn cancelled_run_ends_as_cancelled() {
    let mut client = Client::spawn(&[("kindlm.yaml", WAITING)]);
    client.initialize(json!({ "window": { "workDoneProgress": true } }), json!({ "trusted": true }));
    client.open("kindlm.yaml");
    run(&mut client, "waits");
    lenses_until(&mut client, "it runs", |titles| running(titles) == 1);
    client.execute("speclens.cancel", json!([]));
    let end = client.notification("$/progress", |params| params["value"]["kind"] == "end");
    assert_eq!(end["value"], json!({ "kind": "end", "message": "cancelled: 0 of 1 passed, 1 unfinished" }));
}

#[test]
fn progress_names_the_test_and_the_time_that_it_has_taken() {
    let mut client = Client::spawn(&[("kindlm.yaml", WAITING)]);
    client.initialize(json!({ "window": { "workDoneProgress": true } }), json!({ "trusted": true }));
    client.open("kindlm.yaml");
    run(&mut client, "waits");
    let begin = client.notification("$/progress", |params| params["value"]["kind"] == "begin")["value"].clone();
    assert_eq!((&begin["title"], &begin["message"]), (&json!("speclens: running"), &json!("waits")));
    let report = client.notification("$/progress", |params| params["value"]["kind"] == "report")["value"].clone();
    let message = report["message"].as_str().unwrap();
    assert!(message.starts_with("0/1 waits, 0:0"), "{message}");
    client.execute("speclens.cancel", json!([]));
}

#[test]
fn a_judge_is_not_asked_about_a_test_that_has_none() {
    let mut client = Client::opened(&[("kindlm.yaml", WAITING)]);
    let argument = json!({ "uri": client.uri("kindlm.yaml"), "test": "waits" });
    let answer = client.execute("speclens.ask", json!([argument]));
    let reason = "no assertion of `waits` asks a judge";
    assert_eq!(answer["result"], json!({ "run": null, "reason": reason }));
    client.notification("window/showMessage", |shown| shown["message"] == format!("speclens: {reason}"));
}

/// A test that cannot start its command, and whose claim is unknown for that reason.
const NOTED: &str = "kindlm: 1
project: demo
suite: {name: demo}
tests:
  - name: absent
    command: no-such-program-at-all
    expect: {output: {notContains: [sorry]}}
";

#[test]
fn what_was_noticed_in_a_run_is_shown_at_the_test_and_in_hover() {
    let note = "exit code 127: the shell did not find the command";
    let mut client = Client::opened(&[("kindlm.yaml", NOTED)]);
    run(&mut client, "absent");
    let check = |client: &mut Client| {
        let found = client.diagnostics("kindlm.yaml", |found| !sources(found, "speclens run").is_empty());
        let shown: Vec<&Value> = found.iter().filter(|found| found["source"] == "speclens run").collect();
        let noted = shown.iter().find(|found| found["message"] == format!("`absent`: {note}")).unwrap();
        assert_eq!((shown.len(), &noted["severity"]), (2, &json!(3)), "{shown:?}");
        assert_eq!(noted["range"]["start"], json!({ "line": 4, "character": 10 }));
    };
    check(&mut client);
    for line in [4, 5] {
        let hover = client.hover("kindlm.yaml", json!({ "line": line, "character": 14 }));
        assert!(hover["contents"]["value"].as_str().unwrap().contains(note), "{hover}");
    }
    let shown = client.transcript("kindlm.yaml", "absent");
    assert!(shown.contains(&format!("note: {note}\n")), "{shown}");
    // The same holds for a recording.
    client.close("kindlm.yaml");
    client.forget();
    client.open("kindlm.yaml");
    check(&mut client);
}

/// A suite whose test breaks rules of two schemas, one of them outside of the workspace.
const JUDGED: &str = "kindlm: 1
project: demo
suite: {name: demo}
tests:
  - name: judged
    command: \"echo '{\\\"n\\\": 1}'\"
    expect: {output: {format: json, schemaFile: schemas/n.json}}
";

#[test]
fn rule_of_a_schema_is_related_information_as_long_as_its_file_is_there() {
    let schema = "{\n  \"properties\": {\"é😀\": {}, \"n\": {\"minimum\": 5}}\n}\n";
    let before = &schema.lines().nth(1).unwrap().split('5').next().unwrap();
    for encoding in ["utf-8", "utf-16", "utf-32"] {
        let column = units(before, encoding);
        let capabilities = json!({ "general": { "positionEncodings": [encoding] } });
        let mut client = Client::spawn(&[("kindlm.yaml", JUDGED), ("schemas/n.json", schema)]);
        client.initialize(capabilities, json!({ "trusted": true }));
        client.open("kindlm.yaml");
        run(&mut client, "judged");
        let is_reported = |found: &[Value]| !sources(found, "speclens run").is_empty();
        let found = client.diagnostics("kindlm.yaml", is_reported);
        let place = json!({ "line": 1, "character": column });
        let failure = found.iter().find(|found| found["source"] == "speclens run").unwrap();
        let related = &failure["relatedInformation"][0];
        assert_eq!(related["message"], "`data/n` breaks this rule");
        assert_eq!(related["location"]["uri"], client.uri("schemas/n.json"));
        assert_eq!(related["location"]["range"]["start"], place, "{related}");
        // A file that is gone, or outside the workspace, is not named.
        let outside = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(outside.path(), schema).unwrap();
        let link = client.path("schemas/n.json");
        std::fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink(outside.path(), &link).unwrap();
        client.close("kindlm.yaml");
        client.forget();
        client.open("kindlm.yaml");
        let is_without = |found: &[Value]| {
            found.iter().any(|found| found["source"] == "speclens run" && found.get("relatedInformation").is_none())
        };
        client.diagnostics("kindlm.yaml", is_without);
    }
}

#[test]
fn a_failure_is_shown_beside_an_unknown_attempt_whichever_comes_first() {
    // The longer output is not recorded to its end, so the text may be in the rest.
    let (short, long) = ("echo bye", "head -c 3000000 /dev/zero | tr '\\0' a");
    for (first, second) in [(short, long), (long, short)] {
        let text = format!(
            "kindlm: 1\nproject: demo\nsuite: {{name: demo}}\ndefaults: {{repeat: 2, concurrency: 1}}\ntests:\n  - name: says\n    command: if mkdir d 2>/dev/null; then {first}; else {second}; fi\n    expect: {{output: {{contains: [hello]}}}}\n"
        );
        let mut client =
            Client::opened(&[("kindlm.yaml", text.as_str()), ("speclens.yaml", "limits: {output_mib: 1}\n")]);
        run(&mut client, "says");
        let found = client.diagnostics("kindlm.yaml", |found| {
            sources(found, "speclens run").iter().any(|message| message.contains("of 2 attempts"))
        });
        let failure = found.iter().find(|it| it["message"].as_str().is_some_and(|it| it.contains("of 2 attempts")));
        let failure = failure.unwrap();
        let message = failure["message"].as_str().unwrap();
        assert!(message.ends_with("fails in 1 of 2 attempts, unknown in 1"), "{message}");
        assert!(!message.contains("unknown result"), "the details are those of the failure: {message}");
        assert_eq!(failure["severity"], 1, "{failure}");
    }
}

/// A test with several parts of one claim, and one that never ran.
const PARTS: &str = "kindlm: 1
project: demo
suite: {name: demo}
defaults: {repeat: 2}
tests:
  - name: says
    command: echo hello there
    expect:
      output:
        contains:
          - hello
          - goodbye
        notContains: [sorry]
  - name: quiet
    command: echo nothing
    expect: {output: {maxLength: 99}}
";

#[test]
fn hover_over_a_claim_says_how_often_each_of_its_parts_holds() {
    let styles = [
        PARTS.to_owned(),
        PARTS.replace('\n', "\r\n"),
        PARTS.replace("          - ", "        - "),
        PARTS.replace("- hello", "- 'hello'").replace("notContains", "\"notContains\""),
    ];
    for text in styles {
        let mut client = Client::opened(&[("kindlm.yaml", &text)]);
        assert_eq!(hover_in(&mut client, "kindlm.yaml", &text, "contains:"), None);
        run(&mut client, "says");
        client.diagnostics("kindlm.yaml", |found| {
            sources(found, "speclens run").iter().any(|message| message.ends_with("fails in 2 of 2 attempts"))
        });
        let hover = |client: &mut Client, word: &str| hover_in(client, "kindlm.yaml", &text, word);
        let holds = "\n- ✓ `Output contains \"hello\"`: passes in 2 of 2 attempts";
        let fails = "\n- ✗ `Output contains \"goodbye\"`: fails in 2 of 2 attempts";
        let other = "\n- ✓ `Output does not contain \"sorry\"`: passes in 2 of 2 attempts";
        assert_eq!(hover(&mut client, "contains:"), Some(format!("\n{holds}{fails}")));
        let hello = if text.contains("'hello'") { "'hello'" } else { "hello\n" };
        let hello = if text.contains("\r\n") { "hello\r\n" } else { hello };
        assert_eq!(hover(&mut client, hello), Some(format!("\n{holds}")));
        assert_eq!(hover(&mut client, "goodbye"), Some(format!("\n{fails}")));
        assert_eq!(hover(&mut client, "sorry"), Some(format!("\n{other}")));
        assert_eq!(hover(&mut client, "output:"), Some(format!("\n{holds}{fails}{other}")));
        assert_eq!(hover(&mut client, "maxLength"), None, "it never ran");
        assert_eq!(hover(&mut client, "command:"), None, "a command is not a claim");
    }
}

//! The language server, driven by real messages over real pipes.

#![allow(unreachable_pub, reason = "the modules of a test are its own")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should end")]

#[path = "lsp/agents.rs"]
mod agents;
#[path = "lsp/cached_answers.rs"]
mod cached_answers;
#[path = "lsp/client.rs"]
mod client;
#[path = "lsp/edits_and_reopening.rs"]
mod edits_and_reopening;
#[path = "lsp/fixing.rs"]
mod fixing;
#[path = "lsp/gates.rs"]
mod gates;
#[path = "lsp/ignoring.rs"]
mod ignoring;
#[path = "lsp/index.rs"]
mod index;
#[path = "lsp/judging.rs"]
mod judging;
#[path = "lsp/kinds.rs"]
mod kinds;
#[path = "lsp/limits.rs"]
mod limits;
#[expect(dead_code, reason = "each test program uses a part of it")]
#[path = "loopback.rs"]
mod loopback;
#[path = "lsp/matrix.rs"]
mod matrix;
#[path = "lsp/navigation.rs"]
mod navigation;
#[path = "lsp/new_suite.rs"]
mod new_suite;
#[path = "../schema/tests/common/numbers.rs"]
mod numbers;
#[expect(dead_code, reason = "each test program uses a part of it")]
#[path = "secrets/planted.rs"]
mod planted;
#[path = "lsp/positions.rs"]
mod positions;
#[path = "lsp/protocol.rs"]
mod protocol;
#[path = "recorded.rs"]
mod recorded;
#[path = "lsp/recordings.rs"]
mod recordings;
#[path = "lsp/run_reports.rs"]
mod run_reports;
#[path = "lsp/running.rs"]
mod running;
#[path = "lsp/scenarios.rs"]
mod scenarios;
#[path = "lsp/scripts.rs"]
mod scripts;
#[path = "lsp/secrets.rs"]
mod secrets;
#[path = "lsp/settings.rs"]
mod settings;
#[path = "lsp/slow_files.rs"]
mod slow_files;
#[path = "lsp/starting.rs"]
mod starting;
#[path = "lsp/task_files.rs"]
mod task_files;
#[path = "lsp/tasks.rs"]
mod tasks;
#[path = "lsp/test_items.rs"]
mod test_items;
#[path = "lsp/texts.rs"]
mod texts;
#[path = "lsp/trust.rs"]
mod trust;
#[path = "lsp/typing.rs"]
mod typing;
#[path = "lsp/unreadable_files.rs"]
mod unreadable_files;
#[path = "lsp/untitled.rs"]
mod untitled;
#[path = "lsp/verdicts.rs"]
mod verdicts;
#[path = "lsp/workspace_check.rs"]
mod workspace_check;
#[path = "lsp/writing_with_completion.rs"]
mod writing_with_completion;

use serde_json::{Value, json};

use client::{Client, at, pulling};

const SUITE: &str = "kindlm: 1
project: demo
suite:
  name: demo
tests:
  - name: greets
    command: printf 'Hello, world\\n'
    expect:
      output:
        contains: [hello]
  - name: refuses
    command: sh refuse.sh
    expect:
      output:
        contains: [sorry]
";

const FILES: &[(&str, &str)] = &[("kindlm.yaml", SUITE), ("refuse.sh", "echo no\n")];

fn sources(diagnostics: &[Value], source: &str) -> Vec<String> {
    let fits = diagnostics.iter().filter(|diagnostic| diagnostic["source"] == source);
    fits.map(|diagnostic| diagnostic["message"].as_str().unwrap().to_owned()).collect()
}

fn lens_titles(client: &mut Client, name: &str) -> Vec<String> {
    let lenses = client.about(name, "codeLens");
    lenses.as_array().unwrap().iter().map(|lens| lens["command"]["title"].as_str().unwrap().to_owned()).collect()
}

fn run(client: &mut Client, test: &str) {
    let answer = client.run_test("kindlm.yaml", test);
    assert!(answer["result"]["run"].is_u64(), "{answer}");
}

#[test]
fn problem_is_reported_at_its_key_until_it_is_corrected() {
    let mut client = Client::start(&[("kindlm.yaml", &SUITE.replace("contains: [sorry]", "containz: [sorry]"))]);
    let mut text = client.open("kindlm.yaml");
    let found = client.diagnostics("kindlm.yaml", |found| !found.is_empty());
    let problem = found.iter().find(|found| found["code"] == "unknown-key").unwrap();
    assert_eq!(problem["range"]["start"], json!({ "line": 14, "character": 8 }));
    assert_eq!(problem["range"]["end"], json!({ "line": 14, "character": 16 }));
    assert_eq!(problem["severity"], 1);
    assert!(problem["message"].as_str().unwrap().contains("`contains`"), "{problem}");
    client.replace("kindlm.yaml", &mut text, "containz", "contains", 2);
    client.diagnostics("kindlm.yaml", |found| found.iter().all(|found| found["code"] != "unknown-key"));
}

#[test]
fn a_failing_assertion_is_reported_at_its_place_and_judged_again_when_edited() {
    let mut client = Client::start(FILES);
    let mut text = client.open("kindlm.yaml");
    assert_eq!(lens_titles(&mut client, "kindlm.yaml"), ["▶ Run file", "▶ Run", "▶ Run"]);
    run(&mut client, "refuses");
    let found = client.diagnostics("kindlm.yaml", |found| !sources(found, "speclens run").is_empty());
    let failure = found.iter().find(|found| found["source"] == "speclens run").unwrap();
    assert_eq!(failure["range"]["start"], json!({ "line": 14, "character": 19 }));
    assert_eq!(failure["code"], "CONTAINS_FAILED");
    assert!(failure["message"].as_str().unwrap().contains("sorry"), "{failure}");
    let titles = lens_titles(&mut client, "kindlm.yaml");
    assert!(titles.contains(&"✗ 1 assertion failed".to_owned()), "{titles:?}");

    // The claim is edited: it is judged again from the recording, without a run.
    std::fs::write(client.path("refuse.sh"), "touch ran-again\n").unwrap();
    client.replace("kindlm.yaml", &mut text, "[sorry]", "['no']", 2);
    client.diagnostics("kindlm.yaml", |found| sources(found, "speclens run").is_empty());
    assert!(!client.path("ran-again").exists());
}

#[test]
fn a_recording_of_another_command_is_stale() {
    let mut client = Client::start(FILES);
    let mut text = client.open("kindlm.yaml");
    run(&mut client, "refuses");
    client.diagnostics("kindlm.yaml", |found| !sources(found, "speclens run").is_empty());
    client.replace("kindlm.yaml", &mut text, "sh refuse.sh", "sh refuse.sh now", 2);
    client.diagnostics("kindlm.yaml", |found| sources(found, "speclens run").is_empty());
    let titles = lens_titles(&mut client, "kindlm.yaml");
    assert!(titles.contains(&"⚠ stale, run again".to_owned()), "{titles:?}");

    client.replace("kindlm.yaml", &mut text, "sh refuse.sh now", "sh refuse.sh", 3);
    client.diagnostics("kindlm.yaml", |found| !sources(found, "speclens run").is_empty());
    client.forget();

    // The script in the command changes.
    std::fs::write(client.path("refuse.sh"), "echo sorry\n").unwrap();
    client.files_changed(&[("refuse.sh", 2)]);
    client.diagnostics("kindlm.yaml", |found| sources(found, "speclens run").is_empty());
    let titles = lens_titles(&mut client, "kindlm.yaml");
    assert!(titles.contains(&"⚠ stale, run again".to_owned()), "{titles:?}");
}

#[test]
fn run_with_an_error_is_reported_at_the_command() {
    let suite = SUITE.replace("sh refuse.sh", "sleep 60").replace("tests:", "defaults: {timeoutMs: 1000}\ntests:");
    let mut client = Client::opened(&[("kindlm.yaml", &suite)]);
    run(&mut client, "refuses");
    let found = client.diagnostics("kindlm.yaml", |found| !sources(found, "speclens run").is_empty());
    let failed = found.iter().find(|found| found["source"] == "speclens run").unwrap();
    assert_eq!(failed["range"]["start"], json!({ "line": 12, "character": 13 }));
    assert!(failed["message"].as_str().unwrap().contains("did not end within 1000 ms"), "{failed}");
}

#[test]
fn a_run_shows_progress_and_can_be_cancelled() {
    let marker = "cancelled-run-marker-7431";
    let suite = SUITE.replace("sh refuse.sh", &format!("sleep 600 # {marker}"));
    let mut client = Client::spawn(&[("kindlm.yaml", &suite)]);
    client.initialize(json!({ "window": { "workDoneProgress": true } }), json!({ "trusted": true }));
    client.open("kindlm.yaml");
    run(&mut client, "refuses");
    let begin = client.notification("$/progress", |params| params["value"]["kind"] == "begin");
    assert_eq!(begin["value"]["cancellable"], true);
    client.notify("window/workDoneProgress/cancel", json!({ "token": begin["token"] }));
    client.notification("$/progress", |params| params["value"]["kind"] == "end" && params["token"] == begin["token"]);
    let titles = lens_titles(&mut client, "kindlm.yaml");
    assert!(!titles.iter().any(|title| title.contains("passed")), "{titles:?}");
    let listing = std::process::Command::new("ps").args(["-eo", "args"]).output().unwrap();
    assert!(!String::from_utf8_lossy(&listing.stdout).contains(marker), "the command still runs");
}

#[test]
fn no_process_of_a_run_outlives_the_server() {
    const STUBBORN: &str = "trap '' TERM; echo $$ > pid.$N; while :; do sleep 60; done";
    let tests: String = (0..8)
        .map(|index| {
            format!(
                "  - {{name: t{index}, command: N={index}; . ./stubborn.sh, expect: {{output: {{contains: [x]}}}}}}\n"
            )
        })
        .collect();
    let suite =
        format!("kindlm: 1\nproject: demo\nsuite: {{name: demo}}\ndefaults: {{concurrency: 8}}\ntests:\n{tests}");
    type End<'e> = (&'e str, &'e dyn Fn(&mut Client), i32);
    let ends: [End<'_>; 6] = [
        ("end of input", &Client::hang_up, 0),
        ("exit", &|client| client.notify("exit", Value::Null), 0),
        ("TERM", &|client| client.signal("TERM"), 130),
        ("HUP", &|client| client.signal("HUP"), 130),
        ("INT", &|client| client.signal("INT"), 130),
        ("QUIT", &|client| client.signal("QUIT"), 130),
    ];
    for (name, end, status) in ends {
        let mut client = Client::opened(&[("kindlm.yaml", &suite), ("stubborn.sh", STUBBORN)]);
        client.run_file("kindlm.yaml");
        let pids: Vec<String> = (0..8).map(|index| client.wait_for_line(&format!("pid.{index}"))).collect();
        end(&mut client);
        let found = client.exit_status();
        let listing =
            std::process::Command::new("ps").args(["-o", "pid=,stat=", "-p", &pids.join(",")]).output().unwrap();
        let listing = String::from_utf8_lossy(&listing.stdout).into_owned();
        let left = listing.lines().filter(|line| !line.split_whitespace().nth(1).is_some_and(|it| it.starts_with('Z')));
        assert_eq!(left.collect::<Vec<_>>(), Vec::<&str>::new(), "{name}");
        assert_eq!(found, Some(status), "{name}");
    }
}

#[test]
fn running_needs_trust() {
    let mut client = Client::opened_as(FILES, json!({}), json!({}));
    let answer = client.run_test("kindlm.yaml", "refuses");
    assert_eq!(answer["result"]["run"], Value::Null);
    let question = client.question();
    client.choose(&question, "Cancel");

    client.run_test("kindlm.yaml", "refuses");
    let question = client.question();
    client.choose(&question, "Trust and run");
    client.diagnostics("kindlm.yaml", |found| !sources(found, "speclens run").is_empty());

    // The answer is remembered.
    run(&mut client, "refuses");
}

#[test]
fn trust_can_be_given_and_taken_while_the_server_runs() {
    let mut client = Client::opened_as(FILES, json!({}), json!({}));
    client.notify("speclens/trust", json!({ "trusted": true }));
    let answer = client.run_file("kindlm.yaml");
    assert!(answer["result"]["run"].is_u64(), "{answer}");
    client.notify("speclens/trust", json!({ "trusted": false }));
    let answer = client.run_file("kindlm.yaml");
    assert_eq!(answer["result"]["run"], Value::Null);
}

#[test]
fn a_client_that_pulls_gets_problems_once() {
    let files = [("kindlm.yaml", &*SUITE.replace("name: greets", "nme: greets"))];
    // One that cannot be asked to pull again would keep what another file made obsolete.
    for capabilities in [json!({}), json!({ "textDocument": { "diagnostic": {} } })] {
        let mut other = Client::spawn(&files);
        let others = other.initialize(capabilities, json!({}));
        assert_eq!(others["capabilities"]["diagnosticProvider"], Value::Null);
        other.open("kindlm.yaml");
        let first = other.diagnostics("kindlm.yaml", |_| true);
        assert!(!sources(&first, "speclens").is_empty());
        let has_link =
            |one: &Value| one["codeDescription"]["href"].as_str().is_some_and(|href| href.contains("reference-"));
        assert!(first.iter().all(has_link), "the first problems have links: {first:?}");
    }
    let mut client = Client::spawn(&files);
    let capabilities = client.initialize(pulling(), json!({ "trusted": true }));
    assert_eq!(capabilities["capabilities"]["diagnosticProvider"]["identifier"], "speclens");
    client.open("kindlm.yaml");
    let report = client.about("kindlm.yaml", "diagnostic");
    assert!(!sources(report["items"].as_array().unwrap(), "speclens").is_empty(), "{report}");
    run(&mut client, "refuses");
    let pushed = client.diagnostics("kindlm.yaml", |found| !found.is_empty());
    assert_eq!(sources(&pushed, "speclens"), Vec::<String>::new(), "pushed and pulled");
}

/// Two mistakes below the place that is edited, one of them beside another place, and one above it.
const WRONG: &str = "kindlm: 1\nprojct: demo\nproject: demo\nsuite: {name: demo}\ntests:\n  - name: a\n    command: echo a\n    expect: {output: {contains: [a]}}\n  - name: b\n    command: echo b\n    tagz: [x]\n    expect: {output: {contains: [b], containz: [é]}}\n  - name: a\n    command: echo c\n    expect: {output: {contains: [a], contains: [b]}}\n";

#[test]
fn client_that_pulls_again_gets_unchanged() {
    for text in [WRONG.to_owned(), WRONG.replace('\n', "\r\n"), WRONG.replace("\n  ", "\n")] {
        let mut client = Client::spawn(&[("kindlm.yaml", &text)]);
        client.initialize(pulling(), json!({}));
        let mut text = client.open("kindlm.yaml");
        let uri = client.uri("kindlm.yaml");
        let pull = |client: &mut Client, known: Option<&Value>| {
            let params = json!({ "textDocument": { "uri": uri }, "previousResultId": known });
            client.request("textDocument/diagnostic", params)["result"].clone()
        };
        let first = pull(&mut client, None);
        assert_eq!((&first["kind"], first["items"].as_array().unwrap().is_empty()), (&json!("full"), false));
        let again = pull(&mut client, Some(&first["resultId"]));
        assert_eq!(again, json!({ "kind": "unchanged", "resultId": first["resultId"] }));
        // An edit leaves the problems unchanged, then moves them, then is undone.
        client.replace("kindlm.yaml", &mut text, "echo a", "echo ab", 2);
        assert_eq!(pull(&mut client, Some(&first["resultId"])), again);
        client.replace("kindlm.yaml", &mut text, "name: b", "name: b\n    tags: [x]", 3);
        let moved = pull(&mut client, Some(&first["resultId"]));
        assert_ne!((&moved["kind"], &moved["resultId"]), (&again["kind"], &again["resultId"]));
        client.replace("kindlm.yaml", &mut text, "name: b\n    tags: [x]", "name: b", 4);
        assert_eq!(pull(&mut client, Some(&moved["resultId"]))["items"], first["items"]);
    }
}

#[test]
fn what_is_sent_after_edits_is_what_is_sent_on_opening() {
    for text in [WRONG.to_owned(), WRONG.replace('\n', "\r\n")] {
        let mut typed = Client::start(&[("kindlm.yaml", &text)]);
        let mut text = typed.open("kindlm.yaml");
        typed.diagnostics("kindlm.yaml", |found| !found.is_empty());
        typed.replace("kindlm.yaml", &mut text, "tests:", "# é\ntests:", 2);
        typed.diagnostics("kindlm.yaml", |_| true);
        typed.replace("kindlm.yaml", &mut text, "echo a", "echo aa\n    tagz: []", 3);
        let after = typed.diagnostics_as_written("kindlm.yaml");
        let mut opened = Client::start(&[("kindlm.yaml", &text)]);
        opened.open("kindlm.yaml");
        opened.forget();
        opened.replace("kindlm.yaml", &mut text, "demo}", "demo }", 2);
        opened.replace("kindlm.yaml", &mut text, "demo }", "demo}", 3);
        let fresh = opened.diagnostics_as_written("kindlm.yaml");
        let place = |client: &Client, found: &[Value]| -> Vec<String> {
            found.iter().map(|one| one.to_string().replace(&client.uri(""), "")).collect()
        };
        assert_eq!(place(&typed, &after), place(&opened, &fresh));
        assert!(after.len() > 4, "{after:?}");
    }
}

/// Typed text is read by blocks, with regard to edits; opening and saving read it as a whole.
#[test]
fn pulling_client_is_notified_when_reading_the_whole_changes_the_problems() {
    let capabilities = json!({
        "textDocument": { "diagnostic": {} },
        "workspace": {
            "diagnostics": { "refreshSupport": true },
            // A client that does not watch files is asked to pull again after each save.
            "didChangeWatchedFiles": { "dynamicRegistration": true },
        },
    });
    let mut client = Client::spawn(&[("kindlm.yaml", SUITE)]);
    client.initialize(capabilities, json!({ "trusted": true }));
    let mut text = client.open("kindlm.yaml");
    client.replace("kindlm.yaml", &mut text, "  - name: refuses", "---\n  - name: refuses", 2);
    let before = client.about("kindlm.yaml", "diagnostic");
    assert!(!sources(before["items"].as_array().unwrap(), "speclens").is_empty(), "{before}");
    // If the whole text is already read after opening, the request precedes the save.
    client.save("kindlm.yaml");
    client.wait("the request to pull again", |message| message["method"] == "workspace/diagnostic/refresh");
}

#[test]
fn settings_change_what_is_shown_and_unknown_ones_are_named_once() {
    let mut client = Client::start(FILES);
    client.open("kindlm.yaml");
    run(&mut client, "refuses");
    client.diagnostics("kindlm.yaml", |found| !sources(found, "speclens run").is_empty());
    client.notification("window/showMessage", |message| {
        message["message"].as_str().unwrap().contains("`refuses` failed")
    });
    client.forget();
    let settings = json!({ "settings": { "speclens": { "run": { "severity": "off" }, "color": "red" } } });
    client.notify("workspace/didChangeConfiguration", settings.clone());
    let message = client.notification("window/showMessage", |_| true);
    assert!(message["message"].as_str().unwrap().contains("speclens.color"), "{message}");
    client.diagnostics("kindlm.yaml", |found| sources(found, "speclens run").is_empty());
    client.notify("workspace/didChangeConfiguration", settings);
    let hint = json!({ "settings": { "speclens": { "run": { "severity": "hint" } } } });
    client.notify("workspace/didChangeConfiguration", hint);
    let hinted = |found: &Value| found["source"] == "speclens run" && found["severity"] == 4;
    client.diagnostics("kindlm.yaml", |found| found.iter().any(hinted));
    // Unknown settings were reported once, however often they were sent.
    let answer = client.execute("speclens.showStatus", json!([]));
    assert!(answer.get("error").is_none());
    assert!(!client.has_waiting("window/showMessage"));
}

#[test]
fn speclens_yaml_is_checked_and_decides_in_the_editor_too() {
    let mut client = Client::opened(&[
        ("kindlm.yaml", &SUITE.replace("expect:\n      output:\n        contains: [hello]", "expect: {}")),
        ("speclens.yaml", "severity:\n  no-claims: error\n  unknwn-key: off\nlimitz: {}\n"),
    ]);
    let found = client.diagnostics("kindlm.yaml", |found| found.iter().any(|found| found["code"] == "no-claims"));
    let found = found.iter().find(|found| found["code"] == "no-claims").unwrap();
    assert_eq!(found["severity"], 1);
    client.open("speclens.yaml");
    let found = client.diagnostics("speclens.yaml", |found| found.len() >= 2);
    let messages = sources(&found, "speclens").concat();
    assert!(messages.contains("unknwn-key") && messages.contains("limitz"), "{messages}");
}

#[test]
fn menu_offers_to_run_the_test_at_the_cursor_and_all_tests() {
    let mut client = Client::opened(FILES);
    let actions = client.actions("kindlm.yaml", &at(14, 9), None);
    let runs: Vec<_> = actions.iter().filter(|action| action["kind"] == "source.speclens.run").collect();
    assert_eq!(runs[0]["command"]["arguments"][0]["test"], "refuses");
    assert_eq!(runs.len(), 2);
}

#[test]
fn what_becomes_a_secret_later_is_masked_in_what_is_shown() {
    let suite = SUITE.replace("contains: [hello]", "contains: [earth]");
    let mut client = Client::opened(&[("kindlm.yaml", &suite), ("refuse.sh", "echo no\n")]);
    run(&mut client, "greets");
    client.diagnostics("kindlm.yaml", |found| !sources(found, "speclens run").is_empty());
    let before = client.transcript("kindlm.yaml", "greets");
    assert!(before.contains("Hello, world"), "{before}");
    std::fs::write(client.path("speclens.yaml"), "recordings: {redact_patterns: ['wor[a-z]+']}\n").unwrap();
    client.forget();
    client.files_changed(&[("speclens.yaml", 1)]);
    let is_masked = |found: &[Value]| sources(found, "speclens run").iter().any(|message| message.contains("masked"));
    client.diagnostics("kindlm.yaml", is_masked);
    let after = client.transcript("kindlm.yaml", "greets");
    assert!(after.contains("Hello, *****") && after.contains("1 secret value was masked"), "{after}");
    assert!(!after.contains("world"), "{after}");
}

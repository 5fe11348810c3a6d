//! The tests of files as a client's view of tests gets them: the same as lenses and diagnostics show.

use serde_json::{Value, json};

use crate::client::Client;

const SUITE: &str = "kindlm: 1
project: p
suite: {name: s}
tests:
  - name: good
    tags: [fast]
    command: echo hello
    expect: {output: {contains: [hello]}}
  - name: bad
    command: printf '{\"kindlm\":\"tool_call\",\"name\":\"f\",\"arguments\":{\"id\":\"12\"}}\\n'
    expect:
      toolCalls: [{tool: f, argsMatch: {id: \"21\"}}]
  - name: off
    skip: true
    command: echo hi
    expect: {output: {contains: [hi]}}
  - name: broken
    command: echo hi
    expect: {output: {contain: [hi]}}
";

fn start(suite: &str) -> Client {
    let mut client = Client::spawn(&[("kindlm.yaml", suite), ("other/kindlm.yaml", suite), ("other.yaml", "a: 1\n")]);
    client.initialize(json!({ "experimental": { "testItems": true } }), json!({ "trusted": true }));
    client
}

/// Returns the tests of a document, or of all files.
fn tests(client: &mut Client, name: Option<&str>) -> Vec<Value> {
    let uri = name.map(|name| client.uri(name));
    client.request("speclens/tests", json!({ "uri": uri }))["result"]["files"].as_array().unwrap().clone()
}

/// Returns name, state and title of each test.
fn states(file: &Value) -> Vec<String> {
    let shown = |test: &Value| {
        let word = |key: &str| test["result"][key].as_str().unwrap().to_owned();
        let title = word("title").replace(|letter: char| letter.is_ascii_digit(), "");
        format!("{}: {} {title}", test["name"].as_str().unwrap(), word("state")).trim_end().to_owned()
    };
    file["tests"].as_array().unwrap().iter().map(shown).collect()
}

/// Waits until the tests of the suite are in a state.
fn states_until(client: &mut Client, fits: impl Fn(&[String]) -> bool) -> Value {
    loop {
        client.forget();
        let file = tests(client, Some("kindlm.yaml")).remove(0);
        if file["runs"].as_array().unwrap().is_empty() && fits(&states(&file)) {
            return file;
        }
        client.notification("speclens/testsChanged", |changed| changed["uri"] == file["uri"]);
    }
}

#[test]
fn tests_of_closed_files_are_listed_with_their_places() {
    for style in [str::to_owned, |text: &str| text.replace('\n', "\r\n")] {
        let mut client = start(&style(SUITE));
        let files = tests(&mut client, None);
        let uris: Vec<&Value> = files.iter().map(|file| &file["uri"]).collect();
        assert_eq!(uris, [&client.uri("kindlm.yaml"), &client.uri("other/kindlm.yaml")]);
        for file in &files {
            let names = file["tests"].as_array().unwrap().iter().map(|test| test["name"].as_str().unwrap());
            assert_eq!(names.collect::<Vec<_>>(), ["good", "bad", "off", "broken"]);
            assert_eq!(file["tests"][1]["range"]["start"]["line"], 8);
            assert_eq!((&file["format"], &file["tests"][1]["result"]), (&json!("kindlm"), &Value::Null));
        }
        std::fs::remove_file(client.path("other/kindlm.yaml")).unwrap();
        client.files_changed(&[("other/kindlm.yaml", 3)]);
        assert_eq!(tests(&mut client, None).len(), 1);
    }
}

#[test]
fn chosen_tests_run_in_one_run_and_their_results_follow_every_edit() {
    for style in [str::to_owned, |text: &str| text.replace('\n', "\r\n"), |text: &str| text.replace("\n  ", "\n")] {
        let mut client = start(&style(SUITE));
        let mut text = client.open("kindlm.yaml");
        let before = states_until(&mut client, |states| states.len() == 4);
        let blocked = "broken: blocked ! has errors";
        assert_eq!(states(&before), ["good: notRun", "bad: notRun", "off: skipped ○ skipped", blocked]);
        assert_eq!(before["tests"][0]["result"]["tags"], json!(["fast"]));
        let run = |client: &mut Client, names: Value| {
            let argument = json!({ "uri": client.uri("kindlm.yaml"), "tests": names });
            client.execute("speclens.run", json!([argument]))
        };
        let answer = run(&mut client, json!(["good", "bad", "off"]));
        assert!(answer["result"]["run"].is_number(), "{answer}");
        let after = states_until(&mut client, |states| states[0].contains("passed") && states[1].contains("failed"));
        assert_eq!(states(&after)[..2], ["good: passed ✓ passed  ms", "bad: failed ✗  assertion failed"]);
        let message = &after["tests"][1]["result"]["messages"][0];
        let line = before["tests"][1]["range"]["start"]["line"].as_u64().unwrap() + 3;
        assert_eq!((&message["expected"], &message["actual"]), (&json!("21"), &json!("12")), "{message}");
        assert_eq!(message["range"]["start"]["line"], line);

        client.replace("kindlm.yaml", &mut text, "\"21\"", "\"12\"", 2);
        states_until(&mut client, |states| states[1].starts_with("bad: passed"));
        client.replace("kindlm.yaml", &mut text, "echo hello", "echo hell", 3);
        states_until(&mut client, |states| states[0] == "good: unknown ⚠ stale, run again");
        let refused = run(&mut client, json!(["broken", "off"]));
        assert_eq!(refused["result"]["run"], Value::Null, "{refused}");
        assert_eq!(run(&mut client, json!(["gone"]))["error"]["message"], "this file has no test `gone`");
        assert!(run(&mut client, json!([1]))["error"]["message"].as_str().unwrap().contains("a list of strings"));
    }
}

#[test]
fn attempts_of_several_models_are_listed_below_their_test_with_secrets_masked() {
    let suite = "cli: echo\nproviders: [scripted/one, scripted/two]\nrepeat: 2\ntasks:\n- {id: greet sesame12, intent: Greet., assert: [{output_contains: hello}]}\n";
    let one = "default:\n- run: echo hello\n- say: Done.\n";
    let files = [
        ("cli-bench.yaml", suite),
        ("one.script.yaml", one),
        ("two.script.yaml", "default:\n- run: echo no\n- say: Done.\n"),
    ];
    let mut client = Client::spawn_with(&[("API_KEY", "sesame12")], &files);
    client.initialize(json!({ "experimental": { "testItems": true } }), json!({ "trusted": true }));
    client.open("cli-bench.yaml");
    client.run_test("cli-bench.yaml", "greet sesame12");
    let file = loop {
        client.forget();
        let file = tests(&mut client, Some("cli-bench.yaml")).remove(0);
        if file["runs"] == json!([])
            && file["tests"][0]["result"]["attempts"].as_array().is_some_and(|it| it.len() == 4)
        {
            break file;
        }
        client.notification("speclens/testsChanged", |changed| changed["uri"] == file["uri"]);
    };
    let attempts = file["tests"][0]["result"]["attempts"].as_array().unwrap();
    let shown = attempts.iter().map(|attempt| format!("{} {}", attempt["label"].as_str().unwrap(), attempt["state"]));
    assert_eq!(
        shown.collect::<Vec<_>>(),
        ["one #1 \"passed\"", "one #2 \"passed\"", "two #1 \"failed\"", "two #2 \"failed\""]
    );
    assert_eq!(file["models"], json!(["scripted/one", "scripted/two"]));
    let message = &file["tests"][0]["result"]["messages"][0]["message"];
    assert!(message.as_str().is_some_and(|message| !message.contains("sesame12")), "{message}");
}

#[test]
fn client_without_a_view_of_tests_is_not_told() {
    let mut client = Client::start(&[("kindlm.yaml", SUITE)]);
    client.open("kindlm.yaml");
    client.run_test("kindlm.yaml", "good");
    crate::running::lenses_until(&mut client, "it passed", |titles| titles.iter().any(|title| title.starts_with('✓')));
    assert!(!client.has_waiting("speclens/testsChanged"));
}

#[test]
fn what_happens_in_a_run_is_sent_while_it_happens() {
    let waiting = SUITE.replace("echo hello", "until [ -e go ]; do sleep 0.01; done; echo hello; seq 9999 >&2");
    let mut client = start(&waiting);
    client.open("kindlm.yaml");
    let begun = client.execute("speclens.run", json!([{ "uri": client.uri("kindlm.yaml"), "test": "good" }]));
    let run = &begun["result"]["run"];
    let output = |client: &mut Client, words: &'static str| {
        let fits = |told: &Value| told["run"] == *run && told["text"].as_str().unwrap().contains(words);
        client.notification("speclens/runOutput", fits)["text"].as_str().unwrap().to_owned()
    };
    assert_eq!(output(&mut client, "started"), "0:00 good started\n");
    std::fs::write(client.path("go"), "").unwrap();
    let ended = output(&mut client, "ended");
    assert!(ended.contains("\nexit code: 0\n") && ended.contains("hello"), "{ended}");
    assert!(ended.len() < 20_000 && ended.ends_with("\n… the transcript of the test has the rest\n"), "{ended}");
}

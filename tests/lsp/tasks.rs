//! Tasks of cli-bench that run from their lenses, with scripted models: no key, no network.

use serde_json::{Value, json};

use crate::{
    client::{Client, at},
    lens_titles,
    positions::position,
    running::lenses_of_until,
    sources,
};

const SUITE: &str = "cli: echo
providers: [scripted/one, scripted/two]
repeat: 1
tasks:
  - id: greet
    intent: Greet the world.
    assert:
      - ran: echo hello
      - file_exists: greeting.txt
";

const ONE: &str = "default:
  - say: I greet.
    run: echo hello > greeting.txt
  - say: Done.
";

const TWO: &str = "default:
  - say: I do nothing.
";

const OTHER: &str = "default:
  - run: echo hello; touch greeting.txt
  - say: Done.
";

fn start() -> (Client, String) {
    let files =
        [("cli-bench.yaml", SUITE), ("one.script.yaml", ONE), ("two.script.yaml", TWO), ("other.script.yaml", OTHER)];
    let mut client = Client::start(&files);
    let text = client.open("cli-bench.yaml");
    (client, text)
}

fn execute(client: &mut Client, command: &str, more: Value) -> Value {
    let mut argument = json!({ "uri": client.uri("cli-bench.yaml"), "test": "greet" });
    argument.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    client.execute(command, json!([argument]))
}

fn titles_until(client: &mut Client, fits: impl Fn(&[String]) -> bool) -> Vec<String> {
    lenses_of_until(client, "cli-bench.yaml", "the expected lenses", fits)
}

/// Returns the hover about the run at a word of the suite, without the link to the reference.
fn hover(client: &mut Client, text: &str, word: &str) -> String {
    hover_in(client, "cli-bench.yaml", text, word).expect("something about the run")
}

/// Returns the same for any file.
pub(crate) fn hover_in(client: &mut Client, name: &str, text: &str, word: &str) -> Option<String> {
    let hover = client.hover(name, position(text, text.find(word).unwrap() + 1));
    let (_, run) = hover["contents"]["value"].as_str()?.split_once("Last run:")?;
    Some(run.split("\n\n[Reference]").next()?.to_owned())
}

#[test]
fn task_shows_each_model_and_one_diagnostic_for_each_assertion() {
    let (mut client, mut text) = start();
    assert_eq!(lens_titles(&mut client, "cli-bench.yaml"), ["▶ Run", "Run with…", "Dry run"]);
    execute(&mut client, "speclens.run", json!({}));
    let titles = titles_until(&mut client, |titles| titles.iter().any(|title| title.contains(" · ")));
    assert!(titles.contains(&"✓ 1/1 one · ✗ 0/1 two".to_owned()), "{titles:?}");
    // Either model may end first: it is counted alone until the other one ends.
    let counts = "\nfails in 1 of 2 attempts (one 0/1, two 1/1)";
    let found = client.diagnostics("cli-bench.yaml", |found| {
        sources(found, "speclens run").iter().any(|message| message.ends_with(counts))
    });
    let messages = sources(&found, "speclens run");
    assert!(messages.len() == 2 && messages.iter().all(|message| message.ends_with(counts)), "{messages:?}");
    let shown = execute(&mut client, "speclens.showTranscript", json!({}));
    assert_eq!(shown["result"]["language"], "markdown");
    let page = shown["result"]["text"].as_str().unwrap();
    let (failing, passing) = (page.find("## ✗ scripted/two").unwrap(), page.find("## ✓ scripted/one").unwrap());
    assert!(failing < passing, "{page}");
    for part in ["# greet", "> I greet.", "```sh\necho hello > greeting.txt\n```", "`greeting.txt` created"] {
        assert!(page.contains(part), "{part} is missing: {page}");
    }
    let hovered = hover(&mut client, &text, "file_exists");
    assert!(
        hovered.ends_with("\n- ✗ `` `greeting.txt` exists ``: fails in 1 of 2 attempts (one 0/1, two 1/1)"),
        "{hovered}"
    );
    // The edited assertions are judged without another run.
    client.replace("cli-bench.yaml", &mut text, "ran: echo hello", "not_ran: echo bye", 2);
    client.replace("cli-bench.yaml", &mut text, "      - file_exists: greeting.txt\n", "", 3);
    titles_until(&mut client, |titles| titles.contains(&"✓ 1/1 one · ✓ 1/1 two".to_owned()));
    let hovered = hover(&mut client, &text, "not_ran");
    assert!(hovered.ends_with("passes in 2 of 2 attempts (one 1/1, two 1/1)"), "{hovered}");
}

#[test]
fn dry_run_is_a_page_that_follows_the_text_and_runs_nothing() {
    let (mut client, mut text) = start();
    let page = |client: &mut Client| {
        let shown = execute(client, "speclens.dryRun", json!({}));
        assert_eq!(shown["result"]["language"], "markdown", "{shown}");
        shown["result"]["text"].as_str().unwrap().to_owned()
    };
    let first = page(&mut client);
    for part in [
        "# greet: dry run\n\nNothing was run.",
        "attempted by scripted/one and scripted/two, at most 5 turns each",
        "played from one.script.yaml, without a network",
        "2 attempts would run",
    ] {
        assert!(first.contains(part), "{part} is missing: {first}");
    }
    client.replace("cli-bench.yaml", &mut text, "repeat: 1", "repeat: 3\nsetup: [git init]", 2);
    let second = page(&mut client);
    assert!(second.contains("setup: git init") && second.contains("6 attempts would run"), "{second}");
    assert!(!client.path(".speclens").exists() && !client.path("greeting.txt").exists());
    let other = client.execute("speclens.dryRun", json!([{ "uri": client.uri("cli-bench.yaml"), "test": "absent" }]));
    assert!(other.to_string().contains("This file does not have this test."), "{other}");
}

#[test]
fn model_that_is_chosen_runs_in_place_of_those_of_the_suite() {
    let (mut client, _) = start();
    execute(&mut client, "speclens.runWith", json!({}));
    let asked = client.question();
    let actions = asked["params"]["actions"].as_array().unwrap();
    let titles: Vec<&str> = actions.iter().map(|action| action["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["scripted/one", "scripted/two", "scripted/other", "the models of the suite"]);
    client.choose(&asked, "scripted/other");
    let titles = titles_until(&mut client, |titles| titles.iter().any(|title| title.starts_with('✓')));
    assert!(titles.contains(&"✓ 1/1 other".to_owned()), "{titles:?}");
    // Another client names the models in the command.
    execute(&mut client, "speclens.run", json!({ "models": ["scripted/two"] }));
    let titles = titles_until(&mut client, |titles| titles.iter().any(|title| title.contains(" · ")));
    assert!(titles.contains(&"✗ 0/1 two · ✓ 1/1 other".to_owned()), "{titles:?}");
}

#[test]
fn assertion_that_holds_in_some_repeats_is_a_warning_that_says_how_often() {
    let counting = "default:\n  - run: mkdir $COUNT || echo hello\n  - say: Done.\n";
    let suite = "cli: echo\nproviders: [scripted/one]\nrepeat: 3\nconcurrency: 1\ntasks:\n  - id: greet\n    intent: Greet.\n    assert:\n      - output_contains: hello\n";
    let directory = tempfile::tempdir().unwrap();
    let count = directory.path().join("count");
    let suite = suite.replace("repeat:", &format!("env: {{COUNT: {:?}}}\nrepeat:", count.display().to_string()));
    let mut client = Client::opened(&[("cli-bench.yaml", &suite), ("one.script.yaml", counting)]);
    execute(&mut client, "speclens.run", json!({}));
    let found = client.diagnostics("cli-bench.yaml", |found| {
        sources(found, "speclens run").iter().any(|message| message.contains("of 3 attempts"))
    });
    let flaky = found.iter().find(|found| found["source"] == "speclens run").unwrap();
    assert_eq!(flaky["severity"], 2, "{flaky}");
    assert!(flaky["message"].as_str().unwrap().ends_with("\nflaky: passes in 2 of 3 attempts"), "{flaky}");
    let hovered = hover(&mut client, &suite, "output_contains");
    assert!(hovered.contains("\n- ⚠ ") && hovered.contains(": flaky: passes in 2 of 3 attempts"), "{hovered}");
}

#[test]
fn code_actions_offer_another_model_where_there_is_a_choice() {
    let (mut client, _) = start();
    let titles = |client: &mut Client, name: &str, line: usize| -> Vec<String> {
        let actions = client.actions(name, &at(line, 8), Some("source.speclens.run"));
        actions.iter().map(|action| action["title"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(
        titles(&mut client, "cli-bench.yaml", 5),
        ["Run `greet`", "Run `greet` with…", "Dry run of `greet`", "Run file"]
    );
    let alone = SUITE.replace(", scripted/two", "");
    let mut client = Client::opened(&[("cli-bench.yaml", &alone), ("one.script.yaml", ONE)]);
    assert_eq!(titles(&mut client, "cli-bench.yaml", 5), ["Run `greet`", "Dry run of `greet`", "Run file"]);
}

#[test]
fn run_with_says_so_where_no_model_acts() {
    let suite = "kindlm: 1\nproject: p\nsuite: {name: s}\ntests:\n  - name: greet\n    command: echo hello\n    expect: {output: {contains: [hello]}}\n";
    let mut client = Client::opened(&[("kindlm.yaml", suite)]);
    let argument = json!({ "uri": client.uri("kindlm.yaml"), "test": "greet" });
    client.execute("speclens.runWith", json!([argument]));
    let message = client.notification("window/showMessage", |_| true);
    assert_eq!(
        message["message"],
        "speclens: the tests of this file do not use models, so there is no model to choose"
    );
    assert!(!client.has_waiting("window/showMessageRequest"));
}

#[test]
fn client_that_asks_for_models_itself_gets_the_choices() {
    let commands = json!({ "experimental": { "commands": { "commands": ["speclens.runWith"] } } });
    let mut client = Client::spawn(&[("cli-bench.yaml", SUITE), ("one.script.yaml", ONE), ("two.script.yaml", TWO)]);
    client.initialize(commands, json!({ "trusted": true }));
    client.open("cli-bench.yaml");
    let answer = execute(&mut client, "speclens.runWith", json!({}));
    let choices = json!([
        { "title": "scripted/one", "models": ["scripted/one"] },
        { "title": "scripted/two", "models": ["scripted/two"] },
        { "title": "the models of the suite", "models": [] },
    ]);
    assert_eq!(answer["result"]["choices"], choices);
    assert!(!client.has_waiting("window/showMessageRequest"));
}

#[test]
fn task_file_of_a_suite_that_stops_repeats_early_shows_fresh_results() {
    let suite =
        "cli: echo\nproviders: [scripted/one]\nrepeat: 5\nthresholds: {default: 20}\ntasks: ['file://tasks/*.yaml']\n";
    let task = |id: &str| format!("- id: {id}\n  intent: Say hello, {id}.\n  assert: [{{ran: echo hello}}]\n");
    let files = [
        ("tasks/a.yaml", &*task("a")),
        ("tasks/b.yaml", &*task("b")),
        ("cli-bench.yaml", suite),
        ("one.script.yaml", ONE),
    ];
    for opens_suite in [false, true] {
        let mut client = Client::opened(&files);
        if opens_suite {
            client.open("cli-bench.yaml");
        }
        let done = client.command_line(&["run", "."]);
        assert!(done.status.success(), "{done:?}");
        for name in ["tasks/a.yaml", "tasks/b.yaml"] {
            if name == "tasks/b.yaml" {
                client.open(name);
            }
            lenses_of_until(&mut client, name, "it passed", |titles| {
                titles.iter().any(|title| title.starts_with('✓')) && !titles.iter().any(|title| title.contains("stale"))
            });
        }
    }
}

/// Returns a suite whose analysis, which handles one document at a time, takes much longer than any answer about a
/// small one.
fn many() -> String {
    let tests: String = (0..20_000).map(|number| format!("  - {{name: t{number}, command: *command}}\n")).collect();
    format!("kindlm: 1\nproject: p\nsuite: {{name: s}}\ntests:\n  - {{name: first, command: &command echo}}\n{tests}")
}

#[test]
fn commands_and_actions_answer_for_the_text_that_came_before_them_while_the_analysis_is_busy() {
    for end in ["\n", "\r\n"] {
        let suite = SUITE.replace('\n', end);
        let files = [("cli-bench.yaml", suite.as_str()), ("one.script.yaml", ONE), ("two.script.yaml", TWO)];
        let mut client = Client::start(&files);
        let mut text = client.open("cli-bench.yaml");
        client.diagnostics("cli-bench.yaml", |_| true);
        // Of the waiting documents, the analysis takes the first by address.
        let busy = "a/kindlm.yaml";
        std::fs::create_dir(client.path("a")).unwrap();
        std::fs::write(client.path(busy), many()).unwrap();
        let mut large = client.open(busy);
        client.diagnostics_of_any_version(busy, |_| true);
        let lenses = client.about(busy, "codeLens");
        assert!(lenses.as_array().unwrap().len() > 20_000);
        client.forget();
        // Every test has the command of the first one.
        client.replace(busy, &mut large, "&command echo", "&command cat", 2);
        client.replace("cli-bench.yaml", &mut text, "repeat: 1", "repeat: 3", 2);
        client.replace("cli-bench.yaml", &mut text, "scripted/two", "scripted/new", 3);
        client.replace("cli-bench.yaml", &mut text, "file_exists", "file_exist", 4);
        let line = text.lines().position(|line| line.contains("file_exist")).unwrap();
        let place = json!({ "line": line, "character": 10 });
        let uri = client.uri("cli-bench.yaml");
        let test = json!([{ "uri": uri, "test": "greet" }]);
        let context = json!({ "diagnostics": [], "only": ["quickfix"] });
        let range = json!({ "start": place, "end": place });
        let command = |name: &str| json!({ "command": name, "arguments": test });
        let asked = [
            ("textDocument/codeAction", json!({ "textDocument": { "uri": uri }, "range": range, "context": context })),
            ("workspace/executeCommand", command("speclens.dryRun")),
            ("workspace/executeCommand", command("speclens.runWith")),
        ];
        let asked = asked.map(|(method, params)| client.ask(method, params));
        let [actions, page, _] = asked.map(|id| client.answer(id));
        let question = client.question();
        // Otherwise the analysis would have updated the text for them.
        assert!(!client.has_diagnostics(busy), "the analysis was not busy");
        let titles = actions["result"].to_string();
        assert!(titles.contains("`file_exists`"), "{titles}");
        let page = page["result"]["text"].as_str().unwrap();
        assert!(page.contains("6 attempts would run") && page.contains("scripted/new"), "{page}");
        let offered = question["params"]["actions"].to_string();
        assert!(offered.contains("scripted/new"), "{offered}");
    }
}

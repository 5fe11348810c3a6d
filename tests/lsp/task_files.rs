//! Suites with tests in several files: the results of a test appear in its file.

use serde_json::{Value, json};

use crate::{client::Client, lens_titles, recorded::idle_agents, sources};

const MAIN: &str = "cli: git
providers: [openai/gpt]
tasks:
  - {id: own, intent: Show the log., assert: [{ran: git log}]}
  - file://tasks/*.yaml
";
const ONE: &str = "- id: one
  intent: Show the state.
  assert:
    - ran: git status
";
const TWO: &str = "- id: two
  intent: Show the branches.
  assert:
  - ran: git branch
";
const RUN: &str = "speclens run";

fn start(files: &[(&str, &str)]) -> Client {
    let client = Client::spawn(files);
    let _ = idle_agents(client.directory.path(), "cli-bench.yaml");
    client
}

fn suite() -> Client {
    let mut client = start(&[("cli-bench.yaml", MAIN), ("tasks/one.yaml", ONE), ("tasks/two.yaml", TWO)]);
    client.initialize(json!({}), json!({ "trusted": true }));
    client
}

/// Returns the tests that diagnostics of runs name, with the lines that they are on.
fn failures(found: &[Value]) -> Vec<(String, u64)> {
    let found = found.iter().filter(|found| found["source"] == RUN);
    let shown = found.map(|found| {
        let message = found["message"].as_str().unwrap();
        (message.split('`').nth(1).unwrap().to_owned(), found["range"]["start"]["line"].as_u64().unwrap())
    });
    shown.collect()
}

fn is_reported(found: &[Value]) -> bool {
    !sources(found, RUN).is_empty()
}

#[test]
fn failure_is_reported_in_the_file_of_its_task_while_the_suite_is_open() {
    let mut client = suite();
    client.open("cli-bench.yaml");
    for (file, test) in [("tasks/one.yaml", "one"), ("tasks/two.yaml", "two")] {
        let found = client.diagnostics_of_any_version(file, is_reported);
        assert_eq!(failures(&found), [(test.to_owned(), 3)], "{found:?}");
    }
    let found = client.diagnostics_of_any_version("cli-bench.yaml", is_reported);
    assert_eq!(failures(&found), [("own".to_owned(), 3)]);
    // The diagnostics of the suite disappear with it.
    client.close("cli-bench.yaml");
    for file in ["tasks/one.yaml", "tasks/two.yaml"] {
        client.diagnostics_of_any_version(file, <[Value]>::is_empty);
    }
}

#[test]
fn task_file_reports_on_its_own_tasks_while_it_is_open() {
    let mut client = suite();
    client.open("tasks/two.yaml");
    let found = client.diagnostics_of_any_version("tasks/two.yaml", is_reported);
    assert_eq!(failures(&found), [("two".to_owned(), 3)]);
    client.open("cli-bench.yaml");
    client.diagnostics_of_any_version("tasks/one.yaml", is_reported);
    // After an edit, the text in the editor is judged, and reported once.
    client.forget();
    let mut text = TWO.to_owned();
    client.replace("tasks/two.yaml", &mut text, "- id: two", "# tasks\n- id: two", 2);
    let found = client.diagnostics("tasks/two.yaml", is_reported);
    assert_eq!(failures(&found), [("two".to_owned(), 4)]);
    // After closing, the file on disk counts again, and the suite reports it.
    client.close("tasks/two.yaml");
    client.diagnostics_of_any_version("tasks/two.yaml", <[Value]>::is_empty);
    let found = client.diagnostics_of_any_version("tasks/two.yaml", is_reported);
    assert_eq!(failures(&found), [("two".to_owned(), 3)]);
}

#[test]
fn edited_assertion_of_a_task_file_is_judged_again_in_it() {
    let mut client = suite();
    let mut text = client.open("tasks/one.yaml");
    client.open("cli-bench.yaml");
    client.diagnostics_of_any_version("tasks/one.yaml", is_reported);
    client.replace("tasks/one.yaml", &mut text, "ran: git status", "not_ran: git status", 2);
    client.diagnostics("tasks/one.yaml", |found| !is_reported(found));
}

#[test]
fn lenses_of_a_task_file_name_the_nearest_suite() {
    let files = [
        ("cli-bench.yaml", "cli: far\nproviders: [openai/gpt]\ntasks: [file://near/tasks/*.yaml]\n"),
        ("near/cli-bench.yaml", "cli: git\nproviders: [openai/gpt]\ntasks: [file://tasks/*.yaml]\n"),
        ("near/tasks/one.yaml", ONE),
        ("loose-tasks.yaml", TWO),
    ];
    let mut client = Client::start(&files);
    client.open("near/tasks/one.yaml");
    let titles = lens_titles(&mut client, "near/tasks/one.yaml");
    assert_eq!(titles, ["▶ Run file through ../cli-bench.yaml", "▶ Run", "Dry run"]);
    client.open("near/cli-bench.yaml");
    assert_eq!(lens_titles(&mut client, "near/cli-bench.yaml"), ["▶ Run file"]);
    let missing = client.run_test("near/tasks/one.yaml", "two");
    assert!(missing["error"]["message"].as_str().unwrap().contains("no test `two`"), "{missing}");
}

//! Names across files: closed, unsaved, and changed outside the editor.

use std::fs;

use serde_json::{Value, json};

use crate::{
    client::Client,
    positions::{edited, position_after, position_of},
};

const LEDGER: &str = "\
waves:\r
  first:\r
    items:\r
      - {id: 'skills/ä😀', contracts: {scenario_file: skills/a/tests/scenarios.yaml}, verification: {approved_smoke_scenario: smoke}}\r
      - {id: skills/b, contracts: {scenario_file: skills/b/tests/scenarios.yaml}, verification: {approved_smoke_scenario: smoke}}\r
";
const BASELINES: &str =
    "version: \"1.0\"\nbaselines:\n  smoke: {captured_at: \"2026-05-01T00:00:00Z\", runs: 20, metrics: {}}\n";

fn scenarios(target: &str, name: &str, tags: &str) -> String {
    format!(
        "version: \"1.0\"\ntarget: {{type: skill, path: {target}, trigger: /a}}\nscenarios:\n  - name: {name}\n    tags: [{tags}]\n    when: {{invoke: /a}}\n    then:\n      - {{type: delegation_occurred, to_agent: lead, log_path: /tmp/gateway.log}}\n"
    )
}

/// Returns a workspace of contracts: two with a scenario of the same name, a damaged one between them.
fn workspace() -> Vec<(&'static str, String)> {
    let broken = "version: \"1.0\"\ntarget: {type: skill, path: skills/broken, trigger: /b}\nscenarios:\n  - name: \"open\n    tags: [\n  - name: kept\n    tags: [p1]\n";
    vec![
        ("clawspec.yaml", String::new()),
        (".gitignore", "ignored/\n".to_owned()),
        ("ignored/skills/x/tests/scenarios.yaml", scenarios("skills/x", "ignored-one", "p1")),
        ("docs/testing/coverage-ledger.yaml", LEDGER.to_owned()),
        ("skills/a/tests/baselines.yaml", BASELINES.to_owned()),
        ("skills/a/tests/scenarios.yaml", scenarios("skills/a", "smoke", "p1, 'slow 😀'").replace('\n', "\r\n")),
        ("skills/b/tests/handoffs/lead-to-copy.yaml", "version: \"1.0\"\nhandoff: {from: lead, to: copy}\ncaller_provides: {}\ncallee_produces: {}\n".to_owned()),
        ("skills/b/tests/pipeline.yaml", "version: \"1.0\"\npipeline: {name: weekly, skill_path: skills/b}\nstages:\n  - {name: draft, agent: lead}\n".to_owned()),
        ("skills/b/tests/scenarios.yaml", scenarios("skills/b", "smoke", "p1")),
        ("skills/broken/tests/scenarios.yaml", broken.to_owned()),
    ]
}

pub fn start(files: &[(&'static str, String)], capabilities: Value, options: Value) -> Client {
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let mut client = Client::spawn(&files);
    client.initialize(capabilities, options);
    client
}

/// Paths of places, with the line and column where each begins.
pub fn places(client: &Client, found: &Value) -> Vec<(String, u64, u64)> {
    let root = client.uri("");
    let mut places: Vec<_> = found
        .as_array()
        .unwrap_or_else(|| panic!("{found}"))
        .iter()
        .map(|found| {
            let location = if found["location"].is_object() { &found["location"] } else { found };
            let path = location["uri"].as_str().unwrap().strip_prefix(&root).unwrap().trim_start_matches('/');
            let start = &location["range"]["start"];
            (path.to_owned(), start["line"].as_u64().unwrap(), start["character"].as_u64().unwrap())
        })
        .collect();
    places.sort();
    places
}

fn names(found: &Value) -> Vec<String> {
    found["result"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
}

fn symbols(client: &mut Client, query: &str) -> Vec<String> {
    names(&client.request("workspace/symbol", json!({ "query": query })))
}

/// Applies the edits of a rename to the files on disk. Returns the paths with their versions.
pub fn apply(client: &Client, edit: &Value) -> Vec<(String, Value)> {
    let root = client.uri("");
    let mut touched = Vec::new();
    for change in edit["documentChanges"].as_array().unwrap_or_else(|| panic!("{edit:#}")) {
        let uri = change["textDocument"]["uri"].as_str().unwrap();
        let path = uri.strip_prefix(&root).unwrap().trim_start_matches('/').to_owned();
        let text = edited(&fs::read_to_string(client.path(&path)).unwrap(), &change["edits"], "utf-16");
        fs::write(client.path(&path), text).unwrap();
        touched.push((path, change["textDocument"]["version"].clone()));
    }
    touched
}

pub fn versioned() -> Value {
    json!({ "workspace": { "workspaceEdit": { "documentChanges": true }, "didChangeWatchedFiles": { "dynamicRegistration": true } } })
}

#[test]
fn symbols_of_closed_files_are_found() {
    let mut client = start(&workspace(), versioned(), json!({}));
    assert_eq!(symbols(&mut client, "smoke"), ["smoke", "smoke"]);
    assert_eq!(symbols(&mut client, "kept"), ["kept"]);
    assert_eq!(symbols(&mut client, "lead →"), ["lead → copy"]);
    assert_eq!(symbols(&mut client, "WEEKLY"), ["weekly"]);
    assert_eq!(symbols(&mut client, "ä😀"), ["skills/ä😀"]);
    assert_eq!(symbols(&mut client, "ignored"), [""; 0]);
    let found = client.request("workspace/symbol", json!({ "query": "skills/ä😀" }));
    let expected = position_of(LEDGER, "'skills/ä😀'");
    assert_eq!(found["result"][0]["location"]["range"]["start"], expected, "{found:#}");
}

#[test]
fn a_scenario_is_found_where_ledgers_and_baselines_name_it() {
    let mut client = start(&workspace(), versioned(), json!({}));
    let text = client.open("skills/a/tests/scenarios.yaml");
    let found = client.references("skills/a/tests/scenarios.yaml", position_of(&text, "smoke"));
    let in_ledger = position_of(LEDGER, "smoke}}");
    let expected = [
        ("docs/testing/coverage-ledger.yaml".to_owned(), 3, in_ledger["character"].as_u64().unwrap()),
        ("skills/a/tests/baselines.yaml".to_owned(), 2, 2),
        ("skills/a/tests/scenarios.yaml".to_owned(), 3, 10),
    ];
    assert_eq!(places(&client, &found["result"]), expected);
    // And back, from a file that is open to one that is not.
    client.open("docs/testing/coverage-ledger.yaml");
    let second = LEDGER.rfind("smoke}}").unwrap();
    let at = json!({ "line": 4, "character": second - LEDGER[..second].rfind('\n').unwrap() - 1 });
    let found = client.ask_at("definition", "docs/testing/coverage-ledger.yaml", at, json!({}));
    assert_eq!(places(&client, &found["result"]), [("skills/b/tests/scenarios.yaml".to_owned(), 3, 10)]);
}

#[test]
fn a_rename_reaches_closed_files_and_names_versions_of_open_ones() {
    let mut client = start(&workspace(), versioned(), json!({}));
    let name = "skills/a/tests/scenarios.yaml";
    let text = client.open(name);
    client.open("docs/testing/coverage-ledger.yaml");
    let to = |name: &str| json!({ "newName": name });
    let renamed = client.ask_at("rename", name, position_of(&text, "smoke"), to("it's: new"));
    let touched = apply(&client, &renamed["result"]);
    let expected = [
        (name.to_owned(), json!(1)),
        ("docs/testing/coverage-ledger.yaml".to_owned(), json!(1)),
        ("skills/a/tests/baselines.yaml".to_owned(), Value::Null),
    ];
    assert_eq!(touched, expected);
    let read = |path: &str| fs::read_to_string(client.path(path)).unwrap();
    assert!(read(name).contains("- name: \"it's: new\"\r\n"));
    assert!(read("skills/a/tests/baselines.yaml").contains("  \"it's: new\": {captured_at"));
    assert_eq!(
        read("docs/testing/coverage-ledger.yaml"),
        LEDGER.replacen("scenario: smoke", "scenario: \"it's: new\"", 1)
    );
    assert_eq!(read("skills/b/tests/scenarios.yaml"), scenarios("skills/b", "smoke", "p1"));
}

#[test]
fn a_name_that_is_not_valid_in_its_file_is_refused() {
    let mut client = start(&workspace(), versioned(), json!({}));
    let name = "skills/a/tests/scenarios.yaml";
    let text = client.open(name);
    let refused = client.ask_at("rename", name, position_of(&text, "smoke"), json!({ "newName": "{{today}}" }));
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("`{{today}}` is not a valid name here: the name of a scenario cannot"), "{message}");
}

#[test]
fn tags_and_agents_are_renamed_everywhere_and_never_merged() {
    let mut client = start(&workspace(), versioned(), json!({}));
    let name = "skills/b/tests/scenarios.yaml";
    let mut text = client.open(name);
    // The unsaved text counts, rather than the file on disk.
    client.replace(name, &mut text, "[p1]", "[p1, fresh]", 2);
    let a = client.open("skills/a/tests/scenarios.yaml");
    for taken in ["fresh", "slow 😀"] {
        let at = position_of(&a, "p1");
        let refused = client.ask_at("rename", "skills/a/tests/scenarios.yaml", at, json!({ "newName": taken }));
        let message = refused["error"]["message"].as_str().unwrap_or_else(|| panic!("{refused:#}"));
        assert!(message.contains(taken) && message.contains("choose another name"), "{message}");
    }
    let renamed = client.ask_at("rename", name, position_of(&text, "p1"), json!({ "newName": "p2" }));
    let mut touched: Vec<(String, Value)> = renamed["result"]["documentChanges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["textDocument"]["uri"].as_str().unwrap().to_owned(), it["textDocument"]["version"].clone()))
        .collect();
    touched.sort_by(|one, other| one.0.cmp(&other.0));
    let expected =
        ["skills/a/tests/scenarios.yaml", name, "skills/broken/tests/scenarios.yaml"].map(|it| client.uri(it));
    assert_eq!(touched, expected.into_iter().zip([json!(1), json!(2), Value::Null]).collect::<Vec<_>>());
    let found = client.references(name, position_of(&text, "lead"));
    let paths: Vec<String> = places(&client, &found["result"]).into_iter().map(|(path, ..)| path).collect();
    let expected = [
        "skills/a/tests/scenarios.yaml",
        "skills/b/tests/handoffs/lead-to-copy.yaml",
        "skills/b/tests/pipeline.yaml",
        "skills/b/tests/scenarios.yaml",
    ];
    assert_eq!(paths, expected);
}

#[test]
fn files_that_come_go_and_move_outside_are_noticed() {
    let mut client = start(&workspace(), versioned(), json!({}));
    assert_eq!(symbols(&mut client, "smoke").len(), 2);
    fs::remove_file(client.path("skills/b/tests/scenarios.yaml")).unwrap();
    let new = client.path("skills/new/tests");
    fs::create_dir_all(&new).unwrap();
    fs::write(new.join("scenarios.yaml"), scenarios("skills/new", "brand-new", "p1")).unwrap();
    // Some watchers report only the directory.
    client.files_changed(&[("skills/b/tests/scenarios.yaml", 3), ("skills/new", 1)]);
    assert_eq!(symbols(&mut client, "smoke").len(), 1);
    assert_eq!(symbols(&mut client, "brand-new").len(), 1);
    fs::rename(client.path("skills/new"), client.path("skills/newer")).unwrap();
    client.files_changed(&[("skills/new", 3), ("skills/newer", 1)]);
    let found = client.request("workspace/symbol", json!({ "query": "brand-new" }));
    let paths: Vec<String> = places(&client, &found["result"]).into_iter().map(|(path, ..)| path).collect();
    assert_eq!(paths, ["skills/newer/tests/scenarios.yaml"]);
    // An ignored file stays ignored, and comes back when it no longer is.
    fs::write(client.path("ignored/skills/x/tests/more.yaml"), scenarios("skills/x", "ignored-two", "p1")).unwrap();
    client.files_changed(&[("ignored/skills/x/tests/more.yaml", 1)]);
    assert_eq!(symbols(&mut client, "ignored").len(), 0);
    fs::write(client.path(".gitignore"), "").unwrap();
    client.files_changed(&[(".gitignore", 2)]);
    assert_eq!(symbols(&mut client, "ignored").len(), 2);
}

#[test]
fn a_client_that_watches_nothing_has_files_read_again_on_saving_and_opening() {
    let mut client = start(&workspace(), json!({}), json!({}));
    assert_eq!(symbols(&mut client, "later"), [""; 0]);
    fs::write(client.path("skills/b/tests/scenarios.yaml"), scenarios("skills/b", "later", "p1")).unwrap();
    client.open("skills/a/tests/baselines.yaml");
    assert_eq!(symbols(&mut client, "later"), ["later"]);
    fs::write(client.path("skills/b/tests/scenarios.yaml"), scenarios("skills/b", "much-later", "p1")).unwrap();
    client.save("skills/a/tests/baselines.yaml");
    assert_eq!(symbols(&mut client, "much"), ["much-later"]);
}

#[test]
fn values_of_other_files_are_offered() {
    let mut client = start(&workspace(), versioned(), json!({}));
    symbols(&mut client, "");
    let name = "skills/c/tests/scenarios.yaml";
    let text =
        scenarios("skills/c", "mine", "").replace("to_agent: lead", "to_agent: ").replace("/tmp/gateway.log", "");
    fs::create_dir_all(client.path("skills/c/tests")).unwrap();
    client.open_text(name, &text);
    let tags = client.labels(name, position_after(&text, "tags: ["));
    assert!(tags.contains(&"p1".to_owned()) && tags.contains(&"slow 😀".to_owned()), "{tags:?}");
    let agents = client.labels(name, position_after(&text, "to_agent: "));
    assert!(agents.contains(&"copy".to_owned()) && agents.contains(&"lead".to_owned()), "{agents:?}");
    let logs = client.labels(name, position_after(&text, "log_path: "));
    assert!(logs.contains(&"/tmp/gateway.log".to_owned()), "{logs:?}");
    let targets = client.labels(name, position_after(&text, "path: "));
    assert!(targets.contains(&"skills/b".to_owned()), "{targets:?}");
    let ledger = LEDGER.replace("scenario: smoke", "scenario: ");
    client.open_text("docs/testing/coverage-ledger.yaml", &ledger);
    let found =
        client.labels("docs/testing/coverage-ledger.yaml", position_after(&ledger, "approved_smoke_scenario: "));
    assert_eq!(found, ["smoke"]);
    let baselines = "version: \"1.0\"\nbaselines:\n  \n";
    client.open_text("skills/a/tests/baselines.yaml", baselines);
    let found = client.labels("skills/a/tests/baselines.yaml", json!({ "line": 2, "character": 2 }));
    assert_eq!(found, ["smoke"]);
}

const TASK: &str = "- id: status\n  intent: Show the state.\n  assert:\n    - exit_code: 0\n";

#[test]
fn a_task_file_knows_its_suite_whatever_that_is_called() {
    let main = "cli: git\nproviders: [a/b]\ntasks:\n  - file://tasks/**/*.yaml\n";
    let files = [
        ("bench/nightly.yaml", main.to_owned()),
        ("bench/tasks/one.yaml", format!("# 😀\n{TASK}").replace('\n', "\r\n")),
        ("bench/tasks/deep/two.yaml", TASK.to_owned()),
        ("bench/tasks/half.yaml", "- id: half\n".to_owned()),
    ];
    let mut client = start(&files, versioned(), json!({}));
    client.open("bench/tasks/deep/two.yaml");
    let duplicate = |found: &[Value]| found.iter().find(|it| it["code"] == "duplicate-name").cloned();
    let found = client.diagnostics("bench/tasks/deep/two.yaml", |found| duplicate(found).is_some());
    let related = duplicate(&found).unwrap()["relatedInformation"][0]["location"].clone();
    assert_eq!(related["uri"], client.uri("bench/tasks/one.yaml"));
    assert_eq!(related["range"]["start"], json!({ "line": 1, "character": 6 }));
    // A file that only its suite identifies as tasks is checked as such.
    client.open("bench/tasks/half.yaml");
    client.diagnostics("bench/tasks/half.yaml", |found| found.iter().any(|it| it["code"] == "missing-field"));
    let found = client.ask_at(
        "rename",
        "bench/tasks/half.yaml",
        json!({ "line": 0, "character": 7 }),
        json!({ "newName": "status" }),
    );
    assert!(found["error"]["message"].as_str().unwrap().contains("already has `status`"), "{found}");
    // The suite stops naming them.
    fs::write(client.path("bench/nightly.yaml"), main.replace("tasks/**", "others/**")).unwrap();
    client.forget();
    client.files_changed(&[("bench/nightly.yaml", 2)]);
    client.diagnostics_of_any_version("bench/tasks/deep/two.yaml", |found| duplicate(found).is_none());
}

#[test]
fn folders_come_and_go() {
    let files = [
        ("one/skills/a/tests/scenarios.yaml", scenarios("skills/a", "first", "")),
        ("two/skills/b/tests/scenarios.yaml", scenarios("skills/b", "second", "")),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let mut client = Client::spawn(&files);
    let folder = |client: &Client, name: &str| json!({ "uri": client.uri(name), "name": name });
    client.initialize_in(&["one"]);
    assert_eq!(symbols(&mut client, ""), ["first"]);
    let (one, two) = (folder(&client, "one"), folder(&client, "two"));
    client.notify("workspace/didChangeWorkspaceFolders", json!({ "event": { "added": [two], "removed": [] } }));
    assert_eq!(symbols(&mut client, ""), ["first", "second"]);
    client.notify("workspace/didChangeWorkspaceFolders", json!({ "event": { "added": [], "removed": [one] } }));
    assert_eq!(symbols(&mut client, ""), ["second"]);
}

#[test]
fn many_files_are_held_within_bounds_and_given_up_when_overtaken() {
    let text = scenarios("skills/a", "one-of-many", "p1");
    let names: Vec<String> = (0..2000).map(|number| format!("skills/s{number:04}/tests/scenarios.yaml")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), text.as_str())).collect();
    let mut client = Client::spawn(&files);
    client.initialize(versioned(), json!({ "index": { "files": 150 } }));
    let message = client.notification("window/logMessage", |_| true);
    assert!(message["message"].as_str().unwrap().contains("`index.files` allows 150"), "{message}");
    assert_eq!(symbols(&mut client, "many").len(), 150);
    // Edits of unknown files would be missing.
    let text = client.open(&names[0]);
    let refused = client.ask_at("rename", &names[0], position_of(&text, "p1"), json!({ "newName": "p2" }));
    assert!(refused["error"]["message"].as_str().unwrap().contains("raise the limit"), "{refused}");

    let mut client = Client::spawn(&files);
    client.initialize(versioned(), json!({}));
    // Every change of the folders starts over; each answer is about the last state.
    let root = json!({ "uri": client.uri(""), "name": "all" });
    for _ in 0..5 {
        client.notify("workspace/didChangeWorkspaceFolders", json!({ "event": { "added": [], "removed": [root] } }));
        client.notify("workspace/didChangeWorkspaceFolders", json!({ "event": { "added": [root], "removed": [] } }));
    }
    let text = client.open(&names[0]);
    let found = client.references(&names[0], position_of(&text, "p1"));
    assert_eq!(found["result"].as_array().unwrap().len(), 2000);
    // It ends at once while files are being read.
    client.notify("workspace/didChangeWorkspaceFolders", json!({ "event": { "added": [root], "removed": [] } }));
}

#[test]
fn a_pattern_leads_to_its_files_and_a_task_back_to_its_entry() {
    let files = [
        ("b/cli-bench.yaml", "cli: git\nproviders: [a/b]\n# 😀\ntasks:\n  - file://tasks/*.yaml\n  - file://none/*.yaml\n  - {id: own, intent: b, assert: [{ ran: x }]}\n".to_owned()),
        ("b/tasks/one.yaml", TASK.to_owned()),
        ("b/tasks/two.yaml", TASK.replace("id: status", "id: basics")),
    ];
    let mut client = start(&files, versioned(), json!({}));
    client.open("b/cli-bench.yaml");
    client.open("b/tasks/two.yaml");
    let main = files[0].1.clone();
    let found = client.ask_at("definition", "b/cli-bench.yaml", position_of(&main, "tasks/*"), json!({}));
    let one_and_two = [("b/tasks/one.yaml".to_owned(), 0, 0), ("b/tasks/two.yaml".to_owned(), 0, 0)];
    assert_eq!(places(&client, &found["result"]), one_and_two);
    let found = client.ask_at("definition", "b/cli-bench.yaml", position_of(&main, "none/*"), json!({}));
    assert_eq!(found["result"], json!([]));
    let context = json!({ "context": { "includeDeclaration": false } });
    let found = client.ask_at("references", "b/tasks/two.yaml", position_of(&files[2].1, "basics"), context);
    assert_eq!(places(&client, &found["result"]), [("b/cli-bench.yaml".to_owned(), 4, 4)]);
    // A task of the main file cannot take the name of one in a task file.
    let name = json!({ "newName": "basics" });
    let found = client.ask_at("rename", "b/cli-bench.yaml", position_of(&main, "own"), name);
    let message = found["error"]["message"].as_str().unwrap();
    assert!(message.contains("`tasks` in `tasks/two.yaml` already has `basics`"), "{message}");
}

#[test]
fn only_documents_that_saw_a_file_are_looked_at_again_when_it_changes() {
    let suite = |file: &str| {
        format!(
            "kindlm: 1\nproject: p\nsuite: {{name: s}}\ntests:\n  - name: t\n    command: echo\n    expect: {{output: {{format: json, schemaFile: {file}}}}}\n"
        )
    };
    let files = [
        ("a/kindlm.yaml", suite("a.json")),
        ("b/kindlm.yaml", suite("deep/b.json")),
        ("c/kindlm.yaml", suite("link/c.json")),
        ("c/data/x", String::new()),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let mut client = Client::start(&files);
    #[cfg(unix)]
    std::os::unix::fs::symlink("data", client.path("c/link")).unwrap();
    let is_missing = |found: &[Value]| found.iter().any(|it| it["code"] == "missing-file");
    let links = |client: &mut Client, name: &str| client.about(name, "documentLink").as_array().unwrap().len();
    for name in ["a/kindlm.yaml", "b/kindlm.yaml", "c/kindlm.yaml"] {
        client.open(name);
        client.diagnostics(name, is_missing);
        assert_eq!(links(&mut client, name), 0);
    }
    // All files arrive, but only the document of each is updated: the others' results stay.
    fs::create_dir(client.path("b/deep")).unwrap();
    for name in ["a/a.json", "b/deep/b.json", "c/data/c.json"] {
        fs::write(client.path(name), "{}").unwrap();
    }
    client.files_changed(&[("a/target/out.o", 1), ("b/deep", 1)]);
    client.diagnostics("b/kindlm.yaml", |found| !is_missing(found));
    assert_eq!(["a/kindlm.yaml", "c/kindlm.yaml"].map(|name| links(&mut client, name)), [0, 0]);
    #[cfg(unix)]
    {
        client.files_changed(&[("c/data/c.json", 1)]);
        client.diagnostics("c/kindlm.yaml", |found| !is_missing(found));
        assert_eq!(links(&mut client, "a/kindlm.yaml"), 0);
    }
    // Settings affect all documents.
    fs::write(client.path("speclens.yaml"), "").unwrap();
    client.files_changed(&[("speclens.yaml", 1)]);
    client.diagnostics("a/kindlm.yaml", |found| !is_missing(found));
    assert_eq!(links(&mut client, "a/kindlm.yaml"), 1);
}

#[test]
fn one_of_two_tasks_with_an_id_is_renamed_alone_and_has_a_fix() {
    let task = |id: &str| {
        format!(
            "- id: {id}\n  intent: Show the branches\n  difficulty: easy\n  max_turns: 3\n  assert: [{{exit_code: 0}}]\n"
        )
    };
    let suite = "cli: git\nproviders: [openai/gpt-4o]\ntasks: ['file://tasks/*.yaml']\n";
    let more = format!("{}{}", task("list-branches"), task("list-branches"));
    let mut client = start(
        &[
            ("cli-bench.yaml", suite.to_owned()),
            ("tasks/basics.yaml", task("list-branches")),
            ("tasks/more.yaml", more.clone()),
        ],
        versioned(),
        json!({}),
    );
    client.open("tasks/more.yaml");
    let found = client.diagnostics("tasks/more.yaml", |found| found.iter().any(|it| it["code"] == "duplicate-name"));
    let twice = found.iter().find(|it| it["code"] == "duplicate-name").unwrap();
    let actions = client.actions("tasks/more.yaml", &twice["range"], None);
    assert!(actions.iter().any(|action| action["title"] == "rename it to `list-branches-2`"), "{actions:#?}");

    let at = position_of(&more, "list-branches");
    let renamed = client.ask_at("rename", "tasks/more.yaml", at, json!({ "newName": "show-branches" }));
    assert_eq!(apply(&client, &renamed["result"]), [("tasks/more.yaml".to_owned(), json!(1))]);
    let read = |path: &str| fs::read_to_string(client.path(path)).unwrap();
    assert_eq!(read("tasks/more.yaml"), more.replacen("list-branches", "show-branches", 1));
    assert_eq!(read("tasks/basics.yaml"), task("list-branches"));
}

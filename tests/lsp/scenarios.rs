//! ClawSpec scenarios that run in the editor.

use serde_json::json;

use crate::{
    client::Client,
    lens_titles,
    loopback::{Answer, Loopback},
    positions::{position_after, position_of},
    running::lenses_of_until,
    sources,
};

const CONTRACT: &str = "skills/demo/tests/scenarios.yaml";

const SKILL: &str = "---\nname: demo\ndescription: Use when a demo is wanted\nversion: 1.0.0\npermissions: {filesystem: write, network: none}\n---\n# Demo\n";

fn files(gateway: &str, style: fn(&str) -> String) -> [(&'static str, String); 3] {
    let contract = "version: '1.0'
target:
  type: skill
  path: skills/demo
  trigger: /demo
scenarios:
  - name: writes
    tags: [negative]
    when:
      invoke: /demo
    then:
      - type: artifact_contains
        path: out.md
        sections: [Hook]
";
    [
        ("clawspec.yaml", format!("gateway_base_url: {gateway}\n")),
        ("skills/demo/SKILL.md", SKILL.to_owned()),
        (CONTRACT, style(contract)),
    ]
}

#[test]
fn scenario_runs_from_its_lens_and_an_edited_claim_is_judged_by_what_the_target_left() {
    for style in [
        |text: &str| text.to_owned(),
        |text: &str| text.replace('\n', "\r\n"),
        |text: &str| text.replace("\n  - name", "\n- name").replace("\n    ", "\n  ").replace("out.md", "\"out.md\""),
    ] {
        let gateway = Loopback::acting(|_| Answer::Reply(200, r#"{"runId": "r1", "status": "ok"}"#.to_owned()));
        let mut client = start(&files(&gateway.url(), style));
        std::fs::write(client.path("out.md"), "# Hook\nhello\n").unwrap();
        let mut text = client.open(CONTRACT);
        assert!(lens_titles(&mut client, CONTRACT).contains(&"▶ Run".to_owned()));
        let answer = client.run_test(CONTRACT, "writes");
        assert!(answer["result"]["run"].is_u64(), "{answer}");
        lenses_of_until(&mut client, CONTRACT, "it passed", |titles| titles.iter().any(|it| it.starts_with('✓')));
        assert_eq!(gateway.requests().len(), 1);
        client.replace(CONTRACT, &mut text, "[Hook]", "[Body]", 2);
        let found = client.diagnostics(CONTRACT, |found| !sources(found, "speclens run").is_empty());
        let message = sources(&found, "speclens run").concat();
        assert!(message.contains("Body"), "{message}");
        assert_eq!(gateway.requests().len(), 1, "judged without another run");
    }
}

#[test]
fn edited_rubric_is_put_to_the_judge_of_the_gateway_without_another_run() {
    let gateway = Loopback::acting(|request| {
        let answer = match request.path.as_str() {
            "/qa/judge" => r#"{"score": 4, "reasoning": "clear"}"#,
            _ => r#"{"runId": "r1", "status": "ok"}"#,
        };
        Answer::Reply(200, answer.to_owned())
    });
    let judged =
        |text: &str| text.replace("artifact_contains", "llm_judge").replace("sections: [Hook]", "rubric: Score 1 to 5");
    let [settings, skill, (_, contract)] = files(&gateway.url(), |text| text.to_owned());
    let mut client = start(&[settings, skill, (CONTRACT, judged(&contract))]);
    std::fs::write(client.path("out.md"), "# Hook\nhello\n").unwrap();
    let mut text = client.open(CONTRACT);
    client.run_test(CONTRACT, "writes");
    lenses_of_until(&mut client, CONTRACT, "it passed", |titles| titles.iter().any(|it| it.starts_with('✓')));
    client.replace(CONTRACT, &mut text, "Score 1 to 5", "Score 1 to 9", 2);
    let can_ask = |titles: &[String]| titles.contains(&"Ask judge".to_owned());
    lenses_of_until(&mut client, CONTRACT, "it can be asked", |titles| can_ask(titles));
    client.press(CONTRACT, "Ask judge");
    lenses_of_until(&mut client, CONTRACT, "it passed", |titles| titles.iter().any(|it| it.starts_with('✓')));
    let asked: Vec<String> = gateway.requests().into_iter().map(|request| request.path).collect();
    assert_eq!(asked, ["/webhook/mcp-skill-invoke", "/qa/judge", "/qa/judge"]);
    assert_eq!(gateway.requests()[2].body["rubric"], "Score 1 to 9");
}

#[test]
fn scenario_runs_at_the_scripted_gateway_of_its_workspace_and_its_artifact_shows_its_state() {
    let mut files = files("http://127.0.0.1:1", |text| text.to_owned()).to_vec();
    files.push(("speclens.yaml", "clawspec:\n  gateway: demo.gateway.yaml\n".to_owned()));
    let script = "runs:\n  - when: {skill: /demo}\n    steps:\n      - write: {path: out.md, content: \"# Hook\\n\"}\n";
    files.push(("demo.gateway.yaml", script.to_owned()));
    let mut client = start(&files);
    client.open(CONTRACT);
    lens_titles(&mut client, CONTRACT);
    let place = json!({ "line": 12, "character": 16 });
    let hover = client.hover(CONTRACT, place.clone()).to_string();
    assert!(hover.contains("no such file in"), "{hover}");
    let answer = client.run_test(CONTRACT, "writes");
    assert!(answer["result"]["run"].is_u64(), "{answer}");
    lenses_of_until(&mut client, CONTRACT, "it passed", |titles| titles.iter().any(|it| it.starts_with('✓')));
    client.files_changed(&[("out.md", 1)]);
    let hover = client.hover(CONTRACT, place).to_string();
    assert!(hover.contains("7 bytes, changed 20") && hover.contains(" UTC"), "{hover}");
}

#[test]
fn run_of_an_editor_writes_reports_of_clawspec_only_where_settings_ask_for_them() {
    for (settings, expected) in [("", 0), ("clawspec: {editor_reports: true}\n", 1)] {
        let gateway = Loopback::acting(|_| Answer::Reply(200, r#"{"runId": "r1", "status": "ok"}"#.to_owned()));
        let mut files = files(&gateway.url(), |text| text.to_owned()).to_vec();
        files[0].1.push_str("report_dir: qa/reports\n");
        files.push(("speclens.yaml", settings.to_owned()));
        let mut client = start(&files);
        std::fs::write(client.path("out.md"), "# Hook\nhello\n").unwrap();
        client.open(CONTRACT);
        lens_titles(&mut client, CONTRACT);
        client.run_test(CONTRACT, "writes");
        lenses_of_until(&mut client, CONTRACT, "it passed", |titles| titles.iter().any(|it| it.starts_with('✓')));
        let entries = std::fs::read_dir(client.path("qa/reports")).into_iter().flatten();
        let names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        assert_eq!(names.len(), expected, "{names:?}");
        assert!(names.iter().all(|name| name.ends_with("-demo-writes-r1.yaml")), "{names:?}");
    }
}

/// Returns the contract with a precondition, in three styles of writing.
fn with_preconditions() -> impl Iterator<Item = String> {
    let given =
        "    given:\n      - type: file_present\n        path: in.md\n      - type: gateway_healthy\n    when:\n";
    let styles: [fn(&str) -> String; 3] = [
        |text| text.to_owned(),
        |text| text.replace('\n', "\r\n"),
        |text| text.replace("\n  - name", "\n- name").replace("\n    ", "\n  ").replace("in.md", "'in.md'"),
    ];
    styles.into_iter().map(move |style| {
        let [_, _, (_, contract)] = files("", |text| text.to_owned());
        style(&contract.replace("    when:\n", given))
    })
}

#[test]
fn preconditions_are_a_page_and_trigger_nothing() {
    for contract in with_preconditions() {
        let gateway = Loopback::acting(|_| Answer::Reply(200, r#"{"status": "ok"}"#.to_owned()));
        let [settings, skill, _] = files(&gateway.url(), |text| text.to_owned());
        let mut client = start(&[settings, skill, (CONTRACT, contract)]);
        client.open(CONTRACT);
        let lenses = ["▶ Run", "Preconditions", "Evaluate without a run"];
        let page = |client: &mut Client| {
            lenses_of_until(client, CONTRACT, "it is at rest", |titles| titles == lenses);
            let shown = client.press(CONTRACT, "Preconditions");
            assert_eq!(shown["result"]["language"], "markdown", "{shown}");
            shown["result"]["text"].as_str().unwrap().to_owned()
        };
        let first = page(&mut client);
        let unmet =
            "# writes: preconditions\n\nA run would not start anything. This check did not start anything.\n\n- ✗ ";
        assert!(first.starts_with(unmet) && first.contains("\n- ✓ "), "{first}");
        assert_eq!(first.matches("\n- ").count(), 2, "{first}");
        std::fs::write(client.path("in.md"), "").unwrap();
        let second = page(&mut client);
        assert!(second.contains("A run would start now.") && !second.contains('✗'), "{second}");
        lenses_of_until(&mut client, CONTRACT, "no state is shown", |titles| titles == lenses);
        let asked: Vec<String> = gateway.requests().into_iter().map(|request| request.path).collect();
        assert_eq!(asked, ["/health", "/health"]);
        assert!(!client.path(".speclens/recordings").exists());
    }
}

#[test]
fn what_a_target_left_is_judged_from_its_lens_until_the_next_run() {
    for contract in with_preconditions() {
        let gateway = Loopback::acting(|_| Answer::Reply(200, r#"{"runId": "r1", "status": "ok"}"#.to_owned()));
        let [settings, skill, _] = files(&gateway.url(), |text| text.to_owned());
        let mut client = start(&[settings, skill, (CONTRACT, contract)]);
        ["in.md", "out.md"].iter().for_each(|name| std::fs::write(client.path(name), "# Hook\nhello\n").unwrap());
        let mut text = client.open(CONTRACT);
        let has = |title: &'static str| move |titles: &[String]| titles.iter().any(|it| it == title);
        let answer = client.execute("speclens.judge", json!([{ "uri": client.uri(CONTRACT), "test": "writes" }]));
        assert!(answer["result"]["run"].is_u64(), "{answer}");
        lenses_of_until(&mut client, CONTRACT, "it is judged", has("✓ passed, evaluated without a run"));
        client.replace(CONTRACT, &mut text, "[Hook]", "[Body]", 2);
        let found = client.diagnostics_as_written(CONTRACT);
        let failure = found.iter().find(|found| found["message"].as_str().unwrap().contains("Body")).unwrap();
        assert_eq!(failure["severity"], 1, "{failure}");
        let transcript = client.transcript(CONTRACT, "writes");
        assert!(transcript.contains("nothing was started: the current state was evaluated"), "{transcript}");
        assert_eq!(gateway.requests().len(), 0);
        client.run_test(CONTRACT, "writes");
        lenses_of_until(&mut client, CONTRACT, "it failed", has("✗ 1 assertion failed"));
    }
}

/// Returns a workspace with a scripted gateway, which logs, calls a tool and a model, and writes a file.
fn scripted(then: &str) -> [(&'static str, String); 5] {
    let [settings, skill, (name, contract)] = files("http://127.0.0.1:1", |text| text.to_owned());
    let (head, _) = contract.split_once("    then:\n").unwrap();
    let script = "runs:\n  - when: {skill: /demo}\n    steps:\n      - model: {name: toy, input_tokens: 40, output_tokens: 2, cost_usd: 0.5}\n      - tool: {name: search}\n      - write: {path: run.log, content: \"begun\\napproved by me\\n\"}\n";
    [
        settings,
        skill,
        (name, format!("{head}    then:\n{then}")),
        ("speclens.yaml", "clawspec:\n  gateway: demo.gateway.yaml\n".to_owned()),
        ("demo.gateway.yaml", script.to_owned()),
    ]
}

fn start(files: &[(&'static str, String)]) -> Client {
    Client::start(&files.iter().map(|(name, text)| (*name, text.as_str())).collect::<Vec<_>>())
}

#[test]
fn transcript_shows_the_exchange_with_the_gateway_and_the_spans_as_a_waterfall() {
    let mut client = start(&scripted("      - {type: llm_call_count, max: 3}\n"));
    client.open(CONTRACT);
    client.run_test(CONTRACT, "writes");
    lenses_of_until(&mut client, CONTRACT, "it passed", |titles| titles.iter().any(|it| it.starts_with('✓')));
    let page = client.transcript(CONTRACT, "writes");
    for part in [
        "\n### Gateway\n\nPOST `http://127.0.0.1:",
        "\"skill_command\":\"/demo\"",
        "\nresponded with status 200\n\n```json\n{",
        "\nThe run ended ",
        "\n### Spans\n\n```text\n",
        "  42 tokens  $0.5000\n",
        " spans, ",
    ] {
        assert!(page.contains(part), "{part} is missing: {page}");
    }
    let bars: Vec<&str> = page.lines().filter(|line| line.contains('│') && line.contains('█')).collect();
    assert!(bars.len() >= 3 && bars[1..].iter().all(|line| line.starts_with("  ")), "{page}");
}

#[test]
fn hover_says_who_would_be_asked_and_what_was_answered_last_without_asking() {
    for contract in with_preconditions() {
        let gateway = Loopback::acting(|_| Answer::Reply(200, r#"{"runId": "r1", "status": "ok"}"#.to_owned()));
        let [settings, skill, _] = files(&gateway.url(), |text| text.to_owned());
        let mut client = start(&[settings, skill, (CONTRACT, contract.clone())]);
        ["in.md", "out.md"].iter().for_each(|name| std::fs::write(client.path(name), "# Hook\n").unwrap());
        client.open(CONTRACT);
        let place = position_of(&contract, "healthy");
        let asks = format!("A run sends the request to `{}/health`.", gateway.url());
        let before = client.hover(CONTRACT, place.clone()).to_string();
        assert!(before.contains(&asks) && !before.contains("Last recorded response"), "{before}");
        assert_eq!(gateway.requests().len(), 0);
        client.run_test(CONTRACT, "writes");
        lenses_of_until(&mut client, CONTRACT, "it passed", |titles| titles.iter().any(|it| it.starts_with('✓')));
        let asked = gateway.requests().len();
        let after = client.hover(CONTRACT, place).to_string();
        assert!(
            after.contains(&asks) && after.contains("Last recorded response: status 200, from the run of 20"),
            "{after}"
        );
        assert_eq!(gateway.requests().len(), asked);
    }
}

#[test]
fn path_of_a_log_leads_to_the_line_that_was_found_last() {
    let then = "      - type: log_entry\n        path: run.log\n        pattern: approved\n";
    for then in [then.to_owned(), then.replace('\n', "\r\n"), then.replace("run.log", "'*.log'")] {
        let mut client = start(&scripted(&then));
        let mut text = client.open(CONTRACT);
        client.run_test(CONTRACT, "writes");
        lenses_of_until(&mut client, CONTRACT, "it passed", |titles| titles.iter().any(|it| it.starts_with('✓')));
        let found = client.ask_at("definition", CONTRACT, position_of(&text, ".log"), json!({}))["result"].clone();
        let start = json!({ "line": 1, "character": 0 });
        assert_eq!(found.as_array().map(Vec::len), Some(1), "{found}");
        assert_eq!((&found[0]["uri"], &found[0]["range"]["start"]), (&json!(client.uri("run.log")), &start), "{found}");
        client.replace(CONTRACT, &mut text, "approved", "approved by nobody", 2);
        let found = client.diagnostics(CONTRACT, |found| sources(found, "speclens run").concat().contains("not found"));
        let failure = found.iter().find(|found| found["source"] == "speclens run").unwrap();
        let related = &failure["relatedInformation"][0];
        assert_eq!(
            (&related["message"], &related["location"]["range"]["start"]),
            (&json!("the closest line is here"), &start)
        );
    }
}

#[test]
fn line_of_a_log_outside_of_the_workspace_is_related_information() {
    let outside = tempfile::tempdir().unwrap();
    let log = outside.path().join("gw.log");
    let written = log.clone();
    let gateway = Loopback::acting(move |_| {
        let lines = "{\"level\":\"debug\",\"msg\":\"embedded run start: runId=r1 sessionId=s1 provider=toy model=toy\"}\n{\"level\":\"debug\",\"msg\":\"embedded run tool start: runId=r1 tool=send toolCallId=c1\"}\n{\"level\":\"debug\",\"msg\":\"embedded run done: runId=r1 sessionId=s1 durationMs=5 aborted=false\"}\n";
        std::fs::write(&written, lines).unwrap();
        Answer::Reply(200, r#"{"runId": "r1", "status": "completed"}"#.to_owned())
    });
    let [(settings, text), skill, (_, contract)] = files(&gateway.url(), |text| text.to_owned());
    let (head, _) = contract.split_once("      - type: artifact").unwrap();
    let contract =
        format!("{head}      - type: tool_not_called\n        tool: send\n        log_path: {}\n", log.display());
    let text = format!("{text}gateway_log_pattern: {}\n", outside.path().join("gw.log").display());
    let mut client = start(&[(settings, text), skill, (CONTRACT, contract.clone())]);
    client.open(CONTRACT);
    client.run_test(CONTRACT, "writes");
    let found = client.diagnostics(CONTRACT, |found| sources(found, "speclens run").concat().contains("was called"));
    let failure = found.iter().find(|found| found["relatedInformation"].is_array());
    let related = failure.map(|failure| failure["relatedInformation"][0].clone()).unwrap_or_default();
    let address = crate::client::uri(&log);
    assert_eq!(
        (&related["message"], &related["location"]["uri"]),
        (&json!("called here"), &json!(address)),
        "{found:?}"
    );
    assert_eq!(related["location"]["range"]["start"]["line"], 1, "{related}");
    // The path leads to no file of the workspace.
    let place = position_after(&contract, "log_path: /");
    let found = client.ask_at("definition", CONTRACT, place, json!({}))["result"].clone();
    assert_eq!((&found[0]["uri"], &found[0]["range"]["start"]["line"]), (&json!(address), &json!(1)), "{found}");
}

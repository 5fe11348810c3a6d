//! ClawSpec scenarios that are run from the editor.

use serde_json::json;

use crate::{
    client::Client,
    lens_titles,
    loopback::{Answer, Loopback},
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
        let gateway = Loopback::acting(|_| Answer::Told(200, r#"{"runId": "r1", "status": "ok"}"#.to_owned()));
        let files = files(&gateway.url(), style);
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let mut client = Client::start(&files);
        std::fs::write(client.path("out.md"), "# Hook\nhello\n").unwrap();
        let mut text = client.open(CONTRACT);
        let uri = client.uri(CONTRACT);
        assert!(lens_titles(&mut client, CONTRACT).contains(&"▶ Run".to_owned()));
        let answer = client.execute("speclens.run", json!([{ "uri": uri, "test": "writes" }]));
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
        Answer::Told(200, answer.to_owned())
    });
    let judged =
        |text: &str| text.replace("artifact_contains", "llm_judge").replace("sections: [Hook]", "rubric: Score 1 to 5");
    let files = files(&gateway.url(), |text| text.to_owned());
    let contract = judged(&files[2].1);
    let mut client =
        Client::start(&[(files[0].0, files[0].1.as_str()), (files[1].0, files[1].1.as_str()), (CONTRACT, &contract)]);
    std::fs::write(client.path("out.md"), "# Hook\nhello\n").unwrap();
    let mut text = client.open(CONTRACT);
    let uri = client.uri(CONTRACT);
    client.execute("speclens.run", json!([{ "uri": uri, "test": "writes" }]));
    lenses_of_until(&mut client, CONTRACT, "it passed", |titles| titles.iter().any(|it| it.starts_with('✓')));
    client.replace(CONTRACT, &mut text, "Score 1 to 5", "Score 1 to 9", 2);
    let can_ask = |titles: &[String]| titles.contains(&"Ask judge".to_owned());
    lenses_of_until(&mut client, CONTRACT, "it can be asked", |titles| can_ask(titles));
    let answer = client.request("textDocument/codeLens", json!({ "textDocument": { "uri": uri } }));
    let lenses = answer["result"].as_array().unwrap().clone();
    let ask = lenses.iter().find(|lens| lens["command"]["title"] == "Ask judge").unwrap();
    client.execute(ask["command"]["command"].as_str().unwrap(), ask["command"]["arguments"].clone());
    lenses_of_until(&mut client, CONTRACT, "it passed", |titles| titles.iter().any(|it| it.starts_with('✓')));
    let asked: Vec<String> = gateway.requests().into_iter().map(|request| request.path).collect();
    assert_eq!(asked, ["/webhook/mcp-skill-invoke", "/qa/judge", "/qa/judge"]);
    assert_eq!(gateway.requests()[2].body["rubric"], "Score 1 to 9");
}

#[test]
fn scenario_runs_at_the_scripted_gateway_of_its_workspace_and_its_artifact_shows_its_state() {
    let files = files("http://127.0.0.1:1", |text| text.to_owned());
    let mut files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    files.push(("speclens.yaml", "clawspec:\n  gateway: demo.gateway.yaml\n"));
    let script = "runs:\n  - when: {skill: /demo}\n    steps:\n      - write: {path: out.md, content: \"# Hook\\n\"}\n";
    files.push(("demo.gateway.yaml", script));
    let mut client = Client::start(&files);
    client.open(CONTRACT);
    let uri = client.uri(CONTRACT);
    lens_titles(&mut client, CONTRACT);
    let place = json!({ "textDocument": { "uri": uri }, "position": { "line": 12, "character": 16 } });
    let hover = client.request("textDocument/hover", place.clone())["result"].to_string();
    assert!(hover.contains("no such file below"), "{hover}");
    let answer = client.execute("speclens.run", json!([{ "uri": uri, "test": "writes" }]));
    assert!(answer["result"]["run"].is_u64(), "{answer}");
    lenses_of_until(&mut client, CONTRACT, "it passed", |titles| titles.iter().any(|it| it.starts_with('✓')));
    let created = json!([{ "uri": client.uri("out.md"), "type": 1 }]);
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": created }));
    let hover = client.request("textDocument/hover", place)["result"].to_string();
    assert!(hover.contains("7 bytes, changed 20") && hover.contains(" UTC"), "{hover}");
}

#[test]
fn run_of_an_editor_writes_reports_of_clawspec_only_where_settings_ask_for_them() {
    for (settings, expected) in [("", 0), ("clawspec: {editor_reports: true}\n", 1)] {
        let gateway = Loopback::acting(|_| Answer::Told(200, r#"{"runId": "r1", "status": "ok"}"#.to_owned()));
        let files = files(&gateway.url(), |text| text.to_owned());
        let with_reports = format!("{}report_dir: qa/reports\n", files[0].1);
        let mut files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
        files[0].1 = &with_reports;
        files.push(("speclens.yaml", settings));
        let mut client = Client::start(&files);
        std::fs::write(client.path("out.md"), "# Hook\nhello\n").unwrap();
        client.open(CONTRACT);
        let uri = client.uri(CONTRACT);
        lens_titles(&mut client, CONTRACT);
        client.execute("speclens.run", json!([{ "uri": uri, "test": "writes" }]));
        lenses_of_until(&mut client, CONTRACT, "it passed", |titles| titles.iter().any(|it| it.starts_with('✓')));
        let entries = std::fs::read_dir(client.path("qa/reports")).into_iter().flatten();
        let names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        assert_eq!(names.len(), expected, "{names:?}");
        assert!(names.iter().all(|name| name.ends_with("-demo-writes-r1.yaml")), "{names:?}");
        assert_eq!(client.leave(), Some(0));
    }
}

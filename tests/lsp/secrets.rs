//! Everything that the editor is sent about runs whose models, agents and gateways show secrets of all kinds.

use serde_json::{Value, json};

use crate::{
    client::Client,
    loopback::{Answer, Loopback},
    planted::{GATEWAY_TOKEN, KINDS, SETTINGS, assert_none_left, readable, text, variables},
    running::lenses_of_until,
};

const TASKS: &str = "cli: sh\nproviders: [scripted/leaky]\nscaffold: fixture\ntasks:\n  - id: leak\n    intent: Print everything\n    \
                     max_turns: 4\n    assert:\n      - output_contains: never printed\n      - file_contains: {path: out.txt, text: never}\n      \
                     - verify: {run: cat out.txt, output_contains: never}\n";

const TESTS: &str = "kindlm: 1\nproject: demo\nsuite: {name: demo}\ntests:\n  - name: leak\n    command: cat fixture/shown.txt; env; cat \
                     fixture/shown.txt >&2\n    expect: {output: {contains: [never], notContains: [aws-pair], maxLength: 3}}\n";

const SCENARIOS: &str = "version: '1.0'\ntarget: {type: skill, path: skills/demo, trigger: /demo}\ndefaults: {timeout: 20}\nscenarios:\n  - \
                         name: leak\n    tags: [negative]\n    when: {invoke: /demo}\n    then:\n      - {type: artifact_contains, path: \
                         fixture/shown.txt, sections: [never]}\n      - {type: log_entry, path: fixture/shown.txt, pattern: aws-pair, absent: \
                         true}\n      - {type: tool_not_called, tool: read, log_path: gateway.log}\n      - {type: llm_judge, path: \
                         fixture/shown.txt, rubric: Score 1-5}\n";

const FILES: [&str; 3] = ["cli-bench.yaml", "kindlm.yaml", "skills/demo/tests/scenarios.yaml"];

#[test]
fn runs_in_the_editor_send_it_no_secret() {
    let shown = text(KINDS.iter().chain([&GATEWAY_TOKEN]));
    let known = text(KINDS);
    let line = shown.replace('\n', "\\n");
    let said = line.clone();
    let gateway = Loopback::acting(move |request| {
        let answer = match request.path.as_str() {
            "/qa/judge" => json!({ "score": 1, "reasoning": said }),
            _ => json!({ "runId": "run-1", "status": "completed", "text": said }),
        };
        Answer::Reply(200, answer.to_string())
    });
    let script = json!({ "default": [
        { "say": known, "run": "cat shown.txt; env; cat shown.txt >&2; cp shown.txt out.txt" },
        { "run": format!("cat > said.txt <<'END'\n{known}END\ncat said.txt; exit 3") },
        { "say": known },
    ] });
    let settings =
        format!("{SETTINGS}providers: {{local: {{base_url: 'http://127.0.0.1:9', key_env: MODEL_PROXY}}}}\n");
    let clawspec = format!("gateway_base_url: {}\ngateway_auth_token: {}\n", gateway.url(), GATEWAY_TOKEN.value());
    let mut client = Client::spawn_with(
        &variables(),
        &[
            (FILES[0], TASKS),
            (FILES[1], TESTS),
            (FILES[2], SCENARIOS),
            ("speclens.yaml", &settings),
            ("clawspec.yaml", &clawspec),
            ("skills/demo/SKILL.md", "---\nname: demo\ndescription: Use when it is tested.\n---\nDemo.\n"),
            ("fixture/shown.txt", &known),
            ("gateway.log", &format!("t run_id=run-1 tool=read agent=main {line}\nt [run-1] tool call: {line}\n")),
            ("leaky.script.yaml", &script.to_string()),
        ],
    );
    client.keep_received();
    client.initialize(json!({ "window": { "workDoneProgress": true } }), json!({ "trusted": true }));
    for name in FILES {
        client.open(name);
        client.run_test(name, "leak");
        let is_over = |titles: &[String]| titles.iter().any(|title| title.starts_with(['✗', '?', '⚠']));
        lenses_of_until(&mut client, name, "the run is over", is_over);
        let is_of_run = |found: &Value| found["source"] == "speclens run";
        let found = client.diagnostics_of_any_version(name, |found| found.iter().any(is_of_run));
        for place in found.iter().filter(|found| is_of_run(found)) {
            client.hover(name, place["range"]["start"].clone());
            client.actions(name, &place["range"], None);
        }
        assert!(client.transcript(name, "leak").contains("aws-pair="), "{name}");
        for command in ["speclens.dryRun", "speclens.judge"] {
            let argument = json!([{ "uri": client.uri(name), "test": "leak" }]);
            client.execute(command, argument);
        }
        for method in ["documentSymbol", "inlayHint", "codeLens"] {
            client.about(name, method);
        }
    }
    client.request("workspace/symbol", json!({ "query": "leak" }));
    let received: Vec<(String, String)> =
        client.received().iter().map(|message| (message["method"].to_string(), readable(message))).collect();
    assert!(received.iter().any(|(_, text)| text.contains("secret values were masked")));
    assert_none_left(KINDS.iter().chain([&GATEWAY_TOKEN]), &received);
}

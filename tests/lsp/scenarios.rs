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

//! Values of ClawSpec contracts: read as ClawSpec reads them, however they are written.

use serde_json::Value;

use crate::support::Place;

/// Returns a workspace with a target whose contract has these scenarios.
fn workspace(scenarios: &str) -> Place {
    let place = Place::empty();
    place.write("clawspec.yaml", "gateway_log_path: gateway.log\n");
    place.write("skills/demo/tests/scenarios.yaml", contract(scenarios));
    place
}

fn contract(scenarios: &str) -> String {
    format!("version: \"1.0\"\ntarget: {{type: skill, path: skills/demo, trigger: /demo}}\nscenarios:\n{scenarios}")
}

/// Returns the code, message and help of each error.
fn errors(place: &Place) -> Vec<[String; 3]> {
    let (_, report) = place.check(&[]);
    let suites = report["suites"].as_array().unwrap();
    let problems = suites.iter().flat_map(|suite| suite["problems"].as_array().unwrap());
    let errors = problems.filter(|problem| problem["severity"] == "error");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    errors.map(|it| [text(&it["code"]), text(&it["message"]), text(&it["help"])]).collect()
}

#[test]
fn tag_of_a_timestamp_makes_a_date_in_every_style() {
    let block = "  - name: one\n    tags: [negative]\n    when: {invoke: /demo}\n    then:\n      - type: artifact_exists\n        path: a.md\n        updated_after: DATE\n";
    let flow = "  - {name: one, tags: [negative], when: {invoke: /demo}, then: [{type: artifact_exists, path: a.md, updated_after: DATE}]}\n";
    let found = |message: &str, help: &str| vec![["wrong-type".to_owned(), message.to_owned(), help.to_owned()]];
    let expected = |help: &str| found("expected a string, found the date `2026-03-11`", help);
    for style in [block, flow] {
        for (date, expected) in [
            ("!!timestamp \"2026-03-11\"", expected("write `\"2026-03-11\"` without the tag")),
            ("!!timestamp '2026-03-11'", expected("write `\"2026-03-11\"` without the tag")),
            ("!<tag:yaml.org,2002:timestamp> 2026-03-11", expected("write `\"2026-03-11\"` without the tag")),
            ("2026-03-11", expected("write `\"2026-03-11\"`")),
            ("!!str 2026-03-11", Vec::new()),
            ("'2026-03-11'", Vec::new()),
        ] {
            let scenarios = style.replace("DATE", date);
            let place = workspace(&scenarios);
            assert_eq!(errors(&place), expected, "{scenarios}");
            place.write("skills/demo/tests/scenarios.yaml", contract(&scenarios).replace('\n', "\r\n"));
            assert_eq!(errors(&place), expected, "with CRLF: {scenarios}");
        }
    }
}

/// A scenario without problems.
const ONE: &str =
    "  - name: one\n    tags: [negative]\n    when: {invoke: /demo}\n    then: [{type: file_absent, path: a.md}]\n";

/// Returns the `payload` of the request that a dry run shows.
fn payload(place: &Place) -> String {
    let shown = place.run(&["run", "--dry-run"]);
    let body = shown.stdout.lines().find_map(|line| line.find("{\"skill_command\"").map(|at| &line[at..]));
    let body: Value = serde_json::from_str(body.unwrap_or_else(|| panic!("{shown:?}"))).unwrap();
    body["payload"].as_str().unwrap().to_owned()
}

#[test]
fn numbers_of_params_are_sent_as_python_writes_them() {
    const PARAMS: [(&str, &str); 7] = [
        ("id", "12345678901234567890123"),
        ("edge", "9223372036854775808"),
        ("ratio", "1.0"),
        ("count", "1"),
        ("list", "[2.0, -18446744073709551616, 1_000]"),
        ("text", "'1.0'"),
        ("low", "1.0e-5"),
    ];
    let expected = r#"{"count": 1, "edge": 9223372036854775808, "id": 12345678901234567890123, "list": [2.0, -18446744073709551616, 1000], "low": 1e-05, "ratio": 1.0, "text": "1.0"}"#;
    let start = "  - name: one\n    tags: [negative]\n    then: [{type: file_absent, path: a.md}]\n    when:\n      invoke: /demo\n";
    let block: String = PARAMS.iter().map(|(name, value)| format!("        {name}: {value}\n")).collect();
    let flow = PARAMS.map(|(name, value)| format!("{name}: {value}")).join(", ");
    let scenarios = [
        format!("{start}      params:\n{block}"),
        format!("{start}      params: {{{flow}}}\n"),
        format!("{start}      params:\n        <<: {{{flow}}}\n        count: 1\n"),
    ];
    for scenarios in scenarios {
        let place = workspace(&scenarios);
        assert_eq!(payload(&place), expected, "{scenarios}");
        place.write("skills/demo/tests/scenarios.yaml", contract(&scenarios).replace('\n', "\r\n"));
        assert_eq!(payload(&place), expected, "with CRLF: {scenarios}");
    }
}

#[test]
fn scripted_gateway_compares_params_by_their_value() {
    for (script, contract, is_equal) in [
        ("1", "1.0", true),
        ("1.0", "1", true),
        ("{a: [2.0]}", "{a: [2]}", true),
        ("12345678901234567890", "12345678901234567890", true),
        ("1", "'1'", false),
        ("1", "2", false),
    ] {
        let place = workspace(&format!(
            "  - name: one\n    tags: [negative]\n    when: {{invoke: /demo, params: {{n: {contract}}}}}\n    then: [{{type: file_absent, path: a.md}}]\n"
        ));
        place.write("speclens.yaml", "clawspec: {gateway: demo.gateway.yaml}\n");
        place.write(
            "demo.gateway.yaml",
            format!("runs:\n  - when: {{skill: /demo, params: {{n: {script}}}}}\n    steps: []\n"),
        );
        let (code, report) = place.report(&[]);
        assert_eq!(code == Some(0), is_equal, "{script} and {contract}: {report:#}");
    }
}

#[test]
fn run_of_the_callee_is_reported_outside_of_a_run_id() {
    let log = "type: tool_was_called, tool: web.fetch, log_path: a.log, run_id: '{{callee_run_id}}'";
    let start = "version: '1.0'\nhandoff: {from: lead, to: copy, mechanism: sessions_spawn}\ncallee_produces:\n  required_artifacts: [{path_pattern: a.md, description: a}]\nassertions:\n  post_delegation:\n";
    let block = format!("{start}    - {{{log}}}\n    - type: file_present\n      path: PATH\n");
    let flow = format!("{start}    [{{{log}}}, {{type: file_present, path: PATH}}]\n");
    for style in [block, flow] {
        for path in ["'out/{{callee_run_id}}.md'", "\"out/{{callee_run_id}}.md\"", "!!str 'out/{{callee_run_id}}.md'"] {
            for line_break in ["\n", "\r\n"] {
                let text = style.replace("PATH", path).replace('\n', line_break);
                let place = workspace(ONE);
                place.write("skills/demo/tests/handoffs/lead-to-copy.yaml", &text);
                let (_, report) = place.check(&[]);
                let problems =
                    report["suites"].as_array().unwrap().iter().flat_map(|it| it["problems"].as_array().unwrap());
                let found: Vec<_> = problems.filter(|it| it["code"] == "missing-variable").collect();
                assert_eq!(found.len(), 1, "{text}: {report:#}");
                let start = &found[0]["place"]["range"]["start"];
                assert_eq!(found[0]["severity"], "warning", "{text}");
                assert_eq!(found[0]["help"], "use `{{run_id}}` for the run of the caller", "{text}");
                let line = text.lines().nth(start["line"].as_u64().unwrap() as usize).unwrap();
                let column = start["character"].as_u64().unwrap() as usize;
                assert!(line[column..].starts_with("{{callee_run_id}}.md"), "{text}: {start}");
            }
        }
    }
}

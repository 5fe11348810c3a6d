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

/// Returns the errors: code, message and help, and the marked text.
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

//! Agents and tools as names: from directories, other specs, the gateway log, and the test around them.

use serde_json::{Value, json};

use crate::{
    client::Client,
    index::{apply, places, start, versioned},
    positions::{position_after, position_of},
    running::lenses_until,
};

const SOUL: &str = "# Brand\n\nKeeps the voice of the house.\n";

fn scenarios(claims: &str) -> String {
    format!(
        "version: \"1.0\"\r\ntarget: {{type: skill, path: skills/a, trigger: /a}}\r\nscenarios:\r\n  - name: \"😀\"\r\n    tags: [negative]\r\n    when: {{invoke: /a}}\r\n    then:\r\n{claims}"
    )
}

fn workspace() -> Vec<(&'static str, String)> {
    let handoff = "version: \"1.0\"\nhandoff: {from: lead, to: agents-marketing-brand, mechanism: sessions_spawn}\ncaller_provides: {}\ncallee_produces:\n  required_artifacts: [{path_pattern: a.md, description: a}]\n  prohibited_actions: [{tool: resend.send, reason: no}]\n";
    let pipeline = "version: \"1.0\"\npipeline: {name: p, skill_path: skills/a, trigger: /a, stages: 1}\nstages:\n  - {name: one, agent: agents-marketing-email, handoff_contract: tests/handoffs/h.yaml}\n";
    let claims = "      - {type: delegation_occurred, to_agent: agents-marketing-brnad, log_path: logs/g.log, run_id: x}\r\n      - {type: tool_was_called, tool: web.fetch, log_path: logs/g.log, run_id: x}\r\n      - {type: tool_not_permitted, allowed_tools: [web.fetch, 'resend.send'], log_path: logs/g.log, run_id: x}\r\n      - {type: tool_sequence, expected: [\"web.fetch\"]}\r\n      - {type: model_used, expected: web.fetch}\r\n";
    vec![
        ("clawspec.yaml", "gateway_log_pattern: logs/*.log\n".to_owned()),
        ("agents/marketing/brand/SOUL.md", SOUL.to_owned()),
        ("agents/marketing/email/SOUL.md", String::new()),
        ("skills/a/SKILL.md", "# A\n".to_owned()),
        ("skills/a/tests/handoffs/h.yaml", handoff.to_owned()),
        ("skills/a/tests/pipeline.yaml", pipeline.to_owned()),
        ("skills/a/tests/scenarios.yaml", scenarios(claims)),
        ("logs/g.log", "t run_id=r tool=memory.search agent=main\nt run_id=r session_started agent=main\n".to_owned()),
    ]
}

const SCENARIOS: &str = "skills/a/tests/scenarios.yaml";
const HANDOFF: &str = "skills/a/tests/handoffs/h.yaml";
const PIPELINE: &str = "skills/a/tests/pipeline.yaml";

#[test]
fn misspelled_agent_is_reported_and_fixed() {
    let mut client = start(&workspace(), versioned(), json!({}));
    let text = client.open(SCENARIOS);
    let is_reported = |found: &Value| found["code"] == "unknown-reference";
    let found = client.diagnostics(SCENARIOS, |found| found.iter().any(is_reported));
    let reported: Vec<&Value> = found.iter().filter(|found| is_reported(found)).collect();
    assert_eq!(reported.len(), 1, "{found:#?}");
    assert_eq!(reported[0]["range"]["start"], position_of(&text, "agents-marketing-brnad"));
    assert_eq!(reported[0]["severity"], 2);
    let actions = client.actions(SCENARIOS, &reported[0]["range"], None);
    let fix = actions.iter().find(|it| it["title"] == "change it to `agents-marketing-brand`").unwrap();
    assert!(fix.to_string().contains("\"newText\":\"agents-marketing-brand\""), "{fix:#}");
    // The directory makes it a name: without it nothing is certain.
    std::fs::remove_dir_all(client.path("agents/marketing/brand")).unwrap();
    client.forget();
    client.files_changed(&[("agents/marketing/brand", 3)]);
    client.diagnostics_of_any_version(SCENARIOS, |found| !found.iter().any(is_reported));
}

#[test]
fn a_stage_and_its_handoff_name_the_same_agent() {
    let mut client = start(&workspace(), versioned(), json!({}));
    let text = client.open(PIPELINE);
    let is_reported = |found: &Value| found["code"] == "contradiction";
    let found = client.diagnostics(PIPELINE, |found| found.iter().any(is_reported));
    let reported = found.iter().find(|found| is_reported(found)).unwrap();
    assert_eq!(reported["range"]["start"], position_of(&text, "agents-marketing-email"));
    let related = &reported["relatedInformation"][0]["location"];
    assert_eq!(related["uri"], client.uri(HANDOFF));
    // The contract is corrected in the editor, and not yet saved.
    let mut handoff = client.open(HANDOFF);
    client.replace(HANDOFF, &mut handoff, "to: agents-marketing-brand", "to: agents/marketing/email", 2);
    client.diagnostics_of_any_version(PIPELINE, |found| !found.iter().any(is_reported));
}

#[test]
fn an_agent_leads_to_its_soul_and_is_explained() {
    let mut client = start(&workspace(), versioned(), json!({}));
    let text = client.open(HANDOFF);
    let at = position_of(&text, "agents-marketing-brand");
    let found = client.ask_at("definition", HANDOFF, at.clone(), json!({}));
    assert_eq!(places(&client, &found["result"]), [("agents/marketing/brand/SOUL.md".to_owned(), 0, 0)]);
    let found = client.ask_at("hover", HANDOFF, at, json!({}));
    let shown = found["result"]["contents"]["value"].as_str().unwrap_or_else(|| panic!("{found:#}"));
    assert!(shown.contains("`agents/marketing/brand/SOUL.md`") && shown.contains("Keeps the voice"), "{shown}");
    let at = position_of(&text, "lead");
    let found = client.ask_at("hover", HANDOFF, at.clone(), json!({}));
    assert!(found["result"]["contents"]["value"].as_str().unwrap().contains("no directory"), "{found:#}");
    let found = client.ask_at("definition", HANDOFF, at, json!({}));
    assert_eq!(found["result"], json!([]));
}

#[test]
fn agents_are_offered_as_each_place_writes_them() {
    let mut client = start(&workspace(), versioned(), json!({}));
    // The response shows that all files are known.
    client.request("workspace/symbol", json!({ "query": "" }));
    let name = "skills/b/tests/scenarios.yaml";
    let text = scenarios(
        "      - type: delegation_occurred\r\n        to_agent: \r\n      - type: decision_routed_to\r\n        expected_agent: \r\n      - type: delegation_path\r\n        expected: [\"😀\", ]\r\n",
    );
    client.open_text(name, &text);
    let found = client.labels(name, position_after(&text, "to_agent: "));
    for agent in ["agents-marketing-brand", "agents-marketing-email", "skills-a", "main", "lead"] {
        assert!(found.contains(&agent.to_owned()), "{agent}: {found:?}");
    }
    // Names from directories come before names that are only mentioned.
    let at = |name: &str| found.iter().position(|it| it == name);
    assert!(at("agents-marketing-brand") < at("main") && at("main").is_some(), "{found:?}");
    let found = client.labels(name, position_after(&text, "expected_agent: "));
    assert!(found.contains(&"agents/marketing/brand".to_owned()), "{found:?}");
    let found = client.labels(name, position_after(&text, "\"😀\", "));
    assert!(found.contains(&"agents-marketing-brand".to_owned()) && found.contains(&"lead".to_owned()), "{found:?}");
}

#[test]
fn an_agent_keeps_the_name_of_its_directory() {
    let mut client = start(&workspace(), versioned(), json!({}));
    let text = client.open(HANDOFF);
    let at = position_of(&text, "agents-marketing-brand");
    let found = client.ask_at("rename", HANDOFF, at.clone(), json!({ "newName": "agents-marketing-voice" }));
    let refused = found["error"]["message"].as_str().unwrap_or_else(|| panic!("{found:#}"));
    assert!(refused.contains("directory `agents/marketing/brand`"), "{refused}");
    std::fs::rename(client.path("agents/marketing/brand"), client.path("agents/marketing/voice")).unwrap();
    client.files_changed(&[("agents/marketing/brand", 3), ("agents/marketing/voice", 1)]);
    let found = client.ask_at("rename", HANDOFF, at, json!({ "newName": "agents-marketing-voice" }));
    assert_eq!(apply(&client, &found["result"]), [(HANDOFF.to_owned(), json!(1))]);
    let text = std::fs::read_to_string(client.path(HANDOFF)).unwrap();
    assert!(text.contains("to: agents-marketing-voice,"), "{text}");
}

#[test]
fn a_tool_is_one_name_in_all_contracts() {
    let mut client = start(&workspace(), versioned(), json!({}));
    let text = client.open(SCENARIOS);
    let at = position_of(&text, "web.fetch");
    let found = client.ask_at("documentHighlight", SCENARIOS, at.clone(), json!({}));
    assert_eq!(found["result"].as_array().unwrap().len(), 3, "{found:#}");
    let found = client.references(SCENARIOS, position_of(&text, "resend.send"));
    let paths: Vec<String> = places(&client, &found["result"]).into_iter().map(|(path, ..)| path).collect();
    assert_eq!(paths, [HANDOFF, SCENARIOS]);
    let name = json!({ "newName": "mail.send" });
    let found = client.ask_at("rename", SCENARIOS, position_of(&text, "resend.send"), name);
    let touched: Vec<String> = apply(&client, &found["result"]).into_iter().map(|(path, _)| path).collect();
    assert_eq!(touched, [SCENARIOS, HANDOFF]);
    let written = std::fs::read_to_string(client.path(SCENARIOS)).unwrap();
    assert_eq!(written, text.replace("resend.send", "mail.send"));
    // Names in specs and in the workspace's log are offered.
    // The response shows that all files are known.
    client.request("workspace/symbol", json!({ "query": "" }));
    let name = "skills/b/tests/scenarios.yaml";
    let text = scenarios("      - {type: tool_not_called, tool: }\r\n");
    client.open_text(name, &text);
    let found = client.labels(name, position_after(&text, "tool: "));
    assert!(found.contains(&"web.fetch".to_owned()) && found.contains(&"memory.search".to_owned()), "{found:?}");
}

#[test]
fn a_simulated_tool_is_the_name_of_the_calls_in_its_test() {
    let test = |name: &str, tool: &str| {
        format!(
            "  - name: \"😀 {name}\"\r\n    prompt: p\r\n    tools:\r\n      - name: '{tool}'\r\n        defaultResponse: {{}}\r\n      - {{name: other, defaultResponse: {{}}}}\r\n    conversation:\r\n      - turn: first\r\n        expect: {{toolCalls: [{{tool: \"{tool}\"}}]}}\r\n    expect:\r\n      toolCalls:\r\n        - tool: {tool}\r\n"
        )
    };
    let text = format!(
        "kindlm: 1\r\nproject: d\r\nsuite: {{name: s}}\r\nmodels: [{{id: m, provider: openai, model: m}}]\r\nproviders: {{openai: {{apiKeyEnv: K}}}}\r\nprompts: {{p: {{user: x}}}}\r\ntests:\r\n{}{}  - name: half\r\n    tools: [{{name: lookup}}]\r\n    expect: {{toolCalls: [{{tool: lookup\r\n",
        test("one", "lookup"),
        test("two", "lookup")
    );
    let mut client = start(&[("kindlm.yaml", text.clone())], versioned(), json!({}));
    client.open("kindlm.yaml");
    let at = position_of(&text, "lookup\r\n");
    let found = client.ask_at("definition", "kindlm.yaml", at.clone(), json!({}));
    assert_eq!(places(&client, &found["result"]), [("kindlm.yaml".to_owned(), 10, 15)]);
    let found = client.references("kindlm.yaml", at.clone());
    assert_eq!(places(&client, &found["result"]).len(), 3, "{found:#}");
    let found = client.ask_at("hover", "kindlm.yaml", at.clone(), json!({}));
    assert!(found["result"]["contents"]["value"].as_str().unwrap().contains("**lookup** · tool, line 11"), "{found:#}");
    let found = client.ask_at("rename", "kindlm.yaml", at.clone(), json!({ "newName": "other" }));
    assert!(found["error"]["message"].as_str().unwrap().contains("`tools` already has"), "{found:#}");
    let found = client.ask_at("rename", "kindlm.yaml", at, json!({ "newName": "find" }));
    apply(&client, &found["result"]);
    let expected = text.replacen("lookup", "find", 3);
    assert_eq!(std::fs::read_to_string(client.path("kindlm.yaml")).unwrap(), expected);
    let found = client.labels("kindlm.yaml", position_after(&text, "        - tool: "));
    assert_eq!(found, ["lookup", "other"]);
}

#[test]
fn directory_of_a_target_and_a_trigger_of_an_agent_lead_to_the_file_that_describes_them() {
    let text = "version: \"1.0\"\ntarget:\n  type: agent\n  path: agents/marketing/brand\n  trigger: agent:marketing/brand\nscenarios:\n  - name: s\n    when:\n      invoke: agent:marketing/email\n";
    let name = "agents/marketing/brand/tests/scenarios.yaml";
    let files: Vec<(&str, String)> = workspace().into_iter().chain([(name, text.to_owned())]).collect();
    let mut client = start(&files, versioned(), json!({}));
    client.open(name);
    client.open(SCENARIOS);
    for (word, file) in [
        ("agents/marketing/brand", "agents/marketing/brand/SOUL.md"),
        ("agent:marketing/brand", "agents/marketing/brand/SOUL.md"),
        ("agent:marketing/email", "agents/marketing/email/SOUL.md"),
    ] {
        let found = client.ask_at("definition", name, position_of(text, word), json!({}));
        assert_eq!(places(&client, &found["result"]), [(file.to_owned(), 0, 0)], "{word}");
    }
    let own = scenarios("");
    let found = client.ask_at("definition", SCENARIOS, position_of(&own, "skills/a"), json!({}));
    assert_eq!(places(&client, &found["result"]), [("skills/a/SKILL.md".to_owned(), 0, 0)]);
}

/// A tool call, as a command prints it.
const CALL: &str = "{\"kindlm\":\"tool_call\",\"name\":\"look up\",\"arguments\":{\"id\":\"0815\",\"limit\":3,\"deep\":{\"a\":[1]}}}\n";

#[test]
fn tools_and_arguments_of_the_last_run_are_offered() {
    let head =
        "kindlm: 1\nproject: p\nsuite: {name: s}\ntests:\n  - name: looks\n    command: cat calls.txt\n    expect:\n";
    let block = "      toolCalls:\n        - tool: look up\n          argsMatch:\n            id: '0815'\n";
    let flow = "      toolCalls: [{tool: look up, argsMatch: {id: '0815'}}]\n";
    for claims in [block.to_owned(), flow.to_owned(), block.replace('\n', "\r\n")] {
        let head = if claims.contains('\r') { head.replace('\n', "\r\n") } else { head.to_owned() };
        let mut text = format!("{head}{claims}");
        let mut client = Client::opened(&[("kindlm.yaml", &text), ("calls.txt", CALL)]);
        client.run_test("kindlm.yaml", "looks");
        lenses_until(&mut client, "it ran", |titles| titles.iter().any(|title| title.starts_with('✓')));
        client.replace("kindlm.yaml", &mut text, "tool: look up", "tool: ", 2);
        assert_eq!(client.labels("kindlm.yaml", position_after(&text, "tool: ")), ["look up"], "{text}");
        client.replace("kindlm.yaml", &mut text, "tool: ", "tool: look up", 3);
        client.replace("kindlm.yaml", &mut text, "id: '0815'", "", 4);
        let place = if claims.contains('[') { "argsMatch: {" } else { "            " };
        let found = client.ask_at("completion", "kindlm.yaml", position_after(&text, place), json!({}));
        let items = found["result"]["items"].as_array().unwrap();
        let edits: Vec<_> = items.iter().map(|item| item["textEdit"]["newText"].as_str().unwrap()).collect();
        assert_eq!(edits, ["id: \"0815\"", "limit: 3", "deep: { a: [1] }"], "{text}");
    }
}

//! Values: closed sets, names, variables, files, codes.

use expect_test::expect;
use speclens_schema::document::Document;

use super::*;

#[test]
fn values_are_offered_with_the_default() {
    check(
        "tests:\n  - expect: { baseline: { drift: { method: $0 } } }\n",
        expect![[r#"
        Value judge · default *
        Value embedding
        Value field-diff
    "#]],
    );
    check(
        "tests:\n  - skip: $0\n",
        expect![[r#"
            Value true *
            Value false · default
        "#]],
    );
    check(
        "defaults:\n  timeoutMs: $0\n",
        expect![[r#"
        Value 60000 · default
    "#]],
    );
    check(
        "kindlm: $0\n",
        expect![[r#"
        Value 1
    "#]],
    );
    check(
        "tests:\n  - expect:\n      toolCalls:\n        - tool: $0\n",
        expect![[r#"
        Value lookup_order · example
    "#]],
    );
    check_choice(
        "tests:\n  - skip:$0\n",
        "true",
        expect![[r#"
            +   - skip: true
        "#]],
    );
}

const SUITE: &str = r#"
providers:
  openai: { apiKeyEnv: KEY }
models:
  - id: small
    provider: openai
    model: m
  - { id: large 2, provider: openai, model: n }
prompts:
  ask:
    system: Be {{tone}}
    user: "{{question}} {{q"
"#;

#[test]
fn names_are_offered_where_they_are_referred_to() {
    check(
        &format!("{SUITE}tests:\n  - prompt: $0\n"),
        expect![[r#"
        Reference ask · prompt
    "#]],
    );
    check(
        &format!("{SUITE}tests:\n  - models: [small, $0]\n"),
        expect![[r#"
        Reference large 2 · model
    "#]],
    );
    check(
        &format!("{SUITE}tests:\n  - models:\n      - $0\n"),
        expect![[r#"
        Reference small · model
        Reference large 2 · model
    "#]],
    );
    check(
        &format!("{SUITE}defaults:\n  judgeModel: \"$0\"\n"),
        expect![[r#"
        Reference small · model
        Reference large 2 · model
    "#]],
    );
    check_choice(
        &format!("{SUITE}tests:\n  - models: [l$0]\n"),
        "large 2",
        expect![[r#"
            +   - models: [large 2]
        "#]],
    );
    check(
        "providers:\n  ollama: {}\nmodels:\n  - provider: o$0\n",
        expect![[r#"
        Reference ollama · provider
        Value openai · not in providers yet
        Value anthropic · not in providers yet
        Value gemini · not in providers yet
        Value mistral · not in providers yet
        Value cohere · not in providers yet
        Value http · not in providers yet
        Value mcp · not in providers yet
    "#]],
    );
}

#[test]
fn variables_are_offered_in_braces() {
    check(
        &format!("{SUITE}tests:\n  - command: echo '{{{{$0'\n    vars: {{ user: a b, n: \"1\" }}\n"),
        expect![[r#"
            Variable user · a b
            Variable n · 1
            Variable tone · used in a prompt
            Variable question · used in a prompt
        "#]],
    );
    check_choice(
        "tests:\n  - command: echo '{{us$0'\n    vars: { user: a }\n",
        "user",
        expect![[r#"
            +   - command: echo '{{user}}'
        "#]],
    );
    check_choice(
        "tests:\n  - command: echo {{$0}} x\n    vars: { user: a }\n",
        "user",
        expect![[r#"
            +   - command: echo {{user}} x
        "#]],
    );
    check_choice(
        "tests:\n  - command: \"{{$0}\"\n    vars: { user: a }\n",
        "user",
        expect![[r#"
            +   - command: "{{user}}"
        "#]],
    );
    check_choice(
        "tests:\n  - command: {{$0\n    vars: { user: a }\n",
        "user",
        expect![[r#"
            +   - command: {{user}}
        "#]],
    );
    check_choice(
        "tests:\n  - command: |\n      echo\n      echo {{u$0 x\n    vars: { user: a }\n",
        "user",
        expect![[r#"
            +       echo {{user}} x
        "#]],
    );
    check_labels("prompts:\n  ask: { user: \"{{$0\" }\ntests:\n  - { prompt: ask, vars: { a: b } }\n", expect!["a"]);
}

#[test]
fn names_that_are_used_are_offered_where_they_are_defined() {
    check(
        "tests:\n  - command: echo {{a}} {{b}} {{env.c}}\n    vars:\n      a: x\n      $0\n",
        expect![[r#"
        Variable b · used but not defined
    "#]],
    );
    check(
        "tests:\n  - prompt: ask\nprompts:\n  $0\n",
        expect![[r#"
        Variable ask · used but not defined
    "#]],
    );
}

#[test]
fn files_are_offered_below_the_directory() {
    let files = "//- /schemas/answer.json\n{}\n//- /readme.md\nx\n//- /order.json\n{}\n//- /.git/x.json\n{}\n";
    let suite = "//- /kindlm.yaml\ntests:\n  - expect:\n      output:\n        schemaFile: ";
    check(
        &format!("{suite}$0\n{files}"),
        expect![[r#"
            File order.json
            Directory schemas/
            File readme.md
        "#]],
    );
    check(
        &format!("{suite}schemas/$0\n{files}"),
        expect![[r#"
        File answer.json
    "#]],
    );
    check(
        &format!("{suite}\"./schemas/an$0\"\n{files}"),
        expect![[r#"
        File answer.json
    "#]],
    );
    check_choice(
        &format!("{suite}schemas/an$0\n{files}"),
        "answer.json",
        expect![[r#"
            +         schemaFile: schemas/answer.json
        "#]],
    );
    check(&format!("{suite}../$0\n{files}"), expect![[""]]);
}

#[test]
fn codes_are_offered_in_comments_that_allow() {
    check_choice(
        "# speclens: allow(unu$0\nkindlm: 1\n",
        "unused",
        expect![[r#"
            + # speclens: allow(unused)
        "#]],
    );
    check_choice(
        "kindlm: 1 # speclens: allow(unused, $0)\n",
        "no-claims",
        expect![[r#"
            + kindlm: 1 # speclens: allow(unused, no-claims)
        "#]],
    );
    check_labels("# speclens: allow(unused) $0\n", expect![[""]]);
}

#[test]
fn directives_are_offered_in_comments_and_nowhere_else() {
    for begun in ["# speclens: $0\nkindlm: 1\n", "# speclens:$0\nkindlm: 1\n"] {
        check_labels(begun, expect![["allow dialect"]]);
    }
    for begun in ["# spe$0\nkindlm: 1\n", "# speclens$0\nkindlm: 1\n"] {
        check_labels(begun, expect![["speclens: allow speclens: dialect"]]);
    }
    check_labels("kindlm: 1 # why # speclens: a$0\n", expect![["allow"]]);
    for nowhere in [
        "# $0\nkindlm: 1\n",
        "# special$0\nkindlm: 1\n",
        "kindlm: 1\ntests:\n  - command: |\n      # speclens: $0\n",
        "kindlm: 1\nproject: \"# speclens: $0\"\n",
        "kindlm: 1\n# speclens: dialect=$0\n",
    ] {
        check_labels(nowhere, expect![[""]]);
    }
}

#[test]
fn kinds_of_files_are_offered_after_dialect() {
    check_labels(
        "# speclens: dialect=$0\nkindlm: 1\n",
        expect![
            "kindlm cli-bench cli-bench-tasks clawspec-scenarios clawspec-handoff clawspec-pipeline clawspec clawspec-ledger clawspec-baselines script gateway"
        ],
    );
    check_choice(
        "# speclens: dialect=clawspec-$0\nkindlm: 1\n",
        "clawspec-handoff",
        expect![[r#"
            + # speclens: dialect=clawspec-handoff
        "#]],
    );
    check_choice(
        "# spec$0\nkindlm: 1\n",
        "speclens: allow",
        expect![[r#"
            + # speclens: allow(
            ---
            speclens: allow($0)
        "#]],
    );
}

#[test]
fn names_that_the_format_fills_are_offered_wherever_they_count() {
    let suite = "//- /clawspec-scenarios.yaml\nversion: \"1.0\"\nscenarios:\n  - name: a\n    then:\n      - type: file_present\n        path: ";
    check_labels(&format!("{suite}\"out/{{{{t$0\"\n"), expect!["today now repo_root qa_inbox run_id run_started_at"]);
    check_choice(
        &format!("{suite}\"out/{{{{ $0 }}}}\"\n"),
        "today",
        expect![[r#"
            +         path: "out/{{ today }}"
        "#]],
    );
    check_labels(
        "//- /cli-bench-tasks.yaml\n- id: a\n  assert:\n    - verify: { run: 'test -s {{$0' }\n",
        expect!["workdir"],
    );
    check_labels(
        "providers:\n  http:\n    url: http://localhost/chat\n    body: '{\"q\": \"{{$0'\n",
        expect!["model system user temperature maxTokens messages_json tools_json"],
    );
}

#[test]
fn paths_of_the_wanted_kind_come_first() {
    let files = "//- /t/a.yaml\n[]\n//- /t/b.txt\nx\n//- /fixtures/x\nx\n";
    check_labels(&format!("//- /cli-bench.yaml\nscaffold: $0\n{files}"), expect!["fixtures t"]);
    check_choice(
        &format!("//- /cli-bench.yaml\ntasks:\n  - file://t/$0\n{files}"),
        "a.yaml",
        expect![[r#"
            +   - file://t/a.yaml
        "#]],
    );
    check_labels(
        "//- /skills/a/tests/clawspec-pipeline.yaml\nstages:\n  - handoff_contract: tests/handoffs/$0\n//- /skills/a/tests/handoffs/h.yaml\nx\n",
        expect!["h.yaml"],
    );
    for (open, close) in [("'", "'"), ("\"", "\""), ("\"", "")] {
        for end in ["\n", "\r\n"] {
            for dash in ["  -", "-"] {
                let list =
                    |typed: &str| format!("//- /cli-bench.yaml\ntasks:{end}{dash} {open}{typed}{close}{end}{files}");
                check_labels(&list("file://$0"), expect!["fixtures/ t/"]);
                check_labels(&list("file://t/$0"), expect!["a.yaml b.txt"]);
                check_labels(&list("fi$0"), expect!["fixtures/ t/"]);
            }
        }
    }
    check_choice(
        &format!("//- /cli-bench.yaml\ntasks:\n  - \"file://t/$0\"\n{files}"),
        "a.yaml",
        expect![[r#"
            +   - "file://t/a.yaml"
        "#]],
    );
}

#[test]
fn tags_of_other_cases_are_offered() {
    let suite = "//- /clawspec-scenarios.yaml\nscenarios:\n  - name: 😀\n    tags: [smoke, slow]\n  - name: b\n    tags: [slow, $0]\n";
    check_labels(suite, expect!["smoke negative"]);
}

#[test]
fn tags_of_many_cases_are_offered_after_edits_as_on_opening() {
    let tags = |number: usize| match number % 3 {
        0 => format!("&t{number} [tag-{number}, slow]"),
        1 => format!("*t{}", number - 1),
        _ => format!("[tag-{number}]"),
    };
    let case = |number: usize| format!("  - name: case-{number}\n    tags: {}\n", tags(number));
    let text = format!("scenarios:\n{}  - name: last\n    tags: [slow, $0]\n", (0..30).map(case).collect::<String>());
    for text in [text.clone(), text.replace("\n  ", "\n"), text.replace('\n', "\r\n")] {
        let mut fixture = Fixture::parse(&format!("//- /clawspec-scenarios.yaml\n{text}"));
        for (old, new) in [("tag-6,", "quick,"), ("name: case-9", "name: nine"), ("[tag-5]", "[]"), ("*t12", "[own]")] {
            let labels = |fixture: &Fixture| -> Vec<String> {
                completions(fixture).into_iter().map(|item| item.label).collect()
            };
            labels(&fixture);
            let at = fixture.text().find(old).unwrap();
            fixture.document.edit(at..at + old.len(), new);
            fixture.document.refresh();
            let moved = fixture.selection.start + new.len() - old.len();
            fixture.selection = moved..moved;
            let document = Document::read(&fixture.text(), fixture.file.scalar_rules());
            let opened = Fixture { document, ..Fixture::parse(&format!("//- /clawspec-scenarios.yaml\n{text}")) };
            let opened = Fixture { selection: fixture.selection.clone(), ..opened };
            assert_eq!(labels(&fixture), labels(&opened), "{old}");
        }
        let labels: Vec<String> = completions(&fixture).into_iter().map(|item| item.label).collect();
        let has = |label: &str| labels.iter().any(|known| known == label);
        assert_eq!(
            ["quick", "own", "tag-6", "tag-5", "slow"].map(has),
            [true, true, false, false, false],
            "{labels:?}"
        );
    }
}

#[test]
fn aliases_of_what_fits_are_offered_after_a_star() {
    let suite = "tests:\n  - &base\n    name: 😀\n    expect: &claims { output: { contains: &words [x] } }\n";
    check_labels(&format!("{suite}  - <<: *$0\n    name: b\n"), expect!["*base *claims"]);
    check_labels(&format!("{suite}  - name: b\n    expect: *c$0\n"), expect!["*claims *base"]);
    check_labels(&format!("{suite}  - name: b\n    expect: {{ output: {{ contains: *$0 }} }}\n"), expect!["*words"]);
    check_labels(&format!("{suite}  - *$0\n").replace('\n', "\r\n"), expect!["*base *claims"]);
    check_labels("tests:\n  - &a { name: a }\n  - &a { name: b }\n  - *$0\n  - &c { name: c }\n", expect!["*a"]);
    // A node that contains the cursor cannot contain itself, and a star in a text is not an alias.
    check_labels("tests:\n  - &own\n    expect: *$0\n", expect![[""]]);
    check_labels(&format!("{suite}  - name: \"*$0\"\n"), expect![[""]]);
    check_labels(&format!("{suite}  # *$0\n"), expect![[""]]);
    check_choice(
        &format!("{suite}  - name: b\n    expect: *cl$0\n"),
        "*claims",
        expect![[r#"
            +     expect: *claims
        "#]],
    );
}

#[test]
fn the_next_free_position_of_a_call_is_offered() {
    let calls =
        "tests:\n  - expect:\n      toolCalls:\n        - { tool: a, order: 0 }\n        - { tool: b, order: 2 }\n";
    check_labels(&format!("{calls}        - tool: c\n          order: $0\n"), expect!["1"]);
    check_labels(&calls.replace("order: 2", "order: $0"), expect!["1"]);
    check_labels(&calls.replace("order: 0", "order: $0"), expect!["0"]);
}

#[test]
fn models_are_offered_as_their_providers_call_them() {
    let model = |provider| format!("models:\n  - id: a\n    provider: {provider}\n    model: $0\n");
    check_labels(&model("openai"), expect!["gpt-4o gpt-4o-mini gpt-4-turbo o3-mini"]);
    check_labels(&model("mistral"), expect![[""]]);
    check_labels(
        "//- /cli-bench.yaml\nproviders: [a/b, openai/gpt-4o]\nthresholds:\n  models:\n    a/b: 50\n    $0\n",
        expect!["openai/gpt-4o"],
    );
}

#[test]
fn arguments_of_simulated_tools_are_offered_where_calls_are_described() {
    let suite = "tests:\n  - prompt: p\n    tools:\n      - name: look up\n        parameters: { type: object, properties: { order_id: { type: string }, n: { type: integer } } }\n        responses:\n          - when: { n: 1, RESPONSE }\n    expect:\n      toolCalls:\n        - tool: TOOL\n          argsMatch:\n            CLAIM\n";
    let at = |tool: &str, response: &str, claim: &str| {
        suite.replace("TOOL", tool).replace("RESPONSE", response).replace("CLAIM", claim)
    };
    check_labels(&at("look up", "", "$0"), expect!["order_id n"]);
    check_labels(&at("look up", "$0", "a: b"), expect!["order_id"]);
    check_labels(&at("other", "", "$0"), expect![[""]]);
    check_labels(&at("$0", "", "a: b"), expect!["look up"]);
}

#[test]
fn a_working_directory_is_a_directory() {
    check_labels("//- /cli-bench.yaml\nworkdir: $0\n//- /box/x\nx\n", expect!["box"]);
    check_labels("//- /cli-bench.yaml\nworkdir: $0\n", expect![[r#""./sandbox""#]]);
}

#[test]
fn scripted_models_that_exist_are_offered_as_providers() {
    let files = "//- /careful.script.yaml\ndefault: []\n//- /deep/bold.script.yaml\ndefault: []\n";
    let fixture = Fixture::parse(&format!("//- /cli-bench.yaml\ncli: a\nproviders:\n  - scr$0\n{files}"));
    let found = completions(&fixture);
    let found: Vec<&str> =
        found.iter().filter(|item| item.detail == "scripted model").map(|item| item.label.as_str()).collect();
    assert_eq!(found, ["scripted/careful", "scripted/deep/bold"]);
}

#[test]
fn type_is_offered_under_its_other_names_once_they_are_typed() {
    let scenario = "//- /clawspec-scenarios.yaml\nscenarios:\n  - name: a\n    then:\n      - type: ";
    check_labels(
        &format!("{scenario}tool_us$0\n"),
        expect![
            "tool_used → tool_was_called file_present file_absent gateway_healthy env_present artifact_exists artifact_contains artifact_absent_words artifact_matches_golden state_file gateway_response log_entry decision_routed_to tool_was_called tool_not_called delegation_occurred tool_not_permitted token_budget llm_call_count tool_sequence model_used delegation_path per_span_budget trace_token_budget trace_duration trace_cost no_span_errors tool_not_invoked llm_judge agent_identity_consistent"
        ],
    );
    check_choice(
        &format!("{scenario}env_s$0\n"),
        "env_set → env_present",
        expect![[r#"
            +       - type: env_present
            +         vars:
            +           -·
            ---
            env_present
              vars: [${1:RESEND_API_KEY, ATTIO_API_KEY}]
        "#]],
    );
}

#[test]
fn names_and_paths_are_escaped_in_the_quotes_around_them() {
    let prompts = "prompts:\n  \"it's \\\"it\\\"\": { user: hi }\ntests:\n  - name: a\n    prompt: ";
    check_choice(
        &format!("{prompts}'$0'\n"),
        "it's \"it\"",
        expect![[r#"
        +     prompt: 'it''s "it"'
    "#]],
    );
    check_choice(
        &format!("{prompts}\"$0\"\n"),
        "it's \"it\"",
        expect![[r#"
        +     prompt: "it's \"it\""
    "#]],
    );
    let schema = "//- /kindlm.yaml\ntests:\n  - name: a\n    expect: { output: { format: json, schemaFile: '$0' } }\n//- /it's.json\n{}\n";
    check_choice(
        schema,
        "it's.json",
        expect![[r"
        +     expect: { output: { format: json, schemaFile: 'it''s.json' } }
    "]],
    );
}

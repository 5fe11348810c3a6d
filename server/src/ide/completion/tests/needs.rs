//! Texts that completions add: keys that belong to a value, tags that allow it, sections that define it; and values
//! from neighboring files.

use expect_test::expect;

use super::{check, check_choice, check_labels};

const SCENARIO: &str = "//- /clawspec-scenarios.yaml\nscenarios:\n  - name: a\n    then:\n";

#[test]
fn a_type_brings_the_keys_that_it_needs() {
    check_choice(
        &format!("{SCENARIO}      - type: art$0\n"),
        "artifact_contains",
        expect![[r#"
            +       - type: artifact_contains
            +         path:·
            ---
            artifact_contains
              path: ${1:memory/drafts/{{today\}\}-output.md}
              sections: [${2:hook, body, cta}]
        "#]],
    );
    // Existing keys stay, and types that do not allow them come last.
    check_choice(
        &format!("{SCENARIO}      - type: $0\n        path: x\n"),
        "llm_judge",
        expect![[r#"
            +       - type: llm_judge
            +         rubric:·
            ---
            llm_judge
              rubric: "${1:Score 1-5: Is this email persuasive and brand-safe?}"
              pass_threshold: ${2:4}
        "#]],
    );
    check_labels(
        &format!("{SCENARIO}      - type: tool$0\n        allowed_tools: [x]\n"),
        expect![
            "tool_not_permitted tool_was_called tool_not_called tool_sequence tool_not_invoked file_present file_absent gateway_healthy env_present artifact_exists artifact_contains artifact_absent_words artifact_matches_golden state_file gateway_response log_entry decision_routed_to delegation_occurred token_budget llm_call_count model_used delegation_path per_span_budget trace_token_budget trace_duration trace_cost no_span_errors llm_judge agent_identity_consistent"
        ],
    );
    // A comment keeps its place.
    check_choice(
        &format!("{SCENARIO}      - type: $0 # why\n"),
        "env_present",
        expect![[r#"
            +       - type: env_present # why
        "#]],
    );
    check_choice(
        "tests:\n  - expect:\n      output:\n        format: $0\n",
        "json",
        expect![[r#"
            +         format: json
            +         schemaFile:·
            ---
            json
            schemaFile: ${1:schemas/answer.json}
        "#]],
    );
}

#[test]
fn a_key_of_another_type_changes_the_type() {
    let claim = format!("{SCENARIO}      - type: tool_not_permitted\n        ");
    check(
        &format!("{claim}to$0\n"),
        expect![[r#"
            Field tools → allowed_tools · required · list of strings
            Field tool · changes `type` to tool_not_called
            Field to_agent · changes `type` to delegation_occurred
            Field allowed_tools · required · list of strings
            Field log_path · path or pattern of files
            Field run_id · string
        "#]],
    );
    check_choice(
        &format!("{claim}to$0\n"),
        "tool",
        expect![[r#"
            -       - type: tool_not_permitted
            -         to
            +       - type: tool_not_called
            +         tool:·
        "#]],
    );
    check_labels(&format!("{claim}$0\n"), expect!["allowed_tools log_path run_id"]);
    // Keys that another key excludes are not offered.
    check_labels(&format!("{claim}allowed_tools: [x]\n        to$0\n"), expect!["log_path run_id"]);
}

#[test]
fn a_key_brings_the_one_that_it_says_nothing_without() {
    let output = "tests:\n  - expect:\n      output:\n        ";
    check_choice(
        &format!("{output}$0\n"),
        "schemaFile",
        expect![[r#"
            +         format: json
            +         schemaFile:·
            ---
            format: json
            schemaFile:·
        "#]],
    );
    check_choice(
        &format!("{output}format: text\n        sch$0\n"),
        "schemaFile",
        expect![[r#"
            -         format: text
            -         sch
            +         format: json
            +         schemaFile:·
        "#]],
    );
    check_choice(
        &format!("{SCENARIO}      - type: artifact_absent_words\n        $0\n"),
        "key",
        expect![[r#"
            +         key:·
            ---
            source: $1
            key: $0
        "#]],
    );
}

#[test]
fn a_name_brings_the_section_that_defines_it() {
    check_choice(
        "kindlm: 1\nmodels:\n  - provider: op$0\n",
        "openai",
        expect![[r#"
            - models:
            -   - provider: op
            + providers:
            +   openai: { apiKeyEnv: OPENAI_API_KEY }
            + models:
            +   - provider: openai
        "#]],
    );
    let other = "kindlm: 1\nproviders:\n  ollama: {}\nmodels:\n  - provider: op$0\n";
    check_choice(
        other,
        "openai",
        expect![[r#"
            -   ollama: {}
            - models:
            -   - provider: op
            +   openai: { apiKeyEnv: OPENAI_API_KEY }
            +   ollama: {}
            + models:
            +   - provider: openai
        "#]],
    );
    check_choice(
        "kindlm: 1\nproviders: {}\nmodels:\n  - provider: op$0\n",
        "openai",
        expect![[r#"
            - providers: {}
            - models:
            -   - provider: op
            + providers: { openai: { apiKeyEnv: OPENAI_API_KEY } }
            + models:
            +   - provider: openai
        "#]],
    );
}

#[test]
fn keys_that_come_through_a_merge_key_are_not_offered() {
    let merged =
        format!("{SCENARIO}      - &base {{ type: artifact_contains, path: x, timeout: 5 }}\n      - <<: *base\n");
    check_labels(&format!("{merged}        $0\n"), expect!["sections fields updated_after"]);
    check(
        &format!("{merged}        ti$0\n"),
        expect![[r#"
            Field timeout · overrides the value from `<<`
            Field sections · one of sections, fields required · list of strings
            Field fields · one of sections, fields required · list of strings
            Field updated_after · string
            Field type · overrides the value from `<<`
            Field path · overrides the value from `<<`
        "#]],
    );
}

#[test]
fn a_new_item_has_all_that_is_required() {
    check_choice(
        "tests:\n  - $0\n",
        "new test",
        expect![[r#"
            +   - name:·
            ---
            name: $1
              command: $2
              expect:
                $0
        "#]],
    );
    check_choice(
        "//- /cli-bench-tasks.yaml\n$0\n",
        "new test",
        expect![[r#"
            + - id:·
            ---
            - id: $1
              intent: $2
              assert:
                - $0
        "#]],
    );
    check_choice(
        "//- /cli-bench.yaml\ntas$0\n",
        "tasks",
        expect![[r#"
            + tasks:
            +   - id:·
            ---
            tasks:
              - id: $1
                intent: $2
                assert:
                  - $0
        "#]],
    );
    check_choice(
        "kin$0\n",
        "kindlm",
        expect![[r#"
            + kindlm: 1
        "#]],
    );
}

#[test]
fn the_log_is_the_one_of_the_workspace() {
    let files = "//- /clawspec.yaml\ngateway_log_pattern: /var/log/oc-{date}.log\n";
    let claim = format!("{SCENARIO}      - type: tool_was_called\n        ");
    check(
        &format!("{claim}log_path: $0\n{files}"),
        expect![[r#"
            Value /var/log/oc-{{today}}.log · the gateway log
            File clawspec.yaml
        "#]],
    );
    check_labels(&format!("{claim}log_path: $0\n"), expect!["/tmp/openclaw/openclaw-{{today}}.log"]);
    check_choice(
        &format!("{SCENARIO}      - $0\n{files}"),
        "tool_was_called",
        expect![[r#"
            +       - type: tool_was_called
            +         tool: sessions_spawn
            +         log_path: /var/log/oc-{{today}}.log
            +         run_id: "{{run_id}}"
            ---
            type: tool_was_called
              tool: ${1:sessions_spawn}
              log_path: ${2:/var/log/oc-{{today\}\}.log}
              run_id: "${3:{{run_id\}\}}"
        "#]],
    );
}

#[test]
fn sections_are_the_headings_of_the_file() {
    let files = "//- /out/2026-05-14.md\n# Hook\n## Body text\n//- /out/2026-05-01-x.md\n# Old\n";
    let claim = format!("{SCENARIO}      - type: artifact_contains\n        path: out/{{{{today}}}}");
    check_labels(&format!("{claim}.md\n        sections: [Hook, $0]\n{files}"), expect!["Body text hook body cta"]);
    check_choice(
        &format!("{claim}.md\n        sections:\n          - $0\n{files}"),
        "Body text",
        expect![[r#"
            +           - Body text
        "#]],
    );
    // If there is no file of today, the headings are those of another day's file.
    check_labels(&format!("{claim}-x.md\n        sections: [$0]\n{files}"), expect!["Old hook body cta"]);
}

#[test]
fn the_target_is_the_directory_that_the_file_is_in() {
    let files = "//- /skills/a/SKILL.md\nx\n//- /agents/b/SOUL.md\nx\n";
    let target = "//- /clawspec-scenarios.yaml\ntarget:\n  path: ";
    check(
        &format!("{target}$0\n{files}"),
        expect![[r#"
        Value skills/a · in this workspace *
        Value agents/b · in this workspace
        Directory agents
        Directory skills
    "#]],
    );
    check(
        &format!("{target}agents/b\n  trigger: $0\n{files}"),
        expect![[r#"
        Value b · in this workspace *
        Value "/newsletter" · example
    "#]],
    );
}

#[test]
fn nearby_values_are_offered_again() {
    let near = format!("{SCENARIO}      - {{ type: tool_was_called, tool: mail.send }}\n");
    check_labels(&format!("{near}      - {{ type: tool_not_called, tool: m$0 }}\n"), expect!["mail.send"]);
    check_labels(
        "//- /cli-bench.yaml\nproviders:\n  - an$0\n",
        expect!["anthropic/claude-sonnet-4.6 anthropic/claude-opus-4-6 anthropic/claude-haiku-4-5-20251001"],
    );
}

//! Values: closed sets, names, variables, files, codes.

use expect_test::expect;

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
        tests:
          - skip: true
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
        tests:
          - models: [large 2]
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
        Variable user · `a b`
        Variable n · `1`
        Variable tone · used in a prompt
        Variable question · used in a prompt
    "#]],
    );
    check_choice(
        "tests:\n  - command: echo '{{us$0'\n    vars: { user: a }\n",
        "user",
        expect![[r#"
        tests:
          - command: echo '{{user}}'
            vars: { user: a }
    "#]],
    );
    check_choice(
        "tests:\n  - command: echo {{$0}} x\n    vars: { user: a }\n",
        "user",
        expect![[r#"
        tests:
          - command: echo {{user}} x
            vars: { user: a }
    "#]],
    );
    check_choice(
        "tests:\n  - command: \"{{$0}\"\n    vars: { user: a }\n",
        "user",
        expect![[r#"
        tests:
          - command: "{{user}}"
            vars: { user: a }
    "#]],
    );
    check_choice(
        "tests:\n  - command: {{$0\n    vars: { user: a }\n",
        "user",
        expect![[r#"
        tests:
          - command: {{user}}
            vars: { user: a }
    "#]],
    );
    check_choice(
        "tests:\n  - command: |\n      echo\n      echo {{u$0 x\n    vars: { user: a }\n",
        "user",
        expect![[r#"
        tests:
          - command: |
              echo
              echo {{user}} x
            vars: { user: a }
    "#]],
    );
    check_labels("prompts:\n  ask: { user: \"{{$0\" }\ntests:\n  - { prompt: ask, vars: { a: b } }\n", expect!["a"]);
}

#[test]
fn names_that_are_used_are_offered_where_they_are_defined() {
    check(
        "tests:\n  - command: echo {{a}} {{b}} {{env.c}}\n    vars:\n      a: x\n      $0\n",
        expect![[r#"
        Variable b · used, and not defined yet
    "#]],
    );
    check(
        "tests:\n  - prompt: ask\nprompts:\n  $0\n",
        expect![[r#"
        Variable ask · used, and not defined yet
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
        tests:
          - expect:
              output:
                schemaFile: schemas/answer.json
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
        # speclens: allow(unused)
        kindlm: 1
    "#]],
    );
    check_choice(
        "kindlm: 1 # speclens: allow(unused, $0)\n",
        "syntax",
        expect![[r#"
        kindlm: 1 # speclens: allow(unused, syntax)
    "#]],
    );
    check_labels("# speclens: allow(unused) $0\n", expect![[""]]);
}

#[test]
fn names_that_the_format_fills_are_offered_wherever_they_count() {
    let suite = "//- /clawspec-scenarios.yaml\nversion: \"1.0\"\nscenarios:\n  - name: a\n    then:\n      - type: file_present\n        path: ";
    check_labels(&format!("{suite}\"out/{{{{t$0\"\n"), expect!["today now repo_root qa_inbox run_id run_started_at"]);
    check_choice(
        &format!("{suite}\"out/{{{{ $0 }}}}\"\n"),
        "today",
        expect![[r#"
        version: "1.0"
        scenarios:
          - name: a
            then:
              - type: file_present
                path: "out/{{ today }}"
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
        tasks:
          - file://t/a.yaml
    "#]],
    );
    check_labels(&format!("//- /cli-bench.yaml\ntasks:\r\n  - 'file://$0'\r\n{files}"), expect!["fixtures/ t/"]);
}

#[test]
fn tags_of_other_cases_are_offered() {
    let suite = "//- /clawspec-scenarios.yaml\nscenarios:\n  - name: 😀\n    tags: [smoke, slow]\n  - name: b\n    tags: [slow, $0]\n";
    check_labels(suite, expect!["smoke negative"]);
}

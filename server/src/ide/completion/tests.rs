//! Every test shows what the list holds at `$0`, or the text after one of its entries was chosen.

use expect_test::{Expect, expect};

use super::*;
use crate::ide::fixture::Fixture;

fn completions(fixture: &Fixture) -> Vec<Completion> {
    let mut items = complete(&fixture.document, fixture.file, fixture.offset(), &fixture.files);
    items.sort_by(|one, other| one.sort_key.cmp(&other.sort_key));
    for item in &items {
        let range = &item.edit.range;
        assert!(range.start <= fixture.offset() && fixture.offset() <= range.end, "{item:?}");
        assert!(!fixture.text()[range.clone()].contains('\n'), "{item:?}");
    }
    items
}

/// The whole list.
#[track_caller]
fn check(fixture: &str, expected: Expect) {
    let fixture = Fixture::parse(fixture);
    let lines = completions(&fixture).into_iter().map(|item| {
        let detail = if item.detail.is_empty() { String::new() } else { format!(" · {}", item.detail) };
        let star = if item.preselect { " *" } else { "" };
        format!("{:?} {}{detail}{star}\n", item.kind, item.label)
    });
    expected.assert_eq(&lines.collect::<String>());
}

/// Only the labels, on one line.
#[track_caller]
fn check_labels(fixture: &str, expected: Expect) {
    let fixture = Fixture::parse(fixture);
    let labels: Vec<String> = completions(&fixture)
        .into_iter()
        .filter(|item| item.kind != CompletionKind::Snippet)
        .map(|item| item.label)
        .collect();
    expected.assert_eq(&labels.join(" "));
}

/// The text around the cursor after one entry was chosen, plain and as a snippet.
#[track_caller]
fn check_choice(fixture: &str, label: &str, expected: Expect) {
    let fixture = Fixture::parse(fixture);
    let items = completions(&fixture);
    let item = items.iter().find(|item| item.label == label).unwrap_or_else(|| panic!("{label} is not offered"));
    let mut text = fixture.text();
    text.replace_range(item.edit.range.clone(), &item.edit.text);
    let snippet = item.snippet.as_ref().map(|snippet| format!("---\n{snippet}\n")).unwrap_or_default();
    let shown = format!("{}{snippet}", text.replace('\r', "␍"));
    // Blanks at the end of a line are shown as dots: they are where the cursor comes to stand.
    let dots = |line: &str| {
        let words = line.trim_end_matches([' ', '␍']);
        format!("{words}{}\n", line[words.len()..].replace(' ', "·"))
    };
    expected.assert_eq(&shown.lines().map(dots).collect::<String>());
}

#[test]
fn required_keys_come_first_and_keys_that_are_there_do_not() {
    check(
        "kindlm: 1\nsuite:\n  name: x\n$0\n",
        expect![[r#"
        Field project · required · text
        Field tests · required · list of mappings
        Field providers · mapping
        Field models · list of mappings
        Field prompts · mapping of names to mappings
        Field gates · mapping
        Field defaults · mapping
        Field compliance · mapping
        Field trace · mapping
        Field upload · mapping
        Snippet providers: openai · with an example
        Snippet models: id, provider, model · with an example
        Snippet prompts: refund · with an example
        Snippet gates: passRateMin, latencyMaxMs · with an example
        Snippet defaults: repeat, timeoutMs · with an example
        Snippet trace: spanFilter, spanMapping · with an example
    "#]],
    );
}

#[test]
fn a_blank_line_belongs_where_it_is_indented() {
    let test = "tests:\n  - name: a\n    command: x\n    expect:\n      output:\n        format: text\n";
    check_labels(
        &format!("{test}$0"),
        expect!["kindlm project suite providers models prompts gates defaults compliance trace upload"],
    );
    check_labels(&format!("{test}  $0"), expect!["- name - command - prompt - expect"]);
    check_labels(&format!("{test}    $0\n"), expect!["vars repeat tags skip"]);
    check_labels(&format!("{test}      $0"), expect!["toolCalls guardrails judge baseline latency cost"]);
    check_labels(&format!("{test}        $0\n  - name: b\n"), expect!["schemaFile contains notContains maxLength"]);
    check_labels(&format!("{test}     $0\n  - name: b\n"), expect!["toolCalls guardrails judge baseline latency cost"]);
}

#[test]
fn alternatives_exclude_each_other() {
    check_labels(
        "tests:\n  - prompt: x\n    $0\n",
        expect!["name expect vars models repeat tools conversation maxTurns tags skip"],
    );
    check_labels(
        "tests:\n  - name: x\n    $0\n",
        expect!["expect command prompt vars repeat tags skip models tools conversation maxTurns"],
    );
}

#[test]
fn half_typed_text_is_completed() {
    check_labels("tests:\n  - name: a\n    exp$0\n    command: x\n", expect!["expect vars repeat tags skip"]);
    check_labels(
        "tests:\n  - na$0\n",
        expect!["name expect command prompt vars repeat tags skip models tools conversation maxTurns"],
    );
    check_labels(
        "tests:\n  - $0\n  - name: b\n",
        expect!["name expect command prompt vars repeat tags skip models tools conversation maxTurns"],
    );
    check_labels(
        "tests:\n  - name: a\n    expect:\n      toolCalls:\n        - $0",
        expect!["tool shouldNotCall argsMatch argsSchema order"],
    );
    check_labels("tests:\n  - name: a\n    expect:\n      output:\n        format: $0\n", expect!["text json"]);
    check_labels("tests:\n  - name: a\n    expect:\n      output:\n        format:$0\n", expect!["text json"]);
    check_labels(
        "tests:\n  - name: a\n    expect:\n      output:\n        format: \"js$0\n  - name: b\n",
        expect!["text json"],
    );
    check_labels(
        "tests:\n  - name: 'a\n    command: x\n    expect:\n      $0\n",
        expect!["output toolCalls guardrails judge baseline latency cost"],
    );
    check_labels(
        "tests:\n  - name: a\n    expect: { out$0\n  - name: b\n",
        expect!["output toolCalls guardrails judge baseline latency cost"],
    );
    check_labels(
        "tests:\n  - name: a\n    expect: { output: { contains: [a], $0 } }\n",
        expect!["format schemaFile notContains maxLength"],
    );
    check_labels(
        "tests:\n  - {name: a, $0}\n",
        expect!["expect command prompt vars repeat tags skip models tools conversation maxTurns"],
    );
    check_labels("tests:\n  - name: a\n    expect: {\n      output: { format: $0 },\n    }\n", expect!["text json"]);
    check_labels(
        "tests:\n  - name: a\n    expect: {\n    $0\n    }\n",
        expect!["output toolCalls guardrails judge baseline latency cost"],
    );
    check_labels(
        "{\"tests\": [{\"name\": \"a\", $0}]}",
        expect!["expect command prompt vars repeat tags skip models tools conversation maxTurns"],
    );
    check_labels(
        "tests:\n  - name: [\n  - name: b\n    $0\n",
        expect!["expect command prompt vars repeat tags skip models tools conversation maxTurns"],
    );
    check_labels(
        "tests:\n- name: a\n  $0\n- name: b\n",
        expect!["expect command prompt vars repeat tags skip models tools conversation maxTurns"],
    );
    check_labels("tests:\r\n  - name: \"😀\"\r\n    skip: $0\r\n", expect!["true false"]);
    check_labels("tests: [{name: \"😀\", expect: {latency: {$0", expect!["maxMs"]);
}

#[test]
fn nothing_is_offered_in_prose() {
    check_labels("tests:\n  - name: a$0\n", expect![""]);
    check_labels("tests:\n  - name: a\n    command: echo $0\n", expect![[""]]);
    check_labels("tests:\n  - name: a\n    command: |\n      echo\n      $0\n", expect![[""]]);
    check_labels("# $0\nkindlm: 1\n", expect![[""]]);
    check_labels("tests:\n  - name: a # $0\n", expect![[""]]);
    check_labels("tests:\n  - name: \"a\" $0\n", expect![[""]]);
}

#[test]
fn a_key_brings_what_its_type_needs() {
    let test = "tests:\n  - name: a\n    command: x\n";
    check_choice(
        &format!("{test}    $0\n"),
        "expect",
        expect![[r#"
            tests:
              - name: a
                command: x
                expect:
            ······
            ---
            expect:
            ··
        "#]],
    );
    check_choice(
        &format!("{test}    re$0\n"),
        "repeat",
        expect![[r#"
            tests:
              - name: a
                command: x
                repeat:·
        "#]],
    );
    check_choice(
        &format!("{test}    expect:\n      lat$0\n"),
        "latency",
        expect![[r#"
            tests:
              - name: a
                command: x
                expect:
                  latency:
                    maxMs:·
            ---
            latency:
              maxMs:·
        "#]],
    );
    check_choice(
        &format!("{test}    expect:\n      $0\n"),
        "toolCalls",
        expect![[r#"
            tests:
              - name: a
                command: x
                expect:
                  toolCalls:
                    - tool:·
            ---
            toolCalls:
              - tool:·
        "#]],
    );
    check_choice(
        &format!("{test}    expect: {{$0}}\n"),
        "output",
        expect![[r#"
            tests:
              - name: a
                command: x
                expect: {output: {}}
            ---
            output: { $0 }
        "#]],
    );
    check_choice(
        &format!("{test}    e$0:\n      output: {{}}\n"),
        "expect",
        expect![[r#"
        tests:
          - name: a
            command: x
            expect:
              output: {}
    "#]],
    );
    check_choice(
        &format!("{test}    expect:$0\n"),
        "output",
        expect![[r#"
            tests:
              - name: a
                command: x
                expect:
                  output:
            ········
            ---

              output:
            ····
        "#]],
    );
    check_choice(
        &format!("{test}    expect: $0\n"),
        "latency",
        expect![[r#"
            tests:
              - name: a
                command: x
                expect:
                  latency:
                    maxMs:·
            ---

              latency:
                maxMs:·
        "#]],
    );
    check_choice(
        "tests:\r\n  - name: a\r\n    $0\r\n",
        "expect",
        expect![[r#"
            tests:␍
              - name: a␍
                expect:␍
            ······␍
            ---
            expect:
            ··
        "#]],
    );
    check_choice(
        "tests:\n    -   name: a\n        expect:\n            $0\n",
        "output",
        expect![[r#"
            tests:
                -   name: a
                    expect:
                        output:
            ················
            ---
            output:
            ····
        "#]],
    );
}

#[test]
fn whole_tests_and_claims_are_offered() {
    check_choice(
        "tests:\n  - $0\n",
        "name, command, vars, expect",
        expect![[r#"
            tests:
              - name: answers-about-refunds
                command: python agent.py --input '{{question}}'
                vars: { question: What is the refund policy? }
                expect:
                  output: { contains: [refund] }
            ---
            name: ${1:answers-about-refunds}
              command: ${2:python agent.py --input '{{question\}\}'}
              vars: { question: ${3:What is the refund policy?} }
              expect:
                output: { contains: [${4:refund}] }
        "#]],
    );
    check_choice(
        "tests:\n  $0\n",
        "name, command, vars, expect",
        expect![[r#"
            tests:
              - name: answers-about-refunds
                command: python agent.py --input '{{question}}'
                vars: { question: What is the refund policy? }
                expect:
                  output: { contains: [refund] }
            ---
            - name: ${1:answers-about-refunds}
              command: ${2:python agent.py --input '{{question\}\}'}
              vars: { question: ${3:What is the refund policy?} }
              expect:
                output: { contains: [${4:refund}] }
        "#]],
    );
    check_choice(
        "tests:$0\n",
        "name, command, vars, expect",
        expect![[r#"
            tests:
              - name: answers-about-refunds
                command: python agent.py --input '{{question}}'
                vars: { question: What is the refund policy? }
                expect:
                  output: { contains: [refund] }
            ---

              - name: ${1:answers-about-refunds}
                command: ${2:python agent.py --input '{{question\}\}'}
                vars: { question: ${3:What is the refund policy?} }
                expect:
                  output: { contains: [${4:refund}] }
        "#]],
    );
    let test = "tests:\n  - name: a\n    command: x\n    expect:\n";
    check_choice(
        &format!("{test}      $0\n"),
        "output: contains, maxLength",
        expect![[r#"
        tests:
          - name: a
            command: x
            expect:
              output:
                contains: [shipped]
                maxLength: 400
        ---
        output:
          contains: [${1:shipped}]
          maxLength: ${2:400}
    "#]],
    );
    check_choice(
        &format!("{test}      $0\n"),
        "guardrails: pii, keywords",
        expect![[r#"
            tests:
              - name: a
                command: x
                expect:
                  guardrails:
                    pii: {}
                    keywords: { deny: [password] }
            ---
            guardrails:
              pii: {}
              keywords: { deny: [${1:password}] }
        "#]],
    );
    check_choice(
        &format!("{test}      $0\n"),
        "latency: maxMs",
        expect![[r#"
            tests:
              - name: a
                command: x
                expect:
                  latency: { maxMs: 5000 }
            ---
            latency: { maxMs: ${1:5000} }
        "#]],
    );
    check_choice(
        &format!("{test}      toolCalls:\n        - $0\n"),
        "tool, shouldNotCall",
        expect![[r#"
        tests:
          - name: a
            command: x
            expect:
              toolCalls:
                - tool: delete_order
                  shouldNotCall: true
        ---
        tool: ${1:delete_order}
          shouldNotCall: ${2:true}
    "#]],
    );
    check_choice(
        &format!("{test}      toolCalls:\n        $0\n"),
        "- tool",
        expect![[r#"
            tests:
              - name: a
                command: x
                expect:
                  toolCalls:
                    - tool:·
        "#]],
    );
    check(
        "$0",
        expect![[r#"
        Field kindlm · required · 1
        Field project · required · text
        Field suite · required · mapping
        Field tests · required · list of mappings
        Field providers · mapping
        Field models · list of mappings
        Field prompts · mapping of names to mappings
        Field gates · mapping
        Field defaults · mapping
        Field compliance · mapping
        Field trace · mapping
        Field upload · mapping
        Snippet suite: name, description · with an example
        Snippet providers: openai · with an example
        Snippet models: id, provider, model · with an example
        Snippet prompts: refund · with an example
        Snippet gates: passRateMin, latencyMaxMs · with an example
        Snippet defaults: repeat, timeoutMs · with an example
        Snippet trace: spanFilter, spanMapping · with an example
        Snippet kindlm, project, suite, tests · a whole KindLM suite
    "#]],
    );
}

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
fn settings_are_completed() {
    check_labels("//- /speclens.yaml\n$0\n", expect!["severity thresholds recordings limits"]);
    check(
        "//- /speclens.yaml\nseverity:\n  unused: $0\n",
        expect![[r#"
        Value "off"
        Value hint
        Value information
        Value warning
        Value error
    "#]],
    );
}

#[test]
fn a_card_says_all_about_a_key() {
    let fixture = Fixture::parse("tests:\n  - name: a\n    expect:\n      output:\n        $0\n");
    let items = completions(&fixture);
    let format = items.iter().find(|item| item.label == "format").unwrap();
    expect![[r#"
        **format** · `text` or `json` · default `text`

        Whether the output is text or JSON.

        With `json` the output must parse as one JSON value, and `schemaFile` is required. When it does not
        parse, that is the only result: nothing else of `output` is looked at.

        A command may report its JSON with a protocol event instead of printing nothing else:
        `{"kindlm":"output_json","data":{"ok":true}}`. The original program parses the text all the same.

        - `text`: As text.
        - `json`: As one JSON value; `schemaFile` says what it must look like."#]]
    .assert_eq(&format.docs);
}

//! Values inserted with a key, whole tests and claims.

use expect_test::expect;

use super::*;

#[test]
fn a_key_brings_what_its_type_needs() {
    let test = "tests:\n  - name: a\n    command: x\n";
    check_choice(
        &format!("{test}    $0\n"),
        "expect",
        expect![[r#"
            +     expect:
            +·······
            ---
            expect:
            ··
        "#]],
    );
    check_choice(
        &format!("{test}    re$0\n"),
        "repeat",
        expect![[r#"
            +     repeat:·
        "#]],
    );
    check_choice(
        &format!("{test}    expect:\n      lat$0\n"),
        "latency",
        expect![[r#"
            +       latency:
            +         maxMs:·
            ---
            latency:
              maxMs:·
        "#]],
    );
    check_choice(
        &format!("{test}    expect:\n      $0\n"),
        "toolCalls",
        expect![[r#"
            +       toolCalls:
            +         - tool:·
            ---
            toolCalls:
              - tool:·
        "#]],
    );
    check_choice(
        &format!("{test}    expect: {{$0}}\n"),
        "output",
        expect![[r#"
            +     expect: {output: {}}
            ---
            output: { $0 }
        "#]],
    );
    check_choice(
        &format!("{test}    e$0:\n      output: {{}}\n"),
        "expect",
        expect![[r#"
            +     expect:
        "#]],
    );
    check_choice(
        &format!("{test}    expect:$0\n"),
        "output",
        expect![[r#"
            +     expect:
            +       output:
            +·········
            ---

              output:
            ····
        "#]],
    );
    check_choice(
        &format!("{test}    expect: $0\n"),
        "latency",
        expect![[r#"
            +     expect:
            +       latency:
            +         maxMs:·
            ---

              latency:
                maxMs:·
        "#]],
    );
    check_choice(
        "tests:\r\n  - name: a\r\n    $0\r\n",
        "expect",
        expect![[r#"
            +     expect:␍
            +·······␍
            ---
            expect:
            ··
        "#]],
    );
    check_choice(
        "tests:\n    -   name: a\n        expect:\n            $0\n",
        "output",
        expect![[r#"
            +             output:
            +·················
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
            +   - name: answers-about-refunds
            +     command: python agent.py --input '{{question}}'
            +     vars: { question: What is the refund policy? }
            +     expect:
            +       output: { contains: [refund] }
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
            +   - name: answers-about-refunds
            +     command: python agent.py --input '{{question}}'
            +     vars: { question: What is the refund policy? }
            +     expect:
            +       output: { contains: [refund] }
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
            + tests:
            +   - name: answers-about-refunds
            +     command: python agent.py --input '{{question}}'
            +     vars: { question: What is the refund policy? }
            +     expect:
            +       output: { contains: [refund] }
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
            +       output:
            +         contains: [shipped]
            +         maxLength: 400
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
            +       guardrails:
            +         pii: {}
            +         keywords: { deny: [password] }
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
            +       latency: { maxMs: 5000 }
            ---
            latency: { maxMs: ${1:5000} }
        "#]],
    );
    check_choice(
        &format!("{test}      toolCalls:\n        - $0\n"),
        "tool, shouldNotCall",
        expect![[r#"
            +         - tool: delete_order
            +           shouldNotCall: true
            ---
            tool: ${1:delete_order}
              shouldNotCall: ${2:true}
        "#]],
    );
    check_choice(
        &format!("{test}      toolCalls:\n        $0\n"),
        "- tool",
        expect![[r#"
            +         - tool:·
            ---
            - tool:·
        "#]],
    );
    check(
        "$0",
        expect![[r#"
            Snippet new KindLM suite · a minimal KindLM suite
            Field kindlm · required · 1
            Field project · required · string
            Field suite · required · mapping
            Field tests · required · list of mappings
            Field providers · mapping
            Field models · list of mappings
            Field prompts · mapping of names to mappings
            Field gates · mapping
            Field defaults · mapping
            Field compliance · mapping
            Field trace · mapping
            Field redteam · mapping
            Field upload · mapping
            Snippet suite: name, description · with an example
            Snippet providers: openai · with an example
            Snippet models: id, provider, model · with an example
            Snippet prompts: refund · with an example
            Snippet gates: passRateMin, latencyMaxMs · with an example
            Snippet defaults: repeat, timeoutMs · with an example
            Snippet trace: spanFilter, spanMapping · with an example
            Snippet redteam: purpose, target, plugins · with an example
        "#]],
    );
}

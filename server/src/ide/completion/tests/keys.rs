//! The keys that are offered at various places.

use expect_test::expect;

use super::*;

#[test]
fn required_keys_come_first_and_keys_that_are_there_do_not() {
    check(
        "kindlm: 1\nsuite:\n  name: x\n$0\n",
        expect![[r#"
            Field project · required · string
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

#[test]
fn a_blank_line_belongs_where_it_is_indented() {
    let test = "tests:\n  - name: a\n    command: x\n    expect:\n      output:\n        format: text\n";
    check_labels(
        &format!("{test}$0"),
        expect!["kindlm project suite providers models prompts gates defaults compliance trace redteam upload"],
    );
    check_labels(&format!("{test}  $0"), expect!["- name - command - prompt - expect"]);
    check_labels(&format!("{test}    $0\n"), expect!["vars repeat tags skip"]);
    check_labels(
        &format!("{test}      $0"),
        expect!["toolCalls guardrails judge baseline latency cost trajectory toolCallsOrdered"],
    );
    check_labels(&format!("{test}        $0\n  - name: b\n"), expect!["schemaFile contains notContains maxLength"]);
    // A key between two levels would damage the file.
    check_labels(&format!("{test}     $0\n  - name: b\n"), expect![[""]]);
}

#[test]
fn keys_from_merge_key_count_as_present() {
    let base = "//- /cli-bench.yaml\ntasks:\n  - &base\n    id: a\n    intent: x\n    difficulty: easy\n    assert: [{ exit_code: 0 }]\n  - <<: *base\n";
    check_labels(
        &format!("{base}    id: b\n    $0\n"),
        expect!["setup max_turns category repeat env scaffold teardown timeout"],
    );
    check_labels(
        &format!("{base}    diff$0\n"),
        expect!["difficulty setup max_turns category repeat env scaffold teardown timeout id intent assert"],
    );
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
        expect!["json text"],
    );
    check_labels(
        "tests:\n  - name: 'a\n    command: x\n    expect:\n      $0\n",
        expect!["output toolCalls guardrails judge baseline latency cost trajectory toolCallsOrdered"],
    );
    check_labels(
        "tests:\n  - name: a\n    expect: { out$0\n  - name: b\n",
        expect!["output toolCalls guardrails judge baseline latency cost trajectory toolCallsOrdered"],
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
        expect!["output toolCalls guardrails judge baseline latency cost trajectory toolCallsOrdered"],
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
fn settings_are_completed() {
    check_labels(
        "//- /speclens.yaml\n$0\n",
        expect!["severity compat inputs env thresholds audit recordings limits providers models judge prices clawspec"],
    );
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

        With `json`, the output must parse as one JSON value, and `schemaFile` is required. If it does not parse, that
        is the only result: the rest of `output` is not checked.

        A command that also prints other text can report its JSON in a protocol event:
        `{"kindlm":"output_json","data":{"ok":true}}`. KindLM still parses the text.

        - `text`: Plain text.
        - `json`: One JSON value that matches `schemaFile`."#]]
    .assert_eq(&format.docs);
}

#[test]
fn key_is_offered_under_its_other_names_once_they_are_typed() {
    let task = "//- /cli-bench.yaml\ntasks:\n  - id: a\n    ";
    check_labels(
        &format!("{task}pro$0\n"),
        expect![
            "prompt → intent intent assert setup max_turns difficulty category repeat env scaffold teardown timeout"
        ],
    );
    check_choice(
        &format!("{task}pro$0\n"),
        "prompt → intent",
        expect![[r#"
            +     intent:·
        "#]],
    );
    check_labels(
        &format!("{task}assert:\n      - std$0\n"),
        expect![
            "stdout → output_contains stdout_contains → output_contains stdout_equals → output_equals stderr → error_contains stderr_contains → error_contains exit_code output_contains output_equals error_contains file_exists file_contains ran not_ran run_count verify"
        ],
    );
    let test = "kindlm: 1\r\ntests:\r\n- name: a\r\n  ";
    check_choice(
        &format!("{test}ass$0\r\n"),
        "assertions → expect",
        expect![[r#"
            +   expect:␍
            +·····␍
            ---
            expect:
            ··
        "#]],
    );
}

#[test]
fn below_the_dash_of_an_item_its_other_keys_come_first() {
    let call = "      toolCalls:\n      - tool: lookup\n";
    check_labels(
        &format!(
            "kindlm: 1\nproject: p\nsuite: {{name: s}}\ntests:\n  - name: a\n    command: x\n    expect:\n{call}      $0"
        ),
        expect!["shouldNotCall argsMatch argsSchema order - tool"],
    );
}

#[test]
fn keys_below_a_dash_are_moved_to_their_column() {
    let head = "kindlm: 1\nproject: p\nsuite: {name: s}\ntests:\n  - name: a\n    command: x\n    expect:\n";
    for line_end in ["\n", "\r\n"] {
        for (call, column) in [("      toolCalls:\n      - tool: f\n", 6), ("      toolCalls:\n        - tool: f\n", 8)]
        {
            for word in ["", "sh"] {
                let text = format!("{head}{call}{}{word}$0\n", " ".repeat(column)).replace('\n', line_end);
                let fixture = Fixture::parse(&text);
                let items = completions(&fixture);
                let item = items.iter().find(|item| item.label == "shouldNotCall").expect("a key of the call");
                let mut changed = fixture.text();
                changed.replace_range(item.edit.range.clone(), &item.edit.text);
                let end = format!("{}shouldNotCall: {line_end}", " ".repeat(column + 2));
                assert!(changed.ends_with(&format!("tool: f{line_end}{end}")), "{changed}");
                let others = items.iter().filter(|item| item.label == "shouldNotCall").count();
                assert_eq!((others, items[0].label.as_str()), (1, "shouldNotCall"), "{word}");
            }
        }
    }
}

#[test]
fn fields_below_the_only_key_of_an_item_are_moved_to_their_column() {
    let suite = "//- /cli-bench.yaml\ncli: git\ntasks:\n- id: a\n  intent: x\n  assert:\n  - file_contains:\n    $0\n";
    check_choice(
        suite,
        "path",
        expect![[r#"
        +       path:·
    "#]],
    );
    // A word further to the left belongs to another list.
    check_labels(&suite.replace("    $0", "$0"), expect!["- id - intent - assert"]);
}

//! What the schema finds wrong, as a person sees it.

mod common;

use expect_test::{Expect, expect};
use speclens_schema::{
    dialect::ScalarRules,
    document::{Document, Pointer},
    json_schema::SpecFile,
    problem::Fix,
    validate::{Definition, validate, validate_node},
};

const HEAD: &str = "kindlm: 1\nproject: p\nsuite: { name: s }\n";

#[track_caller]
fn check(text: &str, expected: Expect) {
    let document = Document::read(text, ScalarRules::Yaml12);
    expected.assert_eq(&common::render(text, &validate(&document, SpecFile::KindLm)));
}

/// Checks a suite that is right but for these lines.
#[track_caller]
fn check_below(text: &str, expected: Expect) {
    check(&format!("{HEAD}{text}"), expected);
}

#[track_caller]
fn apply(text: &str, fix: &Fix) -> String {
    let mut edits = fix.edits.clone();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.range.start));
    let mut text = text.to_owned();
    for edit in edits {
        text.replace_range(edit.range, &edit.text);
    }
    text
}

#[test]
fn a_right_suite_has_no_problems() {
    check_below("tests:\n  - name: t\n    command: 'true'\n    expect: {}\n", expect![[""]]);
}

#[test]
fn a_claim_with_an_unknown_key_vanishes() {
    check_below(
        "tests:\n  - name: t\n    command: x\n    expect:\n      output:\n        contain: [a]\n      toolCals: []\n",
        expect![[r#"
            error[unknown-key]: unknown key `contain`: did you mean `contains`? What it claims is never checked
                9 |         contain: [a]
                  |         ^^^^^^^
              fix: Rename to `contains`
                "contain" -> "contains"
            error[unknown-key]: unknown key `toolCals`: did you mean `toolCalls`? What it claims is never checked
               10 |       toolCals: []
                  |       ^^^^^^^^
              fix: Rename to `toolCalls`
                "toolCals" -> "toolCalls"
        "#]],
    );
}

#[test]
fn a_key_in_the_wrong_place_is_told_where_it_belongs() {
    check_below(
        "tests:\n  - name: t\n    command: x\n    timeoutMs: 5\n    contains: [a]\n    expect:\n      contains: [b]\n      tags: [x]\n",
        expect![[r##"
            warning[unknown-key]: unknown key `timeoutMs`: it belongs under `defaults`
                7 |     timeoutMs: 5
                  |     ^^^^^^^^^
              possible fix: Turn it into a comment
                "" -> "# "
            error[unknown-key]: unknown key `contains`: it belongs under `expect.output`; what it claims is never checked
                8 |     contains: [a]
                  |     ^^^^^^^^
              possible fix: Turn it into a comment
                "" -> "# "
            error[unknown-key]: unknown key `contains`: it belongs under `output`; what it claims is never checked
               10 |       contains: [b]
                  |       ^^^^^^^^
              fix: Move below `output`
                "contains: [b]" -> "output:\n        contains: [b]"
            error[unknown-key]: unknown key `tags`: it belongs in an item of `tests`; what it claims is never checked
               11 |       tags: [x]
                  |       ^^^^
              likely fix: Move behind `expect`
                "      tags: [x]" -> "    tags: [x]"
        "##]],
    );
}

#[test]
fn unknown_keys_elsewhere_are_warnings() {
    check_below(
        "timeout: 3\nassert: 1\ndefaults: { time_out_ms: 2000 }\ntests:\n  - { name: t, command: x, expect: {}, cmd: y }\n",
        expect![[r##"
            warning[unknown-key]: unknown key `timeout`: did you mean `timeoutMs` under `defaults`?
                4 | timeout: 3
                  | ^^^^^^^
              possible fix: Turn it into a comment
                "" -> "# "
            warning[unknown-key]: unknown key `assert`: expected `providers`, `models`, `prompts`, `gates`, `compliance`, `trace` or `upload`
                5 | assert: 1
                  | ^^^^^^
              possible fix: Turn it into a comment
                "" -> "# "
            warning[unknown-key]: unknown key `time_out_ms`: did you mean `timeoutMs`?
                6 | defaults: { time_out_ms: 2000 }
                  |             ^^^^^^^^^^^
              fix: Rename to `timeoutMs`
                "time_out_ms" -> "timeoutMs"
            warning[unknown-key]: unknown key `cmd`: expected `prompt`, `vars`, `models`, `repeat`, `tools`, `conversation`, `maxTurns`, `tags` and 1 more
                8 |   - { name: t, command: x, expect: {}, cmd: y }
                  |                                        ^^^
        "##]],
    );
}

#[test]
fn missing_fields_are_told_at_their_owner() {
    check(
        "{}\n",
        expect![[r#"
            error[missing-field]: `kindlm` is missing: the version of the format: the number 1
                1 | {}
                  | ^^
              fix: Add `kindlm`
                "{}" -> "{ kindlm: 1 }"
            error[missing-field]: `project` is missing: the project that the suite belongs to
                1 | {}
                  | ^^
              possible fix: Add `project`
                "{}" -> "{ project: shop }"
            error[missing-field]: `suite` is missing: what the suite is called
                1 | {}
                  | ^^
              possible fix: Add `suite`
                "{}" -> "{ suite: { name: support-agent } }"
            error[missing-field]: `tests` is missing: the tests, run and reported in this order
                1 | {}
                  | ^^
              possible fix: Add `tests`
                "{}" -> "{ tests: [{ name: answers-about-refunds, expect: {} }] }"
        "#]],
    );
    check_below(
        "providers:\n  openai: {}\nmodels:\n  - provider: openai\ntests:\n  - name: t\n    expect:\n      output:\n        format: json\n      latency: {}\n",
        expect![[r#"
            error[missing-field]: `openai` needs `apiKeyEnv`: the *name* of the environment variable that holds the key, never the key itself
                5 |   openai: {}
                  |   ^^^^^^
              possible fix: Add `apiKeyEnv`
                "{}" -> "{ apiKeyEnv: OPENAI_API_KEY }"
            error[missing-field]: `id` is missing: the name by which this file refers to the model, unique in the list
                7 |   - provider: openai
                  |     ^^^^^^^^^^^^^^^^
              possible fix: Add `id`
                "" -> "id: small\n    "
            error[missing-field]: `model` is missing: the name that the provider knows it by
                7 |   - provider: openai
                  |     ^^^^^^^^^^^^^^^^
              possible fix: Add `model`
                "" -> "model: gpt-4o-mini\n    "
            error[missing-field]: nothing says what to do: give `command` or `prompt`
                9 |   - name: t
                  |     ^^^^^^^
              possible fix: Add `command`
                "" -> "command: \"python agent.py --input 'question'\"\n    "
              possible fix: Add `prompt`
                "" -> "prompt: refund\n    "
            error[missing-field]: `format: json` needs `schemaFile`, the JSON Schema that the output must match
               11 |       output:
                  |       ^^^^^^
              possible fix: Add `schemaFile`
                "" -> "schemaFile: schemas/answer.json\n        "
            error[missing-field]: `latency` needs `maxMs`: the most milliseconds from start to end; the value itself still passes
               13 |       latency: {}
                  |       ^^^^^^^
              possible fix: Add `maxMs`
                "{}" -> "{ maxMs: 5000 }"
        "#]],
    );
}

#[test]
fn values_of_a_wrong_type_say_what_is_expected() {
    check(
        "kindlm: \"1\"\nproject: 5\nsuite: [s]\ngates:\ntests:\n  - name: t\n    command: x\n    repeat: \"3\"\n    skip: 1\n    vars: { n: 5, b: true }\n    expect:\n      output: { contains: refund, maxLength: 1.5 }\n      toolCalls: { tool: a }\n  - just text\n",
        expect![[r#"
            error[wrong-type]: `kindlm` must be `1`, not the text `1`: remove the quotes
                1 | kindlm: "1"
                  |         ^^^
              fix: Write `1`
                "\"1\"" -> "1"
            error[wrong-type]: `project` must be text, not the number `5`: put it in quotes
                2 | project: 5
                  |          ^
              fix: Write "5"
                "5" -> "\"5\""
            error[wrong-type]: `suite` must be a mapping, not a list: write `{…}`
                3 | suite: [s]
                  |        ^^^
            error[wrong-type]: `gates` has no value: expected a mapping, or remove the key
                4 | gates:
                  | ^^^^^
            error[wrong-type]: `repeat` must be a whole number, 1 to 100, not the text `3`: remove the quotes
                8 |     repeat: "3"
                  |             ^^^
              fix: Write `3`
                "\"3\"" -> "3"
            error[wrong-type]: `skip` must be `true` or `false`, not the number `1`
                9 |     skip: 1
                  |           ^
            error[wrong-type]: `n` must be text, not the number `5`: put it in quotes
               10 |     vars: { n: 5, b: true }
                  |                ^
              fix: Write "5"
                "5" -> "\"5\""
            error[wrong-type]: `b` must be text, not `true`: put it in quotes
               10 |     vars: { n: 5, b: true }
                  |                      ^^^^
              fix: Write "true"
                "true" -> "\"true\""
            error[wrong-type]: `contains` must be a list of texts, not the text `refund`: write `[…]`
               12 |       output: { contains: refund, maxLength: 1.5 }
                  |                           ^^^^^^
              fix: Make it a list
                "refund" -> "[refund]"
            error[wrong-type]: `maxLength` must be a whole number, at least 1, not the number `1.5`
               12 |       output: { contains: refund, maxLength: 1.5 }
                  |                                              ^^^
            error[wrong-type]: `toolCalls` must be a list of mappings, not a mapping: write `[…]`
               13 |       toolCalls: { tool: a }
                  |                  ^^^^^^^^^^^
              fix: Make it a list
                "{ tool: a }" -> "[{ tool: a }]"
            error[wrong-type]: expected a mapping, found the text `just text`
               14 |   - just text
                  |     ^^^^^^^^^
        "#]],
    );
    check(
        "- a\n",
        expect![[r#"
            error[wrong-type]: expected a mapping, found a list: a file begins with `kindlm: …`
                1 | - a
                  | ^^^
        "#]],
    );
    check(
        "text\n",
        expect![[r#"
        error[wrong-type]: expected a mapping, found the text `text`: a file begins with `kindlm: …`
            1 | text
              | ^^^^
    "#]],
    );
    check(
        "",
        expect![[r#"
        error[missing-field]: the file is empty: a suite begins with `kindlm: 1`
            1 | 
              | ^
    "#]],
    );
}

#[test]
fn values_outside_of_their_bounds_name_the_bounds() {
    check_below(
        "gates: { passRateMin: 95, costMaxUsd: 0 }\ndefaults: { repeat: 0, timeoutMs: 10, concurrency: .inf }\ntests:\n  - { name: '', command: '', expect: { output: { format: jsn, maxLength: 0 } } }\n",
        expect![[r#"
            error[out-of-range]: `passRateMin` must be from 0 to 1, not the number `95`: write `0.95`
                4 | gates: { passRateMin: 95, costMaxUsd: 0 }
                  |                       ^^
              likely fix: Write `0.95`
                "95" -> "0.95"
            error[out-of-range]: `costMaxUsd` must be above 0, not the number `0`
                4 | gates: { passRateMin: 95, costMaxUsd: 0 }
                  |                                       ^
            error[out-of-range]: `repeat` must be from 1 to 100, not the number `0`
                5 | defaults: { repeat: 0, timeoutMs: 10, concurrency: .inf }
                  |                     ^
            error[out-of-range]: `timeoutMs` must be at least 1000, not the number `10`
                5 | defaults: { repeat: 0, timeoutMs: 10, concurrency: .inf }
                  |                                   ^^
            error[wrong-type]: `concurrency` must be a whole number, 1 to 32, not the number `.inf`
                5 | defaults: { repeat: 0, timeoutMs: 10, concurrency: .inf }
                  |                                                    ^^^^
            error[out-of-range]: `name` must not be empty
                7 |   - { name: '', command: '', expect: { output: { format: jsn, maxLength: 0 } } }
                  |             ^^
            error[out-of-range]: `command` must not be empty
                7 |   - { name: '', command: '', expect: { output: { format: jsn, maxLength: 0 } } }
                  |                          ^^
            error[invalid-value]: `format` cannot be the text `jsn`: did you mean `json`?
                7 |   - { name: '', command: '', expect: { output: { format: jsn, maxLength: 0 } } }
                  |                                                          ^^^
              likely fix: Change to `json`
                "jsn" -> "json"
            error[out-of-range]: `maxLength` must be at least 1, not the number `0`
                7 |   - { name: '', command: '', expect: { output: { format: jsn, maxLength: 0 } } }
                  |                                                                          ^
        "#]],
    );
    check_below(
        "tests: []\nproviders: { mcp: { serverUrl: example, toolName: t } }\n",
        expect![[r#"
        error[out-of-range]: `tests` is empty: it needs at least one entry
            4 | tests: []
              |        ^^
        error[invalid-value]: the text `example` is no URL: begin `serverUrl` with a scheme, such as `https://`
            5 | providers: { mcp: { serverUrl: example, toolName: t } }
              |                                ^^^^^^^
    "#]],
    );
}

#[test]
fn command_and_prompt_exclude_each_other() {
    check_below(
        "tests:\n  - { name: t, command: x, prompt: p, expect: {} }\n",
        expect![[r#"
        error[conflicting-fields]: `command` and `prompt` exclude each other: keep one
            5 |   - { name: t, command: x, prompt: p, expect: {} }
              |                            ^^^^^^
          also: `command` is given here
            5 |   - { name: t, command: x, prompt: p, expect: {} }
              |                ^^^^^^^
    "#]],
    );
}

#[test]
fn merge_keys_are_not_applied() {
    check_below(
        "tests:\n  - &t { name: t, command: x, expect: {} }\n  - <<: *t\n    name: u\n    command: x\n    expect: {}\n",
        expect![[r#"
            warning[unknown-key]: merge keys are not applied in this format: `<<` is an unknown key and is dropped, so write the fields out
                6 |   - <<: *t
                  |     ^^
        "#]],
    );
}

#[test]
fn problems_behind_an_alias_are_told_at_the_alias() {
    check_below(
        "tests:\n  - { name: t, command: x, expect: &e { outptu: {} } }\n  - { name: u, command: x, expect: *e }\n  - { name: v, command: x, expect: *f }\n",
        expect![[r#"
            error[unknown-key]: unknown key `outptu`: did you mean `output`? What it claims is never checked
                5 |   - { name: t, command: x, expect: &e { outptu: {} } }
                  |                                         ^^^^^^
              fix: Rename to `output`
                "outptu" -> "output"
            error[unknown-key]: unknown key `outptu`: did you mean `output`? What it claims is never checked
                6 |   - { name: u, command: x, expect: *e }
                  |                                    ^^
        "#]],
    );
}

#[test]
fn settings_have_problems_of_their_own() {
    let text = "severity: { unknown-kye: off, unused: loud }\nlimit: {}\n";
    let document = Document::read(text, ScalarRules::Yaml12);
    expect![[r#"
        warning[invalid-setting]: unknown key `unknown-kye`: did you mean `unknown-key`?
            1 | severity: { unknown-kye: off, unused: loud }
              |             ^^^^^^^^^^^
          fix: Rename to `unknown-key`
            "unknown-kye" -> "unknown-key"
        warning[invalid-setting]: `unused` must be `"off"`, `hint`, `information`, `warning` or `error`, not the text `loud`
            1 | severity: { unknown-kye: off, unused: loud }
              |                                       ^^^^
        warning[invalid-setting]: unknown key `limit`: did you mean `limits`?
            2 | limit: {}
              | ^^^^^
          fix: Rename to `limits`
            "limit" -> "limits"
    "#]].assert_eq(&common::render(text, &validate(&document, SpecFile::Settings)));
}

/// Every fix removes its problem, and leaves YAML.
#[test]
fn fixes_cure() {
    for text in [
        "tests:\n  - name: t\n    command: x\n    expect:\n      # note\n      contains: [b]\n      latency: {}\n",
        "tests:\n  - name: t\n    command: x\n    expect:\n      contains: [b]\n      output:\n        maxLength: 3\n",
        "tests:\n  - { name: t, command: x, expect: { contains: [b] } }\n",
        "tests:\n  - name: t\n    comand: x\n    repeat: \"3\"\n    vars: { n: 5 }\n    expect: { output: { contains: refund } }\n",
        "tests:\n  - name: t\n    expect: { output: { format: jsn } }\n",
        "providers:\n  openai: {}\ntests:\n  - name: t\n    command: x\n",
        "suit: {}\ntests:\n- command: x\n  expect: {}\n  name: 7\n",
    ] {
        let text = format!("{HEAD}{text}");
        let problems = |text: &str| validate(&Document::read(text, ScalarRules::Yaml12), SpecFile::KindLm);
        let before = problems(&text);
        assert!(before.iter().any(|problem| !problem.fixes.is_empty()), "{text}");
        for problem in &before {
            for fix in &problem.fixes {
                let after = apply(&text, fix);
                let left = problems(&after);
                assert!(
                    !left.iter().any(|other| (other.code, &other.at) == (problem.code, &problem.at))
                        && Document::read(&after, ScalarRules::Yaml12).problems().is_empty(),
                    "{}:\n{after}\n{}",
                    fix.title,
                    common::render(&after, &left)
                );
            }
        }
    }
}

#[test]
fn a_part_is_checked_relative_to_itself() {
    let text = format!("{HEAD}tests:\n  - name: t\n    comand: x\n    expect: {{}}\n");
    let document = Document::read(&text, ScalarRules::Yaml12);
    let node = document.find(&Pointer::parse("/tests/0")).unwrap();
    let problems = validate_node(node, Definition::item(SpecFile::KindLm, "tests").unwrap());
    let at: Vec<_> = problems.iter().map(|problem| problem.at.as_str()).collect();
    assert_eq!(at, ["/comand"]);
}

#[test]
fn numbers_that_are_no_numbers() {
    check_below(
        "tests:\n  - name: .nan\n    command: x\n    vars: {a: .NaN}\n    expect: {output: {contains: [.nan], maxLength: .inf}, latency: {maxMs: .nan}, toolCalls: [{tool: t, argsMatch: {a: .nan}}]}\n",
        expect![[r#"
            error[wrong-type]: `name` must be a name, not `.nan`: put it in quotes
                5 |   - name: .nan
                  |           ^^^^
              fix: Write ".nan"
                ".nan" -> "\".nan\""
            error[wrong-type]: `a` must be text, not `.NaN`: put it in quotes
                7 |     vars: {a: .NaN}
                  |               ^^^^
              fix: Write ".NaN"
                ".NaN" -> "\".NaN\""
            error[wrong-type]: expected text, found `.nan`: put it in quotes
                8 |     expect: {output: {contains: [.nan], maxLength: .inf}, latency: {maxMs: .nan}, toolCalls: [{tool: t, argsMatch: {a: .nan}}]}
                  |                                  ^^^^
              fix: Write ".nan"
                ".nan" -> "\".nan\""
            error[wrong-type]: `maxLength` must be a whole number, at least 1, not the number `.inf`
                8 |     expect: {output: {contains: [.nan], maxLength: .inf}, latency: {maxMs: .nan}, toolCalls: [{tool: t, argsMatch: {a: .nan}}]}
                  |                                                    ^^^^
            error[wrong-type]: `maxMs` must be a number, above 0, not `.nan`
                8 |     expect: {output: {contains: [.nan], maxLength: .inf}, latency: {maxMs: .nan}, toolCalls: [{tool: t, argsMatch: {a: .nan}}]}
                  |                                                                            ^^^^
        "#]],
    );
}

#[test]
fn whole_numbers_that_lose_their_last_digits() {
    check_below(
        "gates: {schemaFailuresMax: 10000000000000000000}\ndefaults: {timeoutMs: 1e300}\ntests:\n  - name: a\n    command: x\n    expect: {output: {maxLength: 9007199254740992}, toolCalls: [{tool: t, order: .inf}]}\n",
        expect![[r#"
            error[out-of-range]: `schemaFailuresMax` must be at most 9007199254740991, not the number `10000000000000000000`
                4 | gates: {schemaFailuresMax: 10000000000000000000}
                  |                            ^^^^^^^^^^^^^^^^^^^^
            error[out-of-range]: `timeoutMs` must be at most 9007199254740991, not the number `1e300`
                5 | defaults: {timeoutMs: 1e300}
                  |                       ^^^^^
            error[out-of-range]: `maxLength` must be at most 9007199254740991, not the number `9007199254740992`
                9 |     expect: {output: {maxLength: 9007199254740992}, toolCalls: [{tool: t, order: .inf}]}
                  |                                  ^^^^^^^^^^^^^^^^
            error[wrong-type]: `order` must be a whole number, at least 0, not the number `.inf`
                9 |     expect: {output: {maxLength: 9007199254740992}, toolCalls: [{tool: t, order: .inf}]}
                  |                                                                                  ^^^^
        "#]],
    );
}

/// `argsSchemaResolved` is where the original keeps the schema that `argsSchema` names, and it stands in its schema.
#[test]
fn what_the_original_drops_or_overwrites() {
    check_below(
        "<<: {a: 1}\ntests:\n  - name: a\n    command: x\n    expect: {toolCalls: [{tool: t, argsSchema: s.json, argsSchemaResolved: {}}, {tool: t, argsSchemaResolved: {}}], <<: {a: 1}}\n",
        expect![[r#"
            warning[unknown-key]: merge keys are not applied in this format: `<<` is an unknown key and is dropped, so write the fields out
                4 | <<: {a: 1}
                  | ^^
            warning[unknown-key]: `argsSchemaResolved` has no effect beside `argsSchema`: remove it
                8 |     expect: {toolCalls: [{tool: t, argsSchema: s.json, argsSchemaResolved: {}}, {tool: t, argsSchemaResolved: {}}], <<: {a: 1}}
                  |                                                        ^^^^^^^^^^^^^^^^^^
            error[unknown-key]: unknown key `argsSchemaResolved`: expected `shouldNotCall`, `argsMatch`, `argsSchema` or `order`; what it claims is never checked
                8 |     expect: {toolCalls: [{tool: t, argsSchema: s.json, argsSchemaResolved: {}}, {tool: t, argsSchemaResolved: {}}], <<: {a: 1}}
                  |                                                                                           ^^^^^^^^^^^^^^^^^^
            error[unknown-key]: merge keys are not applied in this format: `<<` is an unknown key and is dropped, so write the fields out
                8 |     expect: {toolCalls: [{tool: t, argsSchema: s.json, argsSchemaResolved: {}}, {tool: t, argsSchemaResolved: {}}], <<: {a: 1}}
                  |                                                                                                                     ^^
        "#]],
    );
}

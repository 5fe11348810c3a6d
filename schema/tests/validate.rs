//! What the schema finds wrong, as a person sees it.

mod common;

use expect_test::{Expect, expect};
use speclens_schema::{
    dialect::ScalarRules,
    document::{Document, Pointer},
    fixing::replaced,
    json_schema::SpecFile,
    validate::{Definition, validate, validate_node},
};

const HEAD: &str = "kindlm: 1\nproject: p\nsuite: { name: s }\n";

#[track_caller]
fn check(text: &str, expected: Expect) {
    let document = Document::read(text, ScalarRules::Yaml12);
    expected.assert_eq(&common::render(text, &validate(&document, SpecFile::KINDLM)));
}

/// Checks a suite that is right except for these lines.
#[track_caller]
fn check_below(text: &str, expected: Expect) {
    check(&format!("{HEAD}{text}"), expected);
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
            error[unknown-key]: unknown key `contain`
                9 |         contain: [a]
                  |         ^^^^^^^
              note: KindLM ignores unknown keys, so nothing is checked
              help: rename it to `contains`
              fix: rename it to `contains`
                "contain" -> "contains"
            error[unknown-key]: unknown key `toolCals`
               10 |       toolCals: []
                  |       ^^^^^^^^
              note: KindLM ignores unknown keys, so nothing is checked
              help: rename it to `toolCalls`
              fix: rename it to `toolCalls`
                "toolCals" -> "toolCalls"
        "#]],
    );
}

#[test]
fn a_key_in_the_wrong_place_is_reported_where_it_belongs() {
    check_below(
        "tests:\n  - name: t\n    command: x\n    timeoutMs: 5\n    contains: [a]\n    expect:\n      contains: [b]\n      tags: [x]\n",
        expect![[r##"
            warning[unknown-key]: unknown key `timeoutMs`
                7 |     timeoutMs: 5
                  |     ^^^^^^^^^
              help: move it under `defaults`
              possible fix: comment it out
                "" -> "# "
            error[unknown-key]: unknown key `contains`
                8 |     contains: [a]
                  |     ^^^^^^^^
              note: KindLM ignores unknown keys, so nothing is checked
              help: move it under `expect.output`
              possible fix: comment it out
                "" -> "# "
            error[unknown-key]: unknown key `contains`
               10 |       contains: [b]
                  |       ^^^^^^^^
              note: KindLM ignores unknown keys, so nothing is checked
              help: move it under `output`
              fix: move it under `output`
                "contains: [b]" -> "output:\n        contains: [b]"
            error[unknown-key]: unknown key `tags`
               11 |       tags: [x]
                  |       ^^^^
              note: KindLM ignores unknown keys, so nothing is checked
              help: move it out of `expect`
              likely fix: move it out of `expect`
                "      tags: [x]" -> "    tags: [x]"
        "##]],
    );
}

#[test]
fn unknown_keys_elsewhere_are_warnings() {
    check_below(
        "timeout: 3\nassert: 1\ndefaults: { time_out_ms: 2000 }\ntests:\n  - { name: t, command: x, expect: {}, cmd: y }\n",
        expect![[r##"
            warning[unknown-key]: unknown key `timeout`
                4 | timeout: 3
                  | ^^^^^^^
              help: move it under `defaults`, as `timeoutMs`
              possible fix: comment it out
                "" -> "# "
            warning[unknown-key]: unknown key `assert`
                5 | assert: 1
                  | ^^^^^^
              help: use `providers`, `models`, `prompts`, `gates`, `compliance`, `trace` or `upload`, or remove it
              possible fix: comment it out
                "" -> "# "
            warning[unknown-key]: unknown key `time_out_ms`
                6 | defaults: { time_out_ms: 2000 }
                  |             ^^^^^^^^^^^
              help: rename it to `timeoutMs`
              fix: rename it to `timeoutMs`
                "time_out_ms" -> "timeoutMs"
            warning[unknown-key]: unknown key `cmd`
                8 |   - { name: t, command: x, expect: {}, cmd: y }
                  |                                        ^^^
              help: use `prompt`, `vars`, `models`, `repeat`, `tools`, `conversation`, `maxTurns`, `tags` or 1 other, or remove it
        "##]],
    );
}

#[test]
fn missing_fields_are_reported_at_their_owner() {
    check(
        "{}\n",
        expect![[r#"
            error[missing-field]: missing `kindlm`
                1 | {}
                  | ^^
              note: `kindlm`: format version, the number 1
              help: add `kindlm`
              fix: add `kindlm`
                "{}" -> "{ kindlm: 1 }"
            error[missing-field]: missing `project`
                1 | {}
                  | ^^
              note: `project`: project that the suite belongs to, for display only
              help: add `project`
              possible fix: add `project`
                "{}" -> "{ project: shop }"
            error[missing-field]: missing `suite`
                1 | {}
                  | ^^
              note: `suite`: name and description of the suite
              help: add `suite`
              possible fix: add `suite`
                "{}" -> "{ suite: { name: support-agent } }"
            error[missing-field]: missing `tests`
                1 | {}
                  | ^^
              note: `tests`: tests, run and reported in this order
              help: add `tests`
              possible fix: add `tests`
                "{}" -> "{ tests: [{ name: answers-about-refunds, command: \"python agent.py --input 'question'\", expect: {} }] }"
        "#]],
    );
    check_below(
        "providers:\n  openai: {}\nmodels:\n  - provider: openai\ntests:\n  - name: t\n    expect:\n      output:\n        format: json\n      latency: {}\n",
        expect![[r#"
            error[missing-field]: `openai` is missing `apiKeyEnv`
                5 |   openai: {}
                  |   ^^^^^^
              note: `apiKeyEnv`: name of the environment variable that holds the key, never the key itself
              help: add `apiKeyEnv`
              possible fix: add `apiKeyEnv`
                "{}" -> "{ apiKeyEnv: OPENAI_API_KEY }"
            error[missing-field]: missing `id`
                7 |   - provider: openai
                  |     ^^^^^^^^^^^^^^^^
              note: `id`: name of the model in this file, unique in the list
              help: add `id`
              possible fix: add `id`
                "" -> "id: small\n    "
            error[missing-field]: missing `model`
                7 |   - provider: openai
                  |     ^^^^^^^^^^^^^^^^
              note: `model`: name of the model at the provider
              help: add `model`
              possible fix: add `model`
                "" -> "\n    model: gpt-4o-mini"
            error[missing-field]: missing `command` or `prompt`
                9 |   - name: t
                  |     ^^^^^^^
              help: add one of them
              possible fix: add `command`
                "" -> "\n    command: \"python agent.py --input 'question'\""
              possible fix: add `prompt`
                "" -> "\n    prompt: refund"
            error[missing-field]: `output` is missing `schemaFile`
               11 |       output:
                  |       ^^^^^^
              note: `format: json` needs the JSON Schema that the output must match
              help: add `schemaFile`
              possible fix: add `schemaFile`
                "" -> "\n        schemaFile: schemas/answer.json"
            error[missing-field]: `latency` is missing `maxMs`
               13 |       latency: {}
                  |       ^^^^^^^
              note: `maxMs`: maximum duration in milliseconds, inclusive
              help: add `maxMs`
              possible fix: add `maxMs`
                "{}" -> "{ maxMs: 5000 }"
        "#]],
    );
}

#[test]
fn values_of_a_wrong_type_say_what_is_expected() {
    check(
        "kindlm: \"1\"\nproject: 5\nsuite: [s]\ngates:\ntests:\n  - name: t\n    command: x\n    repeat: \"3\"\n    skip: 1\n    vars: { n: 5, b: true }\n    expect:\n      output: { contains: refund, maxLength: 1.5 }\n      toolCalls: { tool: a }\n  - just text\n",
        expect![[r#"
            error[wrong-type]: expected the number `1` for `kindlm`, found the string `1`
                1 | kindlm: "1"
                  |         ^^^
              help: remove the quotes
              fix: remove the quotes
                "\"1\"" -> "1"
            error[wrong-type]: expected a string for `project`, found the number `5`
                2 | project: 5
                  |          ^
              help: put it in quotes
              fix: put it in quotes
                "5" -> "\"5\""
            error[wrong-type]: expected a mapping for `suite`, found a list
                3 | suite: [s]
                  |        ^^^
              help: write `{…}`
            error[wrong-type]: `gates` has no value
                4 | gates:
                  | ^^^^^
              help: write a mapping, or remove the key
            error[wrong-type]: expected an integer for `repeat`, found the string `3`
                8 |     repeat: "3"
                  |             ^^^
              help: remove the quotes
              fix: remove the quotes
                "\"3\"" -> "3"
            error[wrong-type]: expected `true` or `false` for `skip`, found the number `1`
                9 |     skip: 1
                  |           ^
            error[wrong-type]: expected a string for `n`, found the number `5`
               10 |     vars: { n: 5, b: true }
                  |                ^
              help: put it in quotes
              fix: put it in quotes
                "5" -> "\"5\""
            error[wrong-type]: expected a string for `b`, found the boolean `true`
               10 |     vars: { n: 5, b: true }
                  |                      ^^^^
              help: put it in quotes
              fix: put it in quotes
                "true" -> "\"true\""
            error[wrong-type]: expected a list of strings for `contains`, found the string `refund`
               12 |       output: { contains: refund, maxLength: 1.5 }
                  |                           ^^^^^^
              help: write `[refund]`
              fix: write `[refund]`
                "refund" -> "[refund]"
            error[wrong-type]: expected an integer for `maxLength`, found the number `1.5`
               12 |       output: { contains: refund, maxLength: 1.5 }
                  |                                              ^^^
            error[wrong-type]: expected a list of mappings for `toolCalls`, found a mapping
               13 |       toolCalls: { tool: a }
                  |                  ^^^^^^^^^^^
              help: write `[{ tool: a }]`
              fix: write `[{ tool: a }]`
                "{ tool: a }" -> "[{ tool: a }]"
            error[wrong-type]: expected a mapping, found the string `just text`
               14 |   - just text
                  |     ^^^^^^^^^
        "#]],
    );
    check(
        "- a\n",
        expect![[r#"
            error[wrong-type]: expected a mapping, found a list
                1 | - a
                  | ^^^
              help: begin the file with `kindlm: …`
        "#]],
    );
    check(
        "text\n",
        expect![[r#"
            error[wrong-type]: expected a mapping, found the string `text`
                1 | text
                  | ^^^^
              help: begin the file with `kindlm: …`
        "#]],
    );
    check(
        "",
        expect![[r#"
            error[missing-field]: the file is empty
                1 | 
                  | ^
              help: begin it with `kindlm: 1`
        "#]],
    );
}

#[test]
fn values_outside_of_their_bounds_name_the_bounds() {
    check_below(
        "gates: { passRateMin: 95, costMaxUsd: 0 }\ndefaults: { repeat: 0, timeoutMs: 10, concurrency: .inf }\ntests:\n  - { name: '', command: '', expect: { output: { format: jsn, maxLength: 0 } } }\n",
        expect![[r#"
            error[out-of-range]: `passRateMin` must be from 0 to 1, found the number `95`
                4 | gates: { passRateMin: 95, costMaxUsd: 0 }
                  |                       ^^
              help: write `0.95`
              likely fix: write `0.95`
                "95" -> "0.95"
            error[out-of-range]: `costMaxUsd` must be above 0, found the number `0`
                4 | gates: { passRateMin: 95, costMaxUsd: 0 }
                  |                                       ^
            error[out-of-range]: `repeat` must be from 1 to 100, found the number `0`
                5 | defaults: { repeat: 0, timeoutMs: 10, concurrency: .inf }
                  |                     ^
            error[out-of-range]: `timeoutMs` must be at least 1000, found the number `10`
                5 | defaults: { repeat: 0, timeoutMs: 10, concurrency: .inf }
                  |                                   ^^
            error[wrong-type]: expected an integer for `concurrency`, found the number `.inf`
                5 | defaults: { repeat: 0, timeoutMs: 10, concurrency: .inf }
                  |                                                    ^^^^
            error[out-of-range]: `name` must not be empty
                7 |   - { name: '', command: '', expect: { output: { format: jsn, maxLength: 0 } } }
                  |             ^^
            error[out-of-range]: `command` must not be empty
                7 |   - { name: '', command: '', expect: { output: { format: jsn, maxLength: 0 } } }
                  |                          ^^
            error[invalid-value]: `format` must be `text` or `json`, found the string `jsn`
                7 |   - { name: '', command: '', expect: { output: { format: jsn, maxLength: 0 } } }
                  |                                                          ^^^
              help: change it to `json`
              likely fix: change it to `json`
                "jsn" -> "json"
            error[out-of-range]: `maxLength` must be at least 1, found the number `0`
                7 |   - { name: '', command: '', expect: { output: { format: jsn, maxLength: 0 } } }
                  |                                                                          ^
        "#]],
    );
    check_below(
        "tests: []\nproviders: { mcp: { serverUrl: example, toolName: t } }\n",
        expect![[r#"
            error[out-of-range]: `tests` must not be empty
                4 | tests: []
                  |        ^^
              help: add an item
            error[invalid-value]: `example` is not a valid URL
                5 | providers: { mcp: { serverUrl: example, toolName: t } }
                  |                                ^^^^^^^
              help: begin it with a scheme, such as `https://`
        "#]],
    );
}

#[test]
fn command_and_prompt_exclude_each_other() {
    check_below(
        "tests:\n  - { name: t, command: x, prompt: p, expect: {} }\n",
        expect![[r#"
            error[conflicting-fields]: `command` and `prompt` are mutually exclusive
                5 |   - { name: t, command: x, prompt: p, expect: {} }
                  |                            ^^^^^^
              also: `command` is here
                5 |   - { name: t, command: x, prompt: p, expect: {} }
                  |                ^^^^^^^
              help: keep one of them
        "#]],
    );
}

#[test]
fn merge_keys_are_not_applied() {
    check_below(
        "tests:\n  - &t { name: t, command: x, expect: {} }\n  - <<: *t\n    name: u\n    command: x\n    expect: {}\n",
        expect![[r#"
            warning[unknown-key]: unknown key `<<`
                6 |   - <<: *t
                  |     ^^
              note: KindLM does not apply merge keys here
              help: write the keys out
        "#]],
    );
}

#[test]
fn problems_behind_an_alias_are_reported_at_the_alias() {
    check_below(
        "tests:\n  - { name: t, command: x, expect: &e { outptu: {} } }\n  - { name: u, command: x, expect: *e }\n  - { name: v, command: x, expect: *f }\n",
        expect![[r#"
            error[unknown-key]: unknown key `outptu`
                5 |   - { name: t, command: x, expect: &e { outptu: {} } }
                  |                                         ^^^^^^
              note: KindLM ignores unknown keys, so nothing is checked
              help: rename it to `output`
              fix: rename it to `output`
                "outptu" -> "output"
            error[unknown-key]: unknown key `outptu`
                6 |   - { name: u, command: x, expect: *e }
                  |                                    ^^
              note: KindLM ignores unknown keys, so nothing is checked
              help: rename it to `output`
        "#]],
    );
}

#[test]
fn settings_have_problems_of_their_own() {
    let text = "severity: { unknown-kye: off, unused: loud }\nlimit: {}\n";
    let document = Document::read(text, ScalarRules::Yaml12);
    expect![[r#"
        warning[invalid-setting]: unknown key `unknown-kye`
            1 | severity: { unknown-kye: off, unused: loud }
              |             ^^^^^^^^^^^
          help: rename it to `unknown-key`
          fix: rename it to `unknown-key`
            "unknown-kye" -> "unknown-key"
        warning[invalid-setting]: `unused` must be `"off"`, `hint`, `information`, `warning` or `error`, found the string `loud`
            1 | severity: { unknown-kye: off, unused: loud }
              |                                       ^^^^
        warning[invalid-setting]: unknown key `limit`
            2 | limit: {}
              | ^^^^^
          help: rename it to `limits`
          fix: rename it to `limits`
            "limit" -> "limits"
    "#]].assert_eq(&common::render(text, &validate(&document, SpecFile::SETTINGS)));
}

/// Every fix removes its problem, and leaves YAML.
#[test]
fn fixes_remove_their_problems() {
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
        let problems = |text: &str| validate(&Document::read(text, ScalarRules::Yaml12), SpecFile::KINDLM);
        let before = problems(&text);
        assert!(before.iter().any(|problem| !problem.fixes.is_empty()), "{text}");
        for problem in &before {
            for fix in &problem.fixes {
                let after = replaced(&text, &fix.edits);
                let left = problems(&after);
                assert!(
                    !left.iter().any(|other| (other.code, &other.at) == (problem.code, &problem.at))
                        && Document::read(&after, ScalarRules::Yaml12).faults().is_empty(),
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
    let problems = validate_node(node, Definition::item(SpecFile::KINDLM, "tests").unwrap());
    let at: Vec<_> = problems.iter().map(|problem| problem.at.as_str()).collect();
    assert_eq!(at, ["/comand"]);
}

#[test]
fn numbers_that_are_not_numbers() {
    check_below(
        "tests:\n  - name: .nan\n    command: x\n    vars: {a: .NaN}\n    expect: {output: {contains: [.nan], maxLength: .inf}, latency: {maxMs: .nan}, toolCalls: [{tool: t, argsMatch: {a: .nan}}]}\n",
        expect![[r#"
            error[wrong-type]: expected a name for `name`, found the number `.nan`
                5 |   - name: .nan
                  |           ^^^^
              help: put it in quotes
              fix: put it in quotes
                ".nan" -> "\".nan\""
            error[wrong-type]: expected a string for `a`, found the number `.NaN`
                7 |     vars: {a: .NaN}
                  |               ^^^^
              help: put it in quotes
              fix: put it in quotes
                ".NaN" -> "\".NaN\""
            error[wrong-type]: expected a string, found the number `.nan`
                8 |     expect: {output: {contains: [.nan], maxLength: .inf}, latency: {maxMs: .nan}, toolCalls: [{tool: t, argsMatch: {a: .nan}}]}
                  |                                  ^^^^
              help: put it in quotes
              fix: put it in quotes
                ".nan" -> "\".nan\""
            error[wrong-type]: expected an integer for `maxLength`, found the number `.inf`
                8 |     expect: {output: {contains: [.nan], maxLength: .inf}, latency: {maxMs: .nan}, toolCalls: [{tool: t, argsMatch: {a: .nan}}]}
                  |                                                    ^^^^
            error[wrong-type]: expected a number for `maxMs`, found the number `.nan`
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
            error[out-of-range]: `schemaFailuresMax` must be at most 9007199254740991, found the number `10000000000000000000`
                4 | gates: {schemaFailuresMax: 10000000000000000000}
                  |                            ^^^^^^^^^^^^^^^^^^^^
            error[out-of-range]: `timeoutMs` must be at most 9007199254740991, found the number `1e300`
                5 | defaults: {timeoutMs: 1e300}
                  |                       ^^^^^
            error[out-of-range]: `maxLength` must be at most 9007199254740991, found the number `9007199254740992`
                9 |     expect: {output: {maxLength: 9007199254740992}, toolCalls: [{tool: t, order: .inf}]}
                  |                                  ^^^^^^^^^^^^^^^^
            error[wrong-type]: expected an integer for `order`, found the number `.inf`
                9 |     expect: {output: {maxLength: 9007199254740992}, toolCalls: [{tool: t, order: .inf}]}
                  |                                                                                  ^^^^
        "#]],
    );
}

/// `argsSchemaResolved` is where the original keeps the schema that `argsSchema` names, and it is in its schema.
#[test]
fn what_the_original_drops_or_overwrites() {
    check_below(
        "<<: {a: 1}\ntests:\n  - name: a\n    command: x\n    expect: {toolCalls: [{tool: t, argsSchema: s.json, argsSchemaResolved: {}}, {tool: t, argsSchemaResolved: {}}], <<: {a: 1}}\n",
        expect![[r#"
            warning[unknown-key]: unknown key `<<`
                4 | <<: {a: 1}
                  | ^^
              note: KindLM does not apply merge keys here
              help: write the keys out
            warning[unknown-key]: `argsSchemaResolved` has no effect with `argsSchema`
                8 |     expect: {toolCalls: [{tool: t, argsSchema: s.json, argsSchemaResolved: {}}, {tool: t, argsSchemaResolved: {}}], <<: {a: 1}}
                  |                                                        ^^^^^^^^^^^^^^^^^^
              help: remove it
            error[unknown-key]: unknown key `argsSchemaResolved`
                8 |     expect: {toolCalls: [{tool: t, argsSchema: s.json, argsSchemaResolved: {}}, {tool: t, argsSchemaResolved: {}}], <<: {a: 1}}
                  |                                                                                           ^^^^^^^^^^^^^^^^^^
              note: KindLM ignores unknown keys, so nothing is checked
              help: use `shouldNotCall`, `argsMatch`, `argsSchema` or `order`, or remove it
            error[unknown-key]: unknown key `<<`
                8 |     expect: {toolCalls: [{tool: t, argsSchema: s.json, argsSchemaResolved: {}}, {tool: t, argsSchemaResolved: {}}], <<: {a: 1}}
                  |                                                                                                                     ^^
              note: KindLM does not apply merge keys here
              help: write the keys out
        "#]],
    );
}

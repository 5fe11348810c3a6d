//! Every test shows the hover at `$0`, and its bytes.

mod models;

use std::collections::BTreeMap;
use std::sync::Arc;

use expect_test::{Expect, expect};
use speclens_schema::{
    dialect::kindlm::template::expand,
    format::Dialect,
    settings::{Price, Provider, Settings},
    suite::{Case, Needed},
};

use super::*;
use crate::ide::tests::fixture::Fixture;

#[track_caller]
fn check(fixture: &str, expected: Expect) {
    let fixture = Fixture::parse(fixture);
    let suite = suite(&fixture.document);
    let values = Values { files: &fixture.files, now: "2026-05-14T12:00:00Z" };
    let provider = Provider { base_url: Some("http://localhost:8000/v1".into()), ..Provider::default() };
    let settings = Settings {
        providers: [("local".to_owned(), provider)].into(),
        prices: [("local/qwen3".to_owned(), Price { input: 0.0, output: 0.5 })].into(),
        ..Settings::default()
    };
    let environment = |name: &str| ["GEMINI_API_KEY", "MY_KEY"].contains(&name).then(|| "planted-key".to_owned());
    let reach = Reach { settings: &Arc::new(settings), environment: &environment };
    let found = hover(&fixture.document, fixture.file, fixture.offset(), Some(&suite), values, reach);
    let shown = match found {
        None => "nothing\n".to_owned(),
        Some(hover) => format!("[{}]\n{}\n", &fixture.text()[hover.range], hover.markdown),
    };
    expected.assert_eq(&shown);
}

/// Returns a suite with the commands of the first test, which is all that hover needs.
fn suite(document: &Document) -> Suite {
    let at = Pointer::parse("/tests/0/command");
    let template = document.find(&at).and_then(NodeRef::text).unwrap_or_default().to_owned();
    let vars = document.find(&Pointer::parse("/tests/0/vars"));
    let variables: BTreeMap<String, String> = vars
        .into_iter()
        .flat_map(NodeRef::entries)
        .map(|entry| (entry.key.key_text(), entry.value.text().unwrap_or_default().to_owned()))
        .collect();
    let expanded = expand(&template, &variables);
    let action = CommandAction { at, template, variables, expanded, inputs: BTreeMap::new(), timeout_ms: 1000 };
    let case = Case {
        name: "a".to_owned(),
        at: Pointer::parse("/tests/0"),
        tags: Vec::new(),
        skip: false,
        repeat: 1,
        needed: Needed::All,
        action: Action::Command(action),
        claims: Vec::new(),
        intact: true,
        file: None,
    };
    Suite { cases: vec![Arc::new(case)], ..Suite::empty(Dialect::KINDLM) }
}

#[test]
fn a_key_has_its_page() {
    check(
        "tests:\n  - expect:\n      output:\n        max$0Length: 3\n",
        expect![[r#"
            [maxLength]
            **maxLength** · integer, at least 1

            Maximum length of the text in UTF-16 code units.

            Example: `400`
        "#]],
    );
    check(
        "tests:\n  - expect:\n      output:\n        format: js$0on\n",
        expect![[r#"
            [json]
            **json** · `schemaFile, contains?, notContains?, maxLength?`

            One JSON value that matches `schemaFile`.
        "#]],
    );
    check(
        "tests:\n  - expect:\n      output:\n        maxLength: $03\n",
        expect![[r#"
            [3]
            **maxLength** · integer, at least 1

            Maximum length of the text in UTF-16 code units.

            Example: `400`
        "#]],
    );
    check(
        "tests:\n  - $0nam: x\n",
        expect![[r#"
            [nam]
            **nam** · unknown key here: expected `name`, `command`, `prompt`, `vars`, `models`, `repeat`, `tools`, `conversation` or 4 others
        "#]],
    );
    check(
        "tests:\n  - vars: { $0a: x }\n",
        expect![[r#"
            [a]
            **a** · the value of `{{a}}`
        "#]],
    );
}

#[test]
fn a_command_is_shown_as_it_would_run() {
    check(
        "tests:\n  - command: ec$0ho '{{a}}'\n    vars: { a: b c }\n",
        expect![[r#"
            [echo '{{a}}']
            Runs

            ```sh
            echo 'b c'
            ```

            Inputs: none, because the command does not name a file of the workspace. List the files that it reads under `inputs` in `speclens.yaml`, so that changes to them make the recording stale.
        "#]],
    );
    check(
        "tests:\n  - command: ec$0ho '{{a}}' {{b}}\n    vars: { a: b c }\n",
        expect![[r#"
            [echo '{{a}}' {{b}}]
            This command cannot run: no value in `vars` for `b`

            ```sh
            echo '{{a}}' {{b}}
            ```
        "#]],
    );
}

#[test]
fn a_placeholder_has_its_value() {
    check(
        "tests:\n  - command: \"😀 {{$0a}}\"\n    vars: { a: b c }\n",
        expect![[r#"
        [{{a}}]
        **{{a}}** · `b c`
    "#]],
    );
    check(
        "tests:\n  - command: echo {{$0b}}\n",
        expect![[r#"
        [{{b}}]
        **{{b}}** · no value in `vars`, so the run would end with an error
    "#]],
    );
    check(
        "tests:\n  - command: |\n      echo\n      echo {{env$0.b}}\n",
        expect![[r#"
        [{{env.b}}]
        **{{env.b}}** · not expanded: names that begin with `env.` are left unchanged
    "#]],
    );
    check(
        "prompts:\n  p: { user: \"{{a$0}}\" }\ntests:\n  - { name: first, prompt: p, vars: { a: x } }\n  - { prompt: p, vars: { a: y } }\n",
        expect![[r#"
            [{{a}}]
            **{{a}}** · set by tests:

            - first: `x`
            - `y`
        "#]],
    );
}

#[test]
fn a_reference_shows_what_it_refers_to() {
    check(
        "models:\n  - id: small\n    provider: openai\n    model: m\ntests:\n  - models: [sma$0ll]\n",
        expect![[r#"
        [small]
        **small** · model, line 2

        ```yaml
        id: small
        provider: openai
        model: m
        ```
    "#]],
    );
    check(
        "prompts:\n  ask:\n    user: x\ntests:\n  - prompt: a$0sk\n",
        expect![[r#"
        [ask]
        **ask** · prompt, line 3

        ```yaml
        user: x
        ```
    "#]],
    );
    check(
        "models:\n  - provider: oll$0ama\n",
        expect![[r#"
            [ollama]
            **ollama** · Local models, served by Ollama.
        "#]],
    );
    check(
        "tests:\n  - prompt: n$0one\n",
        expect![[r#"
        nothing
    "#]],
    );
}

#[test]
fn a_file_is_there_or_not() {
    let suite = "//- /kindlm.yaml\ntests:\n  - expect: { output: { schemaFile: ";
    check(
        &format!("{suite}a$0.json }} }}\n//- /a.json\n{{}}\n"),
        expect![[r#"
            [a.json]
            `a.json` · file in the suite's directory, 3 bytes
        "#]],
    );
    check(
        &format!("{suite}b$0.json }} }}\n//- /a.json\n{{}}\n"),
        expect![[r#"
        [b.json]
        `b.json` · no such file in the suite's directory
    "#]],
    );
}

#[test]
fn paths_of_other_formats_lead_somewhere_too() {
    let suite = "//- /cli-bench.yaml\nscaffold: fix$1tures\ntasks:\n  - file://t/$2*.yaml\n  - file://t/$3a.yaml\n";
    for cursor in ["$1", "$2", "$3"] {
        let text = ["$1", "$2", "$3"]
            .iter()
            .fold(suite.to_owned(), |text, mark| text.replace(mark, if *mark == cursor { "$0" } else { "" }));
        let expected = match cursor {
            "$1" => expect![[r#"
                [fixtures]
                `fixtures` · directory with 1 entry
            "#]],
            "$2" => expect![[r#"
                [file://t/*.yaml]
                `t/*.yaml`

                - `t/a.yaml`
            "#]],
            _ => expect![[r#"
                [file://t/a.yaml]
                `file://t/a.yaml` · file in the suite's directory, 3 bytes
            "#]],
        };
        check(&format!("{text}//- /t/a.yaml\n[]\n//- /fixtures/x\n"), expected);
    }
}

#[test]
fn names_that_the_format_fills_are_shown() {
    check(
        "//- /cli-bench.yaml\ntasks:\n  - assert:\n      - verify: { run: \"test -s {{work$0dir}}/a\" }\n",
        expect![[r#"
            [{{workdir}}]
            **{{workdir}}** · The absolute path of the working directory. Its value is known only when the test runs.
        "#]],
    );
    check(
        "//- /cli-bench.yaml\ntasks:\n  - assert:\n      - verify:\n          run: |\n            test -s {{to$0day}}/a\n",
        expect![[r#"
            [{{today}}]
            **{{today}}** · has no value here; available: `workdir`
        "#]],
    );
}

#[test]
fn artifacts_of_a_run_are_looked_for_as_of_today() {
    let suite = "//- /clawspec-scenarios.yaml\nscenarios:\n  - name: a\n    then:\n      - type: artifact_exists\n        path: ";
    check(
        &format!("{suite}o$0ut/{{{{ today }}}}.md\n//- /out/2026-05-14.md\nx\n"),
        expect![[r#"
            [out/{{ today }}.md]
            `out/{{ today }}.md`: now `out/2026-05-14.md` · file in the suite's directory, 2 bytes
        "#]],
    );
    check(
        &format!("{suite}\"out/{{{{ to$0day }}}}.md\"\n"),
        expect![[r#"
            [{{ today }}]
            **{{today}}** · The date in UTC, such as `2026-05-14`. Now `2026-05-14`.
        "#]],
    );
}

#[test]
fn patterns_are_explained_in_words() {
    check(
        "//- /cli-bench.yaml\ntasks:\n  - assert:\n      - ran: \"^git\\\\s+pu$0sh\"\n",
        expect![[r#"
        ["^git\\s+push"]
        - `^` at the beginning
        - `git` this text
        - `\s+` white space, once or more
        - `push` this text
    "#]],
    );
}

#[test]
fn defaults_of_the_file_are_shown_where_they_count() {
    check(
        "defaults: { repeat: 3 }\ntests:\n  - rep$0eat: 2\n",
        expect![[r#"
            [repeat]
            **repeat** · integer, 1 to 100

            Number of attempts, instead of `defaults.repeat`.

            A test passes if all of its attempts pass.

            Example: `3`

            Defaults to `3` from `defaults` in this file.
        "#]],
    );
    check(
        "defaults: { rep$0eat: 3 }\n",
        expect![[r#"
            [repeat]
            **repeat** · integer, 1 to 100 · default `1`

            Number of attempts per test.
        "#]],
    );
}

#[test]
fn a_code_in_an_allow_comment_has_its_page() {
    check(
        "# speclens: allow(syntax, un$0used)\nkindlm: 1\n",
        expect![[r#"
            [unused]
            **unused** · hint

            Something is defined but never used, or an `allow(…)` comment does not silence any problem.
        "#]],
    );
    check(
        "# speclens: al$0low(unused)\nkindlm: 1\n",
        expect![[r#"
        nothing
    "#]],
    );
}

#[test]
fn plain_text_says_nothing() {
    check(
        "tests:\n  - name: out$0put\n",
        expect![[r#"
        nothing
    "#]],
    );
    check(
        "prompts:\n  p:\n    user: |\n      the out$0put\n",
        expect![[r#"
        nothing
    "#]],
    );
    check(
        "# out$0put\nkindlm: 1\n",
        expect![[r#"
        nothing
    "#]],
    );
    check(
        "tests:\n  - expect: { output: { contains: [form$0at] } }\n",
        expect![[r#"
        nothing
    "#]],
    );
}

#[test]
fn a_damaged_document_answers_elsewhere() {
    check(
        "tests:\n  - name: \"a\n  - com$0mand: x\n    expect: {}\n",
        expect![[r#"
            [command]
            **command** · shell command · exactly one of `command` and `prompt` is required

            Shell command to run.

            The command runs with `sh -c` in the suite's directory, with the caller's environment and no input. `{{name}}`
            is replaced by a value from `vars`, without shell quoting. The exit code alone does not fail the test.

            ```yaml
            command: node agent.js --user {{user_id}}
            ```

            Its standard output is the text that `expect` checks. Lines that begin with `{"kindlm":` are events:
            `{"kindlm":"tool_call","name":"…","arguments":{…}}` and `{"kindlm":"output_json","data":…}`. A command that runs
            longer than `defaults.timeoutMs` is terminated.

            Example: `"python agent.py --input '{{question}}'"`
        "#]],
    );
}

#[test]
fn a_type_of_assertion_shows_what_it_takes() {
    let claim = "//- /clawspec-scenarios.yaml\nscenarios:\n  - then:\n      - type: tool_was_called\n        tool: x\n        log_path: y\n";
    check(
        &claim.replace("tool_was", "tool_$0was"),
        expect![[r#"
            [tool_was_called]
            **tool_was_called** · `tool, log_path?, run_id?`

            A tool was called in the run, according to the gateway log.

            ```yaml
            - type: tool_was_called
              tool: sessions_spawn
              log_path: /tmp/openclaw/openclaw-{{today}}.log
              run_id: "{{run_id}}"
            ```
        "#]],
    );
    check(
        &claim.replace("tool: x", "to$0ol: x"),
        expect![[r#"
            [tool]
            **tool** · string · required

            Exact name of the tool.

            Example: `sessions_spawn`
        "#]],
    );
    let settings = "//- /clawspec.yaml\ngateway_log_pattern: /var/oc-{date}.log\n";
    check(
        &format!("{}{settings}", claim.replace("log_path", "log$0_path")),
        expect![[r#"
            [log_path]
            **log_path** · path or pattern of files

            Path of the gateway log. Defaults to the configured one; ClawSpec requires this key.

            Example: `"/tmp/openclaw/openclaw-{{today}}.log"`

            Defaults to `/var/oc-{{today}}.log` from `clawspec.yaml`.
        "#]],
    );
    // Through a merge key, in brackets.
    let merged = "//- /clawspec-scenarios.yaml\nscenarios:\n  - then:\n      - &a { type: tool_was_called }\n";
    check(
        &format!("{merged}      - {{ <<: *a, to$0ol: x }}\n"),
        expect![[r#"
            [tool]
            **tool** · string · required

            Exact name of the tool.

            Example: `sessions_spawn`
        "#]],
    );
}

#[test]
fn a_field_that_depends_on_another_has_its_docs() {
    check(
        "tests:\n  - expect: { output: { format: json, schema$0File: a.json } }\n",
        expect![[r#"
            [schemaFile]
            **schemaFile** · path of a JSON Schema file · required

            JSON Schema file that the output must match.

            The path is relative to the suite's directory and must not lead out of it. The schema is read as draft-07. With
            `format: text`, it applies to the whole text as one string.

            ```yaml
            output:
              format: json
              schemaFile: schemas/answer.json
            ```

            Example: `schemas/answer.json`
        "#]],
    );
    check(
        "//- /cli-bench-tasks.yaml\n- id: a\n  assert:\n    - run_co$0unt: { pattern: x }\n",
        expect![[r#"
            [run_count]
            **run_count** · mapping

            `{ pattern, min?, max? }`

            Number of commands of the model that must match a pattern.

            The assertion counts commands, not matches within a command. Set `min`, `max` or both; the bounds are inclusive.
            Without a bound, the assertion cannot fail.

            ```yaml
            assert:
              - run_count:
                  pattern: "curl"
                  min: 2
                  max: 5
            ```
        "#]],
    );
    check(
        "//- /cli-bench.yaml\ntasks:\n  - assert: [{ exit$0_code: 0 }]\n",
        expect![[r#"
            [exit_code]
            **exit_code** · integer or string

            Exit code of the last command: `0` is success.

            Only the last command that the model ran counts. If it ran none, the assertion fails. 124 means that the command
            timed out, 126 and 127 that it could not be started, and 128 + *n* that signal *n* ended it.

            ```yaml
            assert:
              - exit_code: 0
            ```

            Add `exit_code: 0` to every task that is not about an error: no other assertion checks that the command succeeded.

            Example: `0`, `1`
        "#]],
    );
}

#[test]
fn setting_for_all_tasks_is_shown_at_task() {
    check(
        "//- /cli-bench.yaml\nrepeat: 4\ntasks:\n  - rep$0eat: 2\n",
        expect![[r#"
            [repeat]
            **repeat** · integer, 1 to 100

            Number of attempts with each model, instead of the suite's `repeat`.

            Example: `3`

            Defaults to `4` from this file.
        "#]],
    );
}

#[test]
fn alias_shows_its_value() {
    let suite = "tests:\n  - name: 😀\n    expect: &claims\n      output: { maxLength: 5 }\n  - name: b\n    expect: *cl$0aims\n";
    check(
        suite,
        expect![[r#"
            [*claims]
            **\*claims** · alias of line 4

            ```yaml
            output: { maxLength: 5 }
            ```
        "#]],
    );
    check(
        "tests:\n  - name: a\n    expect: *no$0ne\n",
        expect![[r#"
            [*none]
            **\*none** · `&none` is not defined before it
        "#]],
    );
    check(
        "//- /cli-bench.yaml\nproviders: [openai/gp$0t-4o]\n",
        expect![[r#"
            [openai/gpt-4o]
            **gpt-4o** · model of the provider `openai`

            Requests go to `api.openai.com` with the key in `OPENAI_API_KEY`, which is not set.

            One million tokens cost $2.5 (input) and $10 (output) (list price of 2026-03-21).
        "#]],
    );
}

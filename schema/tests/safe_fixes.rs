//! What the safe fixes make of every golden file: nothing that its author asserts is lost or emptied.

use crate::golden;

use std::collections::BTreeMap;

use speclens_schema::{
    analysis::Analyzer,
    document::{Document, NodeRef},
    faults,
    files::MemoryFiles,
    fixing::{Revealing, apply_fixes},
    json_schema::SpecFile,
    problem::{Code, Fix, Problem},
    settings::Settings,
};

use golden::Golden;

/// How many values and how many assertions a text has, and its values by their text.
#[derive(Default)]
struct Kept {
    assertions: usize,
    values: BTreeMap<String, usize>,
}

impl Kept {
    fn of(document: &Document) -> Kept {
        let mut kept = Kept::default();
        document.root().into_iter().for_each(|root| kept.walk(root));
        kept
    }

    fn walk(&mut self, node: NodeRef<'_>) {
        if node.alias().is_some() {
            return;
        }
        for entry in node.entries() {
            if matches!(&*entry.key.key_text(), "assert" | "then" | "given" | "expect" | "assertions") {
                self.assertions += entry.value.items().count() + entry.value.entries().count();
            }
            self.walk(entry.value);
        }
        if let Some(text) = node.text().filter(|_| !node.is_null()) {
            *self.values.entry(text.to_owned()).or_default() += 1;
        }
        node.items().for_each(|item| self.walk(item));
    }

    fn repeated(&self) -> usize {
        self.values.values().map(|count| count - 1).sum()
    }

    fn all(&self) -> usize {
        self.values.values().sum()
    }
}

#[test]
fn safe_fixes_lose_no_assertion_and_no_value() {
    let mut applied = 0;
    for golden in Golden::all() {
        let document = golden.document();
        if faults::problems(&document).iter().any(|problem| problem.code.is_about_reading()) {
            // What is not read has no values to compare.
            continue;
        }
        let safe = |problem: &Problem| problem.fixes.iter().any(|fix| fix.is_safe());
        let look = |document: &Document| golden.problems(document);
        let fixed = apply_fixes(
            &document,
            &look,
            &|problem| problem.fixes.iter().find(|fix| fix.is_safe()),
            Revealing::Allowed,
        );
        applied += usize::from(look(&document).iter().any(safe));
        let (before, after) = (Kept::of(&document), Kept::of(&Document::read(&fixed.text, document.rules())));
        let path = golden.path.display();
        let titles: Vec<&str> = fixed.applied.iter().map(|applied| applied.title.as_str()).collect();
        // Only what is there twice may go.
        let least = before.values.len();
        assert!(after.all() >= least && after.all() + before.repeated() >= before.all(), "{path}: {titles:?}");
        assert!(after.assertions + before.repeated() >= before.assertions, "{path}: assertions are lost: {titles:?}");
        let vacuous = |problems: &[Problem]| problems.iter().filter(|it| it.code == Code::VacuousClaim).count();
        let (had, has) = (vacuous(&look(&document)), vacuous(&fixed.left));
        assert!(has <= had, "{path}: {had} vacuous claims became {has}: {titles:?}");
    }
    assert!(applied > 20, "only {applied} files have safe fixes");
}

/// Texts that could be mended in two ways, one of which says something else: a person chooses.
#[test]
fn ambiguous_texts_are_not_fixed_unseen() {
    let clawspec = |then: &str| {
        let log = "      - {type: file_present, path: out/a.md}";
        format!(
            "version: \"1.0\"\ntarget: {{type: skill, path: skills/a, trigger: /a}}\nscenarios:\n  - name: one\n    \
             tags: [negative]\n    when: {{invoke: /a}}\n    then:\n{log}\n      - {then}\n"
        )
    };
    let kindlm = |expect: &str| {
        format!(
            "kindlm: 1\nproject: p\nsuite: {{name: s}}\ntests:\n  - name: t\n    command: x\n    expect: {expect}\n"
        )
    };
    let cli_bench = |assert: &str| {
        format!(
            "cli: git\nversion_command: git --version\nproviders: [openai/gpt-4o]\ntasks:\n  - id: a\n    intent: Find \
             the changed files of the last commit.\n    assert:\n      - {assert}\n      - exit_code: 0\n"
        )
    };
    let log = "log_path: l, run_id: '{{run_id}}'";
    let cases = [
        (SpecFile::KINDLM, kindlm("{toolCalls: [{tool: a, shouldNowCall: true}]}")),
        (SpecFile::KINDLM, kindlm("{output: {nContains: [a]}}")),
        (SpecFile::KINDLM, kindlm("{output: {icontains: [a]}}")),
        (SpecFile::KINDLM, kindlm("{output: {notContains: \"a, b\"}}")),
        (SpecFile::KINDLM, kindlm("{latency: {maxS: 3}}")),
        (SpecFile::CLI_BENCH, cli_bench("run: npm publish")),
        (SpecFile::CLI_BENCH, cli_bench("file_nexists: secret.txt")),
        (SpecFile::CLI_BENCH, cli_bench("nran: git push")),
        (SpecFile::CLI_BENCH, cli_bench("verify: !grep a b")),
        (SpecFile::CLI_BENCH, cli_bench("output_contains: | Hello\n          there")),
        (SpecFile::CLI_BENCH, cli_bench("output_contains: |hello")),
        (SpecFile::CLI_BENCH, cli_bench("not_ran: |\n          git push")),
        (SpecFile::CLI_BENCH, cli_bench("output_contains: !important text")),
        (SpecFile::CLI_BENCH, cli_bench("file_exists: a.txt") + "    - ran: git\n"),
        (SpecFile::CLI_BENCH, cli_bench("file_exists: a.txt") + "  - ran: git\n"),
        (SpecFile::CLAWSPEC_SCENARIOS, clawspec("type: file_present: b")),
        (
            SpecFile::CLAWSPEC_SCENARIOS,
            clawspec("{type: file_present, path: b}").replace("then:", "then: &then")
                + "    assertions:\n      - {type: file_present, path: c}\n  - name: two\n    when: {invoke: /b}\n    then: *then\n",
        ),
        (SpecFile::CLAWSPEC_SCENARIOS, clawspec("{type: file_exists, path: a, expected: false}")),
        (SpecFile::CLAWSPEC_SCENARIOS, clawspec("{type: file_exists, path: a, updated_after: '{{run_started_at}}'}")),
        (SpecFile::CLAWSPEC_SCENARIOS, clawspec(&format!("{{type: tool_called, tool: a, negate: true, {log}}}"))),
        (SpecFile::CLAWSPEC_SCENARIOS, clawspec("{type: artifact_absent, path: a, words: [b]}")),
        (SpecFile::CLAWSPEC_SCENARIOS, clawspec("{type: file_not_present, path: '~/x.md'}")),
        (SpecFile::CLAWSPEC_SCENARIOS, clawspec("{type: file_not_present, path: 'out/{a,b}.md'}")),
        (SpecFile::CLAWSPEC_SCENARIOS, clawspec("{type: log_contains, path: a, pattern: 'ok?'}")),
        (SpecFile::CLAWSPEC_SCENARIOS, clawspec("{type: tool_not_called, tool: mail.send, log: /tmp/z.log}")),
        (SpecFile::CLAWSPEC_SCENARIOS, clawspec(&format!("{{type: tool_not_called, name: must not send, {log}}}"))),
        (SpecFile::CLAWSPEC_SCENARIOS, clawspec("{type: artifact_absent_words, path: a, words: 'foo, bar'}")),
        (SpecFile::CLAWSPEC_SCENARIOS, clawspec("&d {type: state_file, path: a, fields: {a: 1}}")),
    ];
    assert_no_safe_fix(cases);
}

/// Fails for each text that has a safe fix, and for each in which nothing is wrong.
#[track_caller]
fn assert_no_safe_fix(cases: impl IntoIterator<Item = (SpecFile, String)>) {
    assert_no_fix(cases, Fix::is_safe);
}

#[track_caller]
fn assert_no_fix(cases: impl IntoIterator<Item = (SpecFile, String)>, is_wrong: fn(&Fix) -> bool) {
    let mut wrong = String::new();
    for (file, text) in cases {
        for text in [text.clone(), text.replace('\n', "\r\n")] {
            let analyzer = Analyzer::new(file);
            let look = |document: &Document| analyzer.problems(document, &MemoryFiles::default(), &Settings::default());
            let document = Document::read(&text, file.scalar_rules());
            if look(&document).is_empty() {
                wrong.push_str(&format!("nothing is reported\n{text}\n"));
            }
            let safe = |problem: &Problem| {
                let fixes = problem.fixes.iter().filter(|fix| is_wrong(fix));
                fixes.map(|fix| (problem.message.clone(), fix.title.clone())).collect::<Vec<_>>()
            };
            let unseen: Vec<(String, String)> = look(&document).iter().flat_map(safe).collect();
            if !unseen.is_empty() {
                wrong.push_str(&format!("{unseen:?}\n{text}\n"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn cli_bench_assert(assert: &str) -> (SpecFile, String) {
    let text = format!(
        "cli: git\nversion_command: git --version\nproviders: [openai/gpt-4o]\ntasks:\n  - id: a\n    intent: Find \
         the changed files of the last commit.\n    assert:\n      - exit_code: 0\n      - {}\n",
        assert.replace('\n', "\n      - ")
    );
    (SpecFile::CLI_BENCH, text)
}

fn cli_bench_top(line: &str) -> (SpecFile, String) {
    let text = format!(
        "cli: git\nversion_command: git --version\nproviders: [openai/gpt-4o]\n{line}\ntasks:\n  - id: a\n    \
         intent: Find the changed files of the last commit.\n    assert:\n      - exit_code: 0\n"
    );
    (SpecFile::CLI_BENCH, text)
}

fn kindlm_test(expect: &str) -> (SpecFile, String) {
    let text =
        format!("kindlm: 1\nproject: p\nsuite: {{name: s}}\ntests:\n  - name: t\n    command: x\n    {expect}\n");
    (SpecFile::KINDLM, text)
}

fn clawspec_scenario(member: &str) -> (SpecFile, String) {
    let text = format!(
        "version: \"1.0\"\ntarget: {{type: skill, path: skills/a, trigger: /a}}\nscenarios:\n  - name: one\n    \
         {member}\n    when: {{invoke: /a}}\n    then:\n      - {{type: file_present, path: out/a.md}}\n"
    );
    (SpecFile::CLAWSPEC_SCENARIOS, text)
}

fn clawspec_then(then: &str) -> (SpecFile, String) {
    let (file, text) = clawspec_scenario("tags: [negative]");
    (file, format!("{text}      - {then}\n"))
}

#[test]
fn assertions_are_not_removed_as_duplicates() {
    let cases = [
        "file_exists: *.txt\nfile_exists: *.md",
        "output_contains: # Title\noutput_contains: ## Usage",
        "output_contains: [a\noutput_contains: [b",
        "output_contains: 1\noutput_contains: 1.0\noutput_contains: 01",
        r#"output_contains: "a\d\n"
output_contains: "C:\Users\temp""#,
        "ran: git\nran: git # TODO: should be svn",
        "ran: git\nran: 'git' # svn",
        "ran:\nran:",
        "ran: ''\nran: ''",
        "exit_code: 0 # was 1",
        "ran: 1\nran: 1",
        "not_output_contains: error\nnot_output_contains: error",
        "output_contains: a\noutput_contains: a",
    ];
    assert_no_fix(cases.map(cli_bench_assert), |fix| fix.is_safe() && fix.title == "remove it");
}

/// A person knows whether the quotes belong to the text, and whether a comma or an item is missing.
#[test]
fn quotes_and_commas_that_may_be_meant_in_several_ways_are_not_changed() {
    let commands = ["'a' 'b' 'c'", "\"a\", \"b\"", "'the users' file'", "'it's a", "\"a\"\"b\"", "\"a\\n\" b"];
    let commands = commands.map(|command| {
        let (file, text) = kindlm_test("expect: {output: {contains: [a]}}");
        (file, text.replace("command: x", &format!("command: {command}")))
    });
    let lists = ["[\"a\"\"b\"]", "['a' 'b']", "[a,, b]"];
    let lists = lists.map(|list| kindlm_test(&format!("expect: {{output: {{contains: {list}}}}}")));
    assert_no_safe_fix(commands.into_iter().chain(lists));
}

/// Text that the author did not mean is removed only by the author.
#[test]
fn commas_dashes_and_colons_that_may_be_meant_stay() {
    let commas = ["tags: [a],", "command: \"x\",", "repeat: 3,", "tags: [\n      a\n    ],"];
    let commas = commas.map(|line| {
        let (file, text) = kindlm_test("expect: {output: {contains: [a]}}");
        (file, text.replace("command: x", line))
    });
    let lists = ["contains:\n          -v", "contains:\n          -v\n          -x", "contains: [*n text]"];
    let lists = lists.map(|list| {
        let (file, text) = kindlm_test(&format!("expect:\n      output:\n        {list}"));
        (file, text.replace("name: t", "name: &n t"))
    });
    let (file, text) = kindlm_test("expect: {output: {contains: [a]}}\n    vars:\n      *n: b");
    let alias = (file, text.replace("name: t", "name: &n t"));
    let wrapped = "tasks:\n  - id: a\n    intent: Find the changed files of the last commit.\n    assert:\n      - exit_code: 0\n";
    let wrapped = (SpecFile::CLI_BENCH_TASKS, wrapped.to_owned());
    assert_no_safe_fix(commas.into_iter().chain(lists).chain([alias, wrapped]));
}

/// The tag would stay, and the value in quotes would be as wrong.
#[test]
fn values_that_a_fix_would_leave_invalid_have_no_safe_fix() {
    let times = ["2026-3-1 1:00:00 -5", "2026-03-11T10:00:00.5+1", "2026-02-30"];
    let times = times.map(|time| clawspec_then(&format!("{{type: artifact_exists, path: a, updated_after: {time}}}")));
    let tagged = clawspec_scenario("tags: !!str negative");
    let vars = clawspec_then("{type: env_present, vars: !!str HOME}");
    assert_no_safe_fix(times.into_iter().chain([tagged, vars, cli_bench_top("upload: no")]));
}

#[test]
fn texts_that_may_deny_a_call_are_not_taken_as_calls() {
    let cases =
        ["none", "\"!lookup\"", "not x", "no x", "lookup then send", "[none]", "['!lookup']", "[no x]", "[not x]"];
    let judge = kindlm_test("expect: {judge: none}");
    let calls = cases.map(|calls| kindlm_test(&format!("expect: {{toolCalls: {calls}}}")));
    assert_no_safe_fix(calls.into_iter().chain([judge]));
}

#[test]
fn lists_of_texts_are_not_split_into_assertions_that_must_all_hold() {
    let cases = ["ran: [a, b]", "not_ran: [a, b]", "output_equals: [a, b]"];
    assert_no_safe_fix(cases.map(cli_bench_assert));
}

#[test]
fn texts_of_several_words_are_not_made_a_list_of_one() {
    let log = "log_path: l, run_id: '{{run_id}}'";
    let clawspec = [
        format!("{{type: tool_not_permitted, allowed_tools: bash read, {log}}}"),
        format!("{{type: tool_sequence, expected: a > b, {log}}}"),
        "{type: tool_sequence, expected: a -> b}".to_owned(),
        "{type: tool_sequence, expected: a then b}".to_owned(),
        "{type: tool_sequence, tools: a>b}".to_owned(),
        "{type: delegation_path, path: a > b}".to_owned(),
        "{type: env_present, vars: A B}".to_owned(),
        "{type: env_present, vars: 'A,B'}".to_owned(),
        "{type: env_present, vars: $A}".to_owned(),
        "{type: env_present, var: A B}".to_owned(),
        "{type: env_present, name: 'A;B'}".to_owned(),
        "{type: artifact_absent_words, path: a, words: foo bar}".to_owned(),
        "{type: artifact_absent_words, path: a, word: foo bar}".to_owned(),
    ];
    let scenarios = ["tags: smoke negative", "tags: smoke|negative"].map(clawspec_scenario);
    let tests = ["models: m other", "models: all", "tags: a b"].map(|line| {
        let (file, text) = kindlm_test(line);
        (file, text.replace("suite:", "models: [{id: m, provider: openai, model: m}]\nsuite:"))
    });
    assert_no_safe_fix(clawspec.iter().map(|then| clawspec_then(then)).chain(scenarios).chain(tests));
}

#[test]
fn numbers_whose_unit_or_scale_is_unknown_are_not_changed() {
    let bounds = ["expect: {latency: 5}", "expect: {cost: 5}"].map(kindlm_test);
    let judge = |member: &str| clawspec_then(&format!("{{type: llm_judge, path: a, rubric: b, {member}}}"));
    let judges = ["threshold: 0.8", "threshold: 80%", "threshold: 8", "pass_threshold: 80%"].map(judge);
    let tops = ["threshold: 80", "threshold: 0.8", "models: [openai/gpt-4o]", "models: []"].map(cli_bench_top);
    assert_no_safe_fix(bounds.into_iter().chain(judges).chain(tops));
}

#[test]
fn fixes_that_lead_to_another_problem_are_not_safe() {
    let log = "log_path: l, run_id: '{{run_id}}'";
    let then = [
        format!("{{type: tool_not_permitted, tool: [a, b], {log}}}"),
        "{type: state_file, path: a, expected_field: text}".to_owned(),
        "{type: state_file, path: a, fields: text}".to_owned(),
        "{type: env_set, vars: [A]}".to_owned(),
        "{type: env_set, var: A}".to_owned(),
        format!("{{type: delegation_occurred, to: b, agent: c, {log}}}"),
        "{type: artifact_contains, path: a.md, sections: ['# Title']}".to_owned(),
        "{type: not file_present, path: a}".to_owned(),
        "{type: '!file_present', path: a}".to_owned(),
        "{type: file_present, path: a, not: {path: b}}".to_owned(),
    ];
    let expect = ["{guardrails: {deny: ['a.b', 'c*']}}", "{guardrails: {deny: [a+b]}}"];
    let mapping = ["pattern: git\n        min: 1", "pattern: git\n        max: 1"];
    let tasks = "cli: git\nversion_command: git --version\nproviders: [openai/gpt-4o]\ntasks: [file:/abs/path.yaml]\n";
    let cases = then.iter().map(|then| clawspec_then(then));
    let cases = cases.chain(expect.map(|expect| kindlm_test(&format!("expect: {expect}"))));
    let cases = cases.chain(mapping.map(|fields| {
        let (file, text) = cli_bench_assert("FIELDS");
        (file, text.replace("FIELDS", fields))
    }));
    assert_no_safe_fix(cases.chain([(SpecFile::CLI_BENCH, tasks.to_owned())]));
}

/// One of the two would keep its name, or be lost.
#[test]
fn two_keys_for_one_name_are_not_renamed() {
    assert_no_safe_fix([
        clawspec_then("{type: file_present, paht: a, pahth: b}"),
        clawspec_then("{type: llm_call_count, at_most: 3, max_calls: 5}"),
        kindlm_test("expect: {output: {contians: [a], contain: [b]}}"),
    ]);
}

#[test]
fn repeated_keys_are_not_removed() {
    let repeated = |second: &str| {
        let (file, text) = cli_bench_assert("ran: a");
        (file, text.replace("    intent:", &format!("    category: 1\n    category: {second}\n    intent:")))
    };
    let cases = ["1", "1 # two", "1.0", "01"].map(repeated);
    assert_no_fix(cases, |fix| fix.is_safe() && fix.title == "remove the duplicate");
}

#[test]
fn dashes_that_are_none_of_yaml_are_not_taken_as_names() {
    assert_no_safe_fix(["– ran: a", "- ran: a\n      – not_ran: b"].map(|items| {
        let (file, text) = cli_bench_assert("ITEMS");
        (file, text.replace("- ITEMS", items))
    }));
}

#[test]
fn suggestions_keep_the_sense_the_unit_and_no_secret() {
    let cases = [
        clawspec_then("{type: '!file_present', path: a}"),
        clawspec_then("{type: not file_present, path: a}"),
        clawspec_then("{type: file_present, path: a, not: {path: b}}"),
        clawspec_then("{type: file_present, path: a, negate: true}"),
        clawspec_then("{type: file_present, path: a, expected: false}"),
        clawspec_then("{type: artifact_words, path: a, words: [x]}"),
        (SpecFile::CLAWSPEC, "model_pricing:\n  gpt: {input_per_1m: 5, output_per_1k: 10}\n".to_owned()),
        (
            SpecFile::KINDLM,
            kindlm_test("expect: {output: {contains: [a]}}")
                .1
                .replace("tests:", "providers: {openai: {apiKey: sk-abcdefghijklmnop}}\ntests:"),
        ),
    ];
    assert_no_fix(cases, |fix| !fix.is_comment);
}

/// What an author negates is to be checked by the type, or the key, that checks the opposite.
#[test]
fn negated_assertions_are_led_to_the_opposite() {
    let helps = |(file, text): (SpecFile, String)| {
        let document = Document::read(&text, file.scalar_rules());
        let problems = Analyzer::new(file).problems(&document, &MemoryFiles::default(), &Settings::default());
        problems.into_iter().filter_map(|problem| problem.help).collect::<Vec<String>>()
    };
    for (then, help) in [
        ("{type: '!file_present', path: a}", "use `file_absent`"),
        ("{type: not file_present, path: a}", "use `file_absent`"),
        ("{type: file_present, path: a, negate: true}", "use `file_absent`, which checks the opposite"),
        ("{type: file_present, path: a, not: {path: b}}", "use `file_absent`, which checks the opposite"),
        ("{type: file_present, path: a, expected: false}", "use `file_absent`, which checks the opposite"),
        ("{type: log_entry, path: a, pattern: b, negate: true}", "write `absent: true`"),
    ] {
        let found = helps(clawspec_then(then));
        assert!(found.iter().any(|it| it == help), "{then}: {found:?}");
    }
    for key in ["notRan", "not-ran", "NotRan"] {
        let found = helps(cli_bench_assert(&format!("{key}: a")));
        assert!(found.iter().any(|it| it == "rename it to `not_ran`"), "{key}: {found:?}");
    }
    let (file, text) = cli_bench_assert("ran: a");
    let document = Document::read(&format!("{text}    assertions:\n      - exit_code: 1\n"), file.scalar_rules());
    let problems = Analyzer::new(file).problems(&document, &MemoryFiles::default(), &Settings::default());
    let notes: Vec<String> = problems.into_iter().filter_map(|problem| problem.note).collect();
    assert!(!notes.iter().any(|note| note.contains("opposite")), "{notes:?}");
}

#[test]
fn lines_that_are_moved_keep_their_line_ends() {
    let text = "kindlm: 1\nproject: p\nsuite: {name: s}\nproviders: {ollama: {}}\nprompts: {p: {user: u}}\nmodels:\n      - id: \
                local\n    provider: ollama\n    model: llama3.2\ntests:\n- {name: t, prompt: p, expect: {output: {contains: [a]}}}\n";
    let fixed = |text: &str| {
        let document = Document::read(text, SpecFile::KINDLM.scalar_rules());
        let look = |document: &Document| {
            Analyzer::new(SpecFile::KINDLM).problems(document, &MemoryFiles::default(), &Settings::default())
        };
        apply_fixes(&document, &look, &|problem| problem.fixes.first(), Revealing::Allowed).text
    };
    assert_ne!(fixed(text), text);
    assert_eq!(fixed(&text.replace('\n', "\r\n")), fixed(text).replace('\n', "\r\n"));
}

//! What the safe fixes make of every golden file: nothing that its author asserts is lost or emptied.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "common/golden.rs"]
mod golden;

use std::collections::BTreeMap;

use speclens_schema::{
    analysis::Analyzer,
    cure::{Revealing, cure},
    document::{Document, NodeRef},
    files::MemoryFiles,
    json_schema::SpecFile,
    problem::{Code, Problem},
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
        if document.problems().iter().any(|problem| problem.code.is_about_reading()) {
            // What is not read has no values to compare.
            continue;
        }
        let safe = |problem: &Problem| problem.fixes.iter().any(|fix| fix.is_safe());
        let look = |document: &Document| golden.problems(document);
        let cured =
            cure(&document, &look, &|problem| problem.fixes.iter().find(|fix| fix.is_safe()), Revealing::Allowed);
        applied += usize::from(look(&document).iter().any(safe));
        let (before, after) = (Kept::of(&document), Kept::of(&Document::read(&cured.text, document.rules())));
        let path = golden.path.display();
        let titles: Vec<&str> = cured.applied.iter().map(|applied| applied.title.as_str()).collect();
        // Only what is there twice may go.
        let least = before.values.len();
        assert!(after.all() >= least && after.all() + before.repeated() >= before.all(), "{path}: {titles:?}");
        assert!(after.assertions + before.repeated() >= before.assertions, "{path}: assertions are lost: {titles:?}");
        let vacuous = |problems: &[Problem]| problems.iter().filter(|it| it.code == Code::VacuousClaim).count();
        let (had, has) = (vacuous(&look(&document)), vacuous(&cured.left));
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
        (SpecFile::KindLm, kindlm("{toolCalls: [{tool: a, shouldNowCall: true}]}")),
        (SpecFile::KindLm, kindlm("{output: {nContains: [a]}}")),
        (SpecFile::KindLm, kindlm("{output: {icontains: [a]}}")),
        (SpecFile::KindLm, kindlm("{output: {notContains: \"a, b\"}}")),
        (SpecFile::KindLm, kindlm("{latency: {maxS: 3}}")),
        (SpecFile::CliBench, cli_bench("run: npm publish")),
        (SpecFile::CliBench, cli_bench("file_nexists: secret.txt")),
        (SpecFile::CliBench, cli_bench("nran: git push")),
        (SpecFile::CliBench, cli_bench("verify: !grep a b")),
        (SpecFile::CliBench, cli_bench("output_contains: | Hello\n          there")),
        (SpecFile::CliBench, cli_bench("output_contains: |hello")),
        (SpecFile::CliBench, cli_bench("not_ran: |\n          git push")),
        (SpecFile::CliBench, cli_bench("output_contains: !important text")),
        (SpecFile::CliBench, cli_bench("file_exists: a.txt") + "    - ran: git\n"),
        (SpecFile::CliBench, cli_bench("file_exists: a.txt") + "  - ran: git\n"),
        (SpecFile::ClawSpecScenarios, clawspec("type: file_present: b")),
        (
            SpecFile::ClawSpecScenarios,
            clawspec("{type: file_present, path: b}").replace("then:", "then: &then")
                + "    assertions:\n      - {type: file_present, path: c}\n  - name: two\n    when: {invoke: /b}\n    then: *then\n",
        ),
        (SpecFile::ClawSpecScenarios, clawspec("{type: file_exists, path: a, expected: false}")),
        (SpecFile::ClawSpecScenarios, clawspec("{type: file_exists, path: a, updated_after: '{{run_started_at}}'}")),
        (SpecFile::ClawSpecScenarios, clawspec(&format!("{{type: tool_called, tool: a, negate: true, {log}}}"))),
        (SpecFile::ClawSpecScenarios, clawspec("{type: artifact_absent, path: a, words: [b]}")),
        (SpecFile::ClawSpecScenarios, clawspec("{type: file_not_present, path: '~/x.md'}")),
        (SpecFile::ClawSpecScenarios, clawspec("{type: file_not_present, path: 'out/{a,b}.md'}")),
        (SpecFile::ClawSpecScenarios, clawspec("{type: log_contains, path: a, pattern: 'ok?'}")),
        (SpecFile::ClawSpecScenarios, clawspec("{type: tool_not_called, tool: mail.send, log: /tmp/z.log}")),
        (SpecFile::ClawSpecScenarios, clawspec(&format!("{{type: tool_not_called, name: must not send, {log}}}"))),
        (SpecFile::ClawSpecScenarios, clawspec("{type: artifact_absent_words, path: a, words: 'foo, bar'}")),
        (SpecFile::ClawSpecScenarios, clawspec("&d {type: state_file, path: a, fields: {a: 1}}")),
    ];
    for (file, text) in cases {
        let analyzer = Analyzer::new(file);
        let look = |document: &Document| analyzer.problems(document, &MemoryFiles::default(), &Settings::default());
        let document = Document::read(&text, file.scalar_rules());
        assert!(!look(&document).is_empty(), "{text}");
        let safe = |problem: &'_ Problem| problem.fixes.iter().find(|fix| fix.is_safe()).map(|fix| fix.title.clone());
        let unseen: Vec<String> = look(&document).iter().filter_map(safe).collect();
        assert!(unseen.is_empty(), "{unseen:?}\n{text}");
    }
}

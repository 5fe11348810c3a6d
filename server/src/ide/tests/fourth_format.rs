//! A made-up format that no other part of the program knows: its files are recognized, checked, completed, explained,
//! lowered and judged by the shared code. It consists of its implementation and its row in the table.

use std::sync::Arc;

use expect_test::{Expect, expect};
use serde_json::json;
use speclens_schema::{
    act::Act,
    analysis::Analyzer,
    document::{Document, NodeRef, Pointer, ScalarRules},
    evidence::{Capture, Ended, Evidence, Ran},
    files::{Files, Inputs, MemoryFiles},
    finding::{Finding, MessageParts, Report},
    format::{Dialect, Format, Lower},
    json_schema::{Cases, Empty, FileOwner, FilePatterns, Kind, SpecFile},
    judge::judge,
    kind::{Candidate, Detected, FileContext, Signs, Strength, detect},
    mask::Secrets,
    problem::Code,
    settings::Settings,
    suite::{Action, ActionKind, Case, Claim, CommandAction, Needed, Suite, written_cases},
    validate::Definition,
    verdict::{Check, Mismatch, Row, Status, Verdict},
};

use crate::ide::{completion::complete, hover::hover, models::Reach, symbols::workspace_symbols, values::Values};

/// Commands with their expected output.
struct Echo;

const ECHO: Dialect = Dialect::of(&Echo);

const FILE: SpecFile = SpecFile::of(&Kind {
    name: "echo",
    title: "echo checks",
    singular: "echo check file",
    names: FilePatterns::Perhaps(&["**/echo.yaml"]),
    signs: &EchoSigns,
    owner: FileOwner::Of(ECHO),
    cases: Cases::List("checks"),
    empty: Empty::Incomplete("begin it with `checks:`"),
    schema: |file| {
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": file.title(),
            "type": "object",
            "properties": {
                "checks": {
                    "description": "The checks.",
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "title": { "description": "Its name.", "type": "string", "x-defines": "checks" },
                            "run": { "description": "The command.", "type": "string" },
                            "says": { "description": "A part of what it writes.", "type": "string" },
                            "matches": { "description": "What it writes.", "type": "string", "x-pattern": "ecmascript" },
                            "input": { "description": "Read by it.", "type": "string", "x-file": "any", "x-exists": "" },
                            "least": { "description": "Lines.", "type": "integer", "x-at-most": "most" },
                            "most": { "description": "Lines.", "type": "integer" },
                            "after": { "description": "An earlier check.", "type": "string", "x-refers": "checks" },
                        },
                        "required": ["title", "run"],
                        "additionalProperties": false,
                    },
                },
            },
            "required": ["checks"],
            "additionalProperties": false,
        })
    },
    ..Kind::PLAIN
});

struct EchoSigns;

impl Signs for EchoSigns {
    fn content(&self, candidate: &Candidate<'_>) -> Option<Strength> {
        candidate.has_in_items("checks", &["says"]).then_some(Strength::Keys)
    }
}

impl Format for Echo {
    fn name(&self) -> &'static str {
        "echo"
    }

    fn program(&self) -> &'static str {
        "Echo"
    }

    fn name_key(&self) -> &'static str {
        "title"
    }

    fn scalar_rules(&self) -> ScalarRules {
        ScalarRules::Yaml12
    }

    fn act_of(&self, _: NodeRef<'_>) -> ActionKind {
        ActionKind::Command
    }

    fn report(&self, node: NodeRef<'_>, definition: Definition, _: &dyn Files, report: &mut Report) {
        let says = matches!(definition, Definition::Item(..)).then(|| node.get("says")).flatten();
        if let Some(says) = says.filter(|says| says.text() == Some("")) {
            let words = MessageParts::new("every output contains an empty `says`").help("write a part of the output");
            report.push(Finding::stated(Code::VacuousClaim, words, Pointer::root().key("says"), says.range()));
        }
    }

    fn lower(&self, _: SpecFile, _: &Document, _: &dyn Files, _: &Settings) -> Box<dyn Lower> {
        Box::new(Checks)
    }
}

#[derive(Debug)]
struct Checks;

impl Lower for Checks {
    fn suite(&self, _: SpecFile, _: &Document, _: &dyn Files, _: &Settings) -> Suite {
        Suite::empty(ECHO)
    }

    fn cases(&self, item: NodeRef<'_>, at: &Pointer, _: &dyn Files) -> Vec<Case> {
        let text = |key: &str| item.get(key).and_then(NodeRef::text).unwrap_or_default().to_owned();
        let action = CommandAction {
            at: at.key("run"),
            template: text("run"),
            variables: Default::default(),
            expanded: Ok(text("run")),
            inputs: Inputs::new(),
            timeout_ms: 1000,
        };
        let claim = Claim { at: at.key("says"), phase: None, check: Arc::new(Says(text("says"))) };
        vec![Case {
            name: text("title"),
            at: at.clone(),
            file: None,
            tags: Vec::new(),
            skip: false,
            repeat: 1,
            needed: Needed::All,
            action: Action::Command(action),
            claims: vec![claim],
            intact: true,
        }]
    }
}

#[derive(Debug)]
struct Says(String);

impl Check for Says {
    fn check(&self, act: Act<'_>) -> Vec<Verdict> {
        let mismatch = || Mismatch { message: format!("the output lacks `{}`", self.0), ..Mismatch::default() };
        let found = act.stdout().and_then(|output| output.contains(&self.0));
        vec![found.map_or_else(Row::from, |found| Row::present("", found, mismatch)).named("says", "")]
    }

    fn texts(&self) -> Vec<String> {
        vec![self.0.clone()]
    }
}

const TEXT: &str = "checks:\n- title: greets\n  run: echo hello\n  says: hello\n";

fn read(text: &str) -> Document {
    Document::read(text, FILE.scalar_rules())
}

/// The text as it is, with its list indented, and with other line breaks.
fn styles(text: &str) -> [String; 3] {
    [text.to_owned(), text.replace("\n  ", "\n    ").replace("\n- ", "\n  - "), text.replace('\n', "\r\n")]
}

#[test]
fn file_of_a_new_format_is_recognized_by_name_content_and_comment() {
    let kinds = [SpecFile::ALL, &[FILE]].concat();
    let context = FileContext { kinds: &kinds, is_asked_for: true, ..FileContext::NOTHING };
    let sure = Some(Detected { file: FILE, is_guess: false });
    for text in styles(TEXT) {
        assert_eq!(detect("a/echo.yaml", &text, &context), sure);
        assert_eq!(detect("a/other.yaml", &text, &context), sure);
    }
    assert_eq!(detect("x.yaml", "# speclens: dialect=echo\n", &context), sure);
    assert_eq!(detect("a/other.yaml", "checks:\n- a: b\n", &context), None);
    assert_eq!(detect("a/other.yaml", TEXT, &FileContext::NOTHING), None);
}

#[track_caller]
fn check_problems(text: &str, expected: &Expect) {
    for text in styles(text) {
        let problems = Analyzer::new(FILE).problems(&read(&text), &MemoryFiles::default(), &Settings::default());
        let shown = problems.iter().map(|problem| {
            let help = problem.help.as_deref().unwrap_or_default();
            format!("{} at {}: {}; {help}\n", problem.code.as_str(), problem.at, problem.message)
        });
        expected.assert_eq(&shown.collect::<String>());
    }
}

#[test]
fn file_of_a_new_format_is_checked_by_its_schema_and_its_rules() {
    check_problems(TEXT, &expect![[""]]);
    check_problems(
        "checks:\n- title: a\n  rum: x\n- title: b\n  run: y\n  says: ''\n",
        &expect![[r"
            unknown-key at /checks/0/rum: unknown key `rum`; rename it to `run`
            vacuous-claim at /checks/1/says: every output contains an empty `says`; write a part of the output
        "]],
    );
}

#[test]
fn words_of_a_new_format_are_checked_by_what_its_schema_says_of_them() {
    check_problems(
        "checks:\n- title: a\n  run: x\n  matches: (a\n  input: nope.txt\n- title: b\n  run: y\n  says: x\n  matches: '[ERROR] x'\n  input: ../c\n  least: 3\n  most: 2\n",
        &expect![[r"
            invalid-pattern at /checks/0/matches: not a valid regular expression: unclosed `(`; escape it, `\(`, if you mean the character itself
            missing-file at /checks/0/input: `nope.txt` does not exist; correct the path, or create the file
            suspicious-pattern at /checks/1/matches: `[ERROR]` matches only one character; escape it, `\[ERROR\]`
            invalid-path at /checks/1/input: `../c` is outside the directory of this file; move it into the directory of this file, and write a relative path
            contradiction at /checks/1/least: `least` (3) is greater than `most` (2); swap `least` and `most`
        "]],
    );
}

#[test]
fn names_of_a_new_format_are_checked_across_items() {
    check_problems(
        "checks:\n- title: greets\n  run: x\n  says: x\n  after: leaves\n- title: greets\n  run: y\n  says: x\n  after: gree\n- title: leaves\n  run: z\n  says: x\n",
        &expect![[r"
            duplicate-name at /checks/1/title: duplicate check title `greets`; give it a different name
            unknown-reference at /checks/1/after: unknown check `gree`; change it to `greets`
        "]],
    );
}

#[test]
fn keys_of_a_new_format_are_completed_and_explained() {
    let document = read("checks:\n- title: greets\n  \n");
    let files = MemoryFiles::default();
    let values = Values { files: &files, now: "" };
    let labels: Vec<String> =
        complete(&document, FILE, "checks:\n- title: greets\n  ".len(), values, &|_| Vec::new(), None)
            .into_iter()
            .map(|it| it.label)
            .collect();
    assert_eq!(labels, ["run", "says", "matches", "input", "least", "most", "after"]);
    let settings = Arc::new(Settings::default());
    let reach = Reach { settings: &settings, environment: &|_| None };
    let document = read(TEXT);
    let found = hover(&document, FILE, TEXT.find("says").unwrap(), None, values, reach).unwrap();
    assert_eq!(found.markdown, "**says** · string\n\nA part of what it writes.");
    let names: Vec<String> = workspace_symbols(&document, FILE).into_iter().map(|symbol| symbol.name).collect();
    assert_eq!(names, ["greets"]);
}

#[test]
fn case_of_a_new_format_is_lowered_and_judged() {
    for text in styles(TEXT) {
        let document = read(&text);
        let analysis = Analyzer::new(FILE).analyze(&document, &MemoryFiles::default(), &Settings::default());
        let [case] = analysis.suite.cases.as_slice() else { panic!("there is one case") };
        let [written] = written_cases(FILE, &document).try_into().unwrap();
        assert_eq!((written.name.as_ref(), written.at, written.does), ("greets", case.at.clone(), case.action.kind()));
        assert!(case.intact && analysis.suite.dialect == ECHO);
        for (output, expected) in [("oh, hello", Status::Pass), ("bye", Status::Fail)] {
            let ran = Ran { stdout: Some(Capture::whole(output.to_owned())), ..Ran::default() };
            let ended = Some(Ended::Exit);
            let mut evidence = Evidence { command: Some(ran), ended, ..Evidence::default() };
            ECHO.mask(&mut evidence, &Secrets::none());
            ECHO.interpret(&mut evidence);
            let judged = judge(case, &evidence, &Secrets::none());
            assert_eq!(judged.iter().map(|judged| judged.verdict.outcome.status()).collect::<Vec<_>>(), [expected]);
        }
    }
}

//! Lowering of tests.

use std::sync::Arc;

use super::{RootContext, lower_root, lower_test};
use crate::{
    act::Act,
    document::{Document, NodeRef, Pointer},
    evidence::{Capture, Evidence, Ran},
    files::{Files, MemoryFiles},
    format::Dialect,
    settings::Settings,
    suite::{Action, Subject, Suite},
};

/// Lowers a whole document without checking it.
pub(crate) fn lowered(document: &Document, files: &dyn Files) -> Suite {
    let context = RootContext::of(document, files, &Settings::default());
    let tests = document.root().and_then(|root| root.get("tests")).into_iter().flat_map(NodeRef::items);
    let place = |index| Pointer::root().key("tests").index(index);
    let cases = tests.enumerate().map(|(index, test)| Arc::new(lower_test(test, place(index), &context, files)));
    Suite { cases: cases.collect(), ..lower_root(document, &context, None) }
}

fn lower(text: &str) -> Suite {
    lower_with(text, &[])
}

fn lower_with(text: &str, files: &[(&str, &str)]) -> Suite {
    let document = Document::read(text, Dialect::KINDLM.scalar_rules());
    lowered(&document, &MemoryFiles::new("/suite", files.iter().copied()))
}

#[test]
fn a_test_gets_what_the_file_says_or_its_defaults() {
    let suite = lower_with(
        "suite: {name: shop}\ndefaults: {repeat: 2, timeoutMs: 5000, concurrency: 7}\nproviders: {ollama: {}}\nmodels: [{id: small, provider: ollama, model: llama3.2}]\nprompts: {p: {user: hello}}\ntests:\n  - name: a\n    command: sh run.sh {{x}}\n    vars: {x: one}\n    tags: [t]\n    expect: {}\n  - name: b\n    prompt: p\n    repeat: 3\n    skip: true\n    expect: {}\n",
        &[("run.sh", "true")],
    );
    assert_eq!((suite.name.as_deref(), suite.concurrency), (Some("shop"), 7));
    let [a, b] = &suite.cases[..] else { panic!("two cases") };
    assert_eq!(
        (a.name.as_str(), a.repeat, a.skip, a.intact, &a.tags[..]),
        ("a", 2, false, true, &["t".to_owned()][..])
    );
    let Action::Command(command) = &a.action else { panic!("a command") };
    assert_eq!((command.at.as_str(), command.timeout_ms), ("/tests/0/command", 5000));
    assert_eq!(command.expanded.as_deref(), Ok("sh run.sh one"));
    assert_eq!(command.inputs.keys().collect::<Vec<_>>(), ["run.sh"]);
    assert_eq!((b.repeat, b.skip, b.intact, b.action.subjects()), (3, true, true, vec![Subject::model("small", None)]));
}

#[test]
fn a_test_with_mistakes_keeps_what_can_be_made_out() {
    let suite = lower(
        "tests:\n  - name: a\n    command: echo {{gone}}\n    repeat: many\n    expect:\n      toolCalls:\n        - {tool: t, argsMatch: 7}\n        - 12\n        - {tol: x}\n      output: {format: jsn, contains: [x], maxLength: no}\n      guardrails: {pii: nothing, keywords: {deny: [y], allow: 3}}\n      latency: {}\n  - name: 7\n  - 8\n  - name: both\n    command: a\n    prompt: b\n    expect: {}\n",
    );
    let claims: Vec<&str> = suite.cases[0].claims.iter().map(|claim| claim.at.as_str()).collect();
    assert_eq!(
        claims,
        ["/tests/0/expect/toolCalls/0", "/tests/0/expect/output", "/tests/0/expect/guardrails/keywords"]
    );
    assert_eq!(suite.cases.len(), 4);
    assert!(suite.cases.iter().all(|case| !case.intact));
    assert_eq!(suite.cases[0].repeat, 1);
    let Action::Command(command) = &suite.cases[0].action else { panic!("a command") };
    assert_eq!(command.expanded, Err(vec!["gone".to_owned()]));
    assert_eq!(suite.cases[1].action, Action::None);
    let rows = suite.cases[0].claims[1].check.check(Act::of(&Evidence::default()));
    assert_eq!(rows.len(), 1, "only `contains` could be read: {rows:?}");
}

#[test]
fn schema_files_are_read_with_the_claim() {
    let text = "tests:\n  - name: a\n    command: x\n    expect: {output: {schemaFile: s.json}}\n";
    assert!(lower_with(text, &[("s.json", "{\"type\":\"string\"}")]).cases[0].intact);
    for (files, intact, reason) in [
        (&[][..], false, "s.json: no such file"),
        (&[("s.json", "{")][..], true, "s.json: it is not valid JSON: EOF while parsing an object at line 1, column 1"),
    ] {
        let suite = lower_with(text, files);
        assert_eq!(suite.cases[0].intact, intact);
        let evidence = recorded("x");
        let verdicts = suite.cases[0].claims[0].check.check(Act::of(&evidence));
        assert_eq!(verdicts[0].outcome.message(), format!("Schema compilation failed: {reason}"));
    }
}

#[test]
fn the_key_follows_what_is_done_and_nothing_else() {
    let key = |text: &str, script: &str| {
        let suite = lower_with(text, &[("run.sh", script)]);
        let action = &suite.cases[0].action;
        action.key("kindlm", &Subject::Command, &suite.inputs(action))
    };
    let base = "tests: [{name: a, command: 'sh run.sh {{x}}', vars: {x: '1', y: '2'}, expect: {}}]";
    let first = key(base, "true");
    assert_eq!(first, key(&base.replace("name: a", "name: b").replace("expect: {}", "repeat: 3"), "true"));
    assert_eq!(first, key(&base.replace("y: '2'", "y: '3'"), "true"), "an unused variable changes nothing");
    assert_ne!(first, key(&base.replace("x: '1'", "x: '9'"), "true"));
    assert_ne!(first, key(base, "false"), "the script was edited");
    assert_ne!(first, key(&base.replace("sh run.sh", "bash run.sh"), "true"));
}

#[test]
fn nothing_is_needed_to_lower() {
    assert_eq!(lower("").cases.len(), 0);
    assert_eq!(lower("tests: 3\nsuite: []\ngates: 4\ndefaults: {concurrency: 0}\n").concurrency, 1);
    let document = Document::read("- 1\n", Dialect::KINDLM.scalar_rules());
    let found = RootContext::of(&document, &MemoryFiles::default(), &Settings::default());
    assert_eq!(found, RootContext { judge_times: 1, ..RootContext::default() });
}

fn recorded(stdout: &str) -> Evidence {
    let mut evidence = Evidence {
        command: Some(Ran { stdout: Some(Capture::whole(stdout)), ..Ran::default() }),
        ..Evidence::default()
    };
    Dialect::KINDLM.interpret(&mut evidence);
    evidence
}

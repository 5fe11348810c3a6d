use std::{fs, path::Path};

use expect_test::expect;

use crate::{
    dialect::{ScalarRules, kindlm::facts::read_test},
    document::{Document, NodeRef, Pointer},
    files::MemoryFiles,
    finding::Report,
    json_schema::SpecFile,
    problem::Problem,
    rules::duplicate_name,
    validate::{self, Definition},
};

use super::report_test;

/// Returns the problems of one test alone.
fn problems_of(test: NodeRef<'_>) -> Vec<Problem> {
    let mut report = Report::default();
    report_test(test, &MemoryFiles::default(), &mut report);
    duplicate_name::check(test, Definition::Item(SpecFile::KINDLM, "tests"), &mut report);
    report.resolve(false).problems(test)
}

/// The facts of a test depend only on that test, so they can be cached while the rest changes.
#[test]
fn a_test_that_moves_keeps_its_facts_and_problems() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/problems");
    let mut seen = 0;
    for code in ["no-effect", "missing-variable", "shell-quoting", "contradiction", "wrong-type", "unknown-reference"] {
        let text = fs::read_to_string(folder.join(format!("{code}.yaml"))).expect("the fixture is there");
        let before = "# A comment that is new.\n";
        let moved = format!("{before}{text}");
        let [here, there] = [&text, &moved].map(|text| Document::read(text, ScalarRules::Yaml12));
        for index in 0.. {
            let at = Pointer::root().key("tests").index(index);
            let (Some(one), Some(other)) = (here.find(&at), there.find(&at)) else { break };
            assert_eq!(read_test(one), read_test(other));
            let definition = Definition::Item(SpecFile::KINDLM, "tests");
            let both = |node| [validate::validate_node(node, definition), problems_of(node)].concat();
            let shifted = both(one).into_iter().map(|problem| problem.moved(&Pointer::root(), before.len()));
            assert_eq!(shifted.collect::<Vec<_>>(), both(other));
            seen += 1;
        }
    }
    assert!(seen >= 10, "only {seen} tests");
}

#[test]
fn tools_and_replies_that_lead_nowhere_are_reported() {
    let text = "name: t\nprompt: ask\nmaxTurns: 1\ntools:\n  - name: lookup\n    parameters: { type: object, properties: { order_id: { type: string } } }\n    responses:\n      - { when: {}, then: 1 }\n      - { when: { ordr_id: a }, then: 2 }\n  - { name: lookup, parameters: { type: objekt } }\nconversation:\n  - { turn: a, expect: { judge: [{ criteria: kind }] } }\n  - { turn: b, expect: { toolCalls: [{ tool: lokup }] } }\nexpect:\n  toolCalls:\n    - { tool: lookup, argsMatch: { orderid: 1 } }\n    - { tool: refund }\n    - { tool: delete, shouldNotCall: true }\n";
    let document = Document::read(text, ScalarRules::Yaml12);
    let mut problems = problems_of(document.root().unwrap());
    problems.sort_by_key(|problem| problem.range.start);
    let lines: String = problems
        .iter()
        .map(|it| {
            let fixes: String = it.fixes.iter().map(|fix| format!(" [{}]", fix.title)).collect();
            let (level, word) = (it.severity.as_str(), it.code.as_str());
            format!("{level} {word} @{}: {}{fixes}\n", &text[it.range.clone()], it.text().replace('\n', " | "))
        })
        .collect();
    expect![[r#"
        warning no-effect @when: { ordr_id: a }, then: 2 }: this response is never used | note: an earlier one matches every such call
        warning unknown-reference @ordr_id: `lookup` has no argument `ordr_id` | help: rename it to `order_id` [rename it to `order_id`]
        warning duplicate-name @lookup: duplicate tool `lookup` | note: the first one answers every call
        warning invalid-value @parameters: `parameters` is not a valid JSON Schema: at `/type`: "objekt" is not one of the types `array`, `boolean`, `integer`, `null`, `number`, `object` and `string` | note: the provider rejects the request
        warning never-evaluated @judge: `judge` is not evaluated for a single reply | help: move it to the `expect` of the test
        warning unchecked @turn: b, expect: { toolCalls: [{ tool: lokup }] } }: this reply is never checked | note: the conversation ends after reply 1 | help: raise `maxTurns`, or remove the reply
        warning unknown-reference @lokup: unknown tool `lokup` | help: change it to `lookup` [change it to `lookup`]
        warning unknown-reference @orderid: `lookup` has no argument `orderid` | help: rename it to `order_id` [rename it to `order_id`]
        warning unknown-reference @refund: unknown tool `refund` | note: `tools` has `lookup`
        hint vacuous-claim @delete: the model does not have the tool `delete`, so it cannot call it | help: add `delete` to `tools`
    "#]].assert_eq(&lines);
}

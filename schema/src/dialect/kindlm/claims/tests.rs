//! Rows, locations, notes and help of every kind of claim; nothing passes without evidence.

use expect_test::{Expect, expect};

use crate::{
    dialect::kindlm::lower::tests::lowered,
    document::Document,
    evidence::{Capture, Evidence, Exit, Ran, Usage},
    files::MemoryFiles,
    format::Dialect,
    judge::judge,
    mask::Secrets,
    suite::Case,
    verdict::{FilePlace, Outcome, RelatedPlace, Status},
};

const FILES: [(&str, &str); 4] = [
    ("n.json", r#"{"type": "object", "required": ["n"], "properties": {"n": {"minimum": 1}}}"#),
    ("text.json", r#"{"type": "string", "pattern": "^ID-\\d+$"}"#),
    ("slow.json", r#"{"pattern": "^(?:(a+)\\1?)+b$"}"#),
    ("broken.json", r#"{"type": "strng"}"#),
];

fn case(expect: &str) -> (Document, Case) {
    let mut text = String::from("tests:\n  - name: t\n    command: run\n    expect:\n");
    for line in expect.lines() {
        text.push_str(&format!("      {line}\n"));
    }
    let document = Document::read(&text, Dialect::KINDLM.scalar_rules());
    let suite = lowered(&document, &MemoryFiles::new("/suite", FILES));
    let case = suite.cases[0].as_ref().clone();
    (document, case)
}

fn evidence(stdout: &str) -> Evidence {
    let mut evidence = Evidence {
        command: Some(Ran {
            command: Capture::whole("run"),
            exit: Some(Exit { code: Some(0), signal: None }),
            stdout: Some(Capture::whole(stdout)),
            ..Ran::default()
        }),
        duration_ms: Some(12.5),
        usage: Some(Usage { cost_usd: Some(0.001), ..Usage::default() }),
        ..Evidence::default()
    };
    Dialect::KINDLM.interpret(&mut evidence);
    evidence
}

fn cut(mut evidence: Evidence) -> Evidence {
    evidence.command.as_mut().unwrap().stdout.as_mut().unwrap().cut = true;
    Dialect::KINDLM.interpret(&mut evidence);
    evidence
}

/// Returns every row as a line, failures with all details. Every location must exist in the document.
fn rows(expect: &str, evidence: &Evidence) -> String {
    let (document, case) = case(expect);
    let mut out = String::new();
    for judged in judge(&case, evidence, &Secrets::none()) {
        let verdict = &judged.verdict;
        let at = case.claims[judged.claim].at.join(&verdict.at);
        assert!(document.find(&at).is_some(), "{at} is not in the document");
        let place = at.as_str().strip_prefix("/tests/0/expect").unwrap();
        let status = verdict.outcome.status();
        out.push_str(&format!("{} {place} {} {}", status.as_str(), verdict.kind, verdict.label));
        let extreme = [("pass", 1.0), ("fail", 0.0)].into_iter().find(|(word, _)| *word == status.as_str());
        if let Some(score) = verdict.score.filter(|score| extreme.is_none_or(|(_, extreme)| *score != extreme)) {
            out.push_str(&format!(" ({score:.3})"));
        }
        match &verdict.outcome {
            Outcome::Pass => assert!(verdict.code.is_none() && verdict.score.is_some()),
            Outcome::Fail(mismatch) => {
                let code = verdict.code.unwrap().as_str();
                out.push_str(&format!(
                    "\n  {code}: {}\n  - {}\n  + {}",
                    mismatch.message, mismatch.expected, mismatch.actual
                ));
                mismatch.labelled().for_each(|(name, text)| out.push_str(&format!("\n  = {name}: {text}")));
                for related in &verdict.related {
                    let at = match &related.at {
                        RelatedPlace::Claim(at) => {
                            let whole = case.claims[judged.claim].at.join(at);
                            assert!(document.find(&whole).is_some(), "{whole} is not in the document");
                            at.to_string()
                        }
                        RelatedPlace::File(FilePlace { path, line_part, .. }) => {
                            let line_part = line_part.as_ref().unwrap();
                            format!("{path}:{}: {}", line_part.line + 1, &line_part.text[line_part.range()])
                        }
                    };
                    out.push_str(&format!("\n  @ {at} {}", related.message));
                }
            }
            Outcome::Unknown(reason) | Outcome::Error(reason) | Outcome::Skip(reason) => {
                out.push_str(&format!("\n  {reason}"))
            }
            Outcome::Warn(mismatch) => out.push_str(&mismatch.message),
        }
        out.push('\n');
    }
    out
}

#[track_caller]
fn check(expect: &str, stdout: &str, expected: Expect) {
    expected.assert_eq(&rows(expect, &evidence(stdout)));
}

const CALLS: &str = r#"{"kindlm":"tool_call","name":"lookup_order","arguments":{"order_id":"1234","express":true}}
{"kindlm":"tool_call","name":"refund","arguments":{"n":0}}
{"kindlm":"tool_call","name":"lookup_order","arguments":{"order_id":"12345","express":false}}
Done
"#;

#[test]
fn tool_calls() {
    check(
        "toolCalls:\n  - {tool: refund, argsMatch: {n: 0}}\n  - {tool: delete, shouldNotCall: true}\n  - {tool: refund, shouldNotCall: true}",
        CALLS,
        expect![[r#"
            pass /toolCalls/0/tool tool_called Tool "refund" called
            pass /toolCalls/0/argsMatch tool_called Tool "refund" args match
            pass /toolCalls/1/shouldNotCall tool_not_called Tool "delete" not called
            fail /toolCalls/2/shouldNotCall tool_not_called Tool "refund" not called
              TOOL_CALL_UNEXPECTED: Expected tool "refund" to NOT be called, but it was
              - no call to refund
              + refund {"n":0}
        "#]],
    );
}

#[test]
fn the_place_is_the_argument_that_differs() {
    check(
        "toolCalls:\n  - tool: lookup_order\n    argsMatch: {order_id: \"12345\", express: true, note: x}",
        CALLS,
        expect![[r#"
            pass /toolCalls/0/tool tool_called Tool "lookup_order" called
            fail /toolCalls/0/argsMatch/order_id tool_called Tool "lookup_order" args match
              TOOL_CALL_ARGS_MISMATCH: Expected args {"order_id":"12345","express":true,"note":"x"}, got {"order_id":"1234","express":true}
              - 12345
              + 1234
              = note: of 2 calls, the closest is call 1: lookup_order {"order_id":"1234","express":true}
              = note: order_id: expected "12345", found "1234"
              = note: note: expected "x", but it is missing
              @ /argsMatch/note note: expected "x", but it is missing
        "#]],
    );
}

#[test]
fn a_missing_call_names_the_nearest_one() {
    check(
        "toolCalls:\n  - {tool: lookup_ordr, argsMatch: {order_id: 1234}}\n  - {tool: zebra}",
        CALLS,
        expect![[r#"
            fail /toolCalls/0/tool tool_called Tool "lookup_ordr" called
              TOOL_CALL_MISSING: Expected tool "lookup_ordr" to be called, but got: [lookup_order, refund, lookup_order]
              - a call to lookup_ordr
              + lookup_order {"order_id":"1234","express":true}
            refund {"n":0}
            lookup_order {"order_id":"12345","express":false}
              = note: the closest call is lookup_order {"order_id":"12345","express":false}
              = note: order_id: expected 1234, found "12345" (a string instead of a number)
            fail /toolCalls/1/tool tool_called Tool "zebra" called
              TOOL_CALL_MISSING: Expected tool "zebra" to be called, but got: [lookup_order, refund, lookup_order]
              - a call to zebra
              + lookup_order {"order_id":"1234","express":true}
            refund {"n":0}
            lookup_order {"order_id":"12345","express":false}
        "#]],
    );
}

#[test]
fn order_makes_all_entries_claims_about_positions() {
    check(
        "toolCalls:\n  - {tool: lookup_order, order: 2}\n  - {tool: refund, order: 0}\n  - {tool: refund, order: 9}\n  - {tool: zebra}",
        CALLS,
        expect![[r#"
            pass /toolCalls/0/tool tool_order Tool "lookup_order" called
            pass /toolCalls/0/order tool_order Tool "lookup_order" at position 2
            pass /toolCalls/1/tool tool_order Tool "refund" called
            fail /toolCalls/1/order tool_order Tool "refund" at position 0
              TOOL_CALL_ORDER_WRONG: Expected "refund" at position 0, but found at position 1
              - refund at position 0
              + lookup_order at position 0
              = note: refund was called at position 1
            pass /toolCalls/2/tool tool_order Tool "refund" called
            fail /toolCalls/2/order tool_order Tool "refund" at position 9
              TOOL_CALL_ORDER_WRONG: Expected "refund" at position 9, but found at position 1
              - refund at position 9
              + 3 calls in total
              = note: refund was called at position 1
            fail /toolCalls/3/tool tool_order Tool "zebra" called
              TOOL_CALL_MISSING: Expected tool "zebra" to be called, but it was not
              - a call to zebra
              + lookup_order {"order_id":"1234","express":true}
            refund {"n":0}
            lookup_order {"order_id":"12345","express":false}
        "#]],
    );
}

#[test]
fn tools_are_called_in_the_order_of_the_list_with_any_other_calls_between() {
    check(
        "toolCallsOrdered: true\ntoolCalls: [{tool: lookup_order}, {tool: zebra, shouldNotCall: true}, {tool: lookup_order}]",
        CALLS,
        expect![[r#"
            pass /toolCalls/0/tool tool_order Tool "lookup_order" called
            pass /toolCalls/0/tool tool_order Tool "lookup_order" in order
            pass /toolCalls/1/shouldNotCall tool_order Tool "zebra" not called
            pass /toolCalls/2/tool tool_order Tool "lookup_order" called
            pass /toolCalls/2/tool tool_order Tool "lookup_order" in order
        "#]],
    );
    check(
        "toolCallsOrdered: true\ntoolCalls: [{tool: refund}, {tool: zebra}, {tool: lookup_order}, {tool: refund}]",
        CALLS,
        expect![[r#"
            pass /toolCalls/0/tool tool_order Tool "refund" called
            pass /toolCalls/0/tool tool_order Tool "refund" in order
            fail /toolCalls/1/tool tool_order Tool "zebra" called
              TOOL_CALL_MISSING: Expected tool "zebra" to be called, but it was not
              - a call to zebra
              + lookup_order {"order_id":"1234","express":true}
            refund {"n":0}
            lookup_order {"order_id":"12345","express":false}
            pass /toolCalls/2/tool tool_order Tool "lookup_order" called
            pass /toolCalls/2/tool tool_order Tool "lookup_order" in order
            pass /toolCalls/3/tool tool_order Tool "refund" called
            fail /toolCalls/3/tool tool_order Tool "refund" in order
              TOOL_CALL_ORDER_WRONG: Expected "refund" after "lookup_order", but found at position 1
              - refund after lookup_order, which was called at position 2
              + no call to refund after it
              = note: refund was called at position 1
        "#]],
    );
    check(
        "toolCallsOrdered: true\ntoolCalls: [{tool: refund, order: 1}, {tool: refund}]",
        CALLS,
        expect![[r#"
        pass /toolCalls/0/tool tool_order Tool "refund" called
        pass /toolCalls/0/order tool_order Tool "refund" at position 1
        pass /toolCalls/1/tool tool_order Tool "refund" called
    "#]],
    );
    check("toolCallsOrdered: true", CALLS, expect![""]);
}

#[test]
fn order_that_a_missing_or_unclear_call_could_change_is_unknown() {
    const ORDERED: &str = "toolCallsOrdered: true\ntoolCalls: [{tool: refund}, {tool: lookup_order}, {tool: refund}]";
    assert!(
        rows(ORDERED, &cut(evidence(CALLS))).contains("unknown /toolCalls/2/tool tool_order Tool \"refund\" in order")
    );
    let unclear = format!("{}{CALLS}", r#"{"kindlm":"tool_call","name":"re\ufffdund"}"#.to_owned() + "\n");
    assert!(
        rows("toolCallsOrdered: true\ntoolCalls: [{tool: refund}, {tool: lookup_order}]", &evidence(&unclear))
            .lines()
            .all(|row| row.starts_with("pass"))
    );
    assert!(rows(ORDERED, &evidence(&unclear)).contains("unknown /toolCalls/2/tool"));
}

#[test]
fn trajectory_compares_all_calls_with_the_reference() {
    let reference =
        "reference: [{tool: refund, args: {n: 0}}, {tool: lookup_order, args: {express: true, order_id: \"1234\"}}]";
    check(
        &format!("trajectory: {{{reference}, precision: {{}}, recall: {{}}, exactMatch: true}}"),
        CALLS,
        expect![[r#"
        fail /trajectory/precision trajectory_precision Trajectory precision >= 1 (0.667)
          TRAJECTORY_PRECISION_LOW: precision 0.667 < 1 (pred=3, matched=2)
          - a precision of at least 1
          + 0.667
          = note: unexpected call: lookup_order::{"express":false,"order_id":"12345"}
        pass /trajectory/recall trajectory_recall Trajectory recall >= 1
        fail /trajectory/exactMatch trajectory_exact_match Trajectory exact match (ordered)
          TRAJECTORY_EXACT_MISMATCH: predicted=[lookup_order::{"express":true,"order_id":"1234"}, refund::{"n":0}, lookup_order::{"express":false,"order_id":"12345"}] reference=[refund::{"n":0}, lookup_order::{"express":true,"order_id":"1234"}]
          - refund::{"n":0}
        lookup_order::{"express":true,"order_id":"1234"}
          + lookup_order::{"express":true,"order_id":"1234"}
        refund::{"n":0}
        lookup_order::{"express":false,"order_id":"12345"}
          = note: unexpected call: lookup_order::{"express":false,"order_id":"12345"}
    "#]],
    );
    check(
        &format!("trajectory: {{{reference}, precision: {{minScore: 0.6}}, exactMatch: true, ordered: false}}"),
        &CALLS.lines().take(2).map(|line| format!("{line}\n")).collect::<String>(),
        expect![[r#"
            pass /trajectory/precision trajectory_precision Trajectory precision >= 0.6
            pass /trajectory/exactMatch trajectory_exact_match Trajectory exact match (any order)
        "#]],
    );
    check(
        "trajectory: {reference: [{tool: refund}, {tool: refund}, {tool: zebra}], recall: {minScore: 0.5}, matchArgs: false}",
        CALLS,
        expect![[r#"
            fail /trajectory/recall trajectory_recall Trajectory recall >= 0.5 (0.333)
              TRAJECTORY_RECALL_LOW: recall 0.333 < 0.5 (ref=3, matched=1)
              - a recall of at least 0.5
              + 0.333
              = note: missing call: refund
              = note: missing call: zebra
        "#]],
    );
    check(
        "trajectory: {reference: [{tool: refund}], precision: {minScore: 0.1}}",
        "no calls",
        expect![[r#"
        fail /trajectory/precision trajectory_precision Trajectory precision >= 0.1
          TRAJECTORY_PRECISION_LOW: precision 0.000 < 0.1 (pred=0, matched=0)
          - a precision of at least 0.1
          + 0.000
    "#]],
    );
}

#[test]
fn trajectory_is_unknown_unless_every_call_is_known() {
    const CLAIM: &str = "trajectory: {reference: [{tool: refund}], recall: {}, matchArgs: false}";
    assert!(rows(CLAIM, &evidence(CALLS)).starts_with("pass"));
    assert!(rows(CLAIM, &cut(evidence(CALLS))).starts_with("unknown"));
    let unreadable = format!("info: {CALLS}");
    assert!(rows(CLAIM, &evidence(&unreadable)).starts_with("unknown"));
}

#[test]
fn schemas_of_arguments_work() {
    check(
        "toolCalls:\n  - {tool: refund, argsSchema: n.json}\n  - {tool: refund, argsSchema: broken.json}",
        CALLS,
        expect![[r#"
            pass /toolCalls/0/tool tool_called Tool "refund" called
            fail /toolCalls/0/argsSchema tool_called Tool "refund" args schema valid
              TOOL_CALL_ARGS_SCHEMA_INVALID: Tool "refund" arguments did not match argsSchema
              - arguments that match n.json
              + {"n":0}
              = note: data/n: 0 is less than the minimum of 1 (rule /properties/n/minimum of n.json)
              @ n.json:1: 1 `data/n` breaks this rule
            pass /toolCalls/1/tool tool_called Tool "refund" called
            fail /toolCalls/1/argsSchema tool_called Tool "refund" args schema valid
              TOOL_CALL_ARGS_SCHEMA_INVALID: Schema compilation failed: broken.json: at `/type`: "strng" is not one of the types `array`, `boolean`, `integer`, `null`, `number`, `object` and `string`
              - a JSON Schema in broken.json
              + a file that cannot be used
        "#]],
    );
}

#[test]
fn lists_of_arguments_have_positions() {
    let stdout = "{\"kindlm\":\"tool_call\",\"name\":\"t\",\"arguments\":[\"a\",2]}";
    check(
        "toolCalls: [{tool: t, argsMatch: {\"0\": a, \"1\": 2}}]",
        stdout,
        expect![[r#"
        pass /toolCalls/0/tool tool_called Tool "t" called
        pass /toolCalls/0/argsMatch tool_called Tool "t" args match
    "#]],
    );
}

#[test]
fn output_text() {
    check(
        "output:\n  contains: [HELLO, \"status: delivered\"]\n  notContains: [world, mars]\n  maxLength: 10",
        "Hello World\nstatus: delivred\n",
        expect![[r#"
            pass /output/contains/0 schema Output contains "HELLO"
            fail /output/contains/1 schema Output contains "status: delivered"
              CONTAINS_FAILED: Expected output to contain "status: delivered"
              - status: delivered
              + Hello World
            status: delivred
              = note: line 2 is the closest match: status: delivred
            fail /output/notContains/0 schema Output does not contain "world"
              NOT_CONTAINS_FAILED: Expected output to NOT contain "world"
              - no "world"
              + Hello World
            status: delivred
              = note: line 1: Hello World
            pass /output/notContains/1 schema Output does not contain "mars"
            fail /output/maxLength schema Output length <= 10
              MAX_LENGTH_EXCEEDED: Output length 28 exceeds max 10
              - at most 10
              + 28
        "#]],
    );
}

#[test]
fn output_json() {
    let expect = "output: {format: json, schemaFile: n.json, contains: [n]}";
    check(
        expect,
        "{\"n\": 0}",
        expect![[r#"
            pass /output/format schema Output is valid JSON
            fail /output/schemaFile schema Output matches JSON Schema
              SCHEMA_INVALID: Schema validation failed: data/n: 0 is less than the minimum of 1
              - a value that matches n.json
              + {"n":0}
              = note: data/n: 0 is less than the minimum of 1 (rule /properties/n/minimum of n.json)
              @ n.json:1: 1 `data/n` breaks this rule
            pass /output/contains/0 schema Output contains "n"
        "#]],
    );
    check(
        expect,
        "```json\n{\"n\": 1}\n```",
        expect![[r#"
            fail /output/format schema Output is valid JSON
              SCHEMA_PARSE_ERROR: Failed to parse output as JSON: expected value at line 1, column 1
              - one JSON value
              + ```json
            {"n": 1}
            ```
              = note: line 1: ```json
              = note: the output is in a Markdown code fence
              = help: have the command print only the JSON
              = help: if the command also prints other text, have it report its JSON as {"kindlm":"output_json","data":…}
        "#]],
    );
    check(
        expect,
        "text\n{\"kindlm\":\"output_json\",\"data\":{\"n\":3}}\nmore text with n",
        expect![[r#"
            pass /output/format schema Output is valid JSON
            pass /output/schemaFile schema Output matches JSON Schema
            pass /output/contains/0 schema Output contains "n"
        "#]],
    );
    check(
        expect,
        "null",
        expect![[r#"
            pass /output/format schema Output is valid JSON
            fail /output/schemaFile schema Output matches JSON Schema
              SCHEMA_INVALID: Schema validation failed: data: null is not of type "object"
              - a value that matches n.json
              + null
              = note: data: null is not of type "object" (rule /type of n.json)
              @ n.json:1: "object" `data` breaks this rule
            pass /output/contains/0 schema Output contains "n"
        "#]],
    );
}

#[test]
fn a_schema_sees_text_as_one_string() {
    check(
        "output: {schemaFile: text.json}",
        "ID-42\n",
        expect![[r#"
        pass /output/schemaFile schema Output matches JSON Schema
    "#]],
    );
    check(
        "output: {schemaFile: slow.json}",
        &format!("{}!", "a".repeat(60)),
        expect![[r#"
        unknown /output/schemaFile schema Output matches JSON Schema
          the pattern at /pattern of the schema took too many steps
    "#]],
    );
}

#[test]
fn personal_data() {
    check(
        "guardrails:\n  pii: {denyPatterns: [\"x\\\\d\", a@b], customPatterns: [{name: order, pattern: \"ord-\\\\d{6}\"}]}",
        "none\na@b and ORD-123456",
        expect![[r#"
            fail /guardrails/pii/denyPatterns/1 pii No PII detected
              PII_DETECTED: Found 2 PII match(es): pii-pattern-2=***, order=OR******56
              - no match
              + pii-pattern-2=***
            order=OR******56
              = note: line 2: pii-pattern-2=***
              = note: line 2: order=OR******56
              @ /customPatterns/0/pattern 1 more found by this pattern
        "#]],
    );
    check(
        "guardrails: {pii: {denyPatterns: [\"^(?!ok)\", zz]}}",
        "not ok",
        expect![[r#"
            pass /guardrails/pii pii No PII detected
        "#]],
    );
    check(
        "guardrails: {pii: {denyPatterns: [\"^(?!ok)\"]}}",
        "ok",
        expect![[r#"
        pass /guardrails/pii pii No PII detected
    "#]],
    );
    check(
        "guardrails: {pii: {}}",
        "a@b.co 4111 1111 1111 1111",
        expect![[r#"
            fail /guardrails/pii pii No PII detected
              PII_DETECTED: Found 2 PII match(es): pii-pattern-2=41***************11, pii-pattern-3=a@**co
              - no match
              + pii-pattern-2=41***************11
            pii-pattern-3=a@**co
              = note: line 1: pii-pattern-2=41***************11
              = note: line 1: pii-pattern-3=a@**co
              @  1 more found by this pattern
        "#]],
    );
    check("guardrails: {pii: {enabled: false, detectors: [email]}}", "a@b.co", expect![""]);
    check(
        "guardrails: {pii: {detectors: [email, credit_card], denyPatterns: [\"(a+)+\"], customPatterns: [{name: c, pattern: CARD}]}}",
        "Card 4111 1111 1111 1111, or 4111 1111 1111 1112, of a@b.co and A@B.C",
        expect![[r#"
            fail /guardrails/pii/detectors/0 pii No PII detected
              PII_DETECTED: Found 3 PII match(es): email=a@**co, credit_card=41***************11, c=****
              - no match
              + email=a@**co
            credit_card=41***************11
            c=****
              = note: line 1: email=a@**co
              = note: line 1: credit_card=41***************11
              = note: line 1: c=****
              @ /detectors/1 1 more found by this pattern
              @ /customPatterns/0/pattern 1 more found by this pattern
        "#]],
    );
    check(
        "guardrails: {pii: {detectors: []}}",
        "a@b.co",
        expect![[r#"
        pass /guardrails/pii pii No PII detected
    "#]],
    );
}

#[test]
fn patterns_that_cannot_be_used_never_pass() {
    check(
        "guardrails: {pii: {denyPatterns: [\"(a+)+\"], customPatterns: [{name: c, pattern: \"(b*)*\"}]}}",
        "x",
        expect![[r#"
            fail /guardrails/pii/denyPatterns/0 pii No PII detected
              INVALID_PATTERN: Deny pattern "pii-pattern-1" contains nested quantifiers and may cause catastrophic backtracking
              - a pattern without nested quantifiers
              + (a+)+
        "#]],
    );
    check(
        "guardrails: {pii: {denyPatterns: [\"(\"]}}",
        "x",
        expect![[r#"
            error /guardrails/pii/denyPatterns/0 pii No PII detected (0.000)
              pattern "pii-pattern-1": unclosed `(`
        "#]],
    );
    check(
        "guardrails: {pii: {denyPatterns: [\"(?i:x)\"]}}",
        "y",
        expect![[r#"
            error /guardrails/pii/denyPatterns/0 pii No PII detected (0.000)
              pattern "pii-pattern-1": only newer versions of ECMAScript support flags for a group, such as `(?i:a)`
        "#]],
    );
    check(
        "guardrails: {pii: {denyPatterns: [\"^(?:(a+)\\\\1?)+b$\"]}}",
        &"a".repeat(60),
        expect![[r#"
        unknown /guardrails/pii/denyPatterns/0 pii No PII detected
          the pattern took too many steps
    "#]],
    );
}

#[test]
fn keywords() {
    check(
        "guardrails: {keywords: {deny: [password, Internal], allow: [refund, exchange]}}",
        "This is internal only.",
        expect![[r#"
            fail /guardrails/keywords/allow keywords_present Required keyword present
              KEYWORD_MISSING: Expected at least one of [refund, exchange] in output
              - at least one of [refund, exchange]
              + This is internal only.
            pass /guardrails/keywords/deny/0 keywords_absent Keyword "password" absent
            fail /guardrails/keywords/deny/1 keywords_absent Keyword "Internal" absent
              KEYWORD_DENIED: Denied keyword "Internal" found in output
              - no "Internal"
              + This is internal only.
              = note: line 1: This is internal only.
        "#]],
    );
}

#[test]
fn bounds_and_what_is_not_supported() {
    check(
        "judge: [{criteria: polite}]\nbaseline: {drift: {}}\nlatency: {maxMs: 12}\ncost: {maxUsd: 0.000001}",
        "x",
        expect![[r#"
            unknown /judge/0 judge Judge: polite
              no model can judge: the file has no `models`
            unknown /baseline/drift drift Drift check (judge)
              the recording does not say who acted; run the test again
            fail /latency/maxMs latency Latency <= 12ms
              PROVIDER_TIMEOUT: Latency 12.5ms exceeds max 12ms
              - at most 12 ms
              + 12.5 ms
            fail /cost/maxUsd cost Cost <= $0.000001
              BUDGET_EXCEEDED: Cost $0.0010 exceeds max $0.000001
              - at most $0.000001
              + $0.001
        "#]],
    );
    check("baseline: {}", "x", expect![""]);
    let unknown = Evidence { usage: None, ..evidence("x") };
    let expected = expect![[r#"
        fail /cost/maxUsd cost Cost <= $0.5
          COST_UNKNOWN: Cost is unknown, so the $0.5 budget cannot be enforced
          - at most $0.5
          + an unknown cost
          = help: use a model whose price is known, or remove `cost`
    "#]];
    expected.assert_eq(&rows("cost: {maxUsd: 0.5}", &unknown));
}

/// One claim of every kind, each of which passes on [`PASSING`].
const EVERY_KIND: [&str; 16] = [
    "toolCalls: [{tool: refund}]",
    "toolCalls: [{tool: zebra, shouldNotCall: true}]",
    "toolCalls: [{tool: refund, argsMatch: {n: 1}}]",
    "toolCalls: [{tool: refund, argsSchema: n.json}]",
    "toolCalls: [{tool: refund, order: 0}]",
    "output: {format: json, schemaFile: n.json}",
    "output: {contains: [done]}",
    "output: {notContains: [mars]}",
    "output: {maxLength: 1000}",
    "toolCallsOrdered: true\ntoolCalls: [{tool: refund}]",
    "trajectory: {reference: [{tool: refund, args: {n: 1}}], precision: {}, recall: {}, exactMatch: true}",
    "guardrails: {pii: {}}",
    "guardrails: {pii: {detectors: [iban, email]}}",
    "guardrails: {keywords: {deny: [mars], allow: [done]}}",
    "latency: {maxMs: 1000}",
    "cost: {maxUsd: 1}",
];

const PASSING: &str = "{\"kindlm\":\"tool_call\",\"name\":\"refund\",\"arguments\":{\"n\":1}}\n{\"kindlm\":\"output_json\",\"data\":{\"n\":1}}\nDone\n";

fn worst(expect: &str, evidence: &Evidence) -> Status {
    let (_, case) = case(expect);
    crate::judge::status(&case, evidence, &judge(&case, evidence, &Secrets::none()))
}

#[test]
fn without_evidence_nothing_passes() {
    for expect in EVERY_KIND {
        assert_eq!(worst(expect, &evidence(PASSING)), Status::Pass, "{expect}");
        assert_eq!(worst(expect, &Evidence::default()), Status::Unknown, "{expect}");
        let (_, case) = case(expect);
        let rows = judge(&case, &Evidence::default(), &Secrets::none());
        assert!(rows.iter().all(|row| row.verdict.outcome != Outcome::Pass), "{expect}: {rows:?}");
    }
    for expect in ["judge: [{criteria: c}]", "baseline: {drift: {method: field-diff, fields: [a]}}"] {
        assert_eq!(worst(expect, &evidence(PASSING)), Status::Unknown, "{expect}");
    }
}

#[test]
fn what_the_missing_part_could_decide_is_unknown() {
    let decided = ["toolCalls: [{tool: refund}]", "output: {contains: [done]}", "cost: {maxUsd: 1}"];
    for expect in EVERY_KIND {
        let part = cut(evidence(PASSING));
        let status = worst(expect, &part);
        let certain = decided.contains(&expect)
            || expect.contains("argsMatch")
            || expect.contains("argsSchema")
            || expect.contains("order:")
            || expect.contains("toolCallsOrdered");
        assert_eq!(status, if certain { Status::Pass } else { Status::Unknown }, "{expect}");
    }
    for (expect, status) in [
        ("toolCalls: [{tool: zebra}]", Status::Unknown),
        ("toolCalls: [{tool: refund, shouldNotCall: true}]", Status::Fail),
        ("toolCalls: [{tool: refund, argsMatch: {n: 2}}]", Status::Unknown),
        ("toolCalls: [{tool: refund, order: 1}]", Status::Unknown),
        ("latency: {maxMs: 12}", Status::Fail),
        ("output: {contains: [mars]}", Status::Unknown),
        ("output: {notContains: [done]}", Status::Fail),
        ("output: {maxLength: 2}", Status::Fail),
        ("output: {format: json, schemaFile: n.json}", Status::Unknown),
        ("guardrails: {keywords: {deny: [done]}}", Status::Fail),
        ("guardrails: {keywords: {allow: [mars]}}", Status::Unknown),
    ] {
        assert_eq!(worst(expect, &cut(evidence(PASSING))), status, "{expect}");
    }
}

#[test]
fn absent_call_is_unknown_if_a_line_about_a_call_is_unreadable() {
    let call = r#"{"kindlm":"tool_call","name":"zebra","arguments":{}}"#;
    let is_absent = "toolCalls: [{tool: zebra, shouldNotCall: true}]";
    for unreadable in [
        call.chars().flat_map(|letter| [letter, '\0']).collect(),
        format!("ok\n\0{}", call.chars().flat_map(|letter| ['\0', letter]).collect::<String>()),
        format!("{call}\r{call}"),
        format!("\u{1b}[32m{call}\u{1b}[0m"),
        format!("info: {call}"),
        call.replace("zebra", "zeb\u{fffd}a"),
        call.replace(":\"tool", ": \"tool").replace("{\"kind", "{ \"kind"),
        call[..30].to_owned(),
        format!("{call} done"),
        call.replace("tool_call", "toolCall"),
    ] {
        assert_eq!(worst(is_absent, &evidence(&unreadable)), Status::Unknown, "{unreadable:?}");
    }
    for other in ["a tool_call of kindlm", r#"{"kindlm":"other"}"#, "", "caf\u{fffd}"] {
        assert_eq!(worst(is_absent, &evidence(other)), Status::Pass, "{other:?}");
    }
    assert_eq!(worst(is_absent, &evidence(&format!("{call}\ninfo: {call}"))), Status::Fail);
    assert_eq!(worst("toolCalls: [{tool: zebra}]", &evidence(&format!("info: {call}\n{call}"))), Status::Pass);
}

type Damage = (&'static str, fn(&mut Ran));

#[test]
fn only_what_was_seen_passes_on_damaged_output() {
    let damages: [Damage; 4] = [
        ("no end", |ran| ran.exit = None),
        ("cut", |ran| ran.stdout.as_mut().unwrap().cut = true),
        ("not UTF-8", |ran| {
            ran.stdout.as_mut().unwrap().text.push_str("\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}")
        }),
        ("no output", |ran| ran.stdout = None),
    ];
    for expect in EVERY_KIND {
        let statuses = |evidence: &Evidence| -> Vec<Status> {
            judge(&case(expect).1, evidence, &Secrets::none()).iter().map(|it| it.verdict.outcome.status()).collect()
        };
        let whole = statuses(&evidence(PASSING));
        assert!(whole.iter().all(|status| *status == Status::Pass), "{expect}: {whole:?}");
        for (name, damage) in damages {
            let mut damaged = evidence(PASSING);
            damage(damaged.command.as_mut().unwrap());
            Dialect::KINDLM.interpret(&mut damaged);
            let is_any = |parts: &[&str]| parts.iter().any(|part| expect.contains(part));
            let passes = match name {
                "no end" => is_any(&["output: {contains", "toolCalls: [{tool: refund"]),
                "cut" => is_any(&["output: {contains", "toolCalls: [{tool: refund", "cost"]),
                // The time does not depend on what the output contains, nor a call on the text.
                "not UTF-8" => !is_any(&["notContains", "guardrails"]),
                _ => is_any(&["latency", "cost"]),
            };
            let found = statuses(&damaged);
            assert_eq!(found.iter().all(|status| *status == Status::Pass), passes, "{name}: {expect}: {found:?}");
        }
    }
}

#[test]
fn text_with_invisible_characters_inside_is_no_absence() {
    for stdout in ["\u{1b}[1mse\u{1b}[0mcret", "se\u{200b}cret", "se\u{ad}cret", "\u{1b}]0;x\u{7}s\u{1b}[Kecret"] {
        for expect in ["output: {notContains: [Secret]}", "guardrails: {keywords: {deny: [SECRET]}}"] {
            assert!(rows(expect, &evidence(stdout)).starts_with("unknown"), "{expect}: {stdout:?}");
        }
        // What must be there is there as it was written.
        assert!(rows("output: {contains: [secret]}", &evidence(stdout)).starts_with("fail"), "{stdout:?}");
    }
    assert!(rows("output: {notContains: [secret]}", &evidence("\u{1b}[1msec\u{1b}[0m ret")).starts_with("pass"));
}

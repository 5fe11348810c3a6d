//! Nothing is falsely green: whatever a masked or cut part of the output held, a claim that passes or fails on what is
//! left does so on the whole, too. Random outputs, random secrets in them, random claims.

use crate::numbers;

use numbers::Numbers;
use speclens_schema::{
    analysis::Analyzer,
    document::Document,
    evidence::{Capture, Evidence, Exit, Ran},
    files::MemoryFiles,
    format::Dialect,
    json_schema::SpecFile,
    judge::{Judged, judge, status},
    mask::Secrets,
    settings::Settings,
    suite::Case,
    verdict::Status,
};

/// Lines of an output; `#` is where a secret is.
const LINES: &[&str] = &[
    "#",
    "key # done",
    "ab#",
    "#ab #cd",
    "  #  ",
    "ΑΣ#",
    "mail a@b.co, 123-45-6789 and #",
    "123-45-6789",
    "done ab",
    "{\"k\":\"#\"}",
    "{\"k\":\"a#\",\"n\":1}",
    "{\"#\":1}",
    "[\"#\",\"ab\"]",
    "{\"n\":#}",
    "{\"kindlm\":\"tool_call\",\"name\":\"ab\",\"arguments\":{\"k\":\"#\",\"n\":1}}",
    "{\"kindlm\":\"tool_call\",\"name\":\"ab\",\"arguments\":{\"k\":\"a#b\",\"l\":[\"#\"]}}",
    "{\"kindlm\":\"tool_call\",\"name\":\"ab\",\"arguments\":{\"#\":\"x\"}}",
    "{\"kindlm\":\"tool_call\",\"name\":\"ab\",\"arguments\":[\"#\",1]}",
    "{\"kindlm\":\"tool_call\",\"name\":\"#\"}",
    "{\"kindlm\":\"tool_call\",\"name\":\"a#\",\"arguments\":{\"n\":#}}",
    "{\"kindlm\":\"#\",\"name\":\"ab\"}",
    "{\"kindlm\":\"output_json\",\"data\":{\"k\":\"#\",\"l\":[\"#\",\"a\"]}}",
    "#{\"kindlm\":\"tool_call\",\"name\":\"ab\"}",
];

/// What secrets are made of: parts of what claims look for, and what disturbs JSON, lines and letters.
const PARTS: &[&str] = &[
    "a", "b", "ab", "c", "x", "1", "123-45-6789", "a@b.co", "\"", "\\", "\\n", " ", "\n", "}", "{", ":", "é", "Σ", "İ",
    "😀", "\\u0061", "done", "*", ",\"n\":2", "tool_call", "\"}\n", "output_json", "\t",
];

const CLAIMS: &[&str] = &[
    "output: {contains: [ab, done, 'key a', 'b done'], notContains: [ab, abc, 'x1', 'y a', 'aaaaaaaaaaaaaaaaaaaa']}",
    "output: {contains: [οσ, ας, ασa, 'i\u{307}', é, '*', '**', '😀'], notContains: [ab1, 'σa', '***']}",
    "output: {notContains: ['\u{fdd0}']}",
    "output: {maxLength: 7}",
    "output: {maxLength: 20}",
    "output: {format: json, schemaFile: key.json, contains: [k]}",
    "output: {format: json, schemaFile: not.json}",
    "output: {format: json, schemaFile: if.json}",
    "output: {format: json, schemaFile: list.json}",
    "output: {format: json, schemaFile: names.json, maxLength: 12}",
    "output: {schemaFile: text.json}",
    "output: {schemaFile: long.json}",
    "guardrails: {pii: {}}",
    "guardrails: {pii: {denyPatterns: ['^ab', 'ab$', '\\bab\\b', 'a.c', '[^a]b', 'a(?!b)']}}",
    "guardrails: {pii: {denyPatterns: ['(a|x)b(?=1)']}}",
    "guardrails: {pii: {denyPatterns: ['(.)\\1c'], customPatterns: [{name: n, pattern: '\\Bb'}]}}",
    "guardrails: {pii: {denyPatterns: ['a*?', 'zzzz']}}",
    "guardrails: {pii: {denyPatterns: ['z{3}', '\\Wdone']}}",
    "guardrails: {keywords: {deny: [ab, zz, 'c '], allow: [x, ab1, 'ΑΣ']}}",
    "toolCalls: [{tool: ab, argsMatch: {k: ab}}, {tool: ab, argsMatch: {k: a}}, {tool: x, shouldNotCall: true}]",
    "toolCalls: [{tool: ab, argsMatch: {n: 1}}, {tool: ab, argsMatch: {ab: x}}, {tool: abc}, {tool: ab, shouldNotCall: true}]",
    "toolCalls: [{tool: ab, argsMatch: {l: [a]}}, {tool: ab, argsMatch: {'0': a, length: 2}}, {tool: ab, argsMatch: {k: '*'}}]",
    "toolCalls: [{tool: ab, argsSchema: args.json}, {tool: a, order: 0}, {tool: ab, order: 1}, {tool: ab, argsSchema: key.json}]",
];

const FILES: [(&str, &str); 8] = [
    ("key.json", r#"{"properties": {"k": {"pattern": "^a", "maxLength": 3}, "n": {"const": 1}}}"#),
    (
        "not.json",
        r#"{"not": {"anyOf": [{"properties": {"k": {"enum": ["a", "ab"]}}, "required": ["k"]}, {"type": "array", "contains": {"const": "a"}}]}}"#,
    ),
    (
        "if.json",
        r#"{"if": {"properties": {"k": {"minLength": 2}}}, "then": {"required": ["n"]}, "else": {"maxProperties": 1}}"#,
    ),
    ("list.json", r#"{"uniqueItems": true, "items": {"type": "string", "format": "email"}, "maxItems": 1}"#),
    (
        "names.json",
        r#"{"propertyNames": {"pattern": "^[a-z]+$"}, "additionalProperties": false, "properties": {"k": {}, "n": {}}}"#,
    ),
    ("text.json", r#"{"oneOf": [{"pattern": "a$"}, {"pattern": "^ab"}]}"#),
    ("long.json", r#"{"type": "string", "minLength": 5, "maxLength": 12}"#),
    (
        "args.json",
        r#"{"required": ["k"], "properties": {"k": {"minLength": 2}, "l": {"type": "array", "minItems": 1}}}"#,
    ),
];

fn case(expect: &str) -> Case {
    let text = format!("tests:\n  - name: t\n    command: run\n    expect:\n      {expect}\n");
    let document = Document::read(&text, Dialect::KINDLM.scalar_rules());
    let files = MemoryFiles::new("/suite", FILES);
    Analyzer::new(SpecFile::KINDLM).analyze(&document, &files, &Settings::default()).suite.cases[0].as_ref().clone()
}

fn evidence(stdout: Capture) -> Evidence {
    Evidence {
        command: Some(Ran {
            command: Capture::whole("run"),
            exit: Some(Exit { code: Some(0), signal: None }),
            stdout: Some(stdout),
            ..Ran::default()
        }),
        duration_ms: Some(12.5),
        ..Evidence::default()
    }
}

fn judged(case: &Case, mut evidence: Evidence, secrets: &Secrets) -> (Vec<Judged>, Status) {
    Dialect::KINDLM.mask(&mut evidence, secrets);
    // As it would be read from a recording.
    let mut evidence: Evidence = serde_json::from_str(&serde_json::to_string(&evidence).unwrap()).unwrap();
    Dialect::KINDLM.interpret(&mut evidence);
    let judged = judge(case, &evidence, secrets);
    let status = status(case, &evidence, &judged);
    (judged, status)
}

/// Number of verdicts that were decided, and how many were open.
#[derive(Debug, Default)]
struct Counts {
    decided: usize,
    open: usize,
}

/// Whatever is said of the part is true of the whole.
fn compare(case: &Case, whole: &str, seen: Evidence, secrets: &Secrets, place: &str, counts: &mut Counts) {
    let (truth, true_status) = judged(case, evidence(Capture::whole(whole)), &Secrets::none());
    let (said, said_status) = judged(case, seen, secrets);
    for Judged { claim, verdict } in &said {
        let outcome = verdict.outcome.status();
        if !matches!(outcome, Status::Pass | Status::Fail) {
            counts.open += 1;
            continue;
        }
        counts.decided += 1;
        // A row of the same claim with the same label, when there is one. A secret in it is masked.
        let same = |it: &&Judged| {
            it.claim == *claim && [it.verdict.label.clone(), secrets.mask(&it.verdict.label)].contains(&verdict.label)
        };
        let Some(other) = truth.iter().find(same) else { continue };
        let other = other.verdict.outcome.status();
        assert!(
            other == outcome || other == Status::Unknown,
            "{place}: {:?} is {other:?}, and called {outcome:?}\n{whole:?}",
            verdict.label
        );
    }
    assert!(said_status != Status::Pass || true_status != Status::Fail, "{place}: called passed\n{whole:?}");
}

#[test]
fn a_verdict_on_a_part_holds_for_the_whole() {
    let cases: Vec<(&str, Case)> = CLAIMS.iter().map(|expect| (*expect, case(expect))).collect();
    assert!(cases.iter().all(|(_, case)| !case.claims.is_empty()));
    let (mut masked, mut cut) = (Counts::default(), Counts::default());
    let mut numbers = Numbers(7);
    for round in 0..4000 {
        let template: Vec<&str> = (0..=numbers.below(3)).map(|_| numbers.one(LINES)).collect();
        let template = template.join("\n");
        // The same places, filled differently: none of the fillings may contradict what is said.
        for _ in 0..2 {
            let secret: String = (0..=numbers.below(4)).map(|_| numbers.one(PARTS)).collect();
            let other: String = (0..=numbers.below(6)).map(|_| numbers.one(PARTS)).collect();
            let mut pieces = template.split('#');
            let mut whole = pieces.next().unwrap_or_default().to_owned();
            for piece in pieces {
                whole.push_str(if numbers.below(2) == 0 { &secret } else { &other });
                whole.push_str(piece);
            }
            let environment = [("FIRST", secret.as_str()), ("SECOND", other.as_str())];
            let secrets = Secrets::new(environment, &["FIRST".to_owned(), "SECOND".to_owned()], &[]);
            let (expect, case) = &cases[numbers.below(cases.len())];
            let place = format!("round {round}, {expect}, secrets {secret:?} and {other:?}");
            compare(case, &whole, evidence(Capture::whole(whole.as_str())), &secrets, &place, &mut masked);
            let end = (0..=numbers.below(whole.len() + 1)).rev().find(|end| whole.is_char_boundary(*end)).unwrap_or(0);
            let part = Capture { cut: true, ..Capture::whole(&whole[..end]) };
            compare(case, &whole, evidence(part), &secrets, &format!("{place}, cut at {end}"), &mut cut);
        }
    }
    // Both kinds occur often: neither all is open, nor all decided.
    for counts in [masked, cut] {
        assert!(counts.decided > 700 && counts.open > 700, "{counts:?}");
    }
}

//! Mappings of several forms: distinguished by a tag, by their only key, or by their type.

use std::sync::LazyLock;

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::super::*;
use crate::{document::ScalarRules, fixing::replaced, shape::Need};

/// A small schema with the same structure as those of the dialects.
static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "then": { "type": "array", "items": { "$ref": "#/$defs/Assertion" } },
            "assert": { "type": "array", "items": { "$ref": "#/$defs/Single" } },
            "tasks": { "type": "array", "items": {
                "if": { "type": "string" },
                "then": { "type": "string", "pattern": "^file://", "description": "A path or pattern of task files.",
                    "examples": ["file://tasks/*.yaml"] },
                "else": { "$ref": "#/$defs/Task" }
            } },
            "limit": { "type": ["number", "string"] }
        },
        "$defs": {
            "Assertion": {
                "type": "object",
                "required": ["type"],
                "x-claims": true,
                "properties": { "type": { "description": "The kind.", "oneOf": [
                    { "const": "file_present", "description": "A file is there." },
                    { "const": "tool_was_called", "description": "A tool was called." }
                ] } },
                "allOf": [
                    { "if": tagged("file_present"), "then": { "$ref": "#/$defs/FilePresent" } },
                    { "if": tagged("tool_was_called"), "then": { "$ref": "#/$defs/ToolWasCalled" } }
                ]
            },
            "FilePresent": {
                "type": "object", "additionalProperties": false, "required": ["path"],
                "properties": { "type": { "const": "file_present" }, "path": { "type": "string", "x-file": "any" } }
            },
            "ToolWasCalled": {
                "type": "object", "additionalProperties": false, "required": ["tool"],
                "properties": {
                    "type": { "const": "tool_was_called" },
                    "tool": { "type": "string" },
                    "log_path": { "type": "string" }
                }
            },
            "Single": {
                "type": "object", "additionalProperties": false, "minProperties": 1, "maxProperties": 1,
                "x-claims": true,
                "properties": { "exit_code": { "type": "integer" }, "ran": { "type": "string" } }
            },
            "Task": {
                "type": "object", "additionalProperties": false, "required": ["id"],
                "properties": { "id": { "type": "string" }, "intent": { "type": "string" } }
            }
        }
    })
});

fn tagged(tag: &str) -> Value {
    json!({ "type": "object", "required": ["type"], "properties": { "type": { "const": tag } } })
}

fn shape() -> Shape {
    Shape::new(&SCHEMA, &SCHEMA)
}

fn problems(text: &str) -> Vec<Problem> {
    let document = Document::read(text, ScalarRules::Yaml12);
    let node = document.root().unwrap();
    let files = MemoryFiles::default();
    let context = Context::new(node, SpecFile::CLAWSPEC_SCENARIOS, Pointer::root(), shape(), &files);
    let mut report = Report::default();
    report_violations(&compile(&SCHEMA, ""), &node.to_plain(usize::MAX).unwrap(), &context, &mut report);
    let mut problems = report.resolve(false).problems();
    problems.sort_by_key(|problem| problem.range.start);
    problems
}

#[track_caller]
fn shows(text: &str, expected: Expect) {
    let lines: Vec<String> = problems(text)
        .iter()
        .map(|problem| {
            let fixes: String = problem.fixes.iter().map(|fix| format!(" [{}]", fix.title)).collect();
            let (word, at) = (problem.code.as_str(), &text[problem.range.clone()]);
            format!("{} {word} @{at}: {}{fixes}\n", problem.severity.as_str(), problem.message)
        })
        .collect();
    expected.assert_eq(&lines.concat());
}

#[test]
fn the_form_that_the_tag_names_is_what_is_checked() {
    shows(
        "then:\n  - type: file_present\n    pth: a\n  - type: tool_was_called\n    path: a\n  - type: file_presnt\n    x: 1\n  - type: [a]\n  - path: a\n  - type: file_present\n    path: 1\n",
        expect![[r#"
            error unknown-key @pth: unknown key `pth` in `file_present` [rename it to `path`]
            error missing-field @type: tool_was_called: `tool_was_called` is missing `tool` [add `tool`]
            error unknown-key @path: unknown key `path` in `tool_was_called` [comment it out]
            error invalid-value @file_presnt: expected `file_present` or `tool_was_called` for `type`, found the string `file_presnt` [change it to `file_present`]
            error wrong-type @[a]: expected `file_present` or `tool_was_called` for `type`, found a list
            error missing-field @path: a: missing `type` [add `type`]
            error wrong-type @1: expected a file path for `path`, found the number `1` [put it in quotes]
        "#]],
    );
}

#[test]
fn one_assertion_is_in_one_item() {
    shows(
        "assert:\n  - exit_code: 0\n    ran: x\n  - {}\n  - exit_cod: 0\n  - { ran: a, exit_code: 1 }\n",
        expect![[r#"
            error conflicting-fields @ran: `exit_code` and `ran` are in the same list item [split it into 2 items]
            error out-of-range @{}: the mapping must not be empty
            error unknown-key @exit_cod: unknown key `exit_cod` [rename it to `exit_code`]
            error conflicting-fields @exit_code: `ran` and `exit_code` are in the same list item [split it into 2 items]
        "#]],
    );
    let text = "assert:\n  - exit_code: 0\n    ran: |\n      x\n  - ran: y\n";
    let fixed = replaced(text, &problems(text)[0].fixes[0].edits);
    assert_eq!(fixed, "assert:\n  - exit_code: 0\n  - ran: |\n      x\n  - ran: y\n");
    assert!(problems(&fixed).is_empty());
}

#[test]
fn a_text_or_a_mapping_is_checked_as_what_it_is() {
    shows(
        "tasks:\n  - file://a.yaml\n  - a.yaml\n  - id: a\n    intnt: b\n  - 3\n  - intent: c\nlimit: [1]\n",
        expect![[r#"
            error invalid-value @a.yaml: expected a path or pattern of task files, such as `"file://tasks/*.yaml"`, found the string `a.yaml`
            error unknown-key @intnt: unknown key `intnt` [rename it to `intent`]
            error wrong-type @3: expected a mapping or a string, found the number `3`
            error missing-field @intent: c: missing `id` [add `id`]
            error wrong-type @[1]: expected a number or string for `limit`, found a list
        "#]],
    );
}

#[test]
fn a_shape_has_the_fields_of_its_form() {
    let fields = |text: &str, at: &str| {
        let document = Document::read(text, ScalarRules::Yaml12);
        let at = Pointer::parse(at);
        let shape = shape().below(&at, document.root()).unwrap();
        let fields = shape.fields(document.find(&at)).into_iter();
        fields.map(|field| format!("{}{}", field.name, if field.need == Need::Required { "!" } else { "" })).collect()
    };
    let check = |text: &str, at: &str, expected: &[&str]| {
        let found: Vec<String> = fields(text, at);
        assert_eq!(found, expected, "{text}");
    };
    check("then:\n  - type: file_present\n", "/then/0", &["type!", "path!"]);
    check("then:\n  - type: tool_was_called\n", "/then/0", &["type!", "tool!", "log_path"]);
    check("then:\n  - type: nothing\n", "/then/0", &["type!"]);
    check("then:\n  -\n", "/then/0", &["type!"]);
    check("tasks:\n  - id: a\n", "/tasks/0", &["id!", "intent"]);
    check("tasks:\n", "/tasks/0", &["id!", "intent"]);
    check("tasks:\n  - file://a\n", "/tasks/0", &[]);
    let task = shape().below(&Pointer::parse("/tasks/0"), None).unwrap();
    assert_eq!(task.text_form().unwrap().docs(), Some("A path or pattern of task files."));
    let single = shape().below(&Pointer::parse("/assert/0"), None).unwrap();
    assert_eq!(single.alternatives(), ["exit_code", "ran"]);
    let limit = shape().below(&Pointer::parse("/limit"), None).unwrap();
    assert_eq!(limit.type_label(), "number or string");
}

#[test]
fn all_tags_stay_on_offer_where_one_is_written() {
    let document = Document::read("then:\n  - type: file_present\n", ScalarRules::Yaml12);
    let tag = shape().below(&Pointer::parse("/then/0/type"), document.root()).unwrap();
    let values: Vec<&str> = tag.values().iter().filter_map(|choice| choice.value.as_str()).collect();
    assert_eq!(values, ["file_present", "tool_was_called"]);
    let assertion = shape().below(&Pointer::parse("/then/0"), None).unwrap();
    let tags: Vec<_> = assertion.variants().into_iter().filter_map(|variant| variant.tag).collect();
    assert_eq!(tags, [("type", "file_present"), ("type", "tool_was_called")]);
    let all: Vec<&str> = assertion.all_fields().iter().map(|field| field.name).collect();
    assert_eq!(all, ["type", "path", "tool", "log_path"]);
}

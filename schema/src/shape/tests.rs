//! Shapes of the real schemas.

use super::*;
use crate::{
    document::{Document, ScalarRules},
    json_schema::SpecFile,
};

fn find(pointer: &str) -> Shape {
    Shape::find(SpecFile::KINDLM, &Pointer::parse(pointer), None).unwrap()
}

#[test]
fn a_pointer_leads_through_lists_maps_and_references() {
    assert_eq!(find("/tests/3/expect/output/maxLength").type_label(), "integer, at least 1");
    assert_eq!(find("/prompts/any/user").word(), Some(Word::Template("vars")));
    assert_eq!(find("/models/0/provider").word(), Some(Word::Refers("providers")));
    assert_eq!(find("/tests/0/expect/output/schemaFile").word(), Some(Word::File("json-schema")));
    assert_eq!(find("/tests/0/conversation/0/expect/judge/0/minScore").type_label(), "number, 0 to 1");
    assert!(Shape::find(SpecFile::KINDLM, &Pointer::parse("/tests/0/nope"), None).is_none());
    assert!(Shape::find(SpecFile::KINDLM, &Pointer::parse("/tests/x"), None).is_none());
}

#[test]
fn types_are_explained_in_words() {
    for (pointer, label) in [
        ("/kindlm", "`1`"),
        ("/tests", "list of mappings"),
        ("/tests/0/vars", "mapping of names to strings"),
        ("/tests/0/models", "list of names from `models`"),
        ("/tests/0/skip", "`true` or `false`"),
        ("/tests/0/expect/output/format", "`text` or `json`"),
        ("/tests/0/expect/latency/maxMs", "number, above 0"),
        ("/tests/0/expect/guardrails/pii/denyPatterns", "list of regular expressions"),
        ("/tests/0/tools/0/defaultResponse", "any value"),
        ("/defaults/timeoutMs", "integer, at least 1000"),
    ] {
        assert_eq!(find(pointer).type_label(), label, "{pointer}");
    }
}

#[test]
fn a_choice_has_its_own_docs() {
    let values = find("/tests/0/expect/baseline/drift/method").values();
    assert_eq!(
        values.iter().map(|choice| crate::quoting::show(choice.value)).collect::<Vec<_>>(),
        ["judge", "embedding", "field-diff"]
    );
    assert!(values.iter().all(|choice| choice.docs.is_some()));
    assert_eq!(find("/tests/0/expect/baseline/drift/method").default(), Some(&Value::from("judge")));
}

#[test]
fn what_is_required_depends_on_the_document() {
    let need = |text: &str, pointer: &str, name: &str| {
        let document = Document::read(text, ScalarRules::Yaml12);
        let pointer = Pointer::parse(pointer);
        let node = document.find(&pointer);
        let fields = Shape::find(SpecFile::KINDLM, &pointer, document.root()).unwrap().fields(node);
        fields.into_iter().find(|field| field.name == name).unwrap().need
    };
    let json = "tests:\n  - expect: { output: { format: json } }\n";
    assert_eq!(need(json, "/tests/0/expect/output", "schemaFile"), Need::Required);
    let text = "tests:\n  - expect: { output: { format: text } }\n";
    assert_eq!(need(text, "/tests/0/expect/output", "schemaFile"), Need::Optional);
    assert_eq!(need(text, "/tests/0", "prompt"), Need::OneOf(vec!["command", "prompt"]));
    assert_eq!(need(text, "", "models"), Need::Optional);
    assert_eq!(need("tests: [{ prompt: p }]\n", "", "models"), Need::Required);
}

#[test]
fn a_key_is_known_where_it_belongs() {
    let words = |key| places_of(SpecFile::KINDLM, key).iter().map(KeyPath::words).collect::<Vec<_>>();
    assert_eq!(words("contains"), ["under `output`", "under `output`"]);
    assert_eq!(words("timeoutMs"), ["under `defaults`", "under `trace`"]);
    assert_eq!(words("concurrency"), ["under `defaults`", "under `strategy`"]);
    assert_eq!(words("apiKeyEnv").len(), 7);
    assert!(words("assert").is_empty());
}

#[test]
fn every_field_is_documented_and_its_first_line_is_short() {
    fn check(shape: &Shape, path: &str, depth: usize) {
        if depth > 12 {
            return;
        }
        for field in shape.fields(None) {
            let path = format!("{path}/{}", field.name);
            let named = shape.keyword("propertyNames").is_some();
            let summary = field.shape.summary().unwrap_or_else(|| panic!("{path} has no docs"));
            assert!(named || summary.chars().count() <= 100, "{path}: {summary}");
            check(&field.shape, &path, depth + 1);
        }
        for member in [shape.item(), shape.map_value()].into_iter().flatten() {
            check(&member, &format!("{path}/*"), depth + 1);
        }
    }
    SpecFile::ALL.iter().for_each(|file| check(&Shape::of(*file), file.as_str(), 0));
}

#[test]
fn settings_offer_every_code() {
    let fields = Shape::find(SpecFile::SETTINGS, &Pointer::parse("/severity"), None).unwrap().fields(None);
    assert!(fields.iter().any(|field| field.name == "unknown-key"));
    assert!(!fields[0].shape.values().is_empty());
}

#[test]
fn texts_are_quoted_where_yaml_could_read_something_else() {
    for (text, shown) in [("a b", "a b"), ("yes", "\"yes\""), ("1", "\"1\""), ("a: b", "\"a: b\""), ("", "\"\"")] {
        assert_eq!(crate::quoting::scalar(text), shown);
    }
}

//! The parts together have the same result as the whole.

mod forms;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;
use crate::document::ScalarRules;

fn of_whole(document: &Document) -> BTreeSet<String> {
    let mut schema = SpecFile::KINDLM.schema().clone();
    for keyword in ["$id", "if", "then"] {
        schema.as_object_mut().unwrap().remove(keyword);
    }
    let validator = compile(&schema, "");
    let root = document.root().unwrap();
    let value = root.to_plain(usize::MAX).unwrap();
    let mut findings = Vec::new();
    for error in validator.iter_errors(&value) {
        collect(root, &error, &mut findings);
    }
    names(&Pointer::root(), &findings)
}

fn of_parts(document: &Document) -> BTreeSet<String> {
    let file = SpecFile::KINDLM;
    let mut parts = vec![(Pointer::root(), document.root().unwrap(), Definition::Root(file))];
    for list in Definition::lists(file) {
        let items = document.root().unwrap().get(list).into_iter().flat_map(|list| list.items().collect::<Vec<_>>());
        for (index, item) in items.enumerate() {
            parts.push((Pointer::root().key(list).index(index), item, Definition::Item(file, list)));
        }
    }
    let mut all = BTreeSet::new();
    for (base, node, definition) in parts {
        let value = definition.value(node).unwrap();
        let mut findings = Vec::new();
        for error in definition.validator().iter_errors(&value) {
            collect(node, &error, &mut findings);
        }
        all.extend(names(&base, &findings));
    }
    all
}

fn names(base: &Pointer, findings: &[Violation]) -> BTreeSet<String> {
    findings.iter().map(|finding| format!("{} {:?}", base.join(&finding.at), finding.kind)).collect()
}

fn suite() -> Value {
    json!({
        "kindlm": 1, "project": "p", "suite": { "name": "s", "tags": ["a"] },
        "providers": { "openai": { "apiKeyEnv": "K" }, "http": { "url": "https://a" } },
        "models": [{ "id": "m", "provider": "openai", "model": "x", "params": { "seed": 1 } }, { "id": "n", "provider": "http", "model": "y" }],
        "prompts": { "p": { "user": "u" } },
        "tests": [
            { "name": "a", "command": "true", "vars": { "v": "1" }, "expect": { "output": { "format": "json", "schemaFile": "s.json" } } },
            { "name": "b", "prompt": "p", "models": ["m"], "tools": [{ "name": "t", "responses": [{ "when": {} }] }],
              "conversation": [{ "turn": "one", "expect": { "latency": { "maxMs": 5 } } }],
              "expect": { "toolCalls": [{ "tool": "t", "argsMatch": { "a": 1 } }], "judge": [{ "criteria": "c" }] } }
        ],
        "gates": { "passRateMin": 0.5 }, "defaults": { "repeat": 2 }
    })
}

/// A small random number generator with reproducible results.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// Replaces, removes or renames a random value.
fn mutate(value: &mut Value, numbers: &mut Numbers) {
    let junk =
        [json!(null), json!(-1), json!(1.5), json!("json"), json!(""), json!([]), json!({}), json!([{}]), json!(true)];
    let deeper = numbers.below(4) > 0;
    match value {
        Value::Object(members) if deeper && !members.is_empty() => {
            let key = members.keys().nth(numbers.below(members.len())).cloned().unwrap();
            match numbers.below(8) {
                0 => drop(members.remove(&key)),
                1 => drop(members.insert(format!("{key}x"), json!(1))),
                2 => drop(members.insert("prompt".to_owned(), json!("p"))),
                _ => mutate(&mut members[&key], numbers),
            }
        }
        Value::Array(items) if deeper && !items.is_empty() => {
            let index = numbers.below(items.len());
            mutate(&mut items[index], numbers);
        }
        other => *other = junk[numbers.below(junk.len())].clone(),
    }
}

#[test]
fn the_parts_together_say_what_the_whole_says() {
    let mut numbers = Numbers(7);
    let mut wrong = 0;
    for _ in 0..400 {
        let mut value = suite();
        for _ in 0..=numbers.below(3) {
            mutate(&mut value, &mut numbers);
        }
        let document = Document::read(&value.to_string(), ScalarRules::Yaml12);
        // A single word is a syntax problem.
        if document.root().is_none() {
            continue;
        }
        let whole = of_whole(&document);
        assert_eq!(whole, of_parts(&document), "{value}");
        wrong += usize::from(!whole.is_empty());
    }
    assert!(wrong > 200, "only {wrong} of 400 mutations were wrong");
}

/// Every error becomes a problem: both validations accept a document or neither does.
#[test]
fn no_error_is_lost() {
    let mut numbers = Numbers(11);
    let validator = jsonschema::validator_for(SpecFile::KINDLM.schema()).unwrap();
    for _ in 0..400 {
        let mut value = suite();
        mutate(&mut value, &mut numbers);
        // Conditions of the schema between blocks are a rule of the dialect.
        if !value.is_object()
            || value["models"] == json!([])
            || value["prompts"] == json!({})
            || value["providers"] == json!({})
        {
            continue;
        }
        let document = Document::read(&value.to_string(), ScalarRules::Yaml12);
        let prompts =
            value["tests"].as_array().is_some_and(|tests| tests.iter().any(|test| test.get("prompt").is_some()));
        let sections = ["providers", "models", "prompts"].iter().all(|section| value.get(section).is_some());
        let lint = prompts && !sections;
        assert_eq!(validator.is_valid(&value), validate(&document, SpecFile::KINDLM).is_empty() && !lint, "{value}");
    }
}

/// Returns the highest number of items that a schema requires.
fn most_items(schema: &serde_json::Value) -> u64 {
    match schema {
        serde_json::Value::Object(keywords) => {
            let limits = ["minItems", "maxItems", "minContains", "maxContains"].into_iter();
            let own = limits.filter_map(|keyword| keywords.get(keyword)?.as_u64()).max().unwrap_or_default();
            // The conditions of declared problems are no limits of the validator.
            let below = keywords.iter().filter(|(keyword, _)| !keyword.starts_with("x-"));
            below.map(|(_, value)| most_items(value)).max().unwrap_or_default().max(own)
        }
        serde_json::Value::Array(parts) => parts.iter().map(most_items).max().unwrap_or_default(),
        _ => 0,
    }
}

#[test]
fn no_schema_has_a_limit_of_items_above_those_that_are_counted() {
    for file in SpecFile::ALL {
        assert!((most_items(file.schema()) as usize) < MAX_COUNTED, "{}", file.as_str());
    }
}

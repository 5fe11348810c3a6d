//! Whatever a person types: checking never panics, and every problem points into the text.

#[path = "common/numbers.rs"]
mod numbers;

use std::{fs, path::Path};

use speclens_schema::{
    analysis::Analyzer, dialect::ScalarRules, document::Document, files::MemoryFiles, json_schema::SpecFile,
    problem::Problem, settings::Settings,
};

use numbers::Numbers;

fn mutate(text: &str, numbers: &mut Numbers) -> String {
    let mut text = text.to_owned();
    for _ in 0..=numbers.below(4) {
        let (range, comes) = numbers.edit(&text);
        text.replace_range(range, &comes);
    }
    text
}

#[track_caller]
fn check(text: &str, problem: &Problem) {
    assert!(text.get(problem.range.clone()).is_some(), "{problem:?}\n{text}");
    assert!(!problem.message.contains("a bug in"), "{text}");
    assert!(!problem.message.contains("under any of the"), "{}", problem.message);
    for related in &problem.related {
        assert!(text.get(related.range.clone()).is_some(), "{problem:?}\n{text}");
    }
    for fix in &problem.fixes {
        for edit in &fix.edits {
            assert!(text.get(edit.range.clone()).is_some(), "{problem:?}\n{text}");
        }
    }
}

#[test]
fn checking_survives_any_edit() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/problems");
    let mut suites: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension().is_some_and(|extension| extension == "yaml") && !path.ends_with("too-large.yaml")
        })
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    suites.sort();
    let files = MemoryFiles::new("/suite", [("schemas/answer.json", "{}")]);
    let mut numbers = Numbers(3);
    let mut found = 0;
    for round in 0..1500 {
        let text = mutate(&suites[round % suites.len()], &mut numbers);
        let document = Document::read(&text, ScalarRules::Yaml12);
        let problems = Analyzer::new(SpecFile::KINDLM).problems(&document, &files, &Settings::default());
        problems.iter().for_each(|problem| check(&text, problem));
        found += problems.len();
    }
    assert!(found > 1500, "only {found} problems");
}

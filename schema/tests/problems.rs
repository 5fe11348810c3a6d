//! One golden file per kind of problem: what a person sees. A stale one is rewritten, and the test fails once.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;
#[path = "common/golden.rs"]
mod golden;

use std::{collections::BTreeSet, fs, path::Path};

use speclens_schema::{
    analysis::Analyzer,
    dialect::ScalarRules,
    document::Document,
    json_schema::SpecFile,
    problem::{Code, Problem},
    settings::Settings,
};

use golden::kindlm_files;

/// No text of the first format shows these: they are found in bytes, there is not a text, or they belong to another
/// format, in whose folder they are shown.
fn is_elsewhere(code: Code) -> bool {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/problems");
    let name = format!("{}.yaml", code.as_str());
    let shown = || ["cli-bench", "clawspec"].iter().any(|dialect| folder.join(dialect).join(&name).exists());
    matches!(code, Code::Encoding | Code::UnreadableFile) || (!folder.join(&name).exists() && shown())
}

/// Returns the codes that are shown here, each with the names of its files: its own, and those of a topic
/// (`CODE--topic`).
fn goldens() -> Vec<(Code, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/problems");
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names: BTreeSet<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let shown = Code::ALL.iter().copied().filter(|code| !is_elsewhere(*code));
    let stems = shown.flat_map(|code| {
        let topics = names.iter().filter_map(move |name| {
            let stem = name.strip_suffix(".yaml")?;
            stem.starts_with(&format!("{}--", code.as_str())).then(|| (code, stem.to_owned()))
        });
        std::iter::once((code, code.as_str().to_owned())).chain(topics).collect::<Vec<_>>()
    });
    stems.collect()
}

fn problems(text: &str, file: SpecFile) -> Vec<Problem> {
    let document = Document::read(text, ScalarRules::Yaml12);
    Analyzer::new(file).problems(&document, &kindlm_files(), &Settings::default())
}

#[test]
fn every_code_shows_what_is_wrong() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/problems");
    let mut stale = Vec::new();
    for (code, stem) in goldens() {
        let text = fs::read_to_string(folder.join(format!("{stem}.yaml"))).unwrap_or_default();
        let file = if stem == Code::InvalidSetting.as_str() { SpecFile::SETTINGS } else { SpecFile::KINDLM };
        let problems = problems(&text, file);
        assert!(problems.iter().any(|problem| problem.code == code), "{stem}: {problems:#?}");
        let document = Document::read(&text, ScalarRules::Yaml12);
        for problem in &problems {
            // The node, or where a key is missing the mapping that lacks it.
            let parent = problem.at.parent().unwrap_or_default();
            assert!(document.find(&parent).is_some(), "{problem:?}");
            assert!(text.get(problem.range.clone()).is_some(), "{problem:?}");
            assert!(!problem.message.ends_with('.') && !problem.message.is_empty(), "{}", problem.message);
        }
        let rendered = common::render(&text, &problems);
        let golden = folder.join(format!("{stem}.txt"));
        if fs::read_to_string(&golden).unwrap_or_default() != rendered {
            fs::write(&golden, rendered).unwrap();
            stale.push(stem);
        }
    }
    assert!(stale.is_empty(), "written anew, look at the changes: {stale:?}");
}

/// Nothing is in the folder that no test looks at.
#[test]
fn every_file_belongs_to_a_code() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/problems");
    let names: BTreeSet<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_file())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    let expected: BTreeSet<String> =
        goldens().into_iter().flat_map(|(_, stem)| [format!("{stem}.yaml"), format!("{stem}.txt")]).collect();
    assert_eq!(names, expected);
}

//! Files that the original program refuses for their size are worth a remark here, and no more.

use speclens_schema::{
    dialect::{ScalarRules, kindlm::lint::lint},
    document::Document,
    files::MemoryFiles,
    problem::{Code, Severity},
};

const HEAD: &str = "kindlm: 1\nproject: p\nsuite: { name: s }\nproviders: { ollama: {} }\n";

/// The remarks on a suite with this many models and tests, and a comment of this many bytes.
fn remarks(models: usize, tests: usize, comment: usize) -> Vec<(String, String)> {
    let mut text = format!("{HEAD}# {}\nprompts: {{ p: {{ user: u }} }}\nmodels:\n", "x".repeat(comment));
    for model in 0..models {
        text.push_str(&format!("  - {{ id: m{model}, provider: ollama, model: x }}\n"));
    }
    text.push_str("tests:\n");
    for test in 0..tests {
        text.push_str(&format!("  - {{ name: t{test}, prompt: p, expect: {{ output: {{ contains: [a] }} }} }}\n"));
    }
    let document = Document::read(&text, ScalarRules::Yaml12);
    let problems = lint(&document, &MemoryFiles::default());
    problems
        .into_iter()
        .inspect(|problem| assert_eq!((problem.code, problem.severity), (Code::UpstreamDiffers, Severity::Information)))
        .map(|problem| (problem.at.as_str().to_owned(), problem.message))
        .collect()
}

#[test]
fn what_the_original_can_read_needs_no_remark() {
    assert_eq!(remarks(50, 1000, 0), []);
}

#[test]
fn more_than_the_original_reads_is_remarked_once() {
    let remarks = remarks(51, 1001, 1_048_576);
    let places: Vec<&str> = remarks.iter().map(|(at, _)| at.as_str()).collect();
    assert_eq!(places, ["", "/models", "/tests/1000"]);
    assert!(remarks.iter().all(|(_, message)| message.contains("the original program refuses")), "{remarks:?}");
}

//! The shipped examples are right: nothing is wrong with them, in the eyes of the schema, the lints, and the
//! types.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;
#[path = "common/golden.rs"]
mod golden;

use std::{fs, path::Path};

use speclens_schema::{
    analysis::Analyzer,
    dialect::{ScalarRules, cli_bench, kindlm::config::Config},
    document::Document,
    files::MemoryFiles,
    json_schema::SpecFile,
    problem::Severity,
    settings::Settings,
};

use golden::files_below;

#[test]
fn nothing_is_wrong_with_the_examples() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut seen = 0;
    // A ClawSpec workspace has a test of its own.
    let is_suite = |path: &std::path::PathBuf| path.is_dir() && !path.join("clawspec.yaml").exists();
    for example in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(is_suite) {
        let mut beside = Vec::new();
        files_below(&example, "", &mut beside);
        let beside = MemoryFiles::new(&example, beside.iter().map(|(name, text)| (name.as_str(), text.as_str())));
        let main = [("kindlm.yaml", SpecFile::KINDLM), ("cli-bench.yaml", SpecFile::CLI_BENCH)];
        let (name, file) = main.into_iter().find(|(name, _)| example.join(name).exists()).unwrap();
        let text = fs::read_to_string(example.join(name)).unwrap();
        let beside = beside.at(name);
        let document = Document::read(&text, ScalarRules::Yaml12);
        let mut problems = Analyzer::new(file).problems(&document, &beside, &Settings::default());
        // What another program would do is worth knowing, and no mistake.
        problems.retain(|problem| problem.severity < Severity::Information);
        assert!(problems.is_empty(), "{}\n{}", example.display(), common::render(&text, &problems));
        let value = document.root().unwrap().to_value().unwrap();
        assert!(jsonschema::validator_for(file.schema()).unwrap().is_valid(&value));
        if file == SpecFile::KINDLM {
            drop(serde_json::from_value::<Config>(value).unwrap());
        } else {
            drop(serde_json::from_value::<cli_bench::config::Config>(value).unwrap());
        }
        seen += 1;
    }
    assert!(seen >= 4, "only {seen} examples");
}

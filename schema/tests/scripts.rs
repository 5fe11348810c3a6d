//! Scripted models and the suites that name them.

use speclens_schema::{
    analysis::Analyzer,
    document::Document,
    files::MemoryFiles,
    format::Dialect,
    json_schema::SpecFile,
    problem::{Code, Severity},
    settings::Settings,
};

fn codes(text: &str, files: &MemoryFiles) -> Vec<(Code, Severity)> {
    let document = Document::read(text, SpecFile::SCRIPT.scalar_rules());
    let problems = Analyzer::new(SpecFile::SCRIPT).problems(&document, files, &Settings::default());
    problems.into_iter().map(|problem| (problem.code, problem.severity)).collect()
}

/// A script in use is checked against its suite; one that is played by hand may be for another one.
#[test]
fn unknown_tasks_are_reported_as_far_as_the_suite_is_known() {
    let text = "tasks:\n  other:\n    - say: a\n";
    let suite = |providers: &str, more: &str| {
        let suite = format!("cli: a\n{providers}tasks:\n  - {{id: a, intent: b, assert: [{{ran: c}}]}}\n{more}");
        MemoryFiles::new("/s", [("cli-bench.yaml", suite.as_str())])
    };
    let named = "providers: [scripted/x]\n";
    let at = |files: MemoryFiles| files.at("x.script.yaml").named_by("cli-bench.yaml");
    assert_eq!(codes(text, &at(suite(named, ""))), [(Code::UnknownReference, Severity::Warning)]);
    assert_eq!(codes(text, &at(suite("", ""))), [(Code::UnknownReference, Severity::Hint)]);
    assert_eq!(codes(text, &at(suite(named, "  - file://missing.yaml\n"))), []);
    assert_eq!(codes(text, &suite(named, "").at("x.script.yaml")), []);
    let mut kindlm = at(suite(named, ""));
    kindlm.add("kindlm.yaml", "kindlm: 1\n");
    assert_eq!(codes(text, &kindlm), []);
}

/// Only speclens plays scripts, which matters to those who run the suite with cli-bench as well.
#[test]
fn scripted_models_in_a_suite_are_reported_only_where_cli_bench_has_to_read_it() {
    let text = "cli: a\nproviders: [scripted/x]\ntasks:\n  - {id: a, intent: b, assert: [{exit_code: 0}]}\n";
    let files = MemoryFiles::new("/s", [("x.script.yaml", "default: []\n")]).at("cli-bench.yaml");
    let found = |compat: Vec<Dialect>| {
        let document = Document::read(text, SpecFile::CLI_BENCH.scalar_rules());
        let settings = Settings { compat, ..Settings::default() };
        let problems = Analyzer::new(SpecFile::CLI_BENCH).problems(&document, &files, &settings);
        let found = problems.into_iter().filter(|problem| problem.code == Code::UpstreamDiffers);
        found.map(|problem| (problem.severity, text[problem.range].to_owned())).collect::<Vec<_>>()
    };
    assert_eq!(found(vec![Dialect::CLI_BENCH]), [(Severity::Error, "scripted/x".to_owned())]);
    assert_eq!(found(vec![Dialect::KINDLM]), []);
    assert_eq!(found(Vec::new()), []);
}

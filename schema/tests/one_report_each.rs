//! One mistake is reported once: at the value that aliases repeat, at the value that is nested too deep, at the key
//! that a reference cannot find.

use speclens_schema::{
    analysis::{Analysis, Analyzer},
    document::Document,
    files::MemoryFiles,
    json_schema::SpecFile,
    problem::{Code, Severity},
    settings::Settings,
};

const HEAD: &str = "kindlm: 1\nproject: p\nsuite: {name: s}\n";

fn analysis(text: &str, file: SpecFile) -> Analysis {
    let document = Document::read(text, file.scalar_rules());
    Analyzer::new(file).analyze(&document, &MemoryFiles::default(), &Settings::default())
}

/// Returns the errors and warnings, each with the text that is marked.
fn told(text: &str, file: SpecFile) -> Vec<(Code, &str)> {
    let problems = analysis(text, file).problems.into_iter().filter(|problem| problem.severity <= Severity::Warning);
    problems.map(|problem| (problem.code, &text[problem.range])).collect()
}

#[test]
fn a_mistake_in_a_value_that_aliases_repeat_is_reported_at_the_value() {
    let text = format!(
        "{HEAD}tests:\n  - {{name: a, command: x, expect: &e {{latency: {{maxMs: 0}}}}}}\n  - {{name: b, command: x, expect: *e}}\n  - {{name: c, command: x, expect: {{output: {{contains: [a]}}}}}}\n"
    );
    assert_eq!(told(&text, SpecFile::KINDLM), [(Code::OutOfRange, "0")]);
    let analysis = analysis(&text, SpecFile::KINDLM);
    let problem = analysis.problems.iter().find(|problem| problem.code == Code::OutOfRange).unwrap();
    let related: Vec<&str> = problem.related.iter().map(|related| &text[related.range.clone()]).collect();
    assert_eq!(related, ["*e"]);
    // The test with the alias is as wrong as the other.
    let intact: Vec<bool> = analysis.suite.cases.iter().map(|case| case.intact).collect();
    assert_eq!(intact, [false, false, true]);
}

#[test]
fn where_nobody_looks_at_the_value_its_first_use_tells() {
    let text = "cli: git\nproviders: [a/b]\nenv: {A: b}\nx-claims: &as [{exit_cod: 0}]\ntasks:\n  - {id: a, intent: Show the history, assert: *as}\n  - {id: b, intent: Show the branches, assert: *as}\n";
    let found = analysis(text, SpecFile::CLI_BENCH).problems;
    let found: Vec<_> = found.iter().filter(|problem| problem.message.contains("exit_cod")).collect();
    assert_eq!(found.len(), 1, "{found:#?}");
    let related: Vec<&str> = found[0].related.iter().map(|related| &text[related.range.clone()]).collect();
    assert_eq!((&text[found[0].range.clone()], related.as_slice()), ("*as", &["0", "*as"][..]));
}

#[test]
fn equal_mistakes_in_different_values_are_reported_each() {
    let text = format!(
        "{HEAD}tests:\n  - {{name: a, command: x, expect: &e {{latency: {{maxMs: 0}}}}}}\n  - {{name: b, command: x, expect: {{latency: {{maxMs: 0}}}}}}\n  - {{name: c, command: x, expect: *e}}\n"
    );
    assert_eq!(told(&text, SpecFile::KINDLM), [(Code::OutOfRange, "0"), (Code::OutOfRange, "0")]);
}

#[test]
fn what_is_nested_too_deep_is_reported_in_its_line() {
    let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
    let test = |args: &str| {
        format!(
            "{HEAD}tests:\n  - name: a\n    command: x\n    expect: {{toolCalls: [{{tool: t, argsMatch: {{a: {args}, b: 1}}}}]}}\n"
        )
    };
    let text = test(&deep);
    let found = told(&text, SpecFile::KINDLM);
    assert!(matches!(found.as_slice(), [(Code::TooLarge, line)] if line.contains(&deep)), "{found:?}");
    assert!(analysis(&text, SpecFile::KINDLM).suite.cases.iter().all(|case| !case.intact));
    // Without an end nothing of it can be read, and nothing is said to be missing.
    let found = told(&test(&"[".repeat(300)), SpecFile::KINDLM).len();
    assert_eq!(found, 1);
    let indented: String = (0..300).map(|depth| format!("{}- \n", " ".repeat(8 + depth))).collect();
    let text = format!("{HEAD}tests:\n  - name: a\n    command: x\n    vars:\n{indented}");
    let codes: Vec<Code> = told(&text, SpecFile::KINDLM).into_iter().map(|(code, _)| code).collect();
    assert_eq!(codes, [Code::TooLarge]);
}

#[test]
fn a_misspelled_provider_is_reported_where_it_is_defined() {
    let suite = |providers: &str| {
        format!(
            "{HEAD}providers: {providers}\nmodels: [{{id: m, provider: ollama, model: x}}]\nprompts: {{ask: {{user: u}}}}\ntests:\n  - {{name: a, prompt: ask, expect: {{output: {{contains: [a]}}}}}}\n"
        )
    };
    let text = suite("{llama: {}}");
    assert_eq!(told(&text, SpecFile::KINDLM), [(Code::UnknownKey, "llama")]);
    let problem = analysis(&text, SpecFile::KINDLM).problems.remove(0);
    assert_eq!(problem.severity, Severity::Error, "the model could not be asked");
    // Nothing needs it.
    let text = suite("{ollama: {}, llama: {}}");
    let problem = analysis(&text, SpecFile::KINDLM).problems.remove(0);
    assert_eq!((problem.code, problem.severity), (Code::UnknownKey, Severity::Warning));
}

#[test]
fn what_is_in_a_block_text_is_marked_there() {
    let text = "cli: git\nproviders: [a/b]\ntasks:\n  - id: a\n    intent: |\n      Run git log --oneline\n      now\n    assert:\n      - exit_code: 0\n      - not_ran: |\n          git (\n";
    let problems = analysis(text, SpecFile::CLI_BENCH).problems;
    let marked = |code: Code| problems.iter().find(|problem| problem.code == code).map(|it| &text[it.range.clone()]);
    assert_eq!(marked(Code::RevealingIntent), Some("git log --oneline"));
    assert_eq!(marked(Code::InvalidPattern), Some("git ("));
}

#[test]
fn invalid_pattern_in_several_lines_is_marked_in_the_text() {
    let text = "cli: git\nproviders: [a/b]\ntasks:\n  - id: a\n    intent: Show it\n    assert:\n      - exit_code: 0\n      - not_ran: |\n          git (\n          log\n";
    let problems = analysis(text, SpecFile::CLI_BENCH).problems;
    let pattern = problems.iter().find(|problem| problem.code == Code::InvalidPattern).unwrap();
    assert_eq!(&text[pattern.range.clone()], "git (");
}

#[test]
fn keys_that_are_numbers_are_not_items() {
    let text =
        format!("{HEAD}tests:\n  - {{name: a, command: x, vars: {{1: 2}}, expect: {{output: {{contains: [a]}}}}}}\n");
    let problems = analysis(&text, SpecFile::KINDLM).problems;
    let problem = problems.iter().find(|problem| problem.code == Code::WrongType).unwrap();
    assert!(problem.message.starts_with("expected a string for `1`"), "{}", problem.message);
}

/// A key in a suite of any format is reported once, wherever it is.
#[test]
fn pasted_secrets_are_reported_in_every_format() {
    // Put together here, so that no scanner takes this file for a leak.
    let key = ["ghp_", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hL"].concat();
    for (file, text) in [
        (SpecFile::KINDLM, format!("kindlm: 1\ntests:\n  - name: a\n    command: login {key}\n    expect: {{}}\n")),
        (SpecFile::KINDLM, format!("kindlm: 1\nproject: {key}\n")),
        (SpecFile::CLI_BENCH, format!("cli: a\nsetup: [login {key}]\n")),
        (SpecFile::CLI_BENCH_TASKS, format!("- id: a\n  env: {{TOKEN: {key}}}\n")),
        (SpecFile::CLAWSPEC_SCENARIOS, format!("scenarios:\n  - name: a\n    when: {{params: {{key: {key}}}}}\n")),
        (SpecFile::CLAWSPEC, format!("gateway_auth_token: {key}\n")),
    ] {
        let problems = analysis(&text, file).problems;
        let told: Vec<_> = problems.iter().filter(|problem| problem.code == Code::PastedSecret).collect();
        assert_eq!(told.len(), 1, "{text}{problems:#?}");
        assert!(text[told[0].range.clone()].contains(&key) || file == SpecFile::CLAWSPEC, "{told:?}");
    }
}

//! Texts with thousands of mistakes: each is reported at its place, in a time that grows with the text alone.

use speclens_schema::{
    analysis::Analyzer,
    document::{Document, ScalarRules},
    files::MemoryFiles,
    json_schema::SpecFile,
    problem::Code,
    settings::Settings,
};

/// Returns the words at which problems of a kind are reported.
fn words(text: &str, code: Code) -> Vec<String> {
    let document = Document::read(text, ScalarRules::Yaml12);
    let files = MemoryFiles::new("/", []);
    let problems = Analyzer::new(SpecFile::KINDLM).problems(&document, &files, &Settings::default());
    problems.into_iter().filter(|it| it.code == code).map(|it| text[it.range].to_owned()).collect()
}

#[test]
fn every_missing_variable_of_a_long_command_is_reported_at_its_placeholder() {
    const COUNT: usize = 2000;
    let expected: Vec<String> = (0..COUNT).map(|number| format!("{{{{v{number}}}}}")).collect();
    let lines: String = expected.iter().map(|placeholder| format!("      echo {placeholder} {{x}}\n")).collect();
    let block = format!("    command: |\n{lines}");
    let quoted = format!("    command: \"{}\"\n", expected.join(" "));
    for command in [block, quoted] {
        let head = "kindlm: 1\nproject: a\nsuite: {name: b}\ntests:\n  - name: t\n    vars: {a: b}\n";
        let text = format!("{head}{command}    expect: {{output: {{contains: [a]}}}}\n");
        let outdented: String =
            text.lines().map(|line| format!("{}\n", line.strip_prefix("  ").unwrap_or(line))).collect();
        for text in [text.replace('\n', "\r\n"), outdented, text] {
            assert_eq!(words(&text, Code::MissingVariable), expected);
        }
    }
}

//! ClawSpec files are read as PyYAML reads them: what it refuses is an error here, and nothing else is. The answers below
//! are those of PyYAML 6.0.3.

use speclens_schema::{
    analysis::Analyzer,
    document::{Document, Pointer, ScalarRules},
    files::MemoryFiles,
    fixing::replaced,
    json_schema::SpecFile,
    problem::{Code, Problem, Severity},
    settings::Settings,
};

fn problems(document: &Document) -> Vec<Problem> {
    let files = MemoryFiles::new("/work", [("clawspec.yaml", "")]).at("clawspec.yaml");
    let found = Analyzer::new(SpecFile::CLAWSPEC).problems(document, &files, &Settings::default());
    // The keys of the texts below are none of a file of settings.
    found.into_iter().filter(|problem| problem.code != Code::UnknownKey).collect()
}

fn errors(document: &Document) -> Vec<String> {
    let errors = problems(document).into_iter().filter(|problem| problem.severity == Severity::Error);
    errors.map(|problem| format!("{}: {}", problem.code.as_str(), problem.message)).collect()
}

/// Texts that PyYAML reads, and what `/a` means.
const READ: &[(&str, &str)] = &[
    ("a: \"x\ny\"\nc: 1\n", "x y"),
    ("b:\n  a: 1\na: \"x\n\n  \n\ty\"\nc: 1\n", "x\n\ny"),
    ("a: 'it''s  \nhere'\nc: 1\n", "it's here"),
    ("a: \"x\nb: 2\"\nc: 1\n", "x b: 2"),
    ("a: \"x\n  y\n z\"\n", "x y z"),
    ("a: |\n  x\n  \t\nb: 1\n", "x\n\t\n"),
    ("a: \"x\ty\" # a\tb\n", "x\ty"),
    ("# a\tb\na: 'x\ty'\n", "x\ty"),
    ("a: ! x\n", "x"),
    ("a: !!str 1\n", "1"),
    ("a: &a-b_1 x\n", "x"),
    ("a: 2026-3-1\n", "2026-3-1"),
    ("a: 2026-02-30 10:00\n", "2026-02-30 10:00"),
    ("a: \"=\"\n", "="),
    ("b: {<<: [{c: 1}, {d: 2}]}\na: x\n", "x"),
    ("b: [1,\n2]\na: x\n", "x"),
    ("b: {x: 1,\ny: 2}\na: x\n", "x"),
    ("b: [\n1,\n]\na: x\n", "x"),
];

/// Texts that PyYAML refuses, the words to blame, and a part of the message.
const REFUSED: &[(&str, &str, &str)] = &[
    ("a: 1\t# c\n", "\t", "tab"),
    ("a:\t1\n", "\t", "tab"),
    ("a: x\ty\n", "\t", "tab"),
    ("a: [1,\t2]\n", "\t", "tab"),
    ("a: 1\n \t \nb: 2\n", "\t", "tab"),
    ("a: |\t\n  x\n", "\t", "tab"),
    ("a: |\n  x\n\t\nb: 1\n", "\t", "tab"),
    ("a: \"x\"\t\n", "\t", "tab"),
    ("a: !x 1\n", "1", "`!x`"),
    ("a: !!python/none x\n", "x", "`!!python/none`"),
    ("a: !!int x\n", "x", "not a valid `!!int`"),
    ("[a]: 1\n", "[a]", "expected a string as the key"),
    ("a: {{today}}\n", "{today}", "needs quotes"),
    ("a: [{{today}}]\n", "{today}", "needs quotes"),
    ("a: =\n", "=", "not a string in YAML 1.1"),
    ("a: <<\n", "<<", "not a string in YAML 1.1"),
    ("<<: 1\n", "1", "expected a mapping for `<<`"),
    ("a: 2026-02-30\n", "2026-02-30", "not a valid date"),
    ("a: 2026-03-11T25:00:00Z\n", "2026-03-11T25:00:00Z", "not a valid date"),
    ("a: &id.1 1\n", "a", "not a valid anchor name"),
    ("a: \"x\n--- y\"\n", "", ""),
    ("a: x\ny\nb: 1\n", "", ""),
];

#[test]
fn what_pyyaml_reads_is_read_in_the_same_way() {
    for (text, meaning) in READ {
        let document = Document::read(text, ScalarRules::Yaml11);
        assert_eq!(errors(&document), Vec::<String>::new(), "{text:?}");
        assert_eq!(document.find(&Pointer::parse("/a")).unwrap().text(), Some(*meaning), "{text:?}");
        // The same while it is typed.
        let mut typed = Document::read("", ScalarRules::Yaml11);
        typed.edit(0..0, text);
        typed.refresh();
        assert_eq!(errors(&typed), Vec::<String>::new(), "typed: {text:?}");
    }
}

#[test]
fn what_pyyaml_refuses_is_an_error_at_its_place() {
    for (text, words, told) in REFUSED {
        let document = Document::read(text, ScalarRules::Yaml11);
        let found = problems(&document);
        let problem =
            found.iter().find(|problem| problem.severity == Severity::Error && problem.message.contains(told));
        let Some(problem) = problem else { panic!("{text:?}: {found:?}") };
        assert!(words.is_empty() || &text[problem.range.clone()] == *words, "{text:?}: {problem:?}");
        // What follows from a text without its end is fixed one step at a time.
        for fix in problem.fixes.iter().filter(|_| !words.is_empty()) {
            let fixed = replaced(text, &fix.edits);
            let left = errors(&Document::read(&fixed, ScalarRules::Yaml11));
            assert_eq!(left, Vec::<String>::new(), "{fixed:?}");
        }
    }
}

/// In the other formats, whose programs follow YAML 1.2, such lines stay mistakes.
#[test]
fn lines_that_are_not_deep_enough_are_refused_in_the_other_formats() {
    for text in ["a: \"x\ny\"\nc: 1\n", "b: [1,\n2]\na: x\n"] {
        assert!(!Document::read(text, ScalarRules::Yaml12).is_intact(), "{text:?}");
    }
}

//! Results of an analysis after edits, with settings and comments.

use crate::{
    document::{Document, ScalarRules},
    files::MemoryFiles,
    json_schema::SpecFile,
    problem::Code,
    settings::{Level, Settings},
};

use super::Analyzer;

const SUITE: &str = "kindlm: 1\nproject: p\nsuite: {name: s}\ntests:\n  - name: a\n    command: 'true'\n    expect: {output: {contains: [x]}}\n  - name: b\n    command: 'true'\n    owner: me\n    expect: {}\n  - name: c\n    command: 'true'\n    expect: {output: {maxLength: 3}}\n";

const ALL: &str = "wrong-type, unknown-key, invalid-value, missing-field, duplicate-key, unknown-alias";

fn analyzer() -> Analyzer {
    Analyzer::new(SpecFile::KINDLM)
}

fn files() -> MemoryFiles {
    MemoryFiles::default()
}

#[test]
fn an_edit_is_analysed_as_if_the_text_were_new() {
    let mut document = Document::read(SUITE, ScalarRules::Yaml12);
    let settings = Settings::default();
    analyzer().analyze(&document, &files(), &settings);
    let insert = SUITE.find("  - name: b").unwrap();
    document.edit(insert..insert, "  - name: a\n    comand: x\n    expect: {}\n");
    document.refresh();
    let fresh = Document::read(&String::from(document.text()), ScalarRules::Yaml12);
    let kept = analyzer().analyze(&document, &files(), &settings);
    let new = analyzer().analyze(&fresh, &files(), &settings);
    assert_eq!(kept.problems, new.problems);
    assert!(kept.problems.iter().any(|problem| problem.code == Code::DuplicateName));
    let places = |analysis: &super::Analysis| -> Vec<String> {
        analysis.suite.cases.iter().map(|case| format!("{} {} {}", case.name, case.at, case.intact)).collect()
    };
    assert_eq!(places(&kept), places(&new));
}

/// A long text is looked at on several threads; a few items at a time are looked at on one.
#[test]
fn problems_of_many_items_do_not_depend_on_threads() {
    let item = |number: usize| format!("  - name: t{}\n    comand{number}: x\n    expect: {{}}\n", number % 500);
    let all: String = (0..600).map(item).collect();
    let head = "kindlm: 1\nproject: p\nsuite: {name: s}\ntests:\n";
    let settings = Settings::default();
    let mut grown = Document::read(head, ScalarRules::Yaml12);
    for first in (0..600).step_by(20) {
        let end = grown.text().len_bytes();
        grown.edit(end..end, &(first..first + 20).map(item).collect::<String>());
        grown.refresh();
        analyzer().look(&grown, &files(), &settings);
    }
    let expected = analyzer().problems(&grown, &files(), &settings);
    let numbered =
        |number: usize| expected.iter().any(|problem| problem.message.contains(&format!("`comand{number}`")));
    assert!((0..600).all(numbered));
    assert!(expected.is_sorted_by_key(|problem| problem.range.start));
    for _ in 0..3 {
        let opened = Document::read(&format!("{head}{all}"), ScalarRules::Yaml12);
        assert_eq!(analyzer().problems(&opened, &files(), &settings), expected);
    }
}

#[test]
fn only_cases_without_errors_are_intact() {
    let text = SUITE.replace("maxLength: 3", "maxLenght: 3");
    let document = Document::read(&text, ScalarRules::Yaml12);
    let analysis = analyzer().analyze(&document, &files(), &Settings::default());
    let intact: Vec<bool> = analysis.suite.cases.iter().map(|case| case.intact).collect();
    assert_eq!(intact, [true, true, false], "{:#?}", analysis.problems);
}

/// Returns the reasons why each case cannot pass.
fn unparsed(text: &str, settings: &Settings) -> Vec<(bool, Vec<String>)> {
    let document = Document::read(text, ScalarRules::Yaml12);
    let cases = analyzer().analyze(&document, &files(), settings).suite.cases;
    let reasons = |case: &std::sync::Arc<crate::suite::Case>| {
        let reasons = case.claims.iter().flat_map(|claim| claim.check.texts());
        reasons.filter(|text| text.starts_with("part of this test is invalid: ")).collect()
    };
    cases.iter().map(|case| (case.intact, reasons(case))).collect()
}

#[test]
fn a_case_with_a_part_that_is_not_understood_cannot_pass() {
    let mut off = Settings::default();
    for code in Code::ALL {
        off.severity.insert(code.as_str().to_owned(), Level::Off);
    }
    for claims in [
        "output: {contains: 5}",
        "output: {contans: [x]}",
        "outpt: {contains: [x]}",
        "output: {contains: }",
        "output: {contains: [*none]}",
        "output: {contains: [x], contains: [y]}",
        "output: {format: jsn}",
        "toolCalls: [{}]",
        "latency: {maxMs: '1'}",
        "judge: {criteria: a}",
        "guardrails: {pii: {denyPatterns: a}}",
    ] {
        for expect in [format!("expect: {{{claims}}}"), format!("expect: {{{claims}}} # speclens: allow({})", ALL)] {
            let text = SUITE.replace("expect: {output: {contains: [x]}}", &expect);
            for settings in [&Settings::default(), &off] {
                let unparsed = unparsed(&text, settings);
                assert!(!unparsed[0].0 && !unparsed[0].1.is_empty(), "{expect}: {unparsed:?}");
                assert!(unparsed[2].0 && unparsed[2].1.is_empty(), "{expect}: {unparsed:?}");
            }
        }
    }
    let without = SUITE.replace("    expect: {output: {maxLength: 3}}\n", "");
    assert!(!unparsed(&without, &off)[2].1.is_empty());
    assert!(unparsed(SUITE, &off).iter().all(|(intact, unparsed)| *intact && unparsed.is_empty()));
}

#[test]
fn a_line_that_lost_its_test_belongs_to_the_one_above() {
    let lost = "  expect:\n      output: {contains: [NOPE]}\n";
    let last = format!("{SUITE}{lost}");
    assert_eq!(unparsed(&last, &Settings::default()).iter().map(|it| it.0).collect::<Vec<_>>(), [true, true, false]);
    let first = SUITE.replace("  - name: b", &format!("{lost}  - name: b"));
    assert_eq!(unparsed(&first, &Settings::default()).iter().map(|it| it.0).collect::<Vec<_>>(), [false, true, true]);
    let alone = "kindlm: 1\nproject: p\nsuite: {name: s}\ntests:\n  - name: a\n    command: echo hello\n    expect:\n      output: {contains: [hello]}\n  expect:\n      output: {contains: [NOPE]}\n";
    assert!(!unparsed(alone, &Settings::default())[0].0);
    assert!(!unparsed(&format!("{alone}gates: {{}}\n"), &Settings::default())[0].0);
}

#[test]
fn settings_and_comments_decide_what_is_reported() {
    let mut settings = Settings::default();
    let count = |text: &str, settings: &Settings, code: Code| {
        let document = Document::read(text, ScalarRules::Yaml12);
        analyzer().problems(&document, &files(), settings).iter().filter(|problem| problem.code == code).count()
    };
    assert_eq!(count(SUITE, &settings, Code::UnknownKey), 1);
    let allowed = SUITE.replace("    owner", "    # speclens: allow(unknown-key)\n    owner");
    assert_eq!(count(&allowed, &settings, Code::UnknownKey), 0);
    let misspelled = SUITE.replace("    owner", "    # speclens: allow(unknwn-key)\n    owner");
    assert_eq!(count(&misspelled, &settings, Code::UnknownKey), 1);
    assert_eq!(count(&misspelled, &settings, Code::InvalidSetting), 1);
    settings.severity.insert("unknown-key".to_owned(), Level::Off);
    assert_eq!(count(SUITE, &settings, Code::UnknownKey), 0);
}

#[test]
fn items_that_move_to_another_list_are_looked_at_again() {
    let text = "kindlm: 1\nmodels:\n  - {id: a}\ntests:\n  - name: one\n    command: x\n  - name: two\n";
    let mut document = Document::read(text, ScalarRules::Yaml12);
    let (analyzer, settings) = (Analyzer::new(SpecFile::KINDLM), Settings::default());
    let problems = |document: &Document| analyzer.problems(document, &files(), &settings);
    let before = problems(&document);
    let colon = text.find("tests:").unwrap() + 5;
    document.edit(colon..colon + 1, "");
    document.refresh();
    let fresh = Document::read(&String::from(document.text()), ScalarRules::Yaml12);
    assert_eq!(problems(&document), problems(&fresh));
    assert_ne!(problems(&document), before);
    document.edit(colon..colon, ":");
    document.refresh();
    assert_eq!(problems(&document), before);
}

#[test]
fn fixes_that_need_the_whole_file_are_made_for_what_is_asked_about() {
    let test = |number: usize| format!("  - {{name: t{}, command: 'true', expect: {{}}}}\n", number % 5);
    let tests: String = (0..10).map(test).collect();
    for text in [tests.clone(), tests.replace("  - ", "- ")] {
        let text = format!("kindlm: 1\nproject: p\nsuite: {{name: s}}\ntests:\n{text}");
        let document = Document::read(&text, ScalarRules::Yaml12);
        let found = analyzer().look(&document, &files(), &Settings::default());
        let all = found.to_vec(&document);
        for problem in all.iter().filter(|problem| problem.code == Code::DuplicateName) {
            assert!(!problem.fixes.is_empty());
            let asked = found.with_fixes(&document, found.touching(&problem.range));
            assert!(asked.contains(problem), "{asked:?}");
        }
        let with_best =
            all.iter().filter(|it| it.code == Code::DuplicateName && it.fixes.iter().any(|fix| fix.preferred));
        assert_eq!(found.count_with_fix(&document, Code::DuplicateName, |fix| fix.preferred), with_best.count());
    }
}

#[test]
fn problem_of_aliases_names_the_place_of_the_value() {
    for (eol, indent) in [("\n", "  "), ("\r\n", "  "), ("\n", "")] {
        let tests: String =
            (0..110).map(|test| format!("{indent}- {{name: t{test}, command: 'true', expect: *e}}{eol}")).collect();
        let text = format!(
            "kindlm: 1{eol}project: p{eol}suite: {{name: s}}{eol}x-e: &e {{output: {{contains: [a]}}}}{eol}tests:{eol}{tests}"
        );
        let document = Document::read(&text, ScalarRules::Yaml12);
        let problems = analyzer().problems(&document, &files(), &Settings::default());
        let too_many = problems.iter().find(|problem| problem.message.contains("100 times")).expect("it is reported");
        let related: Vec<&str> = too_many.related.iter().map(|related| &text[related.range.clone()]).collect();
        assert!(related.contains(&"{output: {contains: [a]}}") && !related.contains(&"*e"), "{related:?}");
    }
}

//! No input causes a panic, and each ends in a problem.

use std::time::Instant;

use proptest::prelude::*;

use super::{ListStyle, Random, assert_nested, base, is_collection, outline, random_edit, suite, task_file, whole};
use crate::{Document, FaultClass, FaultKind, NodeRef, Pointer, ScalarRules};

#[test]
fn no_mutation_makes_it_panic() {
    let runs = std::env::var("SPECLENS_FUZZ_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(20_000);
    let bases = [
        suite(3),
        suite(6),
        task_file(6),
        ListStyle::Flat.of(&suite(6)),
        "a: &a [*a]\nb: {c: *a}\n<<: *a\n".to_owned(),
        "{a: [1, {b: 'x'}]}".to_owned(),
    ];
    let mut random = Random(0x5eed_0004);
    let mut slowest = std::time::Duration::ZERO;
    for run in 0..runs {
        let mut text = bases[run % bases.len()].clone();
        let mut document = Document::read_cut(&text, ScalarRules::Yaml11);
        for _ in 0..1 + random.below(6) {
            let (range, new) = random_edit(&mut random, &text);
            text.replace_range(range.clone(), &new);
            document.edit(range, &new);
        }
        let start = Instant::now();
        document.refresh();
        slowest = slowest.max(start.elapsed());
        for fault in document.faults() {
            assert!(fault.range.end <= text.len());
            assert_ne!(fault.kind, FaultKind::Defect, "{text}");
            assert!(text.is_char_boundary(fault.range.start) && text.is_char_boundary(fault.range.end), "{text}");
        }
        if let Some(root) = document.root() {
            let _ = root.to_value();
            assert_nested(root, &text);
        }
        document.pointer_at(random.below(text.len() + 1));
    }
    if runs > 20_000 {
        eprintln!("{runs} mutations, the slowest reading took {slowest:?}");
    }
}

/// The bytes of a line break are not part of a fault, and lines are the same with any line end.
#[test]
fn problems_are_the_same_with_other_line_breaks() {
    let mut random = Random(0x5eed_0006);
    let shown = |text: &str| {
        let document = Document::read(text, ScalarRules::Yaml12);
        let faults = document.faults().into_iter().map(|fault| {
            let marked = &text[fault.range.clone()];
            assert!(!marked.ends_with('\r') && !marked.ends_with('\n'), "{fault:?}\n{text:?}");
            let line = text[..fault.range.start].matches('\n').count();
            let kind = match &fault.kind {
                // Offsets include the line breaks.
                FaultKind::DuplicateKey { key, mapping, .. } => format!("{key} of {mapping}"),
                kind => format!("{kind:?}"),
            };
            format!("{line}: {kind} <- {}", marked.replace("\r\n", "\n"))
        });
        faults.collect::<Vec<_>>()
    };
    for round in 0..600 {
        let mut text = base(round, 6);
        for _ in 0..=random.below(2) {
            let (range, new) = random_edit(&mut random, &text);
            text.replace_range(range, &new.replace('\r', ""));
        }
        assert_eq!(shown(&text), shown(&text.replace('\n', "\r\n")), "{text}");
    }
}

#[test]
fn nul_byte_is_one_problem_of_its_line() {
    for text in ["a: b\0\nc: d\n", "a: \"b\0\"\n", "t:\n- n: x # \0\n- n: y\n"] {
        let document = Document::read(text, ScalarRules::Yaml12);
        let found: Vec<_> = document.faults().iter().map(|fault| (fault.class(), fault.range.start)).collect();
        assert_eq!(found, [(FaultClass::Encoding, text.find('\0').unwrap())], "{text:?}");
    }
}

#[test]
fn names_of_damaged_blocks_are_known() {
    for typo in ["\"abc", "{{x}}.md", "a: b", "'it's'"] {
        for head in ["- n: &a\n  - x\n  ", "- &a\n  ", "- n: [&a x, y]\n  ", "- &a x: y\n  "] {
            let text = format!("t:\n{head}broken: {typo}\n  more: 1\n- m: *a\n");
            let faults = Document::read(&text, ScalarRules::Yaml12).faults();
            assert!(
                !faults.is_empty() && faults.iter().all(|it| it.class() != FaultClass::UnknownAlias),
                "{text}{faults:#?}"
            );
        }
    }
    let document = Document::read("t:\n- n: &a\n  - x\n  m: \"abc\n- m: *a\n", ScalarRules::Yaml12);
    assert_eq!(document.find(&Pointer::parse("/t/1/m/0")).and_then(NodeRef::text), Some("x"));
}

#[test]
fn hostile_texts_end_in_a_problem() {
    let nested = "[".repeat(100_000);
    let document = Document::read(&format!("a: {nested}"), ScalarRules::Yaml12);
    assert_eq!(document.faults()[0].kind, FaultKind::NestedTooDeep);

    let dashes = "- ".repeat(100_000);
    assert!(!Document::read(&format!("a:\n  {dashes}"), ScalarRules::Yaml12).faults().is_empty());

    let mut bomb = String::from("a0: &a0 [x, x]\n");
    for level in 1..40 {
        bomb.push_str(&format!("a{level}: &a{level} [*a{0}, *a{0}]\n", level - 1));
    }
    let document = Document::read(&bomb, ScalarRules::Yaml12);
    assert!(document.root().unwrap().to_value().is_err());

    let deep: String = (0..3000).map(|level| format!("{}k:\n", " ".repeat(level))).collect();
    assert!(!Document::read(&deep, ScalarRules::Yaml12).faults().is_empty());
    assert!(!Document::read(&deep.replace("k:", "k: ["), ScalarRules::Yaml12).faults().is_empty());
}

#[test]
fn ten_megabytes_are_read() {
    let mut text = suite(5);
    let item =
        "  - name: x\n    command: echo hello world, this is a test\n    expect: {output: {contains: [hello]}}\n";
    let tests = text.find("gates:").unwrap();
    text.insert_str(tests, &item.repeat(10 * 1024 * 1024 / item.len()));
    let document = Document::read(&text, ScalarRules::Yaml12);
    assert!(document.faults().is_empty());
    assert!(document.root().unwrap().get("tests").unwrap().items().count() > 100_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text_can_be_read(text in "[ \\n\\r\\t:\\-'\"\\[\\]{},#&*!|>%@`?a-c0ä😀.\u{a0}\u{3000}\u{2028}\u{85}\u{feff}\u{7f}\u{301}]{0,80}") {
        let document = Document::read(&text, ScalarRules::Yaml12);
        for fault in document.faults() {
            prop_assert!(text.get(fault.range.clone()).is_some(), "{:?}", fault);
            prop_assert_ne!(&fault.kind, &FaultKind::Defect);
        }
        match whole(&text) {
            Some(whole) => {
                prop_assert_eq!(outline(&document), outline(&whole));
                prop_assert!(document.is_intact(), "{:?}", document.faults());
            }
            None => prop_assert!(!document.is_intact() || !is_collection(&document)),
        }
    }
}

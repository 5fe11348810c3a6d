//! The YAML project's conformance cases. They are not part of this repository: the test runs if
//! `SPECLENS_YAML_TEST_SUITE` names their folder, and reports if it does not.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

use std::{fmt::Write, fs, path::Path};

use speclens_yaml::{Document, FaultClass, FaultKind, NodeRef, ScalarRules, Shape, Style};

struct Case {
    id: String,
    yaml: String,
    tree: String,
    fails: bool,
}

#[test]
fn every_case_gives_its_tree_or_a_problem() {
    let Some(folder) = std::env::var_os("SPECLENS_YAML_TEST_SUITE") else {
        println!("SPECLENS_YAML_TEST_SUITE is not set: nothing was tested");
        return;
    };
    let cases = cases(Path::new(&folder));
    assert_eq!(cases.len(), 402, "the suite's release 2022-01-17 has 402 cases");
    let mut wrong = String::new();
    for case in &cases {
        let document = Document::read(&case.yaml, ScalarRules::Yaml12);
        let faults = document.faults();
        for fault in &faults {
            assert!(fault.range.start <= fault.range.end && fault.range.end <= case.yaml.len(), "{}", case.id);
        }
        let verdict = if case.fails {
            faults.is_empty().then(|| "accepted although it is not YAML".to_owned())
        } else {
            differs(case, &document)
        };
        if let Some(verdict) = verdict {
            writeln!(wrong, "{}: {verdict}\n{}", case.id, case.yaml).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn differs(case: &Case, document: &Document) -> Option<String> {
    let documents = case.tree.matches("+DOC").count();
    let unexpected = document.faults().into_iter().find(|fault| {
        let second = documents > 1 && fault.kind == FaultKind::SecondDocument;
        fault.class() == FaultClass::Syntax && !second
    });
    if let Some(fault) = unexpected {
        return Some(format!("refused: {:?}", fault.kind));
    }
    let expected: String = first_document(&case.tree);
    let mut found = String::new();
    if let Some(root) = document.root() {
        events(root, &mut found);
    } else if expected.is_empty() || expected == "=VAL :" {
        return None;
    }
    (found.trim_end() != expected).then(|| format!("expected\n{expected}\nfound\n{found}"))
}

/// Returns the events of a tree's first document, without indentation, presentation marks and stream events.
fn first_document(tree: &str) -> String {
    let mut lines = Vec::new();
    for line in tree.lines().map(str::trim) {
        match line.split(' ').next().unwrap() {
            "+STR" | "-STR" | "+DOC" => {}
            "-DOC" => break,
            _ => lines.push(line.replace("+SEQ []", "+SEQ").replace("+MAP {}", "+MAP")),
        }
    }
    lines.join("\n")
}

fn events(node: NodeRef<'_>, out: &mut String) {
    if let Some(name) = node.alias() {
        writeln!(out, "=ALI *{name}").unwrap();
        return;
    }
    let anchor = node.anchor().map(|name| format!(" &{name}")).unwrap_or_default();
    let tag = node.tag().map(|tag| format!(" <{tag}>")).unwrap_or_default();
    match node.shape() {
        Shape::Sequence => {
            writeln!(out, "+SEQ{anchor}{tag}").unwrap();
            node.items().for_each(|item| events(item, out));
            writeln!(out, "-SEQ").unwrap();
        }
        Shape::Mapping => {
            writeln!(out, "+MAP{anchor}{tag}").unwrap();
            for entry in node.entries() {
                events(entry.key, out);
                events(entry.value, out);
            }
            writeln!(out, "-MAP").unwrap();
        }
        Shape::Scalar | Shape::Dangling => {
            let mark = match node.style().unwrap() {
                Style::Plain => ':',
                Style::SingleQuoted => '\'',
                Style::DoubleQuoted => '"',
                Style::Literal => '|',
                Style::Folded => '>',
            };
            let text = node.text().unwrap().replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t");
            let text = text.replace('\r', "\\r").replace('\u{8}', "\\b");
            writeln!(out, "{}", format!("=VAL{anchor}{tag} {mark}{text}").trim_end()).unwrap();
        }
    }
}

fn cases(folder: &Path) -> Vec<Case> {
    let source = folder.join("src");
    let mut files: Vec<_> = fs::read_dir(&source).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    files.sort();
    let mut cases = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let document = Document::read(&text, ScalarRules::Yaml12);
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut tree = String::new();
        let mut skipped = false;
        for (index, entry) in document.root().unwrap().items().enumerate() {
            let text = |key: &str| entry.get(key).and_then(|node| node.text()).map(unmark);
            skipped |= entry.get("skip").is_some();
            if skipped {
                continue;
            }
            let Some(yaml) = text("yaml") else { continue };
            if let Some(found) = text("tree") {
                tree = found;
            }
            let id = format!("{stem}-{index:02}");
            let fails = entry.get("fail").is_some();
            cases.push(Case { id, yaml, tree: tree.clone(), fails });
        }
    }
    cases
}

/// Undoes the suite's visible forms of invisible characters.
fn unmark(text: &str) -> String {
    let text = text.replace('␣', " ").replace('»', "\t").replace('↵', "").replace('←', "\r").replace('⇔', "\u{feff}");
    let text: String = text.chars().filter(|&character| character != '—').collect();
    match text.find('∎') {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

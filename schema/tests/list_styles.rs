//! What is wrong with a text, and what its fixes make of it, does not depend on how its lists are indented.

use crate::{golden, list_style};

use speclens_schema::{
    document::Document,
    fixing,
    json_schema::SpecFile,
    problem::{Edit, Problem},
};

use golden::Golden;
use list_style::ListStyle;

/// Words without what indentation changes.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a problem without what indentation changes.
fn shown(text: &str, problem: &Problem) -> String {
    let line = text[..problem.range.start].matches('\n').count() + 1;
    let titles: Vec<String> = problem.fixes.iter().map(|fix| words(&fix.title)).collect();
    let (code, severity) = (problem.code.as_str(), problem.severity.as_str());
    let marked = words(&text[problem.range.clone()]);
    let (message, note, help) = (words(&problem.message), &problem.note, &problem.help);
    format!("{line}: {severity}[{code}] {message} <- {marked} {note:?} {help:?} {titles:?}")
}

/// Returns what a text means, and whether it is YAML.
fn meaning(text: &str, file: SpecFile) -> String {
    let document = Document::read(text, file.scalar_rules());
    let value = document.root().map(|root| root.to_value().unwrap_or_default());
    format!("{} {}", document.is_intact(), value.unwrap_or_default())
}

fn edited(golden: &Golden, document: &Document, edits: &[Edit]) -> String {
    fixing::replaced(&golden.text, &fixing::adapted(document, edits))
}

/// Returns the differences between what is found in a text and in the same text with its lists in another style.
fn differences(golden: &Golden, style: ListStyle) -> Vec<String> {
    let other = Golden { text: style.of(&golden.text), ..golden.clone() };
    let (document, other_document) = (golden.document(), other.document());
    let (problems, others) = (golden.problems(&document), other.problems(&other_document));
    let show = |golden: &Golden, problems: &[Problem]| {
        let mut shown: Vec<String> = problems.iter().map(|problem| shown(&golden.text, problem)).collect();
        shown.sort();
        shown
    };
    let (expected, found) = (show(golden, &problems), show(&other, &others));
    let mut differences: Vec<String> = Vec::new();
    differences.extend(expected.iter().filter(|line| !found.contains(line)).map(|line| format!("- {line}")));
    differences.extend(found.iter().filter(|line| !expected.contains(line)).map(|line| format!("+ {line}")));
    if differences.is_empty() {
        for problem in &problems {
            let twin = others.iter().find(|twin| shown(&other.text, twin) == shown(&golden.text, problem)).unwrap();
            for (fix, twin) in problem.fixes.iter().zip(&twin.fixes) {
                let (here, there) =
                    (edited(golden, &document, &fix.edits), edited(&other, &other_document, &twin.edits));
                if meaning(&here, golden.file) != meaning(&there, golden.file) {
                    differences.push(format!("`{}` makes\n{here}\nand\n{there}", fix.title));
                }
            }
        }
    }
    differences
}

#[test]
fn problems_and_fixes_are_the_same_in_every_style() {
    let mut failures = Vec::new();
    let mut compared = 0;
    for golden in Golden::all().into_iter().filter(|golden| !golden.is_about_columns()) {
        let golden = Golden { text: ListStyle::Indented.of(&golden.text), ..golden };
        for style in ListStyle::ALL {
            compared += usize::from(style.of(&golden.text) != golden.text);
            let found = differences(&golden, style);
            if !found.is_empty() {
                failures.push(format!("{} {style:?}\n{}", golden.path.display(), found.join("\n")));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert!(compared > 60, "{compared}");
}

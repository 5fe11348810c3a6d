//! Results of the operations, with both line endings. Every result must be free of problems.

mod lists;
mod members;
mod moving;
mod reshape;

use super::*;
use crate::{
    document::{Document, ScalarRules},
    faults,
    fixing::{adapted, replaced},
};

/// Compares the result of an operation.
#[track_caller]
fn check(text: &str, go: impl Fn(NodeRef<'_>) -> Option<Vec<Edit>>, expected: Option<&str>) {
    for (text, expected) in [
        (text.to_owned(), expected.map(str::to_owned)),
        (text.replace('\n', "\r\n"), expected.map(|it| it.replace('\n', "\r\n"))),
    ] {
        let document = Document::read(&text, ScalarRules::Yaml12);
        let edits = go(document.root().unwrap()).map(|edits| adapted(&document, &edits));
        let new = edits.map(|edits| replaced(&text, &edits));
        assert_eq!(new, expected);
        if let Some(new) = new {
            assert_eq!(faults::problems(&Document::read(&new, ScalarRules::Yaml12)), []);
        }
    }
}

#[test]
fn key_gets_another_name() {
    let rename = |root: NodeRef<'_>| rename_key(root.entry("a")?.key, "yes");
    check("a: 1 # why\n", rename, Some("\"yes\": 1 # why\n"));
    check("- x\n", rename, None);
    check("{'a': 1}\n", rename, Some("{\"yes\": 1}\n"));
    check("b: &n {a: 1}\nc: *n\n", |root| rename_key(root.get("c")?.entry("a")?.key, "d"), None);
}

#[test]
fn value_is_replaced_where_it_is_its_own_and_on_one_line() {
    let replace_a = |root: NodeRef<'_>| replace(root.get("a")?, "2");
    check("a: 'one' # why\n", replace_a, Some("a: 2 # why\n"));
    check("{a: [x], b: 1}\n", replace_a, Some("{a: 2, b: 1}\n"));
    check("a: one\n  two\n", replace_a, None);
    check("b: &n x\na: *n\n", replace_a, None);
    check("a:\n", replace_a, None);
    check("a: x\n", |root| replace_text(root.get("a")?, "no"), Some("a: \"no\"\n"));
}

#[test]
fn values_are_swapped() {
    let swap_them = |root: NodeRef<'_>| swap(root.get("a")?, root.get("b")?);
    check("b: 'x' # b\na: 2\n", swap_them, Some("b: 2 # b\na: 'x'\n"));
    check("{a: 1, b: [2]}\n", swap_them, Some("{a: [2], b: 1}\n"));
    check("a: 1\nb: |\n  t\n", swap_them, None);
}

#[test]
fn text_is_quoted() {
    check("a: 1.0 # why\n", |root| quote(root.get("a")?), Some("a: \"1.0\" # why\n"));
    check("a: [x]\n", |root| quote(root.get("a")?), None);
    check("b: &n 1\na: *n\n", |root| quote(root.get("a")?), None);
}

#[test]
fn words_are_those_that_are_written() {
    let read = |text: &str| Document::read(text, ScalarRules::Yaml12);
    let document = read("a: 'x'\nb: one, two\nc: |\n  x\n  y\n");
    let root = document.root().unwrap();
    assert_eq!(words(root.get("a").unwrap()).unwrap(), "'x'");
    assert_eq!(words_in_brackets(root.get("b").unwrap()).unwrap(), "\"one, two\"");
    assert_eq!(words(root.get("c").unwrap()), None);
}

#[test]
fn part_of_a_text_is_replaced_where_it_is_written_as_it_reads() {
    let part = |root: NodeRef<'_>| {
        let value = root.get("a")?;
        let start = value.own_range().start + 1;
        replace_part(value, start..start + 1, "b", "x")
    };
    check("a: 'b c' # why\n", part, Some("a: 'x c' # why\n"));
    check("a: b c\n", part, None);
    check("k: &n 'b'\na: *n\n", part, None);
}

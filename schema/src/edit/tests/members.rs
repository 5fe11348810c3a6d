//! Insertion, removal and commenting out of entries and items.

use super::*;
use crate::document::Pointer;

#[test]
fn entry_comes_after_another_one() {
    let insert = |root: NodeRef<'_>| entries_behind(root, root.entry("a")?, &["x: 1".to_owned(), "y: 2".to_owned()]);
    check("a: 1 # one\nb: 2\n", insert, Some("a: 1 # one\nx: 1\ny: 2\nb: 2\n"));
    check("a:\n  - |\n    t\nb: 2\n", insert, Some("a:\n  - |\n    t\nx: 1\ny: 2\nb: 2\n"));
    check("{a: [1], b: 2}\n", insert, Some("{a: [1], x: 1, y: 2, b: 2}\n"));
    check("a: |+\n  t\n\nb: 2\n", insert, None);
    let in_item = |root: NodeRef<'_>| {
        let item = root.items().next()?;
        entries_behind(item, item.entry("a")?, &["x: 1".to_owned()])
    };
    check("- a: 1\n  b: 2\n", in_item, Some("- a: 1\n  x: 1\n  b: 2\n"));
    check("-   a: 1\n", in_item, Some("-   a: 1\n    x: 1\n"));
    let behind_alias = |root: NodeRef<'_>| {
        let other = root.get("c")?;
        entries_behind(other, other.entry("a")?, &["x: 1".to_owned()])
    };
    check("b: &n\n  a: 1\nc: *n\n", behind_alias, None);
}

#[test]
fn entry_comes_in_the_order_of_the_keys() {
    let insert = |root: NodeRef<'_>| entry_in_order(root, "b", "b: 2", &["a", "b", "c"]);
    check("a: 1\nc: 3\n", insert, Some("a: 1\nb: 2\nc: 3\n"));
    check("\u{feff}c: 3\n", insert, Some("\u{feff}b: 2\nc: 3\n"));
    check("{c: 3}\n", insert, Some("{b: 2, c: 3}\n"));
    check("{}\n", insert, Some("{ b: 2 }\n"));
    check("c: 3\nz: 1\na: 1\n", insert, Some("b: 2\nc: 3\nz: 1\na: 1\n"));
}

#[test]
fn several_entries_come_in_place_of_one() {
    let insert = |root: NodeRef<'_>| {
        let item = root.items().next()?;
        entry_in_place(item, item.entry("n")?, &["min: 1".to_owned(), "max: 1".to_owned()])
    };
    check("- n: 1 # one\n  a: 2\n", insert, Some("- min: 1\n  max: 1 # one\n  a: 2\n"));
    check("- {a: 2, n: 1}\n", insert, Some("- {a: 2, min: 1, max: 1}\n"));
}

#[test]
fn item_comes_before_or_after_the_others() {
    let front = |root: NodeRef<'_>| item_at_front(root.get("l")?, "a: 1");
    check("l:\n  - b: 2 # two\n", front, Some("l:\n  - a: 1\n  - b: 2 # two\n"));
    check("l:\n- b: 2\n", front, Some("l:\n- a: 1\n- b: 2\n"));
    check("l: [{b: 2}]\n", front, Some("l: [{ a: 1 }, {b: 2}]\n"));
    check("l:\n- &n b\n- *n\n", front, None);
    let end = |root: NodeRef<'_>| item_at_end(root.get("l")?, "x");
    check("l:\n  - b: 2 # two\n\nc: 1\n", end, Some("l:\n  - b: 2 # two\n  - x\n\nc: 1\n"));
    check("l:\n- b\n", end, Some("l:\n- b\n- x\n"));
    check("l: [b]\n", end, Some("l: [b, x]\n"));
    check("l: []\n", end, Some("l: [x]\n"));
    check("k: &n [b]\nl: *n\n", end, None);
    check("l: &n [b]\nk: *n\n", end, None);
}

#[test]
fn entry_goes_with_its_lines() {
    let remove = |root: NodeRef<'_>| remove_entry(root, root.entry("a")?);
    check("a:\n  - 1\n  # two\nb: 2\n", remove, Some("  # two\nb: 2\n"));
    check("b: 2\na: |\n  t\n\n  u # no comment\n", remove, Some("b: 2\n"));
    check("{a: 1, b: 2}\n", remove, Some("{b: 2}\n"));
    check("{b: 2, a: 1}\n", remove, Some("{b: 2}\n"));
    check("a: 1\n", remove, None);
    check("a: &n 1\nb: *n\n", remove, None);
    check("b: &n 1\na: *n\n", remove, Some("b: &n 1\n"));
    let first_of_item = |root: NodeRef<'_>| {
        let item = root.items().next()?;
        remove_entry(item, item.entry("a")?)
    };
    check("- a: 1\n  b: 2\n", first_of_item, Some("- b: 2\n"));
    check("- a: 1 # why\n  b: 2\n", first_of_item, None);
    check("- {a: 1, # why\n   b: 2}\n", first_of_item, None);
}

#[test]
fn item_goes_with_its_lines() {
    let remove = |root: NodeRef<'_>| remove_item(root.get("l")?, 1);
    check("l:\n  - a\n  - b: 1\n    c: 2\n  - d\n", remove, Some("l:\n  - a\n  - d\n"));
    check("l:\n- a\n- b\n", remove, Some("l:\n- a\n"));
    check("l: [a, b]\n", remove, Some("l: [a]\n"));
    check("l: [a]\n", remove, None);
    check("l:\n- a\n- &n b\nk: *n\n", remove, None);
    check("l: [a, b, c]\n", |root| remove_item(root.get("l")?, 0), Some("l: [b, c]\n"));
}

#[test]
fn entry_or_item_becomes_a_comment() {
    let comment = |at: &'static str| move |root: NodeRef<'_>| comment_out(root, &Pointer::parse(at));
    let lists = "a: 1\nb:\n  - x\n\n  - |\n    y\nc: 3\n";
    check(lists, comment("/b"), Some("a: 1\n# b:\n#   - x\n\n#   - |\n#     y\nc: 3\n"));
    check("l:\n  - a: 1\n    b: é\n  - c\n", comment("/l/0"), Some("l:\n  # - a: 1\n  #   b: é\n  - c\n"));
    check("l:\n  - a: 1 # why\n    b: 2\n", comment("/l/0/a"), Some("l:\n  - # a: 1 # why\n    b: 2\n"));
    check("l:\n- x\n# of y\n- y\n", comment("/l/0"), Some("l:\n# - x\n# of y\n- y\n"));
    check("a: one\n  two\nb: 1", comment("/a"), Some("# a: one\n#   two\nb: 1"));
    check("a: 1\nb: [x,\n  y]\n", comment("/b"), Some("a: 1\n# b: [x,\n#   y]\n"));
    // The only entry, flow style, an anchored value that is used elsewhere.
    check("a: {x: 1}\n", comment("/a"), None);
    check("a: {x: 1, y: 2}\n", comment("/a/x"), None);
    check("a: [x, y]\n", comment("/a/1"), None);
    check("a: &n 1\nb: *n\n", comment("/a"), None);
    check("a:\n  - &n {x: 1}\n  - *n\n", comment("/a/0"), None);
    check("a:\n  - x: &n 1\n    y: 2\nb: *n\n", comment("/a/0/x"), None);
}

//! Conversions to and from lists.

use super::*;

fn l(root: NodeRef<'_>) -> Option<NodeRef<'_>> {
    root.get("l")
}

#[test]
fn value_becomes_a_list() {
    let list = |root: NodeRef<'_>| as_list(l(root)?, &[words_in_brackets(l(root)?)?]);
    check("l: one, two # why\n", list, Some("l: [\"one, two\"] # why\n"));
    check("{l: 'x'}\n", list, Some("{l: ['x']}\n"));
    check("l: |\n  x\n", list, None);
    check("k: &n x\nl: *n\n", list, None);
    let items = |root: NodeRef<'_>| as_items(l(root)?);
    check(
        "l:\n  a: 1\n  b: |\n    t\n\n    u\nk: 1\n",
        items,
        Some("l:\n  - a: 1\n    b: |\n      t\n\n      u\nk: 1\n"),
    );
    check("l: &n\n  a: 1\n", items, None);
}

#[test]
fn only_item_leaves_its_list() {
    check("l: [{a: 1}]\n", |root| only_item(l(root)?), Some("l: {a: 1}\n"));
    check("l:\n  - a: 1\n    b: 2\n", |root| only_item(l(root)?), Some("l:\n    a: 1\n    b: 2\n"));
    check("l:\n  - a: 1\n  - b: 2\n", |root| only_item(l(root)?), None);
    check("l:\n  - x # why\n", |root| undashed(l(root)?), Some("l: x # why\n"));
    check("l:\n- x\n", |root| undashed(l(root)?), Some("l: x\n"));
    check("l: # why\n- x\n", |root| undashed(l(root)?), None);
    check("l: [x]\n", |root| undashed(l(root)?), None);
}

#[test]
fn item_is_split_by_its_keys() {
    let split = |root: NodeRef<'_>| split_item(l(root)?.items().next()?);
    check("l:\n  - a: 1\n    b:\n      - 2\n    c: 3\n", split, Some("l:\n  - a: 1\n  - b:\n      - 2\n  - c: 3\n"));
    check("l:\n- a: 1\n  b: 2\n", split, Some("l:\n- a: 1\n- b: 2\n"));
    check("l:\n  - {a: 1, b: 2}\n", split, Some("l:\n  - {a: 1 }\n  - { b: 2}\n"));
    check("l: [{a: 1, b: 2}]\n", split, Some("l: [{a: 1 }, { b: 2}]\n"));
    check("l:\n- &n\n  a: 1\n  b: 2\nk: *n\n", split, None);
}

#[test]
fn mapping_becomes_a_list_of_its_entries() {
    check("l:\n  a: 1\n  b:\n    c: 2\n", |root| items_of_keys(l(root)?), Some("l:\n  - a: 1\n  - b:\n      c: 2\n"));
    check("l: {a: 1}\n", |root| items_of_keys(l(root)?), None);
    let ids = |root: NodeRef<'_>| items_with_ids(l(root)?);
    check(
        "l:\n  a:\n      b: 1\n      c: 2\n  d: {b: 3}\n",
        ids,
        Some("l:\n  - id: a\n    b: 1\n    c: 2\n  - { id: d, b: 3}\n"),
    );
    check("l:\n  a: 1\n", ids, None);
}

#[test]
fn entries_are_indented_below_the_first() {
    let indent = |root: NodeRef<'_>| indent_entries(root.items().next()?);
    check("- a:\n  b: 1\n  c: |\n    t\n", indent, Some("- a:\n    b: 1\n    c: |\n      t\n"));
    check("- {a: , b: 1}\n", indent, None);
}

#[test]
fn list_in_brackets_becomes_items_with_its_key() {
    let each = |root: NodeRef<'_>| {
        let entry = root.items().next()?.entry("a")?;
        one_item_each(entry.value, entry.key)
    };
    check("- a: [x, 'no']\n", each, Some("- a: x\n- a: \"no\"\n"));
    check("- {a: [x, y]}\n", each, None);
    check("- a: [1]\n", each, None);
}

#[test]
fn list_leaves_its_key() {
    let unwrap = |root: NodeRef<'_>| unwrap_list(root.entry("l")?);
    check("l:\n  - a: 1\n    b: 2\n  - c\n", unwrap, Some("- a: 1\n  b: 2\n- c\n"));
    check("l:\n- a\n", unwrap, Some("- a\n"));
    check("l: # why\n- a\n", unwrap, None);
}

#[test]
fn only_item_leaves_its_brackets() {
    let leave = |root: NodeRef<'_>| out_of_brackets(l(root)?);
    check("l: [ 'x' ] # why\n", leave, Some("l: 'x' # why\n"));
    check("{l: [x]}\n", leave, Some("{l: x}\n"));
    check("l: [x, y]\n", leave, None);
    check("l:\n- x\n", leave, None);
    check("l: [x,\n  ]\n", leave, None);
    check("k: &n [x]\nl: *n\n", leave, None);
}

#[test]
fn dashes_get_their_space() {
    let keys = |root: NodeRef<'_>| space_dashes_of_keys(l(root)?);
    check("l:\n  -a: 1\n", keys, Some("l:\n  - a: 1\n"));
    check("l:\n  -a: 1\n  b: 2\n", keys, None);
    check("k: &n {-a: 1}\nl: *n\n", keys, None);
    let lines = |root: NodeRef<'_>| space_dashes_of_lines(l(root)?);
    check("l:\n  -a\n  -/b\n", lines, Some("l:\n  - a\n  - /b\n"));
    check("l:\n  -a\n  b\n", lines, None);
    check("l: '-a'\n", lines, None);
}

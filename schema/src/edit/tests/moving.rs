//! Moved entries.

use super::*;
use crate::document::Pointer;

fn x_below_b(root: NodeRef<'_>) -> Option<Vec<Edit>> {
    below(root, "x", "b")
}

fn x_out_of_b(root: NodeRef<'_>) -> Option<Vec<Edit>> {
    beside(root.get("b")?, "x", root, "b")
}

fn x_to_top(root: NodeRef<'_>) -> Option<Vec<Edit>> {
    to_top(root.find(&Pointer::parse("/l/0"))?, "x", root, "l")
}

#[test]
fn entries_go_below_a_neighbor() {
    check("a: 1\nx: 2 # why\nb:\n  c: 3\n", x_below_b, Some("a: 1\nb:\n  c: 3\n  x: 2 # why\n"));
    check("b:\n  - c\nx: 2\n", x_below_b, None);
    check(
        "b:\n    c: 3 # c\n\nx:\n- 1\n- |\n  y\n\n  z\nd: 4\n",
        x_below_b,
        Some("b:\n    c: 3 # c\n    x:\n    - 1\n    - |\n      y\n\n      z\n\nd: 4\n"),
    );
    check("b: {c: 3}\nx: [1, 2]\n", x_below_b, Some("b: {c: 3, x: [1, 2]}\n"));
    check("b: {c: 3}\nx: one, two\n", x_below_b, Some("b:\n  c: 3\n  x: one, two\n"));
    check("b: {c: 3}\nx: 1 # why\n", x_below_b, Some("b:\n  c: 3\n  x: 1 # why\n"));
    check("b: {c: [3, 4], d: 'e'}\nx:\n  y: 1\n", x_below_b, Some("b:\n  c: [3, 4]\n  d: 'e'\n  x:\n    y: 1\n"));
    check("b: {c: 3} # c\nx:\n  y: 1\n", x_below_b, None);
    check("b: {c: 3,\n  d: 4}\nx:\n  y: 1\n", x_below_b, None);
    check("b:   # to do\nx:\n  y: 1\nd: 2\n", x_below_b, Some("b:   # to do\n  x:\n    y: 1\nd: 2\n"));
    check("a: 1\nx:\n  y: |\n    z\nd: 2\n", x_below_b, Some("a: 1\nb:\n  x:\n    y: |\n      z\nd: 2\n"));
    check("{a: 1, x: 2, b: {c: 3}}\n", x_below_b, Some("{a: 1, b: {c: 3, x: 2}}\n"));
    check("{b: {}, x: 2}\n", x_below_b, Some("{b: { x: 2 }}\n"));
    check("{a: 1, x: 2}\n", x_below_b, Some("{a: 1, b: { x: 2 }}\n"));
    check("x: 1\nb: {x: 2}\n", x_below_b, None);
}

#[test]
fn entries_become_items() {
    let x_into_l = |root: NodeRef<'_>| into_list(root, "x", "l");
    check(
        "l:\n- a: 1 # one\nx: |\n  y\n\n  z\nd: 2\n",
        x_into_l,
        Some("l:\n- a: 1 # one\n- x: |\n    y\n\n    z\nd: 2\n"),
    );
    check("x:\n  y: 1\nl:\n  - a\n", x_into_l, Some("l:\n  - a\n  - x:\n      y: 1\n"));
    check("x: 1\nl: [a]\n", x_into_l, Some("l: [a, { x: 1 }]\n"));
    check("x: 1\nl: []\n", x_into_l, Some("l: [{ x: 1 }]\n"));
    check("x: # why\n  y: 1\na: 2\n", x_into_l, Some("l:\n  - x: # why\n      y: 1\na: 2\n"));
    check("x:\n  y: 1\nl: [{ a: 1 }, b]\n", x_into_l, Some("l:\n  - { a: 1 }\n  - b\n  - x:\n      y: 1\n"));
    check("{a: 1, x: 2}\n", x_into_l, Some("{a: 1, l: [{ x: 2 }]}\n"));
    check("x: 1\nl: {a: 1}\n", x_into_l, None);
}

#[test]
fn entries_leave_what_they_stand_in() {
    check("b:\n  c: 1\n  x:\n    - y # why\nd: 2\n", x_out_of_b, Some("b:\n  c: 1\nx:\n  - y # why\nd: 2\n"));
    check("b:\n  x: 1\n  c: 2\nd: 3", x_out_of_b, Some("b:\n  c: 2\nx: 1\nd: 3"));
    check("b: {c: 1, x: 2}\nd: 3\n", x_out_of_b, Some("b: {c: 1}\nx: 2\nd: 3\n"));
    check("b:\n  x: 1\n", x_out_of_b, None);
    check("x: 2\nb:\n  c: 1\n  x: 1\n", x_out_of_b, None);
}

#[test]
fn entries_go_to_the_top_level() {
    check(
        "a: 1\n\n# the list\nl:\n  - i: 1\n    x: 2 # why\n  - i: 2\n",
        x_to_top,
        Some("a: 1\n\nx: 2 # why\n# the list\nl:\n  - i: 1\n  - i: 2\n"),
    );
    check("# the file\nl:\n  - x: 1\n    i: 2\n", x_to_top, Some("# the file\nx: 1\nl:\n  - i: 2\n"));
    check("l:\n- {i: 1, x: [2]}\n", x_to_top, Some("x: [2]\nl:\n- {i: 1}\n"));
    check("\u{feff}l:\n- i: 1\n  x: 2\n", x_to_top, Some("\u{feff}x: 2\nl:\n- i: 1\n"));
}

#[test]
fn what_has_a_name_stays() {
    check("x: &n 1\nb: {c: 2}\nd: *n\n", x_below_b, None);
    check("n: &n {c: 2}\nx: 1\nb: *n\n", x_below_b, None);
    check("b: &n {c: 2}\nx: 1\nd: *n\n", x_below_b, None);
    check("b:\n  c: 1\nx: |+\n  y\n\nd: 1\n", x_below_b, None);
}

#[test]
fn entry_goes_below_under_another_name() {
    let x_below_b = |root: NodeRef<'_>| below_as(root, "x", "b", "why");
    check("b:\n  c: 3\nx:\n  x: 2 # x:\n", x_below_b, Some("b:\n  c: 3\n  why:\n    x: 2 # x:\n"));
    check("b: {c: 3}\n'x': 'x:'\n", x_below_b, Some("b: {c: 3, why: 'x:'}\n"));
    check("b: {why: 3}\nx: 1\n", x_below_b, None);
    check("x: 1\n", x_below_b, Some("b:\n  why: 1\n"));
}

#[test]
fn lists_under_two_keys_are_joined() {
    let join = |root: NodeRef<'_>| joined(root, root.entry("a")?, root.entry("b")?);
    check("a:\n  - 1 # one\nb:\n  - 2\nc: 3\n", join, Some("a:\n  - 1 # one\n  - 2\nc: 3\n"));
    check("a:\n- 1\nb:\n- 2\n", join, Some("a:\n- 1\n- 2\n"));
    check("a:\n- 1\nb:\n  - 2\n", join, None);
    check("a:\n- 1\nb: # why\n- 2\n", join, None);
    check("a:\n- 1\nb: [2]\n", join, None);
    check("a:\n- 1\nc: 2\nb:\n- 2\n", join, None);
}

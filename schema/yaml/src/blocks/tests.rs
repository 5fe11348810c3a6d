//! The positions at which texts are cut into blocks.

use ropey::Rope;

use super::{SpanKind, split};

#[track_caller]
fn check(text: &str, expected: &[(SpanKind, &str)]) {
    let spans = split(&Rope::from_str(text)).expect("the text can be cut");
    let found: Vec<_> = spans.iter().map(|span| (span.kind, &text[span.range.clone()])).collect();
    assert_eq!(found, expected);
}

#[test]
fn cuts_entries_and_items() {
    check(
        "# head\na: 1\ntests:\n  # one\n  - x: 1\n    y: 2\n\n  - z\nb:\n  c: 1\n",
        &[
            (SpanKind::Preamble, "# head\n"),
            (SpanKind::Entry, "a: 1\n"),
            (SpanKind::Head, "tests:\n  # one\n"),
            (SpanKind::Item, "  - x: 1\n    y: 2\n\n"),
            (SpanKind::Item, "  - z\n"),
            (SpanKind::Entry, "b:\n  c: 1\n"),
        ],
    );
}

#[test]
fn dashes_may_be_in_the_first_column() {
    check(
        "---\ntests:\n- a\n- b\nc: d",
        &[
            (SpanKind::Preamble, "---\n"),
            (SpanKind::Head, "tests:\n"),
            (SpanKind::Item, "- a\n"),
            (SpanKind::Item, "- b\n"),
            (SpanKind::Entry, "c: d"),
        ],
    );
}

#[test]
fn the_root_may_be_a_list() {
    check(
        "# head\n---\n\n- a: 1\n  b: 2\n# more\n-\n  c: 3\n- - d\n...\n",
        &[
            (SpanKind::Preamble, "# head\n---\n\n"),
            (SpanKind::Item, "- a: 1\n  b: 2\n# more\n"),
            (SpanKind::Item, "-\n  c: 3\n"),
            (SpanKind::Item, "- - d\n...\n"),
        ],
    );
    check(
        "- a: 1\nb c\n  d\n- e: 4\n",
        &[(SpanKind::Item, "- a: 1\n"), (SpanKind::Stray, "b c\n  d\n"), (SpanKind::Item, "- e: 4\n")],
    );
}

#[test]
fn entry_between_items_belongs_to_the_item_above() {
    for head in ["", "t:\n"] {
        let text = format!("{head}- a: 1\nb: 2\n  c: 3\n- d: 4\n");
        let mut expected = vec![(SpanKind::Item, "- a: 1\nb: 2\n  c: 3\n"), (SpanKind::Item, "- d: 4\n")];
        if !head.is_empty() {
            expected.insert(0, (SpanKind::Head, head));
        }
        check(&text, &expected);
    }
    check(
        "t:\n  - a: 1\n  b: 2\n c: 3\n  d: 4\nx: 5\n",
        &[
            (SpanKind::Head, "t:\n"),
            (SpanKind::Item, "  - a: 1\n  b: 2\n"),
            (SpanKind::Entry, " c: 3\n  d: 4\n"),
            (SpanKind::Entry, "x: 5\n"),
        ],
    );
}

#[test]
fn a_stray_line_does_not_end_the_list() {
    check(
        "t:\n  - a\n<<<<<<< HEAD\n  - b\n",
        &[
            (SpanKind::Head, "t:\n"),
            (SpanKind::Item, "  - a\n"),
            (SpanKind::Stray, "<<<<<<< HEAD\n"),
            (SpanKind::Item, "  - b\n"),
        ],
    );
}

#[test]
fn declines_where_cutting_would_change_the_meaning() {
    for text in [
        "{a: 1}", "- a\nb: 1\nc: 2\n", " - a\n - b\n", "--- &a\n- b\n", "&a\n- b\n", "- a\n\u{feff}- b\n",
        "a: 1\n---\nb: 2\n", "%YAML 1.2\n---\na: 1\n", "? a\n: b\n", "hello\n  world: 1\n", "",
    ] {
        assert_eq!(split(&Rope::from_str(text)), None, "{text:?}");
    }
}

//! Changed forms of entries and lists.

use super::*;

#[test]
fn key_without_a_value_gets_one() {
    let fill_a = |root: NodeRef<'_>| fill(root.entry("a")?, "[1]");
    check("a:\nb: 2\n", fill_a, Some("a: [1]\nb: 2\n"));
    check("a : # why\n", fill_a, Some("a : [1] # why\n"));
    check("a: 1\n", fill_a, None);
}

#[test]
fn key_is_split_from_what_is_below_it() {
    let split = |root: NodeRef<'_>| {
        let item = root.items().next()?;
        let entry = item.entries().next()?;
        split_key(item, entry, "type: a", Some("x: 1"))
    };
    check("- a:\n    b: 1\n    c:\n    - 2\n", split, Some("- type: a\n  b: 1\n  c:\n  - 2\n"));
    check("- a: {b: 1}\n", split, Some("- { type: a, b: 1 }\n"));
    check("- {a: {b: 1}}\n", split, Some("- {type: a, b: 1}\n"));
    check("- a: 1 # why\n", split, Some("- type: a\n  x: 1 # why\n"));
    check("- {a: 1}\n", split, Some("- {type: a, x: 1}\n"));
    check("- a:\n  b: 1\n", split, Some("- type: a\n  b: 1\n"));
    check("- {a, b: 1}\n", split, Some("- {type: a, b: 1}\n"));
    check("- a: 1\n  b: 1\n", split, None);
    check("- a: &n {b: 1}\n- *n\n", split, None);
    check("- a: # why\n    b: 1\n", split, None);
}

#[test]
fn list_with_one_item_becomes_a_mapping() {
    let make = |root: NodeRef<'_>| {
        let entry = root.entry("w")?;
        mapping_of_item(entry, "i: x", entry.value.items().next()?)
    };
    check("w: [x]\n", make, Some("w: { i: x }\n"));
    check("w:\n  - x\n", make, Some("w:\n  i: x\n"));
    check("w:\n- x\n", make, Some("w:\n  i: x\n"));
    check("w:\n- x # why\n", make, None);
    check("w: [x, y]\n", make, None);
}

#[test]
fn entry_is_written_again() {
    let replace = |root: NodeRef<'_>| {
        let entry = root.entry("s")?;
        let kept = entry.value.items().next()?.get("i")?;
        replace_entry(root, entry, &["w:".to_owned(), format!("  i: {}", words(kept)?)], kept)
    };
    check("a: 1\ns:\n  - i: \"#x\"\nb: 2\n", replace, Some("a: 1\nw:\n  i: \"#x\"\nb: 2\n"));
    check("s:\n- i: x\n", replace, Some("w:\n  i: x\n"));
    check("s:\n- i: x # why\n", replace, None);
}

#[test]
fn entries_become_one() {
    let replace = |root: NodeRef<'_>| replace_entries(root.items().next()?, "a: 1");
    check("- b: 1\n  c: 2 # two\n- d\n", replace, Some("- a: 1 # two\n- d\n"));
    check("- {b: 1, c: 2}\n", replace, Some("- {a: 1}\n"));
    check("- b: 1 # one\n  c: 2\n", replace, None);
    check("- &n {b: 1}\n- *n\n", |root| replace_entries(root.items().nth(1)?, "a: 1"), None);
}

#[test]
fn entry_becomes_a_text() {
    let quote = |root: NodeRef<'_>| Some(quote_entry(root.items().next()?)?.1);
    check("- Total: 5 # why\n", quote, Some("- \"Total: 5\" # why\n"));
    check("- Total:\n", quote, Some("- \"Total:\"\n"));
    check("- {Total: 5}\n", quote, None);
    check("- Total: &n 5\n- *n\n", quote, None);
    check("- a: 1\n  b: 2\n", quote, None);
}

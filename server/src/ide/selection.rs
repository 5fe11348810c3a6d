//! Selection ranges, from the inside out: the word, the value, the entry, the mapping, and so on.

use std::ops::Range;

use speclens_schema::{
    document::{Document, Style},
    template,
};

/// Returns the ranges around an offset, the innermost first; each holds the one before.
pub(crate) fn around(document: &Document, offset: usize) -> Vec<Range<usize>> {
    let whole = 0..document.text().len_bytes();
    let mut found = Vec::from([whole]);
    let Some(mut node) = document.root() else { return found };
    let pointer = document.pointer_at(offset);
    for step in pointer.steps() {
        if let Some(entry) = step.key().and_then(|key| node.entry(key)) {
            let (key, value) = (entry.key.range(), entry.value.range());
            found.push(key.start..value.end.max(key.end));
            let on_key = key.start <= offset && offset <= key.end;
            found.push(if on_key { key } else { value });
            node = entry.value;
        } else if let Some(item) = step.index().and_then(|index| node.item_at(index)) {
            found.push(item.range());
            node = item;
        } else {
            break;
        }
    }
    let own = node.own_range();
    if own.start <= offset && offset <= own.end && !node.is_through_alias() {
        if matches!(node.style(), Some(Style::SingleQuoted | Style::DoubleQuoted)) && own.len() >= 2 {
            found.push(own.start + 1..own.end - 1);
        }
        if node.text().is_some() {
            let source = String::from(document.text().byte_slice(own.clone()));
            let around = template::placeholders(&source)
                .into_iter()
                .map(|found| own.start + found.token().start..own.start + found.token().end);
            for name in around.filter(|name| name.start <= offset && offset <= name.end) {
                found.extend([name.start - 2..name.end + 2, name]);
            }
        }
    }
    // Each must contain the one before: in damaged text a node may extend beyond its parent.
    let mut nested: Vec<Range<usize>> = Vec::new();
    for range in found {
        let outer = nested.last();
        let holds = range.start <= offset && offset <= range.end;
        if holds && outer.is_none_or(|outer| *outer != range && outer.start <= range.start && range.end <= outer.end) {
            nested.push(range);
        }
    }
    nested.reverse();
    nested
}

#[cfg(test)]
mod tests {
    use super::around;
    use crate::ide::tests::fixture::Fixture;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        for line_break in ["\n", "\r\n"] {
            let fixture = Fixture::parse(&text.replace('\n', line_break));
            let whole = fixture.text();
            let found: Vec<&str> =
                around(&fixture.document, fixture.offset()).into_iter().map(|range| whole[range].trim_end()).collect();
            assert_eq!(found[..found.len() - 1], *expected, "{text}");
        }
    }

    #[test]
    fn a_selection_grows_from_the_word_to_the_file() {
        check(
            "# 😀\ntests: [{command: 'a {{na$0me}}', x: 1}]\n",
            &[
                "name",
                "{{name}}",
                "a {{name}}",
                "'a {{name}}'",
                "command: 'a {{name}}'",
                "{command: 'a {{name}}', x: 1}",
                "[{command: 'a {{name}}', x: 1}]",
                "tests: [{command: 'a {{name}}', x: 1}]",
            ],
        );
        check("tests:\n  - \"open\nsuite: {na$0me: x}\n", &["name", "name: x", "{name: x}", "suite: {name: x}"]);
    }
}

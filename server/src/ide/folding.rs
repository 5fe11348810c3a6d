//! Folding ranges: sections, tests, values of several lines, comments.

use std::{borrow::Cow, ops::Range};

use speclens_schema::document::{Document, NodeRef};

/// A folding range. Its first line stays visible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fold {
    /// From its first line to the end of its last line that is not blank.
    pub range: Range<usize>,
    pub kind: FoldKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FoldKind {
    /// A part of the tree.
    Node,
    Comment,
}

/// The folds in the order of the text; only the largest on each line.
pub(crate) fn folds(document: &Document) -> Vec<Fold> {
    let mut finder = Finder { document, found: Vec::new() };
    if let Some(root) = document.root() {
        finder.children(root);
    }
    finder.comments();
    let Finder { mut found, .. } = finder;
    // The largest first.
    found.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
    found.dedup_by_key(|(range, _)| range.start);
    let text = document.text();
    let end = |line: usize| text.line_to_byte(line) + line_of(document, line).trim_end_matches(['\n', '\r']).len();
    let fold = |(range, kind): (Range<usize>, _)| Fold { range: text.line_to_byte(range.start)..end(range.end), kind };
    found.into_iter().map(fold).collect()
}

struct Finder<'d> {
    document: &'d Document,
    /// First and last line.
    found: Vec<(Range<usize>, FoldKind)>,
}

fn line_of(document: &Document, line: usize) -> Cow<'_, str> {
    Cow::from(document.text().line(line))
}

impl Finder<'_> {
    fn children(&mut self, node: NodeRef<'_>) {
        if node.alias().is_some() {
            return;
        }
        for entry in node.entries() {
            let key = entry.key.range();
            self.add(key.start..entry.value.range().end.max(key.end));
            self.children(entry.value);
        }
        for item in node.items() {
            let range = item.range();
            self.add(self.dash_above(range.start)..range.end);
            self.children(item);
        }
    }

    /// The position of an item's dash if it is on the line above, with at most an anchor or a tag.
    fn dash_above(&self, start: usize) -> usize {
        let text = self.document.text();
        let line = text.byte_to_line(start);
        let is_first_in_line = text.byte_slice(text.line_to_byte(line)..start).bytes().all(|byte| byte == b' ');
        let Some(above) = line.checked_sub(1).filter(|_| is_first_in_line) else { return start };
        let words = line_of(self.document, above);
        let mut words = words.split_whitespace();
        let is_dash = words.next() == Some("-") && words.all(|word| word.starts_with(['&', '!', '#']));
        if is_dash { text.line_to_byte(above) } else { start }
    }

    fn add(&mut self, range: Range<usize>) {
        let text = self.document.text();
        let (first, mut last) = (text.byte_to_line(range.start), text.byte_to_line(range.end));
        // A node that ends with a line break ends on the line before; so do blank lines at its end.
        if last > first && text.line_to_byte(last) == range.end {
            last -= 1;
        }
        while last > first && line_of(self.document, last).trim().is_empty() {
            last -= 1;
        }
        if last > first {
            self.found.push((first..last, FoldKind::Node));
        }
    }

    fn comments(&mut self) {
        let lines = self.document.text().len_lines();
        let mut first = None;
        for number in 0..=lines {
            let is_comment = number < lines && line_of(self.document, number).trim_start().starts_with('#');
            match (is_comment, first) {
                (true, None) => first = Some(number),
                (false, Some(begin)) => {
                    if number - begin > 1 && !self.is_in_text(begin) {
                        self.found.push((begin..number - 1, FoldKind::Comment));
                    }
                    first = None;
                }
                (true, Some(_)) | (false, None) => {}
            }
        }
    }

    fn is_in_text(&self, line: usize) -> bool {
        let at = self.document.text().line_to_byte(line);
        let node = self.document.find(&self.document.pointer_at(at));
        node.is_some_and(|node| node.text().is_some() && node.range().start < at && at < node.range().end)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::ide::{context::Line, tests::fixture::Fixture};

    #[track_caller]
    fn check(fixture: &str, expected: Expect) {
        let fixture = Fixture::parse(fixture);
        let text = fixture.document.text();
        let lines = folds(&fixture.document).into_iter().map(|fold| {
            let (first, last) = (text.byte_to_line(fold.range.start), text.byte_to_line(fold.range.end));
            format!("{first}-{last} {:?} {}\n", fold.kind, Line::of(text, first).text)
        });
        expected.assert_eq(&lines.collect::<String>());
    }

    #[test]
    fn empty_item_above_an_item_does_not_belong_to_it() {
        check(
            r#"kindlm: 1
tests:
  - name: a
    tags:
      -
  - name: b
    command: "true"
  -
    name: c
    tags:
      - &t
        - x
"#,
            expect![[r#"
                1-11 Node tests:
                2-4 Node   - name: a
                3-4 Node     tags:
                5-6 Node   - name: b
                7-11 Node   -
                9-11 Node     tags:
                10-11 Node       - &t
            "#]],
        );
    }

    #[test]
    fn sections_tests_texts_and_comments_fold() {
        check(
            r#"# one
# two
kindlm: 1
suite:
  name: x

tests:
  - name: a
    command: |
      # no comment
      # here
      echo
    expect:
      output: {
        contains: [a]
      }

  # three
  # four
  - name: b
    command: "true"
"#,
            expect![[r#"
                0-1 Comment # one
                3-4 Node suite:
                6-20 Node tests:
                7-15 Node   - name: a
                8-11 Node     command: |
                12-15 Node     expect:
                13-15 Node       output: {
                17-18 Comment   # three
                19-20 Node   - name: b
            "#]],
        );
    }

    #[test]
    fn a_damaged_part_does_not_stop_the_rest() {
        check(
            "suite:\n  name: x\ntests:\n  - name: \"a\n  - name: b\n    expect: {}\n",
            expect![[r#"
            0-1 Node suite:
            2-5 Node tests:
            4-5 Node   - name: b
        "#]],
        );
    }
}

//! Folding ranges: sections, tests, values of several lines, comments.

use std::ops::Range;

use ropey::RopeSlice;
use speclens_schema::document::{Document, EntryRef, NodeRef};

/// A folding range. Its first line stays visible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fold {
    /// From its first line to the end of its last line that is not blank.
    pub range: Range<usize>,
    /// The kind of the fold.
    pub kind: FoldKind,
}

/// Kinds of folds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FoldKind {
    /// A part of the tree.
    Node,
    /// Lines of comments.
    Comment,
}

/// Returns the folds in the order of the text; only the largest on each line.
pub(crate) fn folds(document: &Document) -> Vec<Fold> {
    let mut finder = Finder { document, lines: lines(document), found: Vec::new() };
    if let Some(root) = document.root() {
        finder.children(root);
    }
    finder.comments();
    let Finder { lines, mut found, .. } = finder;
    // The largest first.
    found.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
    found.dedup_by_key(|(range, _)| range.start);
    let fold = |(range, kind): (Range<usize>, _)| Fold { range: lines[range.start].start..lines[range.end].end, kind };
    found.into_iter().map(fold).collect()
}

struct Finder<'d> {
    document: &'d Document,
    lines: Vec<LineFacts>,
    /// First and last line.
    found: Vec<(Range<usize>, FoldKind)>,
}

/// The facts about a line that folds depend on.
struct LineFacts {
    start: usize,
    /// The end without the line break.
    end: usize,
    first: Option<u8>,
}

impl LineFacts {
    fn of(line: RopeSlice<'_>, start: usize) -> LineFacts {
        let length = line.len_bytes();
        let first =
            line.bytes().find(|byte| !matches!(byte, b' ' | b'\t')).filter(|byte| !matches!(byte, b'\n' | b'\r'));
        let ends = (0..length.min(2)).take_while(|back| matches!(line.byte(length - 1 - back), b'\n' | b'\r')).count();
        LineFacts { start, end: start + length - ends, first }
    }
}

fn lines(document: &Document) -> Vec<LineFacts> {
    let mut start = 0;
    let facts = |line: RopeSlice<'_>| {
        let facts = LineFacts::of(line, start);
        start += line.len_bytes();
        facts
    };
    document.text().lines().map(facts).collect()
}

impl Finder<'_> {
    fn children(&mut self, node: NodeRef<'_>) {
        if node.alias().is_some() {
            return;
        }
        node.entries().for_each(|entry| self.entry(entry));
        node.items().for_each(|item| self.item(item));
    }

    fn entry(&mut self, entry: EntryRef<'_>) {
        let value = entry.value.range();
        self.add(entry.key.range().start..value.end.max(entry.key.range().end));
        self.children(entry.value);
    }

    fn item(&mut self, item: NodeRef<'_>) {
        let range = item.range();
        self.add(self.dash_above(range.start)..range.end);
        self.children(item);
    }

    /// Returns the position of an item's dash if it is on the line above, with at most an anchor or a tag.
    fn dash_above(&self, start: usize) -> usize {
        let line = self.line_of(start);
        let before = self.document.text().byte_slice(self.lines[line].start..start);
        let is_first_in_line = before.bytes().all(|byte| byte == b' ');
        let above = line.checked_sub(1).filter(|above| is_first_in_line && self.lines[*above].first == Some(b'-'));
        let Some(above) = above else { return start };
        let facts = &self.lines[above];
        let text = String::from(self.document.text().byte_slice(facts.start..facts.end));
        let mut words = text.split_whitespace();
        let is_dash = words.next() == Some("-") && words.all(|word| word.starts_with(['&', '!', '#']));
        if is_dash { facts.start } else { start }
    }

    fn line_of(&self, at: usize) -> usize {
        self.lines.partition_point(|line| line.start <= at).saturating_sub(1)
    }

    fn add(&mut self, range: Range<usize>) {
        let first = self.line_of(range.start);
        if range.end <= self.lines[first].end {
            return;
        }
        // A node that ends with a line break ends on the line before; so do blank lines at its end.
        let mut last = self.line_of(range.end);
        if last > first && self.lines[last].start == range.end {
            last -= 1;
        }
        while last > first && self.lines[last].first.is_none() {
            last -= 1;
        }
        if last > first {
            self.found.push((first..last, FoldKind::Node));
        }
    }

    fn comments(&mut self) {
        let mut first = None;
        for number in 0..=self.lines.len() {
            let is_comment = self.lines.get(number).is_some_and(|line| line.first == Some(b'#'));
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

    /// Whether a line belongs to a multi-line text, in which `#` does not begin a comment.
    fn is_in_text(&self, line: usize) -> bool {
        let at = self.lines[line].start;
        let node = self.document.find(&self.document.pointer_at(at));
        node.is_some_and(|node| node.text().is_some() && node.range().start < at && at < node.range().end)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::ide::{line::Line, tests::fixture::Fixture};

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

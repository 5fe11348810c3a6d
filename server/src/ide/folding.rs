//! What can be folded: sections, tests, values of several lines, comments.

use std::ops::Range;

use ropey::RopeSlice;
use speclens_schema::document::{Document, EntryRef, NodeRef};

use super::parts::Keeper;

/// Something that can be folded. Its first line stays visible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fold {
    /// From its first line to the end of its last line that is not blank.
    pub range: Range<usize>,
    /// Its kind.
    pub kind: FoldKind,
}

/// What is folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FoldKind {
    /// A part of the tree.
    Node,
    /// Lines of comments.
    Comment,
}

/// A block of a document, as far as its folds are concerned: they depend on nothing else.
pub(crate) struct FoldedBlock<'d> {
    document: &'d Document,
    /// Its bytes.
    range: Range<usize>,
    /// The entries and items of the root, or of a list that is spread over blocks, that are in it.
    children: Vec<Child<'d>>,
    /// Where the folds of the block are kept.
    pub keeper: Keeper<'d>,
    /// The lists that begin in the block and go on in others.
    pub lists: Vec<Fold>,
}

enum Child<'d> {
    Entry(EntryRef<'d>),
    Item(NodeRef<'d>),
}

impl<'d> Child<'d> {
    fn block(&self) -> Option<usize> {
        match self {
            Child::Entry(entry) => entry.key.block(),
            Child::Item(item) => item.block(),
        }
    }
}

/// Everything that can be folded, in the order of the text; on each line only the largest.
#[cfg(test)]
pub(crate) fn folds(document: &Document) -> Vec<Fold> {
    let blocks = folded_blocks(document).into_iter();
    blocks.flat_map(|block| block.lists.iter().cloned().chain(block.folds()).collect::<Vec<_>>()).collect()
}

/// Returns the blocks of a document in the order of the text.
pub(crate) fn folded_blocks(document: &Document) -> Vec<FoldedBlock<'_>> {
    let mut children = Vec::new();
    if let Some(root) = document.root().filter(|root| root.alias().is_none()) {
        for entry in root.entries() {
            children.push(Child::Entry(entry));
            if is_spread(entry.value) {
                children.extend(entry.value.items().map(Child::Item));
            }
        }
        children.extend(root.items().map(Child::Item));
    }
    let mut children = children.into_iter().peekable();
    let blocks = document.blocks().enumerate().map(|(number, (start, block))| {
        let mut own = Vec::new();
        while let Some(child) = children.next_if(|child| child.block().is_none_or(|block| block <= number)) {
            own.push(child);
        }
        let lists = own.iter().filter_map(|child| match child {
            Child::Entry(entry) if is_spread(entry.value) => fold_of_list(document, *entry),
            Child::Entry(_) | Child::Item(_) => None,
        });
        let lists = lists.collect();
        let keeper = Keeper::of_block(start, block);
        FoldedBlock { document, range: start..start + block.length(), children: own, keeper, lists }
    });
    blocks.collect()
}

/// Whether the items of a list are in other blocks than its key.
fn is_spread(value: NodeRef<'_>) -> bool {
    value.alias().is_none() && value.is_spread()
}

/// Returns the fold of an entry whose list is spread over blocks.
fn fold_of_list(document: &Document, entry: EntryRef<'_>) -> Option<Fold> {
    let text = document.text();
    let first = text.byte_to_line(entry.key.range().start);
    let end = entry.value.range().end;
    let mut last = text.byte_to_line(end);
    if last > first && text.line_to_byte(last) == end {
        last -= 1;
    }
    while last > first && LineFacts::of(text.line(last), 0).first.is_none() {
        last -= 1;
    }
    let start = text.line_to_byte(first);
    let end = LineFacts::of(text.line(last), text.line_to_byte(last)).end;
    (last > first).then_some(Fold { range: start..end, kind: FoldKind::Node })
}

impl FoldedBlock<'_> {
    /// Returns what can be folded in the block, in the order of the text; on each line only the largest.
    pub(crate) fn folds(&self) -> Vec<Fold> {
        let lines = lines(self.document, &self.range);
        let mut finder = Finder { document: self.document, lines, found: Vec::new() };
        for child in &self.children {
            match child {
                Child::Entry(entry) if is_spread(entry.value) => {}
                Child::Entry(entry) => finder.entry(*entry),
                Child::Item(item) => finder.item(*item),
            }
        }
        finder.comments();
        let Finder { lines, mut found, .. } = finder;
        // The largest first.
        found.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
        found.dedup_by_key(|(range, _)| range.start);
        let fold =
            |(range, kind): (Range<usize>, _)| Fold { range: lines[range.start].start..lines[range.end].end, kind };
        found.into_iter().map(fold).collect()
    }
}

struct Finder<'d> {
    document: &'d Document,
    /// The lines of the block.
    lines: Vec<LineFacts>,
    /// First and last line, counted from the first one of the block.
    found: Vec<(Range<usize>, FoldKind)>,
}

/// What has to be known about a line.
struct LineFacts {
    start: usize,
    /// Without the line break.
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

fn lines(document: &Document, range: &Range<usize>) -> Vec<LineFacts> {
    let mut start = range.start;
    let facts = |line: RopeSlice<'_>| {
        let facts = LineFacts::of(line, start);
        start += line.len_bytes();
        facts
    };
    document.text().byte_slice(range.clone()).lines().map(facts).collect()
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

    /// Where the dash of an item is, if it is on the line above with an anchor or a tag at most.
    fn dash_above(&self, start: usize) -> usize {
        let line = self.line_of(start);
        let Some(above) = line.checked_sub(1).filter(|above| self.lines[*above].first == Some(b'-')) else {
            return start;
        };
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

    /// Whether a line belongs to a text of several lines, so that `#` begins no comment.
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
    use crate::ide::{fixture::Fixture, line::Line};

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

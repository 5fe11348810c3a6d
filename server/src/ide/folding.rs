//! Folding ranges: sections, tests, values of several lines, comments.

use std::ops::Range;

use ropey::RopeSlice;
use speclens_schema::document::{Document, EntryRef, NodeRef};

use super::parts::{Group, groups};

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

/// A part of a document whose folds depend on nothing else.
pub(crate) enum Foldable<'d> {
    /// A list that begins in one block and continues in others.
    List(EntryRef<'d>),
    /// The items of a group.
    Group(Group<'d>),
    /// A block with any content, by its bytes.
    Block(&'d Document, Range<usize>),
}

enum Child<'d> {
    Entry(EntryRef<'d>),
    Item(NodeRef<'d>),
}

/// Returns the folds in the order of the text; only the largest on each line.
#[cfg(test)]
pub(crate) fn folds(document: &Document) -> Vec<Fold> {
    foldable(document).iter().flat_map(Foldable::folds).collect()
}

/// Returns the parts of a document in the order of the text.
pub(crate) fn foldable(document: &Document) -> Vec<Foldable<'_>> {
    let root = document.root().filter(|root| root.alias().is_none());
    let lists = root.into_iter().flat_map(NodeRef::entries).map(|entry| entry.value).filter(|list| is_spread(*list));
    let lists = lists.chain(root.filter(|root| root.is_spread()));
    let mut found = Vec::new();
    let mut end = 0;
    for group in lists.flat_map(groups) {
        let Some(extent) = group.extent() else { continue };
        add_blocks(document, end..extent.start, &mut found);
        end = extent.end;
        found.push(Foldable::Group(group));
    }
    add_blocks(document, end..document.text().len_bytes(), &mut found);
    found
}

fn add_blocks<'d>(document: &'d Document, range: Range<usize>, found: &mut Vec<Foldable<'d>>) {
    let mut at = range.start;
    while at < range.end {
        let block = document.block_around(at);
        if block.is_empty() {
            return;
        }
        at = block.end;
        let entries = document.root().into_iter().flat_map(|root| root.entries_in(&block));
        let lists = entries.filter(|entry| is_spread(entry.value) && block.contains(&entry.key.range().start));
        found.extend(lists.map(Foldable::List));
        found.push(Foldable::Block(document, block.clone()));
    }
}

/// Returns the entries and items of the root, and the items of lists that are spread over blocks, that are in a block.
fn children<'d>(document: &'d Document, block: &Range<usize>) -> Vec<Child<'d>> {
    let Some(root) = document.root().filter(|root| root.alias().is_none()) else { return Vec::new() };
    let items = |list: NodeRef<'d>| list.items_in(block).map(|(_, item)| Child::Item(item)).collect::<Vec<_>>();
    let of_entry = |entry: EntryRef<'d>| match is_spread(entry.value) {
        true => items(entry.value),
        false => vec![Child::Entry(entry)],
    };
    let found = root.entries_in(block).flat_map(of_entry).chain(items(root));
    let is_here = |child: &Child<'_>| match child {
        Child::Entry(entry) => block.contains(&entry.key.range().start),
        Child::Item(item) => block.contains(&item.range().start),
    };
    found.filter(is_here).collect()
}

/// Whether the items of a list are in different blocks from its key.
fn is_spread(value: NodeRef<'_>) -> bool {
    value.alias().is_none() && value.is_spread()
}

/// Returns the fold of an entry whose list is spread over blocks.
fn fold_of_list(entry: EntryRef<'_>) -> Option<Fold> {
    let text = entry.key.document().text();
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

impl<'d> Foldable<'d> {
    /// Returns the group, if it is one.
    pub(crate) fn group(&self) -> Option<&Group<'d>> {
        match self {
            Foldable::Group(group) => Some(group),
            Foldable::List(_) | Foldable::Block(..) => None,
        }
    }

    /// Returns the folds of the part in the order of the text; only the largest on each line.
    pub(crate) fn folds(&self) -> Vec<Fold> {
        match self {
            Foldable::List(entry) => fold_of_list(*entry).into_iter().collect(),
            Foldable::Group(group) => {
                let items: Vec<_> = group.items().map(Child::Item).collect();
                let document = group.document();
                group.extent().map(|extent| folds_in(document, &extent, items)).unwrap_or_default()
            }
            Foldable::Block(document, range) => folds_in(document, range, children(document, range)),
        }
    }
}

fn folds_in(document: &Document, range: &Range<usize>, children: Vec<Child<'_>>) -> Vec<Fold> {
    let mut finder = Finder { document, lines: lines(document, range), found: Vec::new() };
    for child in children {
        match child {
            Child::Entry(entry) => finder.entry(entry),
            Child::Item(item) => finder.item(item),
        }
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
    /// The lines of the part.
    lines: Vec<LineFacts>,
    /// First and last line, relative to the first line of the part.
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

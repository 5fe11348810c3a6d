//! Problems of a document as a sequence of parts. The findings of an item are shared by all versions of the document
//! that contain the item; only their location is new.

use std::{any::Any, iter, ops::Range, sync::Arc};

use super::levels::Levels;
use crate::{
    dialect::Dialect,
    document::{Document, ItemBlock, ItemBlocks, Memos, NodeRef},
    fixes,
    json_schema::SpecFile,
    problem::{Applicability, Code, Fix, Problem, Related, Severity},
    validate::Definition,
};

/// Problems of a document, in document order. They are copied only on request.
#[derive(Clone, Debug)]
pub struct Problems {
    file: SpecFile,
    /// Whether the kind of the document is a guess. If it is, no fix is safe.
    is_guess: bool,
    /// The document that the items are in. `None` if there are no groups.
    document: Option<Document>,
    /// Findings of items that are alone in their block, in document order.
    groups: Vec<Group>,
    /// All other problems, in document order. Their fixes exclude those that need the whole file.
    others: Vec<Problem>,
    /// Maximum end of each of the other problems and those before it.
    reach: Vec<usize>,
}

/// Findings of items that follow each other.
#[derive(Clone, Debug)]
pub struct Group {
    /// Start of the block of the first item, and its line.
    start: usize,
    line: usize,
    /// List that contains the items, and the index of the first one.
    list: &'static str,
    first: usize,
    /// Copies of those in the reports, because each keystroke needs them.
    extent: Range<usize>,
    counts: Counts,
    reports: Arc<Reports>,
}

/// Findings of a group, without its location.
#[derive(Debug)]
pub(super) struct Reports {
    /// Items with problems, in document order.
    items: Vec<ItemReport>,
    /// Bytes from the first of their blocks to the last one.
    extent: Range<usize>,
    counts: Counts,
    /// Whether some of the related locations are in other items.
    has_places_elsewhere: bool,
    /// Cached results for the problems.
    memos: Memos,
}

/// Findings of one item. Ranges are relative to the start of its block, pointers to the item. All numbers but the length
/// count from the first item of the group.
#[derive(Debug)]
pub(super) struct ItemReport {
    /// Start of the block, its line, and its length.
    pub(super) start: usize,
    pub(super) line: usize,
    pub(super) length: usize,
    pub(super) index: usize,
    /// Indices, in the list, of the other items that contain related locations.
    pub(super) places: Box<[usize]>,
    pub(super) reported: Arc<Reported>,
}

/// Number of problems of each severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([usize; 4]);

impl Counts {
    fn add(&mut self, severity: Severity) {
        self.0[severity as usize] += 1;
    }

    /// Returns the sum of two counts.
    pub fn plus(self, other: Counts) -> Counts {
        Counts(std::array::from_fn(|severity| self.0[severity] + other.0[severity]))
    }

    /// Returns the number of problems of a severity.
    pub fn of(self, severity: Severity) -> usize {
        self.0[severity as usize]
    }

    /// Returns the number of all problems.
    pub fn total(self) -> usize {
        self.0.iter().sum()
    }
}

impl Reports {
    /// Creates the findings of a group. `None` if no problem is reported.
    pub(super) fn of(items: Vec<ItemReport>) -> Option<Reports> {
        let (first, last) = (items.first()?, items.last()?);
        let extent = first.start..last.start + last.length;
        let mut counts = Counts::default();
        let problems = items.iter().flat_map(|item| &item.reported.problems);
        problems.for_each(|problem| counts.add(problem.severity));
        let has_places_elsewhere = items.iter().any(|item| !item.reported.elsewhere.is_empty());
        Some(Reports { items, extent, counts, has_places_elsewhere, memos: Memos::default() })
    }
}

/// Reported problems of an item.
#[derive(Debug)]
pub(super) struct Reported {
    pub(super) problems: Vec<Problem>,
    /// Related locations in other items, in order: the index of the problem, that of the related
    /// location, and that of the item among the locations of the part. Ranges are relative to the block of that item,
    /// pointers to the item.
    elsewhere: Vec<(usize, usize, usize)>,
    /// Cached results for the problems.
    memos: Memos,
}

impl Reported {
    /// Returns the reported problems, each with its related locations in other items.
    pub(super) fn of(mut found: Vec<(Problem, Vec<(usize, usize)>)>, levels: &Levels<'_>) -> Reported {
        found.sort_by_key(|(problem, _)| (problem.range.start, problem.code));
        found.retain_mut(|(problem, _)| levels.tells(problem));
        let numbered = found.iter().enumerate();
        let elsewhere =
            numbered.flat_map(|(number, (_, places))| places.iter().map(move |place| (number, place.0, place.1)));
        let elsewhere = elsewhere.collect();
        Reported {
            problems: found.into_iter().map(|(problem, _)| problem).collect(),
            elsewhere,
            memos: Memos::default(),
        }
    }
}

impl Reported {
    /// Returns the related locations of a problem in other items: the index of the location, and that of the item.
    fn elsewhere_of(&self, number: usize) -> impl Iterator<Item = (usize, usize)> {
        let first = self.elsewhere.partition_point(|(of, ..)| *of < number);
        let own = self.elsewhere[first..].iter().take_while(move |(of, ..)| *of == number);
        own.map(|(_, related, place)| (*related, *place))
    }
}

/// Location of an item.
#[derive(Clone, Copy, Debug)]
pub(super) struct ItemPlace {
    /// Start of its block, and its line.
    pub(super) start: usize,
    pub(super) line: usize,
    /// Index in the list.
    pub(super) index: usize,
}

impl ItemPlace {
    /// Returns the location of an item among those of a list. `None` if the items are not in blocks.
    pub(super) fn of(blocks: Option<ItemBlocks<'_>>, index: usize) -> ItemPlace {
        let (start, line) = blocks.map_or((0, 0), |mut blocks| {
            let ItemBlock { start, line, .. } = blocks.at(index);
            (start, line)
        });
        ItemPlace { start, line, index }
    }

    /// Converts a location relative to the item to one in the document.
    pub(super) fn place(self, list: &str, related: &mut Related) {
        related.range = related.range.start + self.start..related.range.end + self.start;
        related.at = Definition::list_at(list).index(self.index).join(&related.at);
    }
}

/// Findings of one item, with their location.
#[derive(Clone, Copy, Debug)]
pub struct Part<'p> {
    group: &'p Group,
    item: &'p ItemReport,
}

/// A problem and its location.
#[derive(Clone, Copy, Debug)]
pub struct Located<'p> {
    problem: &'p Problem,
    /// Part that contains the problem, and the problem's index there.
    part: Option<(Part<'p>, usize)>,
    all: &'p Problems,
}

/// Some of the problems of a document.
#[derive(Clone, Copy, Debug)]
pub enum Run<'p> {
    /// All problems of a group.
    Group(&'p Group),
    /// One problem.
    One(Located<'p>),
}

impl Problems {
    /// Creates the problems of a document from groups and others, both in document order.
    pub(super) fn new(
        file: SpecFile,
        is_guess: bool,
        document: &Document,
        groups: Vec<Group>,
        others: Vec<Problem>,
    ) -> Problems {
        let document = (!groups.is_empty()).then(|| document.clone());
        Problems { groups, document, is_guess, ..Problems::of_others(file, others) }
    }

    fn of_others(file: SpecFile, others: Vec<Problem>) -> Problems {
        let reach = others.iter().scan(0, |reach, problem| {
            *reach = problem.range.end.max(*reach);
            Some(*reach)
        });
        Problems { reach: reach.collect(), file, is_guess: false, document: None, groups: Vec::new(), others }
    }

    /// Creates the problems of a document that is not analysed in parts.
    pub fn of_whole(file: SpecFile, mut problems: Vec<Problem>) -> Problems {
        problems.sort_by_key(|problem| (problem.range.start, problem.code));
        Problems::of_others(file, problems)
    }

    /// Returns the number of problems of each severity.
    pub fn counts(&self) -> Counts {
        let mut others = Counts::default();
        self.others.iter().for_each(|problem| others.add(problem.severity));
        self.groups.iter().fold(others, |counts, group| counts.plus(group.counts()))
    }

    /// Returns the number of problems.
    pub fn len(&self) -> usize {
        self.counts().total()
    }

    /// Whether there are no problems.
    pub fn is_empty(&self) -> bool {
        self.others.is_empty() && self.groups.is_empty()
    }

    /// Returns the groups of items with problems, in document order.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Returns each problem with its location, in document order.
    pub fn iter(&self) -> impl Iterator<Item = Located<'_>> {
        self.merged(self.groups.iter().flat_map(Group::parts), &self.others)
    }

    /// Returns all problems in document order: a group as a whole, unless another problem is between those of the group.
    pub fn runs(&self) -> impl Iterator<Item = Run<'_>> {
        let mut others = self.others.as_slice();
        let runs = self.groups.iter().flat_map(move |group| {
            let extent = group.extent();
            let place = |at: usize| others.partition_point(|problem| problem.range.start < at);
            let (before, inside) = (place(extent.start), place(extent.end));
            let (first, rest) = others.split_at(inside);
            others = rest;
            let runs: Vec<Run<'_>> = if before == inside {
                self.merged(iter::empty(), first).map(Run::One).chain([Run::Group(group)]).collect()
            } else {
                self.merged(group.parts(), first).map(Run::One).collect()
            };
            runs
        });
        let end = self.groups.last().map_or(0, |group| group.extent().end);
        let last = &self.others[self.others.partition_point(|problem| problem.range.start < end)..];
        runs.chain(self.merged(iter::empty(), last).map(Run::One))
    }

    /// Returns each problem of a group, in document order.
    pub fn of_group<'p>(&'p self, group: &'p Group) -> impl Iterator<Item = Located<'p>> {
        self.merged(group.parts(), &[])
    }

    /// Returns each problem of a part, in document order.
    pub fn of_part<'p>(&'p self, part: Part<'p>) -> impl Iterator<Item = Located<'p>> {
        self.merged(iter::once(part), &[])
    }

    fn merged<'p>(
        &'p self,
        parts: impl Iterator<Item = Part<'p>>,
        others: &'p [Problem],
    ) -> impl Iterator<Item = Located<'p>> {
        let of_part = move |part: Part<'p>| {
            let problems = part.problems().iter().enumerate();
            problems.map(move |(index, problem)| Located { problem, part: Some((part, index)), all: self })
        };
        let mut own = parts.flat_map(of_part).peekable();
        let mut others = others.iter().map(move |problem| Located { problem, part: None, all: self }).peekable();
        iter::from_fn(move || match (own.peek(), others.peek()) {
            (Some(first), Some(other)) if first.order() <= other.order() => own.next(),
            (_, Some(_)) => others.next(),
            (_, None) => own.next(),
        })
    }

    /// Returns the problems that touch a range, in document order. The cost does not depend on the length of the file.
    pub fn touching(&self, range: &Range<usize>) -> impl Iterator<Item = Located<'_>> {
        let Range { start, end } = *range;
        let groups = &self.groups[self.groups.partition_point(|group| group.extent().end < start)..];
        let groups = &groups[..groups.partition_point(|group| group.extent().start <= end)];
        let others = &self.others[self.reach.partition_point(|reach| *reach < start)..];
        let others = &others[..others.partition_point(|problem| problem.range.start <= end)];
        let parts = groups.iter().flat_map(Group::parts);
        self.merged(parts, others).filter(move |it| it.range().start <= end && start <= it.range().end)
    }

    /// Returns the location of an item of a list.
    fn place_of(&self, list: &str, index: usize) -> ItemPlace {
        let root = self.document.as_ref().and_then(Document::root);
        let list = root.and_then(|root| Definition::list_in(root, list));
        ItemPlace::of(list.and_then(NodeRef::item_blocks), index)
    }

    /// Returns copies of some problems, in their order, with every fix.
    pub fn with_fixes<'p>(&self, document: &Document, some: impl IntoIterator<Item = Located<'p>>) -> Vec<Problem> {
        let mut problems: Vec<Problem> = some.into_iter().map(|located| located.problem()).collect();
        if let Some(root) = document.root() {
            if let Some(format) = self.file.dialect().map(Dialect::format) {
                format.fix_across(root, &mut problems);
            }
            fixes::fix_across(root, &mut problems);
        }
        if self.is_guess {
            for fix in problems.iter_mut().flat_map(|problem| &mut problem.fixes) {
                fix.applicability = Applicability::Suggestion;
            }
        }
        problems
    }

    /// Returns copies of all problems, with every fix.
    pub fn to_vec(&self, document: &Document) -> Vec<Problem> {
        self.with_fixes(document, self.iter())
    }

    /// Counts the problems with a code that have a matching fix.
    pub fn count_with_fix(&self, document: &Document, code: Code, is_meant: impl Fn(&Fix) -> bool) -> usize {
        let has_meant = |problem: &Problem| problem.fixes.iter().any(&is_meant);
        let (late, ready): (Vec<_>, Vec<_>) =
            self.iter().filter(|it| it.code() == code).partition(|it| fixes::may_gain(it.problem));
        let late = self.with_fixes(document, late);
        late.iter().filter(|problem| has_meant(problem)).count()
            + ready.iter().filter(|located| has_meant(located.problem)).count()
    }

    /// Returns the problems that belong to no part.
    pub fn others(&self) -> &[Problem] {
        &self.others
    }
}

impl Group {
    /// Places the findings of a group in a document. `first`: its first item.
    pub(super) fn new(first: ItemPlace, list: &'static str, reports: Arc<Reports>) -> Group {
        let ItemPlace { start, line, index } = first;
        let Range { start: from, end: to } = reports.extent;
        let (extent, counts) = (start + from..start + to, reports.counts);
        Group { start, line, list, first: index, extent, counts, reports }
    }

    /// Returns the start of the block of its first item.
    pub(super) fn start(&self) -> usize {
        self.start
    }

    /// Returns the line that its lines count from.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Returns the bytes that its problems are in.
    pub fn extent(&self) -> Range<usize> {
        self.extent.clone()
    }

    /// Returns the number of problems of each severity.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Whether some of the related locations are in other items, and so move independently.
    pub fn has_places_elsewhere(&self) -> bool {
        self.reports.has_places_elsewhere
    }

    /// Returns the items with problems, in document order.
    pub fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        self.reports.items.iter().map(|item| Part { group: self, item })
    }

    /// Returns a number that is the same for another group only if it has the same findings of the same items, wherever they
    /// are.
    pub fn findings_id(&self) -> usize {
        Arc::as_ptr(&self.reports).addr()
    }

    /// Returns the cached result for these problems, or computes it. `key` represents everything else that the result
    /// depends on.
    pub fn memo<T: Any + Send + Sync>(&self, key: u64, make: impl FnOnce() -> T) -> Arc<T> {
        self.reports.memos.memo(key, make)
    }
}

impl<'p> Part<'p> {
    /// Returns the offset that ranges are relative to: the start of a line.
    pub fn start(self) -> usize {
        self.group.start + self.item.start
    }

    /// Returns that line.
    pub fn line(self) -> usize {
        self.group.line + self.item.line
    }

    /// Returns the list that contains the item, and the item's index.
    pub fn item(self) -> (&'static str, usize) {
        (self.group.list, self.group.first + self.item.index)
    }

    /// Returns the problems. Ranges are relative to [`Part::start`].
    pub fn problems(self) -> &'p [Problem] {
        &self.item.reported.problems
    }

    /// Returns the cached result for these problems, or computes it. `key` represents everything else that the result
    /// depends on.
    pub fn memo<T: Any + Send + Sync>(self, key: u64, make: impl FnOnce() -> T) -> Arc<T> {
        self.item.reported.memos.memo(key, make)
    }

    #[cfg(test)]
    pub(super) fn reported(self) -> &'p Arc<Reported> {
        &self.item.reported
    }
}

impl<'p> Located<'p> {
    fn distance(&self) -> usize {
        self.part.map_or(0, |(part, _)| part.start())
    }

    fn order(&self) -> (usize, Code) {
        (self.problem.range.start + self.distance(), self.problem.code)
    }

    /// Returns the kind of problem.
    pub fn code(&self) -> Code {
        self.problem.code
    }

    /// Returns the severity.
    pub fn severity(&self) -> Severity {
        self.problem.severity
    }

    /// Returns the bytes to underline.
    pub fn range(&self) -> Range<usize> {
        let distance = self.distance();
        self.problem.range.start + distance..self.problem.range.end + distance
    }

    /// Returns the fixes that can be applied without review.
    pub fn safe_fixes(&self) -> impl Iterator<Item = &'p Fix> {
        let is_guess = self.all.is_guess;
        self.problem.fixes.iter().filter(move |fix| !is_guess && fix.is_safe())
    }

    /// Whether the problem may have fixes, including those that need the whole file.
    pub fn may_have_fix(&self) -> bool {
        !self.problem.fixes.is_empty() || fixes::may_gain(self.problem)
    }

    /// Returns the problem. In a part, its ranges are relative to [`Part::start`].
    pub fn as_found(&self) -> &'p Problem {
        self.problem
    }

    /// Returns the line that the lines of each related location count from: that of the block of its item.
    pub fn lines_of_related(&self) -> Vec<usize> {
        let Some((part, number)) = self.part else { return vec![0; self.problem.related.len()] };
        let mut lines = vec![part.line(); self.problem.related.len()];
        for (related, place) in part.item.reported.elsewhere_of(number) {
            lines[related] = self.all.place_of(part.group.list, part.item.places[place]).line;
        }
        lines
    }

    /// Returns the part that contains the problem, and the problem's index there.
    pub fn part(&self) -> Option<(Part<'p>, usize)> {
        self.part
    }

    /// Returns a copy, with the fixes that need only its item.
    pub fn problem(&self) -> Problem {
        match self.part {
            None => self.problem.clone(),
            Some((part, number)) => {
                let (list, index) = part.item();
                let mut problem = self.problem.clone().moved(&Definition::list_at(list).index(index), part.start());
                for (related, place) in part.item.reported.elsewhere_of(number) {
                    problem.related[related] = self.problem.related[related].clone();
                    self.all.place_of(list, part.item.places[place]).place(list, &mut problem.related[related]);
                }
                problem
            }
        }
    }
}

//! Problems of a document as a sequence of parts. The findings of an item are shared by all versions of the document
//! that contain the item; only their location is new.

use std::{any::Any, ops::Range, sync::Arc};

use super::levels::Levels;
use crate::{
    dialect::Dialect,
    document::{Document, Memos},
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
    /// Findings of items that are alone in their block, in document order.
    pub(super) parts: Vec<Part>,
    /// Related locations of the parts that are in other items.
    places: Vec<ItemPlace>,
    /// All other problems, in document order. Their fixes exclude those that need the whole file.
    others: Vec<Problem>,
    /// Maximum end of each of the other problems and those before it.
    reach: Vec<usize>,
}

/// Findings of one item. Ranges are relative to the start of its block, pointers to the item.
#[derive(Clone, Debug)]
pub struct Part {
    /// Start and length of the block.
    pub(super) start: usize,
    pub(super) length: usize,
    /// List that contains the item, and the item's index.
    pub(super) list: &'static str,
    pub(super) index: usize,
    /// Index of the first of its locations in other items.
    pub(super) first_place: usize,
    pub(super) reported: Arc<Reported>,
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
    /// Start of its block.
    pub(super) start: usize,
    /// Index in the list.
    pub(super) index: usize,
}

impl ItemPlace {
    /// Converts a location relative to the item to one in the document.
    pub(super) fn place(self, list: &str, related: &mut Related) {
        related.range = related.range.start + self.start..related.range.end + self.start;
        related.at = Definition::list_at(list).index(self.index).join(&related.at);
    }
}

/// A problem and its location.
#[derive(Clone, Copy, Debug)]
pub struct Located<'p> {
    problem: &'p Problem,
    /// Part that contains the problem, and the problem's index there.
    part: Option<(&'p Part, usize)>,
    /// Related locations of the parts.
    places: &'p [ItemPlace],
    is_guess: bool,
}

impl Problems {
    /// Creates the problems of a document from parts and others, both in document order.
    pub(super) fn new(
        file: SpecFile,
        is_guess: bool,
        parts: Vec<Part>,
        places: Vec<ItemPlace>,
        others: Vec<Problem>,
    ) -> Problems {
        let reach = others.iter().scan(0, |reach, problem| {
            *reach = problem.range.end.max(*reach);
            Some(*reach)
        });
        Problems { reach: reach.collect(), file, is_guess, parts, places, others }
    }

    /// Creates the problems of a document that is not analysed in parts.
    pub fn of_whole(file: SpecFile, mut problems: Vec<Problem>) -> Problems {
        problems.sort_by_key(|problem| (problem.range.start, problem.code));
        Problems::new(file, false, Vec::new(), Vec::new(), problems)
    }

    /// Returns the number of problems.
    pub fn len(&self) -> usize {
        self.others.len() + self.parts.iter().map(|part| part.reported.problems.len()).sum::<usize>()
    }

    /// Whether there are no problems.
    pub fn is_empty(&self) -> bool {
        self.others.is_empty() && self.parts.is_empty()
    }

    /// Returns each problem with its location, in document order.
    pub fn iter(&self) -> impl Iterator<Item = Located<'_>> {
        self.merged(&self.parts, &self.others)
    }

    fn merged<'p>(&'p self, parts: &'p [Part], others: &'p [Problem]) -> impl Iterator<Item = Located<'p>> {
        let (is_guess, places) = (self.is_guess, self.places.as_slice());
        let of_part = move |part: &'p Part| {
            let problems = part.reported.problems.iter().enumerate();
            problems.map(move |(index, problem)| Located { problem, part: Some((part, index)), places, is_guess })
        };
        let mut own = parts.iter().flat_map(of_part).peekable();
        let mut others = others.iter().map(move |problem| Located { problem, part: None, places, is_guess }).peekable();
        std::iter::from_fn(move || match (own.peek(), others.peek()) {
            (Some(first), Some(other)) if first.order() <= other.order() => own.next(),
            (_, Some(_)) => others.next(),
            (_, None) => own.next(),
        })
    }

    /// Returns the problems that touch a range, in document order. The cost does not depend on the length of the file.
    pub fn touching(&self, range: &Range<usize>) -> impl Iterator<Item = Located<'_>> {
        let Range { start, end } = *range;
        let parts = self.parts.partition_point(|part| part.start + part.length < start);
        let parts = &self.parts[parts..];
        let parts = &parts[..parts.partition_point(|part| part.start <= end)];
        let others = &self.others[self.reach.partition_point(|reach| *reach < start)..];
        let others = &others[..others.partition_point(|problem| problem.range.start <= end)];
        self.merged(parts, others).filter(move |it| it.range().start <= end && start <= it.range().end)
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

impl Part {
    /// Returns the offset that ranges are relative to: the start of a line.
    pub fn start(&self) -> usize {
        self.start
    }

    /// Returns the list that contains the item, and the item's index.
    pub fn item(&self) -> (&'static str, usize) {
        (self.list, self.index)
    }

    /// Returns the problems. Ranges are relative to [`Part::start`].
    pub fn problems(&self) -> &[Problem] {
        &self.reported.problems
    }

    /// Returns the cached result for these problems, or computes it. `key` represents everything else that the result
    /// depends on.
    pub fn memo<T: Any + Send + Sync>(&self, key: u64, make: impl FnOnce() -> T) -> Arc<T> {
        self.reported.memos.memo(key, make)
    }
}

impl<'p> Located<'p> {
    fn distance(&self) -> usize {
        self.part.map_or(0, |(part, _)| part.start)
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
        let is_guess = self.is_guess;
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

    /// Returns the offset of each related location: the start of a line in its item, or 0
    /// if the location is absolute.
    pub fn starts_of_related(&self) -> Vec<usize> {
        let mut starts = vec![self.distance(); self.problem.related.len()];
        if let Some((part, number)) = self.part {
            for (related, place) in part.reported.elsewhere_of(number) {
                starts[related] = self.places[part.first_place + place].start;
            }
        }
        starts
    }

    /// Returns the part that contains the problem, and the problem's index there.
    pub fn part(&self) -> Option<(&'p Part, usize)> {
        self.part
    }

    /// Returns a copy, with the fixes that need only its item.
    pub fn problem(&self) -> Problem {
        match self.part {
            None => self.problem.clone(),
            Some((part, number)) => {
                let base = Definition::list_at(part.list).index(part.index);
                let mut problem = self.problem.clone().moved(&base, part.start);
                for (related, place) in part.reported.elsewhere_of(number) {
                    problem.related[related] = self.problem.related[related].clone();
                    self.places[part.first_place + place].place(part.list, &mut problem.related[related]);
                }
                problem
            }
        }
    }
}

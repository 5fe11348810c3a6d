//! The problems of a document, as a sequence of parts: what was found in an item by itself is shared by all versions of the
//! document that hold the item, and only its place is new.

use std::{any::Any, ops::Range, sync::Arc};

use crate::{
    dialect::Dialect,
    document::{Block, Document},
    fixes,
    json_schema::SpecFile,
    problem::{Applicability, Code, Fix, Problem, Severity},
    validate::Definition,
};

/// What is wrong with a document, in the order of the text. Nothing is copied until it is asked for.
#[derive(Clone, Debug)]
pub struct Problems {
    file: SpecFile,
    /// Whether it is a guess that the document is of that kind: no fix is safe then.
    is_guess: bool,
    /// What was found in items by themselves, in the order of the text.
    pub(super) parts: Vec<Part>,
    /// Everything else, in the order of the text. Fixes that need the whole file are not among its fixes.
    others: Vec<Problem>,
    /// Up to where the others reach, each with those before it.
    reach: Vec<usize>,
}

/// What was found in an item by itself. Its ranges count from the beginning of the item's block, its pointers from the item.
#[derive(Clone, Debug)]
pub struct Part {
    pub(super) block: Arc<Block>,
    /// Where the block begins.
    pub(super) start: usize,
    /// The list that the item is in, and its number.
    pub(super) list: &'static str,
    pub(super) index: usize,
    /// Under which circumstances this is what was found.
    pub(super) key: u64,
    pub(super) problems: Arc<Vec<Problem>>,
}

/// A problem and its place.
#[derive(Clone, Copy, Debug)]
pub struct Located<'p> {
    problem: &'p Problem,
    /// The part that it is in, and its number there.
    part: Option<(&'p Part, usize)>,
    is_guess: bool,
}

impl Problems {
    /// Returns the problems of a document. The parts and the others are in the order of the text.
    pub(super) fn new(file: SpecFile, is_guess: bool, parts: Vec<Part>, others: Vec<Problem>) -> Problems {
        let reach = others.iter().scan(0, |reach, problem| {
            *reach = problem.range.end.max(*reach);
            Some(*reach)
        });
        Problems { reach: reach.collect(), file, is_guess, parts, others }
    }

    /// Returns the problems of a document that is not analysed by parts.
    pub fn of_whole(file: SpecFile, mut problems: Vec<Problem>) -> Problems {
        problems.sort_by_key(|problem| (problem.range.start, problem.code));
        Problems::new(file, false, Vec::new(), problems)
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.others.len() + self.parts.iter().map(|part| part.problems.len()).sum::<usize>()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.others.is_empty() && self.parts.is_empty()
    }

    /// Returns each with its place, in the order of the text.
    pub fn iter(&self) -> impl Iterator<Item = Located<'_>> {
        self.merged(&self.parts, &self.others)
    }

    fn merged<'p>(&'p self, parts: &'p [Part], others: &'p [Problem]) -> impl Iterator<Item = Located<'p>> {
        let is_guess = self.is_guess;
        let of_part = move |part: &'p Part| {
            let problems = part.problems.iter().enumerate();
            problems.map(move |(index, problem)| Located { problem, part: Some((part, index)), is_guess })
        };
        let mut own = parts.iter().flat_map(of_part).peekable();
        let mut others = others.iter().map(move |problem| Located { problem, part: None, is_guess }).peekable();
        std::iter::from_fn(move || match (own.peek(), others.peek()) {
            (Some(first), Some(other)) if first.order() <= other.order() => own.next(),
            (_, Some(_)) => others.next(),
            (_, None) => own.next(),
        })
    }

    /// Returns the problems that touch a range, in the order of the text. Costs no more in a long file than in a short
    /// one.
    pub fn touching(&self, range: &Range<usize>) -> impl Iterator<Item = Located<'_>> {
        let Range { start, end } = *range;
        let parts = self.parts.partition_point(|part| part.start + part.block.length() < start);
        let parts = &self.parts[parts..];
        let parts = &parts[..parts.partition_point(|part| part.start <= end)];
        let others = &self.others[self.reach.partition_point(|reach| *reach < start)..];
        let others = &others[..others.partition_point(|problem| problem.range.start <= end)];
        self.merged(parts, others).filter(move |it| it.range().start <= end && start <= it.range().end)
    }

    /// Returns a copy of some of them, in their order, with every fix.
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

    /// Returns a copy of all, with every fix.
    pub fn to_vec(&self, document: &Document) -> Vec<Problem> {
        self.with_fixes(document, self.iter())
    }

    /// How many problems with a code have such a fix.
    pub fn count_with_fix(&self, document: &Document, code: Code, is_meant: impl Fn(&Fix) -> bool) -> usize {
        let has_meant = |problem: &Problem| problem.fixes.iter().any(&is_meant);
        let (late, ready): (Vec<_>, Vec<_>) =
            self.iter().filter(|it| it.code() == code).partition(|it| fixes::may_gain(it.problem));
        let late = self.with_fixes(document, late);
        late.iter().filter(|problem| has_meant(problem)).count()
            + ready.iter().filter(|located| has_meant(located.problem)).count()
    }

    /// Returns what was found otherwise.
    pub fn others(&self) -> &[Problem] {
        &self.others
    }
}

impl Part {
    /// Returns where its ranges count from: the beginning of a line.
    pub fn start(&self) -> usize {
        self.start
    }

    /// Returns the list that the item is in, and its number there.
    pub fn item(&self) -> (&'static str, usize) {
        (self.list, self.index)
    }

    /// Returns the problems. Ranges count from [`Part::start`].
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Returns what was made of the problems before, or is made of them now. `key` stands for everything else that it
    /// depends on.
    pub fn memo<T: Any + Send + Sync>(&self, key: u64, make: impl FnOnce() -> T) -> Arc<T> {
        self.block.memo(self.key.rotate_left(7) ^ key, make)
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

    /// Returns how bad it is.
    pub fn severity(&self) -> Severity {
        self.problem.severity
    }

    /// Returns the bytes to underline.
    pub fn range(&self) -> Range<usize> {
        let distance = self.distance();
        self.problem.range.start + distance..self.problem.range.end + distance
    }

    /// Returns the fixes that may be applied unseen.
    pub fn safe_fixes(&self) -> impl Iterator<Item = &'p Fix> {
        let is_guess = self.is_guess;
        self.problem.fixes.iter().filter(move |fix| !is_guess && fix.is_safe())
    }

    /// Whether it may have fixes, those included that need the whole file.
    pub fn may_have_fix(&self) -> bool {
        !self.problem.fixes.is_empty() || fixes::may_gain(self.problem)
    }

    /// Returns the problem. In a part, its places count from [`Part::start`].
    pub fn as_found(&self) -> &'p Problem {
        self.problem
    }

    /// Returns the part that it is in, and its number there.
    pub fn part(&self) -> Option<(&'p Part, usize)> {
        self.part
    }

    /// Returns a copy, with the fixes that need nothing but its item.
    pub fn problem(&self) -> Problem {
        match self.part {
            None => self.problem.clone(),
            Some((part, _)) => {
                self.problem.clone().moved(&Definition::list_at(part.list).index(part.index), part.start)
            }
        }
    }
}

//! The problems of a document.

use std::{
    ops::{Deref, Range},
    slice,
};

use crate::{
    document::Document,
    fixes,
    format::Dialect,
    json_schema::SpecFile,
    problem::{Applicability, Code, Fix, Problem},
};

/// Problems of a document, in document order. Fixes that need the whole file are not among their fixes.
#[derive(Clone, Debug)]
pub struct Problems {
    file: SpecFile,
    /// Whether the kind of the document is a guess. If it is, no fix is safe.
    is_guess: bool,
    all: Vec<Problem>,
}

impl Deref for Problems {
    type Target = [Problem];

    fn deref(&self) -> &[Problem] {
        &self.all
    }
}

impl<'p> IntoIterator for &'p Problems {
    type Item = &'p Problem;
    type IntoIter = slice::Iter<'p, Problem>;

    fn into_iter(self) -> slice::Iter<'p, Problem> {
        self.all.iter()
    }
}

impl Problems {
    /// Creates the problems of a document, in document order.
    pub(super) fn new(file: SpecFile, is_guess: bool, mut all: Vec<Problem>) -> Problems {
        if is_guess {
            doubt(&mut all);
        }
        Problems { file, is_guess, all }
    }

    /// Creates the problems of a document that no [`super::Analyzer`] found.
    pub fn of_whole(file: SpecFile, mut all: Vec<Problem>) -> Problems {
        all.sort_by_key(|problem| (problem.range.start, problem.code));
        Problems { file, is_guess: false, all }
    }

    /// Returns the problems that touch a range, in document order.
    pub fn touching(&self, range: &Range<usize>) -> impl Iterator<Item = &Problem> {
        let Range { start, end } = *range;
        self.all.iter().filter(move |problem| problem.range.start <= end && start <= problem.range.end)
    }

    /// Returns copies of some problems, in their order, with every fix.
    pub fn with_fixes<'p>(&self, document: &Document, some: impl IntoIterator<Item = &'p Problem>) -> Vec<Problem> {
        let mut problems: Vec<Problem> = some.into_iter().cloned().collect();
        if let Some(root) = document.root() {
            if let Some(format) = self.file.dialect().map(Dialect::format) {
                format.fix_across(root, &mut problems);
            }
            fixes::fix_across(root, &mut problems);
        }
        if self.is_guess {
            doubt(&mut problems);
        }
        problems
    }

    /// Returns copies of all problems, with every fix.
    pub fn to_vec(&self, document: &Document) -> Vec<Problem> {
        self.with_fixes(document, self)
    }

    pub fn count_with_fix(&self, document: &Document, code: Code, is_meant: impl Fn(&Fix) -> bool) -> usize {
        let has_meant = |problem: &Problem| problem.fixes.iter().any(&is_meant);
        let (late, ready): (Vec<_>, Vec<_>) =
            self.iter().filter(|problem| problem.code == code).partition(|problem| fixes::may_gain(problem));
        let late = self.with_fixes(document, late);
        late.iter().chain(ready).filter(|problem| has_meant(problem)).count()
    }
}

/// Makes no fix safe.
fn doubt(problems: &mut [Problem]) {
    for fix in problems.iter_mut().flat_map(|problem| &mut problem.fixes) {
        fix.applicability = Applicability::Suggestion;
    }
}

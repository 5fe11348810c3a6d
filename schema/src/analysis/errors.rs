//! Which cases have errors: those are not run, or cannot pass.

use std::{ops::Range, sync::Arc};

use crate::{
    problem::{Code, Problem, Severity},
    suite::Case,
};

/// The errors of a document, in the order of the text.
pub(super) struct Errors<'p> {
    /// Where those begin that settings call errors.
    refused: Vec<usize>,
    /// Those of which some part of the text is not understood, whatever settings say.
    doubts: Vec<&'p Problem>,
}

impl<'p> Errors<'p> {
    /// `told` are the problems as settings adjust them, `found` as they are.
    pub(super) fn of(told: &[Problem], found: &'p [Problem]) -> Errors<'p> {
        let errors = told.iter().filter(|problem| problem.severity == Severity::Error);
        let uses = |problem: &Problem| {
            let uses = problem.related.iter().filter(|related| related.repeats);
            uses.map(|related| related.range.start).collect::<Vec<_>>()
        };
        let mut refused: Vec<usize> =
            errors.flat_map(|problem| std::iter::once(problem.range.start).chain(uses(problem))).collect();
        refused.sort_unstable();
        // Two tests of one name are understood.
        let is_doubt = |problem: &&Problem| problem.severity == Severity::Error && problem.code != Code::DuplicateName;
        let mut doubts: Vec<&Problem> = found.iter().filter(is_doubt).collect();
        doubts.sort_by_key(|problem| problem.range.start);
        Errors { refused, doubts }
    }

    /// Whether an error begins in none of these places, which are in the order of the text.
    pub(super) fn is_refused_outside<'r>(&self, places: impl Iterator<Item = &'r Range<usize>>) -> bool {
        let mut covered = 0;
        let mut inside = 0;
        for place in places {
            let first = self.refused.partition_point(|error| *error < place.start.max(covered));
            covered = covered.max(place.end);
            inside += self.refused.partition_point(|error| *error < covered).saturating_sub(first);
        }
        inside < self.refused.len()
    }

    /// Whether an error begins there, and the doubts that do.
    pub(super) fn within(&self, range: &Range<usize>) -> (bool, Vec<&'p Problem>) {
        let first = self.refused.partition_point(|place| *place < range.start);
        let is_refused = self.refused.get(first).is_some_and(|place| *place < range.end);
        let first = self.doubts.partition_point(|problem| problem.range.start < range.start);
        let doubts = self.doubts[first..].iter().take_while(|problem| problem.range.start < range.end);
        (is_refused, doubts.copied().collect())
    }
}

/// Returns a case with what is wrong around it.
pub(super) fn doubted(case: Arc<Case>, is_refused: bool, doubts: &[&Problem]) -> Arc<Case> {
    if !doubts.is_empty() || !case.intact {
        Arc::new(case.doubted(doubts))
    } else if is_refused {
        Arc::new(Case { intact: false, ..Case::clone(&case) })
    } else {
        case
    }
}

//! Cases with errors: they are not run, or cannot pass.

use std::{ops::Range, sync::Arc};

use crate::{
    problem::{Code, Problem, Severity},
    suite::Case,
};

/// Errors of a document, in document order.
pub(super) struct Errors<'p> {
    /// Starts of the problems that are errors according to the settings, and of their repetitions.
    refused: Vec<usize>,
    /// Problems that leave part of the text not understood, whatever the settings are.
    unparsed: Vec<&'p Problem>,
}

impl<'p> Errors<'p> {
    /// Takes the problems as adjusted by settings (`reported`) and unadjusted (`found`).
    pub(super) fn of(reported: &[Problem], found: &'p [Problem]) -> Errors<'p> {
        let errors = reported.iter().filter(|problem| problem.severity == Severity::Error);
        let uses = |problem: &Problem| {
            let uses = problem.related.iter().filter(|related| related.repeats);
            uses.map(|related| related.range.start).collect::<Vec<_>>()
        };
        let mut refused: Vec<usize> =
            errors.flat_map(|problem| std::iter::once(problem.range.start).chain(uses(problem))).collect();
        refused.sort_unstable();
        // Two tests with the same name are both understood.
        let is_unparsed =
            |problem: &&Problem| problem.severity == Severity::Error && problem.code != Code::DuplicateName;
        let mut unparsed: Vec<&Problem> = found.iter().filter(is_unparsed).collect();
        unparsed.sort_by_key(|problem| problem.range.start);
        Errors { refused, unparsed }
    }

    /// Whether an error begins outside of all these ranges, which are in document order.
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

    /// Returns whether an error begins in a range, and the problems that leave text unparsed in it.
    pub(super) fn within(&self, range: &Range<usize>) -> (bool, Vec<&'p Problem>) {
        let first = self.refused.partition_point(|place| *place < range.start);
        let is_refused = self.refused.get(first).is_some_and(|place| *place < range.end);
        let first = self.unparsed.partition_point(|problem| problem.range.start < range.start);
        let unparsed = self.unparsed[first..].iter().take_while(|problem| problem.range.start < range.end);
        (is_refused, unparsed.copied().collect())
    }
}

pub(super) fn with_errors(case: Arc<Case>, is_refused: bool, unparsed: &[&Problem]) -> Arc<Case> {
    if !unparsed.is_empty() || !case.intact {
        Arc::new(case.with_errors(unparsed))
    } else if is_refused {
        Arc::new(Case { intact: false, ..Case::clone(&case) })
    } else {
        case
    }
}

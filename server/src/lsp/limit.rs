//! Limits the diagnostics that are sent for a file with very many.

use std::ops::Range;

use speclens_schema::problem::Severity;

/// Maximum number of diagnostics of one source that are sent for one file, besides errors, which are all sent. Each
/// keystroke sends all of them; `speclens check` lists the rest.
const MAX_DIAGNOSTICS: usize = 500;

/// Number of bytes on either side of the last edit that are probably visible.
const NEAR_BYTES: usize = 2048;

/// Order in which problems are chosen: by class, then by severity, then by distance from the last edit.
type Rank = (Class, Severity, usize);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Error,
    Near,
    Far,
}

fn rank(severity: Severity, distance: usize) -> Rank {
    let class = match severity {
        Severity::Error => Class::Error,
        Severity::Warning | Severity::Information | Severity::Hint if distance <= NEAR_BYTES => Class::Near,
        Severity::Warning | Severity::Information | Severity::Hint => Class::Far,
    };
    (class, severity, distance)
}

/// Chooses the diagnostics to send, in the order of `all`: errors, then those near the last edit, then by severity, and
/// within one severity by distance.
pub(super) fn chosen<T>(
    all: &[T],
    edited_at: usize,
    severity_and_range: impl Fn(&T) -> (Severity, Range<usize>),
) -> Vec<&T> {
    let rank = |index: &usize| {
        let (severity, range) = severity_and_range(&all[*index]);
        (rank(severity, distance(edited_at, &range)), *index)
    };
    let errors = all.iter().filter(|one| severity_and_range(one).0 == Severity::Error).count();
    let mut indices: Vec<usize> = (0..all.len()).collect();
    indices.sort_by_key(rank);
    indices.truncate(MAX_DIAGNOSTICS.max(errors));
    indices.sort_unstable();
    indices.into_iter().map(|index| &all[index]).collect()
}

fn distance(from: usize, range: &Range<usize>) -> usize {
    from.saturating_sub(range.end).max(range.start.saturating_sub(from))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the choice from `count` problems, one every 100 bytes, of which some are not hints.
    fn check(count: usize, edited_at: usize, others: &[(usize, Severity)]) -> Vec<usize> {
        let severity = |index| others.iter().find(|other| other.0 == index).map_or(Severity::Hint, |other| other.1);
        let all: Vec<_> = (0..count).map(|index| (severity(index), index * 100..index * 100 + 10)).collect();
        let chosen = chosen(&all, edited_at, |(severity, range)| (*severity, range.clone()));
        chosen.into_iter().map(|(_, range)| range.start / 100).collect()
    }

    #[test]
    fn few_problems_are_all_sent() {
        assert_eq!(check(MAX_DIAGNOSTICS, 0, &[]), (0..MAX_DIAGNOSTICS).collect::<Vec<_>>());
    }

    #[test]
    fn diagnostics_nearest_to_last_edit_are_sent() {
        assert_eq!(check(3000, 0, &[]), (0..MAX_DIAGNOSTICS).collect::<Vec<_>>());
        assert_eq!(check(3000, 300_000, &[]), (3000 - MAX_DIAGNOSTICS..3000).collect::<Vec<_>>());
        assert_eq!(
            check(3000, 150_005, &[]),
            (1500 - MAX_DIAGNOSTICS / 2..1500 + MAX_DIAGNOSTICS / 2).collect::<Vec<_>>()
        );
    }

    #[test]
    fn errors_come_before_what_is_near_and_warnings_before_what_is_far() {
        let chosen = check(3000, 0, &[(2900, Severity::Warning), (2999, Severity::Error)]);
        assert_eq!(chosen, (0..MAX_DIAGNOSTICS - 2).chain([2900, 2999]).collect::<Vec<_>>());
    }

    #[test]
    fn a_hint_at_the_cursor_is_sent_with_many_warnings() {
        let warnings: Vec<_> = (0..2000).map(|index| (index, Severity::Warning)).collect();
        assert!(check(3000, 299_905, &warnings).contains(&2999));
    }

    #[test]
    fn errors_are_all_sent() {
        let errors: Vec<_> = (500..2500).map(|index| (index, Severity::Error)).collect();
        for edited_at in [0, 300_000] {
            assert_eq!(check(3000, edited_at, &errors), (500..2500).collect::<Vec<_>>());
        }
    }
}

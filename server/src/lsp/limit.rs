//! Limits the diagnostics that are sent for a file with very many.

use std::ops::Range;

use speclens_schema::problem::Severity;

/// Maximum number of diagnostics of one source that are sent for one file. Errors are not limited.
pub(super) const MAX_DIAGNOSTICS: usize = 1000;

/// Number of bytes on either side of the last edit that are probably visible.
const NEAR_BYTES: usize = 2048;

/// Chooses the diagnostics to send, in the order of `all`: every error, then those near the last edit, then by
/// severity, and within one severity by distance.
pub(super) fn chosen<T>(
    all: &[T],
    edited_at: usize,
    severity_and_range: impl Fn(&T) -> (Severity, Range<usize>),
) -> Vec<&T> {
    if all.len() <= MAX_DIAGNOSTICS {
        return all.iter().collect();
    }
    let rank = |index: &usize| {
        let (severity, range) = severity_and_range(&all[*index]);
        let distance = edited_at.saturating_sub(range.end).max(range.start.saturating_sub(edited_at));
        (severity != Severity::Error, distance > NEAR_BYTES, severity, distance, *index)
    };
    let errors = all.iter().filter(|one| severity_and_range(one).0 == Severity::Error).count();
    let count = errors.max(MAX_DIAGNOSTICS);
    let mut indices: Vec<usize> = (0..all.len()).collect();
    if count < indices.len() {
        indices.select_nth_unstable_by_key(count, rank);
        indices.truncate(count);
        indices.sort_unstable();
    }
    indices.into_iter().map(|index| &all[index]).collect()
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
        assert_eq!(check(1000, 0, &[]), (0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn diagnostics_nearest_to_last_edit_are_sent() {
        assert_eq!(check(3000, 0, &[]), (0..1000).collect::<Vec<_>>());
        assert_eq!(check(3000, 300_000, &[]), (2000..3000).collect::<Vec<_>>());
        assert_eq!(check(3000, 150_005, &[]), (1000..2000).collect::<Vec<_>>());
    }

    #[test]
    fn errors_come_before_what_is_near_and_warnings_before_what_is_far() {
        let chosen = check(3000, 0, &[(2900, Severity::Warning), (2999, Severity::Error)]);
        assert_eq!(chosen, (0..998).chain([2900, 2999]).collect::<Vec<_>>());
    }

    #[test]
    fn a_hint_at_the_cursor_is_sent_with_a_thousand_warnings() {
        let warnings: Vec<_> = (0..2000).map(|index| (index, Severity::Warning)).collect();
        assert!(check(3000, 299_905, &warnings).contains(&2999));
    }

    #[test]
    fn errors_are_all_sent_however_many_there_are() {
        let errors: Vec<_> = (500..2500).map(|index| (index, Severity::Error)).collect();
        assert_eq!(check(3000, 0, &errors), (500..2500).collect::<Vec<_>>());
    }
}

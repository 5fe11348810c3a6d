//! Limits the diagnostics that are sent for a file with very many.

use std::{cmp::Ordering, ops::Range};

use speclens_schema::{
    analysis::{Group, Problems},
    problem::Severity,
};

/// Maximum number of diagnostics of one source that are sent for one file, besides errors, which are all sent. Each
/// keystroke sends all of them; `speclens check` lists the rest.
pub(super) const MAX_DIAGNOSTICS: usize = 500;

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
    let mut indices: Vec<usize> = (0..all.len()).collect();
    let errors = all.iter().filter(|one| severity_and_range(one).0 == Severity::Error).count();
    let count = MAX_DIAGNOSTICS.max(errors);
    if indices.len() > count {
        indices.select_nth_unstable_by_key(count, rank);
        indices.truncate(count);
        indices.sort_unstable();
    }
    indices.into_iter().map(|index| &all[index]).collect()
}

/// The same choice among the problems of a text. What is chosen of a group is known without a look at its problems, unless
/// the group is at the edge of what is chosen.
#[derive(Clone)]
pub(super) struct Choice {
    edited_at: usize,
    /// Rank of the last problem that is sent.
    last: Rank,
    /// Number of problems of that rank that are still to be sent.
    count: usize,
    /// Number of problems that are not sent.
    pub(super) left_out: usize,
}

/// The problems of a group that are sent.
pub(super) enum Chosen {
    /// None of them.
    None,
    /// All that are at least this severe, and no others.
    Down(Severity),
    /// Some that only a look at each of them can tell.
    Some,
}

impl Choice {
    pub(super) fn of(problems: &Problems, edited_at: usize) -> Choice {
        let most = MAX_DIAGNOSTICS.max(problems.counts().of(Severity::Error));
        let left_out = problems.len().saturating_sub(most);
        let (last, count) = match left_out {
            0 => ((Class::Far, Severity::Hint, usize::MAX), 0),
            _ => last(problems, edited_at, most),
        };
        Choice { edited_at, last, count, left_out }
    }

    /// Whether the next problem in document order is sent.
    pub(super) fn takes(&mut self, severity: Severity, range: &Range<usize>) -> bool {
        match rank(severity, distance(self.edited_at, range)).cmp(&self.last) {
            Ordering::Less => true,
            Ordering::Equal => {
                let takes = self.count > 0;
                self.count -= usize::from(takes);
                takes
            }
            Ordering::Greater => false,
        }
    }

    /// Returns which problems of a group are sent.
    pub(super) fn of_group(&self, group: &Group) -> Chosen {
        let extent = group.extent();
        let (nearest, farthest) = (distance(self.edited_at, &extent), farthest(self.edited_at, &extent));
        let mut chosen = Chosen::None;
        for severity in SEVERITIES.into_iter().filter(|severity| group.counts().of(*severity) > 0) {
            if rank(severity, farthest) < self.last {
                chosen = Chosen::Down(severity);
            } else if rank(severity, nearest) <= self.last {
                return Chosen::Some;
            }
        }
        chosen
    }
}

const SEVERITIES: [Severity; 4] = [Severity::Error, Severity::Warning, Severity::Information, Severity::Hint];

fn distance(from: usize, range: &Range<usize>) -> usize {
    from.saturating_sub(range.end).max(range.start.saturating_sub(from))
}

/// Returns a distance that no range within a range exceeds.
fn farthest(from: usize, range: &Range<usize>) -> usize {
    from.saturating_sub(range.start).max(range.end.saturating_sub(from))
}

/// Problems of one severity: those of a group, or a single one.
struct Span<'p> {
    /// Ranks that no problem of them is before, and after.
    bounds: (Rank, Rank),
    count: usize,
    /// `None` for a single problem.
    group: Option<&'p Group>,
}

/// Returns the rank of the last of the first `count` problems, and how many of these have it. Only the problems of groups that
/// may contain it are looked at.
fn last(problems: &Problems, edited_at: usize, count: usize) -> (Rank, usize) {
    let others = problems.others().iter().map(|problem| {
        let rank = rank(problem.severity, distance(edited_at, &problem.range));
        Span { bounds: (rank, rank), count: 1, group: None }
    });
    let of_groups = problems.groups().iter().flat_map(|group| {
        let (nearest, farthest) = (distance(edited_at, &group.extent()), farthest(edited_at, &group.extent()));
        let of = move |severity| Span {
            bounds: (rank(severity, nearest), rank(severity, farthest)),
            count: group.counts().of(severity),
            group: Some(group),
        };
        SEVERITIES.into_iter().map(of).filter(|span| span.count > 0)
    });
    let mut spans: Vec<Span<'_>> = others.chain(of_groups).collect();
    let reach = |spans: &[Span<'_>]| {
        let sums = spans.iter().scan(0, |sum, span| {
            *sum += span.count;
            Some(*sum)
        });
        sums.take_while(|sum| *sum < count).count()
    };
    spans.sort_unstable_by_key(|span| span.bounds.0);
    let low = spans[reach(&spans)].bounds.0;
    spans.sort_unstable_by_key(|span| span.bounds.1);
    let high = spans[reach(&spans)].bounds.1;
    let (before, rest) = spans.split_at(spans.partition_point(|span| span.bounds.1 < low));
    let count = count - before.iter().map(|span| span.count).sum::<usize>();
    let mut ranks: Vec<Rank> = Vec::new();
    for Span { bounds, group, .. } in rest.iter().filter(|span| span.bounds.0 <= high) {
        let (_, severity, _) = bounds.0;
        let located = group.iter().flat_map(|group| problems.of_group(group)).filter(|it| it.severity() == severity);
        ranks.extend(located.map(|located| rank(severity, distance(edited_at, &located.range()))));
        ranks.extend(group.is_none().then_some(bounds.0));
    }
    ranks.sort_unstable();
    let last = ranks[count - 1];
    (last, ranks[..count].iter().filter(|rank| **rank == last).count())
}

#[cfg(test)]
mod tests {
    use speclens_schema::{
        analysis::{Analyzer, Located, Run},
        dialect::ScalarRules,
        document::Document,
        files::MemoryFiles,
        json_schema::SpecFile,
        settings::{Level, Settings},
    };

    use super::*;

    /// Returns the choice from `count` problems, one every 100 bytes, of which some are not hints.
    fn check(count: usize, edited_at: usize, others: &[(usize, Severity)]) -> Vec<usize> {
        let severity = |index| others.iter().find(|other| other.0 == index).map_or(Severity::Hint, |other| other.1);
        let all: Vec<_> = (0..count).map(|index| (severity(index), index * 100..index * 100 + 10)).collect();
        let chosen = chosen(&all, edited_at, |(severity, range)| (*severity, range.clone()));
        chosen.into_iter().map(|(_, range)| range.start / 100).collect()
    }

    /// Returns a suite of so many tests, with problems of all severities.
    fn suite(tests: usize) -> String {
        let test = |number: usize| {
            let lines = match number % 11 {
                0 => "    repeat: many\n",
                1 | 2 | 7 => "    tagz: [x]\n    tags: []\n",
                3 => "    skip: yes\n",
                4 => "    expect: {output: {contains: []}}\n    tagz: [x]\n    tagss: [x]\n",
                _ => "    description: a\n",
            };
            format!("  - name: t{number}\n    command: 'true'\n{lines}")
        };
        let tests: String = (0..tests).map(test).collect();
        format!("kindlm: 1\nproject: p\nsuite: {{name: s}}\ntests:\n{tests}defaults: {{timeoutSm: 1}}\nextra: 1\n")
    }

    #[test]
    fn choice_by_groups_is_the_choice_among_all_problems() {
        let analyzer = Analyzer::new(SpecFile::KINDLM);
        // With the second settings, more problems are errors than fit.
        let mut strict = Settings::default();
        strict.severity.insert("unknown-key".to_owned(), Level::Error);
        for (tests, settings) in [(600, &Settings::default()), (2500, &Settings::default()), (2500, &strict)] {
            let text = suite(tests);
            let document = Document::read(&text, ScalarRules::Yaml12);
            let problems = analyzer.look(&document, &MemoryFiles::default(), settings);
            let all: Vec<Located<'_>> = problems.iter().collect();
            let counts = problems.counts();
            assert_eq!(counts.total(), all.len());
            assert!(
                [Severity::Error, Severity::Warning].iter().all(|severity| counts.of(*severity) > 50),
                "{counts:?}"
            );
            for edited_at in (0..24).map(|part| text.len() * part / 23) {
                let expected = chosen(&all, edited_at, |located| (located.severity(), located.range()));
                let expected: Vec<_> = expected.iter().map(|located| (located.code(), located.range())).collect();
                let mut choice = Choice::of(&problems, edited_at);
                let (mut shown, mut whole) = (Vec::new(), 0);
                for run in problems.runs() {
                    let (located, chosen): (Vec<Located<'_>>, _) = match run {
                        Run::Group(group) => (problems.of_group(group).collect(), choice.of_group(group)),
                        Run::One(located) => (vec![located], Chosen::Some),
                    };
                    whole += usize::from(!matches!(chosen, Chosen::Some));
                    let is_shown = |located: &&Located<'_>| match chosen {
                        Chosen::None => false,
                        Chosen::Down(least) => located.severity() <= least,
                        Chosen::Some => choice.takes(located.severity(), &located.range()),
                    };
                    shown.extend(located.iter().filter(is_shown).map(|located| (located.code(), located.range())));
                }
                assert_eq!(shown, expected, "{tests} tests, at {edited_at}");
                assert_eq!(choice.left_out, all.len() - shown.len());
                assert!(whole + 8 > problems.groups().len(), "only {whole} groups are sent without a look at them");
            }
        }
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

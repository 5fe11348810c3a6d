//! Merges the needs of several claims, and finds the answer that serves a need.

use super::{Answer, Evidence, FilesNeed, ModelReply, Need, Observation, ObservationTime, QuestionNeed, ScoreNeed};

/// Merges the needs of a case, in the order of its claims: needs for the same thing become one that serves all of them,
/// with the longest wait, and with content if one of them wants it. Commands are never merged, and needs after one are
/// not merged with needs before it, because commands may change the state.
pub fn merged(needs: impl IntoIterator<Item = Need>) -> Vec<Need> {
    let mut merged: Vec<Need> = Vec::new();
    // The first need that may still be merged with.
    let mut open = 0;
    for need in needs {
        if matches!(need, Need::Command { .. }) {
            merged.push(need);
            open = merged.len();
            continue;
        }
        match merged[open..].iter_mut().find_map(|known| known.joined(&need).map(|joined| (known, joined))) {
            Some((known, joined)) => *known = joined,
            None => merged.push(need),
        }
    }
    merged
}

impl Need {
    /// Returns the moment of its observation.
    pub fn moment(&self) -> ObservationTime {
        match self {
            Need::Files(need) => need.moment,
            Need::Log(need) => need.moment,
            Need::Variables(need) => need.moment,
            Need::Response(need) => need.moment,
            Need::Scores(need) => need.moment,
            Need::Path { .. } | Need::Command { .. } | Need::Trace | Need::Question(_) => ObservationTime::After,
        }
    }

    /// Returns the question to a model; `None` for any other need.
    pub fn question(&self) -> Option<&QuestionNeed> {
        let Need::Question(question) = self else { return None };
        Some(question)
    }

    /// Returns the addressee of a question, and the number of times; `None` for any other need.
    pub fn asked(&self) -> Option<(String, u32)> {
        match self {
            Need::Question(question) => Some((question.peer.id(), question.times)),
            Need::Scores(question) => Some((question.judge.name(), question.times)),
            Need::Path { .. }
            | Need::Command { .. }
            | Need::Files(_)
            | Need::Log(_)
            | Need::Variables(_)
            | Need::Response(_)
            | Need::Trace => None,
        }
    }

    /// Returns the need that serves both, if they are for the same thing.
    fn joined(&self, other: &Need) -> Option<Need> {
        match (self, other) {
            (Need::Path { path, content }, Need::Path { path: another, content: wanted }) if path == another => {
                Some(Need::Path { path: path.clone(), content: *content || *wanted })
            }
            (Need::Files(one), Need::Files(two))
                if one.is_of_the_same(two)
                    && one.since_us == two.since_us
                    // A file that is searched is not kept.
                    && one.searches.is_empty() == two.searches.is_empty() =>
            {
                let (content, wait_ms) = (one.content || two.content, one.wait_ms.max(two.wait_ms));
                let mut searches = one.searches.clone();
                searches.extend(two.searches.iter().filter(|wanted| !one.searches.contains(wanted)).cloned());
                Some(Need::Files(FilesNeed { content, wait_ms, searches, ..one.clone() }))
            }
            (Need::Scores(one), Need::Scores(two)) if one.is_of_the_same(two) => {
                Some(Need::Scores(ScoreNeed { times: one.times.max(two.times), ..one.clone() }))
            }
            (Need::Question(one), Need::Question(two)) if one.is_of_the_same(two) => {
                Some(Need::Question(QuestionNeed { times: one.times.max(two.times), ..one.clone() }))
            }
            (one, two) => (one == two).then(|| one.clone()),
        }
    }

    /// Returns how well the answer to this need serves another one: the greater, the better; `None` if it does not.
    fn serves(&self, wanted: &Need) -> Option<u8> {
        if self == wanted {
            return Some(3);
        }
        match (self, wanted) {
            (Need::Path { path, content }, Need::Path { path: another, content: needed }) => {
                (path == another && (*content || !needed)).then_some(2)
            }
            (Need::Files(seen), Need::Files(wanted)) if seen.is_of_the_same(wanted) => {
                if !seen.content && wanted.content {
                    return None;
                }
                // A wait that was long enough saw everything that a shorter wait would have seen, and when.
                let is_enough = seen.wait_ms >= wanted.wait_ms
                    && seen.since_us == wanted.since_us
                    && wanted.searches.iter().all(|wanted| seen.searches.contains(wanted));
                Some(if is_enough { 2 } else { 1 })
            }
            (Need::Scores(seen), Need::Scores(wanted)) if seen.is_of_the_same(wanted) => {
                Some(if seen.times >= wanted.times { 2 } else { 1 })
            }
            (Need::Question(seen), Need::Question(wanted)) if seen.is_of_the_same(wanted) => {
                Some(if seen.times >= wanted.times { 2 } else { 1 })
            }
            (Need::Variables(seen), Need::Variables(wanted)) => {
                let has_all = wanted.names.iter().all(|name| seen.names.contains(name));
                (seen.moment == wanted.moment && has_all).then_some(2)
            }
            _ => None,
        }
    }
}

impl FilesNeed {
    /// Returns whether both are about the same path at the same moment, with any wait.
    fn is_of_the_same(&self, other: &FilesNeed) -> bool {
        (&self.pattern, self.wildcards, self.literal, self.moment)
            == (&other.pattern, other.wildcards, other.literal, other.moment)
    }
}

impl Answer {
    /// Returns the replies; `None` if no one could be asked, or the answer is to another kind of need.
    pub fn replies(&self) -> Option<&[ModelReply]> {
        let Answer::Question(answer) = self else { return None };
        Some(&answer.replies)
    }
}

/// Returns the answer to a need among observations, as [`Evidence::answer_to`] does.
pub fn answer_in<'o>(observations: &'o [Observation], need: &Need) -> Option<&'o Answer> {
    let served = observations.iter().filter_map(|it| Some((it.need.serves(need)?, &it.answer)));
    // Of equals, the first observation.
    served.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, answer)| answer)
}

impl Evidence {
    /// Returns the answer to a need: to exactly this one, or else to one that asked for more, or else to one for the
    /// same thing that asked for less; `None` if it was not asked.
    pub fn answer_to(&self, need: &Need) -> Option<&Answer> {
        answer_in(&self.observations, need)
    }

    /// Returns whether a question to a model or a judge was answered this many times. A failed request is not an
    /// answer.
    pub fn is_answered(&self, question: &Need, times: u32) -> bool {
        let replies = self.answer_to(question).and_then(Answer::replies);
        let answers = |replies: &[ModelReply]| replies.iter().filter(|reply| reply.error.is_none()).count();
        replies.is_some_and(|replies| answers(replies) >= times as usize)
    }

    /// Adds later observations in place of earlier ones of the same need.
    pub fn observe_again(&mut self, observations: Vec<Observation>) {
        let is_replaced = |known: &Observation| observations.iter().any(|it| it.need.joined(&known.need).is_some());
        self.observations.retain(|known| !is_replaced(known));
        self.observations.extend(observations);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{FilesAnswer, QuestionAnswer, VariablesNeed};

    fn files(pattern: &str, wait_ms: u64, content: bool) -> Need {
        Need::Files(FilesNeed {
            pattern: pattern.to_owned(),
            wildcards: true,
            wait_ms,
            content,
            ..FilesNeed::default()
        })
    }

    fn path(path: &str, content: bool) -> Need {
        Need::Path { path: path.to_owned(), content }
    }

    fn command(run: &str) -> Need {
        Need::Command { run: run.to_owned(), timeout_ms: 1 }
    }

    #[test]
    fn needs_of_the_same_thing_become_one_with_the_longest_wait_and_content() {
        let found =
            merged([files("a", 0, true), files("b", 5, false), files("a", 30, false), Need::Trace, Need::Trace]);
        assert_eq!(found, [files("a", 30, true), files("b", 5, false), Need::Trace]);
    }

    #[test]
    fn needs_of_two_moments_or_times_stay_two() {
        let Need::Files(after) = files("a", 0, false) else { unreachable!() };
        let before = Need::Files(FilesNeed { moment: ObservationTime::Before, ..after.clone() });
        let since = Need::Files(FilesNeed { since_us: Some(1), ..after.clone() });
        let all = [Need::Files(after), before, since];
        assert_eq!(merged(all.clone()), all);
    }

    #[test]
    fn nothing_is_merged_over_a_command_and_commands_stay_as_many_as_they_are() {
        let all = [path("a", false), command("touch a"), path("a", false), command("touch a"), path("a", true)];
        assert_eq!(merged(all.clone()), all);
        let found = merged([path("a", false), path("a", true), command("x"), path("a", false), path("a", false)]);
        assert_eq!(found, [path("a", true), command("x"), path("a", false)]);
    }

    #[test]
    fn exact_answer_comes_before_one_that_asked_for_more_and_that_before_one_that_asked_for_less() {
        let answer = |waited_ms| Answer::Files(FilesAnswer { waited_ms, ..FilesAnswer::default() });
        let observed = |waits: &[u64]| Evidence {
            observations: waits
                .iter()
                .map(|wait| Observation { need: files("a", *wait, true), answer: answer(*wait) })
                .collect(),
            ..Evidence::default()
        };
        for (waits, wanted, expected) in [
            (&[0, 30, 10][..], 10, Some(10)),
            (&[0, 30][..], 10, Some(30)),
            (&[0, 5][..], 10, Some(0)),
            (&[][..], 10, None),
        ] {
            let evidence = observed(waits);
            assert_eq!(evidence.answer_to(&files("a", wanted, true)).cloned(), expected.map(answer), "{waits:?}");
        }
        assert_eq!(observed(&[1]).answer_to(&files("b", 1, true)), None);
        let without = Evidence {
            observations: vec![Observation { need: files("a", 9, false), answer: answer(9) }],
            ..Evidence::default()
        };
        assert_eq!(without.answer_to(&files("a", 1, true)), None, "the content is missing");
    }

    #[test]
    fn question_is_answered_by_as_many_replies_as_it_wants_and_a_later_answer_replaces_the_first() {
        let question =
            |times| Need::Question(QuestionNeed { system: "judge".to_owned(), times, ..QuestionNeed::default() });
        let failed = || ModelReply { error: Some("down".to_owned()), ..ModelReply::default() };
        let observed = |times, replies| Observation {
            need: question(times),
            answer: Answer::Question(QuestionAnswer { replies }),
        };
        let mut evidence = Evidence::default();
        assert!(!evidence.is_answered(&question(1), 1));
        evidence.observe_again(vec![observed(1, vec![failed()])]);
        assert!(!evidence.is_answered(&question(1), 1));
        evidence.observe_again(vec![observed(1, vec![ModelReply::default()])]);
        assert!(evidence.is_answered(&question(1), 1) && !evidence.is_answered(&question(2), 2));
        assert_eq!(evidence.observations.len(), 1);
    }

    #[test]
    fn variables_are_answered_by_a_question_about_more_of_them() {
        let need = |names: &[&str]| {
            Need::Variables(VariablesNeed {
                names: names.iter().map(|name| (*name).to_owned()).collect(),
                moment: ObservationTime::Before,
            })
        };
        let answer = Answer::Variables(std::collections::BTreeMap::new());
        let observations = vec![Observation { need: need(&["A", "B"]), answer: answer.clone() }];
        let evidence = Evidence { observations, ..Evidence::default() };
        assert_eq!(evidence.answer_to(&need(&["B"])), Some(&answer));
        assert_eq!(evidence.answer_to(&need(&["C"])), None);
    }
}

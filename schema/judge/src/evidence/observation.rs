//! Observations that claims need beyond the act itself: paths, commands, files, logs, variables, addresses, traces, and
//! the answers of models.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    output::{Capture, Ran},
    question::{AskedModel, ModelReply, QuestionAnswer, QuestionNeed},
    trace::TraceAnswer,
};

/// An observation that a claim needs beyond the act itself. The runner observes the needs of a case in the order of its
/// claims, because commands may affect later observations.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// The state of a path after the act. A relative path begins in the directory of the act.
    Path {
        path: String,
        content: bool,
    },
    /// The end of a shell command that runs in the directory of the act, with its environment, after the act.
    Command {
        run: String,
        /// Maximum duration in milliseconds.
        timeout_ms: u64,
    },
    Files(FilesNeed),
    Log(LogNeed),
    Variables(VariablesNeed),
    Response(ResponseNeed),
    Trace,
    Scores(ScoreNeed),
    Question(QuestionNeed),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    pub need: Need,
    pub answer: Answer,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    Path(PathState),
    Command(Ran),
    Files(FilesAnswer),
    Log(LogAnswer),
    Variables(BTreeMap<String, Presence>),
    Response(ResponseAnswer),
    Trace(TraceAnswer),
    Question(QuestionAnswer),
    Nothing(String),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PathState {
    /// It does not exist, or is a link that leads nowhere. The names next to it help to find a typo.
    Missing {
        /// Names in the directory where it should be, at most a few hundred.
        beside: Vec<String>,
    },
    Directory,
    File {
        /// The content, with secrets masked; `None` if not requested.
        content: Option<Content>,
    },
    /// Something else: a socket, a device.
    Other,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Content {
    /// The text up to a limit, with invalid UTF-8 replaced by U+FFFD.
    Text(Capture),
    /// It cannot be read, for this reason.
    Unreadable(String),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObservationTime {
    Before,
    #[default]
    After,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FilesNeed {
    /// The path, with templates filled. A relative path begins in the root of the workspace.
    pub pattern: String,
    /// Whether `*`, `?` and `[…]` are wildcards, as in Python's `glob.glob` without recursion. If nothing matches and
    /// `literal` is set, the text itself is tried as a path.
    pub wildcards: bool,
    /// Whether a path with wildcards that matches nothing is tried as written.
    pub literal: bool,
    pub content: bool,
    pub moment: ObservationTime,
    /// Maximum time to wait until a file exists that was written at `since_us` or later.
    pub wait_ms: u64,
    /// Earliest time at which the file may have been written, in microseconds since the Unix epoch.
    pub since_us: Option<i64>,
    /// Texts or regular expressions of Python to search for. Of a long file, only what was found is kept then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub searches: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FilesAnswer {
    pub files: Vec<SeenFile>,
    /// Time spent waiting; 0 for a single observation.
    pub waited_ms: u64,
    pub cut: bool,
    /// Names in the directory of a missing file, at most a few hundred.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SeenFile {
    pub path: String,
    pub directory: bool,
    /// Modification time, in microseconds since the Unix epoch; `None` if not observed.
    pub modified_us: Option<i64>,
    /// Time from the beginning of the wait until it was first seen in its final state.
    pub seen_after_ms: u64,
    /// The content, with secrets masked; `None` if not requested.
    pub content: Option<Content>,
    /// The results of searching all of it; empty if everything is kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub searches: Vec<FileSearch>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileSearch {
    pub pattern: String,
    pub found: Option<FoundText>,
    pub lines: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FoundText {
    /// The number of the first line, from 0.
    pub line: usize,
    /// The lines, with secrets masked; of very long ones only the match.
    pub text: Capture,
}

impl SeenFile {
    pub fn is_the_same(&self, other: &SeenFile) -> bool {
        self.path == other.path && self.modified_us.is_some() && self.modified_us == other.modified_us
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ScoreNeed {
    pub judge: Judge,
    pub rubric: String,
    /// The file, with templates filled; the first match if the path has wildcards.
    pub path: String,
    pub section: Option<String>,
    pub identity: Option<String>,
    pub moment: ObservationTime,
    pub times: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judge {
    /// An address with the protocol of the OpenClaw gateway.
    Endpoint(Address),
    Model(AskedModel),
}

/// An address to request with GET: no redirects, no authorization, five seconds.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ResponseNeed {
    pub address: Address,
    pub moment: ObservationTime,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Address {
    Url(String),
    /// A path below the gateway's base address, beginning with `/`.
    Gateway(String),
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ResponseAnswer {
    /// The status; `None` without a response.
    pub status: Option<u16>,
    pub body: Capture,
    pub error: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct VariablesNeed {
    pub names: Vec<String>,
    pub moment: ObservationTime,
}

/// The presence of a variable. Its value is never kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Presence {
    Absent,
    Empty,
    Set,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LogNeed {
    /// The path of the log, with its templates filled; `*`, `?` and `[…]` are wildcards. A relative path begins in the
    /// root of the workspace. `None`: the log of the gateway, wherever it is.
    pub path: Option<String>,
    /// The id of the run; empty for every run since the act began.
    pub run: String,
    pub moment: ObservationTime,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LogAnswer {
    pub path: String,
    pub files: Vec<LogFile>,
    /// The lines, joined by line feeds, invalid UTF-8 replaced, secrets masked.
    pub lines: Capture,
    pub places: Vec<LinePlace>,
    /// The session key of the act: lines that name it are about the run, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<LogGap>,
    /// Names in the directory of a missing log, at most a few hundred.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogFile {
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<ReadFailure>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadFailure {
    Directory,
    /// It cannot be read, for this reason.
    Failed(String),
}

/// The position of a line. A run may have thousands of them, so it is written as a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(usize, usize)", into = "(usize, usize)")]
pub struct LinePlace {
    pub file: usize,
    pub line: usize,
}

impl From<(usize, usize)> for LinePlace {
    fn from((file, line): (usize, usize)) -> LinePlace {
        LinePlace { file, line }
    }
}

impl From<LinePlace> for (usize, usize) {
    fn from(LinePlace { file, line }: LinePlace) -> (usize, usize) {
        (file, line)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogGap {
    Cut,
    /// The gateway reports that it dropped lines.
    Dropped,
    Truncated,
    Removed,
    LongLine,
    /// A line about the run is damaged.
    Unreadable,
    Unbegun,
    Unended,
    ChildUnended,
    ChildUnseen,
}

impl LogGap {
    pub fn reason(self) -> &'static str {
        match self {
            LogGap::Cut => {
                "the log has more lines about the run than were recorded, and the missing ones could change the result"
            }
            LogGap::Dropped => "the gateway dropped lines of its log, which could change the result",
            LogGap::Truncated => "the log was emptied during the run, and the missing lines could change the result",
            LogGap::Removed => "part of the log was removed during the run, and its lines could change the result",
            LogGap::LongLine => "a line of the log is too long to be read, and it could change the result",
            LogGap::Unreadable => "a line of the log is damaged, and its missing part could change the result",
            LogGap::Unbegun => "the log does not contain the beginning of the run, so more may have happened before",
            LogGap::Unended => "the log does not contain the end of the run, so more may have happened",
            LogGap::ChildUnended => {
                "the log does not contain the end of an agent that the run started, so more may have happened"
            }
            LogGap::ChildUnseen => "the run started an agent that the log does not show, so more may have happened",
        }
    }
}

impl LogAnswer {
    pub fn was_read(&self) -> bool {
        self.files.iter().any(|file| file.unread.is_none())
    }

    pub fn placed(&self) -> impl Iterator<Item = (&str, LinePlace)> {
        // The part that was cut off has no position: the last line may be incomplete.
        self.lines.text.lines().zip(self.places.iter().copied())
    }
}

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

    pub(super) fn joined(&self, other: &Need) -> Option<Need> {
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

pub fn answer_in<'o>(observations: &'o [Observation], need: &Need) -> Option<&'o Answer> {
    let served = observations.iter().filter_map(|it| Some((it.need.serves(need)?, &it.answer)));
    // Of equals, the first observation.
    served.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, answer)| answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Evidence;

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
        let answer = Answer::Variables(BTreeMap::new());
        let observations = vec![Observation { need: need(&["A", "B"]), answer: answer.clone() }];
        let evidence = Evidence { observations, ..Evidence::default() };
        assert_eq!(evidence.answer_to(&need(&["B"])), Some(&answer));
        assert_eq!(evidence.answer_to(&need(&["C"])), None);
    }
}

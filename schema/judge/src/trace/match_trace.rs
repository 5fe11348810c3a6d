//! Matches traces to an act.

use sha2::{Digest, Sha256};

use super::{
    conventions::{Role, names_run},
    exported::{Exported, TraceId},
};
use crate::{
    check::text::hexadecimal,
    evidence::{SpanKind, TraceMatch},
};

pub const ATTEMPT_ATTRIBUTE: &str = "speclens.attempt";

#[derive(Clone, Debug, Default)]
pub struct TraceClues {
    pub mark: Option<String>,
    pub logged: Vec<String>,
    pub run_id: Option<String>,
    pub session_key: Option<String>,
    pub agent: Option<String>,
    /// Start time of the act, in microseconds since the Unix epoch.
    pub started_us: i64,
    /// End time; `None` if it is still running.
    pub ended_us: Option<i64>,
    /// Tolerance for the start time of its trace, in microseconds.
    pub padding_us: i64,
}

pub trait Candidate {
    fn id(&self) -> String;
    fn has_mark(&self, mark: &str) -> bool;
    fn names_run(&self, run: &str) -> bool;
    fn names_session(&self, sessions: &[String]) -> bool {
        self.sessions().into_iter().any(|session| sessions.iter().any(|it| it == session))
    }
    fn names_agent(&self, agent: &str) -> bool;
    /// Returns the start time, in microseconds since the Unix epoch.
    fn started_us(&self) -> Option<i64>;
    fn is_of_agent(&self) -> bool;
    fn is_older(&self) -> bool {
        false
    }
    fn sessions(&self) -> Vec<&str>;
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MatchedTraces {
    /// The traces, by their place among the candidates. Empty if there is none.
    pub own: Vec<usize>,
    pub by: Option<TraceMatch>,
    /// Other traces of agents' work that began during the act and may be part of it.
    pub unassigned: Vec<usize>,
}

/// The reason why no trace was chosen: this many began during the act, and none carries a clue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ambiguous(pub usize);

impl Ambiguous {
    pub fn sentence(self) -> String {
        format!("{} traces began during the run, and none of them names the run or its session", self.0)
    }
}

/// Finds the traces of an act: all that carry a clue, or else the only one that began during it.
pub fn match_trace<C: Candidate>(candidates: &[C], clues: &TraceClues) -> Result<MatchedTraces, Ambiguous> {
    let sessions = sessions(clues);
    let clue_of = |it: &C| {
        let has = [
            (TraceMatch::Mark, clues.mark.as_ref().is_some_and(|mark| it.has_mark(mark))),
            (TraceMatch::LoggedId, !clues.logged.is_empty() && clues.logged.contains(&it.id())),
            (TraceMatch::RunId, clues.run_id.as_ref().is_some_and(|run| it.names_run(run))),
            (TraceMatch::Session, !sessions.is_empty() && it.names_session(&sessions)),
        ];
        has.into_iter().position(|(_, has)| has).map(|rank| (rank, has[rank].0))
    };
    let clue_ranks: Vec<Option<(usize, TraceMatch)>> = candidates.iter().map(clue_of).collect();
    let to = clues.ended_us.map_or(i64::MAX, |ended| ended.saturating_add(clues.padding_us));
    // One without a time may have begun at any.
    let of_work_since = |from: i64| {
        let may_be_own = |index: &usize| {
            let it = &candidates[*index];
            let is_in_time = it.started_us().is_none_or(|started| (from..=to).contains(&started));
            is_in_time && !it.is_older() && it.is_of_agent() && !is_of_a_chat(it, clues)
        };
        let of_work = (0..candidates.len()).filter(may_be_own);
        of_work.partition::<Vec<usize>, _>(|index| candidates[*index].started_us().is_some())
    };
    let own: Vec<usize> = (0..candidates.len()).filter(|index| clue_ranks[*index].is_some()).collect();
    if let Some((_, by)) = clue_ranks.iter().flatten().min_by_key(|(rank, _)| *rank) {
        // A trace from before the act is of something else, unless a clue says otherwise.
        let (timed, timeless) = of_work_since(clues.started_us);
        let unassigned = timed.into_iter().chain(timeless).filter(|index| clue_ranks[*index].is_none());
        return Ok(MatchedTraces { own, by: Some(*by), unassigned: unassigned.collect() });
    }
    let (mut those, mut unassigned) = of_work_since(clues.started_us.saturating_sub(clues.padding_us));
    if those.len() > 1
        && let Some(agent) = &clues.agent
    {
        let (named, others): (Vec<usize>, Vec<usize>) =
            those.iter().partition(|index| candidates[**index].names_agent(agent));
        if !named.is_empty() {
            those = named;
            unassigned.extend(others);
        }
    }
    match those.len() {
        0 => Ok(MatchedTraces::default()),
        1 => Ok(MatchedTraces { own: those, by: Some(TraceMatch::Window), unassigned }),
        several => Err(Ambiguous(several)),
    }
}

fn is_of_a_chat<C: Candidate>(candidate: &C, clues: &TraceClues) -> bool {
    let is_chat = |session: &&str| {
        let mut parts = session.split(':');
        parts.next() == Some("agent")
            && parts.nth(1).is_some_and(|kind| {
                kind == "main" || parts.any(|part| matches!(part, "direct" | "dm" | "group" | "channel"))
            })
    };
    clues.session_key.is_some() && candidate.sessions().iter().any(is_chat)
}

/// Returns the texts that a trace may carry as the session of the act: the key as sent to the gateway, the key with the
/// agent as the gateway completes it, and the hashes of both.
fn sessions(clues: &TraceClues) -> Vec<String> {
    let Some(key) = clues.session_key.as_ref().filter(|key| !key.is_empty()) else { return Vec::new() };
    let agents = clues.agent.as_deref().into_iter().chain(["main"]);
    let keys = std::iter::once(key.clone()).chain(agents.map(|agent| format!("agent:{agent}:{key}")));
    keys.flat_map(|key| [hexadecimal(&Sha256::digest(key.as_bytes())), key]).collect()
}

#[derive(Clone, Debug)]
pub struct ExportedTrace<'e> {
    pub id: &'e TraceId,
    /// The spans, in any order.
    pub spans: Vec<&'e Exported>,
    pub is_older: bool,
}

const SESSIONS: [&str; 5] =
    ["session.id", "langfuse.session.id", "gen_ai.conversation.id", "openclaw.sessionKey", "thread_id"];

impl Candidate for ExportedTrace<'_> {
    fn id(&self) -> String {
        hexadecimal(self.id)
    }

    fn has_mark(&self, mark: &str) -> bool {
        self.spans.iter().any(|it| super::Attributes(&it.program).text(ATTEMPT_ATTRIBUTE) == Some(mark))
    }

    fn names_run(&self, run: &str) -> bool {
        let all = |it: &&Exported| {
            let mut attributes = it.attributes().iter().chain(super::Attributes(&it.program).iter());
            attributes.any(|(key, value)| names_run(key, value, run))
        };
        self.spans.iter().any(all)
    }

    fn names_agent(&self, agent: &str) -> bool {
        self.spans.iter().any(|it| {
            let named =
                it.attributes().first_text(&["gen_ai.agent.name", "gen_ai.agent.id", "openclaw.agent", "agent.name"]);
            named == Some(agent) || it.span.name.contains(agent)
        })
    }

    fn started_us(&self) -> Option<i64> {
        self.spans.iter().filter_map(|it| it.started_us()).min()
    }

    fn is_of_agent(&self) -> bool {
        self.spans.iter().any(|it| Role::of(it).kind() != SpanKind::Other)
    }

    fn is_older(&self) -> bool {
        self.is_older
    }

    fn sessions(&self) -> Vec<&str> {
        self.spans.iter().flat_map(|it| SESSIONS.iter().filter_map(|key| it.attributes().text(key))).collect()
    }
}

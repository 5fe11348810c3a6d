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

/// The attribute of programs that names the attempt they were started for.
pub const ATTEMPT_ATTRIBUTE: &str = "speclens.attempt";

/// Clues that distinguish the trace of an act from others.
#[derive(Clone, Debug, Default)]
pub struct TraceClues {
    /// The mark that programs were started with.
    pub mark: Option<String>,
    /// The trace ids of the run in the gateway log.
    pub logged: Vec<String>,
    /// The run.
    pub run_id: Option<String>,
    /// The session.
    pub session_key: Option<String>,
    /// The agent.
    pub agent: Option<String>,
    /// Start time of the act, in microseconds since the Unix epoch.
    pub started_us: i64,
    /// End time; `None` if it is still running.
    pub ended_us: Option<i64>,
    /// Tolerance for the start time of its trace, in microseconds.
    pub padding_us: i64,
}

/// A trace that may be that of the act.
pub trait Candidate {
    /// Returns its id, as a log would write it.
    fn id(&self) -> String;
    /// Returns whether its programs carry the mark.
    fn has_mark(&self, mark: &str) -> bool;
    /// Returns whether it carries the id of the run.
    fn names_run(&self, run: &str) -> bool;
    /// Returns whether it carries one of these texts as its session.
    fn names_session(&self, sessions: &[String]) -> bool;
    /// Returns whether it names the agent.
    fn names_agent(&self, agent: &str) -> bool;
    /// Returns the start time, in microseconds since the Unix epoch.
    fn started_us(&self) -> Option<i64>;
    /// Returns whether it is about the work of an agent, and not about something else that the program did.
    fn is_of_agent(&self) -> bool;
    /// Returns whether it was known before the act began.
    fn is_older(&self) -> bool {
        false
    }
}

/// The reason why no trace was chosen: this many began during the act, and none carries a clue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ambiguous(pub usize);

impl Ambiguous {
    /// Returns the reason as a sentence.
    pub fn sentence(self) -> String {
        format!("{} traces began during the run, and none of them names the run or its session", self.0)
    }
}

/// Chooses the traces of an act by the strongest clue; empty if there is none.
pub fn match_trace<C: Candidate>(
    candidates: &[C],
    clues: &TraceClues,
) -> Result<(Vec<usize>, Option<TraceMatch>), Ambiguous> {
    let those = |is: &dyn Fn(&C) -> bool| -> Vec<usize> {
        candidates.iter().enumerate().filter(|(_, candidate)| is(candidate)).map(|(index, _)| index).collect()
    };
    let sessions = sessions(clues);
    let found = [
        (TraceMatch::Mark, clues.mark.as_ref().map(|mark| those(&|it| it.has_mark(mark)))),
        (TraceMatch::LoggedId, Some(those(&|it| !clues.logged.is_empty() && clues.logged.contains(&it.id())))),
        (TraceMatch::RunId, clues.run_id.as_ref().map(|run| those(&|it| it.names_run(run)))),
        (TraceMatch::Session, Some(those(&|it| !sessions.is_empty() && it.names_session(&sessions)))),
    ];
    if let Some((by, those)) = found.into_iter().find_map(|(by, those)| Some((by, those.filter(|it| !it.is_empty())?)))
    {
        return Ok((those, Some(by)));
    }
    let from = clues.started_us.saturating_sub(clues.padding_us);
    let to = clues.ended_us.map_or(i64::MAX, |ended| ended.saturating_add(clues.padding_us));
    let in_window = |it: &C| it.started_us().is_some_and(|started| (from..=to).contains(&started));
    let mut those = those(&|it| !it.is_older() && it.is_of_agent() && in_window(it));
    if those.len() > 1
        && let Some(agent) = &clues.agent
    {
        let named: Vec<usize> = those.iter().copied().filter(|index| candidates[*index].names_agent(agent)).collect();
        if !named.is_empty() {
            those = named;
        }
    }
    match those.len() {
        0 => Ok((Vec::new(), None)),
        1 => Ok((those, Some(TraceMatch::Window))),
        several => Err(Ambiguous(several)),
    }
}

/// Returns the texts that a trace may carry as the session of the act: the key as sent to the gateway, the key with the
/// agent as the gateway completes it, and the hashes of both.
fn sessions(clues: &TraceClues) -> Vec<String> {
    let Some(key) = clues.session_key.as_ref().filter(|key| !key.is_empty()) else { return Vec::new() };
    let agents = clues.agent.as_deref().into_iter().chain(["main"]);
    let keys = std::iter::once(key.clone()).chain(agents.map(|agent| format!("agent:{agent}:{key}")));
    keys.flat_map(|key| [hexadecimal(&Sha256::digest(key.as_bytes())), key]).collect()
}

/// The exported spans of one trace.
#[derive(Clone, Debug)]
pub struct ExportedTrace<'e> {
    /// The id.
    pub id: &'e TraceId,
    /// The spans, in any order.
    pub spans: Vec<&'e Exported>,
    /// Whether it was known before the act began.
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

    fn names_session(&self, sessions: &[String]) -> bool {
        let found = self.spans.iter().flat_map(|it| SESSIONS.iter().filter_map(|key| it.attributes().text(key)));
        found.into_iter().any(|session| sessions.iter().any(|it| it == session))
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
}

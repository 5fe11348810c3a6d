//! The events of a run while it continues. One stream feeds every reporter, the language server and the progress bar.

use std::{path::PathBuf, sync::Arc, time::Duration};

use speclens_schema::{
    evidence::{Ended, Evidence, ModelReply, RunErrorKind, Usage},
    format::Dialect,
    gates::{CaseOutcome, GateReport, RunOutcome},
    judge::{self, Judged},
    mask::Secrets,
    suite::{Case, Subject, short_names},
    verdict::Status,
};
use tokio::sync::mpsc;

use crate::recording::Recordings;

/// The channel that a run sends its events to. A listener that has gone away stops nothing.
pub type Events = mpsc::UnboundedSender<Event>;

/// Something that happened. Cases are named by their place in the suite.
#[derive(Clone, Debug)]
pub enum Event {
    Started {
        attempts: usize,
    },
    AttemptStarted {
        case: usize,
        subject: Subject,
        repeat: u32,
    },
    /// An attempt waits until another run in its workspace has ended.
    Waiting {
        case: usize,
    },
    TurnStarted {
        case: usize,
        subject: Subject,
        repeat: u32,
        /// Number of the answer, from 1.
        turn: u32,
        turns: u32,
    },
    AttemptFinished {
        case: usize,
        run: Arc<RunResult>,
    },
    Note {
        message: String,
    },
    /// The run has ended. Always the last event.
    Finished(Arc<SuiteResult>),
}

#[derive(Clone, Debug)]
pub struct RunResult {
    pub subject: Subject,
    pub repeat: u32,
    pub status: Status,
    pub absence: Option<Absence>,
    pub verdicts: Vec<Judged>,
    pub figures: Figures,
    /// The observation, secrets masked.
    pub evidence: StoredEvidence,
    /// The key of the action; `None` if nothing was done.
    pub key: Option<String>,
    /// Time when the attempt began, in microseconds of the Unix epoch; 0 where it did not begin.
    pub began_us: u64,
    /// The case whose recording it is, if that is another case with the same action.
    pub from: Option<String>,
    pub origin: Origin,
    /// Other information: truncated output, processes left behind.
    pub notes: Vec<String>,
}

impl RunResult {
    pub fn of(subject: &Subject, repeat: u32, status: Status) -> RunResult {
        RunResult {
            subject: subject.clone(),
            repeat,
            status,
            absence: None,
            verdicts: Vec::new(),
            figures: Figures::default(),
            evidence: StoredEvidence::Nowhere,
            key: None,
            began_us: 0,
            from: None,
            origin: Origin::Nowhere,
            notes: Vec::new(),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Time from start to end, in milliseconds; `None` if it did not begin.
    pub duration_ms: Option<f64>,
    pub duration_is_open: bool,
    /// The number of answers of the acting model; `None` without a model.
    pub turns: Option<u32>,
    /// The event that ended the act; `None` if its end was not observed.
    pub stopped: Option<Ended>,
    /// Tokens and cost of the subject; `None` if they are not known.
    pub usage: Option<Usage>,
    /// The answers of judges; `None` if none was asked.
    pub judges: Option<Judges>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Judges {
    pub answers: u32,
    /// Cost in US dollars; `None` if the price of an answer is not known.
    pub cost_usd: Option<f64>,
}

impl RunResult {
    /// Returns whether the attempt was omitted on purpose: that says nothing about the test.
    pub fn is_left_out(&self) -> bool {
        self.is_decided() || self.is_prevented()
    }

    /// Returns whether it was omitted because it could not have changed the result of a gate.
    pub fn is_decided(&self) -> bool {
        self.has_absence(AbsenceKind::Decided)
    }

    /// Returns whether it did not run because of an earlier failure.
    pub fn is_prevented(&self) -> bool {
        self.has_absence(AbsenceKind::FailedFast) || self.has_absence(AbsenceKind::OverBudget)
    }

    /// Returns whether no recording matches the attempt, and that is a failure.
    pub fn lacks_recording(&self) -> bool {
        self.status == Status::Fail
            && (self.has_absence(AbsenceKind::NoRecording) || self.has_absence(AbsenceKind::Stale))
    }

    fn has_absence(&self, kind: AbsenceKind) -> bool {
        self.absence.as_ref().is_some_and(|absence| absence.kind == kind)
    }
}

impl Figures {
    pub fn of(evidence: &Evidence) -> Figures {
        Figures {
            duration_ms: evidence.duration_ms,
            duration_is_open: evidence.duration_is_open(),
            turns: (!evidence.turns.is_empty()).then_some(evidence.turns.len() as u32),
            stopped: evidence.ended,
            usage: evidence.usage,
            judges: Judges::of(evidence),
        }
    }

    /// Cost of the subject in US dollars; `None` if the price is not known.
    pub fn cost_usd(&self) -> Option<f64> {
        self.usage?.cost_usd
    }

    /// Cost of the subject and of judges in US dollars; `None` if a part of it is not known.
    pub fn total_cost_usd(&self) -> Option<f64> {
        let judges = self.judges.map_or(Some(0.0), |judges| judges.cost_usd);
        Some(self.cost_usd()? + judges?)
    }

    /// The known part of the cost of the subject and of judges, in US dollars.
    pub fn spent_usd(&self) -> f64 {
        let judges = self.judges.and_then(|judges| judges.cost_usd);
        self.cost_usd().into_iter().chain(judges).sum()
    }
}

impl Judges {
    fn of(evidence: &Evidence) -> Option<Judges> {
        let replies = evidence.observations.iter().filter_map(|observation| observation.answer.replies()).flatten();
        // A refused request costs nothing, but an answer that was cut off does.
        let answers: Vec<&ModelReply> =
            replies.filter(|reply| reply.error.is_none() || reply.usage.is_some()).collect();
        let cost_usd = answers.iter().map(|reply| reply.usage?.cost_usd).sum();
        (!answers.is_empty()).then_some(Judges { answers: answers.len() as u32, cost_usd })
    }
}

/// Evidence in memory or on disk: that of a whole run may not fit into memory.
#[derive(Clone, Debug, Default)]
pub enum StoredEvidence {
    #[default]
    Nowhere,
    Memory(Arc<Evidence>),
    Disk(OnDisk),
}

#[derive(Clone, Debug)]
pub struct OnDisk {
    pub recordings: Arc<Recordings>,
    pub path: PathBuf,
    pub dialect: Dialect,
    pub secrets: Arc<Secrets>,
}

impl StoredEvidence {
    /// Returns the evidence; `None` if there is none, or its recording no longer exists.
    pub fn get(&self) -> Option<Arc<Evidence>> {
        match self {
            StoredEvidence::Nowhere => None,
            StoredEvidence::Memory(evidence) => Some(Arc::clone(evidence)),
            StoredEvidence::Disk(OnDisk { recordings, path, dialect, secrets }) => {
                recordings.read(path, *dialect, secrets).ok().map(|recording| recording.evidence)
            }
        }
    }

    pub fn is_nowhere(&self) -> bool {
        match self {
            StoredEvidence::Nowhere => true,
            StoredEvidence::Memory(_) | StoredEvidence::Disk(_) => false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Observed in this run, and recorded.
    Recorded,
    /// Observed in this run, and not recorded.
    Observed,
    /// Observed now, after an earlier act; not recorded.
    Present,
    /// Read from a recording.
    Replayed,
    /// Read from a recording that another machine made.
    Foreign,
    Nowhere,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absence {
    pub kind: AbsenceKind,
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbsenceKind {
    RunError(RunErrorKind),
    NoRecording,
    Stale,
    FailedFast,
    OverBudget,
    Decided,
}

impl AbsenceKind {
    pub fn as_str(self) -> &'static str {
        match self {
            AbsenceKind::RunError(kind) => kind.as_str(),
            AbsenceKind::NoRecording => "no-recording",
            AbsenceKind::Stale => "stale",
            AbsenceKind::FailedFast => "failed-fast",
            AbsenceKind::OverBudget => "over-budget",
            AbsenceKind::Decided => "decided",
        }
    }

    pub fn all() -> impl Iterator<Item = AbsenceKind> {
        let own = [
            AbsenceKind::NoRecording,
            AbsenceKind::Stale,
            AbsenceKind::FailedFast,
            AbsenceKind::OverBudget,
            AbsenceKind::Decided,
        ];
        RunErrorKind::ALL.iter().copied().map(AbsenceKind::RunError).chain(own)
    }

    pub fn docs(self) -> &'static str {
        match self {
            AbsenceKind::RunError(kind) => kind.docs(),
            AbsenceKind::NoRecording => "This test has no recording to evaluate. Run the test first.",
            AbsenceKind::Stale => {
                "The command, its variables or its files have changed since the recording. Run the test again."
            }
            AbsenceKind::FailedFast => "The test did not run, because an earlier failure ended the run.",
            AbsenceKind::OverBudget => {
                "The test did not run, because the run had already cost more than the gate `costMaxUsd` allows."
            }
            AbsenceKind::Decided => {
                "The task was not repeated, because the result could no longer change whether the threshold of its \
                 model is met. To run every repeat, set `limits.stop_repeats: false` in `speclens.yaml`."
            }
        }
    }

    pub fn status(self) -> Status {
        match self {
            AbsenceKind::RunError(kind) => kind.status(),
            AbsenceKind::NoRecording | AbsenceKind::Stale => Status::Unknown,
            AbsenceKind::FailedFast | AbsenceKind::OverBudget | AbsenceKind::Decided => Status::Skip,
        }
    }
}

#[derive(Clone, Debug)]
pub struct CaseResult {
    pub case: usize,
    /// The worst of its runs, or the best if one is enough; `skip` for a case that is switched off.
    pub status: Status,
    /// All attempts: by subject, then by repetition.
    pub runs: Vec<Arc<RunResult>>,
}

#[derive(Clone, Debug)]
pub struct SuiteResult {
    /// The worst status of its cases and gates. Gates that are written in the file may excuse failed cases.
    pub status: Status,
    pub cases: Vec<CaseResult>,
    pub gates: GateReport,
    /// Whether a claim or a gate fails without being excused by a gate in the file.
    pub failed: bool,
    pub inconclusive: bool,
    pub cancelled: bool,
    pub duration: Duration,
}

/// Returns how many of the attempts are concerned, by subject if there are several: ` in 3 of 4 attempts (a 1/2, b 2/2)`.
/// Empty if there is only one attempt.
pub fn share(attempts: &[&RunResult], concerned: &[&RunResult]) -> String {
    let mut share = String::new();
    if attempts.len() > 1 {
        share.push_str(&format!(" in {} of {} attempts", concerned.len(), attempts.len()));
    }
    let mut subjects: Vec<&Subject> = Vec::new();
    for result in attempts {
        if !subjects.contains(&&result.subject) {
            subjects.push(&result.subject);
        }
    }
    if subjects.len() > 1 {
        let count = |results: &[&RunResult], subject: &Subject| {
            results.iter().filter(|result| result.subject == *subject).count()
        };
        let each = subjects.iter().zip(short_names(&subjects));
        let each = each.map(|(it, name)| format!("{name} {}/{}", count(concerned, it), count(attempts, it)));
        share.push_str(&format!(" ({})", each.collect::<Vec<_>>().join(", ")));
    }
    share
}

/// Returns the verdicts on each part of a claim, with their attempts. A part that a claim judges twice is two parts.
pub fn by_claim<'r>(attempts: &[&'r RunResult]) -> Vec<Vec<(&'r Judged, &'r RunResult)>> {
    let mut names: Vec<(usize, &str, usize)> = Vec::new();
    let mut parts: Vec<Vec<(&Judged, &RunResult)>> = Vec::new();
    for &attempt in attempts {
        let mut seen: Vec<(usize, &str)> = Vec::new();
        for judged in &attempt.verdicts {
            let name = (judged.claim, judged.verdict.label.as_str());
            let nth = seen.iter().filter(|known| **known == name).count();
            seen.push(name);
            let name = (name.0, name.1, nth);
            match names.iter().position(|known| *known == name) {
                Some(part) => parts[part].push((judged, attempt)),
                None => {
                    names.push(name);
                    parts.push(vec![(judged, attempt)]);
                }
            }
        }
    }
    parts
}

/// Returns the outcome of a case for the gates of its suite.
pub fn measured<'r>(case: &Case, status: Status, runs: impl Iterator<Item = &'r RunResult>) -> CaseOutcome<'r> {
    // An attempt that never began has neither passed nor failed.
    let (left_out, begun): (Vec<_>, Vec<_>) = runs.partition(|run| run.is_left_out());
    let left_out = left_out.into_iter().filter(|run| run.is_decided()).map(|run| &run.subject).collect();
    let runs = begun.into_iter().map(|run| RunOutcome {
        subject: &run.subject,
        status: run.status,
        verdicts: run.verdicts.iter().map(|judged| &judged.verdict).collect(),
        duration_ms: run.figures.duration_ms,
        duration_is_open: run.figures.duration_is_open,
        cost_usd: run.figures.total_cost_usd(),
    });
    CaseOutcome { status, runs: runs.collect(), unjudged: judge::unjudged(case), left_out }
}

#[cfg(test)]
mod tests {
    use speclens_schema::evidence::{Answer, Need, Observation, QuestionAnswer, Turn};

    use super::*;

    #[test]
    fn cost_of_judges_is_the_sum_of_their_answers_apart_from_that_of_who_acted() {
        let usage = |cost_usd| Some(Usage { input_tokens: 10, output_tokens: 1, cost_usd });
        let asked = |replies| Observation { need: Need::Trace, answer: Answer::Question(QuestionAnswer { replies }) };
        let reply = |cost_usd| ModelReply { usage: usage(cost_usd), ..ModelReply::default() };
        let refused = ModelReply { error: Some("429".to_owned()), ..ModelReply::default() };
        let judges = |replies: Vec<ModelReply>| {
            let evidence = Evidence {
                turns: vec![Turn::default(), Turn::default()],
                usage: usage(Some(4.0)),
                observations: vec![asked(replies)],
                ..Evidence::default()
            };
            let figures = Figures::of(&evidence);
            assert_eq!((figures.cost_usd(), figures.turns), (Some(4.0), Some(2)));
            figures.judges
        };
        let both = vec![reply(Some(0.5)), refused.clone(), reply(Some(0.25))];
        assert_eq!(judges(both), Some(Judges { answers: 2, cost_usd: Some(0.75) }));
        assert_eq!(judges(vec![reply(Some(0.5)), reply(None)]), Some(Judges { answers: 2, cost_usd: None }));
        let cut_off = ModelReply { error: Some("it was cut off".to_owned()), ..reply(Some(0.5)) };
        assert_eq!(judges(vec![cut_off]), Some(Judges { answers: 1, cost_usd: Some(0.5) }));
        assert_eq!(judges(vec![refused]), None);
        assert_eq!(judges(Vec::new()), None);
    }
}

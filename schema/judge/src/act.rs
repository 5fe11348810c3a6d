//! An act as its claims see it. Everything that is read from the evidence here says whether it is all there is.

use crate::{
    evidence::{
        Answer, Context, Ended, EntryPlace, Evidence, Exit, FileLog, FilesAnswer, FilesNeed, LogAnswer, LogGap,
        LogNeed, MaskingLoss, ModelReply, Need, Observation, ObservationTime, Output, Ran, ResponseAnswer, Trace,
        TraceAnswer, Usage,
    },
    seen::{Observed, Seen, Why},
    text::{INCOMPLETE, MASKED, TRUNCATED, Text},
};

#[derive(Clone, Copy, Debug)]
pub struct Act<'e> {
    evidence: &'e Evidence,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// The end of the act: what had not happened by then did not happen.
    End,
    TimeLimit,
}

impl<'e> Act<'e> {
    pub fn of(evidence: &'e Evidence) -> Act<'e> {
        Act { evidence }
    }

    pub fn context(self) -> &'e Context {
        &self.evidence.context
    }

    /// Returns the reason why more may have happened than was observed; `None` after an end that was seen.
    pub fn open_end(self) -> Option<Why> {
        if let Some(reason) = self.evidence.exit().and_then(Exit::not_begun) {
            return Some(Why::unknown(reason));
        }
        // A program may exit before the agents that it started.
        let has_ended = self.evidence.ended.map_or(self.evidence.exit().is_some(), Ended::is_final);
        let reason = match self.evidence.ended == Some(Ended::Partial) {
            true => "parts of the recording were not read, and they could change the result",
            false => "the end of the run was not observed, so more may have happened later",
        };
        (!has_ended).then(|| Why::unknown(reason))
    }

    /// Returns the same for an observation at a moment: what was observed before the act does not depend on its end.
    pub fn open_end_at(self, moment: ObservationTime) -> Option<Why> {
        match moment {
            ObservationTime::Before => None,
            ObservationTime::After => self.open_end(),
        }
    }

    pub fn commands(self) -> Seen<Observed<&'e [Ran]>> {
        let log = self.evidence.commands.as_ref().ok_or_else(|| Why::unknown("the commands were not recorded"))?;
        Ok(Observed::new(&log.commands[..], log.gap().map(Why::unknown)).with_gap(self.open_end()))
    }

    pub fn stdout(self) -> Seen<Text<'e>> {
        let stdout = self.evidence.stdout().ok_or_else(|| Why::unknown("the output was not recorded"))?;
        Ok(Text::of(stdout).with_gap(self.open_end()))
    }

    pub fn output(self) -> Seen<Observed<&'e Output>> {
        let output = self.evidence.output.as_ref().ok_or_else(|| Why::unknown("the output was not recorded"))?;
        if output.concealed == MaskingLoss::Everything {
            return Err(Why::unknown(MASKED));
        }
        // A reply may also have ended early, or have parts that are not read.
        let reason = if output.replies.is_empty() { TRUNCATED } else { INCOMPLETE };
        let cut = output.cut.then(|| Why::unknown(reason));
        Ok(Observed::new(output, cut).with_gap(output.gap().map(Why::unknown)).with_gap(self.open_end()))
    }

    /// Returns the event that ended the act; `None` if it was not seen.
    pub fn ended(self) -> Option<Ended> {
        self.evidence.ended
    }

    /// Returns the evidence of one reply in a conversation, or the reason why there is none.
    pub fn of_entry(self, place: &EntryPlace) -> Seen<Evidence> {
        let output = self.evidence.output.as_ref().ok_or_else(|| Why::unknown("the output was not recorded"))?;
        let Some(reply) = place.reply(&output.replies) else {
            let said = output.replies.len();
            let count = if said == 1 { "1 reply".to_owned() } else { format!("{said} replies") };
            return Err(Why::unknown(format!("the conversation ended before this turn, after {count}")));
        };
        Ok(Evidence {
            context: self.evidence.context.clone(),
            output: Some(Output { replies: vec![reply.clone()], ..reply.output.clone() }),
            usage: reply.usage,
            duration_ms: reply.duration_ms,
            ended: Some(Ended::Done),
            observations: self.evidence.observations.clone(),
            ..Evidence::default()
        })
    }

    /// Returns the time from start to end, in milliseconds.
    pub fn duration_ms(self) -> Seen<Observed<f64>> {
        let took = self.evidence.duration_ms.ok_or_else(|| Why::unknown("the duration was not recorded"))?;
        let gap = self.evidence.duration_is_open().then(|| Why::unknown("the output was still open at the timeout"));
        Ok(Observed::new(took, gap).with_gap(self.open_end()))
    }

    pub fn cost_usd(self) -> Seen<Observed<f64>> {
        let cost = self.evidence.usage.and_then(|usage| usage.cost_usd);
        let cost = cost.ok_or_else(|| Why::unknown("the cost is unknown"))?;
        Ok(Observed::new(cost, self.open_end()))
    }

    pub fn usage(self) -> Option<Usage> {
        self.evidence.usage
    }

    pub fn changed_files(self) -> Option<&'e FileLog> {
        self.evidence.files.as_ref()
    }

    pub fn observations(self) -> &'e [Observation] {
        &self.evidence.observations
    }

    /// Returns the answer to a need, or the reason why there is none. `what` names it.
    pub fn answer(self, need: &Need, what: &str) -> Seen<&'e Answer> {
        match self.evidence.answer_to(need) {
            None => Err(Why::unknown(format!("{what} was not observed; run the test again"))),
            Some(Answer::Nothing(reason)) => Err(Why::unknown(format!("{what} was not observed: {reason}"))),
            Some(answer) => Ok(answer),
        }
    }

    pub fn files(self, need: &FilesNeed, until: Until) -> Seen<Observed<&'e FilesAnswer>> {
        let what = format!("`{}`", need.pattern);
        let Answer::Files(answer) = self.answer(&Need::Files(need.clone()), &what)? else {
            return Err(Why::unknown(format!("{what} was not observed")));
        };
        let cut = answer.cut.then(|| Why::unknown(format!("{what} matches more files than were observed")));
        let open = match until {
            Until::End => self.open_end_at(need.moment),
            Until::TimeLimit => None,
        };
        Ok(Observed::new(answer, cut).with_gap(open))
    }

    pub fn log(self, need: &LogNeed) -> Seen<Observed<&'e LogAnswer>> {
        let what = match &need.path {
            Some(path) => format!("the log `{path}`"),
            None => "the log of the gateway".to_owned(),
        };
        let Answer::Log(answer) = self.answer(&Need::Log(need.clone()), &what)? else {
            return Err(Why::unknown(format!("{what} was not observed")));
        };
        let cut = answer.lines.cut.then_some(LogGap::Cut);
        let gap = answer.gaps.first().copied().or(cut).map(|gap| Why::unknown(gap.reason()));
        let masked = (!answer.lines.masked.is_empty())
            .then(|| Why::unknown("parts of the log are masked as secrets, which could change the result"));
        Ok(Observed::new(answer, gap).with_gap(masked).with_gap(self.open_end_at(need.moment)))
    }

    pub fn response(self, need: Need, what: &str) -> Seen<Observed<&'e ResponseAnswer>> {
        let Answer::Response(answer) = self.answer(&need, what)? else {
            return Err(Why::unknown(format!("{what} was not observed")));
        };
        Ok(Observed::new(answer, None))
    }

    /// Returns the trace. Without a source of traces, it does not apply.
    pub fn trace(self) -> Seen<Observed<&'e Trace>> {
        match self.answer(&Need::Trace, "the trace")? {
            Answer::Trace(TraceAnswer::Found(trace)) => {
                Ok(Observed::new(trace, trace.gap().map(Why::unknown)).with_gap(self.open_end()))
            }
            Answer::Trace(TraceAnswer::Missing(reason)) => Err(Why::Skip(reason.clone())),
            _ => Err(Why::unknown("the trace was not observed")),
        }
    }

    /// Returns the replies of a model to a question. `unasked` is the reason if it was not asked.
    pub fn replies(self, question: &Need, unasked: &str) -> Seen<Observed<&'e [ModelReply]>> {
        match self.evidence.answer_to(question) {
            Some(Answer::Question(answer)) => Ok(Observed::new(&answer.replies[..], None)),
            Some(Answer::Nothing(reason)) => Err(Why::unknown(reason.clone())),
            Some(_) => Err(Why::unknown("the recording does not contain a judge's answer")),
            None => Err(Why::unknown(unasked)),
        }
    }
}

//! `conversation`: expectations about single replies, and the limit of the number of turns.

use std::sync::Arc;

use crate::{
    act::Act,
    evidence::{Context, Ended, EntryPlace, Evidence, Need},
    seen::Why,
    verdict::{Check, FailureCode, Mismatch, Row, Verdict},
};

/// A claim about the reply of one entry.
#[derive(Clone, Debug)]
pub(crate) struct EntryClaim {
    pub(crate) place: EntryPlace,
    /// Label of the entry.
    pub(crate) turn: String,
    pub(crate) check: Arc<dyn Check>,
}

impl Check for EntryClaim {
    fn needs(&self, context: &Context) -> Vec<Need> {
        self.check.needs(context)
    }

    fn check(&self, act: Act<'_>) -> Vec<Verdict> {
        let found = act.of_entry(&self.place);
        let verdicts = match &found {
            Ok(evidence) => self.check.check(Act::of(evidence)),
            Err(why) => {
                let verdicts = self.check.check(Act::of(&Evidence::default()));
                verdicts.into_iter().map(|verdict| verdict.instead(Why::clone(why).into())).collect()
            }
        };
        let labelled = verdicts
            .into_iter()
            .map(|verdict| Verdict { label: format!("[Turn: {}] {}", self.turn, verdict.label), ..verdict });
        labelled.collect()
    }

    fn texts(&self) -> Vec<String> {
        self.check.texts()
    }

    fn threshold(&self) -> Option<f64> {
        self.check.threshold()
    }
}

/// The limit of the number of turns, which a conversation that is still going on exceeds.
#[derive(Clone, Debug)]
pub(crate) struct TurnLimitClaim {
    pub(crate) max_turns: u32,
}

impl Check for TurnLimitClaim {
    fn check(&self, act: Act<'_>) -> Vec<Verdict> {
        if act.ended() != Some(Ended::TurnLimit) {
            return Vec::new();
        }
        let most = self.max_turns;
        let mismatch = Mismatch::new(
            format!("MAX_TURNS_EXCEEDED: conversation exceeded {most} turns"),
            format!("at most {most} turns"),
            "calls of tools in the last turn",
        );
        let mismatch = mismatch.help(["raise `maxTurns`, or give the tools results that end the conversation"]);
        let row = Row::refused("", mismatch).rated(Some(FailureCode::InternalError), Some(0.0));
        vec![row.named("conversation", "Conversation within maxTurns limit")]
    }
}

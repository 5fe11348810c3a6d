//! `trajectory`: how well all tool calls together agree with a reference.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::tool_calls::{Calls, MAX_LISTED, calls};
use crate::{
    acceptable::{Amount, Limit},
    act::Act,
    check::json::{self, number_text},
    dialect::kindlm::expect::{TrajectoryExpect, TrajectoryScore},
    mask::{MASK_CHARACTER, texts_of},
    seen::{Proof, Seen, Why},
    text::MASKED,
    verdict::{Check, FailureCode, Judged, Mismatch, Row, Verdict},
};

impl Check for TrajectoryExpect {
    fn check(&self, act: Act<'_>) -> Vec<Verdict> {
        let compared = calls(act).and_then(|calls| self.compared(&calls));
        let mut verdicts = Vec::new();
        if let Some(score) = &self.precision {
            let rows = (FailureCode::TrajectoryPrecisionLow, "trajectory_precision", "precision");
            verdicts.push(share(score, rows, &compared, |compared| (&compared.made, "pred", &compared.unexpected)));
        }
        if let Some(score) = &self.recall {
            let rows = (FailureCode::TrajectoryRecallLow, "trajectory_recall", "recall");
            verdicts.push(share(score, rows, &compared, |compared| (&compared.reference, "ref", &compared.missing)));
        }
        if self.exact_match {
            let order = if self.ordered { "ordered" } else { "any order" };
            let (Ok(row) | Err(row)) = self.exact(&compared);
            verdicts.push(
                row.within("exactMatch").named("trajectory_exact_match", format!("Trajectory exact match ({order})")),
            );
        }
        verdicts
    }

    fn texts(&self) -> Vec<String> {
        texts_of(&serde_json::to_value(self).unwrap_or_default())
    }
}

/// The calls beside the reference. Each call is a text, so calls are equal if their texts are.
struct Compared {
    made: Vec<String>,
    reference: Vec<String>,
    /// Number of calls that are in both, each as often as it is in both.
    matched: usize,
    unexpected: Vec<String>,
    missing: Vec<String>,
    proof: Proof,
}

impl TrajectoryExpect {
    fn compared(&self, calls: &Calls<'_>) -> Seen<Compared> {
        let (calls, proof) = calls.complete()?;
        let made: Vec<String> = calls.iter().map(|call| self.text(&call.name, &call.arguments)).collect();
        let is_unclear = |call: &String| call.contains([MASK_CHARACTER, char::REPLACEMENT_CHARACTER]);
        if made.iter().any(is_unclear) {
            return Err(Why::unknown(MASKED));
        }
        let references = self.reference.iter();
        let reference: Vec<String> =
            references.map(|call| self.text(&call.tool, &Value::Object(call.args.clone()))).collect();
        let (unexpected, missing) = (without(&made, &reference), without(&reference, &made));
        Ok(Compared { matched: made.len() - unexpected.len(), made, reference, unexpected, missing, proof })
    }

    fn text(&self, tool: &str, arguments: &Value) -> String {
        if self.match_args { format!("{tool}::{}", json::text(&sorted(arguments))) } else { tool.to_owned() }
    }

    fn exact(&self, compared: &Seen<Compared>) -> Judged {
        let Compared { made, reference, unexpected, missing, proof, .. } = compared.as_ref().map_err(Why::clone)?;
        let is_equal = if self.ordered { made == reference } else { unexpected.is_empty() && missing.is_empty() };
        if is_equal {
            return Ok(Row::pass("", *proof).rated(None, Some(1.0)));
        }
        let mismatch = Mismatch::new(
            format!("predicted=[{}] reference=[{}]", made.join(", "), reference.join(", ")),
            listed(reference),
            listed(made),
        );
        let notes = notes("unexpected call", unexpected).chain(notes("missing call", missing));
        let row = Row::fail("", *proof, mismatch.notes(notes));
        Ok(row.rated(Some(FailureCode::TrajectoryExactMismatch), Some(0.0)))
    }
}

/// Judges the share of the matched calls in all of one side, which has others.
fn share<'c>(
    score: &TrajectoryScore,
    (code, kind, name): (FailureCode, &'static str, &str),
    compared: &'c Seen<Compared>,
    side: impl Fn(&'c Compared) -> (&'c Vec<String>, &'static str, &'c Vec<String>),
) -> Verdict {
    let least = number_text(score.min_score);
    let judged = || -> Judged {
        let compared = compared.as_ref().map_err(Why::clone)?;
        let ((all, word, others), matched) = (side(compared), compared.matched);
        let share = if all.is_empty() { 0.0 } else { matched as f64 / all.len() as f64 };
        if share >= score.min_score {
            return Ok(Row::pass("", compared.proof).rated(None, Some(share)));
        }
        let mismatch = Mismatch::new(
            format!("{name} {share:.3} < {least} ({word}={}, matched={matched})", all.len()),
            format!("a {name} of at least {least}"),
            format!("{share:.3}"),
        )
        .accepting_limit(Limit::Least, share, Amount::Scored);
        let what = if name == "recall" { "missing call" } else { "unexpected call" };
        let row = Row::fail("", compared.proof, mismatch.notes(notes(what, others)));
        Ok(row.rated(Some(code), Some(share)))
    };
    let (Ok(row) | Err(row)) = judged();
    row.within(name).named(kind, format!("Trajectory {name} >= {least}"))
}

fn notes<'c>(what: &'c str, calls: &'c [String]) -> impl Iterator<Item = String> + 'c {
    calls.iter().take(MAX_LISTED).map(move |call| format!("{what}: {call}"))
}

fn listed(calls: &[String]) -> String {
    calls.iter().take(MAX_LISTED).map(String::as_str).collect::<Vec<_>>().join("\n")
}

/// Returns the calls that are left of one list without those of another; a call that occurs twice must occur there twice.
fn without(calls: &[String], others: &[String]) -> Vec<String> {
    let mut left: HashMap<&str, usize> = HashMap::new();
    others.iter().for_each(|call| *left.entry(call).or_default() += 1);
    let is_left = |call: &&String| match left.get_mut(call.as_str()) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        Some(_) | None => true,
    };
    calls.iter().filter(is_left).cloned().collect()
}

/// Returns a value with sorted keys at every depth.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<(&String, &Value)> = members.iter().collect();
            members.sort_by_key(|(key, _)| *key);
            Value::Object(Map::from_iter(members.into_iter().map(|(key, value)| (key.clone(), sorted(value)))))
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

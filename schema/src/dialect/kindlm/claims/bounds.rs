//! `latency` and `cost`.

use super::verdict;
use crate::{
    acceptable::{Amount, Limit},
    act::Act,
    check::json::number_text,
    dialect::kindlm::expect::{CostExpect, LatencyExpect},
    seen::{Observed, Seen},
    verdict::{Check, FailureCode, Judged, Mismatch, Row, Verdict},
};

impl Check for LatencyExpect {
    fn check(&self, act: Act<'_>) -> Vec<Verdict> {
        let most = number_text(self.max_ms);
        let judged = within(act.duration_ms(), self.max_ms, |took| {
            let shown = number_text((took * 1000.0).round() / 1000.0);
            Mismatch::new(
                format!("Latency {shown}ms exceeds max {most}ms"),
                format!("at most {most} ms"),
                format!("{shown} ms"),
            )
            .accepting_limit(Limit::Most, took, Amount::Measured)
        });
        let kind = ("latency", FailureCode::ProviderTimeout);
        vec![verdict(kind, "maxMs", format!("Latency <= {most}ms"), judged)]
    }
}

/// Judges an amount that can only grow.
fn within(amount: Seen<Observed<f64>>, most: f64, mismatch: impl FnOnce(f64) -> Mismatch) -> Judged {
    let amount = amount?;
    let exceeded = amount.search(|amount| (*amount > most).then_some(*amount))?;
    Ok(Row::absent("", exceeded, mismatch))
}

impl Check for CostExpect {
    fn check(&self, act: Act<'_>) -> Vec<Verdict> {
        let most = number_text(self.max_usd);
        let (code, judged) = match act.cost_usd() {
            Ok(cost) => (
                FailureCode::BudgetExceeded,
                within(Ok(cost), self.max_usd, |cost| {
                    Mismatch::new(
                        format!("Cost ${cost:.4} exceeds max ${most}"),
                        format!("at most ${most}"),
                        format!("${}", number_text(cost)),
                    )
                    .accepting_limit(Limit::Most, cost, Amount::Measured)
                }),
            ),
            Err(_) => (FailureCode::CostUnknown, unknown_cost(act, &most)),
        };
        vec![verdict(("cost", code), "maxUsd", format!("Cost <= ${most}"), judged)]
    }
}

fn unknown_cost(act: Act<'_>, most: &str) -> Judged {
    let ended = Observed::new((), act.open_end());
    let (_, proof) = ended.complete()?;
    let message = format!("Cost is unknown, so the ${most} budget cannot be enforced");
    let mismatch = Mismatch::new(message, format!("at most ${most}"), "an unknown cost");
    Ok(Row::fail("", proof, mismatch.help(["use a model whose price is known, or remove `cost`"])))
}

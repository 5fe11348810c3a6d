//! `latency` and `cost`, and the claim that would compare with a stored baseline.

use super::RowKind;
use crate::{
    act::Act,
    check::json::number_text,
    dialect::kindlm::expect::{CostExpect, LatencyExpect},
    seen::{Observed, Seen, Why},
    verdict::{Check, FailureCode, Judged, Mismatch, Row, Verdict},
};

/// `latency`.
#[derive(Clone, Debug)]
pub(crate) struct LatencyClaim {
    /// Expectation to judge.
    pub expect: LatencyExpect,
}

impl Check for LatencyClaim {
    fn check(&self, act: Act<'_>) -> Vec<Verdict> {
        let most = number_text(self.expect.max_ms);
        let judged = within(act.duration_ms(), self.expect.max_ms, |took| {
            let shown = number_text((took * 1000.0).round() / 1000.0);
            Mismatch {
                message: format!("Latency {shown}ms exceeds max {most}ms"),
                expected: format!("at most {most} ms"),
                actual: format!("{shown} ms"),
                ..Mismatch::default()
            }
        });
        let kind = RowKind { kind: "latency", code: FailureCode::ProviderTimeout };
        vec![kind.verdict("maxMs", format!("Latency <= {most}ms"), judged)]
    }

    fn texts(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Judges an amount that can only grow.
fn within(amount: Seen<Observed<f64>>, most: f64, mismatch: impl FnOnce(f64) -> Mismatch) -> Judged {
    let amount = amount?;
    let exceeded = amount.search(|amount| (*amount > most).then_some(*amount))?;
    Ok(Row::absent("", exceeded, mismatch))
}

/// `cost`.
#[derive(Clone, Debug)]
pub(crate) struct CostClaim {
    /// Expectation to judge.
    pub expect: CostExpect,
}

impl Check for CostClaim {
    fn check(&self, act: Act<'_>) -> Vec<Verdict> {
        let most = number_text(self.expect.max_usd);
        let judged = within(act.cost_usd(), self.expect.max_usd, |cost| Mismatch {
            message: format!("Cost ${cost:.4} exceeds max ${most}"),
            expected: format!("at most ${most}"),
            actual: format!("${}", number_text(cost)),
            ..Mismatch::default()
        });
        let kind = RowKind { kind: "cost", code: FailureCode::BudgetExceeded };
        vec![kind.verdict("maxUsd", format!("Cost <= ${most}"), judged)]
    }

    fn texts(&self) -> Vec<String> {
        Vec::new()
    }
}

/// `baseline.drift`. Not supported: it never passes.
#[derive(Clone, Debug)]
pub(crate) struct DriftClaim;

impl Check for DriftClaim {
    fn check(&self, _: Act<'_>) -> Vec<Verdict> {
        let why = Why::unknown("expectations about a baseline are not supported");
        vec![Row::from(why).named("drift", "Drift check")]
    }

    fn texts(&self) -> Vec<String> {
        Vec::new()
    }
}

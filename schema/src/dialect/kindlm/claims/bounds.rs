//! `latency` and `cost`, and the claim that would compare with a stored baseline.

use super::{Rated, VerdictBuilder};
use crate::{
    check::json::number_text,
    dialect::kindlm::expect::{CostExpect, LatencyExpect},
    document::Pointer,
    evidence::Evidence,
    verdict::{Check, FailureCode, Mismatch, Verdict},
};

/// `latency`.
#[derive(Clone, Debug)]
pub(crate) struct LatencyClaim {
    /// Expectation to judge.
    pub expect: LatencyExpect,
}

impl Check for LatencyClaim {
    fn check(&self, evidence: &Evidence) -> Vec<Verdict> {
        let most = number_text(self.expect.max_ms);
        let row = VerdictBuilder::new(Pointer::root().key("maxMs"), "latency", format!("Latency <= {most}ms"));
        let Some(took) = evidence.duration_ms else { return vec![row.unknown("the duration was not recorded")] };
        if took <= self.expect.max_ms {
            let open = evidence.duration_is_open();
            return vec![row.passed().unless(open.then_some("the output was still open at the timeout"))];
        }
        let shown = number_text((took * 1000.0).round() / 1000.0);
        let mismatch = Mismatch {
            message: format!("Latency {shown}ms exceeds max {most}ms"),
            expected: format!("at most {most} ms"),
            actual: format!("{shown} ms"),
            ..Mismatch::default()
        };
        vec![row.failed(FailureCode::ProviderTimeout, mismatch)]
    }

    fn texts(&self) -> Vec<String> {
        Vec::new()
    }

    fn handles_masked_text(&self) -> bool {
        true
    }
}

/// `cost`.
#[derive(Clone, Debug)]
pub(crate) struct CostClaim {
    /// Expectation to judge.
    pub expect: CostExpect,
}

impl Check for CostClaim {
    fn check(&self, evidence: &Evidence) -> Vec<Verdict> {
        let most = number_text(self.expect.max_usd);
        let row = VerdictBuilder::new(Pointer::root().key("maxUsd"), "cost", format!("Cost <= ${most}"));
        let Some(cost) = evidence.usage.and_then(|usage| usage.cost_usd) else {
            return vec![row.unknown("the cost is unknown")];
        };
        if cost <= self.expect.max_usd {
            return vec![row.passed()];
        }
        let mismatch = Mismatch {
            message: format!("Cost ${cost:.4} exceeds max ${most}"),
            expected: format!("at most ${most}"),
            actual: format!("${}", number_text(cost)),
            ..Mismatch::default()
        };
        vec![row.failed(FailureCode::BudgetExceeded, mismatch)]
    }

    fn texts(&self) -> Vec<String> {
        Vec::new()
    }

    fn handles_masked_text(&self) -> bool {
        true
    }
}

/// `baseline.drift`. Not supported: it never passes.
#[derive(Clone, Debug)]
pub(crate) struct DriftClaim;

impl Check for DriftClaim {
    fn check(&self, _evidence: &Evidence) -> Vec<Verdict> {
        let row = VerdictBuilder::new(Pointer::root(), "drift", "Drift check");
        vec![row.unknown("expectations about a baseline are not supported")]
    }

    fn texts(&self) -> Vec<String> {
        Vec::new()
    }

    fn handles_masked_text(&self) -> bool {
        true
    }
}

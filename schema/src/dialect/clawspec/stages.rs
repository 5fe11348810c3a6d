//! Claims about a pipeline besides its assertions: every stage produces its file, every handoff fulfils its contract,
//! and the conditions on the whole run hold.

use std::sync::Arc;

use super::claim::{AssertionRow, Scope, ScopedEvidence, mismatch};
use crate::{
    document::Pointer,
    evidence::{Context, Evidence, Need},
    suite::Claim,
    verdict::{Check, Handover, Provisional, Status, Verdict},
};

/// File that a stage produces.
#[derive(Clone, Debug)]
pub struct Production {
    /// Name of the stage.
    pub stage: String,
    /// Path of the file. May contain wildcards and templates.
    pub path: String,
    /// Whether the stage may be skipped, because it requires approval.
    pub optional: bool,
    /// Scope of the claim.
    pub scope: Arc<Scope>,
}

impl Production {
    fn needs(&self, context: &Context) -> Option<Need> {
        self.scope.files(&self.path, context).map(Need::Files)
    }

    /// Returns whether the stage produced a file.
    fn happened(&self, evidence: &Evidence) -> Result<(String, bool), AssertionRow> {
        let seen = ScopedEvidence { evidence, scope: &self.scope };
        let path = seen.expand("", &self.path)?;
        let Some(want) = self.scope.files(&self.path, &evidence.context) else {
            return Err(AssertionRow::unknown("", "the path contains a template variable without a value in this run"));
        };
        let answer = seen.files("", &want)?;
        if answer.files.is_empty() && answer.cut {
            return Err(AssertionRow::unknown("", format!("`{path}` matches more files than were observed")));
        }
        Ok((path, !answer.files.is_empty()))
    }

    fn judge(&self, evidence: &Evidence) -> Result<AssertionRow, AssertionRow> {
        let (path, happened) = self.happened(evidence)?;
        if happened {
            return Ok(AssertionRow::pass(""));
        }
        if self.optional {
            return Ok(AssertionRow::skip(
                "",
                format!("`{}` requires approval, and did not produce `{path}`", self.stage),
            ));
        }
        let seen = ScopedEvidence { evidence, scope: &self.scope };
        let message = format!("stage `{}` did not produce `{path}`", self.stage);
        let mut mismatch = mismatch(message, format!("{path} exists"), "no match");
        mismatch.notes = seen.notes_on_missing(&path);
        Ok(AssertionRow::fail("", mismatch))
    }
}

impl Check for Production {
    fn needs(&self, context: &Context) -> Vec<Need> {
        Production::needs(self, context).into_iter().collect()
    }

    fn check(&self, evidence: &Evidence) -> Vec<Verdict> {
        let (Ok(row) | Err(row)) = self.judge(evidence);
        vec![row.verdict("stage_produced", format!("stage_produced {}", self.stage))]
    }

    fn texts(&self) -> Vec<String> {
        vec![self.path.clone()]
    }
}

/// Contract of the handoff to a stage.
#[derive(Clone, Debug)]
pub struct StageHandoff {
    /// Name of the stage.
    pub stage: String,
    /// Path of the contract, as written.
    pub path: String,
    /// File that the stage produces: without it, there was no handoff.
    pub production: Option<Arc<Production>>,
    /// Contract, or why it cannot be read.
    pub contract: Result<StageContract, String>,
}

/// The judged part of a handoff contract of a stage.
#[derive(Clone, Debug)]
pub struct StageContract {
    /// Caller and callee of the handoff.
    pub handover: Handover,
    /// Claims of the contract.
    pub claims: Vec<Claim>,
}

impl StageHandoff {
    /// Kind of the only verdict of a contract that was not judged.
    pub const NOT_JUDGED: &'static str = "handoff_contract";

    fn claims(&self) -> impl Iterator<Item = &Claim> {
        self.contract.iter().flat_map(|contract| &contract.claims)
    }

    fn label(&self, what: &str) -> String {
        format!("{}: {what}", self.stage)
    }

    fn alone(&self, row: AssertionRow) -> Vec<Verdict> {
        vec![row.verdict(StageHandoff::NOT_JUDGED, self.label(&self.path))]
    }
}

impl Check for StageHandoff {
    fn needs(&self, context: &Context) -> Vec<Need> {
        let production = self.production.as_ref().and_then(|production| Production::needs(production, context));
        let claims = self.claims().flat_map(|claim| claim.check.needs(context));
        production.into_iter().chain(claims).collect()
    }

    fn check(&self, evidence: &Evidence) -> Vec<Verdict> {
        let claims = match &self.contract {
            Err(reason) => return self.alone(AssertionRow::broken("", reason.clone())),
            Ok(contract) if contract.claims.is_empty() => {
                return self.alone(AssertionRow::unknown("", format!("`{}` has no assertions", self.path)));
            }
            Ok(contract) => &contract.claims,
        };
        match self.production.as_ref().map(|production| production.happened(evidence)) {
            Some(Err(row)) => return self.alone(row),
            Some(Ok((path, false))) => {
                let reason = format!("the stage did not produce `{path}`");
                return self.alone(AssertionRow::skip("", reason));
            }
            Some(Ok((_, true))) | None => {}
        }
        let verdicts = claims.iter().flat_map(|claim| {
            let verdicts = claim.check.check(evidence).into_iter();
            verdicts.map(|verdict| evidence.settled(claim.check.provisional(), verdict))
        });
        // The locations of the verdicts are in the contract, which is another file.
        verdicts.map(|verdict| Verdict { at: Pointer::root(), label: self.label(&verdict.label), ..verdict }).collect()
    }

    fn handover(&self) -> Option<&Handover> {
        Some(&self.contract.as_ref().ok()?.handover)
    }

    fn texts(&self) -> Vec<String> {
        self.claims().flat_map(|claim| claim.check.texts()).collect()
    }
}

/// A condition on the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// Every stage with `produces` produced a file.
    Produced,
    /// Every handoff contract holds.
    HandoffsPassed,
    /// The run took at most this many seconds.
    Elapsed(u64),
}

impl Condition {
    /// The conditions as they are written.
    pub(crate) const WRITTEN: [&'static str; 3] =
        ["count(produced_artifacts) == count(stages_with_produces)", "all handoff contracts passed", "elapsed <= 30m"];

    /// Parses a condition. Spaces are optional only around `<=`.
    pub(crate) fn parse(text: &str) -> Option<Condition> {
        if text == Condition::WRITTEN[0] {
            return Some(Condition::Produced);
        }
        if text == Condition::WRITTEN[1] {
            return Some(Condition::HandoffsPassed);
        }
        let lower = text.to_lowercase();
        let limit = lower.strip_prefix("elapsed")?.trim_start().strip_prefix("<=")?.trim_start();
        let (digits, seconds) = match (limit.strip_suffix('m'), limit.strip_suffix('h')) {
            (Some(digits), _) => (digits, 60),
            (None, Some(digits)) => (digits, 3600),
            (None, None) => return None,
        };
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| Condition::Elapsed(digits.parse::<u64>().unwrap_or(u64::MAX).saturating_mul(seconds)))
    }
}

/// A condition, with the stages of its pipeline.
#[derive(Clone, Debug)]
pub struct Health {
    /// Purpose of the condition.
    pub description: String,
    /// Condition as written.
    pub written: String,
    /// Files that the stages produce.
    pub productions: Vec<Arc<Production>>,
    /// Handoffs to the stages.
    pub handoffs: Vec<Arc<StageHandoff>>,
}

impl Health {
    fn judge(&self, evidence: &Evidence) -> Result<AssertionRow, AssertionRow> {
        match Condition::parse(&self.written) {
            None => {
                Ok(AssertionRow::broken("check", format!("Unsupported pipeline health expression: {}", self.written)))
            }
            Some(Condition::Produced) => self.produced(evidence),
            Some(Condition::HandoffsPassed) => self.handed_over(evidence),
            Some(Condition::Elapsed(most)) => {
                let Some(took) = evidence.duration_ms else {
                    return Err(AssertionRow::unknown(
                        "check",
                        "the duration of the run was not observed; run the test again",
                    ));
                };
                let seconds = (took / 1000.0).floor();
                if seconds <= most as f64 {
                    return Ok(AssertionRow::pass("check"));
                }
                let message = format!("the run took {seconds} s, more than {most} s");
                Ok(AssertionRow::fail("check", mismatch(message, self.written.clone(), format!("{seconds} s"))))
            }
        }
    }

    fn produced(&self, evidence: &Evidence) -> Result<AssertionRow, AssertionRow> {
        if self.productions.is_empty() {
            return Err(AssertionRow::unknown("check", "no stage has `produces`"));
        }
        let mut missing = Vec::new();
        let mut unknown = None;
        for production in &self.productions {
            match production.happened(evidence) {
                Ok((_, true)) => {}
                Ok((_, false)) => missing.push(production.stage.as_str()),
                Err(row) => unknown = unknown.or(Some(row)),
            }
        }
        if missing.is_empty() {
            return unknown.map_or_else(|| Ok(AssertionRow::pass("check")), Err);
        }
        let all = self.productions.len();
        let message = format!("stages without their file: {}", missing.join(", "));
        let actual = format!("{} of {all} stages", all - missing.len());
        Ok(AssertionRow::fail("check", mismatch(message, format!("all {all} stages produced their file"), actual)))
    }

    fn handed_over(&self, evidence: &Evidence) -> Result<AssertionRow, AssertionRow> {
        if self.handoffs.is_empty() {
            return Err(AssertionRow::unknown("check", "no stage has a `handoff_contract`"));
        }
        let mut failed = Vec::new();
        let mut open = Vec::new();
        for handoff in &self.handoffs {
            let worst = handoff.check(evidence).iter().map(|verdict| verdict.outcome.status()).max();
            match worst {
                Some(Status::Pass | Status::Warn) => {}
                Some(Status::Fail | Status::Error) => failed.push(handoff.stage.as_str()),
                Some(Status::Skip | Status::Unknown) | None => open.push(handoff.stage.as_str()),
            }
        }
        if !failed.is_empty() {
            let message = format!("handoff contracts that do not hold: {}", failed.join(", "));
            return Ok(AssertionRow::fail(
                "check",
                mismatch(message, "every handoff contract holds", failed.join(", ")),
            ));
        }
        if !open.is_empty() {
            return Err(AssertionRow::unknown(
                "check",
                format!("the results of these handoffs are unknown: {}", open.join(", ")),
            ));
        }
        Ok(AssertionRow::pass("check"))
    }
}

impl Check for Health {
    fn needs(&self, context: &Context) -> Vec<Need> {
        match Condition::parse(&self.written) {
            Some(Condition::Produced) => {
                self.productions.iter().filter_map(|production| Production::needs(production, context)).collect()
            }
            Some(Condition::HandoffsPassed) => {
                self.handoffs.iter().flat_map(|handoff| Check::needs(&**handoff, context)).collect()
            }
            Some(Condition::Elapsed(_)) | None => Vec::new(),
        }
    }

    fn check(&self, evidence: &Evidence) -> Vec<Verdict> {
        let (Ok(row) | Err(row)) = self.judge(evidence);
        vec![row.verdict("pipeline_health", format!("pipeline_health:{}", self.description))]
    }

    fn texts(&self) -> Vec<String> {
        Vec::new()
    }

    fn provisional(&self) -> Provisional {
        match Condition::parse(&self.written) {
            // The elapsed time still grows.
            Some(Condition::Elapsed(_)) => Provisional::Pass,
            Some(Condition::Produced | Condition::HandoffsPassed) | None => Provisional::Nothing,
        }
    }
}

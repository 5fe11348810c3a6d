//! Claims about a pipeline besides its assertions: every stage produces its file, every handoff fulfils its contract,
//! and the conditions on the whole run hold.

use std::sync::Arc;

use super::{scope::Scope, scoped_evidence::ScopedEvidence};
use crate::{
    act::{Act, Until},
    document::Pointer,
    evidence::{Context, Need},
    seen::{Found, Proof},
    suite::Claim,
    verdict::{At, Check, Handover, Judged, Mismatch, Outcome, Row, Verdict},
};

/// File that a stage produces.
#[derive(Clone, Debug)]
pub struct Production {
    pub stage: String,
    /// Path of the file. May contain wildcards and templates.
    pub path: String,
    /// Whether the stage may be skipped, because it requires approval.
    pub optional: bool,
    pub scope: Arc<Scope>,
}

impl Production {
    fn needs(&self, context: &Context) -> Option<Need> {
        self.scope.files(&self.path, context).map(Need::Files)
    }

    /// Returns the path of the file, and whether the stage produced it.
    fn happened(&self, act: Act<'_>) -> Result<(String, Found<()>), Row> {
        let seen = ScopedEvidence { act, scope: &self.scope };
        let path = seen.expand("", &self.path)?;
        let found = seen.file("", &self.scope.matching(path.clone()), Until::TimeLimit)?;
        Ok((path, found.map(|_| ())))
    }

    fn judge(&self, act: Act<'_>) -> Judged {
        let (path, found) = self.happened(act)?;
        if self.optional && !found.is_yes() {
            return Err(Row::skipped("", format!("`{}` requires approval, and did not produce `{path}`", self.stage)));
        }
        Ok(Row::present("", found, || {
            let seen = ScopedEvidence { act, scope: &self.scope };
            let message = format!("stage `{}` did not produce `{path}`", self.stage);
            Mismatch::new(message, format!("{path} exists"), "no match").notes(seen.notes_on_missing(&path))
        }))
    }
}

impl Check for Production {
    fn needs(&self, context: &Context) -> Vec<Need> {
        Production::needs(self, context).into_iter().collect()
    }

    fn check(&self, act: Act<'_>) -> Vec<Verdict> {
        let (Ok(row) | Err(row)) = self.judge(act);
        vec![row.named("stage_produced", format!("stage_produced {}", self.stage))]
    }

    fn texts(&self) -> Vec<String> {
        vec![self.path.clone()]
    }
}

#[derive(Clone, Debug)]
pub struct StageHandoff {
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

    fn alone(&self, row: Row) -> Vec<Verdict> {
        vec![row.named(StageHandoff::NOT_JUDGED, self.label(&self.path))]
    }
}

impl Check for StageHandoff {
    fn needs(&self, context: &Context) -> Vec<Need> {
        let production = self.production.as_ref().and_then(|production| Production::needs(production, context));
        let claims = self.claims().flat_map(|claim| claim.check.needs(context));
        production.into_iter().chain(claims).collect()
    }

    fn check(&self, act: Act<'_>) -> Vec<Verdict> {
        let claims = match &self.contract {
            Err(reason) => return self.alone(Row::broken("", reason.clone())),
            Ok(contract) if contract.claims.is_empty() => {
                return self.alone(Row::unknown("", format!("`{}` has no assertions", self.path)));
            }
            Ok(contract) => &contract.claims,
        };
        match self.production.as_ref().map(|production| production.happened(act)) {
            Some(Err(row)) => return self.alone(row),
            Some(Ok((path, Found::No(_)))) => {
                return self.alone(Row::skipped("", format!("the stage did not produce `{path}`")));
            }
            Some(Ok((_, Found::Yes(..)))) | None => {}
        }
        let verdicts = claims.iter().flat_map(|claim| claim.check.check(act));
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
    pub written: String,
    /// Files that the stages produce.
    pub productions: Vec<Arc<Production>>,
    pub handoffs: Vec<Arc<StageHandoff>>,
}

impl Health {
    fn judge(&self, act: Act<'_>) -> Judged {
        match Condition::parse(&self.written) {
            None => Err(Row::broken("check", format!("Unsupported pipeline health expression: {}", self.written))),
            Some(Condition::Produced) => self.produced(act),
            Some(Condition::HandoffsPassed) => self.handed_over(act),
            Some(Condition::Elapsed(most)) => {
                let seconds = act.duration_ms().at("check")?.map(|took| (took / 1000.0).floor());
                let exceeded = seconds.search(|seconds| Some(*seconds).filter(|seconds| *seconds > most as f64));
                Ok(Row::absent("check", exceeded.at("check")?, |seconds| {
                    let message = format!("the run took {seconds} s, more than {most} s");
                    Mismatch::new(message, self.written.clone(), format!("{seconds} s"))
                }))
            }
        }
    }

    fn produced(&self, act: Act<'_>) -> Judged {
        let (mut missing, mut open) = (Vec::new(), None);
        let mut proof = None;
        for production in &self.productions {
            match production.happened(act) {
                Ok((_, found)) => {
                    if !found.is_yes() {
                        missing.push(production.stage.as_str());
                    }
                    proof = Some(found.proof());
                }
                Err(row) => open = open.or(Some(row)),
            }
        }
        if let (true, Some(row)) = (missing.is_empty(), open) {
            return Err(row);
        }
        let proof = proof.ok_or_else(|| Row::unknown("check", "no stage has `produces`"))?;
        holds(&missing, proof, || {
            let all = self.productions.len();
            let message = format!("stages without their file: {}", missing.join(", "));
            let actual = format!("{} of {all} stages", all - missing.len());
            Mismatch::new(message, format!("all {all} stages produced their file"), actual)
        })
    }

    fn handed_over(&self, act: Act<'_>) -> Judged {
        let (mut failed, mut open) = (Vec::new(), Vec::new());
        let mut proof = None;
        for handoff in &self.handoffs {
            let verdicts = handoff.check(act);
            match Verdict::worst(&verdicts) {
                Some((Outcome::Pass | Outcome::Warn(_), seen)) => proof = Some(seen),
                Some((Outcome::Fail(_) | Outcome::Error(_), seen)) => {
                    proof = Some(seen);
                    failed.push(handoff.stage.as_str());
                }
                Some((Outcome::Skip(_) | Outcome::Unknown(_), _)) | None => open.push(handoff.stage.as_str()),
            }
        }
        if failed.is_empty() && !open.is_empty() {
            return Err(Row::unknown(
                "check",
                format!("the results of these handoffs are unknown: {}", open.join(", ")),
            ));
        }
        let proof = proof.ok_or_else(|| Row::unknown("check", "no stage has a `handoff_contract`"))?;
        holds(&failed, proof, || {
            let failed = failed.join(", ");
            Mismatch::new(
                format!("handoff contracts that do not hold: {failed}"),
                "every handoff contract holds",
                failed,
            )
        })
    }
}

fn holds(wrong: &[&str], proof: Proof, mismatch: impl FnOnce() -> Mismatch) -> Judged {
    Ok(if wrong.is_empty() { Row::pass("check", proof) } else { Row::fail("check", proof, mismatch()) })
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

    fn check(&self, act: Act<'_>) -> Vec<Verdict> {
        let (Ok(row) | Err(row)) = self.judge(act);
        vec![row.named("pipeline_health", format!("pipeline_health:{}", self.description))]
    }
}

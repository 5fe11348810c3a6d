//! Tests of tests: damages the evidence of a passing attempt, one fault at a time, and finds the claims that notice it.

pub mod faults;

use std::ops::Range;

use crate::{
    act::Act,
    document::Pointer,
    evidence::{Evidence, Need},
    finding::{Finding, MessageParts},
    format::Dialect,
    judge,
    mask::Secrets,
    problem::{Code, Fix, Problem},
    suite::Case,
    verdict::Status,
};

pub use faults::{Fault, Harm, Operator, faults};

/// What the claims of a test notice.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    /// Every fault, the most harmful ones first.
    pub tried: Vec<Tried>,
    /// Claims that were not asked, because a model or a command would have to judge the damaged evidence, by their indices
    /// in the case.
    pub unasked: Vec<usize>,
}

/// A fault that was tried.
#[derive(Clone, Debug)]
pub struct Tried {
    pub fault: Fault,
    pub effect: Effect,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// These parts of claims notice it.
    Noticed(Vec<Pointer>),
    Survived,
    /// The damage changes nothing.
    Inert,
}

/// Tries every fault of the evidence of an attempt. A fault is noticed if the test no longer passes: an assertion fails, or
/// is unknown. `None` if the attempt does not pass, because then a failure would prove nothing.
pub fn audit(case: &Case, dialect: Dialect, evidence: &Evidence, secrets: &Secrets) -> Option<Audit> {
    let judged = judge::judge(case, evidence, secrets);
    let is_fine = |status| matches!(status, Status::Pass | Status::Warn);
    if !is_fine(judge::status(case, evidence, &judged)) || judged.is_empty() {
        return None;
    }
    let is_asked = |claim: usize| {
        let needs = case.claims[claim].check.needs(&evidence.context);
        needs.iter().any(|need| matches!(need, Need::Question(_) | Need::Scores(_) | Need::Command { .. }))
    };
    let holding: Vec<usize> = (0..case.claims.len())
        .filter(|claim| judged.iter().any(|it| it.claim == *claim && is_fine(it.verdict.outcome.status())))
        .collect();
    let (unasked, asked): (Vec<usize>, Vec<usize>) = holding.into_iter().partition(|claim| is_asked(*claim));
    let effect = |damaged: &Evidence| {
        if damaged == evidence {
            return Effect::Inert;
        }
        let noticing = |claim: &usize| -> Vec<Pointer> {
            let claim = &case.claims[*claim];
            let verdicts = claim.check.check(Act::of(damaged)).into_iter();
            let bad = verdicts.filter(|it| !matches!(it.outcome.status(), Status::Pass | Status::Warn | Status::Skip));
            bad.map(|verdict| claim.at.join(&verdict.at)).collect()
        };
        let parts: Vec<Pointer> = asked.iter().flat_map(noticing).collect();
        if parts.is_empty() { Effect::Survived } else { Effect::Noticed(parts) }
    };
    let mut tried = Vec::new();
    faults(dialect, evidence, &mut |fault, damaged| tried.push(Tried { fault, effect: effect(damaged) }));
    tried.sort_by_key(|it| it.fault.harm);
    Some(Audit { tried, unasked })
}

/// Whether every claim of a test about the act also holds for the evidence of another act: the test does not distinguish
/// the two.
pub fn passes_on(case: &Case, evidence: &Evidence, secrets: &Secrets) -> bool {
    let judged = judge::judge(case, evidence, secrets);
    let of_act = judged.iter().filter(|it| !case.claims[it.claim].is_precondition());
    let statuses: Vec<Status> = of_act.map(|it| it.verdict.outcome.status()).collect();
    statuses.contains(&Status::Pass) && statuses.iter().all(|status| matches!(status, Status::Pass | Status::Warn))
}

impl Fault {
    /// Returns the report that no claim notices the fault, at a place, with the fix that adds a claim which would.
    pub fn problem(&self, at: Pointer, range: Range<usize>, fix: Option<Fix>) -> Problem {
        let words = MessageParts::new(format!("no assertion notices if {}", self.sentence()));
        let words = match self.harm {
            Harm::SideEffect => words.note("it changes what was done, not only what was said"),
            Harm::Other => words,
        };
        let words = words.fix_with_help(fix);
        Finding::stated(Code::Unchecked, words, at, range).problem()
    }
}

/// Returns the problem of a test whose faults are unknown because it has no result.
pub fn not_audited(reason: &str, at: Pointer, range: Range<usize>) -> Problem {
    Finding::stated(Code::Unchecked, MessageParts::new(format!("not audited: {reason}")), at, range).problem()
}

/// How many faults are noticed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub noticed: usize,
    pub survived: usize,
    /// Faults that change nothing; they are not counted as tried.
    pub inert: usize,
}

impl Tally {
    pub fn of<'t>(tried: impl IntoIterator<Item = &'t Tried>) -> Tally {
        let mut tally = Tally::default();
        for it in tried {
            match it.effect {
                Effect::Noticed(_) => tally.noticed += 1,
                Effect::Survived => tally.survived += 1,
                Effect::Inert => tally.inert += 1,
            }
        }
        tally
    }

    /// Returns the number of faults that change something.
    pub fn tried(self) -> usize {
        self.noticed + self.survived
    }

    /// Returns the share of the faults that are noticed, from 0 to 1; `None` without a fault.
    pub fn rate(self) -> Option<f64> {
        (self.tried() > 0).then(|| self.noticed as f64 / self.tried() as f64)
    }

    /// Returns the 95 % interval of the rate (Wilson's), if the faults are taken as a sample of all that may happen.
    pub fn interval(self) -> Option<(f64, f64)> {
        const Z: f64 = 1.96;
        let (rate, count) = (self.rate()?, self.tried() as f64);
        let denominator = 1.0 + Z * Z / count;
        let center = (rate + Z * Z / (2.0 * count)) / denominator;
        let half = Z * (rate * (1.0 - rate) / count + Z * Z / (4.0 * count * count)).sqrt() / denominator;
        Some(((center - half).max(0.0), (center + half).min(1.0)))
    }
}

//! Reports of single runs in ClawSpec's format, one YAML file each, for tools that read them.

use std::fmt::Write;

use speclens_schema::{
    dialect::clawspec::stages::StageHandoff,
    evidence::{Answer, Evidence},
    judge::Judged,
    quoting::scalar,
    suite::{Action, Case, Claim, Phase, TriggerKind},
    verdict::{Handover, Status},
    words::slug,
};

use crate::event::{Origin, RunResult};

/// The subject of a report: the two words in the name of its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    pub workflow: String,
    /// The scenario; for other contracts the name of the file.
    pub scenario: String,
}

impl Subject {
    /// Returns the subject of a case's report; `None` for cases that ClawSpec does not run.
    pub fn of(case: &Case) -> Option<Subject> {
        let Action::Trigger(trigger) = &case.action else { return None };
        let stem = || stem(&trigger.contract);
        Some(match trigger.kind {
            TriggerKind::Skill | TriggerKind::Agent => {
                Subject { workflow: last_step(&trigger.target).to_owned(), scenario: case.name.clone() }
            }
            TriggerKind::Pipeline => Subject { workflow: case.name.clone(), scenario: stem() },
            TriggerKind::Nothing => Subject { workflow: slug(&case.name), scenario: stem() },
        })
    }

    /// Returns the subject of a handoff within a pipeline: the same as that of its contract alone.
    pub fn of_handover(handover: &Handover) -> Subject {
        let Handover { from, to, contract } = handover;
        Subject { workflow: slug(&format!("{from} to {to}")), scenario: stem(contract) }
    }

    pub fn file_stem(&self) -> String {
        format!("{}-{}", slug(&self.workflow), slug(&self.scenario))
    }

    /// Returns the number of a report with this subject; `None` for any other file.
    pub fn number_in(&self, file_name: &str) -> Option<u64> {
        let rest = file_name.strip_suffix(".yaml")?;
        let is_day = |day: &str| day.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        let rest = rest.get(DAY_LENGTH..).filter(|_| rest.get(..DAY_LENGTH).is_some_and(is_day))?;
        rest.strip_prefix('-')?.strip_prefix(&self.file_stem())?.strip_prefix("-r")?.parse().ok()
    }
}

/// Number of characters of a day, as in `2026-05-14`.
pub const DAY_LENGTH: usize = 10;

fn stem(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned()
}

pub fn last_step(path: &str) -> &str {
    path.trim_matches('/').rsplit('/').next().unwrap_or_default()
}

/// Returns whether ClawSpec would write a report of a run: it was made now, and reached the assertions after the act.
pub fn is_reported(case: &Case, run: &RunResult) -> bool {
    let is_fresh = match run.origin {
        Origin::Recorded | Origin::Observed | Origin::Present => true,
        Origin::Replayed | Origin::Foreign | Origin::Nowhere => false,
    };
    let is_unmet = |judged: &Judged| {
        case.claims[judged.claim].is_precondition()
            && matches!(judged.verdict.outcome.status(), Status::Fail | Status::Error)
    };
    is_fresh && run.absence.is_none() && !run.verdicts.iter().any(is_unmet)
}

pub fn handovers<'r>(case: &'r Case, run: &'r RunResult) -> Vec<(&'r Handover, Vec<&'r Judged>)> {
    let of_claim = |index: usize| {
        let results = run.verdicts.iter().filter(move |judged| judged.claim == index);
        results.filter(|judged| judged.verdict.kind != StageHandoff::NOT_JUDGED).collect::<Vec<_>>()
    };
    let claims = case.claims.iter().enumerate();
    let handovers = claims.filter_map(|(index, claim)| Some((claim.check.handover()?, of_claim(index))));
    handovers.filter(|(_, results)| !results.is_empty()).collect()
}

pub struct Report<'r> {
    pub subject: Subject,
    pub contract: String,
    pub case: &'r Case,
    pub results: Vec<&'r Judged>,
    pub evidence: &'r Evidence,
    /// Time of the judgment, in UTC, as `2026-05-14T12:00:00Z`.
    pub completed_at: String,
}

impl Report<'_> {
    pub fn text(&self, number: u64) -> String {
        let rows = self.results.iter().filter_map(|judged| ReportRow::of(self.case, judged, self.evidence));
        let rows: Vec<ReportRow<'_>> = rows.collect();
        let status = rows.iter().map(|row| row.status).max().unwrap_or(Status::Pass).max(Status::Pass);
        let Subject { workflow, scenario } = &self.subject;
        let (started_at, completed_at) = (whole_seconds(&self.evidence.context.started), &self.completed_at);
        let mut text = String::new();
        let _ = writeln!(text, "workflow: {}\nscenario: {}", scalar(workflow), scalar(scenario));
        let _ = writeln!(text, "run: {number}\nstatus: {}", word(status));
        let _ = writeln!(text, "started_at: {}\ncompleted_at: {}", quoted(&started_at), quoted(completed_at));
        text.push_str(if rows.is_empty() { "assertions: []\n" } else { "assertions:\n" });
        rows.iter().for_each(|row| row.write(&mut text));
        write_feedback(&rows, &self.contract, &mut text);
        let _ = writeln!(text, "infrastructure_failure: false");
        text
    }
}

pub fn whole_seconds(time: &str) -> String {
    time.split_once('.').map_or_else(|| time.to_owned(), |(seconds, _)| format!("{seconds}Z"))
}

fn word(status: Status) -> String {
    status.as_str().to_uppercase()
}

struct ReportRow<'r> {
    name: String,
    status: Status,
    detail: &'r str,
    waited_ms: u64,
    score: Option<f64>,
    threshold: Option<f64>,
}

impl<'r> ReportRow<'r> {
    /// Returns the row of a claim; `None` if ClawSpec reports it elsewhere.
    fn of(case: &Case, judged: &'r Judged, evidence: &Evidence) -> Option<ReportRow<'r>> {
        let claim = &case.claims[judged.claim];
        if claim.is_precondition() {
            return None;
        }
        let verdict = &judged.verdict;
        let name = match claim.phase {
            Some(Phase::PipelineHealth) => verdict.label.clone(),
            Some(Phase::Regression) => format!("regression:{}", verdict.kind),
            Some(
                Phase::Given
                | Phase::Then
                | Phase::PreDelegation
                | Phase::PostDelegation
                | Phase::Stages
                | Phase::Deterministic
                | Phase::Semantic,
            )
            | None => verdict.kind.to_owned(),
        };
        Some(ReportRow {
            name,
            status: match verdict.outcome.status() {
                // ClawSpec has no word for an unknown result; it is not a pass.
                Status::Unknown => Status::Error,
                known => known,
            },
            detail: verdict.outcome.message(),
            waited_ms: waited_ms(claim, evidence),
            score: verdict.score,
            threshold: verdict.score.and_then(|_| claim.check.threshold()),
        })
    }

    fn write(&self, text: &mut String) {
        let _ = writeln!(text, "- name: {}\n  status: {}", scalar(&self.name), word(self.status));
        let detail = if self.detail.is_empty() { "null".to_owned() } else { quoted(self.detail) };
        // Seconds with two digits, far fewer than a double can count.
        let _ = writeln!(text, "  detail: {detail}\n  elapsed: {:.2}s", self.waited_ms as f64 / 1000.0);
        if let Some(score) = self.score {
            let _ = writeln!(text, "  score: {}", decimal(score));
        }
        if let Some(threshold) = self.threshold {
            let _ = writeln!(text, "  threshold: {}", decimal(threshold));
        }
    }
}

fn waited_ms(claim: &Claim, evidence: &Evidence) -> u64 {
    let needs = claim.check.needs(&evidence.context);
    let waits = needs.iter().filter_map(|need| match evidence.answer_to(need) {
        Some(Answer::Files(answer)) => Some(answer.waited_ms),
        Some(_) | None => None,
    });
    waits.max().unwrap_or(0)
}

fn write_feedback(rows: &[ReportRow<'_>], contract: &str, text: &mut String) {
    let failing = || {
        rows.iter().filter(|row| match row.status {
            Status::Fail | Status::Warn => !row.detail.is_empty(),
            Status::Skip | Status::Pass | Status::Unknown | Status::Error => false,
        })
    };
    let names: Vec<&str> = failing().map(|row| row.name.as_str()).collect();
    if names.is_empty() {
        text.push_str("feedback: null\n");
        return;
    }
    let summary = format!("Address the failing QA checks: {}.", names.join(", "));
    let _ = writeln!(text, "feedback:\n  for_orchestrator: {}\n  structured:", quoted(&summary));
    for row in failing() {
        let _ = writeln!(text, "  - check: {}\n    missing: {}", scalar(&row.name), quoted(row.detail));
        let action = format!("Address {} before the next run.", row.name);
        let _ = writeln!(text, "    fix_action: {}\n    fix_reference: {}", quoted(&action), quoted(contract));
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns a number with at most four decimals, and at least one.
fn decimal(value: f64) -> String {
    let text = format!("{value:.4}");
    let short = text.trim_end_matches('0');
    if short.ends_with('.') { format!("{short}0") } else { short.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::{Subject, last_step, slug};

    #[test]
    fn names_of_reports_are_those_of_the_original() {
        let subject = Subject { workflow: "demo".to_owned(), scenario: "Demo: smoke!".to_owned() };
        assert_eq!(subject.file_stem(), "demo-demo-smoke");
        for (name, number) in [
            ("2026-01-01-demo-demo-smoke-r7.yaml", Some(7)),
            ("2026-01-02-demo-demo-smoke-rx.yaml", None),
            ("2026-01-02-other-demo-demo-smoke-r9.yaml", None),
            ("2026-01-02-demo-demo-smoke-r9.yml", None),
            ("demo-demo-smoke-r9.yaml", None),
            ("é026-01-02-demo-demo-smoke-r9.yaml", None),
        ] {
            assert_eq!(subject.number_in(name), number, "{name}");
        }
        assert_eq!((slug("  Ä b--C/"), last_step("skills/demo/")), ("b-c".to_owned(), "demo"));
    }
}

//! `thresholds`: the pass rate that each model must reach.
//!
//! Two things are decided otherwise than in the original: without thresholds a failed task fails the run, and a
//! threshold that runs without an answer could turn is unknown.

use crate::{
    dialect::{CaseOutcome, GateOutcome, GateReport, RunOutcome},
    document::{NodeRef, Pointer},
    verdict::Status,
};

use super::thresholds::Behavior;

/// The thresholds of one suite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gates {
    default: Option<Limit>,
    models: Vec<(String, Limit)>,
    tolerance: f64,
    behavior: Behavior,
}

/// A threshold, and where it is written.
#[derive(Clone, Debug, PartialEq)]
struct Limit {
    value: f64,
    at: Pointer,
}

/// The runs of one model.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    passed: usize,
    open: usize,
    failed: usize,
    all: usize,
}

impl Gates {
    /// Takes every threshold that can be read.
    pub fn lower(thresholds: Option<NodeRef<'_>>) -> Gates {
        let number = |node: NodeRef<'_>| node.to_value().ok().as_ref().and_then(serde_json::Value::as_f64);
        let field = |name: &str| thresholds?.get(name).and_then(number);
        let base = Pointer::root().key("thresholds");
        let models = thresholds.and_then(|thresholds| thresholds.get("models"));
        let models = models.into_iter().flat_map(NodeRef::entries).filter_map(|entry| {
            let model = entry.key.key_text();
            let at = base.key("models").key(&model);
            Some((model, Limit { value: number(entry.value)?, at }))
        });
        let behavior = thresholds.and_then(|thresholds| thresholds.get("behavior")?.as_str());
        Gates {
            default: field("default").map(|value| Limit { value, at: base.key("default") }),
            models: models.collect(),
            tolerance: field("tolerance").unwrap_or(0.0).clamp(0.0, 100.0),
            behavior: if behavior == Some("informational") { Behavior::Informational } else { Behavior::Error },
        }
    }

    /// The threshold of a model.
    fn limit(&self, model: &str) -> Option<&Limit> {
        self.models.iter().find(|(name, _)| name == model).map(|(_, limit)| limit).or(self.default.as_ref())
    }

    /// Judges a finished run.
    pub fn evaluate(&self, cases: &[CaseOutcome<'_>]) -> GateReport {
        let mut counts: Vec<(&str, Count)> = Vec::new();
        for run in cases.iter().flat_map(|case| &case.runs) {
            let model = run.subject.model_id().unwrap_or_default();
            let index = counts.iter().position(|(known, _)| *known == model).unwrap_or_else(|| {
                counts.push((model, Count::default()));
                counts.len() - 1
            });
            counts[index].1.add(run);
        }
        let gates: Vec<GateOutcome> =
            counts.iter().filter_map(|(model, count)| Some(self.gate(model, *count, self.limit(model)?))).collect();
        let covered = counts.iter().all(|(model, count)| count.failed == 0 || self.limit(model).is_some());
        let rescued = covered
            && cases.iter().any(|case| case.status == Status::Fail)
            && gates.iter().all(|gate| matches!(gate.status, Status::Pass | Status::Warn));
        GateReport { gates, rescued }
    }

    fn gate(&self, model: &str, count: Count, limit: &Limit) -> GateOutcome {
        let least = (limit.value - self.tolerance).max(0.0);
        let rate = count.rate(count.passed);
        let wanted = if self.tolerance > 0.0 {
            format!("{}% (threshold {}%, tolerance {})", percent(least), percent(limit.value), percent(self.tolerance))
        } else {
            format!("{}%", percent(least))
        };
        let (status, message) = if rate >= least {
            (Status::Pass, format!("{model}: pass rate {}% meets {wanted}", percent(rate)))
        } else if count.rate(count.passed + count.open) >= least {
            let message = format!(
                "{model}: pass rate {}% is below {wanted}, but {} without an answer could turn it",
                percent(rate),
                count.open
            );
            (Status::Unknown, message)
        } else {
            let status = match self.behavior {
                Behavior::Error => Status::Fail,
                Behavior::Informational => Status::Warn,
            };
            (status, format!("{model}: pass rate {}% is below {wanted}", percent(rate)))
        };
        GateOutcome { name: "passRate", at: Some(limit.at.clone()), status, expected: least, actual: rate, message }
    }
}

impl Count {
    fn add(&mut self, run: &RunOutcome<'_>) {
        self.all += 1;
        match run.status {
            Status::Pass | Status::Warn | Status::Skip => self.passed += 1,
            Status::Unknown | Status::Error => self.open += 1,
            Status::Fail => self.failed += 1,
        }
    }

    fn rate(self, count: usize) -> f64 {
        if self.all == 0 { 0.0 } else { count as f64 / self.all as f64 * 100.0 }
    }
}

/// With one decimal, where there is one.
fn percent(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        dialect::{ScalarRules, cli_bench::config::HelpMode},
        document::Document,
        suite::Subject,
    };

    /// A model, as reports write it.
    fn subject_of(text: &str) -> Subject {
        let with =
            |mode: &HelpMode| Some(Subject::model(text.strip_suffix(&format!(" ({})", mode.as_str()))?, Some(*mode)));
        HelpMode::ALL.iter().find_map(with).unwrap_or_else(|| Subject::model(text, None))
    }

    fn report(thresholds: &str, runs: &[(&str, Status)]) -> (Vec<(Status, String)>, bool) {
        let document = Document::read(&format!("thresholds: {thresholds}\n"), ScalarRules::Yaml12);
        let gates = Gates::lower(document.root().and_then(|root| root.get("thresholds")));
        let subjects: Vec<Subject> = runs.iter().map(|(subject, _)| subject_of(subject)).collect();
        let cases: Vec<CaseOutcome<'_>> = runs
            .iter()
            .zip(&subjects)
            .map(|((_, status), subject)| {
                let run = RunOutcome {
                    subject,
                    status: *status,
                    verdicts: Vec::new(),
                    duration_ms: None,
                    duration_is_open: false,
                    cost_usd: None,
                };
                CaseOutcome { status: *status, runs: vec![run] }
            })
            .collect();
        let report = gates.evaluate(&cases);
        for gate in &report.gates {
            assert!(document.find(gate.at.as_ref().unwrap()).is_some());
        }
        (report.gates.into_iter().map(|gate| (gate.status, gate.message)).collect(), report.rescued)
    }

    /// So many passed and failed runs of one model.
    fn runs(subject: &'static str, passed: usize, failed: usize) -> Vec<(&'static str, Status)> {
        let mut runs = vec![(subject, Status::Pass); passed];
        runs.extend(vec![(subject, Status::Fail); failed]);
        runs
    }

    #[test]
    fn the_tolerance_is_taken_off_and_an_equal_rate_is_fine() {
        for (passed, failed, status) in [(82, 18, Status::Pass), (75, 25, Status::Pass), (70, 30, Status::Fail)] {
            let (gates, rescued) = report("{default: 80, tolerance: 5}", &runs("a/b", passed, failed));
            assert_eq!((gates[0].0, rescued), (status, status == Status::Pass), "{passed}");
        }
        let (gates, _) = report("{default: 80, tolerance: 5}", &runs("a/b", 2, 1));
        assert_eq!(gates[0].1, "a/b: pass rate 66.7% is below 75% (threshold 80%, tolerance 5)");
    }

    #[test]
    fn each_model_has_its_own_threshold_over_all_help_modes() {
        let mut all = runs("a/b", 9, 1);
        all.extend(runs("c/d (injected)", 1, 1));
        all.extend(runs("c/d (none)", 2, 0));
        let (gates, rescued) = report("{default: 90, models: {c/d: 80}}", &all);
        assert_eq!(gates[0], (Status::Pass, "a/b: pass rate 90% meets 90%".to_owned()));
        assert_eq!(gates[1], (Status::Fail, "c/d: pass rate 75% is below 80%".to_owned()));
        assert!(!rescued);
    }

    #[test]
    fn only_what_is_written_rescues() {
        assert_eq!(report("{}", &runs("a/b", 9, 1)), (Vec::new(), false));
        let mut all = runs("a/b", 9, 1);
        all.extend(runs("c/d", 9, 1));
        let (gates, rescued) = report("{models: {a/b: 50}}", &all);
        assert_eq!((gates.len(), rescued), (1, false), "nothing is said about the other model");
        let (gates, rescued) = report("{default: 95, behavior: informational}", &runs("a/b", 9, 1));
        assert_eq!((gates[0].0, rescued), (Status::Warn, true));
        assert!(!report("{default: 5}", &runs("a/b", 9, 0)).1, "there is nothing to rescue");
    }

    #[test]
    fn runs_without_an_answer_could_turn_it() {
        let mut all = runs("a/b", 7, 1);
        all.extend([("a/b", Status::Error), ("a/b", Status::Unknown)]);
        assert_eq!(report("{default: 80}", &all).0[0].0, Status::Unknown);
        assert!(!report("{default: 80}", &all).1);
        assert_eq!(report("{default: 70}", &all).0[0].0, Status::Pass);
        assert_eq!(report("{default: 95}", &all).0[0].0, Status::Fail);
    }
}

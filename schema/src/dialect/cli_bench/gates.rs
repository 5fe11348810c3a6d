//! `thresholds`: the pass rate that each model must reach.
//!
//! It differs from cli-bench in two ways: without thresholds, a failed task fails the run, and a
//! threshold is unknown if runs without a result could change it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    check::amount,
    document::{NodeRef, Pointer},
    gates::{CaseOutcome, Count, Gate, GateOutcome, GateReport, GateSource, Limit, share},
    suite::Subject,
    verdict::Status,
};

/// Pass rate that each model must reach, in percent.
///
/// The pass rate of a model is the share of its attempts that passed; attempts that ended with an error count as not passed. Its
/// threshold is the one in `models`, or else `default`, minus `tolerance`. A lower pass rate is a violation. A model
/// without a threshold cannot violate one.
///
/// ```yaml
/// thresholds:
///   default: 80
///   models: { openai/gpt-4o-mini: 60 }
///   tolerance: 5
///   behavior: error
/// ```
///
/// These thresholds decide whether a run with failed tasks still passes. A failed task of a model without a threshold
/// fails the run.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("x-claims" = true, "x-problems" = [{
    "if": { "type": "object", "properties": { "default": false, "models": { "maxProperties": 0 } } },
    "code": "unchecked", "underline": "key", "message": "`thresholds` does not set a threshold",
    "help": "add `default`, or list models under `models`",
}]))]
pub struct Thresholds {
    /// Minimum pass rate of models that `models` does not list, from 0 to 100.
    #[schemars(range(min = 0.0, max = 100.0), extend("examples" = [80], "x-problems" = too_low()))]
    #[schemars(extend("x-other-names" = ["pass_rate", "min"]))]
    pub default: Option<f64>,
    /// Minimum pass rate of individual models, from 0 to 100, by their id in `providers`.
    ///
    /// ```yaml
    /// models:
    ///   anthropic/claude-sonnet-4.6: 95
    /// ```
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("x-refers" = "models"))]
    #[schemars(extend("x-name" = { "note": "its threshold is never checked", "severity": "warning" }))]
    pub models: BTreeMap<String, Percent>,
    /// Percentage points by which a pass rate may be below its threshold, from 0 to 100.
    ///
    /// With `default: 80` and `tolerance: 5`, 78 passes and 70 does not.
    #[schemars(range(min = 0.0, max = 100.0), extend("default" = 0))]
    pub tolerance: Option<f64>,
    /// Effect of a violation.
    #[schemars(extend("default" = "error"))]
    #[schemars(extend("x-other-names" = ["on_violation"]))]
    pub behavior: Option<Behavior>,
}

/// A pass rate in percent, 0 to 100.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Percent(#[schemars(range(min = 0.0, max = 100.0), extend("x-problems" = too_low()))] pub f64);

/// Returns the problems of a threshold that every model reaches, and of a share instead of a percentage.
fn too_low() -> Value {
    json!([
        {
            "if": { "const": 0 }, "code": "vacuous-claim", "message": "every model meets a threshold of 0",
            "help": "raise it, or remove it",
        },
        {
            "if": { "exclusiveMinimum": 0, "exclusiveMaximum": 1 }, "code": "out-of-range", "severity": "warning",
            "message": "a threshold of {value} is less than one percent",
            "note": "a threshold is a percentage from 0 to 100", "fix": { "times": 100 },
        },
    ])
}

/// Effect of a violated threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Behavior {
    /// The run fails: exit status 1.
    #[default]
    Error,
    /// The violation is only reported.
    Informational,
}

/// Thresholds of one suite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gates {
    default: Option<Limit>,
    models: Vec<(String, Limit)>,
    tolerance: f64,
    behavior: Behavior,
}

#[derive(Clone, Copy, Debug, Default)]
struct Attempts {
    made: Count,
    left_out: usize,
}

impl Gates {
    /// Reads every valid threshold. `pass_rate` is the default of the settings, from 0 to 1.
    pub fn lower(thresholds: Option<NodeRef<'_>>, pass_rate: Option<f64>) -> Gates {
        let number = |node: NodeRef<'_>| node.to_value().ok().as_ref().and_then(Value::as_f64);
        let field = |name: &str| thresholds?.get(name).and_then(number);
        let base = Pointer::root().key("thresholds");
        let models = thresholds.and_then(|thresholds| thresholds.get("models"));
        let models = models.into_iter().flat_map(NodeRef::entries).filter_map(|entry| {
            let model = entry.key.key_text();
            let at = base.key("models").key(&model);
            Some((model, Limit { value: number(entry.value)?, source: GateSource::Suite(at) }))
        });
        let in_suite = |value| Limit { value, source: GateSource::Suite(base.key("default")) };
        let of_settings = pass_rate.map(|share| Limit { value: share * 100.0, source: GateSource::Settings });
        let behavior = thresholds.and_then(|thresholds| thresholds.get("behavior")?.as_str());
        Gates {
            default: field("default").map(in_suite).or(of_settings),
            models: models.collect(),
            tolerance: field("tolerance").unwrap_or(0.0).clamp(0.0, 100.0),
            behavior: if behavior == Some("informational") { Behavior::Informational } else { Behavior::Error },
        }
    }

    fn limit(&self, model: &str) -> Option<&Limit> {
        self.models.iter().find(|(name, _)| name == model).map(|(_, limit)| limit).or(self.default.as_ref())
    }

    /// Whether the remaining attempts of a model cannot change the result of its threshold. An informational threshold
    /// is decided only after all attempts, because its pass rate is what matters.
    pub fn is_decided(&self, model: &str, made: Count, planned: usize) -> bool {
        let Some(limit) = self.limit(model).filter(|_| self.can_be_decided(model)) else { return false };
        let least = self.least(limit);
        let reaches = |count: usize| rate(count, planned) >= least;
        reaches(made.passed) || !reaches(planned.saturating_sub(made.failed))
    }

    /// Whether a model has a threshold that some of its attempts can decide.
    pub fn can_be_decided(&self, model: &str) -> bool {
        match self.behavior {
            Behavior::Error => self.limit(model).is_some(),
            Behavior::Informational => false,
        }
    }

    /// Returns the lowest rate that meets a threshold.
    fn least(&self, limit: &Limit) -> f64 {
        (limit.value - self.tolerance).max(0.0)
    }

    fn gate(&self, model: &str, attempts: Attempts, limit: &Limit) -> GateOutcome {
        let Attempts { made: count, left_out } = attempts;
        let least = self.least(limit);
        let actual = rate(count.passed, count.all());
        let is_met = !amount::is_below(actual, least);
        let (shown, least_text) = match is_met {
            true => (percent(actual), percent(least)),
            false => amount::shown_apart(actual, least, 1, rounded),
        };
        let wanted = if self.tolerance > 0.0 {
            format!("{least_text}% (threshold {}%, tolerance {})", percent(limit.value), percent(self.tolerance))
        } else {
            format!("the threshold of {least_text}%")
        };
        let (status, mut message) = if is_met {
            (Status::Pass, format!("{model}: pass rate {shown}% meets {wanted}"))
        } else if !amount::is_below(rate(count.passed + count.open, count.all()), least) {
            let message = format!(
                "{model}: pass rate {shown}% is below {wanted}, but {} could change this",
                count.open_attempts()
            );
            (Status::Unknown, message)
        } else {
            let status = match self.behavior {
                Behavior::Error => Status::Fail,
                Behavior::Informational => Status::Warn,
            };
            (status, format!("{model}: pass rate {shown}% is below {wanted}"))
        };
        if left_out > 0 {
            let planned = count.all() + left_out;
            let rest = if left_out == 1 { "other" } else { "others" };
            message
                .push_str(&format!(" (after {} of {planned} attempts; the {rest} could not change this)", count.all()));
        }
        GateOutcome { name: "passRate", source: limit.source.clone(), status, expected: least, actual, message }
    }
}

/// Returns the attempts of the subject's model. Models are in order of appearance.
fn attempts_of<'m, 's>(subject: &'s Subject, models: &'m mut Vec<(&'s str, Attempts)>) -> &'m mut Attempts {
    let model = subject.model_id().unwrap_or_default();
    let index = models.iter().position(|(known, _)| *known == model).unwrap_or_else(|| {
        models.push((model, Attempts::default()));
        models.len() - 1
    });
    &mut models[index].1
}

fn rate(count: usize, all: usize) -> f64 {
    share(count, all) * 100.0
}

/// Returns a percentage with at most one decimal.
fn percent(value: f64) -> String {
    rounded(value, 1)
}

/// Returns a number with at most this many decimals.
fn rounded(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

impl Gate for Gates {
    fn evaluate(&self, cases: &[CaseOutcome<'_>]) -> GateReport {
        let mut models: Vec<(&str, Attempts)> = Vec::new();
        for case in cases {
            for run in &case.runs {
                attempts_of(run.subject, &mut models).made.add(run.status);
            }
            for subject in &case.left_out {
                attempts_of(subject, &mut models).left_out += 1;
            }
        }
        let gate = |(model, attempts): &(&str, Attempts)| Some(self.gate(model, *attempts, self.limit(model)?));
        let gates: Vec<GateOutcome> = models.iter().filter_map(gate).collect();
        let covered = models.iter().all(|(model, attempts)| attempts.made.failed == 0 || self.limit(model).is_some());
        let rescued = covered
            && cases.iter().any(|case| case.status == Status::Fail)
            && gates.iter().all(|gate| matches!(gate.status, Status::Pass | Status::Warn));
        GateReport { gates, rescued }
    }

    fn is_decided(&self, subject: &Subject, made: Count, planned: usize) -> bool {
        subject.model_id().is_some_and(|model| self.is_decided(model, made, planned))
    }

    fn can_be_decided(&self, subject: &Subject) -> bool {
        subject.model_id().is_some_and(|model| self.can_be_decided(model))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        document::{Document, ScalarRules},
        gates::RunOutcome,
        suite::HelpMode,
    };

    /// Parses the subject of a model as reports write it.
    fn subject_of(text: &str) -> Subject {
        let with =
            |mode: &HelpMode| Some(Subject::model(text.strip_suffix(&format!(" ({})", mode.as_str()))?, Some(*mode)));
        HelpMode::ALL.iter().find_map(with).unwrap_or_else(|| Subject::model(text, None))
    }

    fn report(thresholds: &str, runs: &[(&str, Status)]) -> (Vec<(Status, String)>, bool) {
        let document = Document::read(&format!("thresholds: {thresholds}\n"), ScalarRules::Yaml12);
        let gates = Gates::lower(document.root().and_then(|root| root.get("thresholds")), None);
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
                CaseOutcome { status: *status, runs: vec![run], left_out: Vec::new(), unjudged: Vec::new() }
            })
            .collect();
        let report = gates.evaluate(&cases);
        for gate in &report.gates {
            assert!(document.find(gate.source.in_suite().unwrap()).is_some());
        }
        (report.gates.into_iter().map(|gate| (gate.status, gate.message)).collect(), report.rescued)
    }

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
    fn rate_that_equals_the_threshold_but_for_rounding_meets_it() {
        let (gates, _) = report("{default: 57}", &runs("a/b", 57, 43));
        assert_eq!(gates[0], (Status::Pass, "a/b: pass rate 57% meets the threshold of 57%".to_owned()));
        let (gates, _) = report("{default: 66.7}", &runs("a/b", 2, 1));
        assert_eq!(gates[0], (Status::Fail, "a/b: pass rate 66.67% is below the threshold of 66.7%".to_owned()));
    }

    #[test]
    fn each_model_has_its_own_threshold_over_all_help_modes() {
        let mut all = runs("a/b", 9, 1);
        all.extend(runs("c/d (injected)", 1, 1));
        all.extend(runs("c/d (none)", 2, 0));
        let (gates, rescued) = report("{default: 90, models: {c/d: 80}}", &all);
        assert_eq!(gates[0], (Status::Pass, "a/b: pass rate 90% meets the threshold of 90%".to_owned()));
        assert_eq!(gates[1], (Status::Fail, "c/d: pass rate 75% is below the threshold of 80%".to_owned()));
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

    fn gates_of(thresholds: &str) -> Gates {
        let document = Document::read(&format!("thresholds: {thresholds}\n"), ScalarRules::Yaml12);
        Gates::lower(document.root().and_then(|root| root.get("thresholds")), None)
    }

    #[test]
    fn threshold_is_decided_when_no_further_run_can_change_it() {
        let count = |passed, failed, open| Count { passed, open, failed };
        for (thresholds, made, decided) in [
            ("{default: 80}", count(8, 0, 0), true),
            ("{default: 80}", count(7, 2, 1), false),
            ("{default: 80}", count(0, 3, 0), true),
            ("{default: 80}", count(0, 2, 7), false),
            ("{default: 85, tolerance: 5}", count(8, 0, 0), true),
            ("{default: 100}", count(0, 1, 0), true),
            ("{default: 0}", count(0, 0, 0), true),
            ("{models: {a/b: 80}}", count(8, 0, 0), true),
            ("{models: {c/d: 80}}", count(8, 0, 0), false),
            ("{default: 80, behavior: informational}", count(10, 0, 0), false),
            ("{}", count(10, 0, 0), false),
        ] {
            assert_eq!(gates_of(thresholds).is_decided("a/b", made, 10), decided, "{thresholds} {made:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn gate_that_stops_repeats_says_what_it_says_over_all_runs(
            threshold in 0_u32..=100,
            tolerance in 0_u32..=20,
            outcomes in proptest::collection::vec(0_u8..4, 1..40),
        ) {
            let gates = gates_of(&format!("{{default: {threshold}, tolerance: {tolerance}}}"));
            let subject = Subject::model("a/b", None);
            let status = |outcome: &u8| [Status::Pass, Status::Fail, Status::Error, Status::Unknown][usize::from(*outcome)];
            let answer = |made: &[u8]| {
                let run = |outcome| RunOutcome {
                    subject: &subject,
                    status: status(outcome),
                    verdicts: Vec::new(),
                    duration_ms: None,
                    duration_is_open: false,
                    cost_usd: None,
                };
                let left_out = vec![&subject; outcomes.len() - made.len()];
                let case = CaseOutcome { status: Status::Pass, runs: made.iter().map(run).collect(), left_out, unjudged: Vec::new() };
                gates.evaluate(&[case]).gates[0].status
            };
            let mut made = Count::default();
            let mut until = 0;
            for outcome in &outcomes {
                // The first attempt is always made.
                if until > 0 && gates.is_decided("a/b", made, outcomes.len()) {
                    break;
                }
                made.add(status(outcome));
                until += 1;
            }
            proptest::prop_assert_eq!(answer(&outcomes[..until]), answer(&outcomes));
        }
    }

    #[test]
    fn gate_says_how_many_runs_were_left_out() {
        let gates = gates_of("{default: 50}");
        let subject = Subject::model("a/b", None);
        let run = RunOutcome {
            subject: &subject,
            status: Status::Pass,
            verdicts: Vec::new(),
            duration_ms: None,
            duration_is_open: false,
            cost_usd: None,
        };
        let case =
            CaseOutcome { status: Status::Pass, runs: vec![run], left_out: vec![&subject], unjudged: Vec::new() };
        assert_eq!(
            gates.evaluate(&[case]).gates[0].message,
            "a/b: pass rate 100% meets the threshold of 50% (after 1 of 2 attempts; the other could not change this)"
        );
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

//! `run_count`: number of commands that match a pattern.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    claim::Judged,
    commands::{CommandPattern, listing},
    observed::{After, part, row},
};
use crate::{
    evidence::Evidence,
    verdict::{Mismatch, Presence, Provisional, Verdict},
    words::Pattern,
};

/// Number of commands of the model that must match a pattern.
///
/// The assertion counts commands, not matches within a command. Set `min`, `max` or both; the bounds are inclusive.
/// Without a bound, the assertion cannot fail.
///
/// ```yaml
/// assert:
///   - run_count:
///       pattern: "curl"
///       min: 2
///       max: 5
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[schemars(extend("x-other-names" = ["command_count"]))]
pub struct RunCount {
    /// Regular expression of the commands to count, read like that of `ran`.
    #[schemars(with = "Pattern", extend("x-searches" = "counted commands", "examples" = ["docker pull"]))]
    #[schemars(extend("x-other-names" = ["command", "cmd", "regex", "ran"]))]
    pattern: CommandPattern,
    /// Minimum number of commands that match.
    #[schemars(with = "Option<u32>", range(min = 0), extend("x-at-most" = "max", "examples" = [1]))]
    #[schemars(extend("x-other-names" = ["at_least", "minimum"]))]
    pub min: Option<f64>,
    /// Maximum number of commands that match. `0` has the same effect as `not_ran`.
    #[schemars(with = "Option<u32>", range(min = 0), extend("examples" = [3]))]
    #[schemars(extend("x-other-names" = ["at_most", "maximum"]))]
    pub max: Option<f64>,
}

impl RunCount {
    /// Returns the bounds as text.
    fn bounds(&self) -> String {
        match (self.min, self.max) {
            (Some(min), Some(max)) if min == max => min.to_string(),
            (Some(min), Some(max)) => format!("{min} to {max}"),
            (Some(min), None) => format!("at least {min}"),
            (None, Some(max)) => format!("at most {max}"),
            (None, None) => "any number of".to_owned(),
        }
    }

    /// Returns the claim as a sentence.
    fn sentence(&self) -> String {
        let source = self.pattern.source();
        match self.max.or(self.min) {
            Some(1.0) => format!("{} command matches `{source}`", self.bounds()),
            Some(_) | None => format!("{} commands match `{source}`", self.bounds()),
        }
    }
}

impl Judged for RunCount {
    const PROVISIONAL: Provisional = Provisional::Everything;

    fn judge(&self, evidence: &Evidence, _: &After) -> Verdict {
        let source = self.pattern.source();
        let row = row("run_count", self.sentence()).at(part("run_count", "pattern"));
        let log = match self.pattern.log(evidence) {
            Ok(log) => log,
            Err(reason) => return row.unknown(reason),
        };
        let mut uncertainty = log.gap();
        let (mut least, mut open) = (0_u32, 0_u32);
        for command in &log.commands {
            match self.pattern.matches(command) {
                Presence::Yes => least += 1,
                Presence::Unclear(reason) => {
                    open += 1;
                    uncertainty = uncertainty.or(Some(reason));
                }
                Presence::No => {}
            }
        }
        let most = if log.gap().is_some() { f64::INFINITY } else { f64::from(least + open) };
        let least = f64::from(least);
        let mismatch = || Mismatch {
            message: match least {
                1.0 => format!("1 command matches `{source}`, expected {}", self.bounds()),
                _ => format!("{least} commands match `{source}`, expected {}", self.bounds()),
            },
            expected: self.bounds(),
            actual: format!("{least}\n{}", listing(log)),
            notes: if least == 0.0 { self.pattern.nearest(log).into_iter().collect() } else { Vec::new() },
            ..Mismatch::default()
        };
        if self.max.is_some_and(|max| least > max) {
            return row.at(part("run_count", "max")).fail(mismatch());
        }
        if self.min.is_some_and(|min| most < min) {
            return row.at(part("run_count", "min")).fail(mismatch());
        }
        let holds = self.min.is_none_or(|min| least >= min) && self.max.is_none_or(|max| most <= max);
        match uncertainty.filter(|_| !holds) {
            Some(reason) => row.unknown(reason),
            None => row.pass(),
        }
    }

    fn texts(&self) -> Vec<String> {
        vec![self.pattern.source().to_owned()]
    }
}

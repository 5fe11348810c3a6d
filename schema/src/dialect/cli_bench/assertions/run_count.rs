//! `run_count`: number of commands that match a pattern.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    claim::AssertionType,
    commands::{CommandPattern, listing},
    observed::After,
};
use crate::{
    act::Act,
    seen::Found,
    verdict::{At, Judged, Mismatch, Row},
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-other-names" = ["command_count"]))]
#[schemars(extend("x-problems" = [
    {
        "if": { "maxProperties": 1, "required": ["pattern"] }, "code": "vacuous-claim",
        "message": "`run_count` without `min` or `max` always passes", "help": "add `min` or `max`",
    },
    {
        "if": { "required": ["min"], "properties": { "min": { "const": 0 }, "max": false } },
        "at": "min", "code": "vacuous-claim", "help": "write at least 1, or add `max`",
        "message": "a count is never below 0, so this assertion always passes",
    },
]))]
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

impl AssertionType for RunCount {
    const NAME: &'static str = "run_count";

    fn label(&self) -> String {
        self.sentence()
    }

    fn judge(&self, act: Act<'_>, _: &After) -> Judged {
        let source = self.pattern.source();
        let commands = act.commands().at("pattern")?;
        let count = commands.count(|command| self.pattern.matches(command));
        let mismatch = || Mismatch {
            message: match count.least {
                1 => format!("1 command matches `{source}`, expected {}", self.bounds()),
                least => format!("{least} commands match `{source}`, expected {}", self.bounds()),
            },
            expected: self.bounds(),
            actual: format!("{}\n{}", count.least, listing(commands.so_far())),
            notes: if count.least == 0 {
                self.pattern.nearest(commands.so_far()).into_iter().collect()
            } else {
                Vec::new()
            },
            ..Mismatch::default()
        };
        let max = self.max.map(|max| count.exceeds(max));
        if let Some(Ok(Found::Yes((), proof))) = max {
            return Ok(Row::fail("max", proof, mismatch()));
        }
        // Without a bound, the assertion cannot fail.
        let min = count.reaches(self.min.unwrap_or(0.0));
        if let Ok(Found::No(proof)) = min {
            return Ok(Row::fail("min", proof, mismatch()));
        }
        max.transpose().at("pattern")?;
        Ok(Row::pass("pattern", min.at("pattern")?.proof()))
    }
}

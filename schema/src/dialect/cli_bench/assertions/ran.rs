//! `ran`: a command that the model must run.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    claim::Judged,
    commands::{CommandPattern, listing},
    observed::{After, row},
};
use crate::{
    evidence::Evidence,
    verdict::{Mismatch, Presence, Verdict},
    words::Pattern,
};

/// Regular expression that at least one command of the model must match.
///
/// ECMAScript syntax without flags, searched anywhere in each command of all turns. A command is the whole
/// text that the shell received in one call: `cd app && mycli init` is one command. An invalid regular expression is
/// searched for as plain text.
///
/// ```yaml
/// assert:
///   - ran: "docker build"
///   - ran: "git commit.*-m"
/// ```
///
/// Write `.*` where any options may appear: `npm install.*react`.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("x-searches" = "commands", "examples" = ["git commit.*-m"]))]
#[schemars(extend("x-other-names" = ["executed", "command_ran", "did_run"]))]
pub struct Ran(#[schemars(with = "Pattern")] CommandPattern);

impl Judged for Ran {
    fn judge(&self, evidence: &Evidence, _: &After) -> Verdict {
        let source = self.0.source();
        let row = row("ran", format!("ran `{source}`"));
        let log = match self.0.log(evidence) {
            Ok(log) => log,
            Err(reason) => return row.unknown(reason),
        };
        let gap = log.gap().map(Presence::Unclear).into_iter();
        let found = Presence::any(gap.chain(log.commands.iter().map(|command| self.0.matches(command))));
        row.found(found, || Mismatch {
            message: match log.commands.len() {
                0 => "the model ran no command".to_owned(),
                1 => format!("the only command does not match `{source}`"),
                count => format!("none of the {count} commands matches `{source}`"),
            },
            expected: format!("a command that matches `{source}`"),
            actual: listing(log),
            notes: self.0.nearest(log).into_iter().collect(),
            ..Mismatch::default()
        })
    }

    fn texts(&self) -> Vec<String> {
        vec![self.0.source().to_owned()]
    }
}

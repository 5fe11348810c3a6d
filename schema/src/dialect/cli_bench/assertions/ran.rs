//! `ran`: a command that the model must run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    claim::AssertionType,
    commands::{CommandPattern, listing},
    observed::After,
};
use crate::{
    act::Act,
    verdict::{Judged, Mismatch, Row},
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("x-searches" = "commands", "examples" = ["git commit.*-m"]))]
#[schemars(extend("x-other-names" = ["executed", "command_ran", "did_run"]))]
pub struct Ran(#[schemars(with = "Pattern")] CommandPattern);

impl AssertionType for Ran {
    const NAME: &'static str = "ran";

    fn label(&self) -> String {
        format!("ran `{}`", self.0.source())
    }

    fn judge(&self, act: Act<'_>, _: &After) -> Judged {
        let source = self.0.source();
        let commands = act.commands()?;
        let found = commands.any(|_, command| self.0.matches(command))?;
        Ok(Row::present("", found, || Mismatch {
            message: match commands.so_far().len() {
                0 => "the model ran no command".to_owned(),
                1 => format!("the only command does not match `{source}`"),
                count => format!("none of the {count} commands matches `{source}`"),
            },
            expected: format!("a command that matches `{source}`"),
            actual: listing(commands.so_far()),
            notes: self.0.nearest(commands.so_far()).into_iter().collect(),
            ..Mismatch::default()
        }))
    }
}

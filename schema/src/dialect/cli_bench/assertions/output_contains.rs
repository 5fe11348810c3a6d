//! `output_contains`: what the last command printed.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::observed::{After, Found, Last, brief, contains, near_text, no_command, row, shown};
use crate::{
    evidence::{Evidence, Ran},
    verdict::{Check, Mismatch, Open, Verdict},
};

/// String that the standard output of the last command must contain.
///
/// The string is found anywhere, even inside words. It is case-sensitive and not a pattern. Only the output of the last
/// command counts; use `ran` to check which commands were used.
///
/// ```yaml
/// assert:
///   - output_contains: "Successfully created"
///   - output_contains: "user: alice"
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("examples" = ["Successfully created"]))]
#[schemars(extend("x-other-names" = ["contains", "output", "stdout", "stdout_contains"]))]
pub struct OutputContains(pub String);

impl OutputContains {
    pub(super) fn claim(self, _: &After) -> Arc<dyn Check> {
        Arc::new(self)
    }

    fn judge(&self, evidence: &Evidence) -> Verdict {
        let row = row("output_contains", format!("output contains \"{}\"", shown(&self.0)));
        let command = match Last::of(evidence) {
            Last::Command(command) => command,
            Last::NoCommand => return row.fail(no_command(shown(&self.0))),
            Last::NotKnown(reason) => return row.unknown(reason),
        };
        let Some(stdout) = &command.stdout else {
            return row.unknown("the output of the last command was not recorded");
        };
        match contains(stdout, &self.0).of(command) {
            Found::Yes => row.pass(),
            Found::Unclear(reason) => row.unknown(reason),
            Found::No => {
                let mut help = near_text(&stdout.text, &self.0);
                let elsewhere =
                    |stream: &Option<_>| stream.as_ref().is_some_and(|stream| contains(stream, &self.0) == Found::Yes);
                if elsewhere(&command.stderr) {
                    help.push("standard error contains it: use `error_contains`".to_owned());
                }
                help.extend(earlier(evidence, &self.0, |command| &command.stdout));
                help.push(format!("the last command was `{}`", brief(&command.command.text)));
                row.fail(Mismatch {
                    message: format!("the output of the last command does not contain \"{}\"", shown(&self.0)),
                    expected: shown(&self.0),
                    actual: shown(&stdout.text),
                    help,
                })
            }
        }
    }
}

impl Check for OutputContains {
    fn check(&self, evidence: &Evidence) -> Vec<Verdict> {
        vec![self.judge(evidence)]
    }

    fn open(&self) -> Open {
        Open::Everything
    }

    fn texts(&self) -> Vec<String> {
        vec![self.0.clone()]
    }
}

/// Returns the earlier command in whose stream the text is.
pub(super) fn earlier(
    evidence: &Evidence,
    wanted: &str,
    stream: impl Fn(&Ran) -> &Option<crate::evidence::Capture>,
) -> Option<String> {
    let log = evidence.commands.as_ref()?;
    let (_, before) = log.commands.split_last()?;
    let found = before
        .iter()
        .enumerate()
        .rev()
        .find(|(_, command)| stream(command).as_ref().is_some_and(|text| contains(text, wanted) == Found::Yes));
    found.map(|(index, command)| {
        format!("command {} printed it, `{}`: only the last command counts", index + 1, brief(&command.command.text))
    })
}

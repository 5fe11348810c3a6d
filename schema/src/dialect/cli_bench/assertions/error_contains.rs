//! `error_contains`: what the last command wrote to standard error.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    observed::{After, Found, Last, brief, contains, near_text, no_command, row, shown},
    output_contains::earlier,
};
use crate::{
    evidence::Evidence,
    verdict::{Check, Mismatch, Open, Verdict},
};

/// String that the standard error of the last command must contain.
///
/// Use it for messages about errors, warnings and progress. The string is found anywhere. It is case-sensitive and not
/// a pattern.
///
/// ```yaml
/// assert:
///   - exit_code: 1
///   - error_contains: "file not found"
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("examples" = ["file not found"]))]
#[schemars(extend("x-other-names" = ["stderr", "stderr_contains", "error"]))]
pub struct ErrorContains(pub String);

impl ErrorContains {
    pub(super) fn claim(self, _: &After) -> Arc<dyn Check> {
        Arc::new(self)
    }

    fn judge(&self, evidence: &Evidence) -> Verdict {
        let row = row("error_contains", format!("standard error contains \"{}\"", shown(&self.0)));
        let command = match Last::of(evidence) {
            Last::Command(command) => command,
            Last::NoCommand => return row.fail(no_command(shown(&self.0))),
            Last::NotKnown(reason) => return row.unknown(reason),
        };
        let Some(stderr) = &command.stderr else {
            return row.unknown("the standard error of the last command was not recorded");
        };
        match contains(stderr, &self.0).of(command) {
            Found::Yes => row.pass(),
            Found::Unclear(reason) => row.unknown(reason),
            Found::No => {
                let mut help = near_text(&stderr.text, &self.0);
                let printed = command.stdout.as_ref();
                if printed.is_some_and(|stdout| contains(stdout, &self.0) == Found::Yes) {
                    help.push("standard output contains it: use `output_contains`".to_owned());
                }
                help.extend(earlier(evidence, &self.0, |command| &command.stderr));
                help.push(format!("the last command was `{}`", brief(&command.command.text)));
                row.fail(Mismatch {
                    message: format!("the standard error of the last command does not contain \"{}\"", shown(&self.0)),
                    expected: shown(&self.0),
                    actual: shown(&stderr.text),
                    help,
                })
            }
        }
    }
}

impl Check for ErrorContains {
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

//! `verify`: a shell command that runs after the task.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    claim::Judged,
    observed::{After, contains, equals, near_text, of_output, part, row, shown},
    output_equals::differs,
};
use crate::{
    check::text::trim,
    evidence::{Evidence, Need, Ran},
    verdict::{Mismatch, Presence, Verdict, VerdictBuilder},
};

/// Shell command that runs after the task and must succeed.
///
/// Use it for everything that the other assertions cannot check: the state of a database, a running container, JSON
/// with `jq`, your own test suite. The command runs with `sh -c` in the working directory of the task, with its
/// environment. If its exit code is not 0, the assertion fails and the output is not checked. A command that takes more
/// than 30 seconds is terminated, and the assertion fails. It does not count as a command of the model.
///
/// ```yaml
/// assert:
///   - verify:
///       run: "wc -l < result.csv"
///       output_equals: "100"
/// ```
///
/// In `a | b`, only the exit code of `b` counts.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(extend("x-other-names" = ["shell", "script", "check"]))]
pub struct Verify {
    /// Shell command to run.
    #[schemars(extend("minLength" = 1, "x-shell" = true, "x-template" = "workdir", "examples" = ["test -s result.csv"]))]
    #[schemars(extend("x-other-names" = ["command", "cmd", "shell", "script"]))]
    pub run: String,
    /// String that the standard output must contain, case-sensitive.
    #[schemars(extend("examples" = ["expected data"]))]
    #[schemars(extend("x-other-names" = ["contains", "stdout_contains"]))]
    pub output_contains: Option<String>,
    /// Expected standard output, ignoring white space at both ends.
    ///
    /// With `output_contains`, both must hold.
    #[schemars(extend("examples" = ["100"]))]
    #[schemars(extend("x-other-names" = ["equals", "stdout_equals"]))]
    pub output_equals: Option<String>,
}

impl Verify {
    /// Milliseconds after which the command is terminated.
    pub(crate) const TIMEOUT_MS: u64 = 30_000;

    fn of_answer(&self, row: VerdictBuilder, answer: &Ran) -> Verdict {
        let Verify { run, output_contains, output_equals } = self;
        if answer.timed_out {
            return row.fail(Mismatch {
                message: format!("`{run}` did not end within {} s", Verify::TIMEOUT_MS / 1000),
                expected: "exit code 0".to_owned(),
                actual: "terminated after the timeout".to_owned(),
                notes: streams(answer),
                ..Mismatch::default()
            });
        }
        let Some((exit, code)) = answer.exit.and_then(|exit| Some((exit, exit.shell_code()?))) else {
            return row.unknown("the exit code of the command was not recorded");
        };
        if code != 0 {
            let message = match exit.signal {
                Some(_) => format!("`{run}` {}, which is exit code {code}", exit.sentence()),
                None => format!("`{run}` ended with exit code {code}"),
            };
            return row.fail(Mismatch {
                message,
                expected: "exit code 0".to_owned(),
                actual: format!("exit code {code}"),
                notes: streams(answer),
                ..Mismatch::default()
            });
        }
        if output_contains.is_none() && output_equals.is_none() {
            return row.pass();
        }
        let Some(stdout) = &answer.stdout else { return row.unknown("the output of the command was not recorded") };
        let mut uncertainty = None;
        if let Some(wanted) = output_contains {
            match of_output(contains(stdout, wanted), answer) {
                Presence::Yes => {}
                Presence::Unclear(reason) => uncertainty = Some(("output_contains", reason)),
                Presence::No => {
                    return row.at(part("verify", "output_contains")).fail(Mismatch {
                        message: format!("the output of `{run}` does not contain \"{}\"", shown(wanted)),
                        expected: shown(wanted),
                        actual: shown(&stdout.text),
                        notes: near_text(&stdout.text, wanted),
                        ..Mismatch::default()
                    });
                }
            }
        }
        if let Some(wanted) = output_equals {
            match of_output(equals(stdout, wanted), answer) {
                Presence::Yes => {}
                Presence::Unclear(reason) => uncertainty = Some(("output_equals", reason)),
                Presence::No => {
                    let mut mismatch = differs(trim(&stdout.text), trim(wanted));
                    mismatch.message = format!("the output of `{run}` is not \"{}\"", shown(trim(wanted)));
                    return row.at(part("verify", "output_equals")).fail(mismatch);
                }
            }
        }
        match uncertainty {
            Some((field, reason)) => row.at(part("verify", field)).unknown(reason),
            None => row.pass(),
        }
    }
}

impl Judged for Verify {
    fn needs(&self) -> Vec<Need> {
        vec![Need::Command { run: self.run.clone(), timeout_ms: Verify::TIMEOUT_MS }]
    }

    fn judge(&self, evidence: &Evidence, after: &After) -> Verdict {
        let row = row("verify", format!("verify `{}`", shown(&self.run))).at(part("verify", "run"));
        match after.command(evidence, &self.run) {
            Ok(answer) => self.of_answer(row, answer),
            Err(reason) => row.unknown(reason),
        }
    }

    fn texts(&self) -> Vec<String> {
        let Verify { run, output_contains, output_equals } = self;
        [Some(run), output_contains.as_ref(), output_equals.as_ref()].into_iter().flatten().cloned().collect()
    }
}

/// Returns the output of a failed command.
fn streams(answer: &Ran) -> Vec<String> {
    let stream = |name: &str, capture: &Option<crate::evidence::Capture>| {
        let text = capture.as_ref()?.text.trim();
        (!text.is_empty()).then(|| format!("{name}: {}", shown(text)))
    };
    [stream("standard error", &answer.stderr), stream("standard output", &answer.stdout)]
        .into_iter()
        .flatten()
        .collect()
}

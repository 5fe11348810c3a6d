//! `verify`: a shell command that runs after the task.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    claim::{After, AssertionType, near_text, output, shown},
    output::differs,
};
use crate::{
    act::Act,
    check::text::trim,
    evidence::{Need, Ran},
    seen::{Found, Why},
    verdict::{At, Judged, Mismatch, Row},
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-other-names" = ["shell", "script", "check"]))]
#[schemars(extend("x-problems" = [
    {
        "if": {
            "required": ["run"],
            "properties": { "run": { "pattern": r"^\s*(true|:)\s*$" }, "output_contains": false, "output_equals": false },
        },
        "at": "run", "code": "vacuous-claim", "message": "this command always succeeds", "help": "run a command that can fail",
    },
    {
        "if": { "required": ["run"], "properties": {
            "run": { "pattern": r"\|\|\s*(true|:|exit 0)\s*$" }, "output_contains": false, "output_equals": false,
        } },
        "at": "run", "code": "vacuous-claim", "message": "the command after `||` always succeeds",
        "help": "remove `||` and everything after it",
    },
]))]
pub struct Verify {
    /// Shell command to run.
    #[schemars(extend("minLength" = 1, "x-shell" = true, "x-template" = "workdir", "examples" = ["test -s result.csv"]))]
    #[schemars(extend("x-other-names" = ["command", "cmd", "shell", "script"]))]
    pub run: String,
    /// String that the standard output must contain, case-sensitive.
    #[schemars(extend("x-compared" = "output", "examples" = ["expected data"]))]
    #[schemars(extend("x-other-names" = ["contains", "stdout_contains"]))]
    #[schemars(extend("x-problems" = [{
        "if": { "const": "" }, "code": "vacuous-claim", "help": "remove it",
        "message": "every output contains the empty string, so the output is not checked",
    }]))]
    pub output_contains: Option<String>,
    /// Expected standard output, ignoring white space at both ends.
    ///
    /// With `output_contains`, both must hold.
    #[schemars(extend("x-compared" = "output", "x-looser" = "output_contains", "examples" = ["100"]))]
    #[schemars(extend("x-other-names" = ["equals", "stdout_equals"]))]
    pub output_equals: Option<String>,
}

impl Verify {
    /// Milliseconds after which the command is terminated.
    pub(crate) const TIMEOUT_MS: u64 = 30_000;
}

impl AssertionType for Verify {
    const NAME: &'static str = "verify";

    fn label(&self) -> String {
        format!("verify `{}`", shown(&self.run))
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::Command { run: self.run.clone(), timeout_ms: Verify::TIMEOUT_MS }]
    }

    fn judge(&self, act: Act<'_>, after: &After) -> Judged {
        let Verify { run, output_contains, output_equals } = self;
        let answer = after.command(act, run).at("run")?;
        let (answer, proof) = answer.complete().at("run")?;
        let failed = |message: String, actual: String| {
            Row::fail("run", proof, Mismatch::new(message, "exit code 0", actual).notes(streams(answer)))
        };
        if answer.timed_out {
            let message = format!("`{run}` did not end within {} s", Verify::TIMEOUT_MS / 1000);
            return Ok(failed(message, "terminated after the timeout".to_owned()));
        }
        let unrecorded = || Why::unknown("the exit code of the command was not recorded");
        let exit = answer.exit.and_then(|exit| Some((exit, exit.shell_code()?)));
        let (exit, code) = exit.ok_or_else(unrecorded).at("run")?;
        if code != 0 {
            let message = match exit.signal {
                Some(_) => format!("`{run}` {}, which is exit code {code}", exit.sentence()),
                None => format!("`{run}` ended with exit code {code}"),
            };
            return Ok(failed(message, format!("exit code {code}")));
        }
        if output_contains.is_none() && output_equals.is_none() {
            return Ok(Row::pass("run", proof));
        }
        let unrecorded = || Why::unknown("the output of the command was not recorded");
        let stdout = answer.stdout.as_ref().ok_or_else(unrecorded).at("run")?;
        let text = output(answer, stdout);
        let contains = output_contains.as_ref().map(|wanted| (wanted, text.contains(wanted)));
        let equals = output_equals.as_ref().map(|wanted| (wanted, text.equals(wanted)));
        if let Some((wanted, Ok(Found::No(proof)))) = contains {
            let mismatch = Mismatch::new(
                format!("the output of `{run}` does not contain \"{}\"", shown(wanted)),
                shown(wanted),
                shown(&stdout.text),
            )
            .near(near_text(&stdout.hidden_text(), wanted))
            .accepting_closest();
            return Ok(Row::fail("output_contains", proof, mismatch));
        }
        if let Some((wanted, Ok(Found::No(proof)))) = equals {
            let message = format!("the output of `{run}` is not \"{}\"", shown(trim(wanted)));
            let mismatch = differs(message, trim(&stdout.text), trim(wanted)).accepting(trim(&stdout.hidden_text()));
            return Ok(Row::fail("output_equals", proof, mismatch));
        }
        if let Some((_, found)) = contains {
            found.at("output_contains")?;
        }
        if let Some((_, found)) = equals {
            found.at("output_equals")?;
        }
        Ok(Row::pass("run", proof))
    }
}

/// Returns the output of a failed command.
fn streams(answer: &Ran) -> impl Iterator<Item = String> {
    let stream = |name: &str, capture: &Option<crate::evidence::Capture>| {
        let text = capture.as_ref()?.text.trim();
        (!text.is_empty()).then(|| format!("{name}: {}", shown(text)))
    };
    [stream("standard error", &answer.stderr), stream("standard output", &answer.stdout)].into_iter().flatten()
}

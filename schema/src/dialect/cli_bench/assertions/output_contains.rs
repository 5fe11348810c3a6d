//! `output_contains`: standard output of the last command.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{claim::AssertionType, observed::After, stream::Stream};
use crate::{act::Act, verdict::Judged};

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
#[schemars(extend("x-compared" = "output", "examples" = ["Successfully created"]))]
#[schemars(extend("x-other-names" = ["contains", "output", "stdout", "stdout_contains"]))]
#[schemars(extend("x-problems" = [{
    "if": { "const": "" }, "code": "vacuous-claim", "help": "write what the output must contain",
    "message": "every output contains the empty string, so the output is not checked",
}]))]
pub struct OutputContains(pub String);

impl AssertionType for OutputContains {
    const NAME: &'static str = "output_contains";

    fn label(&self) -> String {
        Stream::Output.label(&self.0)
    }

    fn judge(&self, act: Act<'_>, _: &After) -> Judged {
        Stream::Output.judge(&self.0, act)
    }
}

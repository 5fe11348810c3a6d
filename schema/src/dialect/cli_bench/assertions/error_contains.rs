//! `error_contains`: standard error of the last command.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{claim::AssertionType, observed::After, stream::Stream};
use crate::{act::Act, verdict::Judged};

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
#[schemars(extend("x-compared" = "output", "examples" = ["file not found"]))]
#[schemars(extend("x-other-names" = ["stderr", "stderr_contains", "error"]))]
#[schemars(extend("x-problems" = [{
    "if": { "const": "" }, "code": "vacuous-claim", "help": "write what the output must contain",
    "message": "every output contains the empty string, so the output is not checked",
}]))]
pub struct ErrorContains(pub String);

impl AssertionType for ErrorContains {
    const NAME: &'static str = "error_contains";

    fn label(&self) -> String {
        Stream::Error.label(&self.0)
    }

    fn judge(&self, act: Act<'_>, _: &After) -> Judged {
        Stream::Error.judge(&self.0, act)
    }
}

//! `error_contains`: standard error of the last command.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{claim::Judged, observed::After, stream::Stream};
use crate::{
    evidence::Evidence,
    verdict::{Provisional, Verdict},
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
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("examples" = ["file not found"]))]
#[schemars(extend("x-other-names" = ["stderr", "stderr_contains", "error"]))]
pub struct ErrorContains(pub String);

impl Judged for ErrorContains {
    const PROVISIONAL: Provisional = Provisional::Everything;

    fn judge(&self, evidence: &Evidence, _: &After) -> Verdict {
        Stream::Error.judge(&self.0, evidence)
    }

    fn texts(&self) -> Vec<String> {
        vec![self.0.clone()]
    }
}

//! `output_contains`: standard output of the last command.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{claim::Judged, observed::After, stream::Stream};
use crate::{
    evidence::Evidence,
    verdict::{Provisional, Verdict},
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
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("examples" = ["Successfully created"]))]
#[schemars(extend("x-other-names" = ["contains", "output", "stdout", "stdout_contains"]))]
pub struct OutputContains(pub String);

impl Judged for OutputContains {
    const PROVISIONAL: Provisional = Provisional::Everything;

    fn judge(&self, evidence: &Evidence, _: &After) -> Verdict {
        Stream::Output.judge(&self.0, evidence)
    }

    fn texts(&self) -> Vec<String> {
        vec![self.0.clone()]
    }
}

//! `output_contains`: standard output of the last command.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{observed::After, stream::Stream};
use crate::verdict::Check;

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

impl OutputContains {
    pub(super) fn claim(self, _: &After) -> Arc<dyn Check> {
        Stream::Output.claim(self.0)
    }
}

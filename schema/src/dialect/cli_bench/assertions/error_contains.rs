//! `error_contains`: standard error of the last command.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{observed::After, stream::Stream};
use crate::verdict::Check;

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

impl ErrorContains {
    pub(super) fn claim(self, _: &After) -> Arc<dyn Check> {
        Stream::Error.claim(self.0)
    }
}

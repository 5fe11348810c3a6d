//! The ten assertions, with their fields, documentation, needs and evaluation: one file for each thing that they look
//! at. To add one, write its type there and add it to the list below.

mod claim;
mod commands;
mod exit_code;
mod files;
mod output;
mod verify;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

pub use claim::After;
pub use commands::{NotRan, Ran, RunCount};
pub use exit_code::ExitCode;
pub use files::{FileContains, FileExists};
pub use output::{ErrorContains, OutputContains, OutputEquals};
pub use verify::Verify;

use crate::verdict::Check;
use claim::Claim;

/// Declares the assertions in the order of the documentation.
macro_rules! assertions {
    ($($name:ident: $type:ident,)+) => {
        /// An assertion about a finished task: a mapping with exactly one key, the assertion's name.
        ///
        /// Assertions check the last command that the model ran (`exit_code`, `output_contains`, `output_equals`,
        /// `error_contains`), all commands of all turns (`ran`, `not_ran`, `run_count`), or the working directory
        /// afterwards (`file_exists`, `file_contains`, `verify`).
        ///
        /// ```yaml
        /// assert:
        ///   - exit_code: 0
        ///   - ran: "mycli init"
        ///   - file_exists: "config.yaml"
        /// ```
        #[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
        #[serde(default)]
        #[schemars(extend("minProperties" = 1, "maxProperties" = 1, "x-claims" = true))]
        #[schemars(extend(
            "x-tags" = ["type", "kind", "assertion"],
            "x-advice" = [
                {
                    "names": [
                        "output_contains_any", "contains_any", "contains-any", "any_of", "output_matches",
                        "output_regex", "stdout_matches", "matches", "regex", "pattern", "icontains", "contains-all",
                        "contains_all", "starts_with", "starts-with", "is-json", "is_json", "jsonSchema", "json_schema",
                        "schema", "javascript", "python", "similar",
                    ],
                    "help": "use `verify` with a command that checks it",
                },
                {
                    "names": ["run"],
                    "help": "use `ran` if the model must run the command, or `verify` to run it after the task",
                },
                {
                    "names": [
                        "llm-rubric", "llm_rubric", "llm_judge", "judge", "rubric", "g-eval", "factuality",
                        "answer-relevance", "model-graded-closedqa",
                    ],
                    "note": "cli-bench asks no model to judge a result",
                    "help": "use `verify` with a command that checks it",
                },
                {
                    "names": ["latency", "duration", "max_duration", "time", "timeout", "max_latency"],
                    "note": "no assertion is about the duration",
                    "help": "set `timeout` of the task, after which the attempt ends",
                },
                {
                    "names": ["cost", "max_cost", "maxCost", "tokens", "max_tokens", "turns", "max_turns"],
                    "note": "no assertion is about costs or tokens",
                    "help": "limit the model's replies with `max_turns` of the task",
                },
            ],
        ))]
        pub struct Assertion {
            $(
                pub $name: Option<$type>,
            )+
        }

        impl Assertion {
            /// Names of all assertions.
            pub const NAMES: &[&str] = &[$(stringify!($name),)+];

            /// Returns the claim, or all claims if there are several by mistake.
            pub fn claims(&self, after: &After) -> Vec<Arc<dyn Check>> {
                let mut claims: Vec<Arc<dyn Check>> = Vec::new();
                $(if let Some(assertion) = self.$name.clone() {
                    claims.push(Arc::new(Claim { assertion, after: after.clone() }));
                })+
                claims
            }
        }
    };
}

assertions! {
    exit_code: ExitCode,
    output_contains: OutputContains,
    output_equals: OutputEquals,
    error_contains: ErrorContains,
    file_exists: FileExists,
    file_contains: FileContains,
    ran: Ran,
    not_ran: NotRan,
    run_count: RunCount,
    verify: Verify,
}

#[cfg(test)]
mod tests;

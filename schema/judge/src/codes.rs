//! Enumerations whose variants are words in reports.

/// Declares such an enumeration: the word of each variant, and its meaning, which is also its doc comment.
#[macro_export]
macro_rules! codes {
    (
        $(#[$attribute:meta])* pub enum $codes:ident;
        $($(#[doc = $doc:literal])+ $variant:ident = $name:literal;)+
    ) => {
        $(#[$attribute])*
        pub enum $codes {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl $codes {
            /// All variants, in the order of the reference.
            pub const ALL: &'static [$codes] = &[$($codes::$variant,)+];

            /// Returns the word in reports.
            pub fn as_str(self) -> &'static str {
                match self { $($codes::$variant => $name,)+ }
            }

            /// Returns the meaning and the remedy, as Markdown in one line.
            pub fn docs(self) -> &'static str {
                match self { $($codes::$variant => concat!($($doc,)+),)+ }
            }
        }
    };
}

use serde::{Deserialize, Serialize};

crate::codes! {
    /// Status of a verdict, an attempt, a test or a suite, from best to worst.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum Status;

    /// The test or the assertion did not run: it is skipped, or does not apply.
    Skip = "skip";
    /// Every assertion holds.
    Pass = "pass";
    /// An assertion does not hold, and the format makes that a warning.
    Warn = "warn";
    /// The result cannot be decided, because what the assertion needs was not recorded. The message has the reason. It
    /// is neither a pass nor a failure; `speclens run` ends with exit status 3.
    Unknown = "unknown";
    /// An assertion does not hold.
    Fail = "fail";
    /// The run or an assertion ended with an error, so there is no result.
    Error = "error";
}

crate::codes! {
    /// The reason why an expectation of KindLM does not hold. The word is KindLM's own, and appears in reports.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum FailureCode;

    /// No call to the tool that `toolCalls` expects.
    ToolCallMissing = "TOOL_CALL_MISSING";
    /// A call to a tool that `shouldNotCall: true` forbids.
    ToolCallUnexpected = "TOOL_CALL_UNEXPECTED";
    /// The tool was called, but no call has the arguments in `argsMatch`. The report shows the closest call.
    ToolCallArgsMismatch = "TOOL_CALL_ARGS_MISMATCH";
    /// The arguments of a call do not match the JSON Schema of `argsSchema`, or the schema cannot be used.
    ToolCallArgsSchemaInvalid = "TOOL_CALL_ARGS_SCHEMA_INVALID";
    /// The call at the position given by `order` is not to the expected tool, or there is no such call; with
    /// `toolCallsOrdered`, the tool is not called after those that are listed before it.
    ToolCallOrderWrong = "TOOL_CALL_ORDER_WRONG";
    /// The output is not JSON, although `format: json` expects it.
    SchemaParseError = "SCHEMA_PARSE_ERROR";
    /// The output does not match the JSON Schema of `schemaFile`, or the schema cannot be used.
    SchemaInvalid = "SCHEMA_INVALID";
    /// The output does not contain a string listed in `contains`.
    ContainsFailed = "CONTAINS_FAILED";
    /// The output contains a string listed in `notContains`.
    NotContainsFailed = "NOT_CONTAINS_FAILED";
    /// The output is longer than `maxLength`.
    MaxLengthExceeded = "MAX_LENGTH_EXCEEDED";
    /// A pattern of `guardrails.pii` matches the output: it contains personal data.
    PiiDetected = "PII_DETECTED";
    /// A pattern of `guardrails.pii` is not a valid regular expression.
    InvalidPattern = "INVALID_PATTERN";
    /// The output contains none of the phrases in `guardrails.keywords.allow`.
    KeywordMissing = "KEYWORD_MISSING";
    /// The output contains a phrase listed in `guardrails.keywords.deny`.
    KeywordDenied = "KEYWORD_DENIED";
    /// The judge's score is below `minScore`.
    JudgeBelowThreshold = "JUDGE_BELOW_THRESHOLD";
    /// The attempt took longer than `latency.maxMs`.
    ProviderTimeout = "PROVIDER_TIMEOUT";
    /// The attempt cost more than `cost.maxUsd`.
    BudgetExceeded = "BUDGET_EXCEEDED";
    /// The output differs more from the baseline than `baseline.drift.maxScore` allows.
    DriftExceeded = "DRIFT_EXCEEDED";
    /// The model still called tools after `maxTurns` replies.
    InternalError = "INTERNAL_ERROR";
    /// The cost of the attempt is unknown, so `cost.maxUsd` cannot hold: the test runs a command, or the price of the
    /// model is not known.
    CostUnknown = "COST_UNKNOWN";
    /// The share of the tool calls that are in `trajectory.reference` is below `precision.minScore`.
    TrajectoryPrecisionLow = "TRAJECTORY_PRECISION_LOW";
    /// The share of `trajectory.reference` that was called is below `recall.minScore`.
    TrajectoryRecallLow = "TRAJECTORY_RECALL_LOW";
    /// The tool calls are not exactly those of `trajectory.reference`.
    TrajectoryExactMismatch = "TRAJECTORY_EXACT_MISMATCH";
}

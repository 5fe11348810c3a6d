//! Template variables (`{{name}}`) in contracts, and where they have a value.

use crate::template::{KnownValue, MissingValue, TemplateSyntax, Variable};

const ALL: &[&str] = &["clawspec-scenarios", "clawspec-handoff", "clawspec-pipeline"];
const HANDOFF: &[&str] = &["clawspec-handoff"];

/// Variable for the run of the callee, which only the gateway log contains.
pub const CALLEE_RUN_ID: &str = "callee_run_id";

pub const VARIABLES: &[Variable] = &[
    Variable { name: "today", docs: "The date in UTC, such as `2026-05-14`.", files: ALL },
    Variable { name: "now", docs: "The current time in UTC, such as `2026-05-14T12:00:00Z`.", files: ALL },
    Variable { name: "repo_root", docs: "The root of the workspace, as an absolute path.", files: ALL },
    Variable { name: "qa_inbox", docs: "The address of the test inbox.", files: ALL },
    Variable {
        name: "run_id",
        docs: "The id of the run. In `then`, it is the id that was returned when the target was started.",
        files: ALL,
    },
    Variable {
        name: "run_started_at",
        docs: "The time when the run began, in UTC, such as `2026-05-14T12:00:00Z`.",
        files: ALL,
    },
    Variable { name: "handoff.from", docs: "The agent that delegates.", files: HANDOFF },
    Variable { name: "handoff.to", docs: "The agent that takes over.", files: HANDOFF },
    Variable {
        name: CALLEE_RUN_ID,
        docs: "The id of the run of the agent that takes over, according to the gateway log. It has a value only as \
               the entire value of `run_id`.",
        files: HANDOFF,
    },
];

pub const SYNTAX: TemplateSyntax = TemplateSyntax {
    word: "clawspec",
    texts: "ClawSpec contracts",
    docs: "Spaces around a name are ignored. If a name has no value, the scenario ends with an error.",
    allows_blanks: true,
    variables: VARIABLES,
    known_values: &[
        ("today", KnownValue::Date),
        ("now", KnownValue::Time),
        ("repo_root", KnownValue::Root),
        ("qa_inbox", KnownValue::Text(QA_INBOX)),
    ],
    missing_value: Some(MissingValue {
        note: "ClawSpec rejects the file",
        elsewhere: Some(("handoff contracts", "ClawSpec aborts with an error")),
    }),
};

pub const QA_INBOX: &str = "lumina.qa@agentmail.to";

pub fn variable(name: &str) -> Option<&'static Variable> {
    VARIABLES.iter().find(|variable| variable.name == name)
}

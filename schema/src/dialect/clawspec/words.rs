//! Types of strings in contracts: paths, addresses, times, names.

use serde::{Deserialize, Deserializer, de::Error};
use serde_json::{Value, json};

use crate::{gateway::config::of_address, words::words};

words! {
    /// A string of a ClawSpec assertion that must not be empty, in which `{{name}}` is replaced by a value of the run.
    RunText = { "type": "string", "minLength": 1, "x-template": "clawspec" };
    /// Path of a file in a ClawSpec assertion. `*`, `?` and `[…]` are wildcards, and `**` is equivalent to `*`.
    Artifact = {
        "type": "string", "minLength": 1, "x-file": "any", "x-glob": true, "x-template": "clawspec",
        "x-problems": of_file(),
    };
    /// Path of a single file in a ClawSpec assertion, without wildcards.
    OneFile = {
        "type": "string", "minLength": 1, "x-file": "any", "x-template": "clawspec",
        "x-problems": of_any(),
    };
    /// An address in a ClawSpec assertion.
    WebAddress = {
        "type": "string", "minLength": 1, "x-template": "clawspec",
        "x-problems": and(of_address(), not_text(
            "expected a URL for `endpoint`", "write the full URL, such as `http://127.0.0.1:18789/health`",
        )),
    };
    /// A time in a ClawSpec assertion.
    Moment = {
        "type": "string", "x-template": "clawspec", "x-time": true, "examples": ["{{run_started_at}}"],
        "x-problems": [
            {
                "if": { "enum": [null, ""] }, "code": "unchecked", "underline": "key", "instead": true,
                "message": "`updated_after` has no value, so a file of any age passes",
                "help": "write a time, such as `\"{{run_started_at}}\"`, or remove the key",
            },
            not_text("expected a time for `updated_after`", "write a time, such as `\"{{run_started_at}}\"`"),
        ],
    };
    VariableName = { "type": "string", "minLength": 1, "x-problems": [{
        "if": { "pattern": r"[\s$={}]" }, "code": "contradiction",
        "message": "`{value}` is not a valid environment variable name",
        "help": "write the name alone, without `$` and without a value",
    }] };
    /// The exact name of a tool whose call a trace contains, which must not be empty.
    CalledTool = { "type": "string", "minLength": 1, "x-shares": "tools", "x-seen": "tools", "x-problems": [{
        "if": { "pattern": r"(?i)^\S+\.(md|ya?ml|jsonl?|txt|html?|csv|pdf|log|xml|toml)$" }, "code": "contradiction",
        "message": "`{value}` looks like a file, but `tool_sequence` expects tools",
        "help": "name the tool that reads or writes it, or check the file with `artifact_exists`",
    }] };
    /// Path of a single file that a router writes, without wildcards.
    RouterFile = {
        "type": "string", "minLength": 1, "x-file": "any", "x-template": "clawspec",
        "x-problems": of_router(),
    };
    /// A heading, without its marks.
    Heading = { "type": "string", "minLength": 1, "x-problems": [{
        "if": { "pattern": "^#" }, "code": "contradiction", "message": "expected a heading without `#`, found `{value}`",
        "note": "ClawSpec searches for `# {value}` or `{value}:`", "fix": { "strip": r"^#+\s*|\s+$" },
    }] };
    KeyOfFile = { "type": "string", "minLength": 1, "x-problems": [{
        "if": { "pattern": r"[\[*]|^\$" }, "code": "contradiction",
        "message": "`{value}` is never found, because lists have no keys", "help": "name the keys of mappings, as in `a.b`",
    }] };
    /// A regular expression as Python reads it.
    PythonPattern = { "type": "string", "minLength": 1, "x-pattern": "python", "x-template": "clawspec" };
}

/// Returns the problems of a path that is not one, for a file or a directory.
pub(crate) fn of_any() -> Value {
    json!([
        {
            "if": { "pattern": r"^(~/|\$)" }, "code": "contradiction",
            "message": "`~` and shell variables are not expanded in paths",
            "help": "write the path relative to the root of the workspace",
        },
        {
            "if": { "pattern": "://" }, "code": "contradiction", "message": "expected a path, found a URL",
            "help": "use `gateway_response` to check a URL",
        },
        {
            "if": { "pattern": r"\\" }, "code": "contradiction", "message": r"`\` does not separate directories",
            "help": "write `/`",
        },
        {
            "if": { "pattern": r"\*\*" }, "code": "contradiction",
            "message": "`**` does not match nested directories here", "help": "write one `*` per directory level",
        },
        {
            "if": { "pattern": r"\{[^{}]*,[^{}]*\}" }, "code": "contradiction",
            "message": "braces are not expanded in paths", "help": "write one assertion per file",
        },
        {
            "if": { "pattern": r"\[[\p{Alphabetic} ]{3,}\]", "not": { "pattern": CLASS } }, "code": "contradiction",
            "message": "brackets match only one character in a path", "help": "write `[[]` for an opening bracket",
        },
    ])
}

/// Letters in order, which are meant as a class: `[abc]`, but not `[date]`.
const CLASS: &str = r"\[a?b?c?d?e?f?g?h?i?j?k?l?m?n?o?p?q?r?s?t?u?v?w?x?y?z?\]";

pub(crate) fn of_file() -> Value {
    and(
        of_any(),
        json!({
            "if": { "pattern": "/$" }, "code": "contradiction", "help": "name the file",
            "message": "`{value}` is a directory, but a file is expected",
        }),
    )
}

/// Returns the problems of the path of a router's file, in which wildcards are not expanded.
pub(crate) fn of_router() -> Value {
    and(
        of_file(),
        json!({
            "if": { "pattern": r"[*?\[]" }, "code": "contradiction", "help": "name one file",
            "message": "wildcards in `{value}` are not expanded, so the file is never found",
        }),
    )
}

/// Returns the problem of a number or a boolean that would be invalid even in quotes.
fn not_text(expected: &str, help: &str) -> Value {
    json!({
        "if": { "anyOf": [{ "type": "number" }, { "enum": [true, false] }] }, "code": "wrong-type", "instead": true,
        "message": format!("{expected}, found {{found}}"), "help": help,
    })
}

/// Returns the problem of something that is not in ClawSpec's schema.
pub(crate) fn not_in_schema(name: &str, underline: &str) -> Value {
    json!([{
        "if": true, "code": "upstream-differs", "underline": underline, "name": name,
        "message": "ClawSpec 0.1.0 rejects this file: its schema does not allow",
        "note": "the schema is stricter than ClawSpec's documentation and code",
    }])
}

fn and(mut problems: Value, problem: Value) -> Value {
    problems.as_array_mut().into_iter().for_each(|problems| problems.push(problem.clone()));
    problems
}

/// Reads a number that may be in quotes, like Python's `float`.
pub(crate) fn lenient_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
    number.ok_or_else(|| D::Error::custom("expected a number"))
}

/// Reads a count that may be in quotes, like Python's `int`.
pub(crate) fn lenient_count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let number = value.as_u64().or_else(|| value.as_str()?.trim().parse().ok());
    number.map(Some).ok_or_else(|| D::Error::custom("expected an integer"))
}

pub(crate) fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

//! Resolves the paths in contracts.

use serde_json::{Value, json};

use super::{config::Config, lower::settings};
use crate::{
    dialect::ScalarRules,
    document::Document,
    files::{Files, without_dots},
    template::trimmed_placeholders,
};

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

/// Returns the problems of a path that is not that of a file.
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

fn and(mut problems: Value, problem: Value) -> Value {
    problems.as_array_mut().into_iter().for_each(|problems| problems.push(problem.clone()));
    problems
}

/// Returns the problems of an address that does not begin with `http://` or `https://`. A path is relative to the gateway.
pub(crate) fn of_address() -> Value {
    let problem = |condition: Value, fix: Option<String>| {
        let help = match &fix {
            Some(whole) => format!("write `{whole}`"),
            None => "begin it with `http://` or `https://`".to_owned(),
        };
        json!({
            "if": condition, "code": "invalid-value", "severity": "warning", "unless-wrong": true,
            "message": "`{value}` is not a valid URL", "help": help, "fix": fix.map(|whole| json!({ "write": whole })),
        })
    };
    let gateway = format!("{}{{value}}", Config::GATEWAY);
    json!([
        problem(json!({ "pattern": "^/" , "not": { "pattern": "://" } }), Some(gateway)),
        problem(
            json!({ "pattern": "^[^/{]|^\\{[^{]", "not": { "pattern": "://" } }),
            Some("http://{value}".to_owned())
        ),
        problem(json!({ "pattern": "://", "not": { "pattern": r"^(https?://|\{\{)" } }), None),
    ])
}

/// Returns a path relative to the root. `None` if it has templates or wildcards, or is outside of the root.
pub(crate) fn below_root(path: &str) -> Option<String> {
    // The path may begin with the root.
    let path = path.strip_prefix("{{repo_root}}/").unwrap_or(path);
    if !trimmed_placeholders(path).is_empty()
        || path.contains(['*', '?', '[', '{'])
        || path.starts_with(['/', '~', '\\'])
    {
        return None;
    }
    without_dots(path)
}

/// Reads another file. `None` if it cannot be read, or is not UTF-8.
pub(crate) fn document_at(path: &str, files: &dyn Files) -> Option<Document> {
    let bytes = files.read(path).ok()?;
    Some(Document::read(std::str::from_utf8(&bytes).ok()?, ScalarRules::Yaml11))
}

/// Whether the root is known: an unsaved document has no location.
pub(crate) fn is_placed(files: &dyn Files) -> bool {
    !files.place().is_empty()
}

/// Returns the patterns of scenario contracts: from the environment, or else from the settings, or else ClawSpec's
/// defaults.
pub(crate) fn scenario_patterns(files: &dyn Files) -> Vec<String> {
    settings(files).scenario_patterns(files.scenario_patterns())
}

//! The settings of a workspace, and paths relative to its root.

use super::config::Config;
use crate::{
    document::{Document, ScalarRules},
    files::{Files, without_dots},
    lenient::{lenient, value_of},
    template::trimmed_placeholders,
};

/// Returns the settings of the workspace; the defaults if there are none, or if they cannot be read.
pub fn settings(files: &dyn Files) -> Config {
    let Some(document) = document_at(Config::FILE, files) else { return Config::default() };
    let value = document.root().and_then(value_of).unwrap_or_default();
    lenient(&value).unwrap_or_default()
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

/// Returns a path in a ledger or a pipeline, relative to the root of the workspace.
pub(crate) fn joined(base: &str, path: &str) -> Option<String> {
    below_root(&if base.is_empty() { path.to_owned() } else { format!("{base}/{path}") })
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

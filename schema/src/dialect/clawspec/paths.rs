//! Paths that contracts name, and whether they lead anywhere.

use super::lower::settings;
use crate::{
    files::{Files, without_dots},
    template::trimmed_placeholders,
};

/// Returns a path from the root. `None` where it holds templates or wildcards, or leads elsewhere.
pub(crate) fn below_root(path: &str) -> Option<String> {
    // The root may be named.
    let path = path.strip_prefix("{{repo_root}}/").unwrap_or(path);
    if !trimmed_placeholders(path).is_empty()
        || path.contains(['*', '?', '[', '{'])
        || path.starts_with(['/', '~', '\\'])
    {
        return None;
    }
    without_dots(path)
}

/// Whether the root is known: an unsaved document has no place.
pub(crate) fn is_placed(files: &dyn Files) -> bool {
    !files.place().is_empty()
}

/// Returns the patterns by which ClawSpec finds contracts: those of the environment, else of the settings, else its
/// own.
pub(crate) fn scenario_patterns(files: &dyn Files) -> Vec<String> {
    settings(files).scenario_patterns(files.scenario_patterns())
}

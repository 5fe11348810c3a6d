//! Matches paths as Python's `glob.glob` does without recursion.

use std::{fs, path::Path};

use speclens_schema::files::python_name_matches;

const MAX_ENTRIES: usize = 100_000;

/// Maximum length of a pattern in bytes: no system has longer paths.
const MAX_PATTERN_BYTES: usize = 16 * 1024;

#[derive(Debug, Default)]
pub(crate) struct Matches {
    pub paths: Vec<String>,
    pub cut: bool,
}

/// Searches a directory for the matches of a pattern. Links that lead nowhere are not found, and neither are names that
/// are not UTF-8.
pub(crate) fn glob(directory: &Path, pattern: &str) -> Matches {
    let mut search = Search { directory, seen: 0, cut: false };
    let mut paths = if pattern.len() > MAX_PATTERN_BYTES { Vec::new() } else { search.matches(pattern) };
    paths.sort_unstable();
    paths.dedup();
    Matches { paths, cut: search.cut }
}

pub(super) fn has_wildcards(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

struct Search<'d> {
    directory: &'d Path,
    seen: usize,
    cut: bool,
}

impl Search<'_> {
    fn matches(&mut self, pattern: &str) -> Vec<String> {
        let (parent, name) = split(pattern);
        if !has_wildcards(pattern) {
            return self.existing(parent, name).into_iter().collect();
        }
        let parents = if has_wildcards(parent) { self.matches(parent) } else { vec![parent.to_owned()] };
        let mut found = Vec::new();
        for parent in parents {
            if has_wildcards(name) {
                found.extend(self.names_in(&parent, name).iter().map(|name| joined(&parent, name)));
            } else {
                found.extend(self.existing(&parent, name));
            }
        }
        found
    }

    /// Returns the path of a name in a directory, if it exists; without a name, that of the directory.
    fn existing(&self, parent: &str, name: &str) -> Option<String> {
        let path = joined(parent, name);
        if path.is_empty() {
            return None;
        }
        let metadata = fs::metadata(self.directory.join(&path)).ok()?;
        (!name.is_empty() || metadata.is_dir()).then_some(path)
    }

    fn names_in(&mut self, parent: &str, pattern: &str) -> Vec<String> {
        let place = self.directory.join(parent);
        let mut found = Vec::new();
        for entry in fs::read_dir(&place).into_iter().flatten().flatten() {
            self.seen += 1;
            if self.seen > MAX_ENTRIES {
                self.cut = true;
                break;
            }
            let Ok(name) = entry.file_name().into_string() else { continue };
            if python_name_matches(pattern, &name) && place.join(&name).exists() {
                found.push(name);
            }
        }
        found
    }
}

fn split(path: &str) -> (&str, &str) {
    let Some(slash) = path.rfind('/') else { return ("", path) };
    let (parent, name) = path.split_at(slash + 1);
    let trimmed = parent.trim_end_matches('/');
    (if trimmed.is_empty() { parent } else { trimmed }, name)
}

fn joined(parent: &str, name: &str) -> String {
    if parent.is_empty() || parent.ends_with('/') { format!("{parent}{name}") } else { format!("{parent}/{name}") }
}

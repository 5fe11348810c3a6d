//! The patterns by which the author of a ClawSpec workspace names its scenario contracts.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError},
};

use speclens_runner::files::{self, DiskFiles, slashed};
use speclens_schema::{
    dialect::clawspec::{config::Config, lower},
    files::{Files as _, matches},
};

use super::Scopes;
use crate::read::walk_unignored;

/// The patterns by which the author of a ClawSpec workspace names its scenario contracts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Patterns {
    /// The directory that they are relative to.
    pub root: PathBuf,
    /// The file or variable that contains them.
    pub source: &'static str,
    patterns: Vec<String>,
}

impl Patterns {
    /// Whether one of them matches a file.
    pub(crate) fn name(&self, path: &Path) -> bool {
        let place = path.strip_prefix(&self.root).map(slashed);
        place.is_ok_and(|place| self.patterns.iter().any(|pattern| matches(pattern, &place)))
    }

    /// Returns the files below a directory that they match, including those that version control ignores: generated
    /// contracts are found by a pattern.
    pub(crate) fn files_below(&self, directory: &Path) -> Vec<PathBuf> {
        let mut found = BTreeSet::new();
        for pattern in &self.patterns {
            let steps: Vec<&str> = pattern.split('/').filter(|step| !step.is_empty() && *step != ".").collect();
            if pattern.starts_with('/') || steps.contains(&"..") {
                continue;
            }
            let is_plain = |step: &&&str| !step.contains(['*', '?', '[']);
            let beginning = self.root.join(steps.iter().take_while(is_plain).collect::<PathBuf>());
            let start = match (directory.starts_with(&beginning), beginning.starts_with(directory)) {
                (true, _) => directory,
                (false, true) => &beginning,
                (false, false) => continue,
            };
            let has_hidden = steps.iter().any(|step| step.starts_with('.'));
            let entries = walk_unignored(start, has_hidden).build().flatten();
            let files = entries.filter(|entry| entry.file_type().is_some_and(|kind| !kind.is_dir()));
            found.extend(files.map(ignore::DirEntry::into_path).filter(|path| self.name(path)));
        }
        found.into_iter().collect()
    }
}

impl Scopes {
    /// Returns the patterns that name the scenario contracts of a file's workspace: those of the
    /// environment, else of its settings. `None` if neither has any.
    pub(crate) fn patterns_of(&self, path: &Path) -> Option<Arc<Patterns>> {
        let directory = path.parent()?;
        if let Some(known) = self.patterns.lock().unwrap_or_else(PoisonError::into_inner).get(directory) {
            return known.clone();
        }
        let generation = self.generation();
        let found = self.read_patterns(path).map(Arc::new);
        let mut patterns = self.patterns.lock().unwrap_or_else(PoisonError::into_inner);
        // The result may be outdated if files changed while it was read.
        if self.generation() == generation {
            patterns.insert(directory.to_owned(), found.clone());
        }
        found
    }

    fn read_patterns(&self, path: &Path) -> Option<Patterns> {
        let settings = self.settings_above(path);
        let root = settings.clone().unwrap_or_else(|| self.workspace_root(path, ""));
        let files = DiskFiles::new(&root, Config::FILE).over(Arc::clone(&self.buffers) as Arc<dyn files::Buffers>);
        if let Some(patterns) = files.scenario_patterns() {
            return Some(Patterns { root, source: Config::PATTERNS_VARIABLE, patterns });
        }
        let patterns = settings.and_then(|_| lower::settings(&files).scenario_patterns)?;
        Some(Patterns { root, source: "scenario_patterns", patterns })
    }
}

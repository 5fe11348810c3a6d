//! The patterns by which the author of a ClawSpec workspace names its scenario contracts.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError},
};

use speclens_runner::files::{self, DiskFiles, lexical, slashed};
use speclens_schema::{
    files::{Files as _, matches},
    gateway::config::Config,
    gateway::workspace,
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

/// Files that the settings of a workspace name.
#[derive(Debug, Default)]
pub(super) struct NamedFiles {
    patterns: Option<Arc<Patterns>>,
    /// The coverage ledger.
    ledger: Option<PathBuf>,
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
        self.named_around(path)?.patterns.clone()
    }

    /// Whether the settings of its workspace name a file as the coverage ledger.
    pub(super) fn is_ledger_of_settings(&self, path: &Path) -> bool {
        self.named_around(path).is_some_and(|named| named.ledger.as_deref() == Some(path))
    }

    /// Returns the files that the settings of a file's workspace name.
    fn named_around(&self, path: &Path) -> Option<Arc<NamedFiles>> {
        let directory = path.parent()?;
        if let Some(known) = self.named.lock().unwrap_or_else(PoisonError::into_inner).get(directory) {
            return Some(Arc::clone(known));
        }
        let generation = self.generation();
        let found = Arc::new(self.read_named(path));
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        // The result may be outdated if files changed while it was read.
        if self.generation() == generation {
            named.insert(directory.to_owned(), Arc::clone(&found));
        }
        Some(found)
    }

    fn read_named(&self, path: &Path) -> NamedFiles {
        let settings = self.settings_above(path);
        let root = settings.clone().unwrap_or_else(|| self.workspace_root(path, ""));
        let files = DiskFiles::new(&root, Config::FILE).over(Arc::clone(&self.buffers) as Arc<dyn files::Buffers>);
        let config = settings.map(|_| workspace::settings(&files)).unwrap_or_default();
        let ledger = config.ledger_path.map(|ledger| lexical(&root.join(&ledger.0)));
        let of_environment = files.scenario_patterns().map(|patterns| (Config::PATTERNS_VARIABLE, patterns));
        let named = of_environment.or_else(|| Some(("scenario_patterns", config.scenario_patterns?)));
        let patterns = named.map(|(source, patterns)| Arc::new(Patterns { root, source, patterns }));
        NamedFiles { patterns, ledger }
    }
}

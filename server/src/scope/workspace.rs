//! The ClawSpec workspace of a file: its root, and the evidence that it exists.

use std::path::{Component, Path, PathBuf};

use speclens_runner::files::{Buffers as _, lexical, slashed};
use speclens_schema::{
    gateway::config::Config,
    kind::{self, Workspace},
};

use super::Scopes;
use crate::read::beginning;

impl Scopes {
    /// Returns the signs of ClawSpec in the directories around a file.
    pub(super) fn workspace_around(&self, path: &Path, from_root: &str) -> Workspace {
        let target = target_around(path, from_root);
        let folder = self.folder_of(path);
        let is_within = |target: &&Path| folder.as_ref().is_none_or(|folder| target.starts_with(folder));
        let holds = |target: &Path| ["SKILL.md", "SOUL.md"].iter().any(|name| target.join(name).is_file());
        match (self.settings_above(path).is_some(), target.filter(is_within).is_some_and(holds)) {
            (true, true) => Workspace::Target,
            (true, false) => Workspace::Settings,
            (false, true) => Workspace::BesideSkill,
            (false, false) => Workspace::Unknown,
        }
    }

    /// Returns the directory above a file that contains the settings of its workspace.
    pub(super) fn settings_above(&self, path: &Path) -> Option<PathBuf> {
        self.above(path).into_iter().find(|directory| {
            let file = directory.join(Config::FILE);
            file.is_file() || self.buffers.text(&file).is_some()
        })
    }

    /// Returns the root of the ClawSpec workspace of a contract: the directory of its settings; else the folder, the
    /// repository, or the parent of the targets; else the working directory. Each of these except the first may be only
    /// a part of the workspace, which the path of the target shows.
    pub(super) fn workspace_root(&self, path: &Path, text: &str) -> PathBuf {
        if let Some(root) = self.settings_above(path) {
            return root;
        }
        let directory = path.parent().unwrap_or(Path::new("/"));
        let root = self
            .folder_of(path)
            .or_else(|| directory.ancestors().find(|ancestor| ancestor.join(".git").exists()).map(Path::to_owned))
            .or_else(|| above_targets(directory))
            .or_else(|| working_directory_above(directory))
            .unwrap_or_else(|| directory.to_owned());
        let larger = self.above_target(path, text).filter(|above| root.starts_with(above));
        larger.unwrap_or(root)
    }

    /// Returns the directory that the path of a contract's target is relative to, if the contract is in that target.
    /// For a contract that names no target, the scenarios next to it decide.
    fn above_target(&self, path: &Path, text: &str) -> Option<PathBuf> {
        let target = target_around(path, &slashed(path))?;
        let beside = || {
            let scenarios = target.join("tests/scenarios.yaml");
            kind::named_target(&self.buffers.text(&scenarios).or_else(|| beginning(&scenarios))?)
        };
        let named = lexical(Path::new(&kind::named_target(text).or_else(beside)?));
        let steps = named.components().count();
        let is_within = steps > 0 && named.components().all(|step| matches!(step, Component::Normal(_)));
        (is_within && target.ends_with(&named)).then(|| target.ancestors().nth(steps).map(Path::to_owned)).flatten()
    }
}

/// Returns the directory of the target that contains a contract. `from_root` is its path, separated by `/`.
fn target_around<'p>(path: &'p Path, from_root: &str) -> Option<&'p Path> {
    let names = |path: &str| path.split('/').count();
    kind::target_of(from_root).and_then(|target| path.ancestors().nth(names(from_root) - names(target)))
}

/// Returns the parent of `skills/` or `agents/` above a file: the outermost within the working
/// directory, elsewhere the innermost, because the extent of the workspace is unknown.
fn above_targets(directory: &Path) -> Option<PathBuf> {
    let holds_targets = |directory: &&Path| {
        directory.file_name().is_some_and(|name| ["skills", "agents"].iter().any(|known| name == *known))
    };
    let found = match working_directory_above(directory) {
        Some(here) => directory.ancestors().take_while(|above| *above != here).filter(holds_targets).last(),
        None => directory.ancestors().find(holds_targets),
    };
    found?.parent().map(Path::to_owned)
}

/// Returns the working directory if it contains the given directory. The root of the file system does not count.
fn working_directory_above(directory: &Path) -> Option<PathBuf> {
    let here = std::env::current_dir().and_then(std::fs::canonicalize).ok()?;
    (here.parent().is_some() && directory.starts_with(&here)).then_some(here)
}

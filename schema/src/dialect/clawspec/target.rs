//! The directory that a contract names as its target.

use super::paths::{below_root, is_placed};
use crate::{
    files::{FileKind, Files},
    kind::target_of,
    problem::Fix,
    shape::scalar,
    spot::Spot,
};

/// What a contract names as its target.
pub(crate) enum Target<'d> {
    /// A path that is not relative to the root, with the directory that the contract tests by its place.
    Outside(Spot<'d>, Option<String>),
    /// A directory below the root.
    Below(Directory<'d>),
}

/// A directory that is named as a target.
pub(crate) struct Directory<'d> {
    /// The path, where it is written.
    pub(crate) path: Spot<'d>,
    /// The key that holds it.
    pub(crate) key: &'static str,
    /// The directory, from the root.
    pub(crate) wanted: String,
    /// The file that defines the target.
    pub(crate) definition: &'static str,
    /// The directory that the contract tests by its place, where it has to be the same and is not.
    pub(crate) elsewhere: Option<String>,
}

/// What is at the path of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// A directory with its definition.
    Target,
    /// A directory without it.
    Undefined,
    /// No directory.
    NoDirectory,
    /// Nothing.
    Nothing,
}

impl<'d> Target<'d> {
    /// Returns the target of a scenario contract.
    pub(crate) fn of_scenarios(root: &Spot<'d>, files: &dyn Files) -> Option<Target<'d>> {
        let target = root.get("target")?;
        let (path, kind) = (target.get("path")?, target.get("type").and_then(|kind| kind.text()));
        let text = path.text().filter(|text| !text.is_empty() && is_placed(files))?;
        let here = target_of(files.place());
        let outside = |path| Some(Target::Outside(path, here.map(str::to_owned)));
        let Some(wanted) = below_root(text) else {
            return if text.starts_with(['/', '~', '.']) { outside(path) } else { None };
        };
        if text.starts_with("./") || text.contains("../") {
            return outside(path);
        }
        // Without settings that say so, the root may be another one than the author's: what ends in the same way is right.
        // No root is `skills` or `agents` itself.
        let is_root = |rest: &str| !["skills/", "agents/"].iter().any(|name| rest.ends_with(name));
        let is_here = |here: &&str| {
            here.strip_suffix(&wanted).is_some_and(|rest| rest.is_empty() || rest.ends_with('/') && is_root(rest))
        };
        let wanted = here.filter(is_here).map_or_else(|| wanted.clone(), str::to_owned);
        let definition = if kind == Some("agent") { "SOUL.md" } else { "SKILL.md" };
        let elsewhere = here.filter(|here| *here != wanted).map(str::to_owned);
        Some(Target::Below(Directory { path, key: "target.path", wanted, definition, elsewhere }))
    }
}

impl<'d> Directory<'d> {
    /// Returns the skill of a pipeline.
    pub(crate) fn of_pipeline(root: &Spot<'d>, files: &dyn Files) -> Option<Directory<'d>> {
        let path = root.find(&["pipeline", "skill_path"]).filter(|_| is_placed(files))?;
        let wanted = path.text().and_then(below_root)?;
        Some(Directory { path, key: "pipeline.skill_path", wanted, definition: "SKILL.md", elsewhere: None })
    }

    /// Returns the path of the definition, from the root.
    pub(crate) fn file(&self) -> String {
        format!("{}/{}", self.wanted, self.definition)
    }

    /// Returns what is there.
    pub(crate) fn found(&self, files: &dyn Files) -> Found {
        match files.kind(&self.wanted) {
            Some(FileKind::Directory) if files.kind(&self.file()).is_none() => Found::Undefined,
            Some(FileKind::Directory) => Found::Target,
            Some(FileKind::File | FileKind::Other) => Found::NoDirectory,
            None => Found::Nothing,
        }
    }
}

/// Whether a directory is that of a skill or an agent.
pub(crate) fn is_defined(directory: &str, files: &dyn Files) -> bool {
    ["SKILL.md", "SOUL.md"].iter().any(|name| files.kind(&format!("{directory}/{name}")) == Some(FileKind::File))
}

/// Returns the fix that names the directory of the contract instead; the best one if a definition is there.
pub(crate) fn change_to(path: &Spot<'_>, key: &str, here: &str, is_defined: bool) -> Option<Fix> {
    let edits = path.replaced(scalar(here))?;
    let title = format!("change `{key}` to `{here}`");
    Some(if is_defined { Fix::guess(title, edits) } else { Fix::suggestion(title, edits) })
}

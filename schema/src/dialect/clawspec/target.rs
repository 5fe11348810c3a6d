//! Target directory of a contract.

use super::paths::{below_root, is_placed};
use crate::{
    files::{FileKind, Files},
    kind::target_of,
    lint_node::LintNode,
    problem::Fix,
    shape::scalar,
};

/// Target of a contract.
pub(crate) enum Target<'d> {
    /// A path outside of the root, and the directory that the location of the contract implies.
    Outside(LintNode<'d>, Option<String>),
    /// A directory below the root.
    Below(Directory<'d>),
}

/// A directory as a target.
pub(crate) struct Directory<'d> {
    /// Path as written.
    pub(crate) path: LintNode<'d>,
    /// Key of the path.
    pub(crate) key: &'static str,
    /// Directory, relative to the root.
    pub(crate) wanted: String,
    /// Name of the file that defines the target.
    pub(crate) definition: &'static str,
    /// Directory that the location of the contract implies, if it must be the same but differs.
    pub(crate) elsewhere: Option<String>,
}

/// Result of looking up the path of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetLookup {
    /// A directory with its definition.
    Target,
    /// A directory without its definition.
    Undefined,
    /// Not a directory.
    NoDirectory,
    /// Path that does not exist.
    Nothing,
}

impl<'d> Target<'d> {
    /// Returns the target of a scenario contract.
    pub(crate) fn of_scenarios(root: &LintNode<'d>, files: &dyn Files) -> Option<Target<'d>> {
        let target = root.get("target")?;
        let (path, kind) = (target.get("path")?, target.text_at("type"));
        let text = path.text().filter(|text| !text.is_empty() && is_placed(files))?;
        let here = target_of(files.place());
        let outside = |path| Some(Target::Outside(path, here.map(str::to_owned)));
        let Some(wanted) = below_root(text) else {
            return if text.starts_with(['/', '~', '.']) { outside(path) } else { None };
        };
        if text.starts_with("./") || text.contains("../") {
            return outside(path);
        }
        // Without settings, the root may differ from the author's: a path with the same end is accepted.
        // A root is never `skills` or `agents` itself.
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
    pub(crate) fn of_pipeline(root: &LintNode<'d>, files: &dyn Files) -> Option<Directory<'d>> {
        let path = root.find(&["pipeline", "skill_path"]).filter(|_| is_placed(files))?;
        let wanted = path.text().and_then(below_root)?;
        Some(Directory { path, key: "pipeline.skill_path", wanted, definition: "SKILL.md", elsewhere: None })
    }

    /// Returns the path of the definition, relative to the root.
    pub(crate) fn file(&self) -> String {
        format!("{}/{}", self.wanted, self.definition)
    }

    /// Looks up the directory.
    pub(crate) fn found(&self, files: &dyn Files) -> TargetLookup {
        match files.kind(&self.wanted) {
            Some(FileKind::Directory) if files.kind(&self.file()).is_none() => TargetLookup::Undefined,
            Some(FileKind::Directory) => TargetLookup::Target,
            Some(FileKind::File | FileKind::Other) => TargetLookup::NoDirectory,
            None => TargetLookup::Nothing,
        }
    }
}

/// Whether a directory has the definition of a skill or an agent.
pub(crate) fn is_defined(directory: &str, files: &dyn Files) -> bool {
    ["SKILL.md", "SOUL.md"].iter().any(|name| files.kind(&format!("{directory}/{name}")) == Some(FileKind::File))
}

/// Returns the fix that changes the path to the contract's directory; only a suggestion if that has no definition.
pub(crate) fn change_to(path: &LintNode<'_>, key: &str, here: &str, is_defined: bool) -> Option<Fix> {
    let edits = path.replaced(scalar(here))?;
    let title = format!("change `{key}` to `{here}`");
    Some(if is_defined { Fix::guess(title, edits) } else { Fix::suggestion(title, edits) })
}

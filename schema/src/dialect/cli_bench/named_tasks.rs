//! An item of `tasks` that names files. It is resolved once for all rules.

use std::sync::Arc;

use crate::{
    files::{Files, Resolved},
    lint_node::LintNode,
};

use super::{
    facts::{FileFacts, file_facts},
    task_files::{self, SCHEME, Target},
};

/// An item of `tasks` that names files.
pub(crate) struct NamedTasks<'d, 'f> {
    pub(crate) lint_node: &'f LintNode<'d>,
    /// Path as written.
    pub(crate) path: &'d str,
    /// Path relative to the directory of the main file, or the reason why it is not valid.
    pub(crate) normal: Result<String, &'static str>,
    pub(crate) target: Target,
    /// Reason why its files are not read.
    pub(crate) far: Option<NotRead>,
    pub(crate) files: &'f dyn Files,
}

/// Reason why files are not read.
#[derive(Clone, Debug)]
pub(crate) enum NotRead {
    /// This file cannot be read.
    Unread(String),
    /// The files are outside of the workspace.
    Outside,
}

impl<'d, 'f> NamedTasks<'d, 'f> {
    /// Resolves an item. `None` if it does not name files.
    pub(crate) fn of(lint_node: &'f LintNode<'d>, files: &'f dyn Files) -> Option<NamedTasks<'d, 'f>> {
        let text = lint_node.text()?;
        let target = Target::of(text, files)?;
        let path = text.strip_prefix(SCHEME).unwrap_or(text);
        let normal = task_files::normalize(path, files);
        let far = far(path, &normal, &target, files);
        Some(NamedTasks { lint_node, path, normal, target, far, files })
    }

    /// Returns the facts of the files that are read.
    pub(crate) fn readable(&self) -> impl Iterator<Item = Arc<FileFacts>> {
        let paths: &[String] = match &self.target {
            Target::Files(paths) if self.far.is_none() => paths,
            Target::Files(_)
            | Target::NoMatch { .. }
            | Target::Missing(_)
            | Target::NoFile(_)
            | Target::Outside(_)
            | Target::Nowhere => &[],
        };
        paths.iter().map(|path| file_facts(path, self.files))
    }
}

fn far(path: &str, normal: &Result<String, &'static str>, target: &Target, files: &dyn Files) -> Option<NotRead> {
    let Target::Files(found) = target else { return None };
    if let Some(unread) = found.iter().find(|found| files.named(found) == Resolved::Unread) {
        return Some(NotRead::Unread(unread.clone()));
    }
    let is_far = |found: &String| matches!(files.named(found), Resolved::Found { is_far: true, .. });
    let leads_up = normal.as_ref().is_ok_and(|normal| normal.starts_with("../"));
    (leads_up && !path.starts_with('/') && found.iter().any(is_far)).then_some(NotRead::Outside)
}

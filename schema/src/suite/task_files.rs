//! `file://` entries: the task files that a main file includes.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    document::{Document, NodeRef, ScalarRules},
    files::{FileKind, Files, Resolved, is_absolute},
    format::Dialect,
    suite::CaseFile,
};

pub const SCHEME: &str = "file://";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// These files, relative to the directory of the main file, ordered by path, with symbolic links resolved.
    /// Includes files outside of the workspace, even if they are not read.
    Files(Vec<String>),
    /// A pattern without matches. `cut`: the search was aborted.
    NoMatch {
        /// Whether there were too many directory entries.
        cut: bool,
    },
    /// This path, which does not exist.
    Missing(String),
    /// A directory, or another path that is not a file.
    NoFile(String),
    /// A path that is not supported, for this reason. It is not read.
    Outside(&'static str),
    /// Nothing after the scheme.
    Nowhere,
}

impl Target {
    /// Resolves a text; `None` if it is not a `file://` entry.
    pub fn of(text: &str, files: &dyn Files) -> Option<Target> {
        let path = text.strip_prefix(SCHEME)?;
        if path.is_empty() {
            return Some(Target::Nowhere);
        }
        let path = match normalize(path, files) {
            Ok(path) => path,
            Err(reason) => return Some(Target::Outside(reason)),
        };
        if is_pattern(&path) {
            let found = files.glob_named(&path);
            let real = found.paths.into_iter().filter_map(|path| match files.named(&path) {
                Resolved::Found { kind: FileKind::File, path, .. } => Some(path),
                Resolved::Found { kind: FileKind::Directory | FileKind::Other, .. } | Resolved::Nothing => None,
                Resolved::Unread => Some(path),
            });
            // A broad pattern such as `*.yaml` does not include the main file itself.
            let paths: BTreeSet<String> = real.filter(|path| path != main_file(files)).collect();
            return Some(match paths.is_empty() {
                true => Target::NoMatch { cut: found.cut },
                false => Target::Files(paths.into_iter().collect()),
            });
        }
        Some(match files.named(&path) {
            Resolved::Found { kind: FileKind::File, path, .. } => Target::Files(vec![path]),
            Resolved::Found { kind: FileKind::Directory | FileKind::Other, .. } => Target::NoFile(path),
            Resolved::Nothing => Target::Missing(path),
            Resolved::Unread => Target::Files(vec![path]),
        })
    }

    /// Returns the files, if there are any.
    pub fn files(self) -> Vec<String> {
        match self {
            Target::Files(files) => files,
            Target::NoMatch { .. } | Target::Missing(_) | Target::NoFile(_) | Target::Outside(_) | Target::Nowhere => {
                Vec::new()
            }
        }
    }
}

pub fn is_named(main: &Document, path: &str, files: &dyn Files) -> bool {
    !entries_to(main, path, files).is_empty()
}

pub fn entries_to(main: &Document, path: &str, files: &dyn Files) -> Vec<std::ops::Range<usize>> {
    let tasks = main.root().and_then(|root| root.get("tasks"));
    let leads = |item: &NodeRef<'_>| {
        let entry = item.as_str().and_then(|text| normalize(text.strip_prefix(SCHEME)?, files).ok());
        entry.is_some_and(|entry| match is_pattern(&entry) {
            true => crate::files::matches(&entry, path),
            false => entry == path,
        })
    };
    tasks.into_iter().flat_map(NodeRef::items).filter(leads).map(|item| item.range()).collect()
}

/// Returns the files that a main file includes, without duplicates, in the order of its entries.
pub fn named_by(main: &Document, files: &dyn Files) -> Vec<String> {
    let tasks = main.root().and_then(|root| root.get("tasks"));
    let entries = tasks.into_iter().flat_map(NodeRef::items).filter_map(NodeRef::as_str);
    let mut paths: Vec<String> = Vec::new();
    for path in entries.filter_map(|entry| Target::of(entry, files)).flat_map(Target::files) {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

/// Returns the path of the main file for a document of the suite.
fn main_file(files: &dyn Files) -> &str {
    files.main().unwrap_or_else(|| files.place())
}

/// Whether a path may match several files.
pub fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

/// Returns the path in a text without the scheme, or another spelling of it.
pub(crate) fn path_of(text: &str) -> &str {
    let is_scheme = text.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("file:"));
    let path = if is_scheme { text[5..].trim_start_matches('/').trim_start() } else { text };
    path.trim_start_matches("./")
}

/// Returns a path relative to the directory of the main file, without `.`; it begins with `..` if it is outside.
pub(crate) fn normalize(path: &str, files: &dyn Files) -> Result<String, &'static str> {
    let root = files.root().to_str().unwrap_or_default();
    let below_root = path.strip_prefix(root).filter(|_| !root.is_empty()).and_then(|rest| rest.strip_prefix('/'));
    let path = below_root.unwrap_or(path);
    let absolute = from_root(root, path).filter(|_| below_root.is_none());
    let path = absolute.as_deref().unwrap_or(path);
    if is_absolute(path) {
        return Err("is an absolute path on another operating system");
    }
    let mut steps: Vec<&str> = Vec::new();
    for step in path.split('/') {
        match step {
            "" | "." => {}
            ".." if steps.last().is_none_or(|last| *last == "..") => steps.push(".."),
            ".." => drop(steps.pop()),
            step => steps.push(step),
        }
    }
    Ok(steps.join("/"))
}

/// Returns an absolute path relative to the absolute directory of the main file.
fn from_root(root: &str, path: &str) -> Option<String> {
    let names = |path: &str| -> Vec<String> {
        path.split('/').filter(|name| !name.is_empty() && *name != ".").map(str::to_owned).collect()
    };
    if !root.starts_with('/') || !path.starts_with('/') || path.split('/').any(|name| name == "..") {
        return None;
    }
    let (root, path) = (names(root), names(path));
    let common = root.iter().zip(&path).take_while(|(one, other)| one == other).count();
    let up = root.iter().skip(common).map(|_| "..");
    Some(up.chain(path.iter().skip(common).map(String::as_str)).collect::<Vec<_>>().join("/"))
}

/// Reads a task file. Returns an error if it is not text.
pub fn read(path: &str, files: &dyn Files) -> Result<Arc<CaseFile>, String> {
    let bytes = files.read_named(path)?;
    let text = std::str::from_utf8(&bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    Ok(Arc::new(CaseFile { path: path.to_owned(), document: Document::read(text, rules()) }))
}

pub(crate) fn rules() -> ScalarRules {
    Dialect::CLI_BENCH.scalar_rules()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::MemoryFiles;

    #[test]
    fn entries_lead_to_files_below_the_main_file() {
        let names = ["cli-bench.yaml", "tasks/b.yaml", "tasks/a.yaml", "tasks/deep/c.yaml", "tasks/.hidden.yaml"];
        let files = MemoryFiles::new("/suite", names.map(|name| (name, ""))).at("cli-bench.yaml");
        let target = |text: &str| Target::of(text, &files).unwrap();
        let found = |names: &[&str]| Target::Files(names.iter().map(|name| (*name).to_owned()).collect());
        assert_eq!(target("file://tasks/*.yaml"), found(&["tasks/a.yaml", "tasks/b.yaml"]));
        assert_eq!(target("file://**/*.yaml"), found(&["tasks/a.yaml", "tasks/b.yaml", "tasks/deep/c.yaml"]));
        assert_eq!(target("file://./tasks/../tasks/a.yaml"), found(&["tasks/a.yaml"]));
        assert_eq!(target("file:///suite/tasks/a.yaml"), found(&["tasks/a.yaml"]));
        assert_eq!(target("file://tasks/x.yaml"), Target::Missing("tasks/x.yaml".to_owned()));
        assert_eq!(target("file://tasks"), Target::NoFile("tasks".to_owned()));
        assert_eq!(target("file://tasks/x*"), Target::NoMatch { cut: false });
        assert_eq!(target("file://"), Target::Nowhere);
        assert_eq!(target("file://a/../../x.yaml"), found(&["../x.yaml"]), "told, even if it is not read");
        assert_eq!(target("file:///etc/x.yaml"), found(&["../etc/x.yaml"]));
        assert_eq!(target("file:///etc/x*.yaml"), Target::NoMatch { cut: false });
        assert!(matches!(target("file://C:/x.yaml"), Target::Outside(_)));
        assert_eq!(Target::of("tasks/a.yaml", &files), None);
    }
}

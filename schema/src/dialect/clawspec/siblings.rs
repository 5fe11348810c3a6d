//! Other contracts of the same target.

use std::sync::Arc;

use super::{ledger_contracts::has_negative, paths};
use crate::{
    dialect::ScalarRules,
    document::Document,
    files::{FileKind, Files, matches},
    lint_node::LintNode,
};

/// Maximum number of files to read per directory.
const MAX_FILES: usize = 100;

/// Another contract of the same target.
pub(crate) struct Sibling {
    /// Path of the contract.
    pub(crate) path: String,
    /// Content of the file.
    pub(crate) bytes: Arc<[u8]>,
    /// Content as a document.
    pub(crate) document: Document,
}

/// Finds the contracts of the same target, next to a contract and in the target's directory.
pub(crate) fn of_target(root: &LintNode<'_>, files: &dyn Files) -> Vec<Sibling> {
    if !paths::is_placed(files) {
        return Vec::new();
    }
    let target = root.find(&["target", "path"]);
    let Some(target) = target.as_ref().and_then(LintNode::text).filter(|target| !target.is_empty()) else {
        return Vec::new();
    };
    let patterns = paths::scenario_patterns(files);
    let here = files.place().rsplit_once('/').map_or("", |(directory, _)| directory).to_owned();
    // Each directory is searched once, however the path is written.
    let there = paths::below_root(target).map(|target| format!("{target}/tests"));
    let mut directories = vec![here];
    directories.extend(there.filter(|there| *there != directories[0]));
    let entries = directories.iter().flat_map(|directory| {
        let path = move |name| if directory.is_empty() { name } else { format!("{directory}/{name}") };
        files.list(directory).into_iter().take(MAX_FILES).map(move |(name, kind)| (path(name), kind))
    });
    let is_contract = |path: &str| path != files.place() && patterns.iter().any(|pattern| matches(pattern, path));
    let contracts = entries.filter(|(path, kind)| *kind == FileKind::File && is_contract(path));
    let read = |(path, _): (String, FileKind)| {
        let bytes = files.read(&path).ok()?;
        let text = std::str::from_utf8(&bytes).ok().filter(|text| text.contains(target))?;
        let document = Document::read(text, ScalarRules::Yaml11);
        let is_same = document.root()?.get("target")?.get("path")?.as_str() == Some(target);
        is_same.then_some(Sibling { path, bytes, document })
    };
    contracts.filter_map(read).collect()
}

impl Sibling {
    /// Whether the contract has a scenario that tests what the target must refuse.
    pub(crate) fn has_negative(&self) -> bool {
        has_negative(&self.document) == Some(true)
    }
}

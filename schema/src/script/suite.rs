//! The cli-bench suite of a script.

use std::collections::HashSet;

use crate::{
    document::{Document, NodeRef, Shape},
    files::Files,
    json_schema::SpecFile,
    suite::task_files::Target,
};

/// The cli-bench suite of a script.
pub(crate) struct Suite {
    /// Path of its main file.
    pub(crate) path: String,
    pub(crate) ids: HashSet<String>,
    /// Whether its `providers` contain the script.
    pub(crate) is_named: bool,
}

/// Returns the suite of a script if all of its tasks can be read. A suite of another format may use a script too, so
/// there is no result next to one.
pub(super) fn of(files: &dyn Files) -> Option<Suite> {
    let path = files.main()?.to_owned();
    let others = SpecFile::ALL.iter().filter(|file| file.is_suite() && file.dialect() != SpecFile::CLI_BENCH.dialect());
    if others.flat_map(|file| file.plain_names()).any(|name| files.kind(name).is_some()) {
        return None;
    }
    let main = document(&files.read(&path).ok()?)?;
    let root = main.root()?;
    let mut ids = HashSet::new();
    for item in root.get("tasks")?.items() {
        if item.shape() == Shape::Mapping {
            ids.insert(item.get("id")?.as_str()?.to_owned());
            continue;
        }
        let found = match Target::of(item.as_str()?, files)? {
            Target::Files(found) => found,
            Target::NoMatch { cut: false } => Vec::new(),
            Target::NoMatch { cut: true }
            | Target::Missing(_)
            | Target::NoFile(_)
            | Target::Outside(_)
            | Target::Nowhere => return None,
        };
        for path in found {
            let tasks = document(&files.read_named(&path).ok()?)?;
            let named = tasks.root().into_iter().flat_map(NodeRef::items).filter_map(|task| task.get("id")?.as_str());
            ids.extend(named.map(str::to_owned));
        }
    }
    let id = super::id_of(files.place());
    let providers = root.get("providers").into_iter().flat_map(NodeRef::items);
    let is_named = providers.filter_map(NodeRef::as_str).any(|item| Some(item) == id.as_deref());
    Some(Suite { path, ids, is_named })
}

fn document(bytes: &[u8]) -> Option<Document> {
    let document = Document::read(std::str::from_utf8(bytes).ok()?, SpecFile::CLI_BENCH.scalar_rules());
    document.is_intact().then_some(document)
}

//! Other contracts of the same target.

use std::sync::Arc;

use crate::{
    dialect::ScalarRules,
    document::{Document, Pointer},
    files::{FileKind, Files, matches},
    problem::{Code, OtherFile, Problem, Severity},
    spot::Spot,
};

use super::{ItemFacts, files as paths, relations::patterns};

/// Maximum number of files of one directory that are looked at.
const MAX_FILES: usize = 100;

/// Maximum number of places in another contract that are shown.
const MAX_PLACES: usize = 10;

/// Another contract of the same target.
pub(super) struct Sibling {
    path: String,
    bytes: Arc<[u8]>,
    document: Document,
}

/// Finds the contracts of the same target beside a contract, and in the target's own directory.
pub(super) fn of_target(root: &Spot<'_>, files: &dyn Files) -> Vec<Sibling> {
    if !paths::is_placed(files) {
        return Vec::new();
    }
    let target = root.find(&["target", "path"]);
    let Some(target) = target.as_ref().and_then(Spot::text).filter(|target| !target.is_empty()) else {
        return Vec::new();
    };
    let patterns = patterns(files);
    let here = files.place().rsplit_once('/').map_or("", |(directory, _)| directory).to_owned();
    // However the path is written, a directory is looked at once.
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
    /// Whether it has a scenario that shows what the target refuses.
    pub(super) fn has_negative(&self) -> bool {
        let scenarios = self.document.root().and_then(|root| root.get("scenarios"));
        scenarios.is_some_and(|scenarios| {
            scenarios.items().any(|scenario| {
                scenario.get("tags").is_some_and(|tags| tags.items().any(|tag| tag.as_str() == Some("negative")))
            })
        })
    }
}

/// Reports the contracts whose scenarios have the names of those here.
pub(super) fn lint_names(
    root: &Spot<'_>,
    items: &[(usize, &ItemFacts)],
    siblings: &[Sibling],
    problems: &mut Vec<Problem>,
) {
    let Some(target) = root.find(&["target", "path"]) else { return };
    let is_own = |name: &str| {
        !name.is_empty() && items.iter().any(|(_, facts)| facts.name.as_ref().is_some_and(|own| own.name == name))
    };
    for Sibling { path, bytes, document } in siblings {
        let Some(scenarios) = document.root().and_then(|root| root.get("scenarios")) else { continue };
        let names = scenarios.items().enumerate().filter_map(|(index, scenario)| Some((index, scenario.get("name")?)));
        let shared = names.filter(|(_, name)| name.as_str().is_some_and(is_own)).take(MAX_PLACES);
        let message = format!("`{path}` has scenarios with the same names for the same target");
        let mut problem = target
            .problem(Code::DuplicateName, message)
            .with_severity(Severity::Warning)
            .with_note("ClawSpec gives their reports one name and counts them together")
            .with_help("rename the scenarios of one of the two files");
        for (index, name) in shared {
            let file = OtherFile { path: path.clone(), bytes: Arc::clone(bytes) };
            let at = Pointer::root().key("scenarios").index(index).key("name");
            problem = problem.with_related_in(file, "the same name", at, name.range());
        }
        if !problem.related.is_empty() {
            problems.push(problem);
        }
    }
}

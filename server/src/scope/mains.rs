//! The main files of cli-bench suites, and the files that they name.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError},
};

use speclens_runner::files::{Buffers as _, slashed};
use speclens_schema::{
    document::{Document, NodeRef, ScalarRules},
    files::MemoryFiles,
    json_schema::SpecFile,
    kind::{self, FileContext},
    script,
    suite::task_files,
};

use super::Scopes;
use crate::read::{beginning, read_text};

/// A main file of a cli-bench suite.
#[derive(Debug)]
pub(super) struct MainFile {
    pub(super) directory: PathBuf,
    pub(super) name: String,
    document: Document,
}

/// The main files in a directory.
pub(super) type MainFiles = Vec<Arc<MainFile>>;

/// Whether a main file has this name, whatever its content is.
pub(crate) fn is_main_name(name: &str) -> bool {
    MAIN_NAMES.contains(&name)
}

const MAIN_NAMES: [&str; 2] = ["cli-bench.yaml", "cli-bench.yml"];

/// Maximum number of files of one directory that are read to find main files.
const MAX_READ_FILES: usize = 256;

impl Scopes {
    /// Returns the nearest main file with an entry that refers to a file. `any`: whatever its name is.
    pub(super) fn main_of(&self, path: &Path, any: bool) -> Option<Arc<MainFile>> {
        let mut near = self.above(path).into_iter().flat_map(|directory| self.mains_in(&directory, any));
        near.find(|main| {
            let files = MemoryFiles::new(&main.directory, []);
            let relative = path.strip_prefix(&main.directory).map(slashed);
            relative
                .is_ok_and(|relative| relative != main.name && task_files::is_named(&main.document, &relative, &files))
        })
    }

    /// Returns the main file of the suite that a script belongs to: from the nearest directory that has one, preferably
    /// one that names it.
    pub(super) fn main_of_script(&self, path: &Path) -> Option<Arc<MainFile>> {
        let near = self.above(path).into_iter().map(|directory| self.mains_in(&directory, true));
        let mains = near.into_iter().find(|mains| !mains.is_empty())?;
        let is_named = |main: &&Arc<MainFile>| {
            let id = path.strip_prefix(&main.directory).ok().and_then(|path| script::id_of(&slashed(path)));
            let models = main.document.root().and_then(|root| root.get("providers"));
            id.is_some() && models.into_iter().flat_map(NodeRef::items).any(|model| model.as_str() == id.as_deref())
        };
        mains.iter().find(is_named).or(mains.first()).cloned()
    }

    fn mains_in(&self, directory: &Path, any: bool) -> MainFiles {
        let key = (directory.to_owned(), any);
        if let Some(known) = self.mains.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return known.clone();
        }
        let generation = self.generation();
        let usual = MAIN_NAMES.iter().filter_map(|name| self.read_main(&directory.join(name)));
        let mut found: MainFiles = usual.map(Arc::new).collect();
        if any {
            let others = self.with_other_names(directory).into_iter();
            found.extend(others.filter_map(|path| self.read_main(&path)).map(Arc::new));
        }
        let mut mains = self.mains.lock().unwrap_or_else(PoisonError::into_inner);
        // The result may be outdated if files changed while it was read.
        if self.generation() == generation {
            mains.insert(key, found.clone());
        }
        found
    }

    /// Returns the main files in a directory that have unusual names.
    fn with_other_names(&self, directory: &Path) -> Vec<PathBuf> {
        let is_here = |path: &&PathBuf| path.parent() == Some(directory);
        let known = self.by_content.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut found: BTreeSet<PathBuf> = known.iter().filter(is_here).cloned().collect();
        if self.looks_around {
            let entries = std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
            let name = |path: &Path| path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
            let yaml = entries.filter(|path| kind::is_yaml(&name(path)) && !is_main_name(&name(path)));
            found.extend(yaml.take(MAX_READ_FILES));
        }
        // A name proves nothing, and the content of a file may have changed.
        let is_suite = |path: &PathBuf| {
            let text = self.buffers.text(path).or_else(|| beginning(path));
            let found = text.and_then(|text| kind::detect(&slashed(path), &text, &FileContext::NOTHING));
            found.is_some_and(|found| found.file == SpecFile::CLI_BENCH)
        };
        found.into_iter().filter(is_suite).collect()
    }

    fn read_main(&self, path: &Path) -> Option<MainFile> {
        let text = match self.buffers.text(path) {
            Some(text) => text,
            None if path.is_file() => read_text(path).0,
            None => return None,
        };
        let name = path.file_name()?.to_str()?.to_owned();
        let document = Document::read_cut(&text, ScalarRules::Yaml12);
        Some(MainFile { directory: path.parent()?.to_owned(), name, document })
    }
}

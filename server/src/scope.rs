//! The scope of a file: its kind, the directory that its paths are relative to, and the main
//! file that names it.

mod mains;
mod patterns;
#[cfg(test)]
mod tests;
mod workspace;

use std::{
    cell::OnceCell,
    collections::{BTreeSet, HashMap},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use speclens_runner::files::{lexical, slashed};
use speclens_schema::{
    format::Unit,
    json_schema::SpecFile,
    kind::{self, Detected, FileContext},
};

use crate::{
    buffers::Buffers,
    workspace::{Reach, settings_for},
};
use mains::{MainFile, MainFiles};

pub(crate) use mains::is_main_name;

/// The kind of a file, and where it belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scope {
    /// The kind of file.
    pub file: SpecFile,
    /// The directory that its paths are relative to.
    pub root: PathBuf,
    /// Its own path relative to that directory.
    pub place: String,
    /// The main file that names it, relative to that directory.
    pub main: Option<String>,
    /// Whether the kind is a guess: then no change is made without the user seeing it.
    pub is_guess: bool,
}

/// Determines the scopes of files. What it reads of main files is cached until [`Scopes::forget`].
#[derive(Debug)]
pub(crate) struct Scopes {
    folders: Mutex<Vec<PathBuf>>,
    buffers: Arc<Buffers>,
    /// The main files in each directory that was read, with or without those with unusual names.
    mains: Mutex<HashMap<(PathBuf, bool), MainFiles>>,
    /// Known main files with unusual names.
    by_content: Mutex<BTreeSet<PathBuf>>,
    /// The files that the settings in force in each directory name.
    named: Mutex<HashMap<PathBuf, Arc<patterns::NamedFiles>>>,
    /// Whether other files of a directory are read to find such main files.
    looks_around: bool,
    /// Number of times that the cache was cleared.
    generation: AtomicU64,
}

/// Maximum depth of directories; a deeper path would cost one file system access per level.
const MAX_LEVELS: usize = 32;

impl Scope {
    /// Returns the directory where the search for settings begins.
    pub(crate) fn settings_directory(&self) -> PathBuf {
        match self.file.dialect().map(|format| format.unit()) {
            // A workspace has many contracts, each of which may have settings nearer to it.
            Some(Unit::Workspace) => match self.place.rsplit_once('/') {
                Some((directory, _)) => self.root.join(directory),
                None => self.root.clone(),
            },
            None | Some(Unit::File | Unit::Suite) => self.root.clone(),
        }
    }
}

impl Scopes {
    /// Returns scopes within these folders: a file in one of them belongs to nothing outside of it.
    pub(crate) fn new(folders: Vec<PathBuf>, buffers: Arc<Buffers>) -> Scopes {
        Scopes {
            folders: Mutex::new(folders),
            buffers,
            mains: Mutex::default(),
            by_content: Mutex::default(),
            named: Mutex::default(),
            looks_around: false,
            generation: AtomicU64::new(0),
        }
    }

    /// Returns scopes that also find main files of any name by reading neighboring files.
    pub(crate) fn looking_around(mut self) -> Scopes {
        self.looks_around = true;
        self
    }

    /// Records that a file is the main file of a suite.
    pub(crate) fn know_main(&self, path: &Path) {
        let is_usual = path.file_name().and_then(|name| name.to_str()).is_some_and(is_main_name);
        if !is_usual && self.by_content.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned()) {
            self.forget();
        }
    }

    /// Whether a file is known to be the main file of a suite.
    pub(crate) fn is_main(&self, path: &Path) -> bool {
        self.by_content.lock().unwrap_or_else(PoisonError::into_inner).contains(path)
    }

    /// Whether any main file with an unusual name is known.
    pub(crate) fn has_mains_by_content(&self) -> bool {
        !self.by_content.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Whether a suite names a file.
    pub(crate) fn is_part(&self, path: &Path) -> bool {
        self.main_of(path, true).is_some()
    }

    /// Whether a file is open in the editor: its file on the disk does not count then.
    pub(crate) fn is_open(&self, path: &Path) -> bool {
        self.buffers.holds(path)
    }

    /// Replaces the folders.
    pub(crate) fn set_folders(&self, folders: Vec<PathBuf>) {
        *self.folders.lock().unwrap_or_else(PoisonError::into_inner) = folders;
    }

    /// Returns the folders.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Clears what was read of main files, because files changed.
    pub(crate) fn forget(&self) {
        self.generation.fetch_add(1, Ordering::SeqCst);
        self.mains.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.named.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Returns a number that changes whenever an answer may change.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::SeqCst)
    }

    /// Returns the scope of a file; `None` if it is not a spec file. `path` is absolute.
    pub(crate) fn find(&self, path: &Path, text: &str) -> Option<Scope> {
        self.find_as(path, text, false)
    }

    /// Returns the scope of a file that the user names explicitly: its name alone may decide.
    pub(crate) fn find_asked_for(&self, path: &Path, text: &str) -> Option<Scope> {
        self.find_as(path, text, true)
    }

    fn find_as(&self, path: &Path, text: &str, is_asked_for: bool) -> Option<Scope> {
        let from_root = slashed(path);
        let workspace = OnceCell::new();
        let workspace = || *workspace.get_or_init(|| self.workspace_around(path, &from_root));
        let detect = |is_named_by_suite| {
            let is_named_by_pattern = &|| self.patterns_of(path).is_some_and(|patterns| patterns.name(path));
            let kinds = SpecFile::ALL;
            let context =
                FileContext { kinds, is_named_by_suite, is_asked_for, is_named_by_pattern, workspace: &workspace };
            kind::detect(&from_root, text, &context)
        };
        let surely = matches!(kind::of_path(&from_root), Some(kind::Named::Surely(_)));
        let sure = |file| Detected { file, is_guess: false };
        let alone = detect(false)
            .or_else(|| self.is_gateway_of_settings(path, text).then(|| sure(SpecFile::GATEWAY)))
            .or_else(|| self.is_ledger_of_settings(path).then(|| sure(SpecFile::CLAWSPEC_LEDGER)));
        // A file with a kind of its own is only a part of a suite with the usual name.
        let any = !surely && alone.is_none_or(|found| found.file.is_part());
        let main = if surely { None } else { self.main_of(path, any) };
        let found = if main.is_some() { detect(true) } else { alone }?;
        Some(Scope { is_guess: found.is_guess, ..self.place(path, text, found.file, main) })
    }

    /// Whether the settings name a file as the scripted gateway, so it is one whatever it contains.
    fn is_gateway_of_settings(&self, path: &Path, text: &str) -> bool {
        let has_name =
            path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.ends_with(".gateway.yaml"));
        has_name && {
            let scope = self.place(path, text, SpecFile::GATEWAY, None);
            let settings = settings_for(&Reach::of(&scope, &self.folders())).settings;
            let named = settings.directory.as_ref().zip(settings.gateway.gateway.as_ref());
            named.is_some_and(|(directory, gateway)| lexical(&directory.join(&gateway.0)) == path)
        }
    }

    fn place(&self, path: &Path, text: &str, file: SpecFile, main: Option<Arc<MainFile>>) -> Scope {
        let parent = path.parent().unwrap_or(Path::new("/")).to_owned();
        let main = if file == SpecFile::SCRIPT { self.main_of_script(path) } else { main.filter(|_| file.is_part()) };
        // A script acts in the workspace that it serves.
        let root = match (file.serves().map(|format| format.unit()), &main) {
            (_, Some(main)) => main.directory.clone(),
            (Some(Unit::Workspace), None) => self.workspace_root(path, text),
            (None | Some(Unit::File | Unit::Suite), None) => parent,
        };
        let place = path.strip_prefix(&root).map(slashed).unwrap_or_default();
        Scope { file, root, place, main: main.map(|main| main.name.clone()), is_guess: false }
    }

    /// Returns the folder that a path is in, the innermost if there are several.
    fn folder_of(&self, path: &Path) -> Option<PathBuf> {
        let folders = self.folders();
        folders.into_iter().filter(|folder| path.starts_with(folder)).max_by_key(|folder| folder.components().count())
    }

    /// Returns the directories from the one of a file up to its folder.
    fn above(&self, path: &Path) -> Vec<PathBuf> {
        let folder = self.folder_of(path);
        let within = |directory: &&Path| folder.as_ref().is_none_or(|folder| directory.starts_with(folder));
        path.ancestors().skip(1).take(MAX_LEVELS).take_while(within).map(Path::to_owned).collect()
    }
}

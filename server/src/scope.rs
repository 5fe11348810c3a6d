//! The scope of a file: its kind, the directory that its paths are relative to, and the main
//! file that names it.

#[cfg(test)]
mod tests;

use std::{
    cell::OnceCell,
    collections::{BTreeSet, HashMap},
    path::{Component, Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use speclens_runner::files::{self, Buffers as _, DiskFiles, lexical, slashed};
use speclens_schema::{
    document::{Document, NodeRef, ScalarRules},
    files::{Files as _, MemoryFiles, matches},
    format::Unit,
    gateway::config::Config,
    gateway::workspace,
    json_schema::SpecFile,
    kind::{self, Detected, FileContext, Workspace},
    script,
    suite::task_files,
};

use crate::{
    read::{Buffers, beginning, read_text, walk_unignored},
    workspace::{Reach, settings_for},
};

/// The kind of a file, and where it belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scope {
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
    named: Mutex<HashMap<PathBuf, Arc<NamedFiles>>>,
    /// Whether other files of a directory are read to find such main files.
    looks_around: bool,
    /// Number of times that the cache was cleared.
    generation: AtomicU64,
}

/// Maximum depth of directories; a deeper path would cost one file system access per level.
const MAX_LEVELS: usize = 32;

impl Scope {
    pub(crate) fn reach(&self, folders: &[PathBuf]) -> Reach {
        Reach::of(self.settings_directory(), &self.root, folders)
    }

    fn settings_directory(&self) -> PathBuf {
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

    pub(crate) fn know_main(&self, path: &Path) {
        let is_usual = path.file_name().and_then(|name| name.to_str()).is_some_and(is_main_name);
        if !is_usual && self.by_content.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned()) {
            self.forget();
        }
    }

    pub(crate) fn is_main(&self, path: &Path) -> bool {
        self.by_content.lock().unwrap_or_else(PoisonError::into_inner).contains(path)
    }

    pub(crate) fn has_mains_by_content(&self) -> bool {
        !self.by_content.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    pub(crate) fn is_part(&self, path: &Path) -> bool {
        self.main_of(path, true).is_some()
    }

    /// Whether a file is open in the editor: its file on the disk does not count then.
    pub(crate) fn is_open(&self, path: &Path) -> bool {
        self.buffers.holds(path)
    }

    pub(crate) fn set_folders(&self, folders: Vec<PathBuf>) {
        *self.folders.lock().unwrap_or_else(PoisonError::into_inner) = folders;
    }

    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Clears what was read of main files, because files changed.
    pub(crate) fn forget(&self) {
        self.generation.fetch_add(1, Ordering::SeqCst);
        self.mains.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.named.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

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

    fn is_gateway_of_settings(&self, path: &Path, text: &str) -> bool {
        let has_name =
            path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.ends_with(".gateway.yaml"));
        has_name && {
            let scope = self.place(path, text, SpecFile::GATEWAY, None);
            let settings = settings_for(&scope.reach(&self.folders())).settings;
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

    fn folder_of(&self, path: &Path) -> Option<PathBuf> {
        let folders = self.folders();
        folders.into_iter().filter(|folder| path.starts_with(folder)).max_by_key(|folder| folder.components().count())
    }

    fn above(&self, path: &Path) -> Vec<PathBuf> {
        let folder = self.folder_of(path);
        let within = |directory: &&Path| folder.as_ref().is_none_or(|folder| directory.starts_with(folder));
        path.ancestors().skip(1).take(MAX_LEVELS).take_while(within).map(Path::to_owned).collect()
    }
}

/// The patterns by which the author of a ClawSpec workspace names its scenario contracts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Patterns {
    /// The directory that they are relative to.
    pub root: PathBuf,
    /// The file or variable that contains them.
    pub source: &'static str,
    patterns: Vec<String>,
}

/// Files that the settings of a workspace name.
#[derive(Debug, Default)]
struct NamedFiles {
    patterns: Option<Arc<Patterns>>,
    ledger: Option<PathBuf>,
}

impl Patterns {
    pub(crate) fn name(&self, path: &Path) -> bool {
        let place = path.strip_prefix(&self.root).map(slashed);
        place.is_ok_and(|place| self.patterns.iter().any(|pattern| matches(pattern, &place)))
    }

    /// Returns the files below a directory that they match, including those that version control ignores: generated
    /// contracts are found by a pattern.
    pub(crate) fn files_below(&self, directory: &Path) -> Vec<PathBuf> {
        let mut found = BTreeSet::new();
        for pattern in &self.patterns {
            let steps: Vec<&str> = pattern.split('/').filter(|step| !step.is_empty() && *step != ".").collect();
            if pattern.starts_with('/') || steps.contains(&"..") {
                continue;
            }
            let is_plain = |step: &&&str| !step.contains(['*', '?', '[']);
            let beginning = self.root.join(steps.iter().take_while(is_plain).collect::<PathBuf>());
            let start = match (directory.starts_with(&beginning), beginning.starts_with(directory)) {
                (true, _) => directory,
                (false, true) => &beginning,
                (false, false) => continue,
            };
            let has_hidden = steps.iter().any(|step| step.starts_with('.'));
            let entries = walk_unignored(start, has_hidden).build().flatten();
            let files = entries.filter(|entry| entry.file_type().is_some_and(|kind| !kind.is_dir()));
            found.extend(files.map(ignore::DirEntry::into_path).filter(|path| self.name(path)));
        }
        found.into_iter().collect()
    }
}

impl Scopes {
    /// Returns the patterns that name the scenario contracts of a file's workspace: those of the
    /// environment, else of its settings. `None` if neither has any.
    pub(crate) fn patterns_of(&self, path: &Path) -> Option<Arc<Patterns>> {
        self.named_around(path)?.patterns.clone()
    }

    fn is_ledger_of_settings(&self, path: &Path) -> bool {
        self.named_around(path).is_some_and(|named| named.ledger.as_deref() == Some(path))
    }

    fn named_around(&self, path: &Path) -> Option<Arc<NamedFiles>> {
        let directory = path.parent()?;
        if let Some(known) = self.named.lock().unwrap_or_else(PoisonError::into_inner).get(directory) {
            return Some(Arc::clone(known));
        }
        let generation = self.generation();
        let found = Arc::new(self.read_named(path));
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        // The result may be outdated if files changed while it was read.
        if self.generation() == generation {
            named.insert(directory.to_owned(), Arc::clone(&found));
        }
        Some(found)
    }

    fn read_named(&self, path: &Path) -> NamedFiles {
        let settings = self.settings_above(path);
        let root = settings.clone().unwrap_or_else(|| self.workspace_root(path, ""));
        let files = DiskFiles::new(&root, Config::FILE).over(Arc::clone(&self.buffers) as Arc<dyn files::Buffers>);
        let config = settings.map(|_| workspace::settings(&files)).unwrap_or_default();
        let ledger = config.ledger_path.map(|ledger| lexical(&root.join(&ledger.0)));
        let of_environment = files.scenario_patterns().map(|patterns| (Config::PATTERNS_VARIABLE, patterns));
        let named = of_environment.or_else(|| Some(("scenario_patterns", config.scenario_patterns?)));
        let patterns = named.map(|(source, patterns)| Arc::new(Patterns { root, source, patterns }));
        NamedFiles { patterns, ledger }
    }
}

/// A main file of a cli-bench suite.
#[derive(Debug)]
struct MainFile {
    directory: PathBuf,
    name: String,
    document: Document,
}

type MainFiles = Vec<Arc<MainFile>>;

pub(crate) fn is_main_name(name: &str) -> bool {
    MAIN_NAMES.contains(&name)
}

const MAIN_NAMES: [&str; 2] = ["cli-bench.yaml", "cli-bench.yml"];

const MAX_READ_FILES: usize = 256;

impl Scopes {
    /// Returns the nearest main file with an entry that refers to a file. `any`: whatever its name is.
    fn main_of(&self, path: &Path, any: bool) -> Option<Arc<MainFile>> {
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
    fn main_of_script(&self, path: &Path) -> Option<Arc<MainFile>> {
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

impl Scopes {
    fn workspace_around(&self, path: &Path, from_root: &str) -> Workspace {
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

    fn settings_above(&self, path: &Path) -> Option<PathBuf> {
        self.above(path).into_iter().find(|directory| {
            let file = directory.join(Config::FILE);
            file.is_file() || self.buffers.text(&file).is_some()
        })
    }

    /// Returns the root of the ClawSpec workspace of a contract: the directory of its settings; else the folder, the
    /// repository, or the parent of the targets; else the working directory. Each of these except the first may be only
    /// a part of the workspace, which the path of the target shows.
    fn workspace_root(&self, path: &Path, text: &str) -> PathBuf {
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

//! What a file is, and what it belongs to: its kind, the directory that its paths start from, the main
//! file that names it.

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
    dialect::{
        Dialect, ScalarRules, Unit,
        clawspec::{config::Config, lower},
        cli_bench::task_files,
    },
    document::{Document, NodeRef},
    files::{Files as _, MemoryFiles, matches},
    json_schema::SpecFile,
    kind::{self, Around, Workspace},
    script,
};

use crate::{
    buffers::Buffers,
    read::{beginning, read_text, walk_unignored},
};

/// What a file is, and what it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scope {
    /// The kind of file.
    pub file: SpecFile,
    /// The directory that its paths start from.
    pub root: PathBuf,
    /// Its own path from there.
    pub place: String,
    /// The main file that names it, from there.
    pub main: Option<String>,
    /// Whether the kind is a guess: then nothing is changed in it unseen.
    pub is_guess: bool,
}

/// Finds out what files belong to. What it reads of main files is kept until [`Scopes::forget`].
#[derive(Debug)]
pub(crate) struct Scopes {
    folders: Mutex<Vec<PathBuf>>,
    buffers: Arc<Buffers>,
    /// The main files in each directory that was looked at; with those of other names, or without them.
    mains: Mutex<HashMap<(PathBuf, bool), Mains>>,
    /// Main files with other names than the usual ones, as far as they are known.
    by_content: Mutex<BTreeSet<PathBuf>>,
    /// The patterns of scenario contracts that are in force in each directory that was looked at.
    patterns: Mutex<HashMap<PathBuf, Option<Arc<Patterns>>>>,
    /// Whether other files of a directory are looked at, to find such main files.
    looks_around: bool,
    /// Counts how often everything was forgotten.
    generation: AtomicU64,
}

type Mains = Vec<Arc<Main>>;

/// The patterns by which the author of a ClawSpec workspace names its scenario contracts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Patterns {
    /// The directory that they start from.
    pub root: PathBuf,
    /// Where they are written.
    pub source: &'static str,
    patterns: Vec<String>,
}

impl Patterns {
    /// Whether one of them names a file.
    pub(crate) fn name(&self, path: &Path) -> bool {
        let place = path.strip_prefix(&self.root).map(slashed);
        place.is_ok_and(|place| self.patterns.iter().any(|pattern| matches(pattern, &place)))
    }

    /// Returns the files below a directory that they name, those that version control ignores among them: generated
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

/// A main file of a cli-bench suite.
#[derive(Debug)]
struct Main {
    directory: PathBuf,
    name: String,
    document: Document,
}

/// Whether a main file has this name, whatever it holds.
pub(crate) fn is_main_name(name: &str) -> bool {
    MAIN_NAMES.contains(&name)
}

const MAIN_NAMES: [&str; 2] = ["cli-bench.yaml", "cli-bench.yml"];

/// Maximum number of files of one directory that are looked at to find main files.
const LOOKED_AT: usize = 256;

/// No directory tree is deeper; a path that is would cost one look at the disk for each level.
const LEVELS: usize = 32;

impl Scope {
    /// Returns the directory from which settings are looked for.
    pub(crate) fn settings_directory(&self) -> PathBuf {
        match self.file.dialect().map(Dialect::unit) {
            // A workspace has many contracts: each may have settings nearer to it.
            Some(Unit::Workspace) => match self.place.rsplit_once('/') {
                Some((directory, _)) => self.root.join(directory),
                None => self.root.clone(),
            },
            None | Some(Unit::File | Unit::Suite) => self.root.clone(),
        }
    }
}

impl Scopes {
    /// Scopes within these folders: what is in one of them belongs to nothing outside of it.
    pub(crate) fn new(folders: Vec<PathBuf>, buffers: Arc<Buffers>) -> Scopes {
        Scopes {
            folders: Mutex::new(folders),
            buffers,
            mains: Mutex::default(),
            by_content: Mutex::default(),
            patterns: Mutex::default(),
            looks_around: false,
            generation: AtomicU64::new(0),
        }
    }

    /// Returns the same, which finds main files of any name by looking into the files around.
    pub(crate) fn looking_around(mut self) -> Scopes {
        self.looks_around = true;
        self
    }

    /// A file turned out to be the main file of a suite.
    pub(crate) fn know_main(&self, path: &Path) {
        let is_usual = path.file_name().and_then(|name| name.to_str()).is_some_and(is_main_name);
        if !is_usual && self.by_content.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned()) {
            self.forget();
        }
    }

    /// Whether a file was found out to be the main file of a suite.
    pub(crate) fn is_main(&self, path: &Path) -> bool {
        self.by_content.lock().unwrap_or_else(PoisonError::into_inner).contains(path)
    }

    /// Whether any was.
    pub(crate) fn has_mains_by_content(&self) -> bool {
        !self.by_content.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Whether a suite names a file.
    pub(crate) fn is_part(&self, path: &Path) -> bool {
        self.main_of(path, true).is_some()
    }

    /// Whether the editor holds a file: what is on the disk does not count then.
    pub(crate) fn is_open(&self, path: &Path) -> bool {
        self.buffers.holds(path)
    }

    /// Other folders from now on.
    pub(crate) fn set_folders(&self, folders: Vec<PathBuf>) {
        *self.folders.lock().unwrap_or_else(PoisonError::into_inner) = folders;
    }

    /// Returns the folders.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Files changed: what was read of main files is void.
    pub(crate) fn forget(&self) {
        self.generation.fetch_add(1, Ordering::SeqCst);
        self.mains.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.patterns.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Changes whenever an answer may be another one.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::SeqCst)
    }

    /// Returns what a file is; `None` for one that is not ours. `path` is absolute.
    pub(crate) fn find(&self, path: &Path, text: &str) -> Option<Scope> {
        self.find_as(path, text, false)
    }

    /// Returns what a file is that a person asks to look at: its name alone may say so.
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
            let around = Around { kinds, is_named_by_suite, is_asked_for, is_named_by_pattern, workspace: &workspace };
            kind::detect(&from_root, text, &around)
        };
        let surely = matches!(kind::of_path(&from_root), Some(kind::Named::Surely(_)));
        let alone = detect(false);
        // What is something of its own is a part only of a suite with the usual name.
        let any = !surely && alone.is_none_or(|found| found.file.is_part());
        let main = if surely { None } else { self.main_of(path, any) };
        let found = if main.is_some() { detect(true) } else { alone }?;
        Some(Scope { is_guess: found.is_guess, ..self.place(path, text, found.file, main) })
    }

    /// Returns what the directories around a file say about ClawSpec.
    fn workspace_around(&self, path: &Path, from_root: &str) -> Workspace {
        let target = target_around(path, from_root);
        let folder = self.folder_of(path);
        let is_within = |target: &&Path| folder.as_ref().is_none_or(|folder| target.starts_with(folder));
        let holds = |target: &Path| ["SKILL.md", "SOUL.md"].iter().any(|name| target.join(name).is_file());
        if target.filter(is_within).is_some_and(holds) {
            Workspace::Target
        } else if self.settings_above(path).is_some() {
            Workspace::Settings
        } else {
            Workspace::Unknown
        }
    }

    /// Returns the directory above a file in which the settings of its workspace are.
    fn settings_above(&self, path: &Path) -> Option<PathBuf> {
        self.above(path).into_iter().find(|directory| {
            let file = directory.join(Config::FILE);
            file.is_file() || self.buffers.text(&file).is_some()
        })
    }

    /// Returns the patterns that name the scenario contracts of the workspace that a file is in: those of the
    /// environment, else of its settings. `None` where neither has any.
    pub(crate) fn patterns_of(&self, path: &Path) -> Option<Arc<Patterns>> {
        let directory = path.parent()?;
        if let Some(known) = self.patterns.lock().unwrap_or_else(PoisonError::into_inner).get(directory) {
            return known.clone();
        }
        let generation = self.generation();
        let found = self.read_patterns(path).map(Arc::new);
        let mut patterns = self.patterns.lock().unwrap_or_else(PoisonError::into_inner);
        // What was read while files changed may be void already.
        if self.generation() == generation {
            patterns.insert(directory.to_owned(), found.clone());
        }
        found
    }

    fn read_patterns(&self, path: &Path) -> Option<Patterns> {
        let settings = self.settings_above(path);
        let root = settings.clone().unwrap_or_else(|| self.workspace_root(path, ""));
        let files = DiskFiles::new(&root, Config::FILE).over(Arc::clone(&self.buffers) as Arc<dyn files::Buffers>);
        if let Some(patterns) = files.scenario_patterns() {
            return Some(Patterns { root, source: Config::PATTERNS_VARIABLE, patterns });
        }
        let patterns = settings.and_then(|_| lower::settings(&files).scenario_patterns)?;
        Some(Patterns { root, source: "scenario_patterns", patterns })
    }

    fn place(&self, path: &Path, text: &str, file: SpecFile, main: Option<Arc<Main>>) -> Scope {
        let parent = path.parent().unwrap_or(Path::new("/")).to_owned();
        let main = if file == SpecFile::SCRIPT { self.main_of_script(path) } else { main.filter(|_| file.is_part()) };
        // What a file plays happens in the workspace that it serves.
        let root = match (file.serves().map(Dialect::unit), &main) {
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
        path.ancestors().skip(1).take(LEVELS).take_while(within).map(Path::to_owned).collect()
    }

    /// Returns the root of the ClawSpec workspace that a contract is in: where its settings are; else the folder, the
    /// repository, or what holds the targets; else the working directory. Each of these but the first may be a part of
    /// the workspace, which the path of the target shows.
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

    /// Returns the directory that the path of a contract's target begins from, where the contract is in that target. A
    /// contract that names no target is asked by the scenarios beside it.
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

    /// Returns the main file with an entry that leads to a file: the nearest one. `any`: whatever its name is.
    fn main_of(&self, path: &Path, any: bool) -> Option<Arc<Main>> {
        let mut near = self.above(path).into_iter().flat_map(|directory| self.mains_in(&directory, any));
        near.find(|main| {
            let files = MemoryFiles::new(&main.directory, []);
            let relative = path.strip_prefix(&main.directory).map(slashed);
            relative
                .is_ok_and(|relative| relative != main.name && task_files::is_named(&main.document, &relative, &files))
        })
    }

    /// Returns the main file of the suite that a script plays in: of the nearest directory that has one, one that names
    /// it first.
    fn main_of_script(&self, path: &Path) -> Option<Arc<Main>> {
        let near = self.above(path).into_iter().map(|directory| self.mains_in(&directory, true));
        let mains = near.into_iter().find(|mains| !mains.is_empty())?;
        let is_named = |main: &&Arc<Main>| {
            let id = path.strip_prefix(&main.directory).ok().and_then(|path| script::id_of(&slashed(path)));
            let models = main.document.root().and_then(|root| root.get("providers"));
            id.is_some() && models.into_iter().flat_map(NodeRef::items).any(|model| model.as_str() == id.as_deref())
        };
        mains.iter().find(is_named).or(mains.first()).cloned()
    }

    fn mains_in(&self, directory: &Path, any: bool) -> Vec<Arc<Main>> {
        let key = (directory.to_owned(), any);
        if let Some(known) = self.mains.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return known.clone();
        }
        let generation = self.generation();
        let usual = MAIN_NAMES.iter().filter_map(|name| self.read_main(&directory.join(name)));
        let mut found: Vec<Arc<Main>> = usual.map(Arc::new).collect();
        if any {
            let others = self.with_other_names(directory).into_iter();
            found.extend(others.filter_map(|path| self.read_main(&path)).map(Arc::new));
        }
        let mut mains = self.mains.lock().unwrap_or_else(PoisonError::into_inner);
        // What was read while files changed may be void already.
        if self.generation() == generation {
            mains.insert(key, found.clone());
        }
        found
    }

    /// Returns the main files in a directory that have other names than the usual ones.
    fn with_other_names(&self, directory: &Path) -> Vec<PathBuf> {
        let is_here = |path: &&PathBuf| path.parent() == Some(directory);
        let known = self.by_content.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut found: BTreeSet<PathBuf> = known.iter().filter(is_here).cloned().collect();
        if self.looks_around {
            let entries = std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
            let name = |path: &Path| path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
            let yaml = entries.filter(|path| kind::is_yaml(&name(path)) && !is_main_name(&name(path)));
            found.extend(yaml.take(LOOKED_AT));
        }
        // A name proves nothing, and a file may have become another one.
        let is_suite = |path: &PathBuf| {
            let text = self.buffers.text(path).or_else(|| beginning(path));
            let found = text.and_then(|text| kind::detect(&slashed(path), &text, &Around::NOTHING));
            found.is_some_and(|found| found.file == SpecFile::CLI_BENCH)
        };
        found.into_iter().filter(is_suite).collect()
    }

    fn read_main(&self, path: &Path) -> Option<Main> {
        let text = match self.buffers.text(path) {
            Some(text) => text,
            None if path.is_file() => read_text(path).0,
            None => return None,
        };
        let name = path.file_name()?.to_str()?.to_owned();
        let document = Document::read_cut(&text, ScalarRules::Yaml12);
        Some(Main { directory: path.parent()?.to_owned(), name, document })
    }
}

/// Returns the directory of the target that a contract is in. `from_root` is its path with `/` between the names.
fn target_around<'p>(path: &'p Path, from_root: &str) -> Option<&'p Path> {
    let names = |path: &str| path.split('/').count();
    kind::target_of(from_root).and_then(|target| path.ancestors().nth(names(from_root) - names(target)))
}

/// Returns the directory of `skills/` or `agents/`, below one of which a file is: the outermost within the working
/// directory, elsewhere the innermost, since nothing says how far up the workspace reaches.
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

/// Returns the working directory, when the other is in it. The root of the file system does not count.
fn working_directory_above(directory: &Path) -> Option<PathBuf> {
    let here = std::env::current_dir().and_then(std::fs::canonicalize).ok()?;
    (here.parent().is_some() && directory.starts_with(&here)).then_some(here)
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path, sync::Arc};

    use speclens_schema::json_schema::SpecFile;

    use super::Scopes;
    use crate::buffers::Buffers;

    const TASKS: &str = "- id: a\n  intent: b\n  assert: [{ ran: x }]\n";

    fn write(root: &Path, files: &[(&str, &str)]) {
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    #[track_caller]
    fn check(scopes: &Scopes, root: &Path, path: &str, expected: Option<(SpecFile, &str, &str, Option<&str>)>) {
        let path = root.join(path);
        let text = fs::read_to_string(&path).unwrap_or_default();
        let found = scopes.find(&path, &text);
        let found = found.as_ref().map(|scope| {
            let root = scope.root.strip_prefix(root).unwrap().to_str().unwrap();
            (scope.file, root, scope.place.as_str(), scope.main.as_deref())
        });
        assert_eq!(found, expected, "{}", path.display());
    }

    #[test]
    fn a_task_file_belongs_to_the_main_file_that_names_it() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        write(
            &root,
            &[
                ("cli-bench.yaml", "cli: a\ntasks: [file://other/*.yaml]\n"),
                ("bench/cli-bench.yaml", "cli: a\ntasks:\n  - file://tasks/**/*.yaml\n"),
                ("bench/tasks/deep/a.yaml", "x: 1\n"),
                ("bench/else.yaml", "x: 1\n"),
                ("loose.yaml", TASKS),
                ("my.yaml", "cli: b\ntasks: [file://loose.yaml]\n"),
            ],
        );
        let scopes = Scopes::new(vec![root.clone()], Arc::default());
        let tasks = |root, place, main| Some((SpecFile::CLI_BENCH_TASKS, root, place, main));
        check(&scopes, &root, "bench/tasks/deep/a.yaml", tasks("bench", "tasks/deep/a.yaml", Some("cli-bench.yaml")));
        check(&scopes, &root, "bench/else.yaml", None);
        check(&scopes, &root, "loose.yaml", tasks("", "loose.yaml", None));
        check(&scopes, &root, "my.yaml", Some((SpecFile::CLI_BENCH, "", "my.yaml", None)));
    }

    #[test]
    fn a_script_belongs_to_the_suite_that_names_it_else_to_the_nearest() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        write(
            &root,
            &[
                ("cli-bench.yaml", "cli: a\nproviders: [a/b]\ntasks: []\n"),
                ("cli-bench.yml", "cli: a\nproviders: [scripted/deep/bold]\ntasks: []\n"),
                ("deep/bold.script.yaml", "default: []\n"),
                ("other.script.yaml", "default: []\n"),
            ],
        );
        let scopes = Scopes::new(vec![root.clone()], Arc::default());
        let script = |place, main| Some((SpecFile::SCRIPT, "", place, Some(main)));
        check(&scopes, &root, "deep/bold.script.yaml", script("deep/bold.script.yaml", "cli-bench.yml"));
        check(&scopes, &root, "other.script.yaml", script("other.script.yaml", "cli-bench.yaml"));
    }

    #[test]
    fn in_a_workspace_the_place_decides() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        let names = ["tests/scenarios.yaml", "tests/pipeline.yaml", "tests/baselines.yaml", "tests/handoffs/a.yaml"];
        write(
            &root,
            &[
                ("w/clawspec.yaml", ""),
                ("w/coverage-ledger.yaml", "waves: {}\n"),
                ("w/other/coverage-ledger.yaml", "- a\n"),
                ("w/other/tests/baselines.yaml", "- a\n"),
                ("w/other/tests/handoffs/a.yaml", "- a\n"),
                ("w/other/tests/pipeline.yaml", "stages: [build]\n"),
            ],
        );
        for above in ["w", "x"] {
            write(
                &root,
                &names
                    .map(|name| (format!("{above}/{name}"), "version: \"1.0\"\n"))
                    .each_ref()
                    .map(|(a, b)| (a.as_str(), *b)),
            );
        }
        let scopes = Scopes::new(vec![root.clone()], Arc::default());
        let kinds = [
            SpecFile::CLAWSPEC_SCENARIOS,
            SpecFile::CLAWSPEC_PIPELINE,
            SpecFile::CLAWSPEC_BASELINES,
            SpecFile::CLAWSPEC_HANDOFF,
        ];
        for (name, kind) in names.into_iter().zip(kinds) {
            check(&scopes, &root, &format!("w/{name}"), Some((kind, "w", name, None)));
            check(&scopes, &root, &format!("x/{name}"), None);
        }
        let ledger = Some((SpecFile::CLAWSPEC_LEDGER, "w", "coverage-ledger.yaml", None));
        check(&scopes, &root, "w/coverage-ledger.yaml", ledger);
        // A name alone says nothing, with settings above it or not.
        for stranger in ["coverage-ledger", "tests/baselines", "tests/handoffs/a", "tests/pipeline"] {
            check(&scopes, &root, &format!("w/other/{stranger}.yaml"), None);
        }
    }

    #[test]
    fn what_is_not_saved_yet_counts() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        write(&root, &[("cli-bench.yaml", "cli: a\ntasks: []\n"), ("t.yaml", "x: 1\n")]);
        let buffers = Arc::new(Buffers::default());
        let scopes = Scopes::new(Vec::new(), Arc::clone(&buffers));
        check(&scopes, &root, "t.yaml", None);
        buffers.set(&root.join("cli-bench.yaml"), "cli: a\ntasks: [file://t.yaml]\n".into());
        scopes.forget();
        let expected = (SpecFile::CLI_BENCH_TASKS, "", "t.yaml", Some("cli-bench.yaml"));
        check(&scopes, &root, "t.yaml", Some(expected));
    }

    #[test]
    fn a_contract_belongs_to_its_workspace() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        let path = "w/skills/a/tests/scenarios.yaml";
        write(&root, &[(path, "")]);
        let scopes = Scopes::new(vec![root.join("w")], Arc::default());
        let expected = |root, place| Some((SpecFile::CLAWSPEC_SCENARIOS, root, place, None));
        check(&scopes, &root, path, expected("w", "skills/a/tests/scenarios.yaml"));
        write(&root, &[("w/skills/clawspec.yaml", ""), ("clawspec.yaml", "")]);
        check(&scopes, &root, path, expected("w/skills", "a/tests/scenarios.yaml"));
        let scope = scopes.find(&root.join(path), "").unwrap();
        assert_eq!(scope.settings_directory(), root.join("w/skills/a/tests"));
        // Without a folder, upwards as far as there is anything.
        fs::remove_file(root.join("w/skills/clawspec.yaml")).unwrap();
        let scopes = Scopes::new(Vec::new(), Arc::default());
        check(&scopes, &root, path, expected("", path));
        // A folder that is a part of the workspace: the path of the target says how large that is.
        let text = "version: \"1.0\"\ntarget: {type: skill, path: ./skills/a/, trigger: /a}\nscenarios: []\n";
        let handoff = "w/skills/a/tests/handoffs/a-to-b.yaml";
        fs::remove_file(root.join("clawspec.yaml")).unwrap();
        write(&root, &[(path, text), (handoff, "")]);
        for folder in ["w/skills", "w/skills/a", "w"] {
            let scopes = Scopes::new(vec![root.join(folder)], Arc::default());
            check(&scopes, &root, path, expected("w", "skills/a/tests/scenarios.yaml"));
            let place = "skills/a/tests/handoffs/a-to-b.yaml";
            check(&scopes, &root, handoff, Some((SpecFile::CLAWSPEC_HANDOFF, "w", place, None)));
        }
        // One that is another target's says nothing, and none makes a workspace smaller.
        for target in ["skills/b", "a", "../a"] {
            write(&root, &[(path, &text.replace("./skills/a/", target))]);
            let scopes = Scopes::new(vec![root.join("w/skills")], Arc::default());
            check(&scopes, &root, path, expected("w/skills", "a/tests/scenarios.yaml"));
        }
        write(&root, &[(path, ""), ("clawspec.yaml", "")]);
        let scopes = Scopes::new(Vec::new(), Arc::default());
        // Without anything, what holds the targets.
        fs::remove_file(root.join("clawspec.yaml")).unwrap();
        check(&scopes, &root, path, expected("w", "skills/a/tests/scenarios.yaml"));
    }
}

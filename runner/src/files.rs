//! The files below a suite's directory, as the pure crates ask for them: bounded, cached until something changes, and
//! never outside the directory, except for files of its workspace that a command names or that settings declare.

mod disk;
mod inputs;

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    env, fs,
    ops::Bound,
    path::{Component, Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use speclens_schema::{
    files::{FileKind, Files, Inputs, Resolved, digest},
    gateway::config::Config,
    suite::lexical as normal,
};

use disk::{Digests, kind_of, read_bounded, without_links};
use inputs::{DeclaredInputs, content_of};

pub use disk::{lexical, open_regular, relative_path, slashed};
pub use inputs::Declared;

const MAX_LISTED_ENTRIES: usize = 10_000;

/// The texts of open documents, which take precedence over the files on disk.
pub trait Buffers: Send + Sync + std::fmt::Debug {
    fn text(&self, path: &Path) -> Option<String>;
    fn below(&self, directory: &Path) -> Vec<PathBuf>;
}

#[derive(Debug)]
pub struct DiskFiles {
    root: PathBuf,
    place: String,
    main: Option<String>,
    folders: Vec<PathBuf>,
    follows: bool,
    with_parts: bool,
    workspace: Option<PathBuf>,
    /// The folders and the workspace, with symbolic links resolved.
    reach: OnceLock<Vec<PathBuf>>,
    digests: Digests,
    /// Open documents, whose texts replace the files on disk.
    buffers: Option<Arc<dyn Buffers>>,
    cache: Mutex<Cache>,
}

#[derive(Debug, Default)]
struct Cache {
    generation: u64,
    /// The root with symbolic links resolved; `None` inside if there is no such directory.
    real_root: Option<Option<PathBuf>>,
    declared: Option<Arc<Declared>>,
    declared_inputs: Option<Arc<DeclaredInputs>>,
    paths: HashMap<String, PathFacts>,
    seen: BTreeSet<PathBuf>,
    listed: HashSet<PathBuf>,
    read: HashSet<PathBuf>,
}

#[derive(Debug, Default)]
struct PathFacts {
    kind: Option<Option<FileKind>>,
    content: Option<Result<Arc<[u8]>, String>>,
    digest: Option<Option<String>>,
    digest_beyond: Option<Option<String>>,
    list: Option<Vec<(String, FileKind)>>,
    tree: Option<Inputs>,
    named: Option<Resolved>,
    named_content: Option<Result<Arc<[u8]>, String>>,
    named_list: Option<Vec<(String, FileKind)>>,
}

impl DiskFiles {
    pub fn new(root: &Path, place: &str) -> DiskFiles {
        DiskFiles {
            root: root.to_owned(),
            place: place.to_owned(),
            main: None,
            buffers: None,
            folders: Vec::new(),
            follows: false,
            with_parts: false,
            workspace: None,
            reach: OnceLock::new(),
            digests: Digests::default(),
            cache: Mutex::default(),
        }
    }

    pub fn named_by(mut self, main: Option<String>) -> DiskFiles {
        self.main = main;
        self
    }

    /// Returns the same in a workspace of these folders: a suite may name any file in them.
    pub fn within(mut self, folders: Vec<PathBuf>) -> DiskFiles {
        self.folders = folders;
        self
    }

    pub fn in_workspace(mut self, top: &Path) -> DiskFiles {
        self.workspace = fs::canonicalize(top).ok();
        self
    }

    pub fn declare(&self, declared: Option<Declared>) {
        let mut cache = self.cache();
        if cache.declared.as_deref() != declared.as_ref() {
            cache.declared = declared.map(Arc::new);
            cache.declared_inputs = None;
            cache.generation += 1;
        }
    }

    pub fn declares_inputs(&self) -> bool {
        self.cache().declared.is_some()
    }

    pub fn declared_beyond_limit(&self) -> Vec<String> {
        self.declared_inputs().cut.clone()
    }

    fn declared_inputs(&self) -> Arc<DeclaredInputs> {
        let look = |declared: Arc<Declared>| Arc::new(declared.look(&self.root, &self.digests));
        let find = || self.declared_now().map(look).unwrap_or_default();
        self.remembered(|cache| &mut cache.declared_inputs, find)
    }

    fn declared_now(&self) -> Option<Arc<Declared>> {
        self.cache().declared.clone()
    }

    /// Returns the same for a trusted workspace: a suite may name any file.
    pub fn following(mut self) -> DiskFiles {
        self.follows = true;
        self
    }

    pub fn with_parts(mut self, with_parts: bool) -> DiskFiles {
        self.with_parts = with_parts;
        self
    }

    pub fn over(mut self, buffers: Arc<dyn Buffers>) -> DiskFiles {
        self.buffers = Some(buffers);
        self
    }

    /// Returns whether the cache depends on a file or directory that changed. Does not look at the disk.
    pub fn has_seen(&self, path: &Path) -> bool {
        if self.root.starts_with(path) {
            return true;
        }
        let cache = self.cache();
        if cache.declared.as_ref().is_some_and(|declared| declared.concerns(path)) {
            return true;
        }
        let mut below = cache.seen.range::<Path, _>((Bound::Included(path), Bound::Unbounded));
        below.next().is_some_and(|seen| seen.starts_with(path))
            || path.parent().is_some_and(|parent| cache.listed.contains(parent))
    }

    pub fn has_read(&self, path: &Path) -> bool {
        self.cache().read.contains(path)
    }

    fn buffer(&self, path: &str) -> Option<String> {
        self.buffers.as_ref()?.text(&lexical(&self.root.join(path)))
    }

    /// Clears the cache: files may have changed.
    pub fn forget(&self) {
        self.forget_content();
        self.cache().real_root = None;
    }

    /// Clears the cache, except for the location of the directory itself: a command may have changed files in it.
    pub fn forget_content(&self) {
        let mut cache = self.cache();
        let (generation, declared, real_root) = (cache.generation + 1, cache.declared.take(), cache.real_root.take());
        *cache = Cache { generation, declared, real_root, ..Cache::default() };
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known<T: Clone>(&self, path: &str, fact: fn(&mut PathFacts) -> &mut Option<T>, find: impl FnOnce() -> T) -> T {
        self.remembered(|cache| fact(cache.paths.entry(path.to_owned()).or_default()), find)
    }

    /// Returns what is in the cache. A missing value is found while others may use the cache.
    fn remembered<T: Clone>(
        &self,
        place: impl for<'c> Fn(&'c mut Cache) -> &'c mut Option<T>,
        find: impl FnOnce() -> T,
    ) -> T {
        let generation = {
            let mut cache = self.cache();
            if let Some(known) = place(&mut cache) {
                return known.clone();
            }
            cache.generation
        };
        let found = find();
        let mut cache = self.cache();
        // A result from a time when files changed may be outdated.
        if cache.generation == generation {
            *place(&mut cache) = Some(found.clone());
        }
        found
    }

    fn real_root(&self) -> Option<PathBuf> {
        self.remembered(|cache| &mut cache.real_root, || fs::canonicalize(&self.root).ok())
    }

    /// Adds a path to the dependencies, before it is first read, so no change is missed.
    fn see(&self, path: PathBuf) {
        self.cache().seen.insert(path);
    }

    fn follow(&self, path: PathBuf) {
        let mut cache = self.cache();
        cache.listed.insert(path.clone());
        cache.seen.insert(path);
    }

    fn entries(&self, directory: &str, real: &Path) -> Vec<(String, FileKind)> {
        let mut entries: Vec<_> = fs::read_dir(real)
            .into_iter()
            .flatten()
            .flatten()
            .take(MAX_LISTED_ENTRIES)
            .filter_map(|entry| {
                let metadata = fs::metadata(entry.path()).ok()?;
                Some((entry.file_name().into_string().ok()?, kind_of(&metadata)))
            })
            .collect();
        let directory = lexical(&self.root.join(directory));
        let open = self.buffers.as_ref().map(|buffers| buffers.below(&directory));
        for path in open.into_iter().flatten() {
            let Ok(below) = path.strip_prefix(&directory).map(slashed) else { continue };
            let (name, kind) = match below.split_once('/') {
                Some((name, _)) => (name.to_owned(), FileKind::Directory),
                None => (below, FileKind::File),
            };
            if !name.is_empty() && !entries.iter().any(|(known, _)| *known == name) {
                entries.push((name, kind));
            }
        }
        entries.sort_by(|one, other| one.0.cmp(&other.0));
        entries
    }

    /// Returns whether a path without symbolic links is in the workspace.
    fn is_near(&self, real: &Path) -> bool {
        let reach = self.reach.get_or_init(|| {
            let root = fs::canonicalize(&self.root).unwrap_or_else(|_| self.root.clone());
            let folders = self.folders.iter().filter_map(|folder| fs::canonicalize(folder).ok());
            let mut reach: Vec<PathBuf> = folders.filter(|folder| root.starts_with(folder)).collect();
            reach.extend(self.workspace.clone());
            if self.follows {
                let here = env::current_dir().and_then(fs::canonicalize).ok();
                // The root of the file system is not a workspace.
                reach.extend(here.filter(|here| here.parent().is_some() && root.starts_with(here)));
            }
            reach
        });
        reach.iter().any(|near| real.starts_with(near))
    }

    fn locate(&self, path: &str) -> (Resolved, PathBuf) {
        let place = lexical(&self.root.join(path));
        if self.root.as_os_str().is_empty() {
            return (Resolved::Nothing, place);
        }
        let root = self.real_root().unwrap_or_else(|| self.root.clone());
        let target = fs::canonicalize(&place).ok();
        let is_below = target.as_ref().map_or(place.starts_with(&self.root), |target| target.starts_with(&root));
        let is_far = !is_below && !self.is_near(target.as_ref().unwrap_or(&place));
        if is_far && !self.follows {
            return (Resolved::Unread, place);
        }
        let found = target.and_then(|target| {
            let kind = kind_of(&fs::metadata(&target).ok()?);
            Some((Resolved::Found { kind, path: relative_path(&root, &target)?, is_far }, target))
        });
        found.unwrap_or_else(|| match self.buffer(path) {
            Some(_) => (Resolved::Found { kind: FileKind::File, path: normal(path), is_far }, place),
            None => (Resolved::Nothing, place),
        })
    }

    fn own_directory(&self, place: &Path) -> Option<PathBuf> {
        if self.root.as_os_str().is_empty() {
            return None;
        }
        let real = fs::canonicalize(place).ok().filter(|real| real.is_dir())?;
        let root = self.real_root();
        let is_own = root.iter().chain(&self.workspace).any(|top| real.starts_with(top));
        is_own.then_some(real)
    }

    /// Returns the real path; `None` if it leads out of the directory.
    fn real(&self, path: &str) -> Option<PathBuf> {
        // A document that was never saved has no directory.
        if self.root.as_os_str().is_empty() {
            return None;
        }
        let relative = Path::new(path);
        let mut depth = 0_i32;
        for component in relative.components() {
            match component {
                Component::Normal(_) => depth += 1,
                Component::CurDir => {}
                Component::ParentDir => depth -= 1,
                Component::RootDir | Component::Prefix(_) => return None,
            }
            if depth < 0 {
                return None;
            }
        }
        let real = self.root.join(relative);
        self.see(lexical(&real));
        // A symbolic link must not lead out either.
        let root = self.real_root();
        let target = match &root {
            Some(root) => without_links(root, relative).unwrap_or_else(|| fs::canonicalize(&real)),
            None => fs::canonicalize(&real),
        };
        match (root, target) {
            (Some(root), Ok(target)) => {
                let below = slashed(target.strip_prefix(&root).ok()?);
                if below != normal(path) {
                    self.follow(self.root.join(below));
                }
                Some(target)
            }
            // It does not exist: opening it reports that.
            (Some(root), Err(_)) => {
                let real_path = |ancestor: &Path| match ancestor == self.root {
                    true => Some(root.clone()),
                    false => fs::canonicalize(ancestor).ok(),
                };
                let place = real.ancestors().skip(1).find_map(|ancestor| Some((ancestor, real_path(ancestor)?)));
                let place = place.and_then(|(ancestor, target)| Some(target.join(real.strip_prefix(ancestor).ok()?)));
                let below = place.and_then(|place| place.strip_prefix(&root).ok().map(slashed));
                if let Some(below) = below.filter(|below| *below != normal(path)) {
                    self.follow(self.root.join(below));
                }
                Some(real)
            }
            (None, Ok(_) | Err(_)) => Some(real),
        }
    }
}

impl Files for DiskFiles {
    fn root(&self) -> &Path {
        &self.root
    }

    fn kind(&self, path: &str) -> Option<FileKind> {
        let find = || {
            let metadata = self.real(path).and_then(|path| fs::metadata(path).ok());
            let on_disk = metadata.map(|metadata| kind_of(&metadata));
            on_disk.or_else(|| self.buffer(path).map(|_| FileKind::File))
        };
        self.known(path, |facts| &mut facts.kind, find)
    }

    fn changed(&self, path: &str) -> Option<String> {
        let changed = fs::metadata(self.real(path)?).and_then(|metadata| metadata.modified()).ok()?;
        let changed = jiff::Timestamp::try_from(changed).ok()?;
        Some(changed.strftime("%Y-%m-%d %H:%M:%S UTC").to_string())
    }

    fn read(&self, path: &str) -> Result<Arc<[u8]>, String> {
        let find = || {
            self.cache().read.insert(lexical(&self.root.join(path)));
            match self.real(path) {
                Some(real) => match self.buffer(path) {
                    Some(text) => Ok(text.into_bytes().into()),
                    None => read_bounded(&real),
                },
                None => Err("it is outside the directory of the suite".to_owned()),
            }
        };
        self.known(path, |facts| &mut facts.content, find)
    }

    fn digest(&self, path: &str) -> Option<String> {
        let find = || {
            self.cache().read.insert(lexical(&self.root.join(path)));
            let real = self.real(path)?;
            match self.buffer(path) {
                Some(text) => Some(digest(text.as_bytes())),
                None => self.digests.of_one(&real),
            }
        };
        self.known(path, |facts| &mut facts.digest, find)
    }

    fn digest_beyond(&self, path: &str) -> Option<String> {
        let find = || {
            let place = self.root.join(path);
            self.see(lexical(&place));
            let workspace = self.workspace.as_ref()?;
            let real = fs::canonicalize(&place).ok().filter(|real| real.starts_with(workspace))?;
            self.see(real.clone());
            self.digests.of_one(&real)
        };
        self.known(path, |facts| &mut facts.digest_beyond, find)
    }

    fn tree(&self, directory: &str) -> Inputs {
        let find = || {
            let place = lexical(&self.root.join(directory));
            self.see(place.clone());
            let Some(real) = self.own_directory(&place) else { return Inputs::new() };
            content_of(&real, &normal(directory), &self.digests, |below| {
                self.follow(place.join(below));
                self.follow(real.join(below));
            })
        };
        self.known(directory, |facts| &mut facts.tree, find)
    }

    fn scenario_patterns(&self) -> Option<Vec<String>> {
        Config::patterns_in(&env::var(Config::PATTERNS_VARIABLE).ok()?)
    }

    fn declared(&self) -> Inputs {
        self.declared_inputs().inputs.clone()
    }

    fn parts_are_checked(&self) -> bool {
        self.with_parts
    }

    fn named(&self, path: &str) -> Resolved {
        let find = || {
            let place = lexical(&self.root.join(path));
            self.see(place.clone());
            let (lead, real) = self.locate(path);
            if matches!(lead, Resolved::Found { kind: FileKind::Directory, .. }) {
                self.follow(place);
                self.follow(real);
            } else {
                self.see(real);
            }
            lead
        };
        self.known(path, |facts| &mut facts.named, find)
    }

    fn read_named(&self, path: &str) -> Result<Arc<[u8]>, String> {
        let find = || {
            let place = lexical(&self.root.join(path));
            self.see(place.clone());
            self.cache().read.insert(place);
            match self.locate(path) {
                (Resolved::Unread, _) => Err("it is outside the workspace".to_owned()),
                (Resolved::Found { .. } | Resolved::Nothing, real) => match self.buffer(path) {
                    Some(text) => Ok(text.into_bytes().into()),
                    None => read_bounded(&real),
                },
            }
        };
        self.known(path, |facts| &mut facts.named_content, find)
    }

    fn list_named(&self, directory: &str) -> Vec<(String, FileKind)> {
        // Paths below are listed as usual.
        if !directory.starts_with("..") {
            return self.list(directory);
        }
        let find = || {
            self.follow(lexical(&self.root.join(directory)));
            match self.locate(directory) {
                (Resolved::Found { .. }, real) => self.entries(directory, &real),
                (Resolved::Nothing | Resolved::Unread, _) => Vec::new(),
            }
        };
        self.known(directory, |facts| &mut facts.named_list, find)
    }

    fn list(&self, directory: &str) -> Vec<(String, FileKind)> {
        let find = || {
            let Some(real) = self.real(directory) else { return Vec::new() };
            self.cache().listed.insert(lexical(&self.root.join(directory)));
            self.entries(directory, &real)
        };
        self.known(directory, |facts| &mut facts.list, find)
    }

    fn place(&self) -> &str {
        &self.place
    }

    fn main(&self) -> Option<&str> {
        self.main.as_deref()
    }
}

#[cfg(test)]
mod tests;

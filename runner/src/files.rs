//! The files below a suite's directory, as the pure parts may ask for them: bounded, cached until
//! something changes, and never outside of the directory, but for the files of its workspace that a command
//! names.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    env, fs,
    io::Read,
    ops::Bound,
    path::{Component, Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use speclens_schema::files::{FileKind, Files, Lead};

/// A file that is read for a check may be as large.
const SIZE_LIMIT: u64 = 16 * 1024 * 1024;

/// A directory that is listed may have as many entries.
const LIST_LIMIT: usize = 10_000;

/// The texts of open documents: what is in the editor counts, saved or not.
pub trait Buffers: Send + Sync + std::fmt::Debug {
    /// The text of a document, when it is open.
    fn text(&self, path: &Path) -> Option<String>;
    /// The open documents whose paths begin with a directory.
    fn below(&self, directory: &Path) -> Vec<PathBuf>;
}

/// The real files below a directory.
#[derive(Debug)]
pub struct DiskFiles {
    root: PathBuf,
    place: String,
    main: Option<String>,
    /// The folders that were opened, as far as there are any.
    folders: Vec<PathBuf>,
    /// Whether what the suite names is read wherever it stands.
    follows: bool,
    /// Whether the files that a main file names are checked along with it.
    with_parts: bool,
    /// The directory of the whole workspace, once somebody asked for it.
    workspace: OnceLock<Option<PathBuf>>,
    /// The folders, and the workspace, without symbolic links.
    reach: OnceLock<Vec<PathBuf>>,
    /// Open documents: their texts count instead of what is on the disk.
    buffers: Option<Arc<dyn Buffers>>,
    cache: Mutex<Cache>,
}

#[derive(Debug, Default)]
struct Cache {
    kinds: HashMap<String, Option<FileKind>>,
    contents: HashMap<String, Result<Arc<[u8]>, String>>,
    beyond: HashMap<String, Option<Arc<[u8]>>>,
    lists: HashMap<String, Vec<(String, FileKind)>>,
    /// What was found at paths that the suite names.
    named: HashMap<String, Lead>,
    named_contents: HashMap<String, Result<Arc<[u8]>, String>>,
    named_lists: HashMap<String, Vec<(String, FileKind)>>,
    /// The paths on which something of this depends, as they are written, and where links lead.
    seen: BTreeSet<PathBuf>,
    /// The directories among them of which each entry counts.
    listed: HashSet<PathBuf>,
    /// The files whose content was asked for, as they are written.
    read: HashSet<PathBuf>,
}

impl DiskFiles {
    /// The files below `root`, seen by the document that stands at `place` there.
    pub fn new(root: &Path, place: &str) -> DiskFiles {
        DiskFiles {
            root: root.to_owned(),
            place: place.to_owned(),
            main: None,
            buffers: None,
            folders: Vec::new(),
            follows: false,
            with_parts: false,
            workspace: OnceLock::new(),
            reach: OnceLock::new(),
            cache: Mutex::default(),
        }
    }

    /// The same, seen by a document that a main file names.
    pub fn named_by(mut self, main: Option<String>) -> DiskFiles {
        self.main = main;
        self
    }

    /// The same in a workspace of these folders: what a suite names may stand anywhere in them.
    pub fn within(mut self, folders: Vec<PathBuf>) -> DiskFiles {
        self.folders = folders;
        self
    }

    /// The same for somebody who is trusted: what a suite names is read wherever it stands.
    pub fn following(mut self) -> DiskFiles {
        self.follows = true;
        self
    }

    /// The same for a check of all files of a suite.
    pub fn with_parts(mut self, with_parts: bool) -> DiskFiles {
        self.with_parts = with_parts;
        self
    }

    /// The same with what open documents hold.
    pub fn over(mut self, buffers: Arc<dyn Buffers>) -> DiskFiles {
        self.buffers = Some(buffers);
        self
    }

    /// Whether anything that was seen depends on a file, or a directory, that changed. Does not look at the disk.
    pub fn has_seen(&self, path: &Path) -> bool {
        if self.root.starts_with(path) {
            return true;
        }
        let cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let mut below = cache.seen.range::<Path, _>((Bound::Included(path), Bound::Unbounded));
        below.next().is_some_and(|seen| seen.starts_with(path))
            || path.parent().is_some_and(|parent| cache.listed.contains(parent))
    }

    /// Whether the content of a file was asked for.
    pub fn has_read(&self, path: &Path) -> bool {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner).read.contains(path)
    }

    /// The text of an open document.
    fn buffer(&self, path: &str) -> Option<String> {
        self.buffers.as_ref()?.text(&lexical(&self.root.join(path)))
    }

    /// Forgets what was seen: files may have changed.
    pub fn forget(&self) {
        *self.cache.lock().unwrap_or_else(PoisonError::into_inner) = Cache::default();
    }

    /// The directory of the workspace: what version control holds together, else what has its settings at the
    /// top; nothing when there is neither.
    fn workspace(&self) -> Option<&Path> {
        let find = || {
            let root = fs::canonicalize(&self.root).ok()?;
            let holder = |name: &str| root.ancestors().find(|ancestor| ancestor.join(name).exists());
            holder(".git").or_else(|| holder("speclens.yaml")).map(Path::to_owned)
        };
        self.workspace.get_or_init(find).as_deref()
    }

    /// What stands in a directory, open documents included. `real` is its path on the disk.
    fn entries(&self, directory: &str, real: &Path) -> Vec<(String, FileKind)> {
        let mut entries: Vec<_> = fs::read_dir(real)
            .into_iter()
            .flatten()
            .flatten()
            .take(LIST_LIMIT)
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

    /// Whether a path without symbolic links lies in the workspace.
    fn is_near(&self, real: &Path) -> bool {
        let reach = self.reach.get_or_init(|| {
            let root = fs::canonicalize(&self.root).unwrap_or_else(|_| self.root.clone());
            let folders = self.folders.iter().filter_map(|folder| fs::canonicalize(folder).ok());
            let mut reach: Vec<PathBuf> = folders.filter(|folder| root.starts_with(folder)).collect();
            reach.extend(self.workspace().map(Path::to_owned));
            if self.follows {
                let here = env::current_dir().and_then(fs::canonicalize).ok();
                // The root of the file system says nothing.
                reach.extend(here.filter(|here| here.parent().is_some() && root.starts_with(here)));
            }
            reach
        });
        reach.iter().any(|near| real.starts_with(near))
    }

    /// What stands at a path that the suite names, and where that is on the disk.
    fn locate(&self, path: &str) -> (Lead, PathBuf) {
        let place = lexical(&self.root.join(path));
        if self.root.as_os_str().is_empty() {
            return (Lead::Nothing, place);
        }
        let root = fs::canonicalize(&self.root).unwrap_or_else(|_| self.root.clone());
        let target = fs::canonicalize(&place).ok();
        let is_below = target.as_ref().map_or(place.starts_with(&self.root), |target| target.starts_with(&root));
        let is_far = !is_below && !self.is_near(target.as_ref().unwrap_or(&place));
        if is_far && !self.follows {
            return (Lead::Unread, place);
        }
        let found = target.and_then(|target| {
            let kind = kind_of(&fs::metadata(&target).ok()?);
            Some((Lead::Found { kind, path: way(&root, &target)?, is_far }, target))
        });
        found.unwrap_or_else(|| match self.buffer(path) {
            Some(_) => (Lead::Found { kind: FileKind::File, path: normal_from(path), is_far }, place),
            None => (Lead::Nothing, place),
        })
    }

    /// The real path; nothing for one that leads out of the directory.
    fn real(&self, cache: &mut Cache, path: &str) -> Option<PathBuf> {
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
        cache.seen.insert(lexical(&real));
        // A symbolic link must not lead out either.
        match (fs::canonicalize(&self.root), fs::canonicalize(&real)) {
            (Ok(root), Ok(target)) => {
                let below = slashed(target.strip_prefix(&root).ok()?);
                if below != normal(path) {
                    cache.follow(self.root.join(below));
                }
                Some(target)
            }
            // Nothing is there: whoever opens it is told so.
            (Ok(root), Err(_)) => {
                let place =
                    real.ancestors().skip(1).find_map(|ancestor| Some((ancestor, fs::canonicalize(ancestor).ok()?)));
                let place = place.and_then(|(ancestor, target)| Some(target.join(real.strip_prefix(ancestor).ok()?)));
                let below = place.and_then(|place| place.strip_prefix(&root).ok().map(slashed));
                if let Some(below) = below.filter(|below| *below != normal(path)) {
                    cache.follow(self.root.join(below));
                }
                Some(real)
            }
            (Err(_), Ok(_) | Err(_)) => Some(real),
        }
    }
}

impl Cache {
    /// What is at a path counts, and so does what is in it.
    fn follow(&mut self, path: PathBuf) {
        self.listed.insert(path.clone());
        self.seen.insert(path);
    }
}

impl Files for DiskFiles {
    fn root(&self) -> &Path {
        &self.root
    }

    fn kind(&self, path: &str) -> Option<FileKind> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kind) = cache.kinds.get(path) {
            return *kind;
        }
        let on_disk =
            self.real(&mut cache, path).and_then(|path| fs::metadata(path).ok()).map(|metadata| kind_of(&metadata));
        let kind = on_disk.or_else(|| self.buffer(path).map(|_| FileKind::File));
        cache.kinds.insert(path.to_owned(), kind);
        kind
    }

    fn read(&self, path: &str) -> Result<Arc<[u8]>, String> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(content) = cache.contents.get(path) {
            return content.clone();
        }
        cache.read.insert(lexical(&self.root.join(path)));
        let content = match self.real(&mut cache, path) {
            Some(real) => match self.buffer(path) {
                Some(text) => Ok(text.into_bytes().into()),
                None => read_bounded(&real),
            },
            None => Err("it is outside of the directory of the suite".to_owned()),
        };
        cache.contents.insert(path.to_owned(), content.clone());
        content
    }

    fn read_beyond(&self, path: &str) -> Option<Arc<[u8]>> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(content) = cache.beyond.get(path) {
            return content.clone();
        }
        let place = self.root.join(path);
        cache.seen.insert(lexical(&place));
        let real = self.workspace().and_then(|workspace| {
            let real = fs::canonicalize(&place).ok()?;
            real.starts_with(workspace).then_some(real)
        });
        cache.seen.extend(real.clone());
        let content = real.and_then(|real| read_bounded(&real).ok());
        cache.beyond.insert(path.to_owned(), content.clone());
        content
    }

    fn parts_are_checked(&self) -> bool {
        self.with_parts
    }

    fn named(&self, path: &str) -> Lead {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lead) = cache.named.get(path) {
            return lead.clone();
        }
        let (lead, real) = self.locate(path);
        let is_directory = matches!(lead, Lead::Found { kind: FileKind::Directory, .. });
        for place in [lexical(&self.root.join(path)), real] {
            if is_directory {
                cache.listed.insert(place.clone());
            }
            cache.seen.insert(place);
        }
        cache.named.insert(path.to_owned(), lead.clone());
        lead
    }

    fn read_named(&self, path: &str) -> Result<Arc<[u8]>, String> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(content) = cache.named_contents.get(path) {
            return content.clone();
        }
        let place = lexical(&self.root.join(path));
        cache.seen.insert(place.clone());
        cache.read.insert(place);
        let content = match self.locate(path) {
            (Lead::Unread, _) => Err("it is outside of the workspace".to_owned()),
            (Lead::Found { .. } | Lead::Nothing, real) => match self.buffer(path) {
                Some(text) => Ok(text.into_bytes().into()),
                None => read_bounded(&real),
            },
        };
        cache.named_contents.insert(path.to_owned(), content.clone());
        content
    }

    fn list_named(&self, directory: &str) -> Vec<(String, FileKind)> {
        // What lies below is listed as for everybody.
        if !directory.starts_with("..") {
            return self.list(directory);
        }
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entries) = cache.named_lists.get(directory) {
            return entries.clone();
        }
        cache.follow(lexical(&self.root.join(directory)));
        let entries = match self.locate(directory) {
            (Lead::Found { .. }, real) => self.entries(directory, &real),
            (Lead::Nothing | Lead::Unread, _) => Vec::new(),
        };
        cache.named_lists.insert(directory.to_owned(), entries.clone());
        entries
    }

    fn list(&self, directory: &str) -> Vec<(String, FileKind)> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entries) = cache.lists.get(directory) {
            return entries.clone();
        }
        let Some(real) = self.real(&mut cache, directory) else { return Vec::new() };
        cache.listed.insert(lexical(&self.root.join(directory)));
        let entries = self.entries(directory, &real);
        cache.lists.insert(directory.to_owned(), entries.clone());
        entries
    }

    fn place(&self) -> &str {
        &self.place
    }

    fn main(&self) -> Option<&str> {
        self.main.as_deref()
    }
}

/// A path with `/` between its names.
pub fn slashed(path: &Path) -> String {
    let names = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_string_lossy()),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => None,
    });
    names.collect::<Vec<_>>().join("/")
}

/// The way from a directory to a path, both absolute and without symbolic links.
pub fn way(directory: &Path, path: &Path) -> Option<String> {
    let common = directory.components().zip(path.components()).take_while(|(one, other)| one == other).count();
    let up = directory.components().skip(common).map(|_| Some(".."));
    let down = path.components().skip(common).map(|name| name.as_os_str().to_str());
    Some(up.chain(down).collect::<Option<Vec<_>>>()?.join("/"))
}

/// A path without `.`, and with `..` only at its beginning.
fn normal_from(path: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." if names.last().is_some_and(|last| *last != "..") => drop(names.pop()),
            name => names.push(name),
        }
    }
    names.join("/")
}

/// A path without `.` and `..`, as far as they have names before them.
fn normal(path: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    names.join("/")
}

/// A path without `..`, whatever stands there.
pub fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            Component::Normal(_) | Component::Prefix(_) | Component::RootDir => plain.push(component),
        }
    }
    plain
}

fn kind_of(metadata: &fs::Metadata) -> FileKind {
    if metadata.is_file() {
        FileKind::File
    } else if metadata.is_dir() {
        FileKind::Directory
    } else {
        FileKind::Other
    }
}

/// Reads a regular file that is not too large. A pipe is not read: nobody may ever write to it.
fn read_bounded(path: &Path) -> Result<Arc<[u8]>, String> {
    let reason = |error: std::io::Error| error.to_string();
    let metadata = fs::metadata(path).map_err(reason)?;
    if !metadata.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let mut content = Vec::new();
    fs::File::open(path).map_err(reason)?.take(SIZE_LIMIT + 1).read_to_end(&mut content).map_err(reason)?;
    if content.len() as u64 > SIZE_LIMIT {
        return Err(format!("it is larger than {} MB", SIZE_LIMIT / 1024 / 1024));
    }
    Ok(content.into())
}

#[cfg(test)]
mod tests;

//! The files below a suite's directory, as the pure parts may ask for them: bounded, cached until
//! something changes, and never outside of the directory, but for the files of its workspace that a command
//! names.

use std::{
    collections::{HashMap, HashSet},
    fs,
    io::Read,
    path::{Component, Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use speclens_schema::files::{FileKind, Files};

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
    /// The directory of the whole workspace, once somebody asked for it.
    workspace: OnceLock<Option<PathBuf>>,
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
    /// Where links lead that were followed, from the real directory.
    linked: HashSet<String>,
}

impl DiskFiles {
    /// The files below `root`, seen by the document that stands at `place` there.
    pub fn new(root: &Path, place: &str) -> DiskFiles {
        DiskFiles {
            root: root.to_owned(),
            place: place.to_owned(),
            main: None,
            buffers: None,
            workspace: OnceLock::new(),
            cache: Mutex::default(),
        }
    }

    /// The same, seen by a document that a main file names.
    pub fn named_by(mut self, main: Option<String>) -> DiskFiles {
        self.main = main;
        self
    }

    /// The same with what open documents hold.
    pub fn over(mut self, buffers: Arc<dyn Buffers>) -> DiskFiles {
        self.buffers = Some(buffers);
        self
    }

    /// Whether anything that was seen depends on a file, or a directory, that changed.
    pub fn has_seen(&self, path: &Path) -> bool {
        let cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        // What lies beyond is known by whole paths, some of them through links.
        let is_beyond = |seen: &String| {
            let seen = self.root.join(seen);
            lexical(&seen).starts_with(path) || fs::canonicalize(&seen).is_ok_and(|real| real.starts_with(path))
        };
        if cache.beyond.keys().any(is_beyond) || self.root.starts_with(path) {
            return true;
        }
        let Ok(relative) = path.strip_prefix(&self.root) else { return false };
        let (path, parent) = (slashed(relative), relative.parent().map(slashed).unwrap_or_default());
        let same = |seen: &String| normal(seen) == path;
        let below = |seen: &String| normal(seen).strip_prefix(path.as_str()).is_some_and(|rest| rest.starts_with('/'));
        let listed = |seen: &String| [&path, &parent].into_iter().any(|changed| normal(seen) == *changed);
        cache.contents.keys().any(|seen| same(seen) || below(seen))
            || cache.kinds.keys().any(|seen| same(seen) || below(seen))
            || cache.lists.keys().any(|seen| listed(seen) || below(seen))
            || cache.linked.iter().any(|seen| listed(seen) || below(seen))
    }

    /// Whether the content of a file was asked for.
    pub fn has_read(&self, path: &Path) -> bool {
        let Ok(relative) = path.strip_prefix(&self.root).map(slashed) else { return false };
        let cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.contents.keys().any(|seen| normal(seen) == relative)
    }

    /// The text of an open document.
    fn buffer(&self, path: &str) -> Option<String> {
        self.buffers.as_ref()?.text(&self.root.join(normal(path)))
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
        // A symbolic link must not lead out either.
        match (fs::canonicalize(&self.root), fs::canonicalize(&real)) {
            (Ok(root), Ok(target)) => {
                let below = slashed(target.strip_prefix(&root).ok()?);
                if below != normal(path) {
                    cache.linked.insert(below);
                }
                Some(target)
            }
            // Nothing is there: whoever opens it is told so.
            (Ok(root), Err(_)) => {
                let place =
                    real.ancestors().skip(1).find_map(|ancestor| Some((ancestor, fs::canonicalize(ancestor).ok()?)));
                let place = place.and_then(|(ancestor, target)| Some(target.join(real.strip_prefix(ancestor).ok()?)));
                let below = place.and_then(|place| place.strip_prefix(&root).ok().map(slashed));
                cache.linked.extend(below.filter(|below| *below != normal(path)));
                Some(real)
            }
            (Err(_), Ok(_) | Err(_)) => Some(real),
        }
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
        let content = match self.real(&mut cache, path) {
            Some(real) => match self.buffer(path) {
                Some(text) => Ok(text.into_bytes().into()),
                None => read_bounded(&real),
            },
            None => Err("it lies outside of the suite's directory".to_owned()),
        };
        cache.contents.insert(path.to_owned(), content.clone());
        content
    }

    fn read_beyond(&self, path: &str) -> Option<Arc<[u8]>> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(content) = cache.beyond.get(path) {
            return content.clone();
        }
        let real = self.workspace().and_then(|workspace| {
            let real = fs::canonicalize(self.root.join(path)).ok()?;
            real.starts_with(workspace).then_some(real)
        });
        let content = real.and_then(|real| read_bounded(&real).ok());
        cache.beyond.insert(path.to_owned(), content.clone());
        content
    }

    fn list(&self, directory: &str) -> Vec<(String, FileKind)> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entries) = cache.lists.get(directory) {
            return entries.clone();
        }
        let Some(real) = self.real(&mut cache, directory) else { return Vec::new() };
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
        let open = self.buffers.as_ref().map(|buffers| buffers.below(&self.root.join(normal(directory))));
        for path in open.into_iter().flatten() {
            let Ok(below) = path.strip_prefix(self.root.join(normal(directory))).map(slashed) else { continue };
            let (name, kind) = match below.split_once('/') {
                Some((name, _)) => (name.to_owned(), FileKind::Directory),
                None => (below, FileKind::File),
            };
            if !name.is_empty() && !entries.iter().any(|(known, _)| *known == name) {
                entries.push((name, kind));
            }
        }
        entries.sort_by(|one, other| one.0.cmp(&other.0));
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
fn lexical(path: &Path) -> PathBuf {
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
mod tests {
    use std::{
        path::{Path, PathBuf},
        sync::Arc,
    };

    use speclens_schema::files::{FileKind, Files};

    use super::{Buffers, DiskFiles};

    #[test]
    fn only_what_lies_below_the_directory_is_seen() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("suite")).unwrap();
        std::fs::write(directory.path().join("secret"), "x").unwrap();
        std::fs::write(directory.path().join("suite/a.json"), "{}").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(directory.path().join("secret"), directory.path().join("suite/link")).unwrap();
        let files = DiskFiles::new(&directory.path().join("suite"), "kindlm.yaml");
        assert_eq!(files.kind("link"), None);
        assert!(files.read("link").is_err());
        assert_eq!(files.kind("a.json"), Some(FileKind::File));
        assert_eq!(files.kind("./x/../a.json"), None, "x does not exist");
        assert_eq!(files.kind("../secret"), None);
        assert!(files.read("../secret").is_err());
        assert!(files.read(directory.path().join("secret").to_str().unwrap()).is_err());
        assert!(files.list(".").contains(&("a.json".to_owned(), FileKind::File)));
        assert_eq!(files.list(".."), []);
    }

    #[test]
    fn beyond_the_directory_only_the_workspace_is_seen() {
        let directory = tempfile::tempdir().unwrap();
        let inside = directory.path().join("workspace/suite");
        std::fs::create_dir_all(&inside).unwrap();
        std::fs::write(directory.path().join("secret"), "x").unwrap();
        std::fs::write(directory.path().join("workspace/run.sh"), "echo").unwrap();
        let script = directory.path().join("workspace/run.sh");
        let read = |path: &str| DiskFiles::new(&inside, "kindlm.yaml").read_beyond(path).is_some();
        assert!(!read("../run.sh"), "nothing says how far the workspace reaches");
        std::fs::write(directory.path().join("workspace/speclens.yaml"), "").unwrap();
        assert!(read("../run.sh") && read(script.to_str().unwrap()));
        assert!(!read("../../secret") && !read("../none") && !read(".."));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("../../secret", directory.path().join("workspace/link")).unwrap();
            assert!(!read("../link"));
        }
    }

    #[derive(Debug)]
    struct Open(Vec<(PathBuf, &'static str)>);

    impl Buffers for Open {
        fn text(&self, path: &Path) -> Option<String> {
            self.0.iter().find(|(open, _)| open == path).map(|(_, text)| (*text).to_owned())
        }

        fn below(&self, directory: &Path) -> Vec<PathBuf> {
            self.0.iter().map(|(path, _)| path.clone()).filter(|path| path.starts_with(directory)).collect()
        }
    }

    #[test]
    fn what_an_editor_holds_counts() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        std::fs::write(root.join("a.yaml"), "disk").unwrap();
        let open = [(root.join("a.yaml"), "edited"), (root.join("new/b.yaml"), "unsaved")];
        let files = DiskFiles::new(root, "kindlm.yaml").over(Arc::new(Open(open.to_vec())));
        assert_eq!(&*files.read("./a.yaml").unwrap(), b"edited");
        assert_eq!(&*files.read("new/b.yaml").unwrap(), b"unsaved");
        assert_eq!(files.kind("new/b.yaml"), Some(FileKind::File));
        assert!(files.list("").contains(&("new".to_owned(), FileKind::Directory)));
        assert!(files.has_read(&root.join("a.yaml")) && !files.has_read(&root.join("c.yaml")));
        assert!(files.has_seen(&root.join("c.yaml")), "the directory was listed");
        assert!(!files.has_seen(&root.join("deep/er/c.yaml")));
    }

    #[test]
    fn what_was_seen_is_forgotten_when_told() {
        let directory = tempfile::tempdir().unwrap();
        let files = DiskFiles::new(directory.path(), "kindlm.yaml");
        assert!(files.read("a").is_err());
        std::fs::write(directory.path().join("a"), "x").unwrap();
        assert!(files.read("a").is_err(), "kept until told");
        files.forget();
        assert_eq!(&*files.read("a").unwrap(), b"x");
    }
}

//! The inputs of commands: the files that settings declare, and the content of scaffolds, with its modes.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use ignore::WalkBuilder;
use sha2::{Digest as _, Sha256};
use speclens_schema::files::{self, Inputs, short};

use super::disk::{Digests, relative_path, slashed};

/// Maximum number of files of one entry. Files beyond it are ignored, and noted.
const MAX_FILES: usize = 20_000;

const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// Maximum number of files that are listed one by one; the others share a digest.
const MAX_LISTED: usize = 64;

/// Directories whose content is never an input: it changes whenever something is recorded.
const EXCLUDED: [&str; 2] = [".git", ".speclens"];

/// Files that are declared, relative to a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    directory: PathBuf,
    patterns: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct DeclaredInputs {
    /// The files by their paths from the root, each with a digest; those beyond the first few under the entry that
    /// includes them.
    pub(super) inputs: Inputs,
    pub(super) cut: Vec<String>,
}

impl Declared {
    /// Declares paths and patterns relative to a directory. Those that lead out of it are omitted.
    pub fn new(directory: &Path, entries: &[String]) -> Declared {
        let patterns = entries.iter().filter_map(|entry| Declared::pattern(entry)).collect();
        Declared { directory: directory.to_owned(), patterns }
    }

    /// Returns an entry without `.` and `..`, the empty string for the directory itself; `None` if it leads out.
    pub fn pattern(entry: &str) -> Option<String> {
        let is_whole =
            !entry.is_empty() && entry.split('/').all(|step| matches!(step, "" | ".")) && !entry.starts_with('/');
        if is_whole { Some(String::new()) } else { files::inside(entry) }
    }

    pub(super) fn look(&self, root: &Path, digests: &Digests) -> DeclaredInputs {
        let Ok(directory) = fs::canonicalize(&self.directory) else { return DeclaredInputs::default() };
        let root = fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        let DeclaredInputs { mut inputs, mut cut } = DeclaredInputs::default();
        let mut left = MAX_BYTES;
        for pattern in &self.patterns {
            let mut rest = Sha256::new();
            let mut has_rest = false;
            let files = files_of(&directory, pattern);
            if files.len() > MAX_FILES {
                cut.push(if pattern.is_empty() { ".".to_owned() } else { pattern.clone() });
            }
            for (name, path) in files.into_iter().take(MAX_FILES) {
                let digest = digests.of(&path, &mut left);
                let Some((name, digest)) = relative_path(&root, &directory.join(&name)).zip(digest) else { continue };
                if inputs.len() < MAX_LISTED || inputs.contains_key(&name) {
                    inputs.insert(name, digest);
                } else {
                    has_rest = true;
                    rest.update(format!("{name}\0{digest}\n"));
                }
            }
            if has_rest && let Some(name) = relative_path(&root, &directory.join(pattern)) {
                inputs.insert(format!("{name}/"), short(&rest.finalize()));
            }
        }
        DeclaredInputs { inputs, cut }
    }

    pub(super) fn concerns(&self, path: &Path) -> bool {
        if self.directory.starts_with(path) {
            return true;
        }
        let Ok(below) = path.strip_prefix(&self.directory) else { return false };
        let is_excluded = below.components().any(|step| EXCLUDED.iter().any(|name| step.as_os_str() == *name));
        !is_excluded
            && self.patterns.iter().any(|pattern| {
                let fixed = Path::new(fixed(pattern));
                below.starts_with(fixed) || fixed.starts_with(below)
            })
    }
}

fn fixed(pattern: &str) -> &str {
    let Some(wild) = pattern.find(is_wild) else { return pattern };
    pattern[..wild].rsplit_once('/').map_or("", |(fixed, _)| fixed)
}

fn is_wild(letter: char) -> bool {
    matches!(letter, '*' | '?' | '[')
}

fn files_of(directory: &Path, pattern: &str) -> BTreeMap<String, PathBuf> {
    let start = directory.join(fixed(pattern));
    let real = |path: &Path| fs::canonicalize(path).ok().filter(|real| real.starts_with(directory));
    let Some(found) = real(&start) else { return BTreeMap::new() };
    if found.is_file() {
        return BTreeMap::from([(pattern.to_owned(), found)]);
    }
    let is_pattern = pattern.contains(is_wild);
    let is_excluded = |name: &std::ffi::OsStr| EXCLUDED.iter().any(|excluded| name == *excluded);
    let mut walk = WalkBuilder::new(&start);
    walk.require_git(false).hidden(false).sort_by_file_path(Ord::cmp);
    walk.filter_entry(move |entry| !is_excluded(entry.file_name()));
    let files = walk.build().flatten().filter_map(|entry| {
        let name = slashed(entry.path().strip_prefix(directory).ok()?);
        if is_pattern && !files::matches(pattern, &name) {
            return None;
        }
        let real = if entry.path_is_symlink() { real(entry.path())? } else { entry.path().to_owned() };
        real.is_file().then_some((name, real))
    });
    files.take(MAX_FILES + 1).collect()
}

/// Reads everything below a directory, which the suite calls `name`. `follow` receives each directory, by its relative
/// path, before it is listed. If there is too much to list one by one, entries of the same directory share a digest.
pub(super) fn content_of(root: &Path, name: &str, digests: &Digests, mut follow: impl FnMut(&Path)) -> Inputs {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let mut left = MAX_BYTES;
    let mut open = vec![PathBuf::new()];
    while let Some(directory) = open.pop() {
        follow(&directory);
        let entries =
            fs::read_dir(root.join(&directory)).into_iter().flatten().flatten().map(|entry| entry.file_name());
        let counts = |name: &std::ffi::OsString| !EXCLUDED.iter().any(|excluded| name == *excluded);
        let mut names: Vec<_> = entries.filter(counts).take(MAX_FILES.saturating_sub(found.len())).collect();
        names.sort();
        for child in names {
            let path = directory.join(child);
            let Some((kind, digest)) = digest_of(&root.join(&path), digests, &mut left) else { continue };
            let below = slashed(&path);
            match kind {
                Kind::Directory => {
                    found.insert(format!("{below}/"), digest);
                    open.push(path);
                }
                Kind::Leaf => drop(found.insert(below, digest)),
            }
        }
    }
    let full = |below: &str| if name.is_empty() { below.to_owned() } else { format!("{name}/{below}") };
    grouped(&found).into_iter().map(|(below, digest)| (full(&below), digest)).collect()
}

enum Kind {
    Directory,
    Leaf,
}

/// Returns the kind and a digest of an entry. Only the owner's permissions count: those of others depend on the
/// machine.
fn digest_of(path: &Path, digests: &Digests, left: &mut u64) -> Option<(Kind, String)> {
    let metadata = fs::symlink_metadata(path).ok()?;
    let mode = mode(&metadata);
    if metadata.is_dir() {
        return Some((Kind::Directory, short(&Sha256::digest(format!("directory {mode}")))));
    }
    let content = if metadata.is_symlink() {
        format!("link {}", fs::read_link(path).ok()?.display())
    } else {
        format!("file {mode} {}", digests.of(path, left)?)
    };
    Some((Kind::Leaf, short(&Sha256::digest(content))))
}

#[cfg(unix)]
fn mode(metadata: &fs::Metadata) -> u32 {
    std::os::unix::fs::MetadataExt::mode(metadata) & 0o700
}

#[cfg(not(unix))]
fn mode(_: &fs::Metadata) -> u32 {
    0
}

/// Returns the entries as they are; if there are too many, by directory; if there are still too many, by top-level
/// entry; or else as one.
fn grouped(found: &BTreeMap<String, String>) -> Inputs {
    if found.len() <= MAX_LISTED {
        return found.clone();
    }
    let directory = |path: &str| path.trim_end_matches('/').rfind('/').map_or(0, |end| end + 1);
    let top = |path: &str| path.find('/').map_or(0, |end| end + 1);
    let groups: [&dyn Fn(&str) -> usize; 3] = [&directory, &top, &|_| 0];
    let grouped = groups.map(|end| {
        let mut hashes: BTreeMap<&str, Sha256> = BTreeMap::new();
        for (path, digest) in found {
            hashes.entry(&path[..end(path)]).or_default().update(format!("{path}\0{digest}\n"));
        }
        hashes
    });
    let few = grouped.into_iter().find(|hashes| hashes.len() <= MAX_LISTED).unwrap_or_default();
    few.into_iter().map(|(below, hash)| (below.to_owned(), short(&hash.finalize()))).collect()
}

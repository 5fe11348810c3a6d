//! The content of a scaffold: files, directories and links, with their modes.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use sha2::{Digest as _, Sha256};
use speclens_schema::files::{Inputs, short};

use super::{
    Digests,
    declared::{EXCLUDED, MAX_BYTES, MAX_FILES, MAX_LISTED},
    slashed,
};

/// Reads everything below a directory, which the suite calls `name`. `follow` receives each directory, by its relative
/// path, before it is listed. If there is too much to list one by one, entries of the same directory share a digest.
pub(super) fn look(root: &Path, name: &str, digests: &Digests, mut follow: impl FnMut(&Path)) -> Inputs {
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

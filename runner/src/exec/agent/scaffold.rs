//! Copies the initial directory of a task.
//!
//! Everything is checked before anything is copied, so a refused scaffold leaves nothing behind. A link that leads out
//! of the scaffold would let an agent write to its target, so it is refused.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
};

use speclens_schema::evidence::{RunError, RunErrorKind};
use tokio_util::sync::CancellationToken;

const MAX_ENTRIES: usize = 20_000;

const MAX_MIB: u64 = 1024;

/// An entry of a scaffold, by its relative path.
struct Entry {
    path: PathBuf,
    kind: Kind,
    permissions: fs::Permissions,
}

enum Kind {
    Directory,
    File,
    Link(PathBuf),
}

/// Copies a scaffold, whose path is relative to the directory of the suite, into the directory of the task. Existing
/// entries of the same name are replaced.
pub(super) async fn copy(scaffold: &str, suite: &Path, to: &Path, cancel: &CancellationToken) -> Result<(), RunError> {
    // Dropping the future stops the copying, too.
    let stop = cancel.child_token();
    let _guard = stop.clone().drop_guard();
    let (name, from, to) = (scaffold.to_owned(), suite.join(scaffold), to.to_owned());
    let copied = tokio::task::spawn_blocking(move || copy_all(&name, &from, &to, &stop)).await;
    copied.unwrap_or_else(|_| Err(refused("copying the scaffold ended early; this is a bug in speclens")))
}

fn copy_all(name: &str, from: &Path, to: &Path, stop: &CancellationToken) -> Result<(), RunError> {
    let unreadable = |error: io::Error| refused(format!("cannot read the scaffold `{name}`: {error}"));
    let root = from.canonicalize().map_err(unreadable)?;
    if !root.is_dir() {
        return Err(refused(format!("the scaffold `{name}` is not a directory")));
    }
    if to.canonicalize().is_ok_and(|to| to.starts_with(&root)) {
        return Err(refused(format!(
            "the scaffold `{name}` contains the working directory {}, so it would be copied into itself",
            to.display()
        )));
    }
    let entries = list(name, &root, stop)?;
    for entry in &entries {
        if stop.is_cancelled() {
            return Err(cancelled());
        }
        let target = to.join(&entry.path);
        copy_one(&root, entry, &target).map_err(|error| {
            refused(format!("cannot copy `{}` of the scaffold `{name}`: {error}", entry.path.display()))
        })?;
    }
    // Deepest first, and after their content: some may be read-only.
    for entry in entries.iter().rev().filter(|entry| matches!(entry.kind, Kind::Directory)) {
        fs::set_permissions(to.join(&entry.path), entry.permissions.clone()).map_err(unreadable)?;
    }
    Ok(())
}

fn list(name: &str, root: &Path, stop: &CancellationToken) -> Result<Vec<Entry>, RunError> {
    let mut entries = Vec::new();
    let mut bytes = 0;
    let mut open = vec![PathBuf::new()];
    while let Some(directory) = open.pop() {
        let unreadable = |error: io::Error| {
            refused(format!("cannot read `{}` of the scaffold `{name}`: {error}", directory.display()))
        };
        let mut names = Vec::new();
        for child in fs::read_dir(root.join(&directory)).map_err(unreadable)? {
            names.push(child.map_err(unreadable)?.file_name());
            if entries.len() + names.len() > MAX_ENTRIES {
                return Err(too_large(name, &format!("has more than {MAX_ENTRIES} files")));
            }
        }
        names.sort();
        for child in names {
            if stop.is_cancelled() {
                return Err(cancelled());
            }
            let path = directory.join(child);
            let found = root.join(&path);
            let metadata = fs::symlink_metadata(&found).map_err(unreadable)?;
            let kind = if metadata.is_dir() {
                open.push(path.clone());
                Kind::Directory
            } else if metadata.is_file() {
                bytes += metadata.len();
                if bytes > MAX_MIB * 1024 * 1024 {
                    return Err(too_large(name, &format!("is larger than {MAX_MIB} MiB")));
                }
                Kind::File
            } else if metadata.is_symlink() {
                let target = fs::read_link(&found).map_err(unreadable)?;
                if leads_out(root, &directory, &target) {
                    return Err(refused(format!(
                        "the link `{}` of the scaffold `{name}` leads out of the scaffold, to `{}`; copy its target \
                         into the scaffold",
                        path.display(),
                        target.display()
                    )));
                }
                Kind::Link(target)
            } else {
                return Err(refused(format!(
                    "`{}` of the scaffold `{name}` is a pipe, a socket or a device; remove it, or create it in `setup`",
                    path.display()
                )));
            };
            entries.push(Entry { path, kind, permissions: metadata.permissions() });
        }
    }
    Ok(entries)
}

/// Returns whether a link in a directory of the scaffold leads out of the scaffold at any step. The copy is elsewhere,
/// so an absolute target, and one that comes back by the name of the scaffold, lead out, too.
fn leads_out(root: &Path, directory: &Path, target: &Path) -> bool {
    let mut place = root.join(directory);
    for component in target.components() {
        match component {
            Component::Prefix(_) | Component::RootDir => return true,
            Component::CurDir => {}
            Component::ParentDir => {
                place.pop();
            }
            Component::Normal(name) => {
                place.push(name);
                // A path that does not exist leads nowhere.
                if let Ok(real) = place.canonicalize() {
                    place = real;
                }
            }
        }
        if !place.starts_with(root) {
            return true;
        }
    }
    false
}

fn copy_one(root: &Path, entry: &Entry, target: &Path) -> io::Result<()> {
    let known = fs::symlink_metadata(target).ok();
    match &entry.kind {
        Kind::Directory => match known {
            // A link to a directory would lead its entries to the target of the link.
            Some(known) if !known.is_dir() => {
                fs::remove_file(target)?;
                fs::create_dir(target)
            }
            Some(_) => Ok(()),
            None => fs::create_dir(target),
        },
        Kind::File => {
            if known.is_some() {
                fs::remove_file(target)?;
            }
            fs::copy(root.join(&entry.path), target).map(|_| ())
        }
        Kind::Link(to) => {
            if known.is_some() {
                fs::remove_file(target)?;
            }
            link(to, target)
        }
    }
}

#[cfg(unix)]
fn link(to: &Path, at: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(to, at)
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "symbolic links cannot be copied on this system"))
}

fn too_large(name: &str, what: &str) -> RunError {
    refused(format!("the scaffold `{name}` {what}; create large parts, such as installed packages, in `setup` instead"))
}

fn refused(message: impl Into<String>) -> RunError {
    RunError::new(RunErrorKind::Workspace, message)
}

fn cancelled() -> RunError {
    RunError::new(RunErrorKind::Cancelled, "cancelled while the scaffold was copied")
}

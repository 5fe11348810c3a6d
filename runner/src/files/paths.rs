//! Paths as text: with slashes, relative to a directory, without `.` and `..`.

use std::path::{Component, Path, PathBuf};

/// Returns a path with `/` between its names.
pub fn slashed(path: &Path) -> String {
    let names = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_string_lossy()),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => None,
    });
    names.collect::<Vec<_>>().join("/")
}

/// Returns the relative path from a directory to a path, both absolute and without symbolic links.
pub fn relative_path(directory: &Path, path: &Path) -> Option<String> {
    let common = directory.components().zip(path.components()).take_while(|(one, other)| one == other).count();
    let up = directory.components().skip(common).map(|_| Some(".."));
    let down = path.components().skip(common).map(|name| name.as_os_str().to_str());
    Some(up.chain(down).collect::<Option<Vec<_>>>()?.join("/"))
}

/// Returns a path without `.`, and with `..` only at its beginning.
pub(super) fn normal_from(path: &str) -> String {
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

/// Returns a path without `.`, and without `..` as far as there are names before it.
pub(super) fn normal(path: &str) -> String {
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

/// Returns a path without `..`, without looking at the disk.
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

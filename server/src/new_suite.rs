//! New suites: the starters of the formats, in one file or several.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use speclens_schema::format::{Dialect, Starter};

/// Returns the formats that have a starter.
pub(crate) fn starters() -> impl Iterator<Item = (Dialect, Starter)> {
    Dialect::all().filter_map(|dialect| Some((dialect, dialect.starter()?)))
}

/// Writes the files of a starter into a directory. Returns their paths, the suite first.
pub(crate) fn write(directory: &Path, starter: Starter) -> anyhow::Result<Vec<PathBuf>> {
    let paths = || starter.files.iter().map(|(path, text)| (directory.join(path), path, text));
    // All of them or none: half a suite is useless.
    if let Some((_, path, _)) = paths().find(|(path, ..)| path.symlink_metadata().is_ok()) {
        bail!("`{path}` already exists, so nothing was written; move or rename it first");
    }
    for (path, _, text) in paths() {
        create(&path, text)?;
    }
    Ok(paths().map(|(path, ..)| path).collect())
}

fn create(path: &Path, text: &str) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot create the directory `{}`", folder.display()))?;
    }
    match fs::File::create_new(path) {
        Ok(mut file) => file.write_all(text.as_bytes()).with_context(|| format!("cannot write `{}`", path.display())),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            bail!("`{}` already exists and was not changed; move or rename it first", path.display())
        }
        Err(error) => Err(error).with_context(|| format!("cannot write `{}`", path.display())),
    }
}

//! The folders in which the person allowed commands of suites to run: one canonical path a line in
//! `$XDG_STATE_HOME/speclens/trusted-folders` (`~/.local/state/…` without the variable).

use std::{
    env, fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};

/// Whether a directory, or one that it lies in, is trusted.
pub fn is_trusted(directory: &Path) -> bool {
    let Ok(directory) = directory.canonicalize() else { return false };
    let Some(text) = store().and_then(|store| fs::read_to_string(store).ok()) else { return false };
    text.lines().filter(|line| !line.is_empty()).any(|line| directory.starts_with(line))
}

/// Trusts a directory and all below it from now on. Says which one, by its real path.
pub fn trust(directory: &Path) -> anyhow::Result<PathBuf> {
    let directory = directory.canonicalize().with_context(|| format!("{} cannot be trusted", directory.display()))?;
    if !directory.is_dir() {
        bail!("{} is not a directory: trust the folder that holds the suite", directory.display());
    }
    let Some(line) = directory.to_str().filter(|path| !path.contains('\n')) else {
        bail!("{} has a name that cannot be stored: rename it", directory.display());
    };
    let Some(store) = store() else {
        bail!("neither XDG_STATE_HOME nor HOME is set: there is no place to remember trust");
    };
    if is_trusted(&directory) {
        return Ok(directory);
    }
    let mut text = match fs::read_to_string(&store) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).with_context(|| format!("{} cannot be read", store.display())),
    };
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(line);
    text.push('\n');
    write_whole(&store, &text).with_context(|| format!("{} cannot be written", store.display()))?;
    Ok(directory)
}

fn store() -> Option<PathBuf> {
    Some(state_directory()?.join("trusted-folders"))
}

/// Where the program keeps what belongs to the person.
pub(crate) fn state_directory() -> Option<PathBuf> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))?;
    Some(state.join("speclens"))
}

/// Replaces a file in one step, so that nobody ever reads half of it.
pub(crate) fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory)?;
    let temporary = directory.join(format!(".new.{}", std::process::id()));
    let written = fs::File::create(&temporary)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

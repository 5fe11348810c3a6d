//! The folders in which the user allows commands of suites to run: one canonical path per line in
//! `$XDG_STATE_HOME/speclens/trusted-folders` (`~/.local/state/…` without the variable).

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use anyhow::{Context, bail};
use speclens_runner::{
    recording::Machine,
    write::{self, Readers},
};

pub(crate) fn is_trusted(directory: &Path) -> bool {
    let Ok(directory) = directory.canonicalize() else { return false };
    list().is_ok_and(|trusted| trusted.iter().any(|trusted| directory.starts_with(trusted)))
}

pub(crate) fn list() -> anyhow::Result<Vec<PathBuf>> {
    let Some(store) = store() else { return Ok(Vec::new()) };
    let text = match fs::read_to_string(&store) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).with_context(|| format!("{} cannot be read", store.display())),
    };
    Ok(text.lines().filter(|line| !line.is_empty()).map(PathBuf::from).collect())
}

/// Removes a directory from the trusted ones. Returns its canonical path; a deleted directory is taken as written.
pub(crate) fn remove(directory: &Path) -> anyhow::Result<PathBuf> {
    let _lock = lock()?;
    let directory = match directory.canonicalize() {
        Ok(directory) => directory,
        Err(_) => std::path::absolute(directory)?,
    };
    let mut trusted = list()?;
    if let Some(at) = trusted.iter().position(|trusted| *trusted == directory) {
        trusted.remove(at);
        write(&trusted)?;
    } else if !is_trusted(&directory) {
        bail!("{} is not trusted; `speclens trust --list` lists the trusted directories", directory.display());
    }
    if let Some(above) = trusted.iter().find(|trusted| directory.starts_with(trusted)) {
        let (above, directory) = (above.display(), directory.display());
        bail!("{directory} is still trusted, because it is in {above}; remove {above} as well");
    }
    Ok(directory)
}

fn write(trusted: &[PathBuf]) -> anyhow::Result<()> {
    let Some(store) = store() else {
        bail!("cannot store the trusted directories: neither XDG_STATE_HOME nor HOME is set");
    };
    let text: String = trusted.iter().map(|trusted| format!("{}\n", trusted.display())).collect();
    write_whole(&store, &text).with_context(|| format!("{} cannot be written", store.display()))
}

pub(crate) fn trust(directory: &Path) -> anyhow::Result<PathBuf> {
    let named = directory.display();
    let directory = match directory.canonicalize() {
        Ok(directory) => directory,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            bail!("cannot trust `{named}`: the directory does not exist; name the directory of the suite")
        }
        Err(error) => bail!("cannot trust `{named}`: {error}; make its parent directories readable"),
    };
    if !directory.is_dir() {
        bail!("cannot trust `{named}`: not a directory; name the directory of the suite");
    }
    if directory.to_str().is_none_or(|path| path.contains('\n')) {
        bail!("cannot trust `{named}`: its name has a line break or is not UTF-8; rename it");
    }
    if !is_trusted(&directory) {
        let _lock = lock()?;
        let mut trusted = list()?;
        trusted.push(directory.clone());
        write(&trusted)?;
    }
    Ok(directory)
}

/// Waits until no other process changes the list, and keeps others from it while the result lives.
fn lock() -> anyhow::Result<Option<fs::File>> {
    let Some(path) = store().map(|store| store.with_extension("lock")) else { return Ok(None) };
    let locked = || {
        private_directory(path.parent().unwrap_or(Path::new(".")))?;
        let file = fs::OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
        file.lock()?;
        Ok::<_, io::Error>(file)
    };
    locked().map(Some).with_context(|| format!("{} cannot be locked", path.display()))
}

fn store() -> Option<PathBuf> {
    Some(state_directory()?.join("trusted-folders"))
}

pub(crate) fn state_directory() -> Option<PathBuf> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))?;
    Some(state.join("speclens"))
}

pub(crate) fn machine() -> Option<Machine> {
    static MACHINE: OnceLock<Option<Machine>> = OnceLock::new();
    MACHINE.get_or_init(|| Machine::of(&state_directory()?)).clone()
}

/// Creates a directory that only its user can read; one that exists becomes so.
fn private_directory(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        if fs::metadata(directory)?.permissions().mode() & 0o077 != 0 {
            fs::set_permissions(directory, fs::Permissions::from_mode(0o700))?;
        }
    }
    Ok(())
}

/// Replaces a file of the state directory, so that no reader sees a part of it. Only the user can read it.
pub(crate) fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    private_directory(path.parent().unwrap_or(Path::new(".")))?;
    write::replace(path, text, Readers::Owner)
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    #[test]
    fn file_is_readable_by_its_user_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("state/speclens");
        std::fs::create_dir_all(&place).unwrap();
        super::write_whole(&place.join("page.md"), "text").unwrap();
        let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&place), mode(&place.join("page.md"))), (0o700, 0o600));
    }
}

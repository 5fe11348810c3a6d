//! The recording shells, as programs in a private directory.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use speclens_schema::words::shell_word;

use crate::exec::temporary::Temporary;

/// The shells that are replaced, if they are installed.
const SHELLS: [&str; 5] = ["sh", "bash", "dash", "ksh", "zsh"];

/// The shell that always exists.
const SH: &str = "/bin/sh";

/// Programs that replace shells, and their log. Dropping it removes both.
#[derive(Debug)]
pub(super) struct Shims {
    directory: Temporary,
    /// The replacement that `SHELL` names.
    pub(super) shell: PathBuf,
    /// The real `sh`.
    pub(super) real: String,
}

impl Shims {
    /// Writes the replacements. `path` and `shell` are the effective values of `PATH` and `SHELL`.
    pub(super) fn install(recorder: &Path, path: &str, shell: Option<&str>) -> io::Result<Shims> {
        // Other users must not read the log: such directories belong to their owner alone.
        let directory = Temporary::make()?;
        let programs = directory.path().join("bin");
        fs::create_dir(&programs)?;
        fs::create_dir(directory.path().join("log"))?;
        let real = find("sh", path).unwrap_or_else(|| SH.into());
        let mut installed = Vec::new();
        for name in SHELLS {
            let found = if name == "sh" { Some(real.clone()) } else { find(name, path) };
            if let Some(found) = found {
                write(&programs.join(name), recorder, &found)?;
                installed.push(name);
            }
        }
        let wanted = shell.and_then(|shell| Path::new(shell).file_name()?.to_str());
        let shell = wanted.filter(|wanted| installed.contains(wanted)).unwrap_or("sh");
        let real = real.to_str().ok_or_else(|| io::Error::other("the path of `sh` is not UTF-8"))?.to_owned();
        Ok(Shims { shell: programs.join(shell), directory, real })
    }

    /// Returns the directory of the replacements.
    pub(super) fn programs(&self) -> PathBuf {
        self.directory.path().join("bin")
    }

    /// Returns the directory of the log.
    pub(super) fn log(&self) -> PathBuf {
        self.directory.path().join("log")
    }
}

/// Returns the first program of a name in `PATH`.
fn find(name: &str, path: &str) -> Option<PathBuf> {
    let absolute = path.split(':').filter(|directory| directory.starts_with('/'));
    absolute.map(|directory| Path::new(directory).join(name)).find(|program| program.is_file())
}

/// Writes a replacement: within a recorded command it starts the real shell directly.
fn write(path: &Path, recorder: &Path, real: &Path) -> io::Result<()> {
    let word = |path: &Path| shell_word(&path.to_string_lossy());
    let (recorder, real) = (word(recorder), word(real));
    let within = super::WITHIN;
    let text = format!(
        "#!{SH}\n[ -n \"${within}\" ] && exec {real} \"$@\"\nexec {recorder} {} {real} \"$@\"\n",
        super::shell::SUBCOMMAND
    );
    fs::write(path, text)?;
    executable(path)
}

fn executable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_absolute_directories_are_searched() {
        assert_eq!(find("sh", ".:bin"), None);
        assert_eq!(find("no-such-shell", "/bin:/usr/bin"), None);
        assert!(find("sh", "/nowhere:/bin:/usr/bin").is_some());
    }
}

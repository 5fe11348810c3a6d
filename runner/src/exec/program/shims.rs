//! The recording shells, as programs in a private directory.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use speclens_schema::words::shell_word;

use super::log::{LOG, NESTED, SHELLS, SUBCOMMAND, Settings, WITHIN};
use crate::exec::temporary::Temporary;

/// A program that is a shell if its first argument says so.
const BUSYBOX: &str = "busybox";

const SH: &str = "/bin/sh";

/// Programs that replace shells, and their log. Dropping it removes both.
#[derive(Debug)]
pub(super) struct Shims {
    directory: Temporary,
    pub(super) shell: PathBuf,
    pub(super) real: String,
}

impl Shims {
    pub(super) fn install(recorder: &Path, path: &str, shell: Option<&str>, settings: &Settings) -> io::Result<Shims> {
        // Other users must not read the log: such directories belong to their owner alone.
        let directory = Temporary::make()?;
        let programs = directory.path().join("bin");
        fs::create_dir(&programs)?;
        fs::create_dir(directory.path().join(LOG))?;
        settings.write(directory.path())?;
        let real = find("sh", path).unwrap_or_else(|| SH.into());
        let mut installed = Vec::new();
        for name in SHELLS.into_iter().chain([BUSYBOX]) {
            let found = if name == "sh" { Some(real.clone()) } else { find(name, path) };
            if let Some(found) = found {
                write(&programs.join(name), recorder, directory.path(), &found)?;
                installed.push(name);
            }
        }
        let wanted = shell.and_then(|shell| Path::new(shell).file_name()?.to_str());
        let shell = wanted.filter(|wanted| installed.contains(wanted) && *wanted != BUSYBOX).unwrap_or("sh");
        let real = real.to_str().ok_or_else(|| io::Error::other("the path of `sh` is not UTF-8"))?.to_owned();
        Ok(Shims { shell: programs.join(shell), directory, real })
    }

    pub(super) fn programs(&self) -> PathBuf {
        self.directory.path().join("bin")
    }

    pub(super) fn log(&self) -> PathBuf {
        self.directory.path().join(LOG)
    }
}

fn find(name: &str, path: &str) -> Option<PathBuf> {
    let absolute = path.split(':').filter(|directory| directory.starts_with('/'));
    absolute.map(|directory| Path::new(directory).join(name)).find(|program| program.is_file())
}

/// Writes a replacement. Within a recorded command it starts the real shell directly, unless that may read its commands
/// from the input of the recorded one.
fn write(path: &Path, recorder: &Path, directory: &Path, real: &Path) -> io::Result<()> {
    let word = |path: &Path| shell_word(&path.to_string_lossy());
    let log = word(&directory.join(LOG));
    let (recorder, directory, real) = (word(recorder), word(directory), word(real));
    let no_shell = match path.file_name().is_some_and(|name| name == BUSYBOX) {
        true => format!("case ${{1-}} in sh|ash|hush) ;; *) exec {real} \"$@\" ;; esac\n"),
        false => String::new(),
    };
    let (within, nested, subcommand) = (WITHIN, NESTED, SUBCOMMAND);
    let text = format!(
        "#!{SH}\n\
         {no_shell}\
         if [ -n \"${{{within}-}}\" ]; then\n\
         {{ true >{log}/\"${within}.{nested}\"; }} 2>/dev/null\n\
         case ${{1-}} in -c*|-[!-]*c*|[!-+]*) exec {real} \"$@\" ;; esac\n\
         fi\n\
         exec {recorder} {subcommand} {directory} {real} \"$@\"\n",
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

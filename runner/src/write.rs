//! Writes files so that a reader sees all of a text or none of it.

use std::{fs, io, io::Write, path::Path, process};

use tempfile::NamedTempFile;

/// The end of the name of a text that has not replaced its file yet.
pub(crate) const DRAFT: &str = "tmp";

#[derive(Clone, Debug)]
pub enum Readers {
    Owner,
    Usual,
    Like(fs::Permissions),
}

pub fn replace(path: &Path, text: impl AsRef<[u8]>, readers: Readers) -> io::Result<()> {
    draft(path, text, readers)?.persist(path)?;
    Ok(())
}

/// Writes a file that does not exist; otherwise the error is [`io::ErrorKind::AlreadyExists`].
pub fn create(path: &Path, text: impl AsRef<[u8]>, readers: Readers) -> io::Result<()> {
    draft(path, text, readers)?.persist_noclobber(path)?;
    Ok(())
}

/// Writes a text next to a file that it may replace. It is removed unless it is persisted. Its name has the number of
/// this process, so that those of dead ones can be found.
pub fn draft(path: &Path, text: impl AsRef<[u8]>, readers: Readers) -> io::Result<NamedTempFile> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (prefix, suffix) = (format!(".{name}.{}-", process::id()), format!(".{DRAFT}"));
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(&suffix);
    #[cfg(unix)]
    if matches!(readers, Readers::Usual) {
        // Without what the user denies to others.
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(directory)?;
    file.write_all(text.as_ref())?;
    if let Readers::Like(permissions) = readers {
        file.as_file().set_permissions(permissions)?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_written_at_once_keep_their_own_text_and_nothing_is_left_beside_them() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: usize| directory.path().join(name.to_string());
        std::thread::scope(|scope| {
            for name in 0..8 {
                scope.spawn(move || {
                    for _ in 0..50 {
                        replace(&path(name), name.to_string(), Readers::Owner).unwrap();
                    }
                });
            }
        });
        for name in 0..8 {
            assert_eq!(fs::read_to_string(path(name)).unwrap(), name.to_string());
        }
        let error = create(&path(0), "other", Readers::Usual).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(path(0)).unwrap(), "0");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 8);
    }

    #[cfg(unix)]
    #[test]
    fn readers_are_those_who_were_named() {
        use std::os::unix::fs::PermissionsExt;

        let directory = tempfile::tempdir().unwrap();
        let mode = |readers| {
            let path = directory.path().join("file");
            replace(&path, "text", readers).unwrap();
            fs::metadata(path).unwrap().permissions().mode() & 0o777
        };
        fs::write(directory.path().join("usual"), "").unwrap();
        let usual = fs::metadata(directory.path().join("usual")).unwrap().permissions().mode() & 0o777;
        let like = Readers::Like(PermissionsExt::from_mode(0o640));
        assert_eq!((mode(Readers::Owner), mode(Readers::Usual), mode(like)), (0o600, usual, 0o640));
    }
}

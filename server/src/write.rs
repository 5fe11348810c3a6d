//! Writes files atomically.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use anyhow::Context;

/// Replaces a file so that a reader sees either the new text or the old one.
pub(crate) fn replace(path: &Path, text: &str) -> anyhow::Result<()> {
    let draft = draft_of(path);
    let written = fs::write(&draft, text).and_then(|()| fs::rename(&draft, path));
    written.inspect_err(|_| drop(fs::remove_file(&draft))).with_context(|| format!("cannot write {}", path.display()))
}

/// Creates a file so that a reader sees all of it or no file.
pub(crate) fn create_whole(path: &Path, text: &str) -> io::Result<()> {
    let draft = draft_of(path);
    let linked = fs::write(&draft, text).and_then(|()| fs::hard_link(&draft, path));
    let _ = fs::remove_file(&draft);
    match linked {
        // Not every file system supports links.
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {
            fs::File::create_new(path).and_then(|mut file| file.write_all(text.as_bytes()))
        }
        result => result,
    }
}

/// Returns a path next to a file for the text that will replace it.
fn draft_of(path: &Path) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    path.with_file_name(format!(".{name}.{}.draft", std::process::id()))
}

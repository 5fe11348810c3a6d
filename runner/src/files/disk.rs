//! Single questions about the disk.

use std::{
    fs,
    io::{self, Read},
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use speclens_schema::files::FileKind;

/// Maximum size in bytes of a file that is read for a check.
const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// Returns the real path of a path below a real directory, at the cost of one system call per name; `None` if it
/// contains a symbolic link, or does not only lead down.
pub(super) fn without_links(root: &Path, relative: &Path) -> Option<io::Result<PathBuf>> {
    let is_directory = relative.as_os_str().as_encoded_bytes().ends_with(b"/");
    let leads_down = relative.components().all(|component| matches!(component, Component::Normal(_)));
    if is_directory || !leads_down {
        return None;
    }
    let mut path = root.to_owned();
    for name in relative.components() {
        path.push(name);
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_symlink() => return None,
            Ok(_) => {}
            Err(error) => return Some(Err(error)),
        }
    }
    Some(Ok(path))
}

pub(super) fn kind_of(metadata: &fs::Metadata) -> FileKind {
    if metadata.is_file() {
        FileKind::File
    } else if metadata.is_dir() {
        FileKind::Directory
    } else {
        FileKind::Other
    }
}

/// Opens a regular file. Neither this nor reading from it waits: not for the writer of a pipe, and not for the next
/// message of a file of the system such as `/proc/kmsg`.
pub fn open_regular(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags);
    }
    let file = match options.open(path) {
        // Another program holds the file, and gives it up when it is asked for.
        Err(error) if error.kind() == io::ErrorKind::WouldBlock && fs::metadata(path)?.is_file() => {
            fs::File::open(path)?
        }
        opened => opened?,
    };
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

/// Reads a regular file that is not too large.
pub(super) fn read_bounded(path: &Path) -> Result<Arc<[u8]>, String> {
    let reason = |error: io::Error| error.to_string();
    let mut content = Vec::new();
    open_regular(path).map_err(reason)?.take(MAX_FILE_BYTES + 1).read_to_end(&mut content).map_err(reason)?;
    if content.len() as u64 > MAX_FILE_BYTES {
        return Err(format!("it is larger than {} MiB", MAX_FILE_BYTES / 1024 / 1024));
    }
    Ok(content.into())
}

//! Files of the workspace. A script cannot write outside it.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
};

use speclens_schema::files;

use super::GatewayState;

/// The treatment of an existing file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// It is replaced.
    Replace,
    /// It is appended to.
    Append,
}

impl GatewayState {
    /// Writes a file below the root of the workspace. The error is a sentence.
    pub(super) async fn write(&self, path: &str, content: &str, mode: Mode) -> Result<(), String> {
        let (root, name, content) = (self.root.clone(), path.to_owned(), content.to_owned());
        let work = move || {
            let path = below(&root, &name)?;
            write(&path, content.as_bytes(), mode).map_err(|error| format!("cannot write `{name}`: {error}"))
        };
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(error.to_string()))
    }
}

/// Finds a path below the root, and creates the directories on the way. Neither `..` nor a symbolic link leads out.
fn below(root: &Path, name: &str) -> Result<PathBuf, String> {
    let outside = || format!("`{name}` is outside the workspace");
    let inside = files::inside(name).ok_or_else(outside)?;
    let mut place = root.to_owned();
    let mut steps = Path::new(&inside).components().peekable();
    while let Some(step) = steps.next() {
        let Component::Normal(step) = step else { return Err(outside()) };
        place.push(step);
        match fs::symlink_metadata(&place) {
            Ok(found) if found.is_symlink() => {
                place = fs::canonicalize(&place).map_err(|error| format!("cannot write `{name}`: {error}"))?;
                if !place.starts_with(root) {
                    return Err(outside());
                }
            }
            Ok(_) => {}
            Err(_) if steps.peek().is_some() => {
                fs::create_dir(&place)
                    .or_else(|error| if place.is_dir() { Ok(()) } else { Err(error) })
                    .map_err(|error| format!("cannot write `{name}`: {error}"))?;
            }
            Err(_) => {}
        }
    }
    Ok(place)
}

fn write(path: &Path, content: &[u8], mode: Mode) -> io::Result<()> {
    match mode {
        Mode::Replace => fs::write(path, content),
        Mode::Append => {
            use io::Write as _;
            fs::OpenOptions::new().append(true).create(true).open(path)?.write_all(content)
        }
    }
}

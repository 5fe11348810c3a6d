//! The state of a path.

use std::{fs, io, path::Path};

use speclens_schema::{
    dialect::cli_bench::template,
    evidence::{Answer, PathState},
};

use super::{View, content, looking};

pub(super) async fn observe(path: &str, content: bool, view: &View) -> Answer {
    let path = template::expand(path, &view.directory.to_string_lossy());
    let place = view.directory.join(&path);
    let limit = content.then_some(view.limit);
    match looking(move || state(&place, limit)).await {
        Ok(Ok(state)) => Answer::Path(state),
        Ok(Err(error)) => Answer::Nothing(format!("cannot observe `{path}`: {error}")),
        Err(nothing) => nothing,
    }
}

/// Returns the state of a path, following links; of a file, with as many bytes as wanted.
fn state(path: &Path, limit: Option<usize>) -> io::Result<PathState> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if leads_nowhere(path, &error) => {
            return Ok(PathState::Missing { beside: content::beside(path) });
        }
        Err(error) => return Err(error),
    };
    Ok(if metadata.is_dir() {
        PathState::Directory
    } else if metadata.is_file() {
        PathState::File { content: limit.map(|limit| content::read(path, limit)) }
    } else {
        PathState::Other
    })
}

/// Returns whether an error means that a path does not exist, rather than that it is inaccessible. A link to itself
/// leads nowhere.
fn leads_nowhere(path: &Path, error: &io::Error) -> bool {
    let is_link = || fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => true,
        io::ErrorKind::PermissionDenied => false,
        _ => is_link(),
    }
}

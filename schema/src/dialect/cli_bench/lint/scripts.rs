//! Models that are scripts: `scripted/NAME` plays a file beside the main file.

use crate::{
    files::{FileKind, Files, Lead},
    new_file::{self, Template},
    problem::{Code, Fix, Problem, Severity},
    script,
    spot::Spot,
    words::Search,
};

use super::super::task_files;

/// An item of `providers`.
pub(super) fn lint(model: &Spot<'_>, files: &dyn Files, problems: &mut Vec<Problem>) {
    let Some(id) = model.text() else { return };
    let Some(path) = script::file_of(id).filter(|path| path.len() > script::ENDING.len()) else { return };
    let message = format!("cli-bench has no scripted models: `{id}`");
    let upstream = Problem::new(Code::UpstreamDiffers, model.at.clone(), model.range(), message);
    problems.push(upstream.only_with_compat().with_note("it takes the id for that of a model on the network"));
    // A document that was never saved has no files beside it.
    if files.root().as_os_str().is_empty() {
        return;
    }
    match task_files::normalize(&path, files) {
        Err(reason) => problems.push(model.problem(Code::InvalidPath, format!("`{path}` {reason}"))),
        Ok(path) => match files.named(&path) {
            Lead::Found { kind: FileKind::File, is_far: false, .. } => {}
            Lead::Found { is_far: true, .. } | Lead::Unread => {
                let problem = model.problem(Code::InvalidPath, format!("`{path}` is outside of the workspace"));
                let problem = problem.with_severity(Severity::Warning).with_note("it may not exist on other machines");
                problems.push(problem.with_help("move the script beside this file"));
            }
            Lead::Found { kind: FileKind::Directory | FileKind::Other, is_far: false, .. } => {
                problems.push(model.problem(Code::MissingFile, format!("`{path}` is not a file")));
            }
            Lead::Nothing => problems.push(missing(model, id, &path, files)),
        },
    }
}

/// A script that does not exist, with the nearest one that does.
fn missing(model: &Spot<'_>, id: &str, path: &str, files: &dyn Files) -> Problem {
    let problem = model.problem(Code::MissingFile, format!("`{path}` does not exist"));
    let mut problem = problem.with_note(format!("`{id}` plays that file"));
    let known = known(files);
    if let Some(near) = Search::default().nearest(id, known.iter().map(String::as_str)) {
        let help = format!("change it to `{near}`");
        problem = problem.with_help(&help);
        problem.fixes.extend(model.replaced(crate::shape::scalar(near)).map(|edits| Fix::guess(help, edits)));
    }
    problem.fixes.extend(new_file::creation(path, Template::Script, files));
    problem
}

/// The ids of the scripted models below the directory of the main file, sorted.
pub fn known(files: &dyn Files) -> Vec<String> {
    let found = files.glob(&format!("**/*{}", script::ENDING)).paths;
    found.iter().filter_map(|path| script::id_of(path)).collect()
}

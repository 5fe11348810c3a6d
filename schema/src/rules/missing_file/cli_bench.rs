//! Missing files of a cli-bench suite: task files and scripts.

use crate::{
    dialect::cli_bench::{
        named_tasks::NamedTasks,
        task_files::{self, SCHEME, Target},
    },
    files::{FileKind, Files, Resolved},
    finding::{Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    new_file::{self, Template},
    problem::{Code, Fix, Severity},
    script,
    shape::scalar,
    words::{Search, nearest},
};

use super::{Missing, ONLY_SLASHES, OtherKind};

/// A file of the suite that does not exist.
#[derive(Debug)]
enum NoFile {
    /// A directory instead of a task file.
    DirectoryOfTasks(String),
    /// A pattern without matching task files, and a similar one that may match.
    NoMatch { pattern: String, near: Option<String>, creation: Option<Fix> },
    /// A script that does not exist, with the id of the most similar one.
    Script { path: String, id: String, near: Option<String>, creation: Option<Fix> },
}

/// Checks an item of `tasks` that names files.
pub(crate) fn check_entry(entry: &NamedTasks<'_, '_>, report: &mut Report) {
    let NamedTasks { lint_node, path, files, .. } = *entry;
    match &entry.target {
        Target::Missing(normal) => {
            let missing = Missing::of(path, normal, FileKind::File, Some(Template::Tasks), files);
            report.push(lint_node.finding(Missing { scheme: SCHEME, ..missing }));
        }
        Target::NoFile(_) => report.push(lint_node.finding(NoFile::DirectoryOfTasks(path.to_owned()))),
        Target::NoMatch { cut: false } => {
            let is_simple = |pattern: &&String| !pattern.contains(['?', '[']) && !pattern.starts_with("..");
            let creation = entry.normal.as_ref().ok().filter(is_simple).and_then(|pattern| {
                let name = pattern.replace("**/", "").replace('*', "first");
                new_file::creation(&name, Template::Tasks, files)
            });
            let near = similar_pattern(path, files);
            report.push(lint_node.finding(NoFile::NoMatch { pattern: path.to_owned(), near, creation }));
        }
        Target::NoMatch { cut: true } | Target::Files(_) | Target::Outside(_) | Target::Nowhere => {}
    }
}

/// Returns a pattern with `/` for each backslash, or with the most similar directory instead of one that does not exist.
fn similar_pattern(pattern: &str, files: &dyn Files) -> Option<String> {
    if pattern.contains('\\') {
        return Some(pattern.replace('\\', "/").trim_start_matches("./").to_owned());
    }
    let (first, rest) = pattern.trim_start_matches("./").split_once('/')?;
    if first.contains(['*', '?', '[', '.']) || files.named(first) != Resolved::Nothing {
        return None;
    }
    let directories = files.list("");
    let names = directories.iter().filter(|(_, kind)| *kind == FileKind::Directory).map(|(name, _)| name.as_str());
    Some(format!("{}/{rest}", nearest(first, names)?))
}

/// Checks an item of `providers` that names a script.
pub(crate) fn check_script(model: &LintNode<'_>, files: &dyn Files, report: &mut Report) {
    let Some((id, path)) = model.text().and_then(|id| Some((id, script::file_beside(id, files)?))) else { return };
    let Ok(path) = task_files::normalize(&path, files) else { return };
    match files.named(&path) {
        Resolved::Found { is_far: true, .. } | Resolved::Unread | Resolved::Found { kind: FileKind::File, .. } => {}
        Resolved::Found { kind: FileKind::Directory | FileKind::Other, is_far: false, .. } => {
            report.push(model.finding(OtherKind::new(&path, "file")));
        }
        Resolved::Nothing => {
            let known = script::known(files);
            let near = Search::default().nearest(id, known.iter().map(String::as_str)).map(str::to_owned);
            let creation = new_file::creation(&path, Template::Script, files);
            report.push(model.finding(NoFile::Script { path, id: id.to_owned(), near, creation }));
        }
    }
}

impl Rule for NoFile {
    const CODE: Code = Code::MissingFile;

    fn severity(&self) -> Severity {
        if matches!(self, NoFile::NoMatch { .. }) { Severity::Warning } else { Self::SEVERITY }
    }

    fn message(&self, location: &Location<'_>) -> MessageParts {
        match self {
            NoFile::DirectoryOfTasks(path) => {
                let name = format!("{SCHEME}{}/*.yaml", path.trim_end_matches('/'));
                let edits = location.replaced(scalar(&name));
                MessageParts::new(format!("`{path}` is a directory")).remedy(
                    format!("change it to `{name}`"),
                    Fix::guess,
                    edits,
                )
            }
            NoFile::NoMatch { pattern, near, creation } => {
                let words = MessageParts::new(format!("no file matches `{pattern}`"));
                let words = if pattern.contains('\\') { words.note(ONLY_SLASHES) } else { words };
                let words = match near {
                    Some(near) => {
                        let edits = location.replaced(scalar(&format!("{SCHEME}{near}")));
                        words.remedy(format!("change it to `{near}`"), Fix::guess, edits)
                    }
                    None => words.help("correct the pattern, or create a task file"),
                };
                words.fix(creation.clone())
            }
            NoFile::Script { path, id, near, creation } => {
                let words =
                    MessageParts::new(format!("`{path}` does not exist")).note(format!("`{id}` refers to that file"));
                let words = match near {
                    Some(near) => {
                        words.remedy(format!("change it to `{near}`"), Fix::guess, location.replaced(scalar(near)))
                    }
                    None => words,
                };
                words.fix(creation.clone())
            }
        }
    }
}

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
    words::Search,
};

use super::{Missing, OtherKind};

/// A directory instead of a task file.
#[derive(Debug)]
struct DirectoryOfTasks(String);

/// A pattern without matching task files.
#[derive(Debug)]
struct NoMatch {
    pattern: String,
    creation: Option<Fix>,
}

/// A script that does not exist.
#[derive(Debug)]
struct MissingScript {
    path: String,
    id: String,
    /// Id of the most similar script.
    near: Option<String>,
    creation: Option<Fix>,
}

/// Checks an item of `tasks` that names files.
pub(crate) fn check_entry(entry: &NamedTasks<'_, '_>, report: &mut Report) {
    let NamedTasks { lint_node, path, files, .. } = *entry;
    match &entry.target {
        Target::Missing(normal) => {
            let missing = Missing::of(path, normal, FileKind::File, Some(Template::Tasks), files);
            report.push(lint_node.finding(Missing { scheme: SCHEME, ..missing }));
        }
        Target::NoFile(_) => report.push(lint_node.finding(DirectoryOfTasks(path.to_owned()))),
        Target::NoMatch { cut: false } => {
            let is_simple = |pattern: &&String| !pattern.contains(['?', '[']) && !pattern.starts_with("..");
            let creation = entry.normal.as_ref().ok().filter(is_simple).and_then(|pattern| {
                let name = pattern.replace("**/", "").replace('*', "first");
                new_file::creation(&name, Template::Tasks, files)
            });
            report.push(lint_node.finding(NoMatch { pattern: path.to_owned(), creation }));
        }
        Target::NoMatch { cut: true } | Target::Files(_) | Target::Outside(_) | Target::Nowhere => {}
    }
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
            report.push(model.finding(MissingScript { path, id: id.to_owned(), near, creation }));
        }
    }
}

impl Rule for DirectoryOfTasks {
    const CODE: Code = Code::MissingFile;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let path = &self.0;
        let name = format!("{SCHEME}{}/*.yaml", path.trim_end_matches('/'));
        let help = format!("change it to `{name}`");
        let edits = location.replaced(scalar(&name));
        MessageParts::new(format!("`{path}` is a directory")).remedy(help, Fix::guess, edits)
    }
}

impl Rule for NoMatch {
    const CODE: Code = Code::MissingFile;
    const SEVERITY: Severity = Severity::Warning;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        MessageParts::new(format!("no file matches `{}`", self.pattern)).fix(self.creation.clone())
    }
}

impl Rule for MissingScript {
    const CODE: Code = Code::MissingFile;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let words = MessageParts::new(format!("`{}` does not exist", self.path))
            .note(format!("`{}` refers to that file", self.id));
        let words = match &self.near {
            Some(near) => words.remedy(format!("change it to `{near}`"), Fix::guess, location.replaced(scalar(near))),
            None => words,
        };
        words.fix(self.creation.clone())
    }
}

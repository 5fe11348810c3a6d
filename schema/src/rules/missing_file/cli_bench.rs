//! Files that a suite of cli-bench names: task files, directories to begin with, and scripts instead of models.

use crate::{
    dialect::cli_bench::{
        named_tasks::NamedTasks,
        task_files::{self, SCHEME, Target},
    },
    files::{FileKind, Files, Lead},
    finding::{Report, Rule, Site, Words},
    new_file::{self, Template},
    problem::{Code, Fix, Severity},
    script,
    shape::scalar,
    spot::Spot,
    words::{Search, nearest_file},
};

/// A path that does not exist.
#[derive(Debug)]
struct Missing {
    path: String,
    /// What is before the path in its text.
    scheme: &'static str,
    /// The path of the nearest file.
    near: Option<String>,
    /// The directory below which it was looked for, where it does not lead out of it.
    root: Option<String>,
    creation: Option<Fix>,
}

/// A directory where a task file should be.
#[derive(Debug)]
struct DirectoryOfTasks(String);

/// A pattern that no task file matches.
#[derive(Debug)]
struct NoMatch {
    pattern: String,
    creation: Option<Fix>,
}

/// A file where a directory should be.
#[derive(Debug)]
struct NotADirectory(String);

/// Something else than a file where a script should be.
#[derive(Debug)]
struct NotAScript(String);

/// A script that does not exist.
#[derive(Debug)]
struct MissingScript {
    path: String,
    id: String,
    /// The id of the nearest one.
    near: Option<String>,
    creation: Option<Fix>,
}

/// Looks at an item of `tasks` that names files.
pub(crate) fn check_entry(entry: &NamedTasks<'_, '_>, report: &mut Report) {
    let NamedTasks { spot, path, files, .. } = *entry;
    match &entry.target {
        Target::Missing(normal) => {
            report.push(spot.finding(missing(path, normal, files, FileKind::File, Template::Tasks, SCHEME)));
        }
        Target::NoFile(_) => report.push(spot.finding(DirectoryOfTasks(path.to_owned()))),
        Target::NoMatch { cut: false } => {
            let is_simple = |pattern: &&String| !pattern.contains(['?', '[']) && !pattern.starts_with("..");
            let creation = entry.normal.as_ref().ok().filter(is_simple).and_then(|pattern| {
                let name = pattern.replace("**/", "").replace('*', "first");
                new_file::creation(&name, Template::Tasks, files)
            });
            report.push(spot.finding(NoMatch { pattern: path.to_owned(), creation }));
        }
        Target::NoMatch { cut: true } | Target::Files(_) | Target::Outside(_) | Target::Nowhere => {}
    }
}

/// Looks at the `scaffold` of a suite or a task.
pub(crate) fn check_scaffold(owner: &Spot<'_>, files: &dyn Files, report: &mut Report) {
    let Some(scaffold) = owner.get("scaffold") else { return };
    let Some(path) = scaffold.text().filter(|path| !path.is_empty()) else { return };
    let Ok(normal) = task_files::normalize(path, files) else { return };
    match files.named(&normal) {
        Lead::Found { kind: FileKind::Directory, .. } | Lead::Unread => {}
        Lead::Found { kind: FileKind::File | FileKind::Other, .. } => {
            report.push(scaffold.finding(NotADirectory(path.to_owned())));
        }
        Lead::Nothing => {
            report.push(scaffold.finding(missing(path, &normal, files, FileKind::Directory, Template::Directory, "")));
        }
    }
}

/// Looks at an item of `providers` that names a script.
pub(crate) fn check_script(model: &Spot<'_>, files: &dyn Files, report: &mut Report) {
    let Some((id, path)) = model.text().and_then(|id| Some((id, script::file_beside(id, files)?))) else { return };
    let Ok(path) = task_files::normalize(&path, files) else { return };
    match files.named(&path) {
        Lead::Found { is_far: true, .. } | Lead::Unread | Lead::Found { kind: FileKind::File, .. } => {}
        Lead::Found { kind: FileKind::Directory | FileKind::Other, is_far: false, .. } => {
            report.push(model.finding(NotAScript(path)));
        }
        Lead::Nothing => {
            let known = script::known(files);
            let near = Search::default().nearest(id, known.iter().map(String::as_str)).map(str::to_owned);
            let creation = new_file::creation(&path, Template::Script, files);
            report.push(model.finding(MissingScript { path, id: id.to_owned(), near, creation }));
        }
    }
}

fn missing(
    path: &str,
    normal: &str,
    files: &dyn Files,
    kind: FileKind,
    template: Template,
    scheme: &'static str,
) -> Missing {
    let (directory, name) = normal.rsplit_once('/').unwrap_or(("", normal));
    let names: Vec<String> =
        files.list_named(directory).into_iter().filter(|(_, found)| *found == kind).map(|(name, _)| name).collect();
    let prefix = path.trim_end_matches('/').strip_suffix(name).unwrap_or_default();
    Missing {
        path: path.to_owned(),
        scheme,
        near: nearest_file(name, names.iter().map(String::as_str)).map(|near| format!("{prefix}{near}")),
        root: (!normal.starts_with("../")).then(|| files.root().display().to_string()),
        creation: new_file::creation(normal, template, files),
    }
}

impl Rule for Missing {
    const CODE: Code = Code::MissingFile;

    fn words(&self, site: &Site<'_>) -> Words {
        let Missing { path, scheme, near, root, creation } = self;
        let words = match (near, root) {
            (Some(near), _) => {
                let help = format!("change it to `{near}`");
                let edits = site.replaced(scalar(&format!("{scheme}{near}")));
                Words::new(format!("`{path}` does not exist"))
                    .remedy(help, Fix::guess, edits)
            }
            (None, None) => Words::new(format!("`{path}` does not exist")),
            (None, Some(root)) => Words::new(format!("`{path}` does not exist in `{root}`")),
        };
        words.fix(creation.clone())
    }
}

impl Rule for DirectoryOfTasks {
    const CODE: Code = Code::MissingFile;

    fn words(&self, site: &Site<'_>) -> Words {
        let path = &self.0;
        let name = format!("{SCHEME}{}/*.yaml", path.trim_end_matches('/'));
        let help = format!("change it to `{name}`");
        let edits = site.replaced(scalar(&name));
        Words::new(format!("`{path}` is a directory")).remedy(help, Fix::guess, edits)
    }
}

impl Rule for NoMatch {
    const CODE: Code = Code::MissingFile;
    const SEVERITY: Severity = Severity::Warning;

    fn words(&self, _: &Site<'_>) -> Words {
        Words::new(format!("no file matches `{}`", self.pattern)).fix(self.creation.clone())
    }
}

impl Rule for NotADirectory {
    const CODE: Code = Code::MissingFile;

    fn words(&self, _: &Site<'_>) -> Words {
        Words::new(format!("`{}` is not a directory", self.0)).help("name a directory to copy")
    }
}

impl Rule for NotAScript {
    const CODE: Code = Code::MissingFile;

    fn words(&self, _: &Site<'_>) -> Words {
        Words::new(format!("`{}` is not a file", self.0))
    }
}

impl Rule for MissingScript {
    const CODE: Code = Code::MissingFile;

    fn words(&self, site: &Site<'_>) -> Words {
        let words = Words::new(format!("`{}` does not exist", self.path)).note(format!("`{}` refers to that file", self.id));
        let words = match &self.near {
            Some(near) => {
                words.remedy(format!("change it to `{near}`"), Fix::guess, site.replaced(scalar(near)))
            }
            None => words,
        };
        words.fix(self.creation.clone())
    }
}

//! Paths in a suite of cli-bench: of task files and scripts, and those that assertions look at.

use crate::{
    dialect::cli_bench::{
        named_tasks::{Far, NamedTasks},
        task_files::{self, SCHEME, Target},
    },
    files::{Files, Lead},
    finding::{Report, Rule, Site, Words},
    problem::{Code, Fix, Severity},
    script,
    shape::scalar,
    spot::Spot,
};

/// What happens because of an item that leads nowhere.
const MISSING_TASKS: &str = "the suite runs without its tasks";

/// Why a path out of the workspace is reported.
const ELSEWHERE: &str = "it may not exist on other machines";

/// Why the tasks of a file outside of the workspace are not checked.
const UNREAD: &str = "editors do not read it; `speclens check` and `speclens run` do";

/// A path of task files.
#[derive(Debug)]
enum TaskPath {
    /// One that is not a path here.
    Unusable { path: String, reason: &'static str },
    /// A file outside of the workspace that is not read.
    Unread(String),
    /// One that leads out of the workspace.
    Outside(String),
    /// One from the root of the file system, with the way from the directory of the main file.
    Absolute { path: String, relative: Option<String> },
}

/// The path of a scripted model.
#[derive(Debug)]
enum Script {
    Unusable { path: String, reason: &'static str },
    Outside(String),
}

/// A path that an assertion takes literally.
#[derive(Debug)]
enum Literal {
    /// It begins with `~`.
    Home,
    /// It begins with a variable of the shell.
    Variable,
    /// It leads out of the working directory.
    Outside(String),
}

/// Looks at an item of `tasks` that names files.
pub(crate) fn check_entry(entry: &NamedTasks<'_, '_>, report: &mut Report) {
    let path = entry.path.to_owned();
    if let Target::Outside(reason) = entry.target {
        report.push(entry.spot.finding(TaskPath::Unusable { path: path.clone(), reason }));
    }
    match &entry.far {
        Some(Far::Unread(path)) => report.push(entry.spot.finding(TaskPath::Unread(path.clone()))),
        Some(Far::Outside) => report.push(entry.spot.finding(TaskPath::Outside(path))),
        None if path.starts_with('/') => {
            let is_far =
                |path: &String| matches!(entry.files.named(path), Lead::Found { is_far: true, .. });
            let relative = entry.normal.clone().ok().filter(|relative| !is_far(relative));
            report.push(entry.spot.finding(TaskPath::Absolute { path, relative }));
        }
        None => {}
    }
}

/// Looks at an item of `providers` that names a script.
pub(crate) fn check_script(model: &Spot<'_>, files: &dyn Files, report: &mut Report) {
    let Some(path) = model.text().and_then(|id| script::file_beside(id, files)) else { return };
    match task_files::normalize(&path, files) {
        Err(reason) => report.push(model.finding(Script::Unusable { path, reason })),
        Ok(normal) => match files.named(&normal) {
            Lead::Found { is_far: true, .. } | Lead::Unread => report.push(model.finding(Script::Outside(normal))),
            Lead::Found { is_far: false, .. } | Lead::Nothing => {}
        },
    }
}

/// Looks at the paths of `file_exists` and `file_contains`.
pub(crate) fn check_assertion(assertion: &Spot<'_>, report: &mut Report) {
    let paths = [assertion.get("file_exists"), assertion.find(&["file_contains", "path"])];
    for spot in paths.iter().flatten() {
        let Some(path) = spot.text() else { continue };
        if path.starts_with("~/") || path == "~" {
            report.push(spot.finding(Literal::Home));
        } else if path.starts_with('$') {
            report.push(spot.finding(Literal::Variable));
        } else if leads_out(path) {
            report.push(spot.finding(Literal::Outside(path.to_owned())));
        }
    }
}

/// Whether a relative path is outside of the directory from which it counts, at some step.
fn leads_out(path: &str) -> bool {
    let mut depth = 0_i32;
    let mut steps = path.split('/').map(|step| {
        match step {
            ".." => depth -= 1,
            "" | "." => {}
            _ => depth += 1,
        }
        depth
    });
    !path.starts_with('/') && steps.any(|depth| depth < 0)
}

impl Rule for TaskPath {
    const CODE: Code = Code::InvalidPath;

    fn severity(&self) -> Severity {
        match self {
            TaskPath::Unusable { .. } => Severity::Error,
            TaskPath::Unread(_) | TaskPath::Outside(_) | TaskPath::Absolute { .. } => Severity::Warning,
        }
    }

    fn words(&self, site: &Site<'_>) -> Words {
        match self {
            TaskPath::Unusable { path, reason } => Words::new(format!("`{path}` {reason}"))
                .note(MISSING_TASKS)
                .help("write a path relative to this file"),
            TaskPath::Unread(path) => {
                let how = if path.starts_with("../") { "is" } else { "is a link to a file" };
                Words::new(format!("`{path}` {how} outside the workspace")).note(UNREAD)
            }
            TaskPath::Outside(path) => Words::new(format!("`{path}` is outside the workspace"))
                .note(ELSEWHERE)
                .help("move the file into the directory of this file"),
            TaskPath::Absolute { path, relative } => {
                let words = Words::new(format!("`{path}` is an absolute path")).note("it is valid only on this machine");
                let name = relative.as_ref().map(|relative| format!("{SCHEME}{relative}"));
                match name.and_then(|name| Some((site.spot()?.replaced(scalar(&name))?, name))) {
                    Some((edits, name)) => words.mend(Some(Fix::safe(format!("change it to `{name}`"), edits))),
                    None => words.help("write it relative to this file"),
                }
            }
        }
    }
}

impl Rule for Script {
    const CODE: Code = Code::InvalidPath;

    fn severity(&self) -> Severity {
        match self {
            Script::Unusable { .. } => Severity::Error,
            Script::Outside(_) => Severity::Warning,
        }
    }

    fn words(&self, _: &Site<'_>) -> Words {
        match self {
            Script::Unusable { path, reason } => Words::new(format!("`{path}` {reason}")),
            Script::Outside(path) => Words::new(format!("`{path}` is outside the workspace"))
                .note(ELSEWHERE)
                .help("move the script to the directory of this file"),
        }
    }
}

impl Rule for Literal {
    const CODE: Code = Code::InvalidPath;

    fn severity(&self) -> Severity {
        match self {
            Literal::Home | Literal::Variable => Severity::Warning,
            Literal::Outside(_) => Severity::Hint,
        }
    }

    fn words(&self, _: &Site<'_>) -> Words {
        let taken_literally = |sign: &str| {
            Words::new(format!("{sign} is not expanded here"))
                .note("the path is taken literally")
                .help("use `verify`, whose command the shell expands")
        };
        match self {
            Literal::Home => taken_literally("`~`"),
            Literal::Variable => taken_literally("a variable"),
            Literal::Outside(path) => {
                Words::new(format!("`{path}` is outside the working directory of the task"))
                    .note("a file there may be older than the task")
            }
        }
    }
}
